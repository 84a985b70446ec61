//! The adapters for functions inside expressions: one value per row, one per group, and the window spelling of edge
//! functions.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{
    AccumulatorArgs, PartitionEvaluatorArgs, StateFieldsArgs, WindowUDFFieldArgs,
};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, GroupsAccumulator, PartitionEvaluator,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, WindowUDF, WindowUDFImpl,
};

use crate::adapters::adapter::{Adapter, common_methods};
use crate::adapters::groups::StateGroups;
use crate::error::usage_error;
use crate::host::running_statement::ExpressionHost;
use crate::registry::body::{AggregateFunction, AggregateState, Body, EdgeFunction, ScalarFunction};
use crate::registry::{Function, Registry};

impl Registry {
    /// The scalar functions for DataFusion.
    pub fn scalar_udfs(&self) -> Vec<Arc<ScalarUDF>> {
        self.adapted(|function| match &function.body {
            Body::Scalar(body) => Some(ScalarUDF::new_from_impl(Adapter::new(function, body))),
            Body::NativeScalar(body) => Some(body.as_ref().clone()),
            _ => None,
        })
    }

    /// The aggregate functions for DataFusion.
    pub fn aggregate_udfs(&self) -> Vec<Arc<AggregateUDF>> {
        self.adapted(|function| match &function.body {
            Body::Aggregate(body) => Some(AggregateUDF::new_from_impl(Adapter::new(function, body))),
            Body::NativeAggregate(body) => Some(body.as_ref().clone()),
            Body::Rows(body) => Some(AggregateUDF::new_from_impl(Adapter::new(function, body))),
            _ => None,
        })
    }

    /// The window functions, and the window spelling of the edge functions: of these a name and a type for planning. The
    /// rule `edge_windows` puts the operator in its place before anything runs.
    pub fn window_udfs(&self) -> Vec<Arc<WindowUDF>> {
        self.adapted(|function| match &function.body {
            Body::Edge(body) => Some(WindowUDF::new_from_impl(Adapter::new(function, body))),
            Body::Window(body) => Some(WindowUDF::new_from_impl(Adapter::new(function, body))),
            _ => None,
        })
    }

    fn adapted<T>(&self, adapter: impl Fn(&Arc<Function>) -> Option<T>) -> Vec<Arc<T>> {
        self.iter().filter_map(adapter).map(Arc::new).collect()
    }
}

impl ScalarUDFImpl for Adapter<dyn ScalarFunction> {
    common_methods!(coerce);

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        self.body.data_type(given)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let mut columns = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<_>>>()?;
        // Constants that are folded before type coercion come in the types that were written.
        let given: Vec<DataType> = columns.iter().map(|column| column.data_type().clone()).collect();
        for (column, wanted) in columns.iter_mut().zip(self.common.coerce(&given)?) {
            if *column.data_type() != wanted {
                *column = cast(column, &wanted)?;
            }
        }
        // A caller that is no SQL statement may leave trailing options out.
        for parameter in self.common.function.parameters.iter().skip(columns.len()) {
            columns.push(parameter.default.to_scalar().to_array_of_size(rows)?);
        }
        let host = ExpressionHost::new(self.name());
        let bytes = columns.iter().map(|column| column.get_array_memory_size()).sum();
        let values = host.call(bytes, self.common.function.heavy, || self.body.evaluate(&columns, &host))?;
        match constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?)),
            false => Ok(ColumnarValue::Array(values)),
        }
    }
}

impl AggregateUDFImpl for Adapter<dyn AggregateFunction> {
    common_methods!(coerce_aggregate);

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.body.data_type())
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[state]", args.name), DataType::Binary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let (options, columns) = self.common.arguments(&args)?;
        let (function, heavy) = (self.common.function.name, self.common.function.heavy);
        Ok(Box::new(Group { function, heavy, state: self.body.state(&options)?, columns }))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        let (options, columns) = self.common.arguments(&args)?;
        Ok(Box::new(StateGroups::new(Arc::clone(&self.common.function), Arc::clone(&self.body), columns, options)))
    }
}

/// A group's state behind DataFusion's interface: it travels between partitions as bytes.
#[derive(Debug)]
struct Group {
    function: &'static str,
    heavy: bool,
    state: Box<dyn AggregateState>,
    columns: Vec<usize>,
}

impl Accumulator for Group {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let columns: Vec<ArrayRef> = self.columns.iter().map(|&i| Arc::clone(&values[i])).collect();
        self.state.update(&columns)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let host = ExpressionHost::new(self.function);
        host.call(self.state.size(), self.heavy, || self.state.value(&host))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.state.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(Some(self.state.to_bytes()?))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        states[0].as_binary::<i32>().iter().flatten().try_for_each(|bytes| self.state.merge(bytes))
    }
}

impl WindowUDFImpl for Adapter<dyn EdgeFunction> {
    common_methods!(coerce);

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs) -> Result<Box<dyn PartitionEvaluator>> {
        usage_error(format!(
            "{}: an edge function stands in SELECT, as {}(src, dst) OVER (...), or in FROM, as {}(edges)",
            self.name(),
            self.name(),
            self.name()
        ))
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(args.name(), self.body.data_type(), true)))
    }
}
