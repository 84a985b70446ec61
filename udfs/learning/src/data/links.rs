//! Splits of edges into training, validation and test, with pairs that are no edges.

use std::collections::HashSet;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::Part;
use crate::ground::random::{Stream, key};
use crate::options::Shares;

/// Separates the streams of this file from other uses of the seed.
const EDGES: u64 = 5;
const FIXED: u64 = 6;
const FRESH: u64 = 7;

/// Two nodes, the smaller first.
pub type Pair = (u32, u32);

/// The undirected edges of a graph in three parts, and as many pairs that are no edges for two of them. A pair has the
/// smaller node first; each list is in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkSplit {
    /// The edges that carry messages and make the loss.
    pub train: Vec<(u32, u32)>,
    /// The edges that select the epoch.
    pub val: Vec<(u32, u32)>,
    /// The edges whose figures are reported.
    pub test: Vec<(u32, u32)>,
    /// Pairs without an edge that every epoch trains on; none if they are drawn.
    pub train_non_edges: Vec<(u32, u32)>,
    /// Pairs without an edge in the whole graph, as many as `val`, against which it is scored.
    pub val_non_edges: Vec<(u32, u32)>,
    /// Pairs without an edge against which `test` is scored; none is in `val_non_edges`.
    pub test_non_edges: Vec<(u32, u32)>,
}

/// An error of splitting edges.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// A graph that has too few pairs without an edge.
    #[error(
        "link prediction needs {needed} pairs of nodes without an edge, and the graph has {found}: it is too dense for \
         these shares"
    )]
    TooDense {
        /// The pairs that validation and test need.
        needed: usize,
        /// The number of pairs that there are.
        found: u64,
    },
    /// Two nodes that are no item of a given split.
    #[error("the pair of nodes {u} and {v} {why}")]
    Pair {
        /// The smaller node.
        u: u32,
        /// The larger one.
        v: u32,
        /// The reason.
        why: &'static str,
    },
    /// The host.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// A pair of a given split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenPair {
    /// Two nodes, in any order.
    pub nodes: (u32, u32),
    /// Where it stands.
    pub part: Part,
    /// Whether it is an edge.
    pub is_edge: bool,
}

impl LinkSplit {
    /// Draws a split: of the m edges in random order, round(share of m) for training and validation and the rest for test.
    /// The same seed gives the same split. O(n + m log m) time; 24 bytes an edge are reserved while it is drawn, of which the
    /// split keeps 8.
    ///
    /// # Errors
    /// If the graph has fewer pairs without an edge than validation and test need, or the host says no.
    pub fn draw(graph: &Graph, shares: Shares, seed: u64, monitor: &dyn Monitor) -> Result<Self, LinkError> {
        monitor.check()?;
        let _memory = Reservation::new(monitor, 24 * graph.n_edges() + 8 * graph.n_nodes())?;
        let mut edges: Vec<(u32, u32)> = graph.edges().collect();
        Stream::new(key(&[seed, EDGES])).shuffle(&mut edges);
        let (train, val) = shares.of(edges.len());
        let test = edges.split_off(train + val);
        let val = edges.split_off(train);
        monitor.check()?;
        let free = NonEdges::new(graph);
        let needed = val.len() + test.len();
        let too_dense = LinkError::TooDense { needed, found: free.len() };
        let fixed = free.distinct(needed, seed).ok_or(too_dense)?;
        monitor.check()?;
        let (val_non_edges, test_non_edges) = fixed.split_at(val.len());
        let sorted = |mut pairs: Vec<(u32, u32)>| {
            pairs.sort_unstable();
            pairs
        };
        Ok(Self {
            train_non_edges: Vec::new(),
            val_non_edges: sorted(val_non_edges.to_vec()),
            test_non_edges: sorted(test_non_edges.to_vec()),
            train: sorted(edges),
            val: sorted(val),
            test: sorted(test),
        })
    }

    /// Draws a split of arcs, both directions of every edge: of the 2 m arcs in random order, round(share of 2 m) for training and
    /// validation and the rest for test, each part then without directions. An edge may stand in two parts: what is measured is what
    /// a program measures that splits a list with both directions. The same seed gives the same split. Time and memory as
    /// [`LinkSplit::draw`], of twice the edges.
    ///
    /// # Errors
    /// As [`LinkSplit::draw`].
    pub fn draw_arcs(graph: &Graph, shares: Shares, seed: u64, monitor: &dyn Monitor) -> Result<Self, LinkError> {
        monitor.check()?;
        let _memory = Reservation::new(monitor, 48 * graph.n_edges() + 8 * graph.n_nodes())?;
        let mut arcs: Vec<(u32, u32)> = graph.edges().flat_map(|(u, v)| [(u, v), (v, u)]).collect();
        Stream::new(key(&[seed, EDGES])).shuffle(&mut arcs);
        let (train, val) = shares.of(arcs.len());
        let test = arcs.split_off(train + val);
        let val = arcs.split_off(train);
        let edges = |arcs: Vec<(u32, u32)>| {
            let mut edges: Vec<Pair> = arcs.into_iter().map(|(u, v)| (u.min(v), u.max(v))).collect();
            edges.sort_unstable();
            edges.dedup();
            edges
        };
        let (train, val, test) = (edges(arcs), edges(val), edges(test));
        monitor.check()?;
        let free = NonEdges::new(graph);
        let needed = val.len() + test.len();
        let too_dense = LinkError::TooDense { needed, found: free.len() };
        let mut val_non_edges = free.distinct(needed, seed).ok_or(too_dense)?;
        let mut test_non_edges = val_non_edges.split_off(val.len());
        val_non_edges.sort_unstable();
        test_non_edges.sort_unstable();
        Ok(Self { train, val, test, train_non_edges: Vec::new(), val_non_edges, test_non_edges })
    }

    /// A split whose pairs are given. Repeats of a pair in its part are one. Training pairs without an edge, where there are some,
    /// are those of every epoch. O(pairs log pairs).
    ///
    /// # Errors
    /// If the two nodes of a pair are one, if a pair stands in two parts, or as an edge and as none. Whether it is an edge of the
    /// graph is for [`crate::train()`] to say.
    pub fn given(pairs: impl IntoIterator<Item = GivenPair>) -> Result<Self, LinkError> {
        let mut sorted: Vec<(Pair, Part, bool)> = pairs
            .into_iter()
            .map(|GivenPair { nodes: (u, v), part, is_edge }| ((u.min(v), u.max(v)), part, is_edge))
            .collect();
        sorted.sort_by_key(|&(pair, part, is_edge)| (pair, part.name(), is_edge));
        sorted.dedup();
        let error = |(u, v): Pair, why| Err(LinkError::Pair { u, v, why });
        if let Some(&(pair, ..)) = sorted.iter().find(|((u, v), ..)| u == v) {
            return error(pair, "is one node twice");
        }
        if let Some(twice) = sorted.windows(2).find(|two| two[0].0 == two[1].0) {
            return match twice[0].1 == twice[1].1 {
                true => error(twice[0].0, "is given as an edge and as none"),
                false => error(twice[0].0, "is in two parts"),
            };
        }
        let mut split = Self::default();
        for (pair, part, is_edge) in sorted {
            let list = match (part, is_edge) {
                (Part::Train, true) => &mut split.train,
                (Part::Val, true) => &mut split.val,
                (Part::Test, true) => &mut split.test,
                (Part::Train, false) => &mut split.train_non_edges,
                (Part::Val, false) => &mut split.val_non_edges,
                (Part::Test, false) => &mut split.test_non_edges,
            };
            list.push(pair);
        }
        Ok(split)
    }

    /// The bytes that it holds.
    pub fn bytes(&self) -> usize {
        size_of::<Pair>() * self.pairs().count()
    }

    /// The edges of a part and the pairs against which they are scored: of training those that are given, none where they are drawn.
    pub fn part(&self, part: Part) -> (&[Pair], &[Pair]) {
        match part {
            Part::Train => (&self.train, &self.train_non_edges),
            Part::Val => (&self.val, &self.val_non_edges),
            Part::Test => (&self.test, &self.test_non_edges),
        }
    }

    /// All pairs with their part and whether they are edges: the order of the rows of [`crate::Outcome::logits`].
    pub fn pairs(&self) -> impl Iterator<Item = ((u32, u32), Part, bool)> + '_ {
        Part::ALL.into_iter().flat_map(move |part| {
            let (edges, others) = self.part(part);
            let edges = edges.iter().map(move |&pair| (pair, part, true));
            edges.chain(others.iter().map(move |&pair| (pair, part, false)))
        })
    }
}

/// The pairs of distinct nodes that are no edges, in ascending order: any of them by its number, none of them stored.
#[derive(Debug, Clone)]
pub struct NonEdges<'a> {
    graph: &'a Graph,
    /// The number of the first pair of each node with a larger one, and the number of all.
    starts: Vec<u64>,
}

impl<'a> NonEdges<'a> {
    /// The pairs of a graph. O(n log degree) time, 8 n bytes.
    pub fn new(graph: &'a Graph) -> Self {
        let n = graph.n_nodes();
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0u64);
        for u in 0..n as u32 {
            let neighbors = graph.neighbors(u);
            let larger = neighbors.len() - neighbors.partition_point(|&v| v < u);
            starts.push(starts[u as usize] + (n - 1 - u as usize - larger) as u64);
        }
        Self { graph, starts }
    }

    /// The number of pairs.
    pub fn len(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// Whether every pair is an edge.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pair of a number below [`NonEdges::len`]. O(log n + log degree).
    pub fn pair(&self, number: u64) -> (u32, u32) {
        let u = self.starts.partition_point(|&start| start <= number) - 1;
        let rank = (number - self.starts[u]) as usize;
        let neighbors = self.graph.neighbors(u as u32);
        let larger = &neighbors[neighbors.partition_point(|&v| (v as usize) < u)..];
        // Of the nodes after u, those before the i-th larger neighbour that are no neighbours: larger[i] - u - 1 - i.
        let (mut low, mut high) = (0, larger.len());
        while low < high {
            let middle = (low + high) / 2;
            if larger[middle] as usize - u - 1 - middle <= rank { low = middle + 1 } else { high = middle }
        }
        (u as u32, (u + 1 + rank + low) as u32)
    }

    /// A number of different pairs, each set of them equally likely, in the order of the draw; none if there are too few.
    /// Floyd's method (Bentley and Floyd 1987): O(count log n).
    fn distinct(&self, count: usize, seed: u64) -> Option<Vec<(u32, u32)>> {
        let all = usize::try_from(self.len()).unwrap_or(usize::MAX);
        if count > all {
            return None;
        }
        let mut stream = Stream::new(key(&[seed, FIXED]));
        let mut seen = HashSet::with_capacity(count);
        let mut drawn: Vec<u64> = Vec::with_capacity(count);
        for last in all - count..all {
            let number = stream.below(last + 1) as u64;
            let number = if seen.insert(number) { number } else { last as u64 };
            seen.insert(number);
            drawn.push(number);
        }
        stream.shuffle(&mut drawn);
        Some(drawn.into_iter().map(|number| self.pair(number)).collect())
    }

    /// Fills `out` with pairs drawn independently for an epoch; the graph must have some. O(log n) a pair.
    pub(crate) fn draw(&self, out: &mut [(u32, u32)], seed: u64, epoch: u32) {
        use rayon::prelude::*;
        let all = usize::try_from(self.len()).unwrap_or(usize::MAX);
        out.par_chunks_mut(1024).enumerate().for_each(|(block, out)| {
            let mut stream = Stream::new(key(&[seed, FRESH, u64::from(epoch), block as u64]));
            out.iter_mut().for_each(|pair| *pair = self.pair(stream.below(all) as u64));
        });
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    fn graph(n: usize, edges: usize, seed: u64) -> Graph {
        let mut stream = Stream::new(seed);
        let edges: Vec<_> = (0..edges).map(|_| (stream.below(n) as u32, stream.below(n) as u32)).collect();
        Graph::from_edges(n, &edges)
    }

    #[test]
    fn the_pairs_without_an_edge_are_numbered_in_order() {
        for (n, edges) in [(0, 0), (1, 0), (2, 0), (2, 9), (12, 20), (30, 400), (40, 5)] {
            let graph = if n == 0 { Graph::from_edges(0, &[]) } else { graph(n, edges, n as u64) };
            let pairs = (0..n as u32).flat_map(|u| (u + 1..n as u32).map(move |v| (u, v)));
            let expected: Vec<_> = pairs.filter(|&(u, v)| !graph.has_edge(u, v)).collect();
            let free = NonEdges::new(&graph);
            assert_eq!((free.len(), free.is_empty()), (expected.len() as u64, expected.is_empty()));
            assert_eq!((0..free.len()).map(|number| free.pair(number)).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_split_covers_every_edge_once_and_its_non_edges_are_none() {
        let graph = graph(60, 200, 1);
        let m = graph.n_edges();
        let shares = Shares::new(85.0, 5.0, 10.0).unwrap();
        let split = LinkSplit::draw(&graph, shares, 3, &Unmonitored).unwrap();
        let mut all = [split.train.clone(), split.val.clone(), split.test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, graph.edges().collect::<Vec<_>>());
        let round = |share: f64| (share * m as f64).round() as usize;
        assert_eq!((split.train.len(), split.val.len()), (round(0.85), round(0.05)));
        assert_eq!((split.val_non_edges.len(), split.test_non_edges.len()), (split.val.len(), split.test.len()));
        let fixed: HashSet<_> = split.val_non_edges.iter().chain(&split.test_non_edges).copied().collect();
        assert_eq!(fixed.len(), split.val.len() + split.test.len(), "no pair twice");
        assert!(fixed.iter().all(|&(u, v)| u < v && !graph.has_edge(u, v)));
        assert_eq!(LinkSplit::draw(&graph, shares, 3, &Unmonitored).unwrap(), split);
        assert_ne!(LinkSplit::draw(&graph, shares, 4, &Unmonitored).unwrap(), split);
        assert_eq!(split.pairs().count(), m + fixed.len());
    }

    #[test]
    fn a_graph_without_room_for_non_edges_is_refused() {
        let edges: Vec<_> = (0..20u32).flat_map(|u| (u + 1..20).map(move |v| (u, v))).collect();
        let error =
            LinkSplit::draw(&Graph::from_edges(20, &edges), Shares::new(85.0, 5.0, 10.0).unwrap(), 0, &Unmonitored);
        assert_eq!(error.unwrap_err(), LinkError::TooDense { needed: 28, found: 0 });
        // One pair is left and one is needed.
        let almost =
            Graph::from_edges(5, &edges.iter().copied().filter(|e| e.1 < 5 && *e != (1, 3)).collect::<Vec<_>>());
        let split = LinkSplit::draw(&almost, Shares::new(90.0, 0.0, 10.0).unwrap(), 0, &Unmonitored).unwrap();
        assert_eq!(split.test_non_edges, [(1, 3)]);
    }

    #[test]
    fn a_split_of_arcs_has_most_test_edges_in_training() {
        let graph = graph(200, 900, 5);
        let m = graph.n_edges();
        let split = LinkSplit::draw_arcs(&graph, Shares::new(85.0, 5.0, 10.0).unwrap(), 3, &Unmonitored).unwrap();
        // 0.1 of the 2 m arcs test, some of them both directions of an edge.
        assert!(split.test.len() <= 2 * m / 10 + 1 && split.test.len() > 17 * m / 100, "{} of {m}", split.test.len());
        let train: HashSet<_> = split.train.iter().collect();
        let leaked = split.test.iter().filter(|pair| train.contains(pair)).count() as f64 / split.test.len() as f64;
        // The other direction of an arc of the test trains with probability 0.85.
        assert!((0.78..0.93).contains(&leaked), "{leaked}");
        assert!(split.test.iter().chain(&split.val).all(|&(u, v)| u < v && graph.has_edge(u, v)));
        assert_eq!((split.val_non_edges.len(), split.test_non_edges.len()), (split.val.len(), split.test.len()));
        assert!(split.test_non_edges.iter().all(|&(u, v)| u < v && !graph.has_edge(u, v)));
    }

    #[test]
    fn a_given_split_is_what_is_given() {
        let pair = |u, v, part, is_edge| GivenPair { nodes: (u, v), part, is_edge };
        let pairs = [
            pair(3, 1, Part::Train, true),
            pair(1, 3, Part::Train, true),
            pair(0, 1, Part::Train, true),
            pair(4, 2, Part::Val, true),
            pair(2, 5, Part::Test, true),
            pair(5, 0, Part::Train, false),
            pair(3, 4, Part::Test, false),
        ];
        let split = LinkSplit::given(pairs).unwrap();
        let expected = LinkSplit {
            train: vec![(0, 1), (1, 3)],
            val: vec![(2, 4)],
            test: vec![(2, 5)],
            train_non_edges: vec![(0, 5)],
            val_non_edges: vec![],
            test_non_edges: vec![(3, 4)],
        };
        assert_eq!(split, expected);
        let error = |last: GivenPair| LinkSplit::given(pairs.into_iter().chain([last])).unwrap_err().to_string();
        assert_eq!(error(pair(3, 1, Part::Test, true)), "the pair of nodes 1 and 3 is in two parts");
        assert_eq!(error(pair(1, 0, Part::Val, false)), "the pair of nodes 0 and 1 is in two parts");
        assert_eq!(error(pair(4, 3, Part::Test, true)), "the pair of nodes 3 and 4 is given as an edge and as none");
        assert_eq!(error(pair(7, 7, Part::Val, true)), "the pair of nodes 7 and 7 is one node twice");
        assert_eq!(LinkSplit::given([]).unwrap(), LinkSplit::default());
    }

    #[test]
    fn fresh_pairs_are_uniform_and_those_of_an_epoch() {
        let graph = Graph::from_edges(5, &[(0, 1), (2, 3), (1, 4)]);
        let free = NonEdges::new(&graph);
        let draw = |epoch| {
            let mut out = vec![(0, 0); 7000];
            free.draw(&mut out, 9, epoch);
            out
        };
        assert!(draw(1) == draw(1) && draw(1) != draw(2));
        let mut counts = [0f64; 7];
        for pair in draw(1) {
            counts[(0..7).find(|&number| free.pair(number) == pair).unwrap() as usize] += 1.0;
        }
        // Chi-square with 6 degrees of freedom; 22.5 is its 99.9 % point.
        let chi: f64 = counts.iter().map(|c| (c - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 22.5, "chi-square {chi}");
    }
}
