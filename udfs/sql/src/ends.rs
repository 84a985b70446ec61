//! The ends of rows that are edges.

use std::ops::Range;

use arrow::array::ArrayRef;
use datafusion::common::Result;

use crate::{KeyColumn, KeyIndex, named_error};

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
