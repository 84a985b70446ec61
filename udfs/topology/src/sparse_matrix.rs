//! Sparse matrices by rows.

/// A sparse matrix in compressed sparse rows: row `i` has `values[offsets[i]..offsets[i + 1]]` in the columns
/// `columns[offsets[i]..offsets[i + 1]]`, which ascend. 8 bytes a row, 4 bytes and a value an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix<T> {
    n_columns: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy> SparseMatrix<T> {
    /// The matrix with so many columns and these rows.
    pub(crate) fn new(n_columns: usize, offsets: Vec<usize>, columns: Vec<u32>, values: Vec<T>) -> Self {
        debug_assert_eq!(offsets.last().copied(), Some(columns.len()));
        debug_assert_eq!(columns.len(), values.len());
        Self { n_columns, offsets, columns, values }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The number of entries.
    pub fn n_entries(&self) -> usize {
        self.columns.len()
    }

    /// Where each row begins among the entries, and where the last one ends: one more than there are rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The columns of the entries, ascending in each row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The values of the entries.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The entries of row `i` as (column, value).
    pub fn row(&self, i: usize) -> impl ExactSizeIterator<Item = (u32, T)> + Clone + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// All entries as (row, column, value), row by row.
    pub fn entries(&self) -> impl Iterator<Item = (usize, u32, T)> + '_ {
        (0..self.n_rows()).flat_map(|i| self.row(i).map(move |(column, value)| (i, column, value)))
    }

    /// The matrix with `f` of each entry's value.
    pub fn map<U>(self, f: impl Fn(T) -> U) -> SparseMatrix<U> {
        let Self { n_columns, offsets, columns, values } = self;
        SparseMatrix { n_columns, offsets, columns, values: values.into_iter().map(f).collect() }
    }

    /// The offsets, columns and values.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<T>) {
        (self.offsets, self.columns, self.values)
    }

    /// The transpose. O(rows + columns + entries).
    #[must_use]
    pub fn transpose(&self) -> Self {
        let mut offsets = vec![0; self.n_columns + 1];
        self.columns.iter().for_each(|&column| offsets[column as usize + 1] += 1);
        (0..self.n_columns).for_each(|i| offsets[i + 1] += offsets[i]);
        let mut next = offsets.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut values = self.values.clone();
        for (row, column, value) in self.entries() {
            let place = &mut next[column as usize];
            columns[*place] = row as u32;
            values[*place] = value;
            *place += 1;
        }
        Self { n_columns: self.n_rows(), offsets, columns, values }
    }
}
