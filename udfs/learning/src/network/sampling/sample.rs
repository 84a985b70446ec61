//! Neighbour sampling (Hamilton, Ying and Leskovec 2017, Algorithm 2): the graph that the outputs of some nodes are
//! computed from.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use bonnet_graph::{Graph, Reservation, Stopped};

use crate::ground::random::{Stream, key};

/// Some nodes of a graph with the edges that carry messages between them. A node that is as far from the seeds as
/// sampling went has no neighbours in the sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The nodes, ascending; their positions in this list are their numbers below.
    pub nodes: Vec<u32>,
    /// Where each node's row starts in `targets`; one more at the end.
    pub offsets: Vec<usize>,
    /// The sampled neighbours of each node, ascending.
    pub targets: Vec<u32>,
    /// The degree of each node in the graph.
    pub degrees: Vec<u32>,
}

/// The edges into some rows of a sample; all other rows have none.
#[derive(Debug, Clone)]
pub struct ListedEdges {
    /// The number of rows.
    pub n: usize,
    /// Those with edges, ascending.
    pub rows: Vec<u32>,
    /// Where the edges of each of them begin, and one more.
    pub offsets: Vec<usize>,
    /// Where they lead from, ascending in a row.
    pub targets: Vec<u32>,
    /// The degree in the graph of each of these rows.
    pub degrees: Vec<u32>,
    /// The offsets of all rows, for who asks for them.
    of_all: OnceLock<Vec<usize>>,
}

impl ListedEdges {
    /// Edges into `rows` of `n`, the edges of row i at `offsets[i]..offsets[i + 1]`.
    pub fn new(n: usize, rows: Vec<u32>, offsets: Vec<usize>, targets: Vec<u32>, degrees: Vec<u32>) -> Self {
        debug_assert!(offsets.len() == rows.len() + 1 && degrees.len() == rows.len());
        Self { n, rows, offsets, targets, degrees, of_all: OnceLock::new() }
    }

    /// The edges into a row. O(log rows).
    pub fn row(&self, row: u32) -> &[u32] {
        match self.rows.binary_search(&row) {
            Ok(at) => &self.targets[self.offsets[at]..self.offsets[at + 1]],
            Err(_) => &[],
        }
    }

    /// The degree of a row in the graph; 0 for one without edges. O(log rows).
    pub fn degree(&self, row: u32) -> u32 {
        self.rows.binary_search(&row).map_or(0, |at| self.degrees[at])
    }

    /// Where the edges of every row begin, and one more. O(n) the first time, 8 bytes a row.
    pub fn of_all(&self) -> &[usize] {
        self.of_all.get_or_init(|| expanded(self.n, &self.rows, &self.offsets))
    }
}

/// The offsets of `n` rows of which some have entries.
pub(in crate::network) fn expanded(n: usize, rows: &[u32], offsets: &[usize]) -> Vec<usize> {
    let mut all = Vec::with_capacity(n + 1);
    for (&row, &start) in rows.iter().zip(offsets) {
        all.resize(row as usize + 1, start);
    }
    all.resize(n + 1, offsets[rows.len()]);
    all
}

/// Marks a node that no sample has reached.
pub(super) const UNSEEN: u32 = u32::MAX;

/// The neighbours of all nodes: where those of each begin, and all of them.
pub type Lists<'a> = (&'a [usize], &'a [u32]);

/// Draws samples of a graph. It holds 8 bytes a node.
#[derive(Debug)]
pub struct Sampler<'a> {
    graph: &'a Graph,
    /// The neighbours that are drawn apart: those of the graph, or of each of its relations.
    lists: Vec<Lists<'a>>,
    /// The position of a node in the sample that is being drawn.
    place: Vec<u32>,
}

impl<'a> Sampler<'a> {
    /// A sampler; the reservation grows by what it holds.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn new(graph: &'a Graph, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        // The positions, and at most as many nodes that are reached.
        reservation.grow(2 * size_of::<u32>() * graph.n_nodes())?;
        Ok(Self { graph, lists: vec![(graph.offsets(), graph.targets())], place: vec![UNSEEN; graph.n_nodes()] })
    }

    /// A sampler that draws the neighbours in each relation apart: `lists` has those of a relation, along edges of the graph. That
    /// of one relation with all edges draws what the graph's draws.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn by_relation(
        graph: &'a Graph,
        lists: Vec<Lists<'a>>,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        Ok(Self { lists, ..Self::new(graph, reservation)? })
    }

    /// The sample around `seeds` (ascending, distinct): of a node first reached after `h` edges `fanout[h]` neighbours, drawn
    /// uniformly without replacement, or all if it has no more. A node has one row, which every layer of a model reads.
    ///
    /// The draw of a node depends on the key and its number alone. O(edges drawn * log(fanout) + nodes log(nodes)) time; the
    /// reservation grows by what the sample holds.
    ///
    /// # Errors
    /// If the host refuses the memory, or wants no answer any more.
    pub fn sample(
        &mut self,
        seeds: &[u32],
        fanout: &[u32],
        sample_key: u64,
        reservation: &mut Reservation<'_>,
    ) -> Result<Sample, Stopped> {
        let mut samples = self.samples(seeds, fanout, sample_key, reservation)?;
        Ok(samples.swap_remove(0))
    }

    /// The sample around `seeds` for each relation, on the same nodes: of a node as many neighbours of each relation into it.
    /// One with no relation is that of a graph without edges.
    ///
    /// # Errors
    /// The errors of [`Sampler::sample`].
    pub fn samples(
        &mut self,
        seeds: &[u32],
        fanout: &[u32],
        sample_key: u64,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<Sample>, Stopped> {
        let mut reached = seeds.to_vec();
        let samples = self.draw_and_number(&mut reached, fanout, sample_key, reservation);
        reached.iter().for_each(|&v| self.place[v as usize] = UNSEEN);
        samples
    }

    /// Whether more than `most` nodes are within `hops` edges of the seeds (distinct). O(edges of as many nodes).
    pub fn reaches_more_than(&mut self, most: usize, seeds: &[u32], hops: usize) -> bool {
        let (mut reached, mut done) = (seeds.to_vec(), 0);
        seeds.iter().for_each(|&v| self.place[v as usize] = 0);
        for _ in 0..hops {
            let ring = reached.len();
            while done < ring && reached.len() <= most {
                for &u in self.graph.neighbors(reached[done]) {
                    if std::mem::replace(&mut self.place[u as usize], 0) == UNSEEN {
                        reached.push(u);
                    }
                }
                done += 1;
            }
        }
        reached.iter().for_each(|&v| self.place[v as usize] = UNSEEN);
        reached.len() > most
    }

    /// Appends the nodes of the sample to the seeds, and leaves their marks behind.
    fn draw_and_number(
        &mut self,
        reached: &mut Vec<u32>,
        fanout: &[u32],
        sample_key: u64,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<Sample>, Stopped> {
        for &v in reached.iter() {
            self.place[v as usize] = 0;
        }
        let relations = self.lists.len();
        let node_bytes = NODE_BYTES + RELATION_BYTES * relations;
        reservation.grow(node_bytes * reached.len())?;
        // The rows of the first nodes of `reached`, one after the other, for each its relations, and their endpoints.
        let (mut drawn, mut ends, mut done) = (Vec::new(), Vec::new(), 0);
        for &fanout in fanout {
            reservation.check()?;
            let (first, frontier) = (drawn.len(), done..reached.len());
            let degree = |(offsets, _): &Lists<'_>, v: u32| offsets[v as usize + 1] - offsets[v as usize];
            let arcs: usize = reached[frontier.clone()]
                .iter()
                .flat_map(|&v| self.lists.iter().map(move |list| degree(list, v).min(fanout as usize)))
                .sum();
            reservation.grow(2 * size_of::<u32>() * arcs)?;
            for &v in &reached[frontier.clone()] {
                for (relation, (offsets, targets)) in self.lists.iter().enumerate() {
                    let neighbors = &targets[offsets[v as usize]..offsets[v as usize + 1]];
                    let own = key(&[sample_key, u64::from(v)]);
                    let own = if relation == 0 { own } else { key(&[own, relation as u64]) };
                    draw(neighbors, fanout, own, &mut drawn);
                    ends.push(drawn.len());
                }
            }
            done = frontier.end;
            for &u in &drawn[first..] {
                if std::mem::replace(&mut self.place[u as usize], 0) == UNSEEN {
                    reached.push(u);
                }
            }
            reservation.grow(node_bytes * (reached.len() - done))?;
        }
        let mut order: Vec<u32> = (0..reached.len() as u32).collect();
        order.sort_unstable_by_key(|&at| reached[at as usize]);
        let nodes: Vec<u32> = order.iter().map(|&at| reached[at as usize]).collect();
        nodes.iter().zip(0..).for_each(|(&v, number)| self.place[v as usize] = number);
        let of_relation = |(relation, (starts, _)): (usize, &Lists<'_>)| {
            let (mut offsets, mut targets) = (vec![0], Vec::new());
            for &at in &order {
                let row = at as usize * relations + relation;
                if let Some(&end) = ends.get(row) {
                    let start = if row == 0 { 0 } else { ends[row - 1] };
                    targets.extend(drawn[start..end].iter().map(|&u| self.place[u as usize]));
                }
                offsets.push(targets.len());
            }
            let degree = |&v: &u32| (starts[v as usize + 1] - starts[v as usize]) as u32;
            Sample { degrees: nodes.iter().map(degree).collect(), nodes: nodes.clone(), offsets, targets }
        };
        Ok(self.lists.iter().enumerate().map(of_relation).collect())
    }
}

/// The distinct edges of samples on the same nodes, all together: each node's neighbours in any of them. The degrees are those
/// of the graph.
pub fn union(graph: &Graph, samples: &[Sample]) -> Sample {
    let nodes = samples[0].nodes.clone();
    let (mut offsets, mut targets, mut row) = (vec![0], Vec::new(), Vec::new());
    for node in 0..nodes.len() {
        row.clear();
        samples.iter().for_each(|s| row.extend_from_slice(&s.targets[s.offsets[node]..s.offsets[node + 1]]));
        row.sort_unstable();
        row.dedup();
        // Loops carry no message between nodes.
        targets.extend(row.iter().copied().filter(|&u| u as usize != node));
        offsets.push(targets.len());
    }
    let degrees = nodes.iter().map(|&v| graph.degree(v) as u32).collect();
    Sample { nodes, offsets, targets, degrees }
}

/// The bytes of a node while a sample is drawn: its place among the reached and in their order.
const NODE_BYTES: usize = 2 * size_of::<u32>();

/// Those for each relation: the end of its row, its number and degree, and where its row starts.
const RELATION_BYTES: usize = 2 * size_of::<u32>() + 2 * size_of::<usize>();

/// Appends `count` of the neighbours, uniform without replacement (Floyd's algorithm: Bentley and Floyd 1987), ascending;
/// all of them if there are no more.
fn draw(neighbors: &[u32], count: u32, draw_key: u64, out: &mut Vec<u32>) {
    let (degree, count) = (neighbors.len(), count as usize);
    if degree <= count {
        out.extend_from_slice(neighbors);
        return;
    }
    let (mut stream, mut picked) = (Stream::new(draw_key), BTreeSet::new());
    for last in degree - count..degree {
        let at = stream.below(last + 1);
        picked.insert(if picked.contains(&at) { last } else { at });
    }
    out.extend(picked.into_iter().map(|at| neighbors[at]));
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    /// A path 0-1-2-3-4 and a star around 5.
    fn graph() -> Graph {
        let mut edges = vec![(0, 1), (1, 2), (2, 3), (3, 4)];
        edges.extend((6..26).map(|leaf| (5, leaf)));
        Graph::from_edges(26, &edges)
    }

    fn sample(seeds: &[u32], fanout: &[u32], key: u64) -> Sample {
        let graph = graph();
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let mut sampler = Sampler::new(&graph, &mut reservation).unwrap();
        let sample = sampler.sample(seeds, fanout, key, &mut reservation).unwrap();
        assert!(sampler.place.iter().all(|&place| place == UNSEEN));
        sample
    }

    #[test]
    fn all_neighbours_of_all_but_the_last_ring_are_there_with_their_degrees() {
        let sample = sample(&[0, 4], &[9, 9], 1);
        assert_eq!(sample.nodes, [0, 1, 2, 3, 4]);
        // Node 2 is two edges away from both seeds: it has no neighbours in the sample, and still has its degree.
        assert_eq!(sample.offsets, [0, 1, 3, 3, 5, 6]);
        assert_eq!(sample.targets, [1, 0, 2, 2, 4, 3]);
        assert_eq!(sample.degrees, [1, 2, 2, 2, 1]);
        assert_eq!(super::tests::sample(&[3], &[], 1).nodes, [3]);
    }

    #[test]
    fn neighbourhoods_are_counted_as_far_as_it_takes() {
        let graph = graph();
        let mut sampler = Sampler::new(&graph, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap();
        for (seeds, hops, nodes) in
            [(&[2][..], 0, 1), (&[2], 1, 3), (&[2], 2, 5), (&[2], 9, 5), (&[0, 4], 1, 4), (&[6], 2, 21)]
        {
            assert!(sampler.reaches_more_than(nodes - 1, seeds, hops), "{seeds:?}, {hops} hops");
            assert!(!sampler.reaches_more_than(nodes, seeds, hops), "{seeds:?}, {hops} hops");
            assert!(sampler.place.iter().all(|&place| place == UNSEEN));
        }
    }

    #[test]
    fn draws_are_uniform_without_replacement_and_hang_on_the_key_alone() {
        let mut counts = [0f64; 20];
        const DRAWS: u64 = 4000;
        for key in 0..DRAWS {
            let sample = sample(&[5], &[3], key);
            assert_eq!((sample.nodes.len(), sample.offsets[1]), (4, 3), "three distinct leaves");
            assert_eq!(sample.degrees[0], 20);
            sample.nodes[1..].iter().for_each(|&leaf| counts[leaf as usize - 6] += 1.0);
        }
        // Chi-square of 3 of 20 without replacement is (19/17) of its multinomial value; 43.8 is the 99.9 % point at 19.
        let expected = DRAWS as f64 * 3.0 / 20.0;
        let chi: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
        assert!(chi * 19.0 / 17.0 < 43.8, "chi-square {chi}");
        // Other seeds beside it change nothing of a node's draw.
        let (alone, beside) = (sample(&[5], &[3], 7), sample(&[0, 5], &[3], 7));
        assert_eq!(alone.nodes[1..], beside.nodes[3..]);
    }
}
