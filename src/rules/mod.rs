//! Rules of plans, beside DataFusion's own: statements that it answers wrongly, and joins that let others run.

mod adapter;
mod aggregate_statistics;
mod by_node;
mod comparisons;
mod distinct_on;
mod filter_columns;
mod filters;
mod grouping_order;
mod grouping_sets;
mod in_lists;
mod null_keys;
mod outer_joins;
mod pushdown;
mod set_operations;
mod simplification;
mod subqueries;
mod wide_keys;
mod window_strings;
mod window_twins;
mod window_values;
mod windows;
mod yielding;
mod zeros;

pub(crate) use distinct_on::DISTINCT_SUBQUERIES;
pub(crate) use filters::logical_rules;
pub(crate) use grouping_sets::GROUPING_SETS;
pub(crate) use in_lists::IN_LISTS;
pub(crate) use pushdown::physical_rules;
pub(crate) use set_operations::SET_OPERATIONS;
pub(crate) use simplification::SIMPLIFICATION;
pub(crate) use subqueries::SUBQUERIES;
pub(crate) use window_strings::WINDOW_STRINGS;
pub(crate) use window_values::WINDOW_VALUES;
pub(crate) use windows::WINDOWS;
pub(crate) use yielding::YIELDING_JOINS;
pub(crate) use zeros::ZEROS;
