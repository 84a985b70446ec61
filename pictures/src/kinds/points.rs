//! Points: one a row; of more than can be told apart, squares coloured by how many lie in them.

use std::collections::BTreeMap;

use super::{Drawn, chart, finish, scale_of, title};
use crate::chart::{self, Legend};
use crate::error::PictureError;
use crate::palette::{self, MOST_GROUPS, Ramp};
use crate::plan::{Groups, Plan};
use crate::scale::Scale;
use crate::table::Column;

/// From more rows than this on, squares stand for them.
pub(super) const MOST: usize = 20_000;

/// The side of such a square in pixels.
const SQUARE: f64 = 6.0;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y)) = (plan.x, plan.y) else { unreachable!("points have x and y") };
    let (rows, mut notes) = plan.complete_rows(&[x, y]);
    let ys = y.numbers().unwrap_or_default();
    let categories = x.is_text().then(|| Groups::new(Some(x), &rows));
    let x_scale = categories.as_ref().map_or_else(|| scale_of(x, &rows), |groups| Scale::Bands(groups.names.clone()));
    let mut layout = chart(plan, x_scale, scale_of(y, &rows));
    layout.grid = (categories.is_none(), true);
    (layout.x_name, layout.y_name) = (x.name.clone(), y.name.clone());
    let xs: Vec<f64> = match (&categories, x.numbers()) {
        (Some(groups), _) => groups.of.iter().map(|&group| group as f64).collect(),
        (None, values) => rows.iter().map(|&row| values.unwrap_or_default()[row]).collect(),
    };

    if rows.len() > MOST {
        notes.push(format!("{} rows: each square is coloured by how many lie in it.", rows.len()));
        layout.notes.clone_from(&notes);
        layout.legend = Legend::Ramp { name: "rows".to_owned(), ramp: Ramp { min: 0.0, max: 1.0 } };
        return Ok(squares(plan, layout, &xs, rows.iter().map(|&row| ys[row]), notes));
    }

    let colors = Colors::new(plan.color, &rows, &mut notes);
    layout.legend = colors.legend();
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    let radius = match rows.len() {
        0..=100 => 4.5,
        101..=1000 => 3.2,
        1001..=5000 => 2.2,
        _ => 1.6,
    };
    let opacity = if rows.len() > 100 { 0.65 } else { 0.85 };
    for (i, &row) in rows.iter().enumerate() {
        // A ramp has colours that are faint on white.
        let edge = if matches!(colors, Colors::Ramp { .. }) { " stroke=\"#777\" stroke-width=\"0.5\"" } else { "" };
        let fill = format!("class=\"mark\" fill=\"{}\" fill-opacity=\"{opacity}\"{edge}", colors.of(i));
        let title = title(row, &[Some(x), Some(y), plan.color]);
        let place = canvas.at(xs[i], ys[row]);
        canvas.svg.circle(place, radius, &fill, Some(&title));
    }
    Ok(finish(plan, canvas, notes))
}

/// Squares instead of points.
fn squares(
    plan: &Plan,
    mut layout: chart::Chart,
    xs: &[f64],
    ys: impl Iterator<Item = f64>,
    notes: Vec<String>,
) -> Drawn {
    // The area depends on the legend, whose numbers depend on the squares: measured with a legend as wide.
    layout.legend = Legend::Ramp { name: "rows".to_owned(), ramp: Ramp { min: 0.0, max: xs.len() as f64 } };
    let area = layout.clone().canvas();
    let mut counts: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    for (&x, y) in xs.iter().zip(ys) {
        let (px, py) = area.at(x, y);
        let place = ((px - area.area.left) / SQUARE, (area.area.bottom - py) / SQUARE);
        *counts.entry((place.0.floor() as i64, place.1.floor() as i64)).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or(1) as f64;
    layout.legend = Legend::Ramp { name: "rows".to_owned(), ramp: Ramp { min: 0.0, max: most } };
    let (left, bottom) = (area.area.left, area.area.bottom);
    let mut canvas = layout.canvas();
    let ramp = Ramp { min: 0.0, max: most };
    for ((i, j), count) in counts {
        let (x, y) = (left + SQUARE * i as f64, bottom - SQUARE * j as f64);
        let fill = format!("class=\"mark\" fill=\"{}\"", ramp.color(count as f64));
        canvas.svg.rect((x, y), (x + SQUARE, y - SQUARE), &fill, Some(&format!("rows: {count}")));
    }
    finish(plan, canvas, notes)
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
            Self::Groups(groups, name) => chart::keys(name, &groups.names),
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
