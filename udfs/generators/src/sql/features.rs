//! Labels and features of real nodes, as generators read them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, NullArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Int64Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{GeneratorInputs, KeyColumn, KeyIndex, execution_error, stopped};
use datafusion::common::Result;

use crate::FeaturePool;

/// A column of no rows.
pub(super) fn nothing() -> ArrayRef {
    Arc::new(NullArray::new(0))
}

/// The class of each row: labels in ascending order are classes 0, 1, ...; NULL has none.
pub(super) fn classes(inputs: &GeneratorInputs, relation: &str) -> Result<Vec<Option<u32>>> {
    let label = inputs.column(relation, "label")?.unwrap_or_else(nothing);
    let label = match label.data_type() {
        data_type if data_type.is_floating() || *data_type == DataType::Boolean => cast(&label, &DataType::Utf8)?,
        _ => label,
    };
    let what = format!("{relation}.label");
    let keys = KeyColumn::new(&label, &what)?;
    Ok(KeyIndex::new(&[(what.as_str(), &keys)])?.numbers(&keys))
}

/// Rows of entries; a row that is NULL has none.
pub(super) struct SparseRows<'a> {
    width: usize,
    starts: Vec<usize>,
    entries: Vec<(u32, f32)>,
    present: Vec<bool>,
    reservation: Reservation<'a>,
}

/// The rows of a column `features`: `FLOAT[]`, `FLOAT[n]` or `MAP(INT, FLOAT)`; `None` where there is no such column or no
/// row has any. Their memory is reserved as long as they live.
pub(super) fn dense<'a>(
    inputs: &GeneratorInputs,
    relation: &str,
    monitor: &'a dyn Monitor,
) -> Result<Option<SparseRows<'a>>> {
    let Some(column) = inputs.column(relation, "features")? else { return Ok(None) };
    if column.null_count() == column.len() || *column.data_type() == DataType::Null {
        return Ok(None);
    }
    let wrong = || {
        execution_error(format!(
            "{relation}.features is {}: features are FLOAT[] or MAP(INT, FLOAT)",
            column.data_type()
        ))
    };
    let (starts, index, values): (Vec<usize>, Option<ArrayRef>, ArrayRef) = match column.data_type() {
        DataType::Map(..) => {
            let map = column.as_map();
            let starts = map.value_offsets().iter().map(|&offset| offset as usize).collect();
            (starts, Some(cast(map.keys(), &DataType::Int64).map_err(|_| wrong())?), Arc::clone(map.values()))
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let list = cast(&column, &DataType::LargeList(Arc::clone(item)))?;
            let list = list.as_list::<i64>();
            (list.value_offsets().iter().map(|&offset| offset as usize).collect(), None, Arc::clone(list.values()))
        }
        _ => return Err(wrong()),
    };
    let values = cast(&values, &DataType::Float32).map_err(|_| wrong())?;
    let values = values.as_primitive::<Float32Type>();
    let reservation = Reservation::new(monitor, 8 * values.len() + 9 * column.len()).map_err(stopped)?;
    let index = index.as_ref().map(|index| index.as_primitive::<Int64Type>());
    let mut rows = SparseRows { width: 0, starts: vec![0], entries: Vec::new(), present: Vec::new(), reservation };
    for row in 0..column.len() {
        let there = column.is_valid(row);
        for (position, entry) in (starts[row]..starts[row + 1]).enumerate().filter(|_| there) {
            let value = values.value(entry);
            let at = index.map_or(position as i64, |index| index.value(entry));
            let (Ok(at), true) = (u32::try_from(at), values.is_valid(entry) && value.is_finite()) else {
                return Err(execution_error(format!(
                    "{relation}.features, row {row}: a feature is NULL or not finite, or its index is negative"
                )));
            };
            rows.width = rows.width.max(at as usize + 1);
            rows.entries.push((at, value));
        }
        rows.present.push(there);
        rows.starts.push(rows.entries.len());
    }
    Ok(Some(rows))
}

impl SparseRows<'_> {
    fn fill(&self, row: usize, into: &mut [f32]) {
        self.entries[self.starts[row]..self.starts[row + 1]].iter().for_each(|&(at, value)| into[at as usize] = value);
    }

    /// The width and the features of nodes, whose rows these are, one after the other. Nodes with a label need features.
    pub fn ordered(&mut self, row_of: &[Option<usize>], labels: &[Option<u32>]) -> Result<(usize, Vec<f32>)> {
        self.reservation.grow(4 * self.width * row_of.len()).map_err(stopped)?;
        let mut values = vec![0.0; self.width * row_of.len()];
        for ((row, label), into) in row_of.iter().zip(labels).zip(values.chunks_mut(self.width.max(1))) {
            let Some(row) = *row else { continue };
            if label.is_some() && !self.present[row] {
                return Err(execution_error("nodes.features is NULL for a node with a label, and is there for others"));
            }
            self.fill(row, into);
        }
        Ok((self.width, values))
    }
}

/// The rows of the relation `features` that have a label and features, by class. Their order is that of their values, so
/// that it does not depend on how they were read; with the memory that they hold.
pub(super) fn pool<'a>(inputs: &GeneratorInputs, monitor: &'a dyn Monitor) -> Result<(FeaturePool, Reservation<'a>)> {
    let classes = classes(inputs, "features")?;
    let Some(rows) = dense(inputs, "features", monitor)? else {
        return Err(execution_error("features: no row of the relation has features"));
    };
    let n_classes = classes.iter().flatten().max().map_or(0, |&class| class as usize + 1);
    let mut by_class: Vec<Vec<usize>> = vec![Vec::new(); n_classes];
    for (row, class) in classes.iter().enumerate().filter(|(row, _)| rows.present[*row]) {
        if let Some(class) = class {
            by_class[*class as usize].push(row);
        }
    }
    let entries = |row: usize| &rows.entries[rows.starts[row]..rows.starts[row + 1]];
    let bits = |row: usize| entries(row).iter().map(|&(at, value)| (at, value.to_bits()));
    by_class.iter_mut().for_each(|rows| rows.sort_by(|&a, &b| bits(a).cmp(bits(b))));
    let n_rows = by_class.iter().map(Vec::len).sum::<usize>();
    let reservation = Reservation::new(monitor, 4 * rows.width * n_rows).map_err(stopped)?;
    let mut pool = FeaturePool { width: rows.width, values: vec![0.0; rows.width * n_rows], classes: Vec::new() };
    let mut into = pool.values.chunks_mut(rows.width.max(1));
    let mut next = 0u32;
    for of_class in by_class {
        for (&row, into) in of_class.iter().zip(&mut into) {
            rows.fill(row, into);
        }
        pool.classes.push((next..next + of_class.len() as u32).collect());
        next += of_class.len() as u32;
    }
    Ok((pool, reservation))
}
