//! From graphs to complexes: the aggregates `graph_betti` and `clique_complex`.

use bonnet_graph::{Graph, Monitor};
use bonnet_sql::{
    Function, KeyIndex, Options, Parameter, RowsKernel, execution_error, graph_aggregate, kernel_error, of_graphs,
    rows_function, usage_error,
};
use datafusion::common::Result;

use super::column::{facets_array, facets_type};
use crate::FlatFacets;

const CLIQUES: &str = "clique_complex";

/// The registration of `graph_betti`.
pub fn graph_betti() -> Function {
    graph_aggregate("graph_betti", |graph, _| Ok(crate::graph_betti(graph).map(|rank| rank as i64).to_vec()))
        .description(
            "The Betti numbers of the graph of the rows, undirected and simple: its connected components, and its \
             independent cycles m - n + components. A loop makes a node, no edge. Rows with a NULL endpoint do not count; no \
             rows give NULL.",
        )
        .example("SELECT graph_betti(src, dst) FROM karate.edges")
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 2")
}

/// The registration of `clique_complex`.
pub fn clique_complex() -> Function {
    rows_function(CLIQUES, facets_type(), bind_cliques).heavy()
        .parameters([
            Parameter::column("src", "One endpoint of the edge: integers from 0 on, which become the vertices."),
            Parameter::column("dst", "The other endpoint."),
            Parameter::integer("max_dim", "The largest dimension of a facet; NULL for maximal cliques of any size.")
                .optional(),
        ])
        .returns("INT[][]")
        .description(
            "The facets of the clique complex of the graph of the rows, undirected and simple: its maximal cliques or, \
             with max_dim => d, its cliques of d + 1 nodes and the maximal ones below that. A loop makes a node, no edge. \
             Rows with a NULL endpoint do not count; no rows give NULL.",
        )
        .example("SELECT betti_numbers(clique_complex(src, dst, max_dim => 2)) FROM karate.edges")
        .source("Eppstein, Loeffler and Strash, Listing All Maximal Cliques in Sparse Graphs in Near-optimal Time (ISAAC \
                 2010)")
}

fn bind_cliques(options: &Options) -> Result<RowsKernel> {
    let max_dimension = options.integer_from("max_dim", 0)?.map(|dimension| dimension as usize);
    Ok(Box::new(move |groups, monitor| {
        let found = of_graphs(CLIQUES, groups, monitor, |keys, graph| cliques(keys, graph, max_dimension, monitor))?;
        facets_array(&found, CLIQUES, monitor)
    }))
}

/// The facets over the keys of the nodes.
fn cliques(keys: &KeyIndex, graph: &Graph, max_dimension: Option<usize>, monitor: &dyn Monitor) -> Result<FlatFacets> {
    let KeyIndex::Integer { keys, .. } = keys else {
        return usage_error(format!(
            "{CLIQUES}: the nodes are text, and the vertices of a complex are integers; number them first, e.g. by \
             dense_rank()"
        ));
    };
    if let Some(key) = keys.first().filter(|key| **key < 0) {
        return Err(execution_error(format!("{CLIQUES}: the node {key} is negative; vertices count from 0")));
    }
    let found = crate::clique_complex(graph, max_dimension, monitor).map_err(|error| kernel_error(CLIQUES, error))?;
    let mut facets = FlatFacets::default();
    found.iter().for_each(|clique| facets.push(clique.iter().map(|&v| keys[v as usize])));
    Ok(facets)
}
