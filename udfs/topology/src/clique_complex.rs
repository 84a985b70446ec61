//! The clique complex of a graph.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::FlatFacets;
use crate::faces::{FacesError, MAX_FACES};

/// Cliques for which memory is reserved at a time.
const BLOCK: usize = 1 << 12;
/// Steps between two looks at the monitor.
const PATIENCE: usize = 1 << 12;

/// The facets of the clique complex of a graph, each ascending, in lexicographic order: its maximal cliques or, up to
/// `max_dimension`, its cliques of `max_dimension + 1` nodes and the maximal ones below that.
///
/// Nodes are taken in an order of degeneracy d; the cliques that begin with one are found among its at most d later
/// neighbours by Bron and Kerbosch's recursion with pivots, on bit sets: O(d n 3^(d/3)) time, which is the number of
/// maximal cliques at worst. Nodes run in parallel. 4 bytes a node of a clique, twice while they are sorted.
///
/// # Errors
/// [`FacesError::TooMany`] for more than [`MAX_FACES`] cliques; [`FacesError::Stopped`] when the host wants no answer or
/// grants no memory for it.
///
/// # Source
/// Eppstein, Loeffler and Strash, Listing All Maximal Cliques in Sparse Graphs in Near-optimal Time (ISAAC 2010).
pub fn clique_complex(
    graph: &Graph,
    max_dimension: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<FlatFacets, FacesError> {
    let size = max_dimension.map_or(usize::MAX, |dimension| dimension.saturating_add(1));
    let (order, rank) = degeneracy_order(graph);
    monitor.expect(order.len() as u64);
    let found: Vec<(Vec<Vec<u32>>, Reservation<'_>)> = order
        .par_iter()
        .map(|&v| {
            monitor.check()?;
            let mut search = Search::new(graph, &rank, v, size, monitor)?;
            search.maximal_below()?;
            if size != usize::MAX {
                search.of_size()?;
            }
            monitor.advance(1);
            Ok((search.found, search.reservation))
        })
        .collect::<Result<_, FacesError>>()?;
    let mut cliques: Vec<&Vec<u32>> = found.iter().flat_map(|(cliques, _)| cliques).collect();
    if cliques.len() > MAX_FACES {
        let dimension = cliques.iter().map(|clique| clique.len()).max().unwrap_or(1) - 1;
        return Err(FacesError::TooMany { dimension });
    }
    cliques.par_sort_unstable();
    let mut facets = FlatFacets::default();
    cliques.into_iter().for_each(|clique| facets.push(clique.iter().map(|&v| i64::from(v))));
    Ok(facets)
}

/// The nodes, each with the fewest neighbours among those that follow it, and the position of each. O(n + m).
fn degeneracy_order(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let n = graph.n_nodes();
    let mut degrees: Vec<usize> = (0..n as u32).map(|v| graph.degree(v)).collect();
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); degrees.iter().max().map_or(0, |most| most + 1)];
    (0..n).for_each(|v| buckets[degrees[v]].push(v as u32));
    let mut rank = vec![u32::MAX; n];
    let mut order = Vec::with_capacity(n);
    let mut lowest = 0;
    while order.len() < n {
        let Some(v) = buckets[lowest].pop() else {
            lowest += 1;
            continue;
        };
        // A node stands in the bucket of every degree that it has had.
        if rank[v as usize] != u32::MAX || degrees[v as usize] != lowest {
            continue;
        }
        rank[v as usize] = order.len() as u32;
        order.push(v);
        for &u in graph.neighbors(v) {
            if rank[u as usize] == u32::MAX {
                degrees[u as usize] -= 1;
                buckets[degrees[u as usize]].push(u);
                lowest = lowest.min(degrees[u as usize]);
            }
        }
    }
    (order, rank)
}

/// The cliques whose first node, in the order of degeneracy, is one node.
struct Search<'a> {
    root: u32,
    /// The later neighbours, ascending: the candidates.
    later: Vec<u32>,
    /// For each later neighbour, then for each earlier one, its neighbours among the later ones.
    rows: Vec<u64>,
    n_earlier: usize,
    words: usize,
    size: usize,
    chosen: Vec<usize>,
    found: Vec<Vec<u32>>,
    steps: usize,
    reservation: Reservation<'a>,
    paid: usize,
    monitor: &'a dyn Monitor,
}

impl<'a> Search<'a> {
    fn new(graph: &Graph, rank: &[u32], root: u32, size: usize, monitor: &'a dyn Monitor) -> Result<Self, Stopped> {
        let of_root = rank[root as usize];
        let (earlier, later): (Vec<u32>, Vec<u32>) =
            graph.neighbors(root).iter().partition(|&&v| rank[v as usize] < of_root);
        let words = later.len().div_ceil(64);
        let rows = (later.len() + earlier.len()) * words;
        let reservation = Reservation::new(monitor, 8 * rows)?;
        let mut rows = vec![0u64; rows];
        for (i, &v) in later.iter().chain(&earlier).enumerate() {
            for (j, &u) in later.iter().enumerate() {
                if graph.has_edge(u, v) {
                    rows[i * words + j / 64] |= 1 << (j % 64);
                }
            }
        }
        let n_earlier = earlier.len();
        let (chosen, found) = (Vec::new(), Vec::new());
        Ok(Self { root, later, rows, n_earlier, words, size, chosen, found, steps: 0, reservation, paid: 0, monitor })
    }

    fn row(&self, i: usize) -> &[u64] {
        &self.rows[i * self.words..(i + 1) * self.words]
    }

    fn step(&mut self) -> Result<(), Stopped> {
        self.steps += 1;
        if self.steps.is_multiple_of(PATIENCE) {
            self.monitor.check()?;
        }
        Ok(())
    }

    fn emit(&mut self) -> Result<(), FacesError> {
        let mut clique: Vec<u32> = self.chosen.iter().map(|&i| self.later[i]).collect();
        clique.push(self.root);
        clique.sort_unstable();
        if self.found.len() == self.paid {
            self.reservation.grow(BLOCK.min(self.paid + 16) * (4 * clique.len() + 48))?;
            self.paid += BLOCK.min(self.paid + 16);
        }
        if self.found.len() >= MAX_FACES {
            return Err(FacesError::TooMany { dimension: clique.len() - 1 });
        }
        self.found.push(clique);
        Ok(())
    }

    /// The maximal cliques of fewer than `size` nodes.
    fn maximal_below(&mut self) -> Result<(), FacesError> {
        let mut candidates = vec![u64::MAX; self.words];
        if let Some(last) = candidates.last_mut()
            && !self.later.len().is_multiple_of(64)
        {
            *last = (1 << (self.later.len() % 64)) - 1;
        }
        let excluded: Vec<usize> = (self.later.len()..self.later.len() + self.n_earlier).collect();
        self.extend_maximal(candidates, excluded)
    }

    /// `candidates` extend the chosen nodes and are still to be tried, `excluded` extend them and were tried before.
    fn extend_maximal(&mut self, mut candidates: Vec<u64>, mut excluded: Vec<usize>) -> Result<(), FacesError> {
        self.step()?;
        if self.chosen.len() + 1 >= self.size {
            return Ok(());
        }
        if candidates.iter().all(|word| *word == 0) {
            return if excluded.is_empty() { self.emit() } else { Ok(()) };
        }
        // Every maximal clique has a node that is not a neighbour of the pivot, or the pivot itself.
        let common = |i: usize| -> u32 {
            self.row(i).iter().zip(&candidates).map(|(row, candidates)| (row & candidates).count_ones()).sum()
        };
        let pivot = ones(&candidates).chain(excluded.iter().copied()).max_by_key(|&i| common(i));
        let Some(pivot) = pivot else { return Ok(()) };
        let branches: Vec<u64> = candidates.iter().zip(self.row(pivot)).map(|(all, row)| all & !row).collect();
        for v in ones(&branches).collect::<Vec<_>>() {
            let remaining = candidates.iter().zip(self.row(v)).map(|(all, row)| all & row).collect();
            // An excluded node stays where it is a neighbour of v too.
            let still = excluded.iter().copied().filter(|&x| self.row(x)[v / 64] >> (v % 64) & 1 == 1).collect();
            self.chosen.push(v);
            self.extend_maximal(remaining, still)?;
            self.chosen.pop();
            candidates[v / 64] &= !(1 << (v % 64));
            excluded.push(v);
        }
        Ok(())
    }

    /// The cliques of exactly `size` nodes.
    fn of_size(&mut self) -> Result<(), FacesError> {
        let mut candidates = vec![0; self.words];
        (0..self.later.len()).for_each(|i| candidates[i / 64] |= 1 << (i % 64));
        self.extend_to_size(candidates)
    }

    fn extend_to_size(&mut self, mut candidates: Vec<u64>) -> Result<(), FacesError> {
        self.step()?;
        let missing = self.size - self.chosen.len() - 1;
        if missing == 0 {
            return self.emit();
        }
        if (candidates.iter().map(|word| word.count_ones()).sum::<u32>() as usize) < missing {
            return Ok(());
        }
        for v in ones(&candidates).collect::<Vec<_>>() {
            candidates[v / 64] &= !(1 << (v % 64));
            let remaining = candidates.iter().zip(self.row(v)).map(|(all, row)| all & row).collect();
            self.chosen.push(v);
            self.extend_to_size(remaining)?;
            self.chosen.pop();
        }
        Ok(())
    }
}

/// The positions of the bits that are set.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        std::iter::successors(Some(word), |word| Some(word & (word - 1)).filter(|rest| *rest != 0))
            .filter(|word| *word != 0)
            .map(move |word| i * 64 + word.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(n: usize, edges: &[(u32, u32)], max_dimension: Option<usize>) -> Vec<Vec<i64>> {
        let facets = clique_complex(&Graph::from_edges(n, edges), max_dimension, &Unmonitored).unwrap();
        facets.iter().map(<[i64]>::to_vec).collect()
    }

    #[test]
    fn a_complete_graph_is_one_simplex_and_its_skeleta() {
        let edges: Vec<(u32, u32)> = (0..70).flat_map(|u| (u + 1..70).map(move |v| (u, v))).collect();
        assert_eq!(of(70, &edges, None), [(0..70).collect::<Vec<_>>()]);
        assert_eq!(of(70, &edges, Some(1)).len(), 70 * 69 / 2);
        assert_eq!(of(70, &edges, Some(2)).len(), 70 * 69 * 68 / 6);
        assert_eq!(of(70, &edges, Some(0)).len(), 70);
    }

    #[test]
    fn moon_and_mosers_graphs_have_three_to_the_k_maximal_cliques() {
        for k in 1..7u32 {
            let apart = |u: u32, v: u32| u / 3 != v / 3;
            let edges: Vec<(u32, u32)> =
                (0..3 * k).flat_map(|u| (u + 1..3 * k).map(move |v| (u, v))).filter(|&(u, v)| apart(u, v)).collect();
            assert_eq!(of(3 * k as usize, &edges, None).len(), 3usize.pow(k));
        }
    }

    #[test]
    fn isolated_nodes_are_points() {
        assert_eq!(of(4, &[(1, 2), (3, 3)], None), [vec![0], vec![1, 2], vec![3]]);
        assert!(of(0, &[], None).is_empty());
    }

    proptest! {
        #[test]
        fn facets_agree_with_all_subsets(
            edges in proptest::collection::vec((0u32..9, 0u32..9), 0..40), max in proptest::option::of(0usize..5),
        ) {
            let graph = Graph::from_edges(9, &edges);
            let clique = |set: u32| {
                (0..9).all(|u| (0..u).all(|v| set >> u & set >> v & 1 == 0 || graph.has_edge(u, v)))
            };
            let size = max.map_or(9, |max| max + 1);
            let cliques: Vec<u32> =
                (1u32..1 << 9).filter(|&set| set.count_ones() as usize <= size && clique(set)).collect();
            let mut expected: Vec<Vec<i64>> = cliques
                .iter()
                .filter(|&&set| !cliques.iter().any(|&other| other != set && other & set == set))
                .map(|set| (0..9).filter(|v| set >> v & 1 == 1).collect())
                .collect();
            expected.sort();
            prop_assert_eq!(of(9, &edges, max), expected);
        }
    }
}
