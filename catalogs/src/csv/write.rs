//! Rows as CSV.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::csv::{QuoteStyle, WriterBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

use super::mark::{Mark, is_text};
use crate::json_texts::json_texts;

/// Writes a batch as CSV: NULL is nothing, the empty text `""`; lists, structs and maps are JSON texts. Where the builder has a
/// word for NULL, or quotes everything, the empty text is as it says.
///
/// # Errors
/// If a value has no text.
pub fn write_csv(batch: &RecordBatch, builder: &WriterBuilder, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let batch = flat(batch)?;
    let plain = builder.null().is_empty() && matches!(builder.quote_style(), QuoteStyle::Necessary);
    let signs = [Some(builder.quote()), Some(builder.delimiter()), Some(builder.escape())];
    let signs: Vec<u8> = signs.into_iter().flatten().collect();
    let marks = Mark::without(&signs).zip(Mark::without(&signs)).filter(|_| plain);
    let Some((empty, null)) = marks.filter(|_| has_gaps(&batch)) else {
        return builder.clone().build(out).write(&batch);
    };
    // The row of a single NULL would be quoted.
    let alone = batch.num_columns() == 1;
    let columns = batch.columns().iter().map(|column| {
        let marked = |text| match text {
            Some("") => Some(empty.as_str()),
            None if alone => Some(null.as_str()),
            text => text,
        };
        Mark::texts(column, marked).unwrap_or_else(|| column.clone())
    });
    let batch = RecordBatch::try_new(batch.schema(), columns.collect())?;
    let mut rows = Vec::new();
    builder.clone().build(&mut rows).write(&batch)?;
    let rows = if alone { replaced(&rows, null.as_str(), &[]) } else { rows };
    out.extend_from_slice(&replaced(&rows, empty.as_str(), &[builder.quote(); 2]));
    Ok(())
}

/// Whether a column of texts has an empty one, or an only column a NULL.
fn has_gaps(batch: &RecordBatch) -> bool {
    let alone = batch.num_columns() == 1;
    batch
        .columns()
        .iter()
        .filter(|column| is_text(column.data_type()))
        .any(|column| (alone && column.null_count() > 0) || texts_of(column).any(str::is_empty))
}

fn texts_of(column: &arrow::array::ArrayRef) -> Box<dyn Iterator<Item = &str> + '_> {
    use arrow::array::AsArray;
    match column.data_type() {
        DataType::Utf8 => Box::new(column.as_string::<i32>().iter().flatten()),
        DataType::LargeUtf8 => Box::new(column.as_string::<i64>().iter().flatten()),
        _ => Box::new(column.as_string_view().iter().flatten()),
    }
}

/// The bytes with each `word` replaced.
fn replaced(bytes: &[u8], word: &str, by: &[u8]) -> Vec<u8> {
    let (word, mut rest, mut out) = (word.as_bytes(), bytes, Vec::with_capacity(bytes.len()));
    while let Some(at) = rest.windows(word.len()).position(|part| part == word) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + word.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// The batch with its nested columns as JSON texts.
fn flat(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    if !batch.schema_ref().fields().iter().any(|field| field.data_type().is_nested()) {
        return Ok(batch.clone());
    }
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if field.data_type().is_nested() {
            fields.push(Arc::new(Field::new(field.name(), DataType::Utf8, true)));
            columns.push(json_texts(field, column)?);
        } else {
            fields.push(field.clone());
            columns.push(column.clone());
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringArray, StringViewArray};

    use super::*;

    fn written(batch: &RecordBatch, builder: &WriterBuilder) -> String {
        let mut out = Vec::new();
        write_csv(batch, builder, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn null_is_nothing_and_the_empty_text_two_quotes() {
        let batch = RecordBatch::try_from_iter([
            ("a", Arc::new(StringArray::from(vec![Some(""), None, Some("\"")])) as _),
            ("n", Arc::new(Int64Array::from(vec![None, Some(1), None])) as _),
            ("b", Arc::new(StringViewArray::from(vec![None, Some(""), Some("x")])) as _),
        ])
        .unwrap();
        let builder = WriterBuilder::new();
        assert_eq!(written(&batch, &builder), "a,n,b\n\"\",,\n,1,\"\"\n\"\"\"\",,x\n");
        assert_eq!(written(&batch, &builder.clone().with_null("-".to_owned())), "a,n,b\n,-,-\n-,1,\n\"\"\"\",-,x\n");
        assert_eq!(written(&batch, &builder.with_quote(b'g').with_delimiter(b';')), "a;n;b\ngg;;\n;1;gg\n\";;x\n");
        let alone = batch.project(&[0]).unwrap();
        assert_eq!(written(&alone, &WriterBuilder::new()), "a\n\"\"\n\n\"\"\"\"\n");
    }
}
