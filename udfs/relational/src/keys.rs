//! Primary and foreign keys.

/// The columns of a table's primary key, in order; none for a table whose rows are named by their number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrimaryKey {
    /// Positions of columns.
    pub columns: Vec<usize>,
    /// Whether it was declared rather than found.
    pub declared: bool,
}

/// Columns whose values name rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// The table that refers.
    pub from: usize,
    /// The columns that refer.
    pub columns: Vec<usize>,
    /// The table that is referred to.
    pub to: usize,
    /// The columns that are referred to, as many as refer; several against one of strings are joined by a blank.
    pub to_columns: Vec<usize>,
    /// The name of the edges' type; without one it is made of the table and its columns.
    pub name: Option<String>,
    /// Whether it was declared rather than found.
    pub declared: bool,
}

impl ForeignKey {
    /// A found key between two tables, still without columns.
    pub fn new(from: usize, to: usize) -> Self {
        Self { from, columns: Vec::new(), to, to_columns: Vec::new(), name: None, declared: false }
    }

    /// Whether one column of strings stands against several columns.
    pub fn is_joined(&self) -> bool {
        self.columns.len() == 1 && self.to_columns.len() > 1
    }
}
