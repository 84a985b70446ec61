//! Points: one a row; of more than can be told apart, squares coloured by how many lie in them.

use std::collections::BTreeMap;

use super::spans::{Spans, error_bar};
use super::{Drawn, chart, divide, finish, name_axes, panels, scale_x, scale_y, title};
use crate::chart::Chart;
use crate::error::PictureError;
use crate::legend::Legend;
use crate::palette::{self, MOST_GROUPS, Ramp};
use crate::plan::{Groups, Plan};
use crate::scale::Scale;
use crate::table::Column;

/// From more rows than this on, squares stand for them.
pub(super) const MOST: usize = 20_000;

/// The side of such a square in pixels, nearly.
const SQUARE: f64 = 6.0;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y)) = (plan.x, plan.y) else { unreachable!("points have x and y") };
    let (rows, mut notes) = plan.complete_rows(&[x, y]);
    if rows.len() > MOST && plan.ymin.is_some() {
        let (found, advice) = (rows.len(), "aggregate them, take a sample, or leave out YMIN and YMAX");
        return Err(PictureError::TooMany { kind: plan.kind, found, what: "error bars", most: MOST, advice });
    }
    let spans = Spans::new(plan, &rows, &mut notes)?;
    let ys = y.numbers().unwrap_or_default();
    let panels = panels(plan, &rows)?;
    let categories = x.is_text().then(|| Groups::new(Some(x), &rows));
    let x_scale =
        categories.as_ref().map_or_else(|| scale_x(plan, x, &rows), |groups| Scale::Bands(groups.names.clone()));
    let mut layout = chart(plan, x_scale, scale_y(plan, y, &rows));
    layout.grid = (categories.is_none(), true);
    name_axes(&mut layout, plan, &x.name, &y.name);
    let xs: Vec<f64> = match (&categories, x.numbers()) {
        (Some(groups), _) => groups.of.iter().map(|&group| group as f64).collect(),
        (None, values) => rows.iter().map(|&row| values.unwrap_or_default()[row]).collect(),
    };

    if rows.len() > MOST {
        notes.push(format!("{} rows: each square is coloured by how many lie in it.", rows.len()));
        layout.notes.clone_from(&notes);
        let ys: Vec<f64> = rows.iter().map(|&row| ys[row]).collect();
        return squares(plan, layout, &panels, &xs, &ys, notes);
    }

    let colors = Colors::new(plan.color, &rows, &mut notes);
    layout.legend = colors.legend();
    layout.notes.clone_from(&notes);
    divide(&mut layout, plan, &panels)?;
    let mut canvas = layout.canvas();
    let radius = match rows.len() {
        0..=100 => 4.5,
        101..=1000 => 3.2,
        1001..=5000 => 2.2,
        _ => 1.6,
    };
    let opacity = if rows.len() > 100 { 0.65 } else { 0.85 };
    if let Some(spans) = &spans {
        for (i, &row) in rows.iter().enumerate() {
            let Some((low, high)) = spans.of(row) else { continue };
            canvas.enter(panels.of[i]);
            let (from, to) = (canvas.at(xs[i], low), canvas.at(xs[i], high));
            error_bar(&mut canvas, from, to, radius, &colors.of(i));
        }
    }
    for (i, &row) in rows.iter().enumerate() {
        canvas.enter(panels.of[i]);
        // A ramp has colours that are faint on white.
        let edge = if matches!(colors, Colors::Ramp { .. }) { " stroke=\"#777\" stroke-width=\"0.5\"" } else { "" };
        let fill = format!("class=\"mark\" fill=\"{}\" fill-opacity=\"{opacity}\"{edge}", colors.of(i));
        let title = title(row, &[Some(x), Some(y), plan.color, plan.facet, plan.ymin, plan.ymax]);
        let place = canvas.at(xs[i], ys[row]);
        canvas.svg.circle(place, radius, &fill, Some(&title));
    }
    Ok(finish(plan, canvas, notes))
}

/// Squares instead of points.
fn squares(
    plan: &Plan,
    mut layout: Chart,
    panels: &Groups,
    xs: &[f64],
    ys: &[f64],
    notes: Vec<String>,
) -> Result<Drawn, PictureError> {
    // How wide the legend is depends on the largest count, and the pixels of the area on that: how many squares there are is
    // measured with a legend about as wide, and where they are is kept in shares of the axes.
    let legend = |most: f64| Legend::Ramp { name: "count".to_owned(), ramp: Ramp::new(0.0, most) };
    layout.legend = legend(xs.len() as f64);
    divide(&mut layout, plan, panels)?;
    let tried = layout.clone().canvas();
    let area = tried.area;
    let along = |length: f64| (length / SQUARE).round().max(1.0);
    let (across, up) = (along(area.right - area.left), along(area.bottom - area.top));
    let square = |place: f64, count: f64| (place * count).floor().clamp(0.0, count - 1.0) as u32;
    let mut counts: BTreeMap<(usize, u32, u32), u64> = BTreeMap::new();
    for ((&x, &y), &panel) in xs.iter().zip(ys).zip(&panels.of) {
        let (x, y) = tried.places(x, y);
        *counts.entry((panel, square(x, across), square(y, up))).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or(1) as f64;
    layout.legend = legend(most);
    divide(&mut layout, plan, panels)?;
    let mut canvas = layout.canvas();
    let ramp = Ramp::new(0.0, most);
    // No seams between squares whose edges are within a pixel.
    canvas.svg.open("shape-rendering=\"crispEdges\"");
    for ((panel, i, j), count) in counts {
        canvas.enter(panel);
        let corner = |i: u32, j: u32| (canvas.across(f64::from(i) / across), canvas.up(f64::from(j) / up));
        let (from, to) = (corner(i, j), corner(i + 1, j + 1));
        let fill = format!("class=\"mark\" fill=\"{}\"", ramp.color(count as f64));
        canvas.svg.rect(from, to, &fill, Some(&format!("count: {count}")));
    }
    canvas.svg.close();
    Ok(finish(plan, canvas, notes))
}

/// The colours of rows by a column, of groups or of numbers.
pub(super) enum Colors<'a> {
    One,
    Groups(Groups, &'a str),
    Ramp { values: Vec<f64>, ramp: Ramp, name: &'a str },
}

impl<'a> Colors<'a> {
    pub(super) fn new(column: Option<&'a Column>, rows: &[usize], notes: &mut Vec<String>) -> Self {
        let Some(column) = column else { return Self::One };
        if let Some(numbers) = column.numbers() {
            let values: Vec<f64> = rows.iter().map(|&row| numbers[row]).collect();
            let (min, max) = super::range(values.iter().copied().filter(|value| value.is_finite()));
            return Self::Ramp { values, ramp: Ramp::new(min, max), name: &column.name };
        }
        let (groups, note) = Groups::new(Some(column), rows).folded(MOST_GROUPS);
        notes.extend(note);
        Self::Groups(groups, &column.name)
    }

    pub(super) fn legend(&self) -> Legend {
        match self {
            Self::One => Legend::None,
            Self::Groups(groups, name) => Legend::of_groups(name, &groups.names),
            Self::Ramp { ramp, name, .. } => Legend::Ramp { name: (*name).to_owned(), ramp: *ramp },
        }
    }

    /// The colour of the row at this position of those given.
    pub(super) fn of(&self, place: usize) -> String {
        match self {
            Self::One => palette::group(0),
            Self::Groups(groups, _) => palette::group(groups.of[place]),
            Self::Ramp { values, ramp, .. } if values[place].is_finite() => ramp.color(values[place]),
            Self::Ramp { .. } => palette::NO_GROUP.to_owned(),
        }
    }
}
