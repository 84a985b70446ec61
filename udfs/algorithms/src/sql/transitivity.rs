//! `transitivity(src, dst)`.

use bonnet_sql::{Function, graph_aggregate};

/// The registration.
pub fn transitivity() -> Function {
    graph_aggregate("transitivity", |graph, monitor| crate::transitivity(graph, monitor).map(Some))
        .heavy()
        .description(
            "The share of paths of length two whose endpoints are adjacent: three times the triangles over the paths. 0 without \
             a path, NULL without rows. Direction, loops and repeats do not count. O(m sqrt(m)).",
        )
        .example("SELECT transitivity(src, dst) FROM karate.edges")
        .source("Newman, Watts and Strogatz, Random graph models of social networks (2002), Eq. 2")
}
