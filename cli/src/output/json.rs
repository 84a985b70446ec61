//! JSON: one array a result, or one object a line. Arrow writes the rows, with what it lacks for values.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::writer::{JsonFormat, LineDelimited};
use arrow::json::{Writer as ArrowWriter, WriterBuilder};
use bonnet_catalogs::{JsonFloats, with_text_keys};

use super::writer::Writer;

/// Writes one array, a row a line.
pub(super) type Array = Json<RowsInArray>;
/// Writes one object a line (ndjson).
pub(super) type Lines = Json<LineDelimited>;

/// Writes a result with Arrow's writer, in the frame `F`.
pub(super) struct Json<F: JsonFormat> {
    names: Vec<String>,
    writer: ArrowWriter<Vec<u8>, F>,
}

impl<F: JsonFormat> Json<F> {
    pub(super) fn new(schema: SchemaRef) -> Self {
        let builder = WriterBuilder::new().with_explicit_nulls(true).with_encoder_factory(Arc::new(JsonFloats));
        Self { names: distinct_names(&schema), writer: builder.build(Vec::new()) }
    }

    fn pass(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.writer.get_ref())?;
        self.writer.get_mut().clear();
        Ok(())
    }
}

impl<F: JsonFormat> Writer for Json<F> {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let batch = renamed(batch, &self.names).map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(io::Error::other)?;
        self.pass(out)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.writer.finish().map_err(io::Error::other)?;
        self.pass(out)
    }
}

/// The frame of an array with a row a line.
#[derive(Debug, Default)]
pub(super) struct RowsInArray;

impl JsonFormat for RowsInArray {
    fn start_stream<W: Write>(&self, writer: &mut W) -> Result<(), ArrowError> {
        Ok(writer.write_all(b"[")?)
    }

    fn start_row<W: Write>(&self, writer: &mut W, is_first_row: bool) -> Result<(), ArrowError> {
        Ok(writer.write_all(if is_first_row { b"" } else { b",\n" })?)
    }

    fn end_stream<W: Write>(&self, writer: &mut W) -> Result<(), ArrowError> {
        Ok(writer.write_all(b"]\n")?)
    }
}

/// The columns' names; a name that came before gets `_1`, `_2`, ...: most readers keep only the last of equal keys.
fn distinct_names(schema: &Schema) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut names = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let mut name = field.name().clone();
        let mut count = 0;
        while !taken.insert(name.clone()) {
            count += 1;
            name = format!("{}_{count}", field.name());
        }
        names.push(name);
    }
    names
}

fn renamed(batch: &RecordBatch, names: &[String]) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (name, column) in names.iter().zip(batch.columns()) {
        let column = with_text_keys(column)?;
        fields.push(Field::new(name, column.data_type().clone(), true));
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        ArrayRef, AsArray, Float32Array, Float64Array, Int32Builder, Int64Array, MapBuilder, StringArray, StructArray,
    };
    use arrow::datatypes::DataType;
    use bonnet_catalogs::json_texts;

    use super::super::tests::written;
    use super::*;

    fn batch() -> RecordBatch {
        RecordBatch::try_from_iter([
            ("id", Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef),
            ("name", Arc::new(StringArray::from(vec!["a \"b\"\n", "é"])) as ArrayRef),
        ])
        .unwrap()
    }

    #[test]
    fn a_result_is_one_array_with_a_row_a_line() {
        let batch = batch();
        let expected = "[{\"id\":1,\"name\":\"a \\\"b\\\"\\n\"},\n{\"id\":null,\"name\":\"é\"}]\n";
        assert_eq!(written(Array::new(batch.schema()), &[batch.slice(0, 1), batch.slice(1, 1)]), expected);
    }

    #[test]
    fn a_result_without_rows_is_an_empty_array_or_nothing() {
        assert_eq!(written(Array::new(batch().schema()), &[]), "[]\n");
        assert_eq!(written(Lines::new(batch().schema()), &[]), "");
    }

    #[test]
    fn lines_are_objects() {
        let expected = "{\"id\":1,\"name\":\"a \\\"b\\\"\\n\"}\n{\"id\":null,\"name\":\"é\"}\n";
        assert_eq!(written(Lines::new(batch().schema()), &[batch()]), expected);
    }

    #[test]
    fn floats_keep_their_value() {
        let values = vec![0.1 + 0.2, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let batch = RecordBatch::try_from_iter([
            ("x", Arc::new(Float64Array::from(values)) as ArrayRef),
            ("y", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(1.0), Some(2.5), None])) as ArrayRef),
        ])
        .unwrap();
        let text = written(Lines::new(batch.schema()), &[batch]);
        let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows[0]["x"].as_f64(), Some(0.30000000000000004));
        assert_eq!(rows[1]["x"].as_f64(), Some(1e300));
        assert_eq!([&rows[2]["x"], &rows[3]["x"], &rows[4]["x"]], ["Infinity", "-Infinity", "NaN"]);
        assert!(text.starts_with("{\"x\":0.30000000000000004,\"y\":0.1}\n"));
        assert!(rows[1]["y"].is_null());
    }

    #[test]
    fn maps_with_number_keys_and_structs_are_objects() {
        let mut maps = MapBuilder::new(None, Int32Builder::new(), Int32Builder::new());
        maps.keys().append_value(4);
        maps.values().append_value(40);
        maps.append(true).unwrap();
        let maps: ArrayRef = Arc::new(maps.finish());
        let both: ArrayRef = Arc::new(StructArray::from(vec![
            (Arc::new(Field::new("m", maps.data_type().clone(), true)), maps.clone()),
            (Arc::new(Field::new("none", DataType::Int64, true)), Arc::new(Int64Array::from(vec![None])) as ArrayRef),
        ]));
        let batch = RecordBatch::try_from_iter([("m", maps.clone()), ("s", both.clone())]).unwrap();
        assert_eq!(
            written(Lines::new(batch.schema()), &[batch]),
            "{\"m\":{\"4\":40},\"s\":{\"m\":{\"4\":40},\"none\":null}}\n"
        );
        let field = Arc::new(Field::new("s", both.data_type().clone(), true));
        let text = json_texts(&field, &both).unwrap();
        assert_eq!(text.as_string::<i32>().value(0), "{\"m\":{\"4\":40},\"none\":null}");
    }

    #[test]
    fn equal_names_get_numbers() {
        let schema = Schema::new(["x", "x", "x_1", "x"].map(|name| Field::new(name, DataType::Int64, true)).to_vec());
        assert_eq!(distinct_names(&schema), ["x", "x_1", "x_1_1", "x_2"]);
    }
}
