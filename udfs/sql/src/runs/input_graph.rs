//! One graph of an input, as relation operators and edge functions receive it.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, RecordBatch, UInt32Array, new_null_array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{filter, take};
use arrow::datatypes::DataType;
use bonnet_columns::{KeyColumn, KeyIndex, whole_column};
use bonnet_graph::{Graph, Monitor, Stopped};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::execution::memory_pool::MemoryPool;

use crate::error::{execution_error, stopped};
use crate::graphs::graph_cache::{CachedGraph, GraphCacheAccess};
use crate::host::Host;
use crate::runs::run::Run;

/// One graph of an input: its nodes in the order of their keys, and its rows as pairs of their numbers. The undirected
/// simple graph of the rows is built when it is first asked for.
pub struct InputGraph {
    /// The value of `graph_id`, or of what the rows are partitioned by, as one row; `None` where the input has no such
    /// column.
    pub id: Option<ArrayRef>,
    /// The nodes' keys.
    pub keys: Arc<KeyIndex>,
    arcs: Arc<Vec<(u32, u32)>>,
    /// The rows that have both ends; `None` where all have.
    with_ends: Option<BooleanBuffer>,
    weights: Option<Float64Array>,
    graph: Arc<OnceLock<Graph>>,
    /// Whether the graph is in a file, and there are no rows.
    on_disk: bool,
    /// The cached nodes and undirected graph, and the session's access to the cache, where they are cached.
    cached: Option<(Arc<CachedGraph>, GraphCacheAccess)>,
    host: Arc<Host>,
}

impl InputGraph {
    /// The graph of two key columns, and of `nodes` where given: then every end has to be among them, and an error says
    /// what to do about one that is not.
    ///
    /// `sorted` puts the arcs in order: that of the rows means nothing.
    ///
    /// # Errors
    /// If keys do not agree, or an end is not among `nodes`.
    pub(crate) fn new(
        function: &str,
        (src, dst): (&KeyColumn, &KeyColumn),
        nodes: Option<(&KeyColumn, &str)>,
        weights: Option<Float64Array>,
        sorted: bool,
        host: &Arc<Host>,
    ) -> Result<Self> {
        let keys = match nodes {
            None => KeyIndex::new(&[("src", src), ("dst", dst)])?,
            Some((nodes, _)) => {
                same_form(nodes, (src, dst))?;
                KeyIndex::new(&[("nodes.node", nodes)])?
            }
        };
        let (mut arcs, with_ends) = keys.arcs(src, dst);
        let mut weights = of_arcs(weights, with_ends.as_ref())?;
        if let Some((nodes, remedy)) = nodes
            && with_ends.is_some()
        {
            known(function, &keys, nodes, (src, dst), remedy)?;
        }
        if sorted {
            sort(&mut arcs, &mut weights);
        }
        let (keys, arcs, host) = (Arc::new(keys), Arc::new(arcs), Arc::clone(host));
        Ok(Self { id: None, keys, arcs, with_ends, weights, graph: Arc::default(), on_disk: false, cached: None, host })
    }

    /// A graph without its rows, whose memory is reserved here.
    ///
    /// # Errors
    /// If there is not the memory for what of it is no file.
    pub(crate) fn of_file(keys: KeyIndex, graph: Graph, host: &Arc<Host>) -> Result<Self> {
        host.reserve(graph.resident_bytes()).map_err(stopped)?;
        Ok(Self {
            id: None,
            keys: Arc::new(keys),
            arcs: Arc::default(),
            with_ends: None,
            weights: None,
            graph: Arc::new(OnceLock::from(graph)),
            on_disk: true,
            cached: None,
            host: Arc::clone(host),
        })
    }

    /// A graph that is cached; with `rows` the edges are these rows, of which the cache knows the nodes and the undirected
    /// graph.
    ///
    /// # Errors
    /// Those of Arrow.
    pub(crate) fn of_cache(
        graph: Arc<CachedGraph>,
        access: GraphCacheAccess,
        rows: Option<(&KeyColumn, &KeyColumn, Option<Float64Array>)>,
        host: &Arc<Host>,
    ) -> Result<Self> {
        let (arcs, with_ends, weights) = match rows {
            None => (Arc::clone(&graph.arcs), None, graph.weights.clone()),
            Some((src, dst, weights)) => {
                let (arcs, with_ends) = graph.keys.arcs(src, dst);
                let weights = of_arcs(weights, with_ends.as_ref())?;
                (Arc::new(arcs), with_ends, weights)
            }
        };
        let (keys, undirected) = (Arc::clone(&graph.keys), Arc::clone(&graph.graph));
        let (cached, host) = (Some((graph, access)), Arc::clone(host));
        Ok(Self { id: None, keys, arcs, with_ends, weights, graph: undirected, on_disk: false, cached, host })
    }

    /// The part of the graph that is cached, if the pool has room for it.
    pub(crate) fn to_cache(&self, pool: &Arc<dyn MemoryPool>) -> Option<CachedGraph> {
        if self.on_disk {
            return None;
        }
        CachedGraph::new(Arc::clone(&self.keys), Arc::clone(&self.arcs), self.weights.clone(), pool)
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.keys.len()
    }

    /// The rows that have both ends, as they stand: with repeats, loops and their direction. None where the graph is larger than memory
    /// and the call reads the graph alone ([`GraphInput::graph_alone`](crate::GraphInput::graph_alone)).
    pub fn arcs(&self) -> &[(u32, u32)] {
        debug_assert!(!self.on_disk, "a call that says it reads the graph alone asks for rows");
        &self.arcs
    }

    /// A column with a value for every row from one for each of [`InputGraph::arcs`]: NULL for a row without both ends.
    pub(crate) fn by_row(&self, values: ArrayRef) -> Result<ArrayRef> {
        let Some(with_ends) = &self.with_ends else { return Ok(values) };
        let mut next = 0..;
        let places = with_ends.iter().map(|ends| if ends { next.next() } else { None });
        Ok(take(&values, &places.collect::<UInt32Array>(), None)?)
    }

    /// The weight of each of [`InputGraph::arcs`], where the call names a column of weights.
    pub fn weights(&self) -> Option<&Float64Array> {
        self.weights.as_ref()
    }

    /// The undirected simple graph of the rows: built and its memory reserved by the first call, O(n + m).
    ///
    /// # Errors
    /// If memory runs out, or the query has ended.
    pub fn graph(&self) -> Result<&Graph> {
        if self.graph.get().is_none() {
            let bytes = self.graph_bytes();
            self.reserve_graph(bytes).map_err(stopped)?;
            let graph = Graph::from_edges(self.n_nodes(), &self.arcs);
            match (self.graph.set(graph), &self.cached) {
                (Ok(()), Some((_, access))) => access.cache.trim(access.limit),
                (Ok(()), None) => {}
                // Another thread was faster.
                (Err(_), Some((cached, _))) => cached.release(bytes),
                (Err(_), None) => self.host.release(bytes),
            }
        }
        Ok(self.graph.get_or_init(|| unreachable!("set above")))
    }

    /// A structure that a function derives from the graph, by its type: where the graph is cached, `build` is called once
    /// for all calls, and the structure is kept as long as the graph; it takes `bytes` of memory then.
    /// It may depend on the nodes, the set of the rows and their weights, and on nothing else.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn part<T: Any + Send + Sync, E>(
        &self,
        bytes: impl FnOnce(&T) -> usize,
        build: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let Some((cached, access)) = &self.cached else { return Ok(Arc::new(build()?)) };
        if let Some(part) = cached.part() {
            return Ok(part);
        }
        let part = Arc::new(build()?);
        cached.keep(&part, bytes(&part));
        access.cache.trim(access.limit);
        Ok(part)
    }

    fn reserve_graph(&self, bytes: usize) -> Result<(), Stopped> {
        match &self.cached {
            Some((cached, _)) => {
                self.host.check()?;
                cached.reserve(self.host.function(), bytes)
            }
            None => self.host.reserve(bytes),
        }
    }

    fn graph_bytes(&self) -> usize {
        if let Some(graph) = self.graph.get().filter(|_| self.on_disk) {
            return graph.resident_bytes();
        }
        Graph::bytes(self.n_nodes(), self.arcs.len())
    }

    /// Emits rows about this graph: `graph_id` where the input has one, then these columns, all of one length.
    ///
    /// # Errors
    /// If the query is cancelled.
    pub fn emit(&self, run: &Run, columns: Vec<ArrayRef>) -> Result<()> {
        let rows = columns.first().map_or(0, |column| column.len());
        let zeros = UInt32Array::from(vec![0u32; rows]);
        let id = self.id.as_ref().map(|id| take(id, &zeros, None)).transpose()?;
        run.emit_all(id.into_iter().chain(columns).collect())
    }

    /// Emits a row for each node: `graph_id` where the input has one, the key, and these columns.
    ///
    /// # Errors
    /// If the query is cancelled.
    pub fn emit_nodes(&self, run: &Run, columns: Vec<ArrayRef>) -> Result<()> {
        self.emit(run, std::iter::once(self.keys.array()).chain(columns).collect())
    }

    /// `text`, and which graph of the input it is about.
    pub fn describe(&self, text: String) -> String {
        match self.id.as_ref().and_then(|id| ScalarValue::try_from_array(id, 0).ok()) {
            Some(id) => format!("{text} of the graph {id}"),
            None => text,
        }
    }

    /// An error with the graph that it is about, where the input has several.
    pub fn context(&self, error: DataFusionError) -> DataFusionError {
        match &self.id {
            Some(id) => {
                let id = KeyColumn::new(id, "graph_id").map_or("?".to_owned(), |id| id.describe(0));
                error.context(format!("graph_id {id}"))
            }
            None => error,
        }
    }
}

/// Fails where nodes and the ends of edges have keys of different forms, which the index of the nodes alone would not see.
fn same_form(nodes: &KeyColumn, (src, dst): (&KeyColumn, &KeyColumn)) -> Result<()> {
    match nodes.data_type() == src.data_type() {
        true => Ok(()),
        false => KeyIndex::new(&[("nodes.node", nodes), ("src", src), ("dst", dst)]).map(drop),
    }
}

/// Fails where an end of an edge is not among the nodes; `remedy` says what to do.
pub(crate) fn known(
    function: &str,
    keys: &KeyIndex,
    nodes: &KeyColumn,
    (src, dst): (&KeyColumn, &KeyColumn),
    remedy: &str,
) -> Result<()> {
    same_form(nodes, (src, dst))?;
    for (column, name) in [(src, "src"), (dst, "dst")] {
        if let Some(row) = keys.first_unknown(column) {
            return Err(execution_error(format!(
                "{function}: an edge ends at node {} ({name}), which nodes lacks{remedy}",
                column.describe(row)
            )));
        }
    }
    Ok(())
}

/// A column of keys in one piece; `what` names it in errors.
pub(crate) fn key_column(batches: &[RecordBatch], name: &str, what: &str) -> Result<KeyColumn> {
    let column = whole_column(batches, name)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0));
    KeyColumn::new(&column, what)
}

/// The weights of the rows that have both ends.
fn of_arcs(weights: Option<Float64Array>, with_ends: Option<&BooleanBuffer>) -> Result<Option<Float64Array>> {
    match (&weights, with_ends) {
        (Some(weights), Some(with_ends)) => {
            Ok(Some(filter(weights, &BooleanArray::new(with_ends.clone(), None))?.as_primitive().clone()))
        }
        _ => Ok(weights),
    }
}

/// Sorts arcs, and equal ones by their weights.
fn sort(arcs: &mut [(u32, u32)], weights: &mut Option<Float64Array>) {
    let Some(column) = weights else { return arcs.sort_unstable() };
    let mut rows: Vec<_> = arcs.iter().copied().zip(column.iter()).collect();
    let number = |weight: Option<f64>| (weight.is_some(), weight.unwrap_or_default());
    rows.sort_unstable_by(|(a, v), (b, w)| {
        let ((v_there, v), (w_there, w)) = (number(*v), number(*w));
        a.cmp(b).then(v_there.cmp(&w_there)).then(v.total_cmp(&w))
    });
    for (arc, row) in arcs.iter_mut().zip(&rows) {
        *arc = row.0;
    }
    *column = rows.into_iter().map(|row| row.1).collect();
}

impl Drop for InputGraph {
    fn drop(&mut self) {
        if self.cached.is_none() && self.graph.get().is_some() {
            self.host.release(self.graph_bytes());
        }
    }
}
