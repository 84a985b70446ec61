//! Comma-separated values (RFC 4180): a line of names, then the rows, batch by batch.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::csv::WriterBuilder;
use arrow::datatypes::SchemaRef;
use bonnet_catalogs::write_csv;

use super::writer::Writer;

/// Writes CSV as COPY does: NULL is an empty field, the empty text `""`; lists, structs and maps are JSON texts.
pub(super) struct Csv {
    schema: SchemaRef,
    named: bool,
}

impl Csv {
    pub(super) fn new(schema: SchemaRef) -> Self {
        Self { schema, named: false }
    }
}

impl Writer for Csv {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let mut rows = Vec::new();
        let builder = WriterBuilder::new().with_header(!self.named);
        write_csv(batch, &builder, &mut rows).map_err(io::Error::other)?;
        self.named = true;
        out.write_all(&rows)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.named { Ok(()) } else { self.write(&RecordBatch::new_empty(self.schema.clone()), out) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Float64Array, Int64Array, ListArray, StringArray};
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};

    use super::super::tests::written;
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let batch = RecordBatch::try_from_iter([
            ("id", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])) as _),
            ("a,b", Arc::new(StringArray::from(vec!["plain", "say \"hi\"", "two\nlines"])) as _),
            ("x", Arc::new(Float64Array::from(vec![0.1, 1e300, -0.5])) as _),
        ])
        .unwrap();
        assert_eq!(
            written(Csv::new(batch.schema()), &[batch.slice(0, 1), batch.slice(1, 2)]),
            "id,\"a,b\",x\n1,plain,0.1\n,\"say \"\"hi\"\"\",1e300\n3,\"two\nlines\",-0.5\n"
        );
    }

    #[test]
    fn a_result_without_rows_is_its_names() {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
        assert_eq!(written(Csv::new(schema), &[]), "a\n");
    }

    #[test]
    fn lists_are_json() {
        let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None]);
        let batch = RecordBatch::try_from_iter([
            ("l", Arc::new(list) as _),
            ("n", Arc::new(Int64Array::from(vec![7, 8])) as _),
        ])
        .unwrap();
        assert_eq!(written(Csv::new(batch.schema()), &[batch]), "l,n\n\"[1,null]\",7\n,8\n");
    }
}
