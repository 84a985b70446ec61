//! A guard of functions: DataFusion 55 applies identities of `floor`, `date_part` and `log` to arguments for which they do
//! not hold.
//!
//! It replaces `floor(x) = 5` by two comparisons of x, though x may be volatile; a comparison of the year of a TIMESTAMP of
//! nanoseconds by bounds which that type may not hold; and `log(x, x)` by 1, even where x has no logarithm.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature,
};

/// The years all of whose days a TIMESTAMP of nanoseconds can hold.
const YEARS: RangeInclusive<i32> = 1678..=2261;

/// The function without these identities.
pub fn guard_identities(inner: &Arc<ScalarUDF>) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(FunctionGuard { inner: Arc::clone(inner) }))
}

/// A function that is not simplified, and whose comparison is replaced by one of its argument only where that is right.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FunctionGuard {
    inner: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for FunctionGuard {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        self.inner.inner().return_type(given)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        self.inner.inner().return_field_from_args(args)
    }

    fn is_strict(&self) -> bool {
        self.inner.inner().is_strict()
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.inner().coerce_types(given)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.inner.invoke_with_args(args)
    }

    fn preimage(&self, args: &[Expr], value: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        // The other functions are compared with numbers of other types than INT.
        let is_out_of_range =
            matches!(value, Expr::Literal(ScalarValue::Int32(Some(year)), _) if !YEARS.contains(year));
        if is_out_of_range || args.iter().any(Expr::is_volatile) {
            return Ok(PreimageResult::None);
        }
        self.inner.inner().preimage(args, value, info)
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        self.inner.inner().evaluate_bounds(inputs)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.inner().output_ordering(inputs)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.inner().documentation()
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.inner.inner().placement(args)
    }
}
