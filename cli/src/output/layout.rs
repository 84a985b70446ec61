//! The layout of a table on its screen: the widths of its columns, those that are left out, and its cells.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::{FieldRef, Schema};
use bonnetdb::cells::{Cell, each_cell, push_escaped};

use super::screen::Screen;
use crate::width::width;

/// Columns of text are not made narrower than this to fit a screen: rather are others left out.
const NARROWEST: usize = 16;

/// Stands where columns or rows are left out.
const GAP: &str = "…";

struct LayoutColumn {
    name: String,
    width: usize,
    right: bool,
    /// Whether its values may be cut: a part of a number or of a time says something else.
    text: bool,
    /// The characters from the decimal point on, of the value that has most.
    fraction: usize,
}

impl LayoutColumn {
    /// Its width where texts have no more than `cap` characters.
    fn within(&self, cap: usize) -> usize {
        if self.text { self.width.min(cap) } else { self.width }
    }
}

/// The columns that are left out.
#[derive(Default)]
pub(super) struct Hidden {
    /// The columns that are shown.
    shown: Vec<usize>,
    /// The number of them before the gap, if there is one.
    before: Option<usize>,
    /// The number of those that are left out because they hold nothing but NULL.
    pub(super) nulls: usize,
    /// The number of those that do not fit.
    pub(super) unfit: usize,
}

/// The layout of a table, which is decided once.
pub(super) struct Layout {
    columns: Vec<LayoutColumn>,
    hidden: Option<Hidden>,
    screen: Option<Screen>,
}

impl Layout {
    /// The layout that these rows ask for. `nulls` says of each column whether it is NULL in all rows of the result.
    pub(super) fn new<'a>(
        schema: &Schema,
        rows: impl Iterator<Item = &'a RecordBatch>,
        nulls: &[bool],
        screen: Option<Screen>,
    ) -> io::Result<Self> {
        let column = |field: &FieldRef| {
            let mut escaped = String::new();
            push_escaped(&mut escaped, field.name());
            let (right, time) = (field.data_type().is_numeric(), field.data_type().is_temporal());
            LayoutColumn { width: width(&escaped).max(1), name: escaped, right, text: !right && !time, fraction: 0 }
        };
        let columns = schema.fields().iter().map(column);
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
        if let Some(screen) = screen {
            layout.fit(screen.columns.saturating_add(1), nulls);
        }
        Ok(layout)
    }

    fn digits(&self) -> Option<usize> {
        self.screen.and_then(|screen| screen.digits)
    }

    /// Makes the table fit in `room` characters: leaves out the columns that are NULL in all rows, narrows columns of text, and
    /// leaves out what still does not fit.
    fn fit(&mut self, room: usize, nulls: &[bool]) {
        let all = self.columns.len();
        if self.width() <= room {
            return;
        }
        let said: Vec<usize> = (0..all).filter(|&i| !nulls.get(i).is_some_and(|&null| null)).collect();
        let mut hidden = Hidden { shown: (0..all).collect(), ..Hidden::default() };
        // Of a result without any value the names are shown.
        if !said.is_empty() && said.len() < all {
            hidden.nulls = all - said.len();
            self.keep(&said);
            hidden.shown = said;
        }
        if self.width() > room && !self.narrow(room) {
            match self.columns.as_mut_slice() {
                [alone] => alone.width = alone.within(NARROWEST),
                _ => self.hide(room, &mut hidden),
            }
        }
        self.hidden = (hidden.shown.len() < all).then_some(hidden);
    }

    /// The characters of the rule below the names, and one more.
    fn width(&self) -> usize {
        self.columns.iter().map(|column| column.width + 3).sum()
    }

    /// Drops all columns but these.
    fn keep(&mut self, kept: &[usize]) {
        let mut i = 0;
        self.columns.retain(|_| {
            i += 1;
            kept.contains(&(i - 1))
        });
    }

    /// Narrows the widest columns of text until the table fits, if it can: whether it does. Numbers and times are never cut.
    fn narrow(&mut self, room: usize) -> bool {
        let taken = |cap: usize| self.columns.iter().map(|column| column.within(cap) + 3).sum::<usize>();
        let widest = self.columns.iter().filter(|column| column.text).map(|column| column.width).max().unwrap_or(0);
        let Some(cap) = (NARROWEST..=widest).rev().find(|&cap| taken(cap) <= room) else { return false };
        self.columns.iter_mut().for_each(|column| column.width = column.within(cap));
        true
    }

    /// Leaves out columns in the middle: the first stays, then the last, the second, and so on, as many as fit, where those at
    /// the end take no more than half of a line. A text of the front has up to half a line, before columns behind it have any.
    fn hide(&mut self, room: usize, hidden: &mut Hidden) {
        let (all, half) = (self.columns.len(), room / 2);
        let most = NARROWEST.max(half);
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.within(NARROWEST)).collect();
        widths[0] = self.columns[0].within(most);
        let mut left = room.saturating_sub(widths[0] + 3 + GAP.chars().count() + 3);
        let (mut before, mut after, mut at_end) = (1, 0, Some(0));
        while before + after + 1 < all {
            if let Some(taken) = at_end.filter(|_| after < before) {
                let wide = widths[all - 1 - after] + 3;
                let fits = wide <= left && taken + wide <= half;
                at_end = fits.then_some(taken + wide);
                if fits {
                    left -= wide;
                    after += 1;
                }
                continue;
            }
            let width = self.columns[before].within(most).min(widths[before].max(left.saturating_sub(3)));
            if width + 3 > left {
                break;
            }
            left -= width + 3;
            widths[before] = width;
            before += 1;
        }
        let kept: Vec<usize> = (0..before).chain(all - after..all).collect();
        self.keep(&kept);
        // What is left over goes to texts that are cut, from the front.
        for (column, &i) in self.columns.iter_mut().zip(&kept) {
            let more = left.min(column.width - widths[i]);
            left -= more;
            column.width = widths[i] + more;
        }
        (hidden.before, hidden.unfit) = (Some(before), all - kept.len());
        hidden.shown = kept.iter().map(|&i| hidden.shown[i]).collect();
    }

    /// The columns that are left out, if some are.
    pub(super) fn hidden(&self) -> Option<&Hidden> {
        self.hidden.as_ref()
    }

    /// Writes the names of the columns and the rule below.
    pub(super) fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for (i, column) in self.columns.iter().enumerate() {
            self.push_cell(&mut line, i, &Cell::text(&column.name), false);
        }
        writeln!(out, "{line}")?;
        let mut rules: Vec<String> = self.columns.iter().map(|column| "-".repeat(column.width + 2)).collect();
        if let Some(before) = self.gap() {
            rules.insert(before, "-".repeat(GAP.chars().count() + 2));
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

    /// The number of columns before the gap, if there is one.
    fn gap(&self) -> Option<usize> {
        self.hidden.as_ref().and_then(|hidden| hidden.before)
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
        let gap = self.gap() == Some(i + 1);
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
