//! Feature vectors by their non-zero entries.

/// One feature vector a row: the columns of row i and their values are the entries `offsets[i]..offsets[i + 1]`, in
/// ascending order of the columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeatureRows {
    /// Where each row starts; one more than there are rows.
    pub offsets: Vec<usize>,
    /// The column of each entry.
    pub columns: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<f32>,
}

impl FeatureRows {
    /// The non-zero entries of dense rows of one width.
    ///
    /// ```
    /// use bonnet_homophily::FeatureRows;
    ///
    /// let rows = FeatureRows::from_dense(3, &[0.0, 2.0, 0.0, 1.0, 0.0, -1.0]);
    /// assert_eq!(rows.row(0).collect::<Vec<_>>(), [(1, 2.0)]);
    /// assert_eq!(rows.row(1).collect::<Vec<_>>(), [(0, 1.0), (2, -1.0)]);
    /// ```
    pub fn from_dense(width: usize, values: &[f32]) -> Self {
        let mut rows = Self { offsets: vec![0], ..Self::default() };
        for row in values.chunks_exact(width.max(1)) {
            rows.push((0..).zip(row.iter().copied()));
        }
        rows
    }

    /// Adds a row; entries that are zero are left out. They come in ascending order of their columns.
    pub fn push(&mut self, entries: impl Iterator<Item = (u32, f32)>) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        for (column, value) in entries.filter(|entry| entry.1 != 0.0) {
            self.columns.push(column);
            self.values.push(value);
        }
        self.offsets.push(self.columns.len());
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries of a row, in ascending order of their columns.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let (columns, values) = self.entries(row);
        columns.iter().copied().zip(values.iter().copied())
    }

    /// The columns and the values of a row.
    pub fn entries(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        8 * self.offsets.capacity() + 4 * (self.columns.capacity() + self.values.capacity())
    }
}
