//! Graphs as compressed sparse rows, traversal, components and random draws: plain Rust, no Arrow, no SQL.
//!
//! Nodes are the integers `0..n`. Whoever holds other keys numbers them first; kernels that need an order of the keys
//! (`b before c`) rely on the numbers being in key order.
//!
//! * [`Graph`]: undirected and simple, neighbours in ascending order; [`Digraph`]: arcs.
//! * [`connected_components`].
//! * [`Monitor`]: how a kernel asks whether to go on, reserves memory ([`Reservation`]) and reports progress;
//!   [`Unmonitored`] where nobody watches.
//!
//! ```
//! use bonnet_graph::{Graph, connected_components};
//!
//! // A triangle with a tail, and a node by itself. Repeats and loops do not count.
//! let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 3)]);
//! assert_eq!(graph.n_edges(), 4);
//! assert_eq!(graph.neighbors(2), [0, 1, 3]);
//! assert_eq!(connected_components(&graph).sizes, [4, 1]);
//! ```

mod components;
mod graph;
mod monitor;
pub mod random;

pub use components::{Components, connected_components};
pub use graph::{Digraph, Graph};
pub use monitor::{Monitor, Reservation, Stopped, Unmonitored};
