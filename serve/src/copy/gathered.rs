//! Rows of texts as columns of a table's types.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryBuilder, ListBuilder, RecordBatch, RecordBatchOptions, StringArray, StringBuilder,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::records::Record;
use crate::failure::Failure;
use crate::parameters::text_array;
use crate::types;

/// Rows, and bytes, of a batch.
const MOST_ROWS: usize = 8192;
const MOST_BYTES: usize = 8 << 20;

/// The characters of a value that an error shows.
const SHOWN: usize = 60;

/// Rows on their way into a table.
pub(super) struct Gathered {
    /// The columns as the table has them.
    columns: SchemaRef,
    /// The word for the place of a row in errors.
    place: &'static str,
    texts: Vec<StringBuilder>,
    lines: Vec<u64>,
    bytes: usize,
    full: Vec<RecordBatch>,
}

impl Gathered {
    /// No rows yet. `place` is `line` or `row`.
    ///
    /// # Errors
    /// If a column has a type that no text is read as.
    pub(super) fn new(columns: SchemaRef, place: &'static str) -> Result<Self, Failure> {
        if let Some(field) = columns.fields().iter().find(|field| types::of_column(field.data_type()) == types::JSON) {
            let text = format!(
                "COPY: the column {} holds structs, maps or lists of lists, which are not copied; use INSERT, or list other columns",
                field.name()
            );
            return Err(Failure::new("0A000", text));
        }
        let texts = columns.fields().iter().map(|_| StringBuilder::new()).collect();
        Ok(Self { columns, place, texts, lines: Vec::new(), bytes: 0, full: Vec::new() })
    }

    /// None, of no columns.
    pub(super) fn empty() -> Self {
        let columns = Arc::new(Schema::empty());
        Self { columns, place: "", texts: Vec::new(), lines: Vec::new(), bytes: 0, full: Vec::new() }
    }

    /// The schema of the batches: NULL is refused here and by the table, so that no column says so.
    pub(super) fn schema(&self) -> SchemaRef {
        let fields = self.columns.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        Arc::new(Schema::new(fields.collect::<Vec<Field>>()))
    }

    /// Takes a row.
    ///
    /// # Errors
    /// If it has another number of fields, a text that is not UTF-8, or a NULL where there may be none.
    pub(super) fn push(&mut self, record: &Record) -> Result<(), Failure> {
        let (place, line) = (self.place, record.line);
        let (found, expected) = (record.ends.len(), self.texts.len());
        if found != expected {
            let hint = if found == 1 { "; is it another DELIMITER, or FORMAT csv?" } else { "" };
            let text = format!("{place} {line}: {found} values, where {expected} are expected{hint}");
            return Err(Failure::new("22P04", text));
        }
        for ((field, builder), value) in self.columns.fields().iter().zip(&mut self.texts).zip(record.fields()) {
            let Some(value) = value else {
                if !field.is_nullable() {
                    let text = format!("{place} {line}: the column {} takes no NULL", field.name());
                    return Err(Failure::new("23502", text));
                }
                builder.append_null();
                continue;
            };
            let text = std::str::from_utf8(value).map_err(|_| {
                Failure::new("22021", format!("{place} {line}, column {}: the text is not UTF-8", field.name()))
            })?;
            builder.append_value(text);
        }
        self.lines.push(line);
        self.bytes += record.bytes.len();
        if self.lines.len() >= MOST_ROWS || self.bytes >= MOST_BYTES {
            self.end_batch()?;
        }
        Ok(())
    }

    /// Ends the batch that is open.
    ///
    /// # Errors
    /// If a text is no value of its column's type.
    pub(super) fn end_batch(&mut self) -> Result<(), Failure> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let lines = std::mem::take(&mut self.lines);
        self.bytes = 0;
        let mut columns = Vec::with_capacity(self.texts.len());
        for (field, texts) in self.columns.fields().iter().zip(&mut self.texts) {
            let texts = texts.finish();
            let values = values(&texts, field.data_type());
            columns.push(values.map_err(|error| wrong(self.place, &lines, field, &texts, &error))?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(lines.len()));
        let batch = RecordBatch::try_new_with_options(self.schema(), columns, &options);
        self.full.push(batch.map_err(|error| Failure::new("XX000", error.to_string()))?);
        Ok(())
    }

    /// The batches that are full.
    pub(super) fn take(&mut self) -> Vec<RecordBatch> {
        std::mem::take(&mut self.full)
    }
}

/// Texts as values of a type.
fn values(texts: &StringArray, wanted: &DataType) -> Result<ArrayRef, ArrowError> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    match types::of_column(wanted) {
        types::TEXT => cast_with_options(texts, wanted, &options),
        types::BYTEA => {
            let mut bytes = BinaryBuilder::new();
            for text in texts {
                match text {
                    Some(text) => bytes.append_value(of_hexadecimal(text)?),
                    None => bytes.append_null(),
                }
            }
            cast_with_options(&bytes.finish(), wanted, &options)
        }
        array if types::element(array).is_some() => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for text in texts {
                let Some(text) = text else {
                    lists.append(false);
                    continue;
                };
                for value in text_array(text).map_err(ArrowError::CastError)? {
                    // They are parts of a text.
                    lists.values().append_option(value.as_deref().map(String::from_utf8_lossy));
                }
                lists.append(true);
            }
            let lists = lists.finish();
            let (field, offsets, texts, nulls) = lists.into_parts();
            let DataType::List(item) = of_list(wanted) else {
                return cast_with_options(texts.as_ref(), wanted, &options);
            };
            let items = values(texts.as_string::<i32>(), item.data_type())?;
            let item = Arc::new(field.as_ref().clone().with_data_type(item.data_type().clone()));
            let lists = arrow::array::ListArray::try_new(item, offsets, items, nulls)?;
            cast_with_options(&lists, wanted, &options)
        }
        _ => {
            // Spaces around numbers and times mean nothing.
            let trimmed: StringArray = texts.iter().map(|text| text.map(str::trim)).collect();
            cast_with_options(&trimmed, wanted, &options)
        }
    }
}

/// The type of lists of any layout as one of lists.
fn of_list(data_type: &DataType) -> DataType {
    match data_type {
        DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => DataType::List(Arc::clone(field)),
        other => other.clone(),
    }
}

/// The bytes of `\x00ff`; another text stands for its own.
fn of_hexadecimal(text: &str) -> Result<Vec<u8>, ArrowError> {
    let Some(digits) = text.strip_prefix("\\x") else { return Ok(text.as_bytes().to_vec()) };
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    let bytes = digits.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>();
    bytes.ok_or_else(|| ArrowError::CastError("it is no pairs of hexadecimal digits".to_owned()))
}

/// The error of the first row whose text is no value of the column's type.
fn wrong(place: &str, lines: &[u64], field: &Field, texts: &StringArray, error: &ArrowError) -> Failure {
    let name = types::of_oid(types::of_column(field.data_type())).map_or("value", |known| known.sql);
    let fails = |row: &usize| texts.is_valid(*row) && values(&texts.slice(*row, 1), field.data_type()).is_err();
    match (0..texts.len()).find(fails) {
        Some(row) => {
            let value = texts.value(row);
            let shown: String = value.chars().take(SHOWN).collect();
            let more = if shown.len() < value.len() { "..." } else { "" };
            let name = match types::element(types::of_column(field.data_type())) {
                Some(element) => format!("array of {}", element.sql),
                None => name.to_owned(),
            };
            let text = format!("{place} {}, column {}: '{shown}{more}' is no {name}", lines[row], field.name());
            Failure { message: text, ..Failure::new("22P02", "") }
        }
        None => Failure::new("22P02", format!("{place} {}, column {}: {error}", lines[0], field.name())),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;
    use arrow::util::display::array_value_to_string;

    use super::*;

    fn record(line: u64, fields: &[Option<&str>]) -> Record {
        let mut record = Record { line, ..Record::default() };
        for field in fields {
            record.bytes.extend_from_slice(field.unwrap_or_default().as_bytes());
            record.end(field.is_none());
        }
        record
    }

    fn gathered(fields: Vec<Field>, rows: &[&[Option<&str>]]) -> Result<RecordBatch, Failure> {
        let mut gathered = Gathered::new(Arc::new(Schema::new(fields)), "line")?;
        for (row, line) in rows.iter().zip(1..) {
            gathered.push(&record(line, row))?;
        }
        gathered.end_batch()?;
        Ok(gathered.take().remove(0))
    }

    #[test]
    fn texts_become_values_of_the_columns() {
        let list = |item| DataType::List(Arc::new(Field::new("item", item, true)));
        let types = [
            DataType::Int64,
            DataType::Float64,
            DataType::Boolean,
            DataType::Date32,
            DataType::Decimal128(9, 2),
            DataType::Binary,
            list(DataType::Int64),
            list(DataType::Utf8View),
            DataType::Utf8View,
        ];
        let fields = types.iter().enumerate().map(|(i, of)| Field::new(format!("c{i}"), of.clone(), true)).collect();
        let row =
            [" 7 ", "-Infinity", "t", "2026-01-31", "12.5", "\\x00ff", "{1,NULL,-2}", r#"{"a b",c}"#, " as it is "]
                .map(Some);
        let batch = gathered(fields, &[&row, &[None; 9]]).unwrap();
        let shown: Vec<String> =
            batch.columns().iter().map(|column| array_value_to_string(column, 0).unwrap()).collect();
        let expected = ["7", "-inf", "true", "2026-01-31", "12.50", "00ff", "[1, , -2]", "[a b, c]", " as it is "];
        assert_eq!(shown, expected);
        assert!(batch.columns().iter().all(|column| column.is_null(1)));
    }

    #[test]
    fn a_wrong_value_is_told_with_its_line_and_its_column() {
        let fields = || vec![Field::new("a", DataType::Int64, false), Field::new("b", DataType::Date32, true)];
        let failure = |rows: &[&[Option<&str>]]| gathered(fields(), rows).unwrap_err();
        let found = failure(&[&[Some("1"), None], &[Some("one"), None]]);
        assert_eq!((found.code, found.message.as_str()), ("22P02", "line 2, column a: 'one' is no bigint"));
        let found = failure(&[&[Some("1"), Some("2026-02-30")]]);
        assert_eq!(found.message, "line 1, column b: '2026-02-30' is no date");
        let found = failure(&[&[Some("1"), None], &[None, None]]);
        assert_eq!((found.code, found.message.as_str()), ("23502", "line 2: the column a takes no NULL"));
        let found = failure(&[&[Some("1")]]);
        assert_eq!((found.code, found.message.as_str()), ("22P04", "line 1: 1 values, where 2 are expected"));
        assert!(failure(&[&[Some("9223372036854775808"), None]]).message.contains("is no bigint"));
        let structs = Field::new("s", DataType::Struct(vec![Field::new("x", DataType::Int64, true)].into()), true);
        assert_eq!(Gathered::new(Arc::new(Schema::new(vec![structs])), "line").err().unwrap().code, "0A000");
    }

    #[test]
    fn many_rows_come_in_batches() {
        let mut gathered =
            Gathered::new(Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)])), "line").unwrap();
        for line in 0..20_000 {
            gathered.push(&record(line, &[Some(&line.to_string())])).unwrap();
        }
        gathered.end_batch().unwrap();
        let batches = gathered.take();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [8192, 8192, 3616]);
        let last = batches[2].column(0).as_any().downcast_ref::<Int64Array>().unwrap();
        assert_eq!(last.value(3615), 19_999);
    }
}
