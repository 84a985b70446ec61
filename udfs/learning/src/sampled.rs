//! A model on a graph that does not fit: every pass runs on the neighbourhoods of its targets alone.

use std::cell::RefCell;
use std::sync::Arc;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use crate::error::BuildError;
use crate::features::{self, Features};
use crate::kernels::RowSet;
use crate::network::{Axis, Layout, Messages, Model, Pass, Problem, Scope};
use crate::options::TrainOptions;
use crate::parts::{ModelPart, PartRows};
use crate::random::key;
use crate::registry;
use crate::sample::Sampler;
use crate::spaces::Space;
use crate::spec::ModelSpec;

/// Tells the draw of neighbours from other uses of the seed.
const NEIGHBORS: u64 = 11;

/// A step builds the model anew on a sample of the neighbours of its targets, as far as the model's outputs reach. Without
/// training, all neighbours are there, so that outputs are those of the whole graph; targets whose neighbourhoods hold
/// more nodes together than any step's are halved until they do not, or one is left.
///
/// Beside the features, the graph and the outputs of all nodes, memory holds one such model at a time.
pub(crate) struct Sampled<'a> {
    spec: &'static ModelSpec,
    graph: &'a Arc<Graph>,
    features: Arc<Features>,
    n_outputs: usize,
    known_labels: Arc<[(u32, u32)]>,
    options: &'a TrainOptions,
    monitor: &'a dyn Monitor,
    fanout: Vec<u32>,
    /// The largest number of nodes of a step.
    largest: usize,
    sampler: RefCell<Sampler<'a>>,
    rows: PartRows<'a>,
}

impl<'a> Sampled<'a> {
    /// The model of the options, which name `batch_nodes`.
    pub fn new(
        problem: &Problem<'a>,
        graph: &'a Arc<Graph>,
        monitor: &'a dyn Monitor,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, BuildError> {
        let (options, n) = (problem.options, graph.n_nodes());
        let spec = registry::model(&options.model)?;
        let fanout = options.fanout.clone();
        // Saturating: an unlimited fanout is the largest number.
        let (mut ring, mut largest) = (options.batch_nodes.unwrap_or(u32::MAX) as usize, 0usize);
        for &fanout in [1].iter().chain(&fanout) {
            ring = ring.saturating_mul(fanout as usize);
            largest = largest.saturating_add(ring);
        }
        let mut sampled = Self {
            spec,
            graph,
            features: Arc::clone(&problem.features),
            n_outputs: problem.n_outputs,
            known_labels: Arc::clone(&problem.known_labels),
            options,
            monitor,
            fanout,
            largest: largest.min(n),
            sampler: RefCell::new(Sampler::new(graph, reservation)?),
            rows: PartRows::new(n, problem.n_outputs, reservation)?,
        };
        // One node is enough to learn the shapes.
        let part = sampled.part(&[0], &[], 0, false)?;
        sampled.rows.adopt(&part, options.keep_embeddings, reservation)?;
        Ok(sampled)
    }

    /// The model around some targets.
    fn part(&mut self, targets: &[u32], fanout: &[u32], draw: u64, train: bool) -> Result<ModelPart<'a>, BuildError> {
        let mut reservation = Reservation::new(self.monitor, 0)?;
        let sample = self.sampler.get_mut().sample(targets, fanout, draw, &mut reservation)?;
        let sample = Arc::new(sample);
        let mut place = places(&sample.nodes);
        let rows: Vec<(u32, u32)> = targets.iter().filter_map(|&v| Some((v, place(v)?))).collect();
        let mut place = places(&sample.nodes);
        let known_labels: Arc<[(u32, u32)]> =
            self.known_labels.iter().filter_map(|&(v, class)| Some((place(v)?, class))).collect();
        reservation
            .grow(8 * (rows.len() + known_labels.len()) + features::selected_bytes(&self.features, &sample.nodes))?;
        let problem = Problem {
            features: Arc::new(features::selected(&self.features, &sample.nodes)),
            graph: Messages::Sampled(Arc::clone(&sample)),
            arcs: None,
            n_outputs: self.n_outputs,
            known_labels,
            options: self.options,
            complexes: None,
            device: false,
        };
        let model = (self.spec.build)(&problem, &mut reservation)?;
        let places: Vec<u32> = rows.iter().map(|row| row.1).collect();
        let scope = model.scope(&places, train, true, &mut reservation)?;
        Ok(ModelPart { model, scope, targets: rows, reservation })
    }

    /// The targets in pieces whose neighbourhoods are no larger than a step's.
    fn pieces(&self, targets: &[u32], pieces: &mut Vec<Vec<u32>>) -> Result<(), Stopped> {
        self.monitor.check()?;
        let too_large = || self.sampler.borrow_mut().reaches_more_than(self.largest, targets, self.fanout.len());
        if targets.len() > 1 && self.largest < self.graph.n_nodes() && too_large() {
            let (left, right) = targets.split_at(targets.len() / 2);
            self.pieces(left, pieces)?;
            return self.pieces(right, pieces);
        }
        pieces.push(targets.to_vec());
        Ok(())
    }

    /// The fanout that takes all neighbours.
    fn everything(&self) -> Vec<u32> {
        vec![u32::MAX; self.fanout.len()]
    }
}

impl Model for Sampled<'_> {
    fn space(&self) -> Option<&Space> {
        self.rows.space.as_ref()
    }

    fn layout(&self) -> &Layout {
        &self.rows.layout
    }

    /// Rows: the pieces in which targets are computed, then the targets.
    fn scope(
        &self,
        targets: &[u32],
        train: bool,
        _pruned: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Scope, Stopped> {
        let n = self.graph.n_nodes();
        let mut pieces = Vec::new();
        if !train && !targets.is_empty() {
            self.pieces(targets, &mut pieces)?;
        }
        pieces.push(targets.to_vec());
        let mut rows = Vec::with_capacity(pieces.len());
        for piece in pieces {
            reservation.grow(RowSet::bytes(piece.len()))?;
            rows.push(Arc::new(RowSet::new(n, piece)));
        }
        Ok(Scope { rows, prepared: Vec::new() })
    }

    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped> {
        // The last step's memory is released before more is reserved.
        self.rows.step = None;
        match pass {
            Pass::Train { epoch } => {
                let (fanout, draw) = (self.fanout.clone(), key(&[self.options.seed, NEIGHBORS, u64::from(epoch)]));
                let mut part = self.part(scope.targets().rows(), &fanout, draw, true).map_err(stopped)?;
                self.rows.forward(&mut part, parameters, pass, monitor)?;
                self.rows.step = Some(part);
            }
            Pass::Evaluate => {
                let (everything, pieces) = (self.everything(), &scope.rows[..scope.rows.len() - 1]);
                for piece in pieces {
                    let mut part = self.part(piece.rows(), &everything, 0, false).map_err(stopped)?;
                    self.rows.forward(&mut part, parameters, pass, monitor)?;
                }
            }
        }
        Ok(())
    }

    fn outputs(&self) -> &[f32] {
        &self.rows.outputs
    }

    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]) {
        (&self.rows.outputs, &mut self.rows.gradient)
    }

    fn backward(
        &mut self,
        _scope: &Scope,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.rows.backward(parameters, pass, gradient, monitor)
    }

    fn label_inputs(&self, pass: Pass) -> Vec<u32> {
        let Some(part) = &self.rows.step else { return Vec::new() };
        let given = part.model.label_inputs(pass);
        let targets = part.targets.iter().filter(|(_, row)| given.binary_search(row).is_ok());
        targets.map(|target| target.0).collect()
    }

    fn penalty(&self) -> f64 {
        self.rows.penalty()
    }

    fn embedding(&self) -> Option<(&[f32], Axis)> {
        self.rows.embedding()
    }

    fn peak(&self) -> usize {
        self.rows.peak
    }
}

/// The place of each node in an ascending list, for nodes that ascend from call to call.
fn places(nodes: &[u32]) -> impl FnMut(u32) -> Option<u32> {
    let mut at = 0;
    move |v| {
        at += nodes[at..].partition_point(|&node| node < v);
        (nodes.get(at) == Some(&v)).then_some(at as u32)
    }
}

fn stopped(error: BuildError) -> Stopped {
    match error {
        BuildError::Stopped(stopped) => stopped,
        error => unreachable!("the same options were accepted when the layout was learnt: {error}"),
    }
}
