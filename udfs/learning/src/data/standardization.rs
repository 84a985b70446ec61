//! Columns of features on one scale, as some rows have it.

use std::ops::Range;

use super::Features;
use crate::ground::{DataError, Matrix};

/// The names of the matrices of a saved run that hold means and deviations.
pub(crate) const NAMES: [&str; 2] = ["features.mean", "features.deviation"];

/// The mean and the standard deviation of each column of features over some rows: `(x - mean) / deviation` is the feature that a
/// model reads. Fitted on training rows, it knows nothing of the others. (`StandardScaler` of scikit-learn, but that a column
/// without spread becomes 0 in every row.)
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Standardization {
    mean: Vec<f32>,
    /// Of the population; 0 for a column without spread.
    deviation: Vec<f32>,
}

impl Standardization {
    /// Mean and deviation over some rows, in this order. O(rows * columns).
    pub fn fit(features: &Features, rows: &[u32]) -> Self {
        let (columns, count) = (features.n_columns(), rows.len().max(1) as f64);
        let mut moments = vec![Moments::default(); columns];
        for &row in rows {
            features.for_each_entry(row as usize, |column, value| moments[column].sum += value);
        }
        for &row in rows {
            features.for_each_entry(row as usize, |column, value| {
                let moments = &mut moments[column];
                let distance = value - moments.sum / count;
                moments.squares += distance * distance;
                (moments.lowest, moments.highest) = (moments.lowest.min(value), moments.highest.max(value));
                moments.present += 1;
            });
        }
        let deviation = |moments: &Moments| {
            // Entries that sparse rows leave out are zeros.
            let (absent, mean) = (rows.len() - moments.present, moments.sum / count);
            let lowest = if absent > 0 { moments.lowest.min(0.0) } else { moments.lowest };
            let highest = if absent > 0 { moments.highest.max(0.0) } else { moments.highest };
            // Rounding must not make a spread where there is none.
            if lowest < highest { ((moments.squares + absent as f64 * mean * mean) / count).sqrt() as f32 } else { 0.0 }
        };
        Self {
            mean: moments.iter().map(|moments| (moments.sum / count) as f32).collect(),
            deviation: moments.iter().map(deviation).collect(),
        }
    }

    /// The same over the entries that there are, of sparse rows in which a feature that is left out is missing: one without spread
    /// stays as it is. O(entries).
    pub fn fit_present(features: &Features, rows: &[u32]) -> Self {
        let mut moments = vec![Moments::default(); features.n_columns()];
        for &row in rows {
            features.for_each_entry(row as usize, |column, value| {
                moments[column].sum += value;
                moments[column].present += 1;
            });
        }
        for &row in rows {
            features.for_each_entry(row as usize, |column, value| {
                let moments = &mut moments[column];
                let distance = value - moments.sum / moments.present as f64;
                moments.squares += distance * distance;
                (moments.lowest, moments.highest) = (moments.lowest.min(value), moments.highest.max(value));
            });
        }
        let mut scale = Self::default();
        for Moments { sum, squares, lowest, highest, present } in moments {
            let count = present as f64;
            match lowest < highest {
                true => scale.push((sum / count) as f32, (squares / count).sqrt() as f32),
                false => scale.push(0.0, 1.0),
            }
        }
        scale
    }

    /// Appends a column.
    pub fn push(&mut self, mean: f32, deviation: f32) {
        self.mean.push(mean);
        self.deviation.push(deviation);
    }

    /// Appends the columns of another one.
    pub fn append(&mut self, other: Self) {
        self.mean.extend(other.mean);
        self.deviation.extend(other.deviation);
    }

    /// Some of the columns.
    pub fn part(&self, columns: Range<usize>) -> Self {
        Self { mean: self.mean[columns.clone()].to_vec(), deviation: self.deviation[columns].to_vec() }
    }

    /// A value of a column on that scale.
    pub fn value(&self, column: usize, value: f64) -> f32 {
        match self.deviation[column] {
            0.0 => 0.0,
            deviation => ((value - f64::from(self.mean[column])) / f64::from(deviation)) as f32,
        }
    }

    /// Refuses other columns than it was fitted on.
    pub fn expect_columns(&self, columns: usize) -> Result<(), DataError> {
        match self.mean.len() {
            expected if expected == columns => Ok(()),
            expected => {
                let text = format!("there are {columns} features, where the saved run was trained on {expected}");
                Err(DataError::Features(text))
            }
        }
    }

    /// The bytes of [`Standardization::apply`].
    pub fn bytes(features: &Features) -> usize {
        features.n_rows().unwrap_or(0) * features.n_columns() * size_of::<f32>()
    }

    /// The features on that scale, dense.
    ///
    /// # Errors
    /// If there are other columns than it was fitted on.
    pub fn apply(&self, features: &Features) -> Result<Features, DataError> {
        let columns = features.n_columns();
        self.expect_columns(columns)?;
        let zeros: Vec<f32> = (0..columns).map(|column| self.value(column, 0.0)).collect();
        let mut values = Vec::with_capacity(features.n_rows().unwrap_or(0) * columns);
        for row in 0..features.n_rows().unwrap_or(0) {
            let at = values.len();
            values.extend_from_slice(&zeros);
            features.for_each_entry(row, |column, value| values[at + column] = self.value(column, value));
        }
        Ok(Features::Dense { columns, values })
    }

    /// Mean and deviation as a saved run holds them: a row each.
    pub fn matrices(&self) -> [(String, Matrix); 2] {
        let row =
            |name: &str, values: &[f32]| (name.to_owned(), Matrix { columns: values.len(), values: values.to_vec() });
        [row(NAMES[0], &self.mean), row(NAMES[1], &self.deviation)]
    }

    /// From the rows of a saved run; none where their lengths differ.
    pub fn of_rows(mean: &Matrix, deviation: &Matrix) -> Option<Self> {
        let same = mean.values.len() == deviation.values.len();
        same.then(|| Self { mean: mean.values.clone(), deviation: deviation.values.clone() })
    }
}

/// What is summed over a column.
#[derive(Debug, Clone, Copy)]
struct Moments {
    sum: f64,
    /// Of the distances from the mean.
    squares: f64,
    lowest: f64,
    highest: f64,
    /// The rows that have an entry.
    present: usize,
}

impl Default for Moments {
    fn default() -> Self {
        Self { sum: 0.0, squares: 0.0, lowest: f64::INFINITY, highest: f64::NEG_INFINITY, present: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_1_SQRT_2, SQRT_2};

    use super::*;
    use crate::data::SparseRows;

    #[test]
    fn training_rows_alone_give_the_scale_and_sparse_rows_the_same_as_dense_ones() {
        // StandardScaler of scikit-learn on rows 0, 1 and 3: means 2, 1/3, 5, deviations 1.632993..., 0.471404..., 0.
        let dense = Features::dense(3, vec![0.0, 1.0, 5.0, 2.0, 0.0, 5.0, 9.0, 0.0, 7.0, 4.0, 0.0, 5.0]).unwrap();
        let sparse = SparseRows::new(
            3,
            vec![0, 2, 4, 6, 8],
            vec![1, 2, 0, 2, 0, 2, 0, 2],
            vec![1.0, 5.0, 2.0, 5.0, 9.0, 7.0, 4.0, 5.0],
        );
        let sparse = Features::Sparse(sparse.unwrap());
        let expected = [
            [-1.224_744_9, SQRT_2, 0.0],
            [0.0, -FRAC_1_SQRT_2, 0.0],
            [4.286_607, -FRAC_1_SQRT_2, 0.0],
            [1.224_744_9, -FRAC_1_SQRT_2, 0.0],
        ];
        for features in [dense, sparse] {
            let scale = Standardization::fit(&features, &[0, 1, 3]);
            let Features::Dense { columns: 3, values } = scale.apply(&features).unwrap() else { panic!("dense rows") };
            for (found, expected) in values.iter().zip(expected.as_flattened()) {
                assert!((found - expected).abs() < 1e-5, "{values:?}");
            }
            let [(_, mean), (_, deviation)] = scale.matrices();
            assert_eq!(Standardization::of_rows(&mean, &deviation), Some(scale.clone()));
            let narrow = Features::dense(2, vec![0.0; 4]).unwrap();
            assert!(scale.apply(&narrow).unwrap_err().to_string().contains("2 features, where the saved run"));
        }
    }
}
