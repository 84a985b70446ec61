//! The rows that windows read: in the order that they ask for, and strings in arrays.
//!
//! DataFusion 55 appends each batch to the rows that a window still looks at, and cuts off those that are done. Of a column of
//! views neither frees a byte: what is appended shares the buffers of all that came before. So a window reads strings in
//! arrays of their own, whose rows are copied, and gives views again.
//!
//! Of rows with a key, of a GROUP BY, it takes a window's input for sorted by the key and whatever comes behind it, and then
//! fails to find that order ("Expects PARTITION BY expression to be ordered"). Such rows are sorted.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_expr::expressions::{CastExpr, Column};
use datafusion::physical_expr::window::StandardWindowExpr;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode, PhysicalExpr};

use super::adapter::{AdapterExec, is_view};
use super::by_node::PhysicalRule;

/// Prepares the rows of windows.
pub(crate) const WINDOWS: PhysicalRule = PhysicalRule { name: "windows", rewrite: prepared };

fn prepared(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let plan = match keys_without_order(&plan) {
        Some(keys) => sorted(plan, keys)?,
        None => plan,
    };
    match plan.downcast_ref::<BoundedWindowAggExec>() {
        Some(window) if reads_no_views(window)? => Ok(Transformed::yes(over_arrays(window)?.unwrap_or(plan))),
        _ => Ok(Transformed::yes(plan)),
    }
}

/// The keys of a window that would not find its rows in the order it asks for.
fn keys_without_order(plan: &Arc<dyn ExecutionPlan>) -> Option<Vec<PhysicalSortExpr>> {
    let (window, fails) = if let Some(window) = plan.downcast_ref::<BoundedWindowAggExec>() {
        let sorted = window.input_order_mode == InputOrderMode::Sorted;
        (window.window_expr(), sorted && window.partition_by_sort_keys().is_err())
    } else {
        let window = plan.downcast_ref::<WindowAggExec>()?;
        (window.window_expr(), window.partition_by_sort_keys().is_err())
    };
    let keys = window.first().filter(|_| fails)?;
    let partitions = keys.partition_by().iter().map(|key| PhysicalSortExpr::new_default(Arc::clone(key)));
    Some(partitions.chain(keys.order_by().iter().cloned()).collect())
}

/// The window over its rows sorted by these keys. What was believed of the order of the rows is forgotten before.
fn sorted(window: Arc<dyn ExecutionPlan>, keys: Vec<PhysicalSortExpr>) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(keys) = LexOrdering::new(keys) else { return Ok(window) };
    let children = window.children();
    let [input] = children.as_slice() else { return Ok(window) };
    let rows = Arc::new(AdapterExec::unordered(Arc::clone(input)));
    let rows = Arc::new(SortExec::new(keys, rows).with_preserve_partitioning(true));
    replace_children_if_necessary(window, vec![rows])
}

/// The window with arrays below it and views above; `None` where it would not find its order any more.
fn over_arrays(window: &BoundedWindowAggExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let schema = window.schema();
    let input = AdapterExec::strings(Arc::clone(window.input()), plain(&window.input().schema()))?;
    let window = BoundedWindowAggExec::try_new(
        window.window_expr().to_vec(),
        Arc::new(input),
        window.input_order_mode.clone(),
        !window.partition_keys().is_empty(),
    )?;
    if window.input_order_mode == InputOrderMode::Sorted && window.partition_by_sort_keys().is_err() {
        return Ok(None);
    }
    Ok(Some(Arc::new(AdapterExec::strings(Arc::new(window), schema)?)))
}

/// Whether there are views among the rows, but none among what the functions compute with, whose types are settled. What
/// aggregates filter by is not to be seen here, so that they are left alone.
fn reads_no_views(window: &BoundedWindowAggExec) -> Result<bool> {
    let schema = window.input().schema();
    if !schema.fields().iter().any(|field| is_view(field.data_type())) {
        return Ok(false);
    }
    for function in window.window_expr() {
        let keys = function.order_by().iter().map(|key| &key.expr).chain(function.partition_by());
        let mut computed = keys.filter(|key| !key.is::<Column>()).cloned().chain(function.expressions());
        if !function.as_any().is::<StandardWindowExpr>()
            || computed.try_fold(false, |any, expr| Ok::<_, DataFusionError>(any || has_views(&expr, &schema)?))?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_views(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<bool> {
    // What the rule `window_strings` writes: it gives an array of an array too.
    if let Some(array) = expr.downcast_ref::<CastExpr>()
        && array.expr().is::<Column>()
    {
        return Ok(is_view(array.cast_type()));
    }
    if is_view(&expr.data_type(schema)?) {
        return Ok(true);
    }
    for child in expr.children() {
        if has_views(child, schema)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The schema without views.
fn plain(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        // Of any length together.
        DataType::Utf8View => Arc::new(field.as_ref().clone().with_data_type(DataType::LargeUtf8)),
        DataType::BinaryView => Arc::new(field.as_ref().clone().with_data_type(DataType::LargeBinary)),
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}
