//! Operations on a GPU, as launches of kernels, which the tests run on the host.

use candle_core::{Result, Shape};

use crate::ground::random::Dropout;

/// The threads of a block.
pub const THREADS: usize = 256;
/// The rows that a block of a kernel "by warp" computes.
const WARPS: usize = 8;

/// Every kernel of `kernels.cu`.
#[cfg(test)]
pub(crate) const KERNELS: &[&str] = &[
    "edge_sum",
    "edge_sum_heavy",
    "edge_dots",
    "edge_take",
    "edge_softmax",
    "edge_dropout",
    "segment_max",
    "segment_max_gradient",
    "dropout",
    "activate",
    "activation_slope",
    "add_row",
    "nll",
    "nll_gradient",
    "adam",
    "sgd",
];

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
}

impl From<Option<u64>> for Arg {
    fn from(address: Option<u64>) -> Self {
        Self::Address(address.unwrap_or(0))
    }
}

/// An address.
impl From<u64> for Arg {
    fn from(address: u64) -> Self {
        Self::Address(address)
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

/// Numbers of rows and columns: a matrix has fewer than 2^32 of either.
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

/// Arguments of a kernel in order.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { vec![$($crate::ops::kernel::Arg::from($arg)),*] };
}
pub(super) use args;

/// A kernel with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// The kernel's name in `kernels.cu`.
    pub kernel: &'static str,
    /// The number of blocks of [`THREADS`] threads.
    pub blocks: u32,
    /// The kernel's arguments.
    pub args: Vec<Arg>,
}

impl Launch {
    /// A warp for each of `rows` rows, their number the first argument; none where there are none.
    pub(super) fn by_warp(kernel: &'static str, rows: usize, mut args: Vec<Arg>) -> Option<Self> {
        args.insert(0, rows.into());
        (rows > 0).then(|| Self { kernel, blocks: rows.div_ceil(WARPS) as u32, args })
    }

    /// A thread for each of `len` elements, their number the first argument; none where there are none.
    pub(super) fn by_element(kernel: &'static str, len: usize, mut args: Vec<Arg>) -> Option<Self> {
        args.insert(0, Arg::Long(len as u64));
        (len > 0).then(|| Self { kernel, blocks: len.div_ceil(THREADS) as u32, args })
    }
}

/// A mask as four arguments.
pub(super) fn mask_args(mask: Dropout) -> [Arg; 4] {
    let [threshold, row_key, column_key, scale] = mask.record();
    [Arg::Word(threshold), Arg::Word(row_key), Arg::Word(column_key), Arg::Real(f32::from_bits(scale))]
}

/// An input of an operation on a device: where its numbers stand, without gaps, and its shape.
#[derive(Debug, Clone, Copy)]
pub struct DeviceInput<'a> {
    /// The address of the first one.
    pub address: u64,
    /// Rows and columns.
    pub dims: &'a [usize],
}

/// An operation on numbers of type `f32` on a device.
pub trait Kernel {
    /// The shape of the result.
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape;

    /// The launches that compute the result, every number of it.
    ///
    /// # Errors
    /// If a matrix of the operation is on another device.
    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>>;
}
