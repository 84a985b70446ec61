//! `minimum_spanning_tree(src, dst [, weight]) OVER (...)` and `FROM minimum_spanning_tree(edges [, weight =>
//! column])`.

use arrow::datatypes::DataType;
use bonnet_sql::Function;

use super::edge::edge_function;
use super::network::Reads;

/// The registration.
pub fn minimum_spanning_tree() -> Function {
    let reads = Reads::SIMPLE.weights("The length of the edge, of either sign; 1 for all without it. A sum of weights beyond a DOUBLE is an error.").signed();
    edge_function("minimum_spanning_tree", DataType::Boolean, reads, [], |_| {
        Ok(Box::new(|network, call| {
            let tree = crate::minimum_spanning_tree(network, call.host)?;
            Ok(tree.into_iter().map(f64::from).collect())
        }))
    })
    .description(
        "Whether an edge is in a minimum spanning forest: a tree in each component that joins its nodes, with the \
         least sum of weights. Of several such forests one, the same each time. Direction, loops and repeats do not \
         count (rows that repeat an edge answer alike); NULL for a loop and where an endpoint is NULL. O(m log m).",
    )
    .example("SELECT count(*) FROM minimum_spanning_tree(karate.edges) WHERE minimum_spanning_tree")
    .source("Kruskal, On the shortest spanning subtree of a graph (1956); petgraph's min_spanning_tree")
}
