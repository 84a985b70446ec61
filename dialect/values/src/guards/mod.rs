//! Guards: functions in place of expressions that DataFusion's rules would evaluate twice, fold, or compare by their
//! bits.

pub(crate) mod between_predicate;
pub(crate) mod canonical_values;
pub(crate) mod coalesce;
pub(crate) mod function_guard;
pub(crate) mod mark_assertion;
pub(crate) mod nested_order;
pub(crate) mod optimization_barrier;
pub(crate) mod row_options;
pub(crate) mod short_constants;
