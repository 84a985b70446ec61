//! Rectangular grids.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::error::{require, require_nodes};
use crate::{Error, Generated};

/// The grid of `rows` times `columns` nodes: node r * columns + c stands in row r and column c and is joined to its
/// neighbours in the row and in the column.
///
/// `diagonals` adds both diagonals of every cell. `periodic` joins the last row to the first and the last column to the
/// first: a torus. The graph is simple: where the wrap would repeat an edge or make a loop (a side of 1 or 2), it adds
/// none. O(n) time for n = rows * columns.
///
/// # Errors
/// `rows` or `columns` 0, or their product above 4,294,967,295; or the monitor stopped the work.
pub fn grid_2d(
    rows: usize,
    columns: usize,
    diagonals: bool,
    periodic: bool,
    monitor: &dyn Monitor,
) -> Result<Generated, Error> {
    require_nodes("grid_2d", "rows", rows, 1)?;
    require_nodes("grid_2d", "columns", columns, 1)?;
    let n = rows * columns;
    let most = u32::MAX as usize;
    require(n <= most, "grid_2d", "rows * columns", n, format_args!("at most {most}"))?;

    const STRAIGHT: [(usize, usize); 4] = [(1, 0), (0, 1), (1, 2), (2, 1)];
    const DIAGONAL: [(usize, usize); 4] = [(0, 0), (0, 2), (2, 0), (2, 2)];
    // Steps count from 1 as standing still, so that they stay unsigned.
    let steps = [STRAIGHT, DIAGONAL].into_iter().take(if diagonals { 2 } else { 1 }).flatten();
    let mut edges = EdgeList::with_room_for(n as u128 * if diagonals { 4 } else { 2 }, monitor)?;
    monitor.expect(rows as u64);
    let step = |at: usize, by: usize, size: usize| match (at + by).checked_sub(1) {
        Some(to) if to < size => Some(to),
        Some(_) => periodic.then_some(0),
        None => periodic.then_some(size - 1),
    };
    let mut targets = Vec::with_capacity(8);
    for row in 0..rows {
        for column in 0..columns {
            let node = row * columns + column;
            targets.clear();
            for (down, right) in steps.clone() {
                if let (Some(r), Some(c)) = (step(row, down, rows), step(column, right, columns)) {
                    targets.push(r * columns + c);
                }
            }
            targets.retain(|&target| target > node);
            targets.sort_unstable();
            targets.dedup();
            for &target in &targets {
                edges.push(node as u32, target as u32)?;
            }
        }
        monitor.advance(1);
    }
    Ok(Generated::unlabelled(n, edges.into_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_simple, fingerprint, graph, n_components};
    use bonnet_graph::Unmonitored;

    fn grid(rows: usize, columns: usize, diagonals: bool, periodic: bool) -> Generated {
        grid_2d(rows, columns, diagonals, periodic, &Unmonitored).unwrap()
    }

    /// The definition over all pairs of nodes.
    fn literally(rows: usize, columns: usize, diagonals: bool, periodic: bool) -> Vec<(u32, u32)> {
        let apart = |a: usize, b: usize, size: usize| {
            let gap = a.abs_diff(b);
            if periodic { gap.min(size - gap) } else { gap }
        };
        let mut edges = Vec::new();
        for u in 0..rows * columns {
            for v in u + 1..rows * columns {
                let (down, right) = (apart(u / columns, v / columns, rows), apart(u % columns, v % columns, columns));
                if down + right == 1 || diagonals && down == 1 && right == 1 {
                    edges.push((u as u32, v as u32));
                }
            }
        }
        edges
    }

    #[test]
    fn grids_are_as_defined_over_all_pairs() {
        for rows in 1..=5 {
            for columns in 1..=5 {
                for (diagonals, periodic) in [(false, false), (true, false), (false, true), (true, true)] {
                    let generated = grid(rows, columns, diagonals, periodic);
                    // On a side of 1 a diagonal step along the torus is a straight one, which is there already, or the
                    // wrap of a straight side: the same pairs.
                    let expected = literally(rows, columns, diagonals, periodic);
                    assert_eq!(generated.edges, expected, "{rows} x {columns}, {diagonals}, {periodic}");
                    assert_eq!(n_components(&generated), 1);
                }
            }
        }
    }

    #[test]
    fn edges_are_counted_by_the_closed_forms() {
        // The sizes that the project's timings of grids print.
        assert_eq!(grid(316, 317, false, false).edges.len(), 199_711);
        assert_eq!(grid(316, 317, true, false).edges.len(), 398_791);
        let torus = grid(7, 9, false, true);
        assert!((0..63).all(|v| graph(&torus).degree(v) == 4));
        let torus = grid(7, 9, true, true);
        assert!((0..63).all(|v| graph(&torus).degree(v) == 8));
        assert_simple(&torus);
    }

    #[test]
    fn the_node_numbers_are_pinned() {
        assert_eq!(grid(2, 3, false, false).edges, [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]);
        assert_eq!(fingerprint(&grid(12, 17, true, true)), 0x5441_403a_5d9c_cd79);
    }

    #[test]
    fn errors_name_the_argument_and_its_range() {
        let error = |rows, columns| grid_2d(rows, columns, false, false, &Unmonitored).unwrap_err().to_string();
        assert_eq!(error(0, 4), "grid_2d: rows is 0, but must be from 1 to 4294967295");
        assert_eq!(error(100_000, 100_000), "grid_2d: rows * columns is 10000000000, but must be at most 4294967295");
    }
}
