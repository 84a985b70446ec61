//! Bump chart: the ranks of each colour over the strata, the first at the top. Equal ranks stand below one another in the
//! order of the rows, and each point says its rank.

use super::{Drawn, chart, finish, name_axes, title};
use crate::error::PictureError;
use crate::legend::Legend;
use crate::palette;
use crate::plan::{Groups, Plan};
use crate::scale::{Scale, short};
use crate::svg::Anchor;
use crate::text::{elided, width};

/// More lines cannot be told apart.
const MOST: usize = 24;

/// More strata leave no room for the points.
const MOST_STRATA: usize = 40;

/// The room for a name at either end, in pixels.
const MOST_NAME: f64 = 150.0;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y), Some(color)) = (plan.x, plan.y, plan.color) else { unreachable!("a bump chart has all") };
    let (rows, mut notes) = plan.complete_rows(&[x, y, color]);
    let values = y.numbers().unwrap_or_default();
    let (strata, models) = (Groups::new(Some(x), &rows), Groups::new(Some(color), &rows));
    for (found, what, most, advice) in [
        (models.names.len(), "lines", MOST, "select fewer, or draw KIND heatmap"),
        (strata.names.len(), "strata", MOST_STRATA, "select fewer, or draw KIND heatmap"),
    ] {
        if found > most {
            return Err(PictureError::TooMany { kind: plan.kind, found, what, most, advice });
        }
    }
    let mut grid: Vec<Vec<Option<usize>>> = vec![vec![None; strata.names.len()]; models.names.len()];
    for (i, &row) in rows.iter().enumerate() {
        if grid[models.of[i]][strata.of[i]].replace(row).is_some() {
            let what = format!("{} and {}", x.name, color.name);
            let example = format!("`{}`, `{}`", strata.names[strata.of[i]], models.names[models.of[i]]);
            return Err(PictureError::Repeated { kind: plan.kind, what, example, advice: "or draw KIND boxes" });
        }
    }
    // The position in each stratum: by the number, equal ones in the order of the rows.
    let mut places: Vec<Vec<Option<f64>>> = vec![vec![None; strata.names.len()]; models.names.len()];
    for stratum in 0..strata.names.len() {
        let mut here: Vec<(usize, usize)> =
            (0..models.names.len()).filter_map(|model| Some((model, grid[model][stratum]?))).collect();
        here.sort_by(|a, b| values[a.1].total_cmp(&values[b.1]).then(a.1.cmp(&b.1)));
        here.iter().enumerate().for_each(|(place, &(model, _))| places[model][stratum] = Some(place as f64));
    }
    if y.is_fractional() {
        notes.push(format!("Places are in the order of {}, the least first.", y.name));
    }

    let deepest = places.iter().flatten().flatten().fold(0.0, |a: f64, &b| a.max(b)) as usize + 1;
    let names = models.names.iter().map(|name| elided(name, 12.0, MOST_NAME)).collect::<Vec<_>>();
    let room = names.iter().map(|name| width(name, 12.0)).fold(0.0, f64::max) + 20.0;
    let full = plan.request.width.map_or(super::WIDTH, f64::from);
    // The names of the lines stand at both ends, or else in a legend.
    let cramped = (full - 70.0) / strata.names.len() as f64 / 2.0 < room;
    let bands = Scale::Bands(strata.names.clone());
    let mut layout = chart(plan, bands, Scale::Bands(vec![String::new(); deepest]));
    layout.height = plan.request.height.map_or((deepest as f64 * 44.0 + 110.0).max(240.0), f64::from);
    name_axes(&mut layout, plan, &x.name, &y.name);
    layout.y_from_top = true;
    layout.grid = (true, false);
    if cramped {
        layout.legend = Legend::of_groups(&color.name, &models.names);
    }
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    let (left, right) = (canvas.area.left, canvas.area.right);
    let step = (right - left) / strata.names.len() as f64;
    let radius = (step / 2.5).min(13.0);
    for (model, line) in places.iter().enumerate() {
        let points: Vec<(usize, (f64, f64))> = line
            .iter()
            .enumerate()
            .filter_map(|(stratum, place)| Some((stratum, canvas.at(stratum as f64, (*place)?))))
            .collect();
        let color_of = palette::group(model);
        for pair in points.windows(2) {
            // A stratum without this model is bridged by a thinner line.
            let wide = if pair[1].0 == pair[0].0 + 1 { "3.5" } else { "1.2" };
            let ((x1, y1), (x2, y2)) = (pair[0].1, pair[1].1);
            let bend = (x2 - x1) * 0.45;
            let path = [x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2].map(crate::svg::px);
            let [a, b, c, d, e, f, g, h] = &path;
            let look = format!(
                "d=\"M{a},{b} C{c},{d} {e},{f} {g},{h}\" fill=\"none\" stroke=\"{color_of}\" stroke-width=\"{wide}\" \
                 stroke-opacity=\"0.85\""
            );
            canvas.svg.element("path", &look, None);
        }
        for &(stratum, place) in &points {
            let Some(row) = grid[model][stratum] else { continue };
            let look = format!("class=\"mark\" fill=\"{color_of}\" stroke=\"#fff\" stroke-width=\"1.5\"");
            canvas.svg.circle(place, radius, &look, Some(&title(row, &[Some(x), Some(color), Some(y)])));
            let rank = short(values[row]);
            if width(&rank, 11.0) < radius * 1.8 {
                let ink = "font-size=\"11\" fill=\"#fff\" font-weight=\"bold\" pointer-events=\"none\"";
                canvas.svg.text((place.0, place.1 + 4.0), Anchor::Middle, ink, &rank);
            }
        }
        let ink = format!("font-size=\"12\" fill=\"{color_of}\"");
        if let (Some(first), Some(last), false) = (points.first(), points.last(), cramped) {
            canvas.svg.text((first.1.0 - radius - 6.0, first.1.1 + 4.0), Anchor::End, &ink, &names[model]);
            let end = (last.1.0 + radius + 6.0, last.1.1 + 4.0);
            canvas.svg.text(end, Anchor::Start, &ink, &names[model]);
        }
    }
    Ok(finish(plan, canvas, notes))
}
