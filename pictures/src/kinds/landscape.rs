//! Persistence landscape: the functions lambda_1, lambda_2, ... through their corners, filled, the first the darkest.

use super::lines::{self, thin, thinned};
use super::{Drawn, chart, finish, name_axes, scale_x, scale_y, title};
use crate::error::PictureError;
use crate::legend::Legend;
use crate::palette::Ramp;
use crate::plan::{Groups, Plan};
use crate::svg::px;

/// More functions cannot be told apart.
const MOST_FUNCTIONS: usize = 500;

/// Up to so many corners each is a mark.
const MOST_CORNERS: usize = 2000;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y)) = (plan.x, plan.y) else { unreachable!("a landscape has x and y") };
    let (rows, mut notes) = plan.complete_rows(&[x, y]);
    let (xs, ys) = (x.numbers().unwrap_or_default(), y.numbers().unwrap_or_default());
    let functions = Groups::new(plan.color, &rows);
    let found = functions.names.len();
    if found > MOST_FUNCTIONS {
        let advice = "draw the first of them (WHERE k <= 10)";
        return Err(PictureError::TooMany { kind: plan.kind, found, what: "functions", most: MOST_FUNCTIONS, advice });
    }
    let mut corners: Vec<Vec<usize>> = vec![Vec::new(); functions.names.len()];
    rows.iter().zip(&functions.of).for_each(|(&row, &function)| corners[function].push(row));
    for rows in &mut corners {
        rows.sort_by(|&a, &b| xs[a].total_cmp(&xs[b]).then(a.cmp(&b)));
    }
    if corners.iter().any(|rows| rows.len() > lines::MOST_CORNERS) {
        notes.push(thinned(rows.len()));
    }
    let last = functions.names.len().max(2) as f64;
    let ramp = Ramp::new(1.0, last + 0.25 * last);
    let color = |function: usize| ramp.color(function as f64 + 1.0);
    let mut layout = chart(plan, scale_x(plan, x, &rows), scale_y(plan, y, &rows));
    name_axes(&mut layout, plan, &x.name, &y.name);
    if let Some(k) = plan.color {
        let most = 20;
        let keys = functions.names.iter().enumerate().take(most).map(|(i, name)| (name.clone(), color(i)));
        layout.legend = Legend::Keys { name: k.name.clone(), keys: keys.collect() };
    }
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    let ground = canvas.y(0.0).clamp(canvas.area.top, canvas.area.bottom);
    for (function, rows) in corners.iter().enumerate() {
        let points = thin(rows.iter().map(|&row| canvas.at(xs[row], ys[row])).collect());
        let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
        let mut path = format!("M{},{}", px(first.0), px(ground));
        points.iter().for_each(|point| path += &format!(" L{},{}", px(point.0), px(point.1)));
        path += &format!(" L{},{} Z", px(last.0), px(ground));
        let look = format!("d=\"{path}\" fill=\"{}\" fill-opacity=\"0.18\"", color(function));
        canvas.svg.element("path", &look, None);
        canvas.svg.polyline(&points, &format!("stroke=\"{}\" stroke-width=\"1.8\"", color(function)));
    }
    if rows.len() <= MOST_CORNERS {
        for (function, rows) in corners.iter().enumerate() {
            for &row in rows {
                let look = format!("class=\"mark\" fill=\"{}\"", color(function));
                let place = canvas.at(xs[row], ys[row]);
                canvas.svg.circle(place, 2.0, &look, Some(&title(row, &[Some(x), plan.color, Some(y)])));
            }
        }
    }
    Ok(finish(plan, canvas, notes))
}
