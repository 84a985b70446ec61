//! Histogram: how many rows lie in each of even intervals with round bounds, stacked for each colour.

use super::{Drawn, chart, divide, finish, name_axes, panels, range};
use crate::error::PictureError;
use crate::legend::Legend;
use crate::palette::{self, MOST_GROUPS};
use crate::plan::{Groups, Plan};
use crate::scale::{Scale, TINY};
use crate::tick::round_step;

/// Intervals that nobody has asked for.
const MOST_BINS: f64 = 60.0;

/// Even intervals: `count` of them from `start` on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bins {
    pub(super) start: f64,
    pub(super) step: f64,
    pub(super) count: usize,
}

impl Bins {
    /// The interval of a value: each has its lower bound, the last its upper one too.
    pub(super) fn of(self, value: f64) -> usize {
        let place = ((value - self.start) / self.step + 1e-9).floor();
        (place.max(0.0) as usize).min(self.count - 1)
    }

    pub(super) fn bound(self, place: usize) -> f64 {
        // Without the dust of multiplying: bounds are multiples of the step.
        let value = self.start + self.step * place as f64;
        let digits = (-(self.step.log10()).floor() + 1.0).clamp(0.0, 15.0) as usize;
        format!("{value:.digits$}").parse().unwrap_or(value)
    }
}

pub(super) fn draw(plan: &Plan) -> Result<Drawn, PictureError> {
    let Some(x) = plan.x else { unreachable!("a histogram has an x") };
    let (rows, mut notes) = plan.complete_rows(&[x]);
    let all = x.numbers().unwrap_or_default();
    let values: Vec<f64> = rows.iter().map(|&row| all[row]).collect();
    let (groups, note) = Groups::new(plan.color, &rows).folded(MOST_GROUPS);
    notes.extend(note);
    let bins = bins(&values, plan.request.bins);
    let panels = panels(plan, &rows)?;
    // Of each interval, panel by panel.
    let mut counts = vec![vec![0_u64; groups.names.len()]; bins.count * panels.names.len()];
    for ((value, &group), &panel) in values.iter().zip(&groups.of).zip(&panels.of) {
        counts[panel * bins.count + bins.of(*value)][group] += 1;
    }
    let most = counts.iter().map(|counts| counts.iter().sum::<u64>()).max().unwrap_or(0).max(1);

    let ends = [bins.bound(0), bins.bound(bins.count)].into_iter();
    let (low, high) = range(ends.chain(plan.request.x_lines.iter().copied()));
    let x_scale = if x.is_time() { Scale::times(low, high) } else { Scale::numbers(low, high) };
    let (down, up) = range([0.0, most as f64].into_iter().chain(plan.request.y_lines.iter().copied()));
    let mut layout = chart(plan, x_scale, Scale::numbers(down, up));
    name_axes(&mut layout, plan, &x.name, "count");
    layout.legend = plan.color.map_or(Legend::None, |color| Legend::of_groups(&color.name, &groups.names));
    layout.notes.clone_from(&notes);
    divide(&mut layout, plan, &panels)?;
    let mut canvas = layout.canvas();
    for (place, counts) in counts.iter().enumerate() {
        let (panel, bin) = (place / bins.count, place % bins.count);
        canvas.enter(panel);
        let facet = plan.facet.map_or(String::new(), |facet| format!("\n{}: {}", facet.name, panels.names[panel]));
        let mut below = 0;
        for (group, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (a, b) =
                (canvas.at(bins.bound(bin), below as f64), canvas.at(bins.bound(bin + 1), (below + count) as f64));
            below += count;
            let fill = format!("class=\"mark\" fill=\"{}\"", palette::group(group));
            let color = plan.color.map_or(String::new(), |color| format!("\n{}: {}", color.name, groups.names[group]));
            let title =
                format!("{}: {} to {}{color}{facet}\ncount: {count}", x.name, bins.bound(bin), bins.bound(bin + 1));
            canvas.svg.rect((a.0 + 0.5, a.1), (b.0 - 0.5, b.1), &fill, Some(&title));
        }
    }
    Ok(finish(plan, canvas, notes))
}

/// Intervals of a round width over these values: near that of Freedman and Diaconis (1981), twice the distance of the
/// quartiles over the cube root of the number of values, unless a number of intervals is given.
pub(super) fn bins(values: &[f64], wanted: Option<u32>) -> Bins {
    let (min, max) = range(values.iter().copied());
    let width = max - min;
    if values.is_empty() || min.abs().max(max.abs()) < TINY {
        return Bins { start: -1.0, step: 1.0, count: 2 };
    }
    if width <= min.abs().max(max.abs()) * 1e-12 {
        let step = round_step(min.abs() * 0.1);
        let start = (min / step - 0.5).floor() * step;
        return Bins { start, step, count: 2 };
    }
    let step = match wanted {
        Some(wanted) => round_step(width / f64::from(wanted)),
        None => {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64) as usize];
            let raw = 2.0 * (at(0.75) - at(0.25)) / (values.len() as f64).cbrt();
            // Many equal values have no distance of quartiles: the rule of Sturges.
            let raw = if raw > 0.0 { raw } else { width / ((values.len() as f64).log2() + 1.0) };
            round_step(raw.max(width / MOST_BINS))
        }
    };
    let start = (min / step + 1e-9).floor() * step;
    let count = (((max - start) / step - 1e-9).ceil() as usize).max(1);
    Bins { start, step, count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_round_and_hold_every_value() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i) / 100.0).collect();
        let found = bins(&values, None);
        assert_eq!((found.start, found.step, found.count), (0.0, 1.0, 10));
        assert_eq!(bins(&values, Some(20)).count, 20);
        assert_eq!((found.of(0.0), found.of(0.999), found.of(1.0), found.of(10.0)), (0, 0, 1, 9));
        for values in [vec![5.0], vec![0.0, 0.0], vec![-3.0; 4], vec![0.0, 1e-300], vec![1.0, 1.0, 1.0, 2.0]] {
            let bins = bins(&values, None);
            let end = bins.start + bins.step * bins.count as f64;
            assert!(values.iter().all(|v| bins.start <= *v && *v <= end), "{values:?} {bins:?}");
        }
    }
}
