//! `generalized_edge_homophily(src_features, dst_features)`.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{AggregateFunction, AggregateState, Body, Function, Options, Parameter, execution_error};
use datafusion::common::{Result, ScalarValue};

use super::SOURCE;
use super::features::feature_rows;
use crate::{CosineSum, cosine};

/// The registration.
pub(super) fn generalized_edge_homophily() -> Function {
    Function::new("generalized_edge_homophily", Body::Aggregate(Arc::new(MeanCosine)))
        .parameters([
            Parameter::column("src_features", "The features of the edge's source: FLOAT[] or MAP(INT, FLOAT)."),
            Parameter::column("dst_features", "The features of its target."),
        ])
        .returns("DOUBLE")
        .description(
            "The mean over rows of the cosine of the two feature vectors, in [-1, 1]; 0 for a vector of zeros. A row with \
             a NULL does not count; no rows give NULL. The same for any order and partition of the rows.",
        )
        .example("SELECT generalized_edge_homophily(a, b) FROM (VALUES ([1.0, 0.0], [1.0, 1.0])) t(a, b)")
        .source(SOURCE)
}

#[derive(Debug)]
struct MeanCosine;

impl AggregateFunction for MeanCosine {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Cosines::default()))
    }
}

#[derive(Debug, Default)]
struct Cosines(CosineSum);

impl AggregateState for Cosines {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let (source, source_present) = feature_rows(&columns[0], "generalized_edge_homophily: src_features")?;
        let (target, target_present) = feature_rows(&columns[1], "generalized_edge_homophily: dst_features")?;
        for row in (0..source.len()).filter(|&row| source_present[row] && target_present[row]) {
            self.0.add(cosine(source.entries(row), target.entries(row)));
        }
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let (Some(sum), Some(rows)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<8>()) else {
            return Err(execution_error("generalized_edge_homophily: a partition's state is damaged"));
        };
        self.0.merge(&CosineSum { sum: i128::from_le_bytes(*sum), n_rows: u64::from_le_bytes(*rows) });
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok([self.0.sum.to_le_bytes().as_slice(), &self.0.n_rows.to_le_bytes()].concat())
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.0.mean()))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}
