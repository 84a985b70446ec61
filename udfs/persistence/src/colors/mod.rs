//! Colours of nodes by the Weisfeiler-Leman tests, by which graphs are told apart.

mod first_colors;
mod graph_set;
mod hashed_rounds;
mod hashing;
mod numbers;
mod pair_colors;
mod refinement;
#[cfg(test)]
pub(crate) mod testing;
mod wl_colors;
mod wl_hash;

pub use first_colors::Substructures;
pub(crate) use first_colors::first_labels;
pub use graph_set::GraphSet;
pub(crate) use refinement::Refinement;
pub use wl_colors::{WlDimension, WlOptions, wl_colors};
pub use wl_hash::wl_hash;
