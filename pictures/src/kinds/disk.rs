//! Points of the hyperbolic plane in the Poincare disk: its rim is infinitely far away.

use super::graph::plain;
use super::points::{self, Colors};
use super::{Drawn, finish, title};
use crate::error::PictureError;
use crate::plan::Plan;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y)) = (plan.x, plan.y) else { unreachable!("points have x and y") };
    let (rows, mut notes) = plan.complete_rows(&[x, y]);
    let (xs, ys) = (x.numbers().unwrap_or_default(), y.numbers().unwrap_or_default());
    if let Some(&row) = rows.iter().find(|&&row| xs[row].hypot(ys[row]) >= 1.0) {
        let what = format!(
            "the point ({}, {}) lies on or beyond the rim of the unit disk; the first two coordinates of the hyperboloid \
             divided by 1 plus its time coordinate lie within",
            xs[row], ys[row]
        );
        return Err(PictureError::Rows { kind: plan.kind, what });
    }
    if rows.len() > points::MOST {
        let advice = "take a sample of the rows";
        let found = rows.len();
        return Err(PictureError::TooMany { kind: plan.kind, found, what: "points", most: points::MOST, advice });
    }
    let colors = Colors::new(plan.color, &rows, &mut notes);
    let mut layout = plain(plan);
    layout.legend = colors.legend();
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    let area = canvas.area;
    let middle = ((area.left + area.right) / 2.0, (area.top + area.bottom) / 2.0);
    let radius = ((area.right - area.left).min(area.bottom - area.top) / 2.0 - 6.0).max(10.0);
    canvas.svg.circle(middle, radius, "class=\"rim\" fill=\"#fafafa\" stroke=\"#888\" stroke-width=\"1.2\"", None);
    // Circles at the hyperbolic distances 1, 2, 3 from the middle.
    for distance in [1.0_f64, 2.0, 3.0] {
        let look = "fill=\"none\" stroke=\"#e2e2e2\"";
        canvas.svg.circle(middle, radius * (distance / 2.0).tanh(), look, None);
    }
    let size = if rows.len() <= 200 { 4.0 } else { 2.4 };
    for (i, &row) in rows.iter().enumerate() {
        let place = (middle.0 + xs[row] * radius, middle.1 - ys[row] * radius);
        let look = format!(
            "class=\"mark\" fill=\"{}\" fill-opacity=\"0.8\" stroke=\"#fff\" stroke-width=\"0.4\"",
            colors.of(i)
        );
        canvas.svg.circle(place, size, &look, Some(&title(row, &[Some(x), Some(y), plan.color])));
    }
    Ok(finish(plan, canvas, notes))
}
