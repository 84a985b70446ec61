//! `mad(x)`: the median absolute deviation.
//!
//! Upstream: none known
//! Shows: `SELECT mad(x) FROM (VALUES (1.0), (2.0), (6.0)) AS t(x)` gives `1.0`

use bonnet_graph::{Reservation, Stopped};
use bonnet_sql::{Function, number_aggregate};

/// The registration of `mad`.
pub(crate) fn mad() -> Function {
    number_aggregate("mad", [("x", "Numbers.")], |[x], monitor| {
        let _room = Reservation::new(monitor, size_of_val(x))?;
        Ok::<_, Stopped>(deviation(x.to_vec()))
    })
    .description(
        "The median absolute deviation: the median of the distances to the median, each the mean of the middle two of an \
         even number. NaN is above all numbers. NULLs do not count; NULL without numbers.",
    )
    .example("SELECT mad(x) FROM (VALUES (1), (2), (3), (100)) t(x)")
    .source("DuckDB, statistical aggregates")
}

fn deviation(mut x: Vec<f64>) -> Option<f64> {
    let middle = median(&mut x)?;
    x.iter_mut().for_each(|value| *value = (*value - middle).abs());
    median(&mut x)
}

fn median(x: &mut [f64]) -> Option<f64> {
    let upper = x.len() / 2;
    if x.is_empty() {
        return None;
    }
    let odd = x.len() % 2;
    let (below, &mut middle, _) = x.select_nth_unstable_by(upper, f64::total_cmp);
    match odd {
        1 => Some(middle),
        _ => {
            let lower = below.iter().copied().max_by(f64::total_cmp)?;
            Some(lower + (middle - lower) / 2.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_around_the_median() {
        assert_eq!(deviation(vec![100.0, 1.0, 3.0, 2.0]), Some(1.0));
        assert_eq!(deviation(vec![5.0]), Some(0.0));
        assert_eq!(deviation(vec![]), None);
        assert_eq!(deviation(vec![1.5, f64::NAN, 2.0]), Some(0.5));
    }
}
