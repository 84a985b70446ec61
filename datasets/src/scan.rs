//! A read of one table: what is wanted of it, and its batches.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{FieldRef, Schema, SchemaRef};

use crate::columns::{Splits, Values};
use crate::matrix::Matrix;
use crate::{Error, Result};

/// The most rows of a batch.
pub(crate) const BATCH_ROWS: usize = 8192;

/// The most feature values of a batch (16 MiB).
const BATCH_VALUES: usize = 4 << 20;

/// A read of one table.
pub(crate) struct Scan<'a> {
    pub(crate) table: &'a str,
    pub(crate) schema: &'a SchemaRef,
    /// The positions in the schema of the wanted columns, in any order.
    pub(crate) columns: &'a [usize],
    /// False once the query is cancelled.
    pub(crate) keep_going: &'a dyn Fn() -> bool,
}

impl Scan<'_> {
    /// Whether a column is wanted.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.columns.iter().any(|&column| self.schema.field(column).name() == name)
    }

    /// Fails if the query is cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        check(self.keep_going)
    }

    /// Batches of `rows` rows; `values` gives a wanted column by its name, and is called once for each.
    pub(crate) fn batches(
        &self,
        rows: usize,
        mut values: impl FnMut(&str) -> Result<Values>,
    ) -> Result<Vec<RecordBatch>> {
        let schema = project(self.schema, self.columns);
        // A column that is wanted twice is read once.
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut column_of: Vec<usize> = Vec::with_capacity(self.columns.len());
        for (position, field) in schema.fields().iter().enumerate() {
            self.check()?;
            match self.columns[..position].iter().position(|earlier| *earlier == self.columns[position]) {
                Some(earlier) => column_of.push(column_of[earlier]),
                None => {
                    columns.push(values(field.name())?);
                    column_of.push(columns.len() - 1);
                }
            }
        }
        let widest = columns.iter().map(|column| match column {
            Values::Features(Matrix::Dense { width, .. }, _) => *width,
            Values::Features(matrix @ Matrix::Sparse { entries, .. }, _) => entries.len() / matrix.rows().max(1),
            _ => 1,
        });
        let step = (BATCH_VALUES / widest.max().unwrap_or(1).max(1)).clamp(64, BATCH_ROWS);
        let mut batches = Vec::with_capacity(rows.div_ceil(step));
        for start in (0..rows).step_by(step) {
            self.check()?;
            let range = start..rows.min(start + step);
            let length = range.len();
            let arrays = column_of
                .iter()
                .zip(schema.fields())
                .map(|(&column, field)| columns[column].cut(range.clone(), field.data_type()))
                .collect();
            batches.push(batch(&schema, arrays, length)?);
        }
        Ok(batches)
    }

    /// The rows of `edges(src, dst)`.
    pub(crate) fn edges(&self, ends: (Vec<i64>, Vec<i64>)) -> Result<Vec<RecordBatch>> {
        self.typed_edges(ends, Vec::new())
    }

    /// The rows of `edges(src, dst, type)`.
    pub(crate) fn typed_edges(
        &self,
        (mut src, mut dst): (Vec<i64>, Vec<i64>),
        mut types: Vec<String>,
    ) -> Result<Vec<RecordBatch>> {
        self.batches(src.len(), |name| {
            Ok(match name {
                "src" => Values::Integers(std::mem::take(&mut src)),
                "dst" => Values::Integers(std::mem::take(&mut dst)),
                _ => Values::Texts(std::mem::take(&mut types)),
            })
        })
    }

    /// The rows of `splits(split, node, part)`.
    pub(crate) fn splits(&self, mut splits: Splits) -> Result<Vec<RecordBatch>> {
        let rows = splits.node.len();
        let column = |name: &str| {
            Ok(match name {
                "split" => Values::Integers(std::mem::take(&mut splits.split)),
                "node" => Values::Integers(std::mem::take(&mut splits.node)),
                _ => Values::Words(std::mem::take(&mut splits.part)),
            })
        };
        self.batches(rows, column)
    }
}

/// Fails if the query is cancelled.
pub(crate) fn check(keep_going: &dyn Fn() -> bool) -> Result<()> {
    if keep_going() { Ok(()) } else { Err(Error::Cancelled) }
}

/// The schema of a projection.
pub(crate) fn project(schema: &Schema, projection: &[usize]) -> SchemaRef {
    let fields: Vec<FieldRef> = projection.iter().map(|&i| Arc::clone(&schema.fields()[i])).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A batch that knows its number of rows even without columns.
///
/// # Errors
/// If the columns are not those of the schema: a defect of the reader.
pub(crate) fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
