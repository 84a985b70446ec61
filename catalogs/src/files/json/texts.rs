//! Values as JSON strings, and what Arrow's writer of JSON lacks: numbers that JSON has no digits for become the strings
//! `"NaN"`, `"Infinity"` and `"-Infinity"` (as PostgreSQL writes them; null would lose them), and the keys of maps strings.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use arrow::error::ArrowError;
use arrow::json::writer::{Encoder, EncoderFactory, EncoderOptions, NullableEncoder, make_encoder};

/// Each value of a column as a JSON string; NULL stays NULL.
///
/// # Errors
/// If a value's type has no JSON.
pub fn json_texts(field: &FieldRef, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let array = with_text_keys(array)?;
    let field = Arc::new(Field::new(field.name(), array.data_type().clone(), true));
    let options = EncoderOptions::default().with_explicit_nulls(true).with_encoder_factory(Arc::new(JsonFloats));
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

/// The array with strings for the keys of its maps: JSON has no other keys.
///
/// # Errors
/// If a key cannot be cast to a string.
pub fn with_text_keys(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
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
pub struct JsonFloats;

impl EncoderFactory for JsonFloats {
    fn make_default_encoder<'a>(
        &self,
        _field: &'a FieldRef,
        array: &'a dyn Array,
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
            let _ = serde_json::to_writer(out, &self.0[row]);
        } else if value.is_nan() {
            out.extend_from_slice(b"\"NaN\"");
        } else {
            out.extend_from_slice(if value > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" });
        }
    }
}
