//! The same charts as specifications of Vega-Lite, with the rows inside.

use serde_json::{Map, Value, json};

use crate::error::PictureError;
use crate::names::Kind;
use crate::plan::{Plan, plan};
use crate::request::Request;
use crate::table::{Column, Table, Values};
use crate::unpivot::unpivoted;

/// The specification that a document of this version names.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v6.json";

/// The most rows of a specification: viewers draw a mark for each, and read them all before.
const MOST_ROWS: usize = 20_000;

/// The chart that [`draw`](crate::draw) would draw, as JSON for viewers that have Vega-Lite 6. It holds the rows, at most
/// 20,000 of them, NULL and numbers that JSON lacks as null.
///
/// # Errors
/// As [`draw`](crate::draw), but for what is only found while drawing; and for more rows.
pub fn vega_lite(table: &Table, request: &Request) -> Result<String, PictureError> {
    let table = &*unpivoted(table, request)?;
    let plan = plan(table, request)?;
    if matches!(plan.kind, Kind::CriticalDifference | Kind::Graph | Kind::Surface) {
        let what = "Vega-Lite has no such chart; take svg or html".to_owned();
        return Err(PictureError::Rows { kind: plan.kind, what });
    }
    if table.rows() > MOST_ROWS {
        let advice = "aggregate or sample them, or take svg, which puts together what lies together";
        let (kind, found) = (plan.kind, table.rows());
        return Err(PictureError::TooMany { kind, found, what: "rows", most: MOST_ROWS, advice });
    }
    let mut spec = Map::new();
    spec.insert("$schema".to_owned(), json!(SCHEMA));
    if let Some(title) = &request.title {
        spec.insert("title".to_owned(), json!(title));
    }
    spec.insert("width".to_owned(), json!(request.width.unwrap_or(600)));
    spec.insert("height".to_owned(), json!(request.height.unwrap_or(360)));
    let rows: Vec<Value> = (0..table.rows()).map(|row| record(table, row)).collect();
    spec.insert("data".to_owned(), json!({ "values": rows }));
    let (mark, encoding) = marks(&plan);
    spec.insert("mark".to_owned(), mark);
    spec.insert("encoding".to_owned(), Value::Object(encoding));
    Ok(format!("{:#}\n", Value::Object(spec)))
}

fn record(table: &Table, row: usize) -> Value {
    let value = |column: &Column| match &column.values {
        Values::Numbers(values) => json!(values[row]),
        _ if column.is_there(row) => json!(column.text(row).replace(' ', if column.is_time() { "T" } else { " " })),
        _ => Value::Null,
    };
    Value::Object(table.columns.iter().map(|column| (column.name.clone(), value(column))).collect())
}

/// A column as Vega-Lite reads it: with the type, and in the order of the rows. Dots and brackets in a name would be paths.
fn field(column: &Column) -> Map<String, Value> {
    let kind = match &column.values {
        Values::Numbers(_) => "quantitative",
        Values::Times(_) => "temporal",
        Values::Texts { .. } => "nominal",
    };
    let mut name = String::new();
    for c in column.name.chars() {
        if matches!(c, '.' | '[' | ']' | '\\' | '\'' | '"') {
            name.push('\\');
        }
        name.push(c);
    }
    let mut field = Map::new();
    field.insert("field".to_owned(), json!(name));
    field.insert("type".to_owned(), json!(kind));
    field.insert("title".to_owned(), json!(column.name));
    if column.is_text() {
        field.insert("sort".to_owned(), Value::Null);
    }
    field
}

fn marks(plan: &Plan) -> (Value, Map<String, Value>) {
    let mut encoding = Map::new();
    for (channel, column) in [("x", plan.x), ("y", plan.y), ("color", plan.color)] {
        if let Some(column) = column {
            encoding.insert(channel.to_owned(), Value::Object(field(column)));
        }
    }
    let with = |encoding: &mut Map<String, Value>, channel: &str, key: &str, value: Value| {
        if let Some(Value::Object(field)) = encoding.get_mut(channel) {
            field.insert(key.to_owned(), value);
        }
    };
    let count = json!({ "aggregate": "count", "title": "rows" });
    let mark = match plan.kind {
        Kind::Bars => {
            with(&mut encoding, "x", "type", json!("nominal"));
            if plan.y.is_none() {
                encoding.insert("y".to_owned(), count);
            }
            if let Some(color) = plan.color {
                encoding.insert("xOffset".to_owned(), Value::Object(field(color)));
            }
            json!({ "type": "bar", "tooltip": true })
        }
        Kind::PersistenceDiagram => {
            with(&mut encoding, "color", "type", json!("nominal"));
            json!({ "type": "circle", "tooltip": true })
        }
        Kind::Barcode => {
            if let Some(death) = encoding.remove("y") {
                encoding.insert("x2".to_owned(), json!({ "field": death["field"] }));
            }
            with(&mut encoding, "color", "type", json!("nominal"));
            json!({ "type": "rule", "tooltip": true })
        }
        Kind::Landscape => {
            with(&mut encoding, "color", "type", json!("ordinal"));
            json!({ "type": "line", "tooltip": true })
        }
        Kind::Points | Kind::Disk | Kind::CriticalDifference | Kind::Graph | Kind::Surface => {
            json!({ "type": "circle", "tooltip": true })
        }
        Kind::Lines => json!({ "type": "line", "point": true, "tooltip": true }),
        Kind::Boxes => {
            if let Some(color) = plan.color {
                encoding.insert("xOffset".to_owned(), Value::Object(field(color)));
            }
            json!({ "type": "boxplot" })
        }
        Kind::Histogram | Kind::Curvature => {
            with(&mut encoding, "x", "bin", json!({ "maxbins": plan.request.bins.unwrap_or(30) }));
            encoding.insert("y".to_owned(), count);
            json!({ "type": "bar", "tooltip": true })
        }
        Kind::Heatmap => {
            for channel in ["x", "y"] {
                with(&mut encoding, channel, "type", json!("nominal"));
            }
            with(&mut encoding, "color", "scale", json!({ "scheme": "viridis" }));
            json!({ "type": "rect", "tooltip": true })
        }
        Kind::Bump => {
            with(&mut encoding, "x", "type", json!("nominal"));
            with(&mut encoding, "y", "scale", json!({ "reverse": true }));
            json!({ "type": "line", "point": { "size": 200 }, "tooltip": true })
        }
    };
    (mark, encoding)
}
