//! Marks of the rows that rows of an output depend on.

use std::sync::Arc;

use crate::kernels::RowSet;
use crate::network::{ListedOperator, Operator};

/// A row of the output needs the same row of the input.
pub(super) fn needs_itself(rows: &RowSet, needed: &mut [bool]) {
    rows.rows().iter().for_each(|&row| needed[row as usize] = true);
}

/// A row of the output needs the rows of the input that the operator's row has entries for.
pub(super) fn needs_sources(operator: &Operator, rows: &RowSet, needed: &mut [bool]) {
    let sources = rows.rows().iter().flat_map(|&row| operator.row(row));
    sources.for_each(|&source| needed[source as usize] = true);
}

/// Some rows of the output need the rows of the input that listed rows among them have entries for.
pub(super) fn needs_listed(operators: &[Arc<ListedOperator>], rows: &RowSet, needed: &mut [bool]) {
    let mut is_there = vec![rows.is_all(); rows.n_rows()];
    rows.rows().iter().for_each(|&row| is_there[row as usize] = true);
    for operator in operators {
        for (at, _) in operator.rows().iter().enumerate().filter(|(_, row)| is_there[**row as usize]) {
            operator.columns()[operator.span(at)].iter().for_each(|&source| needed[source as usize] = true);
        }
    }
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
