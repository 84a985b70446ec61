//! The requests of calls to the graph cache.

use std::ops::Deref;
use std::sync::Arc;

use arrow::array::Float64Array;
use bonnet_graph::Monitor;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;

use crate::error::stopped;
use crate::graph_cache::{GraphCacheAccess, GraphKey, Lookup};
use crate::graphs::GraphTables;
use crate::input_graph::InputGraph;
use crate::keys::KeyColumn;
use crate::run::Run;
use crate::table_version::{TableVersion, WholeTable};

/// What to do about an edge of a named graph whose end is no node.
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
        let access = run.context().session_config().get_extension::<GraphCacheAccess>()?;
        if access.limit == 0 {
            return None;
        }
        let column = |source: &WholeTable, name: &str| source.columns.get(name).cloned();
        let of_nodes = |nodes: &WholeTable| -> Option<(TableVersion, String)> {
            Some((nodes.version.clone(), column(nodes, "node")?))
        };
        let weight = match weight {
            Some(weight) => Some(column(&edges, weight)?),
            None => None,
        };
        let of_nodes = match &nodes {
            Some(nodes) => Some(of_nodes(nodes)?),
            None => None,
        };
        let (src, dst) = (column(&edges, src)?, column(&edges, dst)?);
        let key = GraphKey { edges: edges.version.clone(), src, dst, weight, nodes: of_nodes };
        let sources = std::iter::once(edges).chain(nodes).collect();
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
            let before = host.reserved();
            let graph = build(&mut run)?;
            let found = self.to_cache(graph, &run)?;
            if matches!(found, Lookup::Cached(_)) {
                // Memory reserved for reading is free again: that of the graph itself is the cache's.
                host.release(host.reserved() - before);
            }
            Ok(found)
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

    /// The graph for the cache, unless its tables have changed meanwhile or there is no memory.
    fn to_cache(&self, graph: InputGraph, run: &Run) -> Result<Lookup<InputGraph>> {
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

impl Run {
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
