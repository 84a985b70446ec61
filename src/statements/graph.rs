//! `CREATE GRAPH` and `DROP GRAPH`.

use std::sync::Arc;

use bonnet_catalogs::{EngineCatalog, GraphFacts, NewGraph};
use bonnet_graph::{Monitor, Stopped};
use bonnet_sql::{
    GeneratedGraph, GeneratorInputs, RelationNode, RunningStatement, SessionGraphs, execution_error, memory_text,
    stopped,
};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::TableReference;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::Statement as Ast;

use super::plan::plan;
use crate::{Answer, Error, ErrorKind, Raised, Result, Session};
use bonnet_dialect::syntax::statements::statement::{CreateGraph, WithSpan};

/// `CREATE GRAPH name AS generator(...)`.
pub(super) async fn create(session: &Session, create: CreateGraph) -> Result<Answer> {
    let (_, catalog, name) = place(session, &create.name)?;
    let there = is_there(session, catalog.as_ref(), &name, create.if_not_exists, create.or_replace);
    if there.map_err(|error| error.at(create.name.span))? {
        return Ok(Answer::Done("CREATE GRAPH".to_owned()));
    }
    let query = Ast::Query(Box::new(create.generator.to_query()));
    let plan = plan(session, SqlStatement::Statement(Box::new(query))).await?;
    let Some(call) = call(&plan)? else {
        return Err(Error::statement_at(
            create.generator.name.span,
            format!(
                "CREATE GRAPH {name} AS takes a generator with constants, such as cycle(5), not {}; \
                 SELECT name, signature FROM bonnet.functions WHERE kind = 'generator' lists them",
                create.generator
            ),
        ));
    };
    let tables = {
        let (graph, host) = make(session, call).await?;
        host.reserve(graph.bytes() + graph.table_bytes()).map_err(stopped)?;
        vec![("nodes", vec![graph.nodes()?]), ("edges", vec![graph.edges()?])]
    };
    let facts = GraphFacts { directed: false, generator: create.generator.to_string() };
    let created = catalog.create_graph(&name, new_graph(session, facts, tables), create.or_replace).await;
    created.map_err(|error| Error::from(error).at(create.name.span))?;
    Ok(Answer::Done("CREATE GRAPH".to_owned()))
}

/// A graph of a program's rows, see [`Session::create_graph`].
pub(crate) async fn create_of_rows(
    session: &Session,
    name: &str,
    tables: Vec<(&'static str, Vec<RecordBatch>)>,
    directed: bool,
    replace: bool,
) -> Result<()> {
    for (table, columns) in [("nodes", &["node"][..]), ("edges", &["src", "dst"])] {
        let rows = tables.iter().find(|(name, _)| *name == table).and_then(|(_, rows)| rows.first());
        let Some(rows) = rows else { return Err(Error::statement(format!("the graph {name} needs a table {table}"))) };
        if let Some(missing) = columns.iter().find(|column| rows.column_by_name(column).is_none()) {
            return Err(Error::statement(format!("the table {table} of the graph {name} needs a column {missing}")));
        }
    }
    let (_, catalog, name) = place(session, &TableReference::from(name).to_vec().into())?;
    is_there(session, catalog.as_ref(), &name, false, replace)?;
    let facts = GraphFacts { directed, generator: String::new() };
    Ok(catalog.create_graph(&name, new_graph(session, facts, tables), replace).await?)
}

/// Whether a graph need not be created, as there is a schema of its name.
///
/// # Errors
/// If there is one that is not to be replaced, or the name is another catalog's or the system's.
pub(super) fn is_there(
    session: &Session,
    catalog: &dyn EngineCatalog,
    name: &str,
    if_not_exists: bool,
    or_replace: bool,
) -> Result<bool> {
    session.engine.shared.catalogs.check_new_schema(name)?;
    match (catalog.schema_names().iter().any(|schema| schema == name), if_not_exists, or_replace) {
        (true, true, _) => Ok(true),
        (true, false, false) => {
            let advice = format!("CREATE OR REPLACE GRAPH {name}, or DROP GRAPH {name} first");
            Err(Raised::new(ErrorKind::AlreadyExists, format!("the schema {name} exists already"))
                .advise(advice)
                .into())
        }
        _ => Ok(false),
    }
}

/// The tables of a new graph, which reserve the session's memory where they stay in memory.
pub(super) fn new_graph(
    session: &Session,
    facts: GraphFacts,
    tables: Vec<(&'static str, Vec<RecordBatch>)>,
) -> NewGraph {
    NewGraph { facts, tables, memory: Arc::clone(&session.engine.shared.environment.memory_pool) }
}

/// `DROP GRAPH [IF EXISTS] name`: a graph with all its tables.
pub(super) async fn drop(session: &Session, name: &WithSpan<Vec<String>>, if_exists: bool) -> Result<Answer> {
    let at = name.span;
    let refuse = |text: String| Err(Error::statement_at(at, text));
    let (_, catalog, name) = place(session, name)?;
    match catalog.schema(&name) {
        Some(graph) if graph.dataset().is_some() => {
            return refuse(format!(
                "{name} is attached, not made here: DETACH it (a graph of an attached folder goes with the folder)"
            ));
        }
        Some(graph) if graph.table_exist("nodes") && graph.table_exist("edges") => {
            catalog.drop_schema(&name, true).map_err(|error| Error::from(error).at(at))?;
        }
        Some(_) => {
            return refuse(format!(
                "{name} is a schema but no graph: it lacks nodes or edges; DROP SCHEMA {name} CASCADE drops it"
            ));
        }
        None if if_exists => {}
        None => return refuse(format!("there is no graph {name}; SELECT graph FROM bonnet.graphs lists them")),
    }
    Ok(Answer::Done("DROP GRAPH".to_owned()))
}

/// The catalog of a graph or schema, by name and itself, and the name of the graph.
///
/// # Errors
/// If there is no such catalog.
pub(super) fn place(
    session: &Session,
    name: &WithSpan<Vec<String>>,
) -> Result<(String, Arc<dyn EngineCatalog>, String)> {
    let refuse = |text: String| Err(Error::statement_at(name.span, text));
    let state = session.state();
    let default = &state.config_options().catalog.default_catalog;
    let (catalog, graph) = match name.as_slice() {
        [graph] => (default.as_str(), graph),
        [catalog, graph] => (catalog.as_str(), graph),
        _ => return refuse(format!("{}: a graph is named g or catalog.g", name.join("."))),
    };
    let catalogs = &session.engine.shared.catalogs;
    match catalogs.get(catalog) {
        Some(found) => Ok((catalog.to_owned(), found, graph.clone())),
        None => refuse(format!("there is no catalog {catalog}; there are: {}", catalogs.names().join(", "))),
    }
}

/// The one call of a generator in the plan, with what it reads.
fn call(plan: &LogicalPlan) -> Result<Option<RelationNode>> {
    let mut found = None;
    plan.apply(|plan| {
        if let LogicalPlan::Extension(extension) = plan
            && let Some(node) = extension.node.as_any().downcast_ref::<RelationNode>()
        {
            found = Some(node.clone()).filter(|node| node.generator().is_some());
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// The inputs of a generator: its relations, and the tables of its graph. Their memory is reserved.
async fn inputs(session: &Session, call: &RelationNode, host: &Host) -> Result<GeneratorInputs> {
    let mut inputs = GeneratorInputs::default();
    let state = session.state();
    for (parameter, relation) in call.relations() {
        let rows = DataFrame::new(state.clone(), relation.clone()).collect().await?;
        host.reserve(rows.iter().map(RecordBatch::get_array_memory_size).sum()).map_err(stopped)?;
        inputs.insert(parameter, rows);
    }
    if let Some((generator, options)) = call.generator() {
        let (graphs, context) = (SessionGraphs::new(&state), Arc::new(TaskContext::from(&state)));
        inputs.read_graph(call.function(), generator.as_ref(), options, &graphs, &context).await?;
        let rows = ["nodes", "edges"].iter().filter_map(|table| inputs.get(table)).flatten();
        host.reserve(rows.map(RecordBatch::get_array_memory_size).sum()).map_err(stopped)?;
    }
    Ok(inputs)
}

/// Generates on a blocking thread, in the kernels' pool. What was reserved for it is given back.
async fn make(session: &Session, call: RelationNode) -> Result<(GeneratedGraph, Host)> {
    let pool = Arc::clone(&session.engine.shared.kernels);
    let host = Host::new(session);
    let inputs = inputs(session, &call, &host).await?;
    let work = move || {
        let Some((generator, options)) = call.generator() else {
            return Err(execution_error("CREATE GRAPH: the call makes no graph"));
        };
        let graph = pool.install(|| generator.generate(options, &inputs, &host))?;
        std::mem::drop(inputs);
        host.release(host.memory.size());
        Ok((graph, host))
    };
    let made = tokio::task::spawn_blocking(work).await;
    Ok(made.map_err(|error| execution_error(format!("the generator failed: {error}")))??)
}

/// The session's pool as a kernel's host. The kernel stops once nobody waits for the statement.
pub(super) struct Host {
    memory: MemoryReservation,
    statement: Option<Arc<RunningStatement>>,
}

impl Host {
    /// The host of the running statement.
    pub fn new(session: &Session) -> Self {
        let memory = MemoryConsumer::new("CREATE GRAPH").register(&session.state().runtime_env().memory_pool);
        Self { memory, statement: RunningStatement::current() }
    }
}

impl Monitor for Host {
    fn check(&self) -> Result<(), Stopped> {
        match &self.statement {
            Some(statement) if statement.is_cancelled() => Err(Stopped::Cancelled),
            _ => Ok(()),
        }
    }

    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        self.memory.try_grow(bytes).map_err(|error| {
            Stopped::OutOfMemory(format!(
                "CREATE GRAPH: no room for {bytes} bytes more. {}. Raise --memory-limit, or make a smaller graph",
                memory_text(&error)
            ))
        })
    }

    fn release(&self, bytes: usize) {
        self.memory.shrink(bytes.min(self.memory.size()));
    }
}
