//! Models of typed graphs, which read the types of nodes and the relations of edges. A graph without types is one of one type
//! and one relation.

mod balls;
mod entries;
pub mod goat;
pub mod gophormer;
pub mod graphtrans;
pub mod h2g_former;
pub mod han;
pub mod hgt;
pub mod hinormer;
mod masks;
mod metapaths;
pub mod r_gat;
pub mod r_gcn;
pub mod r_graphsage;
mod sequences;
pub mod shgn;
pub mod unified_gt;

use crate::ground::{Axis, Initial};
use crate::network::Relations;
use crate::options::{ModelOptions, OptionSpec, Task};
use crate::program::{Builder, InputFeatures, Parameter, Slot, Source};

/// The tasks of models whose outputs are vectors of nodes of any type: relations have the training edges alone where links are
/// predicted.
const ON_NODES_AND_LINKS: &[&str] =
    &[Task::NodeClassification.name(), Task::NodeRegression.name(), Task::LinkPrediction.name()];

/// How what relations bring to a node is joined.
const RELATIONS: OptionSpec = OptionSpec::choice(
    "relations",
    "sum",
    &["sum", "mean"],
    "how what the relations into a node's type bring it is joined",
);

/// The features with the weights that bring them to `columns`: `input.weight` has the types' blocks of columns as its rows, so that
/// it is a matrix a type. It starts as Glorot and Bengio's, for as many inputs as a type has on average.
fn projection(
    b: &mut Builder<'_, '_>,
    relations: &Relations,
    columns: Axis,
    dropout: f64,
) -> (InputFeatures, Parameter) {
    let x = b.input(dropout);
    let rows = b.source_axis(x.into());
    let initial = Initial::glorot(rows.len() / relations.n_types(), columns.len());
    (x, b.parameter("input.weight", rows, columns, initial))
}

/// The features brought to `columns` by weights and a bias of each type.
fn projected(b: &mut Builder<'_, '_>, relations: &Relations, columns: Axis, dropout: f64) -> Slot {
    let (x, weights) = projection(b, relations, columns, dropout);
    let h = b.linear_with(x, weights);
    b.kind_bias(h, relations.kinds(), "input.bias", Initial::Zeros)
}

/// The input of a stack of layers: the features themselves where there is one type, so that the stack is that of a plain
/// model; else their projections, one of each type, as wide as a hidden layer.
fn input(b: &mut Builder<'_, '_>, relations: &Relations, options: ModelOptions<'_>) -> Source {
    match relations.n_types() {
        1 => b.input(options.dropout).into(),
        _ => projected(b, relations, Axis::padded(1, options.hidden), options.dropout).into(),
    }
}
