//! Graphs as compressed sparse rows, traversal and components: plain Rust, no Arrow, no SQL.
//!
//! Nodes are the integers `0..n`. Whoever holds other keys numbers them first; kernels that need an order of the keys
//! (`b before c`) rely on the numbers being in key order.

mod components;
mod graph;
mod monitor;

pub use components::{Components, connected_components};
pub use graph::{Digraph, Graph};
pub use monitor::{Monitor, Reservation, Stopped, Unmonitored};
