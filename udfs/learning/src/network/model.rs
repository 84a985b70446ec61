//! The trait of models, as the training loop sees them.

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::moments::Moments;
use super::pass::Pass;
use super::scope::Scope;
use crate::ground::{Axis, Layout};
use crate::spaces::Space;

/// A network with its buffers. Parameters and gradients are flat vectors in the order of [`Model::layout`].
pub trait Model: Send {
    /// Names, shapes and initial values of the parameters.
    fn layout(&self) -> &Layout;

    /// The index structures for the outputs of `targets` (ascending node numbers), with those of the backward pass if
    /// `train`. With `pruned`, only the rows that these outputs depend on; otherwise all, with the same bits as result.
    fn scope(
        &self,
        targets: &[u32],
        train: bool,
        pruned: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Scope, Stopped>;

    /// Computes the outputs of a scope's targets.
    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped>;

    /// Says what the forward pass after the next one is of, so that what it needs beside parameters is made while that one runs.
    fn expect(&mut self, _scope: &Scope, _pass: Pass) {}

    /// The outputs of the last forward pass, nodes x [`crate::ground::padded`] outputs; valid in the rows of its targets.
    fn outputs(&self) -> &[f32];

    /// The outputs, and where their gradient goes before [`Model::backward`]: zeros except in the rows of the targets.
    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]);

    /// From the gradient of the outputs to that of every parameter, after [`Model::forward`] with the same arguments.
    fn backward(
        &mut self,
        scope: &Scope,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped>;

    /// The nodes whose classes a pass of training reads, ascending. Their own outputs may depend on them: a loss leaves them
    /// out.
    fn label_inputs(&self, _pass: Pass) -> Vec<u32> {
        Vec::new()
    }

    /// The penalty that the model adds to the loss of the task in the last forward pass of training; [`Model::backward`] adds
    /// its gradient.
    fn penalty(&self) -> f64 {
        0.0
    }

    /// Adds the moments of the last pass, a [`Pass::Measure`], to those of earlier passes; only those of measured statistics
    /// ([`crate::ground::Block::measured`]).
    fn add_moments(&self, _moments: &mut Moments) {}

    /// The space whose points the embedding's rows are, and in link prediction the outputs'; none for flat vectors.
    fn space(&self) -> Option<&Space> {
        None
    }

    /// The input of the last layer in the last forward pass, with its columns; none where that is the features.
    fn embedding(&self) -> Option<(&[f32], Axis)>;

    /// The most bytes that a pass held beside the reservation with which the model was built.
    fn peak(&self) -> usize {
        0
    }
}

/// A buffer of zeros that the reservation covers.
pub(crate) fn zeros(reservation: &mut Reservation<'_>, len: usize) -> Result<Vec<f32>, Stopped> {
    reservation.grow(len.saturating_mul(size_of::<f32>()))?;
    Ok(vec![0.0; len])
}
