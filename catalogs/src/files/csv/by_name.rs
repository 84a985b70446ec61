//! The columns of a file in the order of its own header, which may be another than the table's.

use std::io::Read;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use csv::ReaderBuilder;
use datafusion::common::Result;

use super::syntax::Syntax;
use crate::files::limits::PADDED;

/// How a file is read that has its columns in an order of its own.
#[derive(Debug)]
pub(super) struct OwnOrder {
    /// The file's columns; of those that the table has, with its types.
    pub(super) schema: SchemaRef,
    /// The columns that are read, by their places in the file.
    pub(super) read: Vec<usize>,
    /// For each column that is wanted, its place among those that are read; `None` where the file lacks it.
    wanted: Vec<Option<usize>>,
    /// The columns that are wanted.
    projected: SchemaRef,
    /// For each column of the file, its place in the table.
    in_table: Vec<Option<usize>>,
}

impl OwnOrder {
    /// How a file with these names is read for some columns of a table; `None` where its columns are the table's.
    ///
    /// # Errors
    /// If a wanted column is none of the table's.
    pub(super) fn of(names: &[String], table: &SchemaRef, wanted: &[usize]) -> Result<Option<Self>> {
        let same =
            names.len() == table.fields().len() && names.iter().zip(table.fields()).all(|(own, it)| own == it.name());
        if same {
            return Ok(None);
        }
        let in_table: Vec<_> = names.iter().map(|name| table.index_of(name).ok()).collect();
        let fields = names.iter().zip(&in_table).map(|(name, place)| match place {
            Some(place) => Arc::clone(&table.fields()[*place]),
            None => Arc::new(Field::new(name, DataType::Utf8, true)),
        });
        let schema = Arc::new(Schema::new(fields.collect::<Fields>()));
        let (mut read, mut places) = (Vec::new(), Vec::with_capacity(wanted.len()));
        for column in wanted {
            let found = in_table.iter().position(|place| place == &Some(*column));
            places.push(found.map(|_| read.len()));
            read.extend(found);
        }
        Ok(Some(Self { schema, read, wanted: places, projected: Arc::new(table.project(wanted)?), in_table }))
    }

    /// The columns that are wanted, from those that were read.
    pub(super) fn arranged(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let rows = batch.num_rows();
        let column = |(place, field): (&Option<usize>, &Arc<Field>)| -> ArrayRef {
            place.map_or_else(|| new_null_array(field.data_type(), rows), |place| Arc::clone(batch.column(place)))
        };
        let columns = self.wanted.iter().zip(self.projected.fields()).map(column).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.projected), columns, &options)
    }

    /// The error of a value with the place of its column in the table, by which it is named.
    pub(super) fn of_table(&self, error: ArrowError) -> ArrowError {
        match error {
            ArrowError::ParseError(text) => {
                let renumbered = || {
                    let (value, rest) = text.rsplit_once("' for column ")?;
                    let (number, rest) = rest.split_once(' ')?;
                    Some(format!("{value}' for column {} {rest}", self.place(number)?))
                };
                ArrowError::ParseError(renumbered().unwrap_or(text))
            }
            ArrowError::IoError(text, error) if text.starts_with(PADDED) => {
                let renumbered =
                    text.rsplit_once(' ').and_then(|(row, number)| Some(format!("{row} {}", self.place(number)?)));
                ArrowError::IoError(renumbered.unwrap_or(text), error)
            }
            error => error,
        }
    }

    /// The place in the table of a column with this place in the file.
    fn place(&self, in_file: &str) -> Option<usize> {
        *self.in_table.get(in_file.parse::<usize>().ok()?)?
    }
}

/// The fields of the first row; `None` where there is none, or the text ends within it.
pub(super) fn names(text: impl Read, syntax: Syntax, is_whole: bool) -> Option<Vec<String>> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(syntax.delimiter).quote(syntax.quote).escape(syntax.escape);
    builder.comment(syntax.comment);
    if let Some(terminator) = syntax.terminator {
        builder.terminator(csv::Terminator::Any(terminator));
    }
    let mut reader = builder.from_reader(text);
    let mut rows = reader.byte_records();
    let first = rows.next()?.ok()?;
    // The row is whole where another follows it.
    if !is_whole {
        rows.next()?.ok()?;
    }
    Some(first.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let table = ["id", "v", "w"].map(|name| Field::new(name, DataType::Int64, true));
        let table = Arc::new(Schema::new(table.to_vec()));
        let own = |names: &[&str], wanted: &[usize]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            OwnOrder::of(&names, &table, wanted).unwrap()
        };
        assert!(own(&["id", "v", "w"], &[1]).is_none());
        let order = own(&["w", "new", "id"], &[0, 1, 2]).unwrap();
        assert_eq!((order.read.as_slice(), order.schema.field(1).data_type()), (&[2, 0][..], &DataType::Utf8));
        let numbers = |values: [i64; 2]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("id", numbers([1, 2])), ("w", numbers([3, 4]))]).unwrap();
        let batch = order.arranged(&batch).unwrap();
        assert_eq!(batch.column(2).as_primitive::<Int64Type>().values(), &[3, 4]);
        assert_eq!((batch.column(1).null_count(), batch.schema().field(1).name().as_str()), (2, "v"));
        let error =
            ArrowError::ParseError("Error while parsing value 'x' as type 'Int64' for column 0 at line 3".into());
        assert!(order.of_table(error).to_string().contains("for column 2 at line 3"));
    }

    #[test]
    fn a_row_that_is_cut_has_no_names() {
        let syntax = Syntax { delimiter: b',', quote: b'"', escape: None, comment: Some(b'#'), terminator: None };
        let found = |text: &str, is_whole| names(text.as_bytes(), syntax, is_whole);
        assert_eq!(found("# x\na,\"b\nc\"\n1,2\n", false), Some(vec!["a".to_owned(), "b\nc".to_owned()]));
        assert_eq!((found("a,b", false), found("", true)), (None, None));
        assert_eq!(found("a,b", true).map(|names| names.len()), Some(2));
    }
}
