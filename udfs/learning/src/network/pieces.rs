//! The pieces in which layers along rows and edges are computed: spans of row numbers, each a task of the caller's pool.

/// The span of row numbers that is evaluated at a time: an operation of candle costs 1 to 2 us whatever its size.
pub(crate) const PIECE: usize = 1024;

/// The pieces between two looks at the monitor; their gradients are held at once.
pub(crate) const WAVE: usize = 32;

/// The rows that a piece writes and reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    /// The rows of the output.
    pub rows: &'a [u32],
    /// The rows of the inputs.
    pub reads: &'a [u32],
}

/// The rows of a set in each span of row numbers.
pub(crate) fn spans(rows: &[u32], n_rows: usize) -> Vec<&[u32]> {
    let start = |piece: usize| rows.partition_point(|&row| (row as usize) < piece * PIECE);
    (0..n_rows.div_ceil(PIECE)).map(|piece| &rows[start(piece)..start(piece + 1)]).collect()
}
