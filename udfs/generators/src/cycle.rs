//! Cycles.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::error::require_nodes;
use crate::{Error, Generated};

/// The cycle of `n` nodes: each joined to the next, the last to the first. O(n).
///
/// # Errors
/// `n` outside of 3..=4,294,967,295, or the monitor stopped the work.
pub fn cycle(n: usize, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("cycle", "n", n, 3)?;
    let mut edges = EdgeList::with_room_for(n as u128, monitor)?;
    let last = n as u32 - 1;
    edges.push(0, 1)?;
    edges.push(0, last)?;
    for node in 1..last {
        edges.push(node, node + 1)?;
    }
    Ok(Generated::unlabelled(n, edges.into_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{graph, n_components};
    use bonnet_graph::Unmonitored;

    #[test]
    fn a_cycle_is_connected_and_all_its_degrees_are_two() {
        assert_eq!(cycle(4, &Unmonitored).unwrap().edges, [(0, 1), (0, 3), (1, 2), (2, 3)]);
        for n in [3, 5, 100] {
            let cycle = cycle(n, &Unmonitored).unwrap();
            assert_eq!((cycle.edges.len(), n_components(&cycle)), (n, 1));
            assert!((0..n as u32).all(|v| graph(&cycle).degree(v) == 2));
        }
    }

    #[test]
    fn two_nodes_are_no_cycle() {
        let error = cycle(2, &Unmonitored).unwrap_err();
        assert_eq!(error.to_string(), "cycle: n is 2, but must be from 3 to 4294967295");
    }
}
