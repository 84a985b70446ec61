//! Rules of plans, beside DataFusion's own: statements that it answers wrongly, and joins that let others run.

mod filters;
mod grouping_sets;
mod pushdown;
mod set_operations;
mod subqueries;
mod yielding;

pub(crate) use filters::logical_rules;
pub(crate) use grouping_sets::GroupingSets;
pub(crate) use pushdown::physical_rules;
pub(crate) use set_operations::SetOperations;
pub(crate) use subqueries::Subqueries;
pub(crate) use yielding::YieldingJoins;
