//! `frechet_distance(a, b, position)`: how far apart two curves are.

use std::sync::Arc;

use arrow::array::Float64Array;
use arrow::datatypes::DataType;
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{Body, Function, Options, Parameter, RowsFunction, RowsKernel, kernel_error, stopped};
use datafusion::common::Result;

use super::input::number_rows;

const NAME: &str = "frechet_distance";

/// The registration.
pub fn frechet_distance() -> Function {
    Function::new(NAME, Body::Rows(Arc::new(Frechet)))
        .heavy()
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

#[derive(Debug)]
struct Frechet;

impl RowsFunction for Frechet {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, _: &Options) -> Result<RowsKernel> {
        Ok(Box::new(|groups, monitor| {
            let columns = groups.columns();
            let _reservation = Reservation::new(monitor, columns[0].len() * size_of::<[f64; 3]>()).map_err(stopped)?;
            let rows = number_rows::<3>(columns)?;
            let values = groups.map(|group| distance(&rows[group], monitor))?;
            Ok(Arc::new(Float64Array::from(values)))
        }))
    }

    fn keeps_nulls(&self) -> bool {
        true
    }
}

/// The distance of the curves of rows `[a, b, position]`.
fn distance(rows: &[[f64; 3]], monitor: &dyn Monitor) -> Result<Option<f64>> {
    let _reservation = Reservation::new(monitor, 32 * rows.len()).map_err(stopped)?;
    let curve = |value: usize| -> Vec<(f64, f64)> {
        let points = rows.iter().filter(|row| !row[value].is_nan() && !row[2].is_nan());
        points.map(|row| (row[2], row[value])).collect()
    };
    crate::frechet_distance(&curve(0), &curve(1), monitor).map_err(|error| kernel_error(NAME, error))
}
