//! From graphs to complexes: the aggregates `graph_betti` and `clique_complex`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray};
use arrow::datatypes::DataType;
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Function, KeyColumn, KeyIndex, Options, Parameter, execution_error,
    stopped, usage_error,
};
use datafusion::common::{Result, ScalarValue};
use serde::{Deserialize, Serialize};

use super::column::{facets_array, facets_type, fault, list_of};
use crate::FlatFacets;

/// The registration of `graph_betti`.
pub fn graph_betti() -> Function {
    Function::new("graph_betti", Body::Aggregate(Arc::new(GraphBetti)))
        .parameters([
            Parameter::column("src", "One end of the edge: integers or text."),
            Parameter::column("dst", "The other end."),
        ])
        .returns("BIGINT[]")
        .description(
            "The Betti numbers of the graph of the rows, undirected and simple: its connected components, and its \
             independent cycles m - n + components. A loop makes a node, no edge. Rows with a NULL end do not count; no \
             rows give NULL.",
        )
        .example("SELECT graph_betti(src, dst) FROM karate.edges")
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 2")
}

/// The registration of `clique_complex`.
pub fn clique_complex() -> Function {
    Function::new("clique_complex", Body::Aggregate(Arc::new(CliqueComplex)))
        .parameters([
            Parameter::column("src", "One end of the edge: integers from 0 on, which become the vertices."),
            Parameter::column("dst", "The other end."),
            Parameter::integer("max_dim", "The largest dimension of a facet; NULL for maximal cliques of any size.")
                .optional(),
        ])
        .returns("INT[][]")
        .description(
            "The facets of the clique complex of the graph of the rows, undirected and simple: its maximal cliques or, \
             with max_dim => d, its cliques of d + 1 nodes and the maximal ones below that. A loop makes a node, no edge. \
             Rows with a NULL end do not count; no rows give NULL.",
        )
        .example("SELECT betti_numbers(clique_complex(src, dst, max_dim => 2)) FROM karate.edges")
        .source("Eppstein, Loeffler and Strash, Listing All Maximal Cliques in Sparse Graphs in Near-optimal Time (ISAAC \
                 2010)")
}

#[derive(Debug)]
struct GraphBetti;

impl AggregateFunction for GraphBetti {
    fn data_type(&self) -> DataType {
        list_of(DataType::Int64)
    }

    fn holds_rows(&self) -> bool {
        true
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Edges { name: "graph_betti", answer: betti, max_dimension: None, rows: Rows::default() }))
    }
}

#[derive(Debug)]
struct CliqueComplex;

impl AggregateFunction for CliqueComplex {
    fn heavy(&self) -> bool {
        true
    }

    fn data_type(&self) -> DataType {
        facets_type()
    }

    fn holds_rows(&self) -> bool {
        true
    }

    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>> {
        let max_dimension = options.integer_from("max_dim", 0)?.map(|dimension| dimension as usize);
        Ok(Box::new(Edges { name: "clique_complex", answer: cliques, max_dimension, rows: Rows::default() }))
    }
}

/// The ends of the rows that a group has seen, as they came: all integers, or all text.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Rows {
    integers: Vec<[i64; 2]>,
    texts: Vec<[String; 2]>,
    /// The bytes of all texts.
    length: usize,
}

impl Rows {
    fn is_empty(&self) -> bool {
        self.integers.is_empty() && self.texts.is_empty()
    }

    /// The keys in order, and the graph over their numbers.
    fn graph(&self, monitor: &dyn Monitor) -> Result<(KeyIndex, Graph)> {
        let rows = self.integers.len().max(self.texts.len());
        let bytes = rows * 64 + Graph::bytes(2 * rows, rows);
        let _room = Reservation::new(monitor, bytes).map_err(stopped)?;
        let column = |end: usize| match self.texts.is_empty() {
            true => KeyColumn::Integer(self.integers.iter().map(|row| Some(row[end])).collect::<Int64Array>()),
            false => KeyColumn::Text(self.texts.iter().map(|row| Some(&row[end])).collect::<StringArray>()),
        };
        let (src, dst) = (column(0), column(1));
        let keys = KeyIndex::new(&[("src", &src), ("dst", &dst)])?;
        let ends = keys.numbers(&src).into_iter().zip(keys.numbers(&dst));
        let edges: Vec<(u32, u32)> = ends.filter_map(|(u, v)| Some((u?, v?))).collect();
        let graph = Graph::from_edges(keys.len(), &edges);
        Ok((keys, graph))
    }
}

type Answer = fn(&Edges, &dyn Monitor) -> Result<ScalarValue>;

#[derive(Debug)]
struct Edges {
    name: &'static str,
    answer: Answer,
    max_dimension: Option<usize>,
    rows: Rows,
}

fn betti(edges: &Edges, monitor: &dyn Monitor) -> Result<ScalarValue> {
    if edges.rows.is_empty() {
        return ScalarValue::try_from(&list_of(DataType::Int64));
    }
    let (_, graph) = edges.rows.graph(monitor)?;
    let values = crate::graph_betti(&graph).map(|rank| ScalarValue::from(rank as i64));
    Ok(ScalarValue::List(ScalarValue::new_list_nullable(&values, &DataType::Int64)))
}

fn cliques(edges: &Edges, monitor: &dyn Monitor) -> Result<ScalarValue> {
    if edges.rows.is_empty() {
        return ScalarValue::try_from(&facets_type());
    }
    let (keys, graph) = edges.rows.graph(monitor)?;
    let KeyIndex::Integer { keys, .. } = keys else {
        return usage_error(
            "clique_complex: the nodes are text, and the vertices of a complex are integers; number them first, e.g. by \
             dense_rank()",
        );
    };
    if let Some(key) = keys.first().filter(|key| **key < 0) {
        return Err(execution_error(format!("clique_complex: the node {key} is negative; vertices count from 0")));
    }
    let found =
        crate::clique_complex(&graph, edges.max_dimension, monitor).map_err(|error| fault(edges.name, error))?;
    let mut facets = FlatFacets::default();
    found.iter().for_each(|clique| facets.push(clique.iter().map(|&v| keys[v as usize])));
    drop(found);
    ScalarValue::try_from_array(&facets_array(&[Some(facets)], edges.name, monitor)?, 0)
}

impl AggregateState for Edges {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let end = |column: usize, what: &str| KeyColumn::new(&columns[column], &format!("{}: {what}", self.name));
        match (end(0, "src")?, end(1, "dst")?) {
            (KeyColumn::Integer(src), KeyColumn::Integer(dst)) => {
                let rows = src.iter().zip(&dst).filter_map(|(src, dst)| Some([src?, dst?]));
                self.rows.integers.extend(rows);
            }
            (KeyColumn::Text(src), KeyColumn::Text(dst)) => {
                let rows = src.iter().zip(&dst).filter_map(|(src, dst)| Some([src?.to_owned(), dst?.to_owned()]));
                for row in rows {
                    self.rows.length += row[0].len() + row[1].len();
                    self.rows.texts.push(row);
                }
            }
            // A column of NULLs alone has either form, and makes no edge.
            (src, dst) if nulls(&src) || nulls(&dst) => {}
            (src, dst) => {
                return usage_error(format!(
                    "{}: src is {} and dst is {}: cast one of them, e.g. CAST(src AS TEXT)",
                    self.name,
                    src.data_type(),
                    dst.data_type()
                ));
            }
        }
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let rows: Rows = serde_json::from_slice(bytes)
            .map_err(|error| execution_error(format!("{}: a partition's state is damaged: {error}", self.name)))?;
        self.rows.integers.extend(rows.integers);
        self.rows.texts.extend(rows.texts);
        self.rows.length += rows.length;
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&self.rows).unwrap_or_default()
    }

    fn value(&self, monitor: &dyn Monitor) -> Result<ScalarValue> {
        (self.answer)(self, monitor)
    }

    fn size(&self) -> usize {
        16 * self.rows.integers.capacity() + 48 * self.rows.texts.capacity() + self.rows.length
    }
}

fn nulls(column: &KeyColumn) -> bool {
    match column {
        KeyColumn::Integer(keys) => keys.null_count() == keys.len(),
        KeyColumn::Text(keys) => keys.null_count() == keys.len(),
    }
}
