//! Heat map: a cell for each pair, coloured by a number.

use super::{Drawn, chart, finish, name_axes, range, title};
use crate::error::PictureError;
use crate::legend::Legend;
use crate::palette::Ramp;
use crate::plan::{Groups, Plan};
use crate::scale::{self, Scale};
use crate::svg::Anchor;
use crate::text;

/// More cells are smaller than a few pixels.
const MOST: usize = 20_000;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y), Some(color)) = (plan.x, plan.y, plan.color) else { unreachable!("a heat map has all") };
    let (rows, notes) = plan.complete_rows(&[x, y, color]);
    let (across, down) = (Groups::new(Some(x), &rows), Groups::new(Some(y), &rows));
    let values = color.numbers().unwrap_or_default();
    if rows.len() > MOST {
        let advice = "aggregate, or draw KIND points, which counts rows in squares";
        return Err(PictureError::TooMany { kind: plan.kind, found: rows.len(), what: "cells", most: MOST, advice });
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&i| (down.of[i], across.of[i]));
    if let Some(pair) =
        order.windows(2).find(|pair| (down.of[pair[0]], across.of[pair[0]]) == (down.of[pair[1]], across.of[pair[1]]))
    {
        let what = format!("{} and {}", x.name, y.name);
        let example = format!("`{}`, `{}`", across.names[across.of[pair[0]]], down.names[down.of[pair[0]]]);
        let advice = "or draw KIND boxes";
        return Err(PictureError::Repeated { kind: plan.kind, what, example, advice });
    }
    let (min, max) = range(rows.iter().map(|&row| values[row]));
    let ramp = Ramp::new(min, max);

    let mut layout = chart(plan, Scale::Bands(across.names.clone()), Scale::Bands(down.names.clone()));
    let high = (down.names.len() as f64 * 30.0 + 100.0).clamp(200.0, 900.0);
    layout.height = plan.request.height.map_or(high, f64::from);
    name_axes(&mut layout, plan, &x.name, &y.name);
    layout.y_from_top = true;
    layout.grid = (false, false);
    layout.legend = Legend::Ramp { name: color.name.clone(), ramp };
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    let gap = if rows.len() > 2000 { 0.0 } else { 0.75 };
    for &i in &order {
        let (row, value) = (rows[i], values[rows[i]]);
        let (column, line) = (across.of[i] as f64, down.of[i] as f64);
        let (a, b) = (canvas.at(column - 0.5, line - 0.5), canvas.at(column + 0.5, line + 0.5));
        let fill = format!("class=\"mark\" fill=\"{}\"", ramp.color(value));
        let title = title(row, &[Some(x), Some(y), Some(color)]);
        canvas.svg.rect((a.0 + gap, a.1 + gap), (b.0 - gap, b.1 - gap), &fill, Some(&title));
        let label = scale::short(value);
        if b.0 - a.0 > text::width(&label, 11.0) + 6.0 && b.1 - a.1 > 15.0 {
            let ink = format!("font-size=\"11\" fill=\"{}\" pointer-events=\"none\"", ramp.ink(value));
            canvas.svg.text(((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0 + 4.0), Anchor::Middle, &ink, &label);
        }
    }
    Ok(finish(plan, canvas, notes))
}
