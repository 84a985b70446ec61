//! Aggregates over frames that rows leave again, `ROWS 2 PRECEDING`, without subtraction.
//!
//! DataFusion subtracts the values of rows that leave, which loses the digits of those that stay: of 1e300 and 1.5 the first
//! leaves 0, an infinity or NaN never leaves, and a variance comes out below 0. Here the rows of a frame are in two parts: of
//! the older, the total from each row to the part's end; of the newer, one total. What leaves is one total of the older part;
//! when it is used up, the newer part takes its place. So each row is added twice at most.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t(i BIGINT, x DOUBLE, y DOUBLE) AS VALUES (1, 1e300, 'NaN'), (2, 1.5, 1.5), (3, 2.5, 2.5)`
//! Shows: `SELECT sum(x) OVER (ORDER BY i ROWS 1 PRECEDING) FROM t ORDER BY i DESC LIMIT 1` gives `4.0`
//! Shows: `SELECT avg(y) OVER (ORDER BY i ROWS 1 PRECEDING) FROM t ORDER BY i DESC LIMIT 1` gives `2.0`

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::concat;
use arrow::datatypes::{DataType, FieldRef, Float64Type, SchemaRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};

use crate::aggregates::inner_aggregate::{as_inner_aggregate, with_inner_states};

/// Aggregates that do not depend on the order of their rows, and that DataFusion subtracts from, or cannot.
const NAMES: [&str; 20] = [
    "var",
    "var_pop",
    "stddev",
    "stddev_pop",
    "covar_samp",
    "covar_pop",
    "corr",
    "regr_slope",
    "regr_intercept",
    "regr_count",
    "regr_r2",
    "regr_avgx",
    "regr_avgy",
    "regr_sxx",
    "regr_syy",
    "regr_sxy",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
];

/// The aggregates of a list which slide otherwise here; `sum` and `avg` of ours do so by themselves.
pub fn sliding_aggregates(aggregates: &[Arc<AggregateUDF>]) -> Vec<Arc<AggregateUDF>> {
    let known = aggregates.iter().filter(|aggregate| NAMES.contains(&aggregate.name()));
    known.map(|inner| Arc::new(AggregateUDF::new_from_impl(Sliding { inner: Arc::clone(inner) }))).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sliding {
    inner: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for Sliding {
    as_inner_aggregate!();
    with_inner_states!();

    fn return_field(&self, given: &[FieldRef]) -> Result<FieldRef> {
        self.inner.return_field(given)
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match args.is_distinct {
            true => self.inner.create_sliding_accumulator(args),
            false => Ok(Box::new(SlidingStates::new(Call::of(&self.inner, args))?)),
        }
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.inner.simplify()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner.default_value(data_type)
    }
}

/// What an accumulator of an aggregate is made of.
#[derive(Debug)]
struct Call {
    aggregate: Arc<AggregateUDF>,
    return_field: FieldRef,
    schema: SchemaRef,
    ignore_nulls: bool,
    order_bys: Vec<PhysicalSortExpr>,
    is_reversed: bool,
    name: String,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    expr_fields: Vec<FieldRef>,
}

impl Call {
    fn of(aggregate: &Arc<AggregateUDF>, args: AccumulatorArgs) -> Self {
        Self {
            aggregate: Arc::clone(aggregate),
            return_field: args.return_field,
            schema: Arc::new(args.schema.clone()),
            ignore_nulls: args.ignore_nulls,
            order_bys: args.order_bys.to_vec(),
            is_reversed: args.is_reversed,
            name: args.name.to_owned(),
            exprs: args.exprs.to_vec(),
            expr_fields: args.expr_fields.to_vec(),
        }
    }

    fn accumulator(&self) -> Result<Box<dyn Accumulator>> {
        self.aggregate.accumulator(AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            ignore_nulls: self.ignore_nulls,
            order_bys: &self.order_bys,
            is_reversed: self.is_reversed,
            name: &self.name,
            is_distinct: false,
            exprs: &self.exprs,
            expr_fields: &self.expr_fields,
        })
    }
}

/// The states of an aggregate over a frame.
#[derive(Debug)]
struct SlidingStates {
    call: Call,
    /// Of the older part, the state of the rows from each to the part's end: that of all is the last.
    older: Vec<Vec<ScalarValue>>,
    /// The rows of the newer part, and their total.
    newer: Vec<Vec<ArrayRef>>,
    newer_rows: usize,
    total: Box<dyn Accumulator>,
}

impl SlidingStates {
    fn new(call: Call) -> Result<Self> {
        let total = call.accumulator()?;
        Ok(Self { call, older: Vec::new(), newer: Vec::new(), newer_rows: 0, total })
    }

    /// Makes the newer part the older one.
    fn turn(&mut self) -> Result<()> {
        let columns = self.newer.first().map_or(0, Vec::len);
        let column = |at: usize| -> Result<ArrayRef> {
            let parts: Vec<&dyn Array> = self.newer.iter().map(|values| values[at].as_ref()).collect();
            Ok(concat(&parts)?)
        };
        let rows = (0..columns).map(column).collect::<Result<Vec<_>>>()?;
        let mut total = self.call.accumulator()?;
        for row in (0..self.newer_rows).rev() {
            let row: Vec<ArrayRef> = rows.iter().map(|column| column.slice(row, 1)).collect();
            total.update_batch(&row)?;
            self.older.push(total.state()?);
        }
        self.newer.clear();
        self.newer_rows = 0;
        self.total = self.call.accumulator()?;
        Ok(())
    }
}

fn one_row(state: &[ScalarValue]) -> Result<Vec<ArrayRef>> {
    state.iter().map(ScalarValue::to_array).collect()
}

impl Accumulator for SlidingStates {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.newer_rows += values.first().map_or(0, |column| column.len());
        self.newer.push(values.to_vec());
        self.total.update_batch(values)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut rows = values.first().map_or(0, |column| column.len());
        while rows > 0 {
            if self.older.is_empty() {
                self.turn()?;
            }
            let left = self.older.len().saturating_sub(rows);
            rows -= self.older.len() - left;
            if self.older.is_empty() {
                return internal_err!("{}: more rows leave a frame than were in it", self.call.name);
            }
            self.older.truncate(left);
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("{}: a frame is merged", self.call.name)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("{}: the state of a frame is asked for", self.call.name)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut whole = self.call.accumulator()?;
        if let Some(older) = self.older.last() {
            whole.merge_batch(&one_row(older)?)?;
        }
        if self.newer_rows > 0 {
            whole.merge_batch(&one_row(&self.total.state()?)?)?;
        }
        whole.evaluate()
    }

    fn size(&self) -> usize {
        let states = self.older.iter().map(ScalarValue::size_of_vec).sum::<usize>();
        let rows = self.newer.iter().flatten().map(|column| column.get_array_memory_size()).sum::<usize>();
        size_of_val(self) + states + rows + self.total.size()
    }
}

/// The total or the mean of floats over a frame.
#[derive(Debug, Default)]
pub(crate) struct SlidingFloats {
    /// Of the older part, the total of the values from each to the part's end: that of all is the last.
    older: Vec<f64>,
    newer: Vec<f64>,
    total: f64,
    mean: bool,
}

impl SlidingFloats {
    pub(crate) fn total() -> Self {
        Self::default()
    }

    pub(crate) fn mean() -> Self {
        Self { mean: true, ..Self::default() }
    }
}

impl Accumulator for SlidingFloats {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values[0].as_primitive::<Float64Type>().iter().flatten() {
            self.newer.push(value);
            self.total += value;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut count = values[0].len() - values[0].null_count();
        while count > 0 {
            if self.older.is_empty() {
                let mut total = 0.0;
                self.older.extend(self.newer.drain(..).rev().map(|value| {
                    total += value;
                    total
                }));
                self.total = 0.0;
            }
            if self.older.is_empty() {
                return internal_err!("more values leave a frame than were in it");
            }
            let left = self.older.len().saturating_sub(count);
            count -= self.older.len() - left;
            self.older.truncate(left);
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("a frame is merged")
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("the state of a frame is asked for")
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let count = self.older.len() + self.newer.len();
        if count == 0 {
            return Ok(ScalarValue::Float64(None));
        }
        let total = self.older.last().copied().unwrap_or_default() + self.total;
        Ok(ScalarValue::Float64(Some(if self.mean { total / count as f64 } else { total })))
    }

    fn size(&self) -> usize {
        size_of_val(self) + (self.older.capacity() + self.newer.capacity()) * size_of::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Float64Array;
    use arrow::datatypes::{Field, Schema};
    use datafusion::functions_aggregate::variance::var_pop_udaf;

    use super::*;

    fn column(values: &[f64]) -> [ArrayRef; 1] {
        [Arc::new(Float64Array::from(values.to_vec()))]
    }

    fn variance() -> SlidingStates {
        let field = Arc::new(Field::new("x", DataType::Float64, true));
        let call = Call {
            aggregate: var_pop_udaf(),
            return_field: Arc::clone(&field),
            schema: Arc::new(Schema::new(vec![Arc::clone(&field)])),
            ignore_nulls: false,
            order_bys: vec![],
            is_reversed: false,
            name: "var_pop(x)".to_owned(),
            exprs: vec![],
            expr_fields: vec![field],
        };
        SlidingStates::new(call).unwrap()
    }

    /// Frames of changing width over values of very different size, each beside what its rows alone give.
    #[test]
    fn a_frame_has_the_answer_of_its_rows_alone() {
        let values: Vec<f64> =
            (0..200).map(|i| f64::from(i * i % 37 - 18) * if i % 41 == 0 { 1e12 } else { 1.0 }).collect();
        let (mut total, mut mean, mut states) = (SlidingFloats::total(), SlidingFloats::mean(), variance());
        let (mut from, mut to) = (0, 0);
        while to < values.len() {
            let enter = (1 + to % 3).min(values.len() - to);
            let leave = if to % 5 == 0 { 9 } else { to * 7 % 3 }.min(to + enter - from - 1);
            for frame in [&mut total as &mut dyn Accumulator, &mut mean, &mut states] {
                frame.update_batch(&column(&values[to..to + enter])).unwrap();
                frame.retract_batch(&column(&values[from..from + leave])).unwrap();
            }
            (from, to) = (from + leave, to + enter);
            let rows = &values[from..to];
            let size: f64 = rows.iter().map(|value| value.abs()).sum();
            let sum: f64 = rows.iter().sum();
            let average = sum / rows.len() as f64;
            let squares: f64 = rows.iter().map(|value| (value - average).powi(2)).sum();
            let is = |found: ScalarValue, expected: f64, scale: f64| {
                let ScalarValue::Float64(Some(found)) = found else { panic!("{found}") };
                assert!((found - expected).abs() <= 1e-12 * scale, "{found} is not {expected} for {rows:?}");
            };
            is(total.evaluate().unwrap(), sum, size);
            is(mean.evaluate().unwrap(), average, size);
            is(states.evaluate().unwrap(), squares / rows.len() as f64, 1e3 * squares);
        }
        assert!(total.retract_batch(&column(&values)).is_err());
        assert!(states.retract_batch(&column(&values)).is_err());
    }
}
