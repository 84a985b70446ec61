//! Running a parsed statement.
//!
//! An error names its place in the statement, that of the name or the value that is wrong. Those of a statement as a whole
//! (its transaction, `bonnet.external_access`), and of running it (a file that cannot be written), have none.

mod alter;
mod attach;
mod changes;
mod copy;
mod copy_from;
mod describe_table;
mod graph;
mod nulls;
mod plan;
mod prepared_statement;
mod registered;
mod schema_graph;
mod settings;
mod sql;
mod table;
mod table_place;
mod train_rows;
mod transaction;
mod unique_names;
mod update_from;
mod upkeep;

pub use copy::abandon;
pub(crate) use graph::create_of_rows as create_graph;
pub(crate) use sql::parameter_types;
pub(crate) use transaction::{Ran, within};

use arrow::datatypes::SchemaRef;

use self::settings::external_access;
use crate::{Answer, Result, Session};
use bonnet_dialect::syntax::statements::statement::Statement;

/// Runs one statement on the engine's runtime.
pub(crate) async fn run(session: &Session, statement: Statement) -> Result<Answer> {
    external_access::check_statement(session, &statement)?;
    let step = transaction::step(session, &statement);
    match transaction::within(session, step, answer(session, statement)).await? {
        Ran::Answered(answer) | Ran::Done(answer) => Ok(answer),
    }
}

/// The columns of a query; `None` for any other statement.
pub(crate) async fn describe(session: &Session, statement: Statement) -> Result<Option<SchemaRef>> {
    match statement {
        Statement::Sql(statement) => sql::describe(session, *statement).await,
        Statement::Summarize { query } => sql::describe_summary(session, *query).await.map(Some),
        _ => Ok(None),
    }
}

async fn answer(session: &Session, statement: Statement) -> Result<Answer> {
    match statement {
        Statement::Sql(statement) => sql::run(session, *statement).await,
        Statement::Summarize { query } => sql::summarize(session, *query).await,
        Statement::Attach(attach) => attach::attach(session, attach).await,
        Statement::Detach { name, if_exists } => attach::detach(session, &name, if_exists),
        Statement::CreateGraph(create) => graph::create(session, create).await,
        Statement::CreateSchemaGraph(create) => schema_graph::create(session, create).await,
        Statement::DropGraph { name, if_exists } => graph::drop(session, &name, if_exists).await,
        Statement::Optimize { table } => upkeep::optimize(session, &table).await,
        Statement::Vacuum { table, retain } => upkeep::vacuum(session, table.as_ref(), retain).await,
        Statement::Use { name } => settings::use_schema(session, &name),
        Statement::Set { name, value } => settings::set(session, &name, &value),
        Statement::Show { name } => settings::show(session, &name),
        Statement::Reset { name } => settings::reset(session, name.as_ref()),
    }
}
