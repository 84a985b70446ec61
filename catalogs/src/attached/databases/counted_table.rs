//! A table of another program that answers how many rows it has.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::datasource::TableType;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use futures::FutureExt;

use crate::ground::table_methods::{Planned, table_methods};

/// The functions that plans call in filters.
const INTERNAL: [&str; 12] = [
    "opaque",
    "nullable",
    "between",
    "not_between",
    "interval_length",
    "interval_of_duration",
    "interval_product",
    "interval_quotient",
    "round_ties_even",
    "rounded_parts",
    "text_of_integer",
    "text_of_timestamp",
];

/// A table that also answers how many rows it has: the package's own scan of no columns gives one.
#[derive(Debug)]
pub(super) struct CountedTable(pub(super) Arc<dyn TableProvider>);

impl TableProvider for CountedTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let mut supported = self.0.supports_filters_pushdown(filters)?;
        for (filter, supported) in filters.iter().zip(&mut supported) {
            if calls_internal(filter) {
                *supported = TableProviderFilterPushDown::Unsupported;
            }
        }
        Ok(supported)
    }

    table_methods! {
        scan by plan_scan;
    }
}

/// Whether a filter calls a function of plans, which no other database knows.
fn calls_internal(filter: &Expr) -> bool {
    let internal = |expr: &Expr| matches!(expr, Expr::ScalarFunction(call) if INTERNAL.contains(&call.name()));
    filter.exists(|expr| Ok(internal(expr))).unwrap_or(true)
}

impl CountedTable {
    fn plan_scan<'a>(
        &'a self,
        session: &'a dyn Session,
        projection: Option<&'a Vec<usize>>,
        filters: &'a [Expr],
        limit: Option<usize>,
    ) -> Planned<'a> {
        async move {
            if projection.is_some_and(Vec::is_empty) {
                let first = self.0.scan(session, Some(&vec![0]), filters, limit).await?;
                let none: Vec<ProjectionExpr> = Vec::new();
                return Ok(Arc::new(ProjectionExec::try_new(none, first)?) as _);
            }
            self.0.scan(session, projection, filters, limit).await
        }
        .boxed()
    }
}
