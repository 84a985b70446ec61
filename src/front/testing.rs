//! What the tests of the front share: a session without the engine, and functions that only have signatures.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, Value};

use super::functions::{Functions, Kind, Parameter, ParameterKind};
use super::join_keys::JoinPlanner;
use super::pivot::PivotPlanner;
use super::statement::Statement;
use super::{ast, parse, rewrite};
use crate::Result;

/// A session that plans PIVOT, with the table `sales(city, year, kind, amount)` and the table `nested(id, xs)`.
pub(crate) async fn session() -> SessionContext {
    let mut config = SessionConfig::new().with_information_schema(true).with_target_partitions(2);
    config.options_mut().sql_parser.default_null_ordering = "nulls_last".to_owned();
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_relation_planners(vec![Arc::new(PivotPlanner), Arc::new(JoinPlanner)])
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

/// The statement in the form that DataFusion plans, all values of PIVOT found.
pub(crate) async fn prepared(context: &SessionContext, text: &str) -> Result<SqlStatement> {
    let Statement::Sql(statement) = parse::parse(text)? else { panic!("{text} is not DataFusion's") };
    let mut statement = *statement;
    while let Some(values) = rewrite::pivot_values(&mut statement) {
        let plan = context.state().statement_to_plan(values).await?;
        let batches = context.execute_logical_plan(plan).await?.collect().await?;
        rewrite::fill_pivot(&mut statement, &batches)?;
    }
    rewrite::rewrite(&mut statement, &Signatures)?;
    Ok(statement)
}

/// The rows that a statement answers, as lines of values; the first line has the columns' names.
pub(crate) async fn rows(context: &SessionContext, text: &str) -> Result<Vec<String>> {
    let statement = prepared(context, text).await?;
    let plan = context.state().statement_to_plan(statement).await?;
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

/// Functions that only have signatures: one of each kind.
pub(crate) struct Signatures;

fn number(text: &str) -> Option<Expr> {
    Some(Expr::Value(Value::Number(text.to_owned(), false).into()))
}

fn parameter(name: &str, kind: ParameterKind, default: Option<Option<Expr>>) -> Parameter {
    let (optional, default) = (default.is_some(), default.flatten());
    Parameter { name: name.to_owned(), kind, optional, variadic: false, default }
}

impl Functions for Signatures {
    fn kind(&self, function: &str) -> Option<Kind> {
        match function {
            "midpoint_curvature" | "train" | "erdos_renyi" | "graph_profile" => Some(Kind::Relation),
            "ollivier_ricci" => Some(Kind::Edge),
            "persistence_diagram" => Some(Kind::Aggregate),
            "average_rank" => Some(Kind::Window),
            "regime" => Some(Kind::Scalar),
            _ => None,
        }
    }

    fn parameters(&self, function: &str) -> Vec<Parameter> {
        use ParameterKind::{Column, Option as Constant, Relation};
        match function {
            "ollivier_ricci" => vec![
                parameter("src", Column, None),
                parameter("dst", Column, None),
                parameter("alpha", Constant, Some(number("0.0"))),
                parameter("measure", Constant, Some(Some(ast::text("uniform")))),
                parameter("steps", Constant, Some(number("2"))),
            ],
            "persistence_diagram" => vec![
                parameter("src", Column, None),
                parameter("dst", Column, None),
                parameter("value", Column, None),
                parameter("expand", Constant, Some(number("1"))),
                parameter("essential", Constant, Some(Some(ast::text("infinite")))),
            ],
            "regime" => vec![
                parameter("mean", Column, None),
                parameter("skewness", Column, None),
                parameter("mean_tolerance", Constant, Some(number("0.01"))),
                parameter("skewness_tolerance", Constant, Some(None)),
            ],
            "midpoint_curvature" => vec![
                parameter("edges", Relation, None),
                parameter("nodes", Relation, Some(None)),
                parameter("relative", Constant, Some(None)),
            ],
            "train" => vec![parameter("jobs", Relation, None)],
            _ => Vec::new(),
        }
    }

    fn parameters_in_from(&self, function: &str) -> Vec<Parameter> {
        let parameters = self.parameters(function);
        match function {
            "ollivier_ricci" => {
                let edges = parameter("edges", ParameterKind::Relation, None);
                std::iter::once(edges).chain(parameters.into_iter().skip(2)).collect()
            }
            "graph_profile" => {
                vec![Parameter { variadic: true, ..parameter("graph", ParameterKind::Graph, None) }]
            }
            _ => parameters,
        }
    }
}
