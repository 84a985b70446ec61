//! The adapters for functions inside expressions: one value per row, one per group, and the window spelling of edge
//! functions.

use std::any::Any;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use bonnet_graph::Monitor;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{
    AccumulatorArgs, PartitionEvaluatorArgs, StateFieldsArgs, WindowUDFFieldArgs,
};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, GroupsAccumulator, PartitionEvaluator,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, WindowUDF, WindowUDFImpl,
};
use datafusion::physical_expr::expressions::Literal;

use crate::groups::Groups;
use crate::rows::RowsAggregate;
use crate::statement::ExpressionHost;
use crate::{
    Body, Column, Function, OptionType, OptionValue, Options, Parameter, ParameterKind, Registry, usage_error,
};

/// A function of one row.
pub trait ScalarFunction: Debug + Send + Sync {
    /// The type of a value.
    fn data_type(&self) -> DataType;

    /// One value per row; all columns have the same length and their parameters' types. Called in the kernel threads
    /// where there is much to do; `monitor` speaks for the running statement.
    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef>;

    /// Whether even a few rows are work for the kernel threads.
    fn heavy(&self) -> bool {
        false
    }
}

/// A function of a group of rows.
pub trait AggregateFunction: Debug + Send + Sync {
    /// The type of a value.
    fn data_type(&self) -> DataType;

    /// The state of an empty group.
    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>>;

    /// Whether the value of even a small group is work for the kernel threads.
    fn heavy(&self) -> bool {
        false
    }
}

/// What an aggregate knows of the rows seen so far.
pub trait AggregateState: Debug + Send + Sync {
    /// Sees rows: the column parameters, in their order.
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()>;

    /// Sees what another state has seen, as its [`AggregateState::to_bytes`] wrote it.
    fn merge(&mut self, bytes: &[u8]) -> Result<()>;

    /// The state, for another to merge.
    fn to_bytes(&self) -> Vec<u8>;

    /// The value of the group. Called in the kernel threads where the state is large; `monitor` speaks for the running
    /// statement.
    fn value(&self, monitor: &dyn Monitor) -> Result<ScalarValue>;

    /// The bytes held.
    fn size(&self) -> usize;
}

impl Registry {
    /// The scalar functions for DataFusion.
    pub fn scalar_udfs(&self) -> Vec<Arc<ScalarUDF>> {
        self.iter()
            .filter_map(|function| match &function.body {
                Body::Scalar(body) => Some(Arc::new(ScalarUDF::new_from_impl(Scalar {
                    common: Common::new(function),
                    body: Arc::clone(body),
                }))),
                _ => None,
            })
            .collect()
    }

    /// The aggregate functions for DataFusion.
    pub fn aggregate_udfs(&self) -> Vec<Arc<AggregateUDF>> {
        self.iter()
            .filter_map(|function| match &function.body {
                Body::Aggregate(body) => Some(Arc::new(AggregateUDF::new_from_impl(Aggregate {
                    common: Common::new(function),
                    body: Arc::clone(body),
                }))),
                Body::NativeAggregate(body) => Some(Arc::clone(body)),
                Body::Rows(body) => Some(Arc::new(AggregateUDF::new_from_impl(RowsAggregate {
                    common: Common::new(function),
                    body: Arc::clone(body),
                }))),
                _ => None,
            })
            .collect()
    }

    /// The window functions, and the window spelling of the edge functions: of these a name and a type for planning. The
    /// rule `edge_windows` puts the operator in its place before anything runs.
    pub fn window_udfs(&self) -> Vec<Arc<WindowUDF>> {
        self.iter()
            .filter_map(|function| match &function.body {
                Body::Edge(body) => Some(Arc::new(WindowUDF::new_from_impl(EdgeWindow {
                    common: Common::new(function),
                    data_type: body.data_type(),
                }))),
                Body::Window(body) => Some(crate::window::udf(function, body)),
                _ => None,
            })
            .collect()
    }
}

/// Name, signature and parameters of a function inside expressions. The statement's rewriting has put all arguments in
/// their places and filled in the defaults.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) function: Arc<Function>,
    pub(crate) signature: Signature,
}

impl Common {
    pub(crate) fn new(function: &Arc<Function>) -> Self {
        Self { function: Arc::clone(function), signature: Signature::user_defined(Volatility::Immutable) }
    }

    pub(crate) fn coerce(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let parameters = &self.function.parameters;
        let required = parameters.iter().filter(|parameter| !parameter.optional).count();
        if given.len() > parameters.len() || given.len() < required {
            return usage_error(format!(
                "{}: {} arguments given; it is {}",
                self.function.name,
                given.len(),
                self.function.signature()
            ));
        }
        let coerced = parameters.iter().zip(given).map(|(parameter, given)| {
            let wanted = match &parameter.kind {
                ParameterKind::Column(Column::Any) => return Ok(given.clone()),
                ParameterKind::Column(Column::Of(wanted)) => wanted.clone(),
                ParameterKind::Option(OptionType::Boolean) => DataType::Boolean,
                ParameterKind::Option(OptionType::Integer) => DataType::Int64,
                ParameterKind::Option(OptionType::Number) => DataType::Float64,
                ParameterKind::Option(OptionType::NumberOrText) if given.is_numeric() => DataType::Float64,
                ParameterKind::Option(OptionType::Text | OptionType::NumberOrText) => DataType::Utf8,
                _ => return Ok(given.clone()),
            };
            let fits = *given == DataType::Null
                || *given == wanted
                || (wanted.is_numeric() && given.is_numeric())
                || (is_text(&wanted) && is_text(given))
                || (wanted.is_nested() && arrow::compute::can_cast_types(given, &wanted));
            match fits {
                true => Ok(wanted),
                false => usage_error(format!(
                    "{}: {} is {given}, expected {wanted}; it is {}",
                    self.function.name,
                    parameter.name,
                    self.function.signature()
                )),
            }
        });
        coerced.collect()
    }

    /// As [`Common::coerce`], for an aggregate: DataFusion repeats its constants for every row, and a dictionary's key is
    /// shorter than a text.
    pub(crate) fn coerce_aggregate(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let repeated = |(parameter, coerced): (&Parameter, DataType)| match (&parameter.kind, coerced) {
            (ParameterKind::Option(_), DataType::Utf8) => {
                DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
            }
            (_, coerced) => coerced,
        };
        Ok(self.function.parameters.iter().zip(self.coerce(given)?).map(repeated).collect())
    }

    /// Which parameters are columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let parameters = self.function.parameters.iter().enumerate();
        parameters.filter(|(_, parameter)| matches!(parameter.kind, ParameterKind::Column(_))).map(|(i, _)| i)
    }

    /// The options, and which arguments are columns.
    pub(crate) fn arguments(&self, args: &AccumulatorArgs) -> Result<(Options, Vec<usize>)> {
        let function = &self.function;
        if args.is_distinct {
            return usage_error(format!("{}: DISTINCT is not supported; use a subquery", function.name));
        }
        let mut options = Options::default();
        let mut columns = Vec::new();
        for (i, parameter) in function.parameters.iter().enumerate() {
            let ParameterKind::Option(kind) = parameter.kind else {
                columns.push(i);
                continue;
            };
            let value = match args.exprs.get(i) {
                None => parameter.default.clone(),
                Some(expr) => match literal(expr).map(OptionValue::from_scalar) {
                    Some(Some(value)) => value,
                    _ => return usage_error(format!("{}: {} must be a constant", function.name, parameter.name)),
                },
            };
            options.insert(parameter.name, crate::planner::checked(function, parameter.name, kind, value)?);
        }
        Ok((options, columns))
    }
}

// Two functions are the same when they have the same name: a registry holds each name once.
impl PartialEq for Common {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name
    }
}

impl Eq for Common {}

impl Hash for Common {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

/// DataFusion compares and hashes functions: an adapter is the same as another where their functions are.
macro_rules! same_by_function {
    ($adapter:ty) => {
        impl PartialEq for $adapter {
            fn eq(&self, other: &Self) -> bool {
                self.common == other.common
            }
        }

        impl Eq for $adapter {}

        impl std::hash::Hash for $adapter {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.common.hash(state);
            }
        }
    };
}

pub(crate) use same_by_function;

#[derive(Debug)]
struct Scalar {
    common: Common,
    body: Arc<dyn ScalarFunction>,
}

same_by_function!(Scalar);

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.common.function.name
    }

    fn signature(&self) -> &Signature {
        &self.common.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.common.coerce(given)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.body.data_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let mut columns = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<_>>>()?;
        // A caller that is no SQL statement may leave trailing options out.
        for parameter in self.common.function.parameters.iter().skip(columns.len()) {
            columns.push(parameter.default.to_scalar().to_array_of_size(rows)?);
        }
        let host = ExpressionHost::new(self.name());
        let bytes = columns.iter().map(|column| column.get_array_memory_size()).sum();
        let values = host.call(bytes, self.body.heavy(), || self.body.evaluate(&columns, &host))?;
        match constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?)),
            false => Ok(ColumnarValue::Array(values)),
        }
    }
}

#[derive(Debug)]
struct Aggregate {
    common: Common,
    body: Arc<dyn AggregateFunction>,
}

same_by_function!(Aggregate);

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        self.common.function.name
    }

    fn signature(&self) -> &Signature {
        &self.common.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.common.coerce_aggregate(given)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.body.data_type())
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[state]", args.name), DataType::Binary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let (options, columns) = self.common.arguments(&args)?;
        let (function, heavy) = (self.common.function.name, self.body.heavy());
        Ok(Box::new(Group { function, heavy, state: self.body.state(&options)?, columns }))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        let (options, columns) = self.common.arguments(&args)?;
        Ok(Box::new(Groups::new(self.common.function.name, Arc::clone(&self.body), columns, options)))
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        _ => false,
    }
}

/// The value of a constant, through the casts that type coercion put around it.
fn literal(expr: &Arc<dyn datafusion::physical_expr::PhysicalExpr>) -> Option<&ScalarValue> {
    let any: &dyn Any = expr.as_ref();
    match any.downcast_ref::<Literal>() {
        Some(literal) => Some(literal.value()),
        None if expr.children().len() == 1 => literal(expr.children()[0]),
        None => None,
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
        Ok(vec![ScalarValue::Binary(Some(self.state.to_bytes()))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        states[0].as_binary::<i32>().iter().flatten().try_for_each(|bytes| self.state.merge(bytes))
    }
}

#[derive(Debug)]
struct EdgeWindow {
    common: Common,
    data_type: DataType,
}

same_by_function!(EdgeWindow);

impl WindowUDFImpl for EdgeWindow {
    fn name(&self) -> &str {
        self.common.function.name
    }

    fn signature(&self) -> &Signature {
        &self.common.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.common.coerce(given)
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs) -> Result<Box<dyn PartitionEvaluator>> {
        usage_error(format!(
            "{}: an edge function stands in SELECT, as {}(src, dst) OVER (...), or in FROM, as {}(edges)",
            self.name(),
            self.name(),
            self.name()
        ))
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(args.name(), self.data_type.clone(), true)))
    }
}
