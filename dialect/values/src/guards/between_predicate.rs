//! BETWEEN of a volatile expression as a function: DataFusion 55 replaces the predicate by two comparisons, which evaluate
//! the expression twice.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/25457>
//! Shows: `SELECT count(*) < 200 FROM generate_series(1, 1000) WHERE random() BETWEEN 0.45 AND 0.55` gives `true`

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::compute::{and_kleene, not};
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::Between;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply_cmp;

/// The predicate as a call that evaluates its value once.
pub fn between_once(between: Between) -> Expr {
    let Between { expr, negated, low, high } = between;
    function(negated).call(vec![*expr, *low, *high])
}

/// The functions for BETWEEN and NOT BETWEEN.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [Arc::new(function(false)), Arc::new(function(true))]
}

fn function(negated: bool) -> ScalarUDF {
    ScalarUDF::new_from_impl(BetweenOnce { negated, signature: Signature::any(3, Volatility::Immutable) })
}

/// Whether a value is between two others, or not.
#[derive(Debug, PartialEq, Eq, Hash)]
struct BetweenOnce {
    negated: bool,
    signature: Signature,
}

impl ScalarUDFImpl for BetweenOnce {
    fn name(&self) -> &str {
        if self.negated { "not_between" } else { "between" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value, low, high] = &args.args[..] else {
            return internal_err!("{}: {} operands", self.name(), args.args.len());
        };
        let above = apply_cmp(Operator::GtEq, value, low)?.into_array(args.number_rows)?;
        let below = apply_cmp(Operator::LtEq, value, high)?.into_array(args.number_rows)?;
        let within = and_kleene(above.as_boolean(), below.as_boolean())?;
        Ok(ColumnarValue::Array(Arc::new(if self.negated { not(&within)? } else { within })))
    }
}
