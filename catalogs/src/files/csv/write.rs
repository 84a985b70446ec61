//! Rows as CSV.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::csv::{QuoteStyle, WriterBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

use super::mark::{Mark, change_texts, is_text, texts};
use crate::files::json::texts::json_texts;

/// Longer fields are written by ourselves: Arrow's writer searches all the rest of a field for each few kilobytes of it.
const LONG: usize = 1 << 16;

/// Writes a batch as CSV: NULL is nothing, or the builder's word for it; a string that is the same stands in quotes. Lists, structs
/// and maps are JSON strings. Where the builder quotes everything, NULL is as it says; where it names no format, a timestamp is
/// written as tables show it, `2024-01-31 10:00:00.500`.
///
/// # Errors
/// If a value cannot be written.
pub fn write_csv(batch: &RecordBatch, builder: &WriterBuilder, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let (batch, builder) = (flat(batch)?, &with_timestamps(builder));
    let is_long = |text: Option<&str>| text.is_some_and(|text| text.len() > LONG);
    let has_long = |column| texts(column).is_some_and(|mut texts| texts.any(is_long));
    if !batch.columns().iter().any(has_long) {
        return write_short(&batch, builder, out);
    }
    let bytes = [Some(builder.quote()), Some(builder.delimiter()), Some(builder.escape())];
    let Some(mark) = Mark::without(&bytes.into_iter().flatten().collect::<Vec<u8>>()) else {
        return write_short(&batch, builder, out);
    };
    let columns = batch
        .columns()
        .iter()
        .map(|column| change_texts(column, |text| if is_long(text) { Some(mark.as_str()) } else { text }));
    let short = RecordBatch::try_new(batch.schema(), columns.collect::<Result<_, _>>()?)?;
    let mut rows = Vec::new();
    write_short(&short, builder, &mut rows)?;
    let mut all: Vec<_> = batch.columns().iter().filter_map(texts).collect();
    let mut long = (0..batch.num_rows()).flat_map(|_| all.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>());
    let mut rest = rows.as_slice();
    while let Some(at) = rest.windows(mark.as_str().len()).position(|part| part == mark.as_str().as_bytes()) {
        out.extend_from_slice(&rest[..at]);
        if let Some(text) = long.by_ref().find(|text| is_long(*text)).flatten() {
            write_field(text.as_bytes(), builder, out);
        }
        rest = &rest[at + mark.as_str().len()..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// The builder, with a format of timestamps where it names none: Arrow's has a `T` between date and time.
fn with_timestamps(builder: &WriterBuilder) -> WriterBuilder {
    let mut builder = builder.clone();
    if builder.timestamp_format().is_none() {
        builder = builder.with_timestamp_format("%Y-%m-%d %H:%M:%S%.f".to_owned());
    }
    if builder.timestamp_tz_format().is_none() {
        builder = builder.with_timestamp_tz_format("%Y-%m-%d %H:%M:%S%.f%:z".to_owned());
    }
    builder
}

/// Writes a field in one pass, in the place of a word that the builder's style has put in quotes or not.
fn write_field(field: &[u8], builder: &WriterBuilder, out: &mut Vec<u8>) {
    let (quote, style) = (builder.quote(), builder.quote_style());
    let special = |byte: &u8| [quote, builder.delimiter(), b'\r', b'\n'].contains(byte);
    let quotes = matches!(style, QuoteStyle::Necessary) && field.iter().any(special);
    if quotes {
        out.push(quote);
    }
    if !quotes && matches!(style, QuoteStyle::Necessary | QuoteStyle::Never) {
        out.extend_from_slice(field);
    } else {
        let before = if builder.double_quote() { quote } else { builder.escape() };
        for part in field.split_inclusive(|&byte| byte == quote) {
            match part.split_last() {
                Some((&last, text)) if last == quote => {
                    out.extend_from_slice(text);
                    out.extend_from_slice(&[before, quote]);
                }
                _ => out.extend_from_slice(part),
            }
        }
    }
    if quotes {
        out.push(quote);
    }
}

fn write_short(batch: &RecordBatch, builder: &WriterBuilder, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let plain = matches!(builder.quote_style(), QuoteStyle::Necessary);
    let bytes = [Some(builder.quote()), Some(builder.delimiter()), Some(builder.escape())];
    let bytes: Vec<u8> = bytes.into_iter().flatten().collect();
    let marks = Mark::without(&bytes).zip(Mark::without(&bytes)).filter(|_| plain);
    // The row of a single NULL that is nothing would be quoted.
    let alone = batch.num_columns() == 1 && builder.null().is_empty();
    let Some((same, null)) = marks.filter(|_| has_gaps(batch, builder.null(), alone)) else {
        return builder.clone().build(out).write(batch);
    };
    let columns = batch.columns().iter().map(|column| {
        change_texts(column, |text| match text {
            Some(text) if text == builder.null() => Some(same.as_str()),
            None if alone => Some(null.as_str()),
            text => text,
        })
    });
    let batch = RecordBatch::try_new(batch.schema(), columns.collect::<Result<_, _>>()?)?;
    let mut rows = Vec::new();
    builder.clone().build(&mut rows).write(&batch)?;
    let rows = if alone { replaced(&rows, null.as_str(), &[]) } else { rows };
    let quote = [builder.quote()];
    out.extend_from_slice(&replaced(&rows, same.as_str(), &[&quote, builder.null().as_bytes(), &quote].concat()));
    Ok(())
}

/// Whether a column of strings has one that is the word for NULL, or an only column a NULL.
fn has_gaps(batch: &RecordBatch, word: &str, alone: bool) -> bool {
    let has_word = |column| texts(column).is_some_and(|mut texts| texts.any(|text| text == Some(word)));
    let is_gap = |column: &ArrayRef| alone && is_text(column.data_type()) && column.null_count() > 0;
    batch.columns().iter().any(|column| is_gap(column) || has_word(column))
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

/// The batch with its nested columns as JSON strings.
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
    use arrow::array::{Int64Array, StringArray, StringViewArray, TimestampMillisecondArray};

    use super::*;

    fn written(batch: &RecordBatch, builder: &WriterBuilder) -> String {
        let mut out = Vec::new();
        write_csv(batch, builder, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn long_fields_are_written_as_short_ones_are() {
        let long = |end: &str| "x".repeat(LONG) + end;
        for end in ["", "y", "a,b", "\"q\" and \"", "line\nbreak", "'"] {
            let batch = |text: &str| {
                RecordBatch::try_from_iter([
                    ("a", Arc::new(StringArray::from(vec![Some(text), None, Some("z"), Some("")])) as _),
                    ("n", Arc::new(Int64Array::from(vec![1, 2, 3, 4])) as _),
                    ("b", Arc::new(StringViewArray::from(vec![Some("s"), Some(text), Some(text), None])) as _),
                ])
                .unwrap()
            };
            let always = WriterBuilder::new().with_quote_style(QuoteStyle::Always);
            for builder in [WriterBuilder::new(), WriterBuilder::new().with_quote(b'\'').with_delimiter(b';'), always] {
                // Beside a short field that has the same special characters.
                let short = format!("x{end}");
                let expected = written(&batch(&short), &builder).replace('x', &"x".repeat(LONG));
                assert!(written(&batch(&long(end)), &builder) == expected, "{end}");
            }
        }
    }

    #[test]
    fn timestamps_are_written_as_tables_show_them() {
        let times = vec![Some(1_706_695_200_500), None];
        let batch = RecordBatch::try_from_iter([
            ("a", Arc::new(TimestampMillisecondArray::from(times.clone())) as _),
            ("b", Arc::new(TimestampMillisecondArray::from(times).with_timezone("+02:00")) as _),
        ])
        .unwrap();
        let builder = WriterBuilder::new();
        assert_eq!(written(&batch, &builder), "a,b\n2024-01-31 10:00:00.500,2024-01-31 12:00:00.500+02:00\n,\n");
        let builder = builder.with_timestamp_format("%H:%M".to_owned());
        assert_eq!(written(&batch, &builder), "a,b\n10:00,2024-01-31 12:00:00.500+02:00\n,\n");
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
        assert_eq!(
            written(&batch, &builder.clone().with_null("x".to_owned())),
            "a,n,b\n,x,x\nx,1,\n\"\"\"\",x,\"x\"\n"
        );
        assert_eq!(written(&batch, &builder.with_quote(b'g').with_delimiter(b';')), "a;n;b\ngg;;\n;1;gg\n\";;x\n");
        let alone = batch.project(&[0]).unwrap();
        assert_eq!(written(&alone, &WriterBuilder::new()), "a\n\"\"\n\n\"\"\"\"\n");
        assert_eq!(written(&alone, &WriterBuilder::new().with_null("-".to_owned())), "a\n\"\"\n-\n\"\"\"\"\n");
    }
}
