//! The adapter for functions that answer a value for each edge.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array};
use arrow::datatypes::{DataType, Float64Type};
use bonnet_sql::{Body, EdgeFunction, EdgeKernel, Function, Options, Parameter};
use datafusion::common::Result;
use rayon::prelude::*;

use super::network::{Failure, GraphCall, Reading, Reads, defined};
use super::node_relation::WEIGHT;
use crate::Network;

/// Rows that a thread looks up at a time.
const TOGETHER: usize = 4096;

/// The value of each arc, in the order of [`Network::out`]: those of both arcs of an undirected edge are the same.
pub(super) type ArcValues = Box<dyn Fn(Network<'_>, &GraphCall) -> Result<Vec<f64>, Failure> + Send + Sync>;

/// An edge function `name(src, dst ...)`, in OVER and in FROM. Its values are of `data_type`, DOUBLE, BIGINT or BOOLEAN
/// (true for all but 0); NULL for a loop and where an endpoint is NULL.
pub(super) fn edge_function(
    name: &'static str,
    data_type: DataType,
    reads: Reads,
    options: impl IntoIterator<Item = Parameter>,
    bind: fn(&Options) -> Result<ArcValues>,
) -> Function {
    let weight = reads.weights.map(|meaning| Parameter::number_column(WEIGHT, meaning).optional());
    let (first, last) = if reads.weights_last { (None, weight) } else { (weight, None) };
    let options = Reads { weights: None, ..reads }.parameters(options);
    let returns = match data_type {
        DataType::Int64 => "BIGINT",
        DataType::Boolean => "BOOLEAN",
        _ => "DOUBLE",
    };
    Function::new(name, Body::Edge(Arc::new(OfEdges { name, data_type, reads, bind })))
        .parameters(Parameter::ends().into_iter().chain(first).chain(options).chain(last))
        .returns(returns)
}

struct OfEdges {
    name: &'static str,
    data_type: DataType,
    reads: Reads,
    bind: fn(&Options) -> Result<ArcValues>,
}

impl fmt::Debug for OfEdges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl EdgeFunction for OfEdges {
    fn data_type(&self) -> DataType {
        self.data_type.clone()
    }

    fn bind(&self, options: &Options) -> Result<EdgeKernel> {
        let values = (self.bind)(options)?;
        let (name, data_type) = (self.name, self.data_type.clone());
        // The parameter of weights is a column here.
        let reading = Reading::new(self.reads, options)?;
        Ok(Box::new(move |graph, host| {
            let reading = Reading { weights: graph.weights().is_some(), ..reading };
            let call = GraphCall::new(graph, reading, host);
            let of_rows =
                |network: Network<'_>| Ok::<_, Failure>(by_row(network, graph.arcs(), &values(network, &call)?));
            let column = call.with_network(of_rows).map_err(|failure| failure.error(name, graph))?;
            Ok(match data_type {
                DataType::Int64 => as_counts(&column),
                DataType::Boolean => as_booleans(&column),
                _ => column,
            })
        }))
    }
}

/// The value of each row's arc; NULL for a loop.
fn by_row(network: Network<'_>, rows: &[(u32, u32)], values: &[f64]) -> ArrayRef {
    let value = |&(u, v): &(u32, u32)| match network.out.of(u).binary_search(&v) {
        Ok(at) => values[network.out.offsets()[u as usize] + at],
        Err(_) => f64::NAN,
    };
    defined(rows.par_iter().with_min_len(TOGETHER).map(value).collect())
}

fn as_counts(column: &ArrayRef) -> ArrayRef {
    let values = column.as_primitive::<Float64Type>();
    Arc::new(values.iter().map(|value| value.map(|value| value as i64)).collect::<Int64Array>())
}

fn as_booleans(column: &ArrayRef) -> ArrayRef {
    let values = column.as_primitive::<Float64Type>();
    Arc::new(values.iter().map(|value| value.map(|value| value != 0.0)).collect::<BooleanArray>())
}
