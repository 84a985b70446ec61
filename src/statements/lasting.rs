//! What statements do in a lasting database, where they do other than in memory.

#[cfg(feature = "delta")]
pub(super) use with::*;
#[cfg(not(feature = "delta"))]
pub(super) use without::*;

/// Whether a database remembers what was attached. Without lasting databases there is never one.
#[cfg_attr(not(feature = "delta"), expect(dead_code))]
pub(super) enum Remembered {
    /// It does.
    Yes,
    /// There is no database.
    NoDatabase,
    /// It does not, for this reason.
    Not(&'static str),
}

impl Remembered {
    /// What to say beside the statement's tag.
    pub(super) fn note(&self) -> String {
        match self {
            Self::Not(why) => format!(" (not remembered: {why})"),
            _ => String::new(),
        }
    }
}

#[cfg(feature = "delta")]
mod with {
    use std::sync::Arc;
    use std::time::Duration;

    use arrow::array::RecordBatch;
    use bonnet_catalogs::delta::{
        Attachment, Database, GraphFacts, LastingCatalog, LastingSchema, LastingTable, NewTable,
    };
    use bonnet_catalogs::{FileAwareSchema, Finished};
    use bonnet_sql::RelationNode;
    use datafusion::catalog::{CatalogProvider, SchemaProvider};
    use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
    use datafusion::common::{ResolvedTableReference, TableReference};
    use datafusion::datasource::{MemTable, TableType, provider_as_source, source_as_provider};
    use datafusion::execution::SessionState;
    use datafusion::logical_expr::dml::InsertOp;
    use datafusion::logical_expr::{
        CreateMemoryTable, DdlStatement, LogicalPlan, LogicalPlanBuilder, TableSource, WriteOp,
    };
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use datafusion::prelude::DataFrame;
    use datafusion::sql::sqlparser::ast::Query;
    use futures::TryStreamExt;

    use super::super::sql;
    use super::Remembered;
    use crate::attachments::remembered;
    use crate::front::statement::Attach;
    use crate::session::Keeping;
    use crate::{Answer, Error, Result, Session};

    /// The database in which sessions start, if there is one.
    fn home(session: &Session) -> Option<LastingCatalog> {
        let catalogs = &session.engine.shared.catalogs;
        database(session, catalogs.home())
    }

    /// The database behind a catalog, if it is one.
    pub(in crate::statements) fn database(session: &Session, catalog: &str) -> Option<LastingCatalog> {
        let catalog = session.engine.shared.catalogs.inner(catalog)?;
        catalog.downcast_ref::<LastingCatalog>().cloned()
    }

    fn attachment(attach: &Attach) -> Attachment {
        Attachment {
            location: remembered(&attach.location),
            format: attach.format.clone(),
            read_only: attach.read_only,
            options: attach.options.clone(),
        }
    }

    /// Remembers an attached graph, as a schema of the database.
    pub(in crate::statements) fn remember_schema(session: &Session, attach: &Attach) -> Result<Remembered> {
        let Some(home) = home(session) else { return Ok(Remembered::NoDatabase) };
        if home.database().is_read_only() {
            return Ok(Remembered::Not("the database is open for reading alone; it is memory.NAME"));
        }
        home.attach_schema(&attach.name, attachment(attach))?;
        Ok(Remembered::Yes)
    }

    /// Remembers an attached catalog.
    pub(in crate::statements) fn remember_catalog(session: &Session, attach: &Attach) -> Result<Remembered> {
        let Some(home) = home(session) else { return Ok(Remembered::NoDatabase) };
        if home.database().is_read_only() {
            return Ok(Remembered::Not("the database is open for reading alone"));
        }
        let authority = attach.location.split_once("://").map(|(_, rest)| rest);
        let login = authority.and_then(|rest| rest.split('/').next()?.rsplit_once('@')).map(|(login, _)| login);
        if login.is_some_and(|login| login.contains(':')) {
            return Ok(Remembered::Not("the address holds a password"));
        }
        home.attach_catalog(&attach.name, attachment(attach))?;
        Ok(Remembered::Yes)
    }

    /// Forgets an attached catalog.
    pub(in crate::statements) fn forget_catalog(session: &Session, name: &str) -> Result<()> {
        if let Some(home) = home(session) {
            home.detach_catalog(name)?;
        }
        Ok(())
    }

    /// Whether a schema is there but cannot be read.
    pub(in crate::statements) fn is_broken(schema: &Arc<dyn SchemaProvider>) -> bool {
        lasting(schema).is_some_and(LastingSchema::is_broken)
    }

    fn lasting(schema: &Arc<dyn SchemaProvider>) -> Option<&LastingSchema> {
        FileAwareSchema::unwrap(schema).downcast_ref::<LastingSchema>()
    }

    /// A name with its catalog and schema, and that schema.
    fn place(state: &SessionState, name: &TableReference) -> (ResolvedTableReference, Option<Arc<dyn SchemaProvider>>) {
        let options = &state.config_options().catalog;
        let name = name.clone().resolve(&options.default_catalog, &options.default_schema);
        let catalog = state.catalog_list().catalog(&name.catalog);
        let schema = catalog.and_then(|catalog| catalog.schema(&name.schema));
        (name, schema)
    }

    /// Runs the statements that make and drop tables and views, where a database is concerned.
    pub(in crate::statements) async fn run(
        session: &Session,
        state: &SessionState,
        plan: &LogicalPlan,
        view: Option<&Query>,
        tag: &str,
    ) -> Result<Option<Answer>> {
        let LogicalPlan::Ddl(ddl) = plan else { return Ok(None) };
        let (name, kind) = match ddl {
            DdlStatement::CreateMemoryTable(create) => (&create.name, "table"),
            DdlStatement::CreateView(create) => (&create.name, "view"),
            DdlStatement::CreateExternalTable(create) => (&create.name, "table"),
            DdlStatement::DropTable(drop) => (&drop.name, "table"),
            DdlStatement::DropView(drop) => (&drop.name, "view"),
            _ => return Ok(None),
        };
        let (place, provider) = place(state, name);
        let Some(provider) = provider else { return Ok(None) };
        let Some(schema) = lasting(&provider) else { return Ok(None) };
        let table = place.table.as_ref();
        match ddl {
            DdlStatement::CreateMemoryTable(create) => {
                return create_table(session, schema, table, create, tag).await.map(Some);
            }
            DdlStatement::CreateView(create) => {
                if create.temporary {
                    return Err(Error::statement("there are no temporary views: CREATE VIEW memory.main.name"));
                }
                let Some(query) = view else {
                    return Err(Error::statement(format!("the query of the view {name} is lost")));
                };
                let options = &state.config_options().catalog;
                // Elsewhere its names would mean something else.
                if options.default_catalog != place.catalog.as_ref() {
                    return Err(Error::statement(format!(
                        "a view is made in the database that is in use: USE {}.{} first",
                        place.catalog, place.schema
                    )));
                }
                schema.create_view(table, &query.to_string(), &options.default_schema, create.or_replace)?;
            }
            DdlStatement::CreateExternalTable(_) => {
                return Err(Error::statement(format!(
                    "{name}: a database keeps no external tables; \
                     CREATE VIEW {name} AS SELECT * FROM 'file' reads the file, CREATE TABLE ... AS copies it"
                )));
            }
            DdlStatement::DropTable(_) | DdlStatement::DropView(_) => {
                let if_exists = match ddl {
                    DdlStatement::DropTable(drop) => drop.if_exists,
                    DdlStatement::DropView(drop) => drop.if_exists,
                    _ => false,
                };
                let found = schema.table_type(table).await?;
                match (found, kind) {
                    (Some(TableType::View), "table") => {
                        return Err(Error::statement(format!("{name} is a view: DROP VIEW {name}")));
                    }
                    (Some(TableType::Base), "view") => {
                        return Err(Error::statement(format!("{name} is a table: DROP TABLE {name}")));
                    }
                    (Some(_), _) => {
                        schema.drop(table)?;
                    }
                    (None, _) if if_exists => {}
                    (None, _) => return Err(Error::statement(format!("there is no {kind} {name}"))),
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(Answer::Done(tag.to_owned())))
    }

    async fn create_table(
        session: &Session,
        schema: &LastingSchema,
        table: &str,
        create: &CreateMemoryTable,
        tag: &str,
    ) -> Result<Answer> {
        let CreateMemoryTable { name, input, if_not_exists, or_replace, constraints, column_defaults, temporary } =
            create;
        if *temporary {
            return Err(Error::statement(format!(
                "there are no temporary tables: CREATE TABLE memory.main.{}, which lives as long as the engine",
                name.table()
            )));
        }
        if constraints.iter().next().is_some() {
            return Err(Error::statement(format!(
                "{name}: Delta tables keep no PRIMARY KEY and no UNIQUE: leave them out"
            )));
        }
        match (schema.table_exist(table), *if_not_exists, *or_replace) {
            (_, true, true) => return Err(Error::statement("IF NOT EXISTS and OR REPLACE exclude each other")),
            (true, true, _) => return Ok(Answer::Done(tag.to_owned())),
            (true, false, false) => {
                return Err(Error::statement(format!(
                    "the table {name} exists already: CREATE OR REPLACE TABLE, or DROP TABLE {name} first"
                )));
            }
            _ => {}
        }
        let source = input.as_ref().clone();
        let rows = sql::frame(session, source.clone());
        let declared = matches!(&source, LogicalPlan::EmptyRelation(relation) if !relation.produce_one_row);
        let columns = match declared {
            true => Arc::new(rows.schema().as_arrow().clone()),
            false => sql::nullable(rows.schema().as_arrow()),
        };
        let new = |rows| NewTable { schema: Arc::clone(&columns), rows, defaults: column_defaults.clone() };
        if runs(&source).is_none() {
            let rows = rows.execute_stream().await?;
            schema.create_table(table, new(Some(rows)), *or_replace).await?;
            return Ok(Answer::Done(tag.to_owned()));
        }
        // Finished runs are kept whatever becomes of the rest, so the table is there before them.
        schema.create_table(table, new(None), *or_replace).await?;
        let made = schema.delta_table(table).await?;
        let made = made.ok_or_else(|| Error::statement(format!("the table {name} was dropped meanwhile")))?;
        let count = keep_runs(session, &made, source, name.table()).await?;
        Ok(Answer::Done(format!("{tag} ({count} rows)")))
    }

    /// The call of `train` whose rows, under projections and filters, are those of the plan: each is worth keeping by
    /// itself.
    fn runs(plan: &LogicalPlan) -> Option<&LogicalPlan> {
        match plan {
            LogicalPlan::Projection(projection) => runs(&projection.input),
            LogicalPlan::Filter(filter) => runs(&filter.input),
            LogicalPlan::SubqueryAlias(alias) => runs(&alias.input),
            LogicalPlan::Extension(extension) => {
                let node = extension.node.as_any().downcast_ref::<RelationNode>()?;
                (node.function().name == "train").then_some(plan)
            }
            _ => None,
        }
    }

    /// Runs a plan over `train` and commits its rows as runs finish.
    async fn keep_runs(session: &Session, table: &LastingTable, plan: LogicalPlan, name: &str) -> Result<u64> {
        let Some(train) = runs(&plan).cloned() else { return Ok(0) };
        let kept = Arc::new(Finished::default());
        let finished = sql::frame(session, train).execute_stream().await?;
        // Projections and filters gather rows until a batch is full: each run goes through them by itself.
        let (state, rows_schema) = (session.state(), Arc::new(plan.schema().as_arrow().clone()));
        let rows = finished
            .and_then(move |run| {
                let plan = over(&plan, run);
                let state = state.clone();
                async move { DataFrame::new(state, plan?).execute_stream().await }
            })
            .try_flatten();
        let rows = Box::pin(RecordBatchStreamAdapter::new(rows_schema, rows));
        session.keep(Some(Keeping { rows: Arc::clone(&kept), table: name.to_owned() }));
        let count = table.keep_runs(rows, &kept).await?;
        session.keep(None);
        Ok(count)
    }

    /// The plan over these rows of `train`.
    fn over(plan: &LogicalPlan, run: RecordBatch) -> datafusion::common::Result<LogicalPlan> {
        let rows = provider_as_source(Arc::new(MemTable::try_new(run.schema(), vec![vec![run]])?));
        let scan = LogicalPlanBuilder::scan("train", rows, None)?.build()?;
        let replaced = plan.clone().transform_down(|plan| {
            Ok(match plan {
                LogicalPlan::Extension(_) => Transformed::new(scan.clone(), true, TreeNodeRecursion::Jump),
                other => Transformed::no(other),
            })
        })?;
        Ok(replaced.data)
    }

    /// The plan on the tables as they are now, which was made before.
    pub(in crate::statements) async fn renewed(plan: LogicalPlan) -> Result<LogicalPlan> {
        let mut tables: Vec<(Arc<dyn TableSource>, Arc<dyn TableSource>)> = Vec::new();
        let mut sources: Vec<Arc<dyn TableSource>> = Vec::new();
        plan.apply_with_subqueries(|plan| {
            match plan {
                LogicalPlan::TableScan(scan) => sources.push(Arc::clone(&scan.source)),
                LogicalPlan::Dml(dml) => sources.push(Arc::clone(&dml.target)),
                _ => {}
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        for source in sources {
            let Ok(provider) = source_as_provider(&source) else { continue };
            if let Some(table) = provider.downcast_ref::<LastingTable>()
                && !tables.iter().any(|(before, _)| Arc::ptr_eq(before, &source))
            {
                tables.push((source, provider_as_source(Arc::new(table.renewed().await?))));
            }
        }
        let now = |source: &mut Arc<dyn TableSource>| {
            let found = tables.iter().find(|(before, _)| Arc::ptr_eq(before, source));
            found.map(|(_, now)| *source = Arc::clone(now)).is_some()
        };
        let renewed = plan.transform_up_with_subqueries(|plan| {
            Ok(match plan {
                LogicalPlan::TableScan(mut scan) => {
                    let changed = now(&mut scan.source);
                    Transformed::new_transformed(LogicalPlan::TableScan(scan), changed)
                }
                LogicalPlan::Dml(mut dml) => {
                    let changed = now(&mut dml.target);
                    Transformed::new_transformed(LogicalPlan::Dml(dml), changed)
                }
                other => Transformed::no(other),
            })
        })?;
        Ok(renewed.data)
    }

    /// `INSERT INTO ... SELECT ... FROM train(...)` into a database: `None` for any other statement.
    pub(in crate::statements) async fn insert_runs(
        session: &Session,
        state: &SessionState,
        plan: &LogicalPlan,
    ) -> Result<Option<Answer>> {
        let LogicalPlan::Dml(dml) = plan else { return Ok(None) };
        if dml.op != WriteOp::Insert(InsertOp::Append) || runs(&dml.input).is_none() {
            return Ok(None);
        }
        let (place, schema) = place(state, &dml.table_name);
        let Some(table) = (match schema.as_ref().and_then(lasting) {
            Some(schema) => schema.delta_table(&place.table).await?,
            None => None,
        }) else {
            return Ok(None);
        };
        let count = keep_runs(session, &table, dml.input.as_ref().clone(), &place.table).await?;
        Ok(Some(Answer::Done(format!("INSERT {count}"))))
    }

    /// Makes a graph in a database, from `made`; `false` where the catalog is none.
    pub(in crate::statements) async fn create_graph(
        session: &Session,
        catalog: &str,
        name: &str,
        tables: &[(&str, Vec<RecordBatch>)],
        directed: bool,
        made: String,
        replace: bool,
    ) -> Result<bool> {
        let Some(database) = database(session, catalog) else { return Ok(false) };
        database.create_graph(name, GraphFacts { directed, generator: made }, tables, replace).await?;
        Ok(true)
    }

    /// The Delta table of this name.
    async fn delta_table(state: &SessionState, name: &[String], verb: &str) -> Result<LastingTable> {
        let reference = match name {
            [table] => TableReference::bare(table.as_str()),
            [schema, table] => TableReference::partial(schema.as_str(), table.as_str()),
            [catalog, schema, table] => TableReference::full(catalog.as_str(), schema.as_str(), table.as_str()),
            _ => return Err(Error::statement(format!("{verb}: the name of a table is expected"))),
        };
        let shown = name.join(".");
        let (place, schema) = place(state, &reference);
        let Some(schema) = schema else { return Err(Error::statement(format!("there is no table {shown}"))) };
        if let Some(lasting) = lasting(&schema)
            && let Some(table) = lasting.delta_table(&place.table).await?
        {
            return Ok(table);
        }
        Err(Error::statement(match schema.table_exist(&place.table) {
            true => format!("{verb} {shown}: it is no table of a lasting database, so there is nothing to do"),
            false => format!("there is no table {shown}"),
        }))
    }

    /// `OPTIMIZE table`.
    pub(in crate::statements) async fn optimize(session: &Session, table: &[String]) -> Result<Answer> {
        let state = session.state();
        let done = delta_table(&state, table, "OPTIMIZE").await?.optimize(&state).await?;
        Ok(Answer::Done(format!("OPTIMIZE ({} files became {})", done.removed, done.added)))
    }

    /// `VACUUM [table]`: the files that a table, or a database, no longer needs.
    pub(in crate::statements) async fn vacuum(
        session: &Session,
        table: Option<&[String]>,
        retain: Option<Duration>,
    ) -> Result<Answer> {
        let state = session.state();
        if let Some(table) = table {
            let done = delta_table(&state, table, "VACUUM").await?.vacuum(retain).await?;
            return Ok(Answer::Done(format!("VACUUM ({} files removed)", done.files)));
        }
        let name = &state.config_options().catalog.default_catalog;
        let Some(catalog) = database(session, name) else {
            return Err(Error::statement(format!(
                "VACUUM: {name} is no lasting database, so it has no files to remove; `bonnet lab.bonnet` opens one"
            )));
        };
        let database: Arc<Database> = Arc::clone(catalog.database());
        let dropped = tokio::task::spawn_blocking(move || database.remove_dropped()).await;
        let dropped = dropped.map_err(|error| Error::statement(format!("VACUUM failed: {error}")))??;
        let mut files = 0;
        for schema in catalog.schema_names() {
            let Some(provider) = catalog.schema(&schema) else { continue };
            let Some(lasting) = lasting(&provider) else { continue };
            for table in lasting.table_names() {
                if let Some(table) = lasting.delta_table(&table).await? {
                    files += table.vacuum(retain).await?.files;
                }
            }
        }
        Ok(Answer::Done(format!("VACUUM ({files} files and {dropped} dropped tables removed)")))
    }
}

#[cfg(not(feature = "delta"))]
mod without {
    use std::sync::Arc;
    use std::time::Duration;

    use arrow::array::RecordBatch;
    use datafusion::catalog::SchemaProvider;
    use datafusion::execution::SessionState;
    use datafusion::logical_expr::LogicalPlan;
    use datafusion::sql::sqlparser::ast::Query;

    use super::Remembered;
    use crate::front::statement::Attach;
    use crate::{Answer, Error, Result, Session};

    pub(in crate::statements) fn remember_schema(_: &Session, _: &Attach) -> Result<Remembered> {
        Ok(Remembered::NoDatabase)
    }

    pub(in crate::statements) fn remember_catalog(_: &Session, _: &Attach) -> Result<Remembered> {
        Ok(Remembered::NoDatabase)
    }

    pub(in crate::statements) fn forget_catalog(_: &Session, _: &str) -> Result<()> {
        Ok(())
    }

    pub(in crate::statements) fn is_broken(_: &Arc<dyn SchemaProvider>) -> bool {
        false
    }

    pub(in crate::statements) async fn run(
        _: &Session,
        _: &SessionState,
        _: &LogicalPlan,
        _: Option<&Query>,
        _: &str,
    ) -> Result<Option<Answer>> {
        Ok(None)
    }

    pub(in crate::statements) async fn renewed(plan: LogicalPlan) -> Result<LogicalPlan> {
        Ok(plan)
    }

    pub(in crate::statements) async fn insert_runs(
        _: &Session,
        _: &SessionState,
        _: &LogicalPlan,
    ) -> Result<Option<Answer>> {
        Ok(None)
    }

    pub(in crate::statements) async fn create_graph(
        _: &Session,
        _: &str,
        _: &str,
        _: &[(&str, Vec<RecordBatch>)],
        _: bool,
        _: String,
        _: bool,
    ) -> Result<bool> {
        Ok(false)
    }

    fn missing(verb: &str) -> Error {
        Error::statement(format!(
            "{verb}: this engine was built without lasting databases; build it with the feature delta"
        ))
    }

    pub(in crate::statements) async fn optimize(_: &Session, _: &[String]) -> Result<Answer> {
        Err(missing("OPTIMIZE"))
    }

    pub(in crate::statements) async fn vacuum(
        _: &Session,
        _: Option<&[String]>,
        _: Option<Duration>,
    ) -> Result<Answer> {
        Err(missing("VACUUM"))
    }
}
