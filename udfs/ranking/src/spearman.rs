//! Spearman's rank correlation.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

use crate::order_codes::{OrderCodes, both};

/// Rows that one task sums between two checks.
const BLOCK: usize = 1 << 16;

/// Spearman's rho: the Pearson correlation of the ranks, ties sharing their average rank. In [-1, 1]; `None` for fewer
/// than two rows, and where all of `x` or all of `y` are equal. (Spearman 1904; CurvBench, Eq. 16.)
///
/// Sums of ranks are whole numbers, so the order of the rows changes no digit. O(n) time for whole numbers in a range not
/// much wider than n, else O(n log n); O(n) memory.
///
/// # Panics
/// If the slices differ in length, or have more than 2^32 - 1 rows.
pub fn spearman(x: &[f64], y: &[f64], monitor: &dyn Monitor) -> Result<Option<f64>, Stopped> {
    let (x, y) = both(x, y, monitor)?;
    let n = x.of_row.len() as i64;
    // The mean of doubled ranks is n + 1, ties or not.
    let deviations = |codes: &OrderCodes| -> Vec<i64> {
        codes.doubled_ranks().into_iter().map(|rank| rank as i64 - (n + 1)).collect()
    };
    let (of_x, of_y) = (deviations(&x), deviations(&y));
    let square = |codes: &OrderCodes, deviations: &[i64]| -> i128 {
        codes
            .counts
            .iter()
            .zip(deviations)
            .map(|(&count, &d)| i128::from(count) * (i128::from(d) * i128::from(d)))
            .sum()
    };
    let (xx, yy) = (square(&x, &of_x), square(&y, &of_y));
    if xx == 0 || yy == 0 {
        return Ok(None);
    }
    let product = |(x, y): (&[u32], &[u32])| {
        monitor.check()?;
        let rows = x.iter().zip(y);
        Ok(rows.map(|(&x, &y)| i128::from(of_x[x as usize]) * i128::from(of_y[y as usize])).sum::<i128>())
    };
    let blocks = x.of_row.par_chunks(BLOCK).zip(y.of_row.par_chunks(BLOCK));
    let xy = blocks.map(product).try_reduce(|| 0, |a, b| Ok(a + b))?;
    // The root of a square is exact: equal rankings give 1, not its neighbour.
    Ok(Some((xy as f64 / (xx as f64 * yy as f64).sqrt()).clamp(-1.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
        super::spearman(x, y, &Unmonitored).unwrap()
    }

    #[test]
    fn it_gives_what_scipy_gives() {
        // scipy.stats.spearmanr 1.17.
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!((spearman(&x, &[5.0, 6.0, 7.0, 8.0, 7.0]).unwrap() - 0.820_782_681_668_123_3).abs() < 1e-15);
        let x = [10.0, 20.0, 20.0, 30.0, 40.0, 40.0, 40.0, 5.0];
        let y = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        assert!((spearman(&x, &y).unwrap() - SCIPY_TIES).abs() < 1e-15);
    }

    const SCIPY_TIES: f64 = 0.055_572_498_390_824_586;

    #[test]
    fn without_ties_it_is_the_textbook_formula() {
        // 1 - 6 sum d^2 / (n (n^2 - 1)).
        let y = [3.0, 1.0, 4.0, 2.0, 5.0];
        let d2 = 4.0 + 1.0 + 1.0 + 4.0;
        let rho = spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &y).unwrap();
        assert!((rho - (1.0 - 6.0 * d2 / 120.0)).abs() < 1e-15);
    }

    #[test]
    fn constants_and_single_rows_have_none() {
        assert_eq!(spearman(&[], &[]), None);
        assert_eq!(spearman(&[1.0], &[2.0]), None);
        assert_eq!(spearman(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[0.0, -0.0, 0.0]), None);
    }

    /// Pearson's correlation of the average ranks, as it is written.
    fn literal(x: &[f64], y: &[f64]) -> Option<f64> {
        let (x, y) = (crate::average_ranks(x), crate::average_ranks(y));
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let (mx, my) = (mean(&x), mean(&y));
        let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(&y).map(|(&x, &y)| f(x - mx, y - my)).sum::<f64>();
        let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
        (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
    }

    proptest! {
        #[test]
        fn it_is_the_correlation_of_average_ranks(rows in prop::collection::vec((0..6i32, 0..6i32), 0..30)) {
            let x: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
            let y: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
            match (spearman(&x, &y), literal(&x, &y)) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12, "{a} {b}"),
                (a, b) => prop_assert_eq!(a, b),
            }
            // The negative of one ranking has the negative correlation; any order of rows the same.
            let negative: Vec<f64> = y.iter().map(|y| -y).collect();
            prop_assert_eq!(spearman(&x, &negative), spearman(&x, &y).map(|rho| -rho));
            let turned = |v: &[f64]| v.iter().rev().copied().collect::<Vec<_>>();
            prop_assert_eq!(spearman(&turned(&x), &turned(&y)), spearman(&x, &y));
        }
    }
}
