//! Sampling of a typed graph by budgets (Hu et al. 2020, Heterogeneous Graph Transformer, Sec. 4.1): as many nodes of each type.

use bonnet_graph::{Graph, Reservation, Stopped};

use super::sample::{Lists, Sample, UNSEEN};
use crate::ground::random::{Stream, key};

/// Draws samples that have about as many nodes of one type as of another, and the edges between them. It holds 12 bytes a node, and 24 more
/// while it draws.
#[derive(Debug)]
pub struct TypeSampler<'a> {
    /// The type of each node; none where all are of one.
    kinds: &'a [u32],
    n_types: usize,
    /// The edges into each node, by relation.
    lists: Vec<Lists<'a>>,
    /// The position of a node in the sample that is being drawn.
    place: Vec<u32>,
    /// What a node has been given by the nodes of the sample: of each relation into one of them 1 / its edges there.
    budget: Vec<f64>,
}

impl<'a> TypeSampler<'a> {
    /// A sampler of a graph's nodes, `kinds` their types below `n_types`, along `lists`; the reservation grows by what it holds.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn new(
        graph: &Graph,
        (kinds, n_types): (&'a [u32], usize),
        lists: Vec<Lists<'a>>,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let n = graph.n_nodes();
        // Positions and budgets, and at most as many nodes that are reached, that are given something and that wait.
        reservation.grow(36 * n)?;
        Ok(Self { kinds, n_types, lists, place: vec![UNSEEN; n], budget: vec![0.0; n] })
    }

    /// The sample around `seeds` (ascending, distinct) for each relation, on the same nodes: in hop h up to `counts[h]` nodes of each
    /// type, without replacement and in proportion to the square of their budgets, and all edges between the nodes that are there.
    ///
    /// The draw depends on the key and the seeds. O(edges of the nodes + nodes log(nodes)) time; the reservation grows by what the
    /// sample holds.
    ///
    /// # Errors
    /// If the host refuses the memory, or wants no answer any more.
    pub fn samples(
        &mut self,
        seeds: &[u32],
        counts: &[u32],
        sample_key: u64,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<Sample>, Stopped> {
        let (mut reached, mut given) = (seeds.to_vec(), Vec::new());
        let samples = self
            .reach(&mut reached, &mut given, counts, sample_key, reservation)
            .and_then(|()| self.edges_between(&mut reached, reservation));
        reached.iter().for_each(|&v| self.place[v as usize] = UNSEEN);
        given.iter().for_each(|&v| self.budget[v as usize] = 0.0);
        samples
    }

    /// Appends the nodes of the sample to the seeds, and those that have a budget to `given`.
    fn reach(
        &mut self,
        reached: &mut Vec<u32>,
        given: &mut Vec<u32>,
        counts: &[u32],
        sample_key: u64,
        reservation: &mut Reservation<'_>,
    ) -> Result<(), Stopped> {
        reached.iter().for_each(|&v| self.place[v as usize] = 0);
        let mut done = 0;
        for (hop, &count) in counts.iter().enumerate() {
            reservation.check()?;
            for &v in &reached[done..] {
                for (offsets, targets) in &self.lists {
                    let row = &targets[offsets[v as usize]..offsets[v as usize + 1]];
                    let share = 1.0 / row.len() as f64;
                    for &u in row {
                        let budget = &mut self.budget[u as usize];
                        if *budget == 0.0 {
                            given.push(u);
                        }
                        *budget += share;
                    }
                }
            }
            done = reached.len();
            // Exponential waiting times whose rates are the weights: the first to come are a draw without replacement.
            let mut waiting = vec![Vec::new(); self.n_types];
            for &u in given.iter().filter(|&&u| self.place[u as usize] == UNSEEN) {
                let uniform = Stream::new(key(&[sample_key, hop as u64, u64::from(u)])).uniform();
                let kind = self.kinds.get(u as usize).map_or(0, |&kind| kind as usize);
                waiting[kind].push((-(-uniform).ln_1p() / self.budget[u as usize].powi(2), u));
            }
            for mut waiting in waiting {
                let count = waiting.len().min(count as usize);
                if count < waiting.len() {
                    waiting.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                }
                reached.extend(waiting[..count].iter().map(|&(_, u)| u));
            }
            reached[done..].sort_unstable();
            reached[done..].iter().for_each(|&u| self.place[u as usize] = 0);
        }
        Ok(())
    }

    /// The edges between the nodes that are reached, which are sorted.
    fn edges_between(
        &mut self,
        reached: &mut [u32],
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<Sample>, Stopped> {
        reached.sort_unstable();
        reached.iter().zip(0..).for_each(|(&v, number)| self.place[v as usize] = number);
        let bytes_of_node = 2 * size_of::<u32>() + size_of::<usize>();
        let mut samples = Vec::with_capacity(self.lists.len());
        for (starts, ends) in &self.lists {
            reservation.check()?;
            let row = |v: u32| &ends[starts[v as usize]..starts[v as usize + 1]];
            let between = |v: u32| row(v).iter().map(|&u| self.place[u as usize]).filter(|&place| place != UNSEEN);
            let edges: usize = reached.iter().map(|&v| between(v).count()).sum();
            reservation.grow(bytes_of_node * reached.len() + size_of::<u32>() * edges)?;
            let (mut offsets, mut targets) = (vec![0], Vec::with_capacity(edges));
            for &v in reached.iter() {
                targets.extend(between(v));
                offsets.push(targets.len());
            }
            let degrees = reached.iter().map(|&v| row(v).len() as u32).collect();
            samples.push(Sample { nodes: reached.to_vec(), offsets, targets, degrees });
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    fn samples(graph: &Graph, kinds: &[u32], seeds: &[u32], counts: &[u32], draw: u64) -> Vec<Sample> {
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let n_types = kinds.iter().max().map_or(1, |&most| most as usize + 1);
        let lists = vec![(graph.offsets(), graph.targets())];
        let mut sampler = TypeSampler::new(graph, (kinds, n_types), lists, &mut reservation).unwrap();
        let samples = sampler.samples(seeds, counts, draw, &mut reservation).unwrap();
        assert!(
            sampler.place.iter().all(|&place| place == UNSEEN) && sampler.budget.iter().all(|&budget| budget == 0.0)
        );
        samples
    }

    #[test]
    fn nodes_come_in_proportion_to_the_square_of_what_they_are_given() {
        // Node 0 gives 2 and 3 a half each, node 1 gives 3 one more: 0.25 beside 2.25.
        let graph = Graph::from_edges(4, &[(0, 2), (0, 3), (1, 3)]);
        const DRAWS: u64 = 20_000;
        let with_two =
            (0..DRAWS).filter(|&draw| samples(&graph, &[], &[0, 1], &[1], draw)[0].nodes == [0, 1, 2]).count();
        let share = with_two as f64 / DRAWS as f64;
        // Four standard deviations of a binomial share.
        assert!((share - 0.1).abs() < 4.0 * (0.1f64 * 0.9 / DRAWS as f64).sqrt(), "{share}");
    }

    #[test]
    fn as_many_nodes_of_each_type_and_all_edges_between_them() {
        // A node amid 30 of type 1 and 5 of type 2, each of which has an edge to the next of its type.
        let mut edges: Vec<(u32, u32)> = (1..36).map(|v| (0, v)).collect();
        edges.extend((1..30).map(|v| (v, v + 1)));
        let graph = Graph::from_edges(36, &edges);
        let kinds: Vec<u32> = (0..36)
            .map(|v| {
                if v == 0 {
                    0
                } else if v < 31 {
                    1
                } else {
                    2
                }
            })
            .collect();
        for draw in 0..50 {
            let sample = &samples(&graph, &kinds, &[0], &[8], draw)[0];
            let of = |kind| sample.nodes.iter().filter(|&&v| kinds[v as usize] == kind).count();
            assert_eq!((of(0), of(1), of(2)), (1, 8, 5), "all five of the type that has no more");
            for (i, &v) in sample.nodes.iter().enumerate() {
                let expected: Vec<u32> =
                    (0..).zip(&sample.nodes).filter(|(_, u)| graph.has_edge(v, **u)).map(|(place, _)| place).collect();
                assert_eq!(sample.targets[sample.offsets[i]..sample.offsets[i + 1]], expected);
                assert_eq!(sample.degrees[i] as usize, graph.degree(v));
            }
            assert_eq!(samples(&graph, &kinds, &[0], &[8], draw)[0], *sample);
        }
        // Two hops of many take all; no hop takes the seeds and the edges between them.
        assert_eq!(samples(&graph, &kinds, &[30], &[99, 99], 0)[0].nodes.len(), 36);
        let alone = &samples(&graph, &kinds, &[3, 4, 9], &[], 0)[0];
        assert_eq!((alone.nodes.as_slice(), alone.targets.as_slice()), (&[3, 4, 9][..], &[1, 0][..]));
    }
}
