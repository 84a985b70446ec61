//! What a call gives of its jobs beside their options: sets of graphs, pairs of nodes to train on and to test, protocols, and the
//! share of the jobs that it runs.

pub(super) mod pairs;
pub(super) mod protocols;
pub(super) mod sets;
pub(super) mod share;
