//! Expressions into which DataFusion's simplification does not look: some of its rules hold of other types, or of operands
//! that are never NULL and never drawn anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The expression as one of which nothing is known but its type, and whether it may be NULL.
pub fn opaque(expr: Expr) -> Expr {
    function(false).call(vec![expr])
}

/// The expression as one that may be NULL, and of which nothing else is known but its type.
pub fn nullable(expr: Expr) -> Expr {
    function(true).call(vec![expr])
}

/// The expression as one that equals no other, since what it draws is another's draw.
pub fn drawn(expr: Expr) -> Expr {
    static DRAWS: AtomicU64 = AtomicU64::new(1);
    let draw = DRAWS.fetch_add(1, Ordering::Relaxed);
    let signature = Signature::any(1, Volatility::Immutable);
    ScalarUDF::new_from_impl(Opaque { nullable: false, draw, signature }).call(vec![expr])
}

/// The two functions.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [Arc::new(function(false)), Arc::new(function(true))]
}

fn function(nullable: bool) -> ScalarUDF {
    ScalarUDF::new_from_impl(Opaque { nullable, draw: 0, signature: Signature::any(1, Volatility::Immutable) })
}

/// What answers its argument.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Opaque {
    nullable: bool,
    /// Tells draws apart.
    draw: u64,
    signature: Signature,
}

impl ScalarUDFImpl for Opaque {
    fn name(&self) -> &str {
        if self.nullable { "nullable" } else { "opaque" }
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        // The name of a cast in a schema is that of its operand, which may be beside it.
        Ok(args.iter().map(ToString::to_string).collect())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(given[0].clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let of = Field::clone(&args.arg_fields[0]);
        let nullable = self.nullable || of.is_nullable();
        Ok(Arc::new(of.with_nullable(nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(args.args[0].clone())
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        Interval::make_unbounded(&inputs[0].data_type())
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        Ok(inputs[0].sort_properties)
    }
}
