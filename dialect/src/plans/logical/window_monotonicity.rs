//! Monotonicity of aggregates in windows, which is not to be relied on.
//!
//! DataFusion 55 derives an ordering from the monotonicity of `min`, `max` and `count` over a frame that grows, shrinks or
//! slides (`window_equivalence_properties` in `datafusion-physical-plan/src/windows/mod.rs`), and leaves out an ORDER BY of
//! them. It sorts NULL, the value of an empty frame, to the wrong end, and takes a descending argument for an ascending
//! one: rows came in the wrong order, and with LIMIT the wrong rows. So aggregates in windows declare that they are not
//! monotonic.
//!
//! Upstream: none known
//! Given: `CREATE TABLE framed AS SELECT * FROM (VALUES (1, 5), (2, 7)) AS v(k, x)`
//! Shows: `SELECT min(x) OVER (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS m FROM framed ORDER BY m DESC NULLS LAST` gives `5 / NULL`

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunctionParams, WindowFunctionParams};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, GroupsAccumulator, LogicalPlan, ReversedUDAF, SetMonotonicity,
    Signature, WindowFunctionDefinition,
};

use crate::plans::node_rules::LogicalRule;

/// Hides the monotonicity of aggregates in windows.
pub(crate) const WINDOW_VALUES: LogicalRule = LogicalRule { name: "window_values", rewrite: hide_monotonicity };

fn hide_monotonicity(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Window(mut window) = plan else { return Ok(Transformed::no(plan)) };
    let schema = Arc::clone(&window.schema);
    let values = schema.fields().iter().skip(window.input.schema().fields().len());
    let mut changed = false;
    for (expr, value) in window.window_expr.iter_mut().zip(values) {
        let rewritten = std::mem::take(expr).transform(|mut expr| {
            if let Expr::WindowFunction(called) = &mut expr
                && let WindowFunctionDefinition::AggregateUDF(function) = &mut called.fun
                && function.inner().set_monotonicity(value.data_type()) != SetMonotonicity::NotMonotonic
            {
                *function = Arc::new(AggregateUDF::new_from_impl(NonMonotonic(function.as_ref().clone())));
                return Ok(Transformed::yes(expr));
            }
            Ok(Transformed::no(expr))
        })?;
        changed |= rewritten.transformed;
        *expr = rewritten.data;
    }
    Ok(Transformed::new_transformed(LogicalPlan::Window(window), changed))
}

/// An aggregate that declares no monotonicity.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NonMonotonic(AggregateUDF);

impl NonMonotonic {
    fn inner(&self) -> &dyn AggregateUDFImpl {
        self.0.inner().as_ref()
    }
}

impl AggregateUDFImpl for NonMonotonic {
    fn set_monotonicity(&self, _: &DataType) -> SetMonotonicity {
        SetMonotonicity::NotMonotonic
    }

    fn name(&self) -> &str {
        self.inner().name()
    }

    fn aliases(&self) -> &[String] {
        self.inner().aliases()
    }

    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner().schema_name(params)
    }

    fn human_display(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner().human_display(params)
    }

    fn display_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner().display_name(params)
    }

    fn window_function_schema_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner().window_function_schema_name(params)
    }

    fn window_function_display_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner().window_function_display_name(params)
    }

    fn signature(&self) -> &Signature {
        self.inner().signature()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner().coerce_types(types)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner().return_type(types)
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        self.inner().return_field(fields)
    }

    fn is_nullable(&self) -> bool {
        self.inner().is_nullable()
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner().state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner().accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner().create_sliding_accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner().groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner().create_groups_accumulator(args)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner().order_sensitivity()
    }

    fn with_beneficial_ordering(self: Arc<Self>, is_ordered: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let ordered = Arc::clone(self.0.inner()).with_beneficial_ordering(is_ordered)?;
        Ok(ordered.map(|inner| Arc::new(Self(AggregateUDF::new_from_shared_impl(inner))) as Arc<dyn AggregateUDFImpl>))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.inner().reverse_expr()
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner().is_descending()
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner().default_value(data_type)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner().supports_null_handling_clause()
    }
}
