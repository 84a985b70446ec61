//! The list of analysis: rules that settle types and make a valid plan, those before DataFusion's in [`analyzer_rules`].

mod analyzer;
mod correlation;
mod date_comparisons;
mod distinct_on;
mod grouping_sets;
mod in_lists;
mod inserted_types;
mod negative_scales;
mod nested_comparisons;
mod range_frames;
mod scalar_subqueries;
mod set_operations;
mod simplification;
mod subqueries;
mod untyped_nulls;
mod values;

pub(crate) use analyzer::analyzer_rules;
pub(crate) use correlation::{Correlation, PLAIN_LATERAL};
pub(crate) use distinct_on::DISTINCT_SUBQUERIES;
pub(crate) use grouping_sets::GROUPING_SETS;
pub(crate) use in_lists::IN_LISTS;
pub(crate) use inserted_types::INSERTED_TYPES;
pub(crate) use nested_comparisons::NESTED_COMPARISONS;
pub(crate) use scalar_subqueries::SCALAR_SUBQUERIES;
pub(crate) use set_operations::SET_OPERATIONS;
pub(crate) use simplification::SIMPLIFICATION;
pub(crate) use subqueries::SUBQUERIES;
pub(crate) use values::{SCANNED_NAN, VALUES};
