//! A graph's tables as the metrics read them.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use bonnet_graph::{Digraph, Graph, Monitor, Stopped};
use bonnet_sql::{GraphTables, InputGraph, KeyColumn, KeyIndex, Run, execution_error, stopped};
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result};

use super::features::feature_rows;
use crate::FeatureRows;

/// The nodes' keys in order, the edges' rows as numbers, and the other columns that were named.
pub(super) struct GraphRows {
    pub keys: KeyIndex,
    /// The rows of nodes in the order of their keys: which row each node has.
    pub row_of: Vec<u32>,
    /// The endpoints of the rows of edges; `None` where one is NULL.
    pub ends: Vec<Option<(u32, u32)>>,
    /// Other columns of nodes and edges, in the order in which they were named.
    pub node_columns: Vec<Option<ArrayRef>>,
    pub edge_columns: Vec<Option<ArrayRef>>,
}

impl GraphRows {
    /// Reads a graph; `nodes` and `edges` name columns that may be missing. The memory is reserved until the run ends.
    pub fn read(run: &Run, tables: &GraphTables, nodes: &[&str], edges: &[&str]) -> Result<Self> {
        let (node, node_columns) = read(run, &tables.nodes, "nodes", &["node"], nodes)?;
        let (ends_of, edge_columns) = read(run, &tables.edges, "edges", &["src", "dst"], edges)?;
        let (src, dst) = (KeyColumn::new(&ends_of[0], "edges.src")?, KeyColumn::new(&ends_of[1], "edges.dst")?);
        let node = KeyColumn::new(&node[0], "nodes.node")?;
        run.host().reserve(24 * (src.len() + node.len())).map_err(stopped)?;

        let keys = KeyIndex::new(&[("nodes.node", &node)])?;
        let row_of = row_of(&keys, &node)?;
        let ends = run.install(|| ends(&keys, &src, &dst))?;
        Ok(Self { keys, row_of, ends, node_columns, edge_columns })
    }

    /// The class of each node, from the column `label`: labels in ascending order are classes 0, 1, ...; NULL has none.
    pub fn labels(&self, label: &ArrayRef) -> Result<Vec<Option<u32>>> {
        labels(label, &self.row_of)
    }
}

/// A graph of one type of edges, as the graph cache has it, and columns of its nodes.
pub(super) struct LabelledGraph {
    graph: InputGraph,
    /// Which row of nodes each node has.
    row_of: Vec<u32>,
    /// The columns that were named, in their order; `None` where there is none of a name.
    pub columns: Vec<Option<ArrayRef>>,
}

impl LabelledGraph {
    /// Reads a graph; `nodes` names columns that may be missing. The memory is reserved until the run ends.
    pub fn read(run: &Run, function: &str, tables: &GraphTables, nodes: &[&str]) -> Result<Self> {
        let (node, columns) = read(run, &tables.nodes, "nodes", &["node"], nodes)?;
        let node = KeyColumn::new(&node[0], "nodes.node")?;
        let graph = run.read_graph(function, tables)?;
        run.host().reserve(24 * node.len()).map_err(stopped)?;
        let row_of = row_of(&graph.keys, &node)?;
        Ok(Self { graph, row_of, columns })
    }

    /// The graph as an arc list: arcs of a directed graph as stored with `directed`, else both arcs of each edge;
    /// distinct, without loops.
    pub fn arcs(&self, tables: &GraphTables, directed: bool, monitor: &dyn Monitor) -> Result<Digraph> {
        let (n, stored) = (self.graph.n_nodes(), self.graph.arcs());
        let both = !directed || tables.directed == Some(false);
        let rows = stored.len();
        monitor.reserve(Graph::bytes(n, rows) + 16 * rows).map_err(stopped)?;
        if !both {
            return Ok(Digraph::from_arcs(n, stored));
        }
        let arcs: Vec<(u32, u32)> = stored.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
        Ok(Digraph::from_arcs(n, &arcs))
    }

    /// The class of each node, from the column `label`: labels in ascending order are classes 0, 1, ...; NULL has none.
    pub fn labels(&self, label: &ArrayRef) -> Result<Vec<Option<u32>>> {
        labels(label, &self.row_of)
    }

    /// The features of each node, and which nodes have some.
    pub fn features(&self, features: &ArrayRef) -> Result<(FeatureRows, Vec<bool>)> {
        let (rows, present) = feature_rows(features, "nodes.features")?;
        if self.row_of.iter().copied().eq(0..rows.len() as u32) {
            return Ok((rows, present));
        }
        let mut ordered = FeatureRows { offsets: vec![0], ..FeatureRows::default() };
        self.row_of.iter().for_each(|&row| ordered.push(rows.row(row as usize)));
        Ok((ordered, self.row_of.iter().map(|&row| present[row as usize]).collect()))
    }
}

/// The columns `keys` of a table, and others, `None` where it has none of a name.
fn read(
    run: &Run,
    table: &Arc<dyn TableProvider>,
    name: &str,
    keys: &[&str],
    others: &[&str],
) -> Result<(Vec<ArrayRef>, Vec<Option<ArrayRef>>)> {
    let schema = table.schema();
    let there: Vec<bool> = others.iter().map(|name| schema.field_with_name(name).is_ok()).collect();
    let found = others.iter().zip(&there).filter(|(_, there)| **there).map(|(name, _)| *name);
    let names: Vec<&str> = keys.iter().copied().chain(found).collect();
    let mut read = run.read_table(table, name, &names)?;
    let mut found = read.split_off(keys.len()).into_iter();
    let others = there.into_iter().map(|there| if there { found.next() } else { None }).collect();
    Ok((read, others))
}

/// The row of each node.
fn row_of(keys: &KeyIndex, node: &KeyColumn) -> Result<Vec<u32>> {
    let number_of_row = keys.numbers(node);
    if number_of_row.iter().flatten().count() != keys.len() {
        let key = keys.repeated(&number_of_row).unwrap_or_default();
        return Err(execution_error(format!("nodes holds a key twice: node must be unique, and {key} is not")));
    }
    let mut row_of = vec![0u32; keys.len()];
    for (row, number) in (0u32..).zip(number_of_row) {
        if let Some(number) = number {
            row_of[number as usize] = row;
        }
    }
    Ok(row_of)
}

/// The class of each node by the rows of `label`.
fn labels(label: &ArrayRef, row_of: &[u32]) -> Result<Vec<Option<u32>>> {
    let classes = classes(label, "nodes.label")?.1;
    Ok(row_of.iter().map(|&row| classes[row as usize]).collect())
}

/// Both endpoints of every row as numbers.
fn ends(keys: &KeyIndex, src: &KeyColumn, dst: &KeyColumn) -> Result<Vec<Option<(u32, u32)>>> {
    let (from, to) = rayon::join(|| keys.numbers(src), || keys.numbers(dst));
    for (column, numbers, name) in [(src, &from, "src"), (dst, &to, "dst")] {
        if numbers.iter().any(Option::is_none)
            && let Some(row) = keys.first_unknown(column)
        {
            return Err(execution_error(format!(
                "an edge ends at node {} ({name}), which nodes lacks: add the node, or leave such edges out",
                column.describe(row)
            )));
        }
    }
    Ok(from.into_iter().zip(to).map(|(from, to)| Some((from?, to?))).collect())
}

/// The values of a column as numbers 0, 1, ... in ascending order, and the number of each row.
pub(super) fn classes(column: &ArrayRef, what: &str) -> Result<(KeyIndex, Vec<Option<u32>>)> {
    let column = match column.data_type() {
        data_type if data_type.is_floating() || *data_type == DataType::Boolean => cast(column, &DataType::Utf8)?,
        data_type if data_type.is_nested() => {
            return Err(execution_error(format!("{what} is {data_type}: a label is an integer or a text")));
        }
        _ => Arc::clone(column),
    };
    let keys = KeyColumn::new(&column, what)?;
    let index = KeyIndex::new(&[(what, &keys)])?;
    let numbers = index.numbers(&keys);
    Ok((index, numbers))
}

/// Names the function and the graph in an error of a run.
pub(super) fn at_graph(error: DataFusionError, function: &str, graph: &str) -> DataFusionError {
    match error {
        DataFusionError::Execution(text) => {
            let text = text.strip_prefix(&format!("{function}: ")).unwrap_or(&text);
            execution_error(format!("{function}: graph {graph}: {text}"))
        }
        DataFusionError::Plan(text) => DataFusionError::Plan(format!("{function}: graph {graph}: {text}")),
        error => error,
    }
}

/// Keeps a reason to stop apart from other errors of a kernel.
pub(super) fn kernel(result: std::result::Result<Option<f64>, Stopped>) -> Result<Option<f64>> {
    result.map_err(stopped)
}
