//! Where the entries of a sparse matrix stand, by row and by column: what every operation along edges shares.

use std::sync::Arc;

use candle_core::{Device, Result, Tensor, bail};

/// A list of numbers where the operations on a device read it.
#[derive(Debug)]
pub(super) enum Words {
    /// On the CPU.
    Host(Vec<u32>),
    /// On another device.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "the only other device is a GPU"))]
    Device(Tensor),
}

impl Words {
    fn new(words: Vec<u32>, device: &Device) -> Result<Self> {
        Ok(match device {
            Device::Cpu => Self::Host(words),
            device => {
                let len = words.len();
                Self::Device(Tensor::from_vec(words, len, device)?)
            }
        })
    }

    /// The numbers on the CPU.
    pub(super) fn host(&self) -> Result<&[u32]> {
        match self {
            Self::Host(words) => Ok(words),
            Self::Device(_) => bail!("the matrix is on another device than the tensor"),
        }
    }
}

/// The entries of a matrix by row, or by column.
#[derive(Debug)]
pub(super) struct Side {
    /// The number of rows, or columns.
    pub n: usize,
    /// Where the entries of each start; one more at the end.
    pub offsets: Words,
    /// The column, or row, of each entry.
    pub others: Words,
    /// The number of each entry by row; none where that is its place.
    pub entries: Option<Words>,
}

/// A matrix's side on the CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostSide<'a> {
    pub offsets: &'a [u32],
    pub others: &'a [u32],
    pub entries: Option<&'a [u32]>,
}

impl Side {
    /// On the CPU.
    pub(super) fn host(&self) -> Result<HostSide<'_>> {
        let entries = self.entries.as_ref().map(Words::host).transpose()?;
        Ok(HostSide { offsets: self.offsets.host()?, others: self.others.host()?, entries })
    }
}

impl HostSide<'_> {
    /// The places of the entries of a row.
    pub(super) fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// The number of the entry at a place.
    pub(super) fn entry(&self, place: usize) -> usize {
        self.entries.map_or(place, |entries| entries[place] as usize)
    }
}

/// The places of the entries of a sparse matrix. Entry `e` in row `i` and column `j` is an edge from the source `j` to the
/// target `i`; a quantity of edges is a tensor with a row for each, in the order of the rows.
///
/// Its methods are the operations along edges; each is differentiable in its tensors.
#[derive(Debug)]
pub struct Pattern {
    pub(super) by_row: Side,
    pub(super) by_column: Side,
    n_entries: usize,
}

impl Pattern {
    /// The entries of the rows `offsets[i]..offsets[i + 1]` of `columns`, below `n_columns`. O(rows + columns + entries).
    ///
    /// # Errors
    /// If there are 2^32 entries or more, or the device fails.
    pub fn new(offsets: &[usize], columns: &[u32], n_columns: usize, device: &Device) -> Result<Arc<Self>> {
        if u32::try_from(columns.len()).is_err() {
            bail!("a sparse matrix on tensors has fewer than 2^32 entries, not {}", columns.len());
        }
        let n_rows = offsets.len() - 1;
        let mut starts = vec![0u32; n_columns + 1];
        columns.iter().for_each(|&column| starts[column as usize + 1] += 1);
        for column in 0..n_columns {
            starts[column + 1] += starts[column];
        }
        let (mut next, mut rows, mut entries) = (starts.clone(), vec![0; columns.len()], vec![0; columns.len()]);
        for row in 0..n_rows {
            for entry in offsets[row]..offsets[row + 1] {
                let place = &mut next[columns[entry] as usize];
                (rows[*place as usize], entries[*place as usize]) = (row as u32, entry as u32);
                *place += 1;
            }
        }
        let words = |words| Words::new(words, device);
        let by_row = Side {
            n: n_rows,
            offsets: words(offsets.iter().map(|&offset| offset as u32).collect())?,
            others: words(columns.to_vec())?,
            entries: None,
        };
        let by_column =
            Side { n: n_columns, offsets: words(starts)?, others: words(rows)?, entries: Some(words(entries)?) };
        Ok(Arc::new(Self { by_row, by_column, n_entries: columns.len() }))
    }

    /// The number of entries.
    pub fn n_entries(&self) -> usize {
        self.n_entries
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.by_row.n
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.by_column.n
    }

    /// The side that results stand on: rows, or columns where the matrix is turned.
    pub(super) fn side(&self, turned: bool) -> &Side {
        if turned { &self.by_column } else { &self.by_row }
    }
}
