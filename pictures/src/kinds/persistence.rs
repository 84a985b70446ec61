//! Persistence diagrams and barcodes: births and deaths, a colour each dimension. What never dies has an infinite death.

use super::points::Colors;
use super::{Drawn, chart, finish, name_axes, range, title};
use crate::error::PictureError;
use crate::legend::Legend;
use crate::plan::Plan;
use crate::scale::Scale;
use crate::svg::Anchor;

/// More bars are thinner than a pixel.
const MOST_BARS: usize = 2000;

/// More points are drawn by no kind but points, which counts them in squares.
const MOST_POINTS: usize = 20_000;

/// The rows with a birth and a death, which may be infinite, and the births and deaths.
type Pairs = (Vec<usize>, Vec<(f64, f64)>, Vec<String>);

fn pairs(plan: &Plan) -> Pairs {
    let (Some(x), Some(y)) = (plan.x, plan.y) else { unreachable!("a diagram has births and deaths") };
    let (births, deaths) = (x.numbers().unwrap_or_default(), y.numbers().unwrap_or_default());
    let is_pair = |&row: &usize| x.is_there(row) && (y.is_there(row) || deaths[row] == f64::INFINITY);
    let rows: Vec<usize> = (0..plan.rows).filter(is_pair).collect();
    let left = plan.rows - rows.len();
    let note = format!("Left out: {left} rows without a finite {} and a {}.", x.name, y.name);
    let pairs = rows.iter().map(|&row| (births[row], deaths[row])).collect();
    (rows, pairs, if left > 0 { vec![note] } else { Vec::new() })
}

/// Colours of dimensions are groups, though they are numbers.
fn colors<'a>(plan: &Plan<'a>, rows: &[usize], notes: &mut Vec<String>) -> Colors<'a> {
    Colors::grouped(plan.color, rows, notes)
}

fn bounds(pairs: &[(f64, f64)]) -> (f64, f64) {
    range(pairs.iter().flat_map(|&(birth, death)| [birth, death]).filter(|value| value.is_finite()))
}

/// The diagram: a point for each pair over the diagonal; those that never die on a line of their own at the top.
pub(super) fn diagram(plan: &Plan) -> Result<Drawn, PictureError> {
    let (rows, pairs, mut notes) = pairs(plan);
    if rows.len() > MOST_POINTS {
        let advice = "take those of the longest persistence, or draw KIND points";
        let found = rows.len();
        return Err(PictureError::TooMany { kind: plan.kind, found, what: "points", most: MOST_POINTS, advice });
    }
    let colors = colors(plan, &rows, &mut notes);
    let (min, max) = bounds(&pairs);
    let Scale::Even { min, max, ticks } = Scale::numbers(min, max) else { unreachable!("numbers are even") };
    let endless = pairs.iter().any(|pair| pair.1.is_infinite());
    let top = if endless { max + (max - min) * 0.1 } else { max };
    let x = Scale::Even { min, max, ticks: ticks.clone() };
    let mut ticks_y = ticks;
    if endless {
        ticks_y.push((max + (max - min) * 0.07, "∞".to_owned()));
    }
    let mut layout = chart(plan, x, Scale::Even { min, max: top, ticks: ticks_y });
    let wide = if matches!(colors, Colors::One) { 470.0 } else { 560.0 };
    layout.width = plan.request.width.map_or(wide, f64::from);
    layout.height = plan.request.height.map_or(460.0, f64::from);
    name_axes(&mut layout, plan, plan.x.map_or("", |x| &x.name), plan.y.map_or("", |y| &y.name));
    layout.grid = (true, true);
    layout.legend = colors.legend();
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    let (from, to) = (canvas.at(min, min), canvas.at(max, max));
    canvas.svg.line(from, to, "stroke=\"#999\" stroke-width=\"1.2\" stroke-dasharray=\"5 4\"");
    let radius = if rows.len() <= 100 { 4.5 } else { 3.0 };
    for (i, &(birth, death)) in pairs.iter().enumerate() {
        let y = if death.is_infinite() { max + (max - min) * 0.07 } else { death };
        let look = format!("class=\"mark\" fill=\"{}\" fill-opacity=\"0.75\"", colors.of(i));
        let place = canvas.at(birth, y);
        canvas.svg.circle(place, radius, &look, Some(&title(rows[i], &[plan.x, plan.y, plan.color])));
    }
    Ok(finish(plan, canvas, notes))
}

/// The barcode: a bar from each birth to its death, by dimension and birth; those that never die reach the edge.
pub(super) fn barcode(plan: &Plan) -> Result<Drawn, PictureError> {
    let (rows, pairs, mut notes) = pairs(plan);
    if rows.len() > MOST_BARS {
        let advice = "take those of the longest persistence by ORDER BY and LIMIT";
        let found = rows.len();
        return Err(PictureError::TooMany { kind: plan.kind, found, what: "bars", most: MOST_BARS, advice });
    }
    let colors = colors(plan, &rows, &mut notes);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let group = |i: usize| match &colors {
        Colors::Groups(groups, _) => groups.of[i],
        _ => 0,
    };
    order.sort_by(|&a, &b| {
        let by_place = pairs[a].0.total_cmp(&pairs[b].0).then(pairs[a].1.total_cmp(&pairs[b].1));
        group(a).cmp(&group(b)).then(by_place).then(a.cmp(&b))
    });
    let (min, max) = bounds(&pairs);
    let thick = (600.0 / rows.len().max(1) as f64).clamp(1.2, 9.0);
    let mut layout = chart(plan, Scale::numbers(min, max), Scale::Even { min: 0.0, max: 1.0, ticks: Vec::new() });
    layout.height = plan.request.height.map_or(rows.len() as f64 * thick + 90.0, f64::from).max(150.0);
    let span = plan.x.zip(plan.y).map_or(String::new(), |(x, y)| format!("{} to {}", x.name, y.name));
    name_axes(&mut layout, plan, &span, "");
    layout.grid = (true, false);
    layout.legend = match colors.legend() {
        keys @ Legend::Keys { .. } => keys,
        _ => Legend::None,
    };
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    let step = (canvas.area.bottom - canvas.area.top) / order.len().max(1) as f64;
    for (place, &i) in order.iter().enumerate() {
        let (birth, death) = pairs[i];
        let (from, mut to) = (canvas.x(birth), if death.is_infinite() { canvas.area.right } else { canvas.x(death) });
        // What dies at once is still a mark.
        to = to.max(from + 1.5);
        let y = canvas.area.top + step * (place as f64 + 0.5);
        let look = format!("class=\"mark\" fill=\"{}\"", colors.of(i));
        let half = step * 0.36;
        let title = title(rows[i], &[plan.x, plan.y, plan.color]);
        canvas.svg.rect((from, y - half), (to, y + half), &look, Some(&title));
        if death.is_infinite() && step >= 5.0 {
            canvas.svg.text((to + 2.0, y + 3.5), Anchor::Start, "font-size=\"11\" fill=\"#555\"", "→");
        }
    }
    Ok(finish(plan, canvas, notes))
}
