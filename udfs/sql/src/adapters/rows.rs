//! Aggregates that see all rows of a group at once. The adapter holds the rows; the function is called when they are
//! complete.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, new_empty_array};
use arrow::datatypes::{DataType, Field, FieldRef};
use bonnet_columns::{RowBuffer, item};
use bonnet_graph::Reservation;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator};

use crate::adapters::adapter::{Adapter, common_methods};
use crate::error::stopped;
use crate::host::running_statement::ExpressionHost;
use crate::registry::body::{RowsFunction, RowsKernel};

/// Whether an aggregate is one whose states are its rows.
pub(crate) fn holds_rows(function: &AggregateUDF) -> bool {
    function.inner().downcast_ref::<Adapter<dyn RowsFunction>>().is_some()
}

impl Adapter<dyn RowsFunction> {
    fn groups(&self, args: &AccumulatorArgs) -> Result<RowGroups> {
        let (options, columns) = self.common.arguments(args)?;
        let types = columns.iter().map(|&i| args.expr_fields[i].data_type().clone()).collect();
        Ok(RowGroups {
            function: self.common.function.name,
            data_type: self.body.data_type(),
            heavy: self.common.function.heavy,
            kernel: self.body.bind(&options)?,
            columns,
            buffer: RowBuffer::new(types, self.body.keeps_nulls()),
            total: 0,
        })
    }
}

impl AggregateUDFImpl for Adapter<dyn RowsFunction> {
    common_methods!(coerce_aggregate);

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.body.data_type())
    }

    /// Lists of the rows, a field for each column.
    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let columns = self.common.columns().filter_map(|i| Some((i, args.input_fields.get(i)?)));
        let field = |(i, column): (usize, &FieldRef)| {
            Arc::new(Field::new(format!("{}[rows {i}]", args.name), DataType::List(item(column.data_type())), true))
        };
        Ok(columns.map(field).collect())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Group(RowGroups { total: 1, ..self.groups(&args)? })))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.groups(&args)?))
    }
}

/// The rows of all groups behind DataFusion's interface.
struct RowGroups {
    function: &'static str,
    data_type: DataType,
    heavy: bool,
    kernel: RowsKernel,
    /// The arguments that are columns.
    columns: Vec<usize>,
    buffer: RowBuffer,
    /// The number of groups.
    total: usize,
}

impl RowGroups {
    fn columns_of(&self, values: &[ArrayRef]) -> Vec<ArrayRef> {
        self.columns.iter().map(|&i| Arc::clone(&values[i])).collect()
    }

    fn emit(&mut self, emit_to: EmitTo) -> Result<(RowBuffer, usize)> {
        let groups = match emit_to {
            EmitTo::All => self.total,
            EmitTo::First(n) => n.min(self.total),
        };
        self.total -= groups;
        Ok((self.buffer.emit(emit_to)?, groups))
    }

    /// The values of all groups of these rows.
    fn values(&self, buffer: &RowBuffer, groups: usize) -> Result<ArrayRef> {
        if groups == 0 {
            return Ok(new_empty_array(&self.data_type));
        }
        let host = ExpressionHost::new(self.function);
        let bytes = buffer.bytes();
        host.call(bytes, self.heavy, || {
            // Ordered by their groups they are copied.
            let _room = Reservation::new(&host, bytes).map_err(stopped)?;
            (self.kernel)(&buffer.grouped(groups, host.in_threads(bytes, self.heavy))?, &host)
        })
    }
}

impl GroupsAccumulator for RowGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.total = total;
        self.buffer.add(self.columns_of(values), groups.iter().map(|&group| group as u32).collect(), filter)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (buffer, groups) = self.emit(emit_to)?;
        self.values(&buffer, groups)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (buffer, groups) = self.emit(emit_to)?;
        buffer.lists(groups)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.total = total;
        self.buffer.merge(values, groups.iter().map(|&group| group as u32));
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.buffer.list_each(&self.columns_of(values), filter)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.buffer.bytes()
    }
}

/// The rows of one group.
struct Group(RowGroups);

impl Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group").field("function", &self.0.function).finish_non_exhaustive()
    }
}

impl Accumulator for Group {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let columns = self.0.columns_of(values);
        let rows = columns.first().map_or(0, |column| column.len());
        self.0.buffer.add(columns, vec![0; rows], None)
    }

    /// A window asks again as more rows come.
    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.0.values(&self.0.buffer, 1)?, 0)
    }

    fn size(&self) -> usize {
        GroupsAccumulator::size(&self.0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.buffer.lists(1)?.iter().map(|lists| ScalarValue::try_from_array(lists, 0)).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let rows = states.first().map_or(0, |states| states.len());
        self.0.buffer.merge(states, std::iter::repeat_n(0, rows));
        Ok(())
    }
}
