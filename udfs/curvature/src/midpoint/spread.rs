//! The mean over sampled anchors and its standard error, from groups of anchors.

/// Anchors in a group.
pub(super) const GROUP: usize = 16;

/// A ratio of sums, one term a group: sum of numerators over sum of denominators, and how far groups differ from it.
///
/// Numerators are kept as differences to the first group's ratio, so that a small spread is not lost beside a large
/// mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spread {
    pilot: f64,
    groups: u32,
    numerator: f64,
    denominator: f64,
    numerator_squares: f64,
    products: f64,
    denominator_squares: f64,
}

impl Spread {
    /// Adds a group of anchors: the sum of their residuals and how many have one.
    pub(super) fn add(&mut self, numerator: f64, denominator: f64) {
        if self.denominator == 0.0 && denominator > 0.0 {
            self.pilot = numerator / denominator;
        }
        let difference = numerator - self.pilot * denominator;
        self.groups += 1;
        self.numerator += difference;
        self.denominator += denominator;
        self.numerator_squares += difference * difference;
        self.products += difference * denominator;
        self.denominator_squares += denominator * denominator;
    }

    /// The mean residual; `None` without one.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.denominator > 0.0).then(|| self.pilot + self.numerator / self.denominator)
    }

    /// The standard error sqrt(G/(G-1) sum of r^2) / (sum of denominators) * sqrt(1 - share), with r the differences
    /// of G groups to the mean and `share` of the population sampled. `None` of fewer than two groups.
    pub(super) fn standard_error(&self, share: f64) -> Option<f64> {
        if self.groups < 2 || self.denominator == 0.0 {
            return None;
        }
        let mean = self.numerator / self.denominator;
        let squares = self.numerator_squares - mean * (2.0 * self.products - mean * self.denominator_squares);
        let groups = f64::from(self.groups);
        Some((groups / (groups - 1.0) * squares.max(0.0) * (1.0 - share)).sqrt() / self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_a_few_groups_is_that_of_the_formula() {
        let groups = [(0.0, 0.0), (3.0, 16.0), (5.0, 15.0), (-1.0, 16.0), (4.5, 9.0)];
        let mut spread = Spread::default();
        groups.iter().for_each(|&(n, d)| spread.add(1e6 * d + n, d));
        let (n, d) = groups.iter().fold((0.0, 0.0), |(n, d), g| (n + g.0, d + g.1));
        let squares: f64 = groups.iter().map(|g| (g.0 - n / d * g.1).powi(2)).sum();
        assert!((spread.mean().unwrap() - 1e6 - n / d).abs() < 1e-9);
        let expected = (5.0f64 / 4.0 * squares).sqrt() / d * 0.75f64.sqrt();
        assert!((spread.standard_error(0.25).unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn one_group_says_nothing_of_the_spread() {
        let mut spread = Spread::default();
        assert_eq!(spread.mean(), None);
        spread.add(3.0, 2.0);
        assert_eq!((spread.mean(), spread.standard_error(0.1)), (Some(1.5), None));
    }
}
