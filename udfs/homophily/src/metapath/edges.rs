//! The pairs of nodes that a metapath joins, one by one.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::{HeteroGraph, Metapath, Relation};

/// Calls `emit` with the pairs that a metapath joins, in ascending order, a block at a time: positions within the type it
/// starts from and the type it leads to.
///
/// Between different types these are all pairs (start, end). From a type to itself they are the edges of a simple
/// undirected graph: each once, the smaller node first, joined if the path leads from one to the other in either
/// direction; (v, v) only with `closed_walks`. O(number of visits) time; blocks of about 65,536 pairs and one node's more.
pub fn metapath_edges<E: From<Stopped>>(
    graph: &HeteroGraph,
    path: &Metapath,
    closed_walks: bool,
    monitor: &dyn Monitor,
    mut emit: impl FnMut(&[(u32, u32)]) -> Result<(), E>,
) -> Result<(), E> {
    const BLOCK: usize = 1 << 16;
    let symmetric = path.start == path.end(graph);
    let turned = path.turned(graph);
    let mut walks = vec![relations(graph, path, monitor)?];
    if symmetric && turned != *path {
        walks.push(relations(graph, &turned, monitor)?);
    }
    let n = graph.node_types[path.start].1;
    let widest = walks.iter().flatten().map(Relation::n_targets).max().unwrap_or(0);
    let _reservation = Reservation::new(monitor, 8 * widest + 8 * BLOCK)?;
    let mut seen = vec![false; widest];
    let (mut frontier, mut next) = (Vec::new(), Vec::new());
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    monitor.expect(n as u64);
    for start in 0..n as u32 {
        let mut ends: Vec<u32> = Vec::new();
        for walk in &walks {
            frontier.clear();
            frontier.push(start);
            for step in walk {
                next.clear();
                for &at in &frontier {
                    for &to in step.row(at) {
                        if !std::mem::replace(&mut seen[to as usize], true) {
                            next.push(to);
                        }
                    }
                }
                next.iter().for_each(|&to| seen[to as usize] = false);
                std::mem::swap(&mut frontier, &mut next);
            }
            ends.extend_from_slice(&frontier);
        }
        ends.sort_unstable();
        ends.dedup();
        let kept = ends.into_iter().filter(|&end| !symmetric || end > start || (closed_walks && end == start));
        pairs.extend(kept.map(|end| (start, end)));
        if pairs.len() >= BLOCK {
            emit(&pairs)?;
            pairs.clear();
        }
        if start % 64 == 63 {
            monitor.check()?;
            monitor.advance(64);
        }
    }
    if !pairs.is_empty() {
        emit(&pairs)?;
    }
    Ok(())
}

/// The steps of a path, each with all of its relations.
fn relations(graph: &HeteroGraph, path: &Metapath, monitor: &dyn Monitor) -> Result<Vec<Relation>, Stopped> {
    let step = |steps: &Vec<super::Step>| {
        // A step has a relation at least.
        let mut relations = steps.iter().map(|step| step.pairs(graph));
        let mut relation = relations.next().cloned().unwrap_or_default();
        for other in relations {
            relation = relation.union(other, monitor)?;
        }
        Ok(relation)
    };
    path.steps.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::super::TypedRelation;
    use super::*;
    use bonnet_graph::Unmonitored;

    fn edges(graph: &HeteroGraph, path: &str, closed_walks: bool) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let path = graph.parse_metapath(path).unwrap();
        metapath_edges(graph, &path, closed_walks, &Unmonitored, |pairs| {
            found.extend_from_slice(pairs);
            Ok::<(), Stopped>(())
        })
        .unwrap();
        found
    }

    #[test]
    fn papers_with_a_common_author_are_joined_once() {
        // Paper 0: authors 0, 1; paper 1: 1; paper 2: 0, 1; paper 3: 2; paper 4: none.
        let rows = [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1), (3, 2)];
        let relation = TypedRelation::new("by".to_owned(), (1, 0), (5, 3), &rows, true, &Unmonitored).unwrap();
        let graph = HeteroGraph {
            node_types: vec![("author".to_owned(), 3), ("paper".to_owned(), 5)],
            relations: vec![relation],
        };
        assert_eq!(edges(&graph, "paper>author>paper", false), [(0, 1), (0, 2), (1, 2)]);
        let closed = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (3, 3)];
        assert_eq!(edges(&graph, "paper>author>paper", true), closed);
        assert_eq!(edges(&graph, "paper>author", false), rows);
        assert_eq!(edges(&graph, "author>paper>author", false), [(0, 1)]);
        // Everybody who wrote with somebody of the paper's.
        assert_eq!(
            edges(&graph, "paper>author>paper>author", false),
            [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 2)]
        );
    }

    #[test]
    fn arcs_within_a_type_join_in_either_direction() {
        let relation =
            TypedRelation::new("cites".to_owned(), (0, 0), (4, 4), &[(2, 1), (1, 0), (3, 2)], true, &Unmonitored);
        let graph = HeteroGraph { node_types: vec![("paper".to_owned(), 4)], relations: vec![relation.unwrap()] };
        assert_eq!(edges(&graph, "paper>cites>paper", false), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(edges(&graph, "paper>cites>paper>cites>paper", false), [(0, 2), (1, 3)]);
    }
}
