//! Kendall's rank correlation.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::merge::{sort, sort_counting};
use crate::ranks::compare;

/// Kendall's tau-b: (concordant - discordant) / sqrt((pairs not tied in x) (pairs not tied in y)). In [-1, 1]; `None`
/// where one of the two is constant, and for fewer than two rows. (Kendall 1938 and 1945; CurvBench, Eq. 17.)
///
/// Knight's algorithm (1966): sort by x, count the exchanges that sort y. O(n log n) time, O(n) memory; all counts are
/// whole numbers.
///
/// # Panics
/// If the slices differ in length.
pub fn kendall_tau(x: &[f64], y: &[f64], monitor: &dyn Monitor) -> Result<Option<f64>, Stopped> {
    assert_eq!(x.len(), y.len());
    // Rows and the list to be sorted, each with its copy for merging.
    let _room = Reservation::new(monitor, 48 * x.len())?;
    let mut rows: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    sort(&mut rows, |a, b| compare(a.0, b.0).then_with(|| compare(a.1, b.1)), monitor)?;
    let tied_x = tied(&rows, |a, b| compare(a.0, b.0).is_eq());
    let tied_both = tied(&rows, |a, b| compare(a.0, b.0).is_eq() && compare(a.1, b.1).is_eq());
    let mut sorted: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let discordant = sort_counting(&mut sorted, |a, b| compare(*a, *b), monitor)?;
    let tied_y = tied(&sorted, |a, b| compare(a, b).is_eq());
    let n = x.len() as u128;
    let pairs = n * n.saturating_sub(1) / 2;
    let (in_x, in_y) = (pairs - tied_x, pairs - tied_y);
    if in_x == 0 || in_y == 0 {
        return Ok(None);
    }
    let difference = (pairs + tied_both) as i128 - (tied_x + tied_y) as i128 - 2 * discordant as i128;
    // The root of a square is exact: equal rankings give 1, not its neighbour.
    Ok(Some((difference as f64 / (in_x as f64 * in_y as f64).sqrt()).clamp(-1.0, 1.0)))
}

/// The pairs within runs of equal neighbours.
fn tied<T: Copy>(values: &[T], equal: impl Fn(T, T) -> bool) -> u128 {
    values.chunk_by(|&a, &b| equal(a, b)).map(|run| run.len() as u128 * (run.len() as u128 - 1) / 2).sum()
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn kendall_tau(x: &[f64], y: &[f64]) -> Option<f64> {
        super::kendall_tau(x, y, &Unmonitored).unwrap()
    }

    #[test]
    fn it_gives_what_scipy_gives() {
        // scipy.stats.kendalltau 1.17.
        let tau = kendall_tau(&[12.0, 2.0, 1.0, 12.0, 2.0], &[1.0, 4.0, 7.0, 1.0, 0.0]).unwrap();
        assert!((tau - -0.471_404_520_791_031_73).abs() < 1e-15);
        let x = [10.0, 20.0, 20.0, 30.0, 40.0, 40.0, 40.0, 5.0];
        let y = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        assert!((kendall_tau(&x, &y).unwrap() - SCIPY_TIES).abs() < 1e-15);
    }

    const SCIPY_TIES: f64 = 0.039_283_710_065_919_31;

    #[test]
    fn equal_and_opposite_orders_are_the_ends() {
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[2.0, 4.0, 8.0]), Some(1.0));
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
    }

    #[test]
    fn ties_everywhere_have_none() {
        assert_eq!(kendall_tau(&[], &[]), None);
        assert_eq!(kendall_tau(&[1.0], &[1.0]), None);
        assert_eq!(kendall_tau(&[2.0, 2.0], &[1.0, 3.0]), None);
        assert_eq!(kendall_tau(&[0.0, -0.0], &[1.0, 3.0]), None);
    }

    /// Eq. 17 as it is written.
    fn literal(x: &[f64], y: &[f64]) -> Option<f64> {
        let sign = |v: &[f64], i: usize, j: usize| (v[j] - v[i]).signum() * f64::from(v[j] != v[i]);
        let pairs: Vec<(usize, usize)> = (0..x.len()).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
        let sum = |a: &[f64], b: &[f64]| pairs.iter().map(|&(i, j)| sign(a, i, j) * sign(b, i, j)).sum::<f64>();
        let (xx, yy) = (sum(x, x), sum(y, y));
        (xx > 0.0 && yy > 0.0).then(|| sum(x, y) / (xx.sqrt() * yy.sqrt()))
    }

    proptest! {
        #[test]
        fn it_is_equation_17(rows in prop::collection::vec((0..6i32, 0..6i32), 0..40)) {
            let x: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
            let y: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
            match (kendall_tau(&x, &y), literal(&x, &y)) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12, "{a} {b}"),
                (a, b) => prop_assert_eq!(a, b),
            }
        }
    }
}
