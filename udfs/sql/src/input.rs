//! From the rows of `edges` and `nodes` to numbered graphs, one for each `graph_id`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Field, Float64Type, Schema, SchemaRef};
use bonnet_graph::Monitor;
use datafusion::common::Result;
use rayon::prelude::*;

use crate::{Call, InputSchema, KeyColumn, KeyIndex, Run, execution_error, require_columns, stopped, usage_error};

/// A weight per row of `edges`; `None` where the relation has no such column.
pub type Weights = Option<Vec<Option<f64>>>;

/// One graph of an input: its keys in order, and its rows as numbers.
#[derive(Debug)]
pub struct InputGraph {
    /// The value of `graph_id`, one row; `None` where the input has no such column.
    pub id: Option<ArrayRef>,
    /// The nodes' keys.
    pub keys: KeyIndex,
    /// The rows that have both endpoints, as published: repeats and loops included.
    pub arcs: Vec<(u32, u32)>,
    /// For each row of the graph, its endpoints where both are there.
    pub rows: Vec<Option<(u32, u32)>>,
    /// The rows' positions in the input.
    pub positions: Vec<u32>,
}

impl InputGraph {
    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.keys.len()
    }

    /// `graph_id`, repeated.
    pub fn id_column(&self, rows: usize) -> Result<Option<ArrayRef>> {
        let zeros = UInt32Array::from(vec![0u32; rows]);
        self.id.as_ref().map(|id| Ok(take(id, &zeros, None)?)).transpose()
    }
}

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

/// Checks the inputs `edges` (the first) and `nodes` of a call; gives the type of the answer's keys and the columns read.
pub fn bind_graph(function: &str, call: &Call) -> Result<(DataType, Vec<Vec<String>>)> {
    let there = |input: &InputSchema, columns: &[&str]| -> Vec<String> {
        columns
            .iter()
            .filter(|name| input.schema.field_with_name(name).is_ok())
            .map(|name| (*name).to_owned())
            .collect()
    };
    let edges = &call.inputs[0];
    let mut key = edge_schema(function, edges)?;
    let mut reads = vec![there(edges, &["src", "dst", "graph_id"])];
    if let Some(nodes) = call.input("nodes") {
        let nodes = &call.inputs[nodes];
        require_columns(function, nodes, &["node"])?;
        key = KeyColumn::normal_type(nodes.schema.field_with_name("node")?.data_type()).unwrap_or(key);
        reads.push(there(nodes, &["node", "graph_id"]));
    }
    Ok((key, reads))
}

/// Puts `graph_id` in front of an answer's columns where the input has one.
pub fn with_graph_id(input: &InputSchema, fields: Vec<Field>) -> SchemaRef {
    let id = input.schema.field_with_name("graph_id").ok().cloned().map(|field| field.with_nullable(true));
    Arc::new(Schema::new(id.into_iter().chain(fields).collect::<Vec<_>>()))
}

/// Reads the relations `edges` and, where given, `nodes` into one graph for each `graph_id`, in its order.
///
/// # Errors
/// If an edge names a node that `nodes` lacks, if keys do not agree, or if memory runs out.
pub fn collect_graphs(run: &mut Run, function: &str, edges: usize, nodes: Option<usize>) -> Result<Vec<InputGraph>> {
    Ok(collect_weighted_graphs(run, function, edges, nodes, None)?.0)
}

/// As [`collect_graphs`], with the numbers of the column `weight` of `edges`: one for each row of the relation, to be
/// found by [`InputGraph::positions`].
///
/// # Errors
/// As [`collect_graphs`].
pub fn collect_weighted_graphs(
    run: &mut Run,
    function: &str,
    edges: usize,
    nodes: Option<usize>,
    weight: Option<&str>,
) -> Result<(Vec<InputGraph>, Weights)> {
    let edge_batches = run.collect(edges)?;
    let weights = match weight {
        Some(weight) => number_column(&edge_batches, weight)?,
        None => None,
    };
    Ok((graphs_of(run, function, &edge_batches, nodes)?, weights))
}

fn graphs_of(
    run: &mut Run,
    function: &str,
    edge_batches: &[RecordBatch],
    nodes: Option<usize>,
) -> Result<Vec<InputGraph>> {
    let rows = GraphRows::new(run, function, edge_batches, nodes)?;
    let host = run.host();
    let graph = |i: usize| -> Result<InputGraph> {
        if i.is_multiple_of(256) {
            host.check().map_err(stopped)?;
        }
        rows.graph(i)
    };
    // Of several errors the first graph's is told.
    let graphs = (0..rows.len()).into_par_iter().with_min_len(64);
    let graphs: Vec<Result<InputGraph>> = run.install(|| graphs.map(graph).collect());
    graphs.into_iter().collect()
}

/// The rows of an input, sorted into graphs.
pub(crate) struct GraphRows {
    function: String,
    src: KeyColumn,
    dst: KeyColumn,
    nodes: Option<KeyColumn>,
    /// `None` where the input is one graph.
    ids: Option<GraphIds>,
}

/// Which rows are of which graph, by the order of `graph_id`.
struct GraphIds {
    index: KeyIndex,
    values: ArrayRef,
    edges: Grouped,
    nodes: Grouped,
}

impl GraphRows {
    /// Sorts rows that were read, and whose batches have been reserved.
    pub(crate) fn new(
        run: &mut Run,
        function: &str,
        edge_batches: &[RecordBatch],
        nodes: Option<usize>,
    ) -> Result<Self> {
        let node_batches = nodes.map(|nodes| run.collect(nodes)).transpose()?;
        let rows: usize = edge_batches.iter().map(RecordBatch::num_rows).sum();
        // Numbers of both endpoints, positions and arcs: 32 bytes a row.
        run.host().reserve(32 * rows).map_err(stopped)?;
        let src = column(edge_batches, "src", "edges.src")?;
        let dst = column(edge_batches, "dst", "edges.dst")?;
        let edge_ids = raw_column(edge_batches, "graph_id")?;
        let (nodes, node_ids) = match &node_batches {
            None => (None, None),
            Some(batches) => (Some(column(batches, "node", "nodes.node")?), raw_column(batches, "graph_id")?),
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
        Ok(Self { function: function.to_owned(), src, dst, nodes, ids })
    }

    /// The number of graphs.
    pub(crate) fn len(&self) -> usize {
        self.ids.as_ref().map_or(1, |ids| ids.index.len())
    }

    /// The graph of this number.
    pub(crate) fn graph(&self, i: usize) -> Result<InputGraph> {
        let Some(ids) = &self.ids else {
            let positions = (0..self.src.len() as u32).collect();
            return whole(&self.function, self.src.clone(), self.dst.clone(), self.nodes.clone(), positions);
        };
        let rows = ids.edges.rows(i);
        let nodes = self.nodes.as_ref().map(|keys| take_keys(keys, ids.nodes.rows(i))).transpose()?;
        let (src, dst) = (take_keys(&self.src, rows)?, take_keys(&self.dst, rows)?);
        let mut graph = whole(&self.function, src, dst, nodes, rows.to_vec())
            .map_err(|error| error.context(format!("graph_id {}", ids.index.describe(i as u32))))?;
        graph.id = Some(ids.values.slice(i, 1));
        Ok(graph)
    }
}

impl GraphIds {
    fn new(edge_ids: Option<&ArrayRef>, node_ids: Option<&ArrayRef>) -> Result<Self> {
        let edge_keys = edge_ids.map(|ids| KeyColumn::new(ids, "edges.graph_id")).transpose()?;
        let node_keys = node_ids.map(|ids| KeyColumn::new(ids, "nodes.graph_id")).transpose()?;
        let columns: Vec<(&str, &KeyColumn)> = [("edges.graph_id", &edge_keys), ("nodes.graph_id", &node_keys)]
            .into_iter()
            .filter_map(|(name, keys)| keys.as_ref().map(|keys| (name, keys)))
            .collect();
        let index = KeyIndex::new(&columns)?;
        let id_type = edge_ids.or(node_ids).map_or(DataType::Null, |ids| ids.data_type().clone());
        let values = cast(&index.array(), &id_type)?;
        let edges = Grouped::by_key(&index, edge_keys.as_ref());
        let nodes = Grouped::by_key(&index, node_keys.as_ref());
        Ok(Self { index, values, edges, nodes })
    }
}

/// The rows of numbered groups in one list, group by group, each group's in ascending order.
pub(crate) struct Grouped {
    pub(crate) rows: Vec<u32>,
    /// Where each group's rows begin, and where the last one's end.
    pub(crate) starts: Vec<usize>,
}

impl Grouped {
    /// The rows of each key of an index. A row without a key belongs to none; without a column all keys have no rows.
    fn by_key(index: &KeyIndex, keys: Option<&KeyColumn>) -> Self {
        let numbers = keys.map_or_else(Vec::new, |keys| index.numbers(keys));
        Self::new(numbers.iter().copied(), index.len())
    }

    /// The rows by their groups; `None` for a row of no group. Counts, then places: O(rows + groups).
    pub(crate) fn new(numbers: impl Iterator<Item = Option<u32>> + Clone, groups: usize) -> Self {
        // Placing moves each group's start to its end, the start of the next: so there is one more in front.
        let mut starts = vec![0; groups + 2];
        for number in numbers.clone().flatten() {
            starts[number as usize + 2] += 1;
        }
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut rows = vec![0; starts[groups + 1]];
        for (number, row) in numbers.zip(0..) {
            if let Some(number) = number {
                let next = &mut starts[number as usize + 1];
                rows[*next] = row;
                *next += 1;
            }
        }
        starts.pop();
        Self { rows, starts }
    }

    fn rows(&self, group: usize) -> &[u32] {
        &self.rows[self.starts[group]..self.starts[group + 1]]
    }
}

/// One graph from key columns, and where its rows stand in the input.
fn whole(
    function: &str,
    src: KeyColumn,
    dst: KeyColumn,
    nodes: Option<KeyColumn>,
    positions: Vec<u32>,
) -> Result<InputGraph> {
    let keys = match &nodes {
        None => KeyIndex::new(&[("src", &src), ("dst", &dst)])?,
        Some(nodes) => {
            // Only to see that the three agree in form.
            if !matches!(
                (nodes, &src),
                (KeyColumn::Integer(_), KeyColumn::Integer(_)) | (KeyColumn::Text(_), KeyColumn::Text(_))
            ) {
                KeyIndex::new(&[("nodes.node", nodes), ("src", &src), ("dst", &dst)])?;
            }
            KeyIndex::new(&[("nodes.node", nodes)])?
        }
    };
    let rows = keys.pairs(&src, &dst);
    if nodes.is_some() && rows.iter().any(Option::is_none) {
        for (column, name) in [(&src, "src"), (&dst, "dst")] {
            let mut numbers = keys.numbers(column).into_iter().enumerate();
            if let Some((row, _)) = numbers.find(|(row, number)| number.is_none() && is_valid(column, *row)) {
                return Err(execution_error(format!(
                    "{function}: an edge ends at node {} ({name}), which nodes lacks. Add the node, leave nodes => out, \
                     or keep only edges between nodes: WHERE src IN (SELECT node FROM ...) AND dst IN (SELECT node FROM ...)",
                    key_text(column, row)
                )));
            }
        }
    }
    let mut arcs = Vec::with_capacity(rows.len());
    arcs.extend(rows.iter().flatten());
    Ok(InputGraph { id: None, keys, arcs, rows, positions })
}

fn is_valid(column: &KeyColumn, row: usize) -> bool {
    match column {
        KeyColumn::Integer(keys) => keys.is_valid(row),
        KeyColumn::Text(keys) => keys.is_valid(row),
    }
}

fn key_text(column: &KeyColumn, row: usize) -> String {
    match column {
        KeyColumn::Integer(keys) => keys.value(row).to_string(),
        KeyColumn::Text(keys) => format!("'{}'", keys.value(row)),
    }
}

/// The keys of some rows, in ascending order of the rows.
fn take_keys(keys: &KeyColumn, rows: &[u32]) -> Result<KeyColumn> {
    // Rows are often stored graph by graph.
    if let (Some(&first), Some(&last)) = (rows.first(), rows.last())
        && (last - first) as usize == rows.len() - 1
    {
        return Ok(keys.slice(first as usize..last as usize + 1));
    }
    let rows = UInt32Array::from(rows.to_vec());
    Ok(match keys {
        KeyColumn::Integer(keys) => KeyColumn::Integer(take(keys, &rows, None)?.as_primitive().clone()),
        KeyColumn::Text(keys) => KeyColumn::Text(take(keys, &rows, None)?.as_string::<i32>().clone()),
    })
}

fn column(batches: &[RecordBatch], name: &str, what: &str) -> Result<KeyColumn> {
    match raw_column(batches, name)? {
        Some(column) => KeyColumn::new(&column, what),
        None => KeyColumn::new(&new_null_array(&DataType::Null, 0), what),
    }
}

/// A column of all batches in one piece; `None` where there is no such column, or no batch.
pub(crate) fn raw_column(batches: &[RecordBatch], name: &str) -> Result<Option<ArrayRef>> {
    let parts: Vec<&dyn Array> =
        batches.iter().filter_map(|batch| batch.column_by_name(name)).map(|array| array.as_ref()).collect();
    Ok(match parts.as_slice() {
        [] => None,
        parts => Some(concat(parts)?),
    })
}

/// A column of numbers as doubles.
pub(crate) fn number_column(batches: &[RecordBatch], name: &str) -> Result<Weights> {
    let Some(column) = raw_column(batches, name)? else { return Ok(None) };
    let column = cast(&column, &DataType::Float64)?;
    Ok(Some(column.as_primitive::<Float64Type>().iter().collect()))
}
