//! Values by chance in comparisons: DataFusion makes one comparison of two with the same expression, but not with the same
//! draw.

use bonnet_sql::InputColumns;
use bonnet_standard::drawn;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::Expr;

use super::replace;
use crate::rules::comparisons::compared;

pub(super) fn told_apart(mut expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    let mut changed = false;
    for value in compared(&mut expr).into_iter().filter(|value| value.is_volatile()) {
        replace(value, drawn);
        changed = true;
    }
    Ok(Transformed::new_transformed(expr, changed))
}
