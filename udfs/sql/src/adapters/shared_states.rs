//! Aggregates that share one state: of several functions of the same counts, the counting is done once.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::functions::core::get_field;
use datafusion::logical_expr::expr::AggregateFunction as Call;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use crate::adapters::adapter::Adapter;
use crate::registry::body::AggregateFunction;

/// Replaces several aggregates that are fields of one (see [`crate::Function::field_of`]), called with the same arguments,
/// by that one: its state is filled once, whatever is read of it.
#[derive(Debug, Default)]
pub struct SharedStates;

impl OptimizerRule for SharedStates {
    fn name(&self) -> &str {
        "shared_states"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = plan else { return Ok(Transformed::no(plan)) };
        let mut wholes = Vec::with_capacity(aggregate.aggr_expr.len());
        for expr in &aggregate.aggr_expr {
            wholes.push(whole(expr, config)?);
        }
        for i in 0..wholes.len() {
            if wholes.iter().filter(|other| **other == wholes[i]).count() == 1 {
                wholes[i] = None;
            }
        }
        if wholes.iter().all(Option::is_none) {
            return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
        }
        let n_keys = aggregate.schema.fields().len() - aggregate.aggr_expr.len();
        let mut columns: Vec<Expr> = (0..n_keys).map(|i| Expr::from(aggregate.schema.qualified_field(i))).collect();
        let mut computed: Vec<Expr> = Vec::new();
        for (expr, whole) in aggregate.aggr_expr.iter().zip(wholes) {
            let name = expr.schema_name().to_string();
            let (source, field) = match (whole, expr) {
                (Some(whole), Expr::AggregateFunction(call)) => (whole, Some(call.func.name())),
                _ => (expr.clone(), None),
            };
            let column = Expr::Column(Column::new_unqualified(source.schema_name().to_string()));
            columns.push(match field {
                Some(field) => get_field().call(vec![column, lit(field)]).alias(name),
                None => column,
            });
            if !computed.contains(&source) {
                computed.push(source);
            }
        }
        let aggregate = Aggregate::try_new(aggregate.input, aggregate.group_expr, computed)?;
        Ok(Transformed::yes(LogicalPlanBuilder::from(LogicalPlan::Aggregate(aggregate)).project(columns)?.build()?))
    }
}

/// The call of the aggregate that this one's value is a field of, with the same arguments.
fn whole(expr: &Expr, config: &dyn OptimizerConfig) -> Result<Option<Expr>> {
    let Expr::AggregateFunction(call) = expr else { return Ok(None) };
    let adapter = call.func.inner().downcast_ref::<Adapter<dyn AggregateFunction>>();
    let name = adapter.and_then(|adapter| adapter.common.function.field_of);
    let (Some(name), Some(functions)) = (name, config.function_registry()) else { return Ok(None) };
    Ok(Some(Expr::AggregateFunction(Call { func: functions.udaf(name)?, params: call.params.clone() })))
}
