//! From a graph's name to its tables: for names in options (`graph_profile(cora)`) and in rows (`train`'s `graph`).

pub(crate) mod database_files;
pub(crate) mod graph_cache;
pub(crate) mod table_version;

use std::fmt::Debug;
use std::sync::Arc;

use datafusion::catalog::{CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion::prelude::{DataFrame, SessionContext};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde::{Deserialize, Serialize};

use crate::error::usage_error;
use crate::graphs::table_version::TableVersion;

/// The reference to a graph in an encoded plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GraphRef {
    /// The graph's name: its schema, behind its catalog where that is not the session's.
    pub name: String,
    /// The reader of its files, or `tables` for a schema of tables and views.
    pub format: String,
    /// Where its files are; empty for tables and views.
    pub location: String,
    /// Changes when the files do.
    pub version: String,
}

/// The providers of a graph's tables.
#[derive(Debug, Clone)]
pub struct GraphTables {
    /// The graph's name.
    pub name: String,
    /// `nodes`.
    pub nodes: Arc<dyn TableProvider>,
    /// `edges`.
    pub edges: Arc<dyn TableProvider>,
    /// `splits`, where there are some.
    pub splits: Option<Arc<dyn TableProvider>>,
    /// `graphs`, where the schema is a collection of graphs.
    pub graphs: Option<Arc<dyn TableProvider>>,
    /// Whether the publisher's rows are arcs; `None` where that is unknown.
    pub directed: Option<bool>,
    /// A sentence about features that the publisher's files lack, for the error of a function that needs them.
    pub missing: Option<String>,
}

/// Finds the graphs of a session.
///
/// Its futures have one lifetime, and no `async_trait` around them: its bounds between lifetimes make the compiler prove
/// again for each type inside a plan that threads may share it, which took most of a minute.
pub trait GraphResolver: Debug + Send + Sync {
    /// The names of all graphs, in order; those in the session's catalog without its name.
    fn names(&self) -> Vec<String>;

    /// The tables of a graph.
    ///
    /// # Errors
    /// If there is no such graph; the error lists those there are.
    fn tables<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<GraphTables>>;

    /// Reads columns of a table of a graph.
    fn read<'a>(
        &'a self,
        table: &'a Arc<dyn TableProvider>,
        columns: &'a [&'a str],
        context: &'a Arc<TaskContext>,
    ) -> BoxFuture<'a, Result<SendableRecordBatchStream>>;

    /// The references to all graphs, for an encoded plan.
    fn references(&self) -> Vec<GraphRef>;

    /// The version of the rows that a scan of a table would read now; `None` where its provider knows none.
    fn version<'a>(&'a self, _table: &'a Arc<dyn TableProvider>) -> BoxFuture<'a, Result<Option<TableVersion>>> {
        ready(Ok(None)).boxed()
    }
}

/// Finds the version of a table's rows.
pub type FindVersion = dyn for<'a> Fn(&'a Arc<dyn TableProvider>, &'a SessionState) -> BoxFuture<'a, Result<Option<TableVersion>>>
    + Send
    + Sync;

/// The session's look-up of table versions. An extension of the session's configuration.
pub struct TableVersions(pub Box<FindVersion>);

/// Finds the facts of a schema, `None` where it has none beyond its tables. The session's resolver finds it through
/// [`GraphSchemas`].
pub type DescribeSchema = dyn Fn(&dyn SchemaProvider) -> Option<SchemaFacts> + Send + Sync;

/// The facts about a schema that its tables do not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchemaFacts {
    /// The reader of its files.
    pub format: String,
    /// Where its files are.
    pub location: String,
    /// Changes when the files do.
    pub version: String,
    /// Whether the publisher's rows are arcs.
    pub directed: Option<bool>,
    /// A sentence about features that the files lack.
    pub missing: Option<String>,
}

/// The session's look-up of the facts of schemas. An extension of the session's configuration.
pub struct GraphSchemas(pub Box<DescribeSchema>);

/// The graphs of a session: every schema that has `nodes` and `edges`.
pub struct SessionGraphs {
    state: SessionState,
}

impl SessionGraphs {
    /// The graphs that this state sees.
    pub fn new(state: &SessionState) -> Self {
        Self { state: state.clone() }
    }

    fn default_catalog(&self) -> &str {
        &self.state.config_options().catalog.default_catalog
    }

    fn facts(&self, schema: &dyn SchemaProvider) -> SchemaFacts {
        let described = self.state.config().get_extension::<GraphSchemas>().and_then(|schemas| (schemas.0)(schema));
        described.unwrap_or_else(|| SchemaFacts { format: "tables".to_owned(), ..SchemaFacts::default() })
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        self.named(name).filter(|schema| is_graph(schema.as_ref()))
    }

    /// The schema of this name, whether it is a graph or not.
    fn named(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let catalogs: &Arc<dyn CatalogProviderList> = self.state.catalog_list();
        match split_graph_name(name).as_slice() {
            [schema] => catalogs.catalog(self.default_catalog())?.schema(schema),
            [catalog, schema] => catalogs.catalog(catalog)?.schema(schema),
            _ => None,
        }
    }
}

/// The tables that make a schema a graph, with the columns that they need.
const TABLES: [(&str, &str); 2] = [("nodes", "node"), ("edges", "src, dst")];

fn is_graph(schema: &dyn SchemaProvider) -> bool {
    TABLES.iter().all(|(table, _)| schema.table_exist(table))
}

/// Why a schema with one of the tables of a graph is none.
fn half_a_graph(name: &str, schema: &dyn SchemaProvider) -> Option<String> {
    let (has, lacks): (Vec<_>, Vec<_>) = TABLES.iter().partition(|(table, _)| schema.table_exist(table));
    let ([(has, _)], [(table, columns)]) = (has.as_slice(), lacks.as_slice()) else { return None };
    Some(format!(
        "the schema {name} has {has} and no table {table}, so it is no graph; {table} has the columns {columns}"
    ))
}

/// The parts of a graph's name: `cora`, `c.cora`, `"a.b"`. A part in double quotes is taken as it stands.
pub fn split_graph_name(name: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut quoted = false;
    for c in name.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts
}

/// The name of a graph of these parts, as [`split_graph_name`] reads it.
pub(crate) fn graph_name(parts: &[String]) -> String {
    let part = |part: &String| if part.contains('.') { format!("\"{part}\"") } else { part.clone() };
    parts.iter().map(part).collect::<Vec<_>>().join(".")
}

impl Debug for SessionGraphs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionGraphs").finish_non_exhaustive()
    }
}

impl GraphResolver for SessionGraphs {
    fn names(&self) -> Vec<String> {
        let catalogs = self.state.catalog_list();
        let mut names = Vec::new();
        for catalog_name in catalogs.catalog_names() {
            let Some(catalog) = catalogs.catalog(&catalog_name) else { continue };
            for schema_name in catalog.schema_names() {
                if catalog.schema(&schema_name).is_some_and(|schema| is_graph(schema.as_ref())) {
                    names.push(match catalog_name == self.default_catalog() {
                        true => schema_name,
                        false => format!("{catalog_name}.{schema_name}"),
                    });
                }
            }
        }
        names.sort();
        names
    }

    fn tables<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<GraphTables>> {
        async move {
            let Some(schema) = self.schema(name) else {
                let names = self.names();
                let known = match names.len() {
                    0 => "there is none yet: ATTACH 'path' AS name, or CREATE GRAPH name AS generator(...)".to_owned(),
                    _ => format!("there are: {}", names.join(", ")),
                };
                let half = self.named(name).and_then(|schema| half_a_graph(name, schema.as_ref()));
                return usage_error(half.unwrap_or_else(|| format!("there is no graph {name}; {known}")));
            };
            let lost = |table| DataFusionError::Plan(format!("the graph {name} has lost its table {table}"));
            let facts = self.facts(schema.as_ref());
            Ok(GraphTables {
                name: name.to_owned(),
                nodes: schema.table("nodes").await?.ok_or_else(|| lost("nodes"))?,
                edges: schema.table("edges").await?.ok_or_else(|| lost("edges"))?,
                splits: if schema.table_exist("splits") { schema.table("splits").await? } else { None },
                graphs: if schema.table_exist("graphs") { schema.table("graphs").await? } else { None },
                directed: facts.directed,
                missing: facts.missing,
            })
        }
        .boxed()
    }

    fn read<'a>(
        &'a self,
        table: &'a Arc<dyn TableProvider>,
        columns: &'a [&'a str],
        context: &'a Arc<TaskContext>,
    ) -> BoxFuture<'a, Result<SendableRecordBatchStream>> {
        async move {
            let session = SessionContext::new_with_state(self.state.clone());
            let frame: DataFrame = session.read_table(Arc::clone(table))?.select_columns(columns)?;
            let plan = frame.create_physical_plan().await?;
            let plan: Arc<dyn ExecutionPlan> = match plan.output_partitioning().partition_count() {
                1 => plan,
                _ => Arc::new(CoalescePartitionsExec::new(plan)),
            };
            plan.execute(0, Arc::clone(context))
        }
        .boxed()
    }

    fn references(&self) -> Vec<GraphRef> {
        let reference = |name: String| {
            let facts = self.schema(&name).map(|schema| self.facts(schema.as_ref())).unwrap_or_default();
            GraphRef { name, format: facts.format, location: facts.location, version: facts.version }
        };
        self.names().into_iter().map(reference).collect()
    }

    fn version<'a>(&'a self, table: &'a Arc<dyn TableProvider>) -> BoxFuture<'a, Result<Option<TableVersion>>> {
        match self.state.config().get_extension::<TableVersions>() {
            Some(versions) => async move { (versions.0)(table, &self.state).await }.boxed(),
            None => ready(Ok(None)).boxed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{graph_name, split_graph_name};

    #[test]
    fn names_split_at_dots_outside_quotes() {
        assert_eq!(split_graph_name("cora"), ["cora"]);
        assert_eq!(split_graph_name("c.cora"), ["c", "cora"]);
        assert_eq!(split_graph_name("\"a.b\".c"), ["a.b", "c"]);
        assert_eq!(graph_name(&split_graph_name("\"My Graph\"")), "My Graph");
        assert_eq!(graph_name(&split_graph_name("\"a.b\".\"c\"")), "\"a.b\".c");
    }
}
