//! Betweenness of nodes and of edges.

use bonnet_graph::random::shuffle;
use bonnet_graph::{Monitor, Reservation, Stopped};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::path_counts::{MOST_PATHS, WideDependencies};
use crate::weighted_search::{WeightedSearch, require_positive};
use crate::{AlgorithmError, Network};

/// Searches that run side by side: a bit each in a byte, a cache line of numbers a node.
const LANES: usize = 8;

/// Levels between two looks at the counts of paths: a level multiplies them by less than 2^32.
const LEVELS: usize = 8;

/// Nodes or arcs that are summed at a time.
const BLOCK: usize = 1 << 12;

/// Options of [`betweenness_centrality`] and [`edge_betweenness`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BetweennessOptions {
    /// Whether to divide by the number of pairs that could have the node, or the edge, between them.
    pub normalized: bool,
    /// Search from this many random nodes; `None` for all of them, which is exact.
    pub samples: Option<usize>,
    /// Seed of the sample.
    pub seed: u64,
}

impl Default for BetweennessOptions {
    fn default() -> Self {
        Self { normalized: true, samples: None, seed: 0 }
    }
}

/// Betweenness of nodes, or of arcs.
#[derive(Debug, Clone, PartialEq)]
pub struct Betweenness {
    /// The value, or its estimate.
    pub value: Vec<f64>,
    /// The standard error of the estimate, where there is a sample of at least two and not of all nodes.
    pub standard_error: Option<Vec<f64>>,
}

/// The betweenness of every node: over all pairs of other nodes, the share of the shortest paths between them that lead
/// through it. Of an undirected graph, each pair counts once.
///
/// Brandes, A faster algorithm for betweenness centrality (2001); from a sample of sources, Brandes and Pich, Centrality
/// estimation in large networks (2007), with the standard error of a mean without replacement. Without weights eight searches run
/// side by side, O(n m) time at most, O(k m) for k samples; a weight is a length, and searches are Dijkstra's, O((n + m) log n)
/// each. Sums are in the order of the sources; 170 n bytes for each thread.
///
/// # Errors
/// For a length that is not positive, and if the monitor stops it.
pub fn betweenness_centrality(
    network: Network<'_>,
    options: &BetweennessOptions,
    monitor: &dyn Monitor,
) -> Result<Betweenness, AlgorithmError> {
    let n = network.n_nodes();
    let pairs = (n.max(1) - 1) as f64 * (n.max(2) - 2) as f64;
    let scale = if options.normalized && n > 2 { 1.0 / pairs } else { share_of_pairs(network) };
    let sources = sources(n, options);
    let sums = sums::<OfNodes>(network, n, &sources, sources.len() < n, monitor)?;
    Ok(sums.estimate(scale, sources.len(), n))
}

/// The betweenness of every arc of [`Network::out`]: over all pairs of nodes, the share of the shortest paths between them
/// that lead over it. Of an undirected graph, each pair counts once, and both arcs of an edge have the value of the edge.
///
/// Girvan and Newman (2002), by the sums of [`betweenness_centrality`] (Brandes, On variants of shortest-path betweenness,
/// 2008, Sec. 3.5); `170 n + 16 m` bytes for each thread.
///
/// # Errors
/// For a length that is not positive, and if the monitor stops it.
pub fn edge_betweenness(
    network: Network<'_>,
    options: &BetweennessOptions,
    monitor: &dyn Monitor,
) -> Result<Betweenness, AlgorithmError> {
    let n = network.n_nodes();
    let pairs = n as f64 * (n.max(1) - 1) as f64;
    let scale = if options.normalized && n > 1 { 1.0 / pairs } else { share_of_pairs(network) };
    let sources = sources(n, options);
    let mut sums = sums::<OfArcs>(network, network.out.n_arcs(), &sources, sources.len() < n, monitor)?;
    if !network.directed {
        // The paths from a source lead over one of the arcs of an edge at most.
        both_ways(network, &mut sums.values);
        if !sums.squares.is_empty() {
            both_ways(network, &mut sums.squares);
        }
    }
    Ok(sums.estimate(scale, sources.len(), n))
}

/// The weight of an ordered pair where values are not normalised.
fn share_of_pairs(network: Network<'_>) -> f64 {
    if network.directed { 1.0 } else { 0.5 }
}

/// Gives both arcs of each edge the sum of their values.
fn both_ways(network: Network<'_>, values: &mut [f64]) {
    let offsets = network.out.offsets();
    // The arcs that arrive come by rising source: the reverse of each is the next of its target's row.
    let mut next = offsets.to_vec();
    for u in 0..network.n_nodes() as u32 {
        for at in offsets[u as usize]..offsets[u as usize + 1] {
            let v = network.out.targets()[at];
            let back = next[v as usize];
            next[v as usize] += 1;
            if u < v {
                let both = values[at] + values[back];
                (values[at], values[back]) = (both, both);
            }
        }
    }
}

/// The nodes to search from.
fn sources(n: usize, options: &BetweennessOptions) -> Vec<u32> {
    let mut sources: Vec<u32> = (0..n as u32).collect();
    if let Some(samples) = options.samples.filter(|&samples| samples < n) {
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        shuffle(&mut sources, || random.next_u64());
        sources.truncate(samples);
    }
    sources
}

/// Sums over the sources.
trait Summand {
    /// Where the dependencies of the sources on node `v` go.
    #[inline(always)]
    fn node(_: &mut Sums, _v: u32, _values: &Numbers) {}

    /// Where the dependencies of the sources on the arc at position `at` go.
    #[inline(always)]
    fn arc(_: &mut Sums, _at: usize, _values: impl Fn(usize) -> f64) {}
}

struct OfNodes;

impl Summand for OfNodes {
    #[inline(always)]
    fn node(sums: &mut Sums, v: u32, values: &Numbers) {
        sums.add(v as usize, values);
    }
}

struct OfArcs;

impl Summand for OfArcs {
    #[inline(always)]
    fn arc(sums: &mut Sums, at: usize, values: impl Fn(usize) -> f64) {
        sums.add(at, &std::array::from_fn(values));
    }
}

/// Sums over the sources, in their order.
fn sums<S: Summand>(
    network: Network<'_>,
    length: usize,
    sources: &[u32],
    squares: bool,
    monitor: &dyn Monitor,
) -> Result<Sums, AlgorithmError> {
    require_positive(network)?;
    let batches: Vec<&[u32]> = sources.chunks(LANES).collect();
    let threads = rayon::current_num_threads().min(batches.len()).max(1);
    let per_thread = Search::bytes(network) + 16 * length;
    let _reservation = Reservation::new(monitor, 16 * length + threads * per_thread)?;
    monitor.expect(batches.len() as u64);
    let mut total = Sums::new(length, squares);
    let mut workers: Vec<(Search, Sums)> =
        (0..threads).map(|_| (Search::new(network), Sums::new(length, squares))).collect();
    // As many batches as threads at a time, then their sums in order: the same for any number of threads.
    for round in batches.chunks(threads) {
        let work = |((search, own), batch): (&mut (Search, Sums), &&[u32])| -> Result<(), Stopped> {
            own.clear();
            search.run::<S>(batch, own, monitor)?;
            monitor.advance(1);
            Ok(())
        };
        let outcome: Vec<Result<(), Stopped>> = workers.par_iter_mut().zip(round).with_max_len(1).map(work).collect();
        outcome.into_iter().collect::<Result<(), Stopped>>()?;
        workers.iter().take(round.len()).for_each(|(_, own)| total.add_all(own));
    }
    Ok(total)
}

/// Sums over sources, and sums of squares where a standard error is wanted.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn new(length: usize, squares: bool) -> Self {
        Self { values: vec![0.0; length], squares: vec![0.0; if squares { length } else { 0 }] }
    }

    fn clear(&mut self) {
        self.values.fill(0.0);
        self.squares.fill(0.0);
    }

    #[inline(always)]
    fn add(&mut self, at: usize, values: &Numbers) {
        self.values[at] += values.iter().sum::<f64>();
        if let Some(square) = self.squares.get_mut(at) {
            *square += values.iter().map(|value| value * value).sum::<f64>();
        }
    }

    fn add_all(&mut self, other: &Self) {
        for (to, from) in [(&mut self.values, &other.values), (&mut self.squares, &other.squares)] {
            let blocks = to.par_chunks_mut(BLOCK).zip(from.par_chunks(BLOCK));
            blocks.for_each(|(to, from)| to.iter_mut().zip(from).for_each(|(to, from)| *to += from));
        }
    }

    /// `scale` times the sums over all `n` sources, from those over `k`.
    fn estimate(self, scale: f64, k: usize, n: usize) -> Betweenness {
        let (k, n) = (k.max(1) as f64, n as f64);
        let standard_error = (!self.squares.is_empty() && k > 1.0).then(|| {
            let error = |(sum, square): (&f64, &f64)| {
                let variance = (square - sum * sum / k).max(0.0) / (k - 1.0);
                scale * n * (variance / k * (1.0 - k / n)).sqrt()
            };
            self.values.iter().zip(&self.squares).map(error).collect()
        });
        let value = self.values.into_iter().map(|sum| sum * (scale * n / k)).collect();
        Betweenness { value, standard_error }
    }
}

/// The state of the searches from a batch of sources.
enum Search<'a> {
    /// By hops.
    Hops(Lanes<'a>),
    /// By lengths.
    Lengths(Lengths<'a>),
}

impl<'a> Search<'a> {
    fn bytes(network: Network<'_>) -> usize {
        match network.out.weights() {
            None => Lanes::bytes(network.n_nodes()),
            Some(_) => WeightedSearch::bytes(network) + 8 * network.n_nodes(),
        }
    }

    fn new(network: Network<'a>) -> Self {
        match network.out.weights() {
            None => Self::Hops(Lanes::new(network)),
            Some(_) => {
                let share = vec![0.0; network.n_nodes()];
                Self::Lengths(Lengths { network, search: WeightedSearch::new(network), share })
            }
        }
    }

    fn run<S: Summand>(&mut self, sources: &[u32], sums: &mut Sums, monitor: &dyn Monitor) -> Result<(), Stopped> {
        match self {
            Self::Hops(lanes) => lanes.run::<S>(sources, sums, monitor),
            Self::Lengths(lengths) => sources.iter().try_for_each(|&source| lengths.run::<S>(source, sums, monitor)),
        }
    }
}

/// A search along weighted arcs.
struct Lengths<'a> {
    network: Network<'a>,
    search: WeightedSearch<'a>,
    /// The share of dependency of each node, as in [`Lanes::share`].
    share: Vec<f64>,
}

impl Lengths<'_> {
    fn run<S: Summand>(&mut self, source: u32, sums: &mut Sums, monitor: &dyn Monitor) -> Result<(), Stopped> {
        self.search.run(source, monitor)?;
        let search = &self.search;
        if search.order.iter().any(|&v| search.paths[v as usize] > MOST_PATHS) {
            let lengths = self.network.out.weights().unwrap_or_default();
            let leads = |u, v, at: usize| search.leads_over(u, v, lengths[at]);
            let mut wide = WideDependencies::new(self.network, monitor)?;
            return add_wide::<S>(&mut wide, &search.order, leads, sums, monitor);
        }
        for &u in search.order.iter().rev() {
            let paths = search.paths[u as usize];
            let mut sum = 0.0;
            for (at, (v, length)) in (self.network.out.offsets()[u as usize]..).zip(self.network.out.weighted(u)) {
                if search.leads_over(u, v, length) {
                    let from = self.share[v as usize];
                    sum += from;
                    S::arc(sums, at, |lane| if lane == 0 { from * paths } else { 0.0 });
                }
            }
            if u != source {
                S::node(sums, u, &alone(sum * paths));
            }
            self.share[u as usize] = sum + 1.0 / paths;
        }
        Ok(())
    }
}

/// A number for each search.
type Numbers = [f64; LANES];

/// The numbers where only the first search is at work.
fn alone(value: f64) -> Numbers {
    std::array::from_fn(|lane| if lane == 0 { value } else { 0.0 })
}

/// Adds the dependencies of the first node of `order`, whose counts of paths are beyond a double.
fn add_wide<S: Summand>(
    wide: &mut WideDependencies<'_>,
    order: &[u32],
    leads: impl Fn(u32, u32, usize) -> bool,
    sums: &mut Sums,
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let sums = std::cell::RefCell::new(sums);
    let node = |v, value| S::node(&mut sums.borrow_mut(), v, &alone(value));
    let arc = |at, value| S::arc(&mut sums.borrow_mut(), at, |lane| alone(value)[lane]);
    wide.run(order, leads, node, arc, monitor)
}

/// Up to eight searches from different sources.
struct Lanes<'a> {
    network: Network<'a>,
    /// The searches that have reached the node.
    seen: Vec<u8>,
    /// The searches that reach it at the next level.
    next: Vec<u8>,
    /// The number of shortest paths to the node.
    paths: Vec<Numbers>,
    /// (1 + dependency) / paths of the node, where dependency is Brandes' word for what is summed.
    share: Vec<Numbers>,
    /// The nodes of each level with the searches that reach them there.
    order: Vec<(u32, u8)>,
    /// Where levels begin in `order`, and where the last one ends.
    levels: Vec<usize>,
}

impl<'a> Lanes<'a> {
    fn bytes(n: usize) -> usize {
        n * (2 + 2 * size_of::<Numbers>() + 8 * LANES / 2)
    }

    fn new(network: Network<'a>) -> Self {
        let n = network.n_nodes();
        let (bits, numbers) = (|| vec![0u8; n], || vec![[0.0; LANES]; n]);
        let (order, levels) = (Vec::new(), Vec::new());
        Self { network, seen: bits(), next: bits(), paths: numbers(), share: numbers(), order, levels }
    }

    /// Counts the shortest paths from each source, and adds what share of them leads through each node or arc.
    fn run<S: Summand>(&mut self, sources: &[u32], sums: &mut Sums, monitor: &dyn Monitor) -> Result<(), Stopped> {
        self.seen.fill(0);
        self.order.clear();
        self.levels.clear();
        self.levels.push(0);
        self.paths.fill([0.0; LANES]);
        for (lane, &v) in sources.iter().enumerate() {
            self.seen[v as usize] = 1 << lane;
            self.paths[v as usize][lane] = 1.0;
            self.order.push((v, 1 << lane));
        }
        let mut start = 0;
        while start < self.order.len() {
            let end = self.order.len();
            self.levels.push(end);
            self.forward(start, end, monitor)?;
            let many = |&(v, _): &(u32, u8)| self.paths[v as usize].iter().any(|&count| count > MOST_PATHS);
            if self.levels.len().is_multiple_of(LEVELS) && self.order[end..].iter().any(many) {
                return self.run_wide::<S>(sources, sums, monitor);
            }
            start = end;
        }
        for level in (0..self.levels.len() - 1).rev() {
            self.backward::<S>(level, sums, monitor)?;
        }
        Ok(())
    }

    /// One search after the other, with counts of any size.
    fn run_wide<S: Summand>(&self, sources: &[u32], sums: &mut Sums, monitor: &dyn Monitor) -> Result<(), Stopped> {
        const NEVER: u32 = u32::MAX;
        let n = self.network.n_nodes();
        let _reservation = Reservation::new(monitor, 8 * n)?;
        let mut wide = WideDependencies::new(self.network, monitor)?;
        let (mut level, mut order) = (vec![NEVER; n], Vec::with_capacity(n));
        for &source in sources {
            level.fill(NEVER);
            order.clear();
            level[source as usize] = 0;
            order.push(source);
            let mut next = 0;
            while let Some(&u) = order.get(next) {
                for &v in self.network.out.of(u) {
                    if level[v as usize] == NEVER {
                        level[v as usize] = level[u as usize] + 1;
                        order.push(v);
                    }
                }
                next += 1;
            }
            let leads = |u: u32, v: u32, _| level[v as usize] == level[u as usize] + 1;
            add_wide::<S>(&mut wide, &order, leads, sums, monitor)?;
        }
        Ok(())
    }

    /// From the nodes of a level to those of the next.
    fn forward(&mut self, start: usize, end: usize, monitor: &dyn Monitor) -> Result<(), Stopped> {
        for i in start..end {
            if (i - start).is_multiple_of(BLOCK) {
                monitor.check()?;
            }
            let (u, mask) = self.order[i];
            let paths = self.paths[u as usize];
            for &v in self.network.out.of(u) {
                let v = v as usize;
                let found = mask & !self.seen[v];
                if found != 0 {
                    if self.next[v] == 0 {
                        self.order.push((v as u32, 0));
                    }
                    self.next[v] |= found;
                    let chosen = &CHOICE[found as usize];
                    let to = &mut self.paths[v];
                    (0..LANES).for_each(|lane| to[lane] += chosen[lane] * paths[lane]);
                }
            }
        }
        for (v, mask) in &mut self.order[end..] {
            *mask = std::mem::take(&mut self.next[*v as usize]);
            self.seen[*v as usize] |= *mask;
        }
        Ok(())
    }

    /// The dependencies of the nodes of a level, where those of the next are known.
    fn backward<S: Summand>(&mut self, level: usize, sums: &mut Sums, monitor: &dyn Monitor) -> Result<(), Stopped> {
        let (start, end) = (self.levels[level], self.levels[level + 1]);
        let later = end..self.levels.get(level + 2).copied().unwrap_or(end);
        // `next` says which searches reach a node at the next level.
        self.order[later.clone()].iter().for_each(|&(v, mask)| self.next[v as usize] = mask);
        let (offsets, targets) = (self.network.out.offsets(), self.network.out.targets());
        for i in start..end {
            if (i - start).is_multiple_of(BLOCK) {
                monitor.check()?;
            }
            let (u, mask) = self.order[i];
            let paths = self.paths[u as usize];
            let mut sum = [0.0; LANES];
            let start = offsets[u as usize];
            for (at, &v) in (start..).zip(&targets[start..offsets[u as usize + 1]]) {
                let v = v as usize;
                let common = mask & self.next[v];
                if common != 0 {
                    let chosen = &CHOICE[common as usize];
                    let from = &self.share[v];
                    (0..LANES).for_each(|lane| sum[lane] += chosen[lane] * from[lane]);
                    S::arc(sums, at, |lane| chosen[lane] * from[lane] * paths[lane]);
                }
            }
            // A source is not between itself and others.
            if level > 0 {
                S::node(sums, u, &std::array::from_fn(|lane| sum[lane] * paths[lane]));
            }
            let own = &mut self.share[u as usize];
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                own[lane] = sum[lane] + 1.0 / paths[lane];
            }
        }
        self.order[later].iter().for_each(|&(v, _)| self.next[v as usize] = 0);
        Ok(())
    }
}

/// For each set of searches a 1 for each that is in it.
static CHOICE: [Numbers; 256] = {
    let mut choice = [[0.0; LANES]; 256];
    let mut set = 0;
    while set < 256 {
        let mut lane = 0;
        while lane < LANES {
            if set >> lane & 1 == 1 {
                choice[set][lane] = 1.0;
            }
            lane += 1;
        }
        set += 1;
    }
    choice
};

#[cfg(test)]
mod tests;
