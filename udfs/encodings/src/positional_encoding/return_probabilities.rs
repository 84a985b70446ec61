//! How likely a random walk is to be back after so many steps.

use bonnet_graph::{AlgorithmError, Graph, Monitor, Reservation};
use rayon::prelude::*;

/// Nodes that a task takes one after the other.
const BLOCK: usize = 64;

/// For every node the probabilities that a random walk from there, each edge as likely as another, is back after 1, 2, ...,
/// `steps` steps: the diagonals of the powers of `D^-1 A`, `steps` numbers a node, one node after the other. Zeros for a node
/// without edges.
///
/// Dwivedi, Luu, Laurent, Bengio and Bresson, Graph neural networks with learnable structural and positional representations
/// (2022), Eq. 13. `D P` is symmetric, so that `(P^(a + b))_vv` is a sum over the nodes within a and b steps: O(edges of the
/// nodes within steps / 2) a node and step, 24 bytes a node for each thread, and `8 n steps` bytes.
///
/// # Errors
/// If the monitor stops it.
pub fn return_probabilities(graph: &Graph, steps: usize, monitor: &dyn Monitor) -> Result<Vec<f64>, AlgorithmError> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 8 * n * steps)?;
    let mut all = vec![0.0; n * steps];
    monitor.expect(n as u64);
    all.par_chunks_mut((BLOCK * steps).max(1)).enumerate().try_for_each(|(block, out)| {
        let _held = Reservation::new(monitor, 24 * n)?;
        let mut walk = Walk { graph, mass: vec![0.0; n], last: vec![0.0; n] };
        for (at, out) in out.chunks_exact_mut(steps).enumerate() {
            walk.returns((block * BLOCK + at) as u32, out, monitor)?;
            monitor.advance(1);
        }
        Ok::<_, AlgorithmError>(())
    })?;
    Ok(all)
}

/// Walks from one node after the other.
struct Walk<'a> {
    graph: &'a Graph,
    /// Zeros between the steps.
    mass: Vec<f64>,
    last: Vec<f64>,
}

/// The nodes where a walk may be, with their probabilities.
type Distribution = Vec<(u32, f64)>;

impl Walk<'_> {
    fn returns(&mut self, v: u32, out: &mut [f64], monitor: &dyn Monitor) -> Result<(), AlgorithmError> {
        let degree = self.graph.degree(v) as f64;
        if degree == 0.0 {
            return Ok(());
        }
        let mut here: Distribution = vec![(v, 1.0)];
        for k in (1..=out.len()).step_by(2) {
            // From `here` after (k - 1) / 2 steps to `next` after one more.
            let next = self.step(&here, monitor)?;
            let over_degree = |(u, p): (u32, f64)| (u, p * degree / self.graph.degree(u) as f64);
            here.iter().for_each(|&(u, p)| self.last[u as usize] = p);
            let odd = next.iter().map(|&other| over_degree(other)).map(|(u, p)| p * self.last[u as usize]).sum();
            here.iter().for_each(|&(u, _)| self.last[u as usize] = 0.0);
            out[k - 1] = odd;
            if let Some(even) = out.get_mut(k) {
                *even = next.iter().map(|&other| over_degree(other).1 * other.1).sum();
            }
            here = next;
        }
        Ok(())
    }

    /// Where the walk is after one step more.
    fn step(&mut self, here: &Distribution, monitor: &dyn Monitor) -> Result<Distribution, AlgorithmError> {
        let mut next = Distribution::new();
        for (at, &(u, p)) in here.iter().enumerate() {
            if at % 4096 == 0 {
                monitor.check()?;
            }
            let share = p / self.graph.degree(u) as f64;
            for &w in self.graph.neighbors(u) {
                if self.mass[w as usize] == 0.0 {
                    next.push((w, 0.0));
                }
                self.mass[w as usize] += share;
            }
        }
        for (u, p) in &mut next {
            *p = std::mem::take(&mut self.mass[*u as usize]);
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn of(graph: &Graph, steps: usize) -> Vec<f64> {
        return_probabilities(graph, steps, &Unmonitored).unwrap()
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-14, "{found} for {expected}");
    }

    #[test]
    fn closed_forms_of_cycles_complete_graphs_and_a_path() {
        let cycle = Graph::from_edges(7, &(0..7).map(|v| (v, (v + 1) % 7)).collect::<Vec<_>>());
        let complete = Graph::from_edges(5, &(0..5).flat_map(|u| (0..u).map(move |v| (u, v))).collect::<Vec<_>>());
        let path = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
        let (of_cycle, of_complete, of_path) = (of(&cycle, 9), of(&complete, 6), of(&path, 4));
        for k in 1..=9usize {
            // Of a cycle the mean of the k-th powers of its eigenvalues.
            let angle = |j: usize| (std::f64::consts::TAU * j as f64 / 7.0).cos();
            let expected = (0..7).map(|j| angle(j).powi(k as i32)).sum::<f64>() / 7.0;
            (0..7).for_each(|v| close(of_cycle[v * 9 + k - 1], expected));
        }
        for k in 1..=6 {
            let expected = 0.2 + 0.8 * (-0.25f64).powi(k as i32);
            (0..5).for_each(|v| close(of_complete[v * 6 + k - 1], expected));
        }
        // By hand: from the end back in two steps by 1/2, from the inner node by 1 or 1/4.
        assert_eq!(of_path[..4], [0.0, 0.5, 0.0, 0.375]);
        assert_eq!(of_path[4..8], [0.0, 0.75, 0.0, 0.6875]);
    }

    #[test]
    fn the_powers_of_the_dense_matrix_have_the_same_diagonals() {
        // Two components and a node without edges.
        let edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (5, 7), (7, 8)];
        let (graph, n) = (Graph::from_edges(10, &edges), 10);
        let step = |v: usize, u: usize| match graph.has_edge(v as u32, u as u32) {
            true => 1.0 / graph.degree(v as u32) as f64,
            false => 0.0,
        };
        let found = of(&graph, 8);
        let mut power: Vec<Vec<f64>> = (0..n).map(|r| (0..n).map(|c| f64::from(u8::from(r == c))).collect()).collect();
        for k in 0..8 {
            power =
                power.iter().map(|row| (0..n).map(|c| (0..n).map(|u| row[u] * step(u, c)).sum()).collect()).collect();
            (0..n - 1).for_each(|v| close(found[v * 8 + k], power[v][v]));
            assert_eq!(found[9 * 8 + k], 0.0);
        }
    }
}
