//! Where runs go, and runs on a device: the program as its definition says, on candle's tensors.

mod backend;
#[cfg(feature = "cuda")]
mod gpu;
mod place;
#[cfg(test)]
mod tests;

pub(crate) use backend::TensorBackend;
pub(crate) use place::Lease;
pub use place::Place;
