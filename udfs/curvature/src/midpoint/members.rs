//! The nodes of each component.

/// The nodes of each component, in ascending order.
#[derive(Debug)]
pub(super) struct Members {
    offsets: Vec<usize>,
    nodes: Vec<u32>,
}

impl Members {
    pub(super) fn of(&self, component: usize) -> &[u32] {
        &self.nodes[self.offsets[component]..self.offsets[component + 1]]
    }

    /// The number of nodes of all components.
    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Of each of `n` nodes, its position among the members of its component.
    pub(super) fn places(&self, n: usize) -> Vec<u32> {
        let mut place = vec![0u32; n];
        for bounds in self.offsets.windows(2) {
            self.nodes[bounds[0]..bounds[1]].iter().zip(0..).for_each(|(&v, i)| place[v as usize] = i);
        }
        place
    }
}

/// The nodes that `keep` names, by component.
pub(super) fn members(of_node: &[u32], components: usize, keep: impl Fn(u32) -> bool) -> Members {
    let kept = |v: &u32| keep(*v);
    let mut offsets = vec![0; components + 1];
    for v in (0..of_node.len() as u32).filter(kept) {
        offsets[of_node[v as usize] as usize + 1] += 1;
    }
    for c in 0..components {
        offsets[c + 1] += offsets[c];
    }
    let mut next = offsets.clone();
    let mut nodes = vec![0; offsets[components]];
    for v in (0..of_node.len() as u32).filter(kept) {
        let at = &mut next[of_node[v as usize] as usize];
        nodes[*at] = v;
        *at += 1;
    }
    Members { offsets, nodes }
}
