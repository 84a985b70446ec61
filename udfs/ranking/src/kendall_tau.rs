//! Kendall's rank correlation.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::merge::sort_counting;
use crate::order_codes::{both, pairs};

/// Kendall's tau-b: (concordant - discordant) / sqrt((pairs not tied in x) (pairs not tied in y)). In [-1, 1]; `None`
/// where one of the two is constant, and for fewer than two rows. (Kendall 1938 and 1945; CurvBench, Eq. 17.)
///
/// Knight's algorithm (1966): order the rows by x, then y, and count the exchanges that sort y. O(n log n) time, O(n)
/// memory; all counts are whole numbers.
///
/// # Panics
/// If the slices differ in length, or have more than 2^32 - 1 rows.
pub fn kendall_tau(x: &[f64], y: &[f64], monitor: &dyn Monitor) -> Result<Option<f64>, Stopped> {
    let (x, y) = both(x, y, monitor)?;
    let n = x.of_row.len();
    let (tied_x, tied_y) = (x.ties(), y.ties());
    let all = pairs(n as u64);
    let (in_x, in_y) = (all - tied_x, all - tied_y);
    if in_x == 0 || in_y == 0 {
        return Ok(None);
    }
    // Where the rows of each x begin, the codes of y in that order, and their copy for merging.
    let _reservation = Reservation::new(monitor, 8 * (n + x.counts.len()))?;
    let mut next = Vec::with_capacity(x.counts.len());
    let mut start = 0;
    for &count in &x.counts {
        next.push(start);
        start += count;
    }
    let mut by_x = vec![0u32; n];
    for (&x, &y) in x.of_row.iter().zip(&y.of_row) {
        let place = &mut next[x as usize];
        by_x[*place as usize] = y;
        *place += 1;
    }
    monitor.check()?;
    // Rows of one x, each range for itself: sorted by y, and those with one y too are ties of both.
    let mut rest = by_x.as_mut_slice();
    let mut groups = Vec::new();
    for &count in x.counts.iter().filter(|&&count| count > 0) {
        let (group, others) = rest.split_at_mut(count as usize);
        groups.push(group);
        rest = others;
    }
    let tied_both = groups.into_par_iter().with_min_len(1 << 10).map(|group| {
        if group.len() < 2 {
            return Ok(0);
        }
        group.par_sort_unstable();
        monitor.check()?;
        Ok(group.chunk_by(|a, b| a == b).map(|run| pairs(run.len() as u64)).sum())
    });
    let tied_both: u128 = tied_both.try_reduce(|| 0, |a, b| Ok(a + b))?;
    let discordant = sort_counting(&mut by_x, monitor)?;
    let difference = (all + tied_both) as i128 - (tied_x + tied_y) as i128 - 2 * discordant as i128;
    // The root of a square is exact: equal rankings give 1, not its neighbour.
    Ok(Some((difference as f64 / (in_x as f64 * in_y as f64).sqrt()).clamp(-1.0, 1.0)))
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
