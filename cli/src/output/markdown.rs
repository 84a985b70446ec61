//! Markdown tables, row by row as they come.

use std::fmt::Write as _;
use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::ArrayFormatter;
use bonnetdb::cells::readable;

use super::writer::Writer;

/// Writes a Markdown table; columns of numbers are aligned to the right.
pub(super) struct Markdown {
    schema: SchemaRef,
    headed: bool,
}

impl Markdown {
    pub(super) fn new(schema: SchemaRef) -> Self {
        Self { schema, headed: false }
    }

    fn head(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.headed {
            return Ok(());
        }
        self.headed = true;
        let names: String = self.schema.fields().iter().map(|field| format!("| {} ", escaped(field.name()))).collect();
        let rules: String = self
            .schema
            .fields()
            .iter()
            .map(|f| if f.data_type().is_numeric() { "| ---: " } else { "| --- " })
            .collect();
        writeln!(out, "{names}|\n{rules}|")
    }
}

impl Writer for Markdown {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        self.head(out)?;
        let options = readable();
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
            .collect::<Result<_, _>>()
            .map_err(io::Error::other)?;
        let mut line = String::new();
        for row in 0..batch.num_rows() {
            line.clear();
            for column in &columns {
                let text = column.value(row).try_to_string().map_err(io::Error::other)?;
                let _ = write!(line, "| {} ", escaped(&text));
            }
            writeln!(out, "{line}|")?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.head(out)
    }
}

/// A text that keeps to its cell.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace("\r\n", "<br>").replace(['\n', '\r'], "<br>")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringArray};

    use super::super::tests::written;
    use super::*;

    #[test]
    fn a_table_has_a_head_a_rule_and_escaped_cells() {
        let batch = RecordBatch::try_from_iter([
            ("n", Arc::new(Int64Array::from(vec![Some(1), None])) as _),
            ("a|b", Arc::new(StringArray::from(vec!["x|y", "two\nlines"])) as _),
        ])
        .unwrap();
        let expected = "| n | a\\|b |\n| ---: | --- |\n| 1 | x\\|y |\n| NULL | two<br>lines |\n";
        assert_eq!(written(Markdown::new(batch.schema()), &[batch.slice(0, 1), batch.slice(1, 1)]), expected);
    }
}
