//! The list of physical optimization: DataFusion's rules in [`physical_rules`], some of them confined, and others that rewrite
//! operators.

mod adapter;
mod aggregate_statistics;
mod cooperative_joins;
mod filter_projections;
mod grouping_order;
mod limited_groups;
mod nan_statistics;
mod outer_joins;
mod physical_filter_pushdown;
mod physical_optimizer;
mod unread_partitions;
mod window_inputs;
mod wrapped_expression;

pub(crate) use cooperative_joins::YIELDING_JOINS;
pub(crate) use nan_statistics::NAN_STATISTICS;
pub(crate) use physical_optimizer::physical_rules;
pub(crate) use unread_partitions::UNREAD_PARTITIONS;
pub(crate) use window_inputs::WINDOWS;
