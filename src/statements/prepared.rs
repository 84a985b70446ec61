//! Prepared statements on tables that have changed since.

use std::sync::Arc;

use bonnet_catalogs::delta::LastingTable;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{LogicalPlan, TableSource};

use crate::Result;

/// A plan that was made before, on the tables as they are now.
pub(super) async fn renewed(plan: LogicalPlan) -> Result<LogicalPlan> {
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
        if let Some(table) = provider.downcast_ref::<LastingTable>()
            && !tables.iter().any(|(before, _)| Arc::ptr_eq(before, &source))
        {
            tables.push((source, provider_as_source(Arc::new(table.renewed().await?))));
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
