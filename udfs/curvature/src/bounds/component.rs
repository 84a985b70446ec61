//! A connected component as a graph of its own, with dense matrices of it.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use faer::{Mat, Side};

use super::BoundsError;

/// A component: its nodes, and the graph on their positions.
pub(super) struct Component {
    pub(super) nodes: Vec<u32>,
    pub(super) graph: Graph,
}

impl Component {
    /// The component of a node.
    pub(super) fn of(graph: &Graph, start: u32) -> Self {
        let mut place = vec![u32::MAX; graph.n_nodes()];
        let mut nodes = vec![start];
        place[start as usize] = 0;
        let mut at = 0;
        while at < nodes.len() {
            for &u in graph.neighbors(nodes[at]) {
                if place[u as usize] == u32::MAX {
                    place[u as usize] = 0;
                    nodes.push(u);
                }
            }
            at += 1;
        }
        nodes.sort_unstable();
        nodes.iter().zip(0..).for_each(|(&v, position)| place[v as usize] = position);
        let edges: Vec<(u32, u32)> = nodes
            .iter()
            .flat_map(|&v| graph.neighbors(v).iter().filter(move |&&u| u > v).map(move |&u| (v, u)))
            .map(|(u, v)| (place[u as usize], place[v as usize]))
            .collect();
        let graph = Graph::from_edges(nodes.len(), &edges);
        Self { nodes, graph }
    }
}

/// The effective resistances of all pairs of nodes of a connected graph, row by row: n^3 operations, 8 n^2 bytes.
pub(super) fn all_resistances(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<f64>, Stopped> {
    let n = graph.n_nodes();
    // The inverse of the Laplacian plus 1/n everywhere, by Gauss and Jordan in place; it is positive definite, so no pivoting.
    let mut a = vec![1.0 / n as f64; n * n];
    for v in 0..n {
        a[v * n + v] += graph.degree(v as u32) as f64;
        graph.neighbors(v as u32).iter().for_each(|&u| a[v * n + u as usize] -= 1.0);
    }
    let mut row = vec![0.0; n];
    for pivot in 0..n {
        monitor.check()?;
        let inverse = 1.0 / a[pivot * n + pivot];
        a[pivot * n + pivot] = 1.0;
        a[pivot * n..(pivot + 1) * n].iter_mut().for_each(|x| *x *= inverse);
        row.copy_from_slice(&a[pivot * n..(pivot + 1) * n]);
        for (v, values) in a.chunks_exact_mut(n).enumerate().filter(|(v, _)| *v != pivot) {
            let factor = std::mem::replace(&mut values[pivot], 0.0);
            debug_assert!(v != pivot);
            values.iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
        }
    }
    let diagonal: Vec<f64> = (0..n).map(|v| a[v * n + v]).collect();
    for u in 0..n {
        for v in 0..n {
            a[u * n + v] = diagonal[u] + diagonal[v] - 2.0 * a[u * n + v];
        }
    }
    Ok(a)
}

/// The spectral gap 1 - lambda_2 of a connected graph with an edge: lambda_2 is the second largest eigenvalue of D^(-1/2) A D^(-1/2).
/// n^3 operations, 24 n^2 bytes.
pub(super) fn spectral_gap(graph: &Graph, monitor: &dyn Monitor) -> Result<f64, BoundsError> {
    let n = graph.n_nodes();
    monitor.check()?;
    let _reservation = Reservation::new(monitor, 24usize.saturating_mul(n).saturating_mul(n))?;
    let mut matrix = Mat::<f64>::zeros(n, n);
    for (u, v) in graph.edges() {
        let value = 1.0 / (graph.degree(u) as f64 * graph.degree(v) as f64).sqrt();
        matrix[(u as usize, v as usize)] = value;
        matrix[(v as usize, u as usize)] = value;
    }
    let mut values = matrix.self_adjoint_eigenvalues(Side::Lower).map_err(|_| BoundsError::Eigenvalues(n))?;
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    // An eigenvalue of 1 belongs to the component itself.
    Ok(1.0 - values.get(1).copied().unwrap_or(-1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn resistances_and_gaps_have_their_closed_forms() {
        for n in 3..9u32 {
            let complete =
                Graph::from_edges(n as usize, &(0..n).flat_map(|u| (0..u).map(move |v| (u, v))).collect::<Vec<_>>());
            let cycle = Graph::from_edges(n as usize, &(0..n).map(|v| (v, (v + 1) % n)).collect::<Vec<_>>());
            let nf = f64::from(n);
            let (k, c) =
                (all_resistances(&complete, &Unmonitored).unwrap(), all_resistances(&cycle, &Unmonitored).unwrap());
            for u in 0..n as usize {
                for v in 0..n as usize {
                    let apart = u.abs_diff(v) as f64;
                    assert!((k[u * n as usize + v] - if u == v { 0.0 } else { 2.0 / nf }).abs() < 1e-14);
                    assert!((c[u * n as usize + v] - apart * (nf - apart) / nf).abs() < 1e-13);
                }
            }
            // The complete graph has -1 / (n - 1) as its second eigenvalue, the cycle cos 2 pi / n.
            assert!((spectral_gap(&complete, &Unmonitored).unwrap() - nf / (nf - 1.0)).abs() < 1e-13);
            let second = (2.0 * std::f64::consts::PI / nf).cos();
            assert!((spectral_gap(&cycle, &Unmonitored).unwrap() - (1.0 - second)).abs() < 1e-13);
        }
    }

    #[test]
    fn a_component_keeps_its_edges() {
        let graph = Graph::from_edges(7, &[(6, 1), (1, 4), (0, 2), (4, 6)]);
        let component = Component::of(&graph, 4);
        assert_eq!(component.nodes, [1, 4, 6]);
        assert_eq!(component.graph.n_edges(), 3);
        assert_eq!(Component::of(&graph, 3).nodes, [3]);
    }
}
