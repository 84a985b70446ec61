//! Matrices on a device, and the sums that kernels take over them.

use crate::device::{Buffer, DeviceError, Memory};
use crate::kernels::elementwise::Activation;

/// RowList of a matrix on a device.
#[derive(Debug, Clone, Copy)]
pub struct RowList {
    pub(super) list: Option<Buffer>,
    pub(super) len: usize,
}

impl RowList {
    /// Their number.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The entries of a row that a warp takes; rows of more get a block. Few in tests, whose graphs are small.
pub(super) const HEAVY: usize = if cfg!(test) { 3 } else { 256 };

/// A sparse matrix on a device.
#[derive(Debug, Clone, Copy)]
pub struct Entries {
    /// Where the entries of each row start.
    pub offsets: Buffer,
    /// Their columns.
    pub columns: Buffer,
    /// Their values, or none.
    pub values: Option<Buffer>,
    /// Their numbers in the matrix that this is the transpose of, or none where they count from 0.
    pub edges: Option<Buffer>,
    /// The rows of more than [`HEAVY`] entries, and their number.
    pub(super) heavy: Option<(Buffer, usize)>,
}

/// Features on a device.
#[derive(Debug, Clone, Copy)]
pub enum DeviceFeatures {
    /// In compressed rows.
    Sparse(Entries),
    /// Dense, so many columns.
    Dense(Buffer, usize),
}

/// The gradient of an input or of parameters, to be written or added to.
#[derive(Debug, Clone, Copy)]
pub struct Sink {
    /// Where.
    pub buffer: Buffer,
    /// Whether something else has written it: then add.
    pub add: bool,
}

/// What follows the sums of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Tailing {
    pub(super) bias: Option<Buffer>,
    pub(super) activation: Activation,
    pub(super) mask: Option<Buffer>,
}

impl Tailing {
    /// Nothing.
    pub const NOTHING: Self = Self { bias: None, activation: Activation::Identity, mask: None };
}

/// The code of an activation in the kernels, and its slope below 0.
pub(crate) fn code(activation: Activation) -> (u32, f32) {
    match activation {
        Activation::Identity => (0, 0.0),
        Activation::Relu => (1, 0.0),
        Activation::Elu => (2, 0.0),
        Activation::Leaky(slope) => (3, slope),
        Activation::Tanh => (4, 0.0),
        Activation::Sigmoid => (5, 0.0),
    }
}

/// A sum along the entries of rows: see `spmm` in the kernels.
#[derive(Debug, Clone, Copy)]
pub struct Gather {
    /// The entries.
    pub entries: Entries,
    /// Their weights, `heads` an entry, in the order of their numbers; 1 without.
    pub weights: Option<Buffer>,
    /// The number of weights an entry; they share the columns evenly.
    pub heads: usize,
    /// A mask of elements (row, column), or (column, row) if the flag is set.
    pub mask: Option<(Buffer, bool)>,
    /// What is gathered, and its stored columns.
    pub x: (Buffer, usize),
    /// How many of them, from the first.
    pub width: usize,
    /// The factor of the sums.
    pub scale: f32,
    /// A matrix that is added, its stored columns and its factor.
    pub base: Option<(Buffer, usize, f32)>,
    /// Whether the output is added to.
    pub add: bool,
    /// What follows.
    pub tail: Tailing,
    /// The output, and its stored columns.
    pub out: (Buffer, usize),
}

impl Gather {
    /// `out = entries * x`, both of `width` stored columns, with the entries' own values.
    pub fn plain(entries: Entries, x: Buffer, width: usize, out: Buffer) -> Self {
        Self {
            entries,
            weights: entries.values,
            heads: 1,
            mask: None,
            x: (x, width),
            width,
            scale: 1.0,
            base: None,
            add: false,
            tail: Tailing::NOTHING,
            out: (out, width),
        }
    }
}

/// Copies a sparse matrix to the device.
pub(super) fn hold(
    memory: &mut Memory<'_>,
    offsets: &[usize],
    columns: &[u32],
    values: &[f32],
) -> Result<Entries, DeviceError> {
    let lengths = offsets.windows(2).enumerate();
    let heavy: Vec<u32> = lengths.filter(|(_, row)| row[1] - row[0] > HEAVY).map(|(row, _)| row as u32).collect();
    let too_many = |_| DeviceError::Failed(format!("{} entries: a GPU takes fewer than 2^32", columns.len()));
    let offsets: Vec<u32> = offsets.iter().map(|&at| u32::try_from(at)).collect::<Result<_, _>>().map_err(too_many)?;
    Ok(Entries {
        offsets: memory.hold(&offsets)?,
        columns: memory.hold(columns)?,
        values: if values.is_empty() { None } else { Some(memory.hold(values)?) },
        edges: None,
        heavy: if heavy.is_empty() { None } else { Some((memory.hold(&heavy)?, heavy.len())) },
    })
}
