//! Marks of the rows that rows of an output depend on.

use crate::kernels::RowSet;
use crate::network::Operator;

/// A row of the output needs the same row of the input.
pub(super) fn needs_itself(rows: &RowSet, needed: &mut [bool]) {
    rows.rows().iter().for_each(|&row| needed[row as usize] = true);
}

/// A row of the output needs the rows of the input that the operator's row has entries for.
pub(super) fn needs_sources(operator: &Operator, rows: &RowSet, needed: &mut [bool]) {
    let sources = rows.rows().iter().flat_map(|&row| operator.row(row));
    sources.for_each(|&source| needed[source as usize] = true);
}

/// The rows that are marked; all of them where few are not: what leaves out next to nothing would cost index structures of
/// its own.
pub(super) fn marked(marks: &[bool]) -> RowSet {
    let count = marks.iter().filter(|&&mark| mark).count();
    if count * 16 > marks.len() * 15 {
        RowSet::all(marks.len())
    } else {
        RowSet::new(marks.len(), (0..marks.len() as u32).filter(|&row| marks[row as usize]).collect())
    }
}
