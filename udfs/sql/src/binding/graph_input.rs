//! Relations of edges and nodes as the input of a function in FROM: one graph for each `graph_id`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, new_null_array};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Field, Float64Type, Schema, SchemaRef};
use bonnet_columns::{KeyColumn, KeyIndex, RowsByGroup, number_column, rows_of, whole_column};
use bonnet_graph::Monitor;
use datafusion::common::{Result, internal_datafusion_err};
use rayon::prelude::*;

use crate::error::{stopped, usage_error};
use crate::host::Host;
use crate::registry::Parameter;
use crate::registry::operator::{Call, InputSchema, require_columns};
use crate::runs::cached_input::CacheRequest;
use crate::runs::input_graph::{InputGraph, key_column};
use crate::runs::run::Run;
use crate::runs::spilled_graph::Edges;

/// The advice about an edge of a relation whose end is not among `nodes`.
const ADD_NODE: &str = ". Add the node, leave nodes => out, or keep only edges between nodes: WHERE src IN (SELECT node \
                        FROM ...) AND dst IN (SELECT node FROM ...)";

/// Checks that a relation can be read as edges: it has `src` and `dst`, keys of one form.
pub fn edge_schema(function: &str, input: &InputSchema) -> Result<DataType> {
    require_columns(function, input, &["src", "dst"])?;
    let mut found: Option<(&str, DataType)> = None;
    for name in ["src", "dst"] {
        let given = input.schema.field_with_name(name)?.data_type();
        let Some(normal) = KeyColumn::normal_type(given) else {
            return usage_error(format!(
                "{function}: {}.{name} is {given}: node keys are integers or text",
                input.name
            ));
        };
        match &found {
            _ if *given == DataType::Null => {}
            Some((other, kind)) if *kind != normal => {
                let (integer, text) = if normal == DataType::Int64 { (name, *other) } else { (*other, name) };
                return usage_error(format!(
                    "{function}: {integer} holds integers and {text} holds text: cast one of them, \
                     e.g. CAST({integer} AS TEXT)"
                ));
            }
            _ => found = Some((name, normal)),
        }
    }
    Ok(found.map_or(DataType::Int64, |(_, kind)| kind))
}

/// The relations `edges` (the first of a call) and `nodes`, checked at binding and read in the run.
#[derive(Debug, Clone)]
pub struct GraphInput {
    function: &'static str,
    /// The type of a node's key in the answer.
    pub key: DataType,
    /// The columns read of each of the two relations that is given.
    pub reads: Vec<Vec<String>>,
    nodes: Option<usize>,
    weight: Option<String>,
    id: Option<Field>,
    graph_alone: bool,
}

impl GraphInput {
    /// The parameter `edges` of a function that answers for nodes or graphs.
    pub fn edges() -> Parameter {
        Parameter::relation(
            "edges",
            "The edges: src, dst; a loop, or a row with one NULL endpoint, adds a node and no edge; with graph_id, each graph is \
             read apart, and rows without an id are one.",
        )
    }

    /// Checks the relations of a call.
    ///
    /// # Errors
    /// If a relation lacks a column, or the types of keys do not agree.
    pub fn bind(function: &'static str, call: &Call) -> Result<Self> {
        let present = |input: &InputSchema, columns: &[&str]| -> Vec<String> {
            let has = |name: &&&str| input.schema.field_with_name(name).is_ok();
            columns.iter().filter(has).map(|name| (*name).to_owned()).collect()
        };
        let edges = &call.inputs[0];
        let mut key = edge_schema(function, edges)?;
        let mut reads = vec![present(edges, &["src", "dst", "graph_id"])];
        let nodes = call.input("nodes");
        if let Some(nodes) = nodes {
            let nodes = &call.inputs[nodes];
            require_columns(function, nodes, &["node"])?;
            key = KeyColumn::normal_type(nodes.schema.field_with_name("node")?.data_type()).unwrap_or(key);
            reads.push(present(nodes, &["node", "graph_id"]));
        }
        let id = edges.schema.field_with_name("graph_id").ok().map(|field| field.clone().with_nullable(true));
        Ok(Self { function, key, reads, nodes, weight: None, id, graph_alone: false })
    }

    /// Says whether the run reads [`InputGraph::graph`] alone and neither rows nor weights. Such a graph may be larger than memory: its
    /// edges go into a temporary file where their rows do not fit.
    pub fn graph_alone(self, graph_alone: bool) -> Self {
        Self { graph_alone, ..self }
    }

    /// As [`GraphInput::bind`], with the weights of edges in the column that an option names, if it does.
    ///
    /// # Errors
    /// As [`GraphInput::bind`], and if that column is missing or holds no numbers.
    pub fn bind_weighted(function: &'static str, call: &Call, option: &str) -> Result<Self> {
        let mut input = Self::bind(function, call)?;
        if let Some(weight) = call.options.text(option)? {
            let edges = &call.inputs[0];
            require_columns(function, edges, &[weight])?;
            require_weight(function, edges, weight)?;
            input.reads[0].push(weight.to_owned());
            input.weight = Some(weight.to_owned());
        }
        Ok(input)
    }

    /// The answer's columns, with `graph_id` in front where the edges have it.
    pub fn schema(&self, fields: impl IntoIterator<Item = Field>) -> SchemaRef {
        Arc::new(Schema::new(self.id.iter().cloned().chain(fields).collect::<Vec<_>>()))
    }

    /// Reads the relations into one graph for each `graph_id`, in its order. A graph without an id whose relations are
    /// tables as they stand is cached between statements.
    ///
    /// # Errors
    /// If an edge names a node that `nodes` lacks, if keys do not agree, or if memory runs out.
    pub fn collect(&self, run: &mut Run) -> Result<Vec<InputGraph>> {
        let one = !self.reads.iter().flatten().any(|column| column == "graph_id");
        match CacheRequest::new(run, ("src", "dst"), self.weight.as_deref(), self.nodes).filter(|_| one) {
            Some(request) => Ok(vec![request.graph(run, |run| only(self.read(run)?))?]),
            None => self.read(run),
        }
    }

    fn read(&self, run: &mut Run) -> Result<Vec<InputGraph>> {
        let one = !self.reads.iter().flatten().any(|column| column == "graph_id") && self.weight.is_none();
        let edges = match self.graph_alone && one && run.context().runtime_env().disk_manager.tmp_files_enabled() {
            false => run.collect(0)?,
            true => match run.edges(self.function, self.nodes, ADD_NODE)? {
                Edges::Rows(rows) => rows,
                Edges::Graph(graph) => return Ok(vec![graph]),
            },
        };
        let graphs = InputGraphs::new(run, self.function, &edges, self.nodes, self.weight.as_deref())?;
        drop(edges);
        let host = run.host();
        let graph = |i: usize| -> Result<InputGraph> {
            if i.is_multiple_of(256) {
                host.check().map_err(stopped)?;
            }
            graphs.graph(i)
        };
        let numbers = (0..graphs.len()).into_par_iter().with_min_len(64);
        // Collected before the first error is looked for: of several, that of the first graph is reported.
        let graphs: Vec<Result<InputGraph>> = run.install(|| numbers.map(graph).collect());
        graphs.into_iter().collect()
    }
}

/// The graph of relations without ids.
fn only(graphs: Vec<InputGraph>) -> Result<InputGraph> {
    let [graph] = <[InputGraph; 1]>::try_from(graphs)
        .map_err(|graphs| internal_datafusion_err!("{} graphs of relations without ids", graphs.len()))?;
    Ok(graph)
}

/// Fails unless a column, which is there, holds numbers.
pub(crate) fn require_weight(function: &str, edges: &InputSchema, weight: &str) -> Result<()> {
    let given = edges.schema.field_with_name(weight)?.data_type();
    match given.is_numeric() || *given == DataType::Null {
        true => Ok(()),
        false => usage_error(format!("{function}: the weight {weight} is {given}, not a number")),
    }
}

/// The rows of an input, sorted into graphs.
pub(crate) struct InputGraphs {
    function: String,
    src: KeyColumn,
    dst: KeyColumn,
    nodes: Option<KeyColumn>,
    weights: Option<Float64Array>,
    /// `None` where the input is one graph.
    ids: Option<GraphIds>,
    /// Whether the arcs of a graph are sorted.
    sorted: bool,
    host: Arc<Host>,
}

/// The rows of each graph, in the order of `graph_id`. Rows whose id is NULL are a graph of their own, the first, as they are in
/// GROUP BY and in PARTITION BY.
struct GraphIds {
    index: KeyIndex,
    values: ArrayRef,
    edges: RowsByGroup,
    nodes: RowsByGroup,
}

impl InputGraphs {
    /// Sorts rows that were read, and whose batches have been reserved.
    pub(crate) fn new(
        run: &mut Run,
        function: &str,
        edge_batches: &[RecordBatch],
        nodes: Option<usize>,
        weight: Option<&str>,
    ) -> Result<Self> {
        let node_batches = nodes.map(|nodes| run.collect(nodes)).transpose()?;
        let rows: usize = edge_batches.iter().map(RecordBatch::num_rows).sum();
        // Both columns of keys in one piece, the order of the rows, and the arcs: up to 32 bytes a row.
        run.host().reserve(32 * rows).map_err(stopped)?;
        let weights = weight.map(|weight| number_column(edge_batches, weight)).transpose()?.flatten();
        let src = key_column(edge_batches, "src", "edges.src")?;
        let dst = key_column(edge_batches, "dst", "edges.dst")?;
        let edge_ids = whole_column(edge_batches, "graph_id")?;
        let (nodes, node_ids) = match &node_batches {
            None => (None, None),
            Some(batches) => (Some(key_column(batches, "node", "nodes.node")?), whole_column(batches, "graph_id")?),
        };
        let ids = match (edge_ids, node_ids) {
            (None, None) => None,
            (None, Some(_)) if rows > 0 => {
                return usage_error(format!(
                    "{function}: nodes has a column graph_id and edges has none: add it to edges"
                ));
            }
            (Some(_), None) if nodes.is_some() => {
                return usage_error(format!(
                    "{function}: edges has a column graph_id and nodes has none: add it to nodes"
                ));
            }
            (edge_ids, node_ids) => Some(GraphIds::new(edge_ids.as_ref(), node_ids.as_ref())?),
        };
        Ok(Self {
            function: function.to_owned(),
            src,
            dst,
            nodes,
            weights,
            ids,
            sorted: run.sorted_arcs,
            host: Arc::clone(&run.host),
        })
    }

    /// The number of graphs.
    pub(crate) fn len(&self) -> usize {
        self.ids.as_ref().map_or(1, |ids| ids.values.len())
    }

    /// The rows of the input graph by graph, where they are not all of one graph.
    pub(crate) fn order(&self) -> Option<&[u32]> {
        self.ids.as_ref().map(|ids| ids.edges.rows.as_slice())
    }

    /// The one graph of rows without ids, with its nodes and undirected graph from the cache.
    pub(crate) fn cached(&self, request: &CacheRequest, run: &Run) -> Result<InputGraph> {
        request.of_rows(run, (&self.src, &self.dst, self.weights.clone()), || self.graph(0))
    }

    /// Whether the rows have ids.
    pub(crate) fn have_ids(&self) -> bool {
        self.ids.is_some()
    }

    /// The graph of this number.
    pub(crate) fn graph(&self, i: usize) -> Result<InputGraph> {
        let graph = |ends, nodes: Option<&KeyColumn>, weights| {
            let nodes = nodes.map(|nodes| (nodes, ADD_NODE));
            InputGraph::new(&self.function, ends, nodes, weights, self.sorted, &self.host)
        };
        let Some(ids) = &self.ids else {
            return graph((&self.src, &self.dst), self.nodes.as_ref(), self.weights.clone());
        };
        let rows = ids.edges.rows(i);
        let nodes = self.nodes.as_ref().map(|keys| keys.rows(ids.nodes.rows(i))).transpose()?;
        let weights = self.weights.as_ref().map(|weights| rows_of(weights, rows)).transpose()?;
        let weights = weights.map(|weights| weights.as_primitive::<Float64Type>().clone());
        let mut graph = graph((&self.src.rows(rows)?, &self.dst.rows(rows)?), nodes.as_ref(), weights)
            .map_err(|error| error.context(format!("graph_id {}", ids.describe(i))))?;
        graph.id = Some(ids.values.slice(i, 1));
        Ok(graph)
    }
}

impl GraphIds {
    /// The id of a graph as a user would type it.
    fn describe(&self, i: usize) -> String {
        match i.checked_sub(self.values.len() - self.index.len()) {
            Some(key) => self.index.describe(key as u32),
            None => "NULL".to_owned(),
        }
    }

    fn new(edge_ids: Option<&ArrayRef>, node_ids: Option<&ArrayRef>) -> Result<Self> {
        let edge_keys = edge_ids.map(|ids| KeyColumn::new(ids, "edges.graph_id")).transpose()?;
        let node_keys = node_ids.map(|ids| KeyColumn::new(ids, "nodes.graph_id")).transpose()?;
        let columns: Vec<(&str, &KeyColumn)> = [("edges.graph_id", &edge_keys), ("nodes.graph_id", &node_keys)]
            .into_iter()
            .filter_map(|(name, keys)| keys.as_ref().map(|keys| (name, keys)))
            .collect();
        let index = KeyIndex::new(&columns)?;
        let id_type = edge_ids.or(node_ids).map_or(DataType::Null, |ids| ids.data_type().clone());
        let mut values = cast(&index.array(), &id_type)?;
        let has_nulls = edge_ids.into_iter().chain(node_ids).any(|ids| ids.logical_null_count() > 0);
        if has_nulls {
            values = concat(&[new_null_array(&id_type, 1).as_ref(), values.as_ref()])?;
        }
        let edges = RowsByGroup::by_key(&index, edge_keys.as_ref(), has_nulls);
        let nodes = RowsByGroup::by_key(&index, node_keys.as_ref(), has_nulls);
        Ok(Self { index, values, edges, nodes })
    }
}
