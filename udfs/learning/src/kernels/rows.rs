//! Which rows a kernel computes, in blocks by global row number.

use std::ops::Range;

/// A set of rows of a matrix of `n` rows, ascending, cut into blocks of equal spans of row numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSet {
    n: usize,
    rows: Vec<u32>,
    /// Where each block starts in `rows`, and one more.
    starts: Vec<u32>,
}

/// The span of row numbers of a block: at least 128 rows and at most 64 blocks, so that partial sums stay small.
pub fn block_rows(n: usize) -> usize {
    n.div_ceil(64).next_power_of_two().max(128)
}

impl RowSet {
    /// All rows.
    pub fn all(n: usize) -> Self {
        Self::new(n, (0..n as u32).collect())
    }

    /// The given rows: ascending, distinct, below `n`.
    pub fn new(n: usize, rows: Vec<u32>) -> Self {
        debug_assert!(rows.windows(2).all(|w| w[0] < w[1]) && rows.last().is_none_or(|&last| (last as usize) < n));
        let span = block_rows(n);
        let blocks = n.div_ceil(span);
        let starts =
            (0..=blocks).map(|block| rows.partition_point(|&row| (row as usize) < block * span) as u32).collect();
        Self { n, rows, starts }
    }

    /// The rows, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The number of rows in the set.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the set holds no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the set holds every row.
    pub fn is_all(&self) -> bool {
        self.rows.len() == self.n
    }

    /// The number of rows of the matrix.
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// The number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// The span of row numbers of a block.
    pub fn span(&self) -> usize {
        block_rows(self.n)
    }

    /// Where the rows of a block stand in [`RowSet::rows`].
    pub fn positions(&self, block: usize) -> Range<usize> {
        self.starts[block] as usize..self.starts[block + 1] as usize
    }

    /// The rows of a block.
    pub fn block(&self, block: usize) -> &[u32] {
        &self.rows[self.positions(block)]
    }

    /// The bytes that a set of so many rows holds.
    pub fn bytes(len: usize) -> usize {
        4 * (len + 65)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_partition_the_rows_by_their_number() {
        let rows = vec![0, 127, 128, 700, 999];
        let set = RowSet::new(1000, rows.clone());
        assert_eq!((set.span(), set.n_blocks()), (128, 8));
        assert_eq!(
            (set.block(0), set.block(1), set.block(5), set.block(7)),
            (&[0, 127][..], &[128][..], &[700][..], &[999][..])
        );
        assert_eq!((0..8).flat_map(|b| set.block(b).to_vec()).collect::<Vec<_>>(), rows);
        assert!(RowSet::all(1000).is_all() && RowSet::all(0).is_empty());
        assert!(RowSet::all(10_000_000).n_blocks() <= 64);
    }
}
