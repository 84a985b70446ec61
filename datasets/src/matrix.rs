//! Feature matrices between a file and an Arrow column.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Int32Array, ListArray, MapArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};

use crate::types::{list_item, map_entries, map_fields};

/// One feature vector a row.
#[derive(Debug, PartialEq)]
pub(crate) enum Matrix {
    /// `rows * width` values, row by row.
    Dense { rows: usize, width: usize, values: Vec<f32> },
    /// Row `i` has the entries `offsets[i]..offsets[i + 1]`, sorted by index.
    Sparse { width: usize, offsets: Vec<usize>, entries: Vec<(i32, f32)> },
}

/// Where a node's features are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Row {
    /// This row of the matrix.
    At(usize),
    /// All features are zero.
    Zero,
    /// The publisher's files lack them: NULL.
    Absent,
}

impl Matrix {
    /// Checks a compressed sparse row matrix as scipy stores it. Unsorted rows are sorted, repeated entries added up.
    pub(crate) fn from_csr(
        width: usize,
        indptr: &[i64],
        indices: &[i64],
        data: &[f32],
        rows: usize,
    ) -> Result<Self, String> {
        if indptr.len() != rows + 1 {
            return Err(format!("indptr has {} entries, {rows} rows need {}", indptr.len(), rows + 1));
        }
        if indices.len() != data.len() {
            return Err(format!("{} indices for {} values", indices.len(), data.len()));
        }
        let mut offsets = Vec::with_capacity(rows + 1);
        let mut entries: Vec<(i32, f32)> = Vec::with_capacity(data.len());
        offsets.push(0);
        for row in 0..rows {
            let (start, end) = (indptr[row], indptr[row + 1]);
            if start < 0 || start > end || end > indices.len() as i64 {
                return Err(format!("row {row} spans {start}..{end} of {} entries", indices.len()));
            }
            let first = entries.len();
            for position in start as usize..end as usize {
                let index = indices[position];
                if index < 0 || index >= width as i64 || index > i32::MAX as i64 {
                    return Err(format!("row {row} has an entry in column {index} of {width}"));
                }
                entries.push((index as i32, data[position]));
            }
            sort_row(&mut entries, first);
            offsets.push(entries.len());
        }
        Ok(Self::Sparse { width, offsets, entries })
    }

    /// Checks a compressed sparse column matrix as scipy stores it, and lays it out row by row.
    pub(crate) fn from_csc(
        width: usize,
        indptr: &[i64],
        indices: &[i64],
        data: &[f32],
        rows: usize,
    ) -> Result<Self, String> {
        if indptr.len() != width.saturating_add(1) {
            return Err(format!(
                "indptr has {} entries, {width} columns need {}",
                indptr.len(),
                width.saturating_add(1)
            ));
        }
        if indices.len() != data.len() {
            return Err(format!("{} indices for {} values", indices.len(), data.len()));
        }
        let mut columns = Vec::with_capacity(indices.len());
        for (column, ends) in indptr.windows(2).enumerate() {
            let (start, end) = (ends[0], ends[1]);
            if start != columns.len() as i64 || start > end || end > indices.len() as i64 {
                return Err(format!("column {column} spans {start}..{end} of {} entries", indices.len()));
            }
            columns.resize(end as usize, column as i64);
        }
        let stored = columns.len();
        Self::from_coo(width, &indices[..stored], &columns, &data[..stored], rows)
    }

    /// Checks a sparse matrix in coordinates, in any order, and lays it out row by row. Repeated entries are added up.
    pub(crate) fn from_coo(
        width: usize,
        row: &[i64],
        column: &[i64],
        data: &[f32],
        rows: usize,
    ) -> Result<Self, String> {
        if row.len() != data.len() || column.len() != data.len() {
            return Err(format!("{} rows and {} columns for {} values", row.len(), column.len(), data.len()));
        }
        let mut starts = vec![0usize; rows + 1];
        for &row in row {
            match usize::try_from(row) {
                Ok(row) if row < rows => starts[row + 1] += 1,
                _ => return Err(format!("an entry in row {row} of {rows}")),
            }
        }
        (0..rows).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = starts.clone();
        let mut places = vec![0usize; data.len()];
        for (entry, &row) in row.iter().enumerate() {
            places[next[row as usize]] = entry;
            next[row as usize] += 1;
        }
        let indptr: Vec<i64> = starts.iter().map(|start| *start as i64).collect();
        let indices: Vec<i64> = places.iter().map(|&entry| column[entry]).collect();
        let data: Vec<f32> = places.iter().map(|&entry| data[entry]).collect();
        Self::from_csr(width, &indptr, &indices, &data, rows)
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Dense { rows, .. } => *rows,
            Self::Sparse { offsets, .. } => offsets.len() - 1,
        }
    }

    /// The same matrix row by row.
    pub(crate) fn into_dense(self) -> Self {
        match self {
            Self::Sparse { width, offsets, entries } => {
                let rows = offsets.len() - 1;
                let mut values = vec![0.0; rows * width];
                for row in 0..rows {
                    for &(index, value) in &entries[offsets[row]..offsets[row + 1]] {
                        values[row * width + index as usize] = value;
                    }
                }
                Self::Dense { rows, width, values }
            }
            dense => dense,
        }
    }

    /// The same matrix by its non-zero entries.
    pub(crate) fn into_sparse(self) -> Self {
        match self {
            Self::Dense { rows, width, values } => {
                let mut offsets = Vec::with_capacity(rows + 1);
                let mut entries = Vec::new();
                offsets.push(0);
                for row in 0..rows {
                    let row = &values[row * width..(row + 1) * width];
                    entries.extend(row.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, &v)| (i as i32, v)));
                    offsets.push(entries.len());
                }
                Self::Sparse { width, offsets, entries }
            }
            sparse => sparse,
        }
    }

    /// The features of some nodes as an Arrow column: `FLOAT[]` if dense, `MAP(INT, FLOAT)` if sparse.
    pub(crate) fn column(&self, nodes: Range<usize>, row_of: impl Fn(usize) -> Row) -> ArrayRef {
        let rows: Vec<Row> = nodes.map(row_of).collect();
        let valid = rows.contains(&Row::Absent).then(|| rows.iter().map(|r| *r != Row::Absent).collect());
        match self {
            Self::Dense { width, values, .. } => {
                let mut taken = Vec::with_capacity(rows.len() * width);
                let mut lengths = Vec::with_capacity(rows.len());
                for row in &rows {
                    match *row {
                        Row::At(i) => taken.extend_from_slice(&values[i * width..(i + 1) * width]),
                        Row::Zero => taken.resize(taken.len() + width, 0.0),
                        Row::Absent => {}
                    }
                    lengths.push(if *row == Row::Absent { 0 } else { *width });
                }
                let offsets = OffsetBuffer::from_lengths(lengths);
                let values = Arc::new(Float32Array::from(taken));
                Arc::new(ListArray::new(list_item(), offsets, values, valid))
            }
            Self::Sparse { offsets, entries, .. } => {
                let span = |row: &Row| match *row {
                    Row::At(i) => offsets[i]..offsets[i + 1],
                    Row::Zero | Row::Absent => 0..0,
                };
                let total = rows.iter().map(|row| span(row).len()).sum();
                let (mut keys, mut values) = (Vec::with_capacity(total), Vec::with_capacity(total));
                for row in &rows {
                    for &(index, value) in &entries[span(row)] {
                        keys.push(index);
                        values.push(value);
                    }
                }
                map_column(keys, values, rows.iter().map(|row| span(row).len()), valid)
            }
        }
    }
}

/// Sorts the entries from `first` on by index and adds up those of one index.
pub(crate) fn sort_row(entries: &mut Vec<(i32, f32)>, first: usize) {
    if entries[first..].windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return;
    }
    entries[first..].sort_by_key(|entry| entry.0);
    let mut last = first;
    for i in first + 1..entries.len() {
        if entries[i].0 == entries[last].0 {
            entries[last].1 += entries[i].1;
        } else {
            last += 1;
            entries[last] = entries[i];
        }
    }
    entries.truncate(last + 1);
}

fn map_column(
    keys: Vec<i32>,
    values: Vec<f32>,
    lengths: impl Iterator<Item = usize>,
    valid: Option<NullBuffer>,
) -> ArrayRef {
    let entries = StructArray::new(
        map_fields(),
        vec![Arc::new(Int32Array::from(keys)) as ArrayRef, Arc::new(Float32Array::from(values))],
        None,
    );
    Arc::new(MapArray::new(map_entries(), OffsetBuffer::from_lengths(lengths), entries, valid, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Array;

    #[test]
    fn unsorted_and_repeated_entries_become_a_sorted_row() {
        let matrix = Matrix::from_csr(5, &[0, 3, 3], &[4, 1, 4], &[1.0, 2.0, 0.5], 2).unwrap();
        assert_eq!(matrix, Matrix::Sparse { width: 5, offsets: vec![0, 2, 2], entries: vec![(1, 2.0), (4, 1.5)] });
    }

    #[test]
    fn a_matrix_is_the_same_by_rows_by_columns_and_in_coordinates() {
        // [[0, 2, 0], [1, 0, 3]]
        let by_rows = Matrix::from_csr(3, &[0, 1, 3], &[1, 0, 2], &[2.0, 1.0, 3.0], 2).unwrap();
        assert_eq!(Matrix::from_csc(3, &[0, 1, 2, 3], &[1, 0, 1], &[1.0, 2.0, 3.0], 2).unwrap(), by_rows);
        let coordinates = Matrix::from_coo(3, &[1, 0, 1, 1], &[2, 1, 0, 2], &[2.0, 2.0, 1.0, 1.0], 2);
        assert_eq!(coordinates.unwrap(), by_rows);
    }

    #[test]
    fn columns_and_coordinates_out_of_bounds_are_refused() {
        assert!(Matrix::from_csc(2, &[0, 1], &[0], &[1.0], 1).unwrap_err().contains("2 columns need 3"));
        assert!(Matrix::from_csc(2, &[0, 2, 1], &[0, 0], &[1.0, 1.0], 1).unwrap_err().contains("spans 2..1"));
        assert!(Matrix::from_csc(1, &[0, 1], &[3], &[1.0], 1).unwrap_err().contains("row 3 of 1"));
        assert!(Matrix::from_coo(2, &[-1], &[0], &[1.0], 1).unwrap_err().contains("row -1 of 1"));
        assert!(Matrix::from_coo(2, &[0], &[2], &[1.0], 1).unwrap_err().contains("column 2 of 2"));
        assert!(Matrix::from_coo(2, &[0], &[], &[1.0], 1).unwrap_err().contains("0 columns for 1 values"));
    }

    #[test]
    fn a_matrix_out_of_bounds_is_refused() {
        assert!(Matrix::from_csr(5, &[0, 1], &[5], &[1.0], 1).unwrap_err().contains("column 5 of 5"));
        assert!(Matrix::from_csr(5, &[0, 2], &[1], &[1.0], 1).unwrap_err().contains("spans 0..2"));
        assert!(Matrix::from_csr(5, &[1, 0], &[1], &[1.0], 1).unwrap_err().contains("spans 1..0"));
        assert!(Matrix::from_csr(5, &[0], &[], &[], 1).unwrap_err().contains("indptr"));
    }

    #[test]
    fn dense_and_sparse_are_two_spellings_of_one_matrix() {
        let dense = || Matrix::Dense { rows: 2, width: 3, values: vec![0.0, 2.0, 0.0, 1.0, 0.0, 3.0] };
        assert_eq!(dense().into_sparse().into_dense(), dense());
    }

    #[test]
    fn absent_rows_are_null_and_zero_rows_are_empty() {
        let matrix = Matrix::from_csr(5, &[0, 1], &[3], &[1.0], 1).unwrap();
        let rows = [Row::Absent, Row::At(0), Row::Zero];
        let column = matrix.column(0..3, |i| rows[i]);
        let column = column.as_any().downcast_ref::<MapArray>().unwrap();
        assert!(column.is_null(0) && column.is_valid(1) && column.is_valid(2));
        assert_eq!((column.value_length(1), column.value_length(2)), (1, 0));
        let column = matrix.into_dense().column(0..3, |i| rows[i]);
        let column = column.as_any().downcast_ref::<ListArray>().unwrap();
        assert!(column.is_null(0));
        assert_eq!((column.value_length(1), column.value_length(2)), (5, 5));
    }
}
