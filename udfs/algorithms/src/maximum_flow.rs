//! Maximum flows and minimum cuts.

use bonnet_graph::petgraph::algo::maximum_flow::dinics;
use bonnet_graph::petgraph::graph::NodeIndex;
use bonnet_graph::{Monitor, Reservation, watched};

use crate::{AlgorithmError, Network};

/// A flow from a source to a target that is as large as capacities allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The value of the flow: the sum that leaves the source.
    pub value: f64,
    /// The flow along each arc, in the order of [`Network::out`], from 0 to its capacity; along an edge of an
    /// undirected graph it flows in one direction at most.
    pub along: Vec<f64>,
}

/// The maximum flow from `source` to `target`. A weight is a capacity, of at least 0, and 1 without weights; an edge of
/// an undirected graph carries as much either way. By petgraph's `dinics`: O(n^2 m) at worst.
///
/// # Errors
/// [`AlgorithmError::Input`] if both endpoints are the same node; if the monitor stops it.
pub fn maximum_flow(
    network: Network<'_>,
    source: u32,
    target: u32,
    monitor: &dyn Monitor,
) -> Result<Flow, AlgorithmError> {
    if source == target {
        return AlgorithmError::input("the source and the target are the same node: give two nodes");
    }
    let (n, arcs) = (network.n_nodes(), network.out.n_arcs());
    // Petgraph keeps a reference to each arc at most once on either side.
    let _reservation = Reservation::new(monitor, 96 * n + (24 + 2 * 128) * arcs)?;
    let ones = if network.out.weights().is_none() { vec![1.0; arcs] } else { Vec::new() };
    let capacities = network.out.weights().unwrap_or(&ones);
    let (from, to) = (NodeIndex::new(source as usize), NodeIndex::new(target as usize));
    let (value, mut along) = watched(network.arcs_view().weighted(capacities), monitor, |view| dinics(view, from, to))?;
    if !network.directed {
        for u in 0..n as u32 {
            for at in network.out.offsets()[u as usize]..network.out.offsets()[u as usize + 1] {
                let v = network.out.targets()[at];
                let back = network.out.offsets()[v as usize] + network.out.of(v).partition_point(|&w| w < u);
                let both = along[at].min(along[back]);
                along[at] -= both;
                along[back] -= both;
            }
        }
    }
    Ok(Flow { value, along })
}

/// Which nodes are on the source's side of a minimum cut, given a maximum flow: those that more could flow to. The
/// capacities of the arcs that leave them add up to the value of the flow; of all such sets it is the smallest, so it
/// is unique. O(n + m log degree).
///
/// # Errors
/// If the monitor stops it.
pub fn minimum_cut(
    network: Network<'_>,
    source: u32,
    flow: &Flow,
    monitor: &dyn Monitor,
) -> Result<Vec<bool>, AlgorithmError> {
    let _reservation = Reservation::new(monitor, 5 * network.n_nodes())?;
    let place =
        |u: u32, v: u32| network.out.of(u).binary_search(&v).ok().map(|at| network.out.offsets()[u as usize] + at);
    let capacity = |at: usize| network.out.weights().map_or(1.0, |weights| weights[at]);
    let more = |u: u32, v: u32| {
        let forward = place(u, v).is_some_and(|at| flow.along[at] < capacity(at));
        forward || place(v, u).is_some_and(|at| flow.along[at] > 0.0)
    };
    let mut inside = vec![false; network.n_nodes()];
    inside[source as usize] = true;
    let mut queue = vec![source];
    let mut looked = 0usize;
    while let Some(u) = queue.pop() {
        looked += 1;
        if looked.is_multiple_of(1024) {
            monitor.check()?;
        }
        for &v in network.out.of(u).iter().chain(network.into.of(u)) {
            if !inside[v as usize] && more(u, v) {
                inside[v as usize] = true;
                queue.push(v);
            }
        }
    }
    Ok(inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{WeightedArcs, testing};
    use bonnet_graph::{Graph, Unmonitored};

    /// The least capacity of arcs that leave a set with the source and without the target, over all sets; and the
    /// smallest such set.
    fn least_cut(network: Network<'_>, source: u32, target: u32) -> (f64, u32) {
        let n = network.n_nodes() as u32;
        let capacity = |set: u32| -> f64 {
            let inside = (0..n).filter(|u| set >> u & 1 == 1);
            let leaving = inside.flat_map(|u| network.out.weighted(u)).filter(|(v, _)| set >> v & 1 == 0);
            leaving.fold(0.0, |sum, arc| sum + arc.1)
        };
        let sets = (0..1u32 << n).filter(|set| set >> source & 1 == 1 && set >> target & 1 == 0);
        let cuts = sets.map(|set| (capacity(set), set));
        cuts.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.count_ones().cmp(&b.1.count_ones()))).unwrap()
    }

    fn check(network: Network<'_>, source: u32, target: u32, what: &str) {
        let flow = maximum_flow(network, source, target, &Unmonitored).unwrap();
        let (capacity, set) = least_cut(network, source, target);
        assert_eq!(flow.value, capacity, "{what}");
        let mut out = vec![0.0; network.n_nodes()];
        let mut at = 0;
        for u in 0..network.n_nodes() {
            for (v, capacity) in network.out.weighted(u as u32) {
                assert!(flow.along[at] >= 0.0 && flow.along[at] <= capacity, "{what}");
                out[u] += flow.along[at];
                out[v as usize] -= flow.along[at];
                at += 1;
            }
        }
        for (v, &out) in out.iter().enumerate() {
            let expected = match v as u32 {
                v if v == source => flow.value,
                v if v == target => -flow.value,
                _ => 0.0,
            };
            assert_eq!(out, expected, "{what}");
        }
        let inside = minimum_cut(network, source, &flow, &Unmonitored).unwrap();
        let found = (0..network.n_nodes()).filter(|&v| inside[v]).fold(0u32, |set, v| set | 1 << v);
        assert_eq!(found, set, "{what}");
    }

    #[test]
    fn a_flow_is_as_large_as_the_least_cut() {
        for seed in 0..200 {
            let (n, mut rows) = testing::rows(seed);
            let n = n.clamp(2, 8);
            rows.retain(|&(u, v)| (u as usize) < n && (v as usize) < n);
            let (source, target) = (0, n as u32 - 1);
            let capacity = |u: u32, v: u32| f64::from((u * v + 3 * u.max(v)) % 5);
            let arcs = WeightedArcs::new(n, rows.iter().map(|&(u, v)| (u, v, capacity(u, v)))).unwrap();
            let back = arcs.reversed();
            check(Network::weighted(&arcs, Some(&back)), source, target, "arcs");
            let both = rows.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).map(|(u, v)| (u, v, capacity(u, v)));
            let edges = WeightedArcs::new(n, both).unwrap();
            check(Network::weighted(&edges, None), source, target, "edges");
            check(Network::undirected(&Graph::from_edges(n, &rows)), source, target, "unit capacities");
        }
    }

    #[test]
    fn one_node_is_no_two_ends() {
        let graph = Graph::from_edges(2, &[(0, 1)]);
        let error = maximum_flow(Network::undirected(&graph), 1, 1, &Unmonitored).unwrap_err();
        assert!(error.to_string().contains("the same node"));
    }
}
