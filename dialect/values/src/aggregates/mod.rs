//! Aggregates and ranks: exact totals, averages and quantiles, extremes with NaN, frames without subtraction.

pub(crate) mod approximate_quantiles;
pub(crate) mod average;
pub(crate) mod exact_accumulators;
pub(crate) mod extreme_row;
pub(crate) mod extremes;
pub(crate) mod frequencies;
pub(crate) mod inner_aggregate;
pub(crate) mod kurtosis;
pub(crate) mod mad;
pub(crate) mod median;
pub(crate) mod percentile_cont;
pub(crate) mod product;
pub(crate) mod quantile_disc;
pub(crate) mod ranks;
pub(crate) mod sliding_aggregates;
pub(crate) mod state_nulls;
pub(crate) mod sum;
pub(crate) mod total;

use std::sync::Arc;

use datafusion::logical_expr::AggregateUDF;

/// The aggregates in place of DataFusion's of the same names.
pub fn aggregates() -> Vec<Arc<AggregateUDF>> {
    let one = [sum::sum(), average::avg(), percentile_cont::percentile_cont(), median::median()];
    one.into_iter().chain(extremes::extremes()).chain(approximate_quantiles::approximate_quantiles()).collect()
}
