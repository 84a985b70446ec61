//! The Petersen graph.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::{Error, Generated};

/// The Petersen graph: an outer pentagon 0 to 4, an inner pentagram 5 to 9, and the spokes between i and i + 5. Strongly
/// regular (10, 3, 0, 1).
///
/// # Errors
/// The monitor stopped the work.
pub fn petersen_graph(monitor: &dyn Monitor) -> Result<Generated, Error> {
    let mut edges = EdgeList::with_room_for(15, monitor)?;
    for i in 0..5 {
        edges.push(i, (i + 1) % 5)?;
        edges.push(i, i + 5)?;
        edges.push(i + 5, (i + 2) % 5 + 5)?;
    }
    Ok(Generated::unlabelled(10, edges.into_sorted(10)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::assert_strongly_regular;
    use bonnet_graph::Unmonitored;

    #[test]
    fn it_is_strongly_regular() {
        // (10, 3, 0, 1) belongs to this graph alone.
        assert_strongly_regular(&petersen_graph(&Unmonitored).unwrap(), (10, 3, 0, 1));
    }
}
