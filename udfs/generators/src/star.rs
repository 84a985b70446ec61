//! Stars.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::error::require_nodes;
use crate::{Error, Generated};

/// The star of `n` nodes: node 0 joined to the n - 1 others. O(n).
///
/// # Errors
/// `n` outside of 1..=4,294,967,295, or the monitor stopped the work.
pub fn star(n: usize, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("star", "n", n, 1)?;
    let mut edges = EdgeList::with_room_for(n as u128 - 1, monitor)?;
    for leaf in 1..n as u32 {
        edges.push(0, leaf)?;
    }
    Ok(Generated::unlabelled(n, edges.into_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::assert_simple;
    use bonnet_graph::Unmonitored;

    #[test]
    fn node_zero_is_the_hub() {
        assert_eq!(star(4, &Unmonitored).unwrap().edges, [(0, 1), (0, 2), (0, 3)]);
        assert!(star(1, &Unmonitored).unwrap().edges.is_empty());
        assert_simple(&star(1000, &Unmonitored).unwrap());
    }

    #[test]
    fn no_nodes_are_no_star() {
        let error = star(0, &Unmonitored).unwrap_err();
        assert_eq!(error.to_string(), "star: n is 0, but must be from 1 to 4294967295");
    }
}
