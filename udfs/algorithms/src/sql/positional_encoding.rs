//! `positional_encoding(edges [, nodes => relation] [, method => 'laplacian'] [, dim => 8])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use bonnet_graph::Reservation;
use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::{Reads, wrong};
use super::relation::{Answer, node_function};
use crate::Encoding;

const NAME: &str = "positional_encoding";

/// The registration.
pub fn positional_encoding() -> Function {
    let options = [
        Parameter::text("method", "laplacian, random_walk or degree.")
            .or(OptionValue::Text(Encoding::Laplacian.name().to_owned())),
        Parameter::integer(
            "dim",
            "The length of the lists. By default 8 for laplacian, 20 for random_walk, 1 for degree.",
        )
        .optional(),
    ];
    node_function(NAME, Reads::SIMPLE, options, bind)
        .returns("node, encoding (FLOAT[]); graph_id in front where edges have it")
        .description(
            "Where in the graph every node is, as a list of numbers that are features for models. laplacian: the entries of the \
             eigenvectors of I - D^-1/2 A D^-1/2 of the smallest eigenvalues but the first, 0; orthonormal, the first entry of each that \
             is not 0 is positive, and of an eigenvalue with several they are the projections of the nodes in their order, made \
             orthonormal. An error for more than the nodes less 1, or where eigenvalues are too close to be told apart, as on long \
             paths; O(n^3) up to 512 nodes, beyond O(m dim + n dim^2) a step. random_walk: the probabilities that a walk is back \
             after 1, 2, ..., dim steps; O(edges within dim / 2 steps of a node) a node and step. degree: the degree.",
        )
        .example("SELECT node, encoding FROM positional_encoding(karate.edges, method => 'random_walk', dim => 4) ORDER BY node LIMIT 3")
        .source(
            "Dwivedi and Bresson, A generalization of transformer networks to graphs (2021), Eq. 1; Dwivedi et al., Graph neural networks \
             with learnable structural and positional representations (2022), Eq. 13",
        )
}

fn bind(options: &Options) -> Result<Answer> {
    let method = options.text("method")?.unwrap_or(Encoding::Laplacian.name());
    let Some(encoding) = Encoding::of_name(method) else {
        let names = Encoding::ALL.map(Encoding::name).join(", ");
        return usage_error(format!("method => '{method}': expected one of {names}"));
    };
    let dimension = options.integer_from("dim", 1)?.map_or(encoding.usual_dimension(), |dim| dim as usize);
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let field = Field::new("encoding", DataType::List(Arc::clone(&item)), true);
    Ok(Answer::new(vec![field], move |call| {
        let graph = call.simple()?;
        let values = crate::positional_encoding(graph, encoding, dimension, call.host)?;
        if i32::try_from(values.len()).is_err() {
            return wrong(format!(
                "dim => {dimension}: {} numbers are more than a column of lists holds",
                values.len()
            ));
        }
        let _reservation = Reservation::new(call.host, 4 * values.len() + 4 * graph.n_nodes())?;
        let numbers = Arc::new(Float32Array::from_iter_values(values.iter().map(|&x| x as f32)));
        let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(dimension, graph.n_nodes()));
        Ok(vec![Arc::new(ListArray::new(Arc::clone(&item), offsets, numbers, None)) as ArrayRef])
    }))
}
