//! Inputs of window operators: their strings as arrays instead of views, and their rows sorted where DataFusion omits the
//! sort.
//!
//! DataFusion 55 appends each batch to the rows that a window still needs, and slices off those that it has done with. For
//! a column of views neither frees memory: an appended column shares the buffers of all former ones. So a window reads
//! strings as arrays, whose values are copied, and its output is cast to views again.
//!
//! If its input has a key, as that of a GROUP BY, DataFusion assumes that the rows are sorted by the key and by any
//! expressions behind it, omits the sort, and then fails to derive that ordering ("Expects PARTITION BY expression to be
//! ordered"). Such an input is sorted.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1, 2), (1, 3), (2, 5)) AS v(a, b)`
//! Shows: `SELECT c0, row_number() OVER (PARTITION BY c0, c1) FROM (SELECT CASE WHEN b > 2 THEN 2 ELSE 1 END AS c0, bool_or(true) AS c1 FROM t GROUP BY CASE WHEN b > 2 THEN 2 ELSE 1 END ORDER BY 1, 2 LIMIT 4) ORDER BY c0` gives `1 | 1 / 2 | 1`

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
use crate::plans::node_rules::PhysicalRule;

/// Prepares the inputs of windows.
pub(crate) const WINDOWS: PhysicalRule = PhysicalRule { name: "windows", rewrite: rewrite_node };

fn rewrite_node(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let plan = match missing_sort(&plan) {
        Some(keys) => sort_input(plan, keys)?,
        None => plan,
    };
    match plan.downcast_ref::<BoundedWindowAggExec>() {
        Some(window) if has_unread_views(window)? => Ok(Transformed::yes(over_arrays(window)?.unwrap_or(plan))),
        _ => Ok(Transformed::yes(plan)),
    }
}

/// The sort keys of a window that fails to derive the required ordering of its input.
fn missing_sort(plan: &Arc<dyn ExecutionPlan>) -> Option<Vec<PhysicalSortExpr>> {
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

/// The window over a sort of its input. The ordering that DataFusion assumes is hidden, so that no rule omits this sort
/// too.
fn sort_input(window: Arc<dyn ExecutionPlan>, keys: Vec<PhysicalSortExpr>) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(keys) = LexOrdering::new(keys) else { return Ok(window) };
    let children = window.children();
    let [input] = children.as_slice() else { return Ok(window) };
    let rows = Arc::new(AdapterExec::unordered(Arc::clone(input)));
    let rows = Arc::new(SortExec::new(keys, rows).with_preserve_partitioning(true));
    replace_children_if_necessary(window, vec![rows])
}

/// The window with arrays below it and views above; `None` if it could not derive the ordering of its input any more.
fn over_arrays(window: &BoundedWindowAggExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let schema = window.schema();
    let input = AdapterExec::cast_strings(Arc::clone(window.input()), array_schema(&window.input().schema()))?;
    let window = BoundedWindowAggExec::try_new(
        window.window_expr().to_vec(),
        Arc::new(input),
        window.input_order_mode.clone(),
        !window.partition_keys().is_empty(),
    )?;
    if window.input_order_mode == InputOrderMode::Sorted && window.partition_by_sort_keys().is_err() {
        return Ok(None);
    }
    Ok(Some(Arc::new(AdapterExec::cast_strings(Arc::new(window), schema)?)))
}

/// Whether the input has columns of views, but no function computes with one: the types of its expressions are fixed.
/// Aggregates are left alone, since the condition of their FILTER cannot be inspected.
fn has_unread_views(window: &BoundedWindowAggExec) -> Result<bool> {
    let schema = window.input().schema();
    if !schema.fields().iter().any(|field| is_view(field.data_type())) {
        return Ok(false);
    }
    for function in window.window_expr() {
        let keys = function.order_by().iter().map(|key| &key.expr).chain(function.partition_by());
        let mut computed = keys.filter(|key| !key.is::<Column>()).cloned().chain(function.expressions());
        if !function.as_any().is::<StandardWindowExpr>()
            || computed.try_fold(false, |any, expr| Ok::<_, DataFusionError>(any || reads_views(&expr, &schema)?))?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether an expression computes with views.
fn reads_views(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<bool> {
    // The cast of the rule `window_strings`, which also gives an array if its column becomes one.
    if let Some(array) = expr.downcast_ref::<CastExpr>()
        && array.expr().is::<Column>()
    {
        return Ok(is_view(array.cast_type()));
    }
    if is_view(&expr.data_type(schema)?) {
        return Ok(true);
    }
    for child in expr.children() {
        if reads_views(child, schema)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The schema with arrays in place of views.
fn array_schema(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        // Large, since the strings of a column may exceed 2 GiB.
        DataType::Utf8View => Arc::new(field.as_ref().clone().with_data_type(DataType::LargeUtf8)),
        DataType::BinaryView => Arc::new(field.as_ref().clone().with_data_type(DataType::LargeBinary)),
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}
