//! Scores of pairs of nodes, their loss, and its gradient by the nodes' vectors.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

use super::parallel::for_each_block;
use super::rows::RowSet;
use super::simd::{self, Body, Lanes, Vectors, axpy};
use crate::options::Decoder;

/// The radius and the temperature of the Fermi-Dirac decoder, those of Chami et al. (2019).
pub const RADIUS: f64 = 2.0;
/// See [`RADIUS`].
pub const TEMPERATURE: f64 = 1.0;

/// Pairs of a task: a matter of scheduling only, since each is computed alone and sums are made per task, in order.
const BLOCK: usize = 1024;

/// The logits of pairs under a decoder; `x` is nodes x `stride`, `stride` a multiple of 8. O(pairs * stride).
pub fn logits(
    decoder: Decoder,
    pairs: &[(u32, u32)],
    x: &[f32],
    stride: usize,
    out: &mut [f64],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    pairs.par_chunks(BLOCK).zip(out.par_chunks_mut(BLOCK)).try_for_each(|(pairs, out)| {
        monitor.check()?;
        simd::run(Logits { decoder, pairs, x, stride, out });
        Ok(())
    })
}

struct Logits<'a> {
    decoder: Decoder,
    pairs: &'a [(u32, u32)],
    x: &'a [f32],
    stride: usize,
    out: &'a mut [f64],
}

impl Body for Logits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { decoder, pairs, x, stride, out } = self;
        for (&(u, v), out) in pairs.iter().zip(out) {
            let (a, b) = (&x[u as usize * stride..][..stride], &x[v as usize * stride..][..stride]);
            *out = match decoder {
                Decoder::InnerProduct => inner_product::<V>(a, b),
                Decoder::Cosine => inner_product::<V>(a, b) * inverse_norm::<V>(a) * inverse_norm::<V>(b),
                Decoder::Distance => {
                    let mut acc: Lanes = [0.0; 8];
                    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
                        (0..8).for_each(|c| acc[c] = V::fma(a[c] - b[c], a[c] - b[c], acc[c]));
                    }
                    (RADIUS - total(acc)) / TEMPERATURE
                }
            };
        }
    }
}

#[inline(always)]
fn inner_product<V: Vectors>(a: &[f32], b: &[f32]) -> f64 {
    let mut acc: Lanes = [0.0; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        (0..8).for_each(|c| acc[c] = V::fma(a[c], b[c], acc[c]));
    }
    total(acc)
}

/// `1 / |a|`; 0 of the zero vector, which has no direction: its cosine with every vector is 0, and has no gradient.
#[inline(always)]
fn inverse_norm<V: Vectors>(a: &[f32]) -> f64 {
    let square = inner_product::<V>(a, a);
    if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 }
}

#[inline(always)]
fn total(acc: Lanes) -> f64 {
    acc.iter().map(|&part| f64::from(part)).sum()
}

/// `1 / |a|` of each row, see [`inverse_norm`].
struct InverseNorms<'a> {
    rows: &'a [f32],
    stride: usize,
    out: &'a mut [f64],
}

impl Body for InverseNorms<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        for (row, out) in self.rows.chunks_exact(self.stride).zip(self.out) {
            *out = inverse_norm::<V>(row);
        }
    }
}

/// The binary cross-entropy of a logit: `ln(1 + e^z) - y z`, without overflow.
pub fn cross_entropy(logit: f64, positive: bool) -> f64 {
    logit.max(0.0) - if positive { logit } else { 0.0 } + (-logit.abs()).exp().ln_1p()
}

/// The logistic function.
pub fn sigmoid(logit: f64) -> f64 {
    // The smaller of e^z and e^-z: no overflow on either side.
    let small = (-logit.abs()).exp();
    if logit >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}

/// The loss of edges against non-edges, with the buffers of its gradient.
#[derive(Debug)]
pub struct PairLoss {
    nodes: RowSet,
    logits: Vec<f64>,
    /// The factor of the vector of the other end; under [`Decoder::Cosine`] that of its direction.
    factors: Vec<f32>,
    /// `1 / |x|` of each node, under [`Decoder::Cosine`].
    inverse_norms: Vec<f64>,
    /// Where each node's entries start, one more; and the other ends with the numbers of their pairs.
    offsets: Vec<usize>,
    entries: Vec<(u32, u32)>,
}

impl PairLoss {
    /// Buffers for `pairs` pairs among `n` nodes. Holds [`PairLoss::bytes`].
    pub fn new(n: usize, pairs: usize) -> Self {
        Self {
            nodes: RowSet::all(n),
            logits: vec![0.0; pairs],
            factors: vec![0.0; pairs],
            inverse_norms: vec![0.0; n],
            offsets: vec![0; n + 1],
            entries: vec![(0, 0); 2 * pairs],
        }
    }

    /// The bytes of the buffers.
    pub fn bytes(n: usize, pairs: usize) -> usize {
        RowSet::bytes(n) + (n + 1) * size_of::<usize>() + n * size_of::<f64>() + pairs * (8 + 4 + 16)
    }

    /// The mean binary cross-entropy of pairs, the first `positives` of them edges and the others not, and its gradient by
    /// `x` in `gradient` (every row). As many pairs as the buffers were made for. Sums run in fixed order: the same bits
    /// for any number of threads. O(nodes + pairs * stride).
    #[expect(clippy::too_many_arguments, reason = "the vectors with their size, and the pairs with theirs")]
    pub fn gradient(
        &mut self,
        decoder: Decoder,
        pairs: &[(u32, u32)],
        positives: usize,
        x: &[f32],
        stride: usize,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<f64, Stopped> {
        logits(decoder, pairs, x, stride, &mut self.logits, monitor)?;
        let scale = 1.0 / pairs.len().max(1) as f64;
        let slope = match decoder {
            Decoder::InnerProduct | Decoder::Cosine => scale,
            // The gradient of -|a - b|^2 / t by a is 2 (b - a) / t.
            Decoder::Distance => 2.0 / TEMPERATURE * scale,
        };
        let mut sums = vec![0f64; pairs.len().div_ceil(BLOCK)];
        let blocks = self.logits.par_chunks(BLOCK).zip(self.factors.par_chunks_mut(BLOCK)).zip(&mut sums).enumerate();
        blocks.for_each(|(block, ((logits, factors), sum))| {
            for (at, (&logit, factor)) in logits.iter().zip(factors).enumerate() {
                let positive = block * BLOCK + at < positives;
                *sum += cross_entropy(logit, positive);
                *factor = ((sigmoid(logit) - if positive { 1.0 } else { 0.0 }) * slope) as f32;
            }
        });
        monitor.check()?;
        self.index(pairs);
        if decoder == Decoder::Cosine {
            let rows = x.par_chunks(BLOCK * stride).zip(self.inverse_norms.par_chunks_mut(BLOCK));
            rows.for_each(|(rows, out)| simd::run(InverseNorms { rows, stride, out }));
            monitor.check()?;
        }
        let (offsets, entries, logits, factors) = (&self.offsets, &self.entries, &self.logits, &self.factors);
        let inverse_norms = &self.inverse_norms;
        for_each_block(&self.nodes, gradient, stride, monitor, |rows, first, out| {
            let gather =
                Gather { decoder, rows, first, offsets, entries, logits, factors, inverse_norms, x, stride, out };
            simd::run(gather);
        })?;
        Ok(sums.iter().sum::<f64>() * scale)
    }

    /// The pairs by node, in their order. O(nodes + pairs).
    fn index(&mut self, pairs: &[(u32, u32)]) {
        self.offsets.fill(0);
        for &(u, v) in pairs {
            self.offsets[u as usize + 1] += 1;
            self.offsets[v as usize + 1] += 1;
        }
        for v in 1..self.offsets.len() {
            self.offsets[v] += self.offsets[v - 1];
        }
        // From the end, so that the ends of the lists become their starts.
        let ends = &mut self.offsets[1..];
        for (pair, &(u, v)) in pairs.iter().enumerate().rev() {
            for (node, other) in [(u, v), (v, u)] {
                let at = &mut ends[node as usize];
                *at -= 1;
                self.entries[*at] = (other, pair as u32);
            }
        }
        // Each start moved one place up: the first list starts at 0, the last one ends with the entries.
        self.offsets.rotate_left(1);
        if let Some(last) = self.offsets.last_mut() {
            *last = 2 * pairs.len();
        }
    }
}

struct Gather<'a> {
    decoder: Decoder,
    rows: &'a [u32],
    first: usize,
    offsets: &'a [usize],
    entries: &'a [(u32, u32)],
    logits: &'a [f64],
    factors: &'a [f32],
    inverse_norms: &'a [f64],
    x: &'a [f32],
    stride: usize,
    out: &'a mut [f32],
}

impl Body for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { decoder, rows, first, offsets, entries, logits, factors, inverse_norms, x, stride, out } = self;
        for &row in rows {
            let entries = &entries[offsets[row as usize]..offsets[row as usize + 1]];
            let own = &x[row as usize * stride..][..stride];
            let out = &mut out[(row as usize - first) * stride..][..stride];
            // The factor of the node's own vector, and that of the vector of the other end of a pair.
            let own_norm = inverse_norms[row as usize];
            let own_factor = match decoder {
                Decoder::InnerProduct => 0.0,
                Decoder::Distance => -entries.iter().map(|&(_, pair)| factors[pair as usize]).sum::<f32>(),
                // The gradient of cos(a, b) by a is (b / |b| - cos(a, b) a / |a|) / |a|.
                Decoder::Cosine => {
                    let part = |&(_, pair): &(u32, u32)| f64::from(factors[pair as usize]) * logits[pair as usize];
                    (-entries.iter().map(part).sum::<f64>() * own_norm * own_norm) as f32
                }
            };
            let factor = |other: u32, pair: u32| match decoder {
                Decoder::InnerProduct | Decoder::Distance => factors[pair as usize],
                Decoder::Cosine => {
                    (f64::from(factors[pair as usize]) * inverse_norms[other as usize] * own_norm) as f32
                }
            };
            for at in (0..stride).step_by(8) {
                let mut acc: Lanes = [0.0; 8];
                for &(other, pair) in entries {
                    axpy::<V>(factor(other, pair), &x[other as usize * stride + at..][..8], &mut acc);
                }
                axpy::<V>(own_factor, &own[at..at + 8], &mut acc);
                out[at..at + 8].copy_from_slice(&acc);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;
    use crate::ground::random::Stream;

    const N: usize = 300;
    const STRIDE: usize = 16;

    fn case() -> (Vec<(u32, u32)>, Vec<f32>) {
        let mut stream = Stream::new(4);
        let pairs = (0..2500)
            .map(|_| {
                let u = stream.below(N - 1);
                (u as u32, (u + 1 + stream.below(N - 1 - u)) as u32)
            })
            .collect();
        // The last five columns are padding.
        let x = (0..N * STRIDE).map(|at| if at % STRIDE < 11 { stream.normal() as f32 * 0.6 } else { 0.0 }).collect();
        (pairs, x)
    }

    /// The definition in `f64`.
    fn loss(decoder: Decoder, pairs: &[(u32, u32)], positives: usize, x: &[f64]) -> f64 {
        let vector = |v: u32| &x[v as usize * STRIDE..][..STRIDE];
        let dot = |u: u32, v: u32| vector(u).iter().zip(vector(v)).map(|(a, b)| a * b).sum::<f64>();
        let one = |(at, &(u, v)): (usize, &(u32, u32))| {
            let z = match decoder {
                Decoder::InnerProduct => dot(u, v),
                Decoder::Cosine => dot(u, v) / (dot(u, u) * dot(v, v)).sqrt(),
                Decoder::Distance => 2.0 - vector(u).iter().zip(vector(v)).map(|(a, b)| (a - b).powi(2)).sum::<f64>(),
            };
            let p = 1.0 / (1.0 + (-z).exp());
            -(if at < positives { p } else { 1.0 - p }).ln()
        };
        pairs.iter().enumerate().map(one).sum::<f64>() / pairs.len() as f64
    }

    #[test]
    fn losses_and_gradients_equal_those_of_the_definition() {
        let (pairs, x) = case();
        let positives = 1100;
        let exact: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
        for decoder in [Decoder::InnerProduct, Decoder::Cosine, Decoder::Distance] {
            let mut gradient = vec![f32::NAN; x.len()];
            let mut buffers = PairLoss::new(N, pairs.len());
            let got = buffers.gradient(decoder, &pairs, positives, &x, STRIDE, &mut gradient, &Unmonitored).unwrap();
            assert!((got - loss(decoder, &pairs, positives, &exact)).abs() < 1e-6, "{decoder}: {got}");
            for at in (0..x.len()).step_by(37) {
                let moved = |h: f64| {
                    let mut moved = exact.clone();
                    moved[at] += h;
                    loss(decoder, &pairs, positives, &moved)
                };
                let slope = if at % STRIDE < 11 { (moved(1e-5) - moved(-1e-5)) / 2e-5 } else { 0.0 };
                assert!((f64::from(gradient[at]) - slope).abs() < 1e-6, "{decoder} at {at}: {} {slope}", gradient[at]);
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let (pairs, x) = case();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut gradient = vec![0f32; x.len()];
            let loss = pool.install(|| {
                let mut buffers = PairLoss::new(N, pairs.len());
                buffers.gradient(Decoder::Distance, &pairs, 9, &x, STRIDE, &mut gradient, &Unmonitored).unwrap()
            });
            (loss.to_bits(), gradient)
        };
        assert!(run(1) == run(2) && run(1) == run(8));
    }

    #[test]
    fn large_logits_overflow_nowhere() {
        assert_eq!((cross_entropy(800.0, true), cross_entropy(800.0, false)), (0.0, 800.0));
        assert_eq!((cross_entropy(-800.0, true), cross_entropy(-800.0, false)), (800.0, 0.0));
        assert_eq!((sigmoid(800.0), sigmoid(-800.0), sigmoid(0.0)), (1.0, 0.0, 0.5));
        assert!((cross_entropy(0.0, true) - std::f64::consts::LN_2).abs() < 1e-15);
    }

    // As torch.nn.functional.normalize leaves it: a vector without a direction scores 0 with all, and is not moved.
    #[test]
    fn the_zero_vector_has_the_cosine_0_and_no_gradient() {
        let mut x = vec![0f32; 2 * 8];
        x[8] = 3.0;
        let mut gradient = vec![f32::NAN; x.len()];
        let mut buffers = PairLoss::new(2, 1);
        let loss = buffers.gradient(Decoder::Cosine, &[(0, 1)], 1, &x, 8, &mut gradient, &Unmonitored).unwrap();
        assert!((loss - std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!(gradient, vec![0.0; 16]);
    }

    #[test]
    fn no_pairs_have_no_gradient() {
        let mut gradient = vec![f32::NAN; 3 * 8];
        let mut buffers = PairLoss::new(3, 0);
        let loss = buffers.gradient(Decoder::InnerProduct, &[], 0, &[1.0; 24], 8, &mut gradient, &Unmonitored).unwrap();
        assert_eq!((loss, gradient), (0.0, vec![0.0; 24]));
    }
}
