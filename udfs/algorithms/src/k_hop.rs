//! Neighbourhoods of nodes.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::Network;

/// The nodes within some hops of others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighborhoods {
    /// The node that hops are counted from.
    pub source: Vec<u32>,
    /// A node within reach, the source itself among them.
    pub node: Vec<u32>,
    /// The hops between them.
    pub distance: Vec<u32>,
}

/// The nodes that at most `hops` arcs lead to from each source, in the order of the sources, then of the distances, then of the
/// nodes. Breadth-first search: O(n) for each thread, and the arcs of the nodes found for each source.
///
/// # Errors
/// If the monitor stops it.
pub fn k_hop(
    network: Network<'_>,
    sources: &[u32],
    hops: u32,
    monitor: &dyn Monitor,
) -> Result<Neighborhoods, Stopped> {
    let n = network.n_nodes();
    let threads = rayon::current_num_threads().min(sources.len());
    let _searches = Reservation::new(monitor, 4 * n * threads)?;
    monitor.expect(sources.len() as u64);
    // The search that reached a node last, and none at first.
    let state = || vec![u32::MAX; n];
    let search = |reached: &mut Vec<u32>, (search, &source): (usize, &u32)| -> Result<_, Stopped> {
        monitor.check()?;
        let mut found = vec![source];
        let mut ends = vec![1];
        reached[source as usize] = search as u32;
        let mut start = 0;
        for _ in 0..hops {
            let end = found.len();
            for at in start..end {
                for &v in network.out.of(found[at]) {
                    if reached[v as usize] != search as u32 {
                        reached[v as usize] = search as u32;
                        found.push(v);
                    }
                }
            }
            if found.len() == end {
                break;
            }
            found[end..].sort_unstable();
            ends.push(found.len());
            start = end;
        }
        // The lists, and what they are joined to.
        let reservation = Reservation::new(monitor, 16 * found.len())?;
        monitor.advance(1);
        Ok((found, ends, reservation))
    };
    let found = sources.par_iter().enumerate().map_init(state, search).collect::<Result<Vec<_>, Stopped>>()?;
    let mut answer = Neighborhoods::default();
    for (&source, (nodes, ends, _reservation)) in sources.iter().zip(found) {
        answer.source.extend(std::iter::repeat_n(source, nodes.len()));
        answer.node.extend(nodes);
        let mut start = 0;
        for (distance, end) in ends.into_iter().enumerate() {
            answer.distance.extend(std::iter::repeat_n(distance as u32, end - start));
            start = end;
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::{Digraph, Unmonitored};

    #[test]
    fn neighbourhoods_are_the_nodes_at_small_distances() {
        for seed in 0..100 {
            let (n, rows) = testing::rows(seed);
            let out = Digraph::from_arcs(n, &rows);
            let into = out.reversed();
            let network = Network::directed(&out, &into);
            let distances = testing::distances(network);
            let sources = [n as u32 - 1, 0];
            for hops in [0, 1, 2, 100] {
                let mut expected = Neighborhoods::default();
                for source in sources {
                    let row = &distances[source as usize];
                    let mut near: Vec<(u32, u32)> = (0..n as u32)
                        .filter_map(|v| Some((row[v as usize]?, v)))
                        .filter(|near| near.0 <= hops)
                        .collect();
                    near.sort_unstable();
                    expected.source.extend(near.iter().map(|_| source));
                    expected.node.extend(near.iter().map(|near| near.1));
                    expected.distance.extend(near.iter().map(|near| near.0));
                }
                assert_eq!(k_hop(network, &sources, hops, &Unmonitored).unwrap(), expected, "graph {seed}");
            }
        }
    }
}
