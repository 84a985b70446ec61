//! The layout of a table on its screen: the widths of its columns, those that are left out, and its cells.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use bonnetdb::cells::{Cell, each_cell, push_escaped};

use super::screen::Screen;
use crate::width::width;

/// Columns of text are not made narrower than this to fit a screen.
const NARROWEST: usize = 8;

/// Stands where columns or rows are left out.
const GAP: &str = "…";

struct LayoutColumn {
    name: String,
    width: usize,
    right: bool,
    /// The characters from the decimal point on, of the value that has most.
    fraction: usize,
}

/// The columns that are left out.
struct Hidden {
    /// The columns that are shown.
    shown: Vec<usize>,
    /// The number of them before the gap.
    before: usize,
    /// The number of the result's columns.
    all: usize,
}

/// The layout of a table, which is decided once.
pub(super) struct Layout {
    columns: Vec<LayoutColumn>,
    hidden: Option<Hidden>,
    screen: Option<Screen>,
}

impl Layout {
    /// The layout that these rows ask for.
    pub(super) fn new<'a>(
        schema: &Schema,
        rows: impl Iterator<Item = &'a RecordBatch>,
        screen: Option<Screen>,
    ) -> io::Result<Self> {
        let column = |name: &String, right| {
            let mut escaped = String::new();
            push_escaped(&mut escaped, name);
            LayoutColumn { width: width(&escaped).max(1), name: escaped, right, fraction: 0 }
        };
        let columns = schema.fields().iter().map(|field| column(field.name(), field.data_type().is_numeric()));
        let mut layout = Self { columns: columns.collect(), hidden: None, screen };
        // The characters before the decimal point, of the value that has most.
        let mut whole = vec![0; layout.columns.len()];
        for batch in rows {
            each_cell(batch, layout.digits(), |i, cell| {
                let column = &mut layout.columns[i];
                let wide = width(cell.text);
                column.width = column.width.max(wide);
                if let Some(point) = cell.point {
                    whole[i] = whole[i].max(point);
                    column.fraction = column.fraction.max(wide - point);
                }
                Ok(())
            })?;
        }
        for (column, whole) in layout.columns.iter_mut().zip(whole) {
            column.width = column.width.max(whole + column.fraction);
        }
        layout.narrow();
        layout.hide();
        Ok(layout)
    }

    fn digits(&self) -> Option<usize> {
        self.screen.and_then(|screen| screen.digits)
    }

    /// Narrows the widest columns of text until the table fits the screen, if it can. Numbers are never cut.
    fn narrow(&mut self) {
        let Some(screen) = self.screen else { return };
        let room = screen.columns.saturating_add(1).saturating_sub(3 * self.columns.len());
        let fixed: usize = self.columns.iter().filter(|column| column.right).map(|column| column.width).sum();
        let texts = |cap: usize| -> usize {
            self.columns.iter().filter(|column| !column.right).map(|column| column.width.min(cap)).sum()
        };
        let widest = self.columns.iter().filter(|column| !column.right).map(|column| column.width).max().unwrap_or(0);
        let cap =
            (NARROWEST..widest).rev().find(|&cap| fixed + texts(cap + 1) <= room).map_or(NARROWEST, |cap| cap + 1);
        let cap = if fixed + texts(widest) <= room { widest } else { cap };
        for column in self.columns.iter_mut().filter(|column| !column.right) {
            column.width = column.width.min(cap);
        }
    }

    /// Leaves out columns in the middle where the table does not fit the screen: the first stays, then the last, the
    /// second, and so on, as many as fit.
    fn hide(&mut self) {
        let all = self.columns.len();
        let room = self.screen.map_or(usize::MAX, |screen| screen.columns.saturating_add(1));
        let wide = |column: &LayoutColumn| column.width + 3;
        if all < 2 || self.columns.iter().map(wide).sum::<usize>() <= room {
            return;
        }
        let (mut before, mut after) = (1, 0);
        let mut taken = wide(&self.columns[0]) + GAP.chars().count() + 3;
        loop {
            let from_end = after < before;
            let next = if from_end { all - 1 - after } else { before };
            taken += wide(&self.columns[next]);
            if taken > room || before + after + 1 == all {
                break;
            }
            *(if from_end { &mut after } else { &mut before }) += 1;
        }
        let shown: Vec<usize> = (0..before).chain(all - after..all).collect();
        let mut i = 0;
        self.columns.retain(|_| {
            i += 1;
            shown.contains(&(i - 1))
        });
        self.hidden = Some(Hidden { shown, before, all });
    }

    /// The number of columns that are left out.
    pub(super) fn hidden(&self) -> usize {
        self.hidden.as_ref().map_or(0, |hidden| hidden.all - hidden.shown.len())
    }

    /// Writes the names of the columns and the rule below.
    pub(super) fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for (i, column) in self.columns.iter().enumerate() {
            self.push_cell(&mut line, i, &Cell::text(&column.name), false);
        }
        writeln!(out, "{line}")?;
        let mut rules: Vec<String> = self.columns.iter().map(|column| "-".repeat(column.width + 2)).collect();
        if let Some(hidden) = &self.hidden {
            rules.insert(hidden.before, "-".repeat(GAP.chars().count() + 2));
        }
        writeln!(out, "{}", rules.join("+"))
    }

    /// Writes rows.
    pub(super) fn write_rows(&self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let batch = match &self.hidden {
            Some(hidden) => &batch.project(&hidden.shown).map_err(io::Error::other)?,
            None => batch,
        };
        let dim = self.screen.is_some_and(|screen| screen.colour);
        let mut line = String::new();
        each_cell(batch, self.digits(), |column, cell| {
            self.push_cell(&mut line, column, &cell, dim && cell.is_null);
            if column + 1 == self.columns.len() {
                writeln!(out, "{line}")?;
                line.clear();
            }
            Ok(())
        })
    }

    /// Writes the row that stands for those that are left out.
    pub(super) fn write_gap(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for i in 0..self.columns.len() {
            self.push_cell(&mut line, i, &Cell::text(GAP), false);
        }
        writeln!(out, "{line}")
    }

    fn push_cell(&self, line: &mut String, i: usize, cell: &Cell<'_>, dim: bool) {
        let column = &self.columns[i];
        let cut;
        let (text, wide) = match width(cell.text) {
            wide if wide <= column.width || self.screen.is_none() => (cell.text, wide),
            _ => {
                cut = cut_to(cell.text, column.width);
                (cut.as_str(), width(&cut))
            }
        };
        let is_last = i + 1 == self.columns.len();
        let behind = cell.point.map_or(0, |point| column.fraction.saturating_sub(wide.saturating_sub(point)));
        let padding = column.width.saturating_sub(wide + behind);
        line.push_str(if i == 0 { " " } else { " | " });
        if column.right {
            line.extend(std::iter::repeat_n(' ', padding));
        }
        if dim {
            line.push_str("\x1b[2m");
        }
        line.push_str(text);
        if dim {
            line.push_str("\x1b[0m");
        }
        let gap = self.hidden.as_ref().is_some_and(|hidden| hidden.before == i + 1);
        if !is_last || gap {
            line.extend(std::iter::repeat_n(' ', if column.right { behind } else { padding }));
        }
        if gap {
            line.push_str(" | ");
            line.push_str(GAP);
        }
    }
}

/// The start of a text that with an ellipsis fits this width.
fn cut_to(text: &str, most: usize) -> String {
    let mut cut = String::new();
    let mut wide = 0;
    for c in text.chars() {
        wide += width(c.encode_utf8(&mut [0; 4]));
        if wide + 1 > most {
            break;
        }
        cut.push(c);
    }
    cut.push_str(GAP);
    cut
}
