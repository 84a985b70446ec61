//! `CREATE TABLE`, `CREATE VIEW`, `DROP TABLE` and `DROP VIEW`: the schema that a name lies in creates and drops it.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use bonnet_catalogs::{NewTable, SessionSchema, StoredView, is_address};
use bonnet_common::raise;
use datafusion::catalog::SchemaProvider;
use datafusion::common::{DataFusionError, ResolvedTableReference, TableReference};
use datafusion::datasource::TableType;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{CreateMemoryTable, CreateView, DdlStatement, LogicalPlan, LogicalPlanBuilder};
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::ast::Query;
use datafusion::sql::sqlparser::tokenizer::Span;

use super::table_place::TablePlace;
use super::{train_rows, unique_names};
use crate::{Answer, Error, ErrorKind, Raised, Result, Session};

/// Runs a statement that creates or drops a table or view; `None` for any other. `view` is the query of a CREATE VIEW,
/// `tag` the answer of a statement that is done, `object` the place of the table's name.
pub(super) async fn run(
    session: &Session,
    state: &SessionState,
    plan: &LogicalPlan,
    view: Option<&Query>,
    tag: &str,
    object: Span,
) -> Result<Option<Answer>> {
    let LogicalPlan::Ddl(ddl) = plan else { return Ok(None) };
    let (name, if_exists) = match ddl {
        DdlStatement::CreateMemoryTable(create) => (&create.name, false),
        DdlStatement::CreateView(create) => (&create.name, false),
        DdlStatement::CreateExternalTable(create) => (&create.name, false),
        DdlStatement::DropTable(drop) => (&drop.name, drop.if_exists),
        DdlStatement::DropView(drop) => (&drop.name, drop.if_exists),
        _ => return Ok(None),
    };
    let place = match TablePlace::of(state, name, object) {
        Err(_) if if_exists => return Ok(Some(Answer::Done(tag.to_owned()))),
        place => place?,
    };
    let Some(schema) = place.schema() else { return Ok(None) };
    let transaction = &session.transaction;
    match ddl {
        DdlStatement::CreateMemoryTable(create) => {
            let table = &place.name.table;
            let created = create_table(session, schema, table, create, tag, object);
            return transaction.defining(schema.engine(), table, created).await.map(Some);
        }
        DdlStatement::CreateView(create) => {
            let created = async { create_view(state, schema, &place.name, create, view) };
            let created = transaction.defining(schema.engine(), &place.name.table, created).await;
            created.map_err(|error| error.at(object))?
        }
        DdlStatement::CreateExternalTable(_) if schema.engine().database().is_none() => return Ok(None),
        DdlStatement::CreateExternalTable(_) => {
            return Err(Error::statement_at(
                object,
                format!(
                    "{name}: a database keeps no external tables; CREATE VIEW {name} AS SELECT * FROM 'file' reads the \
                     file, CREATE TABLE ... AS copies it"
                ),
            ));
        }
        ddl => {
            let kind = if matches!(ddl, DdlStatement::DropTable(_)) { TableType::Base } else { TableType::View };
            let dropped = drop(schema, &place.name.table, name, kind, if_exists);
            let dropped = transaction.defining(schema.engine(), &place.name.table, dropped).await;
            dropped.map_err(|error| error.at(object))?;
        }
    }
    Ok(Some(Answer::Done(tag.to_owned())))
}

/// CREATE EXTERNAL TABLE with the whole path of a file that begins with letters and a colon, `c:d.csv`: DataFusion 55 takes it for an
/// address.
pub(super) fn with_whole_paths(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Ddl(DdlStatement::CreateExternalTable(mut create)) = plan else { return Ok(plan) };
    if let Some(address) = create.locations.iter().find(|location| is_address(location)) {
        let name = &create.name;
        return Err(Error::statement(format!(
            "'{address}': an external table is of files of this machine; CREATE VIEW {name} AS SELECT * FROM '{address}' reads the \
             file, CREATE TABLE ... AS copies it"
        )));
    }
    for location in create.locations.iter_mut().filter(|it| it.contains(':') && !it.contains("://")) {
        let whole = std::path::absolute(&*location).map_err(DataFusionError::from)?;
        *location = whole.to_string_lossy().into_owned();
    }
    Ok(LogicalPlan::Ddl(DdlStatement::CreateExternalTable(create)))
}

/// `CREATE TABLE`. With `AS` all columns become nullable, so that later rows need not be complete.
async fn create_table(
    session: &Session,
    schema: &SessionSchema,
    table: &str,
    create: &CreateMemoryTable,
    tag: &str,
    object: Span,
) -> Result<Answer> {
    let CreateMemoryTable { name, input, if_not_exists, or_replace, constraints, column_defaults, .. } = create;
    let refuse = |text: String| Err(Error::statement_at(object, text));
    match (schema.table_exist(table), *if_not_exists, *or_replace) {
        (_, true, true) => return refuse("IF NOT EXISTS and OR REPLACE exclude each other".to_owned()),
        (true, true, _) => return Ok(Answer::Done(tag.to_owned())),
        (true, false, false) => {
            let advice = format!("CREATE OR REPLACE TABLE, or DROP TABLE {name} first");
            let error = Raised::new(ErrorKind::AlreadyExists, format!("the table {name} exists already"));
            return Err(error.advise(advice).at(object).into());
        }
        _ => {}
    }
    unique_names::check(&format!("CREATE TABLE {name}"), input.schema()).map_err(|error| error.at(object))?;
    let input = input.as_ref().clone();
    let declared = matches!(&input, LogicalPlan::EmptyRelation(relation) if !relation.produce_one_row);
    let columns = match declared {
        true => Arc::new(input.schema().as_arrow().clone()),
        // Before types are brought together, some are others than those of the rows.
        false => {
            let state = session.state();
            let typed = state.analyzer().execute_and_check(input.clone(), state.config_options(), |_, _| {})?;
            nullable(typed.schema().as_arrow())
        }
    };
    let engine = schema.engine();
    let new = |rows| NewTable {
        columns,
        rows: DataFrame::new(session.state(), rows),
        defaults: column_defaults.clone(),
        constraints: constraints.clone(),
    };
    if engine.database().is_none() || !train_rows::reads_train(&input) {
        engine.create_table(table, new(input), *or_replace).await?;
        return Ok(Answer::Done(tag.to_owned()));
    }
    // Finished runs are kept whatever becomes of the rest, so the table is there before them.
    engine.create_table(table, new(LogicalPlanBuilder::empty(false).build()?), *or_replace).await?;
    let created = engine.lasting_table(table).await?;
    let Some(created) = created else { return refuse(format!("the table {name} was dropped meanwhile")) };
    let count = train_rows::append(session, &created, input, name.table()).await?;
    Ok(Answer::Done(format!("{tag} ({count} rows)")))
}

fn nullable(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// `CREATE VIEW`: stores its text, which is planned when it is read.
fn create_view(
    state: &SessionState,
    schema: &SessionSchema,
    place: &ResolvedTableReference,
    create: &CreateView,
    query: Option<&Query>,
) -> Result<()> {
    if create.temporary {
        return Err(Error::statement("there are no temporary views: CREATE VIEW memory.main.name"));
    }
    unique_names::check(&format!("CREATE VIEW {}", create.name), create.input.schema())?;
    let Some(query) = query else {
        return Err(Error::statement(format!("the query of the view {} is lost", create.name)));
    };
    let options = &state.config_options().catalog;
    // A database may be opened under another name, where names in its views would mean something else.
    if schema.engine().database().is_some() && options.default_catalog != schema.catalog() {
        return Err(Error::statement(format!(
            "a view is made in the database that is in use: USE {}.{} first",
            place.catalog, place.schema
        )));
    }
    let view = StoredView {
        name: place.table.to_string(),
        query: query.to_string(),
        catalog: Some(options.default_catalog.clone()),
        schema: options.default_schema.clone(),
    };
    Ok(schema.engine().create_view(view, create.or_replace)?)
}

/// `DROP TABLE` and `DROP VIEW`. One whose entry in the catalog is damaged goes by either.
async fn drop(
    schema: &SessionSchema,
    table: &str,
    name: &TableReference,
    kind: TableType,
    if_exists: bool,
) -> Result<()> {
    let engine = schema.engine();
    if let Some(why) = engine.why_not_drop(table) {
        return Err(Error::statement(why));
    }
    match (engine.table_type(table).await, kind) {
        (Ok(Some(TableType::View)), TableType::Base) => {
            Err(Error::statement(format!("{name} is a view: DROP VIEW {name}")))
        }
        (Ok(Some(TableType::Base)), TableType::View) => {
            Err(Error::statement(format!("{name} is a table: DROP TABLE {name}")))
        }
        (Ok(None), _) if if_exists => Ok(()),
        (Ok(None), TableType::View) => raise!(UnknownTable, "there is no view {name}"),
        (Ok(None), _) => raise!(UnknownTable, "there is no table {name}"),
        (Ok(Some(_)) | Err(_), _) => engine.drop_table(table).map(|_| ()).map_err(Error::from),
    }
}
