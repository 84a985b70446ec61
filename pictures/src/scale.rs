//! From values to positions: axes of numbers, times and categories.

use crate::tick::{Tick, round_step};
use crate::time;

/// Smaller numbers are drawn as zero: there is hardly a number between them.
pub(crate) const TINY: f64 = 1e-290;

/// An axis: its range and its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    /// Numbers or timestamps, from the first to the second.
    Even { min: f64, max: f64, ticks: Vec<Tick> },
    /// Positive numbers, evenly by their logarithms, from the first to the second.
    Log { min: f64, max: f64, ticks: Vec<Tick> },
    /// Categories; the position of the first is 0.
    Bands(Vec<String>),
}

impl Scale {
    /// Numbers, with round ticks that reach over both ends.
    pub(crate) fn numbers(min: f64, max: f64) -> Self {
        let (min, max) = spread(min, max);
        let step = round_step((max - min) / 6.0);
        let (first, last) = ((min / step + 1e-9).floor(), (max / step - 1e-9).ceil());
        let digits = digits_of(step);
        let count = (last - first).round().max(1.0) as usize;
        let ticks: Vec<Tick> = (0..=count)
            .map(|i| {
                let value = clean((first + i as f64) * step, digits);
                (value, label(value, step))
            })
            .collect();
        Self::Even { min: ticks[0].0, max: ticks[count].0, ticks }
    }

    /// Positive numbers by their logarithms, with ticks that reach over both ends: at powers of ten, of few powers at twice and
    /// five times them too, and of a range within one power at round steps.
    pub(crate) fn log(min: f64, max: f64) -> Self {
        let (min, max) = if min >= TINY && max >= min { (min, max) } else { (1.0, 10.0) };
        if max / min < 5.0 {
            let Self::Even { ticks, .. } = Self::numbers(min, max) else { unreachable!("numbers are even") };
            let ticks: Vec<Tick> = ticks.into_iter().filter(|tick| tick.0 > 0.0).collect();
            let first = ticks.first().map_or(min, |tick| tick.0.min(min));
            let last = ticks.last().map_or(max, |tick| tick.0.max(max));
            return Self::Log { min: first, max: last, ticks };
        }
        let (low, high) = (min.log10().floor() as i32, max.log10().ceil() as i32);
        let step = ((high - low) as f64 / 8.0).ceil() as usize;
        let factors: &[f64] = if high - low <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let candidates = (low..=high + step as i32).step_by(step).flat_map(|power| {
            let unit = 10f64.powi(power);
            factors.iter().map(move |factor| {
                let value = clean(factor * unit, (-power).max(0));
                (value, label(value, unit))
            })
        });
        let mut ticks: Vec<Tick> = Vec::new();
        for tick in candidates {
            // The last below the range begins it, the first beyond ends it.
            if tick.0 <= min * (1.0 + 1e-12) {
                ticks.clear();
            }
            let ends = tick.0 >= max * (1.0 - 1e-12);
            ticks.push(tick);
            if ends {
                break;
            }
        }
        let (first, last) = (ticks[0].0.min(min), ticks[ticks.len() - 1].0.max(max));
        Self::Log { min: first, max: last, ticks }
    }

    /// Timestamps, with ticks at calendar steps between the ends.
    pub(crate) fn times(min: f64, max: f64) -> Self {
        let (min, max) = if max > min { (min, max) } else { (min - 43_200.0, max + 43_200.0) };
        Self::Even { min, max, ticks: time::ticks(min, max) }
    }

    /// The position in 0..=1 of a value, or of the middle of the category with this number.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self {
            Self::Even { min, max, .. } => (value - min) / (max - min),
            Self::Log { min, max, .. } => (value.max(*min).ln() - min.ln()) / (max.ln() - min.ln()),
            Self::Bands(names) => (value + 0.5) / names.len().max(1) as f64,
        }
    }

    /// Whether numbers or timestamps have places, and no categories.
    pub(crate) fn is_continuous(&self) -> bool {
        !matches!(self, Self::Bands(_))
    }

    /// The named values.
    pub(crate) fn ticks(&self) -> Vec<Tick> {
        match self {
            Self::Even { ticks, .. } | Self::Log { ticks, .. } => ticks.clone(),
            Self::Bands(names) => names.iter().enumerate().map(|(i, name)| (i as f64, name.clone())).collect(),
        }
    }
}

/// A range with room in it: a single value gets some around it.
fn spread(min: f64, max: f64) -> (f64, f64) {
    let width = max - min;
    let size = min.abs().max(max.abs());
    if size < TINY {
        (-1.0, 1.0)
    } else if width > size * 1e-12 {
        (min, max)
    } else {
        (min - size * 0.1, max + size * 0.1)
    }
}

/// The digits behind the point that tell multiples of a step apart.
fn digits_of(step: f64) -> i32 {
    (-(step.log10() + 1e-9).floor()).max(0.0) as i32
}

/// The value without the dust of multiplying.
fn clean(value: f64, digits: i32) -> f64 {
    let rounded = if digits <= 15 { format!("{value:.*}", digits as usize).parse().unwrap_or(value) } else { value };
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// A number on an axis whose ticks are this far apart.
pub(crate) fn label(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = if value.abs() >= 1e9 || step < 1e-5 {
        let digits = (value.abs().log10().floor() - step.log10().floor()).clamp(0.0, 6.0) as usize;
        format!("{value:.digits$e}")
    } else {
        grouped(&format!("{value:.*}", digits_of(step) as usize))
    };
    text.replace('-', "−")
}

/// A number with commas between its thousands.
fn grouped(number: &str) -> String {
    let (sign, rest) = number.split_at(usize::from(number.starts_with('-')));
    let (whole, fraction) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    if whole.len() < 5 {
        return number.to_owned();
    }
    let mut out = sign.to_owned();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + fraction
}

/// A number for a mark's label: at most three digits behind the point, or three in all where it is far from 1.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = if (0.001..1e7).contains(&value.abs()) {
        let fixed = format!("{value:.3}");
        grouped(fixed.trim_end_matches('0').trim_end_matches('.'))
    } else {
        format!("{value:.2e}")
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(min: f64, max: f64) -> Vec<String> {
        Scale::numbers(min, max).ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_reach_over_both_ends() {
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(|t| t.replace("0.0", "0")));
        assert_eq!(labels(-0.05, 0.06), ["−0.06", "−0.04", "−0.02", "0", "0.02", "0.04", "0.06"]);
        assert_eq!(labels(3.0, 97.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(0.0, 50_000.0), ["0", "10,000", "20,000", "30,000", "40,000", "50,000"]);
        assert_eq!(labels(0.0, 3e12), ["0", "5e11", "1.0e12", "1.5e12", "2.0e12", "2.5e12", "3.0e12"]);
        assert_eq!(labels(7.0, 7.0).first().map(String::as_str), Some("6.0"));
        for (min, max) in [(0.0, 0.0), (-1e-300, 1e-300), (-1e300, 1e300), (5.0, 5.0 + 1e-15), (1e-7, 3e-7)] {
            let Scale::Even { min: low, max: high, ticks } = Scale::numbers(min, max) else { panic!() };
            assert!(
                low <= min && max <= high && (2..=12).contains(&ticks.len()),
                "{min} {max}: {low} {high} {ticks:?}"
            );
        }
    }

    #[test]
    fn ticks_of_logarithms_are_powers_of_ten() {
        let labels = |min: f64, max: f64| -> Vec<String> {
            Scale::log(min, max).ticks().into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(10.0, 1e6), ["10", "100", "1000", "10,000", "100,000", "1,000,000"]);
        assert_eq!(labels(3.0, 70.0), ["2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(0.002, 0.04), ["0.002", "0.005", "0.01", "0.02", "0.05"]);
        assert_eq!(labels(2.0, 3.0), ["2.0", "2.2", "2.4", "2.6", "2.8", "3.0"]);
        assert_eq!(labels(-1.0, 0.0), ["1", "2", "5", "10"]);
        assert!((Scale::log(1.0, 1e4).place(100.0) - 0.5).abs() < 1e-12);
        assert_eq!(Scale::log(1.0, 1e4).place(-3.0), 0.0);
        for (min, max) in [(1e-290, 1e300), (1e-290, 1e-285), (7.0, 7.0), (1e300, 1e300), (1e-12, 1.0), (9.99, 50.0)] {
            let Scale::Log { min: low, max: high, ticks } = Scale::log(min, max) else { panic!() };
            assert!(
                low <= min && max <= high && (2..=12).contains(&ticks.len()),
                "{min} {max}: {low} {high} {ticks:?}"
            );
            let scale = Scale::log(min, max);
            assert!(scale.place(min) >= 0.0 && scale.place(max) <= 1.0 + 1e-12, "{min} {max}");
        }
    }

    #[test]
    fn values_and_categories_have_places() {
        assert_eq!(Scale::numbers(0.0, 10.0).place(5.0), 0.5);
        assert_eq!(Scale::Bands(vec!["a".into(), "b".into()]).place(1.0), 0.75);
    }

    #[test]
    fn short_numbers_keep_what_is_read() {
        assert_eq!(short(0.674_321), "0.674");
        assert_eq!(short(12_345.0), "12,345");
        assert_eq!(short(-0.5), "−0.5");
        assert_eq!(short(1.5e-7), "1.50e−7");
    }
}
