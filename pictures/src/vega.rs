//! The same charts as specifications of Vega-Lite, with the rows inside.

use serde_json::{Map, Value, json};

use crate::chart::columns;
use crate::deviations::with_ends;
use crate::error::PictureError;
use crate::kinds::{self, MOST_DOTS};
use crate::names::Kind;
use crate::plan::{Groups, Plan, plan};
use crate::request::Request;
use crate::table::{Column, Table, Values};
use crate::unpivot::unpivoted;

/// The specification that a document of this version names.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v6.json";

/// The most rows of a specification: viewers draw a mark for each, and read them all before.
const MOST_ROWS: usize = 20_000;

/// How the notes begin that are of this chart, too: it draws each row, and has no other notes than those.
const LEFT_OUT: [&str; 2] = ["Left out:", "Without an error bar:"];

/// The chart that [`draw`](crate::draw) would draw, as JSON for viewers that have Vega-Lite 6. It holds the rows, at most
/// 20,000 of them, NULL and numbers that JSON lacks as null.
///
/// # Errors
/// As [`draw`](crate::draw), and for more rows.
pub fn vega_lite(table: &Table, request: &Request) -> Result<String, PictureError> {
    let (table, request) = with_ends(unpivoted(table, request)?, request)?;
    let (table, request) = (&*table, &*request);
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
    // What drawing refuses is refused here, too, and what it leaves out is said.
    let mut notes = if plan.rows == 0 { Vec::new() } else { kinds::draw(&plan)?.1 };
    notes.retain(|note| LEFT_OUT.iter().any(|start| note.starts_with(start)));
    let mut spec = Map::new();
    spec.insert("$schema".to_owned(), json!(SCHEMA));
    let title = request.title.as_deref().unwrap_or_default();
    match (title.is_empty(), notes.is_empty()) {
        (true, true) => {}
        (false, true) => drop(spec.insert("title".to_owned(), json!(title))),
        (false, false) => drop(spec.insert("title".to_owned(), json!({ "text": title, "subtitle": notes }))),
        // A title without text hides what is under it.
        (true, false) => {
            let look = json!({ "text": notes, "fontSize": 11, "fontWeight": "normal" });
            spec.insert("title".to_owned(), look);
        }
    }
    let rows: Vec<Value> = (0..table.rows()).map(|row| record(table, row)).collect();
    spec.insert("data".to_owned(), json!({ "values": rows }));
    let positive = [(plan.x, request.x_log), (plan.y, request.y_log)];
    let positive = positive.into_iter().filter_map(|(column, is_log)| column.filter(|_| is_log));
    let filters: Vec<Value> = positive.map(|column| json!({ "filter": { "field": path(column), "gt": 0 } })).collect();
    if !filters.is_empty() {
        spec.insert("transform".to_owned(), json!(filters));
    }
    let marks = marks(&plan);
    let spans = spans(&plan, &marks.1)?;
    // Error bars stand over bars, and under points and lines.
    let mut layers: Vec<Layer> = match plan.kind {
        Kind::Bars => [marks].into_iter().chain(spans).collect(),
        _ => spans.into_iter().chain([marks]).collect(),
    };
    layers.extend(reference_lines(request));
    let panels = Groups::new(plan.facet, &(0..plan.rows).collect::<Vec<_>>()).names;
    let columns = columns(panels.len(), 4);
    let width = request.width.unwrap_or(600) / columns as u32;
    let height = request.height.unwrap_or(if plan.facet.is_some() { 190 } else { 360 });
    let mut view = Map::from_iter([("width".to_owned(), json!(width)), ("height".to_owned(), json!(height))]);
    match <[_; 1]>::try_from(layers) {
        Ok([(mark, encoding)]) => {
            view.insert("mark".to_owned(), mark);
            view.insert("encoding".to_owned(), Value::Object(encoding));
        }
        Err(layers) => {
            let layer = |(mark, encoding): Layer| json!({ "mark": mark, "encoding": Value::Object(encoding) });
            view.insert("layer".to_owned(), layers.into_iter().map(layer).collect());
        }
    }
    match plan.facet {
        None => spec.extend(view),
        Some(facet) => {
            let mut field = field(facet);
            field.insert("type".to_owned(), json!("nominal"));
            if facet.is_text() {
                // In the order of the rows: that of null would be the alphabet's.
                field.insert("sort".to_owned(), json!(panels));
            }
            spec.insert("facet".to_owned(), Value::Object(field));
            spec.insert("columns".to_owned(), json!(columns));
            spec.insert("spec".to_owned(), Value::Object(view));
        }
    }
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

/// The column's name as a field. Dots and brackets would be paths.
fn path(column: &Column) -> String {
    let mut name = String::new();
    for c in column.name.chars() {
        if matches!(c, '.' | '[' | ']' | '\\' | '\'' | '"') {
            name.push('\\');
        }
        name.push(c);
    }
    name
}

/// A column as Vega-Lite reads it: with the type, and in the order of the rows.
fn field(column: &Column) -> Map<String, Value> {
    let kind = match &column.values {
        Values::Numbers(_) => "quantitative",
        Values::Times(_) => "temporal",
        Values::Texts { .. } => "nominal",
    };
    let mut field = Map::new();
    field.insert("field".to_owned(), json!(path(column)));
    field.insert("type".to_owned(), json!(kind));
    field.insert("title".to_owned(), json!(column.name));
    if column.is_text() {
        field.insert("sort".to_owned(), Value::Null);
    }
    field
}

type Layer = (Value, Map<String, Value>);

/// The layer of error bars or of a ribbon, with the encoding of the marks that it belongs to; none without `YMIN` and `YMAX`.
///
/// # Errors
/// [`PictureError::Rows`] for an end that a logarithmic axis does not have.
fn spans(plan: &Plan, marks: &Map<String, Value>) -> Result<Option<Layer>, PictureError> {
    let (Some(low), Some(high)) = (plan.ymin, plan.ymax) else { return Ok(None) };
    if plan.request.y_log && low.numbers().unwrap_or_default().iter().any(|low| *low <= 0.0) {
        let what = format!("{} is zero or less, which Vega-Lite's logarithmic axis does not have; take svg", low.name);
        return Err(PictureError::Rows { kind: plan.kind, what });
    }
    let mut encoding = marks.clone();
    encoding.remove("strokeDash");
    if let Some(Value::Object(y)) = encoding.get_mut("y") {
        y.insert("field".to_owned(), json!(path(low)));
    }
    encoding.insert("y2".to_owned(), json!({ "field": path(high) }));
    let mark = match plan.kind {
        Kind::Lines => json!({ "type": "area", "fillOpacity": 0.18 }),
        Kind::Bars => {
            encoding.remove("color");
            json!({ "type": "rule", "color": "#222" })
        }
        _ => json!({ "type": "rule" }),
    };
    Ok(Some((mark, encoding)))
}

/// A layer for each reference line.
fn reference_lines(request: &Request) -> impl Iterator<Item = Layer> {
    let line = |channel: &'static str| {
        move |&value: &f64| {
            let mark = json!({ "type": "rule", "color": "#222", "strokeDash": [6, 4] });
            (mark, Map::from_iter([(channel.to_owned(), json!({ "datum": value }))]))
        }
    };
    request.x_lines.iter().map(line("x")).chain(request.y_lines.iter().map(line("y")))
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
    let count = json!({ "aggregate": "count", "title": "count" });
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
        Kind::Lines => {
            if let Some(color) = plan.color {
                let mut dashes = field(color);
                if plan.ymin.is_some() {
                    // Beside a ribbon the colours have a legend of their own.
                    dashes.insert("legend".to_owned(), Value::Null);
                }
                encoding.insert("strokeDash".to_owned(), Value::Object(dashes));
            }
            json!({ "type": "line", "point": plan.longest_group() <= MOST_DOTS, "tooltip": true })
        }
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
    let Request { x_label, y_label, x_log, y_log, .. } = plan.request;
    for (channel, label, is_log) in [("x", x_label, x_log), ("y", y_label, y_log)] {
        if *is_log {
            with(&mut encoding, channel, "scale", json!({ "type": "log" }));
        }
        if let Some(label) = label {
            with(&mut encoding, channel, "title", if label.is_empty() { Value::Null } else { json!(label) });
        }
    }
    (mark, encoding)
}
