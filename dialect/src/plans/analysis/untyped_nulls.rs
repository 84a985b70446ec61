//! `sum` and `avg` of NULL without a type, which are NULL: DataFusion 55 refuses both.
//!
//! Upstream: none known
//! Shows: `SELECT sum(NULL), avg(x) FROM (SELECT NULL AS x) AS v` gives `NULL | NULL`

use arrow::datatypes::DataType;
use bonnet_sql::InputColumns;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::WindowFunctionDefinition;
use datafusion::logical_expr::{Expr, ExprSchemable, cast};

use crate::plans::expressions::replace;
use crate::plans::node_rules::ExpressionRule;

/// Gives such a NULL the type of a number. It comes before coercion, which leaves it.
pub(crate) const UNTYPED_NULLS: ExpressionRule = ExpressionRule {
    name: "untyped_nulls",
    applies_to: |expr| matches!(expr, Expr::AggregateFunction(_) | Expr::WindowFunction(_)),
    rewrite: |expr, columns| expr.transform_up(|expr| rewrite(expr, columns)),
};

fn rewrite(mut expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let (name, args) = match &mut expr {
        Expr::AggregateFunction(aggregate) => (aggregate.func.name().to_owned(), &mut aggregate.params.args),
        Expr::WindowFunction(window) => match &window.fun {
            WindowFunctionDefinition::AggregateUDF(function) => (function.name().to_owned(), &mut window.params.args),
            WindowFunctionDefinition::WindowUDF(_) => return Ok(Transformed::no(expr)),
        },
        _ => return Ok(Transformed::no(expr)),
    };
    let of = match name.as_str() {
        "sum" => DataType::Int64,
        "avg" => DataType::Float64,
        _ => return Ok(Transformed::no(expr)),
    };
    let mut changed = false;
    for arg in args.iter_mut().filter(|arg| matches!(arg.get_type(columns), Ok(DataType::Null))) {
        replace(arg, |arg| cast(arg, of.clone()));
        changed = true;
    }
    Ok(Transformed::new_transformed(expr, changed))
}
