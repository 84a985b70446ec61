//! Shortest paths from given nodes.
//!
//! Ours, not petgraph's, whose searches keep distances in hash maps and whose `k_shortest_path` counts walks.

mod bellman_ford;
mod path;
mod search;
mod tree;
mod yen;

use bonnet_graph::{Monitor, Reservation};
use rayon::prelude::*;

use crate::{AlgorithmError, Network};
pub use path::{Ends, PathAlgorithm, PathOptions, ShortestPath};
use search::search;
use tree::Tree;

/// The shortest paths between ends, in the order of `ends`, then of the targets, then of the ranks; none where no path
/// leads. A weight is a length. Among paths of one length the choice depends on the graph alone. With `k` above 1: Yen,
/// Finding the k shortest loopless paths in a network (1971), O(k n) searches a pair; only for pairs and `Dijkstra`.
///
/// Sources are searched in parallel: O(n) memory for each thread, beside the answer.
///
/// # Errors
/// [`AlgorithmError::Nodes`] for an arc of negative weight with `Dijkstra` (its two endpoints), and for a cycle of negative
/// length with `BellmanFord` (its nodes, in their order); [`AlgorithmError::Input`] for `k` above 1 without two endpoints;
/// if the monitor stops it.
pub fn shortest_paths(
    network: Network<'_>,
    ends: &[Ends],
    options: PathOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<ShortestPath>, AlgorithmError> {
    let n = network.n_nodes();
    match options.algorithm {
        PathAlgorithm::Dijkstra => no_negative_weight(network)?,
        PathAlgorithm::BellmanFord if options.k > 1 => {
            return AlgorithmError::input("k above 1 needs weights of at least 0 and algorithm => 'dijkstra'");
        }
        PathAlgorithm::BellmanFord => {}
    }
    if options.k > 1 && ends.iter().any(|ends| matches!(ends, Ends::From(_))) {
        return AlgorithmError::input("k above 1 is for pairs: give each source a target");
    }
    let threads = rayon::current_num_threads().min(ends.len());
    let _searches = Reservation::new(monitor, 40 * n * threads)?;
    monitor.expect(ends.len() as u64);
    let find = |tree: &mut Tree, ends: &Ends| -> Result<_, AlgorithmError> {
        monitor.check()?;
        let found = match (*ends, options.k) {
            (Ends::Pair(source, target), k) if k > 1 => yen::paths(network, source, target, k, tree, monitor)?,
            (Ends::Pair(source, target), _) => {
                search(tree, network, source, Some(target), options.algorithm, monitor)?;
                tree.path(target, options.nodes).into_iter().collect()
            }
            (Ends::From(source), _) => {
                search(tree, network, source, None, options.algorithm, monitor)?;
                let mut targets = tree.reached().to_vec();
                targets.sort_unstable();
                targets.into_iter().filter_map(|target| tree.path(target, options.nodes)).collect::<Vec<_>>()
            }
        };
        // Twice: once more in one list.
        let bytes = |path: &ShortestPath| size_of::<ShortestPath>() + 4 * path.nodes.len();
        let reservation = Reservation::new(monitor, 2 * found.iter().map(bytes).sum::<usize>())?;
        monitor.advance(1);
        Ok((found, reservation))
    };
    // Collected before the first error is looked for: of several, that of the first ends is reported.
    let found: Vec<Result<_, AlgorithmError>> = ends.par_iter().map_init(|| Tree::new(n), find).collect();
    let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().flat_map(|(paths, _reservation)| paths).collect())
}

fn no_negative_weight(network: Network<'_>) -> Result<(), AlgorithmError> {
    let Some(weights) = network.out.weights() else { return Ok(()) };
    let Some(at) = weights.iter().position(|&weight| weight < 0.0) else { return Ok(()) };
    let source = network.out.offsets().partition_point(|&start| start <= at) - 1;
    let target = network.out.targets()[at];
    Err(AlgorithmError::nodes(
        format!(
            "a weight of {} is negative, and Dijkstra's algorithm needs weights of at least 0: use algorithm => \
             'bellman_ford'. The edge",
            weights[at]
        ),
        vec![source as u32, target],
    ))
}

#[cfg(test)]
mod tests;
