//! Rook's graphs.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::error::require_nodes;
use crate::{Error, Generated};

/// The rook's graph: the squares of a board of `rows` x `columns`, joined where they share a row or a column; node
/// r * columns + c stands in row r and column c. The 4 x 4 board gives a strongly regular graph (16, 6, 2, 2), as the
/// Shrikhande graph is. 8 bytes an edge.
///
/// # Errors
/// A board without squares or with more than 4,294,967,295 of them, or the monitor stopped the work.
pub fn rook_graph(rows: usize, columns: usize, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("rook_graph", "rows", rows, 1)?;
    require_nodes("rook_graph", "columns", columns, 1)?;
    let n = rows.saturating_mul(columns);
    require_nodes("rook_graph", "rows * columns", n, 1)?;
    let expected = n as u128 * (rows as u128 + columns as u128 - 2) / 2;
    let mut edges = EdgeList::with_room_for(expected, monitor)?;
    monitor.expect(n as u64);
    for row in 0..rows {
        for column in 0..columns {
            let square = (row * columns + column) as u32;
            for other in column + 1..columns {
                edges.push(square, (row * columns + other) as u32)?;
            }
            for other in row + 1..rows {
                edges.push(square, (other * columns + column) as u32)?;
            }
        }
        monitor.advance(columns as u64);
    }
    Ok(Generated::unlabelled(n, edges.into_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_strongly_regular, graph};
    use bonnet_graph::Unmonitored;

    #[test]
    fn square_boards_are_strongly_regular() {
        for n in 2..8 {
            let generated = rook_graph(n, n, &Unmonitored).unwrap();
            assert_strongly_regular(&generated, (n * n, 2 * (n - 1), n - 2, 2));
        }
    }

    #[test]
    fn a_board_is_the_product_of_two_complete_graphs() {
        let generated = rook_graph(3, 5, &Unmonitored).unwrap();
        assert_eq!(generated.edges.len(), 3 * 10 + 5 * 3);
        let graph = graph(&generated);
        for u in 0..15u32 {
            for v in 0..15u32 {
                assert_eq!(graph.has_edge(u, v), u != v && (u / 5 == v / 5 || u % 5 == v % 5), "{u} {v}");
            }
        }
    }

    #[test]
    fn a_board_without_squares_is_refused() {
        let error = rook_graph(0, 4, &Unmonitored).unwrap_err();
        assert_eq!(error.to_string(), "rook_graph: rows is 0, but must be from 1 to 4294967295");
        assert!(rook_graph(1 << 20, 1 << 20, &Unmonitored).unwrap_err().to_string().contains("rows * columns"));
        assert_eq!(rook_graph(1, 1, &Unmonitored).unwrap().n_nodes, 1);
    }
}
