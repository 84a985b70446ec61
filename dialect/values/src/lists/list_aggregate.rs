//! `list_aggregate(list, name [, argument])`: an aggregate over the items of each list.
//!
//! Upstream: none known
//! Shows: `SELECT list_aggregate([1, 2, 3], 'sum')` gives `6`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use bonnet_sql::{Body, Function, Parameter, execution_error, sql_type};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::functions_aggregate::all_default_aggregate_functions;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    AggregateUDF, ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::expressions::{Column, Literal};

use crate::aggregates::{aggregates, frequencies, product, quantile_disc};

/// The registration of `list_aggregate`.
pub(crate) fn list_aggregate() -> Function {
    let body = ScalarUDF::new_from_impl(ListAggregate { signature: Signature::variadic_any(Volatility::Immutable) });
    Function::new("list_aggregate", Body::NativeScalar(Arc::new(body)))
        .parameters([
            Parameter::column("list", "A list."),
            Parameter::column("name", "The aggregate, a constant: 'sum', 'avg', 'min', 'count', 'string_agg' and others."),
            Parameter::column("argument", "Its second argument, a constant, as the separator of string_agg.").optional(),
        ])
        .returns("the type of the aggregate")
        .description(
            "The aggregate of this name over the items of a list, as of the rows of a group: NULL of an empty list, but a \
             count of 0. Those of DataFusion, mode, product, histogram, entropy and quantile_disc. NULL for NULL; also \
             list_aggr.",
        )
        .example("SELECT list_aggregate([1, 2, 3], 'sum')")
        .source("DuckDB, list functions")
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ListAggregate {
    signature: Signature,
}

/// The aggregate of this name.
fn named(name: &str) -> Result<Arc<AggregateUDF>> {
    let lower = name.to_ascii_lowercase();
    let known = match lower.as_str() {
        "first" => "first_value",
        "last" => "last_value",
        "list" => "array_agg",
        "variance" => "var_samp",
        "any_value" => "first_value",
        "group_concat" | "listagg" => "string_agg",
        "quantile" => "quantile_disc",
        other => other,
    };
    let own = [product::product(), quantile_disc::quantile_disc()].into_iter().chain(frequencies::functions());
    let own = own.filter_map(|function| match function.body {
        Body::NativeAggregate(body) => Some(body),
        _ => None,
    });
    let mut all = aggregates().into_iter().chain(own).chain(all_default_aggregate_functions());
    all.find(|aggregate| aggregate.name() == known || aggregate.aliases().iter().any(|alias| alias == known))
        .ok_or_else(|| execution_error(format!("list_aggregate: there is no aggregate '{name}' of lists")))
}

/// The aggregate over items of a type, and the types that it takes; `None` for a NULL in the place of the list or the name.
fn aggregate(
    list: &DataType,
    arguments: &[Option<&ScalarValue>],
) -> Result<Option<(AggregateFunctionExpr, Vec<DataType>)>> {
    let constant = |what: &str| execution_error(format!("list_aggregate: {what} is a constant, such as 'sum'"));
    let Some(Some(name)) = arguments.first() else { return Err(constant("name")) };
    let item = match list {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item.data_type(),
        DataType::Null => return Ok(None),
        other => {
            return Err(execution_error(format!("list_aggregate: list is {}; it takes a list", sql_type(other))));
        }
    };
    let Some(Some(name)) = name.try_as_str() else { return Ok(None) };
    let udaf = named(name)?;
    let mut more = Vec::new();
    for argument in &arguments[1..] {
        let Some(argument) = argument else { return Err(constant("argument")) };
        if !argument.is_null() {
            more.push((*argument).clone());
        }
    }
    // The separator that DuckDB takes where none is given.
    if udaf.name() == "string_agg" && more.is_empty() {
        more.push(ScalarValue::from(","));
    }
    let types = std::iter::once(item.clone()).chain(more.iter().map(ScalarValue::data_type));
    let fields: Vec<FieldRef> = types.map(|kind| Arc::new(Field::new("item", kind, true))).collect();
    let taken = fields_with_udf(&fields, udaf.as_ref())?;
    let taken: Vec<DataType> = taken.iter().map(|field| field.data_type().clone()).collect();
    let schema = Schema::new(vec![Field::new("item", taken[0].clone(), true)]);
    let mut args: Vec<Arc<dyn PhysicalExpr>> = vec![Arc::new(Column::new("item", 0))];
    for (argument, kind) in more.iter().zip(&taken[1..]) {
        args.push(Arc::new(Literal::new(argument.cast_to(kind)?)));
    }
    let expr = AggregateExprBuilder::new(udaf, args).schema(Arc::new(schema)).alias(name).build()?;
    Ok(Some((expr, taken)))
}

impl ScalarUDFImpl for ListAggregate {
    fn name(&self) -> &str {
        "list_aggregate"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type of list_aggregate depends on its name")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let (Some(list), Some(arguments)) = (args.arg_fields.first(), args.scalar_arguments.get(1..)) else {
            return Err(usage());
        };
        let of = aggregate(list.data_type(), arguments)?;
        let kind = of.map_or(DataType::Null, |(aggregate, _)| aggregate.field().data_type().clone());
        Ok(Arc::new(Field::new(self.name(), kind, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some((list, arguments)) = args.args.split_first() else { return Err(usage()) };
        let arguments: Vec<Option<&ScalarValue>> = arguments
            .iter()
            .map(|argument| match argument {
                ColumnarValue::Scalar(value) => Some(value),
                ColumnarValue::Array(_) => None,
            })
            .collect();
        let Some((aggregate, taken)) = aggregate(&list.data_type(), &arguments)? else {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from(args.return_field.data_type())?));
        };
        let is_constant = matches!(list, ColumnarValue::Scalar(_));
        let lists = list.to_array(if is_constant { 1 } else { args.number_rows })?;
        let lists = cast(&lists, &DataType::new_list(taken[0].clone(), true))?;
        let lists = lists.as_list::<i32>();
        let values = (0..lists.len()).map(|row| {
            if lists.is_null(row) {
                return ScalarValue::try_from(aggregate.field().data_type());
            }
            let items = lists.value(row);
            let mut accumulator = aggregate.create_accumulator()?;
            let more = aggregate.expressions().into_iter().skip(1).map(|expr| constant(&expr, items.len()));
            let columns = std::iter::once(Ok(Arc::clone(&items))).chain(more).collect::<Result<Vec<ArrayRef>>>()?;
            accumulator.update_batch(&columns)?;
            accumulator.evaluate()
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        if is_constant {
            return Ok(ColumnarValue::Scalar(values.into_iter().next().unwrap_or(ScalarValue::Null)));
        }
        match values.is_empty() {
            true => Ok(ColumnarValue::Array(arrow::array::new_empty_array(aggregate.field().data_type()))),
            false => Ok(ColumnarValue::Array(ScalarValue::iter_to_array(values)?)),
        }
    }
}

/// The column of a constant argument.
fn constant(expr: &Arc<dyn PhysicalExpr>, rows: usize) -> Result<ArrayRef> {
    let any: &dyn std::any::Any = expr.as_ref();
    match any.downcast_ref::<Literal>() {
        Some(literal) => literal.value().to_array_of_size(rows),
        None => internal_err!("an argument of list_aggregate is no constant"),
    }
}

fn usage() -> DataFusionError {
    execution_error("list_aggregate takes a list and the name of an aggregate".to_owned())
}
