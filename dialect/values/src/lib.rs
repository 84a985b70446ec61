//! Everyday SQL that DataFusion lacks or answers differently: arithmetic that reports overflow, exact sums, averages and
//! casts that round, and functions that users of DuckDB and PostgreSQL expect.
//!
//! let names: Vec<&str> = bonnet_values::functions().iter().map(|function| function.name).collect();
//! assert_eq!(names[..4], ["age", "bar", "date_diff", "date_sub"]);

mod age;
mod approximate_quantiles;
mod arithmetic;
mod average;
mod bar;
mod between_predicate;
mod bit_operands;
mod bounded_functions;
mod canonical_values;
mod casts;
mod coalesce;
mod concatenation;
mod current_names;
mod date_arithmetic;
mod date_diff;
mod date_sub;
mod day_names;
mod even;
mod exact_accumulators;
mod extreme_row;
mod extremes;
mod finite;
mod float_range;
mod frequencies;
mod function_guard;
mod hex;
mod inner_aggregate;
mod interval_average;
mod interval_length;
mod interval_products;
mod kurtosis;
mod last_day;
mod list_aggregate;
mod list_functions;
mod list_unique;
mod long_texts;
mod mad;
mod make_timestamp;
mod map_from_entries;
mod map_keys;
mod mark_assertion;
mod moment_average;
mod moments;
mod nested_syntax;
mod nested_texts;
mod nested_types;
mod optimization_barrier;
mod overflow_detection;
mod parts_of_texts;
mod percentile_cont;
mod product;
mod quantile_disc;
mod quotient;
mod ranks;
mod regexp_extract;
mod regexp_lists;
mod rounded_digits;
mod rounded_parts;
mod same_type_function;
mod shifts;
mod short_constants;
mod similar_to;
mod sliding_aggregates;
mod sparkline;
mod state_nulls;
mod sum;
mod text_casts;
mod time_bucket;
mod times_as_texts;
mod to_intervals;
mod total;
mod type_names;
mod typeof_function;
mod unicode;
mod whole_numbers;

use std::sync::Arc;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

pub use arithmetic::{CheckedConstants, CheckedPlanner};
pub use between_predicate::between_once;
pub use bit_operands::BitOperands;
pub use bounded_functions::bounded_functions;
pub use canonical_values::{canonical, is_canonical, unsigned_nan, unsigned_nan_function};
pub use casts::{RoundedCasts, constant};
pub use coalesce::coalesce_once;
pub use date_arithmetic::DateArithmetic;
pub use function_guard::guard_identities;
pub use interval_length::interval_length;
pub use list_functions::list_functions;
pub use map_keys::MapKeys;
pub use mark_assertion::mark_assertion;
pub use optimization_barrier::{nullable, opaque, unique_expression};
pub use ranks::ranks;
pub use rounded_digits::rounding_functions;
pub use short_constants::with_short_constants;
pub use sliding_aggregates::sliding_aggregates;

/// The functions for the registry.
pub fn functions() -> Vec<bonnet_sql::Function> {
    let one = [
        age::age(),
        bar::bar(),
        date_diff::date_diff(),
        date_sub::date_sub(),
        even::even(),
        last_day::last_day(),
        list_aggregate::list_aggregate(),
        list_unique::list_unique(),
        mad::mad(),
        make_timestamp::make_timestamp(),
        map_from_entries::map_from_entries(),
        product::product(),
        quantile_disc::quantile_disc(),
        regexp_extract::regexp_extract(),
        similar_to::similar_to(),
        sparkline::sparkline(),
        time_bucket::time_bucket(),
        typeof_function::type_of(),
        unicode::unicode(),
    ];
    let pairs = [
        current_names::functions(),
        day_names::functions(),
        finite::functions(),
        hex::functions(),
        kurtosis::functions(),
    ];
    let more = [frequencies::functions(), regexp_lists::functions()];
    let of_families = pairs.into_iter().flatten().chain(more.into_iter().flatten()).chain(to_intervals::functions());
    one.into_iter().chain(of_families).collect()
}

/// The aggregates in place of DataFusion's of the same names.
pub fn aggregates() -> Vec<Arc<AggregateUDF>> {
    let one = [sum::sum(), average::avg(), percentile_cont::percentile_cont()];
    one.into_iter().chain(extremes::extremes()).chain(approximate_quantiles::approximate_quantiles()).collect()
}

/// The functions that plans call, but no user: checked operators, rounding, comparisons, optimization barriers, and the
/// assertion on marks of joins.
pub fn internal() -> Vec<Arc<ScalarUDF>> {
    let one = [
        interval_length::function(),
        coalesce::function(),
        date_arithmetic::function(),
        nested_texts::function(),
        rounded_parts::function(),
        times_as_texts::function(),
    ]
    .map(Arc::new);
    let others = [casts::round_ties_even(), mark_assertion()].into_iter().chain(one);
    let pairs = [
        optimization_barrier::functions(),
        between_predicate::functions(),
        canonical_values::functions(),
        interval_products::functions(),
        text_casts::functions(),
        parts_of_texts::functions(),
        casts::within_float(),
    ];
    arithmetic::operators().into_iter().chain(others).chain(pairs.into_iter().flatten()).collect()
}
