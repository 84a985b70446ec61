//! What everyday SQL has and DataFusion lacks, or answers otherwise: arithmetic that says when a number leaves its type,
//! sums that are exact, averages and casts that round, and functions that users of DuckDB and PostgreSQL expect.
//!
//! ```
//! let names: Vec<&str> = bonnet_standard::functions().iter().map(|function| function.name).collect();
//! assert_eq!(names, ["age", "bar", "mode", "similar_to", "sparkline"]);
//! ```

mod age;
mod arithmetic;
mod average;
mod bar;
mod between;
mod canonical;
mod casts;
mod coalesce;
mod concatenation;
mod exact;
mod extremes;
mod found;
mod fused;
mod guarded;
mod interval_length;
mod mode;
mod opaque;
mod quotient;
mod ranks;
mod similar;
mod sparkline;
mod sum;
mod total;

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;

pub use arithmetic::{CheckedConstants, CheckedPlanner};
pub use average::avg;
pub use between::between_once;
pub use canonical::{canonical, is_canonical, unsigned_nan, unsigned_nan_function};
pub use casts::{RoundedCasts, constant};
pub use coalesce::coalesce_once;
pub use extremes::extremes;
pub use found::found;
pub use guarded::guarded;
pub use interval_length::interval_length;
pub use opaque::{drawn, nullable, opaque};
pub use ranks::ranks;
pub use sum::sum;

/// The functions for the registry.
pub fn functions() -> Vec<bonnet_sql::Function> {
    vec![age::age(), bar::bar(), mode::mode(), similar::similar_to(), sparkline::sparkline()]
}

/// The functions that plans call and nobody types: operators that are checked, rounding, comparisons, expressions that
/// are not simplified, and what a join has to find.
pub fn internal() -> Vec<Arc<ScalarUDF>> {
    let one = [interval_length::function(), coalesce::function()].map(Arc::new);
    let others = [casts::round_ties_even(), found()].into_iter().chain(one);
    let pairs = [opaque::functions(), between::functions(), canonical::functions()];
    arithmetic::operators().into_iter().chain(others).chain(pairs.into_iter().flatten()).collect()
}
