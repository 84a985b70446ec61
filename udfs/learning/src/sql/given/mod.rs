//! What a call gives of its jobs beside their options: sets of graphs, pairs of nodes to train on and to test, and protocols.

pub(super) mod pairs;
pub(super) mod protocols;
pub(super) mod sets;
