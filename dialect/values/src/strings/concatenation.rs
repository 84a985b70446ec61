//! Concatenation of texts, `a || b`, within the memory limit. DataFusion's builds a column of any size without a
//! reservation from the memory pool, and before that repeats a constant for each row.
//!
//! Upstream: none known
//! Shows: no statement: memory, no answer: `SELECT length(x || x)` of 60 MB goes beyond `memory_limit = '100M'`.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, GenericStringArray, GenericStringBuilder, OffsetSizeTrait, StringViewArray,
    new_null_array,
};
use arrow::compute::kernels::concat_elements::concat_elements_dyn;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::ColumnarValue;

/// Whether values of the type are texts.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The concatenations of texts of one type; NULL where a side is NULL.
pub(crate) fn concatenate(left: &ColumnarValue, right: &ColumnarValue, rows: usize) -> Result<ColumnarValue> {
    let constants = matches!((left, right), (ColumnarValue::Scalar(_), ColumnarValue::Scalar(_)));
    let texts = [left.clone(), right.clone()];
    crate::strings::bounded_functions::join_texts("||", &texts, if constants { 1 } else { rows }, |texts| {
        join(&texts[0], &texts[1])
    })
}

fn join(left: &ColumnarValue, right: &ColumnarValue) -> Result<ColumnarValue> {
    Ok(ColumnarValue::Array(match (left, right) {
        (ColumnarValue::Array(left), ColumnarValue::Array(right)) => concat_elements_dyn(left, right)?,
        (ColumnarValue::Array(left), ColumnarValue::Scalar(right)) => enclose(left, "", text(right))?,
        (ColumnarValue::Scalar(left), ColumnarValue::Array(right)) => match text(left) {
            Some(before) => enclose(right, before, Some(""))?,
            None => enclose(right, "", None)?,
        },
        (ColumnarValue::Scalar(left), ColumnarValue::Scalar(right)) => {
            let joined = enclose(&left.to_array()?, "", text(right))?;
            return ScalarValue::try_from_array(&joined, 0).map(ColumnarValue::Scalar);
        }
    }))
}

fn text(value: &ScalarValue) -> Option<&str> {
    value.try_as_str().flatten()
}

/// A column of texts between two constants; all NULL if the constant behind is.
fn enclose(column: &ArrayRef, before: &str, behind: Option<&str>) -> Result<ArrayRef> {
    let Some(behind) = behind else {
        return Ok(new_null_array(column.data_type(), column.len()));
    };
    match column.data_type() {
        DataType::Utf8 => enclose_offsets(column.as_string::<i32>(), before, behind),
        DataType::LargeUtf8 => enclose_offsets(column.as_string::<i64>(), before, behind),
        DataType::Utf8View => {
            let mut joined = String::new();
            let texts = column.as_string_view().iter().map(|text| {
                text.map(|text| {
                    joined.clear();
                    joined.extend([before, text, behind]);
                    joined.clone()
                })
            });
            Ok(Arc::new(texts.collect::<StringViewArray>()))
        }
        other => internal_err!("||: {other} is no text"),
    }
}

fn enclose_offsets<O: OffsetSizeTrait>(column: &GenericStringArray<O>, before: &str, behind: &str) -> Result<ArrayRef> {
    let (starts, added) = (column.value_offsets(), before.len() + behind.len());
    let bytes = (starts[column.len()] - starts[0]).as_usize() + column.len() * added;
    let mut texts = GenericStringBuilder::<O>::with_capacity(column.len(), bytes);
    for text in column {
        match text {
            Some(text) => {
                // The builder takes what is written for the beginning of the next value.
                let written = [before, text].iter().try_for_each(|part| texts.write_str(part));
                if written.is_err() {
                    return internal_err!("||: a text cannot be written");
                }
                texts.append_value(behind);
            }
            None => texts.append_null(),
        }
    }
    Ok(Arc::new(texts.finish()))
}

#[cfg(test)]
mod tests {
    use arrow::array::{LargeStringArray, StringArray};

    use super::*;

    fn joined(left: ColumnarValue, right: ColumnarValue) -> Vec<Option<String>> {
        let joined = concatenate(&left, &right, 3).unwrap().to_array(3).unwrap();
        let texts = arrow::compute::cast(&joined, &DataType::Utf8).unwrap();
        texts.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn texts_of_every_type_are_joined_and_null_is_none() {
        let texts = vec![Some("a"), None, Some("")];
        let columns: [ArrayRef; 3] = [
            Arc::new(StringArray::from(texts.clone())),
            Arc::new(LargeStringArray::from(texts.clone())),
            Arc::new(StringViewArray::from(texts)),
        ];
        for column in columns {
            let scalar = |text: Option<&str>| {
                let value = ScalarValue::Utf8(text.map(str::to_owned)).cast_to(column.data_type()).unwrap();
                ColumnarValue::Scalar(value)
            };
            let array = || ColumnarValue::Array(Arc::clone(&column));
            let some = |texts: [Option<&str>; 3]| texts.map(|text| text.map(str::to_owned)).to_vec();
            assert_eq!(joined(array(), array()), some([Some("aa"), None, Some("")]));
            assert_eq!(joined(array(), scalar(Some("é"))), some([Some("aé"), None, Some("é")]));
            assert_eq!(joined(scalar(Some("a long beginning ")), array())[0].as_deref(), Some("a long beginning a"));
            assert_eq!(joined(scalar(None), array()), some([None; 3]));
            assert_eq!(joined(array(), scalar(None)), some([None; 3]));
            assert_eq!(joined(scalar(Some("x")), scalar(Some("y"))), some([Some("xy"); 3]));
            assert_eq!(joined(scalar(None), scalar(Some("y"))), some([None; 3]));
        }
    }
}
