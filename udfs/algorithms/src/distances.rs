//! Figures of the distances between all nodes: closeness, harmonic centrality, eccentricity, effective diameter.
//!
//! By searches of ours: petgraph's `floyd_warshall` and `johnson` hold n^2 distances, and its `dijkstra` from every node a hash
//! map each time.

use bonnet_graph::random::shuffle;
use bonnet_graph::{Monitor, Reservation, Stopped};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::parallel::shared;
use crate::searches::{LANES, Searches};
use crate::weighted_search::{WeightedSearch, require_positive};
use crate::{AlgorithmError, Network};

/// Fixed point for sums of reciprocals: whole numbers add up to the same in any order.
const ONE: u128 = 1 << 64;

/// For each node, over all nodes from which a path leads to it, itself not among them.
struct Inward {
    /// Their number.
    count: Vec<u64>,
    /// The sum of their distances.
    sum: Vec<u64>,
    /// The sum of the reciprocals of their distances, in units of 2^-64; empty unless wanted.
    reciprocals: Vec<u128>,
    /// The largest of their distances.
    largest: Vec<u32>,
}

impl Inward {
    fn new(n: usize, reciprocals: bool) -> Self {
        let reciprocals = vec![0; if reciprocals { n } else { 0 }];
        Self { count: vec![0; n], sum: vec![0; n], reciprocals, largest: vec![0; n] }
    }
}

/// Searches from every node, 512 at a time: O(n m / 512) words for each level.
fn inward(network: Network<'_>, reciprocals: bool, monitor: &dyn Monitor) -> Result<Inward, Stopped> {
    let n = network.n_nodes();
    let batches = n.div_ceil(LANES);
    let threads = rayon::current_num_threads().min(batches.max(1));
    let _reservation = Reservation::new(monitor, threads * (Searches::bytes(n) + 36 * n))?;
    let state = || (Searches::new(network), Inward::new(n, reciprocals), Ok(0));
    let parts = shared(batches, 1, monitor, state, |(searches, sums, outcome), batches| {
        for batch in batches {
            if outcome.is_err() {
                return;
            }
            let sources: Vec<u32> = (batch * LANES..n.min((batch + 1) * LANES)).map(|v| v as u32).collect();
            *outcome = searches.run(&sources, monitor, |level, v, found| {
                let (v, count) = (v as usize, found.count());
                sums.count[v] += u64::from(count);
                sums.sum[v] += u64::from(count) * u64::from(level);
                sums.largest[v] = sums.largest[v].max(level);
                if reciprocals {
                    sums.reciprocals[v] += u128::from(count) * (ONE / u128::from(level));
                }
            });
        }
    })?;
    let mut parts = parts.into_iter().map(|(_, sums, outcome)| outcome.map(|_| sums));
    let mut all = parts.next().unwrap_or_else(|| Ok(Inward::new(n, reciprocals)))?;
    for part in parts {
        let part = part?;
        all.count.iter_mut().zip(part.count).for_each(|(all, part)| *all += part);
        all.sum.iter_mut().zip(part.sum).for_each(|(all, part)| *all += part);
        all.reciprocals.iter_mut().zip(part.reciprocals).for_each(|(all, part)| *all += part);
        all.largest.iter_mut().zip(part.largest).for_each(|(all, part)| *all = part.max(*all));
    }
    Ok(all)
}

/// `value(number, sum)` for each node: over the nodes from which a path leads to it, their number and the sum of
/// `summand(distance)`, by rising distance. A search of Dijkstra's from each node, against the arcs.
fn by_lengths(
    network: Network<'_>,
    summand: impl Fn(f64) -> f64 + Sync,
    value: impl Fn(f64, f64) -> f64 + Sync,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, AlgorithmError> {
    require_positive(network)?;
    let n = network.n_nodes();
    let threads = rayon::current_num_threads().min(n.max(1));
    let _reservation = Reservation::new(monitor, threads * WeightedSearch::bytes(network) + 8 * n)?;
    monitor.expect(n as u64);
    let of_node = |search: &mut WeightedSearch<'_>, v: usize| -> Result<f64, Stopped> {
        search.run(v as u32, monitor)?;
        monitor.advance(1);
        let others = &search.order[1..];
        Ok(value(others.len() as f64, others.iter().map(|&u| summand(search.distance[u as usize])).sum()))
    };
    let values: Vec<Result<f64, Stopped>> =
        (0..n).into_par_iter().map_init(|| WeightedSearch::new(network.reversed()), of_node).collect();
    Ok(values.into_iter().collect::<Result<_, _>>()?)
}

/// The closeness of every node: of the `r` nodes from which a path leads to it, `r / (sum of their distances)`, times
/// `r / (n - 1)`, the share of nodes that they are; 0 where there is none.
///
/// Freeman (1978), in the form of Wasserman and Faust (1994), Eq. 5.22, for graphs in several pieces. One search per 512
/// nodes, side by side; 200 n bytes for each thread. A weight is a length: then a search from each node, O((n + m) log n).
///
/// # Errors
/// For a length that is not positive, and if the monitor stops it.
pub fn closeness_centrality(network: Network<'_>, monitor: &dyn Monitor) -> Result<Vec<f64>, AlgorithmError> {
    let others = network.n_nodes().saturating_sub(1) as f64;
    if network.out.weights().is_some() {
        let closeness = |count: f64, sum: f64| if count == 0.0 { 0.0 } else { count / sum * (count / others) };
        return by_lengths(network, |distance| distance, closeness, monitor);
    }
    let Inward { count, sum, .. } = inward(network, false, monitor)?;
    let closeness = |(count, sum): (u64, u64)| match count {
        0 => 0.0,
        count => (count as f64 / sum as f64) * (count as f64 / others),
    };
    Ok(count.into_iter().zip(sum).map(closeness).collect())
}

/// The harmonic centrality of every node: the sum of `1 / distance` over the nodes from which a path leads to it.
///
/// Boldi and Vigna, Axioms for centrality (2014). The cost of [`closeness_centrality`].
///
/// # Errors
/// For a length that is not positive, and if the monitor stops it.
pub fn harmonic_centrality(network: Network<'_>, monitor: &dyn Monitor) -> Result<Vec<f64>, AlgorithmError> {
    if network.out.weights().is_some() {
        return by_lengths(network, f64::recip, |_, sum| sum, monitor);
    }
    let sums = inward(network, true, monitor)?.reciprocals;
    Ok(sums.into_iter().map(|sum| sum as f64 / ONE as f64).collect())
}

/// The eccentricity of every node: the largest distance to a node that a path leads to; 0 where there is none.
///
/// The cost of [`closeness_centrality`].
///
/// # Errors
/// If the monitor stops it.
pub fn eccentricity(network: Network<'_>, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    Ok(inward(network.reversed(), false, monitor)?.largest)
}

/// The effective diameter: the distance, interpolated between whole ones, within which the share `quantile` of the pairs of
/// nodes lies that a path joins; `None` where no path joins any. From `samples` random nodes, or from all.
///
/// Leskovec, Kleinberg and Faloutsos, Graphs over time (2005), Sec. 3.2. One search per 512 nodes, side by side.
///
/// # Errors
/// If the monitor stops it.
pub fn effective_diameter(
    network: Network<'_>,
    quantile: f64,
    samples: Option<usize>,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    let n = network.n_nodes();
    let mut sources: Vec<u32> = (0..n as u32).collect();
    if let Some(samples) = samples.filter(|&samples| samples < n) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        shuffle(&mut sources, || random.next_u64());
        sources.truncate(samples);
    }
    let batches = sources.len().div_ceil(LANES);
    let threads = rayon::current_num_threads().min(batches.max(1));
    let _reservation = Reservation::new(monitor, threads * Searches::bytes(n))?;
    let state = || (Searches::new(network), Vec::<u64>::new(), Ok(0));
    let parts = shared(batches, 1, monitor, state, |(searches, pairs, outcome), batches| {
        for batch in batches {
            if outcome.is_err() {
                return;
            }
            let sources = &sources[batch * LANES..sources.len().min((batch + 1) * LANES)];
            *outcome = searches.run(sources, monitor, |level, _, found| {
                if pairs.len() < level as usize {
                    pairs.resize(level as usize, 0);
                }
                pairs[level as usize - 1] += u64::from(found.count());
            });
        }
    })?;
    let mut pairs: Vec<u64> = Vec::new();
    for (_, part, outcome) in parts {
        outcome?;
        pairs.resize(pairs.len().max(part.len()), 0);
        pairs.iter_mut().zip(part).for_each(|(all, part)| *all += part);
    }
    let wanted = quantile * pairs.iter().sum::<u64>() as f64;
    let mut within = 0.0;
    for (distance, &at) in pairs.iter().enumerate() {
        if within + at as f64 >= wanted {
            return Ok(Some(distance as f64 + (wanted - within) / at as f64));
        }
        within += at as f64;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, assert_close};
    use bonnet_graph::{Graph, Unmonitored};

    #[test]
    fn sums_of_distances_are_those_of_all_pairs() {
        testing::each_network(0..200, |seed, network| {
            let n = network.n_nodes();
            let distances = testing::distances(network);
            let inward = |v: usize| {
                let to_v = distances.iter().filter_map(move |row| row[v]).map(f64::from);
                to_v.filter(|&distance| distance > 0.0).collect::<Vec<_>>()
            };
            let closeness = |v: usize| {
                let found = inward(v);
                let r = found.len() as f64;
                if r == 0.0 { 0.0 } else { r / found.iter().sum::<f64>() * r / (n as f64 - 1.0) }
            };
            let what = format!("graph {seed}");
            let expected: Vec<f64> = (0..n).map(closeness).collect();
            assert_close(&closeness_centrality(network, &Unmonitored).unwrap(), &expected, &what);
            let expected: Vec<f64> = (0..n).map(|v| inward(v).iter().map(|d| 1.0 / d).sum()).collect();
            assert_close(&harmonic_centrality(network, &Unmonitored).unwrap(), &expected, &what);
            let expected: Vec<u32> =
                distances.iter().map(|row| row.iter().flatten().copied().max().unwrap_or(0)).collect();
            assert_eq!(eccentricity(network, &Unmonitored).unwrap(), expected, "{what}");
            // Of the sorted distances, the one at the quantile, interpolated within its value.
            let mut all: Vec<u32> = distances.iter().flatten().flatten().copied().filter(|&d| d > 0).collect();
            all.sort_unstable();
            let expected = (!all.is_empty()).then(|| {
                let wanted = 0.9 * all.len() as f64;
                let value = all[(wanted.ceil() as usize).max(1) - 1];
                let below = all.iter().filter(|&&d| d < value).count() as f64;
                let at = all.iter().filter(|&&d| d == value).count() as f64;
                f64::from(value - 1) + (wanted - below) / at
            });
            let found = effective_diameter(network, 0.9, None, 0, &Unmonitored).unwrap();
            assert_eq!(found.is_some(), expected.is_some());
            assert_close(found.as_slice(), expected.as_slice(), &what);
            assert_eq!(effective_diameter(network, 0.9, Some(n), 3, &Unmonitored).unwrap(), found);
        });
    }

    #[test]
    fn more_nodes_than_a_batch_has_searches() {
        // A path: the distances from its first node are 1, 2, ..., n - 1.
        let n = 1200;
        let edges: Vec<(u32, u32)> = (1..n).map(|v| (v - 1, v)).collect();
        let graph = Graph::from_edges(n as usize, &edges);
        let network = Network::undirected(&graph);
        let closeness = closeness_centrality(network, &Unmonitored).unwrap();
        assert_close(&closeness[..1], &[2.0 / f64::from(n)], "the end of a path");
        let eccentricity = eccentricity(network, &Unmonitored).unwrap();
        assert_eq!((eccentricity[0], eccentricity[600]), (1199, 600));
    }
}
