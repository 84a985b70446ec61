//! Calls in logical plans: their node, and the rules that rewrite it.

pub(crate) mod edge_windows;
pub(crate) mod explain;
pub(crate) mod group_once;
pub(crate) mod node;
pub(crate) mod rules;
pub(crate) mod sources;
