//! Models that are built anew for some items at a time, with the rows of all items.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::ground::{Axis, BuildError, Layout, padded};
use crate::network::{Model, Moments, Pass, Scope, zeros};
use crate::program::{Program, Shelf};
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

/// The builder of the parts of a model.
pub(crate) trait PartSource<'a>: Send + Sync {
    /// The model on one item, as small as it may be: its layout is that of every part.
    fn smallest(&mut self) -> Result<ModelPart<'a>, BuildError>;

    /// The scope of a pass, as [`Model::scope`]; the last rows are the targets.
    fn scope(&self, targets: &[u32], train: bool, reservation: &mut Reservation<'_>) -> Result<Scope, Stopped>;

    /// The items of each part of a pass; in training all targets are one part.
    fn pieces<'s>(&self, scope: &'s Scope, pass: Pass) -> Vec<&'s [u32]>;

    /// The model on the items of a part.
    fn part(&mut self, items: &[u32], pass: Pass) -> Result<ModelPart<'a>, Stopped>;

    /// The same model, made while another one is at work; none from a source that makes one at a time.
    fn ahead(&self, _items: &[u32], _pass: Pass) -> Option<Result<ModelPart<'a>, Stopped>> {
        None
    }

    /// The bytes that it holds beside the parts.
    fn held(&self) -> usize {
        0
    }
}

/// A part of a pass that is to come: its items.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Coming {
    items: Vec<u32>,
    pass: Pass,
}

/// A model of which a part is in memory at a time, and perhaps the next one, beside the outputs of all items.
pub(crate) struct PartModel<'a, S> {
    pub(crate) source: S,
    layout: Layout,
    space: Option<Space>,
    stride: usize,
    outputs: Vec<f32>,
    gradient: Vec<f32>,
    embedding: Option<(Vec<f32>, Axis)>,
    /// The part of a training step, between its two passes; of a measuring pass, until the next one.
    step: Option<ModelPart<'a>>,
    /// The first part of the pass after this one.
    coming: Option<Coming>,
    /// A part that was made beside the one before.
    made: Option<(Coming, ModelPart<'a>)>,
    /// The buffers of the parts before.
    shelf: Shelf,
    /// The most bytes of the parts at a time.
    peak: usize,
}

impl<'a, S: PartSource<'a>> PartModel<'a, S> {
    /// A model of `n_items`, at least one, with outputs of 0.
    pub(crate) fn new(
        mut source: S,
        n_items: usize,
        n_outputs: usize,
        keep_embeddings: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, BuildError> {
        let stride = padded(n_outputs);
        let (outputs, gradient) = (zeros(reservation, n_items * stride)?, zeros(reservation, n_items * stride)?);
        let part = source.smallest()?;
        let embedding = match part.model.embedding() {
            Some((_, axis)) if keep_embeddings => Some((zeros(reservation, n_items * axis.stride())?, axis)),
            _ => None,
        };
        let (layout, space) = (part.model.layout().clone(), part.model.space().cloned());
        Ok(Self {
            source,
            layout,
            space,
            stride,
            outputs,
            gradient,
            embedding,
            step: None,
            coming: None,
            made: None,
            shelf: Shelf::default(),
            peak: 0,
        })
    }
}

impl<'a, S: PartSource<'a>> Model for PartModel<'a, S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn scope(
        &self,
        targets: &[u32],
        train: bool,
        _pruned: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Scope, Stopped> {
        self.source.scope(targets, train, reservation)
    }

    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped> {
        // The last step's memory is released before more is reserved; its buffers are those of the next.
        if let Some(step) = self.step.take() {
            step.model.leave_buffers(&mut self.shelf);
        }
        let pieces = self.source.pieces(scope, pass);
        for (at, items) in pieces.iter().enumerate() {
            monitor.check()?;
            let made = self.made.take().filter(|(made, _)| made.items == *items && made.pass == pass);
            let mut part = match made {
                Some((_, part)) => part,
                None => self.source.part(items, pass)?,
            };
            let coming = match pieces.get(at + 1) {
                Some(next) => Some(Coming { items: next.to_vec(), pass }),
                None => self.coming.take(),
            };
            part.model.take_buffers(&mut self.shelf, matches!(pass, Pass::Train { .. }), self.embedding.is_some());
            // One thread gains nothing by it.
            let coming = coming.filter(|_| rayon::current_num_threads() > 1);
            let source = &self.source;
            let (done, made) = rayon::join(
                || part.model.forward(&part.scope, parameters, pass, monitor),
                || coming.and_then(|coming| Some((source.ahead(&coming.items, coming.pass)?, coming))),
            );
            done?;
            self.made = match made {
                None => None,
                Some((Ok(next), coming)) => Some((coming, next)),
                // There is no room for two: it is made when this one has gone.
                Some((Err(Stopped::OutOfMemory(_)), _)) => None,
                Some((Err(stopped), _)) => return Err(stopped),
            };
            part.gather(part.model.outputs(), &mut self.outputs, self.stride);
            if let (Some((to, axis)), Some((from, _))) = (&mut self.embedding, part.model.embedding()) {
                part.gather(from, to, axis.stride());
            }
            let beside = self.made.as_ref().map_or(0, |(_, next)| next.reservation.bytes());
            self.peak = self.peak.max(part.reservation.bytes() + beside);
            match pass {
                Pass::Evaluate => part.model.leave_buffers(&mut self.shelf),
                Pass::Train { .. } | Pass::Measure => self.step = Some(part),
            }
        }
        Ok(())
    }

    fn expect(&mut self, scope: &Scope, pass: Pass) {
        let first = self.source.pieces(scope, pass).first().map(|items| items.to_vec());
        self.coming = first.map(|items| Coming { items, pass });
    }

    fn outputs(&self) -> &[f32] {
        &self.outputs
    }

    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]) {
        (&self.outputs, &mut self.gradient)
    }

    fn backward(
        &mut self,
        _scope: &Scope,
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
        part.model.backward(&part.scope, parameters, pass, gradient, monitor)?;
        part.model.leave_buffers(&mut self.shelf);
        Ok(())
    }

    fn label_inputs(&self, pass: Pass) -> Vec<u32> {
        let Some(part) = &self.step else { return Vec::new() };
        let given = part.model.label_inputs(pass);
        let targets = part.targets.iter().filter(|(_, row)| given.binary_search(row).is_ok());
        targets.map(|target| target.0).collect()
    }

    fn penalty(&self) -> f64 {
        self.step.as_ref().map_or(0.0, |part| part.model.penalty())
    }

    fn add_moments(&self, moments: &mut Moments) {
        if let Some(part) = &self.step {
            part.model.add_moments(moments);
        }
    }

    fn space(&self) -> Option<&Space> {
        self.space.as_ref()
    }

    fn embedding(&self) -> Option<(&[f32], Axis)> {
        self.embedding.as_ref().map(|(values, axis)| (&values[..], *axis))
    }

    fn peak(&self) -> usize {
        self.peak + self.source.held()
    }
}

/// The error of a later part: the smallest one was built with the same options.
pub(crate) fn stopped(error: BuildError) -> Stopped {
    use bonnet_topology::{FacesError, SpectrumError};
    match error {
        BuildError::Stopped(stopped) | BuildError::Spectrum(SpectrumError::Faces(FacesError::Stopped(stopped))) => {
            stopped
        }
        error => unreachable!("the same options were accepted for the smallest part: {error}"),
    }
}
