//! `rank_volatility(rank)` and `frechet_distance(a, b, position)`: statistics of rows of numbers.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{Body, Function, Options, Parameter, RowsFunction, RowsKernel, execution_error, stopped};
use datafusion::common::Result;

use crate::FrechetError;

/// The registration of `rank_volatility`.
pub fn rank_volatility() -> Function {
    Function::new("rank_volatility", Body::Rows(Arc::new(OfRows::<1>(volatility))))
        .parameters([Parameter::number_column("rank", "A model's rank on each item.")])
        .returns("DOUBLE")
        .description(
            "The sample deviation (n - 1) of ranks. NULL or NaN does not count; NULL for fewer than two ranks.",
        )
        .example("SELECT rank_volatility(rank) FROM (VALUES (12), (12), (1), (4), (1)) t(rank)")
        .source(super::CURVBENCH)
}

/// The registration of `frechet_distance`.
pub fn frechet_distance() -> Function {
    Function::new("frechet_distance", Body::Rows(Arc::new(OfRows::<3>(frechet)))).heavy()
        .parameters([
            Parameter::number_column("a", "The value of the first curve."),
            Parameter::number_column("b", "The value of the second curve."),
            Parameter::number_column("position", "Where both stand: each position once, in any order."),
        ])
        .returns("DOUBLE")
        .description(
            "The discrete Frechet distance of two curves of points (position, value): the shortest leash with which both \
             can be walked to their ends, Euclidean in the plane. A NULL value leaves that curve without a point there; a \
             NULL position leaves out the row; NULL where a curve has no points. O(n^2) time.",
        )
        .example("SELECT frechet_distance(a, b, i) FROM (VALUES (0, 0.0, 0.0), (1, 0.0, 3.0), (2, 0.0, 0.0)) t(i, a, b)")
        .source("Eiter and Mannila, Computing Discrete Frechet Distance (1994)")
}

/// A statistic of the rows of a group; NULL is NaN.
type Statistic<const N: usize> = fn(&[[f64; N]], &dyn Monitor) -> Result<Option<f64>>;

fn volatility(rows: &[[f64; 1]], _: &dyn Monitor) -> Result<Option<f64>> {
    let ranks: Vec<f64> = rows.iter().flatten().copied().filter(|rank| !rank.is_nan()).collect();
    Ok(crate::rank_volatility(&ranks))
}

fn frechet(rows: &[[f64; 3]], monitor: &dyn Monitor) -> Result<Option<f64>> {
    let _room = Reservation::new(monitor, 32 * rows.len()).map_err(stopped)?;
    let curve = |value: usize| -> Vec<(f64, f64)> {
        let points = rows.iter().filter(|row| !row[value].is_nan() && !row[2].is_nan());
        points.map(|row| (row[2], row[value])).collect()
    };
    crate::frechet_distance(&curve(0), &curve(1), monitor).map_err(|error| match error {
        FrechetError::Stopped(reason) => stopped(reason),
        error => execution_error(format!("frechet_distance: {error}")),
    })
}

/// A statistic of N columns of numbers.
#[derive(Debug)]
struct OfRows<const N: usize>(Statistic<N>);

impl<const N: usize> RowsFunction for OfRows<N> {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, _: &Options) -> Result<RowsKernel> {
        let statistic = self.0;
        Ok(Box::new(move |groups, monitor| {
            let columns = groups.columns();
            let _room = Reservation::new(monitor, columns[0].len() * size_of::<[f64; N]>()).map_err(stopped)?;
            let rows = rows::<N>(columns)?;
            let values = groups.map(|group| statistic(&rows[group], monitor))?;
            Ok(Arc::new(Float64Array::from(values)))
        }))
    }

    fn keeps_nulls(&self) -> bool {
        true
    }
}

/// The columns as rows of numbers, NULL as NaN.
pub(super) fn rows<const N: usize>(columns: &[ArrayRef]) -> Result<Vec<[f64; N]>> {
    let mut rows = vec![[f64::NAN; N]; columns[0].len()];
    for (i, column) in columns.iter().take(N).enumerate() {
        let column = cast(column, &DataType::Float64)?;
        for (row, value) in rows.iter_mut().zip(column.as_primitive::<Float64Type>()) {
            row[i] = value.unwrap_or(f64::NAN);
        }
    }
    Ok(rows)
}
