//! Skewness in the three conventions in use, from three central moments that merge (CurvBench, Eq. 4-5; Joanes and
//! Gill 1998).

/// Count, mean and the sums of squared and cubed deviations of a set of numbers, and the unit that they are counted in:
/// five numbers of state, whatever the size of the set.
///
/// Numbers come one by one ([`Moments::add`], Welford's update), in bulk ([`Moments::of`]) or as the state of a
/// disjoint set ([`Moments::merge`], Pébay 2008). No raw power sums are kept, so a large common offset costs no digits
/// beyond those that the numbers themselves lack. The unit is 1 but for numbers whose cubes would leave the floats: skewness
/// is the same in any unit. A set that holds a NaN or an infinity has skewness NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    count: f64,
    /// In units of `2^exponent`, as are the squares and cubes.
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
    /// Sum of cubed deviations from the mean.
    cubes: f64,
    exponent: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0.0, mean: 0.0, squares: 0.0, cubes: 0.0, exponent: 0.0 }
    }
}

/// Numbers of at most so many bits before the point, or behind it, are counted in units of 1: sums of their cubes stay well
/// within the floats.
const BITS: f64 = 200.0;

/// The exponent of the unit in which a number counts, 0 where it may be 1.
fn unit_exponent(value: f64) -> f64 {
    match value.abs().log2() {
        bits if bits.is_finite() && bits.abs() > BITS => bits.floor(),
        _ => 0.0,
    }
}

/// `value * 2^exponent`, by halves: the power alone may leave the floats where the product does not.
fn scaled(value: f64, exponent: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let half = (exponent / 2.0).trunc();
    value * half.exp2() * (exponent - half).exp2()
}

impl Moments {
    /// The moments of `values`. Two passes: more exact than adding one by one. O(values).
    pub fn of(values: &[f64]) -> Self {
        let moments = Self::in_ones(values);
        let width = (moments.squares / moments.count).log2() / 2.0;
        if width.abs() <= BITS || values.is_empty() {
            return moments;
        }
        let largest = values.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let exponent = unit_exponent(largest);
        if exponent == 0.0 {
            return moments;
        }
        let units: Vec<f64> = values.iter().map(|&x| scaled(x, -exponent)).collect();
        Self { exponent, ..Self::in_ones(&units) }
    }

    /// The moments of numbers that count in units of 1.
    fn in_ones(values: &[f64]) -> Self {
        let Some(&first) = values.first() else { return Self::default() };
        let count = values.len() as f64;
        // Sums are taken of differences to one of the values: exact for a constant, whatever its rounding.
        let mean = first + values.iter().map(|x| x - first).sum::<f64>() / count;
        let (mut drift, mut squares, mut cubes) = (0.0, 0.0, 0.0);
        for x in values {
            let deviation = x - mean;
            drift += deviation;
            squares += deviation * deviation;
            cubes += deviation * deviation * deviation;
        }
        // What rounding left between `mean` and the true mean.
        let shift = drift / count;
        Self {
            count,
            mean: mean + shift,
            squares: squares - drift * shift,
            cubes: cubes - 3.0 * shift * squares + 2.0 * drift * shift * shift,
            exponent: 0.0,
        }
    }

    /// Counts in another unit. What becomes 0 so is as nothing beside numbers that need the unit.
    fn rescale(&mut self, exponent: f64) {
        let by = self.exponent - exponent;
        if by != 0.0 {
            self.mean = scaled(self.mean, by);
            self.squares = scaled(self.squares, 2.0 * by);
            self.cubes = scaled(self.cubes, 3.0 * by);
            self.exponent = exponent;
        }
    }

    /// Whether all numbers are 0, and fit any unit.
    fn is_zero(&self) -> bool {
        self.mean == 0.0 && self.squares == 0.0
    }

    /// The unit for these numbers and others in another unit.
    fn common_exponent(&self, other: &Self) -> f64 {
        match (self.is_zero(), other.is_zero()) {
            (true, _) => other.exponent,
            (_, true) => self.exponent,
            _ => self.exponent.max(other.exponent),
        }
    }

    /// Adds one number.
    pub fn add(&mut self, value: f64) {
        let exponent = unit_exponent(value);
        if exponent != 0.0 || self.exponent != 0.0 {
            let one = Self { count: 1.0, mean: scaled(value, -exponent), exponent, ..Self::default() };
            self.merge(&one);
            return;
        }
        let before = self.count;
        self.count += 1.0;
        if before == 0.0 {
            self.mean = value;
            return;
        }
        let deviation = value - self.mean;
        let step = deviation / self.count;
        let square = deviation * step * before;
        self.mean += step;
        self.cubes += square * step * (self.count - 2.0) - 3.0 * step * self.squares;
        self.squares += square;
    }

    /// Adds all numbers of a disjoint set.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0.0 {
            return;
        }
        if self.count == 0.0 {
            *self = *other;
            return;
        }
        let mut other = *other;
        if self.exponent != other.exponent {
            let exponent = self.common_exponent(&other);
            self.rescale(exponent);
            other.rescale(exponent);
        }
        let count = self.count + other.count;
        let between = other.mean - self.mean;
        let (share, other_share) = (self.count / count, other.count / count);
        let square = between * between * self.count * other_share;
        self.cubes += other.cubes
            + square * between * (share - other_share)
            + 3.0 * between * (share * other.squares - other_share * self.squares);
        self.squares += other.squares + square;
        self.mean += between * other_share;
        self.count = count;
    }

    /// The state as plain numbers: count, mean, sum of squared deviations, sum of cubed deviations, and the exponent of two
    /// of the unit that the last three are counted in.
    pub fn state(&self) -> [f64; 5] {
        [self.count, self.mean, self.squares, self.cubes, self.exponent]
    }

    /// The moments that [`Moments::state`] described.
    pub fn from_state([count, mean, squares, cubes, exponent]: [f64; 5]) -> Self {
        Self { count, mean, squares, cubes, exponent }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count as u64
    }

    /// The mean of the numbers; `None` of no numbers.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then(|| scaled(self.mean, self.exponent))
    }

    /// m3 / m2^1.5 with divisor n in both moments (CurvBench, Eq. 5): 0 where the deviation is 0, `None` of no numbers.
    ///
    /// A deviation of at most one unit in the last place of the mean is rounding and counts as 0.
    pub fn skewness_population(&self) -> Option<f64> {
        self.skewness_with_divisor(self.count)
    }

    /// m3 / s^3 with the deviation s of divisor n - 1 and the third moment of divisor n (b1 of Joanes and Gill; what
    /// CurvBench prints): 0 where the deviation is 0, `None` of fewer than two numbers.
    pub fn skewness_sample(&self) -> Option<f64> {
        (self.count >= 2.0).then(|| self.skewness_with_divisor(self.count - 1.0)).flatten()
    }

    /// The bias-corrected G1 = g1 sqrt(n (n - 1)) / (n - 2) of DuckDB and pandas: 0 where the deviation is 0, `None` of
    /// fewer than three numbers.
    pub fn skewness_adjusted(&self) -> Option<f64> {
        if self.count < 3.0 {
            return None;
        }
        let factor = (self.count * (self.count - 1.0)).sqrt() / (self.count - 2.0);
        Some(self.skewness_population()? * factor)
    }

    fn skewness_with_divisor(&self, divisor: f64) -> Option<f64> {
        if self.count == 0.0 {
            return None;
        }
        if !(self.mean.is_finite() && self.squares.is_finite() && self.cubes.is_finite()) {
            return Some(f64::NAN);
        }
        if (self.squares / self.count).sqrt() <= f64::EPSILON * self.mean.abs() {
            return Some(0.0);
        }
        let deviation = (self.squares / divisor).sqrt();
        Some(self.cubes / self.count / deviation / deviation / deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one_by_one(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|&x| moments.add(x));
        moments
    }

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
    }

    #[test]
    fn the_figures_of_a_set_computed_by_hand() {
        // 1, 2, 3, 10: mean 4, deviations -3, -2, -1, 6; squares 50, cubes 180.
        let expected = 45.0 / 12.5f64.powf(1.5);
        let sample = 45.0 / (50.0f64 / 3.0).powf(1.5);
        for moments in [Moments::of(&[1.0, 2.0, 3.0, 10.0]), one_by_one(&[1.0, 2.0, 3.0, 10.0])] {
            assert_eq!((moments.count(), moments.mean()), (4, Some(4.0)));
            assert!(close(moments.skewness_population().unwrap(), expected, 1e-15));
            assert!(close(moments.skewness_sample().unwrap(), sample, 1e-15));
            // The value that pandas prints for this series.
            assert!(close(moments.skewness_adjusted().unwrap(), 1.763632614803888, 1e-14));
        }
    }

    #[test]
    fn a_constant_has_no_skewness_however_it_was_rounded_or_split() {
        for x in [0.0, 0.1, -1.0 / 3.0, 1e300, 1e15 + 0.125] {
            let whole = Moments::of(&[x; 1001]);
            let mut merged = one_by_one(&[x; 77]);
            merged.merge(&one_by_one(&[x; 13]));
            for moments in [whole, merged] {
                assert_eq!(moments.skewness_population(), Some(0.0), "{x}");
                assert_eq!(moments.skewness_sample(), Some(0.0));
                assert_eq!(moments.skewness_adjusted(), Some(0.0));
            }
        }
        // 0.1 + 0.2 is not 0.3, but only rounding lies between them.
        let jitter = [0.1 + 0.2, 0.3, 0.3, 0.3, 0.1 + 0.2];
        assert_eq!(Moments::of(&jitter).skewness_population(), Some(0.0));
        assert_eq!(one_by_one(&jitter).skewness_population(), Some(0.0));
    }

    #[test]
    fn too_few_numbers_have_no_value() {
        assert_eq!(Moments::default().skewness_population(), None);
        assert_eq!(Moments::of(&[]).mean(), None);
        let one = Moments::of(&[5.0]);
        assert_eq!((one.skewness_population(), one.skewness_sample()), (Some(0.0), None));
        let two = Moments::of(&[5.0, 7.0]);
        assert_eq!((two.skewness_sample(), two.skewness_adjusted()), (Some(0.0), None));
        assert!(Moments::of(&[5.0, 7.0, 9.5]).skewness_adjusted().is_some());
    }

    #[test]
    fn a_large_offset_changes_nothing() {
        let values: Vec<f64> = (0..1000).map(|i| ((i * i) % 97) as f64).collect();
        let lifted: Vec<f64> = values.iter().map(|x| x + 1e12).collect();
        let expected = Moments::of(&values).skewness_population().unwrap();
        assert!(close(Moments::of(&lifted).skewness_population().unwrap(), expected, 1e-12));
        assert!(close(one_by_one(&lifted).skewness_population().unwrap(), expected, 1e-7));
    }

    #[test]
    fn skewness_is_the_same_in_any_unit() {
        // 1, 2, 4: deviations -4/3, -1/3, 5/3; m3 = 20/27, m2 = 14/9.
        let expected = 20.0 / 27.0 / (14.0f64 / 9.0).powf(1.5);
        for unit in [1e-320, 1e-200, 1e-110, 1.0, 1e110, 1e200, 4e307] {
            let values = [1.0, 2.0, 4.0].map(|x| x * unit);
            let mut merged = one_by_one(&values[..1]);
            merged.merge(&Moments::of(&values[1..]));
            // A number below the normal ones has few digits.
            let tolerance = if unit < 1e-300 { 1e-3 } else { 1e-14 };
            for moments in [Moments::of(&values), one_by_one(&values), merged, Moments::from_state(merged.state())] {
                assert!(close(moments.skewness_population().unwrap(), expected, tolerance), "{unit}: {moments:?}");
            }
        }
    }

    #[test]
    fn numbers_of_different_sizes_merge_to_the_unit_of_the_largest() {
        // Beside 1e200 the others are as nothing: 0, 0, 0 and 1 have skewness 2 / sqrt(3).
        for values in [[1e-200, 1.0, 0.0, 1e200], [1e200, 0.0, 1e-200, 1.0], [0.0, 1e200, 1e-200, 1.0]] {
            for moments in [Moments::of(&values), one_by_one(&values)] {
                assert!(close(moments.skewness_population().unwrap(), 2.0 / 3.0f64.sqrt(), 1e-14), "{moments:?}");
            }
        }
        let opposite = [-1.7e308, 1.7e308, 1.7e308, 1.7e308];
        for moments in [Moments::of(&opposite), one_by_one(&opposite)] {
            assert!(close(moments.skewness_population().unwrap(), -2.0 / 3.0f64.sqrt(), 1e-14), "{moments:?}");
            assert!(close(moments.mean().unwrap() / 1.7e308, 0.5, 1e-14));
        }
    }

    #[test]
    fn what_is_not_finite_shows_as_nan() {
        assert!(Moments::of(&[1.0, f64::NAN, 2.0]).skewness_population().unwrap().is_nan());
        assert!(one_by_one(&[1.0, f64::INFINITY, 2.0]).skewness_adjusted().unwrap().is_nan());
    }

    proptest! {
        #[test]
        fn any_split_merges_to_the_literal_moments(
            values in proptest::collection::vec(-100.0f64..100.0, 3..60),
            cuts in proptest::collection::vec(0usize..60, 0..5),
        ) {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let m2 = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            let m3 = values.iter().map(|x| (x - mean).powi(3)).sum::<f64>() / n;
            let expected = m3 / m2.powf(1.5);

            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c % values.len()).collect();
            cuts.sort_unstable();
            cuts.push(values.len());
            let (mut merged, mut start) = (Moments::default(), 0);
            for cut in cuts {
                merged.merge(&Moments::from_state(one_by_one(&values[start..cut]).state()));
                start = cut;
            }
            prop_assert!(close(merged.skewness_population().unwrap(), expected, 1e-9));
            prop_assert!(close(Moments::of(&values).skewness_population().unwrap(), expected, 1e-9));
            let ratio = ((n - 1.0) / n).powf(1.5);
            prop_assert!(close(merged.skewness_sample().unwrap(), expected * ratio, 1e-9));
        }
    }
}
