//! Runs on a GPU: buffers on a device, kernels that are launched on them, and the loop's epochs made of launches.
//!
//! A [`Device`] knows nothing of models: it holds bytes and runs a [`Tape`], a list of kernels with their arguments. A
//! program of layers is lowered to tapes once (see [`crate::program::Lower`]), for every scope one forward and one
//! backward; what changes from step to step (dropout masks, the rate) stands in a buffer that the kernels read. So an epoch
//! is the same launches again, and a few numbers come back.
//!
//! The kernels are one text, `kernels.cu`, that follows [`crate::kernels`] kernel by kernel. `nvcc` compiles it under the
//! feature `cuda`; the tests compile it for the host, where the same tapes run.

use std::any::Any;
use std::fmt::Debug;

use bonnet_graph::Stopped;

use crate::error::TrainError;

#[cfg(feature = "cuda")]
pub mod cuda;
mod engine;
#[cfg(test)]
mod host;
mod memory;
mod place;
#[cfg(test)]
mod tests;

pub(crate) use engine::DeviceEngine;
pub use memory::{Buffer, Memory, Plain};
pub use place::Place;
#[cfg(test)]
pub(crate) use tests::devices;

/// The threads of a block.
pub const THREADS: usize = 256;
/// The rows that a block of a kernel "by warp" computes.
pub const WARPS: usize = 8;

/// Every kernel of `kernels.cu`.
pub const KERNELS: &[&str] = &[
    "spmm",
    "spmm_heavy",
    "segment_max",
    "segment_max_gradient",
    "edge_dots",
    "edge_pair_scores",
    "edge_through_gate",
    "edge_scale",
    "edge_softmax",
    "edge_softmax_gradient",
    "edge_sums",
    "head_dots",
    "head_scale",
    "gemm",
    "gemm_tn",
    "column_sums",
    "dot_partials",
    "sum_partials",
    "fill",
    "copy",
    "clear_rows",
    "clear_padding",
    "gate_rows",
    "add_rows",
    "copy_columns",
    "multiply_rows",
    "scale_rows",
    "row_dots",
    "mean_heads",
    "mean_heads_gradient",
    "smooth",
    "smooth_gradient",
    "row_softmax",
    "row_softmax_gradient",
    "unit_rows",
    "unit_rows_gradient",
    "layer_norm",
    "layer_norm_gradient",
    "pool_rows",
    "pool_rows_gradient",
    "coefficients",
    "coefficients_gradient",
    "nll",
    "sum_doubles",
    "square_sums",
    "adam",
    "sgd",
];

/// Why an operation of a device failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DeviceError {
    /// Something without kernels: the run goes to the CPU.
    #[error("there are no kernels for {0} on a GPU")]
    Unsupported(&'static str),
    /// The device has no such room left.
    #[error("{0}")]
    OutOfMemory(String),
    /// Anything else that the device says.
    #[error("{0}")]
    Failed(String),
    /// The host.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<DeviceError> for TrainError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::OutOfMemory(text) => Self::OutOfMemory(text),
            DeviceError::Stopped(stopped) => stopped.into(),
            error => Self::Device(error.to_string()),
        }
    }
}

/// An argument of a kernel, of the type that its text declares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arg {
    /// A pointer; 0 is null.
    Address(u64),
    /// `u32`.
    Word(u32),
    /// `float`.
    Real(f32),
    /// `u64`.
    Long(u64),
    /// `double`.
    Double(f64),
}

impl Arg {
    /// The bits, from the lowest.
    pub fn bits(self) -> u64 {
        match self {
            Self::Address(bits) | Self::Long(bits) => bits,
            Self::Word(word) => u64::from(word),
            Self::Real(x) => u64::from(x.to_bits()),
            Self::Double(x) => x.to_bits(),
        }
    }
}

impl From<Buffer> for Arg {
    fn from(buffer: Buffer) -> Self {
        Self::Address(buffer.address())
    }
}

impl From<Option<Buffer>> for Arg {
    fn from(buffer: Option<Buffer>) -> Self {
        Self::Address(buffer.map_or(0, Buffer::address))
    }
}

impl From<u32> for Arg {
    fn from(word: u32) -> Self {
        Self::Word(word)
    }
}

impl From<bool> for Arg {
    fn from(flag: bool) -> Self {
        Self::Word(u32::from(flag))
    }
}

/// Numbers of rows and columns: a graph has fewer than 2^32 of either.
impl From<usize> for Arg {
    fn from(size: usize) -> Self {
        debug_assert!(u32::try_from(size).is_ok(), "{size}");
        Self::Word(size as u32)
    }
}

impl From<f32> for Arg {
    fn from(x: f32) -> Self {
        Self::Real(x)
    }
}

impl From<f64> for Arg {
    fn from(x: f64) -> Self {
        Self::Double(x)
    }
}

/// Arguments of a kernel in order.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { vec![$($crate::device::Arg::from($arg)),*] };
}
pub(crate) use args;

/// A kernel with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// One of [`KERNELS`].
    pub kernel: &'static str,
    /// The number of blocks of [`THREADS`] threads.
    pub blocks: u32,
    /// What it is given.
    pub args: Vec<Arg>,
}

/// Launches one after the other.
#[derive(Debug, Default)]
pub struct Tape {
    /// The launches.
    pub launches: Vec<Launch>,
    /// What a device keeps between its runs.
    pub kept: Option<Box<dyn Any + Send>>,
}

impl Tape {
    /// The tape of some launches.
    pub fn new(launches: Vec<Launch>) -> Self {
        Self { launches, kept: None }
    }
}

/// A device as one run sees it: a queue that does one thing after the other.
pub trait Device: Send + Sync + Debug {
    /// The word of the column `device`.
    fn name(&self) -> &'static str;

    /// Room that holds anything at first.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if there is none.
    fn allocate(&self, bytes: usize) -> Result<u64, DeviceError>;

    /// Gives room back.
    fn free(&self, address: u64, bytes: usize);

    /// Copies bytes to the device, after the operations queued before.
    ///
    /// # Errors
    /// If the device fails.
    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Waits for the operations queued before, and copies bytes from the device.
    ///
    /// # Errors
    /// If the device fails, now or in an operation queued before.
    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Runs the launches of a tape, after the operations queued before; may return earlier.
    ///
    /// # Errors
    /// If the device fails.
    fn run(&self, tape: &mut Tape) -> Result<(), DeviceError>;
}
