//! Runs side by side: whose columns are meant.

/// The columns of one of several runs whose matrices stand side by side, each with as many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strip {
    /// Its number.
    pub run: usize,
    /// The number of runs.
    pub of: usize,
}

impl Strip {
    /// A run alone.
    pub const ALONE: Self = Self { run: 0, of: 1 };
}
