//! `coalesce` of volatile expressions: DataFusion 55 replaces it by a CASE, which evaluates them twice.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/25477>
//! Shows: `SELECT count(*) - count(x) FROM (SELECT coalesce(CASE WHEN random() < 0.5 THEN 1 END, 2) AS x FROM generate_series(1, 1000))` gives `0`

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::is_not_null;
use arrow::compute::kernels::zip::zip;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The first of the values that is not NULL. All of them are evaluated, each once; they have one type.
pub fn coalesce_once(values: Vec<Expr>) -> Expr {
    function().call(values)
}

/// The function.
pub(crate) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(CoalesceOnce { signature: Signature::variadic_any(Volatility::Immutable) })
}

/// The first value that is not NULL.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CoalesceOnce {
    signature: Signature,
}

impl ScalarUDFImpl for CoalesceOnce {
    fn name(&self) -> &str {
        "coalesce_once"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(given[0].clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().all(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), args.arg_fields[0].data_type().clone(), nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut values = args.args.iter().rev().map(|value| value.to_array(args.number_rows));
        let Some(last) = values.next() else { return internal_err!("{}: no values", self.name()) };
        let first = |rest: ArrayRef, value: Result<ArrayRef>| {
            let value = value?;
            Ok::<_, DataFusionError>(zip(&is_not_null(&value)?, &value, &rest)?)
        };
        Ok(ColumnarValue::Array(values.try_fold(last?, first)?))
    }
}
