//! The pairs of nodes that a metapath joins, counted by class and never stored.
//!
//! The nodes before the last step are *lists* of targets: a paper-author-paper path joins a paper to the union of its
//! authors' lists of papers. Targets are numbered by class, each class padded to a multiple of 64, so that "in my class"
//! is a range and a union of bitmaps is counted word by word.
//!
//! Short lists are walked and marked in a bit set, which is cleared along the list of what was marked. Where lists are
//! long, the longest are bitmaps: the union of each set of them that occurs is counted once for every class, and of a
//! node's lists only the short ones are walked.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

use super::lists::{Lists, Scratch, Walk};
use super::numbering::Numbering;
use super::{HeteroGraph, Metapath};

/// Nodes of a block of work.
const BLOCK: usize = 256;

/// Bitmaps pay above so many visits of targets.
const VISITS: u64 = 1_000_000_000;

/// What a metapath joins: the counts of a simple undirected graph on the labelled target nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PairCounts {
    /// The edges; those of a node with itself only where closed walks count.
    pub edges: u64,
    /// The edges within a class.
    pub equal: u64,
    /// The edges' endpoints in each class: D_k. A closed walk has both endpoints in its class.
    pub ends: Vec<u64>,
}

/// Counts the edges of the graph that a metapath from a type to itself induces on the nodes with a label: u and v are
/// joined if the path leads from one to the other, in either direction. `labels` has one entry a node of the type.
///
/// O(sum over nodes of the lengths of their lists) time, less where lists are long; memory for the renumbered last step,
/// a bit a node for each thread, and at most 256 MiB of bitmaps.
///
/// # Panics
/// If the path does not lead back to its type, or `labels` has not one entry for each of its nodes.
pub fn metapath_pairs(
    graph: &HeteroGraph,
    path: &Metapath,
    labels: &[Option<u32>],
    closed_walks: bool,
    monitor: &dyn Monitor,
) -> Result<PairCounts, Stopped> {
    metapath_pairs_above(graph, path, labels, closed_walks, VISITS, monitor)
}

/// [`metapath_pairs`] with bitmaps above so many visits.
fn metapath_pairs_above(
    graph: &HeteroGraph,
    path: &Metapath,
    labels: &[Option<u32>],
    closed_walks: bool,
    visits: u64,
    monitor: &dyn Monitor,
) -> Result<PairCounts, Stopped> {
    assert_eq!(path.start, path.end(graph), "a path back to its type");
    assert_eq!(labels.len(), graph.node_types[path.start].1, "one label a node");
    let numbering = Numbering::new(labels);
    let turned = path.turned(graph);
    let mut walks = vec![Walk::new(graph, path, &numbering, monitor)?];
    if turned != *path {
        walks.push(Walk::new(graph, &turned, &numbering, monitor)?);
    }
    let lists = Lists::new(walks, &numbering, visits, monitor)?;

    let nodes = &numbering.nodes;
    monitor.expect(nodes.len() as u64);
    let blocks = nodes.par_chunks(BLOCK).map_init(
        || Scratch::new(&lists, &numbering),
        |scratch, block| {
            monitor.check()?;
            let mut part = Part { ends: vec![0; numbering.starts.len() - 1], ..Part::default() };
            for (position, &(node, number, class)) in block.iter().enumerate() {
                lists.fetch_ahead(block, position);
                let (mut all, mut equal, itself) = scratch.neighbors(&lists, node, number, numbering.class(class));
                if itself {
                    (all, equal) = (all - 1, equal - 1);
                    part.closed += 1;
                    part.ends[class as usize] += if closed_walks { 2 } else { 0 };
                }
                part.arcs += all;
                part.equal += equal;
                part.ends[class as usize] += all;
            }
            monitor.advance(block.len() as u64);
            Ok(part)
        },
    );
    let mut sum = Part { ends: vec![0; numbering.starts.len() - 1], ..Part::default() };
    for part in blocks.collect::<Result<Vec<_>, Stopped>>()? {
        sum.arcs += part.arcs;
        sum.equal += part.equal;
        sum.closed += part.closed;
        sum.ends.iter_mut().zip(part.ends).for_each(|(sum, part)| *sum += part);
    }
    let closed = if closed_walks { sum.closed } else { 0 };
    Ok(PairCounts { edges: sum.arcs / 2 + closed, equal: sum.equal / 2 + closed, ends: sum.ends })
}

/// Counts of a block: arcs between different nodes, those within a class, closed walks, ends.
#[derive(Default)]
struct Part {
    arcs: u64,
    equal: u64,
    closed: u64,
    ends: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::super::TypedRelation;
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The graph that a path induces, by sets.
    pub(super) fn literally(
        graph: &HeteroGraph,
        path: &Metapath,
        labels: &[Option<u32>],
        closed_walks: bool,
    ) -> (PairCounts, BTreeSet<(u32, u32)>) {
        let mut edges = BTreeSet::new();
        for start in 0..labels.len() as u32 {
            let mut at = BTreeSet::from([start]);
            for steps in &path.steps {
                at = at.iter().flat_map(|&v| steps.iter().flat_map(move |s| s.pairs(graph).row(v).to_vec())).collect();
            }
            for end in at {
                let both = labels[start as usize].is_some() && labels[end as usize].is_some();
                if both && (closed_walks || start != end) {
                    edges.insert((start.min(end), start.max(end)));
                }
            }
        }
        let n_classes = labels.iter().flatten().max().map_or(0, |&label| label as usize + 1);
        let mut counts = PairCounts { ends: vec![0; n_classes], ..PairCounts::default() };
        for &(u, v) in &edges {
            let (a, b) = (labels[u as usize].unwrap(), labels[v as usize].unwrap());
            counts.edges += 1;
            counts.equal += u64::from(a == b);
            counts.ends[a as usize] += 1;
            counts.ends[b as usize] += 1;
        }
        (counts, edges)
    }

    /// Targets, two types beside them, and relations of all kinds.
    fn schema(n: usize, rows: &[Vec<(u32, u32)>], directed: bool) -> HeteroGraph {
        let sizes = [n, 5, 7];
        let ends = [(0, 1), (0, 1), (1, 0), (0, 2), (2, 1), (0, 0), (2, 2)];
        let relation = |(i, &(from, to)): (usize, &(usize, usize))| {
            let fit = |&(u, v): &(u32, u32)| (u % sizes[from] as u32, v % sizes[to] as u32);
            let rows: Vec<(u32, u32)> = rows[i].iter().map(fit).collect();
            let name = format!("r{i}");
            TypedRelation::new(name, (from, to), (sizes[from], sizes[to]), &rows, directed, &Unmonitored).unwrap()
        };
        HeteroGraph {
            node_types: vec![("a".to_owned(), n), ("b".to_owned(), 5), ("c".to_owned(), 7)],
            relations: ends.iter().enumerate().map(relation).collect(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn counts_agree_with_sets_of_pairs(
            n in 1..30usize,
            rows in proptest::collection::vec(proptest::collection::vec((0..30u32, 0..30u32), 0..25), 7),
            raw_labels in proptest::collection::vec(proptest::option::weighted(0.8, 0..4u32), 30),
            directed in any::<bool>(),
            closed_walks in any::<bool>(),
        ) {
            let graph = schema(n, &rows, directed);
            let labels = &raw_labels[..n];
            for length in 1..=3 {
                for path in graph.metapaths(0, length, true).unwrap() {
                    let (expected, _) = literally(&graph, &path, labels, closed_walks);
                    let found = metapath_pairs(&graph, &path, labels, closed_walks, &Unmonitored).unwrap();
                    prop_assert_eq!(&found, &expected, "{}", graph.name(&path));
                }
            }
            let merged = graph.parse_metapath("a>b>a").unwrap();
            let (expected, _) = literally(&graph, &merged, labels, closed_walks);
            prop_assert_eq!(metapath_pairs(&graph, &merged, labels, closed_walks, &Unmonitored).unwrap(), expected);
        }
    }

    #[test]
    fn long_lists_as_bitmaps_count_the_same() {
        // 700 papers, 20 authors of whom a few wrote hundreds; labels in five classes, some missing.
        let mut state = 9u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((u128::from(state) * u128::from(bound)) >> 64) as u32
        };
        let n = 700usize;
        let rows: Vec<(u32, u32)> = (0..2500)
            .map(|_| {
                let author = below(20).min(below(20)).min(below(20));
                (below(n as u64), author)
            })
            .collect();
        let more: Vec<(u32, u32)> = (0..900).map(|_| (below(20).min(below(20)), below(n as u64))).collect();
        let labels: Vec<Option<u32>> = (0..n).map(|_| Some(below(6)).filter(|&label| label < 5)).collect();
        let relation = |name: &str, ends: (usize, usize), sizes, rows: &[(u32, u32)]| {
            TypedRelation::new(name.to_owned(), ends, sizes, rows, true, &Unmonitored).unwrap()
        };
        let graph = HeteroGraph {
            node_types: vec![("paper".to_owned(), n), ("author".to_owned(), 20)],
            relations: vec![relation("by", (0, 1), (n, 20), &rows), relation("reviews", (1, 0), (20, n), &more)],
        };
        for path in graph.metapaths(0, 2, true).unwrap().iter().chain(&graph.metapaths(0, 4, false).unwrap()) {
            for closed_walks in [false, true] {
                let plain = metapath_pairs(&graph, path, &labels, closed_walks, &Unmonitored).unwrap();
                assert_eq!(plain, literally(&graph, path, &labels, closed_walks).0);
                let bitmaps = metapath_pairs_above(&graph, path, &labels, closed_walks, 0, &Unmonitored).unwrap();
                assert_eq!(bitmaps, plain);
            }
        }
        let numbering = Numbering::new(&labels);
        let path = graph.parse_metapath("paper>by>author>^by>paper").unwrap();
        let walk = Walk::new(&graph, &path, &numbering, &Unmonitored).unwrap();
        let lists = Lists::new(vec![walk], &numbering, 0, &Unmonitored).unwrap();
        assert!(lists.unions.keys().any(|set| set.len() > 2), "the test is to meet unions of several bitmaps");
        assert!(lists.bitmap_of.contains(&u32::MAX), "and short lists");
    }

    #[test]
    fn no_labels_are_no_pairs() {
        let graph = schema(3, &vec![vec![(0, 0), (1, 0)]; 7], false);
        let path = graph.parse_metapath("a>c>a").unwrap();
        assert_eq!(metapath_pairs(&graph, &path, &[None; 3], true, &Unmonitored).unwrap(), PairCounts::default());
    }
}
