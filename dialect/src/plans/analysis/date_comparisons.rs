//! Comparisons of dates with the timestamps that DATE + INTERVAL gives.
//!
//! DataFusion 55 compares both as timestamps of nanoseconds, which end in 2262, so that `DATE '9999-12-31' > d + INTERVAL
//! '1 day'` fails; and where one is a constant, as in `d <= DATE '1998-12-01' - INTERVAL '90 days'`, it casts the column, which
//! hides it from statistics. Here such a constant becomes a date, and other dates timestamps of microseconds.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT DATE '9999-12-31' AS d, DATE '2020-01-01' AS e`
//! Shows: `SELECT count(*) FROM t WHERE d > CAST(e AS TIMESTAMP(6))` gives `1`

use arrow::datatypes::{DataType, TimeUnit};
use bonnet_sql::{InputColumns, map_expressions, mentions};
use bonnet_values::constant;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, cast};
use datafusion::optimizer::AnalyzerRule;

use crate::plans::expressions::{comparison_operands, is_comparison, replace};

const TIMESTAMP: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);
const MICROSECONDS_OF_A_DAY: i64 = 86_400_000_000;

/// Rewrites such comparisons. It comes before coercion, which casts their operands.
#[derive(Debug)]
pub(crate) struct DateComparisons;

impl AnalyzerRule for DateComparisons {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let is_timestamp =
            |expr: &Expr| matches!(expr, Expr::Cast(Cast { field, .. }) if *field.data_type() == TIMESTAMP);
        if !mentions(&plan, is_timestamp)? {
            return Ok(plan);
        }
        let plan = plan.transform_up_with_subqueries(|node| {
            map_expressions(node, compares, |expr, columns| expr.transform_up(|expr| Ok(rewrite(expr, columns))))
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &str {
        "date_comparisons"
    }
}

fn compares(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => is_comparison(*op),
        Expr::Between(_) | Expr::InList(_) => true,
        _ => false,
    }
}

fn rewrite(mut expr: Expr, columns: &InputColumns) -> Transformed<Expr> {
    let operands = comparison_operands(&mut expr);
    let kinds: Vec<Option<DataType>> = operands.iter().map(|operand| operand.get_type(columns).ok()).collect();
    let is_date = |kind: &Option<DataType>| *kind == Some(DataType::Date32);
    let both = kinds.iter().any(is_date) && kinds.contains(&Some(TIMESTAMP));
    if !both || kinds.iter().any(|kind| !is_date(kind) && *kind != Some(TIMESTAMP)) {
        return Transformed::no(expr);
    }
    let dates: Vec<bool> = kinds.iter().map(is_date).collect();
    if let Some(days) = constant_dates(&expr, &dates) {
        let mut operands = comparison_operands(&mut expr);
        days.into_iter().for_each(|(place, day)| *operands[place] = day);
        return Transformed::yes(expr);
    }
    let mut operands = comparison_operands(&mut expr);
    operands.iter_mut().zip(dates).filter(|(_, date)| *date).for_each(|(operand, _)| {
        replace(operand, |date| cast(date, TIMESTAMP));
    });
    Transformed::yes(expr)
}

/// The dates by which constant timestamps can be replaced, with their places among the operands; `None` unless all can.
fn constant_dates(expr: &Expr, dates: &[bool]) -> Option<Vec<(usize, Expr)>> {
    let places: Vec<(usize, &Expr, Round)> = match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match dates[0] {
            true => vec![(1, right.as_ref(), Round::of(*op))],
            false => vec![(0, left.as_ref(), Round::of(op.swap()?))],
        },
        Expr::Between(between) if dates[0] => {
            let bounds = [(1, between.low.as_ref(), Round::Up), (2, between.high.as_ref(), Round::Down)];
            bounds.into_iter().filter(|(place, ..)| !dates[*place]).collect()
        }
        _ => return None,
    };
    places.into_iter().map(|(place, moment, round)| Some((place, day(moment, round)?))).collect()
}

/// The day that stands for a time between two days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    Up,
    Down,
    /// None does.
    Neither,
}

impl Round {
    /// For the right operand of a comparison.
    fn of(op: Operator) -> Self {
        match op {
            Operator::Lt | Operator::GtEq => Self::Up,
            Operator::LtEq | Operator::Gt => Self::Down,
            _ => Self::Neither,
        }
    }
}

fn day(moment: &Expr, round: Round) -> Option<Expr> {
    let Some(ScalarValue::TimestampMicrosecond(Some(moment), None)) = constant(moment) else { return None };
    let (days, rest) = (moment.div_euclid(MICROSECONDS_OF_A_DAY), moment.rem_euclid(MICROSECONDS_OF_A_DAY));
    let days = match (rest, round) {
        (0, _) | (_, Round::Down) => days,
        (_, Round::Up) => days + 1,
        (_, Round::Neither) => return None,
    };
    Some(Expr::Literal(ScalarValue::Date32(Some(i32::try_from(days).ok()?)), None))
}
