//! Prepared statements: their parameters, and tables that have changed since.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, TimeUnit};
use bonnet_catalogs::versioned;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, LogicalPlan, Prepare, TableSource};

use crate::Result;

/// The statement, whose parameters take timestamps to the microsecond, as PostgreSQL's do, not in the coarser unit of what
/// they are compared with.
pub(super) fn with_fine_parameters(mut prepare: Prepare) -> Result<Prepare> {
    let fine = |field: &FieldRef| match field.data_type() {
        DataType::Timestamp(TimeUnit::Second | TimeUnit::Millisecond, zone) => {
            let fine = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
            Some(Arc::new(field.as_ref().clone().with_data_type(fine)))
        }
        _ => None,
    };
    if prepare.fields.iter().all(|field| fine(field).is_none()) {
        return Ok(prepare);
    }
    for field in &mut prepare.fields {
        *field = fine(field).unwrap_or_else(|| Arc::clone(field));
    }
    let parameter = |expr| match expr {
        Expr::Placeholder(Placeholder { id, field: Some(field) }) => {
            let fine = fine(&field);
            let changed = fine.is_some();
            let parameter = Placeholder { id, field: Some(fine.unwrap_or(field)) };
            Ok(Transformed::new_transformed(Expr::Placeholder(parameter), changed))
        }
        other => Ok(Transformed::no(other)),
    };
    let input = Arc::unwrap_or_clone(prepare.input);
    let input =
        input.transform_up_with_subqueries(|node| node.map_expressions(|expr| expr.transform_up(parameter)))?.data;
    Ok(Prepare { input: Arc::new(input), ..prepare })
}

/// A plan that was made before, on the tables as they are now.
pub(super) async fn on_current_tables(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut tables: Vec<(Arc<dyn TableSource>, Arc<dyn TableSource>)> = Vec::new();
    let mut sources: Vec<Arc<dyn TableSource>> = Vec::new();
    plan.apply_with_subqueries(|plan| {
        match plan {
            LogicalPlan::TableScan(scan) => sources.push(Arc::clone(&scan.source)),
            LogicalPlan::Dml(dml) => sources.push(Arc::clone(&dml.target)),
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    for source in sources {
        let Ok(provider) = source_as_provider(&source) else { continue };
        if let Some(table) = versioned(provider.as_ref())
            && !tables.iter().any(|(before, _)| Arc::ptr_eq(before, &source))
            && let Some(table) = table.renewed().await?
        {
            tables.push((source, provider_as_source(table)));
        }
    }
    let now = |source: &mut Arc<dyn TableSource>| {
        let found = tables.iter().find(|(before, _)| Arc::ptr_eq(before, source));
        found.map(|(_, now)| *source = Arc::clone(now)).is_some()
    };
    let renewed = plan.transform_up_with_subqueries(|plan| {
        Ok(match plan {
            LogicalPlan::TableScan(mut scan) => {
                let changed = now(&mut scan.source);
                Transformed::new_transformed(LogicalPlan::TableScan(scan), changed)
            }
            LogicalPlan::Dml(mut dml) => {
                let changed = now(&mut dml.target);
                Transformed::new_transformed(LogicalPlan::Dml(dml), changed)
            }
            other => Transformed::no(other),
        })
    })?;
    Ok(renewed.data)
}
