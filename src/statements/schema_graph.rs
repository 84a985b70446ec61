//! `CREATE GRAPH g FROM SCHEMA s`: the rows of a schema's tables as nodes, its foreign keys as edges. The reading, the options
//! and the answer are `bonnet_relational`'s; here stands what needs the session.

use std::collections::HashMap;
use std::sync::Arc;

use bonnet_catalogs::GraphFacts;
use bonnet_datasets::{WIDTH_KEY, sparse_features_type};
use bonnet_relational::{KEYS, KeyClause, KeyColumns, Options, Source, graph_tables};
use bonnet_sql::execution_error;
use datafusion::arrow::datatypes::Field;
use datafusion::catalog::SchemaProvider;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, ObjectName, Query, Statement as Ast, Value};

use super::graph::{Host, is_there, new_graph, place};
use super::sql;
use crate::{Answer, Error, ErrorKind, Raised, Result, Session};
use bonnet_dialect::syntax::statements::statement::{self, CreateSchemaGraph};
use bonnet_dialect::syntax::tree::ast;

/// `CREATE GRAPH name FROM SCHEMA schema ...`; answers the rows of the table `keys`.
pub(super) async fn create(session: &Session, create: CreateSchemaGraph) -> Result<Answer> {
    let (_, catalog, name) = place(session, &create.name)?;
    let there = is_there(session, catalog.as_ref(), &name, create.if_not_exists, create.or_replace);
    if there.map_err(|error| error.at(create.name.span))? {
        return Ok(Answer::Done("CREATE GRAPH".to_owned()));
    }
    let host = Host::new(session);
    let keys = create.keys.iter().map(clause).collect();
    let mut options = Options::new(create.schema.join("."), keys, &create.options)?;
    if let Some(relation) = options.text_relation.clone() {
        let rows = rows_of(session, &relation).await?.ok_or_else(|| Options::no_text_relation(&relation))?;
        options.read_text_vectors(rows, &host).await?;
    }
    let (of_schema, _, schema) = place(session, &create.schema)?;
    let tables = find(session, &of_schema, &schema).map_err(|error| error.at(create.schema.span))?;
    let source = Source::read(&session.state(), &schema, tables.as_ref(), &host).await?;

    let pool = Arc::clone(&session.engine.shared.kernels);
    let directed = options.directed;
    let work = move || pool.install(|| graph_tables(&source, &options, features_field, &host));
    let tables = tokio::task::spawn_blocking(work).await;
    let tables = tables.map_err(|error| execution_error(format!("CREATE GRAPH failed by a defect: {error}")))??;

    let keys = tables.iter().find(|(table, _)| *table == KEYS);
    let printed = keys.map(|(_, rows)| rows.clone()).unwrap_or_default();
    let facts = GraphFacts { directed, generator: format!("SCHEMA {}", create.schema.join(".")) };
    let created = catalog.create_graph(&name, new_graph(session, facts, tables), create.or_replace).await;
    created.map_err(|error| Error::from(error).at(create.name.span))?;
    let columns = printed[0].schema();
    let rows = futures::stream::iter(printed.into_iter().map(Ok));
    Ok(Answer::Rows(Box::pin(RecordBatchStreamAdapter::new(columns, rows))))
}

/// The column `features` of so many places.
fn features_field(width: usize) -> Field {
    let width = HashMap::from([(WIDTH_KEY.to_owned(), width.to_string())]);
    Field::new("features", sparse_features_type(), true).with_metadata(width)
}

fn find(session: &Session, catalog: &str, name: &str) -> Result<Arc<dyn SchemaProvider>> {
    // The session plans its views.
    let catalog = session.state().catalog_list().catalog(catalog);
    catalog.as_ref().and_then(|catalog| catalog.schema(name)).ok_or_else(|| {
        let mut known = catalog.map(|catalog| catalog.schema_names()).unwrap_or_default();
        known.sort_unstable();
        let text = format!("there is no schema {name}; there are: {}", known.join(", "));
        Raised::new(ErrorKind::UnknownSchema, text).into()
    })
}

fn clause(clause: &statement::KeyClause) -> KeyClause {
    let columns = |columns: &statement::KeyColumns| KeyColumns {
        table: columns.table.value.clone(),
        columns: columns.columns.iter().map(|column| column.value.clone()).collect(),
    };
    KeyClause {
        from: columns(&clause.from),
        to: clause.to.as_ref().map(columns),
        name: clause.name.as_ref().map(ast::normalized),
        text: clause.to_string(),
    }
}

/// The rows of a relation: a name, a file, or `(SELECT ...)`; `None` for anything else.
async fn rows_of(session: &Session, value: &Expr) -> Result<Option<SendableRecordBatchStream>> {
    let Some(query) = query(value) else { return Ok(None) };
    let statement = SqlStatement::Statement(Box::new(Ast::Query(Box::new(query))));
    Ok(match Box::pin(sql::run(session, statement)).await? {
        Answer::Rows(rows) => Some(rows),
        _ => None,
    })
}

/// The query that a relation stands for.
fn query(value: &Expr) -> Option<Query> {
    let name = match value {
        Expr::Subquery(query) => return Some(query.as_ref().clone()),
        Expr::Identifier(name) => vec![name.clone()],
        Expr::CompoundIdentifier(names) => names.clone(),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(file) => vec![Ident::with_quote('\'', file.clone())],
            _ => return None,
        },
        _ => return None,
    };
    Some(ast::select_all(ast::table(ObjectName::from(name))))
}
