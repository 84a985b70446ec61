//! Relations that name nodes of the graphs: sources, targets of jumps, pairs, communities.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, new_null_array};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Float64Type};
use bonnet_sql::{
    Call, InputGraph, KeyColumn, KeyIndex, Parameter, Run, execution_error, require_columns, usage_error, whole_column,
};
use datafusion::common::Result;

/// The column of weights.
pub(super) const WEIGHT: &str = "weight";
const NODE: &str = "node";
const GRAPH_ID: &str = "graph_id";
const COMMUNITY: &str = "community";
const SRC: &str = "src";
const DST: &str = "dst";

/// A parameter that is a relation of nodes, or of pairs of them, and `graph_id` where edges have it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeRelation {
    name: &'static str,
    columns: Columns,
    description: &'static str,
    pub(super) optional: bool,
}

/// The columns of a row beside `graph_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// `node`.
    Nodes,
    /// `node`, and `weight`, 1 where there is no such column.
    Weights,
    /// `node` and `community`.
    Communities,
    /// `src` and `dst`.
    Pairs,
}

impl NodeRelation {
    /// Nodes that may be left out.
    pub(super) const fn nodes(name: &'static str, description: &'static str) -> Self {
        Self { name, columns: Columns::Nodes, description, optional: true }
    }

    /// With a value in the column `weight`.
    pub(super) const fn with_weights(self) -> Self {
        Self { columns: Columns::Weights, ..self }
    }

    /// With a number for each of the values of the column `community`.
    pub(super) const fn with_communities(self) -> Self {
        Self { columns: Columns::Communities, ..self }
    }

    /// Pairs of nodes instead, in the columns `src` and `dst`.
    pub(super) const fn with_pairs(self) -> Self {
        Self { columns: Columns::Pairs, ..self }
    }

    /// The same, but not to be left out.
    pub(super) const fn required(self) -> Self {
        Self { optional: false, ..self }
    }

    pub(super) fn parameter(self) -> Parameter {
        let relation = Parameter::relation(self.name, self.description);
        if self.optional { relation.optional() } else { relation }
    }

    /// Which input of a call it is, and the columns that are read of it; `None` where it is left out.
    pub(super) fn bind(self, function: &'static str, call: &Call) -> Result<Option<(NodeRelationInput, Vec<String>)>> {
        let Some(input) = call.input(self.name) else { return Ok(None) };
        let relation = &call.inputs[input];
        let (required, read): (&[&str], &[&str]) = match self.columns {
            Columns::Nodes => (&[NODE], &[NODE]),
            Columns::Weights => (&[NODE], &[NODE, WEIGHT]),
            Columns::Communities => (&[NODE, COMMUNITY], &[NODE, COMMUNITY]),
            Columns::Pairs => (&[SRC, DST], &[SRC, DST]),
        };
        require_columns(function, relation, required)?;
        let has = |name: &&str| relation.schema.field_with_name(name).is_ok();
        let edges_have_id = call.inputs[0].schema.field_with_name(GRAPH_ID).is_ok();
        if edges_have_id != has(&GRAPH_ID) {
            let (with, without) = if edges_have_id { ("edges", self.name) } else { (self.name, "edges") };
            return usage_error(format!("{function}: {with} has a column graph_id and {without} has none: add it"));
        }
        let reads = read.iter().copied().chain([GRAPH_ID]).filter(has).map(str::to_owned).collect();
        Ok(Some((NodeRelationInput { function, name: self.name, columns: self.columns, input }, reads)))
    }
}

/// A relation of nodes that a call gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeRelationInput {
    function: &'static str,
    name: &'static str,
    columns: Columns,
    /// Which input of the call it is.
    pub(super) input: usize,
}

/// The nodes or pairs that a call names in one graph, in the order of the rows.
#[derive(Debug)]
pub(super) enum NodeRelationRows {
    /// Nodes by their numbers, with their values.
    Nodes(Vec<(u32, f64)>),
    /// Pairs of nodes.
    Pairs(Vec<(u32, u32)>),
}

impl NodeRelationInput {
    /// What the relation names in each graph.
    ///
    /// # Errors
    /// For a node or a graph that the edges lack, and for NULL.
    pub(super) fn collect(self, run: &mut Run, graphs: &[InputGraph]) -> Result<Vec<NodeRelationRows>> {
        let batches = run.collect(self.input)?;
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let column = |name: &str| -> Result<ArrayRef> {
            Ok(whole_column(&batches, name)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0)))
        };
        let what = format!("{}: {}", self.function, self.name);
        let ids = whole_column(&batches, GRAPH_ID)?;
        let rows_of = rows_of_graphs(&what, graphs, ids.as_ref(), count)?;
        if self.columns == Columns::Pairs {
            let (src, dst) = (column(SRC)?, column(DST)?);
            let of_graph = |(graph, rows): (&InputGraph, Vec<u32>)| -> Result<NodeRelationRows> {
                let ends =
                    numbers(&what, graph, &src, SRC, &rows)?.into_iter().zip(numbers(&what, graph, &dst, DST, &rows)?);
                Ok(NodeRelationRows::Pairs(ends.collect()))
            };
            return graphs.iter().zip(rows_of).map(of_graph).collect();
        }
        let nodes = column(NODE)?;
        let values = match self.columns {
            Columns::Communities => communities(&column(COMMUNITY)?, &what)?,
            _ => match whole_column(&batches, WEIGHT)? {
                Some(weights) => cast(&weights, &DataType::Float64)?.as_primitive::<Float64Type>().clone(),
                None => Float64Array::from(vec![1.0; count]),
            },
        };
        if values.null_count() > 0 {
            let column = if self.columns == Columns::Communities { COMMUNITY } else { WEIGHT };
            return Err(execution_error(format!("{what} has a row whose {column} is NULL")));
        }
        let of_graph = |(graph, rows): (&InputGraph, Vec<u32>)| -> Result<NodeRelationRows> {
            let found = numbers(&what, graph, &nodes, NODE, &rows)?;
            let valued = found.into_iter().zip(rows).map(|(number, row)| (number, values.value(row as usize)));
            Ok(NodeRelationRows::Nodes(valued.collect()))
        };
        graphs.iter().zip(rows_of).map(of_graph).collect()
    }
}

/// The numbers of the nodes in some rows of a column.
fn numbers(what: &str, graph: &InputGraph, nodes: &ArrayRef, column: &str, rows: &[u32]) -> Result<Vec<u32>> {
    let keys = KeyColumn::new(nodes, &format!("{what}.{column}"))?.rows(rows)?;
    let node = |(i, number): (usize, Option<u32>)| match number {
        Some(number) => Ok(number),
        None if nodes.is_null(rows[i] as usize) => {
            Err(execution_error(format!("{what} has a row whose {column} is NULL")))
        }
        None => Err(graph.context(execution_error(format!(
            "{what} has the node {}, which is on no edge: take it out, or give nodes => with it",
            keys.describe(i)
        )))),
    };
    graph.keys.numbers(&keys).into_iter().enumerate().map(node).collect()
}

/// A number for each community, NULL for NULL.
fn communities(column: &ArrayRef, what: &str) -> Result<Float64Array> {
    let keys = KeyColumn::new(column, &format!("{what}.{COMMUNITY}"))?;
    let index = KeyIndex::new(&[(COMMUNITY, &keys)])?;
    Ok(index.numbers(&keys).into_iter().map(|number| number.map(f64::from)).collect())
}

/// The rows of a relation that belong to each graph, by its column `graph_id`. `what` names the relation in errors.
///
/// # Errors
/// For a row of no graph.
pub(super) fn rows_of_graphs(
    what: &str,
    graphs: &[InputGraph],
    row_ids: Option<&ArrayRef>,
    rows: usize,
) -> Result<Vec<Vec<u32>>> {
    let ids: Vec<&dyn Array> = graphs.iter().filter_map(|graph| graph.id.as_ref()).map(AsRef::as_ref).collect();
    let Some(row_ids) = row_ids.filter(|_| !ids.is_empty()) else {
        return match graphs.is_empty() && rows > 0 {
            true => Err(execution_error(format!("{what} has rows, and edges has none"))),
            false => Ok(graphs.iter().map(|_| (0..rows as u32).collect()).collect()),
        };
    };
    let own = KeyColumn::new(&concat(&ids)?, "edges.graph_id")?;
    let given = KeyColumn::new(row_ids, "graph_id")?;
    let index = KeyIndex::new(&[("edges.graph_id", &own)])?;
    let mut graph_of = vec![0; index.len()];
    for (graph, number) in index.numbers(&own).into_iter().enumerate() {
        if let Some(number) = number {
            graph_of[number as usize] = graph;
        }
    }
    let mut rows_of = vec![Vec::new(); graphs.len()];
    for (row, number) in index.numbers(&given).into_iter().enumerate() {
        match number {
            Some(number) => rows_of[graph_of[number as usize]].push(row as u32),
            None if row_ids.is_null(row) => {
                return Err(execution_error(format!("{what} has a row whose graph_id is NULL")));
            }
            None => {
                let id = given.describe(row);
                return Err(execution_error(format!("{what} has the graph_id {id}, which edges lacks")));
            }
        }
    }
    Ok(rows_of)
}
