//! `is_bipartite(src, dst)`.

use bonnet_sql::{Function, graph_aggregate};

/// The registration.
pub fn is_bipartite() -> Function {
    graph_aggregate("is_bipartite", |graph, monitor| crate::is_bipartite(graph, monitor).map(Some))
        .description(
            "Whether nodes fall into two sets without an edge inside either: no cycle has odd length. Direction, loops \
             and repeats do not count; NULL without rows. O(n + m).",
        )
        .example("SELECT is_bipartite(src, dst) FROM karate.edges")
        .source("König, Theorie der endlichen und unendlichen Graphen (1936)")
}
