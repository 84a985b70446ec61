//! Are pairs of items more alike within their groups than they would be in other groups of the same sizes?

use std::sync::atomic::{AtomicBool, Ordering};

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::random::Random;

/// Statistics that differ by less than this share of the largest value are equal: sums of the same values in another
/// order.
const SLACK: f64 = 1e-12;
/// Sampled partitions that share a stream of random numbers.
const BLOCK: u64 = 1024;
/// The pieces that the enumeration is cut into, at least.
const TASKS: usize = 256;

/// Options of a regrouping test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegroupingOptions {
    /// Up to this many partitions are enumerated; where there are more, they are sampled.
    pub limit: u64,
    /// The number of random partitions.
    pub samples: u64,
    /// The seed of sampled partitions.
    pub seed: u64,
}

impl Default for RegroupingOptions {
    fn default() -> Self {
        Self { limit: 10_000_000, samples: 100_000, seed: 0 }
    }
}

/// The result of a regrouping test.
#[derive(Debug, Clone, PartialEq)]
pub struct Regrouping {
    /// The mean over pairs in one group; `None` where there are none.
    pub within: Option<f64>,
    /// The mean over pairs of two groups; `None` where there are none.
    pub across: Option<f64>,
    /// `within - across`.
    pub statistic: Option<f64>,
    /// The share of partitions whose statistic is at least the observed one: the observed one is among them. Sampled:
    /// (1 + their number) / (1 + samples).
    pub p_value: Option<f64>,
    /// The partitions looked at.
    pub partitions: u64,
    /// The partitions whose statistic is at least the observed one.
    pub at_least: u64,
    /// Whether these were all partitions.
    pub exact: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RegroupingError {
    /// A value that no mean can be made of.
    #[error("a pair's value is {0}: values are finite, or NULL where there is none")]
    NotFinite(f64),
    /// The computation was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

/// Compares the observed grouping of items with all partitions of the items into unnamed groups of the same sizes, by the
/// mean value of pairs within a group minus that of pairs across groups. (CurvBench, Sec. 5.1, Observation 1: the exact
/// regrouping significance; a permutation test.)
///
/// `groups` holds the group of each item, from 0; `pairs` holds (item, item, value), each unordered pair at most once, in
/// any order. A pair that is missing counts nowhere, so the numbers of pairs may differ between partitions; a partition
/// without pairs within or without pairs across has no statistic and is never at least the observed one.
///
/// Exact: O(partitions x items) time after O(items^2); sampled: O(samples x pairs). Memory O(items^2).
///
/// # Panics
/// If a pair names an item that `groups` has not.
pub fn regrouping_test(
    groups: &[u32],
    pairs: &[(u32, u32, f64)],
    options: &RegroupingOptions,
    monitor: &dyn Monitor,
) -> Result<Regrouping, RegroupingError> {
    if let Some(&(.., value)) = pairs.iter().find(|(.., value)| !value.is_finite()) {
        return Err(RegroupingError::NotFinite(value));
    }
    let n = groups.len();
    let _reservation = Reservation::new(monitor, 16 * n * n + 32 * pairs.len())?;
    let table = Table::new(n, pairs);
    let observed = table.tally(groups);
    let (within, across) = (observed.within(), observed.across(&table));
    let sizes = sizes(groups);
    let count = partitions(n, &sizes);
    let exact = count.is_some_and(|count| count <= u128::from(options.limit));
    let looked_at = if exact { count.unwrap_or(0) as u64 } else { options.samples };
    let Some(statistic) = within.zip(across).map(|(within, across)| within - across) else {
        return Ok(Regrouping {
            within,
            across,
            statistic: None,
            p_value: None,
            partitions: if exact { looked_at } else { 0 },
            at_least: 0,
            exact,
        });
    };
    let threshold = statistic - SLACK * pairs.iter().map(|pair| pair.2.abs()).fold(0.0, f64::max);
    monitor.expect(looked_at);
    let at_least = if exact {
        enumerated(&table, &sizes, threshold, monitor)?
    } else {
        sampled(&table, groups, threshold, options, monitor)?
    };
    let p_value = match exact {
        true => at_least as f64 / looked_at as f64,
        false => (1 + at_least) as f64 / (1 + looked_at) as f64,
    };
    Ok(Regrouping {
        within,
        across,
        statistic: Some(statistic),
        p_value: Some(p_value),
        partitions: looked_at,
        at_least,
        exact,
    })
}

/// The values of pairs as a symmetric matrix; a pair that is missing is 0 with the count 0.
struct Table {
    n: usize,
    values: Vec<f64>,
    counts: Vec<u32>,
    pairs: Vec<(u32, u32, f64)>,
    total: Tally,
}

/// The sum and the number of some pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    sum: f64,
    count: u32,
}

impl Tally {
    fn within(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }

    fn across(self, table: &Table) -> Option<f64> {
        let count = table.total.count - self.count;
        (count > 0).then(|| (table.total.sum - self.sum) / f64::from(count))
    }

    fn reaches(self, table: &Table, threshold: f64) -> bool {
        self.within().zip(self.across(table)).is_some_and(|(within, across)| within - across >= threshold)
    }
}

impl Table {
    fn new(n: usize, pairs: &[(u32, u32, f64)]) -> Self {
        // The order of the sums is the items': the order of the rows changes no digit.
        let mut pairs: Vec<_> = pairs.iter().map(|&(a, b, value)| (a.max(b), a.min(b), value)).collect();
        pairs.sort_unstable_by(|p, q| (p.0, p.1).cmp(&(q.0, q.1)).then(p.2.total_cmp(&q.2)));
        let mut table = Self { n, values: vec![0.0; n * n], counts: vec![0; n * n], pairs, total: Tally::default() };
        for &(a, b, value) in &table.pairs {
            for at in [a as usize * n + b as usize, b as usize * n + a as usize] {
                table.values[at] += value;
                table.counts[at] += 1;
            }
            table.total.sum += value;
            table.total.count += 1;
        }
        table
    }

    /// The pairs within the groups of a labelling.
    fn tally(&self, groups: &[u32]) -> Tally {
        let within = self.pairs.iter().filter(|(a, b, _)| groups[*a as usize] == groups[*b as usize]);
        within.fold(Tally::default(), |tally, pair| Tally { sum: tally.sum + pair.2, count: tally.count + 1 })
    }

    /// The terms of an item in the tally of its group.
    fn joined(&self, tally: Tally, item: usize, members: &[u32]) -> Tally {
        let row = item * self.n;
        members.iter().fold(tally, |tally, &member| Tally {
            sum: tally.sum + self.values[row + member as usize],
            count: tally.count + self.counts[row + member as usize],
        })
    }
}

/// The sizes of the groups that have members, largest first.
fn sizes(groups: &[u32]) -> Vec<usize> {
    let mut counts = std::collections::BTreeMap::new();
    groups.iter().for_each(|&group| *counts.entry(group).or_insert(0) += 1);
    let mut sizes: Vec<usize> = counts.into_values().collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

/// The number of partitions of n items into unnamed groups of these sizes; `None` beyond 128 bits.
fn partitions(n: usize, sizes: &[usize]) -> Option<u128> {
    let mut count: u128 = 1;
    let mut rest = n as u128;
    let mut equal = 0;
    for (i, &size) in sizes.iter().enumerate() {
        for k in 0..size as u128 {
            // A binomial coefficient, factor by factor: each quotient is whole.
            count = count.checked_mul(rest - k)? / (k + 1);
        }
        rest -= size as u128;
        equal = if i > 0 && sizes[i - 1] == size { equal + 1 } else { 1 };
        // Groups of one size have no names: dividing as they come keeps the number small, and whole.
        count /= equal;
    }
    Some(count)
}

/// A partition in the making: the items before `next` have their groups.
#[derive(Clone)]
struct Partial {
    next: usize,
    tally: Tally,
    groups: Vec<Vec<u32>>,
    capacity: Vec<usize>,
    /// Sizes of groups that are not opened yet, with their numbers.
    unopened: Vec<(usize, usize)>,
}

impl Partial {
    fn new(sizes: &[usize]) -> Self {
        let unopened = sizes.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
        Self { next: 0, tally: Tally::default(), groups: Vec::new(), capacity: Vec::new(), unopened }
    }

    /// Every way to place the next item: in an open group that is not full, or as the first of a group of a size to come.
    fn each(&mut self, table: &Table, visit: &mut dyn FnMut(&mut Self) -> Result<(), Stopped>) -> Result<(), Stopped> {
        let (item, tally) = (self.next, self.tally);
        self.next += 1;
        for g in 0..self.groups.len() {
            if self.groups[g].len() < self.capacity[g] {
                self.tally = table.joined(tally, item, &self.groups[g]);
                self.groups[g].push(item as u32);
                visit(self)?;
                self.groups[g].pop();
            }
        }
        self.tally = tally;
        for s in 0..self.unopened.len() {
            if self.unopened[s].1 > 0 {
                self.unopened[s].1 -= 1;
                self.groups.push(vec![item as u32]);
                self.capacity.push(self.unopened[s].0);
                visit(self)?;
                self.groups.pop();
                self.capacity.pop();
                self.unopened[s].1 += 1;
            }
        }
        self.next = item;
        Ok(())
    }

    fn count(&mut self, table: &Table, threshold: f64, seen: &mut LeafCount<'_>) -> Result<(), Stopped> {
        if self.next == table.n {
            return seen.add(self.tally.reaches(table, threshold));
        }
        self.each(table, &mut |partial| partial.count(table, threshold, seen))
    }
}

/// Leaves counted so far.
struct LeafCount<'a> {
    all: u64,
    at_least: u64,
    monitor: &'a dyn Monitor,
}

impl LeafCount<'_> {
    fn add(&mut self, at_least: bool) -> Result<(), Stopped> {
        self.all += 1;
        self.at_least += u64::from(at_least);
        if self.all.is_multiple_of(4096) {
            self.monitor.check()?;
            self.monitor.advance(4096);
        }
        Ok(())
    }
}

fn enumerated(table: &Table, sizes: &[usize], threshold: f64, monitor: &dyn Monitor) -> Result<u64, Stopped> {
    // The first few items in every way, each a task of its own.
    let mut tasks = vec![Partial::new(sizes)];
    while tasks.len() < TASKS && tasks.first().is_some_and(|task| task.next + 1 < table.n) {
        let mut next = Vec::new();
        for task in &mut tasks {
            task.each(table, &mut |partial| {
                next.push(partial.clone());
                Ok(())
            })?;
        }
        tasks = next;
    }
    let counts = tasks.into_par_iter().map(|mut task| {
        let mut seen = LeafCount { all: 0, at_least: 0, monitor };
        task.count(table, threshold, &mut seen)?;
        monitor.advance(seen.all % 4096);
        Ok(seen.at_least)
    });
    counts.try_reduce(|| 0, |a, b| Ok(a + b))
}

fn sampled(
    table: &Table,
    groups: &[u32],
    threshold: f64,
    options: &RegroupingOptions,
    monitor: &dyn Monitor,
) -> Result<u64, Stopped> {
    let stopped = AtomicBool::new(false);
    let counts = (0..options.samples.div_ceil(BLOCK)).into_par_iter().map(|block| {
        let mut random = Random::new(options.seed, block);
        let mut groups = groups.to_vec();
        let samples = BLOCK.min(options.samples - block * BLOCK);
        let mut at_least = 0;
        for sample in 0..samples {
            if sample % 16 == 0 {
                if stopped.load(Ordering::Relaxed) {
                    return Err(Stopped::Cancelled);
                }
                monitor.check().inspect_err(|_| stopped.store(true, Ordering::Relaxed))?;
            }
            random.shuffle(&mut groups);
            at_least += u64::from(table.tally(&groups).reaches(table, threshold));
        }
        monitor.advance(samples);
        Ok(at_least)
    });
    counts.try_reduce(|| 0, |a, b| Ok(a + b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn exact(groups: &[u32], pairs: &[(u32, u32, f64)]) -> Regrouping {
        regrouping_test(groups, pairs, &RegroupingOptions::default(), &Unmonitored).unwrap()
    }

    fn all_pairs(n: u32, value: impl Fn(u32, u32) -> f64) -> Vec<(u32, u32, f64)> {
        (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).map(|(a, b)| (a, b, value(a, b))).collect()
    }

    #[test]
    fn nine_items_in_threes_have_280_partitions() {
        assert_eq!(partitions(9, &[3, 3, 3]), Some(280));
        assert_eq!(partitions(18, &[6, 6, 6]), Some(2_858_856));
        assert_eq!(partitions(7, &[4, 2, 1]), Some(105));
        assert_eq!(partitions(5, &[1, 1, 1, 1, 1]), Some(1));
        assert_eq!(partitions(0, &[]), Some(1));
        assert_eq!(partitions(400, &[100, 100, 100, 100]), None);
        // (2k)! / (2^k k!) matchings: 29!! at 30 items.
        let odd: u128 = (1..=29).step_by(2).product();
        assert_eq!(partitions(30, &[2; 15]), Some(odd));
    }

    #[test]
    fn perfect_groups_are_reached_by_no_other_partition() {
        let groups = [0, 0, 0, 1, 1, 1, 2, 2, 2];
        let test = exact(&groups, &all_pairs(9, |a, b| f64::from(u8::from(a / 3 == b / 3))));
        let expected = Regrouping {
            within: Some(1.0),
            across: Some(0.0),
            statistic: Some(1.0),
            p_value: Some(1.0 / 280.0),
            partitions: 280,
            at_least: 1,
            exact: true,
        };
        assert_eq!(test, expected);
    }

    #[test]
    fn where_all_pairs_are_equal_every_partition_is_at_least_the_observed_one() {
        let test = exact(&[0, 0, 1, 1, 1], &all_pairs(5, |_, _| 0.1));
        assert_eq!((test.partitions, test.at_least, test.p_value), (10, 10, Some(1.0)));
    }

    #[test]
    fn one_group_and_groups_of_one_have_no_statistic() {
        let one = exact(&[0, 0, 0], &all_pairs(3, |_, _| 1.0));
        assert_eq!((one.within, one.across, one.statistic, one.p_value), (Some(1.0), None, None, None));
        let single = exact(&[0, 1, 2], &all_pairs(3, |_, _| 1.0));
        assert_eq!((single.within, single.across, single.p_value), (None, Some(1.0), None));
        assert_eq!(exact(&[], &[]).partitions, 1);
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused() {
        let refused = regrouping_test(&[0, 1], &[(0, 1, f64::NAN)], &RegroupingOptions::default(), &Unmonitored);
        assert!(matches!(refused, Err(RegroupingError::NotFinite(_))));
    }

    /// Every labelling with the same sizes, labels and all: each partition comes equally often.
    fn literal(groups: &[u32], pairs: &[(u32, u32, f64)]) -> Option<f64> {
        let statistic = |groups: &[u32]| {
            let mean = |inside: bool| {
                let chosen = pairs.iter().filter(|p| (groups[p.0 as usize] == groups[p.1 as usize]) == inside);
                let values: Vec<f64> = chosen.map(|pair| pair.2).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            Some(mean(true)? - mean(false)?)
        };
        let observed = statistic(groups)?;
        let labels = *groups.iter().max()? + 1;
        let count =
            |groups: &[u32]| (0..labels).map(|l| groups.iter().filter(|&&g| g == l).count()).collect::<Vec<_>>();
        let sizes = count(groups);
        let (mut all, mut at_least) = (0, 0);
        for code in 0..u64::from(labels).pow(groups.len() as u32) {
            let labelling: Vec<u32> = (0..groups.len() as u32)
                .map(|i| (code / u64::from(labels).pow(i) % u64::from(labels)) as u32)
                .collect();
            if count(&labelling) == sizes {
                all += 1;
                at_least += u32::from(statistic(&labelling).is_some_and(|s| s >= observed - 1e-9));
            }
        }
        Some(f64::from(at_least) / f64::from(all))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn it_is_the_share_of_all_labellings(
            groups in prop::collection::vec(0..3u32, 1..8),
            values in prop::collection::vec(prop::option::weighted(0.85, -4..5i32), 28),
        ) {
            let value = |a: u32, b: u32| values[(b * (b - 1) / 2 + a) as usize];
            let pairs: Vec<(u32, u32, f64)> = (0..groups.len() as u32)
                .flat_map(|b| (0..b).map(move |a| (a, b)))
                .filter_map(|(a, b)| Some((b, a, f64::from(value(a, b)?) / 3.0)))
                .collect();
            let found = exact(&groups, &pairs).p_value;
            match (found, literal(&groups, &pairs)) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12, "{a} {b}"),
                (a, b) => prop_assert_eq!(a, b),
            }
        }
    }

    #[test]
    fn a_sample_comes_near_the_exact_share_and_is_the_same_for_any_number_of_threads() {
        let groups = [0, 0, 0, 1, 1, 1, 2, 2, 2];
        let pairs = all_pairs(9, |a, b| f64::from((a * 7 + b * 5) % 11) + f64::from(u8::from(a / 3 == b / 3)) * 4.0);
        let options = RegroupingOptions { limit: 100, samples: 20_000, seed: 3 };
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| regrouping_test(&groups, &pairs, &options, &Unmonitored).unwrap())
        };
        let (exact, sampled) = (exact(&groups, &pairs), on(1));
        assert_eq!(sampled, on(3));
        assert!(!sampled.exact && sampled.partitions == 20_000);
        let (p, q) = (exact.p_value.unwrap(), sampled.p_value.unwrap());
        // Five standard errors.
        assert!((p - q).abs() < 5.0 * (p * (1.0 - p) / 20_000.0).sqrt() + 1e-4, "{p} {q}");
    }

    #[test]
    fn it_stops_when_nobody_waits() {
        struct Gone;
        impl Monitor for Gone {
            fn check(&self) -> Result<(), Stopped> {
                Err(Stopped::Cancelled)
            }
            fn reserve(&self, _: usize) -> Result<(), Stopped> {
                Ok(())
            }
            fn release(&self, _: usize) {}
        }
        let groups: Vec<u32> = (0..18).map(|i| i / 6).collect();
        let pairs = all_pairs(18, |a, b| f64::from(a ^ b));
        for limit in [10_000_000, 0] {
            let options = RegroupingOptions { limit, ..RegroupingOptions::default() };
            let stopped = regrouping_test(&groups, &pairs, &options, &Gone);
            assert_eq!(stopped, Err(RegroupingError::Stopped(Stopped::Cancelled)));
        }
    }
}
