//! The difference of the order of models across groups of items, beyond that within them.

use bonnet_graph::{Monitor, Reservation, Stopped};

/// The contribution of one pair of models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairGap {
    /// The pair: `a < b`.
    pub a: u32,
    /// The second model of the pair.
    pub b: u32,
    /// The items on which both have a value.
    pub items: u32,
    /// The groups that have such items.
    pub groups: u32,
    /// The probability that two items of one group disagree on the pair; `None` without such items.
    pub within: Option<f64>,
    /// The probability that two items of different groups disagree; `None` below two groups.
    pub across: Option<f64>,
    /// `across - within`.
    pub gap: Option<f64>,
    /// K / (K - 1) times the sum over the three states of the variance over groups of the state's frequency.
    pub variance: Option<f64>,
}

/// The within and the cross distance of the models' partial orders, and what explains their gap.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderGap {
    /// The mean of `within` over pairs of models.
    pub within: Option<f64>,
    /// The mean of `across`.
    pub across: Option<f64>,
    /// `across - within`.
    pub gap: Option<f64>,
    /// The mean of `variance`: the right-hand side of Theorem 4.2.
    pub variance: Option<f64>,
    /// Every pair of models, in order.
    pub pairs: Vec<PairGap>,
}

/// The within-cross order gap (CurvBench, Theorem 4.2, Eq. 12-15).
///
/// `values` holds the value of model i on item g at `i * groups.len() + g`, `None` where it has none; `groups` the group
/// of each item, from 0. On an item, a pair of models is in one of three states: the first smaller, the second smaller,
/// or neither, where they differ by less than `tolerance` or not at all. Losses and scores give the same distances.
///
/// Frequencies of states are taken over the items of a group on which both models have a value; groups that have such
/// items weigh alike. Within a group, both items are drawn independently, so an item meets itself too, and `gap` equals
/// `variance` exactly; with `unbiased` they are two different items, groups with a single item have no such pair, and
/// `gap` estimates without bias what `variance` overstates. The means are over the pairs of models that have a gap; where
/// none has, `within` is over those that have one.
///
/// O(models^2 (items + groups^2)) time, 80 bytes a pair of models.
///
/// # Panics
/// If `values` is no whole number of rows of `groups.len()`.
pub fn order_gap(
    values: &[Option<f64>],
    groups: &[u32],
    tolerance: f64,
    unbiased: bool,
    monitor: &dyn Monitor,
) -> Result<OrderGap, Stopped> {
    let items = groups.len();
    let models = values.len().checked_div(items).unwrap_or(0);
    assert_eq!(models * items, values.len());
    let n_groups = groups.iter().max().map_or(0, |&last| last as usize + 1);
    let n_pairs = models * models.saturating_sub(1) / 2;
    let _reservation = Reservation::new(monitor, size_of::<PairGap>() * n_pairs + 48 * n_groups)?;
    monitor.expect(n_pairs as u64);
    let mut pairs = Vec::with_capacity(n_pairs);
    let row = |model: usize| &values[model * items..(model + 1) * items];
    let mut states = vec![[0u32; 3]; n_groups];
    let mut since_check = 0;
    for a in 0..models {
        for b in a + 1..models {
            states.fill([0; 3]);
            for ((x, y), &group) in row(a).iter().zip(row(b)).zip(groups) {
                if let (Some(x), Some(y)) = (x, y) {
                    states[group as usize][state(y - x, tolerance)] += 1;
                }
            }
            pairs.push(pair_gap((a as u32, b as u32), &states, unbiased));
            since_check += items + n_groups * n_groups;
            if since_check > 1 << 18 {
                monitor.check()?;
                since_check = 0;
            }
        }
        monitor.advance((models - a - 1) as u64);
    }
    let with_gap: Vec<&PairGap> = pairs.iter().filter(|pair| pair.gap.is_some()).collect();
    let mean = |of: fn(&PairGap) -> Option<f64>| {
        let values: Vec<f64> = with_gap.iter().filter_map(|pair| of(pair)).collect();
        average(&values)
    };
    let within = match with_gap.is_empty() {
        true => average(&pairs.iter().filter_map(|pair| pair.within).collect::<Vec<_>>()),
        false => mean(|pair| pair.within),
    };
    let across = mean(|pair| pair.across);
    let gap = within.zip(across).map(|(within, across)| across - within);
    Ok(OrderGap { within, across, gap, variance: mean(|pair| pair.variance), pairs })
}

/// 0, 1, 2 for the second smaller, neither, the first smaller (Eq. 12).
fn state(difference: f64, tolerance: f64) -> usize {
    match difference {
        d if d == 0.0 || d.abs() < tolerance => 1,
        d if d > 0.0 => 2,
        _ => 0,
    }
}

fn average(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn pair_gap((a, b): (u32, u32), states: &[[u32; 3]], unbiased: bool) -> PairGap {
    let seen: Vec<(f64, [f64; 3])> = states
        .iter()
        .map(|states| (f64::from(states.iter().sum::<u32>()), states.map(f64::from)))
        .filter(|(items, _)| *items > 0.0)
        .collect();
    let frequencies: Vec<[f64; 3]> = seen.iter().map(|(items, states)| states.map(|count| count / items)).collect();
    let dot = |p: &[f64; 3], q: &[f64; 3]| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>();
    let disagreements: Vec<f64> = if unbiased {
        let different = seen.iter().filter(|(items, _)| *items > 1.0);
        different
            .map(|(items, states)| 1.0 - states.iter().map(|c| c * (c - 1.0)).sum::<f64>() / (items * (items - 1.0)))
            .collect()
    } else {
        frequencies.iter().map(|p| 1.0 - dot(p, p)).collect()
    };
    let within = average(&disagreements);
    let k = frequencies.len() as f64;
    let (mut across, mut variance) = (None, None);
    if frequencies.len() > 1 {
        let mut agreement = 0.0;
        for (r, p) in frequencies.iter().enumerate() {
            agreement += frequencies[..r].iter().map(|q| dot(p, q)).sum::<f64>();
        }
        across = Some(1.0 - 2.0 * agreement / (k * (k - 1.0)));
        let spread = |z: usize| {
            let mean = frequencies.iter().map(|p| p[z]).sum::<f64>() / k;
            frequencies.iter().map(|p| (p[z] - mean).powi(2)).sum::<f64>() / k
        };
        variance = Some(k / (k - 1.0) * (spread(0) + spread(1) + spread(2)));
    }
    PairGap {
        a,
        b,
        items: states.iter().flatten().sum(),
        groups: frequencies.len() as u32,
        within,
        across,
        gap: within.zip(across).map(|(within, across)| across - within),
        variance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn gap(values: &[f64], groups: &[u32]) -> OrderGap {
        let values: Vec<_> = values.iter().copied().map(Some).collect();
        order_gap(&values, groups, 0.0, false, &Unmonitored).unwrap()
    }

    #[test]
    fn two_models_that_change_places_between_groups_have_the_gap_one() {
        // Model 0 wins in group 0, model 1 in group 1.
        let found = gap(&[2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0], &[0, 0, 1, 1]);
        assert_eq!(
            (found.within, found.across, found.gap, found.variance),
            (Some(0.0), Some(1.0), Some(1.0), Some(1.0))
        );
    }

    #[test]
    fn where_groups_do_not_matter_the_gap_is_nothing() {
        // Each group has the same mixture of orders.
        let found = gap(&[2.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 2.0], &[0, 0, 1, 1]);
        assert_eq!((found.within, found.gap, found.variance), (Some(0.5), Some(0.0), Some(0.0)));
    }

    #[test]
    fn differences_below_the_tolerance_are_ties() {
        let values: Vec<_> = [1.0, 1.0, 1.05, 1.2].map(Some).to_vec();
        let of = |tolerance| order_gap(&values, &[0, 1], tolerance, false, &Unmonitored).unwrap().across;
        assert_eq!((of(0.0), of(0.1), of(0.3)), (Some(0.0), Some(1.0), Some(0.0)));
        // At the tolerance itself the two are told apart.
        assert_eq!([state(0.1, 0.1), state(0.0, 0.0), state(-0.1, 0.1)], [2, 1, 0]);
    }

    #[test]
    fn one_group_has_no_gap_and_a_single_item_no_distinct_pair() {
        let found = gap(&[1.0, 2.0, 2.0, 1.0], &[0, 0]);
        assert_eq!((found.within, found.across, found.gap, found.variance), (Some(0.5), None, None, None));
        let values: Vec<_> = [1.0, 2.0, 2.0, 1.0].map(Some).to_vec();
        let found = order_gap(&values, &[0, 1], 0.0, true, &Unmonitored).unwrap();
        assert_eq!((found.within, found.across, found.gap), (None, None, None));
        assert_eq!(found.pairs[0].across, Some(1.0));
        assert_eq!(gap(&[], &[]), OrderGap { within: None, across: None, gap: None, variance: None, pairs: vec![] });
    }

    #[test]
    fn a_missing_value_leaves_the_pair_out_on_that_item() {
        let values = [Some(1.0), Some(1.0), None, Some(2.0), Some(0.0), Some(9.0)];
        let found = order_gap(&values, &[0, 0, 1], 0.0, false, &Unmonitored).unwrap();
        assert_eq!((found.pairs[0].items, found.pairs[0].groups, found.pairs[0].within), (2, 1, Some(0.5)));
        assert_eq!(found.within, Some(0.5));
    }

    /// Eq. 14 between two items.
    fn distance(values: &[f64], items: usize, g: usize, h: usize, tolerance: f64) -> f64 {
        let models = values.len() / items;
        let z = |i: usize, j: usize, g: usize| {
            let d = values[j * items + g] - values[i * items + g];
            if d != 0.0 && d.abs() >= tolerance { d.signum() as i32 } else { 0 }
        };
        let pairs: Vec<_> = (0..models).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
        pairs.iter().filter(|&&(i, j)| z(i, j, g) != z(i, j, h)).count() as f64 / pairs.len() as f64
    }

    proptest! {
        #[test]
        fn the_gap_is_the_variance_of_preferences(
            models in 2..6usize,
            groups in prop::collection::vec(0..3u32, 2..12),
            cells in prop::collection::vec(0..7i32, 60),
            tolerance in prop::sample::select(vec![0.0, 1.0, 2.0]),
        ) {
            let items = groups.len();
            let values: Vec<f64> = (0..models * items).map(|i| f64::from(cells[i % 60]) / 2.0).collect();
            let options: Vec<_> = values.iter().copied().map(Some).collect();
            let found = order_gap(&options, &groups, tolerance, false, &Unmonitored).unwrap();
            // The definition: all ordered pairs of items of a group, an item with itself too; groups weigh alike.
            let members: Vec<Vec<usize>> =
                (0..3).map(|r| (0..items).filter(|&g| groups[g] == r).collect()).filter(|m: &Vec<usize>| !m.is_empty()).collect();
            let between = |r: &[usize], s: &[usize]| {
                let all: Vec<f64> =
                    r.iter().flat_map(|&g| s.iter().map(move |&h| (g, h))).map(|(g, h)| distance(&values, items, g, h, tolerance)).collect();
                average(&all).unwrap()
            };
            let k = members.len();
            let within = members.iter().map(|r| between(r, r)).sum::<f64>() / k as f64;
            prop_assert!((found.within.unwrap() - within).abs() < 1e-12);
            if k > 1 {
                let all: Vec<f64> = (0..k).flat_map(|s| (0..s).map(move |r| (r, s))).map(|(r, s)| between(&members[r], &members[s])).collect();
                prop_assert!((found.across.unwrap() - average(&all).unwrap()).abs() < 1e-12);
                prop_assert!((found.gap.unwrap() - found.variance.unwrap()).abs() < 1e-12);
                prop_assert!(found.gap.unwrap() > -1e-12);
            } else {
                prop_assert_eq!(found.gap, None);
            }
            // Without an item's meeting itself.
            let unbiased = order_gap(&options, &groups, tolerance, true, &Unmonitored).unwrap();
            let several: Vec<_> = members.iter().filter(|m| m.len() > 1).collect();
            let distinct = several.iter().map(|m| {
                let n = m.len() as f64;
                between(m, m) * n / (n - 1.0)
            });
            let expected = average(&distinct.collect::<Vec<_>>());
            match (unbiased.within, expected) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12),
                (a, b) => prop_assert_eq!(a, b),
            }
        }
    }
}
