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
mod spans;
mod surface;

pub use self::curvature::CURVATURE_CUT;
pub(crate) use self::lines::MOST_DOTS;
use crate::chart::{Canvas, Chart};
use crate::error::PictureError;
use crate::legend::Legend;
use crate::names::Kind;
use crate::plan::{Groups, Plan};
use crate::scale::{Scale, TINY};
use crate::svg::{Anchor, Svg};
use crate::table::Column;

/// The document of a picture, and its notes.
pub(crate) type Drawn = (String, Vec<String>);

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// Of a panel, where there are several.
const PANEL_HEIGHT: f64 = 190.0;
/// The least that can be given it.
const LEAST_PANEL: f64 = 60.0;
/// More panels are smaller than a stamp.
pub(crate) const MOST_PANELS: usize = 36;

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
        behind: 0.0,
        axes: true,
        notes: Vec::new(),
        grid: (false, true),
        lines: (plan.request.x_lines.clone(), plan.request.y_lines.clone()),
        panels: Vec::new(),
    }
}

/// Names the axes: as the request says, else by these names.
pub(crate) fn name_axes(layout: &mut Chart, plan: &Plan, x: &str, y: &str) {
    let named = |given: &Option<String>, name: &str| given.clone().unwrap_or_else(|| name.to_owned());
    (layout.x_name, layout.y_name) = (named(&plan.request.x_label, x), named(&plan.request.y_label, y));
}

/// The panels of these rows: all rows in one without a name, unless the request has a column of panels.
///
/// # Errors
/// [`PictureError::TooMany`] panels.
pub(crate) fn panels(plan: &Plan, rows: &[usize]) -> Result<Groups, PictureError> {
    let groups = Groups::new(plan.facet, rows);
    let found = groups.names.len();
    if found > MOST_PANELS {
        let advice = "name a column of fewer values by FACET, or select some of them";
        return Err(PictureError::TooMany { kind: plan.kind, found, what: "panels", most: MOST_PANELS, advice });
    }
    Ok(groups)
}

/// Gives a chart its panels, and their height unless the request has one. Its legend is known by now.
///
/// # Errors
/// [`PictureError::Value`] for a height that leaves the panels none.
pub(crate) fn divide(layout: &mut Chart, plan: &Plan, panels: &Groups) -> Result<(), PictureError> {
    const AROUND: f64 = 80.0;
    if plan.facet.is_none() || panels.names.is_empty() {
        return Ok(());
    }
    // A number alone does not say of what.
    let named = |name: &String| match plan.facet.filter(|facet| !facet.is_text()) {
        Some(facet) => format!("{}: {name}", facet.name),
        None => name.clone(),
    };
    layout.panels = panels.names.iter().map(named).collect();
    let rows = layout.rows();
    match plan.request.height {
        None => {
            let high = if layout.y.is_continuous() { PANEL_HEIGHT } else { layout.height - 70.0 };
            layout.height = high * rows as f64 + AROUND;
        }
        Some(height) => {
            let least = LEAST_PANEL * rows as f64 + AROUND;
            if f64::from(height) < least {
                let need = format!("at least {least} for {rows} panels below one another");
                return Err(PictureError::Value { option: "HEIGHT", value: height.to_string(), need });
            }
        }
    }
    Ok(())
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

/// The scale of the axis of x over these rows of its column, numbers or times, and over its reference lines.
pub(crate) fn scale_x(plan: &Plan, column: &Column, rows: &[usize]) -> Scale {
    let values = column.numbers().unwrap_or_default();
    scale(column, rows.iter().map(|&row| values[row]), &plan.request.x_lines, plan.request.x_log)
}

/// The scale of the axis of y, on which error bars are, too.
pub(crate) fn scale_y(plan: &Plan, column: &Column, rows: &[usize]) -> Scale {
    let of = |column: &Column, row: usize| column.numbers().unwrap_or_default()[row];
    let columns = [Some(column), plan.ymin, plan.ymax];
    let there = rows.iter().flat_map(|&row| {
        columns.into_iter().flatten().filter(move |column| column.is_there(row)).map(move |column| of(column, row))
    });
    scale(column, there, &plan.request.y_lines, plan.request.y_log)
}

fn scale(column: &Column, values: impl Iterator<Item = f64>, lines: &[f64], is_log: bool) -> Scale {
    let values = values.chain(lines.iter().copied());
    if is_log {
        let (min, max) = range(values.filter(|value| *value >= TINY));
        return Scale::log(min, max);
    }
    let (min, max) = range(values);
    if column.is_time() { Scale::times(min, max) } else { Scale::numbers(min, max) }
}

/// The title of a row's mark: the values of the row.
pub(crate) fn title(row: usize, columns: &[Option<&Column>]) -> String {
    let lines = columns.iter().flatten().map(|column| format!("{}: {}", column.name, column.text(row)));
    lines.collect::<Vec<_>>().join("\n")
}
