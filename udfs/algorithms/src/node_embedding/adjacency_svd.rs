//! Embedding by the singular vectors of the adjacency matrix.

use bonnet_graph::{Links, Monitor, Reservation};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::{AlgorithmError, Network};
use bonnet_encodings::columns::{BLOCK, orthonormalise, products, symmetric, turn};
use bonnet_encodings::directions;

/// Columns beyond those that are wanted, at least.
const MORE: usize = 10;
/// Singular values that differ by less, over the largest, count as one.
const SAME_VALUE: f64 = 1e-8;

/// For every node its row of `U sqrt(S)`, `count` numbers one node after the other, where `U S V'` are the largest singular values and vectors
/// of the matrix of weights from each node to each (Sussman, Tang, Fishkind and Priebe, A consistent adjacency spectral embedding 2012).
///
/// By random projection and `rounds` of power iteration (Halko, Martinsson and Tropp, Finding structure with randomness 2011, Algorithm 4.4) with
/// half as many columns more, at least 10; exact where that is as many as nodes. The error of a singular value falls as (s' / s)^(4 rounds + 2), with
/// the first singular value s' that has no column. The first entry of a vector that is not 0 is positive; of equal singular values the vectors are the
/// projections of the nodes in their order, made orthonormal; a singular value of 0 has a vector of 0.
///
/// O(m count + n count^2) a round, `48 n count` bytes.
///
/// # Errors
/// For more vectors than nodes, and if the monitor stops it.
pub fn adjacency_svd(
    network: Network<'_>,
    count: usize,
    rounds: usize,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, AlgorithmError> {
    let n = network.n_nodes();
    if n == 0 {
        return Ok(Vec::new());
    }
    if count > n {
        return AlgorithmError::input(format!(
            "dim => {count}: a graph of {n} nodes has {n} singular vectors; lower dim"
        ));
    }
    let width = (count + (count / 2).max(MORE)).min(n);
    let _reservation = Reservation::new(monitor, (8 * n).saturating_mul(3 * width + count))?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let uniform = |random: &mut ChaCha8Rng| (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let mut x: Vec<f64> = (0..n * width).map(|_| uniform(&mut random)).collect();
    let (mut y, mut room) = (vec![0.0; n * width], vec![0.0; n * width]);
    monitor.expect(rounds as u64 + 1);
    multiply(network.out, &x, &mut y, width, monitor)?;
    orthonormalise(&mut y, &mut room, width, monitor)?;
    for _ in 0..rounds {
        multiply(network.into, &y, &mut x, width, monitor)?;
        orthonormalise(&mut x, &mut room, width, monitor)?;
        multiply(network.out, &x, &mut y, width, monitor)?;
        orthonormalise(&mut y, &mut room, width, monitor)?;
        monitor.advance(1);
    }
    // The squares of the singular values of Q' A.
    multiply(network.into, &y, &mut x, width, monitor)?;
    let (squares, mut descending) = symmetric(width, &products(&x, &x, width, monitor)?)?;
    descending.chunks_exact_mut(width).for_each(<[f64]>::reverse);
    turn(&mut y, &mut room, &descending, width);
    let least = squares[width - 1] * f64::EPSILON * width as f64;
    let values: Vec<f64> =
        squares.iter().rev().map(|&square| if square > least { square.sqrt() } else { 0.0 }).collect();
    monitor.advance(1);
    Ok(determined(&values, &y, n, count))
}

/// `out = A x`.
fn multiply(
    links: Links<'_>,
    x: &[f64],
    out: &mut [f64],
    width: usize,
    monitor: &dyn Monitor,
) -> Result<(), AlgorithmError> {
    out.par_chunks_mut(BLOCK * width).enumerate().try_for_each(|(block, out)| {
        monitor.check()?;
        for (at, out) in out.chunks_exact_mut(width).enumerate() {
            out.fill(0.0);
            for (u, weight) in links.weighted((block * BLOCK + at) as u32) {
                let other = &x[u as usize * width..][..width];
                out.iter_mut().zip(other).for_each(|(out, x)| *out += weight * x);
            }
        }
        Ok(())
    })
}

/// The first `count` vectors, determined within those of equal values, times the roots of the values.
fn determined(values: &[f64], vectors: &[f64], n: usize, count: usize) -> Vec<f64> {
    let width = values.len();
    let mut out = vec![0.0; n * count];
    let mut start = 0;
    while start < count && values[start] > 0.0 {
        let near = |pair: &&[f64]| pair[0] - pair[1] <= SAME_VALUE * values[0];
        let same = values[start..].windows(2).take_while(near).count() + 1;
        let row = |v: usize| &vectors[v * width + start..][..same];
        for (i, direction) in directions(n, same, row).into_iter().enumerate().take(count - start) {
            let root = values[start + i].sqrt();
            for v in 0..n {
                let along: f64 = row(v).iter().zip(&direction).map(|(x, d)| x * d).sum();
                out[v * count + start + i] = root * along;
            }
        }
        start += same;
    }
    out
}
