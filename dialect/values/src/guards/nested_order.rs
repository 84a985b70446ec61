//! The order of rows, lists and maps: a NULL within is greater than all values.
//!
//! In DataFusion 55 `<` and its like, `greatest` and `least` take a NULL within for the least value, and ORDER BY, `max` and
//! `min` for the greatest, as in DuckDB. A row that is itself NULL makes a comparison NULL, and is none of those that
//! `greatest` chooses from.
//!
//! Upstream: none known
//! Shows: `SELECT (1, 2) < (1, NULL), [1] < [NULL], greatest([1], [NULL])[1]` gives `true | true | NULL`

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, make_comparator};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::compute::{SortOptions, interleave};
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// A NULL is greater than all values.
const ORDER: SortOptions = SortOptions { descending: false, nulls_first: false };

/// The comparison of two rows, lists or maps by `<`, `<=`, `>` or `>=`; `None` for another operator.
pub fn compare_nested(left: Expr, op: Operator, right: Expr) -> Option<Expr> {
    let compared = Compared::of(op)?;
    Some(ScalarUDF::new_from_impl(NestedOrder::new(compared)).call(vec![left, right]))
}

/// The greatest, or the least, of rows, lists or maps of one type.
pub fn extreme_nested(greatest: bool, values: Vec<Expr>) -> Expr {
    let compared = if greatest { Compared::Greatest } else { Compared::Least };
    ScalarUDF::new_from_impl(NestedOrder::new(compared)).call(values)
}

/// The functions. A serialised plan refers to them by name.
pub(crate) fn functions() -> Vec<Arc<ScalarUDF>> {
    let all = [
        Compared::Less,
        Compared::LessOrEqual,
        Compared::Greater,
        Compared::GreaterOrEqual,
        Compared::Greatest,
        Compared::Least,
    ];
    all.into_iter().map(|compared| Arc::new(ScalarUDF::new_from_impl(NestedOrder::new(compared)))).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Compared {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Greatest,
    Least,
}

impl Compared {
    fn of(op: Operator) -> Option<Self> {
        match op {
            Operator::Lt => Some(Self::Less),
            Operator::LtEq => Some(Self::LessOrEqual),
            Operator::Gt => Some(Self::Greater),
            Operator::GtEq => Some(Self::GreaterOrEqual),
            _ => None,
        }
    }

    /// Whether a comparison holds; for an extreme, whether the first value stays.
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual | Self::Least => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual | Self::Greatest => order.is_ge(),
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct NestedOrder {
    compared: Compared,
    signature: Signature,
}

impl NestedOrder {
    fn new(compared: Compared) -> Self {
        Self { compared, signature: Signature::variadic_any(Volatility::Immutable) }
    }

    fn is_extreme(&self) -> bool {
        matches!(self.compared, Compared::Greatest | Compared::Least)
    }
}

impl ScalarUDFImpl for NestedOrder {
    fn name(&self) -> &str {
        match self.compared {
            Compared::Less => "nested_less",
            Compared::LessOrEqual => "nested_less_or_equal",
            Compared::Greater => "nested_greater",
            Compared::GreaterOrEqual => "nested_greater_or_equal",
            Compared::Greatest => "nested_greatest",
            Compared::Least => "nested_least",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match (self.is_extreme(), given.first()) {
            (true, Some(first)) => Ok(first.clone()),
            (true, None) => internal_err!("{}: no values", self.name()),
            (false, _) => Ok(DataType::Boolean),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let values = args.args.iter().map(|value| value.to_array(args.number_rows)).collect::<Result<Vec<_>>>()?;
        let answer = match (self.is_extreme(), values.as_slice()) {
            (false, [left, right]) => Arc::new(compare(self.compared, left, right)?),
            (true, [first, others @ ..]) => {
                let better = |best: ArrayRef, other: &ArrayRef| choose(self.compared, &best, other);
                others.iter().try_fold(Arc::clone(first), better)?
            }
            _ => return internal_err!("{}: {} values", self.name(), values.len()),
        };
        Ok(ColumnarValue::Array(answer))
    }
}

fn compare(compared: Compared, left: &ArrayRef, right: &ArrayRef) -> Result<BooleanArray> {
    let order = make_comparator(left, right, ORDER)?;
    let values = BooleanBuffer::collect_bool(left.len(), |row| compared.holds(order(row, row)));
    let nulls = NullBuffer::union(left.logical_nulls().as_ref(), right.logical_nulls().as_ref());
    Ok(BooleanArray::new(values, nulls))
}

/// The better of two values of each row; the one that is there, where one is NULL.
fn choose(compared: Compared, best: &ArrayRef, other: &ArrayRef) -> Result<ArrayRef> {
    let order = make_comparator(best, other, ORDER)?;
    let (of_best, of_other) = (best.logical_nulls(), other.logical_nulls());
    let is_null = |nulls: &Option<NullBuffer>, row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    let choice = |row: usize| {
        let stays = is_null(&of_other, row) || (!is_null(&of_best, row) && compared.holds(order(row, row)));
        (usize::from(!stays), row)
    };
    let choices: Vec<(usize, usize)> = (0..best.len()).map(choice).collect();
    Ok(interleave(&[best.as_ref(), other.as_ref()], &choices)?)
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, ListArray};
    use arrow::datatypes::Int64Type;

    use super::*;

    fn lists(values: &[Option<&[Option<i64>]>]) -> ArrayRef {
        let values = values.iter().map(|list| list.map(<[Option<i64>]>::to_vec));
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(values))
    }

    #[test]
    fn null_within_is_greatest_and_a_null_list_has_no_order() {
        let left = lists(&[Some(&[Some(1)]), Some(&[None]), Some(&[Some(1), None]), None, Some(&[None])]);
        let right = lists(&[Some(&[None]), Some(&[Some(1)]), Some(&[Some(1)]), Some(&[]), Some(&[None])]);
        let of = |compared| compare(compared, &left, &right).unwrap().iter().collect::<Vec<_>>();
        assert_eq!(of(Compared::Less), [Some(true), Some(false), Some(false), None, Some(false)]);
        assert_eq!(of(Compared::GreaterOrEqual), [Some(false), Some(true), Some(true), None, Some(true)]);
        let greatest = choose(Compared::Greatest, &left, &right).unwrap();
        let greatest = greatest.as_list::<i32>();
        assert!(greatest.value(0).is_null(0) && greatest.value(1).is_null(0));
        assert_eq!((greatest.value(2).len(), greatest.value(3).len()), (2, 0));
    }
}
