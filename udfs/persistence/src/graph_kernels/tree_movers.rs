//! The tree mover's distance.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::assignment::Assignment;
use super::gram::PairValues;
use crate::colors::{GraphSet, Refinement, first_labels};

/// The distance of the features of two different labels, each a unit vector of its own.
const APART: f64 = std::f64::consts::SQRT_2;

/// The tree mover's distance of all pairs of graphs (Chuang and Jegelka, Tree Mover's Distance, NeurIPS 2022, Definitions 4 to 6): the
/// least sum of distances in a matching of the computation trees of `depth` levels of one graph's nodes with those of the other's, the
/// smaller side filled up with blank trees. Two trees are apart by the distance of their roots' features plus `weight` times the same
/// distance between the multisets of their subtrees. The feature of a node is the unit vector of its label, that of a blank tree 0.
///
/// Trees are told apart by colours, each once a graph; subtrees that both sides have stay where they are, by the triangle
/// inequality; the rest is matched exactly. For graphs of n nodes of degree d, O(n^2 d^3) a level and O(n^3) for the nodes of a pair at
/// most; 8 n^2 bytes a thread.
///
/// # Errors
/// The monitor stopped the work.
///
/// # Panics
/// If `depth` is 0.
pub fn tree_movers_distance(
    set: &GraphSet,
    depth: usize,
    weight: f64,
    monitor: &dyn Monitor,
) -> Result<PairValues, Stopped> {
    assert!(depth > 0, "a tree has a level");
    let (n, m) = (set.union().n_nodes(), set.union().n_edges());
    let _held =
        Reservation::new(monitor, Refinement::bytes(n, m) + depth * (48 * n + 16 * m) + PairValues::bytes(set.len()))?;
    let forests = forests(set, depth, weight, monitor)?;
    PairValues::by_rows(set.len(), monitor, Pair::default, |pair, i| {
        (0..=i)
            .map(|j| {
                monitor.check()?;
                if i == j { Ok(0.0) } else { pair.distance(&forests[i], &forests[j], weight, monitor) }
            })
            .collect()
    })
}

/// The computation trees of a graph's nodes by level, each kind once.
struct Forest {
    levels: Vec<Level>,
    /// How many nodes have each kind of the last level.
    counts: Vec<(u32, u32)>,
}

/// The kinds of trees of as many levels that a graph has.
struct Level {
    /// The colour of each kind, ascending.
    colors: Vec<u32>,
    /// The label of the root.
    labels: Vec<u32>,
    /// The distance from a blank tree.
    blank: Vec<f64>,
    /// The subtrees of each kind by their place in the level below, with repeats, ascending.
    children: Vec<Vec<u32>>,
}

/// The trees of all graphs; colours are comparable between them.
fn forests(set: &GraphSet, depth: usize, weight: f64, monitor: &dyn Monitor) -> Result<Vec<Forest>, Stopped> {
    let graph = set.union();
    let labels = first_labels(set);
    let mut refinement = Refinement::new(graph, labels.clone());
    let mut forests: Vec<Forest> = (0..set.len()).map(|_| Forest { levels: Vec::new(), counts: Vec::new() }).collect();
    // The place of each node's tree among the kinds of its graph, in the level before and in this one.
    let (mut before, mut place) = (vec![0u32; labels.len()], vec![0u32; labels.len()]);
    let mut order: Vec<u32> = Vec::new();
    for level in 0..depth {
        monitor.check()?;
        let colors = refinement.colors();
        for (i, forest) in forests.iter_mut().enumerate() {
            order.clear();
            order.extend(set.nodes(i).map(|v| v as u32));
            order.sort_unstable_by_key(|&v| (colors[v as usize], v));
            let mut kinds = Level { colors: Vec::new(), labels: Vec::new(), blank: Vec::new(), children: Vec::new() };
            forest.counts.clear();
            for same in order.chunk_by(|&u, &v| colors[u as usize] == colors[v as usize]) {
                let kind = kinds.colors.len() as u32;
                same.iter().for_each(|&v| place[v as usize] = kind);
                forest.counts.push((kind, same.len() as u32));
                let first = same[0];
                kinds.colors.push(colors[first as usize]);
                kinds.labels.push(labels[first as usize]);
                let mut children: Vec<u32> = match level {
                    0 => Vec::new(),
                    _ => graph.neighbors(first).iter().map(|&u| before[u as usize]).collect(),
                };
                children.sort_unstable();
                let below: f64 = match forest.levels.last() {
                    Some(below) => children.iter().map(|&child| below.blank[child as usize]).sum(),
                    None => 0.0,
                };
                kinds.blank.push(1.0 + weight * below);
                kinds.children.push(children);
            }
            forest.levels.push(kinds);
        }
        std::mem::swap(&mut before, &mut place);
        if level + 1 < depth {
            refinement.step(monitor)?;
        }
    }
    Ok(forests)
}

/// Room for the distances of two graphs' trees.
#[derive(Default)]
struct Pair {
    /// Between the kinds of the two graphs in a level, row by row.
    below: Vec<f64>,
    level: Vec<f64>,
    only_a: Vec<u32>,
    only_b: Vec<u32>,
    assignment: Assignment,
}

impl Pair {
    fn distance(&mut self, a: &Forest, b: &Forest, weight: f64, monitor: &dyn Monitor) -> Result<f64, Stopped> {
        let mut below: Option<(&Level, &Level)> = None;
        for (of_a, of_b) in a.levels.iter().zip(&b.levels) {
            self.level.clear();
            for x in 0..of_a.colors.len() {
                monitor.check()?;
                for y in 0..of_b.colors.len() {
                    let distance = if of_a.colors[x] == of_b.colors[y] {
                        0.0
                    } else {
                        let roots = if of_a.labels[x] == of_b.labels[y] { 0.0 } else { APART };
                        roots + weight * self.transport(&of_a.children[x], &of_b.children[y], below)
                    };
                    self.level.push(distance);
                }
            }
            std::mem::swap(&mut self.level, &mut self.below);
            below = Some((of_a, of_b));
        }
        let nodes = |forest: &Forest| -> Vec<u32> {
            forest.counts.iter().flat_map(|&(kind, count)| std::iter::repeat_n(kind, count as usize)).collect()
        };
        Ok(self.transport(&nodes(a), &nodes(b), below))
    }

    /// The least sum of distances in a matching of two multisets of trees of the level below, filled up with blank ones.
    fn transport(&mut self, a: &[u32], b: &[u32], below: Option<(&Level, &Level)>) -> f64 {
        let Some((of_a, of_b)) = below else { return 0.0 };
        // Kinds ascend by their colours.
        let (color_a, color_b) = (|x: u32| of_a.colors[x as usize], |y: u32| of_b.colors[y as usize]);
        let (only_a, only_b) = (&mut self.only_a, &mut self.only_b);
        only_a.clear();
        only_b.clear();
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            match color_a(a[i]).cmp(&color_b(b[j])) {
                std::cmp::Ordering::Less => {
                    only_a.push(a[i]);
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    only_b.push(b[j]);
                    j += 1;
                }
                std::cmp::Ordering::Equal => (i, j) = (i + 1, j + 1),
            }
        }
        only_a.extend_from_slice(&a[i..]);
        only_b.extend_from_slice(&b[j..]);
        let (only_a, only_b, below) = (&*only_a, &*only_b, &self.below);
        let width = of_b.colors.len();
        let cost = |row: usize, column: usize| match (only_a.get(row), only_b.get(column)) {
            (Some(&x), Some(&y)) => below[x as usize * width + y as usize],
            (Some(&x), None) => of_a.blank[x as usize],
            (None, Some(&y)) => of_b.blank[y as usize],
            (None, None) => 0.0,
        };
        if only_a.is_empty() || only_b.is_empty() {
            return (0..only_a.len().max(only_b.len())).map(|k| cost(k, k)).sum();
        }
        self.assignment.least(only_a.len().max(only_b.len()), cost)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{graphs, least_matching};
    use super::*;
    use crate::colors::testing::set;
    use bonnet_graph::Unmonitored;

    /// The distance of two trees by definition; `None` is a blank one.
    fn trees(set: &GraphSet, u: Option<usize>, v: Option<usize>, depth: usize, weight: f64) -> f64 {
        let label = |v: usize| set.labels()[v];
        let roots = match (u, v) {
            (Some(u), Some(v)) if label(u) == label(v) => 0.0,
            (Some(_), Some(_)) => 2f64.sqrt(),
            (None, None) => return 0.0,
            _ => 1.0,
        };
        if depth == 1 {
            return roots;
        }
        let children = |v: Option<usize>| -> Vec<usize> {
            v.map_or(Vec::new(), |v| set.union().neighbors(v as u32).iter().map(|&u| u as usize).collect())
        };
        roots + weight * multisets(set, &children(u), &children(v), depth - 1, weight)
    }

    fn multisets(set: &GraphSet, a: &[usize], b: &[usize], depth: usize, weight: f64) -> f64 {
        let n = a.len().max(b.len());
        let cost = |i: usize, j: usize| trees(set, a.get(i).copied(), b.get(j).copied(), depth, weight);
        least_matching(&(0..n).map(|i| (0..n).map(|j| cost(i, j)).collect()).collect::<Vec<_>>())
    }

    #[test]
    fn values_are_those_of_the_definition() {
        for labelled in [false, true] {
            let set = graphs(200, labelled);
            for (depth, weight) in [(1, 1.0), (2, 0.5), (3, 1.0)] {
                let found = tree_movers_distance(&set, depth, weight, &Unmonitored).unwrap();
                for i in 0..set.len() {
                    // The recursion is slow: a sample of the pairs.
                    for j in (0..=i).filter(|j| (i * 31 + j) % 53 == 0) {
                        let nodes = |i| set.nodes(i).collect::<Vec<_>>();
                        let expected = multisets(&set, &nodes(i), &nodes(j), depth, weight);
                        assert!((found.get(i, j) - expected).abs() < 1e-9, "{i} {j}: {} {expected}", found.get(i, j));
                    }
                }
            }
        }
    }

    #[test]
    fn one_edge_more_or_less_has_the_distance_of_its_trees() {
        // Of two nodes with an edge and without: two trees of two levels, each with a subtree more.
        let pair = set(&[(2, vec![(0, 1)]), (2, vec![]), (3, vec![])], None);
        let found = tree_movers_distance(&pair, 2, 0.5, &Unmonitored).unwrap();
        assert_eq!((found.get(0, 1), found.get(1, 2), found.get(0, 2)), (1.0, 1.0, 2.0));
    }

    #[test]
    fn the_distance_fulfils_the_triangle_inequality() {
        let found = tree_movers_distance(&graphs(40, true), 3, 1.0, &Unmonitored).unwrap();
        for i in 0..40 {
            for j in 0..40 {
                for k in 0..40 {
                    assert!(found.get(i, j) <= found.get(i, k) + found.get(k, j) + 1e-9);
                }
            }
        }
    }
}
