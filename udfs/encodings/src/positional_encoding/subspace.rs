//! The largest eigenpairs of the normalised adjacency by Chebyshev-filtered subspace iteration.

use bonnet_graph::{AlgorithmError, Graph, Monitor, Reservation, Steps, hundredths};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::columns::{BLOCK, orthonormalise, products, symmetric, turn};

/// The largest residual of a vector of length 1.
const TOLERANCE: f64 = 1e-11;

/// Eigenvalues that differ by less count as one.
const SAME_VALUE: f64 = 1e-10;

/// Eigenvalues that no filter tells apart.
const CLOSE: f64 = 1e-7;

/// Rounds of the iteration without which it fails.
const ROUNDS: usize = 200;

/// The degree of the first filter, and the most.
const DEGREES: [usize; 2] = [16, 256];

/// Eigenpairs: values descending, and of every node the entries of the vectors, in this order.
#[derive(Debug)]
pub(super) struct Pairs {
    pub values: Vec<f64>,
    pub vectors: Vec<f64>,
}

/// The pairs of the `count` largest eigenvalues of `D^-1/2 A D^-1/2`, 1 on the diagonal of nodes without edges, and as many more
/// as were found on the way whose eigenvalue is that of the last of these. For graphs of far more nodes.
///
/// # Errors
/// If they do not settle, or the monitor stops it.
pub(super) fn largest(graph: &Graph, count: usize, monitor: &dyn Monitor) -> Result<Pairs, AlgorithmError> {
    let n = graph.n_nodes();
    let width = (2 * count + 8).min(n);
    let _reservation = Reservation::new(monitor, 8 * n * (3 * width + 1))?;
    let root = (0..n as u32).map(|v| (graph.degree(v).max(1) as f64).sqrt().recip()).collect();
    let operator = Adjacency { graph, root, width, monitor };
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let uniform = |random: &mut ChaCha8Rng| (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let mut x: Vec<f64> = (0..n * width).map(|_| uniform(&mut random)).collect();
    let (mut y, mut z) = (vec![0.0; n * width], vec![0.0; n * width]);
    let (mut steps, mut first) = (Steps::new(monitor, 100), None);
    let (mut degree, mut before) = (DEGREES[0], f64::INFINITY);
    orthonormalise(&mut x, &mut y, width, monitor)?;
    for _ in 0..ROUNDS {
        let (values, residuals) = rayleigh_ritz(&operator, &mut x, &mut y, &mut z)?;
        let wanted = wanted(&values, count);
        let residual = residuals[..wanted].iter().copied().fold(0.0, f64::max);
        if residual <= TOLERANCE {
            let mut vectors = Vec::with_capacity(n * wanted);
            x.chunks_exact(width).for_each(|row| vectors.extend_from_slice(&row[..wanted]));
            return Ok(Pairs { values: values[..wanted].to_vec(), vectors });
        }
        steps.reach(hundredths(*first.get_or_insert(residual), residual, TOLERANCE));
        // A round that does less than half a digit is too short.
        if residual > 0.3 * before {
            degree = (2 * degree).min(DEGREES[1]);
        }
        before = residual;
        // What is damped ends below the last pair that is held: below the last that is wanted, too, where these are of one value.
        let [last, held] = [values[count - 1], values[width - 1]];
        let low = if last - held < CLOSE { last - 0.05 * (1.0 + last) } else { held };
        operator.filter(degree, low, [&mut x, &mut y, &mut z])?;
        orthonormalise(&mut x, &mut y, width, monitor)?;
    }
    AlgorithmError::input(format!(
        "the Laplacian eigenvectors of {n} nodes did not settle within {ROUNDS} rounds: their eigenvalues are too close; lower dim"
    ))
}

/// The number of pairs up to the last whose eigenvalue is that of number `count`.
fn wanted(values: &[f64], count: usize) -> usize {
    let tail = values[count - 1..].windows(2).take_while(|pair| pair[0] - pair[1] <= SAME_VALUE).count();
    count + tail
}

/// The normalised adjacency, applied to `width` columns at once.
struct Adjacency<'a> {
    graph: &'a Graph,
    root: Vec<f64>,
    width: usize,
    monitor: &'a dyn Monitor,
}

impl Adjacency<'_> {
    /// `out = a S x + b x + c out`.
    fn apply(&self, x: &[f64], [a, b, c]: [f64; 3], out: &mut [f64]) -> Result<(), AlgorithmError> {
        let width = self.width;
        out.par_chunks_mut(BLOCK * width).enumerate().try_for_each(|(block, out)| {
            self.monitor.check()?;
            let mut sums = vec![0.0; width];
            for (at, out) in out.chunks_exact_mut(width).enumerate() {
                let v = (block * BLOCK + at) as u32;
                let own = &x[v as usize * width..][..width];
                sums.fill(0.0);
                for &u in self.graph.neighbors(v) {
                    let (root, other) = (self.root[u as usize], &x[u as usize * width..][..width]);
                    sums.iter_mut().zip(other).for_each(|(sum, x)| *sum += root * x);
                }
                let root = self.root[v as usize];
                if self.graph.degree(v) == 0 {
                    sums.copy_from_slice(own);
                }
                for ((out, sum), x) in out.iter_mut().zip(&sums).zip(own) {
                    *out = a * root * sum + b * x + c * *out;
                }
            }
            Ok::<_, AlgorithmError>(())
        })
    }

    /// A Chebyshev polynomial that is 1 at the largest eigenvalue and small from -1 to `low`, applied to `x` (Zhou et al. 2006,
    /// Algorithm 3.2).
    fn filter(&self, degree: usize, low: f64, [x, y, z]: [&mut Vec<f64>; 3]) -> Result<(), AlgorithmError> {
        // The interval has a width and ends below 1.
        let low = low.clamp(-0.9, 1.0 - 1e-9);
        let (half, middle) = ((low + 1.0) / 2.0, (low - 1.0) / 2.0);
        let first = half / (1.0 - middle);
        let mut sigma = first;
        self.apply(x, [sigma / half, -middle * sigma / half, 0.0], y)?;
        for _ in 2..=degree {
            let next = 1.0 / (2.0 / first - sigma);
            z.copy_from_slice(x);
            self.apply(y, [2.0 * next / half, -2.0 * middle * next / half, -sigma * next], z)?;
            std::mem::swap(x, y);
            std::mem::swap(y, z);
            sigma = next;
        }
        std::mem::swap(x, y);
        Ok(())
    }
}

/// Turns the orthonormal columns of `x` into the best approximations of eigenvectors in their span: their values, descending, and
/// the lengths of what is left, `S x - value x`.
fn rayleigh_ritz(
    operator: &Adjacency<'_>,
    x: &mut [f64],
    y: &mut [f64],
    z: &mut [f64],
) -> Result<(Vec<f64>, Vec<f64>), AlgorithmError> {
    let width = operator.width;
    operator.apply(x, [1.0, 0.0, 0.0], y)?;
    let (values, vectors) = symmetric(width, &products(x, y, width, operator.monitor)?)?;
    let turned: Vec<f64> = vectors.chunks_exact(width).flat_map(|row| row.iter().rev().copied()).collect();
    let values: Vec<f64> = values.into_iter().rev().collect();
    turn(x, z, &turned, width);
    turn(y, z, &turned, width);
    let block = |(x, y): (&[f64], &[f64])| {
        let mut sums = vec![0.0; width];
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact(width)) {
            for (c, sum) in sums.iter_mut().enumerate() {
                *sum += (y[c] - values[c] * x[c]).powi(2);
            }
        }
        sums
    };
    let blocks: Vec<Vec<f64>> = x.par_chunks(BLOCK * width).zip(y.par_chunks(BLOCK * width)).map(block).collect();
    let residual = |c: usize| blocks.iter().map(|sums| sums[c]).sum::<f64>().sqrt();
    let residuals = (0..width).map(residual).collect();
    Ok((values, residuals))
}
