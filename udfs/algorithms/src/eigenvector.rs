//! Centralities by powers of the adjacency matrix.

use bonnet_graph::{Monitor, Reservation, Steps, hundredths};
use rayon::prelude::*;

use crate::{AlgorithmError, Network};

/// Nodes that a thread takes at a time, and whose changes are summed together.
const BLOCK: usize = 1 << 10;

/// When an iteration ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationOptions {
    /// When values change by no more than this in sum; positive.
    pub tolerance: f64,
    /// After so many steps without that, with an error.
    pub max_iterations: usize,
}

impl Default for IterationOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 10_000 }
    }
}

impl IterationOptions {
    /// Fails where an option is out of its range.
    ///
    /// # Errors
    /// Says which.
    pub fn validate(&self) -> Result<(), AlgorithmError> {
        match self.tolerance > 0.0 && self.tolerance.is_finite() {
            true => Ok(()),
            false => AlgorithmError::input(format!("tolerance => {:?}: expected a positive number", self.tolerance)),
        }
    }

    fn not_reached<T>(&self, what: &str) -> Result<T, AlgorithmError> {
        AlgorithmError::input(format!(
            "{what} did not settle to tolerance => {:?} within max_iterations => {}: raise one of them",
            self.tolerance, self.max_iterations
        ))
    }
}

/// The sum of the values of the nodes that arcs to `v` leave, times their weights.
fn pull(network: Network<'_>, v: u32, values: &[f64]) -> f64 {
    match network.into.weights() {
        None => network.into.of(v).iter().map(|&u| values[u as usize]).sum(),
        Some(_) => network.into.weighted(v).map(|(u, weight)| weight * values[u as usize]).sum(),
    }
}

/// Fills `next` with `value(v, pull of v)`; gives the sum of its squares and of its changes, block by block in order.
fn step(
    network: Network<'_>,
    values: &[f64],
    next: &mut [f64],
    value: impl Fn(usize, f64) -> f64 + Sync,
) -> (f64, f64) {
    let block = |(block, next): (usize, &mut [f64])| {
        let (mut squares, mut change) = (0.0, 0.0);
        for (i, next) in next.iter_mut().enumerate() {
            let v = block * BLOCK + i;
            *next = value(v, pull(network, v as u32, values));
            squares += *next * *next;
            change += (*next - values[v]).abs();
        }
        (squares, change)
    };
    let sums: Vec<(f64, f64)> = next.par_chunks_mut(BLOCK).enumerate().map(block).collect();
    sums.into_iter().fold((0.0, 0.0), |all, sums| (all.0 + sums.0, all.1 + sums.1))
}

/// The eigenvector centrality of every node: its share, of length 1 in all, of the eigenvector of the largest eigenvalue of the
/// adjacency matrix; of a directed graph, of its arcs turned round: a node is central to which central nodes point.
///
/// Bonacich, Power and centrality (1987), by power iteration on the matrix plus the identity, which settles on bipartite graphs,
/// too. Where several components share the largest eigenvalue, the answer is what iteration from equal values comes to.
/// O(n + m) an iteration.
///
/// # Errors
/// For a tolerance out of its range, if the values do not settle, and if the monitor stops it.
pub fn eigenvector_centrality(
    network: Network<'_>,
    options: &IterationOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, AlgorithmError> {
    options.validate()?;
    let n = network.n_nodes();
    if n == 0 {
        return Ok(Vec::new());
    }
    let _reservation = Reservation::new(monitor, 16 * n)?;
    let mut values = vec![(n as f64).sqrt().recip(); n];
    let mut next = vec![0.0; n];
    let (mut steps, mut first) = (Steps::new(monitor, 100), None);
    for _ in 0..options.max_iterations {
        monitor.check()?;
        let (squares, _) = step(network, &values, &mut next, |v, pulled| values[v] + pulled);
        let length = squares.sqrt();
        let block = |(next, values): (&mut [f64], &[f64])| {
            let change = |(next, value): (&mut f64, &f64)| {
                *next /= length;
                (*next - value).abs()
            };
            next.iter_mut().zip(values).map(change).sum::<f64>()
        };
        let changes: Vec<f64> = next.par_chunks_mut(BLOCK).zip(values.par_chunks(BLOCK)).map(block).collect();
        std::mem::swap(&mut values, &mut next);
        let change = changes.iter().sum::<f64>();
        if change <= options.tolerance {
            return Ok(values);
        }
        steps.reach(hundredths(*first.get_or_insert(change), change, options.tolerance));
    }
    if !has_cycle(network) {
        return AlgorithmError::input(
            "arcs form no cycle, so that the adjacency matrix has no eigenvalue but 0 and no node is central: \
             katz_centrality and pagerank also rank nodes of such graphs",
        );
    }
    options.not_reached("the eigenvector")
}

/// Whether arcs form a cycle: taking away nodes that none enter does not take all.
fn has_cycle(network: Network<'_>) -> bool {
    let n = network.n_nodes();
    let mut entering: Vec<usize> = (0..n as u32).map(|v| network.into.degree(v)).collect();
    let mut free: Vec<u32> = (0..n as u32).filter(|&v| entering[v as usize] == 0).collect();
    let mut taken = 0;
    while let Some(v) = free.pop() {
        taken += 1;
        for &w in network.out.of(v) {
            entering[w as usize] -= 1;
            if entering[w as usize] == 0 {
                free.push(w);
            }
        }
    }
    taken < n
}

/// The Katz centrality of every node, of length 1 in all: `beta` and, for every walk to the node, `beta alpha^length`, by the
/// product of its weights.
///
/// Katz, A new status index derived from sociometric analysis (1953), by iteration. O(n + m) a step.
///
/// # Errors
/// For a tolerance out of its range, where `alpha` is not below 1 / the largest eigenvalue so that values grow without end, if
/// they do not settle, and if the monitor stops it.
pub fn katz_centrality(
    network: Network<'_>,
    alpha: f64,
    beta: f64,
    options: &IterationOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, AlgorithmError> {
    options.validate()?;
    for (name, value) in [("alpha", alpha), ("beta", beta)] {
        if !(value > 0.0 && value.is_finite()) {
            return AlgorithmError::input(format!("{name} => {value:?}: expected a positive number"));
        }
    }
    let n = network.n_nodes();
    let _reservation = Reservation::new(monitor, 16 * n)?;
    let mut values = vec![beta; n];
    let mut next = vec![0.0; n];
    let (mut steps, mut first) = (Steps::new(monitor, 100), None);
    for _ in 0..options.max_iterations {
        monitor.check()?;
        let (squares, change) = step(network, &values, &mut next, |_, pulled| alpha * pulled + beta);
        std::mem::swap(&mut values, &mut next);
        if !squares.is_finite() {
            return AlgorithmError::input(format!(
                "alpha => {alpha:?}: the values grow without end; alpha has to be less than 1 / the largest eigenvalue of the \
                 adjacency matrix"
            ));
        }
        // Relative to the length: the answer is of length 1.
        if change <= options.tolerance * squares.sqrt() {
            let length = squares.sqrt();
            values.iter_mut().for_each(|value| *value /= length);
            return Ok(values);
        }
        let relative = change / squares.sqrt();
        steps.reach(hundredths(*first.get_or_insert(relative), relative, options.tolerance));
    }
    match n {
        0 => Ok(values),
        _ => options.not_reached("Katz centrality"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, assert_close};
    use bonnet_graph::{Digraph, Graph, Unmonitored};

    #[test]
    fn arcs_without_a_cycle_have_no_eigenvector() {
        let out = Digraph::from_arcs(3, &[(0, 1), (0, 2), (1, 2)]);
        let options = IterationOptions { max_iterations: 50, ..IterationOptions::default() };
        let error = eigenvector_centrality(Network::of_arcs(&out), &options, &Unmonitored).unwrap_err().to_string();
        assert!(error.contains("arcs form no cycle"), "{error}");
    }

    #[test]
    fn katz_counts_walks_by_their_lengths() {
        for seed in 0..100 {
            let (n, rows) = testing::rows(seed);
            let out = Digraph::from_arcs(n, &rows);
            let into = out.reversed();
            let network = Network::directed(&out, &into);
            // beta (1 + alpha A' + alpha^2 A'^2 + ...) summed out, walk by walk.
            let alpha = 0.4 / n as f64;
            let mut walks = vec![1.0; n];
            let mut sum = walks.clone();
            for _ in 0..200 {
                walks = (0..n as u32)
                    .map(|v| alpha * into.successors(v).iter().map(|&u| walks[u as usize]).sum::<f64>())
                    .collect();
                sum.iter_mut().zip(&walks).for_each(|(sum, walks)| *sum += walks);
            }
            let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
            let expected: Vec<f64> = sum.iter().map(|value| value / length).collect();
            let options = IterationOptions { tolerance: 1e-13, ..IterationOptions::default() };
            let found = katz_centrality(network, alpha, 2.5, &options, &Unmonitored).unwrap();
            assert_close(&found, &expected, &format!("graph {seed}"));
        }
    }

    #[test]
    fn eigenvectors_are_what_the_matrix_only_stretches() {
        for seed in 0..100 {
            let (n, rows) = testing::rows(3 * seed + 2);
            let graph = Graph::from_edges(n, &rows);
            let network = Network::undirected(&graph);
            let options = IterationOptions { tolerance: 1e-13, max_iterations: 1_000_000 };
            let found = eigenvector_centrality(network, &options, &Unmonitored).unwrap();
            assert!((found.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
            let image: Vec<f64> = (0..n as u32).map(|v| pull(network, v, &found)).collect();
            let eigenvalue: f64 = image.iter().zip(&found).map(|(a, b)| a * b).sum();
            for (image, value) in image.iter().zip(&found) {
                assert!((image - eigenvalue * value).abs() < 1e-6, "graph {seed}");
            }
            // No direction is stretched more: Rayleigh quotients of powers from positive values rise to the largest.
            let mut power = vec![1.0; n];
            for _ in 0..200 {
                power = (0..n as u32).map(|v| power[v as usize] + pull(network, v, &power)).collect();
                let length = power.iter().map(|x| x * x).sum::<f64>().sqrt();
                power.iter_mut().for_each(|x| *x /= length);
            }
            let quotient: f64 = (0..n as u32).map(|v| power[v as usize] * pull(network, v, &power)).sum();
            assert!(quotient <= eigenvalue + 1e-6, "graph {seed}");
        }
    }

    #[test]
    fn bipartite_graphs_settle() {
        let star = Graph::from_edges(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]);
        let found =
            eigenvector_centrality(Network::undirected(&star), &IterationOptions::default(), &Unmonitored).unwrap();
        let (half, leaf) = (0.5f64.sqrt(), 0.125f64.sqrt());
        assert_close(&found, &[half, leaf, leaf, leaf, leaf], "a star");
    }

    #[test]
    fn values_without_bound_are_an_error() {
        let graph = Graph::from_edges(3, &[(0, 1), (0, 2), (1, 2)]);
        let network = Network::undirected(&graph);
        let of = |alpha| katz_centrality(network, alpha, 1.0, &IterationOptions::default(), &Unmonitored);
        assert!(of(0.6).unwrap_err().to_string().contains("grow without end"));
        assert!(of(-1.0).unwrap_err().to_string().contains("alpha => -1.0: expected a positive number"));
        let few = IterationOptions { max_iterations: 2, ..IterationOptions::default() };
        let path = Graph::from_edges(3, &[(0, 1), (1, 2)]);
        let error = eigenvector_centrality(Network::undirected(&path), &few, &Unmonitored).unwrap_err();
        assert!(error.to_string().contains("max_iterations => 2"));
    }
}
