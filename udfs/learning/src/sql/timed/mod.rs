//! Items of a graph, and the graph as it was at their times.

pub(super) mod graph_items;
pub(super) mod rows;
