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
            let mut acc: Lanes = [0.0; 8];
            for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
                match decoder {
                    Decoder::InnerProduct => (0..8).for_each(|c| acc[c] = V::fma(a[c], b[c], acc[c])),
                    Decoder::Distance => (0..8).for_each(|c| acc[c] = V::fma(a[c] - b[c], a[c] - b[c], acc[c])),
                }
            }
            let sum = acc.iter().map(|&part| f64::from(part)).sum::<f64>();
            *out = match decoder {
                Decoder::InnerProduct => sum,
                Decoder::Distance => (RADIUS - sum) / TEMPERATURE,
            };
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
    /// The factor of the vector of the other end.
    factors: Vec<f32>,
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
            offsets: vec![0; n + 1],
            entries: vec![(0, 0); 2 * pairs],
        }
    }

    /// The bytes of the buffers.
    pub fn bytes(n: usize, pairs: usize) -> usize {
        RowSet::bytes(n) + (n + 1) * size_of::<usize>() + pairs * (8 + 4 + 16)
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
            Decoder::InnerProduct => scale,
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
        let (offsets, entries, factors) = (&self.offsets, &self.entries, &self.factors);
        for_each_block(&self.nodes, gradient, stride, monitor, |rows, first, chunk| {
            simd::run(Gather { decoder, rows, first, offsets, entries, factors, x, stride, out: chunk });
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
    factors: &'a [f32],
    x: &'a [f32],
    stride: usize,
    out: &'a mut [f32],
}

impl Body for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { decoder, rows, first, offsets, entries, factors, x, stride, out } = self;
        for &row in rows {
            let entries = &entries[offsets[row as usize]..offsets[row as usize + 1]];
            let own = &x[row as usize * stride..][..stride];
            let out = &mut out[(row as usize - first) * stride..][..stride];
            let total = match decoder {
                Decoder::InnerProduct => 0.0,
                Decoder::Distance => entries.iter().map(|&(_, pair)| factors[pair as usize]).sum::<f32>(),
            };
            for at in (0..stride).step_by(8) {
                let mut acc: Lanes = [0.0; 8];
                for &(other, pair) in entries {
                    axpy::<V>(factors[pair as usize], &x[other as usize * stride + at..][..8], &mut acc);
                }
                axpy::<V>(-total, &own[at..at + 8], &mut acc);
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
        let one = |(at, &(u, v)): (usize, &(u32, u32))| {
            let z = match decoder {
                Decoder::InnerProduct => vector(u).iter().zip(vector(v)).map(|(a, b)| a * b).sum::<f64>(),
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
        for decoder in [Decoder::InnerProduct, Decoder::Distance] {
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

    #[test]
    fn no_pairs_have_no_gradient() {
        let mut gradient = vec![f32::NAN; 3 * 8];
        let mut buffers = PairLoss::new(3, 0);
        let loss = buffers.gradient(Decoder::InnerProduct, &[], 0, &[1.0; 24], 8, &mut gradient, &Unmonitored).unwrap();
        assert_eq!((loss, gradient), (0.0, vec![0.0; 24]));
    }
}
