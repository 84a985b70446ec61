//! The null mask of states that are made of one row each.

use arrow::array::{Array, BooleanArray};
use arrow::buffer::NullBuffer;

/// The null mask of the states of values, one a row: a row that is NULL, or that the filter drops, has none.
pub(crate) fn nulls_of_states(values: &dyn Array, filter: Option<&BooleanArray>) -> Option<NullBuffer> {
    let kept = filter.map(|filter| match filter.nulls() {
        Some(nulls) => NullBuffer::new(filter.values() & nulls.inner()),
        None => NullBuffer::new(filter.values().clone()),
    });
    NullBuffer::union(kept.as_ref(), values.nulls())
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;

    use super::*;

    #[test]
    fn rows_that_are_null_or_dropped_have_no_state() {
        let values = Int64Array::from(vec![Some(1), None, Some(3), Some(4)]);
        let filter = BooleanArray::from(vec![Some(true), Some(true), Some(false), None]);
        let valid = |filter: Option<&BooleanArray>| {
            nulls_of_states(&values, filter).map(|nulls| nulls.iter().collect::<Vec<_>>())
        };
        assert_eq!(valid(Some(&filter)), Some(vec![true, false, false, false]));
        assert_eq!(valid(None), Some(vec![true, false, true, true]));
        assert_eq!(nulls_of_states(&Int64Array::from(vec![1]), None), None);
    }
}
