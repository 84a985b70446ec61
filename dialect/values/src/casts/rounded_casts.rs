//! Casts of numbers to integers, alone or inside lists, structs and maps, which round where DataFusion 55 truncates; casts to
//! FLOAT, which refuse numbers beyond it where DataFusion makes them infinite; casts of texts to integers and timestamps; casts
//! of times to text; of lists, structs and maps to text, and back; and IN lists, where either zero matches the other.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/11886> <https://github.com/apache/datafusion/pull/22628>
//! Shows: `SELECT 2.7::int, x::int FROM (VALUES (3.5::double)) AS t(x)` gives `3 | 4`
//! Shows: `SELECT 1e300::float` is refused
//! Shows: `SELECT x IN (0.0, 1.0, 2.0, 3.0) FROM (VALUES ('-0'::double)) AS t(x)` gives `true`

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use bonnet_sql::{InputColumns, map_expressions, mentions};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Cast, InList, ScalarFunction, TryCast};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{ColumnarValue, Expr, ExprSchemable, LogicalPlan, ScalarUDF, cast};
use datafusion::optimizer::AnalyzerRule;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;

use crate::casts::float_range::{check_within_float, is_beyond_float};
use crate::casts::nested_texts;
use crate::casts::nested_types::is_nested;
use crate::casts::parts_of_texts;
use crate::casts::rounded_parts::{holds_integers, round_parts};
use crate::casts::text_casts::castable;
use crate::casts::times_as_texts;
use crate::same_type_function::Kernel;
use crate::strings::concatenation::is_text;

/// Rounds operands of casts to integers, and to lists, structs and maps of them: a DOUBLE half to even, a decimal half away
/// from zero, both as DuckDB does. Texts get the form that DataFusion casts, and nested values their text.
#[derive(Debug, Default)]
pub struct RoundedCasts;

impl AnalyzerRule for RoundedCasts {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let applies_to = |expr: &Expr| match expr {
            Expr::Cast(Cast { field, .. }) | Expr::TryCast(TryCast { field, .. }) => is_target(field.data_type()),
            Expr::InList(_) => true,
            _ => false,
        };
        if !mentions(&plan, applies_to)? {
            return Ok(plan);
        }
        let rewrite = |expr: Expr, columns: &InputColumns| match expr {
            Expr::Cast(Cast { expr: of, field }) if is_target(field.data_type()) => {
                let (of, changed) = round(*of, field.data_type(), columns, Beyond::Refused);
                Ok(Transformed::new_transformed(Expr::Cast(Cast { expr: Box::new(of), field }), changed))
            }
            Expr::TryCast(TryCast { expr: of, field }) if is_target(field.data_type()) => {
                let (of, changed) = round(*of, field.data_type(), columns, Beyond::Null);
                Ok(Transformed::new_transformed(Expr::TryCast(TryCast { expr: Box::new(of), field }), changed))
            }
            Expr::InList(list) => Ok(add_other_zero(list)),
            other => Ok(Transformed::no(other)),
        };
        let rounded = plan.transform_up_with_subqueries(|node| {
            map_expressions(node, applies_to, |expr, columns| expr.transform_up(|expr| rewrite(expr, columns)))
        })?;
        Ok(rounded.data)
    }

    fn name(&self) -> &str {
        "rounded_casts"
    }
}

/// Whether operands of casts to this type are looked at.
fn is_target(kind: &DataType) -> bool {
    let is_looked_at =
        kind.is_integer() || matches!(kind, DataType::Float32 | DataType::Timestamp(..) | DataType::Interval(_));
    is_looked_at || is_text(kind) || is_nested(kind)
}

/// The operand of a cast, rounded or in the form of its target, and whether it changed.
fn round(of: Expr, to: &DataType, schema: &InputColumns, beyond: Beyond) -> (Expr, bool) {
    let from = of.get_type(schema);
    if let Ok(from) = &from
        && let Some(castable) = castable(&of, from, to)
            .or_else(|| times_as_texts::text(&of, from, to))
            .or_else(|| nested_texts::text(&of, from, to))
            .or_else(|| parts_of_texts::parts(&of, from, to, beyond == Beyond::Null))
    {
        return (castable, true);
    }
    match from {
        _ if matches!(to, DataType::Timestamp(..) | DataType::Interval(_)) || is_text(to) => (of, false),
        Ok(DataType::Float64 | DataType::Decimal256(..)) if *to == DataType::Float32 => {
            (beyond.function().call(vec![cast(of, DataType::Float64)]), true)
        }
        // NULL for a part is not for a cast of the whole to say.
        Ok(_) if beyond == Beyond::Null && !holds_integers(to) => (of, false),
        Ok(from) if !to.is_integer() => match round_parts(&of, &from, to) {
            Some(rounded) => (rounded, true),
            None => (of, false),
        },
        Ok(DataType::Float32 | DataType::Float64) => {
            (Expr::ScalarFunction(ScalarFunction::new_udf(round_ties_even(), vec![of])), true)
        }
        Ok(DataType::Decimal128(precision, scale)) if scale > 0 => (cast(of, DataType::Decimal128(precision, 0)), true),
        Ok(DataType::Decimal256(precision, scale)) if scale > 0 => (cast(of, DataType::Decimal256(precision, 0)), true),
        _ => (of, false),
    }
}

/// Adds the other zero to a list that has one: DataFusion looks numbers up by their bits.
fn add_other_zero(mut list: InList) -> Transformed<Expr> {
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

/// The value of a constant expression, such as `-0.0::double`; `None` for any other, and for one that only execution can
/// evaluate.
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
    Arc::new(RoundTiesEven.function())
}

/// The functions that look for numbers beyond FLOAT.
pub(crate) fn within_float() -> [Arc<ScalarUDF>; 2] {
    [Beyond::Refused, Beyond::Null].map(|beyond| Arc::new(beyond.function()))
}

/// The answer to a finite DOUBLE that a FLOAT cannot hold, on its way to one: an error, or NULL in TRY_CAST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Beyond {
    Refused,
    Null,
}

impl Kernel for Beyond {
    fn name(&self) -> &str {
        match self {
            Self::Refused => "within_float",
            Self::Null => "within_float_or_null",
        }
    }

    fn column_name(arg: &Expr) -> String {
        arg.schema_name().to_string()
    }

    fn field(&self, arg: &FieldRef) -> FieldRef {
        let nullable = arg.is_nullable() || *self == Self::Null;
        Arc::new(arg.as_ref().clone().with_nullable(nullable))
    }

    fn evaluate(&self, arg: &ColumnarValue, rows: usize) -> Result<ColumnarValue> {
        let values = arg.to_array(rows)?;
        let values = values.as_primitive::<Float64Type>();
        if *self == Self::Refused {
            check_within_float(values, "CAST it AS DOUBLE, or TRY_CAST, which gives NULL")?;
            return Ok(arg.clone());
        }
        // Nearly always there is nothing to do.
        if !values.iter().flatten().any(is_beyond_float) {
            return Ok(arg.clone());
        }
        let within = values.unary_opt::<_, Float64Type>(|value| (!is_beyond_float(value)).then_some(value));
        match arg {
            ColumnarValue::Array(_) => Ok(ColumnarValue::Array(Arc::new(within))),
            ColumnarValue::Scalar(_) => Ok(ColumnarValue::Scalar(ScalarValue::Float64(None))),
        }
    }
}

/// The nearest integer; of two, the even one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RoundTiesEven;

impl Kernel for RoundTiesEven {
    fn name(&self) -> &str {
        "round_ties_even"
    }

    fn column_name(arg: &Expr) -> String {
        arg.schema_name().to_string()
    }

    fn field(&self, arg: &FieldRef) -> FieldRef {
        Arc::new(Field::new(self.name(), arg.data_type().clone(), arg.is_nullable()))
    }

    fn evaluate(&self, arg: &ColumnarValue, _: usize) -> Result<ColumnarValue> {
        match arg {
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
