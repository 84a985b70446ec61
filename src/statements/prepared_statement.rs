//! The parameters of prepared statements.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, TimeUnit};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Execute, Expr, Prepare};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast;

use crate::{Error, Result};
use bonnet_dialect::names::columns::ColumnNames;

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

/// The names of the columns that a prepared statement answers, where it is a query.
pub(super) fn names(prepare: &SqlStatement) -> Option<ColumnNames> {
    let SqlStatement::Statement(prepare) = prepare else { return None };
    let ast::Statement::Prepare { statement, .. } = prepare.as_ref() else { return None };
    ColumnNames::of(&SqlStatement::Statement(statement.clone()))
}

/// Refuses values of EXECUTE that the statement has no parameters for.
pub(super) fn check_values(prepare: &Prepare, execute: &Execute) -> Result<()> {
    let (given, taken) = (execute.parameters.len(), prepare.input.get_parameter_names()?.len());
    if given <= taken {
        return Ok(());
    }
    Err(Error::statement(format!(
        "EXECUTE {}: {given} values are given, and the statement has {taken} {}",
        execute.name,
        if taken == 1 { "parameter" } else { "parameters" }
    )))
}
