//! Expressions of logical plans: their input schema, a search for them, and their rewriting under unchanged names.

use std::cell::OnceCell;

use arrow::datatypes::FieldRef;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, ExprSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The columns that the expressions of a node may refer to: those of its inputs.
#[derive(Debug)]
pub struct InputColumns {
    inputs: Vec<DFSchemaRef>,
    /// The columns of all inputs in one schema, made only when it is needed: merging costs more than searching the inputs.
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

/// Whether a plan, or a subquery in it, contains an expression that fulfils a predicate.
///
/// # Errors
/// Those of DataFusion's traversal.
pub fn mentions(plan: &LogicalPlan, predicate: impl Fn(&Expr) -> bool) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|plan| {
        found |= has_expression(plan, &predicate)?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// Whether an expression of a node contains one that fulfils a predicate.
fn has_expression(plan: &LogicalPlan, predicate: &impl Fn(&Expr) -> bool) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(|expr| {
        found |= expr.exists(|expr| Ok(predicate(expr)))?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// Rewrites those expressions of a node that contain one to which the rewrite applies, and keeps their names. The filters of a
/// scan stay as they are: they may be pushed to a table that does not know our functions.
///
/// # Errors
/// Those of `rewrite`.
pub fn map_expressions(
    plan: LogicalPlan,
    applies_to: impl Fn(&Expr) -> bool,
    rewrite: impl Fn(Expr, &InputColumns) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    if matches!(plan, LogicalPlan::TableScan(_)) || !has_expression(&plan, &applies_to)? {
        return Ok(Transformed::no(plan));
    }
    let columns = InputColumns::of(&plan);
    let names = NamePreserver::new(&plan);
    let has_names = has_names(&plan);
    plan.map_expressions(|expr| {
        if !expr.exists(|expr| Ok(applies_to(expr)))? {
            return Ok(Transformed::no(expr));
        }
        if !has_names || matches!(expr, Expr::Alias(_)) {
            let name = names.save(&expr);
            return Ok(rewrite(expr, &columns)?.update_data(|expr| name.restore(expr)));
        }
        // Writing a name costs more than cloning an expression, and most expressions stay as they are.
        let before = expr.clone();
        let rewritten = rewrite(expr, &columns)?;
        Ok(match rewritten.transformed {
            true => rewritten.update_data(|expr| names.save(&before).restore(expr)),
            false => rewritten,
        })
    })
}

/// Whether the names of a node's expressions are those of its columns, as [`NamePreserver`] assumes.
fn has_names(plan: &LogicalPlan) -> bool {
    use LogicalPlan::{Filter, Join, Limit, Statement, TableScan};
    !matches!(plan, Filter(_) | Join(_) | TableScan(_) | Limit(_) | Statement(_))
}
