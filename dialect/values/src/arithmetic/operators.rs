//! Checked arithmetic: overflow is an error, and quotients of decimals are rounded. DataFusion's wraps around silently, and
//! truncates where SQL rounds. Shifts that lose bits are errors, and `||` stays within the memory limit.
//!
//! The operators are replaced by functions: those of constants in analysis, before DataFusion evaluates them; all others
//! after logical optimization, so that its rules, and other databases to which it pushes expressions, see plain operators.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/17539>
//! Shows: `SELECT x + 1 FROM (VALUES (9223372036854775807)) AS t(x)` is refused
//! Shows: `SELECT 9223372036854775807 + 1` is refused
//! Shows: `SELECT 2::decimal(10, 0) / 3::decimal(10, 0)` gives `0.6667`

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Datum};
use arrow::compute::cast;
use arrow::compute::kernels::numeric;
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type, Field, FieldRef,
};
use arrow::error::ArrowError;
use bonnet_common::{ErrorKind, Raised};
use bonnet_sql::{InputColumns, map_expressions, mentions};
use datafusion::catalog::Session;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::type_coercion::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_expr_common::datum::apply;
use datafusion::physical_plan::ExecutionPlan;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::arithmetic::{overflow_detection, quotient, shifts};
use crate::names::type_names::sql_name;
use crate::strings::concatenation;

/// An operation that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Binary(Operator),
    Negate,
}

/// The operators that are replaced.
const OPERATORS: [Operator; 7] = [
    Operator::Plus,
    Operator::Minus,
    Operator::Multiply,
    Operator::Divide,
    Operator::StringConcat,
    Operator::BitwiseShiftLeft,
    Operator::BitwiseShiftRight,
];

/// An operation as a function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operation: Operation,
    signature: Signature,
}

impl Checked {
    fn function(operation: Operation) -> Arc<ScalarUDF> {
        let signature = Signature::user_defined(Volatility::Immutable);
        Arc::new(ScalarUDF::new_from_impl(Self { operation, signature }))
    }

    fn call(operation: Operation, args: Vec<Expr>) -> Expr {
        Expr::ScalarFunction(ScalarFunction::new_udf(Self::function(operation), args))
    }

    /// The expression that the function stands for.
    fn plain(&self, args: &[Expr]) -> Result<Expr> {
        match (self.operation, args) {
            (Operation::Binary(operator), [left, right]) => {
                Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(left.clone()), operator, Box::new(right.clone()))))
            }
            (Operation::Negate, [of]) => Ok(Expr::Negative(Box::new(of.clone()))),
            _ => internal_err!("{}: {} operands", self.name(), args.len()),
        }
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        match self.operation {
            Operation::Binary(Operator::Plus) => "checked_add",
            Operation::Binary(Operator::Minus) => "checked_subtract",
            Operation::Binary(Operator::Multiply) => "checked_multiply",
            Operation::Binary(Operator::StringConcat) => "bounded_concatenate",
            Operation::Binary(Operator::BitwiseShiftLeft) => "checked_shift_left",
            Operation::Binary(Operator::BitwiseShiftRight) => "checked_shift_right",
            Operation::Binary(_) => "rounded_divide",
            Operation::Negate => "checked_negate",
        }
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(self.plain(args)?.to_string())
    }

    // As that of the plain expression, whose operands a chain would copy again and again.
    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        match (self.operation, args) {
            (Operation::Binary(operator), [left, right]) => {
                Ok(format!("{} {operator} {}", left.schema_name(), right.schema_name()))
            }
            (Operation::Negate, [of]) => Ok(format!("(- {})", of.schema_name())),
            _ => internal_err!("{}: {} operands", self.name(), args.len()),
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        Ok(given.to_vec())
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match (self.operation, given) {
            (Operation::Binary(operator), [left, right]) => {
                BinaryTypeCoercer::new(left, &operator, right).get_result_type()
            }
            (Operation::Negate, [of]) => Ok(of.clone()),
            _ => internal_err!("{}: {} operands", self.name(), given.len()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let types: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let to = args.return_field.data_type();
        let done = match (self.operation, args.args.as_slice()) {
            (Operation::Binary(Operator::StringConcat), [left, right]) => {
                return concatenation::concatenate(left, right, args.number_rows);
            }
            (
                Operation::Binary(operator @ (Operator::BitwiseShiftLeft | Operator::BitwiseShiftRight)),
                [left, right],
            ) => {
                return shifts::shift(operator, left, right);
            }
            (Operation::Binary(operator), [left, right]) => {
                apply(left, right, |left, right| compute(operator, left, right, to))
            }
            (Operation::Negate, [ColumnarValue::Array(of)]) => {
                numeric::neg(of).map(ColumnarValue::Array).map_err(DataFusionError::from)
            }
            (Operation::Negate, [of]) => {
                let negated = numeric::neg(&of.to_array(1)?).map_err(DataFusionError::from);
                negated.and_then(|one| ScalarValue::try_from_array(&one, 0)).map(ColumnarValue::Scalar)
            }
            _ => internal_err!("{}: {} operands", self.name(), args.args.len()),
        };
        done.map_err(|error| overflow_error(error, self.operation, to))
    }

    fn evaluate_bounds(&self, inputs: &[&Interval]) -> Result<Interval> {
        let types: Vec<DataType> = inputs.iter().map(|input| input.data_type()).collect();
        Interval::make_unbounded(&self.return_type(&types)?)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        Ok(match (self.operation, inputs) {
            (Operation::Binary(Operator::Plus), [left, right]) => left.sort_properties.add(&right.sort_properties),
            (Operation::Binary(Operator::Minus), [left, right]) => left.sort_properties.sub(&right.sort_properties),
            (Operation::Negate, [of]) => -of.sort_properties,
            _ => SortProperties::Unordered,
        })
    }
}

/// The functions that replace operators. A serialised plan refers to them by name.
pub(crate) fn operators() -> Vec<Arc<ScalarUDF>> {
    OPERATORS.map(Operation::Binary).into_iter().chain([Operation::Negate]).map(Checked::function).collect()
}

fn compute(operator: Operator, left: &dyn Datum, right: &dyn Datum, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if let Some(values) = overflow_detection::compute(operator, left, right, to) {
        return Ok(values);
    }
    let values = match operator {
        Operator::Plus => numeric::add(left, right)?,
        Operator::Minus => numeric::sub(left, right)?,
        Operator::Multiply => numeric::mul(left, right)?,
        _ => return rounded_quotient(left, right, to),
    };
    // A decimal of 128 or 256 bits can hold more digits than its type allows.
    match to {
        DataType::Decimal128(DECIMAL128_MAX_PRECISION, _) => {
            let values = values.as_primitive::<Decimal128Type>();
            if !have_digits_left(values.values()) {
                values.validate_decimal_precision(DECIMAL128_MAX_PRECISION)?;
            }
        }
        DataType::Decimal256(DECIMAL256_MAX_PRECISION, _) => {
            values.as_primitive::<Decimal256Type>().validate_decimal_precision(DECIMAL256_MAX_PRECISION)?;
        }
        _ => {}
    }
    Ok(values)
}

/// Whether no value has more than 126 bits, and so none more than 38 digits. The loop has no branches.
fn have_digits_left(values: &[i128]) -> bool {
    values.iter().fold(0, |bits, &value| bits | (value ^ (value >> 127)) >> 64) >> 62 == 0
}

/// The quotient of decimals, rounded half away from zero: it is computed with one more digit, which the cast to its type
/// rounds.
fn rounded_quotient(left: &dyn Datum, right: &dyn Datum, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if let Some(quotient) = quotient::short(left, right, to) {
        return Ok(quotient);
    }
    let rescale = |side: &dyn Datum, digits: i8| -> Result<ArrayRef, ArrowError> {
        let (array, _) = side.get();
        let scale = match array.data_type() {
            DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => *scale,
            other => return Err(ArrowError::InvalidArgumentError(format!("a decimal expected, not {other}"))),
        };
        cast(array, &DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale + digits))
    };
    let (dividend, divisor) = (rescale(left, 1)?, rescale(right, 0)?);
    let scalar = |array: &ArrayRef, side: &dyn Datum| -> Box<dyn Datum> {
        match side.get().1 {
            true => Box::new(arrow::array::Scalar::new(Arc::clone(array))),
            false => Box::new(Arc::clone(array)),
        }
    };
    let quotient = numeric::div(&*scalar(&dividend, left), &*scalar(&divisor, right))?;
    let options = arrow::compute::CastOptions { safe: false, ..Default::default() };
    arrow::compute::cast_with_options(&quotient, to, &options)
}

/// The error in terms of SQL, if it is an overflow; any other as it is.
fn overflow_error(error: DataFusionError, operation: Operation, to: &DataType) -> DataFusionError {
    let text = match &error {
        DataFusionError::ArrowError(of_arrow, _) => match of_arrow.as_ref() {
            ArrowError::ArithmeticOverflow(text) => text.trim_start_matches("Overflow happened on: ").to_owned(),
            ArrowError::InvalidArgumentError(text) if text.contains("precision") => text.clone(),
            _ => return error,
        },
        _ => return error,
    };
    let wider = match to {
        DataType::Decimal128(..) | DataType::Decimal256(..) => "CAST an operand AS DOUBLE",
        DataType::Int64 | DataType::UInt64 => "CAST an operand AS DECIMAL(38, 0)",
        _ => "CAST an operand AS BIGINT",
    };
    let sign = match operation {
        Operation::Binary(operator) => operator.to_string(),
        Operation::Negate => "-".to_owned(),
    };
    let text = format!("overflow: the result of {sign} is not within {}: {text}; {wider}", sql_name(to));
    Raised::new(ErrorKind::OutOfRange, text).into()
}

/// Whether a function has to take the place of an operator between values of these types.
fn needs_check(left: &DataType, op: Operator, right: &DataType) -> bool {
    let wide = |data_type: &DataType| matches!(data_type, DataType::Decimal128(..) | DataType::Decimal256(..));
    if op == Operator::StringConcat {
        return left == right && concatenation::is_text(left);
    }
    let arithmetic = op != Operator::Divide;
    (arithmetic && left.is_integer() && left == right) || (wide(left) && wide(right))
}

fn is_arithmetic(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => OPERATORS.contains(op),
        Expr::Negative(_) => true,
        _ => false,
    }
}

/// Replaces the operators of a plan; if `constants_only`, those of constants alone.
fn replace_operators(plan: LogicalPlan, constants_only: bool) -> Result<LogicalPlan> {
    if !mentions(&plan, is_arithmetic)? {
        return Ok(plan);
    }
    let plan = plan.transform_up_with_subqueries(|node| {
        map_expressions(node, is_arithmetic, |expr, columns| replace_in(expr, columns, constants_only))
    })?;
    Ok(plan.data)
}

/// Replaces the operators of an expression. Where one is found, the chain that ends with it is done at once: the type of each
/// link follows from that of the link before, which DataFusion would derive from the first again.
fn replace_in(expr: Expr, columns: &InputColumns, constants_only: bool) -> Result<Transformed<Expr>> {
    expr.transform_down(|expr| match expr {
        Expr::Negative(of) => {
            let Transformed { data: of, transformed, .. } = replace_in(*of, columns, constants_only)?;
            let checked =
                of.get_type(columns).is_ok_and(|of| of.is_integer()) && !(constants_only && of.any_column_refs());
            let negative = match checked {
                true => Checked::call(Operation::Negate, vec![of]),
                false => Expr::Negative(Box::new(of)),
            };
            Ok(Transformed::new(negative, checked || transformed, TreeNodeRecursion::Jump))
        }
        expr if is_arithmetic(&expr) => {
            let chain = replace_chain(expr, columns, constants_only)?;
            Ok(Transformed::new(chain.data, chain.transformed, TreeNodeRecursion::Jump))
        }
        expr => Ok(Transformed::no(expr)),
    })
}

fn replace_chain(expr: Expr, columns: &InputColumns, constants_only: bool) -> Result<Transformed<Expr>> {
    let mut links = Vec::new();
    let mut first = expr;
    while is_arithmetic(&first) {
        match first {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                links.push((op, *right));
                first = *left;
            }
            other => {
                first = other;
                break;
            }
        }
    }
    let Transformed { data: mut left, mut transformed, .. } = replace_in(first, columns, constants_only)?;
    let mut of_left = left.get_type(columns).ok();
    let mut reads_columns = constants_only && left.any_column_refs();
    for (op, right) in links.into_iter().rev() {
        let right = replace_in(right, columns, constants_only)?;
        transformed |= right.transformed;
        let right = right.data;
        reads_columns = reads_columns || (constants_only && right.any_column_refs());
        let types = of_left.take().zip(right.get_type(columns).ok());
        let checked = !reads_columns && types.as_ref().is_some_and(|(left, right)| needs_check(left, op, right));
        of_left = types.and_then(|(left, right)| BinaryTypeCoercer::new(&left, &op, &right).get_result_type().ok());
        left = match checked {
            true => Checked::call(Operation::Binary(op), vec![left, right]),
            false => Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))),
        };
        transformed |= checked;
    }
    Ok(Transformed::new_transformed(left, transformed))
}

/// Checks the arithmetic of constants, before the optimizer evaluates it.
#[derive(Debug, Default)]
pub struct CheckedConstants;

impl AnalyzerRule for CheckedConstants {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        replace_operators(plan, true)
    }

    fn name(&self) -> &str {
        "checked_constants"
    }
}

/// A planner that checks all arithmetic of what it plans.
#[derive(Debug, Default)]
pub struct CheckedPlanner<P>(pub P);

impl<P: QueryPlanner + Send + Sync + Debug> QueryPlanner for CheckedPlanner<P> {
    // The signature that `async_trait` generates, around a future of one lifetime.
    fn create_physical_plan<'s, 'p, 'c, 'f>(
        &'s self,
        plan: &'p LogicalPlan,
        session: &'c dyn Session,
    ) -> BoxFuture<'f, Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'f,
        'p: 'f,
        'c: 'f,
        Self: 'f,
    {
        plan_checked(&self.0, plan, session)
    }
}

fn plan_checked<'a>(
    planner: &'a (dyn QueryPlanner + Send + Sync),
    plan: &'a LogicalPlan,
    session: &'a dyn Session,
) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>> {
    async move {
        let plan = replace_operators(plan.clone(), false)?;
        planner.create_physical_plan(&plan, session).await
    }
    .boxed()
}

#[cfg(test)]
mod tests {
    use arrow::array::{Decimal128Array, Int64Array};

    use super::*;

    #[test]
    fn a_quotient_is_rounded_half_away_from_zero() {
        let decimals = |values: Vec<i128>, scale| {
            Decimal128Array::from(values).with_precision_and_scale(18, scale).expect("the digits fit")
        };
        let left = decimals(vec![17, -17, 5, -5, 1], 2);
        let right = decimals(vec![3, 3, 8, 8, 3], 0);
        let to = DataType::Decimal128(24, 6);
        let quotient = rounded_quotient(&left, &right, &to).expect("no divisor is zero");
        let expected = [56667, -56667, 6250, -6250, 3333];
        assert_eq!(quotient.as_primitive::<Decimal128Type>().values().to_vec(), expected);
    }

    #[test]
    fn digits_are_left_below_2_to_126() {
        let most = 10i128.pow(38) - 1;
        for (value, expected) in
            [(0, true), ((1 << 126) - 1, true), (-(1 << 126), true), (1 << 126, false), (most, false)]
        {
            assert_eq!(have_digits_left(&[1, value, -1]), expected, "{value}");
        }
    }

    #[test]
    fn what_leaves_its_type_is_an_error_and_null_is_none() {
        let left = Int64Array::from(vec![Some(i64::MAX), None]);
        let right = Int64Array::from(vec![Some(1), Some(1)]);
        assert!(compute(Operator::Plus, &left, &right, &DataType::Int64).is_err());
        assert!(compute(Operator::Minus, &left, &right, &DataType::Int64).is_ok());
    }
}
