//! `effective_resistance`, `resistance_curvature` (edge functions) and `node_resistance_curvature(edges ...)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, EdgeFunction, EdgeRows, Function, InputGraph, Operator, Options, Parameter, Run, bind_graph,
    collect_weighted_graphs, execution_error, require_columns, stopped, usage_error, with_graph_id,
};
use datafusion::common::{DataFusionError, Result};
use rayon::prelude::*;

use super::rows::{Named, edge_values};
use crate::ResistanceError;

const NODES: &str = "node_resistance_curvature";
/// Bytes of the answer for a node: key and value, each with its validity.
const ROW_BYTES: usize = 24;
const SOURCE: &str = "Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Eq. 3 and 9; \
                      Devriendt and Lambiotte, Discrete curvature on graphs from the effective resistance (2022)";

type Kernel = fn(&Graph, Option<&[f64]>, &dyn Monitor) -> Result<Vec<f64>, ResistanceError>;

/// The registrations of the edge functions.
pub fn edge_functions() -> Vec<Function> {
    let function = |name, kernel: Kernel| {
        Function::new(name, Body::Edge(Arc::new(OfEdges { name, kernel })))
            .parameters([
                Parameter::column("src", "One end of the edge: integers or text."),
                Parameter::column("dst", "The other end."),
                Parameter::number_column("weight", "The edge's own resistance (a cost), positive; 1 where left out.")
                    .optional(),
            ])
            .returns("DOUBLE")
            .source(SOURCE)
    };
    vec![
        function("effective_resistance", crate::effective_resistance)
            .description(
                "The effective resistance between the ends of an edge, when the undirected simple graph of the rows is a \
                 network of resistors; in each component by itself. At most the edge's own resistance, which it is on a \
                 bridge; over those, the values sum to nodes - components. Exact, by elimination without cancellation. \
                 NULL for a loop and where an end is NULL.",
            )
            .example(
                "SELECT src, dst, effective_resistance FROM effective_resistance(karate.edges) \
                 ORDER BY effective_resistance, src, dst LIMIT 3",
            ),
        function("resistance_curvature", crate::resistance_curvature)
            .description(
                "The resistance curvature of an edge: 2 (p_i + p_j) / R_ij, with the effective resistance R_ij and the node \
                 resistance curvatures p of its ends; in each component by itself. On a tree it is forman_ricci. NULL for a \
                 loop and where an end is NULL.",
            )
            .example(
                "SELECT src, dst, resistance_curvature(src, dst) OVER () AS curvature FROM karate.edges \
                 ORDER BY curvature, src, dst LIMIT 3",
            ),
    ]
}

/// The registration of `node_resistance_curvature`.
pub fn node_resistance_curvature() -> Function {
    Function::new(NODES, Body::Relation(Arc::new(OfNodes)))
        .parameters([
            Parameter::relation("edges", "The edges: src, dst; with graph_id, each graph is computed apart."),
            Parameter::relation("nodes", "The nodes: node; adds the isolated ones.").optional(),
            Parameter::name("weight", "The column with an edge's own resistance (a cost), positive; 1 where left out.")
                .optional(),
        ])
        .returns("node, curvature; graph_id in front where edges have it")
        .description(
            "The resistance curvature of every node: 1 - half of the sum, over its edges, of the effective resistance over \
             the edge's own. The nodes of a component sum to 1; an isolated node has 1.",
        )
        .example(
            "SELECT node, curvature FROM node_resistance_curvature(karate.edges, nodes => karate.nodes) \
             ORDER BY curvature, node LIMIT 3",
        )
        .source(SOURCE)
}

fn failed(function: &str, error: ResistanceError) -> DataFusionError {
    match error {
        ResistanceError::Stopped(reason) => stopped(reason),
        error => execution_error(format!("{function}: {error}")),
    }
}

#[derive(Debug)]
struct OfEdges {
    name: &'static str,
    kernel: Kernel,
}

impl EdgeFunction for OfEdges {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn compute(&self, edges: &EdgeRows<'_>, _: &Options, monitor: &dyn Monitor) -> Result<ArrayRef> {
        let named = Named { function: self.name, id: edges.id, keys: edges.keys };
        let own = match &edges.weights {
            Some(weights) => Some(named.resistances(edges.graph, edges.rows, weights.iter().copied())?),
            None => None,
        };
        let values = (self.kernel)(edges.graph, own.as_deref(), monitor).map_err(|error| failed(self.name, error))?;
        Ok(edge_values(edges, &values))
    }
}

#[derive(Debug)]
struct OfNodes;

impl Operator for OfNodes {
    fn bind(&self, call: &Call) -> Result<Binding> {
        let (key, mut reads) = bind_graph(NODES, call)?;
        if let Some(weight) = call.options.text("weight")? {
            let edges = &call.inputs[0];
            require_columns(NODES, edges, &[weight])?;
            let given = edges.schema.field_with_name(weight)?.data_type();
            if !given.is_numeric() && *given != DataType::Null {
                return usage_error(format!("{NODES}: the weight {weight} is {given}, not a number"));
            }
            reads[0].push(weight.to_owned());
        }
        let fields = vec![Field::new("node", key, true), Field::new("curvature", DataType::Float64, true)];
        Ok(Binding { schema: with_graph_id(&call.inputs[0], fields), reads, carries: None })
    }

    fn run(&self, call: &Call, run: &mut Run) -> Result<()> {
        let weight = call.options.text("weight")?;
        let (graphs, weights) = collect_weighted_graphs(run, NODES, 0, call.input("nodes"), weight)?;
        let host = run.host();
        let one = |graph: &InputGraph| -> Result<Vec<f64>> {
            host.check().map_err(stopped)?;
            let _room = Reservation::new(host, Graph::bytes(graph.n_nodes(), graph.arcs.len())).map_err(stopped)?;
            let simple = Graph::from_edges(graph.n_nodes(), &graph.arcs);
            let named = Named { function: NODES, id: graph.id.as_ref(), keys: &graph.keys };
            let own = match &weights {
                Some(weights) => {
                    let weights = graph.positions.iter().map(|&row| weights[row as usize]);
                    Some(named.resistances(&simple, &graph.rows, weights)?)
                }
                None => None,
            };
            crate::node_resistance_curvature(&simple, own.as_deref(), host).map_err(|error| failed(NODES, error))
        };
        let nodes: usize = graphs.iter().map(InputGraph::n_nodes).sum();
        let _room = Reservation::new(host, ROW_BYTES * nodes).map_err(stopped)?;
        let found: Vec<Result<Vec<f64>>> = run.install(|| graphs.par_iter().map(one).collect());
        for (graph, values) in graphs.iter().zip(found) {
            let mut columns: Vec<ArrayRef> = graph.id_column(graph.n_nodes())?.into_iter().collect();
            columns.push(graph.keys.array());
            columns.push(Arc::new(Float64Array::from(values?)));
            run.emit_all(columns)?;
        }
        Ok(())
    }
}
