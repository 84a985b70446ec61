//! Models on tokens of nodes: polynomials of the adjacency times the features, made once before training, after which no
//! edge is read.

pub mod nagphormer;
pub mod polyformer;

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::{ModelSpec, Problem};
use crate::data::Features;
use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::network::{Basis, Operator, tokens};
use crate::options::{ModelOptions, OptionSpec};
use crate::program::layers::linear::FeatureLinear;
use crate::program::{Builder, Slot, Space};

/// The basis of the options, and its largest order.
fn asked(options: &ModelOptions<'_>) -> Result<(Basis, usize), OptionError> {
    let basis = match options.text("basis") {
        Ok("chebyshev") => Basis::Chebyshev,
        Ok("bernstein") => Basis::Bernstein,
        _ => Basis::Monomial,
    };
    Ok((basis, options.integer("hops")? as usize))
}

/// The input of a model: the tokens of a problem on the whole graph where the model reads tokens, else the features.
///
/// # Errors
/// The errors of [`tokens`].
pub(crate) fn input(
    spec: &ModelSpec,
    problem: &Problem<'_>,
    reservation: &mut Reservation<'_>,
) -> Result<Arc<Features>, BuildError> {
    if spec.reads_tokens() { made(problem, reservation) } else { Ok(Arc::clone(&problem.features)) }
}

/// The tokens of a problem, `hops + 1` rows a node: its features where these are tokens already, as in steps on batches.
fn made(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Arc<Features>, BuildError> {
    let (basis, order) = asked(&problem.options)?;
    let n = problem.graph.n_nodes();
    if u32::try_from(n * (order + 1)).is_err() {
        let valid = format!("{}: {n} nodes have at most 2^32 - 1 tokens together", u32::MAX as usize / n - 1);
        return Err(OptionError::invalid("hops", order, &valid).into());
    }
    if problem.features.n_rows() == Some(n * (order + 1)) {
        return Ok(Arc::clone(&problem.features));
    }
    Ok(Arc::new(tokens(&problem.graph, &problem.features, basis, order, reservation)?))
}

/// All pairs of the tokens of each node.
fn pairs(n: usize, per_node: usize, reservation: &mut Reservation<'_>) -> Result<Arc<Operator>, Stopped> {
    let rows = n * per_node;
    reservation.grow(Operator::matrix_bytes(rows, rows * per_node))?;
    let offsets = (0..=rows).map(|row| row * per_node).collect();
    let columns = (0..rows).flat_map(|row| (0..per_node).map(move |k| (row / per_node * per_node + k) as u32));
    Ok(Arc::new(Operator::from_rows(offsets, columns.collect(), Vec::new(), false)))
}

/// `x W + b` for the tokens that a problem has as features.
fn embedded(b: &mut Builder<'_, '_>, tokens: Arc<Features>, name: &str, columns: Axis, initial: Initial) -> Slot {
    let rows = tokens.n_rows().unwrap_or(0);
    let x = b.features(tokens, 0.0);
    let weights = b.parameter(format!("{name}.weight"), b.source_axis(x.into()), columns, initial);
    let z = b.push(FeatureLinear { features: x }, &[], &[weights], Space::Rows(rows), columns);
    b.bias(z, format!("{name}.bias"))
}

/// `x W + b` with columns in groups.
pub(super) fn affine(b: &mut Builder<'_, '_>, x: Slot, name: &str, columns: Axis, initial: Initial) -> Slot {
    let weights = b.parameter(format!("{name}.weight"), b.axis(x), columns, initial);
    let z = b.linear_with(x, weights);
    b.bias(z, format!("{name}.bias"))
}

/// `x + dropout(W_2 gelu(W_1 norm(x)))`, named `{l}.norm.1`, `{l}.feed.0` and `{l}.feed.1`.
pub(super) fn feed_forward(
    b: &mut Builder<'_, '_>,
    x: Slot,
    l: usize,
    width: usize,
    p: f64,
    initial: impl Fn(usize) -> Initial,
) -> Slot {
    let axis = b.axis(x);
    let z = b.layer_norm(x, &format!("{l}.norm.1"));
    let z = affine(b, z, &format!("{l}.feed.0"), Axis::padded(1, width), initial(axis.len()));
    let z = b.gelu(z);
    let z = affine(b, z, &format!("{l}.feed.1"), axis, initial(width));
    let z = b.dropout(z, p);
    b.sum(&[(x, 1.0), (z, 1.0)])
}

/// The dropout of attention coefficients.
const fn attention_dropout(default: f64) -> OptionSpec {
    OptionSpec::real(
        "attention_dropout",
        default,
        [0.0, 1.0],
        "probability that an attention coefficient is dropped in training",
    )
}
