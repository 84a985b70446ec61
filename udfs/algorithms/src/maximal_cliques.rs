//! Maximal cliques.

use std::sync::atomic::{AtomicUsize, Ordering};

use bonnet_graph::{Graph, Monitor, Reservation};
use rayon::prelude::*;

use crate::AlgorithmError;

/// Steps between two questions to the monitor.
const CHECK_EVERY: usize = 256;

/// The maximal cliques: sets of nodes that are all adjacent and that no further node is adjacent to, each in ascending
/// order, in lexicographic order.
///
/// Ours, not petgraph's with its hash sets: Eppstein, Löffler and Strash, Listing all maximal cliques in sparse graphs
/// in near-optimal time (2010), with Tomita's pivot, over sorted lists and a stack of its own; nodes in parallel. O(d n
/// 3^(d / 3)) for degeneracy d.
///
/// # Errors
/// [`AlgorithmError::Input`] where there are more than `limit`; if the monitor stops it.
pub fn maximal_cliques(graph: &Graph, limit: usize, monitor: &dyn Monitor) -> Result<Vec<Vec<u32>>, AlgorithmError> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 24 * n)?;
    monitor.expect(n as u64);
    let rank = degeneracy_ranks(graph, monitor)?;
    let count = AtomicUsize::new(0);
    let of_node = |v: u32| -> Result<_, AlgorithmError> {
        let later = |w: &u32| rank[*w as usize] > rank[v as usize];
        let (candidates, excluded): (Vec<u32>, Vec<u32>) = graph.neighbors(v).iter().copied().partition(|w| later(w));
        let mut reservation = Reservation::new(monitor, 0)?;
        let mut found: Vec<Vec<u32>> = Vec::new();
        extend(graph, v, candidates, excluded, &mut reservation, |clique| {
            found.push(clique);
            count.fetch_add(1, Ordering::Relaxed) < limit
        })?;
        monitor.advance(1);
        Ok((found, reservation))
    };
    let found: Vec<Result<_, AlgorithmError>> = (0..n as u32).into_par_iter().with_min_len(16).map(of_node).collect();
    if count.load(Ordering::Relaxed) > limit {
        return AlgorithmError::input(format!(
            "more than {limit} maximal cliques: allow more (max_results => ...), or take a sparser part of the \
             graph, such as its edges of a high truss_number"
        ));
    }
    let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut cliques: Vec<Vec<u32>> = found.into_iter().flat_map(|(cliques, _reservation)| cliques).collect();
    cliques.par_sort_unstable();
    Ok(cliques)
}

/// A step of the search: nodes that may be added to the clique, nodes that were added before, and which to try.
struct Step {
    candidates: Vec<u32>,
    excluded: Vec<u32>,
    tries: Vec<u32>,
    next: usize,
    bytes: usize,
}

/// Gives all maximal cliques that hold `first`, some of `candidates` and none of `excluded`, until `give` says no.
fn extend(
    graph: &Graph,
    first: u32,
    candidates: Vec<u32>,
    excluded: Vec<u32>,
    reservation: &mut Reservation<'_>,
    mut give: impl FnMut(Vec<u32>) -> bool,
) -> Result<(), AlgorithmError> {
    let mut clique = vec![first];
    let mut stack = vec![Step::new(graph, candidates, excluded)];
    let (mut held, mut granted, mut steps) = (stack[0].bytes, 0usize, 0usize);
    while let Some(step) = stack.last_mut() {
        steps += 1;
        if steps.is_multiple_of(CHECK_EVERY) {
            reservation.check()?;
        }
        if step.candidates.is_empty() && step.excluded.is_empty() {
            let mut found = clique.clone();
            found.sort_unstable();
            held += 8 * found.len() + 64;
            if !give(found) {
                return Ok(());
            }
        }
        if held > granted {
            let more = (held - granted).max(1 << 16);
            reservation.grow(more)?;
            granted += more;
        }
        let Some(&v) = step.tries.get(step.next) else {
            held -= step.bytes;
            stack.pop();
            clique.pop();
            continue;
        };
        if step.next > 0 {
            // The node tried before is done with.
            let before = step.tries[step.next - 1];
            step.candidates.retain(|&w| w != before);
            let at = step.excluded.partition_point(|&w| w < before);
            step.excluded.insert(at, before);
        }
        step.next += 1;
        let neighbors = graph.neighbors(v);
        let below = Step::new(graph, common(&step.candidates, neighbors), common(&step.excluded, neighbors));
        held += below.bytes;
        clique.push(v);
        stack.push(below);
    }
    Ok(())
}

impl Step {
    /// Tries the candidates that are not adjacent to a pivot: a maximal clique holds the pivot or one of them.
    fn new(graph: &Graph, candidates: Vec<u32>, excluded: Vec<u32>) -> Self {
        let nodes = candidates.iter().chain(&excluded);
        let pivot = nodes.copied().max_by_key(|&u| count_common(&candidates, graph.neighbors(u)));
        let tries: Vec<u32> = match pivot {
            Some(pivot) => {
                let neighbors = graph.neighbors(pivot);
                candidates.iter().copied().filter(|v| neighbors.binary_search(v).is_err()).collect()
            }
            None => Vec::new(),
        };
        let bytes = size_of::<Self>() + 4 * (2 * candidates.len() + 2 * excluded.len() + tries.len());
        Self { candidates, excluded, tries, next: 0, bytes }
    }
}

/// The members that two ascending lists share. Looks the shorter up in the longer where that is much longer.
fn common(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut shared = Vec::new();
    visit_common(a, b, |v| shared.push(v));
    shared
}

fn count_common(a: &[u32], b: &[u32]) -> usize {
    let mut count = 0;
    visit_common(a, b, |_| count += 1);
    count
}

fn visit_common(a: &[u32], b: &[u32], mut visit: impl FnMut(u32)) {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if 8 * short.len() < long.len() {
        return short.iter().filter(|v| long.binary_search(v).is_ok()).for_each(|&v| visit(v));
    }
    let mut at = 0;
    for &v in short {
        while long.get(at).is_some_and(|&w| w < v) {
            at += 1;
        }
        if long.get(at) == Some(&v) {
            visit(v);
        }
    }
}

/// The position of each node in an order that takes a node of least degree away first. O(n + m).
fn degeneracy_ranks(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<u32>, AlgorithmError> {
    // Nodes of one core number in the order of their numbers are no such order; those left by core number and peeling
    // are.
    let n = graph.n_nodes();
    let mut degree: Vec<usize> = (0..n as u32).map(|v| graph.degree(v)).collect();
    let most = degree.iter().copied().max().unwrap_or(0);
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); most + 1];
    (0..n as u32).for_each(|v| buckets[degree[v as usize]].push(v));
    let mut rank = vec![u32::MAX; n];
    let (mut next, mut least) = (0, 0);
    while least <= most {
        let Some(v) = buckets[least].pop() else {
            least += 1;
            continue;
        };
        if rank[v as usize] != u32::MAX || degree[v as usize] != least {
            continue;
        }
        rank[v as usize] = next;
        next += 1;
        if next.is_multiple_of(4096) {
            monitor.check()?;
        }
        for &w in graph.neighbors(v) {
            if rank[w as usize] == u32::MAX {
                degree[w as usize] -= 1;
                buckets[degree[w as usize]].push(w);
                least = least.min(degree[w as usize]);
            }
        }
    }
    Ok(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;

    #[test]
    fn cliques_are_all_sets_that_are_adjacent_and_cannot_grow() {
        for seed in 0..200 {
            let (n, mut rows) = testing::rows(seed);
            let n = n.min(12);
            rows.retain(|&(u, v)| (u as usize) < n && (v as usize) < n);
            let graph = Graph::from_edges(n, &rows);
            let members = |set: u32| (0..n as u32).filter(move |v| set >> v & 1 == 1);
            let is_clique = |set: u32| members(set).all(|u| members(set).all(|v| u == v || graph.has_edge(u, v)));
            let mut expected: Vec<Vec<u32>> = (1u32..1 << n)
                .filter(|&set| is_clique(set) && (0..n).all(|v| set >> v & 1 == 1 || !is_clique(set | 1 << v)))
                .map(|set| members(set).collect())
                .collect();
            expected.sort();
            assert_eq!(maximal_cliques(&graph, 10_000, &Unmonitored).unwrap(), expected, "graph {seed}");
            if !expected.is_empty() {
                let error = maximal_cliques(&graph, expected.len() - 1, &Unmonitored).unwrap_err().to_string();
                assert!(error.contains(&format!("more than {} maximal cliques", expected.len() - 1)), "{error}");
            }
        }
    }

    #[test]
    fn the_graph_with_the_most_cliques_has_so_many() {
        // Moon and Moser: parts of three, 3^(n / 3) cliques.
        let edges: Vec<(u32, u32)> =
            (0..24u32).flat_map(|u| (0..u).map(move |v| (v, u))).filter(|(v, u)| v / 3 != u / 3).collect();
        let graph = Graph::from_edges(24, &edges);
        assert_eq!(maximal_cliques(&graph, 6561, &Unmonitored).unwrap().len(), 6561);
        assert!(maximal_cliques(&graph, 6560, &Unmonitored).is_err());
    }

    #[test]
    fn a_large_clique_does_not_exhaust_the_stack() {
        let edges: Vec<(u32, u32)> = (0..1500u32).flat_map(|u| (0..u).map(move |v| (v, u))).collect();
        let found = maximal_cliques(&Graph::from_edges(1500, &edges), 10, &Unmonitored).unwrap();
        assert_eq!((found.len(), found[0].len()), (1, 1500));
    }
}
