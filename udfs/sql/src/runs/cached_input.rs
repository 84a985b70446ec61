//! The requests of calls to the graph cache.

use std::ops::Deref;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use bonnet_columns::KeyColumn;
use bonnet_graph::Monitor;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;

use crate::error::stopped;
use crate::graphs::GraphTables;
use crate::graphs::graph_cache::{
    CacheEntry, CachedGraph, GraphCacheAccess, GraphKey, GraphStructure, Lookup, SharedStructure,
};
use crate::graphs::table_version::{TableVersion, WholeTable};
use crate::host::Host;
use crate::runs::input_graph::InputGraph;
use crate::runs::run::Run;

/// The advice about an edge of a named graph whose end is no node.
const ADD_NODE: &str = ": add the node, or leave such edges out";

/// The request for a call's graph, by the columns of tables that it is built from.
pub(crate) struct CacheRequest {
    key: GraphKey,
    access: GraphCacheAccess,
    sources: Vec<WholeTable>,
}

impl CacheRequest {
    /// The request of a run whose first input holds the edges and whose input `nodes` the nodes, if it has any; `None`
    /// where one of them is no table as it stands, or the session caches nothing.
    pub(crate) fn new(run: &Run, ends: (&str, &str), weight: Option<&str>, nodes: Option<usize>) -> Option<Self> {
        let source = |input: usize| run.sources.get(input).cloned().flatten();
        let nodes = match nodes {
            Some(nodes) => Some(source(nodes)?),
            None => None,
        };
        Self::of_sources(run, source(0)?, nodes, ends, weight)
    }

    /// The request for the graph of these tables.
    pub(crate) fn of_sources(
        run: &Run,
        edges: WholeTable,
        nodes: Option<WholeTable>,
        (src, dst): (&str, &str),
        weight: Option<&str>,
    ) -> Option<Self> {
        let of_edges: Vec<&str> = [Some(src), Some(dst), weight].into_iter().flatten().collect();
        let mut tables = vec![(edges, of_edges)];
        tables.extend(nodes.map(|nodes| (nodes, vec!["node"])));
        Self::of_columns::<CachedGraph>(run, tables, String::new())
    }

    /// The request for what is made of these columns of tables, and of nothing else that `form` does not tell.
    fn of_columns<C: CacheEntry>(run: &Run, tables: Vec<(WholeTable, Vec<&str>)>, form: String) -> Option<Self> {
        let access = run.context().session_config().get_extension::<GraphCacheAccess>()?;
        if access.limit == 0 {
            return None;
        }
        let read = |(table, names): &(WholeTable, Vec<&str>)| -> Option<(TableVersion, Vec<String>)> {
            let columns: Option<Vec<String>> = names.iter().map(|&name| table.columns.get(name).cloned()).collect();
            Some((table.version.clone(), columns?))
        };
        let key = GraphKey::new::<C>(tables.iter().map(read).collect::<Option<_>>()?, form);
        let sources = tables.into_iter().map(|(table, _)| table).collect();
        Some(Self { key, access: access.as_ref().clone(), sources })
    }

    /// The graph, cached or as `build` reads it.
    ///
    /// # Errors
    /// Those of `build`, or if the query ends.
    pub(crate) fn graph<R: Deref<Target = Run>>(
        &self,
        mut run: R,
        build: impl FnOnce(&mut R) -> Result<InputGraph>,
    ) -> Result<InputGraph> {
        let host = Arc::clone(&run.host);
        let access = &self.access;
        let found = access.cache.get(&self.key, (&self.name(), access.limit), &host, || {
            of_reading(&host, || {
                let graph = build(&mut run)?;
                self.to_cache(graph, &run)
            })
        })?;
        match found {
            Lookup::Cached(graph) => InputGraph::of_cache(graph, access.clone(), None, &host),
            Lookup::Own(graph) => Ok(graph),
        }
    }

    /// The graph of rows that were read: with the cached nodes and undirected graph where these are of the same version,
    /// else as `build` makes it.
    ///
    /// # Errors
    /// As [`CacheRequest::graph`].
    pub(crate) fn of_rows(
        &self,
        run: &Run,
        rows: (&KeyColumn, &KeyColumn, Option<Float64Array>),
        build: impl Fn() -> Result<InputGraph>,
    ) -> Result<InputGraph> {
        if !self.is_current(run)? {
            return build();
        }
        let (host, access) = (&run.host, &self.access);
        let found = access.cache.get(&self.key, (&self.name(), access.limit), host, || self.to_cache(build()?, run))?;
        match found {
            Lookup::Cached(graph) => InputGraph::of_cache(graph, access.clone(), Some(rows), host),
            Lookup::Own(graph) => Ok(graph),
        }
    }

    /// The structure, cached or as `build` makes it.
    ///
    /// # Errors
    /// Those of `build`, or if the query ends.
    fn structure<T: GraphStructure>(
        &self,
        run: &Run,
        build: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<SharedStructure<T>>> {
        let access = &self.access;
        let found = access.cache.get(&self.key, (&self.name(), access.limit), &run.host, || {
            of_reading(&run.host, || {
                let mut structure = SharedStructure::new(build()?);
                let keep = self.is_current(run)? && structure.reserve(access.limit, run.context().memory_pool());
                Ok(if keep { Lookup::Cached(Arc::new(structure)) } else { Lookup::Own(structure) })
            })
        })?;
        Ok(match found {
            Lookup::Cached(structure) => structure,
            Lookup::Own(structure) => Arc::new(structure),
        })
    }

    /// The graph for the cache, unless its tables have changed meanwhile or there is no memory.
    fn to_cache(&self, graph: InputGraph, run: &Run) -> Result<Lookup<CachedGraph, InputGraph>> {
        if !self.is_current(run)? {
            return Ok(Lookup::Own(graph));
        }
        Ok(match graph.to_cache(run.context().memory_pool()) {
            Some(cached) => Lookup::Cached(Arc::new(cached)),
            None => Lookup::Own(graph),
        })
    }

    /// Whether the tables are still at the versions that they had before their scans were planned.
    fn is_current(&self, run: &Run) -> Result<bool> {
        run.host.check().map_err(stopped)?;
        for source in &self.sources {
            // A version that cannot be found is none.
            let version = run.wait(async { Ok(run.graphs().version(&source.table).await.unwrap_or(None)) })?;
            if version.as_ref() != Some(&source.version) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The tables as the query names them.
    fn name(&self) -> String {
        self.sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// The answer of a reading for the cache. Memory reserved for it is free again where it is cached: that of the graph itself
/// is the cache's.
fn of_reading<C, T>(host: &Host, read: impl FnOnce() -> Result<Lookup<C, T>>) -> Result<Lookup<C, T>> {
    let before = host.reserved();
    let found = read()?;
    if matches!(found, Lookup::Cached(_)) {
        host.release(host.reserved() - before);
    }
    Ok(found)
}

/// Columns of a table of a named graph.
#[derive(Debug, Clone)]
pub struct TableColumns<'a> {
    /// The table.
    pub table: &'a Arc<dyn TableProvider>,
    /// Its name in the graph.
    pub name: &'a str,
    /// The names of the columns.
    pub columns: Vec<&'a str>,
}

impl Run {
    /// The structure that `build` makes of these columns of a graph's tables, and of nothing else that `form` does not tell:
    /// cached between statements where all the tables have versions.
    ///
    /// # Errors
    /// Those of `build`, or if the query ends.
    pub fn cached<T: GraphStructure>(
        &self,
        tables: &GraphTables,
        read: &[TableColumns],
        form: String,
        build: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<SharedStructure<T>>> {
        let source = |of: &TableColumns| self.source(tables, of.name, of.table, &of.columns);
        let sources: Option<Vec<WholeTable>> = read.iter().map(source).collect::<Result<_>>()?;
        let request = sources.and_then(|sources| {
            let columns = read.iter().map(|of| of.columns.clone());
            CacheRequest::of_columns::<SharedStructure<T>>(self, sources.into_iter().zip(columns).collect(), form)
        });
        match request {
            Some(request) => request.structure(self, build),
            None => Ok(Arc::new(SharedStructure::new(build()?))),
        }
    }

    /// Columns of a graph's table, as [`Run::read_table`] reads them.
    ///
    /// # Errors
    /// As [`Run::read_table`].
    pub fn read_columns(&self, of: &TableColumns) -> Result<Vec<ArrayRef>> {
        self.read_table(of.table, of.name, &of.columns)
    }

    /// The graph of a named graph's tables, as `f(g.edges, nodes => g.nodes)` reads it: cached between statements where its
    /// tables have versions. A column `graph_id` is not looked at.
    ///
    /// # Errors
    /// If a column is missing, keys do not agree, or an edge ends at a node that `nodes` lacks.
    pub fn read_graph(&self, function: &str, tables: &GraphTables) -> Result<InputGraph> {
        let build = || {
            let edges = self.read_table(&tables.edges, "edges", &["src", "dst"])?;
            let nodes = self.read_table(&tables.nodes, "nodes", &["node"])?;
            let (src, dst) = (KeyColumn::new(&edges[0], "edges.src")?, KeyColumn::new(&edges[1], "edges.dst")?);
            let nodes = KeyColumn::new(&nodes[0], "nodes.node")?;
            self.host().reserve(24 * (src.len() + nodes.len())).map_err(stopped)?;
            InputGraph::new(function, (&src, &dst), Some((&nodes, ADD_NODE)), None, false, &self.host)
        };
        let edges = self.source(tables, "edges", &tables.edges, &["src", "dst"])?;
        let nodes = self.source(tables, "nodes", &tables.nodes, &["node"])?;
        match edges
            .zip(nodes)
            .and_then(|(edges, nodes)| CacheRequest::of_sources(self, edges, Some(nodes), ("src", "dst"), None))
        {
            Some(request) => request.graph(self, |_| build()),
            None => build(),
        }
    }

    /// A table of a graph with its version, if it has one.
    fn source(
        &self,
        tables: &GraphTables,
        name: &str,
        table: &Arc<dyn TableProvider>,
        columns: &[&str],
    ) -> Result<Option<WholeTable>> {
        let version = self.wait(async { Ok(self.graphs().version(table).await.unwrap_or(None)) })?;
        let columns = columns.iter().map(|&column| (column.to_owned(), column.to_owned()));
        Ok(version.map(|version| WholeTable {
            table: Arc::clone(table),
            name: format!("{}.{name}", tables.name),
            version,
            columns: columns.collect(),
        }))
    }
}
