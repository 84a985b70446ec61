//! Complete graphs.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::error::require_nodes;
use crate::{Error, Generated};

/// The complete graph on `n` nodes: all n (n - 1) / 2 edges, 8 bytes each.
///
/// # Errors
/// `n` outside of 1..=4,294,967,295, or the monitor stopped the work.
pub fn complete(n: usize, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("complete", "n", n, 1)?;
    let n_edges = n as u128 * (n as u128 - 1) / 2;
    let mut edges = EdgeList::with_room_for(n_edges, monitor)?;
    monitor.expect(n as u64);
    for u in 0..n as u32 {
        for v in u + 1..n as u32 {
            edges.push(u, v)?;
        }
        monitor.advance(1);
    }
    Ok(Generated::unlabelled(n, edges.into_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::graph;
    use bonnet_graph::Unmonitored;

    #[test]
    fn all_pairs_are_joined() {
        assert_eq!(complete(3, &Unmonitored).unwrap().edges, [(0, 1), (0, 2), (1, 2)]);
        let generated = complete(60, &Unmonitored).unwrap();
        assert_eq!(generated.edges.len(), 1770);
        assert!((0..60).all(|v| graph(&generated).degree(v) == 59));
    }

    #[test]
    fn what_no_memory_holds_is_an_error() {
        let error = complete(4_000_000_000, &Unmonitored).unwrap_err();
        assert!(matches!(error, Error::Stopped(_)), "{error}");
        let error = complete(0, &Unmonitored).unwrap_err();
        assert_eq!(error.to_string(), "complete: n is 0, but must be from 1 to 4294967295");
    }
}
