//! Numbers as SQL compares and casts them: a cast to an integer rounds, where DataFusion cuts, and both zeros are in a list
//! that has one of them.

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use bonnet_sql::{InputColumns, map_expressions, mentions};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Cast, InList, ScalarFunction, TryCast};
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility, cast,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;

/// Rounds what is cast to an integer: a DOUBLE half to even, a decimal half away from zero, both as DuckDB does.
#[derive(Debug, Default)]
pub struct RoundedCasts;

impl AnalyzerRule for RoundedCasts {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let concerned = |expr: &Expr| match expr {
            Expr::Cast(Cast { field, .. }) | Expr::TryCast(TryCast { field, .. }) => field.data_type().is_integer(),
            Expr::InList(_) => true,
            _ => false,
        };
        if !mentions(&plan, concerned)? {
            return Ok(plan);
        }
        let rewrite = |expr: Expr, columns: &InputColumns| match expr {
            Expr::Cast(Cast { expr: of, field }) if field.data_type().is_integer() => {
                let (of, changed) = rounded(*of, columns);
                Ok(Transformed::new_transformed(Expr::Cast(Cast { expr: Box::new(of), field }), changed))
            }
            Expr::TryCast(TryCast { expr: of, field }) if field.data_type().is_integer() => {
                let (of, changed) = rounded(*of, columns);
                Ok(Transformed::new_transformed(Expr::TryCast(TryCast { expr: Box::new(of), field }), changed))
            }
            Expr::InList(list) => Ok(both_zeros(list)),
            other => Ok(Transformed::no(other)),
        };
        let rounded = plan.transform_up_with_subqueries(|node| {
            map_expressions(node, concerned, |expr, columns| expr.transform_up(|expr| rewrite(expr, columns)))
        })?;
        Ok(rounded.data)
    }

    fn name(&self) -> &str {
        "rounded_casts"
    }
}

fn rounded(of: Expr, schema: &InputColumns) -> (Expr, bool) {
    match of.get_type(schema) {
        Ok(DataType::Float32 | DataType::Float64) => {
            (Expr::ScalarFunction(ScalarFunction::new_udf(round_ties_even(), vec![of])), true)
        }
        Ok(DataType::Decimal128(precision, scale)) if scale > 0 => (cast(of, DataType::Decimal128(precision, 0)), true),
        Ok(DataType::Decimal256(precision, scale)) if scale > 0 => (cast(of, DataType::Decimal256(precision, 0)), true),
        _ => (of, false),
    }
}

/// DataFusion looks numbers of a list up by their bits, and there are two zeros.
fn both_zeros(mut list: InList) -> Transformed<Expr> {
    let zeros: Vec<Expr> = list
        .list
        .iter()
        .filter_map(|item| match constant(item)? {
            ScalarValue::Float64(Some(value)) if value == 0.0 => Some(ScalarValue::Float64(Some(-value))),
            ScalarValue::Float32(Some(value)) if value == 0.0 => Some(ScalarValue::Float32(Some(-value))),
            _ => None,
        })
        .map(|zero| Expr::Literal(zero, None))
        .filter(|zero| !list.list.contains(zero))
        .take(1)
        .collect();
    let changed = !zeros.is_empty();
    list.list.extend(zeros);
    Transformed::new_transformed(Expr::InList(list), changed)
}

/// The value of a constant, as `-0.0::double` is one.
pub fn constant(expr: &Expr) -> Option<ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value.clone()),
        expr if expr.any_column_refs() || expr.is_volatile() => None,
        expr => {
            let context = SimplifyContext::builder().with_schema(Arc::new(DFSchema::empty())).build();
            match ExprSimplifier::new(context).simplify(expr.clone()) {
                Ok(Expr::Literal(value, _)) => Some(value),
                _ => None,
            }
        }
    }
}

/// The function that rounds.
pub(crate) fn round_ties_even() -> Arc<ScalarUDF> {
    let signature = Signature::any(1, Volatility::Immutable);
    Arc::new(ScalarUDF::new_from_impl(RoundTiesEven { signature }))
}

/// The nearest whole number; of two, the even one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RoundTiesEven {
    signature: Signature,
}

impl ScalarUDFImpl for RoundTiesEven {
    fn name(&self) -> &str {
        "round_ties_even"
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().map(|arg| arg.schema_name().to_string()).collect())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(given[0].clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let of = &args.arg_fields[0];
        Ok(Arc::new(Field::new(self.name(), of.data_type().clone(), of.is_nullable())))
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        Interval::make_unbounded(&inputs[0].data_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match &args.args[0] {
            ColumnarValue::Array(values) => Ok(ColumnarValue::Array(match values.data_type() {
                DataType::Float32 => {
                    Arc::new(values.as_primitive::<Float32Type>().unary::<_, Float32Type>(|x| x.round_ties_even()))
                }
                _ => Arc::new(values.as_primitive::<Float64Type>().unary::<_, Float64Type>(|x| x.round_ties_even())),
            })),
            ColumnarValue::Scalar(ScalarValue::Float32(value)) => {
                Ok(ColumnarValue::Scalar(ScalarValue::Float32(value.map(f32::round_ties_even))))
            }
            ColumnarValue::Scalar(ScalarValue::Float64(value)) => {
                Ok(ColumnarValue::Scalar(ScalarValue::Float64(value.map(f64::round_ties_even))))
            }
            other => Ok(other.clone()),
        }
    }
}
