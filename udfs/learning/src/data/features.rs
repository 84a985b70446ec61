//! Node features: as given (sparse or dense), or a stand-in for graphs that have none.

use std::sync::Arc;

use bonnet_graph::Graph;

use crate::ground::random::{Stream, key};
use crate::ground::{DataError, Radial, radial};
use crate::kernels::{Csr, RowSet};
use crate::options::forms::list;
use crate::options::{FeatureSource, Normalize};

/// The features of the nodes `0..n`, as many columns for each.
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// Bag-of-words and other sparse rows: they stay sparse in training.
    Sparse(SparseRows),
    /// Row-major, `nodes x columns`.
    Dense {
        /// The number of columns.
        columns: usize,
        /// `nodes * columns` values.
        values: Vec<f32>,
    },
    /// The publisher gives none.
    None,
}

/// A sparse matrix of `f32` in compressed rows; the columns of a row ascend strictly.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    n_columns: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl SparseRows {
    /// A matrix from its rows: `offsets` has one entry a row and one more; the columns of a row may come in any order but
    /// only once. O(entries log(entries of a row)).
    ///
    /// # Errors
    /// If lengths disagree, a column is not below `n_columns` or is repeated, or a value is not finite.
    pub fn new(
        n_columns: usize,
        offsets: Vec<usize>,
        mut columns: Vec<u32>,
        mut values: Vec<f32>,
    ) -> Result<Self, DataError> {
        let malformed = |what: String| DataError::Features(what);
        let well_formed = offsets.first() == Some(&0)
            && offsets.windows(2).all(|w| w[0] <= w[1])
            && offsets.last() == Some(&columns.len())
            && columns.len() == values.len();
        if !well_formed {
            return Err(malformed("the row offsets do not fit the entries".into()));
        }
        for row in 0..offsets.len() - 1 {
            let range = offsets[row]..offsets[row + 1];
            if !columns[range.clone()].is_sorted() {
                let mut entries: Vec<(u32, f32)> = range.clone().map(|e| (columns[e], values[e])).collect();
                entries.sort_unstable_by_key(|entry| entry.0);
                for (e, (column, value)) in range.clone().zip(entries) {
                    (columns[e], values[e]) = (column, value);
                }
            }
            for e in range.clone() {
                if columns[e] as usize >= n_columns {
                    let column = columns[e];
                    return Err(malformed(format!(
                        "node {row} has feature {column}, but there are {n_columns} features"
                    )));
                }
                if e > range.start && columns[e] == columns[e - 1] {
                    return Err(malformed(format!("node {row} has feature {} twice", columns[e])));
                }
                if !values[e].is_finite() {
                    let (column, value) = (columns[e], values[e]);
                    return Err(malformed(format!(
                        "feature {column} of node {row} is {value}; features must be finite"
                    )));
                }
            }
        }
        Ok(Self { n_columns, offsets, columns, values })
    }

    /// A matrix from well-formed rows whose columns ascend.
    pub(crate) fn from_sorted(n_columns: usize, offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f32>) -> Self {
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

    /// The number of stored entries.
    pub fn n_entries(&self) -> usize {
        self.columns.len()
    }

    /// The columns and values of a row.
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The matrix as the kernels read it.
    pub fn csr(&self) -> Csr<'_> {
        Csr { offsets: &self.offsets, columns: &self.columns, values: &self.values }
    }

    /// The transposed matrix of the rows of a set (other rows count as empty). O(columns + entries).
    pub fn transposed(&self, rows: &RowSet) -> Self {
        let mut offsets = vec![0usize; self.n_columns + 1];
        for &row in rows.rows() {
            self.row(row as usize).0.iter().for_each(|&column| offsets[column as usize + 1] += 1);
        }
        for column in 0..self.n_columns {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0; offsets[self.n_columns]];
        let mut values = vec![0.0; columns.len()];
        for &row in rows.rows() {
            let (row_columns, row_values) = self.row(row as usize);
            for (&column, &value) in row_columns.iter().zip(row_values) {
                let at = &mut next[column as usize];
                (columns[*at], values[*at]) = (row, value);
                *at += 1;
            }
        }
        Self { n_columns: self.n_rows(), offsets, columns, values }
    }
}

impl Features {
    /// Dense features, row-major.
    ///
    /// # Errors
    /// If the values are not whole rows, or one is not finite.
    pub fn dense(columns: usize, values: Vec<f32>) -> Result<Self, DataError> {
        if columns == 0 || !values.len().is_multiple_of(columns) {
            let n = values.len();
            return Err(DataError::Features(format!("{n} values are not whole rows of {columns} features")));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, column, value) = (at / columns, at % columns, values[at]);
            return Err(DataError::Features(format!(
                "feature {column} of node {row} is {value}; features must be finite"
            )));
        }
        Ok(Self::Dense { columns, values })
    }

    /// The number of rows, or none where there are no features.
    pub fn n_rows(&self) -> Option<usize> {
        match self {
            Self::Sparse(rows) => Some(rows.n_rows()),
            Self::Dense { columns, values } => Some(values.len() / columns),
            Self::None => None,
        }
    }

    /// The number of columns; 0 where there are no features.
    pub fn n_columns(&self) -> usize {
        match self {
            Self::Sparse(rows) => rows.n_columns(),
            Self::Dense { columns, .. } => *columns,
            Self::None => 0,
        }
    }

    /// Calls a function for every stored entry of a row, by ascending column; for none where there are no features.
    pub(crate) fn for_each_entry(&self, row: usize, mut entry: impl FnMut(usize, f64)) {
        match self {
            Self::Sparse(rows) => {
                let (columns, values) = rows.row(row);
                columns.iter().zip(values).for_each(|(&column, &value)| entry(column as usize, f64::from(value)));
            }
            Self::Dense { columns, values } => {
                let row = &values[row * columns..][..*columns];
                row.iter().enumerate().for_each(|(column, &value)| entry(column, f64::from(value)));
            }
            Self::None => {}
        }
    }

    /// The bytes that the values and indices hold.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Sparse(rows) => rows.offsets.len() * size_of::<usize>() + rows.n_entries() * 8,
            Self::Dense { values, .. } => values.len() * 4,
            Self::None => 0,
        }
    }
}

/// The remedy where a graph lacks features.
pub(crate) fn stand_ins() -> String {
    format!("choose a stand-in with the option features: {}", list(FeatureSource::stand_ins()))
}

/// The error of a graph without features.
pub(crate) fn no_features() -> DataError {
    DataError::NoFeatures(stand_ins())
}

/// The input of a model: the given features or the stand-in, normalised if asked. Shares the given ones where nothing
/// changes. The bytes of a fresh input are reserved by the caller: [`prepared_bytes`].
pub(crate) fn prepare(
    given: &Arc<Features>,
    graph: &Graph,
    source: FeatureSource,
    normalize: Normalize,
    seed: u64,
) -> Result<Arc<Features>, DataError> {
    let n = graph.n_nodes();
    let one_hot = |n_columns: usize, columns: Vec<u32>| {
        let rows = SparseRows { n_columns, offsets: (0..=n).collect(), columns, values: vec![1.0; n] };
        Arc::new(Features::Sparse(rows))
    };
    let source = match source {
        FeatureSource::DegreeNumber | FeatureSource::Connectivity => {
            let values = (0..n as u32).map(|v| graph.degree(v) as f32).collect();
            Arc::new(Features::Dense { columns: 1, values })
        }
        FeatureSource::OneHotDegree(most) => {
            one_hot(most + 1, (0..n as u32).map(|v| graph.degree(v).min(most) as u32).collect())
        }
        // What `auto` stands for is decided by whoever knows the task.
        FeatureSource::Auto | FeatureSource::Given => match **given {
            Features::None => return Err(no_features()),
            _ => Arc::clone(given),
        },
        FeatureSource::Identity => one_hot(n, (0..n as u32).collect()),
        FeatureSource::Degree => {
            let mut distinct: Vec<usize> = (0..n as u32).map(|v| graph.degree(v)).collect();
            distinct.sort_unstable();
            distinct.dedup();
            let column = |v: u32| distinct.partition_point(|&d| d < graph.degree(v)) as u32;
            one_hot(distinct.len(), (0..n as u32).map(column).collect())
        }
        FeatureSource::Random(columns) => {
            let mut stream = Stream::new(key(&[seed, RANDOM_FEATURES]));
            let values = (0..n * columns).map(|_| stream.normal() as f32).collect();
            Arc::new(Features::Dense { columns, values })
        }
    };
    Ok(match normalize {
        // Columns are scaled by whoever knows the training nodes.
        Normalize::None | Normalize::Standard => source,
        Normalize::Row => Arc::new(row_normalized(&source)),
    })
}

/// Separates the stream of random features from other uses of the seed.
const RANDOM_FEATURES: u64 = 1;

/// The bytes that [`prepare`] allocates.
pub(crate) fn prepared_bytes(given: &Features, n: usize, source: FeatureSource, normalize: Normalize) -> usize {
    let one_hot = n * (size_of::<usize>() + 8);
    let fresh = match source {
        FeatureSource::Auto | FeatureSource::Given => 0,
        FeatureSource::Identity | FeatureSource::Degree | FeatureSource::OneHotDegree(_) => one_hot,
        FeatureSource::DegreeNumber | FeatureSource::Connectivity => n * 4,
        FeatureSource::Random(k) => n * k * 4,
    };
    match (normalize, source) {
        (Normalize::None | Normalize::Standard, _) => fresh,
        (Normalize::Row, FeatureSource::Auto | FeatureSource::Given) => given.bytes(),
        (Normalize::Row, _) => 2 * fresh,
    }
}

fn row_normalized(features: &Features) -> Features {
    scaled_rows(features, |values| values.iter().map(|v| f64::from(v.abs())).sum())
}

/// The features with each row divided by its Euclidean norm; zero rows stay zero. As large as the given ones.
pub(crate) fn unit_rows(features: &Features) -> Features {
    scaled_rows(features, |values| values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt())
}

/// The rows of some nodes. The caller reserves [`selected_bytes`].
pub(crate) fn selected(features: &Features, nodes: &[u32]) -> Features {
    match features {
        Features::Sparse(rows) => {
            let n_entries = nodes.iter().map(|&v| rows.row(v as usize).0.len()).sum();
            let (mut offsets, mut columns, mut values) =
                (vec![0], Vec::with_capacity(n_entries), Vec::with_capacity(n_entries));
            for &v in nodes {
                let row = rows.row(v as usize);
                columns.extend_from_slice(row.0);
                values.extend_from_slice(row.1);
                offsets.push(columns.len());
            }
            Features::Sparse(SparseRows { n_columns: rows.n_columns, offsets, columns, values })
        }
        Features::Dense { columns, values } => {
            let mut rows = Vec::with_capacity(nodes.len() * columns);
            nodes.iter().for_each(|&v| rows.extend_from_slice(&values[v as usize * columns..][..*columns]));
            Features::Dense { columns: *columns, values: rows }
        }
        Features::None => Features::None,
    }
}

/// The first columns of every row. The caller reserves no more than the features' own bytes.
pub(crate) fn first_columns(features: &Features, count: usize) -> Features {
    match features {
        Features::Sparse(rows) => {
            let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in 0..rows.n_rows() {
                let (of_row, entries) = rows.row(row);
                let end = of_row.partition_point(|&column| (column as usize) < count);
                columns.extend_from_slice(&of_row[..end]);
                values.extend_from_slice(&entries[..end]);
                offsets.push(columns.len());
            }
            Features::Sparse(SparseRows { n_columns: count, offsets, columns, values })
        }
        Features::Dense { columns, values } => {
            let rows = values.chunks_exact((*columns).max(1)).flat_map(|row| &row[..count]);
            Features::Dense { columns: count, values: rows.copied().collect() }
        }
        Features::None => Features::None,
    }
}

/// Writes the columns of a row from `first` on into zeros.
pub(crate) fn add_columns_from(features: &Features, row: usize, first: usize, out: &mut [f32]) {
    match features {
        Features::Sparse(rows) => {
            let (columns, values) = rows.row(row);
            for (&column, value) in columns.iter().zip(values).filter(|(column, _)| **column as usize >= first) {
                out[column as usize - first] = *value;
            }
        }
        Features::Dense { columns, values } => {
            let row = &values[row * columns + first..(row + 1) * columns];
            out.iter_mut().zip(row).for_each(|(out, value)| *out = *value);
        }
        Features::None => {}
    }
}

/// The bytes of [`selected`].
pub(crate) fn selected_bytes(features: &Features, nodes: &[u32]) -> usize {
    match features {
        Features::Sparse(rows) => {
            let n_entries: usize = nodes.iter().map(|&v| rows.row(v as usize).0.len()).sum();
            (nodes.len() + 1) * size_of::<usize>() + 8 * n_entries
        }
        Features::Dense { columns, .. } => 4 * nodes.len() * columns,
        Features::None => 0,
    }
}

fn scaled_rows(features: &Features, length: impl Fn(&[f32]) -> f64) -> Features {
    let scale = |values: &mut [f32]| {
        let length = length(values);
        if length > 0.0 {
            values.iter_mut().for_each(|v| *v = (f64::from(*v) / length) as f32);
        }
    };
    let mut features = features.clone();
    match &mut features {
        Features::Sparse(rows) => {
            for row in 0..rows.n_rows() {
                scale(&mut rows.values[rows.offsets[row]..rows.offsets[row + 1]]);
            }
        }
        Features::Dense { columns, values } => values.chunks_mut((*columns).max(1)).for_each(scale),
        Features::None => {}
    }
    features
}

/// The longest tangent vector that a row of features is read as.
const LONGEST: f64 = radial::SINH_BOUND;

/// The rows as tangent vectors at the origin of the hyperboloid of curvature -1, lifted to its points: the time coordinate in
/// front of the others. O(entries).
pub(crate) fn lifted(features: &Features, n: usize) -> Features {
    let factors = |squares: f64| {
        let s = squares.min(LONGEST * LONGEST);
        // Beyond the longest the direction stays and the length is that of the bound.
        let stretch = Radial::Sin.value(s) * if squares > s { (s / squares).sqrt() } else { 1.0 };
        (Radial::Cos.value(s) as f32, stretch as f32)
    };
    let length = |row: &[f32]| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
    match features {
        Features::None => Features::None,
        Features::Dense { columns, values } => {
            let mut out = Vec::with_capacity(n * (columns + 1));
            for row in values.chunks_exact((*columns).max(1)) {
                let (time, stretch) = factors(length(row));
                out.push(time);
                out.extend(row.iter().map(|x| x * stretch));
            }
            Features::Dense { columns: columns + 1, values: out }
        }
        Features::Sparse(rows) => {
            let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for v in 0..rows.n_rows() {
                let (at, row) = rows.row(v);
                let (time, stretch) = factors(length(row));
                columns.push(0);
                values.push(time);
                columns.extend(at.iter().map(|column| column + 1));
                values.extend(row.iter().map(|x| x * stretch));
                offsets.push(columns.len());
            }
            let lifted = SparseRows::new(rows.n_columns() + 1, offsets, columns, values);
            lifted.map_or(Features::None, Features::Sparse)
        }
    }
}

/// The bytes of [`lifted`].
pub(crate) fn lifted_bytes(features: &Features, n: usize) -> usize {
    match features {
        Features::None => 0,
        Features::Dense { columns, .. } => 4 * n * (columns + 1),
        Features::Sparse(rows) => 8 * n + 8 * ((0..rows.n_rows()).map(|v| rows.row(v).0.len()).sum::<usize>() + n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Graph {
        Graph::from_edges(4, &[(0, 1), (1, 2)])
    }

    #[test]
    fn rows_are_divided_by_the_sum_of_absolute_values_and_zero_rows_stay() {
        let dense = Arc::new(Features::dense(2, vec![1.0, -3.0, 0.0, 0.0, 2.0, 2.0, 0.5, 0.0]).unwrap());
        let got = prepare(&dense, &path(), FeatureSource::Given, Normalize::Row, 0).unwrap();
        assert_eq!(*got, Features::Dense { columns: 2, values: vec![0.25, -0.75, 0.0, 0.0, 0.5, 0.5, 1.0, 0.0] });
        let sparse = SparseRows::new(2, vec![0, 2, 2, 4, 5], vec![1, 0, 0, 1, 0], vec![-3.0, 1.0, 2.0, 2.0, 0.5]);
        let sparse = Arc::new(Features::Sparse(sparse.unwrap()));
        let got = prepare(&sparse, &path(), FeatureSource::Given, Normalize::Row, 0).unwrap();
        let Features::Sparse(rows) = &*got else { panic!("sparse features must stay sparse") };
        assert_eq!(rows.row(0), (&[0, 1][..], &[0.25, -0.75][..]));
        assert_eq!(rows.row(3), (&[0][..], &[1.0][..]));
    }

    #[test]
    fn stand_ins_need_no_features_and_given_says_what_to_do() {
        let none = Arc::new(Features::None);
        let degree = prepare(&none, &path(), FeatureSource::Degree, Normalize::None, 0).unwrap();
        // Degrees 1, 2, 1, 0: three columns.
        let Features::Sparse(rows) = &*degree else { panic!("degrees are one-hot") };
        assert_eq!((rows.n_columns(), rows.columns.as_slice()), (3, &[1, 2, 1, 0][..]));
        let identity = prepare(&none, &path(), FeatureSource::Identity, Normalize::None, 0).unwrap();
        assert_eq!(identity.n_columns(), 4);
        let random = |seed| prepare(&none, &path(), FeatureSource::Random(3), Normalize::None, seed).unwrap();
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
        let error = prepare(&none, &path(), FeatureSource::Given, Normalize::None, 0).unwrap_err().to_string();
        assert!(error.contains("identity") && error.contains("random:k"), "{error}");
    }

    #[test]
    fn malformed_features_are_refused_with_their_place() {
        let error = SparseRows::new(2, vec![0, 1], vec![2], vec![1.0]).unwrap_err().to_string();
        assert!(error.contains("node 0") && error.contains("feature 2"), "{error}");
        let error = SparseRows::new(3, vec![0, 0, 2], vec![1, 1], vec![1.0, 2.0]).unwrap_err().to_string();
        assert!(error.contains("node 1") && error.contains("twice"), "{error}");
        let error = Features::dense(2, vec![0.0, 1.0, f32::NAN, 0.0]).unwrap_err().to_string();
        assert!(error.contains("feature 0 of node 1"), "{error}");
        assert!(Features::dense(2, vec![0.0; 3]).is_err());
        assert!("random:0".parse::<FeatureSource>().is_err());
        assert_eq!("random:16".parse::<FeatureSource>().unwrap().to_string(), "random:16");
    }
}
