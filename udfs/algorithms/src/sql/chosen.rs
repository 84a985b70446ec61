//! Relations that name nodes of the graphs: sources, targets, places of jumps.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, new_null_array};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Float64Type};
use bonnet_sql::{
    Call, InputGraph, KeyColumn, KeyIndex, Parameter, Run, execution_error, require_columns, usage_error, whole_column,
};
use datafusion::common::Result;

use super::network::WEIGHT;

const NODE: &str = "node";
const GRAPH_ID: &str = "graph_id";

/// A parameter that is a relation of nodes: `node`, perhaps a column of values, and `graph_id` where edges have it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    name: &'static str,
    /// Whether nodes have a value, in the column `weight`, 1 where there is no such column.
    valued: bool,
    description: &'static str,
    optional: bool,
}

impl Chosen {
    /// Nodes that may be left out.
    pub(super) const fn nodes(name: &'static str, description: &'static str) -> Self {
        Self { name, valued: false, description, optional: true }
    }

    /// The same nodes with values in the column `weight`.
    pub(super) const fn with_weights(self) -> Self {
        Self { valued: true, ..self }
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
    pub(super) fn bind(self, function: &'static str, call: &Call) -> Result<Option<(ChosenInput, Vec<String>)>> {
        let Some(input) = call.input(self.name) else { return Ok(None) };
        let relation = &call.inputs[input];
        require_columns(function, relation, &[NODE])?;
        let has = |name: &&str| relation.schema.field_with_name(name).is_ok();
        let edges_have_id = call.inputs[0].schema.field_with_name(GRAPH_ID).is_ok();
        if edges_have_id != has(&GRAPH_ID) {
            let (with, without) = if edges_have_id { ("edges", self.name) } else { (self.name, "edges") };
            return usage_error(format!("{function}: {with} has a column graph_id and {without} has none: add it"));
        }
        let weight = self.valued.then_some(WEIGHT);
        let columns = [Some(NODE), Some(GRAPH_ID), weight].into_iter().flatten().filter(has);
        let reads = columns.map(str::to_owned).collect();
        Ok(Some((ChosenInput { function, name: self.name, input }, reads)))
    }
}

/// A relation of nodes that a call gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChosenInput {
    function: &'static str,
    name: &'static str,
    /// Which input of the call it is.
    pub(super) input: usize,
}

impl ChosenInput {
    /// The nodes of each graph by their numbers, with their values, in the order of the rows.
    ///
    /// # Errors
    /// For a node or a graph that the edges lack, and for NULL.
    pub(super) fn collect(self, run: &mut Run, graphs: &[InputGraph]) -> Result<Vec<Vec<(u32, f64)>>> {
        let Self { function, name, input } = self;
        let batches = run.collect(input)?;
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let column = |column: &str| -> Result<Option<ArrayRef>> { whole_column(&batches, column) };
        let nodes = column(NODE)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0));
        let values = match column(WEIGHT)? {
            Some(weights) => cast(&weights, &DataType::Float64)?.as_primitive::<Float64Type>().clone(),
            None => Float64Array::from(vec![1.0; count]),
        };
        let keys = KeyColumn::new(&nodes, &format!("{function}: {name}.{NODE}"))?;
        let rows_of = rows_of_graphs(&format!("{function}: {name}"), graphs, column(GRAPH_ID)?.as_ref(), count)?;
        let of_graph = |(graph, rows): (&InputGraph, Vec<u32>)| -> Result<Vec<(u32, f64)>> {
            let numbers = graph.keys.numbers(&keys.rows(&rows)?);
            let node = |(row, number): (u32, Option<u32>)| match number {
                Some(number) if values.is_valid(row as usize) => Ok((number, values.value(row as usize))),
                Some(_) => Err(execution_error(format!("{function}: {name} has a row without a {WEIGHT}"))),
                None if nodes.is_null(row as usize) => {
                    Err(execution_error(format!("{function}: {name} has a row without a node")))
                }
                None => Err(graph.context(execution_error(format!(
                    "{function}: {name} has the node {}, which is on no edge: take it out, or give nodes => with it",
                    keys.describe(row as usize)
                )))),
            };
            rows.into_iter().zip(numbers).map(node).collect()
        };
        graphs.iter().zip(rows_of).map(of_graph).collect()
    }
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
