//! All groups of one aggregate behind DataFusion's interface: their values are computed side by side, in one call of the
//! kernel threads.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, BooleanArray, UInt32Array, new_empty_array};
use arrow::compute::take;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use rayon::prelude::*;

use crate::host::running_statement::ExpressionHost;
use crate::registry::Function;
use crate::registry::body::{AggregateFunction, AggregateState};
use crate::registry::options::Options;

/// The states of all groups. They travel between partitions as bytes.
pub(crate) struct StateGroups {
    function: Arc<Function>,
    body: Arc<dyn AggregateFunction>,
    /// The arguments that are columns, and the others.
    columns: Vec<usize>,
    options: Options,
    states: Vec<Box<dyn AggregateState>>,
    /// The sum of the states' sizes: DataFusion asks after every batch.
    bytes: usize,
}

impl StateGroups {
    pub(crate) fn new(
        function: Arc<Function>,
        body: Arc<dyn AggregateFunction>,
        columns: Vec<usize>,
        options: Options,
    ) -> Self {
        Self { function, body, columns, options, states: Vec::new(), bytes: 0 }
    }

    fn grow(&mut self, groups: usize) -> Result<()> {
        while self.states.len() < groups {
            let state = self.body.state(&self.options)?;
            self.bytes += state.size();
            self.states.push(state);
        }
        Ok(())
    }

    /// Changes a group's state.
    fn change(&mut self, group: usize, change: impl FnOnce(&mut dyn AggregateState) -> Result<()>) -> Result<()> {
        let state = self.states[group].as_mut();
        let before = state.size();
        let changed = change(state);
        self.bytes = self.bytes + state.size() - before;
        changed
    }

    fn emit(&mut self, emit_to: EmitTo) -> Vec<Box<dyn AggregateState>> {
        let states = emit_to.take_needed(&mut self.states);
        self.bytes = self.states.iter().map(|state| state.size()).sum();
        states
    }
}

impl GroupsAccumulator for StateGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.grow(total)?;
        let columns: Vec<ArrayRef> = self.columns.iter().map(|&i| Arc::clone(&values[i])).collect();
        let (order, bounds) = by_group(groups, filter);
        let in_order = order.len() == groups.len() && order.windows(2).all(|pair| pair[0] < pair[1]);
        let columns: Vec<ArrayRef> = match in_order {
            true => columns,
            false => {
                let order = UInt32Array::from(order);
                columns.iter().map(|column| Ok(take(column, &order, None)?)).collect::<Result<_>>()?
            }
        };
        for (group, start, end) in bounds {
            let own: Vec<ArrayRef> = columns.iter().map(|column| column.slice(start, end - start)).collect();
            self.change(group, |state| state.update(&own))?;
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let bytes = self.bytes;
        let states = self.emit(emit_to);
        if states.is_empty() {
            return Ok(new_empty_array(&self.body.data_type()));
        }
        let host = ExpressionHost::new(self.function.name);
        let heavy = self.function.heavy;
        host.call(bytes, heavy, || {
            let in_threads = host.in_threads(bytes, heavy);
            // The error of the first group that fails is returned.
            let values: Vec<Result<ScalarValue>> = match in_threads {
                true => states.par_iter().map(|state| state.value(&host)).collect(),
                false => states.iter().map(|state| state.value(&host)).collect(),
            };
            ScalarValue::iter_to_array(values.into_iter().collect::<Result<Vec<_>>>()?)
        })
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let states: Vec<Vec<u8>> = self.emit(emit_to).iter().map(|state| state.to_bytes()).collect::<Result<_>>()?;
        let mut column = BinaryBuilder::with_capacity(states.len(), states.iter().map(Vec::len).sum());
        states.iter().for_each(|state| column.append_value(state));
        Ok(vec![Arc::new(column.finish())])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.grow(total)?;
        let states = values[0].as_binary::<i32>();
        for (row, &group) in groups.iter().enumerate().filter(|(row, _)| states.is_valid(*row)) {
            self.change(group, |state| state.merge(states.value(row)))?;
        }
        Ok(())
    }

    /// Each row as the state of a group of its own: where nearly every row is a group, grouping twice does not pay.
    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |column| column.len());
        let state = |row: usize| -> Result<Option<Vec<u8>>> {
            if !passes(filter, row) {
                return Ok(None);
            }
            let mut state = self.body.state(&self.options)?;
            let own: Vec<ArrayRef> = self.columns.iter().map(|&i| values[i].slice(row, 1)).collect();
            state.update(&own)?;
            state.to_bytes().map(Some)
        };
        let states = (0..rows).map(state).collect::<Result<Vec<_>>>()?;
        Ok(vec![Arc::new(BinaryArray::from_iter(states))])
    }

    fn size(&self) -> usize {
        self.bytes + self.states.capacity() * size_of::<Box<dyn AggregateState>>()
    }
}

fn passes(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

/// The rows that pass the filter, group by group, each group's in their order; and where each group's begin and end.
fn by_group(groups: &[usize], filter: Option<&BooleanArray>) -> (Vec<u32>, Vec<(usize, usize, usize)>) {
    let mut order: Vec<u32> = (0..groups.len() as u32).filter(|&row| passes(filter, row as usize)).collect();
    let of = |row: u32| groups[row as usize];
    if !order.is_sorted_by_key(|&row| of(row)) {
        order.sort_by_key(|&row| of(row));
    }
    let mut bounds = Vec::new();
    let mut start = 0;
    for rows in order.chunk_by(|&a, &b| of(a) == of(b)) {
        bounds.push((of(rows[0]), start, start + rows.len()));
        start += rows.len();
    }
    (order, bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_in_the_order_of_their_groups_and_filtered() {
        let (order, bounds) = by_group(&[2, 0, 2, 0, 1], None);
        assert_eq!((order, bounds), (vec![1, 3, 4, 0, 2], vec![(0, 0, 2), (1, 2, 3), (2, 3, 5)]));
        let filter = BooleanArray::from(vec![Some(true), Some(false), None, Some(true), Some(false)]);
        let (order, bounds) = by_group(&[2, 0, 2, 0, 1], Some(&filter));
        assert_eq!((order, bounds), (vec![3, 0], vec![(0, 0, 1), (2, 1, 2)]));
        assert_eq!(by_group(&[], None), (vec![], vec![]));
    }
}
