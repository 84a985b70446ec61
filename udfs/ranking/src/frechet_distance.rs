//! The discrete Frechet distance of two curves.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::ranks::compare;

/// Why two curves have no distance.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FrechetError {
    /// Two points of a curve stand at one position: which comes first is not said.
    #[error("the position {0} stands twice: a curve has one value at a position; average them, GROUP BY the position")]
    Repeated(f64),
    /// An infinite position or value.
    #[error("the point ({0}, {1}) is not finite")]
    NotFinite(f64, f64),
    /// The computation was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

/// The discrete Frechet distance of two curves of points (position, value): the least, over all ways of walking both
/// from their first to their last point without turning back, of the largest Euclidean distance on the way. Points may
/// come in any order: they are walked by rising position. `None` where a curve has no points. (Eiter and Mannila 1994.)
///
/// O(n m) time, O(n + m) memory.
pub fn frechet_distance(
    a: &[(f64, f64)],
    b: &[(f64, f64)],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, FrechetError> {
    // Both curves in order, and a row of the table: 40 bytes a point at most.
    let _reservation = Reservation::new(monitor, 40 * (a.len() + b.len()))?;
    let (a, b) = (walked(a)?, walked(b)?);
    if a.is_empty() || b.is_empty() {
        return Ok(None);
    }
    monitor.expect(a.len() as u64);
    // Squares order as their roots do; where they overflow, the slower distance is taken.
    let squared = leash(&a, &b, |dx, dy| dx * dx + dy * dy, monitor)?;
    Ok(Some(if squared.is_finite() { squared.sqrt() } else { leash(&a, &b, f64::hypot, monitor)? }))
}

/// The least leash of two walkers, by a measure of the difference of two points.
fn leash(
    a: &[(f64, f64)],
    b: &[(f64, f64)],
    measure: impl Fn(f64, f64) -> f64,
    monitor: &dyn Monitor,
) -> Result<f64, Stopped> {
    // reach[j]: the least leash that brings both walkers to a[i] and b[j].
    let mut reach = vec![f64::INFINITY; b.len()];
    let mut since_check = 0;
    for (i, &p) in a.iter().enumerate() {
        let mut before = if i == 0 { f64::NEG_INFINITY } else { f64::INFINITY };
        let mut left = f64::INFINITY;
        for (reach, &q) in reach.iter_mut().zip(b) {
            let least = before.min(left).min(*reach);
            before = *reach;
            *reach = least.max(measure(p.0 - q.0, p.1 - q.1));
            left = *reach;
        }
        since_check += b.len();
        if since_check > 1 << 18 {
            monitor.check()?;
            since_check = 0;
        }
        monitor.advance(1);
    }
    Ok(reach.last().copied().unwrap_or(f64::INFINITY))
}

fn walked(points: &[(f64, f64)]) -> Result<Vec<(f64, f64)>, FrechetError> {
    if let Some(&(position, value)) = points.iter().find(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return Err(FrechetError::NotFinite(position, value));
    }
    let mut points = points.to_vec();
    points.sort_unstable_by(|p, q| compare(p.0, q.0));
    match points.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(FrechetError::Repeated(pair[0].0)),
        None => Ok(points),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn distance(a: &[(f64, f64)], b: &[(f64, f64)]) -> Option<f64> {
        frechet_distance(a, b, &Unmonitored).unwrap()
    }

    #[test]
    fn parallel_curves_are_as_far_as_they_stand_apart() {
        let a: Vec<_> = (0..50).map(|i| (f64::from(i), (f64::from(i) / 7.0).sin())).collect();
        let b: Vec<_> = a.iter().rev().map(|&(x, y)| (x, y + 0.25)).collect();
        assert!((distance(&a, &b).unwrap() - 0.25).abs() < 1e-15);
        assert_eq!(distance(&a, &a), Some(0.0));
        // Squares that overflow.
        assert_eq!(distance(&[(0.0, 3e200)], &[(4e200, 0.0)]), Some(3e200_f64.hypot(4e200)));
    }

    #[test]
    fn one_spike_decides_and_a_walker_may_wait() {
        let flat = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)];
        assert_eq!(distance(&flat, &[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)]), Some(3.0));
        // From (1, 3) the nearest points of the other are (0, 0) and (2, 0).
        let root = 10.0_f64.sqrt();
        assert_eq!(distance(&[(0.0, 0.0), (2.0, 0.0)], &[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)]), Some(root));
    }

    #[test]
    fn a_curve_without_points_has_no_distance() {
        assert_eq!(distance(&[], &[(0.0, 1.0)]), None);
        assert_eq!(distance(&[], &[]), None);
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        let twice = frechet_distance(&[(1.0, 2.0), (1.0, 3.0)], &[(1.0, 0.0)], &Unmonitored).unwrap_err();
        assert_eq!(twice, FrechetError::Repeated(1.0));
        assert!(matches!(
            frechet_distance(&[(1.0, f64::INFINITY)], &[(1.0, 0.0)], &Unmonitored),
            Err(FrechetError::NotFinite(..))
        ));
    }

    /// The definition: every pair of walks.
    fn literal(a: &[(f64, f64)], b: &[(f64, f64)]) -> f64 {
        let here = (a[0].0 - b[0].0).hypot(a[0].1 - b[0].1);
        let rest = [(1, 0), (0, 1), (1, 1)].into_iter().filter(|&(i, j)| i < a.len() && j < b.len());
        let best = rest.map(|(i, j)| literal(&a[i..], &b[j..])).reduce(f64::min);
        best.map_or(here, |best| best.max(here))
    }

    proptest! {
        #[test]
        fn it_is_the_least_leash_of_all_walks(
            a in prop::collection::vec(-3.0..3.0f64, 1..6),
            b in prop::collection::vec(-3.0..3.0f64, 1..6),
        ) {
            let curve = |values: &[f64]| -> Vec<(f64, f64)> {
                values.iter().enumerate().map(|(i, &y)| (i as f64, y)).collect()
            };
            let (a, b) = (curve(&a), curve(&b));
            prop_assert!((distance(&a, &b).unwrap() - literal(&a, &b)).abs() < 1e-12);
            prop_assert_eq!(distance(&b, &a), distance(&a, &b));
        }
    }
}
