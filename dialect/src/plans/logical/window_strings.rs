//! String arguments of value window functions (`lag`, `first_value` and the like), cast from views to arrays.
//!
//! The rule `windows` casts the input of a window, which is not enough for these functions: DataFusion 55 appends their
//! results to each other, and appended views keep the buffers of all former results alive. So the functions read arrays,
//! and their results become views again above the window.
//!
//! Upstream: none known
//! Shows: no statement: memory, no answer: `lag(s) OVER (ORDER BY n)` over long strings keeps all buffers that it has read.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Projection, Window, WindowFunctionDefinition, cast};

use crate::plans::node_rules::LogicalRule;

/// The functions that answer a value of their first argument.
const VALUE_FUNCTIONS: [&str; 5] = ["lag", "lead", "first_value", "last_value", "nth_value"];

/// Makes value window functions read arrays.
pub(crate) const WINDOW_STRINGS: LogicalRule = LogicalRule { name: "window_strings", rewrite: rewrite_node };

fn rewrite_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Window(window) = plan else { return Ok(Transformed::no(plan)) };
    let input = Arc::clone(&window.input);
    // An argument that is an expression is computed below the window, on strings as they are there.
    let mut columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
    let input_width = columns.len();
    let names = NamePreserver::new_for_projection();
    let mut changed = false;
    let mut functions = Vec::with_capacity(window.window_expr.len());
    for expr in &window.window_expr {
        let name = names.save(expr);
        let mut function = expr.clone().unalias();
        if let Expr::WindowFunction(called) = &mut function
            && let Some(array) = array_type(called, &window)?
        {
            let of = &mut called.params.args[0];
            if !matches!(of, Expr::Column(_)) {
                let own = format!("__looked_up_{}", columns.len());
                columns.push(std::mem::take(of).alias(&own));
                *of = Expr::Column(Column::new_unqualified(own));
            }
            *of = cast(std::mem::take(of), array);
            functions.push(name.restore(function));
            changed = true;
        } else {
            functions.push(expr.clone());
        }
    }
    if !changed {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    }
    let input = match columns.len() > input_width {
        true => Arc::new(LogicalPlan::Projection(Projection::try_new(columns, input)?)),
        false => input,
    };
    let arrays = Window::try_new(functions, input)?;
    let views = window.schema.iter().map(|(qualifier, field)| {
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        match column.get_type(&arrays.schema)? == *field.data_type() {
            true => Ok(column),
            false => Ok(cast(column, field.data_type().clone()).alias_qualified(qualifier.cloned(), field.name())),
        }
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(views, Arc::new(LogicalPlan::Window(arrays)))?)))
}

/// The array type that replaces the argument's type, if the function reads views.
fn array_type(called: &WindowFunction, window: &Window) -> Result<Option<DataType>> {
    let WindowFunctionDefinition::WindowUDF(function) = &called.fun else { return Ok(None) };
    let Some(of) = called.params.args.first().filter(|_| VALUE_FUNCTIONS.contains(&function.name())) else {
        return Ok(None);
    };
    Ok(match of.get_type(window.input.schema())? {
        DataType::Utf8View => Some(DataType::LargeUtf8),
        DataType::BinaryView => Some(DataType::LargeBinary),
        _ => None,
    })
}
