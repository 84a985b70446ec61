//! A session without the engine, for the tests of the front.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use bonnet_sql::Registry;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as SqlStatement;

use crate::forms::pivot::PivotPlanner;
use crate::names::join_keys::JoinKeys;
use crate::names::tables::Tables;
use crate::plans::SUBQUERIES;
use crate::preparation::{Plannable, plan_prepared, prepare};
use crate::syntax::statements::parse;
use crate::syntax::statements::statement::{Statement, WithSpan};
use crate::{Result, resolver};

/// Functions of several kinds.
pub(crate) fn registry() -> Result<Registry> {
    let mut registry = Registry::default();
    let subjects = [
        bonnet_curvature::functions(),
        bonnet_generators::functions(),
        bonnet_learning::functions(),
        bonnet_persistence::functions(),
        bonnet_ranking::functions(),
    ];
    for functions in subjects {
        registry.register(functions)?;
    }
    Ok(registry)
}

/// A session that plans PIVOT and questions of membership, with the table `sales(city, year, kind, amount)` and the table `nested(id, xs)`.
pub(crate) async fn session() -> SessionContext {
    let mut config = SessionConfig::new().with_information_schema(true).with_target_partitions(2);
    config.options_mut().sql_parser.default_null_ordering = "nulls_last".to_owned();
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_relation_planners(vec![Arc::new(PivotPlanner)])
        .with_analyzer_rule(Arc::new(SUBQUERIES))
        .build();
    let context = SessionContext::new_with_state(state);
    for text in [
        "CREATE TABLE sales AS SELECT * FROM (VALUES ('Ulm', 2020, 'a', 1), ('Ulm', 2020, 'b', 2), \
         ('Ulm', 2021, 'a', 4), ('Bonn', 2020, 'a', 8), ('Bonn', 2022, NULL, 16)) AS v(city, year, kind, amount)",
        "CREATE TABLE nested AS SELECT 1 AS id, [10, 20] AS xs UNION ALL SELECT 2, [30]",
    ] {
        context.sql(text).await.unwrap().collect().await.unwrap();
    }
    context
}

/// The statement in the form that DataFusion plans.
pub(crate) async fn prepared(context: &SessionContext, text: &str) -> Result<Plannable> {
    let Statement::Sql(statement) = parse::parse(text)? else { panic!("{text} is not DataFusion's") };
    prepare(&context.state(), &registry()?, *statement).await
}

/// Resolves the names of a statement that reads no tables.
pub(crate) fn resolve(statement: &mut SqlStatement) {
    let state = SessionContext::new().state();
    let (registry, tables) = (Registry::default(), Arc::new(Tables::default()));
    resolver::resolve(statement, &state, &registry, &tables, JoinKeys::default()).unwrap();
}

/// The rows that a statement answers, as lines of values; the first line has the columns' names.
pub(crate) async fn rows(context: &SessionContext, text: &str) -> Result<Vec<String>> {
    let prepared = prepared(context, text).await?;
    let plan = plan_prepared(&context.state(), &registry()?, prepared)?;
    let batches = context.execute_logical_plan(plan).await?.collect().await?;
    Ok(lines(&batches))
}

/// Batches as lines of values; the first line has the columns' names.
pub(crate) fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let table = pretty_format_batches(batches).unwrap().to_string();
    let rows = table.lines().filter(|line| line.starts_with('|')).map(|line| line.trim_matches('|').split('|'));
    rows.map(|cells| cells.map(str::trim).collect::<Vec<_>>().join(" | ").trim_end().to_owned()).collect()
}

/// The error's text, of what has to fail.
pub(crate) fn error<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

/// A name of these parts.
pub(crate) fn name(parts: &[&str]) -> WithSpan<Vec<String>> {
    parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>().into()
}

/// The statement of a text that has to parse.
pub(crate) fn parsed(text: &str) -> Statement {
    parse::parse(text).unwrap()
}
