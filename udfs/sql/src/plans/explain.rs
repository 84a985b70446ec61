//! EXPLAIN without VERBOSE: the plans after all rules. DataFusion writes the plan down after each rule as well, which took two
//! fifths of the time of EXPLAIN, and shows that for VERBOSE alone.

use std::sync::Arc;

use datafusion::common::format::ExplainFormat;
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{Explain, PlanType, StringifiedPlan, ToStringifiedPlan};
use datafusion::physical_plan::explain::ExplainExec;
use datafusion::physical_plan::{ExecutionPlan, displayable};

/// Whether EXPLAIN shows the plans after all rules, as text.
pub(crate) fn shows_final_plans(explain: &Explain) -> bool {
    !explain.verbose && explain.logical_optimization_succeeded && explain.explain_format == ExplainFormat::Indent
}

/// The answer of such an EXPLAIN, whose plan has become this physical one.
pub(crate) fn final_plans(
    explain: &Explain,
    explained: &dyn ExecutionPlan,
    options: &ConfigOptions,
) -> Arc<dyn ExecutionPlan> {
    let options = &options.explain;
    let mut plans = Vec::new();
    if !options.physical_plan_only {
        plans.push(explain.plan.to_stringified(PlanType::FinalLogicalPlan));
    }
    if !options.logical_plan_only {
        let text = displayable(explained)
            .set_show_statistics(explain.show_statistics.unwrap_or(options.show_statistics))
            .set_show_schema(options.show_schema)
            .indent(false)
            .to_string();
        plans.push(StringifiedPlan::new(PlanType::FinalPhysicalPlan, text));
    }
    Arc::new(ExplainExec::new(Arc::clone(explain.schema.inner()), plans, false))
}
