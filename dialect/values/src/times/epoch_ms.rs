//! `epoch_ms(moment)`: milliseconds since 1970, and the moment of such a number.
//!
//! Upstream: none known
//! Shows: `SELECT epoch_ms(TIMESTAMP '2024-01-01 00:00:00.25')` gives `1704067200250`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit, TimestampMicrosecondType};
use bonnet_common::sql_type;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, typed_scalar_function};
use datafusion::common::{Result, plan_err};

use crate::times::moments::TIMESTAMP;
use crate::whole_numbers::whole_numbers;

/// The registration of `epoch_ms`.
pub(crate) fn epoch_ms() -> Function {
    typed_scalar_function("epoch_ms", answer_type, milliseconds)
        .parameters([Parameter::column("moment", "A date or a timestamp; or a whole number of milliseconds.")])
        .returns("BIGINT; TIMESTAMP(6) of a number")
        .description(
            "The whole milliseconds from 1970-01-01 to a moment, rounded down; the moment of a number of milliseconds. NULL for NULL.",
        )
        .example("SELECT epoch_ms(TIMESTAMP '2024-02-10 12:30:00'), epoch_ms(1707568200000)")
        .source("DuckDB, timestamp functions")
}

fn answer_type(given: &[DataType]) -> Result<DataType> {
    match &given[0] {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Null => Ok(DataType::Int64),
        number if number.is_integer() => Ok(TIMESTAMP),
        other => plan_err!(
            "epoch_ms: the argument is {}; it takes a date, a timestamp, or a whole number of milliseconds",
            sql_type(other)
        ),
    }
}

fn milliseconds(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let per_ms = match columns[0].data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, _) => 1_000_000,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 1000,
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
            let whole = cast(&columns[0], &DataType::Timestamp(TimeUnit::Millisecond, None))?;
            return Ok(cast(&whole, &DataType::Int64)?);
        }
        DataType::Null => return Ok(cast(&columns[0], &DataType::Int64)?),
        _ => {
            let numbers = whole_numbers("epoch_ms", "moment", &columns[0])?;
            let moments = numbers.try_unary::<_, TimestampMicrosecondType, _>(|number| {
                let beyond = || execution_error(format!("epoch_ms: {number} milliseconds are not within TIMESTAMP"));
                number.checked_mul(1000).ok_or_else(beyond)
            })?;
            return Ok(Arc::new(moments));
        }
    };
    let moments = cast(&columns[0], &DataType::Int64)?;
    Ok(Arc::new(moments.as_primitive::<Int64Type>().unary::<_, Int64Type>(|moment| moment.div_euclid(per_ms))))
}
