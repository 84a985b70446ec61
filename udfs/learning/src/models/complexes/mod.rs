//! The parts that programs on simplicial complexes share: input, activation, read-out, and their options.

pub mod cellmp;
pub mod ct;
pub mod dect;
pub mod san;
pub mod sccn;
pub mod sccnn;
pub mod scn;

use bonnet_graph::Stopped;

use crate::complexes::ComplexBatch;
use crate::ground::{Axis, BuildError, OptionError};
use crate::kernels::elementwise::Activation;
use crate::options::{ModelOptions, OptionSpec, Task};
use crate::program::layers::pool::Pool;
use crate::program::{Builder, Program, Slot, Space};

/// The tasks of complexes.
pub(crate) const COMPLEX_TASKS: &[&str] = &[Task::GraphClassification.name(), Task::GraphRegression.name()];

/// The values of [`ACTIVATION`].
pub(crate) const ACTIVATIONS: &[&str] = &["sigmoid", "relu", "tanh", "identity"];

/// The activation after the sums of a layer.
pub(crate) const ACTIVATION: OptionSpec = OptionSpec::choice(
    "activation",
    "sigmoid",
    ACTIVATIONS,
    "what follows the sums of a layer. With an odd one (tanh, identity) and features that change their sign with the \
     orientation of a simplex, so do the hidden rows",
);

/// The activation of the options.
pub(crate) fn activation(options: &ModelOptions<'_>) -> Result<Activation, OptionError> {
    Ok(match options.text("activation")? {
        "relu" => Activation::Relu,
        "tanh" => Activation::Tanh,
        "identity" => Activation::Identity,
        _ => Activation::Sigmoid,
    })
}

/// Whether boundary matrices have signs.
pub(crate) fn signed(options: &ModelOptions<'_>) -> Result<bool, OptionError> {
    Ok(options.text("signed")? == "true")
}

/// The features of the simplices of a dimension.
pub(crate) fn input(b: &mut Builder<'_, '_>, batch: &ComplexBatch, k: usize) -> Result<Slot, Stopped> {
    let features = batch.features(k);
    let axis = Axis::padded(1, features.width);
    b.constant(Space::Rows(batch.count(k)), axis, |out| {
        for (to, from) in out.chunks_exact_mut(axis.stride()).zip(features.values.chunks_exact(features.width)) {
            to[..features.width].copy_from_slice(from);
        }
    })
}

/// The sum of the rows of each complex in a dimension.
pub(crate) fn sum(b: &mut Builder<'_, '_>, batch: &ComplexBatch, k: usize, x: Slot) -> Result<Slot, Stopped> {
    b.pool(x, batch.starts(k), Pool::Sum)
}

/// The read-out of the benchmark: an affine layer for the sums of each dimension, added.
pub(crate) fn read_out(mut b: Builder<'_, '_>, pooled: &[Slot], n_outputs: usize) -> Result<Program, BuildError> {
    let mut terms = Vec::new();
    for (k, &x) in pooled.iter().enumerate() {
        terms.push((b.affine(x, &format!("read_out.{k}"), n_outputs), 1.0));
    }
    let out = b.sum(&terms);
    Ok(b.finish(out)?)
}
