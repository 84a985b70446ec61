//! Where the entries of a sparse matrix stand, by row and by column: what every operation along edges shares.

use std::sync::Arc;

use candle_core::{Device, Result, Tensor, WithDType, bail};

use super::kernel::{Launch, args};

/// A list of numbers where the operations on a device read it.
#[derive(Debug)]
pub(super) enum List<T> {
    /// On the CPU.
    Host(Vec<T>),
    /// On another device.
    Device(Tensor),
}

impl<T: WithDType> List<T> {
    /// A list on a device.
    pub(super) fn new(mut list: Vec<T>, device: &Device) -> Result<Self> {
        Ok(match device {
            Device::Cpu => Self::Host(list),
            device => {
                if list.is_empty() {
                    // A device has no memory of no bytes.
                    list.push(T::zero());
                }
                let len = list.len();
                Self::Device(Tensor::from_vec(list, len, device)?)
            }
        })
    }

    /// The numbers on the CPU.
    pub(super) fn host(&self) -> Result<&[T]> {
        match self {
            Self::Host(list) => Ok(list),
            Self::Device(list) => bail!("the operation is on {:?}, its tensors are not", list.device().location()),
        }
    }

    /// Where the first number stands, for kernels.
    pub(super) fn address(&self) -> Result<u64> {
        match self {
            Self::Host(list) => Ok(list.as_ptr() as u64),
            #[cfg(feature = "cuda")]
            Self::Device(tensor) => super::cuda::address(tensor),
            #[cfg(not(feature = "cuda"))]
            Self::Device(_) => bail!("this build knows no other device than the CPU"),
        }
    }
}

/// A sum along more entries than these takes a whole block of threads on a GPU.
pub(super) const HEAVY: usize = 1024;

/// The entries of a matrix by row, or by column.
#[derive(Debug)]
pub(super) struct Side {
    /// The number of rows, or columns.
    pub n: usize,
    /// Where the entries of each start; one more at the end.
    pub offsets: List<u32>,
    /// The column, or row, of each entry.
    pub others: List<u32>,
    /// The number of each entry by row; none where that is its place.
    pub entries: Option<List<u32>>,
    /// The rows, or columns, of more than [`HEAVY`] entries, and their number.
    pub heavy: (List<u32>, usize),
}

/// A matrix's side on the CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostSide<'a> {
    pub offsets: &'a [u32],
    pub others: &'a [u32],
    pub entries: Option<&'a [u32]>,
}

impl Side {
    /// The sums along the entries of every row by kernels: `x` has `heads * dim` columns and a row an entry, by its number, or
    /// with `others` a row for each of these; without weights all are 1.
    pub(super) fn sums(
        &self,
        others: bool,
        weights: Option<u64>,
        (heads, dim): (usize, usize),
        x: u64,
        out: u64,
    ) -> Result<Vec<Launch>> {
        let entries = self.entries.as_ref().map(List::address).transpose()?;
        let from = if others { Some(self.others.address()?) } else { entries };
        let entries = if others { entries } else { None };
        let offsets = self.offsets.address()?;
        let light = args![HEAVY, offsets, from, entries, weights, heads, dim, x, out];
        let mut launches: Vec<Launch> = Launch::by_warp("edge_sum", self.n, light).into_iter().collect();
        let (heavy, count) = &self.heavy;
        if *count > 0 {
            let args = args![heavy.address()?, offsets, from, entries, weights, heads, dim, x, out];
            launches.push(Launch { kernel: "edge_sum_heavy", blocks: *count as u32, args });
        }
        Ok(launches)
    }

    /// On the CPU.
    pub(super) fn host(&self) -> Result<HostSide<'_>> {
        let entries = self.entries.as_ref().map(List::host).transpose()?;
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
        let words = |words| List::new(words, device);
        let heavy = |offsets: &[u32]| {
            let rows = offsets.windows(2).zip(0..).filter(|(w, _)| (w[1] - w[0]) as usize > HEAVY);
            let rows: Vec<u32> = rows.map(|(_, row)| row).collect();
            let len = rows.len();
            List::new(rows, device).map(|rows| (rows, len))
        };
        let offsets: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
        let by_row = Side {
            n: n_rows,
            heavy: heavy(&offsets)?,
            offsets: words(offsets)?,
            others: words(columns.to_vec())?,
            entries: None,
        };
        let by_column = Side {
            n: n_columns,
            heavy: heavy(&starts)?,
            offsets: words(starts)?,
            others: words(rows)?,
            entries: Some(words(entries)?),
        };
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
