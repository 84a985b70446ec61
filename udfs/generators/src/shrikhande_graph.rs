//! The Shrikhande graph.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::{Error, Generated};

/// The Shrikhande graph: the pairs (a, b) modulo 4, node 4 a + b, joined where they differ by (1, 0), (0, 1) or (1, 1) or
/// their negatives. It is strongly regular (16, 6, 2, 2), as the 4 x 4 rook's graph is, but not that graph: the
/// neighbours of a node form a hexagon, not two triangles (Shrikhande 1959).
///
/// # Errors
/// The monitor stopped the work.
pub fn shrikhande_graph(monitor: &dyn Monitor) -> Result<Generated, Error> {
    let mut edges = EdgeList::with_room_for(48, monitor)?;
    for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
        for (da, db) in [(1, 0), (0, 1), (1, 1)] {
            edges.push(4 * a + b, 4 * ((a + da) % 4) + (b + db) % 4)?;
        }
    }
    Ok(Generated::unlabelled(16, edges.into_sorted(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_strongly_regular, graph};
    use bonnet_graph::Unmonitored;

    #[test]
    fn it_is_strongly_regular_and_its_neighbourhoods_are_hexagons() {
        let generated = shrikhande_graph(&Unmonitored).unwrap();
        assert_strongly_regular(&generated, (16, 6, 2, 2));
        let graph = graph(&generated);
        for v in 0..16 {
            // Six nodes of degree 2 in the neighbourhood: one hexagon if walking along reaches all of them.
            let inside =
                |u: u32| graph.neighbors(u).iter().copied().filter(|w| graph.has_edge(v, *w)).collect::<Vec<_>>();
            let (first, mut walked) = (graph.neighbors(v)[0], 1);
            let (mut previous, mut current) = (first, inside(first)[0]);
            while current != first {
                let next = inside(current).into_iter().find(|next| *next != previous).unwrap();
                (previous, current) = (current, next);
                walked += 1;
            }
            assert_eq!(walked, 6);
        }
    }
}
