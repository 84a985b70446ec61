//! `x AT TIME ZONE zone`, as in PostgreSQL and DuckDB: of a TIMESTAMP WITH TIME ZONE the time on the clocks of the zone, a TIMESTAMP;
//! of a TIMESTAMP, taken for one of these, the instant.
//!
//! DataFusion 55 casts either to a timestamp with the zone, and drops that cast from another to TIMESTAMP: `(x AT TIME ZONE
//! 'Asia/Tokyo')::timestamp` was the time in UTC.
//!
//! Upstream: none known
//! Given: `SET datafusion.execution.time_zone = 'UTC'`
//! Given: `CREATE TABLE t AS SELECT '2024-07-01 12:00:00+00'::timestamptz AS x`
//! Shows: `SELECT (x AT TIME ZONE 'Asia/Tokyo')::timestamp FROM t` gives `2024-07-01T21:00:00`

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::{Result, ScalarValue, internal_err, plan_err};
use datafusion::functions::datetime::to_local_time;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::names::type_names::sql_name;

/// The function behind the operator.
pub(crate) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(AtTimeZone { signature: Signature::user_defined(Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AtTimeZone {
    signature: Signature,
}

/// The type of a value of this type at a zone.
fn at_zone(value: &DataType, zone: &str) -> Result<DataType> {
    Ok(match value {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, None),
        DataType::Timestamp(unit, None) => DataType::Timestamp(*unit, Some(zone.into())),
        DataType::Date32 | DataType::Date64 | DataType::Null => {
            DataType::Timestamp(TimeUnit::Nanosecond, Some(zone.into()))
        }
        text if text.is_string() => DataType::Timestamp(TimeUnit::Nanosecond, Some(zone.into())),
        other => return plan_err!("AT TIME ZONE is of a TIMESTAMP, not of {}", sql_name(other)),
    })
}

fn zone(value: Option<&ScalarValue>) -> Result<&str> {
    match value.and_then(ScalarValue::try_as_str) {
        Some(Some(zone)) => Ok(zone),
        _ => plan_err!("AT TIME ZONE takes a constant, such as 'Asia/Tokyo'"),
    }
}

impl ScalarUDFImpl for AtTimeZone {
    fn name(&self) -> &str {
        "at_time_zone"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        Ok(given.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{}: the type depends on the zone", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let zone = zone(args.scalar_arguments.get(1).copied().flatten())?;
        let field = &args.arg_fields[0];
        Ok(Arc::new(Field::new(self.name(), at_zone(field.data_type(), zone)?, field.is_nullable())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value, ColumnarValue::Scalar(name)] = &args.args[..] else {
            return internal_err!("{}: {} operands", self.name(), args.args.len());
        };
        let (values, zone) = (value.to_array(args.number_rows)?, zone(Some(name))?);
        match values.data_type() {
            DataType::Timestamp(unit, Some(_)) => {
                on_clocks(cast(&values, &DataType::Timestamp(*unit, Some(zone.into())))?, args)
            }
            _ => Ok(ColumnarValue::Array(cast(&values, args.return_field.data_type())?)),
        }
    }
}

/// What the clocks of their zone show at these instants. A cast would give the times in UTC.
fn on_clocks(instants: ArrayRef, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
    let field = Arc::new(Field::new("x", instants.data_type().clone(), true));
    let args = ScalarFunctionArgs { args: vec![ColumnarValue::Array(instants)], arg_fields: vec![field], ..args };
    to_local_time().invoke_with_args(args)
}

#[cfg(test)]
mod tests {
    use arrow::array::TimestampSecondArray;

    use super::*;

    #[test]
    fn an_instant_has_a_time_in_a_zone_and_such_a_time_an_instant() {
        let noon = 1_719_835_200; // 2024-07-01 12:00:00 in UTC
        let zoned =
            |zone: &str, second| -> ArrayRef { Arc::new(TimestampSecondArray::from(vec![second]).with_timezone(zone)) };
        let plain = |second| -> ArrayRef { Arc::new(TimestampSecondArray::from(vec![second])) };
        for (value, zone, expected) in [
            (zoned("UTC", noon), "Asia/Tokyo", plain(noon + 9 * 3600)),
            (zoned("Europe/Berlin", noon), "UTC", plain(noon)),
            (plain(noon), "Asia/Tokyo", zoned("Asia/Tokyo", noon - 9 * 3600)),
        ] {
            let field = Arc::new(Field::new("x", value.data_type().clone(), true));
            let return_field = Arc::new(Field::new("x", at_zone(value.data_type(), zone).unwrap(), true));
            let args = ScalarFunctionArgs {
                args: vec![ColumnarValue::Array(value), ColumnarValue::Scalar(ScalarValue::from(zone))],
                arg_fields: vec![field],
                number_rows: 1,
                return_field,
                config_options: Arc::default(),
            };
            let found = function().invoke_with_args(args).unwrap().into_array(1).unwrap();
            assert_eq!(&found, &expected);
        }
        assert!(at_zone(&DataType::Int64, "UTC").is_err());
    }
}
