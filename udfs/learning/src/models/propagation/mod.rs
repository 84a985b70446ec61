//! Models that transform rows and propagate them apart from each other.

pub mod appnp;
pub mod bernnet;
pub mod gprgnn;
pub mod pcnet;
