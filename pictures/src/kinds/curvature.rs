//! Curvature histogram: the distribution of curvatures, its mean, and the cuts between which a mean counts as near zero, as the
//! regimes of CurvBench (Sec. 3) have them.

use super::histogram::bins;
use super::{Drawn, chart, finish, name_axes, range};
use crate::error::PictureError;
use crate::plan::Plan;
use crate::scale::{Scale, short};
use crate::svg::Anchor;

/// The largest absolute mean that counts as near zero in a curvature histogram: that of the engine's regimes.
pub const CURVATURE_CUT: f64 = 0.01;

/// The colours of negative, near zero and positive: of the diverging palette.
const SIDES: [(&str, &str); 3] = [("negative", "#2166ac"), ("near zero", "#8a8a8a"), ("positive", "#b2182b")];

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let Some(x) = plan.x else { unreachable!("a histogram has an x") };
    let (rows, mut notes) = plan.complete_rows(&[x]);
    let all = x.numbers().unwrap_or_default();
    let values: Vec<f64> = rows.iter().map(|&row| all[row]).collect();
    let bins = bins(&values, plan.request.bins);
    let mut counts = vec![0_u64; bins.count];
    values.iter().for_each(|value| counts[bins.of(*value)] += 1);
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let count = values.len() as f64;
    let mean = values.iter().map(|value| value / count).sum::<f64>();
    if let Some(skewness) = skewness(&values, mean) {
        notes.push(format!("Mean {}, skewness {} of {} rows.", short(mean), short(skewness), values.len()));
    }
    notes.push(format!("The cuts at −{CURVATURE_CUT} and {CURVATURE_CUT} bound the means that count as near zero."));

    let cuts = [-2.0 * CURVATURE_CUT, 2.0 * CURVATURE_CUT];
    let ends = [bins.bound(0), bins.bound(bins.count)].into_iter().chain(cuts);
    let (low, high) = range(ends.chain(plan.request.x_lines.iter().copied()));
    let (down, up) = range([0.0, most as f64 * 1.15].into_iter().chain(plan.request.y_lines.iter().copied()));
    let mut layout = chart(plan, Scale::numbers(low, high), Scale::numbers(down, up));
    name_axes(&mut layout, plan, &x.name, "count");
    layout.notes.clone_from(&notes);
    let mut canvas = layout.canvas();
    for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (from, to) = (bins.bound(bin), bins.bound(bin + 1));
        let middle = (from + to) / 2.0;
        let side = if middle < -CURVATURE_CUT { 0 } else { 1 + usize::from(middle > CURVATURE_CUT) };
        let (a, b) = (canvas.at(from, 0.0), canvas.at(to, count as f64));
        let look = format!("class=\"mark\" fill=\"{}\" fill-opacity=\"0.8\"", SIDES[side].1);
        let title = format!("{}: {from} to {to}\ncount: {count}", x.name);
        canvas.svg.rect((a.0 + 0.5, a.1), (b.0 - 0.5, b.1), &look, Some(&title));
    }
    let (top, bottom) = (canvas.area.top, canvas.area.bottom);
    for cut in [-CURVATURE_CUT, CURVATURE_CUT] {
        let x = canvas.x(cut);
        canvas.svg.line((x, top), (x, bottom), "class=\"cut\" stroke=\"#444\" stroke-dasharray=\"4 3\"");
    }
    if !values.is_empty() {
        let x = canvas.x(mean);
        canvas.svg.line((x, top + 14.0), (x, bottom), "class=\"mean\" stroke=\"#000\" stroke-width=\"1.6\"");
        let (place, anchor) = if mean < 0.0 { (x - 5.0, Anchor::End) } else { (x + 5.0, Anchor::Start) };
        canvas.svg.text((place, top + 22.0), anchor, "font-size=\"11\"", &format!("mean {}", short(mean)));
    }
    let outer = [(canvas.area.left + 4.0, Anchor::Start, 0), (canvas.area.right - 4.0, Anchor::End, 2)];
    for (x, anchor, side) in outer {
        let (name, color) = SIDES[side];
        canvas.svg.text((x, top + 8.0), anchor, &format!("font-size=\"11\" fill=\"{color}\""), name);
    }
    Ok(finish(plan, canvas, notes))
}

/// The third central moment over the third power of the deviation; `None` of equal values.
fn skewness(values: &[f64], mean: f64) -> Option<f64> {
    let moment = |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / values.len() as f64;
    let variance = moment(2);
    (variance > 0.0).then(|| moment(3) / variance.powf(1.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewness_is_that_of_the_moments() {
        // scipy.stats.skew([1, 2, 3, 10]) = 1.0182337649086284.
        let found = skewness(&[1.0, 2.0, 3.0, 10.0], 4.0).unwrap();
        assert!((found - 1.018_233_764_908_628_4).abs() < 1e-12, "{found}");
        assert_eq!(skewness(&[1.0, 1.0], 1.0), None);
    }
}
