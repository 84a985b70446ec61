//! A number of a graph that does not depend on the names of its nodes.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::hashing::{mix, mix_all};
use super::pair_colors::pair_colors;
use super::wl_colors::{WlDimension, WlOptions};

/// A 64-bit hash of what a Weisfeiler-Leman test sees of a graph: the same for graphs that the test does not tell apart, isomorphic
/// ones among them, and different for others but with a chance of 2^-64 a pair. (After Shervashidze et al., JMLR 2011.)
///
/// For 1-WL the hash of a node begins with that of its counts of substructures, as a list, and becomes mix(h + 3 s) in each round,
/// with s the sum of mix(h) over its neighbours, wrapping, until a round makes no more different hashes or `rounds` are over. The hash of
/// the graph is that of the list of its nodes, its rounds and the sum of mix(h) over its nodes. It stays the same between versions.
/// O(m) a round and 16 n bytes. For 3-WL the colours are those of [`wl_colors`](super::wl_colors), with its cost.
///
/// # Errors
/// The monitor stopped the work, or has no memory for the pairs of nodes.
pub fn wl_hash(graph: &Graph, options: WlOptions, monitor: &dyn Monitor) -> Result<u64, Stopped> {
    let n = graph.n_nodes();
    let _held = Reservation::new(monitor, 32 * n)?;
    let counts = options.substructures.counts(graph, monitor)?;
    let mut hashes: Vec<u64> = counts.iter().map(|counts| mix_all(counts)).collect();
    drop(counts);
    let mut done = 0;
    match options.dimension {
        WlDimension::Three => {
            let colors = pair_colors(graph, &hashes, options.rounds, monitor)?.of_nodes;
            hashes = colors.into_iter().map(|color| mix_all(&[3, (color >> 64) as u64, color as u64])).collect();
        }
        WlDimension::One => {
            let mut distinct = count(&hashes);
            while options.rounds.is_none_or(|rounds| done < rounds) {
                monitor.check()?;
                let mixed: Vec<u64> = hashes.iter().map(|&hash| mix(hash)).collect();
                let next = |v: u32| {
                    let around = graph.neighbors(v).iter().fold(0u64, |sum, &u| sum.wrapping_add(mixed[u as usize]));
                    mix(hashes[v as usize].wrapping_add(around.wrapping_mul(3)))
                };
                hashes = (0..n as u32).map(next).collect();
                done += 1;
                if options.rounds.is_none() {
                    let now = count(&hashes);
                    if now == distinct {
                        break;
                    }
                    distinct = now;
                }
            }
        }
    }
    let sum = hashes.iter().fold(0u64, |sum, &hash| sum.wrapping_add(mix(hash)));
    Ok(mix_all(&[n as u64, done as u64, sum]))
}

/// The number of different hashes.
fn count(hashes: &[u64]) -> usize {
    let mut all = hashes.to_vec();
    all.sort_unstable();
    all.dedup();
    all.len()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hexagon_and_triangles, rook_and_shrikhande};
    use super::super::{GraphSet, Substructures, wl_colors};
    use super::*;
    use crate::descriptors::testing::random_graph;
    use bonnet_graph::Unmonitored;

    fn hash(graph: &Graph, options: WlOptions) -> u64 {
        wl_hash(graph, options, &Unmonitored).unwrap()
    }

    fn options() -> Vec<WlOptions> {
        let mut all = Vec::new();
        for dimension in [WlDimension::One, WlDimension::Three] {
            for substructures in [Substructures::None, Substructures::Three, Substructures::Four] {
                for rounds in [None, Some(0), Some(2)] {
                    all.push(WlOptions { dimension, rounds, substructures });
                }
            }
        }
        all
    }

    #[test]
    fn renamed_graphs_have_one_hash() {
        for seed in 0..40 {
            let graph = random_graph(1 + seed as usize % 23, 0.2, seed);
            let n = graph.n_nodes() as u32;
            let renamed: Vec<_> = graph.edges().map(|(u, v)| ((u + 5) % n, (v + 5) % n)).collect();
            let renamed = Graph::from_edges(n as usize, &renamed);
            for options in options() {
                assert_eq!(hash(&graph, options), hash(&renamed, options), "seed {seed} {options:?}");
            }
        }
    }

    #[test]
    fn hashes_differ_where_colors_do() {
        // Among all graphs of 5 nodes and some known pairs, each test.
        let pairs: Vec<(u32, u32)> = (0..5u32).flat_map(|u| (u + 1..5).map(move |v| (u, v))).collect();
        let mut graphs: Vec<(usize, Vec<(u32, u32)>)> = (0..1u32 << pairs.len())
            .step_by(3)
            .map(|set| {
                (5, pairs.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, &pair)| pair).collect())
            })
            .collect();
        graphs.extend(hexagon_and_triangles());
        graphs.extend(rook_and_shrikhande());
        let sizes: Vec<usize> = graphs.iter().map(|(n, _)| *n).collect();
        let (mut start, mut edges) = (0, Vec::new());
        for (n, own) in &graphs {
            edges.extend(own.iter().map(|&(u, v)| (u + start, v + start)));
            start += *n as u32;
        }
        let set = GraphSet::new(&sizes, &edges, None);
        for options in options() {
            let colors = wl_colors(&set, options, &Unmonitored).unwrap();
            let prints: Vec<Vec<u32>> = (0..set.len())
                .map(|i| {
                    let mut own = colors[set.nodes(i)].to_vec();
                    own.sort_unstable();
                    own
                })
                .collect();
            let hashes: Vec<u64> = (0..set.len()).map(|i| hash(&set.graph(i), options)).collect();
            for i in 0..set.len() {
                for j in 0..i {
                    assert_eq!(hashes[i] == hashes[j], prints[i] == prints[j], "{:?} {:?}", graphs[i], graphs[j]);
                }
            }
        }
    }

    #[test]
    fn the_hash_of_a_graph_stays_what_it_was() {
        let path = Graph::from_edges(3, &[(0, 1), (1, 2)]);
        // By the formula in the documentation, in Python's integers modulo 2^64.
        assert_eq!(hash(&path, WlOptions::default()), PATH);
        assert_eq!(hash(&Graph::from_edges(0, &[]), WlOptions::default()), EMPTY);
    }

    const PATH: u64 = 0xeedc_7d1f_f965_baa3;
    const EMPTY: u64 = 0x0592_949e_1a93_7c34;
}
