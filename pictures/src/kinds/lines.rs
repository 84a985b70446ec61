//! Lines: through the rows of each colour, in the order of x.

use super::{Drawn, chart, finish, scale_of, title};
use crate::chart::{self, Legend};
use crate::error::PictureError;
use crate::palette::{self, MOST_GROUPS};
use crate::plan::{Groups, Plan};
use crate::scale::Scale;

/// Up to so many rows each has a point on its line.
const MOST_POINTS: usize = 1000;

/// A line of more rows shows the least and the most of each pixel.
pub(super) const MOST_CORNERS: usize = 4000;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y)) = (plan.x, plan.y) else { unreachable!("lines have x and y") };
    let (rows, mut notes) = plan.complete_rows(&[x, y]);
    let ys = y.numbers().unwrap_or_default();
    let (groups, note) = Groups::new(plan.color, &rows).folded(MOST_GROUPS);
    notes.extend(note);
    let categories = x.is_text().then(|| Groups::new(Some(x), &rows));
    let x_scale = categories.as_ref().map_or_else(|| scale_of(x, &rows), |names| Scale::Bands(names.names.clone()));
    let x_of = |i: usize| match (&categories, x.numbers()) {
        (Some(names), _) => names.of[i] as f64,
        (None, values) => values.unwrap_or_default()[rows[i]],
    };
    let mut series: Vec<Vec<usize>> = vec![Vec::new(); groups.names.len()];
    groups.of.iter().enumerate().for_each(|(i, &group)| series[group].push(i));
    for places in &mut series {
        places.sort_by(|&a, &b| x_of(a).total_cmp(&x_of(b)).then(a.cmp(&b)));
    }
    if series.iter().any(|places| places.len() > MOST_CORNERS) {
        notes.push(thinned(rows.len()));
    }

    let mut layout = chart(plan, x_scale, scale_of(y, &rows));
    (layout.x_name, layout.y_name) = (x.name.clone(), y.name.clone());
    layout.legend = plan.color.map_or(Legend::None, |color| chart::keys(&color.name, &groups.names));
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    for (group, places) in series.iter().enumerate() {
        let points: Vec<(f64, f64)> = places.iter().map(|&i| canvas.at(x_of(i), ys[rows[i]])).collect();
        let points = thin(points);
        let look = format!("stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"", palette::group(group));
        canvas.svg.polyline(&points, &look);
    }
    if rows.len() <= MOST_POINTS {
        let radius = if rows.len() <= 100 { 3.5 } else { 2.0 };
        for (group, places) in series.iter().enumerate() {
            let look = format!("class=\"mark\" fill=\"{}\"", palette::group(group));
            for &i in places {
                let place = canvas.at(x_of(i), ys[rows[i]]);
                let title = title(rows[i], &[Some(x), plan.color, Some(y)]);
                canvas.svg.circle(place, radius, &look, Some(&title));
            }
        }
    }
    Ok(finish(plan, canvas, notes))
}

/// What a picture says whose lines are thinned.
pub(super) fn thinned(rows: usize) -> String {
    format!("{rows} rows: of each pixel a line shows the least and the most.")
}

/// The corners of a line, in the order of x; of many the extremes of each pixel.
pub(super) fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() > MOST_CORNERS { extremes(&points) } else { points }
}

/// The first, least, most and last of the points that share a pixel along x; the points come in the order of x.
fn extremes(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners = Vec::new();
    for run in points.chunk_by(|a, b| a.0.round() == b.0.round()) {
        let by_y = |&a: &usize, &b: &usize| run[a].1.total_cmp(&run[b].1);
        let least = (0..run.len()).min_by(by_y).unwrap_or(0);
        let most = (0..run.len()).max_by(by_y).unwrap_or(0);
        let mut places = vec![0, least, most, run.len() - 1];
        places.sort_unstable();
        places.dedup();
        corners.extend(places.into_iter().map(|place| run[place]));
    }
    corners
}
