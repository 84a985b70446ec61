//! `round` and `trunc` to any number of digits.
//!
//! DataFusion 55 multiplies by a power of ten, rounds and divides. Where the power or the product is beyond the floats, the
//! answer was NaN or infinity: of `round(1.5, -400)`, or `trunc(1e10, 300)`.
//!
//! Upstream: none known
//! Shows: `SELECT round(1.5::double, -400)` gives `0.0`
//! Shows: `SELECT trunc(1e10, 300)` gives `10000000000.0`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl};

/// The functions, in place of DataFusion's of the same names among `functions`.
pub fn rounding_functions(functions: &[Arc<ScalarUDF>]) -> Vec<Arc<ScalarUDF>> {
    let named = ["round", "trunc"].into_iter();
    let found = named.filter_map(|name| functions.iter().rev().find(|function| function.name() == name));
    found.map(|inner| Arc::new(ScalarUDF::new_from_impl(Rounded { inner: Arc::clone(inner) }))).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Rounded {
    inner: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for Rounded {
    bonnet_sql::as_inner_function!();

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (given, rows) = (args.args.clone(), args.number_rows);
        let answer = self.inner.invoke_with_args(args)?;
        match (&given[..], answer.data_type().is_floating()) {
            ([values, digits], true) => finite(values, digits, answer, rows),
            _ => Ok(answer),
        }
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.inner().simplify(args, info)
    }
}

/// The answer, with the value itself or 0 where it is not finite though the value is.
fn finite(values: &ColumnarValue, digits: &ColumnarValue, answer: ColumnarValue, rows: usize) -> Result<ColumnarValue> {
    let kind = answer.data_type();
    let constant = matches!(answer, ColumnarValue::Scalar(_));
    let rows = if constant { 1 } else { rows };
    let floats = |value: &ColumnarValue| -> Result<ArrayRef> { Ok(cast(&value.to_array(rows)?, &DataType::Float64)?) };
    let answers = floats(&answer)?;
    let answers = answers.as_primitive::<Float64Type>();
    if answers.iter().flatten().all(f64::is_finite) {
        return Ok(answer);
    }
    let (values, digits) = (floats(values)?, cast(&digits.to_array(rows)?, &DataType::Int64)?);
    let (values, digits) = (values.as_primitive::<Float64Type>(), digits.as_primitive::<Int64Type>());
    let mended: Float64Array = (0..answers.len())
        .map(|row| {
            let answer = answers.is_valid(row).then(|| answers.value(row))?;
            let value = values.value(row);
            Some(match answer.is_finite() || !value.is_finite() {
                true => answer,
                false if digits.value(row) > 0 => value,
                false => 0.0_f64.copysign(value),
            })
        })
        .collect();
    let mended = cast(&mended, &kind)?;
    Ok(match constant {
        true => ColumnarValue::Scalar(ScalarValue::try_from_array(&mended, 0)?),
        false => ColumnarValue::Array(mended),
    })
}
