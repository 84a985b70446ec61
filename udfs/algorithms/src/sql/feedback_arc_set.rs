//! `feedback_arc_set(src, dst) OVER (...)` and `FROM feedback_arc_set(edges)`.

use arrow::datatypes::DataType;
use bonnet_sql::Function;

use super::edge::edge_function;
use super::network::Reads;

/// The registration.
pub fn feedback_arc_set() -> Function {
    edge_function("feedback_arc_set", DataType::Boolean, Reads::ARCS, [], |_| {
        Ok(Box::new(|network, call| {
            let set = crate::feedback_arc_set(network, call.host)?;
            Ok(set.into_iter().map(f64::from).collect())
        }))
    })
    .description(
        "Whether an arc, src to dst, is in a feedback arc set: without these no cycle is left, so that \
         topological_sort has an order. Few arcs, not always the fewest. Repeats do not count (rows that repeat an arc \
         answer alike); NULL for a loop and where an endpoint is NULL. O(n + m).",
    )
    .example(
        "SELECT count(*) FROM feedback_arc_set((SELECT * FROM (VALUES (1, 2), (2, 3), (3, 1), (3, 4)) e(src, dst))) \
         WHERE feedback_arc_set",
    )
    .source(
        "Eades, Lin and Smyth, A fast and effective heuristic for the feedback arc set problem (1993); petgraph's \
         greedy_feedback_arc_set",
    )
}
