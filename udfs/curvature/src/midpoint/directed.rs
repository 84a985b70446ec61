//! Midpoint curvature with distances along arcs. d(a, b) can be anything from 0 to D + 1 and d(b, c) anything at all,
//! so nothing collapses; but d(b, c) does not depend on the anchor, and the sum over pairs of d(a,b)^2 + d(a,c)^2 is a
//! sum over neighbours b, weighted by the number of pairs that b is in. One search from every node gives both.
//!
//! Pairs {b, c} without a finite d(b, c) are left out, as are anchors that do not reach the centre; a centre that
//! keeps no pair or no anchor has curvature 0. With `unreachable` nothing is left out.

use std::sync::atomic::{AtomicUsize, Ordering};

use bonnet_graph::{Digraph, Reservation, Stopped};
use rayon::prelude::*;

use super::fixed;
use super::sampling::SplitMix64;
use super::spread::{GROUP, Spread};
use super::{Estimate, Host, MidpointError, MidpointOptions, Raw};

/// Sources that a thread takes at a time.
const TOGETHER: usize = 4;

/// The neighbours of `v`, each with its position among all arcs.
fn neighbors(arcs: &Digraph, v: u32) -> impl Iterator<Item = (usize, u32)> + '_ {
    (arcs.offsets()[v as usize]..).zip(arcs.successors(v).iter().copied())
}

fn degree(arcs: &Digraph, v: u32) -> usize {
    arcs.successors(v).len()
}

/// The distances between neighbours of each centre.
#[derive(Default)]
struct Pairs {
    /// Pairs with a finite distance, by centre.
    finite: Vec<u64>,
    /// The sum of their squared distances, by centre.
    squares: Vec<u128>,
    /// The finite pairs that a neighbour is in, by arc from the centre to it.
    weight: Vec<u32>,
}

/// Sums over anchors.
#[derive(Default)]
struct Sums {
    /// Anchors that reach a node, not itself.
    reached: Vec<u64>,
    /// Sum of their distances.
    farness: Vec<u64>,
    /// Sum of their squared distances.
    squares: Vec<u128>,
    /// Sum of their inverse distances, in fixed point.
    harmonic: Vec<u128>,
    /// By arc from m to b: the sum of d(a,b)^2 over anchors that reach m, themselves not m.
    near_squares: Vec<u128>,
    /// By arc from m to b: the sum of d(a,b)^2 / d(a,m) over the same, in fixed point.
    ratios: Vec<u128>,
    /// Whether a node is an anchor.
    anchor: Vec<bool>,
    farthest: u32,
    /// Whether a search from an anchor left a node unreached.
    unreached: bool,
}

fn zip_add<T: Copy + std::ops::AddAssign>(sums: &mut [T], more: &[T]) {
    sums.iter_mut().zip(more).for_each(|(sum, &more)| *sum += more);
}

impl Pairs {
    fn new(n: usize, arcs: usize) -> Self {
        Self { finite: vec![0; n], squares: vec![0; n], weight: vec![0; arcs] }
    }

    fn add(&mut self, other: &Self) {
        zip_add(&mut self.finite, &other.finite);
        zip_add(&mut self.squares, &other.squares);
        zip_add(&mut self.weight, &other.weight);
    }
}

impl Sums {
    fn new(n: usize, arcs: usize) -> Self {
        Self {
            reached: vec![0; n],
            farness: vec![0; n],
            squares: vec![0; n],
            harmonic: vec![0; n],
            near_squares: vec![0; arcs],
            ratios: vec![0; arcs],
            anchor: vec![false; n],
            farthest: 0,
            unreached: false,
        }
    }

    fn add(&mut self, other: &Self) {
        zip_add(&mut self.reached, &other.reached);
        zip_add(&mut self.farness, &other.farness);
        zip_add(&mut self.squares, &other.squares);
        zip_add(&mut self.harmonic, &other.harmonic);
        zip_add(&mut self.near_squares, &other.near_squares);
        zip_add(&mut self.ratios, &other.ratios);
        self.anchor.iter_mut().zip(&other.anchor).for_each(|(a, b)| *a |= b);
        self.farthest = self.farthest.max(other.farthest);
        self.unreached |= other.unreached;
    }
}

/// One search at a time.
struct Search {
    distance: Vec<u32>,
    queue: Vec<u32>,
}

impl Search {
    fn new(n: usize) -> Self {
        Self { distance: vec![u32::MAX; n], queue: Vec::with_capacity(n) }
    }

    /// Distances along arcs from `source`; `queue` holds the nodes reached, by rising distance.
    fn run(&mut self, arcs: &Digraph, source: u32) {
        for &v in &self.queue {
            self.distance[v as usize] = u32::MAX;
        }
        self.queue.clear();
        self.queue.push(source);
        self.distance[source as usize] = 0;
        let mut head = 0;
        while head < self.queue.len() {
            let v = self.queue[head];
            head += 1;
            for &y in arcs.successors(v) {
                if self.distance[y as usize] == u32::MAX {
                    self.distance[y as usize] = self.distance[v as usize] + 1;
                    self.queue.push(y);
                }
            }
        }
    }

    /// Takes the source of the last search as b of the pairs {b, c} with b < c.
    fn add_to_pairs(&self, arcs: &Digraph, source: u32, pairs: &mut Pairs) {
        for &centre in arcs.predecessors(source) {
            let neighbors = arcs.successors(centre);
            let first = arcs.offsets()[centre as usize];
            let after = neighbors.partition_point(|&c| c <= source);
            let mut finite = 0;
            for (at, &c) in neighbors.iter().enumerate().skip(after) {
                let distance = self.distance[c as usize];
                if distance != u32::MAX {
                    finite += 1;
                    pairs.squares[centre as usize] += u128::from(distance).pow(2);
                    pairs.weight[first + at] += 1;
                }
            }
            pairs.finite[centre as usize] += u64::from(finite);
            // `source` is a neighbour, and the last one not above itself.
            pairs.weight[first + after - 1] += finite;
        }
    }

    /// Takes the source of the last search as an anchor.
    fn add_to_sums(&self, arcs: &Digraph, source: u32, inverses: &[u64], sums: &mut Sums) {
        sums.anchor[source as usize] = true;
        sums.unreached |= self.queue.len() < self.distance.len();
        for &m in &self.queue[1..] {
            let distance = self.distance[m as usize];
            let i = m as usize;
            sums.farthest = sums.farthest.max(distance);
            sums.reached[i] += 1;
            sums.farness[i] += u64::from(distance);
            sums.squares[i] += u128::from(distance).pow(2);
            if degree(arcs, m) < 2 {
                continue;
            }
            let inverse = u128::from(inverses[distance as usize]);
            sums.harmonic[i] += inverse;
            for (arc, b) in neighbors(arcs, m) {
                let square = u128::from(self.distance[b as usize]).pow(2);
                sums.near_squares[arc] += square;
                sums.ratios[arc] += square * inverse;
            }
        }
    }
}

/// Searches from every node of `sources`, in parallel; each thread has sums of its own, which are integers.
fn search_all<T: Send>(
    arcs: &Digraph,
    sources: &[u32],
    new: impl Fn() -> T + Sync,
    each: impl Fn(&Search, u32, &mut T) + Sync,
    merge: impl Fn(&mut T, T),
    host: &Host,
) -> Result<T, Stopped> {
    let taken = AtomicUsize::new(0);
    let work = || -> Result<Option<T>, Stopped> {
        let mut state = None;
        while let Some(chunk) = sources.chunks(TOGETHER).nth(taken.fetch_add(1, Ordering::Relaxed)) {
            let (search, sums) = state.get_or_insert_with(|| (Search::new(arcs.n_nodes()), new()));
            for &source in chunk {
                host.monitor.check()?;
                search.run(arcs, source);
                each(search, source, sums);
            }
            host.monitor.advance(chunk.len() as u64);
        }
        Ok(state.map(|(_, sums)| sums))
    };
    let workers = rayon::current_num_threads().min(sources.len().div_ceil(TOGETHER));
    let parts: Result<Vec<_>, Stopped> = (0..workers).into_par_iter().with_max_len(1).map(|_| work()).collect();
    Ok(parts?
        .into_iter()
        .flatten()
        .reduce(|mut all, part| {
            merge(&mut all, part);
            all
        })
        .unwrap_or_else(new))
}

pub(super) fn curvature(
    n: usize,
    arcs: &[(u32, u32)],
    options: &MidpointOptions,
    host: &Host,
) -> Result<Raw, MidpointError> {
    let threads = rayon::current_num_threads();
    let each_node = size_of::<Estimate>() + size_of::<Spread>() + 32;
    let _reservation =
        Reservation::new(host.monitor, 16 * arcs.len() + n * each_node + (threads + 1) * (n * 89 + arcs.len() * 36))?;
    let arcs = if options.self_loops { Digraph::with_loops(n, arcs) } else { Digraph::from_arcs(n, arcs) };
    let (arcs, n_arcs) = (&arcs, arcs.n_arcs());
    let inverses = &fixed::inverses(n);
    host.monitor.check()?;

    let everyone: Vec<u32> = (0..n as u32).collect();
    let Some(anchors) = options.anchors.filter(|&anchors| anchors < n) else {
        host.monitor.expect(n as u64);
        let (pairs, sums) = search_all(
            arcs,
            &everyone,
            || (Pairs::new(n, n_arcs), Sums::new(n, n_arcs)),
            |search, source, (pairs, sums)| {
                search.add_to_pairs(arcs, source, pairs);
                search.add_to_sums(arcs, source, inverses, sums);
            },
            |all, (pairs, sums)| {
                all.0.add(&pairs);
                all.1.add(&sums);
            },
            host,
        )?;
        let far = options.unreachable.map(|factor| factor * f64::from(sums.farthest));
        let nodes = everyone
            .par_iter()
            .map(|&m| {
                let (sum, count) = residuals(arcs, m, &pairs, &sums, n, far);
                Estimate::exact(if count > 0.0 { sum / count } else { 0.0 })
            })
            .collect();
        return Ok(Raw { nodes, diameter: sums.farthest, unreached: sums.unreached });
    };

    // Distances between neighbours first, from every node that is one; and from the anchors, because the largest
    // distance decides how far the unreachable is.
    let anchors = SplitMix64::new(options.seed).sample(everyone.clone(), anchors);
    let mut is_source: Vec<bool> =
        everyone.iter().map(|&v| arcs.predecessors(v).iter().any(|&m| degree(arcs, m) >= 2)).collect();
    anchors.iter().for_each(|&v| is_source[v as usize] = true);
    let sources: Vec<u32> = everyone.iter().copied().filter(|&v| is_source[v as usize]).collect();
    host.monitor.expect((sources.len() + anchors.len()) as u64);
    let (pairs, farthest, unreached) = search_all(
        arcs,
        &sources,
        || (Pairs::new(n, n_arcs), 0, false),
        |search, source, (pairs, farthest, unreached)| {
            search.add_to_pairs(arcs, source, pairs);
            *farthest = search.queue.last().map_or(0, |&v| search.distance[v as usize]).max(*farthest);
            *unreached |= search.queue.len() < n;
        },
        |all, (pairs, farthest, unreached)| {
            all.0.add(&pairs);
            all.1 = all.1.max(farthest);
            all.2 |= unreached;
        },
        host,
    )?;
    let far = options.unreachable.map(|factor| factor * f64::from(farthest));

    let mut spreads = vec![Spread::default(); n];
    for group in anchors.chunks(GROUP) {
        let sums = search_all(
            arcs,
            group,
            || Sums::new(n, n_arcs),
            |search, source, sums| search.add_to_sums(arcs, source, inverses, sums),
            |all, sums| all.add(&sums),
            host,
        )?;
        spreads.par_iter_mut().enumerate().for_each(|(m, spread)| {
            let (sum, count) = residuals(arcs, m as u32, &pairs, &sums, group.len(), far);
            spread.add(sum, count);
        });
    }
    let share = anchors.len() as f64 / n as f64;
    let nodes = everyone
        .par_iter()
        .map(|&m| {
            let has_pairs = match far {
                Some(_) => degree(arcs, m) >= 2,
                None => pairs.finite[m as usize] > 0,
            };
            if !has_pairs {
                return Estimate::exact(0.0);
            }
            let value = spreads[m as usize].mean();
            Estimate { value, standard_error: value.and(spreads[m as usize].standard_error(share)) }
        })
        .collect();
    Ok(Raw { nodes, diameter: farthest, unreached })
}

/// The sum over `anchors` anchors of the mean residual over pairs of neighbours of `m`, and the number of anchors with
/// one. `far` is the distance of what is unreachable, if that counts.
fn residuals(arcs: &Digraph, m: u32, pairs: &Pairs, sums: &Sums, anchors: usize, far: Option<f64>) -> (f64, f64) {
    let i = m as usize;
    let degree = degree(arcs, m) as u64;
    let finite = pairs.finite[i];
    let all = degree * degree.saturating_sub(1) / 2;
    let count = if far.is_some() { all } else { finite };
    if count == 0 {
        return (0.0, 0.0);
    }
    let count = count as f64;
    let mut between = pairs.squares[i] as f64;
    if let Some(far) = far {
        between += far * far * (all - finite) as f64;
    }

    // Anchors that reach m: D/2 + between / (8 D P) - weighted squares / (4 D P). A pair has two endpoints, so the weights
    // add up to 2 P and D/2 can be dealt out to the neighbours: integers of like size are subtracted before rounding.
    let farness = i128::from(sums.farness[i]) << fixed::BITS;
    let mut residual = 0.0;
    for (arc, _) in neighbors(arcs, m) {
        let weight = if far.is_some() { (degree - 1) as f64 } else { f64::from(pairs.weight[arc]) };
        let difference = farness - sums.ratios[arc] as i128;
        residual += weight * (difference as f64 / (1u64 << fixed::BITS) as f64);
    }
    residual = (residual / 4.0 + between * fixed::to_f64(sums.harmonic[i]) / 8.0) / count;
    let Some(far) = far else { return (residual, sums.reached[i] as f64) };

    // Anchors that do not reach m, at distance `far`: neighbours that they do not reach either cancel, those that they
    // reach are as far as they are.
    let own = u64::from(sums.anchor[i]);
    let others = anchors as u64 - own;
    let (mut reached, mut squares) = (0i128, 0i128);
    for (arc, b) in neighbors(arcs, m) {
        let j = b as usize;
        // Of all anchors that reach b, those that also reach m (m itself among them) are counted above.
        reached += i128::from(sums.reached[j] + u64::from(sums.anchor[j])) - i128::from(sums.reached[i] + own);
        let from_m = i128::from(own) * i128::from(b != m);
        squares += sums.squares[j] as i128 - sums.near_squares[arc] as i128 - from_m;
    }
    let unreached = (others - sums.reached[i]) as f64;
    residual += unreached * between / (8.0 * far * count);
    residual += (far * reached as f64 - squares as f64 / far) / (2.0 * degree as f64);
    (residual, others as f64)
}
