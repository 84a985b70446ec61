//! The least or greatest of rows `(a, b)`, compared field by field: NULL is greater than all values, as in ORDER BY.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/24948>
//! Shows: `SELECT get_field(max(named_struct('a', a, 'b', b)), 'b') FROM (VALUES (1, 5), (1, NULL)) AS t(a, b)` gives `NULL`

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef};
use arrow::compute::SortOptions;
use arrow::datatypes::DataType;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

/// The extreme of one group.
#[derive(Debug)]
pub(crate) struct ExtremeRow {
    converter: RowConverter,
    data_type: DataType,
    /// The order of the extreme relative to all other rows.
    ordering: Ordering,
    extreme: Option<OwnedRow>,
}

impl ExtremeRow {
    pub(crate) fn new(data_type: &DataType, ordering: Ordering) -> Result<Self> {
        let order = SortOptions { descending: false, nulls_first: false };
        let field = SortField::new_with_options(data_type.clone(), order);
        let converter = RowConverter::new(vec![field])?;
        Ok(Self { converter, data_type: data_type.clone(), ordering, extreme: None })
    }
}

impl Accumulator for ExtremeRow {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = self.converter.convert_columns(&[ArrayRef::clone(&values[0])])?;
        let there = (0..rows.num_rows()).filter(|&row| values[0].is_valid(row)).map(|row| rows.row(row));
        let found = match self.ordering {
            Ordering::Less => there.min(),
            _ => there.max(),
        };
        let Some(found) = found else { return Ok(()) };
        if self.extreme.as_ref().is_none_or(|extreme| found.cmp(&extreme.row()) == self.ordering) {
            self.extreme = Some(found.owned());
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match &self.extreme {
            Some(extreme) => {
                let columns = self.converter.convert_rows([extreme.row()])?;
                ScalarValue::try_from_array(&columns[0], 0)
            }
            None => ScalarValue::try_from(&self.data_type),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.converter.size() + self.extreme.as_ref().map_or(0, |extreme| extreme.as_ref().len())
    }
}
