//! DELETE and UPDATE.
//!
//! DataFusion takes their conditions from the optimised plan, in which a condition that is never true, or one with a
//! subquery, is no filter any more: every row would go. So the conditions are taken before, and subqueries are answered
//! first.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use bonnet_catalogs::counted;
use bonnet_common::raise;
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::datasource::source_as_provider;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::{Exists, InList, InSubquery};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{DmlStatement, Expr, LogicalPlan, Subquery, WriteOp, cast, lit};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_plan::collect;
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::{Error, ErrorKind, Raised, Result, Session};
use bonnet_dialect::syntax::tree::ast::parser_span;

/// The most values that `IN (SELECT ...)` may answer: each is compared with every row.
const MOST_VALUES: usize = 100_000;

/// Runs a DELETE or an UPDATE of the table whose name stands `at` a place, and answers the number of rows that it took.
pub(super) async fn run(session: &Session, state: &SessionState, dml: DmlStatement, at: Span) -> Result<u64> {
    let verb = if dml.op == WriteOp::Delete { "DELETE" } else { "UPDATE" };
    let name = dml.table_name.clone();
    let plan = LogicalPlan::Dml(dml);
    // Type coercion alone: the optimizer would move the conditions.
    let plan = state.analyzer().execute_and_check(plan, state.config_options(), |_, _| {})?;
    let refuse = |kind, what: &str| Err(Raised::new(kind, format!("{verb} {name}: {what}")).at(at).into());
    let LogicalPlan::Dml(dml) = plan else { return refuse(ErrorKind::Internal, "the plan is lost") };

    let mut input = dml.input.as_ref();
    let mut assignments = Vec::new();
    if let (WriteOp::Update, LogicalPlan::Projection(projection)) = (&dml.op, input) {
        for expr in &projection.expr {
            if let Expr::Alias(alias) = expr {
                let same = matches!(alias.expr.as_ref(), Expr::Column(column) if column.name == alias.name);
                if !same {
                    assignments.push((alias.name.clone(), alias.expr.as_ref().clone()));
                }
            }
        }
        input = projection.input.as_ref();
    }
    let mut filters = Vec::new();
    if let LogicalPlan::Filter(filter) = input {
        filters.push(filter.predicate.clone());
        input = filter.input.as_ref();
    }
    while let LogicalPlan::SubqueryAlias(alias) = input {
        input = alias.input.as_ref();
    }
    match input {
        LogicalPlan::TableScan(_) => {}
        LogicalPlan::Limit(_) => {
            return refuse(ErrorKind::NotSupported, "LIMIT is not supported: say which rows in WHERE");
        }
        LogicalPlan::Join(_) => {
            let what = "a prepared statement with FROM or USING is not supported: WHERE column IN (SELECT ...)";
            return refuse(ErrorKind::NotSupported, what);
        }
        _ => return refuse(ErrorKind::Statement, "only a table's own rows can be changed"),
    }
    for filter in &mut filters {
        *filter = with_answers(session, unqualified(std::mem::replace(filter, lit(true)))?, verb, at).await?;
    }
    for (_, value) in &mut assignments {
        *value = with_answers(session, unqualified(std::mem::replace(value, lit(true)))?, verb, at).await?;
    }
    let table: Arc<dyn TableProvider> = source_as_provider(&dml.target)?;
    // A table may evaluate the expressions as they come, and `coalesce` and `now()` are none that can be.
    let columns = Arc::new(DFSchema::try_from(table.schema())?);
    let context =
        SimplifyContext::builder().with_schema(columns).with_config_options(Arc::clone(state.config_options()));
    let simplifier = ExprSimplifier::new(context.with_current_time().build());
    for expr in filters.iter_mut().chain(assignments.iter_mut().map(|(_, value)| value)) {
        if expr.exists(|expr| Ok(matches!(expr, Expr::ScalarFunction(_))))? {
            *expr = simplifier.simplify(std::mem::replace(expr, lit(true)))?;
        }
    }
    let change = match dml.op {
        WriteOp::Delete => table.delete_from(state, filters).await?,
        _ => table.update(state, assignments, filters).await?,
    };
    let batches = collect(change, state.task_ctx()).await?;
    Ok(counted(&batches))
}

/// Columns without the table's name. Those of subqueries keep theirs.
fn unqualified(expr: Expr) -> Result<Expr> {
    let unqualified = |expr| {
        Ok(match expr {
            Expr::Column(column) => Transformed::yes(Expr::Column(Column::new_unqualified(column.name))),
            other => Transformed::no(other),
        })
    };
    Ok(expr.transform(unqualified)?.data)
}

/// The expression with the answers of its subqueries in their places.
async fn with_answers(session: &Session, expr: Expr, verb: &str, at: Span) -> Result<Expr> {
    let mut subqueries: Vec<Subquery> = Vec::new();
    expr.apply(|expr| {
        match expr {
            Expr::ScalarSubquery(subquery)
            | Expr::InSubquery(InSubquery { subquery, .. })
            | Expr::Exists(Exists { subquery, .. }) => subqueries.push(subquery.clone()),
            Expr::SetComparison(comparison) => subqueries.push(comparison.subquery.clone()),
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    if subqueries.is_empty() {
        return Ok(expr);
    }
    let mut answers: HashMap<Subquery, (Vec<ScalarValue>, DataType)> = HashMap::new();
    for subquery in subqueries {
        // The planner names places of some subqueries alone.
        let place = subquery.spans.first().map_or(at, parser_span);
        if !subquery.outer_ref_columns.is_empty() {
            let text = format!(
                "{verb}: a subquery that looks at the row's own columns is not supported; write it as WHERE column IN \
                 (SELECT ...)"
            );
            return Err(Raised::new(ErrorKind::NotSupported, text).at(place).into());
        }
        let plan = subquery.subquery.as_ref().clone();
        let data_type = plan.schema().fields().first().map_or(DataType::Null, |field| field.data_type().clone());
        let batches = DataFrame::new(session.state(), plan).collect().await?;
        answers.insert(subquery, (values(&batches).map_err(|error| error.at(place))?, data_type));
    }
    let place = |expr: Expr| {
        let answer = |subquery: &Subquery| answers.get(subquery).cloned().unwrap_or((Vec::new(), DataType::Null));
        Ok(match expr {
            Expr::ScalarSubquery(subquery) => {
                let (values, data_type) = answer(&subquery);
                let value = match values.as_slice() {
                    [] => ScalarValue::try_from(&data_type)?,
                    [value] => value.clone(),
                    _ => {
                        return datafusion::common::exec_err!(
                            "a subquery that stands for one value answers {} rows",
                            values.len()
                        );
                    }
                };
                Transformed::yes(lit(value))
            }
            Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
                let (values, data_type) = answer(&subquery);
                let list = values.into_iter().map(|value| cast(lit(value), data_type.clone()));
                Transformed::yes(match list.len() {
                    0 => lit(negated),
                    _ => Expr::InList(InList::new(expr, list.collect(), negated)),
                })
            }
            Expr::Exists(Exists { subquery, negated }) => {
                Transformed::yes(lit(answer(&subquery).0.is_empty() == negated))
            }
            Expr::SetComparison(_) => {
                return raise!(NotSupported, "{verb}: ANY and ALL are not supported: use IN, min or max");
            }
            other => Transformed::no(other),
        })
    };
    Ok(expr.transform_down(place)?.data)
}

/// The values of the first column.
fn values(batches: &[RecordBatch]) -> Result<Vec<ScalarValue>> {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if rows > MOST_VALUES {
        return Err(Error::statement(format!(
            "a subquery in the condition answers {rows} rows, more than {MOST_VALUES}: \
             CREATE OR REPLACE TABLE ... AS SELECT with a join instead"
        )));
    }
    let mut values = Vec::with_capacity(rows);
    for batch in batches {
        for row in 0..batch.num_rows() {
            values.push(match batch.columns().first() {
                Some(column) => ScalarValue::try_from_array(column, row)?,
                None => ScalarValue::Null,
            });
        }
    }
    Ok(values)
}
