//! A column a line: for results that are wider than the screen.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bonnetdb::cells::{each_cell, push_escaped};

use super::screen::Screen;
use super::writer::Writer;
use crate::width::width;

/// Writes each row as lines of a name and a value.
pub(super) struct Expanded {
    names: Vec<String>,
    widest: usize,
    screen: Option<Screen>,
    rows: usize,
}

impl Expanded {
    pub(super) fn new(schema: &SchemaRef, screen: Option<Screen>) -> Self {
        let escaped = |name: &String| {
            let mut text = String::new();
            push_escaped(&mut text, name);
            text
        };
        let names: Vec<String> = schema.fields().iter().map(|field| escaped(field.name())).collect();
        let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
        Self { names, widest, screen, rows: 0 }
    }

    /// The rows that are shown.
    fn most(&self) -> usize {
        self.screen.map_or(usize::MAX, |screen| screen.rows)
    }
}

impl Writer for Expanded {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let shown = batch.num_rows().min(self.most().saturating_sub(self.rows));
        let mut row = self.rows;
        let digits = self.screen.and_then(|screen| screen.digits);
        each_cell(&batch.slice(0, shown), digits, |column, cell| {
            if column == 0 {
                row += 1;
                writeln!(out, "-- row {row} {}", "-".repeat((self.widest + 2).saturating_sub(8)))?;
            }
            let name = &self.names[column];
            writeln!(out, " {name}{} | {}", " ".repeat(self.widest - width(name)), cell.text)
        })?;
        self.rows += batch.num_rows();
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let s = if self.rows == 1 { "" } else { "s" };
        match self.rows.saturating_sub(self.most()) {
            0 => writeln!(out, "({} row{s})", self.rows),
            hidden => writeln!(out, "({} row{s}, of which the last {hidden} are not shown)", self.rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray};

    use super::super::tests::written;
    use super::*;

    #[test]
    fn a_row_takes_a_line_for_each_column() {
        let batch = RecordBatch::try_from_iter([
            ("node", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
            ("degree_centrality", Arc::new(StringArray::from(vec![Some("a\nb"), None, Some("c")])) as ArrayRef),
        ])
        .unwrap();
        let screen = Some(Screen { columns: 20, rows: 2, digits: None, colour: false });
        let expected = concat!(
            "-- row 1 -----------\n",
            " node              | 1\n",
            " degree_centrality | a\\nb\n",
            "-- row 2 -----------\n",
            " node              | 2\n",
            " degree_centrality | NULL\n",
            "(3 rows, of which the last 1 are not shown)\n",
        );
        assert_eq!(written(Expanded::new(&batch.schema(), screen), &[batch.slice(0, 1), batch.slice(1, 2)]), expected);
        let whole = written(Expanded::new(&batch.schema(), None), &[batch]);
        assert!(whole.ends_with(" degree_centrality | c\n(3 rows)\n"));
    }
}
