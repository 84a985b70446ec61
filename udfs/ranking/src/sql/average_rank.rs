//! `average_rank() OVER (ORDER BY ...)`.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use arrow::datatypes::DataType;
use bonnet_sql::{Body, Function, WindowFunction};
use datafusion::common::Result;

/// The registration.
pub fn average_rank() -> Function {
    Function::new("average_rank", Body::Window(Arc::new(AverageRank)))
        .returns("DOUBLE")
        .description(
            "The rank of a row in the window's order, from 1; rows that the order does not tell apart share the average of \
             the positions they take. NULLs come last and share one rank: ordered by a score that falls, a run that failed \
             ranks worst.",
        )
        .example("SELECT x, average_rank() OVER (ORDER BY x DESC) AS rank FROM (VALUES (3), (1), (3), (NULL)) t(x)")
        .source(super::CURVBENCH)
}

#[derive(Debug)]
struct AverageRank;

impl WindowFunction for AverageRank {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn evaluate(&self, rows: usize, peers: &[Range<usize>]) -> Result<ArrayRef> {
        let mut ranks = Vec::with_capacity(rows);
        for peers in peers {
            let rank = (peers.start + peers.end + 1) as f64 / 2.0;
            ranks.extend(peers.clone().map(|_| rank));
        }
        Ok(Arc::new(Float64Array::from(ranks)))
    }
}
