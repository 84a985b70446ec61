//! The Smith normal form of a small integer matrix.

use bonnet_graph::{Monitor, Stopped};
use num_bigint::{BigInt, BigUint, Sign};

/// Integers in which elimination is done: machine words that notice when they are too narrow, or big ones.
pub(super) trait Integer: Clone {
    /// The number as this type.
    fn of(value: i64) -> Self;
    /// Whether it is 0.
    fn is_zero(&self) -> bool;
    /// Takes off `factor` times `other`; `None` where the result does not fit.
    fn sub_mul(&mut self, factor: &Self, other: &Self) -> Option<()>;
    /// The quotient, cut off towards 0; `None` where it does not fit.
    fn quotient(&self, divisor: &Self) -> Option<Self>;
    /// The absolute value.
    fn magnitude(&self) -> BigUint;
    /// Whether its absolute value is smaller.
    fn is_below(&self, other: &Self) -> bool;
    /// Whether it is 1 or -1.
    fn is_unit(&self) -> bool;
}

macro_rules! machine_word {
    ($word:ty) => {
        impl Integer for $word {
            fn of(value: i64) -> Self {
                value.into()
            }

            fn is_zero(&self) -> bool {
                *self == 0
            }

            fn sub_mul(&mut self, factor: &Self, other: &Self) -> Option<()> {
                *self = self.checked_sub(factor.checked_mul(*other)?)?;
                Some(())
            }

            fn quotient(&self, divisor: &Self) -> Option<Self> {
                self.checked_div(*divisor)
            }

            fn magnitude(&self) -> BigUint {
                self.unsigned_abs().into()
            }

            fn is_below(&self, other: &Self) -> bool {
                self.unsigned_abs() < other.unsigned_abs()
            }

            fn is_unit(&self) -> bool {
                self.unsigned_abs() == 1
            }
        }
    };
}

machine_word!(i64);
machine_word!(i128);

impl Integer for BigInt {
    fn of(value: i64) -> Self {
        value.into()
    }

    fn is_zero(&self) -> bool {
        self.sign() == Sign::NoSign
    }

    fn sub_mul(&mut self, factor: &Self, other: &Self) -> Option<()> {
        *self -= factor * other;
        Some(())
    }

    fn quotient(&self, divisor: &Self) -> Option<Self> {
        Some(self / divisor)
    }

    fn magnitude(&self) -> BigUint {
        BigInt::magnitude(self).clone()
    }

    fn is_below(&self, other: &Self) -> bool {
        BigInt::magnitude(self) < BigInt::magnitude(other)
    }

    fn is_unit(&self) -> bool {
        *BigInt::magnitude(self) == BigUint::from(1u32)
    }
}

/// The rank of a matrix, given by rows of one length, and its invariant factors above 1, each a divisor of the next;
/// `None` where an entry outgrew the integers.
///
/// The smallest entry of what is left becomes the pivot and clears its row and column by division with remainder, until
/// the remainders are gone. O(rows x columns x rank) operations at least, more where remainders stay.
pub(super) fn smith<T: Integer>(
    mut rows: Vec<Vec<T>>,
    monitor: &dyn Monitor,
) -> Result<Option<(usize, Vec<BigUint>)>, Stopped> {
    let mut diagonal = Vec::new();
    let mut rank = 0;
    loop {
        monitor.check()?;
        rows.retain(|row| row.iter().any(|entry| !entry.is_zero()));
        let Some((mut i, mut j)) = smallest(&rows) else {
            chain(&mut diagonal);
            return Ok(Some((rank, diagonal)));
        };
        loop {
            let Some(remainder) = clear_column(&mut rows, i, j) else { return Ok(None) };
            if let Some(smaller) = remainder {
                i = smaller;
                continue;
            }
            // The column holds the pivot alone, so that adding it to others changes the pivot's row alone.
            let pivot = rows[i][j].clone();
            let mut smaller: Option<usize> = None;
            for column in (0..rows[i].len()).filter(|&column| column != j) {
                let entry = &mut rows[i][column];
                let taken = entry.quotient(&pivot).and_then(|quotient| entry.sub_mul(&quotient, &pivot));
                if taken.is_none() {
                    return Ok(None);
                }
                if !rows[i][column].is_zero()
                    && smaller.is_none_or(|smaller| rows[i][column].is_below(&rows[i][smaller]))
                {
                    smaller = Some(column);
                }
            }
            match smaller {
                Some(column) => j = column,
                None => break,
            }
        }
        rank += 1;
        let factor = rows[i][j].magnitude();
        if factor > BigUint::from(1u32) {
            diagonal.push(factor);
        }
        rows.swap_remove(i);
    }
}

/// The position of an entry of smallest size that is not 0; the first such unit where there is one.
fn smallest<T: Integer>(rows: &[Vec<T>]) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    for (i, row) in rows.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            if !entry.is_zero() && best.is_none_or(|(a, b)| entry.is_below(&rows[a][b])) {
                best = Some((i, j));
                if entry.is_unit() {
                    return best;
                }
            }
        }
    }
    best
}

/// Divides the other rows' entries of column `j` by the pivot; the row of the smallest remainder that is left, if any.
/// The outer `None` is an overflow.
fn clear_column<T: Integer>(rows: &mut [Vec<T>], i: usize, j: usize) -> Option<Option<usize>> {
    let pivot = std::mem::take(&mut rows[i]);
    let mut smaller: Option<usize> = None;
    for k in (0..rows.len()).filter(|&k| k != i) {
        if rows[k][j].is_zero() {
            continue;
        }
        let quotient = rows[k][j].quotient(&pivot[j])?;
        for (entry, pivot) in rows[k].iter_mut().zip(&pivot).filter(|(_, pivot)| !pivot.is_zero()) {
            entry.sub_mul(&quotient, pivot)?;
        }
        if !rows[k][j].is_zero() && smaller.is_none_or(|smaller| rows[k][j].is_below(&rows[smaller][j])) {
            smaller = Some(k);
        }
    }
    rows[i] = pivot;
    Some(smaller)
}

/// Makes each factor a divisor of the next: a pair becomes its greatest common divisor and least common multiple.
fn chain(factors: &mut Vec<BigUint>) {
    for i in 0..factors.len() {
        for j in i + 1..factors.len() {
            let divisor = gcd(factors[i].clone(), factors[j].clone());
            factors[j] = &factors[i] / &divisor * &factors[j];
            factors[i] = divisor;
        }
    }
    factors.retain(|factor| *factor != BigUint::from(1u32));
}

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of<T: Integer>(rows: &[Vec<i64>]) -> Option<(usize, Vec<BigUint>)> {
        let rows = rows.iter().map(|row| row.iter().map(|&entry| T::of(entry)).collect()).collect();
        smith::<T>(rows, &Unmonitored).unwrap()
    }

    /// Rank and invariant factors by their definition: the greatest common divisors of all minors of a size.
    pub(crate) fn by_minors(rows: &[Vec<i64>]) -> (usize, Vec<BigUint>) {
        let (n, m) = (rows.len(), rows.first().map_or(0, Vec::len));
        let mut before = BigUint::from(1u32);
        let mut factors = Vec::new();
        for size in 1..=n.min(m) {
            let mut divisor = BigUint::ZERO;
            for some_rows in (0u32..1 << n).filter(|set| set.count_ones() as usize == size) {
                for some_columns in (0u32..1 << m).filter(|set| set.count_ones() as usize == size) {
                    let minor: Vec<Vec<i64>> = (0..n)
                        .filter(|i| some_rows >> i & 1 == 1)
                        .map(|i| (0..m).filter(|j| some_columns >> j & 1 == 1).map(|j| rows[i][j]).collect())
                        .collect();
                    divisor = gcd(divisor, BigInt::magnitude(&determinant(&minor)).clone());
                }
            }
            if divisor == BigUint::ZERO {
                break;
            }
            factors.push(&divisor / &before);
            before = divisor;
        }
        (factors.len(), factors.into_iter().filter(|factor| *factor > BigUint::from(1u32)).collect())
    }

    fn determinant(rows: &[Vec<i64>]) -> BigInt {
        let [first, rest @ ..] = rows else { return BigInt::from(1) };
        let minor = |column: usize| {
            let without = |row: &Vec<i64>| {
                row.iter().enumerate().filter(|(j, _)| *j != column).map(|(_, &entry)| entry).collect()
            };
            determinant(&rest.iter().map(without).collect::<Vec<_>>())
        };
        let term = |(j, &entry): (usize, &i64)| minor(j) * entry * if j % 2 == 0 { 1 } else { -1 };
        first.iter().enumerate().map(term).sum()
    }

    #[test]
    fn known_forms() {
        let big = |factors: &[u32]| factors.iter().map(|&factor| BigUint::from(factor)).collect::<Vec<_>>();
        assert_eq!(of::<i64>(&[vec![2, 4, 4], vec![-6, 6, 12], vec![10, 4, 16]]), Some((3, big(&[2, 2, 156]))));
        assert_eq!(of::<i64>(&[vec![2, 0], vec![0, 3]]), Some((2, big(&[6]))));
        assert_eq!(of::<i64>(&[vec![4, 0, 0], vec![0, 6, 0], vec![0, 0, 0]]), Some((2, big(&[2, 12]))));
        assert_eq!(of::<i64>(&[]), Some((0, vec![])));
    }

    #[test]
    fn entries_that_outgrow_a_word_are_noticed_and_big_ones_do_not() {
        let rows = vec![vec![i64::MAX, 3, 5], vec![7, i64::MAX - 1, 11], vec![13, 17, i64::MAX - 6]];
        assert_eq!(of::<i64>(&rows), None);
        assert_eq!(of::<BigInt>(&rows), Some(by_minors(&rows)));
    }

    proptest! {
        #[test]
        fn factors_agree_with_the_divisors_of_minors(
            rows in (1usize..5, 1usize..5).prop_flat_map(|(n, m)|
                proptest::collection::vec(proptest::collection::vec(-6i64..7, m), n)),
        ) {
            let expected = by_minors(&rows);
            prop_assert_eq!(of::<i128>(&rows), Some(expected.clone()));
            prop_assert_eq!(of::<BigInt>(&rows), Some(expected));
        }
    }
}
