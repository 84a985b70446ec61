//! A permutation test for two sets of diagrams.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::diagram::{Point, sort};
use crate::landscape::persistence_landscape;
use crate::landscape_norm::{Exponent, piece};

/// The answer of [`permutation_test`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PermutationTest {
    /// The distance of the two samples' mean landscapes, summed over dimensions.
    pub distance: f64,
    /// (1 + the number of regroupings with at least that distance) / (1 + the number of regroupings).
    pub p_value: f64,
    /// The share of regroupings with a larger distance.
    pub share_above: f64,
}

/// Whether two samples of diagrams differ: the L^p distance of their mean landscapes, summed over dimensions, against that
/// of `permutations` random regroupings of the same sizes. (Southern et al., Curvature Filtrations for Graph Generative
/// Model Evaluation, NeurIPS 2023, Sec. 4.6; the p-value counts the observed grouping, as Phipson and Smyth, 2010.)
///
/// `in_first[i]` says whether diagram i is of the first sample. Infinite deaths are cut at the largest finite value of each
/// diagram, as [`persistence_landscape`] does.
///
/// Slopes of landscapes are whole numbers. So the mean of a group is held by counts of slope changes at the corners of all
/// landscapes, and equal groups have equal distances to the last bit, whatever the order of the diagrams. O(c) time a
/// regrouping for c corners in all, regroupings in parallel; 32 c bytes, and 8 c a thread.
///
/// # Panics
/// If the slices differ in length, a sample is empty, or `permutations` is 0.
pub fn permutation_test(
    mut diagrams: Vec<Vec<Point>>,
    in_first: &[bool],
    p: Exponent,
    permutations: usize,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<PermutationTest, Stopped> {
    let n = diagrams.len();
    let first = in_first.iter().filter(|&&first| first).count();
    assert!(n == in_first.len() && first > 0 && first < n && permutations > 0, "two samples and some permutations");
    // The order of the diagrams is made their own: a regrouping is drawn by positions.
    diagrams.iter_mut().for_each(|diagram| sort(diagram));
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| compare(&diagrams[i], &diagrams[j]));
    let diagrams: Vec<&[Point]> = order.iter().map(|&i| diagrams[i].as_slice()).collect();
    let observed: Vec<u32> = (0..n as u32).filter(|&i| in_first[order[i as usize]]).collect();

    let samples = Samples::new(&diagrams, monitor)?;
    let mut scratch = samples.scratch(monitor)?;
    let distance = samples.distance(&observed, p, &mut scratch);

    // Blocks of regroupings; each regrouping has its own stream of random numbers.
    const BLOCK: usize = 16;
    let blocks: Vec<usize> = (0..permutations).step_by(BLOCK).collect();
    monitor.expect(permutations as u64);
    let counts = blocks.par_iter().map(|&start| {
        let mut scratch = samples.scratch(monitor)?;
        let mut members: Vec<u32> = (0..n as u32).collect();
        let (mut above, mut least) = (0usize, 0usize);
        let end = permutations.min(start + BLOCK);
        for i in start..end {
            monitor.check()?;
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(i as u64);
            members.iter_mut().zip(0..).for_each(|(member, i)| *member = i);
            for k in 0..first {
                let other = random.random_range(k..n);
                members.swap(k, other);
            }
            let regrouped = samples.distance(&members[..first], p, &mut scratch);
            above += usize::from(regrouped > distance);
            least += usize::from(regrouped >= distance);
        }
        monitor.advance((end - start) as u64);
        Ok((above, least))
    });
    let add = |a: (usize, usize), b: (usize, usize)| Ok((a.0 + b.0, a.1 + b.1));
    let (above, least) = counts.try_reduce(|| (0, 0), add)?;
    Ok(PermutationTest {
        distance,
        p_value: (1 + least) as f64 / (1 + permutations) as f64,
        share_above: above as f64 / permutations as f64,
    })
}

/// Any total order of sorted diagrams.
fn compare(a: &[Point], b: &[Point]) -> std::cmp::Ordering {
    let point =
        |a: &Point, b: &Point| a.dim.cmp(&b.dim).then(a.birth.total_cmp(&b.birth)).then(a.death.total_cmp(&b.death));
    let unequal = a.iter().zip(b).map(|(a, b)| point(a, b)).find(|order| order.is_ne());
    unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// The landscapes of all diagrams over common corners.
struct Samples<'a> {
    n: usize,
    /// The functions lambda_k of one dimension stand together.
    layers: Vec<Layer>,
    corners: usize,
    _reservation: Reservation<'a>,
}

/// lambda_k of every landscape, in one dimension.
struct Layer {
    dim: u32,
    /// Where this layer begins in the list of all corners.
    start: usize,
    /// The corners of all landscapes, ascending.
    x: Vec<f64>,
    /// For each sample where its changes begin; then one more entry.
    offsets: Vec<usize>,
    /// Corner, and by how much the slope changes there.
    changes: Vec<(u32, i32)>,
    /// The slope after each corner, of all samples together.
    total: Vec<i64>,
}

impl<'a> Samples<'a> {
    fn new(diagrams: &[&[Point]], monitor: &'a dyn Monitor) -> Result<Self, Stopped> {
        let mut reservation = Reservation::new(monitor, 0)?;
        let mut dims: Vec<u32> = diagrams.iter().flat_map(|diagram| diagram.iter().map(|point| point.dim)).collect();
        dims.sort_unstable();
        dims.dedup();
        let mut layers = Vec::new();
        let mut start = 0;
        for dim in dims {
            monitor.check()?;
            let landscape = |points: &&[Point]| persistence_landscape(points, dim, None, None, monitor);
            let landscapes = diagrams.par_iter().map(landscape).collect::<Result<Vec<_>, _>>()?;
            let corners: usize = landscapes.iter().map(|it| it.corners().len()).sum();
            reservation.grow(48 * corners + 8 * diagrams.len())?;
            let depth = landscapes.iter().map(|it| it.ends().len()).max().unwrap_or(0);
            for k in 0..depth {
                monitor.check()?;
                let functions = landscapes.iter().map(|it| it.function(k));
                let layer = Layer::new(dim, start, functions);
                start += layer.x.len();
                layers.push(layer);
            }
        }
        Ok(Self { n: diagrams.len(), layers, corners: start, _reservation: reservation })
    }

    /// Room for one mean at a time.
    fn scratch<'m>(&self, monitor: &'m dyn Monitor) -> Result<(Vec<i64>, Reservation<'m>), Stopped> {
        let reservation = Reservation::new(monitor, 8 * self.corners)?;
        Ok((vec![0; self.corners], reservation))
    }

    /// The distance of the mean over `group` from the mean over the others.
    fn distance(&self, group: &[u32], p: Exponent, (change, _): &mut (Vec<i64>, Reservation<'_>)) -> f64 {
        change.fill(0);
        let (inside, outside) = (group.len() as i64, (self.n - group.len()) as i64);
        let (mut sum, mut integral, mut highest) = (0.0, 0.0, 0.0f64);
        for (i, layer) in self.layers.iter().enumerate() {
            let change = &mut change[layer.start..layer.start + layer.x.len()];
            for &member in group {
                let member = member as usize;
                for &(corner, by) in &layer.changes[layer.offsets[member]..layer.offsets[member + 1]] {
                    change[corner as usize] += i64::from(by);
                }
            }
            let (mut y, mut slope) = (0.0f64, 0i64);
            for (ends, (change, total)) in layer.x.windows(2).zip(change.iter().zip(&layer.total)) {
                slope += change;
                // slope / inside - (total - slope) / outside, over the common denominator.
                let rise = (slope * (inside + outside) - total * inside) as f64 / (inside * outside) as f64;
                let width = ends[1] - ends[0];
                let next = y + rise * width;
                match p == Exponent::INFINITE {
                    true => highest = highest.max(next.abs()),
                    false => integral += piece(width, y, next, p.value()),
                }
                y = next;
            }
            if self.layers.get(i + 1).is_none_or(|next| next.dim != layer.dim) {
                sum += if p == Exponent::INFINITE { highest } else { integral.powf(1.0 / p.value()) };
                (integral, highest) = (0.0, 0.0);
            }
        }
        sum
    }
}

impl Layer {
    fn new<'f>(dim: u32, start: usize, functions: impl Iterator<Item = &'f [(f64, f64)]> + Clone) -> Self {
        let mut x: Vec<f64> = functions.clone().flatten().map(|corner| corner.0).collect();
        x.sort_unstable_by(f64::total_cmp);
        x.dedup();
        let mut offsets = vec![0];
        let mut changes = Vec::new();
        let mut total = vec![0i64; x.len()];
        for corners in functions {
            let mut slope = 0;
            for (i, &(at, y)) in corners.iter().enumerate() {
                let after = corners.get(i + 1).map_or(0, |next| match next.1.total_cmp(&y) {
                    std::cmp::Ordering::Less => -1,
                    std::cmp::Ordering::Equal => 0,
                    std::cmp::Ordering::Greater => 1,
                });
                let place = x.partition_point(|&other| other < at);
                changes.push((place as u32, after - slope));
                total[place] += i64::from(after - slope);
                slope = after;
            }
            offsets.push(changes.len());
        }
        let mut slope = 0;
        for change in &mut total {
            slope += *change;
            *change = slope;
        }
        Self { dim, start, x, offsets, changes, total }
    }
}
