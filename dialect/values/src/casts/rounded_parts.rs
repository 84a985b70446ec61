//! Numbers inside lists, structs and maps before a cast of the whole: rounded for integers, where DataFusion 55 truncates, and
//! looked at for FLOAT, where it makes infinities of numbers beyond.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/11886>
//! Shows: `SELECT CAST([2.7] AS INT[])[1]` gives `3`
//! Shows: `SELECT CAST([1e300] AS FLOAT[])[1]` is refused

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, StructArray,
};
use arrow::compute::cast as cast_array;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::casts::float_range::check_within_float;
use crate::casts::nested_types::is_nested;
use crate::same_type_function::by_column;

/// Whether a type is of integers, or has integers inside.
pub(crate) fn holds_integers(kind: &DataType) -> bool {
    match kind {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => holds_integers(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| holds_integers(field.data_type())),
        other => other.is_integer(),
    }
}

/// A value with its parts rounded that a cast to this type makes integers; `None` if there are none.
pub(crate) fn round_parts(value: &Expr, from: &DataType, to: &DataType) -> Option<Expr> {
    if !is_nested(to) || rounded_type(from, to).is_none() {
        return None;
    }
    let target = Expr::Literal(ScalarValue::try_new_null(to).ok()?, None);
    Some(function().call(vec![value.clone(), target]))
}

/// The type of the value in which parts are rounded for a target; `None` if there are none. A decimal loses its digits behind
/// the point.
fn rounded_type(from: &DataType, to: &DataType) -> Option<DataType> {
    let inner = |field: &FieldRef, kind: DataType| Arc::new(field.as_ref().clone().with_data_type(kind));
    match (from, to) {
        (DataType::Float32 | DataType::Float64, to) if to.is_integer() => Some(from.clone()),
        (DataType::Float64, DataType::Float32) => Some(DataType::Float64),
        (DataType::Decimal128(precision, scale), to) if to.is_integer() && *scale > 0 => {
            Some(DataType::Decimal128(*precision, 0))
        }
        (DataType::Decimal256(precision, scale), to) if to.is_integer() && *scale > 0 => {
            Some(DataType::Decimal256(*precision, 0))
        }
        (DataType::List(item), to) => {
            Some(DataType::List(inner(item, rounded_type(item.data_type(), item_type(to)?)?)))
        }
        (DataType::LargeList(item), to) => {
            Some(DataType::LargeList(inner(item, rounded_type(item.data_type(), item_type(to)?)?)))
        }
        (DataType::FixedSizeList(item, size), to) => {
            Some(DataType::FixedSizeList(inner(item, rounded_type(item.data_type(), item_type(to)?)?), *size))
        }
        (DataType::Map(entries, sorted), DataType::Map(target, _)) => {
            let kind = rounded_type(entries.data_type(), target.data_type())?;
            Some(DataType::Map(inner(entries, kind), *sorted))
        }
        (DataType::Struct(fields), DataType::Struct(targets)) => {
            let parts: Vec<Option<DataType>> = fields
                .iter()
                .enumerate()
                .map(|(place, field)| rounded_type(field.data_type(), target_of(fields, place, targets)?.data_type()))
                .collect();
            if parts.iter().all(Option::is_none) {
                return None;
            }
            let fields = fields.iter().zip(parts).map(|(field, kind)| match kind {
                Some(kind) => inner(field, kind),
                None => Arc::clone(field),
            });
            Some(DataType::Struct(fields.collect()))
        }
        _ => None,
    }
}

fn item_type(list: &DataType) -> Option<&DataType> {
    match list {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

/// The field that the field at this place becomes in a cast: that of its name, or that of its place where no names agree.
fn target_of<'a>(fields: &Fields, place: usize, targets: &'a Fields) -> Option<&'a FieldRef> {
    let named = |field: &FieldRef| targets.iter().find(|target| target.name() == field.name());
    match fields.iter().any(|field| named(field).is_some()) {
        true => named(&fields[place]),
        false => targets.get(place),
    }
}

/// The values, rounded for a target.
fn round(values: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let Some(kind) = rounded_type(values.data_type(), to) else { return Ok(Arc::clone(values)) };
    Ok(match &kind {
        DataType::Float32 => {
            Arc::new(values.as_primitive::<Float32Type>().unary::<_, Float32Type>(|x| x.round_ties_even()))
        }
        DataType::Float64 if *to == DataType::Float32 => {
            check_within_float(values.as_primitive(), "CAST to a type with DOUBLE inside")?;
            Arc::clone(values)
        }
        DataType::Float64 => {
            Arc::new(values.as_primitive::<Float64Type>().unary::<_, Float64Type>(|x| x.round_ties_even()))
        }
        DataType::List(item) => round_list::<i32>(values, item, to)?,
        DataType::LargeList(item) => round_list::<i64>(values, item, to)?,
        DataType::FixedSizeList(item, size) => {
            let list = values.as_fixed_size_list();
            let items = round_items(list.values(), to)?;
            Arc::new(FixedSizeListArray::try_new(Arc::clone(item), *size, items, list.nulls().cloned())?)
        }
        DataType::Map(entries, sorted) => {
            let map = values.as_map();
            let DataType::Map(target, _) = to else { return Ok(Arc::clone(values)) };
            let pairs: ArrayRef = Arc::new(map.entries().clone());
            let pairs = round(&pairs, target.data_type())?.as_struct().clone();
            let offsets = map.offsets().clone();
            Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, map.nulls().cloned(), *sorted)?)
        }
        DataType::Struct(rounded) => {
            let (DataType::Struct(fields), DataType::Struct(targets)) = (values.data_type(), to) else {
                return Ok(Arc::clone(values));
            };
            let of = values.as_struct();
            let columns =
                of.columns().iter().enumerate().map(|(place, column)| match target_of(fields, place, targets) {
                    Some(target) => round(column, target.data_type()),
                    None => Ok(Arc::clone(column)),
                });
            let columns = columns.collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new(rounded.clone(), columns, of.nulls().cloned())?)
        }
        decimal => cast_array(values, decimal)?,
    })
}

fn round_list<O: OffsetSizeTrait>(values: &ArrayRef, item: &FieldRef, to: &DataType) -> Result<ArrayRef> {
    let list = values.as_list::<O>();
    let items = round_items(list.values(), to)?;
    let offsets = list.offsets().clone();
    Ok(Arc::new(GenericListArray::<O>::try_new(Arc::clone(item), offsets, items, list.nulls().cloned())?))
}

fn round_items(items: &ArrayRef, list: &DataType) -> Result<ArrayRef> {
    match item_type(list) {
        Some(to) => round(items, to),
        None => Ok(Arc::clone(items)),
    }
}

/// The function: a value, and a NULL of the type to which it is cast.
pub(crate) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(RoundedParts { signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RoundedParts {
    signature: Signature,
}

impl ScalarUDFImpl for RoundedParts {
    fn name(&self) -> &str {
        "rounded_parts"
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().take(1).map(|arg| arg.schema_name().to_string()).collect())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(rounded_type(&given[0], &given[1]).unwrap_or_else(|| given[0].clone()))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let [value, to] = [0, 1].map(|place| args.arg_fields[place].data_type().clone());
        let nullable = args.arg_fields[0].is_nullable();
        Ok(Arc::new(Field::new(self.name(), self.return_type(&[value, to])?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let to = args.arg_fields[1].data_type();
        by_column(&args.args[0], |values| round(values, to))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float64Array, Int32Array};

    use super::*;

    #[test]
    fn only_parts_that_become_integers_are_rounded() {
        let of = |kinds: [DataType; 2]| -> Fields {
            let named = ["a", "b"].into_iter().zip(kinds);
            named.map(|(name, kind)| Field::new(name, kind, true)).collect()
        };
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Float64Array::from(vec![1.5, 2.5])), Arc::new(Float64Array::from(vec![1.5, 2.5]))];
        let values = StructArray::new(of([DataType::Float64, DataType::Float64]), columns, None);
        let values: ArrayRef = Arc::new(values);
        // The fields go by their names, wherever they stand.
        let to = DataType::Struct(of([DataType::Int32, DataType::Float64]).iter().rev().cloned().collect());
        let rounded = round(&values, &to).unwrap();
        let rounded = rounded.as_struct();
        assert_eq!(rounded.column(0).as_primitive::<Float64Type>().values().to_vec(), [2.0, 2.0]);
        assert_eq!(rounded.column(1).as_primitive::<Float64Type>().values().to_vec(), [1.5, 2.5]);
        let integers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        assert_eq!(&round(&integers, &DataType::Int64).unwrap(), &integers);
    }
}
