//! PostgreSQL's catalog as clients ask for it: the tables of `pg_catalog` over the tables of the session.
//!
//! A query that reads nothing else is answered here, by a context of its own that has but these tables.

mod cells;
mod columns;
mod constants;
mod empty;
mod functions;
mod information;
mod objects;
mod rewrite;
mod tables;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use arrow::compute::concat_batches;
use bonnet_dialect::syntax::tree::ast::{name_parts, normalized};
use bonnetdb::{Error, ErrorKind, Raised, Result, Session, stream_of};
use datafusion::common::TableReference;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Statement, TableFactor, Visit, Visitor, visit_relations,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

use self::information::INFORMATION_SCHEMA;
use self::objects::{Named, Objects, PG_CATALOG};
use super::client_settings::ClientSettings;
use super::types::Oid;

/// The number of the next transaction that is asked for its number.
static TRANSACTIONS: AtomicI64 = AtomicI64::new(1000);

/// The catalog as a connection sees it.
pub(super) struct Catalog {
    client: Named,
    process: i32,
    /// The number of the open transaction, once it was asked for.
    transaction: Option<i64>,
    /// The numbers of schemas and tables by their names, so that a number means the same from statement to statement.
    numbers: HashMap<String, i64>,
}

impl Catalog {
    /// The catalog for this user, who asked for a database of this name, on the connection of this number.
    pub(super) fn new(user: &str, database: Option<&str>, process: i32) -> Self {
        let client = Named { user: user.to_owned(), database: database.map(str::to_owned) };
        Self { client, process, transaction: None, numbers: HashMap::new() }
    }

    /// The number of the transaction: one that was never given before, the same as long as it is open.
    fn transaction(&mut self, open: bool) -> i64 {
        let kept = self.transaction.filter(|_| open);
        let number = kept.unwrap_or_else(|| TRANSACTIONS.fetch_add(1, Ordering::Relaxed));
        self.transaction = open.then_some(number);
        number
    }

    /// The rows of a query that [`asks`] for the catalog.
    ///
    /// # Errors
    /// If the query asks for what this catalog lacks.
    pub(super) async fn answer(
        &mut self,
        session: &Session,
        settings: &ClientSettings,
        statement: &str,
    ) -> Result<SendableRecordBatchStream> {
        let Some(mut query) = parsed(statement) else { return Err(Error::statement("the statement is no query")) };
        let settings: Vec<(String, String)> =
            settings.all().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let transaction = self.transaction(session.in_transaction());
        // A statement that fails leaves them as they were.
        let mut numbers = self.numbers.clone();
        let (of, client, process) = (session.clone(), self.client.clone(), self.process);
        let work = async move {
            let objects = Objects::of(&of, &mut numbers, &client).await;
            let connection = rewrite::ConnectionState { objects: &objects, settings: &settings, process, transaction };
            let asked = rewrite::rewrite(&mut query, &connection);
            if let Some(missing) = asked.missing {
                let text = format!("there is no function {missing}; bonnet.functions lists them");
                return Err(Raised::new(ErrorKind::UnknownFunction, text).into());
            }
            if let Some(wrong) = asked.wrong {
                return Err(Error::statement(wrong));
            }
            if asked.sleep > 0.0 {
                tokio::time::sleep(Duration::from_secs_f64(asked.sleep)).await;
            }
            let rows = match empty::rows(&query) {
                Some(rows) => rows,
                None => rows(query, objects, &settings).await?,
            };
            Ok((stream_of(rows)?, numbers))
        };
        let (rows, numbers) = session.perform(work).await?;
        self.numbers = numbers;
        Ok(rows)
    }
}

/// The rows of a query over the tables of the catalog.
async fn rows(query: Query, objects: Objects, settings: &[(String, String)]) -> Result<arrow::array::RecordBatch> {
    let config = SessionConfig::new().with_target_partitions(1).with_default_catalog_and_schema("bonnet", PG_CATALOG);
    let context = SessionContext::new_with_config(config);
    let mut names = Vec::new();
    let _ = visit_relations(&query, |name| {
        names.extend(name_parts(name).and_then(|parts| parts.last().cloned()));
        ControlFlow::<()>::Continue(())
    });
    names.sort();
    names.dedup();
    for name in names {
        if let Some(table) = tables::table(&name, &objects, settings)? {
            context.register_table(TableReference::bare(name), Arc::new(table))?;
        }
    }
    functions::register(&context, objects);
    let statement = SqlStatement::Statement(Box::new(Statement::Query(Box::new(query))));
    let plan = context.state().statement_to_plan(statement).await?;
    let frame = DataFrame::new(context.state(), plan);
    let schema = Arc::clone(frame.schema().inner());
    let batches = frame.collect().await?;
    let schema = batches.first().map_or(schema, |batch| batch.schema());
    Ok(concat_batches(&schema, &batches)?)
}

/// The one query of a text, in the dialect of PostgreSQL.
fn parsed(text: &str) -> Option<Query> {
    let statements = Parser::parse_sql(&PostgreSqlDialect {}, text).ok()?;
    match <[Statement; 1]>::try_from(statements).ok()? {
        [Statement::Query(query)] => Some(*query),
        _ => None,
    }
}

/// The types of the parameters of a query of the catalog, where it says them.
pub(super) fn parameter_types(statement: &str) -> HashMap<usize, Oid> {
    parsed(statement).map(|query| rewrite::parameter_types(&query)).unwrap_or_default()
}

/// Words of which one is in every query of the catalog.
const SIGNS: [&str; 12] = [
    "pg_",
    "version",
    "current_",
    "session_user",
    "has_",
    "::reg",
    "as reg",
    "quote_",
    "parse_ident",
    "txid_current",
    "information_schema",
    "to_reg",
];

/// Whether a statement is a query of PostgreSQL's catalog alone: all tables that it reads are of `pg_catalog` or those of
/// `information_schema`, or it reads none and calls a function of PostgreSQL's.
pub(super) fn asks(statement: &str) -> bool {
    let lower = statement.to_ascii_lowercase();
    if !SIGNS.iter().any(|sign| lower.contains(sign)) {
        return false;
    }
    let Some(query) = parsed(statement) else { return false };
    let mut found = References::default();
    let _ = query.visit(&mut found);
    found.tables.retain(|name| !matches!(name.as_slice(), [one] if found.defined.contains(one)));
    match found.tables.is_empty() {
        true => found.calls && !found.others,
        false => found.tables.iter().all(|name| match name.as_slice() {
            [.., schema, table] if schema == INFORMATION_SCHEMA => {
                columns::is_known(&format!("{INFORMATION_SCHEMA}.{table}"))
            }
            [schema, _] => schema == PG_CATALOG,
            [_, schema, _] => schema == PG_CATALOG,
            [table] => columns::is_known(table),
            _ => false,
        }),
    }
}

/// The tables that a query reads, and the functions that it calls.
#[derive(Default)]
struct References {
    tables: Vec<Vec<String>>,
    /// Names that WITH gives.
    defined: Vec<String>,
    /// Whether a function of PostgreSQL's is called, and whether any other is.
    calls: bool,
    others: bool,
}

impl Visitor for References {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        self.defined.extend(ctes.map(|cte| normalized(&cte.alias.name)));
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        self.tables.push(name_parts(name).unwrap_or_default());
        ControlFlow::Continue(())
    }

    // A function in FROM is no table.
    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(_), .. } = factor
            && let Some([name]) = name_parts(name).as_deref()
            && ["generate_series", "string_to_array", "unnest"].contains(&name.as_str())
        {
            self.defined.push(name.clone());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Cast { data_type, .. } = expr
            && rewrite::is_reference(data_type)
        {
            self.calls = true;
        }
        if let Expr::Function(call) = expr {
            let parts = name_parts(&call.name).unwrap_or_default();
            let of_catalog = parts.first().is_some_and(|schema| parts.len() == 2 && schema == PG_CATALOG);
            match parts.last().is_some_and(|name| rewrite::is_function(name)) || of_catalog {
                true => self.calls = true,
                false => self.others = true,
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_types_that_they_are_cast_to() {
        let found =
            parameter_types("SELECT * FROM pg_type WHERE oid = any($1::oid[]) OR typname = $2::text OR oid = $3");
        assert_eq!(found, HashMap::from([(1, 1028), (2, 25)]));
    }

    #[test]
    fn queries_of_the_catalog_are_told_from_those_of_tables() {
        for yes in [
            "SELECT version()",
            "select pg_catalog.version()",
            "SELECT current_schema(), current_user",
            "SELECT 'cora.edges'::regclass::oid",
            "SELECT * FROM pg_class",
            "SELECT n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' ORDER BY 1",
            "WITH x AS (SELECT oid FROM pg_type) SELECT * FROM x",
            "SELECT s.r FROM pg_type, generate_series(1, array_upper(current_schemas(false), 1)) AS s(r)",
            "SELECT quote_ident('a b'), txid_current()",
            "SELECT table_name FROM information_schema.tables",
            "SELECT * FROM INFORMATION_SCHEMA.columns c JOIN pg_class ON relname = c.table_name",
            "SELECT c.oid FROM pg_catalog.pg_class c WHERE c.relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default",
        ] {
            assert!(asks(yes), "{yes}");
        }
        for no in [
            "SELECT 1",
            "SELECT * FROM t",
            "SELECT * FROM pg_class, t",
            "SELECT * FROM my.pg_class",
            "SELECT * FROM pg_mine",
            "SELECT * FROM information_schema.tables, t",
            "SELECT * FROM information_schema.df_settings",
            "SELECT * FROM generate_series(1, 3) AS pg_series",
            "SELECT count(*) FROM t WHERE version = 'pg_'",
            "SELECT abs(1), 'pg_'",
            "INSERT INTO t SELECT oid FROM pg_class",
        ] {
            assert!(!asks(no), "{no}");
        }
    }
}
