//! Rules of plans, beside DataFusion's own: statements that it answers wrongly, and joins that let others run.

mod adapter;
mod aggregate_statistics;
mod distinct_on;
mod filter_columns;
mod filters;
mod grouping_order;
mod grouping_sets;
mod outer_joins;
mod pushdown;
mod set_operations;
mod subqueries;
mod window_strings;
mod window_twins;
mod window_values;
mod windows;
mod yielding;
mod zeros;

pub(crate) use distinct_on::DistinctSubqueries;
pub(crate) use filters::logical_rules;
pub(crate) use grouping_sets::GroupingSets;
pub(crate) use pushdown::physical_rules;
pub(crate) use set_operations::SetOperations;
pub(crate) use subqueries::Subqueries;
pub(crate) use window_strings::WindowStrings;
pub(crate) use window_values::WindowValues;
pub(crate) use windows::Windows;
pub(crate) use yielding::YieldingJoins;
pub(crate) use zeros::Zeros;
