//! Paths.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::error::require_nodes;
use crate::{Error, Generated};

/// The path of `n` nodes: each joined to the next. O(n).
///
/// # Errors
/// `n` outside of 1..=4,294,967,295, or the monitor stopped the work.
pub fn path(n: usize, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("path", "n", n, 1)?;
    let mut edges = EdgeList::with_room_for(n as u128 - 1, monitor)?;
    for node in 1..n as u32 {
        edges.push(node - 1, node)?;
    }
    Ok(Generated::unlabelled(n, edges.into_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::assert_simple;
    use bonnet_graph::Unmonitored;

    #[test]
    fn each_node_is_joined_to_the_next() {
        assert_eq!(path(4, &Unmonitored).unwrap().edges, [(0, 1), (1, 2), (2, 3)]);
        assert!(path(1, &Unmonitored).unwrap().edges.is_empty());
        assert_simple(&path(1000, &Unmonitored).unwrap());
    }

    #[test]
    fn no_nodes_are_no_path() {
        let error = path(0, &Unmonitored).unwrap_err();
        assert_eq!(error.to_string(), "path: n is 0, but must be from 1 to 4294967295");
    }
}
