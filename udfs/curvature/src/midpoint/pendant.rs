//! Pendant trees: nodes of degree 1 are stripped until none is left, and the rest remembers what hung from it.
//!
//! A stripped node with k >= 2 neighbours has curvature (2 - k)/k before Eq. 3: no two of its neighbours are ever
//! equally far from an anchor, and exactly one is closer. A remaining node stands for itself and, by depth, for the
//! nodes of its tree.

use bonnet_graph::{Graph, Monitor, Stopped};

/// A graph without its pendant trees.
#[derive(Debug)]
pub(super) struct Pruned {
    /// Whether each node remains.
    pub(super) kept: Vec<bool>,
    /// The nodes of each tree: of a stripped node, those that hang from it and itself; of a kept one, likewise.
    pub(super) size: Vec<u32>,
    /// Of each kept node: how many nodes of its tree lie at each depth, deepest first; the last, itself, is left out.
    below: Vec<Vec<u32>>,
    /// The largest distance within a tree.
    pub(super) diameter: u32,
}

impl Pruned {
    /// The height of the tree of a kept node; 0 without one.
    pub(super) fn height(&self, v: u32) -> u32 {
        self.below[v as usize].len() as u32
    }

    /// `(depth, number of nodes)` of the tree of a kept node, from depth 1 on.
    pub(super) fn depths(&self, v: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.below[v as usize].iter().rev().enumerate().map(|(i, &count)| (i as u32 + 1, count))
    }

    /// The sum of the depths in the tree of a kept node.
    pub(super) fn sum_of_depths(&self, v: u32) -> u64 {
        self.depths(v).map(|(depth, count)| u64::from(depth) * u64::from(count)).sum()
    }
}

/// Strips pendant trees. Nodes with a `pinned` mark stay, and so does what lies between them; of a tree, one node
/// stays. O(n + m) time.
pub(super) fn prune(graph: &Graph, pinned: &[bool], monitor: &dyn Monitor) -> Result<Pruned, Stopped> {
    let n = graph.n_nodes();
    let mut kept = vec![true; n];
    let mut size = vec![1u32; n];
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut diameter = 0;
    let mut left: Vec<u32> = (0..n as u32).map(|v| graph.degree(v) as u32).collect();
    let mut leaves: Vec<u32> = (0..n as u32).filter(|&v| left[v as usize] == 1 && !pinned[v as usize]).collect();
    let mut stripped = 0;
    while let Some(leaf) = leaves.pop() {
        // The last edge of a tree has two endpoints of degree 1; the second of them stays.
        if left[leaf as usize] != 1 {
            continue;
        }
        stripped += 1;
        if stripped % 4096 == 0 {
            monitor.check()?;
        }
        let Some(&parent) = graph.neighbors(leaf).iter().find(|&&y| kept[y as usize]) else { continue };
        kept[leaf as usize] = false;
        size[parent as usize] += size[leaf as usize];
        let mut tree = std::mem::take(&mut below[leaf as usize]);
        tree.push(1);
        let branch = &mut below[parent as usize];
        diameter = diameter.max((branch.len() + tree.len()) as u32);
        // Depths are aligned at the end; the shorter goes into the longer, so that all merges together cost O(n).
        if branch.len() < tree.len() {
            std::mem::swap(branch, &mut tree);
        }
        let start = branch.len() - tree.len();
        for (sum, count) in branch[start..].iter_mut().zip(&tree) {
            *sum += count;
        }
        left[parent as usize] -= 1;
        if left[parent as usize] == 1 && !pinned[parent as usize] {
            leaves.push(parent);
        }
    }
    Ok(Pruned { kept, size, below, diameter })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn a_triangle_keeps_its_corners_and_what_hangs_from_them() {
        // 0-1-2 is a triangle; from 2 hangs 3 with children 4 and 5-6; from 2 also 7.
        let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (3, 5), (5, 6), (2, 7)];
        let pruned = prune(&Graph::from_edges(8, &edges), &[false; 8], &Unmonitored).unwrap();
        assert_eq!(pruned.kept, [true, true, true, false, false, false, false, false]);
        assert_eq!(pruned.size, [1, 1, 6, 4, 1, 2, 1, 1]);
        assert_eq!(pruned.depths(2).collect::<Vec<_>>(), [(1, 2), (2, 2), (3, 1)]);
        assert_eq!((pruned.height(2), pruned.sum_of_depths(2), pruned.height(0)), (3, 9, 0));
        assert_eq!(pruned.diameter, 4);
    }

    #[test]
    fn of_a_tree_one_node_stays_and_pinned_nodes_stay_in_any_case() {
        let path = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        let pruned = prune(&path, &[false; 5], &Unmonitored).unwrap();
        assert_eq!(pruned.kept.iter().filter(|&&k| k).count(), 1);
        assert_eq!(pruned.diameter, 4);
        let pruned = prune(&path, &[false, true, false, true, false], &Unmonitored).unwrap();
        assert_eq!(pruned.kept, [false, true, true, true, false]);
        assert_eq!(pruned.diameter, 1);
    }
}
