//! A guard of functions: DataFusion 55 applies identities of `floor`, `date_part` and `log` to arguments for which they do
//! not hold.
//!
//! It replaces `floor(x) = 5` by two comparisons of x, though x may be volatile; a comparison of the year of a TIMESTAMP of
//! nanoseconds by bounds which that type may not hold; and `log(x, x)` by 1, even where x has no logarithm.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/25135> <https://github.com/apache/datafusion/issues/25137>
//! Shows: `SELECT count(*) < 200 FROM generate_series(1, 1000) WHERE floor(random() * 10) = 5` gives `true`
//! Shows: `SELECT count(*) FROM (VALUES (TIMESTAMP '2024-01-01')) AS t(x) WHERE date_part('year', x) < 2500` gives `1`
//! Shows: `SELECT isnan(log(x, x)) FROM (VALUES (-2.0::double)) AS t(x)` gives `true`

use std::ops::RangeInclusive;
use std::sync::Arc;

use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl};

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
    bonnet_sql::as_inner_function!();

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
}
