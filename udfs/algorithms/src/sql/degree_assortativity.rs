//! `degree_assortativity(src, dst)`.

use bonnet_sql::{Function, graph_aggregate};

/// The registration.
pub fn degree_assortativity() -> Function {
    graph_aggregate("degree_assortativity", |graph, _| Ok(crate::degree_assortativity(graph)))
        .description(
            "The correlation of the degrees at both endpoints of an edge, each edge taken both ways; NULL where all degrees at edges \
             are the same. Direction, loops and repeats do not count. O(n + m).",
        )
        .example("SELECT degree_assortativity(src, dst) FROM karate.edges")
        .source("Newman, Mixing patterns in networks (2003), Eq. 21")
}
