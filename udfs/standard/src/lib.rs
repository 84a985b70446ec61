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
mod casts;
mod concatenation;
mod exact;
mod extremes;
mod found;
mod fused;
mod mode;
mod quotient;
mod ranks;
mod similar;
mod sparkline;
mod sum;
mod total;

pub use arithmetic::{CheckedConstants, CheckedPlanner};
pub use average::avg;
pub use casts::RoundedCasts;
pub use extremes::extremes;
pub use found::found;
pub use ranks::ranks;
pub use sum::sum;

/// The functions for the registry.
pub fn functions() -> Vec<bonnet_sql::Function> {
    vec![age::age(), bar::bar(), mode::mode(), similar::similar_to(), sparkline::sparkline()]
}

/// The functions that plans call and nobody types: operators that are checked, rounding, and what a join has to find.
pub fn internal() -> Vec<std::sync::Arc<datafusion::logical_expr::ScalarUDF>> {
    arithmetic::operators().into_iter().chain([casts::round_ties_even(), found()]).collect()
}
