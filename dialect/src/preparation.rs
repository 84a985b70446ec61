//! The way of a statement from its text to a plan.
//!
//! [`parse`](crate::syntax::statements::parse::parse) makes a tree of the text of one statement; [`prepare`] is the list of
//! passes over the tree of one that DataFusion plans, in their order; [`plan`] plans the prepared tree.
//!
//! Parsing stands apart from the passes, since the statements that DataFusion lacks leave between the two: only the tree
//! says whether a statement is one of them, and the passes ask the session for tables, so they have to wait until its
//! transaction and its settings have admitted the statement (`statements::run`). Of DataFusion's statements, UPDATE ...
//! FROM and ALTER TABLE run from the parsed tree too.

use std::ops::ControlFlow;

use bonnet_sql::Registry;
use datafusion::common::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::Statement as SqlStatement;

use crate::forms::{
    delete_alias, duckdb_syntax, insert_defaults, insert_numbers, insert_values, repeated_draws, rewrite,
};
use crate::names::columns::ColumnNames;
use crate::names::questions::{self, Question};
use crate::names::{join_keys, nested_ctes, outer_columns, output_aliases, unknown_names};
use crate::{Error, Result};

/// A statement is planned at most so many times, each with another of its names replaced.
const READINGS: usize = 64;

/// A statement in the form that DataFusion plans.
#[derive(Debug)]
pub struct Plannable {
    /// The statement that is planned.
    pub statement: SqlStatement,
    /// The names of the answer's columns, where the statement is a query.
    pub names: Option<ColumnNames>,
    /// Whether a name that the planner does not find may be another: see [`plan_prepared`].
    pub mendable: bool,
}

/// The passes over a statement that DataFusion plans, in their order.
///
/// # Errors
/// If the statement asks for what would be ignored or calls a function wrongly, or a query that it depends on fails.
pub async fn prepare(state: &SessionState, registry: &Registry, mut statement: SqlStatement) -> Result<Plannable> {
    // The names of the answer's columns are those that were written.
    let names = ColumnNames::of(&statement);
    // A star that repeats the columns of another is spelled out; names in expressions of ORDER BY are those of FROM; a PIVOT
    // without a list of values looks at its rows.
    let mut settled = 0;
    let mendable = loop {
        match questions::first(&mut statement, settled) {
            ControlFlow::Break(Question::NamesInOrder(query)) => {
                let columns = Box::pin(plan(state, registry, query)).await;
                let ordered = columns.is_ok_and(|plan| questions::answer_names(&mut statement, settled, plan.schema()));
                settled += usize::from(!ordered);
            }
            ControlFlow::Break(Question::Columns(query)) => {
                let plan = Box::pin(plan(state, registry, query)).await?;
                questions::answer_columns(&mut statement, settled, plan.schema());
            }
            ControlFlow::Break(Question::Values(query, at)) => {
                let plan = Box::pin(plan(state, registry, query)).await?;
                let rows = DataFrame::new(state.clone(), plan).collect().await?;
                questions::answer_values(&mut statement, settled, at, &rows)?;
            }
            ControlFlow::Continue(mendable) => break mendable,
        }
    };
    // The alias of DELETE's table.
    delete_alias::resolve(&mut statement);
    // DEFAULT among the values of INSERT and UPDATE.
    insert_defaults::fill(state, &mut statement).await?;
    // Numbers among them, which are cast to the column's type as they are written.
    insert_numbers::cast(state, &mut statement).await?;
    // VALUES that are not the statement's own rows, which would be cast to the types of its table.
    insert_values::set_apart(&mut statement);
    // What a WITH draws at random, which would be drawn anew for each of its readers.
    repeated_draws::refuse(&mut statement)?;
    // Syntax of DuckDB and PostgreSQL, as DataFusion plans it.
    duckdb_syntax::translate(&mut statement)?;
    // A CTE may have the name of one around.
    nested_ctes::rename(&mut statement);
    // One walk over the tree: duplicate columns, versions of tables, calls of our functions, refusals.
    rewrite::rewrite(&mut statement, registry)?;
    // The keys of USING and NATURAL, which each side of an outer join gives.
    join_keys::mark(&mut statement)?;
    Ok(Plannable { statement, names, mendable })
}

/// The plan of a statement.
///
/// # Errors
/// As [`prepare`], or if DataFusion refuses the statement.
pub async fn plan(state: &SessionState, registry: &Registry, statement: SqlStatement) -> Result<LogicalPlan> {
    let Plannable { statement, mendable, .. } = prepare(state, registry, statement).await?;
    plan_prepared(state, registry, statement, mendable).await
}

/// The plan of a statement that is prepared.
///
/// # Errors
/// If DataFusion refuses the statement.
pub async fn plan_prepared(
    state: &SessionState,
    registry: &Registry,
    mut statement: SqlStatement,
    mendable: bool,
) -> Result<LogicalPlan> {
    for _ in 0..READINGS {
        let spare = mendable.then(|| statement.clone());
        let error = match state.statement_to_plan(statement).await {
            Ok(plan) => return Ok(plan),
            Err(error) => error,
        };
        match mended(spare, &error, state).await {
            Some(other) => statement = other,
            None => return Err(unknown_names::explain(state, registry, error)),
        }
    }
    Err(Error::statement(format!(
        "the statement names more than {READINGS} outputs by their aliases: name them in a subquery"
    )))
}

/// The statement with another name in the place of one that DataFusion has not found.
async fn mended(
    statement: Option<SqlStatement>,
    error: &DataFusionError,
    state: &SessionState,
) -> Option<SqlStatement> {
    let mut statement = statement?;
    let changed = output_aliases::replace(&mut statement, error, state)
        || outer_columns::qualify(&mut statement, error, state).await;
    changed.then_some(statement)
}
