//! What a run of an operator gets: inputs, graphs, and its host.

pub(crate) mod cached_input;
pub(crate) mod input_graph;
pub(crate) mod run;
pub(crate) mod spilled_graph;
