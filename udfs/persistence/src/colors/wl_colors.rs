//! The colours of the nodes of several graphs by a Weisfeiler-Leman test.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::first_colors::{Substructures, first_colors};
use super::graph_set::GraphSet;
use super::hashed_rounds::{hashed_rounds, is_worth_it};
use super::numbers::{numbered, numbered_below};
use super::pair_colors::pair_colors;
use super::refinement::Refinement;

/// The number of nodes whose colours a test refines at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WlDimension {
    /// 1-WL: colours of nodes, by those of their neighbours.
    #[default]
    One,
    /// 3-WL in the counting of Wang and Zhang's BREC (An Empirical Study of Realized GNN Expressiveness, ICML 2024), which is as
    /// strong as the folklore 2-WL that is computed: colours of pairs of nodes.
    Three,
}

/// What [`wl_colors`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WlOptions {
    /// The test.
    pub dimension: WlDimension,
    /// The number of rounds; `None` until no colour splits any more.
    pub rounds: Option<usize>,
    /// What is counted for the first colours, beside the labels.
    pub substructures: Substructures,
}

/// A colour for each node of the union, numbered from 0 by their first nodes: two nodes, of one graph or of two, have one colour if
/// and only if the test does not tell them apart (Weisfeiler and Leman 1968). Two graphs are alike for the test if every colour is at
/// as many nodes of one as of the other.
///
/// 1-WL is exact, O((n + m) log d) a round, fewer rounds than the largest graph has nodes, and rounds on hashes before them where there are many
/// small graphs; 76 n + 16 m bytes. A node of 3-WL
/// has the colour of the pair of it with itself, which at the end says all that the test sees of its graph. It takes O(n^3) a round
/// and 96 n^2 bytes for each graph, and compares 128-bit hashes: in 2^64 pairs two may be taken for one.
///
/// # Errors
/// The monitor stopped the work, or has no memory for the pairs of nodes.
pub fn wl_colors(set: &GraphSet, options: WlOptions, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let (n, m) = (set.union().n_nodes(), set.union().n_edges());
    let _held = Reservation::new(monitor, Refinement::bytes(n, m) + 8 * n)?;
    let first = first_colors(set, options.substructures, monitor)?;
    match options.dimension {
        WlDimension::One => {
            let first = match options.rounds {
                None if is_worth_it(set) => hashed_rounds(set, &first, monitor)?,
                _ => first,
            };
            let mut refinement = Refinement::new(set.union(), first);
            let mut left = options.rounds.unwrap_or(usize::MAX);
            while left > 0 && refinement.step(monitor)? {
                left -= 1;
            }
            Ok(numbered_below(refinement.n_colors(), refinement.colors()))
        }
        WlDimension::Three => {
            let colors = (0..set.len()).into_par_iter().map(|i| {
                let labels: Vec<u64> = first[set.nodes(i)].iter().map(|&color| u64::from(color)).collect();
                pair_colors(&set.graph(i), &labels, options.rounds, monitor)
            });
            let colors = colors.collect::<Result<Vec<_>, Stopped>>()?;
            Ok(numbered(colors.into_iter().flat_map(|colors| colors.of_nodes)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::testing::{Edges, extension_pair, hexagon_and_triangles, rook_and_shrikhande, set};
    use super::*;
    use crate::descriptors::testing::random_graph;
    use bonnet_graph::Unmonitored;

    fn colors(set: &GraphSet, options: WlOptions) -> Vec<u32> {
        wl_colors(set, options, &Unmonitored).unwrap()
    }

    const THREE: WlOptions =
        WlOptions { dimension: WlDimension::Three, rounds: None, substructures: Substructures::None };

    /// Whether two graphs have the same colours as often.
    fn alike(graphs: &[Edges; 2], options: WlOptions) -> bool {
        let set = set(graphs, None);
        let colors = colors(&set, options);
        let of = |i| {
            let mut own = colors[set.nodes(i)].to_vec();
            own.sort_unstable();
            own
        };
        of(0) == of(1)
    }

    /// The definition: in each round all nodes' colours and sorted neighbours' colours, numbered as they come.
    fn literal(set: &GraphSet, rounds: usize) -> Vec<u32> {
        let mut colors = numbered(set.labels().iter());
        for _ in 0..rounds {
            let next = (0..set.union().n_nodes() as u32).map(|v| {
                let mut around: Vec<u32> = set.union().neighbors(v).iter().map(|&u| colors[u as usize]).collect();
                around.sort_unstable();
                (colors[v as usize], around)
            });
            colors = numbered(next.collect::<Vec<_>>().into_iter());
        }
        colors
    }

    /// The definition of folklore 2-WL, all graphs of a set in step, until no colour splits.
    fn literal_pairs(set: &GraphSet) -> Vec<u32> {
        let mut pairs: Vec<(usize, u32, u32)> = Vec::new();
        for i in 0..set.len() {
            let nodes = set.nodes(i).start as u32..set.nodes(i).end as u32;
            pairs.extend(nodes.clone().flat_map(|u| nodes.clone().map(move |v| (i, u, v))));
        }
        let labels = set.labels();
        let kind = |&(_, u, v): &(usize, u32, u32)| {
            (u == v, set.union().has_edge(u, v), labels[u as usize], labels[v as usize])
        };
        let mut colors = numbered(pairs.iter().map(kind));
        loop {
            let at: BTreeMap<(u32, u32), u32> =
                pairs.iter().zip(&colors).map(|(&(_, u, v), &color)| ((u, v), color)).collect();
            let next = pairs.iter().zip(&colors).map(|(&(i, u, v), &color)| {
                let mut around: Vec<(u32, u32)> =
                    set.nodes(i).map(|w| (at[&(u, w as u32)], at[&(w as u32, v)])).collect();
                around.sort_unstable();
                (color, around)
            });
            let next = numbered(next.collect::<Vec<_>>().into_iter());
            if next.iter().max() == colors.iter().max() {
                return numbered(pairs.iter().zip(next).filter(|((_, u, v), _)| u == v).map(|(_, color)| color));
            }
            colors = next;
        }
    }

    fn random_set(seed: u64) -> GraphSet {
        let mut graphs = Vec::new();
        for i in 0..2 + seed % 4 {
            let graph =
                random_graph(1 + (seed * 7 + i * 3) as usize % 13, 0.15 + 0.1 * (seed % 5) as f64, seed / 2 + i);
            graphs.push((graph.n_nodes(), graph.edges().collect()));
        }
        let n = graphs.iter().map(|(n, _)| n).sum::<usize>();
        let labels = (0..n).map(|v| (v as u32 * 5 + seed as u32) % (1 + seed as u32 % 3)).collect();
        set(&graphs, (seed % 2 == 1).then_some(labels))
    }

    #[test]
    fn colors_are_those_of_the_definition_after_each_round() {
        for seed in 0..200 {
            let set = random_set(seed);
            for rounds in [0, 1, 2, 3, 50] {
                let options = WlOptions { rounds: Some(rounds), ..WlOptions::default() };
                assert_eq!(colors(&set, options), literal(&set, rounds), "seed {seed}, {rounds} rounds");
            }
            assert_eq!(colors(&set, WlOptions::default()), literal(&set, set.union().n_nodes()), "seed {seed}");
        }
    }

    #[test]
    fn colors_of_many_graphs_are_those_of_the_definition() {
        // As many nodes as are shared out to be grouped.
        let graphs: Vec<Edges> = (0..2_000u64)
            .map(|seed| {
                let graph = random_graph(10 + seed as usize % 3, 0.1 + 0.1 * (seed % 4) as f64, seed % 700);
                (graph.n_nodes(), graph.edges().collect())
            })
            .collect();
        let set = set(&graphs, None);
        assert_eq!(colors(&set, WlOptions::default()), literal(&set, 12));
    }

    #[test]
    fn colors_of_pairs_are_those_of_the_definition() {
        for seed in 0..60 {
            let set = random_set(seed);
            assert_eq!(colors(&set, THREE), literal_pairs(&set), "seed {seed}");
        }
    }

    #[test]
    fn the_tests_tell_apart_what_they_are_known_to() {
        let one = WlOptions::default();
        assert!(alike(&hexagon_and_triangles(), one) && !alike(&hexagon_and_triangles(), THREE));
        assert!(alike(&rook_and_shrikhande(), one) && alike(&rook_and_shrikhande(), THREE));
        assert!(alike(&extension_pair(), one) && !alike(&extension_pair(), THREE));
        for graphs in [hexagon_and_triangles(), extension_pair()] {
            assert_eq!(colors(&set(&graphs, None), THREE), literal_pairs(&set(&graphs, None)));
        }
        // Triangles tell the first pair apart, complete graphs of 4 the second.
        let counting = |substructures| WlOptions { substructures, ..one };
        assert!(!alike(&hexagon_and_triangles(), counting(Substructures::Three)));
        assert!(alike(&rook_and_shrikhande(), counting(Substructures::Three)));
        assert!(!alike(&rook_and_shrikhande(), counting(Substructures::Four)));
    }

    #[test]
    fn a_long_path_takes_as_many_rounds_as_its_half() {
        let n = 5000u32;
        let path = set(&[(n as usize, (1..n).map(|v| (v - 1, v)).collect())], None);
        let found = colors(&path, WlOptions::default());
        let expected: Vec<u32> = (0..n).map(|v| v.min(n - 1 - v)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn other_names_of_the_nodes_change_no_color_and_neither_do_threads() {
        let graph = random_graph(300, 0.01, 5);
        let renamed = |v: u32| (v * 77 + 13) % 300;
        let turned = graph.edges().map(|(u, v)| (renamed(u), renamed(v))).collect();
        let both = set(&[(300, graph.edges().collect()), (300, turned)], None);
        for options in [WlOptions::default(), THREE] {
            let found = colors(&both, options);
            assert!((0..300).all(|v| found[v as usize] == found[300 + renamed(v) as usize]));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            assert_eq!(pool.install(|| colors(&both, options)), found);
        }
    }

    #[test]
    fn no_graphs_and_graphs_without_edges_have_colors() {
        assert_eq!(colors(&set(&[], None), WlOptions::default()), [0u32; 0]);
        assert_eq!(colors(&set(&[(0, vec![]), (2, vec![]), (1, vec![])], None), WlOptions::default()), [0, 0, 0]);
        assert_eq!(colors(&set(&[(0, vec![]), (2, vec![]), (1, vec![])], None), THREE), [0, 0, 1]);
    }
}
