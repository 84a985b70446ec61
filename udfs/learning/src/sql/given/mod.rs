//! What a call gives beside its jobs: pairs of nodes to train on and to test, and protocols.

pub(super) mod pairs;
pub(super) mod protocols;
