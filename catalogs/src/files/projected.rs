//! What our readers of files do alike with the columns that a scan asks for.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::projection::SplitProjection;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::ProjectionExprs;

/// The projection of a scan of this table with another one upon it.
pub(super) fn merged(own: &SplitProjection, upon: &ProjectionExprs, table: &TableSchema) -> Result<SplitProjection> {
    Ok(SplitProjection::new(table.file_schema(), &own.source.try_merge(upon)?))
}

/// Shows the expressions of a projection to `look`, until it stops.
pub(super) fn look_at(
    projection: &SplitProjection,
    look: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
) -> Result<TreeNodeRecursion> {
    let mut recursion = TreeNodeRecursion::Continue;
    for projected in projection.source.iter() {
        recursion = look(&projected.expr)?;
        if recursion == TreeNodeRecursion::Stop {
            break;
        }
    }
    Ok(recursion)
}
