//! Models whose layers pass messages between neighbours.

pub mod gat;
pub mod gcn;
pub mod gin;
pub mod graphsage;
pub mod mixhop;
pub mod sgc;
pub mod tag;
pub mod unimp;
