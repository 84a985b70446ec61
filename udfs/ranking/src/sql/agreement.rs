//! `spearman(x, y)` and `kendall_tau(x, y)`: the agreement of two rankings.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Monitor, Reservation, Stopped};
use bonnet_sql::{Body, Function, Options, Parameter, RowsFunction, RowsKernel, stopped};
use datafusion::common::Result;

fn function(name: &'static str, agreement: Agreement) -> Function {
    Function::new(name, Body::Rows(Arc::new(OfPairs(agreement))))
        .parameters([
            Parameter::number_column("x", "The first ranking: ranks or scores."),
            Parameter::number_column("y", "The second."),
        ])
        .returns("DOUBLE")
}

/// The registration of `spearman`.
pub fn spearman() -> Function {
    function("spearman", crate::spearman)
        .description(
            "Spearman's rank correlation: Pearson's of the ranks, ties sharing their average. In [-1, 1]. A row with a \
             NULL or NaN does not count; NULL where all x or all y are equal, and for fewer than two rows.",
        )
        .example("SELECT spearman(x, y) FROM (VALUES (1, 5), (2, 6), (3, 7), (4, 8), (5, 7)) t(x, y)")
        .source("Spearman 1904; CurvBench (arXiv 2606.06397), Eq. 16")
}

/// The registration of `kendall_tau`.
pub fn kendall_tau() -> Function {
    function("kendall_tau", crate::kendall_tau)
        .description(
            "Kendall's tau-b: concordant less discordant pairs of rows, over the geometric mean of the pairs that x and \
             y tell apart. In [-1, 1]. A row with a NULL or NaN does not count; NULL where all x or all y are equal, and \
             for fewer than two rows. O(n log n).",
        )
        .example("SELECT kendall_tau(x, y) FROM (VALUES (12, 1), (2, 4), (1, 7), (12, 1), (2, 0)) t(x, y)")
        .source("Kendall 1938; CurvBench (arXiv 2606.06397), Eq. 17")
}

/// A kernel of two rankings.
type Agreement = fn(&[f64], &[f64], &dyn Monitor) -> std::result::Result<Option<f64>, Stopped>;

/// The agreement of two columns of numbers.
#[derive(Debug)]
struct OfPairs(Agreement);

impl RowsFunction for OfPairs {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, _: &Options) -> Result<RowsKernel> {
        let agreement = self.0;
        Ok(Box::new(move |groups, monitor| {
            let column = |i: usize| cast(&groups.columns()[i], &DataType::Float64);
            let (x, y) = (column(0)?, column(1)?);
            let (x, y) = (x.as_primitive::<Float64Type>().values(), y.as_primitive::<Float64Type>().values());
            let value = |group: Range<usize>| {
                let (x, y) = (&x[group.clone()], &y[group]);
                if !x.iter().chain(y).any(|value| value.is_nan()) {
                    return agreement(x, y, monitor).map_err(stopped);
                }
                let _room = Reservation::new(monitor, 16 * x.len()).map_err(stopped)?;
                let complete = x.iter().zip(y).filter(|(x, y)| !x.is_nan() && !y.is_nan());
                let (x, y): (Vec<f64>, Vec<f64>) = complete.unzip();
                agreement(&x, &y, monitor).map_err(stopped)
            };
            Ok(Arc::new(Float64Array::from(groups.map(value)?)))
        }))
    }
}
