//! The histogram of the values of edges.

/// Why values give no histogram.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HistogramError {
    /// The bins are no bins.
    #[error(
        "bins => {bins}, low => {low}, high => {high}: 1 to 1000000 bins and a finite low below a finite high are expected"
    )]
    Bins {
        /// The number of bins.
        bins: usize,
        /// Where the first starts.
        low: f64,
        /// Where the last ends.
        high: f64,
    },
    /// A value is no number.
    #[error("a value is NaN; leave such rows out (WHERE NOT isnan(value))")]
    Nan,
}

/// A histogram in the making: equal bins from `low` to `high`. Values below count in the first bin and values above in
/// the last, so that nothing is lost. 8 bytes a bin.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    low: f64,
    high: f64,
    counts: Vec<u64>,
}

impl Histogram {
    /// An empty histogram.
    ///
    /// # Errors
    /// No bins or more than a million, or bounds that are not finite or not ascending.
    pub fn new(bins: usize, low: f64, high: f64) -> Result<Self, HistogramError> {
        if !(1..=1_000_000).contains(&bins) || !low.is_finite() || !high.is_finite() || low >= high {
            return Err(HistogramError::Bins { bins, low, high });
        }
        Ok(Self { low, high, counts: vec![0; bins] })
    }

    /// Counts a value. O(1).
    ///
    /// # Errors
    /// The value is NaN.
    pub fn add(&mut self, value: f64) -> Result<(), HistogramError> {
        if value.is_nan() {
            return Err(HistogramError::Nan);
        }
        let bins = self.counts.len();
        let border = |bin: usize| self.low + (self.high - self.low) * (bin as f64 / bins as f64);
        let position = (value - self.low) / (self.high - self.low) * bins as f64;
        let mut bin = (position.max(0.0) as usize).min(bins - 1);
        // The quotient may be off by a rounding; the borders decide.
        if bin + 1 < bins && value >= border(bin + 1) {
            bin += 1;
        } else if bin > 0 && value < border(bin) {
            bin -= 1;
        }
        self.counts[bin] += 1;
        Ok(())
    }

    /// The number of values in each bin.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Adds another histogram's counts, bin by bin.
    pub fn add_counts(&mut self, counts: &[u64]) {
        self.counts.iter_mut().zip(counts).for_each(|(count, more)| *count += more);
    }

    /// The share of values in each bin; `None` without values.
    pub fn shares(&self) -> Option<Vec<f64>> {
        (self.counts.iter().sum::<u64>() > 0).then(|| super::shares(&self.counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(bins: usize, low: f64, high: f64, values: &[f64]) -> Vec<f64> {
        let mut histogram = Histogram::new(bins, low, high).unwrap();
        values.iter().for_each(|value| histogram.add(*value).unwrap());
        histogram.shares().unwrap()
    }

    #[test]
    fn borders_belong_to_the_upper_bin_and_the_end_to_the_last() {
        assert_eq!(shares(2, -1.0, 1.0, &[-1.0, -0.5, 0.0, 1.0]), [0.5, 0.5]);
        // numpy.histogram([0.1, 0.2, 0.3, 0.6, 0.7], bins=10, range=(0, 1)): 3 * 0.1 lies above 0.3.
        let counts: Vec<u64> =
            shares(10, 0.0, 1.0, &[0.1, 0.2, 0.3, 0.6, 0.7]).iter().map(|s| (s * 5.0).round() as u64).collect();
        assert_eq!(counts, [0, 1, 1, 1, 0, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn values_outside_count_at_the_ends() {
        assert_eq!(shares(4, 0.0, 1.0, &[-5.0, f64::NEG_INFINITY, 7.0, f64::INFINITY]), [0.5, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn wrong_bins_and_values_are_refused() {
        for (bins, low, high) in
            [(0, 0.0, 1.0), (5, 1.0, 1.0), (5, 2.0, 1.0), (5, f64::NAN, 1.0), (5, 0.0, f64::INFINITY)]
        {
            assert!(matches!(Histogram::new(bins, low, high), Err(HistogramError::Bins { .. })), "{bins} {low} {high}");
        }
        assert_eq!(Histogram::new(3, 0.0, 1.0).unwrap().add(f64::NAN), Err(HistogramError::Nan));
        assert_eq!(Histogram::new(3, 0.0, 1.0).unwrap().shares(), None);
    }
}
