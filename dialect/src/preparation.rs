//! The way of a statement from its tree to a plan.
//!
//! [`parse`](crate::syntax::statements::parse::parse) makes a tree of the text of one statement; [`prepare`] is the list of
//! passes over the tree of one that DataFusion plans, in their order; [`plan_prepared`] plans the prepared tree. Three of the
//! passes walk over the whole tree: two for its forms, of which the second notes the tables that the statement reads, and, once
//! these are there, one for its names.
//!
//! Parsing stands apart from the passes, since the statements that DataFusion lacks leave between the two: only the tree
//! says whether a statement is one of them, and the passes ask the session for tables, so they have to wait until its
//! transaction and its settings have admitted the statement (`statements::run`). Of DataFusion's statements, UPDATE ...
//! FROM and ALTER TABLE run from the parsed tree too.

use std::sync::Arc;

use bonnet_sql::Registry;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Query, Statement};

use crate::Result;
use crate::forms::changes::{changed_columns, delete_alias, insert_defaults, insert_numbers, insert_values};
use crate::forms::{duckdb_syntax, rewrite};
use crate::names::columns::ColumnNames;
use crate::names::context::StatementContext;
use crate::names::join_keys::JoinKeys;
use crate::names::tables::Tables;
use crate::names::{pivot_values, unknown_names};
use crate::resolver;
use crate::syntax::views::stored;

/// A statement in the form that DataFusion plans, with what it reads.
#[derive(Debug)]
pub struct Plannable {
    /// The statement that is planned.
    pub statement: SqlStatement,
    /// The names of the answer's columns, where the statement is a query.
    pub names: Option<ColumnNames>,
    /// The query of a CREATE VIEW, under the names that the statement gives its columns.
    pub view: Option<Query>,
    tables: Arc<Tables>,
    keys: JoinKeys,
}

/// The passes over a statement that DataFusion plans, in their order.
///
/// # Errors
/// If the statement asks for what would be ignored or calls a function wrongly, or a query that it depends on fails.
pub async fn prepare(state: &SessionState, registry: &Registry, mut statement: SqlStatement) -> Result<Plannable> {
    // The names of the answer's columns are those that were written.
    let names = ColumnNames::of(&statement);
    // The alias of DELETE's table.
    delete_alias::resolve(&mut statement);
    // The columns that INSERT and UPDATE list.
    changed_columns::name(state, &mut statement).await?;
    // DEFAULT among the values of INSERT and UPDATE.
    insert_defaults::fill(state, &mut statement).await?;
    // Numbers among them, which are cast to the column's type as they are written.
    insert_numbers::cast(state, &mut statement).await?;
    // VALUES that are not the statement's own rows, which would be cast to the types of its table.
    insert_values::set_apart(&mut statement);
    // Syntax of DuckDB and PostgreSQL, as DataFusion plans it.
    if duckdb_syntax::translate(&mut statement)? {
        // A PIVOT without a list of values looks at its rows.
        fill_pivots(state, registry, &mut statement).await?;
    }
    // Names of CTEs, calls of our functions, refusals; and the tables that are read.
    let mut found = rewrite::rewrite(&mut statement, registry)?;
    if !is_query_or_change(&statement) {
        // SHOW and its like read the tables of `information_schema`, which no name in them says.
        found.references.names.extend(state.resolve_table_references(&statement)?);
    }
    // A view is planned anew whenever it is read.
    let view = stored::query(&statement);
    let tables = Arc::new(Tables::ask(state, found.references).await?);
    // What names mean.
    let keys = resolver::resolve(&mut statement, state, registry, &tables, found.keys)?;
    Ok(Plannable { statement, names, view, tables, keys })
}

/// The plan of a statement.
///
/// # Errors
/// As [`prepare`], or if DataFusion refuses the statement.
pub async fn plan(state: &SessionState, registry: &Registry, statement: SqlStatement) -> Result<LogicalPlan> {
    plan_prepared(state, registry, prepare(state, registry, statement).await?)
}

/// The plan of a statement that is prepared.
///
/// # Errors
/// If DataFusion refuses the statement.
pub fn plan_prepared(state: &SessionState, registry: &Registry, prepared: Plannable) -> Result<LogicalPlan> {
    let context = StatementContext::new(state, registry, &prepared.tables, prepared.keys);
    let plan = context.plan(prepared.statement);
    Ok(plan.map_err(|error| unknown_names::with_nearest_function(state, registry, error))?)
}

/// Gives each PIVOT without a list of values those of its rows.
async fn fill_pivots(state: &SessionState, registry: &Registry, statement: &mut SqlStatement) -> Result<()> {
    while let Some((query, place)) = pivot_values::first_open(statement) {
        let query = SqlStatement::Statement(Box::new(Statement::Query(Box::new(query))));
        let plan = Box::pin(plan(state, registry, query)).await?;
        let rows = DataFrame::new(state.clone(), plan).collect().await?;
        pivot_values::fill(statement, place, &rows)?;
    }
    Ok(())
}

/// Whether it is a query, INSERT, UPDATE or DELETE, whose text names all tables that it reads.
fn is_query_or_change(statement: &SqlStatement) -> bool {
    let SqlStatement::Statement(statement) = statement else { return false };
    matches!(
        statement.as_ref(),
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)
    )
}
