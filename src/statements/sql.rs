//! Statements that DataFusion plans, once they are rewritten.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::DataType;
use arrow::datatypes::SchemaRef;
use bonnet_catalogs::{counted, planned_in};
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::{Deallocate, Execute, LogicalPlan, Statement as PlanStatement, WriteOp};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{self, Query};
use datafusion::sql::sqlparser::tokenizer::Span;
use futures::{StreamExt, TryStreamExt};

use super::copy_from::CopyFrom;
use super::plan::plan;
use super::settings::{external_access, temporary_folder, time_zone};
use super::update_from::JoinedChange;
use super::{alter, changes, copy, describe_table, nulls, prepared_statement, table, train_rows};
use crate::query::stream;
use crate::{Answer, Error, Result, Session};
use bonnet_dialect::names::columns::ColumnNames;
use bonnet_dialect::syntax::statements::statement::Statement;
use bonnet_dialect::syntax::statements::summarize;
use bonnet_dialect::syntax::tree::ast as syntax;

/// The parts of a statement's text that its run needs beside its plan.
struct StatementText {
    /// Its first words.
    tag: String,
    /// The query of a CREATE VIEW.
    view: Option<Query>,
    /// The names of the answer's columns, where it is a query.
    names: Option<ColumnNames>,
    /// The place of the name that it makes, changes or drops.
    object: Span,
}

/// Plans and runs a statement.
pub(super) async fn run(session: &Session, statement: SqlStatement) -> Result<Answer> {
    if let Some(change) = JoinedChange::of(&statement)? {
        return Ok(Answer::Done(change.run(session).await?));
    }
    if let Some(alter) = alter::of(&statement) {
        alter::run(session, alter).await?;
        return Ok(Answer::Done("ALTER TABLE".to_owned()));
    }
    let state = Arc::new(session.state());
    if let Some(copy) = CopyFrom::of(&statement) {
        let object = syntax::object_span(&statement);
        let query = ast::Statement::Query(Box::new(copy.query.clone()));
        let (file, _) = planned(session, &state, SqlStatement::Statement(Box::new(query))).await?;
        let plan = copy.plan(session, file).await?;
        let text = StatementText { tag: tag(&statement), view: None, names: None, object };
        return run_plan(session, Arc::unwrap_or_clone(state), plan, text).await;
    }
    let prepares = is_prepare(&statement).then(|| statement.clone());
    let (plan, text) = planned(session, &state, statement).await?;
    if let LogicalPlan::Statement(PlanStatement::Execute(values)) = &plan {
        let values = values.clone();
        return execute(session, plan, &values).await;
    }
    let prepared = match (&plan, prepares) {
        (LogicalPlan::Statement(PlanStatement::Prepare(prepare)), Some(statement)) => {
            Some((prepare.name.clone(), statement))
        }
        (LogicalPlan::Statement(PlanStatement::Deallocate(deallocate)), _) => {
            session.prepared.remove(&deallocate.name);
            None
        }
        _ => None,
    };
    let answer = run_plan(session, Arc::unwrap_or_clone(state), plan, text).await?;
    if let Some((name, statement)) = prepared {
        session.prepared.insert(name, statement);
    }
    Ok(answer)
}

/// The plan of a statement, and what its run needs of its text.
async fn planned(
    session: &Session,
    state: &Arc<SessionState>,
    statement: SqlStatement,
) -> Result<(LogicalPlan, StatementText)> {
    let tag = if is_query(&statement) { String::new() } else { tag(&statement) };
    let object = syntax::object_span(&statement);
    let untyped = prepares_untyped(&statement);
    let planned = async {
        let mut prepared = bonnet_dialect::prepare(state, session.engine.registry(), statement).await?;
        let (view, names) = (prepared.view.take(), prepared.names.take());
        let plan = bonnet_dialect::plan_prepared(state, session.engine.registry(), prepared)?;
        Ok::<_, Error>((plan, StatementText { tag, view, names, object }))
    };
    let (plan, text) = planned_in(Arc::clone(state), planned).await?;
    let plan = match plan {
        LogicalPlan::Statement(PlanStatement::Prepare(prepare)) if untyped => {
            LogicalPlan::Statement(PlanStatement::Prepare(prepared_statement::with_fine_parameters(prepare)?))
        }
        plan => plan,
    };
    Ok((plan, text))
}

fn is_prepare(statement: &SqlStatement) -> bool {
    matches!(statement, SqlStatement::Statement(statement) if matches!(**statement, ast::Statement::Prepare { .. }))
}

fn is_query(statement: &SqlStatement) -> bool {
    matches!(statement, SqlStatement::Statement(statement) if matches!(**statement, ast::Statement::Query(_)))
}

/// Whether it is PREPARE without the types of its parameters.
fn prepares_untyped(statement: &SqlStatement) -> bool {
    let SqlStatement::Statement(statement) = statement else { return false };
    matches!(statement.as_ref(), ast::Statement::Prepare { data_types, .. } if data_types.is_empty())
}

/// The columns of a query; `None` for any other statement.
pub(super) async fn describe(session: &Session, statement: SqlStatement) -> Result<Option<SchemaRef>> {
    if !is_query(&statement) {
        return Ok(None);
    }
    let state = session.state();
    let mut prepared = bonnet_dialect::prepare(&state, session.engine.registry(), statement).await?;
    let names = prepared.names.take();
    let plan = bonnet_dialect::plan_prepared(&state, session.engine.registry(), prepared)?;
    let schema = Arc::clone(plan.schema().inner());
    Ok(Some(names.and_then(|names| names.schema(&schema)).unwrap_or(schema)))
}

/// The types that a statement's parameters `$1`, `$2`, ... have by their places in it; those that are not listed may have
/// any.
pub(crate) async fn parameter_types(session: &Session, statement: Statement) -> Result<BTreeMap<usize, DataType>> {
    let Statement::Sql(statement) = statement else { return Ok(BTreeMap::new()) };
    let types = plan(session, *statement).await?.get_parameter_types()?;
    let number = |name: &str| name.strip_prefix('$').and_then(|number| number.parse().ok());
    Ok(types.into_iter().filter_map(|(name, data_type)| Some((number(&name)?, data_type?))).collect())
}

/// Runs a prepared statement as if it were typed now: on the tables and views as they are, and in our way where it changes
/// rows.
async fn execute(session: &Session, plan: LogicalPlan, values: &Execute) -> Result<Answer> {
    let mut names = None;
    if let Some(statement) = session.prepared.get(&values.name) {
        names = prepared_statement::names(&statement);
        let state = Arc::new(session.state());
        let (anew, _) = planned(session, &state, statement).await?;
        if let LogicalPlan::Statement(PlanStatement::Prepare(prepare)) = &anew {
            prepared_statement::check_values(prepare, values)?;
        }
        let before = PlanStatement::Deallocate(Deallocate { name: values.name.clone() });
        session.context.execute_logical_plan(LogicalPlan::Statement(before)).await?;
        store(session, anew).await?;
    }
    let plan = session.context.execute_logical_plan(plan).await?.into_unoptimized_plan();
    let tag = match &plan {
        LogicalPlan::Dml(dml) => dml.op.to_string().split(' ').next().unwrap_or_default().to_uppercase(),
        _ => String::new(),
    };
    run_plan(session, session.state(), plan, StatementText { tag, view: None, names, object: Span::empty() }).await
}

/// Hands the plan of a PREPARE to DataFusion, which would optimise a statement that has not been analysed; EXECUTE does both.
async fn store(session: &Session, plan: LogicalPlan) -> Result<()> {
    let state = session.context.state_ref();
    let passes = |passes| {
        let mut state = state.write();
        std::mem::replace(&mut state.config_mut().options_mut().optimizer.max_passes, passes)
    };
    let usual = passes(0);
    let prepared = session.context.execute_logical_plan(plan).await;
    passes(usual);
    prepared?;
    Ok(())
}

async fn run_plan(session: &Session, state: SessionState, plan: LogicalPlan, text: StatementText) -> Result<Answer> {
    external_access::check_plan(session, &plan)?;
    time_zone::check(&plan)?;
    temporary_folder::check(&plan)?;
    let change = match &plan {
        LogicalPlan::Dml(change) => Some(change.clone()),
        _ => None,
    };
    let done = answer(session, state, plan, text).await;
    done.map_err(|error| match &change {
        Some(change) => nulls::explain(change, error),
        None => error,
    })
}

async fn answer(session: &Session, state: SessionState, plan: LogicalPlan, text: StatementText) -> Result<Answer> {
    let StatementText { tag, view, names, object } = text;
    let plan = table::with_whole_paths(plan)?;
    if let Some(done) = table::run(session, &state, &plan, view.as_ref(), &tag, object).await? {
        return Ok(done);
    }
    if let Some(done) = train_rows::insert(session, &state, &plan, object).await? {
        return Ok(done);
    }
    match plan {
        LogicalPlan::Dml(dml) if matches!(dml.op, WriteOp::Delete | WriteOp::Update) => {
            let verb = tag.split(' ').next().unwrap_or_default().to_owned();
            let count = changes::run(session, &state, dml, object).await?;
            Ok(Answer::Done(format!("{verb} {count}")))
        }
        LogicalPlan::Statement(PlanStatement::Prepare(_)) => {
            store(session, plan).await?;
            Ok(Answer::Done(tag))
        }
        LogicalPlan::Ddl(_) | LogicalPlan::Statement(_) => {
            let frame = session.context.execute_logical_plan(plan).await;
            let frame = frame.map_err(|error| Error::from(error).at(object))?;
            // SHOW answers rows; the rest answers nothing.
            let rows = frame.execute_stream().await?;
            if rows.schema().fields().is_empty() {
                session.apply_settings()?;
                return Ok(Answer::Done(tag));
            }
            Ok(Answer::Rows(rows))
        }
        LogicalPlan::DescribeTable(table) => Ok(Answer::Rows(describe_table::rows(&table))),
        LogicalPlan::Copy(copy) => Ok(Answer::Done(format!("COPY {}", copy::run(state, copy).await?))),
        LogicalPlan::Analyze(analyze) if matches!(*analyze.input, LogicalPlan::Copy(_)) => Err(Error::statement(
            "EXPLAIN ANALYZE would write the file: EXPLAIN ANALYZE the query alone, or EXPLAIN COPY",
        )),
        LogicalPlan::Dml(dml) => {
            copy::check_target(&dml).map_err(|error| error.at(object))?;
            let plan = LogicalPlan::Dml(dml);
            let batches: Vec<RecordBatch> = stream(state, &plan).await?.try_collect().await?;
            Ok(Answer::Done(format!("{} {}", tag.split(' ').next().unwrap_or_default(), counted(&batches))))
        }
        plan => Ok(Answer::Rows(named(stream(state, &plan).await?, names))),
    }
}

/// Rows under the names that the query's text gives its columns.
fn named(rows: SendableRecordBatchStream, names: Option<ColumnNames>) -> SendableRecordBatchStream {
    let Some(schema) = names.and_then(|names| names.schema(&rows.schema())) else { return rows };
    let renamed = Arc::clone(&schema);
    let rows = rows.map(move |batch| {
        let batch = batch?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let renamed = RecordBatch::try_new_with_options(Arc::clone(&renamed), batch.columns().to_vec(), &options)?;
        Ok::<_, DataFusionError>(renamed)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

/// `SUMMARIZE query`.
pub(super) async fn summarize(session: &Session, query: Query) -> Result<Answer> {
    run(session, summary(session, &query).await?).await
}

/// The columns of `SUMMARIZE query`.
pub(super) async fn describe_summary(session: &Session, query: Query) -> Result<SchemaRef> {
    let plan = plan(session, summary(session, &query).await?).await?;
    Ok(Arc::clone(plan.schema().inner()))
}

async fn summary(session: &Session, query: &Query) -> Result<SqlStatement> {
    let described = plan(session, summarize::statement_of(query)).await?;
    summarize::summary(query, described.schema().as_arrow())
}

/// The first words of a statement, as a command tag: `CREATE VIEW`, `INSERT`.
fn tag(statement: &SqlStatement) -> String {
    let text = statement.to_string();
    let words = text.split_whitespace().filter(|word| !matches!(*word, "OR" | "REPLACE" | "TEMPORARY" | "EXTERNAL"));
    let words: Vec<&str> = words.take(2).collect();
    match words.as_slice() {
        [verb @ ("CREATE" | "DROP" | "ALTER"), object] => format!("{verb} {object}"),
        [verb, ..] => (*verb).to_owned(),
        [] => String::new(),
    }
}
