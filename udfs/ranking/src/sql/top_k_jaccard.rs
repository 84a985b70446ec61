//! `top_k_jaccard(rank_a, rank_b, k)`.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{AggregateFunction, AggregateState, Body, Function, Options, Parameter, execution_error, usage_error};
use datafusion::common::{Result, ScalarValue};

use super::input::number_rows;
use crate::TopSets;

/// The registration.
pub fn top_k_jaccard() -> Function {
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
        .source("Jaccard 1901; CurvBench (arXiv 2606.06397), Eq. 18")
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
            None => usage_error("top_k_jaccard: k is NULL; give the number of leaders"),
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
        let complete = number_rows::<2>(columns)?.into_iter().filter(|[a, b]| !a.is_nan() && !b.is_nan());
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

    fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok([self.sets.both, self.sets.either].into_iter().flat_map(u64::to_le_bytes).collect())
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.sets.jaccard()))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}
