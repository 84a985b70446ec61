//! Rows of groups as they come: Arrow columns, put into the order of their groups when these are complete.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, UInt32Array, new_empty_array};
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use arrow::compute::{concat, filter, take};
use arrow::datatypes::{DataType, Field};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::EmitTo;
use rayon::prelude::*;

use crate::keys::{KeyColumn, KeyIndex};

/// The rows of groups, group after group.
#[derive(Debug)]
pub struct GroupedRows {
    columns: Vec<ArrayRef>,
    /// Where each group's rows begin, and where the last one's end.
    bounds: Vec<usize>,
    in_threads: bool,
}

impl GroupedRows {
    /// The column parameters, in their order: the rows of all groups.
    pub fn columns(&self) -> &[ArrayRef] {
        &self.columns
    }

    /// A value for each group from the range of its rows, which may be empty; side by side where that pays.
    ///
    /// # Errors
    /// The error of the first group that fails.
    pub fn map<T: Send>(&self, value: impl Fn(Range<usize>) -> Result<T> + Send + Sync) -> Result<Vec<T>> {
        let range = |bounds: &[usize]| value(bounds[0]..bounds[1]);
        let values: Vec<Result<T>> = match self.in_threads {
            true => self.bounds.par_windows(2).map(range).collect(),
            false => self.bounds.windows(2).map(range).collect(),
        };
        values.into_iter().collect()
    }
}

/// Rows with the groups they belong to.
#[derive(Debug, Clone)]
struct Batch {
    columns: Vec<ArrayRef>,
    groups: Vec<u32>,
}

/// The rows of groups, in the order in which they came.
#[derive(Debug, Clone)]
pub struct RowBuffer {
    types: Vec<DataType>,
    /// Whether rows with a NULL count.
    keeps_nulls: bool,
    batches: Vec<Batch>,
    bytes: usize,
}

impl RowBuffer {
    /// No rows of columns of these types; rows with a NULL in one of them count if `keeps_nulls`.
    pub fn new(types: Vec<DataType>, keeps_nulls: bool) -> Self {
        Self { types, keeps_nulls, batches: Vec::new(), bytes: 0 }
    }

    /// The bytes that the rows take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the rows that pass the filter, each of the group of its number.
    ///
    /// # Errors
    /// Those of Arrow.
    pub fn add(&mut self, columns: Vec<ArrayRef>, groups: Vec<u32>, passes: Option<&BooleanArray>) -> Result<()> {
        match self.counted(&columns, passes) {
            None => self.push(columns, groups),
            Some(counted) => {
                let groups = groups.into_iter().zip(&counted).filter_map(|(group, counts)| counts.then_some(group));
                let groups = groups.collect();
                self.push(filtered(&columns, counted)?, groups);
            }
        }
        Ok(())
    }

    /// Adds the rows of other buffers, as lists that [`RowBuffer::lists`] made: `groups` has an entry for each list.
    pub fn merge(&mut self, lists: &[ArrayRef], groups: impl Iterator<Item = u32>) {
        let lists: Vec<&ListArray> = lists.iter().map(|lists| lists.as_list::<i32>()).collect();
        let Some(first) = lists.first() else { return };
        let lengths = first.offsets().lengths();
        let groups = groups.zip(lengths).flat_map(|(group, rows)| std::iter::repeat_n(group, rows)).collect();
        let rows = |lists: &&ListArray| {
            let (start, end) = (lists.offsets()[0] as usize, lists.offsets()[lists.len()] as usize);
            lists.values().slice(start, end - start)
        };
        self.push(lists.iter().map(rows).collect(), groups);
    }

    fn push(&mut self, columns: Vec<ArrayRef>, groups: Vec<u32>) {
        if groups.is_empty() {
            return;
        }
        let batch = Batch { columns, groups };
        self.bytes += batch.bytes();
        self.batches.push(batch);
    }

    /// The rows that count; `None` where all do.
    fn counted(&self, columns: &[ArrayRef], passes: Option<&BooleanArray>) -> Option<BooleanBuffer> {
        let complete = match self.keeps_nulls {
            true => None,
            false => columns
                .iter()
                .fold(None, |nulls, column| NullBuffer::union(nulls.as_ref(), column.logical_nulls().as_ref())),
        };
        let passes = passes.map(|passes| match passes.nulls() {
            Some(nulls) => passes.values() & nulls.inner(),
            None => passes.values().clone(),
        });
        let counted = match (complete, passes) {
            (None, None) => return None,
            (Some(complete), None) => complete.into_inner(),
            (None, Some(passes)) => passes,
            (Some(complete), Some(passes)) => complete.inner() & &passes,
        };
        (counted.count_set_bits() < counted.len()).then_some(counted)
    }

    /// Takes the rows of the groups that are complete; those that stay are numbered from 0 again.
    pub fn emit(&mut self, emit_to: EmitTo) -> Result<Self> {
        let mut emitted = Self::new(self.types.clone(), self.keeps_nulls);
        let EmitTo::First(n) = emit_to else {
            return Ok(std::mem::replace(self, emitted));
        };
        let batches = std::mem::take(&mut self.batches);
        self.bytes = 0;
        for batch in batches {
            let first: BooleanBuffer = batch.groups.iter().map(|&group| (group as usize) < n).collect();
            let (early, late): (Vec<u32>, Vec<u32>) = batch.groups.iter().partition(|&&group| (group as usize) < n);
            emitted.push(filtered(&batch.columns, first.clone())?, early);
            self.push(filtered(&batch.columns, !&first)?, late.into_iter().map(|group| group - n as u32).collect());
        }
        Ok(emitted)
    }

    /// The rows group by group, each group's in the order in which they came. O(rows + groups) time, and twice the memory
    /// of the rows unless they came in the order of their groups and at once.
    pub fn grouped(&self, groups: usize, in_threads: bool) -> Result<GroupedRows> {
        let rows: usize = self.batches.iter().map(|batch| batch.groups.len()).sum();
        if u32::try_from(rows).is_err() {
            return Err(DataFusionError::Execution(format!(
                "{rows} rows in one aggregation: at most {} can be held",
                u32::MAX
            )));
        }
        let numbers = self.batches.iter().flat_map(|batch| batch.groups.iter().copied().map(Some));
        let RowsByGroup { rows: order, starts: bounds } = RowsByGroup::new(numbers, groups);
        let in_order = order.is_sorted();
        let order = UInt32Array::from(order);
        let column = |i| {
            let column = self.column(i)?;
            Ok(if in_order { column } else { take(&column, &order, None)? })
        };
        let columns = (0..self.types.len()).map(column).collect::<Result<_>>()?;
        Ok(GroupedRows { columns, bounds, in_threads })
    }

    /// A column of all rows, in the order in which they came.
    fn column(&self, i: usize) -> Result<ArrayRef> {
        let parts: Vec<&dyn Array> = self.batches.iter().map(|batch| batch.columns[i].as_ref()).collect();
        Ok(match self.batches.as_slice() {
            [] => new_empty_array(&self.types[i]),
            [batch] => Arc::clone(&batch.columns[i]),
            _ => concat(&parts)?,
        })
    }

    /// The rows of each group as lists, a column of lists for each column: for another buffer to merge.
    pub fn lists(&self, groups: usize) -> Result<Vec<ArrayRef>> {
        let rows = self.grouped(groups, false)?;
        rows.columns
            .iter()
            .map(|column| lists(column, rows.bounds.windows(2).map(|bounds| bounds[1] - bounds[0])))
            .collect()
    }

    /// Each row as the list of a group of its own, empty for a row that does not count.
    pub fn list_each(&self, columns: &[ArrayRef], passes: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        match self.counted(columns, passes) {
            None => columns.iter().map(|column| lists(column, std::iter::repeat_n(1, column.len()))).collect(),
            Some(counted) => {
                let columns = filtered(columns, counted.clone())?;
                columns.iter().map(|column| lists(column, counted.iter().map(usize::from))).collect()
            }
        }
    }
}

impl Batch {
    fn bytes(&self) -> usize {
        let columns = self.columns.iter().map(|column| {
            // Of a slice of a batch its own part counts.
            column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size())
        });
        columns.sum::<usize>() + size_of_val(self.groups.as_slice())
    }
}

/// The field of the lists of a column.
pub fn item(data_type: &DataType) -> Arc<Field> {
    Arc::new(Field::new("item", data_type.clone(), true))
}

fn lists(values: &ArrayRef, lengths: impl Iterator<Item = usize>) -> Result<ArrayRef> {
    if i32::try_from(values.len()).is_err() {
        return Err(DataFusionError::Execution(format!(
            "{} rows in one aggregation: at most {} can be handed to another partition",
            values.len(),
            i32::MAX
        )));
    }
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(item(values.data_type()), offsets, Arc::clone(values), None)?))
}

fn filtered(columns: &[ArrayRef], kept: BooleanBuffer) -> Result<Vec<ArrayRef>> {
    let kept = BooleanArray::new(kept, None);
    columns.iter().map(|column| Ok(filter(column, &kept)?)).collect()
}

/// The rows of numbered groups in one list, group by group, each group's in ascending order.
pub struct RowsByGroup {
    /// The rows.
    pub rows: Vec<u32>,
    /// Where each group's rows begin, and where the last one's end.
    pub starts: Vec<usize>,
}

impl RowsByGroup {
    /// The rows of each key of an index, of which all keys are, and before them those without a key, if these are a group; without a
    /// column all groups have no rows.
    pub fn by_key(index: &KeyIndex, keys: Option<&KeyColumn>, has_nulls: bool) -> Self {
        let numbers = keys.map_or_else(Vec::new, |keys| index.numbers(keys));
        let before = u32::from(has_nulls);
        let of_nulls = has_nulls.then_some(0);
        let groups = numbers.iter().map(|number| number.map(|number| number + before).or(of_nulls));
        Self::new(groups, index.len() + usize::from(has_nulls))
    }

    /// The rows by their groups; `None` for a row of no group. Counts, then places: O(rows + groups).
    pub fn new(numbers: impl Iterator<Item = Option<u32>> + Clone, groups: usize) -> Self {
        // Placing moves each group's start to its end, the start of the next: so there is one more in front.
        let mut starts = vec![0; groups + 2];
        for number in numbers.clone().flatten() {
            starts[number as usize + 2] += 1;
        }
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut rows = vec![0; starts[groups + 1]];
        for (number, row) in numbers.zip(0..) {
            if let Some(number) = number {
                let next = &mut starts[number as usize + 1];
                rows[*next] = row;
                *next += 1;
            }
        }
        starts.pop();
        Self { rows, starts }
    }

    /// The rows of a group, which is below the number of groups.
    pub fn rows(&self, group: usize) -> &[u32] {
        &self.rows[self.starts[group]..self.starts[group + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int64Array;
    use arrow::datatypes::Int64Type;

    fn column(values: Vec<Option<i64>>) -> ArrayRef {
        Arc::new(Int64Array::from(values))
    }

    fn filled(batches: &[(&[i64], &[u32])]) -> RowBuffer {
        let mut buffer = RowBuffer::new(vec![DataType::Int64], false);
        for (values, groups) in batches {
            buffer.add(vec![column(values.iter().copied().map(Some).collect())], groups.to_vec(), None).unwrap();
        }
        buffer
    }

    fn groups(buffer: &RowBuffer, groups: usize) -> Vec<Vec<i64>> {
        let rows = buffer.grouped(groups, false).unwrap();
        let values = rows.columns()[0].as_primitive::<Int64Type>().values();
        rows.map(|range| Ok(values[range].to_vec())).unwrap()
    }

    #[test]
    fn rows_lie_group_by_group_in_the_order_in_which_they_came() {
        let buffer = filled(&[(&[1, 2, 3], &[2, 0, 2]), (&[4, 5], &[0, 3])]);
        assert_eq!(groups(&buffer, 5), [vec![2, 4], vec![], vec![1, 3], vec![5], vec![]]);
    }

    #[test]
    fn rows_in_the_order_of_their_groups_stay_where_they_are() {
        let sorted = filled(&[(&[1, 2], &[0, 0]), (&[3], &[2])]);
        assert_eq!(groups(&sorted, 4), [vec![1, 2], vec![], vec![3], vec![]]);
        assert_eq!(groups(&filled(&[]), 1), [Vec::<i64>::new()]);
    }

    #[test]
    fn rows_with_a_null_and_rows_that_the_filter_refuses_do_not_count() {
        let passes = BooleanArray::from(vec![Some(true), Some(true), Some(false), None, Some(true)]);
        let values = || vec![column(vec![Some(1), None, Some(3), Some(4), Some(5)])];
        let mut buffer = RowBuffer::new(vec![DataType::Int64], false);
        buffer.add(values(), vec![0, 0, 0, 0, 1], Some(&passes)).unwrap();
        assert_eq!(groups(&buffer, 2), [vec![1], vec![5]]);
        let each = buffer.list_each(&values(), Some(&passes)).unwrap();
        let lengths: Vec<usize> = each[0].as_list::<i32>().offsets().lengths().collect();
        assert_eq!(lengths, [1, 0, 0, 0, 1]);

        let mut buffer = RowBuffer::new(vec![DataType::Int64], true);
        buffer.add(values(), vec![0, 0, 0, 0, 1], None).unwrap();
        assert_eq!(buffer.grouped(2, false).unwrap().columns()[0].null_count(), 1);
    }

    #[test]
    fn the_first_groups_are_emitted_and_the_others_numbered_again() {
        let mut buffer = filled(&[(&[1, 2, 3], &[2, 0, 1]), (&[4, 5], &[0, 2])]);
        let before = buffer.bytes();
        let first = buffer.emit(EmitTo::First(2)).unwrap();
        assert_eq!(groups(&first, 2), [vec![2, 4], vec![3]]);
        assert_eq!(groups(&buffer, 1), [vec![1, 5]]);
        assert!(buffer.bytes() > 0 && first.bytes() > 0 && buffer.bytes() + first.bytes() <= before + 64);
        buffer.emit(EmitTo::All).unwrap();
        assert_eq!(buffer.bytes(), 0);
    }

    #[test]
    fn lists_of_other_buffers_are_merged_into_their_groups() {
        let lists = filled(&[(&[1, 2, 3], &[2, 0, 2])]).lists(3).unwrap();
        let mut other = filled(&[(&[9], &[0])]);
        other.merge(&lists, [1, 1, 0].into_iter());
        assert_eq!(groups(&other, 2), [vec![9, 1, 3], vec![2]]);
        // A slice of lists begins elsewhere in the same values.
        let mut other = filled(&[]);
        other.merge(&[lists[0].slice(2, 1)], [0].into_iter());
        assert_eq!(groups(&other, 1), [vec![1, 3]]);
    }
}
