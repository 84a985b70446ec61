//! The expressions of plans, rewritten under the names that they have.

use std::cell::OnceCell;

use arrow::datatypes::FieldRef;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, ExprSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The columns that the expressions of a node may name: those of the nodes below it.
#[derive(Debug)]
pub struct InputColumns {
    inputs: Vec<DFSchemaRef>,
    /// The columns of all inputs, which cost more to bring together than to look through.
    merged: OnceCell<DFSchema>,
}

impl InputColumns {
    /// The columns of the inputs of a node.
    pub fn of(plan: &LogicalPlan) -> Self {
        let inputs = plan.inputs().into_iter().map(|input| DFSchemaRef::clone(input.schema())).collect();
        Self { inputs, merged: OnceCell::new() }
    }

    fn merged(&self) -> &DFSchema {
        self.merged.get_or_init(|| {
            self.inputs.iter().fold(DFSchema::empty(), |mut merged, input| {
                merged.merge(input);
                merged
            })
        })
    }
}

impl ExprSchema for InputColumns {
    fn field_from_column(&self, column: &Column) -> Result<&FieldRef> {
        let find = |input: &DFSchemaRef| input.index_of_column_by_name(column.relation.as_ref(), &column.name);
        match self.inputs.as_slice() {
            [input] => input.field_from_column(column),
            inputs if column.relation.is_some() => {
                match inputs.iter().find_map(|input| find(input).map(|at| &input.fields()[at])) {
                    Some(field) => Ok(field),
                    None => self.merged().field_from_column(column),
                }
            }
            _ => self.merged().field_from_column(column),
        }
    }
}

/// Whether a plan, or a subquery in it, has such an expression.
///
/// # Errors
/// None that the test does not make.
pub fn mentions(plan: &LogicalPlan, concerned: impl Fn(&Expr) -> bool) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|plan| {
        plan.apply_expressions(|expr| {
            found |= expr.exists(|expr| Ok(concerned(expr)))?;
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })
    })?;
    Ok(found)
}

/// The node with those of its expressions rewritten that hold a concerned one, each under the name that it had. The filters
/// of a scan stay: they are also those of a table that knows no functions of ours.
///
/// # Errors
/// Those of `rewrite`.
pub fn map_expressions(
    plan: LogicalPlan,
    concerned: impl Fn(&Expr) -> bool,
    rewrite: impl Fn(Expr, &InputColumns) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    if matches!(plan, LogicalPlan::TableScan(_)) {
        return Ok(Transformed::no(plan));
    }
    let columns = InputColumns::of(&plan);
    let names = NamePreserver::new(&plan);
    let has_names = has_names(&plan);
    plan.map_expressions(|expr| {
        if !expr.exists(|expr| Ok(concerned(expr)))? {
            return Ok(Transformed::no(expr));
        }
        if !has_names || matches!(expr, Expr::Alias(_)) {
            let name = names.save(&expr);
            return Ok(rewrite(expr, &columns)?.update_data(|expr| name.restore(expr)));
        }
        // A name takes longer to write than an expression to copy, and most stay as they are.
        let before = expr.clone();
        let rewritten = rewrite(expr, &columns)?;
        Ok(match rewritten.transformed {
            true => rewritten.update_data(|expr| names.save(&before).restore(expr)),
            false => rewritten,
        })
    })
}

/// Whether the names of a node's expressions are those of its columns, as [`NamePreserver`] has it.
fn has_names(plan: &LogicalPlan) -> bool {
    use LogicalPlan::{Filter, Join, Limit, Statement, TableScan};
    !matches!(plan, Filter(_) | Join(_) | TableScan(_) | Limit(_) | Statement(_))
}
