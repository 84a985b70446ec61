//! The kinds of pictures, one file each.

mod bars;
mod boxes;
mod bump;
mod critical_difference;
mod curvature;
mod disk;
mod graph;
mod heatmap;
mod histogram;
mod landscape;
mod lines;
mod persistence;
mod points;
mod surface;

pub use self::curvature::CURVATURE_CUT;
use crate::chart::{Canvas, Chart, Legend};
use crate::error::PictureError;
use crate::names::Kind;
use crate::plan::Plan;
use crate::scale::Scale;
use crate::svg::{Anchor, Svg};
use crate::table::Column;

/// The document of a picture, and its notes.
pub(crate) type Drawn = (String, Vec<String>);

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;

/// Draws a picture of at least one row.
pub(crate) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    match plan.kind {
        Kind::Bars => bars::draw(plan),
        Kind::Points => points::draw(plan),
        Kind::Lines => lines::draw(plan),
        Kind::Boxes => boxes::draw(plan),
        Kind::Histogram => histogram::draw(plan),
        Kind::Heatmap => heatmap::draw(plan),
        Kind::Bump => bump::draw(plan),
        Kind::CriticalDifference => critical_difference::draw(plan),
        Kind::PersistenceDiagram => persistence::diagram(plan),
        Kind::Barcode => persistence::barcode(plan),
        Kind::Landscape => landscape::draw(plan),
        Kind::Curvature => curvature::draw(plan),
        Kind::Graph => graph::draw(plan),
        Kind::Disk => disk::draw(plan),
        Kind::Surface => surface::draw(plan),
    }
}

/// A picture that says that there is nothing to draw.
pub(crate) fn empty(plan: &Plan) -> Drawn {
    let mut svg = Svg::default();
    svg.text((180.0, 64.0), Anchor::Middle, "fill=\"#777\"", "No rows.");
    (svg.document(360.0, 120.0, &label(plan)), vec!["No rows.".to_owned()])
}

/// The label of a picture for screen readers.
pub(crate) fn label(plan: &Plan) -> String {
    if let Some(title) = &plan.request.title {
        return title.clone();
    }
    let names: Vec<&str> =
        [plan.x, plan.y, plan.color].into_iter().flatten().map(|column| column.name.as_str()).collect();
    format!("{}: {}", plan.kind, names.join(", "))
}

/// A chart with the request's title and size.
pub(crate) fn chart(plan: &Plan, x: Scale, y: Scale) -> Chart {
    Chart {
        width: plan.request.width.map_or(WIDTH, f64::from),
        height: plan.request.height.map_or(HEIGHT, f64::from),
        title: plan.request.title.clone(),
        x_name: String::new(),
        y_name: String::new(),
        x,
        y,
        y_from_top: false,
        legend: Legend::None,
        second: Legend::None,
        axes: true,
        notes: Vec::new(),
        grid: (false, true),
    }
}

/// The document of a canvas whose marks are drawn.
pub(crate) fn finish(plan: &Plan, canvas: Canvas, notes: Vec<String>) -> Drawn {
    (canvas.finish(&label(plan)), notes)
}

/// The least and the most of these values; (0, 1) of none.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (min, max) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if min <= max { (min, max) } else { (0.0, 1.0) }
}

/// The scale of a column of numbers or times over these rows.
pub(crate) fn scale_of(column: &Column, rows: &[usize]) -> Scale {
    let values = column.numbers().unwrap_or_default();
    let (min, max) = range(rows.iter().map(|&row| values[row]));
    if column.is_time() { Scale::times(min, max) } else { Scale::numbers(min, max) }
}

/// The title of a row's mark: the values of the row.
pub(crate) fn title(row: usize, columns: &[Option<&Column>]) -> String {
    let lines = columns.iter().flatten().map(|column| format!("{}: {}", column.name, column.text(row)));
    lines.collect::<Vec<_>>().join("\n")
}
