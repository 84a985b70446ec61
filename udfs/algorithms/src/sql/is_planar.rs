//! `is_planar(edges)`.

use bonnet_sql::Function;

use super::network::{Reads, booleans};
use super::relation::{Answer, boolean, graph_function};

/// The registration.
pub fn is_planar() -> Function {
    graph_function("is_planar", &[], Reads::SIMPLE, [], |_| {
        Ok(Answer::new(vec![boolean("is_planar")], |call| {
            Ok(vec![booleans(vec![crate::is_planar(call.simple()?, call.host)?])])
        }))
    })
    .returns("is_planar; graph_id in front where edges have it")
    .description(
        "Whether the graph can be drawn in the plane without crossing edges: a row for each graph. Direction, loops \
         and repeats do not count. O(n + m log m).",
    )
    .example("SELECT is_planar FROM is_planar(karate.edges)")
    .source("de Fraysseix and Rosenstiehl; Brandes, The left-right planarity test (2009)")
}
