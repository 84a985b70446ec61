//! The skip-gram model with negative sampling, over walks.

use bonnet_graph::isa::Isa;
use bonnet_graph::random::{below, shuffle};
use bonnet_graph::{Monitor, Reservation, compiled_for_each_isa};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::AlgorithmError;

/// The nodes are dealt out to at most so many parts, of at least so many nodes.
const PARTS: usize = 16;
const PART: usize = 64;
/// The most nodes of walks whose pairs are held at once; an epoch has a hundred times fewer where it is short.
const CHUNK: usize = 1 << 18;
/// The walks of a chunk are made pairs of in so many pieces.
const PIECES: usize = 8;
/// Numbers that are summed side by side.
const LANES: usize = 16;
/// The power of the counts by which nodes are drawn as noise.
const NOISE: f64 = 0.75;
/// The logistic function is tabulated between minus and plus this, and 0 or 1 beyond.
const REACH: f32 = 8.0;
/// Entries of the table for each unit.
const FINENESS: f32 = 256.0;

/// Options of [`skip_gram`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkipGramOptions {
    /// The length of the vectors.
    pub dimension: usize,
    /// A node is a context of those at most so many steps from it; how many, is drawn anew for each node.
    pub window: usize,
    /// Nodes drawn as noise for each pair.
    pub negatives: usize,
    /// How often all walks are passed through.
    pub epochs: usize,
    /// The rate of learning at first; it falls to nothing in a line.
    pub rate: f64,
    /// Seed of the start, the order of walks, windows and noise.
    pub seed: u64,
}

impl Default for SkipGramOptions {
    fn default() -> Self {
        Self { dimension: 128, window: 10, negatives: 5, epochs: 1, rate: 0.025, seed: 0 }
    }
}

impl SkipGramOptions {
    /// Fails where an option is out of its range.
    ///
    /// # Errors
    /// Says which.
    pub fn validate(&self) -> Result<(), AlgorithmError> {
        for (name, value) in
            [("dim", self.dimension), ("window", self.window), ("negatives", self.negatives), ("epochs", self.epochs)]
        {
            if value == 0 {
                return AlgorithmError::input(format!("{name} => 0: expected a whole number of at least 1"));
            }
        }
        if !(self.rate > 0.0 && self.rate <= 1.0) {
            return AlgorithmError::input(format!("rate => {:?}: expected a number above 0 and at most 1", self.rate));
        }
        Ok(())
    }
}

/// A vector for each of `n` nodes, `dimension` numbers each, so that those of nodes that come close to each other in `walks` have large
/// products with the vectors of these as contexts.
///
/// Mikolov, Sutskever, Chen, Corrado and Dean, Distributed representations of words and phrases (2013), Eq. 4, by stochastic gradients, one
/// pair after the other, noise drawn by the counts to the power 3/4. Large graphs are trained in parts that share no vector, at most 16 (Zhu,
/// Xu, Qu and Tang, GraphVite 2019, Sec. 3.2): the pairs of a part's nodes and a part's contexts are trained together, with noise from the
/// part. So the answer is the same for any number of threads. The logistic function is read from a table, to 1e-3.
///
/// O(steps x window x negatives x dimension) an epoch; 8 bytes a node and dimension, and at most 130 MB for pairs at a time.
///
/// # Errors
/// For an option out of its range, a walk that names a node from `n` on, and if the monitor stops it.
pub fn skip_gram(
    walks: &[Vec<u32>],
    n: usize,
    options: &SkipGramOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f32>, AlgorithmError> {
    options.validate()?;
    if let Some(node) = walks.iter().flatten().find(|node| **node as usize >= n) {
        return AlgorithmError::input(format!("a walk names the node {node}, and there are {n}"));
    }
    let stride = options.dimension.next_multiple_of(LANES);
    let steps: usize = walks.iter().map(Vec::len).sum();
    let chunk = (steps / 100).clamp(1 << 12, CHUNK);
    let pairs = 32usize.saturating_mul(options.window).saturating_mul(chunk.min(steps));
    let _reservation = Reservation::new(monitor, (n * stride).saturating_mul(12).saturating_add(pairs + 32 * n))?;

    let parts = Parts::new(walks, n, options.seed);
    let room = parts.count * parts.size * stride;
    let (mut inputs, mut outputs) = (vec![0.0f32; room], vec![0.0f32; room]);
    parts.start(&mut inputs, options, stride);
    let sigmoid: Vec<f32> = (0..(2.0 * REACH * FINENESS) as usize)
        .map(|i| 1.0 / (1.0 + (REACH - (i as f32 + 0.5) / FINENESS).exp()))
        .collect();
    let chunks = chunks(walks, chunk, options.seed);
    let total = (chunks.len() * options.epochs) as f64;
    monitor.expect(total as u64);
    let isa = Isa::detect();
    for done in 0..chunks.len() * options.epochs {
        monitor.check()?;
        let own = &chunks[done % chunks.len()];
        let pieces = own.par_chunks(own.len().div_ceil(PIECES).max(1)).enumerate().map(|(piece, own)| {
            let mut random = stream(options.seed, 2, (done * PIECES + piece) as u64);
            Pairs::new(own.iter().map(|&walk| walks[walk as usize].as_slice()), &parts, options.window, &mut random)
        });
        let pieces: Vec<Pairs> = pieces.collect();
        let rate = (options.rate * (1.0 - done as f64 / total).max(1e-4)) as f32;
        // In each round every part's nodes meet another part's contexts.
        for round in 0..parts.count {
            let width = parts.size * stride;
            let mut shifted: Vec<&mut [f32]> = outputs.chunks_exact_mut(width).collect();
            shifted.rotate_left(round);
            let tasks = inputs.par_chunks_exact_mut(width).zip(shifted).enumerate();
            tasks.with_max_len(1).try_for_each(|(part, (inputs, outputs))| {
                monitor.check()?;
                let other = (part + round) % parts.count;
                let number = (done * parts.count + part) * parts.count + other;
                let task = Task {
                    pieces: &pieces,
                    bucket: part * parts.count + other,
                    noise: &parts.noise[other],
                    sigmoid: &sigmoid,
                    negatives: options.negatives,
                    rate,
                };
                let mut random = stream(options.seed, 3, number as u64);
                train(isa, inputs, outputs, &mut vec![0.0; stride], &task, &mut random);
                Ok::<_, AlgorithmError>(())
            })?;
        }
        monitor.advance(1);
    }
    let mut found = Vec::with_capacity(n * options.dimension);
    for v in 0..n {
        found.extend_from_slice(&inputs[parts.place[v] as usize * stride..][..options.dimension]);
    }
    Ok(found)
}

/// A stream of random bits of its own for each purpose and number.
fn stream(seed: u64, purpose: u64, number: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed.wrapping_add(purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    random.set_stream(number);
    random
}

/// The walks in a random order, by their numbers, about so many nodes at a time.
fn chunks(walks: &[Vec<u32>], chunk: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..walks.len() as u32).collect();
    let mut random = stream(seed, 1, 1);
    shuffle(&mut order, || random.next_u64());
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut room = 0;
    for walk in order {
        let length = walks[walk as usize].len();
        match found.last_mut() {
            Some(last) if room >= length => {
                last.push(walk);
                room -= length;
            }
            _ => {
                found.push(vec![walk]);
                room = chunk.saturating_sub(length);
            }
        }
    }
    found
}

/// The nodes dealt out to parts at random, `size` places each.
struct Parts {
    count: usize,
    size: usize,
    /// The place of each node.
    place: Vec<u32>,
    noise: Vec<Noise>,
}

impl Parts {
    fn new(walks: &[Vec<u32>], n: usize, seed: u64) -> Self {
        let count = (n / PART).clamp(1, PARTS);
        let size = n.div_ceil(count).max(1);
        let mut place: Vec<u32> = (0..n as u32).collect();
        let mut random = stream(seed, 1, 0);
        shuffle(&mut place, || random.next_u64());
        let mut visits = vec![0u64; count * size];
        walks.iter().flatten().for_each(|&v| visits[place[v as usize] as usize] += 1);
        let noise = visits.chunks_exact(size).map(Noise::new).collect();
        Self { count, size, place, noise }
    }

    /// Vectors at first: uniform within half a unit over the dimension. In the order of nodes.
    fn start(&self, inputs: &mut [f32], options: &SkipGramOptions, stride: usize) {
        let mut random = stream(options.seed, 1, 2);
        for &place in &self.place {
            for x in &mut inputs[place as usize * stride..][..options.dimension] {
                let unit = (random.next_u32() >> 8) as f32 / (1u32 << 24) as f32;
                *x = (unit - 0.5) / options.dimension as f32;
            }
        }
    }
}

/// Draws places of a part in proportion to the counts of visits to the power 3/4: by an alias table (Walker 1977, Vose 1991).
struct Noise {
    /// Below this of 2^32 it is the place itself, else the other.
    own: Vec<u32>,
    other: Vec<u32>,
}

impl Noise {
    fn new(visits: &[u64]) -> Self {
        let weights: Vec<f64> = visits.iter().map(|&count| (count as f64).powf(NOISE)).collect();
        let sum: f64 = weights.iter().sum();
        let n = weights.len();
        let mut share: Vec<f64> = weights.iter().map(|weight| weight / sum * n as f64).collect();
        let (mut own, mut other) = (vec![u32::MAX; n], (0..n as u32).collect::<Vec<_>>());
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| share[i] < 1.0);
        while let (Some(less), Some(&more)) = (small.pop(), large.last()) {
            own[less] = (share[less] * (1u64 << 32) as f64) as u32;
            other[less] = more as u32;
            share[more] -= 1.0 - share[less];
            if share[more] < 1.0 {
                large.pop();
                small.push(more);
            }
        }
        Self { own, other }
    }

    #[inline(always)]
    fn draw(&self, random: &mut ChaCha8Rng) -> u32 {
        let bits = random.next_u64();
        let place = (((bits >> 32) * self.own.len() as u64) >> 32) as usize;
        if (bits as u32) < self.own[place] { place as u32 } else { self.other[place] }
    }
}

/// The pairs of some walks, those of two parts together: where each stands in its part, the node whose vector is trained and the context.
struct Pairs {
    ends: Vec<usize>,
    pairs: Vec<(u32, u32)>,
}

impl Pairs {
    fn new<'a>(walks: impl Iterator<Item = &'a [u32]>, parts: &Parts, window: usize, random: &mut ChaCha8Rng) -> Self {
        let size = parts.size as u32;
        let mut found = Vec::new();
        let mut ends = vec![0; parts.count * parts.count + 1];
        for walk in walks {
            for (at, &center) in walk.iter().enumerate() {
                let reach = 1 + below(window as u64, || random.next_u64()) as usize;
                let context = parts.place[center as usize];
                let around = at.saturating_sub(reach)..(at + reach + 1).min(walk.len());
                for &node in walk[around.clone()].iter().zip(around).filter(|(_, other)| *other != at).map(|(v, _)| v) {
                    let place = parts.place[node as usize];
                    let bucket = (place / size) * parts.count as u32 + context / size;
                    ends[bucket as usize + 1] += 1;
                    found.push((place, context, bucket));
                }
            }
        }
        for bucket in 1..ends.len() {
            ends[bucket] += ends[bucket - 1];
        }
        let mut next = ends.clone();
        let mut pairs = vec![(0, 0); found.len()];
        for (place, context, bucket) in found {
            let next = &mut next[bucket as usize];
            pairs[*next] = (place % size, context % size);
            *next += 1;
        }
        Self { ends, pairs }
    }

    fn of(&self, bucket: usize) -> &[(u32, u32)] {
        &self.pairs[self.ends[bucket]..self.ends[bucket + 1]]
    }
}

/// What the pairs of one part's nodes and another's contexts are trained with.
struct Task<'a> {
    pieces: &'a [Pairs],
    bucket: usize,
    noise: &'a Noise,
    sigmoid: &'a [f32],
    negatives: usize,
    rate: f32,
}

compiled_for_each_isa! {
    /// Trains the pairs of a task, one after the other. `change` has the length of a vector.
    fn train(inputs: &mut [f32], outputs: &mut [f32], change: &mut [f32], task: &Task<'_>, random: &mut ChaCha8Rng) =
        train_body
}

#[inline(always)]
fn train_body(inputs: &mut [f32], outputs: &mut [f32], change: &mut [f32], task: &Task<'_>, random: &mut ChaCha8Rng) {
    let stride = change.len();
    for piece in task.pieces {
        for &(node, context) in piece.of(task.bucket) {
            let own = inputs[node as usize * stride..][..stride].as_chunks_mut::<LANES>().0;
            let change = change.as_chunks_mut::<LANES>().0;
            change.fill([0.0; LANES]);
            for draw in 0..=task.negatives {
                let target = if draw == 0 { context } else { task.noise.draw(random) };
                if draw > 0 && target == context {
                    continue;
                }
                let other = outputs[target as usize * stride..][..stride].as_chunks_mut::<LANES>().0;
                let product = product(own, other);
                let label = if draw == 0 { 1.0 } else { 0.0 };
                let step = task.rate * (label - logistic(task.sigmoid, product));
                for ((change, own), other) in change.iter_mut().zip(&*own).zip(other) {
                    for ((change, own), other) in change.iter_mut().zip(own).zip(other) {
                        *change += step * *other;
                        *other += step * own;
                    }
                }
            }
            for (own, change) in own.iter_mut().zip(&*change) {
                own.iter_mut().zip(change).for_each(|(own, change)| *own += change);
            }
        }
    }
}

/// Lane by lane, then the lanes by halves.
#[inline(always)]
fn product(a: &[[f32; LANES]], b: &[[f32; LANES]]) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}

#[inline(always)]
fn logistic(table: &[f32], x: f32) -> f32 {
    if x >= REACH {
        1.0
    } else if x <= -REACH {
        0.0
    } else {
        table[(((x + REACH) * FINENESS) as usize).min(table.len() - 1)]
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The draws of noise over one part of vectors.
    pub(in super::super) fn noise(walks: &[Vec<u32>], place: &[usize]) -> impl Fn(&mut ChaCha8Rng) -> usize {
        let mut visits = vec![0; place.len()];
        walks.iter().flatten().for_each(|&v| visits[place[v as usize]] += 1);
        let noise = Noise::new(&visits);
        move |random| noise.draw(random) as usize
    }

    #[test]
    fn noise_comes_in_proportion_to_the_power_of_the_counts() {
        let visits = [16, 0, 81, 1, 256, 16];
        let noise = Noise::new(&visits);
        let mut random = stream(1, 3, 0);
        let mut counts = [0u32; 6];
        (0..200_000).for_each(|_| counts[noise.draw(&mut random) as usize] += 1);
        // 8, 0, 27, 1, 64, 8 of 108.
        for (count, share) in counts.iter().zip([8.0, 0.0, 27.0, 1.0, 64.0, 8.0]) {
            assert!((f64::from(*count) / 200_000.0 - share / 108.0).abs() < 0.005, "{counts:?}");
        }
    }

    #[test]
    fn the_logistic_function_is_read_to_a_thousandth() {
        let table: Vec<f32> = (0..4096).map(|i| 1.0 / (1.0 + (8.0 - (i as f32 + 0.5) / 256.0f32).exp())).collect();
        for i in -4000..4000 {
            let x = i as f32 / 333.0;
            assert!((logistic(&table, x) - 1.0 / (1.0 + (-x).exp())).abs() < 1e-3, "{x}");
        }
        assert!(logistic(&table, f32::NAN).is_finite());
    }
}
