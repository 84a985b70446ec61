//! The ends of rows that are edges.

use std::ops::Range;

use arrow::array::ArrayRef;
use bonnet_graph::{Graph, Monitor, Reservation};
use datafusion::common::Result;

use crate::{GroupedRows, KeyColumn, KeyIndex, named_error, stopped};

/// The columns `src` and `dst` of edges, without NULLs: of one graph, or of graphs that lie one after the other.
#[derive(Debug)]
pub struct EdgeEnds {
    src: KeyColumn,
    dst: KeyColumn,
}

impl EdgeEnds {
    /// Brings the columns to their normal form. `function` is named in errors.
    ///
    /// # Errors
    /// For a type that is no key.
    pub fn new(function: &str, src: &ArrayRef, dst: &ArrayRef) -> Result<Self> {
        let keys = |column: &ArrayRef, end: &str| KeyColumn::new(column, &format!("{function}: {end}"));
        Ok(Self { src: keys(src, "src")?, dst: keys(dst, "dst")? })
    }

    /// The nodes of the graph of some rows, and each row by their numbers.
    ///
    /// # Errors
    /// If integers meet text.
    pub fn graph(&self, function: &str, rows: Range<usize>) -> Result<(KeyIndex, Vec<(u32, u32)>)> {
        let (src, dst) = (self.src.slice(rows.clone()), self.dst.slice(rows));
        let keys = KeyIndex::new(&[("src", &src), ("dst", &dst)]).map_err(|error| named_error(function, error))?;
        let edges = keys.pairs(&src, &dst).into_iter().flatten().collect();
        Ok((keys, edges))
    }
}

/// A value of the graph of each group, and of its nodes' keys; `None` for a group without rows. The first two columns of
/// the groups are the ends of edges.
///
/// # Errors
/// For keys that do not agree, if memory runs out, and what `value` refuses.
pub fn of_graphs<T: Send>(
    function: &str,
    groups: &GroupedRows,
    monitor: &dyn Monitor,
    value: impl Fn(&KeyIndex, &Graph) -> Result<T> + Send + Sync,
) -> Result<Vec<Option<T>>> {
    let columns = groups.columns();
    let ends = EdgeEnds::new(function, &columns[0], &columns[1])?;
    groups.map(|group| {
        if group.is_empty() {
            return Ok(None);
        }
        let rows = group.len();
        // Columns, keys and pairs of numbers; then the graph.
        let _room = Reservation::new(monitor, 64 * rows + Graph::bytes(2 * rows, rows)).map_err(stopped)?;
        let (keys, edges) = ends.graph(function, group)?;
        let graph = Graph::from_edges(keys.len(), &edges);
        drop(edges);
        value(&keys, &graph).map(Some)
    })
}
