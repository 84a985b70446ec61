//! Numbers that stand for values and keep their order: what ranks are counted from.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::merge::sort;

/// Values that one task looks at between two checks.
const BLOCK: usize = 1 << 16;

/// The codes of a list of values: equal values have one code, a larger value has a larger code.
pub(crate) struct OrderCodes {
    pub of_row: Vec<u32>,
    /// The number of rows of each code; codes without rows stand between others.
    pub counts: Vec<u32>,
}

impl OrderCodes {
    /// The bytes that coding takes, for asking before: lists to sort, and codes with their counts.
    pub fn bytes(rows: usize) -> usize {
        48 * rows
    }

    /// The codes of values that are not NaN; `-0.0` equals `0.0`. Whole numbers in a narrow range are their own codes, in
    /// O(n) time; others are sorted, in O(n log n). O(n) memory.
    ///
    /// # Panics
    /// Beyond 2^32 - 1 values.
    pub fn new(values: &[f64], monitor: &dyn Monitor) -> Result<Self, Stopped> {
        assert!(u32::try_from(values.len()).is_ok(), "{} values: at most {} are ranked", values.len(), u32::MAX);
        match whole_range(values, monitor)? {
            Some((least, codes)) => {
                let blocks = values.par_chunks(BLOCK).map(|values| {
                    monitor.check()?;
                    Ok(values.iter().map(|value| (value - least) as u32).collect::<Vec<u32>>())
                });
                let of_row = blocks.collect::<Result<Vec<_>, Stopped>>()?.concat();
                let mut counts = vec![0; codes];
                of_row.iter().for_each(|&code| counts[code as usize] += 1);
                Ok(Self { of_row, counts })
            }
            None => Self::sorted(values, monitor),
        }
    }

    fn sorted(values: &[f64], monitor: &dyn Monitor) -> Result<Self, Stopped> {
        // The values travel with their positions: sorting positions alone would look each value up at random.
        let mut order: Vec<(u64, u32)> = values.iter().map(|&value| key(value)).zip(0..).collect();
        sort(&mut order, |a, b| a.0 < b.0, monitor)?;
        let mut of_row = vec![0; values.len()];
        let mut counts = Vec::new();
        for peers in order.chunk_by(|a, b| a.0 == b.0) {
            peers.iter().for_each(|&(_, row)| of_row[row as usize] = counts.len() as u32);
            counts.push(peers.len() as u32);
        }
        Ok(Self { of_row, counts })
    }

    /// Twice the ascending rank of each code from 1, equal values sharing their average: whole numbers, so that what is
    /// summed over ranks is exact and does not depend on the order of the rows.
    pub fn doubled_ranks(&self) -> Vec<u64> {
        let mut start = 0;
        let rank = |&count: &u32| {
            // The positions are start + 1 ..= start + count: their average, doubled, is the sum of the first and the last.
            let doubled = 2 * start + u64::from(count) + 1;
            start += u64::from(count);
            doubled
        };
        self.counts.iter().map(rank).collect()
    }

    /// The pairs of rows with one code.
    pub fn ties(&self) -> u128 {
        self.counts.iter().map(|&count| pairs(count.into())).sum()
    }
}

/// The pairs among `n` rows.
pub(crate) fn pairs(n: u64) -> u128 {
    u128::from(n) * u128::from(n.saturating_sub(1)) / 2
}

/// The least value and the width of the range, if all values are whole and the range is not much wider than the list.
fn whole_range(values: &[f64], monitor: &dyn Monitor) -> Result<Option<(f64, usize)>, Stopped> {
    /// Below it, whole numbers and their differences are exact.
    const EXACT: f64 = (1u64 << 53) as f64;
    let range = |values: &[f64]| {
        monitor.check()?;
        let whole = values.iter().fold(true, |whole, &value| whole & (value as i64 as f64 == value));
        let least = values.iter().fold(f64::INFINITY, |least, &value| least.min(value));
        let most = values.iter().fold(f64::NEG_INFINITY, |most, &value| most.max(value));
        Ok((whole, least, most))
    };
    let wider = |a: (bool, f64, f64), b: (bool, f64, f64)| Ok((a.0 & b.0, a.1.min(b.1), a.2.max(b.2)));
    let none = || (true, f64::INFINITY, f64::NEG_INFINITY);
    let (whole, least, most) = values.par_chunks(BLOCK).map(range).try_reduce(none, wider)?;
    if values.is_empty() || !whole || least <= -EXACT || most >= EXACT {
        return Ok(None);
    }
    let width = most - least + 1.0;
    Ok((width <= 4.0 * values.len() as f64 + 1024.0).then_some((least, width as usize)))
}

/// The bits of a value, ordered as the values are.
fn key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    // Negative values: all bits turned; others: the sign alone.
    bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
}

/// The codes of two lists, side by side.
pub(crate) fn both(x: &[f64], y: &[f64], monitor: &dyn Monitor) -> Result<(OrderCodes, OrderCodes), Stopped> {
    assert_eq!(x.len(), y.len());
    let _reservation = Reservation::new(monitor, 2 * OrderCodes::bytes(x.len()))?;
    let (x, y) = rayon::join(|| OrderCodes::new(x, monitor), || OrderCodes::new(y, monitor));
    Ok((x?, y?))
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn codes_order_as_the_values_do_whether_they_are_sorted_or_not(
            values in prop::collection::vec(prop_oneof![-3..3i32, Just(-500), Just(500)], 0..60),
            step in prop_oneof![Just(1.0), Just(0.5), Just(1e15), Just(-1.0)],
        ) {
            let values: Vec<f64> = values.into_iter().map(|value| f64::from(value) * step).collect();
            let direct = OrderCodes::new(&values, &Unmonitored).unwrap();
            let sorted = OrderCodes::sorted(&values, &Unmonitored).unwrap();
            for codes in [&direct, &sorted] {
                for (a, x) in values.iter().zip(&codes.of_row) {
                    for (b, y) in values.iter().zip(&codes.of_row) {
                        prop_assert_eq!(a.partial_cmp(b), Some(x.cmp(y)));
                    }
                    let equal = values.iter().filter(|b| *b == a).count();
                    prop_assert_eq!(codes.counts[*x as usize] as usize, equal);
                }
            }
            prop_assert_eq!(direct.ties(), sorted.ties());
        }
    }

    #[test]
    fn infinities_and_both_zeros_have_their_places() {
        let values = [f64::INFINITY, -0.0, f64::NEG_INFINITY, 0.0, f64::MIN_POSITIVE];
        assert_eq!(OrderCodes::new(&values, &Unmonitored).unwrap().of_row, [3, 1, 0, 1, 2]);
        assert_eq!(OrderCodes::new(&[-0.0, 2.0, 0.0], &Unmonitored).unwrap().of_row, [0, 2, 0]);
    }
}
