//! `truncated_rank(rank, k [, n])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function};
use datafusion::common::Result;

/// The registration.
pub fn truncated_rank() -> Function {
    scalar_function("truncated_rank", DataType::Float64, truncated_ranks)
        .parameters([
            Parameter::number_column("rank", "The rank, from 1."),
            Parameter::number_column("k", "How many ranks count: at least 1."),
            Parameter::number_column("n", "How many are ranked; NULL where the lower tier is just called k + 1.")
                .optional(),
        ])
        .returns("DOUBLE")
        .description(
            "The rank itself up to k, and one shared rank behind it: k + 1, or with n the lower tier's average rank \
             (k + 1 + n) / 2. spearman and kendall_tau answer the same for both. A tie across the border is behind it. \
             NULL for a NULL rank or k.",
        )
        .example(
            "SELECT rank, truncated_rank(rank, 3), truncated_rank(rank, 3, n => 5) FROM generate_series(1, 5) t(rank)",
        )
        .source(super::CURVBENCH)
}

/// The truncated ranks of rows.
fn truncated_ranks(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let columns = columns.iter().map(|column| cast(column, &DataType::Float64)).collect::<Result<Vec<_>, _>>()?;
    let [ranks, ks, ns] = [0, 1, 2].map(|i| columns[i].as_primitive::<Float64Type>());
    let value = |((rank, k), n): ((Option<f64>, Option<f64>), Option<f64>)| {
        let (Some(rank), Some(k)) = (rank, k) else { return Ok(None) };
        if k < 1.0 || k.is_nan() {
            return Err(execution_error(format!("truncated_rank: k is {k}, expected at least 1")));
        }
        if let Some(n) = n.filter(|&n| n < rank) {
            return Err(execution_error(format!("truncated_rank: the rank {rank} is beyond n, which is {n}")));
        }
        Ok(if rank.is_nan() { None } else { Some(crate::truncated_rank(rank, k, n)) })
    };
    let values = ranks.iter().zip(ks.iter()).zip(ns.iter()).map(value).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Float64Array::from(values)))
}
