//! `CREATE GRAPH` and `DROP GRAPH`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bonnet_catalogs::{FileAwareSchema, GraphSchema, MemoryTable};
use bonnet_graph::{Monitor, Stopped};
use bonnet_sql::{Generator, Options, RelationNode, execution_error, memory_text};
use datafusion::catalog::{CatalogProvider, MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast::Statement as Ast;

use super::sql::plan;
use crate::front::statement::CreateGraph;
use crate::{Answer, Error, Result, Session};

/// `CREATE GRAPH name AS generator(...)`.
pub(super) async fn create(session: &Session, create: CreateGraph) -> Result<Answer> {
    let (catalog, name) = place(session, &create.name)?;
    let exists = catalog.schema_names().contains(&name);
    match (exists, create.if_not_exists, create.or_replace) {
        (true, true, _) => return Ok(Answer::Done("CREATE GRAPH".to_owned())),
        (true, false, false) => {
            return Err(Error::statement(format!(
                "the schema {name} exists already: CREATE OR REPLACE GRAPH {name}, or DROP GRAPH {name} first"
            )));
        }
        _ => {}
    }
    let query = Ast::Query(Box::new(create.generator.to_query()));
    let plan = plan(session, SqlStatement::Statement(Box::new(query))).await?;
    let Some((generator, options)) = generator(&plan)? else {
        return Err(Error::statement(format!(
            "CREATE GRAPH {name} AS takes a generator with constants, such as cycle(5), not {}; \
             SELECT name, signature FROM bonnet.functions WHERE kind = 'generator' lists them",
            create.generator
        )));
    };
    let schema = make(session, generator, options).await?;
    if exists {
        catalog.deregister_schema(&name, true)?;
    }
    catalog.register_schema(&name, schema)?;
    Ok(Answer::Done("CREATE GRAPH".to_owned()))
}

/// `DROP GRAPH [IF EXISTS] name`: a graph with all its tables.
pub(super) async fn drop(session: &Session, name: &[String], if_exists: bool) -> Result<Answer> {
    let (catalog, name) = place(session, name)?;
    let graph = catalog.schema_names().contains(&name).then(|| catalog.schema(&name)).flatten();
    match graph {
        Some(graph) if FileAwareSchema::unwrap(&graph).downcast_ref::<GraphSchema>().is_some() => {
            return Err(Error::statement(format!(
                "{name} is attached, not made here: DETACH it (a graph of an attached folder goes with the folder)"
            )));
        }
        Some(graph) if graph.table_exist("nodes") && graph.table_exist("edges") => {
            catalog.deregister_schema(&name, true)?;
        }
        Some(_) => {
            return Err(Error::statement(format!(
                "{name} is a schema but no graph: it lacks nodes or edges; DROP SCHEMA {name} CASCADE drops it"
            )));
        }
        None if if_exists => {}
        None => {
            return Err(Error::statement(format!(
                "there is no graph {name}; SELECT graph FROM bonnet.graphs lists them"
            )));
        }
    }
    Ok(Answer::Done("DROP GRAPH".to_owned()))
}

/// The catalog and the name of a graph that is to be made or dropped.
fn place(session: &Session, name: &[String]) -> Result<(Arc<dyn CatalogProvider>, String)> {
    let state = session.state();
    let default = &state.config_options().catalog.default_catalog;
    let (catalog, graph) = match name {
        [graph] => (default.as_str(), graph),
        [catalog, graph] => (catalog.as_str(), graph),
        _ => return Err(Error::statement(format!("{}: a graph is named g or catalog.g", name.join(".")))),
    };
    match state.catalog_list().catalog(catalog) {
        Some(catalog) => Ok((catalog, graph.clone())),
        None => Err(Error::statement(format!(
            "there is no catalog {catalog}; there are: {}",
            state.catalog_list().catalog_names().join(", ")
        ))),
    }
}

/// The one generator of the plan and its constants.
fn generator(plan: &LogicalPlan) -> Result<Option<(Arc<dyn Generator>, Options)>> {
    let mut found = None;
    plan.apply(|plan| {
        if let LogicalPlan::Extension(extension) = plan
            && let Some(node) = extension.node.as_any().downcast_ref::<RelationNode>()
        {
            found = node.generator().map(|(generator, options)| (Arc::clone(generator), options.clone()));
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// Generates on a blocking thread, in the kernels' pool.
async fn make(session: &Session, generator: Arc<dyn Generator>, options: Options) -> Result<Arc<dyn SchemaProvider>> {
    let state = session.state();
    let pool = Arc::clone(&session.engine.shared.kernels);
    let dropped = StopOnDrop(Arc::default());
    let host = Host {
        memory: MemoryConsumer::new("CREATE GRAPH").register(&state.runtime_env().memory_pool),
        stopped: Arc::clone(&dropped.0),
    };
    let work = move || {
        let graph = pool.install(|| generator.generate(&options, &host))?;
        Ok::<_, datafusion::error::DataFusionError>((graph.nodes()?, graph.edges()?))
    };
    let made = tokio::task::spawn_blocking(work).await;
    let (nodes, edges) = made.map_err(|error| execution_error(format!("the generator failed: {error}")))??;
    let schema = MemorySchemaProvider::new();
    for (name, batch) in [("nodes", nodes), ("edges", edges)] {
        let table: Arc<dyn TableProvider> = Arc::new(MemoryTable::of(name, batch, &state.runtime_env().memory_pool)?);
        schema.register_table(name.to_owned(), table)?;
    }
    Ok(Arc::new(schema))
}

/// Tells the generator to stop when nobody waits for the statement any more.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The session's pool as a kernel's host.
struct Host {
    memory: MemoryReservation,
    stopped: Arc<AtomicBool>,
}

impl Monitor for Host {
    fn check(&self) -> Result<(), Stopped> {
        if self.stopped.load(Ordering::Relaxed) { Err(Stopped::Cancelled) } else { Ok(()) }
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
