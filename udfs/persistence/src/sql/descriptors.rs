//! The descriptors of a graph as aggregates: `degree_histogram(src, dst)` and the like, `curvature_histogram(value, ...)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Function, GraphValue, Options, Parameter, execution_error,
    graph_aggregate, usage_error,
};
use datafusion::common::{Result, ScalarValue};

use crate::Histogram;

const GRAN: &str =
    "Liao et al., Efficient Graph Generation with Graph Recurrent Attention Networks (NeurIPS 2019), Sec. 4";

/// The registration of `degree_histogram`.
pub fn degree_histogram() -> Function {
    graph_aggregate("degree_histogram", |graph, _| Ok(crate::degree_histogram(graph)))
        .description(
            "The share of nodes of degree 0, 1, 2, ..., up to the largest degree (so the share of degree d stands at \
             d + 1). Nodes are the endpoints of the rows; a row src = dst adds a node without edges. Rows with a NULL endpoint do \
             not count; no rows give NULL.",
        )
        .example("SELECT degree_histogram(src, dst) FROM karate.edges")
        .source(GRAN)
}

/// The registration of `clustering_histogram`.
pub fn clustering_histogram() -> Function {
    graph_aggregate("clustering_histogram", crate::clustering_histogram)
        .heavy()
        .description(
            "The share of nodes whose local clustering coefficient lies in each of 100 equal bins of [0, 1], the last \
             one closed; degrees 0 and 1 have the coefficient 0. Nodes as for degree_histogram; no rows give NULL.",
        )
        .example("SELECT clustering_histogram(src, dst)[100] AS cliques FROM karate.edges")
        .source(GRAN)
}

/// The registration of `laplacian_spectrum`.
pub fn laplacian_spectrum() -> Function {
    graph_aggregate("laplacian_spectrum", crate::laplacian_spectrum)
        .heavy()
        .description(
            "The share of eigenvalues of the normalised Laplacian in each of 200 equal bins of [0, 2], the last one \
             closed; an eigenvalue on a border (such as 1) counts in the upper bin. O(n^3) time and 8 n^2 bytes for the \
             largest component of n nodes. Nodes as for degree_histogram; no rows give NULL.",
        )
        .example("SELECT laplacian_spectrum(src, dst)[1] AS near_zero FROM karate.edges")
        .source(GRAN)
}

/// The registration of `orbit_counts`.
pub fn orbit_counts() -> Function {
    graph_aggregate("orbit_counts", |graph, monitor| Ok(crate::mean_orbit_counts(graph, monitor)?.to_vec()))
        .heavy()
        .description(
            "For each of the 15 orbits of connected graphs of 2 to 4 nodes, how many induced subgraphs a node plays that \
             part in, as the mean over nodes: 0 edge; 1, 2 end and middle of a path of 3; 3 triangle; 4, 5 end and middle \
             of a path of 4; 6, 7 leaf and centre of a star; 8 cycle of 4; 9, 10, 11 tail, far corners and joint of a \
             triangle with a tail; 12, 13 nodes of degree 2 and 3 of a cycle with a chord; 14 complete graph of 4 \
             (orbit o stands at o + 1). Exact counts. Nodes as for degree_histogram; no rows give NULL.",
        )
        .example("SELECT orbit_counts(src, dst)[4] AS triangles FROM karate.edges")
        .source("Przulj 2007 (orbits); Hocevar and Demsar 2014 (counting by equations)")
}

/// The registration of `curvature_histogram`.
pub fn curvature_histogram() -> Function {
    Function::new("curvature_histogram", Body::Aggregate(Arc::new(OfValues)))
        .parameters([
            Parameter::number_column("value", "The value of an edge."),
            Parameter::integer("bins", "The number of equal bins, at least 1."),
            Parameter::number("low", "Where the first bin starts."),
            Parameter::number("high", "Where the last bin ends."),
        ])
        .returns("DOUBLE[]")
        .description(
            "The share of values in each of so many equal bins from low to high; a value on a border counts in the upper \
             bin, values below low count in the first bin and values above high in the last. NULL values do not count, \
             NaN is an error; no values give NULL.",
        )
        .example(
            "SELECT curvature_histogram(forman_ricci, 10, -20, 5) AS shares FROM (SELECT * FROM forman_ricci(karate.edges))",
        )
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 4.3")
}

pub(super) fn damaged(name: &str) -> datafusion::common::DataFusionError {
    execution_error(format!("{name}: a partition's state is damaged"))
}

const HISTOGRAM: &str = "curvature_histogram";

/// The histogram of a group's values.
#[derive(Debug)]
struct OfValues;

impl AggregateFunction for OfValues {
    fn data_type(&self) -> DataType {
        Vec::<f64>::data_type()
    }

    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>> {
        let bins = options.integer_from("bins", 0)?.unwrap_or(0) as usize;
        let number =
            |name: &str| Ok::<_, datafusion::common::DataFusionError>(options.number(name)?.unwrap_or(f64::NAN));
        match Histogram::new(bins, number("low")?, number("high")?) {
            Ok(histogram) => Ok(Box::new(Values(histogram))),
            Err(error) => usage_error(format!("{HISTOGRAM}: {error}")),
        }
    }
}

#[derive(Debug)]
struct Values(Histogram);

impl AggregateState for Values {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let mut values = columns[0].as_primitive::<Float64Type>().iter().flatten();
        values.try_for_each(|value| self.0.add(value)).map_err(|error| execution_error(format!("{HISTOGRAM}: {error}")))
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let counts: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|count| u64::from_le_bytes(*count)).collect();
        if counts.len() != self.0.counts().len() {
            return Err(damaged(HISTOGRAM));
        }
        self.0.add_counts(&counts);
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.0.counts().iter().flat_map(|count| count.to_le_bytes()).collect())
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&GraphValue::column(vec![self.0.shares()]), 0)
    }

    fn size(&self) -> usize {
        8 * self.0.counts().len()
    }
}
