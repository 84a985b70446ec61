//! Lines: through the rows of each colour, in the order of x, each with its dashes and, where there is room, its name behind it.

use super::spans::Spans;
use super::{Drawn, chart, divide, finish, name_axes, panels, scale_x, scale_y, title};
use crate::chart::{Canvas, Chart};
use crate::error::PictureError;
use crate::legend::Legend;
use crate::palette::{self, MOST_GROUPS};
use crate::plan::{Groups, Plan};
use crate::scale::Scale;
use crate::svg::{Anchor, px};
use crate::text::{elided, width};

/// Up to so many rows each has a mark on its line, with its numbers.
const MOST_POINTS: usize = 1000;

/// Marks of a line with more corners than this are not seen: a dot on each made a string of pearls of it.
pub(crate) const MOST_DOTS: usize = 60;

/// A line of more rows shows the least and the most of each pixel.
pub(super) const MOST_CORNERS: usize = 4000;

/// More names behind lines are too much to read.
const MOST_NAMES: usize = 12;

/// The height of a name behind a line, and how far it may be moved from its line's end, in pixels.
const NAME: f64 = 12.0;
const MOST_MOVED: f64 = 9.0;

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let (Some(x), Some(y)) = (plan.x, plan.y) else { unreachable!("lines have x and y") };
    let (rows, mut notes) = plan.complete_rows(&[x, y]);
    let spans = Spans::new(plan, &rows, &mut notes)?;
    let ys = y.numbers().unwrap_or_default();
    let panels = panels(plan, &rows)?;
    let (groups, note) = Groups::new(plan.color, &rows).folded(MOST_GROUPS);
    notes.extend(note);
    let categories = x.is_text().then(|| Groups::new(Some(x), &rows));
    let x_scale =
        categories.as_ref().map_or_else(|| scale_x(plan, x, &rows), |names| Scale::Bands(names.names.clone()));
    let x_of = |i: usize| match (&categories, x.numbers()) {
        (Some(names), _) => names.of[i] as f64,
        (None, values) => values.unwrap_or_default()[rows[i]],
    };
    // The rows of each line in the order of x, line by line within a panel.
    let count = groups.names.len();
    let mut lines: Vec<Vec<usize>> = vec![Vec::new(); panels.names.len() * count];
    (0..rows.len()).for_each(|i| lines[panels.of[i] * count + groups.of[i]].push(i));
    for line in &mut lines {
        line.sort_by(|&a, &b| x_of(a).total_cmp(&x_of(b)).then(a.cmp(&b)));
    }
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);
    if longest > MOST_CORNERS {
        notes.push(thinned(rows.len()));
    }

    let mut layout = chart(plan, x_scale, scale_y(plan, y, &rows));
    name_axes(&mut layout, plan, &x.name, &y.name);
    layout.notes.clone_from(&notes);
    let last = |line: &Vec<usize>| line.last().map(|&i| (x_of(i), ys[rows[i]]));
    let ends: Vec<(f64, f64)> = lines.iter().filter_map(last).collect();
    let is_named = plan.color.is_some() && plan.facet.is_none() && ends.len() == count;
    let mut canvas = match is_named.then(|| named(&layout, &groups.names, &ends)).flatten() {
        Some(canvas) => canvas,
        None => {
            let legend = |name: &str| Legend::Lines { name: name.to_owned(), keys: groups.names.clone() };
            layout.legend = plan.color.map_or(Legend::None, |color| legend(&color.name));
            divide(&mut layout, plan, &panels)?;
            layout.canvas()
        }
    };

    for (place, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let group = place % count;
        canvas.enter(place / count);
        if let Some(spans) = &spans {
            let span = |&i: &usize| spans.of(rows[i]).map(|(low, high)| (x_of(i), low, high));
            let spans: Vec<_> = line.iter().map(span).collect();
            spans.split(Option::is_none).for_each(|run| ribbon(&mut canvas, run, group));
        }
    }
    for (place, line) in lines.iter().enumerate() {
        canvas.enter(place / count.max(1));
        let points = thin(line.iter().map(|&i| canvas.at(x_of(i), ys[rows[i]])).collect());
        let (color, dash) = (palette::group(place % count), palette::dash(place % count));
        let look = format!("stroke=\"{color}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dash}");
        canvas.svg.polyline(&points, &look);
    }
    if rows.len() <= MOST_POINTS {
        let (radius, seen) = match longest {
            0..=20 => (3.5, ""),
            21..=MOST_DOTS => (2.5, ""),
            _ => (4.0, " fill-opacity=\"0\""),
        };
        for (place, line) in lines.iter().enumerate() {
            canvas.enter(place / count.max(1));
            let look = format!("class=\"mark\" fill=\"{}\"{seen}", palette::group(place % count));
            for &i in line {
                let at = canvas.at(x_of(i), ys[rows[i]]);
                let title = title(rows[i], &[Some(x), plan.color, plan.facet, Some(y), plan.ymin, plan.ymax]);
                canvas.svg.circle(at, radius, &look, Some(&title));
            }
        }
    }
    Ok(finish(plan, canvas, notes))
}

/// The canvas with the names of lines behind these ends of theirs, if there is room for them; then there is no legend.
fn named(layout: &Chart, names: &[String], ends: &[(f64, f64)]) -> Option<Canvas> {
    let widest = names.iter().map(|name| width(name, 11.0)).fold(0.0, f64::max);
    if !(2..=MOST_NAMES).contains(&names.len()) || widest > layout.width * 0.25 {
        return None;
    }
    let mut layout = layout.clone();
    layout.behind = widest;
    let mut canvas = layout.canvas();
    let places: Vec<(f64, f64)> = ends.iter().map(|&(x, y)| canvas.at(x, y)).collect();
    let reach = (canvas.area.right - canvas.area.left) * 0.8 + canvas.area.left;
    if places.iter().any(|place| place.0 < reach) {
        return None;
    }
    let heights = spread(&places.iter().map(|place| place.1).collect::<Vec<_>>(), NAME);
    let far = heights.iter().zip(&places).map(|(height, place)| (height - place.1).abs()).fold(0.0, f64::max);
    if far > MOST_MOVED {
        return None;
    }
    for (line, name) in names.iter().enumerate() {
        let look = format!("class=\"name\" font-size=\"11\" fill=\"{}\"", palette::ink(line));
        let name = elided(name, 11.0, widest + 1.0);
        canvas.svg.text((places[line].0 + 6.0, heights[line] + 4.0), Anchor::Start, &look, &name);
    }
    Some(canvas)
}

/// These heights, moved apart so that two are no nearer than this: runs of near ones stay about their middle.
fn spread(heights: &[f64], least: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]).then(a.cmp(&b)));
    // Runs of names that touch: the middle and the names of each.
    let mut runs: Vec<(f64, Vec<usize>)> = Vec::new();
    for place in order {
        let mut run = (heights[place], vec![place]);
        while let Some((middle, names)) = runs.last() {
            let room = (names.len() + run.1.len()) as f64 / 2.0 * least;
            if run.0 - middle >= room {
                break;
            }
            let Some((_, mut joined)) = runs.pop() else { break };
            joined.append(&mut run.1);
            run = (joined.iter().map(|&place| heights[place]).sum::<f64>() / joined.len() as f64, joined);
        }
        runs.push(run);
    }
    let mut moved = heights.to_vec();
    for (middle, run) in runs {
        let first = middle - (run.len() - 1) as f64 / 2.0 * least;
        run.iter().enumerate().for_each(|(i, &place)| moved[place] = first + least * i as f64);
    }
    moved
}

/// The area between the lower and the upper ends of spans, which all are there.
fn ribbon(canvas: &mut Canvas, run: &[Option<(f64, f64, f64)>], group: usize) {
    let edge = |end: fn((f64, f64, f64)) -> f64| {
        thin(run.iter().flatten().map(|&span| canvas.at(span.0, end(span))).collect())
    };
    let (upper, mut lower) = (edge(|span| span.2), edge(|span| span.1));
    lower.reverse();
    let corners: Vec<String> = upper.iter().chain(&lower).map(|&(x, y)| format!("{},{}", px(x), px(y))).collect();
    if run.len() < 2 {
        // One row alone has an error bar.
        if let (Some(&to), Some(&from)) = (upper.first(), lower.first()) {
            super::spans::error_bar(canvas, from, to, 3.0, &palette::group(group));
        }
        return;
    }
    let look = format!(
        "class=\"span\" points=\"{}\" fill=\"{}\" fill-opacity=\"0.18\"",
        corners.join(" "),
        palette::group(group)
    );
    canvas.svg.element("polygon", &look, None);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_move_apart_about_their_middle() {
        assert_eq!(spread(&[10.0, 50.0, 30.0], 12.0), [10.0, 50.0, 30.0]);
        assert_eq!(spread(&[100.0, 100.0], 12.0), [94.0, 106.0]);
        // 3, 5 and 7 are a run about 5, and 16 is far enough from its end at 17 no more: all four about 7.75.
        assert_eq!(spread(&[7.0, 3.0, 5.0, 16.0], 12.0), [13.75, -10.25, 1.75, 25.75]);
        assert_eq!(spread(&[], 12.0), [0.0; 0]);
    }
}
