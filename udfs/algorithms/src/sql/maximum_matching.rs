//! `maximum_matching(src, dst) OVER (...)` and `FROM maximum_matching(edges)`.

use arrow::datatypes::DataType;
use bonnet_sql::Function;

use super::edge::edge_function;
use super::network::Reads;

/// The registration.
pub fn maximum_matching() -> Function {
    edge_function("maximum_matching", DataType::Boolean, Reads::SIMPLE, [], |_| {
        Ok(Box::new(|network, call| {
            let mate = crate::maximum_matching(call.simple()?, call.host)?;
            let arcs = (0..network.n_nodes() as u32).flat_map(|u| network.out.of(u).iter().map(move |&v| (u, v)));
            Ok(arcs.map(|(u, v)| f64::from(mate[u as usize] == Some(v))).collect())
        }))
    })
    .description(
        "Whether an edge is in a maximum matching: as many edges as can be without a common node. Of several such \
         matchings one, the same each time. Direction, loops and repeats do not count (rows that repeat an edge answer \
         alike); NULL for a loop and where an endpoint is NULL. O(n m) at worst.",
    )
    .example("SELECT count(*) FROM maximum_matching(karate.edges) WHERE maximum_matching")
    .source("Edmonds, Paths, trees, and flowers (1965)")
}
