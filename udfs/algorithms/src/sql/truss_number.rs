//! `truss_number(src, dst) OVER (...)` and `FROM truss_number(edges)`.

use arrow::datatypes::DataType;
use bonnet_sql::Function;

use super::edge::edge_function;
use super::network::Reads;

/// The registration.
pub fn truss_number() -> Function {
    edge_function("truss_number", DataType::Int64, Reads::SIMPLE, [], |_| {
        Ok(Box::new(|_, call| {
            let numbers = crate::truss_number(call.simple()?, call.host)?;
            Ok(numbers.into_iter().map(f64::from).collect())
        }))
    })
    .description(
        "The truss number of an edge: the largest k for which it is in a subgraph whose edges all are in k - 2 triangles or \
         more within it; at least 2. Direction, loops and repeats do not count; NULL for a loop and where an endpoint is NULL. \
         O(m sqrt(m) log(m)).",
    )
    .example("SELECT truss_number, count(*) AS edges FROM truss_number(karate.edges) GROUP BY 1 ORDER BY 1")
    .source("Cohen, Trusses (2008); Wang and Cheng, Truss decomposition in massive networks (2012)")
}
