//! Random regular graphs.

use bonnet_graph::{Monitor, Reservation};

use crate::edge_list::{EdgeList, zeros};
use crate::error::{require, require_nodes};
use crate::random::{Random, Stream};
use crate::{Error, Generated};

/// Draws between two checks of the monitor.
const BLOCK: usize = 1 << 12;

/// A random graph in which each of `n` nodes has `d` neighbours: endpoints of edges are joined one pair after the other, each
/// suitable pair of free ends equally likely, and the work starts anew where none is left. For d of smaller order than
/// n^(1/3) all d-regular graphs become equally likely as n grows (Steger and Wormald, Generating random regular graphs
/// quickly, 1999; Kim and Vu 2003). Where d is above (n - 1) / 2, the complement of an (n - 1 - d)-regular graph.
///
/// O(n d) expected time and memory for sparse graphs; a few times n d^2 / 64 at most for dense ones.
///
/// # Errors
/// `n` above 4,294,967,295; `d` not below `n` (or 0); n d odd, for which there is no such graph; or the monitor stopped
/// the work.
pub fn random_regular(n: usize, d: usize, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("random_regular", "n", n, 0)?;
    require(d == 0 || d < n, "random_regular", "d", d, format_args!("below n = {n}"))?;
    require(
        n.is_multiple_of(2) || d.is_multiple_of(2),
        "random_regular",
        "d",
        d,
        format_args!("even, as n = {n} is odd"),
    )?;
    let mut random = Random::new(seed, Stream::RandomRegular);
    let complement = d > 0 && d > (n - 1) / 2;
    let degree = if complement { n - 1 - d } else { d };
    let edges = loop {
        if let Some(edges) = attempt(n, degree, &mut random, monitor)? {
            break edges.into_sorted(n)?;
        }
    };
    if !complement {
        return Ok(Generated::unlabelled(n, edges));
    }
    let mut others = EdgeList::with_room_for(n as u128 * d as u128 / 2, monitor)?;
    let mut absent = edges.iter().copied().peekable();
    for u in 0..n as u32 {
        for v in u + 1..n as u32 {
            if absent.next_if_eq(&(u, v)).is_none() {
                others.push(u, v)?;
            }
        }
    }
    Ok(Generated::unlabelled(n, others.into_vec()))
}

/// Who is joined to whom: a bit a pair for dense graphs, short lists for sparse ones.
enum Joined {
    Bits { words: Vec<u64>, width: usize },
    Lists { neighbours: Vec<u32>, lengths: Vec<u32>, d: usize },
}

impl Joined {
    fn new(n: usize, d: usize, reservation: &mut Reservation<'_>) -> Result<Self, Error> {
        let width = n.div_ceil(64);
        if width <= d {
            return Ok(Self::Bits { words: zeros(width.saturating_mul(n), reservation)?, width });
        }
        let neighbours = zeros(n.saturating_mul(d), reservation)?;
        Ok(Self::Lists { neighbours, lengths: zeros(n, reservation)?, d })
    }

    fn has(&self, u: u32, v: u32) -> bool {
        let u = u as usize;
        match self {
            Self::Bits { words, width } => words[u * width + v as usize / 64] >> (v % 64) & 1 == 1,
            Self::Lists { neighbours, lengths, d } => neighbours[u * d..u * d + lengths[u] as usize].contains(&v),
        }
    }

    fn join(&mut self, u: u32, v: u32) {
        for (u, v) in [(u as usize, v), (v as usize, u)] {
            match self {
                Self::Bits { words, width } => words[u * *width + v as usize / 64] |= 1 << (v % 64),
                Self::Lists { neighbours, lengths, d } => {
                    neighbours[u * *d + lengths[u] as usize] = v;
                    lengths[u] += 1;
                }
            }
        }
    }
}

/// Joins free ends until none are left; `None` where some are but no two of them may be joined.
fn attempt<'a>(
    n: usize,
    d: usize,
    random: &mut Random,
    monitor: &'a dyn Monitor,
) -> Result<Option<EdgeList<'a>>, Error> {
    monitor.check()?;
    let mut held = Reservation::new(monitor, 0)?;
    let mut ends: Vec<u32> = zeros(n.saturating_mul(d), &mut held)?;
    ends.iter_mut().enumerate().for_each(|(i, end)| *end = (i / d) as u32);
    let mut joined = Joined::new(n, d, &mut held)?;
    let mut edges = EdgeList::with_room_for(n as u128 * d as u128 / 2, monitor)?;
    let mut failures = 0;
    while !ends.is_empty() {
        let i = random.below(ends.len() as u64) as usize;
        let j = random.below(ends.len() as u64) as usize;
        let (u, v) = (ends[i], ends[j]);
        if u != v && !joined.has(u, v) {
            joined.join(u, v);
            edges.push(u, v)?;
            ends.swap_remove(i.max(j));
            ends.swap_remove(i.min(j));
            failures = 0;
            continue;
        }
        failures += 1;
        if failures % BLOCK == 0 {
            monitor.check()?;
        }
        // So many failures in a row mean that few pairs are left to choose from: perhaps none.
        if failures >= 2 * ends.len() {
            let suitable = |i: usize, j: usize| ends[i] != ends[j] && !joined.has(ends[i], ends[j]);
            if !(0..ends.len()).any(|i| (0..i).any(|j| suitable(i, j))) {
                return Ok(None);
            }
            failures = 0;
        }
    }
    Ok(Some(edges))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{fingerprint, graph};
    use bonnet_graph::Unmonitored;
    use std::collections::BTreeSet;

    fn random_regular(n: usize, d: usize, seed: u64) -> Generated {
        super::random_regular(n, d, seed, &Unmonitored).unwrap()
    }

    #[test]
    fn every_node_has_d_neighbours() {
        for n in 1..14 {
            for d in (0..n).filter(|d| n * d % 2 == 0) {
                let graph = graph(&random_regular(n, d, (n * d) as u64));
                assert!((0..n as u32).all(|v| graph.degree(v) == d), "{n} {d}");
            }
        }
        for (n, d) in [(1000, 3), (300, 60), (200, 100), (5000, 10)] {
            let graph = graph(&random_regular(n, d, 1));
            assert!((0..n as u32).all(|v| graph.degree(v) == d), "{n} {d}");
        }
    }

    #[test]
    fn every_regular_graph_comes_up() {
        // 70 cubic graphs on 6 labelled nodes (OEIS A002829), 465 two-regular ones on 7 (A001205).
        for (n, d, count) in [(6, 3, 70), (7, 2, 465), (7, 4, 465)] {
            let found: BTreeSet<Vec<(u32, u32)>> = (0..12_000).map(|seed| random_regular(n, d, seed).edges).collect();
            assert_eq!(found.len(), count, "{n} {d}");
        }
    }

    #[test]
    fn short_cycles_are_as_frequent_as_in_a_uniform_graph() {
        // Triangles of a random cubic graph are Poisson with mean (d - 1)^3 / 6 = 4/3 (Bollobas 1980, Wormald 1981).
        let seeds = 600;
        let triangles = |seed| {
            let graph = graph(&random_regular(400, 3, seed));
            let common = |u: u32, v: u32| graph.neighbors(u).iter().filter(|w| graph.has_edge(v, **w)).count();
            graph.edges().map(|(u, v)| common(u, v)).sum::<usize>() as f64 / 3.0
        };
        let mean = (0..seeds).map(triangles).sum::<f64>() / seeds as f64;
        assert!((mean - 4.0 / 3.0).abs() < 4.0 * (4.0 / 3.0 / seeds as f64).sqrt(), "{mean}");
    }

    #[test]
    fn a_seed_pins_the_graph() {
        assert_eq!(
            [(100, 3), (30, 20)].map(|(n, d)| fingerprint(&random_regular(n, d, 1))),
            [0xfa31_28f1_199c_3641, 0x0f3b_acfd_1c0d_f72b]
        );
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let error = |n, d| super::random_regular(n, d, 0, &Unmonitored).unwrap_err().to_string();
        assert_eq!(error(5, 3), "random_regular: d is 3, but must be even, as n = 5 is odd");
        assert_eq!(error(4, 4), "random_regular: d is 4, but must be below n = 4");
        assert!(super::random_regular(0, 0, 0, &Unmonitored).unwrap().edges.is_empty());
    }
}
