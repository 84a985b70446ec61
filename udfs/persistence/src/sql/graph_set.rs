//! Relations of edges, nodes and labels as a set of graphs that are compared.

use arrow::array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Field, SchemaRef};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Call, GraphInput, InputGraph, KeyColumn, KeyIndex, Parameter, Run, execution_error, require_columns, stopped,
    usage_error, whole_column,
};
use datafusion::common::Result;

use crate::GraphSet;

const GRAPH_ID: &str = "graph_id";

/// The relations `edges`, `nodes` and `labels` of a call.
#[derive(Debug, Clone)]
pub(super) struct GraphSetInput {
    function: &'static str,
    graphs: GraphInput,
    labels: Option<usize>,
    /// The columns read of each relation that is given.
    pub(super) reads: Vec<Vec<String>>,
    /// The column of the graphs' ids.
    id: Option<Field>,
}

impl GraphSetInput {
    /// The relations as parameters.
    pub(super) fn parameters() -> [Parameter; 3] {
        [
            GraphInput::edges(),
            Parameter::relation("nodes", "The nodes: node; adds the isolated ones.").optional(),
            Parameter::relation(
                "labels",
                "The labels of nodes: node, label, and graph_id where edges have it. Without a row, or with NULL, a node has no \
                 label, as others have none.",
            )
            .optional(),
        ]
    }

    /// Checks the relations.
    ///
    /// # Errors
    /// If one lacks a column, or types do not agree.
    pub(super) fn bind(function: &'static str, call: &Call) -> Result<Self> {
        let graphs = GraphInput::bind(function, call)?;
        let id = call.inputs[0].schema.field_with_name(GRAPH_ID).ok().map(|field| field.clone().with_nullable(true));
        let mut reads = graphs.reads.clone();
        let labels = call.input("labels");
        if let Some(labels) = labels {
            let relation = &call.inputs[labels];
            require_columns(function, relation, &["node", "label"])?;
            let label = relation.schema.field_with_name("label")?.data_type();
            if label.is_nested() {
                return usage_error(format!(
                    "{function}: labels.label is {label}: labels are integers or text; of a list, CAST(... AS TEXT)"
                ));
            }
            let has_id = relation.schema.field_with_name(GRAPH_ID).is_ok();
            if has_id != id.is_some() {
                let (with, without) = if has_id { ("labels", "edges") } else { ("edges", "labels") };
                return usage_error(format!(
                    "{function}: {with} has a column graph_id and {without} has none: add it to {without}"
                ));
            }
            let mut columns = vec!["node".to_owned(), "label".to_owned()];
            columns.extend(has_id.then(|| GRAPH_ID.to_owned()));
            reads.push(columns);
        }
        Ok(Self { function, graphs, labels, reads, id })
    }

    /// The column of the graphs' ids, which a comparison of graphs needs.
    ///
    /// # Errors
    /// If the edges have none.
    pub(super) fn require_id(&self) -> Result<Field> {
        match &self.id {
            Some(id) => Ok(id.clone()),
            None => usage_error(format!(
                "{}: edges has no column graph_id: it compares graphs, and each edge says which one it is of",
                self.function
            )),
        }
    }

    /// `graph_id` where the edges have it, `node`, and these columns.
    pub(super) fn node_schema(&self, fields: impl IntoIterator<Item = Field>) -> SchemaRef {
        let node = Field::new("node", self.graphs.key.clone(), true);
        self.graphs.schema(std::iter::once(node).chain(fields))
    }

    /// Reads the relations; their memory is reserved until the run ends.
    ///
    /// # Errors
    /// As [`GraphInput::collect`], and if labels are of nodes or graphs that are not there, or given twice.
    pub(super) fn collect(&self, run: &mut Run) -> Result<Graphs> {
        let graphs = self.graphs.collect(run)?;
        let labels = self.labels.map(|labels| self.labels(run, &graphs, labels)).transpose()?;
        let (nodes, arcs) = graphs.iter().fold((0, 0), |(n, m), graph| (n + graph.n_nodes(), m + graph.arcs().len()));
        if nodes >= u32::MAX as usize {
            return Err(execution_error(format!("{}: {nodes} nodes: at most {} in all", self.function, u32::MAX - 1)));
        }
        run.host().reserve(GraphSet::bytes(nodes, arcs)).map_err(stopped)?;
        let _edges = Reservation::new(run.host(), 8 * arcs).map_err(stopped)?;
        let sizes: Vec<usize> = graphs.iter().map(InputGraph::n_nodes).collect();
        let mut edges = Vec::with_capacity(arcs);
        let mut start = 0;
        for graph in &graphs {
            edges.extend(graph.arcs().iter().map(|&(u, v)| (u + start, v + start)));
            start += graph.n_nodes() as u32;
        }
        Ok(Graphs { set: GraphSet::new(&sizes, &edges, labels), graphs })
    }

    /// The number of each node's label: 0 for none.
    fn labels(&self, run: &mut Run, graphs: &[InputGraph], input: usize) -> Result<Vec<u32>> {
        let batches = run.collect(input)?;
        let column = |name: &str| -> Result<ArrayRef> {
            Ok(whole_column(&batches, name)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0)))
        };
        let (nodes, labels) = (column("node")?, column("label")?);
        let what = format!("{}: labels", self.function);
        let labels = match labels.data_type() {
            DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Boolean => {
                cast(&labels, &DataType::Utf8)?
            }
            _ => labels,
        };
        let labels = KeyColumn::new(&labels, &format!("{what}.label"))?;
        let index = KeyIndex::new(&[("labels.label", &labels)])?;
        let numbers = index.numbers(&labels);
        let rows_of = match whole_column(&batches, GRAPH_ID)? {
            Some(ids) => rows_of_graphs(&what, graphs, &ids)?,
            None if graphs.is_empty() && !nodes.is_empty() => {
                return Err(execution_error(format!("{what} has rows, and edges has none")));
            }
            None => graphs.iter().map(|_| (0..nodes.len() as u32).collect()).collect(),
        };
        let nodes_what = format!("{what}.node");
        let mut all = Vec::new();
        for (graph, rows) in graphs.iter().zip(rows_of) {
            let start = all.len();
            all.resize(start + graph.n_nodes(), 0);
            let keys = KeyColumn::new(&nodes, &nodes_what)?.rows(&rows)?;
            let found = graph.keys.numbers(&keys);
            if let Some(node) = graph.keys.repeated(&found) {
                return Err(graph.context(execution_error(format!("{what} has the node {node} twice"))));
            }
            for (i, (number, row)) in found.into_iter().zip(&rows).enumerate() {
                let Some(number) = number else {
                    return Err(match keys.is_valid(i) {
                        true => graph.context(execution_error(format!(
                            "{what} has the node {}, which is on no edge: take it out, or give nodes => with it",
                            keys.describe(i)
                        ))),
                        false => execution_error(format!("{what} has a row whose node is NULL")),
                    });
                };
                all[start + number as usize] = numbers[*row as usize].map_or(0, |label| label + 1);
            }
        }
        Ok(all)
    }
}

/// The rows of each graph by a column of ids.
fn rows_of_graphs(what: &str, graphs: &[InputGraph], row_ids: &ArrayRef) -> Result<Vec<Vec<u32>>> {
    let mut rows_of = vec![Vec::new(); graphs.len()];
    let ids: Vec<&dyn Array> = graphs.iter().filter_map(|graph| graph.id.as_ref()).map(AsRef::as_ref).collect();
    let own = match ids.as_slice() {
        [] => new_null_array(&DataType::Null, 0),
        ids => concat(ids)?,
    };
    let own = KeyColumn::new(&own, "edges.graph_id")?;
    let given = KeyColumn::new(row_ids, "labels.graph_id")?;
    let index = KeyIndex::new(&[("edges.graph_id", &own)])?;
    let mut graph_of = vec![0; index.len()];
    // The graph of the rows without an id.
    let mut without = None;
    for (graph, number) in index.numbers(&own).into_iter().enumerate() {
        match number {
            Some(number) => graph_of[number as usize] = graph,
            None => without = Some(graph),
        }
    }
    for (row, number) in index.numbers(&given).into_iter().enumerate() {
        let graph = match number {
            Some(number) => Some(graph_of[number as usize]),
            None if !given.is_valid(row) => without,
            None => None,
        };
        match graph {
            Some(graph) => rows_of[graph].push(row as u32),
            None => {
                let id = if given.is_valid(row) { given.describe(row) } else { "NULL".to_owned() };
                return Err(execution_error(format!("{what} has the graph_id {id}, which edges lacks")));
            }
        }
    }
    Ok(rows_of)
}

/// The graphs of a call, and their union.
pub(super) struct Graphs {
    pub(super) graphs: Vec<InputGraph>,
    pub(super) set: GraphSet,
}

impl Graphs {
    /// The ids of the graphs; `None` without.
    pub(super) fn ids(&self) -> Result<Option<ArrayRef>> {
        let ids: Vec<&dyn Array> =
            self.graphs.iter().filter_map(|graph| graph.id.as_ref()).map(AsRef::as_ref).collect();
        Ok(match ids.as_slice() {
            [] => None,
            ids => Some(concat(ids)?),
        })
    }

    /// A row for each node of the union: `graph_id` where there is one, the key, and these columns.
    ///
    /// # Errors
    /// Those of Arrow, and if the query is cancelled.
    pub(super) fn emit_nodes(&self, run: &Run, columns: Vec<ArrayRef>) -> Result<()> {
        if self.graphs.is_empty() {
            return Ok(());
        }
        let ids = self.ids()?.map(|ids| {
            let of_nodes = (0..self.graphs.len()).flat_map(|i| self.set.nodes(i).map(move |_| i as u32));
            take(&ids, &of_nodes.collect::<UInt32Array>(), None)
        });
        let keys: Vec<ArrayRef> = self.graphs.iter().map(|graph| graph.keys.array()).collect();
        let keys = concat(&keys.iter().map(AsRef::as_ref).collect::<Vec<_>>())?;
        run.emit_all(ids.transpose()?.into_iter().chain([keys]).chain(columns).collect())
    }
}
