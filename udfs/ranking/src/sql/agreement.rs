//! The aggregates: agreement of two rankings, distance of two curves, spread of ranks.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Monitor, Reservation, Stopped};
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Function, Options, Parameter, RowsFunction, RowsKernel, execution_error,
    stopped,
};
use datafusion::common::{Result, ScalarValue};

use crate::{FrechetError, TopSets};

/// The registrations.
pub fn functions() -> Vec<Function> {
    let pair = |name, statistic| {
        Function::new(name, Body::Rows(Arc::new(OfRows::<2> { statistic, heavy: false })))
            .parameters([
                Parameter::number_column("x", "The first ranking: ranks or scores."),
                Parameter::number_column("y", "The second."),
            ])
            .returns("DOUBLE")
    };
    vec![
        pair("spearman", |rows, monitor| of_pairs(rows, crate::spearman, monitor))
            .description(
                "Spearman's rank correlation: Pearson's of the ranks, ties sharing their average. In [-1, 1]. A row with a \
                 NULL or NaN does not count; NULL where all x or all y are equal, and for fewer than two rows.",
            )
            .example("SELECT spearman(x, y) FROM (VALUES (1, 5), (2, 6), (3, 7), (4, 8), (5, 7)) t(x, y)")
            .source("Spearman 1904; CurvBench (arXiv 2606.06397), Eq. 16"),
        pair("kendall_tau", |rows, monitor| of_pairs(rows, crate::kendall_tau, monitor))
            .description(
                "Kendall's tau-b: concordant less discordant pairs of rows, over the geometric mean of the pairs that x and \
                 y tell apart. In [-1, 1]. A row with a NULL or NaN does not count; NULL where all x or all y are equal, and \
                 for fewer than two rows. O(n log n).",
            )
            .example("SELECT kendall_tau(x, y) FROM (VALUES (12, 1), (2, 4), (1, 7), (12, 1), (2, 0)) t(x, y)")
            .source("Kendall 1938; CurvBench (arXiv 2606.06397), Eq. 17"),
        Function::new("top_k_jaccard", Body::Aggregate(Arc::new(TopK)))
            .parameters([
                Parameter::number_column("rank_a", "The rank by the first ranking, from 1."),
                Parameter::number_column("rank_b", "The rank by the second."),
                Parameter::integer("k", "How many are leaders: at least 1."),
            ])
            .returns("DOUBLE")
            .description(
                "The overlap of the first k of two rankings: those with both ranks at most k, over those with either. In \
                 [0, 1]. With average ranks a tie across the border is outside. A row with a NULL or NaN does not count; \
                 NULL where nothing is among the first k.",
            )
            .example("SELECT top_k_jaccard(a, b, 3) FROM (VALUES (1, 2), (2, 1), (3, 4), (4, 3)) t(a, b)")
            .source("Jaccard 1901; CurvBench (arXiv 2606.06397), Eq. 18"),
        Function::new("rank_volatility", Body::Rows(Arc::new(OfRows::<1> { statistic: volatility, heavy: false })))
            .parameters([Parameter::number_column("rank", "A model's rank on each item.")])
            .returns("DOUBLE")
            .description("The sample deviation (n - 1) of ranks. NULL or NaN does not count; NULL for fewer than two ranks.")
            .example("SELECT rank_volatility(rank) FROM (VALUES (12), (12), (1), (4), (1)) t(rank)")
            .source(super::CURVBENCH),
        Function::new("frechet_distance", Body::Rows(Arc::new(OfRows::<3> { statistic: frechet, heavy: true })))
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
            .source("Eiter and Mannila, Computing Discrete Frechet Distance (1994)"),
    ]
}

/// A statistic of the rows of a group; NULL is NaN.
type Statistic<const N: usize> = fn(&[[f64; N]], &dyn Monitor) -> Result<Option<f64>>;

/// A kernel of two rankings.
type Agreement = fn(&[f64], &[f64], &dyn Monitor) -> std::result::Result<Option<f64>, Stopped>;

fn of_pairs(rows: &[[f64; 2]], agreement: Agreement, monitor: &dyn Monitor) -> Result<Option<f64>> {
    let _room = Reservation::new(monitor, 16 * rows.len()).map_err(stopped)?;
    let complete = rows.iter().filter(|[x, y]| !x.is_nan() && !y.is_nan());
    let (x, y): (Vec<f64>, Vec<f64>) = complete.map(|&[x, y]| (x, y)).unzip();
    agreement(&x, &y, monitor).map_err(stopped)
}

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
struct OfRows<const N: usize> {
    statistic: Statistic<N>,
    /// Whether few rows are much work.
    heavy: bool,
}

impl<const N: usize> RowsFunction for OfRows<N> {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, _: &Options) -> Result<RowsKernel> {
        let statistic = self.statistic;
        Ok(Box::new(move |groups, monitor| {
            let columns = groups.columns();
            let _room = Reservation::new(monitor, columns[0].len() * size_of::<[f64; N]>()).map_err(stopped)?;
            let rows = rows::<N>(columns)?;
            let values = groups.map(|group| statistic(&rows[group], monitor))?;
            Ok(Arc::new(Float64Array::from(values)))
        }))
    }

    fn heavy(&self) -> bool {
        self.heavy
    }

    fn keeps_nulls(&self) -> bool {
        true
    }
}

/// The columns as rows of numbers, NULL as NaN.
fn rows<const N: usize>(columns: &[ArrayRef]) -> Result<Vec<[f64; N]>> {
    let mut rows = vec![[f64::NAN; N]; columns[0].len()];
    for (i, column) in columns.iter().take(N).enumerate() {
        let column = cast(column, &DataType::Float64)?;
        for (row, value) in rows.iter_mut().zip(column.as_primitive::<Float64Type>()) {
            row[i] = value.unwrap_or(f64::NAN);
        }
    }
    Ok(rows)
}

#[derive(Debug)]
struct TopK;

impl AggregateFunction for TopK {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>> {
        match options.integer_from("k", 1)? {
            Some(k) => Ok(Box::new(Leaders { k: k as f64, sets: TopSets::default() })),
            None => bonnet_sql::usage_error("top_k_jaccard: k is NULL; give the number of leaders"),
        }
    }
}

#[derive(Debug)]
struct Leaders {
    k: f64,
    sets: TopSets,
}

impl AggregateState for Leaders {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let complete = rows::<2>(columns)?.into_iter().filter(|[a, b]| !a.is_nan() && !b.is_nan());
        complete.for_each(|[a, b]| self.sets.add(a, b, self.k));
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let Ok([both, either]) = <[[u8; 8]; 2]>::try_from(bytes.as_chunks::<8>().0) else {
            return Err(execution_error("top_k_jaccard: a partition's state is damaged"));
        };
        self.sets.merge(TopSets { both: u64::from_le_bytes(both), either: u64::from_le_bytes(either) });
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        [self.sets.both, self.sets.either].into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.sets.jaccard()))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}
