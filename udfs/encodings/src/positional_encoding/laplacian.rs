//! Eigenvectors of the normalised Laplacian.

use bonnet_graph::{AlgorithmError, Graph, Monitor, Reservation};

use super::subspace::{self, Pairs};
use crate::columns::symmetric;

/// Graphs of no more nodes are solved as dense matrices.
const DENSE: usize = 512;

/// Eigenvalues that differ by less count as one.
const SAME_VALUE: f64 = 1e-10;

/// The length below which a projection counts as in the span of those before, over the length of a mean one.
const DEPENDENT: f64 = 1e-3;

/// The eigenvectors of `L = I - D^-1/2 A D^-1/2` of the smallest eigenvalues but the first, which is 0: `count` numbers a node, one
/// node after the other. The row of L of a node without edges is 0, so that there is a vector of eigenvalue 0 for each component.
///
/// They are orthonormal and determined by the graph, whatever the number of threads: the first entry of each that is not 0 (but
/// `1e-3 / sqrt(n)`) is positive; of an eigenvalue with several, the first is the projection of the first node that has one, the next that of the
/// first node outside its span, less its part in the span, and so on, each scaled to length 1. That first of all which is left
/// out is then of the component of the first node. Where an eigenvalue has more vectors than the search holds, `2 count + 10`
/// (those of a star of many leaves), some orthonormal ones of it are given, the same in every run.
///
/// Dwivedi and Bresson, A generalization of transformer networks to graphs (2021), Eq. 1. Up to 512 nodes dense, O(n^3); beyond by
/// Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006) until residuals are below 1e-11, O(m count +
/// n count^2) a step and `8 n (6 count + 30)` bytes.
///
/// # Errors
/// For more vectors than nodes but one; if they do not settle, as on long paths, and if the monitor stops it.
pub fn laplacian_eigenvectors(graph: &Graph, count: usize, monitor: &dyn Monitor) -> Result<Vec<f64>, AlgorithmError> {
    let n = graph.n_nodes();
    if n == 0 {
        return Ok(Vec::new());
    }
    if count + 1 > n {
        return AlgorithmError::input(format!(
            "dim => {count}: a graph of {n} nodes has {} eigenvectors beside the first; lower dim",
            n - 1
        ));
    }
    let _reservation = Reservation::new(monitor, 8 * n * count)?;
    let pairs = if n <= DENSE { dense(graph, monitor)? } else { subspace::largest(graph, count + 1, monitor)? };
    Ok(determined(&pairs, n, count))
}

/// Every eigenpair of `I - L`, eigenvalues descending.
fn dense(graph: &Graph, monitor: &dyn Monitor) -> Result<Pairs, AlgorithmError> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 40 * n * n)?;
    monitor.check()?;
    let root: Vec<f64> = (0..n as u32).map(|v| (graph.degree(v).max(1) as f64).sqrt().recip()).collect();
    let mut matrix = vec![0.0; n * n];
    for v in 0..n {
        if graph.degree(v as u32) == 0 {
            matrix[v * n + v] = 1.0;
        }
        graph.neighbors(v as u32).iter().for_each(|&u| matrix[v * n + u as usize] = root[v] * root[u as usize]);
    }
    let (values, mut rows) = symmetric(n, &matrix)?;
    // Ascending.
    rows.chunks_exact_mut(n).for_each(<[f64]>::reverse);
    Ok(Pairs { values: values.into_iter().rev().collect(), vectors: rows })
}

/// The determined vectors of the pairs, `count` a node, without the first.
fn determined(pairs: &Pairs, n: usize, count: usize) -> Vec<f64> {
    let (width, values) = (pairs.values.len(), &pairs.values);
    let mut out = vec![0.0; n * count];
    let mut start = 0;
    // The first vector is number -1 of the answer.
    let mut found = 0;
    while found <= count && start < width {
        let same = values[start..].windows(2).take_while(|pair| pair[0] - pair[1] <= SAME_VALUE).count() + 1;
        let row = |v: usize| &pairs.vectors[v * width + start..][..same];
        for direction in directions(n, same, row) {
            if found > count {
                break;
            }
            if found > 0 {
                for v in 0..n {
                    out[v * count + found - 1] = row(v).iter().zip(&direction).map(|(x, d)| x * d).sum();
                }
            }
            found += 1;
        }
        start += same;
    }
    out
}

/// The directions within an eigenspace of `same` vectors, of which `row` gives the entries of a node: those of the projections of
/// the nodes in their order, made orthonormal.
pub fn directions<'a>(n: usize, same: usize, row: impl Fn(usize) -> &'a [f64]) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for v in 0..n {
        if found.len() == same {
            break;
        }
        let mut direction = row(v).to_vec();
        // Twice is enough (Parlett 1980).
        for _ in 0..2 {
            for other in &found {
                let along: f64 = direction.iter().zip(other).map(|(x, y)| x * y).sum();
                direction.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
        }
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > DEPENDENT / (n as f64).sqrt() {
            direction.iter_mut().for_each(|x| *x /= length);
            found.push(direction);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use std::f64::consts::PI;

    fn of(n: usize, edges: &[(u32, u32)], count: usize) -> Vec<f64> {
        laplacian_eigenvectors(&Graph::from_edges(n, edges), count, &Unmonitored).unwrap()
    }

    fn path(n: u32) -> Vec<(u32, u32)> {
        (1..n).map(|v| (v - 1, v)).collect()
    }

    fn cycle(n: u32) -> Vec<(u32, u32)> {
        (0..n).map(|v| (v, (v + 1) % n)).collect()
    }

    fn column(vectors: &[f64], count: usize, i: usize) -> Vec<f64> {
        vectors.chunks(count).map(|row| row[i]).collect()
    }

    fn close(found: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(found.len(), expected.len());
        for (v, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() < tolerance, "node {v}: {found} for {expected}");
        }
    }

    /// Scaled to length 1.
    fn unit(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
        let length = values.clone().map(|x| x * x).sum::<f64>().sqrt();
        values.map(|x| x / length).collect()
    }

    /// The vectors of a path: sqrt(degree) cos(pi k v / (n - 1)).
    fn of_path(n: usize, k: usize) -> Vec<f64> {
        let degree = move |v: usize| if v == 0 || v == n - 1 { 1.0 } else { 2f64 };
        unit((0..n).map(move |v| degree(v).sqrt() * (PI * (k * v) as f64 / (n - 1) as f64).cos()))
    }

    /// The vectors of a cycle, a cosine and a sine for each eigenvalue.
    fn of_cycle(n: usize, i: usize) -> Vec<f64> {
        let k = i / 2 + 1;
        let angle = move |v: usize| 2.0 * PI * (k * v) as f64 / n as f64;
        unit((0..n).map(move |v| if i.is_multiple_of(2) { angle(v).cos() } else { angle(v).sin() }))
    }

    #[test]
    fn closed_forms_of_small_graphs() {
        let path_of_nine = of(9, &path(9), 8);
        (0..8).for_each(|i| close(&column(&path_of_nine, 8, i), &of_path(9, i + 1), 1e-10));
        let cycle_of_seven = of(7, &cycle(7), 6);
        (0..6).for_each(|i| close(&column(&cycle_of_seven, 6, i), &of_cycle(7, i), 1e-10));
        // Of a complete graph one eigenvalue of all but the constant: node i less the mean of those behind it.
        let complete: Vec<(u32, u32)> = (0..5).flat_map(|u| (0..u).map(move |v| (u, v))).collect();
        let found = of(5, &complete, 4);
        for i in 0..4 {
            let behind = (4 - i) as f64;
            let vector = unit((0..5).map(move |v| match v {
                v if v < i => 0.0,
                v if v == i => 1.0,
                _ => -1.0 / behind,
            }));
            close(&column(&found, 4, i), &vector, 1e-10);
        }
        // Components: each has a vector of eigenvalue 0, the first is left out; a node alone is one.
        let found = of(6, &[(0, 1), (1, 2), (3, 4)], 2);
        close(&column(&found, 2, 0), &unit([0.0, 0.0, 0.0, 1.0, 1.0, 0.0].into_iter()), 1e-12);
        close(&column(&found, 2, 1), &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 1e-12);
    }

    #[test]
    fn closed_forms_of_large_graphs() {
        let long = of(700, &path(700), 4);
        (0..4).for_each(|i| close(&column(&long, 4, i), &of_path(700, i + 1), 1e-5));
        let round = of(640, &cycle(640), 5);
        (0..5).for_each(|i| close(&column(&round, 5, i), &of_cycle(640, i), 1e-5));
        // Forty cycles of twenty: the components in the order of their first nodes.
        let cycles: Vec<(u32, u32)> =
            (0..40).flat_map(|c| (0..20).map(move |v| (20 * c + v, 20 * c + (v + 1) % 20))).collect();
        let found = of(800, &cycles, 30);
        for i in 0..30 {
            let of_component = (0..800).map(|v| if v / 20 == i + 1 { 20f64.sqrt().recip() } else { 0.0 });
            close(&column(&found, 30, i), &of_component.collect::<Vec<_>>(), 1e-7);
        }
    }

    #[test]
    fn many_vectors_of_one_eigenvalue_are_some_of_them() {
        // A star of 699 leaves: all but two eigenvalues of the Laplacian are 1, of vectors that are 0 at its centre.
        let star: Vec<(u32, u32)> = (1..700).map(|leaf| (0, leaf)).collect();
        let found = of(700, &star, 3);
        for i in 0..3 {
            let vector = column(&found, 3, i);
            assert!(vector[0].abs() < 1e-9 && vector.iter().sum::<f64>().abs() < 1e-8);
            for j in 0..3 {
                let product: f64 = vector.iter().zip(column(&found, 3, j)).map(|(x, y)| x * y).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-9);
            }
        }
    }

    /// Edges by a fixed rule, as many as 4 a node.
    fn scattered(n: u32) -> Vec<(u32, u32)> {
        (0..n).flat_map(|v| [1, 7, 31, 77].map(|step| (v, (v * 3 + step * step + v / 5) % n))).collect()
    }

    #[test]
    fn dense_and_filtered_solutions_are_the_same() {
        let n = 400;
        let graph = Graph::from_edges(n, &scattered(n as u32));
        let exact = determined(&dense(&graph, &Unmonitored).unwrap(), n, 12);
        let filtered = determined(&subspace::largest(&graph, 13, &Unmonitored).unwrap(), n, 12);
        close(&filtered, &exact, 1e-6);
    }

    #[test]
    fn threads_change_no_bit() {
        let edges = scattered(900);
        let [one, four] = [1, 4].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| of(900, &edges, 6))
        });
        assert!(one == four);
    }

    #[test]
    fn more_vectors_than_the_graph_has_are_an_error() {
        let error = laplacian_eigenvectors(&Graph::from_edges(3, &path(3)), 3, &Unmonitored).unwrap_err();
        assert!(error.to_string().contains("a graph of 3 nodes has 2 eigenvectors beside the first"), "{error}");
        assert!(of(0, &[], 3).is_empty());
    }
}
