//! Rows of all items, computed by models on some of them at a time.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::kernels::padded;
use crate::network::{Axis, Layout, Model, Pass, Scope, zeros};
use crate::program::Program;
use crate::spaces::Space;

/// A model on some items: complexes, or the neighbourhoods of nodes.
pub(crate) struct ModelPart<'a> {
    pub(crate) model: Program,
    pub(crate) scope: Scope,
    /// The items, each with its row in the model.
    pub(crate) targets: Vec<(u32, u32)>,
    pub(crate) reservation: Reservation<'a>,
}

impl ModelPart<'_> {
    /// Copies the rows of the targets in the model to their rows among all items.
    fn gather(&self, from: &[f32], to: &mut [f32], stride: usize) {
        for &(item, row) in &self.targets {
            let (item, row) = (item as usize * stride, row as usize * stride);
            to[item..item + stride].copy_from_slice(&from[row..row + stride]);
        }
    }
}

/// The state that a model which is built anew for every part keeps between them.
pub(crate) struct PartRows<'a> {
    n_items: usize,
    stride: usize,
    pub(crate) layout: Layout,
    pub(crate) space: Option<Space>,
    pub(crate) outputs: Vec<f32>,
    pub(crate) gradient: Vec<f32>,
    embedding: Option<(Vec<f32>, Axis)>,
    /// Between the two passes of a step.
    pub(crate) step: Option<ModelPart<'a>>,
    /// The most bytes of a part.
    pub(crate) peak: usize,
}

impl<'a> PartRows<'a> {
    /// Rows of 0 for every item.
    pub(crate) fn new(n_items: usize, n_outputs: usize, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let stride = padded(n_outputs);
        Ok(Self {
            n_items,
            stride,
            layout: Layout::default(),
            space: None,
            outputs: zeros(reservation, n_items * stride)?,
            gradient: zeros(reservation, n_items * stride)?,
            embedding: None,
            step: None,
            peak: 0,
        })
    }

    /// Takes over the shapes of a part's model: parameters do not depend on the items.
    pub(crate) fn adopt(
        &mut self,
        part: &ModelPart<'_>,
        keep_embeddings: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<(), Stopped> {
        self.layout = part.model.layout().clone();
        self.space = part.model.space().cloned();
        if let (true, Some((_, axis))) = (keep_embeddings, part.model.embedding()) {
            self.embedding = Some((zeros(reservation, self.n_items * axis.stride())?, axis));
        }
        Ok(())
    }

    /// Runs a part forward and copies its rows to those of all items.
    pub(crate) fn forward(
        &mut self,
        part: &mut ModelPart<'_>,
        parameters: &[f32],
        pass: Pass,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        part.model.forward(&part.scope, parameters, pass, monitor)?;
        part.gather(part.model.outputs(), &mut self.outputs, self.stride);
        if let (Some((to, axis)), Some((from, _))) = (&mut self.embedding, part.model.embedding()) {
            part.gather(from, to, axis.stride());
        }
        self.peak = self.peak.max(part.reservation.bytes());
        Ok(())
    }

    /// Runs the part of the step backward, from the gradient of its rows.
    pub(crate) fn backward(
        &mut self,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let Some(mut part) = self.step.take() else { return Ok(()) };
        let d_outputs = part.model.outputs_and_gradient().1;
        for &(item, row) in &part.targets {
            let (item, row) = (item as usize * self.stride, row as usize * self.stride);
            d_outputs[row..row + self.stride].copy_from_slice(&self.gradient[item..item + self.stride]);
        }
        part.model.backward(&part.scope, parameters, pass, gradient, monitor)
    }

    /// The penalty of the part of the step.
    pub(crate) fn penalty(&self) -> f64 {
        self.step.as_ref().map_or(0.0, |part| part.model.penalty())
    }

    /// The embeddings of all items, if they are kept.
    pub(crate) fn embedding(&self) -> Option<(&[f32], Axis)> {
        self.embedding.as_ref().map(|(values, axis)| (&values[..], *axis))
    }
}
