//! The list of logical optimization: DataFusion's rules in [`logical_rules`], some of them confined, and others that rewrite
//! logical plans.

mod aggregate_order;
mod filter_pushdown;
mod functional_dependencies;
mod leaf_expressions;
mod null_equality;
mod optimizer;
mod short_constants;
mod wide_keys;
mod window_monotonicity;
mod window_strings;
mod window_twins;

pub(crate) use aggregate_order::AGGREGATE_ORDER;
pub(crate) use functional_dependencies::without_false_keys;
pub(crate) use optimizer::logical_rules;
pub(crate) use window_monotonicity::WINDOW_VALUES;
pub(crate) use window_strings::WINDOW_STRINGS;
