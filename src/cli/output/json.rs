//! JSON: one array a result, or one object a line; and single values as JSON texts.
//!
//! Arrow writes the rows. Two things are added: numbers that JSON lacks become the strings `"NaN"`, `"Infinity"` and
//! `"-Infinity"` (as PostgreSQL writes them; null would lose them), and the keys of maps become text.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::{Array as ArrowArray, ArrayRef, AsArray, RecordBatch, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::writer::{
    Encoder, EncoderFactory, EncoderOptions, JsonFormat, LineDelimited, NullableEncoder, make_encoder,
};
use arrow::json::{Writer as ArrowWriter, WriterBuilder};

use super::Writer;

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
        let builder = WriterBuilder::new().with_explicit_nulls(true).with_encoder_factory(Arc::new(Floats));
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
        let batch = with_text_keys(batch, &self.names).map_err(io::Error::other)?;
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

/// Each value of a column as a JSON text; NULL stays NULL.
pub(crate) fn texts(field: &FieldRef, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let array = with_text_keys_in(array)?;
    let field = Arc::new(Field::new(field.name(), array.data_type().clone(), true));
    let options = EncoderOptions::default().with_explicit_nulls(true).with_encoder_factory(Arc::new(Floats));
    let mut encoder = make_encoder(&field, array.as_ref(), &options)?;
    let mut texts = StringBuilder::new();
    let mut bytes = Vec::new();
    for row in 0..array.len() {
        if encoder.is_null(row) {
            texts.append_null();
            continue;
        }
        bytes.clear();
        encoder.encode(row, &mut bytes);
        texts.append_value(std::str::from_utf8(&bytes).map_err(|error| ArrowError::JsonError(error.to_string()))?);
    }
    Ok(Arc::new(texts.finish()))
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

fn with_text_keys(batch: &RecordBatch, names: &[String]) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (name, column) in names.iter().zip(batch.columns()) {
        let column = with_text_keys_in(column)?;
        fields.push(Field::new(name, column.data_type().clone(), true));
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// The array with text for the keys of its maps: JSON has no other keys.
fn with_text_keys_in(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let wanted = type_with_text_keys(array.data_type());
    if wanted == *array.data_type() { Ok(array.clone()) } else { cast(array, &wanted) }
}

fn type_with_text_keys(data_type: &DataType) -> DataType {
    let inner = |field: &FieldRef| -> FieldRef {
        Arc::new(field.as_ref().clone().with_data_type(type_with_text_keys(field.data_type())))
    };
    match data_type {
        DataType::List(field) => DataType::List(inner(field)),
        DataType::LargeList(field) => DataType::LargeList(inner(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(inner(field), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::Map(entries, sorted) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => {
                let key = Arc::new(fields[0].as_ref().clone().with_data_type(DataType::Utf8));
                let pair = DataType::Struct([key, inner(&fields[1])].into_iter().collect());
                DataType::Map(Arc::new(entries.as_ref().clone().with_data_type(pair)), *sorted)
            }
            _ => data_type.clone(),
        },
        _ => data_type.clone(),
    }
}

/// Encodes floats, with strings for those that JSON lacks.
#[derive(Debug)]
struct Floats;

impl EncoderFactory for Floats {
    fn make_default_encoder<'a>(
        &self,
        _field: &'a FieldRef,
        array: &'a dyn ArrowArray,
        _options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let encoder: Box<dyn Encoder + 'a> = match array.data_type() {
            DataType::Float32 => Box::new(FloatEncoder(array.as_primitive::<Float32Type>().values())),
            DataType::Float64 => Box::new(FloatEncoder(array.as_primitive::<Float64Type>().values())),
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(encoder, array.nulls().cloned())))
    }
}

struct FloatEncoder<'a, T>(&'a [T]);

impl<T: Copy + Into<f64> + serde::Serialize> Encoder for FloatEncoder<'_, T> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let value: f64 = self.0[row].into();
        if value.is_finite() {
            // Shortest digits that read back as the same value of this width. A Vec takes any bytes.
            serde_json::to_writer(out, &self.0[row]).expect("a finite number is JSON");
        } else if value.is_nan() {
            out.extend_from_slice(b"\"NaN\"");
        } else {
            out.extend_from_slice(if value > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" });
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float32Array, Float64Array, Int32Builder, Int64Array, MapBuilder, StringArray, StructArray};

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
        let text = texts(&field, &both).unwrap();
        assert_eq!(text.as_string::<i32>().value(0), "{\"m\":{\"4\":40},\"none\":null}");
    }

    #[test]
    fn equal_names_get_numbers() {
        let schema = Schema::new(["x", "x", "x_1", "x"].map(|name| Field::new(name, DataType::Int64, true)).to_vec());
        assert_eq!(distinct_names(&schema), ["x", "x_1", "x_1_1", "x_2"]);
    }
}
