//! Everyday SQL that DataFusion lacks or answers differently: arithmetic that reports overflow, exact sums, averages and
//! casts that round, and functions that users of DuckDB and PostgreSQL expect.
//!
//! ```
//! let names: Vec<&str> = bonnet_values::functions().iter().map(|function| function.name).collect();
//! assert_eq!(names[..4], ["age", "bar", "date_diff", "date_sub"]);
//! ```
//!
//! # Floors
//!
//! 1. `names`, `same_type_function`, `whole_numbers`: names of types, and forms of functions and arguments
//! 2. `times`: dates, timestamps and intervals
//! 3. `guards`: functions in place of expressions that a rule of DataFusion would change
//! 4. `strings`: strings within the memory limit, patterns and digits
//! 5. `arithmetic`, `casts`, `aggregates`: numbers, casts of all types, totals of rows
//! 6. `lists`: lists and maps, to whose items aggregates are applied

mod aggregates;
mod arithmetic;
mod casts;
mod guards;
mod lists;
mod names;
mod same_type_function;
mod strings;
mod times;
mod whole_numbers;

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;

pub use aggregates::aggregates;
pub use aggregates::ranks::ranks;
pub use aggregates::sliding_aggregates::sliding_aggregates;
pub use arithmetic::bit_operands::BitOperands;
pub use arithmetic::operators::{CheckedConstants, CheckedPlanner};
pub use arithmetic::rounded_digits::rounding_functions;
pub use arithmetic::whole_decimals::whole_decimals;
pub use casts::rounded_casts::{RoundedCasts, constant};
pub use casts::text_casts::with_units;
pub use guards::between_predicate::between_once;
pub use guards::canonical_values::{canonical, is_canonical, unsigned_nan, unsigned_nan_function};
pub use guards::coalesce::coalesce_once;
pub use guards::function_guard::guard_identities;
pub use guards::mark_assertion::mark_assertion;
pub use guards::nested_order::{compare_nested, extreme_nested};
pub use guards::optimization_barrier::{nullable, opaque, unique_expression};
pub use guards::row_options::row_options;
pub use guards::short_constants::with_short_constants;
pub use lists::list_functions::list_functions;
pub use lists::map_keys::MapKeys;
pub use same_type_function::value_type;
pub use strings::bounded_functions::bounded_functions;
pub use strings::null_texts::NullTexts;
pub use strings::octet_length::octet_length;
pub use times::date_arithmetic::DateArithmetic;
pub use times::interval_length::interval_length;

/// The functions for the registry.
pub fn functions() -> Vec<bonnet_sql::Function> {
    let one = [
        times::age::age(),
        strings::bar::bar(),
        times::date_diff::date_diff(),
        times::date_sub::date_sub(),
        times::epoch_ms::epoch_ms(),
        arithmetic::even::even(),
        times::last_day::last_day(),
        lists::list_aggregate::list_aggregate(),
        lists::list_unique::list_unique(),
        aggregates::mad::mad(),
        times::make_timestamp::make_timestamp(),
        lists::map_from_entries::map_from_entries(),
        aggregates::product::product(),
        aggregates::quantile_disc::quantile_disc(),
        strings::regexp_extract::regexp_extract(),
        strings::similar_to::similar_to(),
        strings::sparkline::sparkline(),
        times::time_bucket::time_bucket(),
        names::typeof_function::type_of(),
        strings::unicode::unicode(),
        names::version::version(),
    ];
    let pairs = [
        names::current_names::functions(),
        times::day_names::functions(),
        arithmetic::finite::functions(),
        strings::hex::functions(),
        aggregates::kurtosis::functions(),
    ];
    let more = [aggregates::frequencies::functions(), strings::regexp_lists::functions()];
    let of_families =
        pairs.into_iter().flatten().chain(more.into_iter().flatten()).chain(times::to_intervals::functions());
    one.into_iter().chain(of_families).collect()
}

/// The functions that plans call, but no user: checked operators, rounding, comparisons, optimization barriers, and the
/// assertion on marks of joins.
pub fn internal() -> Vec<Arc<ScalarUDF>> {
    let one = [
        times::interval_length::function(),
        times::at_time_zone::function(),
        guards::coalesce::function(),
        times::date_arithmetic::function(),
        casts::nested_texts::function(),
        casts::rounded_parts::function(),
        casts::times_as_texts::function(),
    ]
    .map(Arc::new);
    let others = [casts::rounded_casts::round_ties_even(), mark_assertion()].into_iter().chain(one);
    let pairs = [
        guards::optimization_barrier::functions(),
        guards::between_predicate::functions(),
        guards::canonical_values::functions(),
        times::interval_products::functions(),
        casts::parts_of_texts::functions(),
        casts::rounded_casts::within_float(),
    ];
    let of_families = arithmetic::operators::operators().into_iter().chain(guards::nested_order::functions());
    let of_families = of_families.chain(casts::text_casts::functions());
    of_families.chain(others).chain(pairs.into_iter().flatten()).collect()
}
