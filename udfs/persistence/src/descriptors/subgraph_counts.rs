//! The copies of small patterns in a graph, by name.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::cycle_counts::{chordless_cycles, cycles, five_cycles};
use super::orbit_counts::{ORBITS, orbit_counts};

/// A connected graph whose copies are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// Its name.
    pub name: &'static str,
    /// The number of its nodes.
    pub nodes: usize,
}

/// The patterns of 3 and 4 nodes, and the orbits that make up each.
const SMALL: [(Pattern, &[usize]); 8] = [
    (Pattern { name: "path3", nodes: 3 }, &[1, 2]),
    (Pattern { name: "triangle", nodes: 3 }, &[3]),
    (Pattern { name: "path4", nodes: 4 }, &[4, 5]),
    (Pattern { name: "star", nodes: 4 }, &[6, 7]),
    (Pattern { name: "cycle4", nodes: 4 }, &[8]),
    (Pattern { name: "tailed_triangle", nodes: 4 }, &[9, 10, 11]),
    (Pattern { name: "chordal_cycle", nodes: 4 }, &[12, 13]),
    (Pattern { name: "clique4", nodes: 4 }, &[14]),
];

/// How many copies of each small pattern, by row, an induced subgraph of each small pattern, by column, has on all its nodes.
const WITHIN: [[u128; 8]; 8] = [
    [1, 3, 0, 0, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 1, 0, 4, 2, 6, 12],
    [0, 0, 0, 1, 0, 1, 2, 4],
    [0, 0, 0, 0, 1, 0, 1, 3],
    [0, 0, 0, 0, 0, 1, 4, 12],
    [0, 0, 0, 0, 0, 0, 1, 6],
    [0, 0, 0, 0, 0, 0, 0, 1],
];

/// The longest cycle that is counted.
pub const LONGEST_CYCLE: usize = 8;

const CYCLES: [Pattern; 4] = [
    Pattern { name: "cycle5", nodes: 5 },
    Pattern { name: "cycle6", nodes: 6 },
    Pattern { name: "cycle7", nodes: 7 },
    Pattern { name: "cycle8", nodes: 8 },
];

/// How many copies of a pattern each node is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternCounts {
    /// The pattern.
    pub pattern: Pattern,
    /// The subgraphs of the graph that are the pattern, by node.
    pub copies: Vec<u128>,
    /// Those with no other edge between their nodes, by node.
    pub induced: Vec<u128>,
}

impl PatternCounts {
    /// The copies in the graph, and those that are induced.
    pub fn total(&self) -> (u128, u128) {
        let total = |counts: &[u128]| counts.iter().sum::<u128>() / self.pattern.nodes as u128;
        (total(&self.copies), total(&self.induced))
    }
}

/// How many copies of each pattern there are at each node: paths of 3 and 4 nodes, triangle, star of 4, cycle of 4, triangle with a
/// tail, cycle of 4 with a chord, complete graph of 4; then the cycles of 5 and more nodes up to `longest_cycle`, which is at most
/// [`LONGEST_CYCLE`].
///
/// Patterns of up to 4 nodes follow from [`orbit_counts`], at its cost, and copies of a pattern from induced ones by how often it lies in
/// each. Cycles of 5 are counted by walks of two steps that meet at the ends of an edge, O(the degrees of the nodes within two steps) a node.
/// Chordless cycles of 5 and more, and other cycles of 6 and more, are walked along one by one, from their node of highest degree: the
/// time grows with the paths of that length.
///
/// # Errors
/// The monitor stopped the work.
///
/// # Panics
/// If `longest_cycle` is above [`LONGEST_CYCLE`].
pub fn subgraph_counts(
    graph: &Graph,
    longest_cycle: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<PatternCounts>, Stopped> {
    assert!(longest_cycle <= LONGEST_CYCLE, "cycles of at most {LONGEST_CYCLE} nodes");
    let n = graph.n_nodes();
    let longer = longest_cycle.saturating_sub(4);
    let _held = Reservation::new(monitor, 8 * ORBITS * n + 32 * n * (SMALL.len() + longer))?;
    let orbits = orbit_counts(graph, monitor)?;
    let induced: Vec<Vec<u128>> = SMALL
        .iter()
        .map(|(_, own)| orbits.iter().map(|counts| own.iter().map(|&orbit| u128::from(counts[orbit])).sum()).collect())
        .collect();
    drop(orbits);
    let mut counts = Vec::with_capacity(SMALL.len() + longer);
    for (row, (pattern, _)) in SMALL.iter().enumerate() {
        let of_node = |v: usize| WITHIN[row].iter().zip(&induced).map(|(copies, induced)| copies * induced[v]).sum();
        counts.push(PatternCounts {
            pattern: *pattern,
            copies: (0..n).map(of_node).collect(),
            induced: induced[row].clone(),
        });
    }
    for &pattern in &CYCLES[..longer] {
        let copies = match pattern.nodes {
            5 => five_cycles(graph, monitor)?,
            length => cycles(graph, length, monitor)?,
        };
        counts.push(PatternCounts { pattern, copies, induced: chordless_cycles(graph, pattern.nodes, monitor)? });
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptors::testing::{KARATE, random_graph};
    use bonnet_graph::Unmonitored;

    fn edges_of(name: &str) -> Vec<(usize, usize)> {
        let cycle = |n: usize| (0..n).map(|v| (v, (v + 1) % n)).collect();
        match name {
            "path3" => vec![(0, 1), (1, 2)],
            "triangle" => cycle(3),
            "path4" => vec![(0, 1), (1, 2), (2, 3)],
            "star" => vec![(0, 1), (0, 2), (0, 3)],
            "cycle4" => cycle(4),
            "tailed_triangle" => vec![(0, 1), (1, 2), (0, 2), (2, 3)],
            "chordal_cycle" => vec![(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)],
            "clique4" => vec![(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
            other => cycle(other.trim_start_matches("cycle").parse().unwrap()),
        }
    }

    /// All ways to send the nodes of a pattern to different nodes that keep its edges, over those that keep the pattern itself.
    fn literal(graph: &Graph, pattern: Pattern, induced: bool) -> Vec<u128> {
        let edges = edges_of(pattern.name);
        let fits =
            |place: &[u32], own: &dyn Fn(usize, usize) -> bool, whole: &dyn Fn(u32, u32) -> bool, induced: bool| {
                let last = place.len() - 1;
                (0..last).all(|other| {
                    let (there, here) = (own(other, last), whole(place[other], place[last]));
                    if induced { there == here } else { !there || here }
                })
            };
        let own = |u: usize, v: usize| edges.contains(&(u, v)) || edges.contains(&(v, u));
        fn place(at: &mut Vec<u32>, size: usize, n: u32, fits: &dyn Fn(&[u32]) -> bool, found: &mut dyn FnMut(&[u32])) {
            if at.len() == size {
                return found(at);
            }
            for v in 0..n {
                if !at.contains(&v) {
                    at.push(v);
                    if fits(at) {
                        place(at, size, n, fits, found);
                    }
                    at.pop();
                }
            }
        }
        let mut symmetries = 0u128;
        let same = |u: u32, v: u32| own(u as usize, v as usize);
        place(
            &mut Vec::new(),
            pattern.nodes,
            pattern.nodes as u32,
            &|at: &[u32]| fits(at, &own, &same, true),
            &mut |_| symmetries += 1,
        );
        let mut counts = vec![0u128; graph.n_nodes()];
        let has = |u: u32, v: u32| graph.has_edge(u, v);
        place(
            &mut Vec::new(),
            pattern.nodes,
            graph.n_nodes() as u32,
            &|at: &[u32]| fits(at, &own, &has, induced),
            &mut |at| {
                at.iter().for_each(|&v| counts[v as usize] += 1);
            },
        );
        counts.into_iter().map(|count| count / symmetries).collect()
    }

    #[test]
    fn counts_are_those_of_all_placements() {
        for seed in 0..40 {
            let graph = random_graph(1 + seed as usize % 9, 0.2 + 0.2 * (seed % 4) as f64, seed);
            for counts in subgraph_counts(&graph, 8, &Unmonitored).unwrap() {
                let expected = literal(&graph, counts.pattern, false);
                assert_eq!(counts.copies, expected, "{} of seed {seed}", counts.pattern.name);
                assert_eq!(
                    counts.induced,
                    literal(&graph, counts.pattern, true),
                    "{} of seed {seed}",
                    counts.pattern.name
                );
            }
        }
    }

    fn total(graph: &Graph, name: &str) -> (u128, u128) {
        let all = subgraph_counts(graph, 8, &Unmonitored).unwrap();
        all.iter().find(|counts| counts.pattern.name == name).unwrap().total()
    }

    #[test]
    fn complete_and_bipartite_graphs_have_closed_forms() {
        // Of n nodes, n! / (2 k (n - k)!) cycles of k; of two sides of m, m!^2 / (k (m - k / 2)!^2).
        let complete: Vec<(u32, u32)> = (0..9).flat_map(|u| (u + 1..9).map(move |v| (u, v))).collect();
        let complete = Graph::from_edges(9, &complete);
        for (name, expected) in
            [("cycle4", 378), ("cycle5", 1512), ("cycle6", 5040), ("cycle7", 12960), ("cycle8", 22680)]
        {
            assert_eq!(total(&complete, name), (expected, 0), "{name}");
        }
        assert_eq!(total(&complete, "clique4"), (126, 126));
        let bipartite: Vec<(u32, u32)> = (0..5).flat_map(|u| (5..10).map(move |v| (u, v))).collect();
        let bipartite = Graph::from_edges(10, &bipartite);
        for (name, expected) in
            [("cycle4", (100, 100)), ("cycle5", (0, 0)), ("cycle6", (600, 0)), ("cycle8", (1800, 0))]
        {
            assert_eq!(total(&bipartite, name), expected, "{name}");
        }
        // The Petersen graph has 12, 10, 0 and 15 cycles of 5 to 8 nodes; all of 8 have chords.
        let outer = (0..5u32).map(|v| (v, (v + 1) % 5));
        let petersen: Vec<_> =
            outer.chain((0..5).map(|v| (v, v + 5))).chain((0..5).map(|v| (5 + v, 5 + (v + 2) % 5))).collect();
        let petersen = Graph::from_edges(10, &petersen);
        assert_eq!((total(&petersen, "cycle5"), total(&petersen, "cycle6")), ((12, 12), (10, 10)));
        assert_eq!((total(&petersen, "cycle7"), total(&petersen, "cycle8")), ((0, 0), (15, 0)));
    }

    #[test]
    fn the_karate_club_has_the_counts_of_networkx() {
        let karate = Graph::from_edges(34, KARATE);
        // networkx 3.6.1: simple_cycles and chordless_cycles with length_bound=6, counted by length.
        assert_eq!(total(&karate, "triangle"), (45, 45));
        assert_eq!(total(&karate, "cycle4"), NETWORKX[0]);
        assert_eq!(total(&karate, "cycle5"), NETWORKX[1]);
        assert_eq!(total(&karate, "cycle6"), NETWORKX[2]);
    }

    const NETWORKX: [(u128, u128); 3] = [(154, 36), (374, 20), (969, 2)];

    #[test]
    fn large_graphs_take_the_parallel_way_to_the_same_counts() {
        let graph = random_graph(600, 0.03, 7);
        let serial = subgraph_counts(&graph, 6, &Unmonitored).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(|| subgraph_counts(&graph, 6, &Unmonitored).unwrap()), serial);
        // Walked along, the cycles of 5 are as many as by the formula.
        assert_eq!(cycles(&graph, 5, &Unmonitored).unwrap(), five_cycles(&graph, &Unmonitored).unwrap());
        assert_eq!(cycles(&graph, 4, &Unmonitored).unwrap(), serial[4].copies);
    }
}
