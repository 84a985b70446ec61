//! A model on a graph that does not fit: every pass runs on the neighbourhoods of its targets alone.

use std::sync::{Arc, Mutex, PoisonError};

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use crate::data::{Features, Part, features};
use crate::ground::BuildError;
use crate::ground::random::key;
use crate::kernels::RowSet;
use crate::models::{ModelSpec, Problem, registry, tokens};
use crate::network::sampling::{Sampler, TypeSampler, union};
use crate::network::{Messages, Model, Pass, Relations, Scope};
use crate::options::{EvaluateOn, SamplerKind, TrainOptions};
use crate::tasks::Objective;
use crate::training::parts::{ModelPart, PartModel, PartSource, stopped};

/// Separates the draw of neighbours from other uses of the seed.
const NEIGHBORS: u64 = 11;

/// The same for passes without training.
const EVALUATED: u64 = 12;

/// A step builds the model anew on a sample of the neighbours of its targets, as far as the model's outputs reach. Without
/// training, all neighbours are there, so that outputs are those of the whole graph; targets whose neighbourhoods hold
/// more nodes together than any step's are halved until they do not, or one is left. By [`EvaluateOn::Samples`] these passes run on
/// samples, too, of as many targets as a step has: those of one part of the split in the order of their numbers, so that an output
/// does not hang on which parts are asked for.
///
/// Beside the features, the graph and the outputs of all nodes, memory holds one such model at a time.
pub(crate) struct Sampled<'a> {
    spec: &'static ModelSpec,
    graph: &'a Arc<Graph>,
    /// The input of the model: as many rows for each node, one after the other.
    features: Arc<Features>,
    n_outputs: usize,
    known_labels: Arc<[(u32, u32)]>,
    /// The relations whose neighbours are drawn apart, for models that read them.
    types: Option<&'a Arc<Relations>>,
    options: &'a TrainOptions,
    monitor: &'a dyn Monitor,
    fanout: Vec<u32>,
    /// Over how many edges an output sees.
    hops: usize,
    /// The largest number of nodes of a step.
    largest: usize,
    sampler: Mutex<Sampler<'a>>,
    /// What samples are drawn from, where that is nodes of each type.
    by_type: Option<TypeSampler<'a>>,
    /// The part of each node (training, validation, test, none), where passes without training run on samples.
    parts: Option<Vec<u8>>,
}

/// What a model is built on around its targets.
#[derive(Clone, Copy)]
enum Neighbors<'f> {
    /// What a step or an evaluation on samples draws, with its key.
    Drawn(&'f [u32], u64),
    /// All neighbours over so many edges.
    All(usize),
}

impl<'a> Sampled<'a> {
    /// The model of the options, which name `batch_nodes`.
    pub fn model(
        problem: &Problem<'a>,
        options: &'a TrainOptions,
        (graph, types): (&'a Arc<Graph>, Option<&'a Arc<Relations>>),
        objective: &dyn Objective,
        monitor: &'a dyn Monitor,
        reservation: &mut Reservation<'_>,
    ) -> Result<PartModel<'a, Self>, BuildError> {
        let n = graph.n_nodes();
        let spec = registry::model(&options.model)?;
        let fanout = options.fanout.clone();
        // A node draws as many neighbours of each relation into its type.
        let apart = types.map_or(1, |types| types.count_into_types().into_iter().max().unwrap_or(1));
        // Saturating: an unlimited fanout is the largest number.
        let mut ring = options.batch_nodes.unwrap_or(u32::MAX) as usize;
        let mut largest = ring;
        let is_by_type = options.sampler == SamplerKind::Hgt;
        let (kinds, n_types) = types.map_or((&[][..], 1), |types| (&types.kinds().of[..], types.n_types()));
        for &fanout in &fanout {
            let (drawing, each) = if is_by_type { (1, n_types) } else { (ring, apart) };
            ring = drawing.saturating_mul(fanout as usize).saturating_mul(each);
            largest = largest.saturating_add(ring);
        }
        let lists = match types {
            // Without a relation there is no edge to draw.
            Some(types) if !types.list().is_empty() => types.lists(),
            _ => vec![(graph.offsets(), graph.targets())],
        };
        let by_type = match is_by_type {
            true => Some(TypeSampler::new(graph, (kinds, n_types), lists.clone(), reservation)?),
            false => None,
        };
        let hops = match spec.reach {
            Some(reach) => reach(&options.of_model())?,
            None => fanout.len(),
        };
        let sampler = Sampler::by_relation(graph, lists, reservation)?;
        let parts = match options.evaluate_on {
            EvaluateOn::Graph => None,
            EvaluateOn::Samples => {
                reservation.grow(n)?;
                let mut parts = vec![Part::ALL.len() as u8; n];
                for (part, number) in Part::ALL.into_iter().zip(0..) {
                    objective.nodes(&[part]).iter().for_each(|&v| parts[v as usize] = number);
                }
                Some(parts)
            }
        };
        let sampled = Self {
            spec,
            graph,
            features: tokens::input(spec, problem, reservation)?,
            n_outputs: problem.n_outputs,
            known_labels: Arc::clone(&problem.known_labels),
            types,
            options,
            monitor,
            fanout,
            hops,
            largest: largest.min(n),
            sampler: Mutex::new(sampler),
            by_type,
            parts,
        };
        PartModel::new(sampled, n, problem.n_outputs, options.keep_embeddings, reservation)
    }

    /// The model around some targets.
    fn build(&mut self, targets: &[u32], around: Neighbors<'_>, train: bool) -> Result<ModelPart<'a>, BuildError> {
        let mut reservation = Reservation::new(self.monitor, 0)?;
        let sampler = self.sampler.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut samples = match (around, &mut self.by_type) {
            (Neighbors::Drawn(counts, key), Some(by_type)) => {
                by_type.samples(targets, counts, key, &mut reservation)?
            }
            (Neighbors::Drawn(fanout, key), None) => sampler.samples(targets, fanout, key, &mut reservation)?,
            (Neighbors::All(hops), _) => sampler.samples(targets, &vec![u32::MAX; hops], 0, &mut reservation)?,
        };
        let sample = match self.types {
            None => samples.swap_remove(0),
            Some(_) => {
                let edges: usize = samples.iter().map(|sample| sample.targets.len()).sum();
                reservation.grow(size_of::<u32>() * edges + 16 * samples[0].nodes.len())?;
                union(self.graph, &samples)
            }
        };
        let types = match self.types {
            None => None,
            Some(types) => {
                let messages = samples.into_iter().map(|sample| Messages::Sampled(Arc::new(sample)));
                Some(Arc::new(types.sampled(&sample.nodes, messages, &mut reservation)?))
            }
        };
        let sample = Arc::new(sample);
        let mut place = places(&sample.nodes);
        let rows: Vec<(u32, u32)> = targets.iter().filter_map(|&v| Some((v, place(v)?))).collect();
        let mut place = places(&sample.nodes);
        let known_labels: Arc<[(u32, u32)]> =
            self.known_labels.iter().filter_map(|&(v, class)| Some((place(v)?, class))).collect();
        let per_node = self.features.n_rows().unwrap_or(0) as u32 / self.graph.n_nodes().max(1) as u32;
        let inputs: Vec<u32> = sample.nodes.iter().flat_map(|&v| v * per_node..(v + 1) * per_node).collect();
        reservation.grow(8 * (rows.len() + known_labels.len()) + 4 * inputs.len())?;
        reservation.grow(features::selected_bytes(&self.features, &inputs))?;
        let problem = Problem {
            features: Arc::new(features::selected(&self.features, &inputs)),
            graph: Messages::Sampled(Arc::clone(&sample)),
            arcs: None,
            n_outputs: self.n_outputs,
            known_labels,
            options: self.options.of_model(),
            types,
            complexes: None,
            device: false,
        };
        let model = (self.spec.build)(&problem, &mut reservation)?;
        let places: Vec<u32> = rows.iter().map(|row| row.1).collect();
        let scope = model.scope(&places, train, true, &mut reservation)?;
        Ok(ModelPart { model, scope, targets: rows, reservation })
    }

    /// The targets in pieces whose neighbourhoods are no larger than a step's.
    fn divide(&self, targets: &[u32], pieces: &mut Vec<Vec<u32>>) -> Result<(), Stopped> {
        self.monitor.check()?;
        let too_large = || {
            let mut sampler = self.sampler.lock().unwrap_or_else(PoisonError::into_inner);
            sampler.reaches_more_than(self.largest, targets, self.hops)
        };
        if targets.len() > 1 && self.largest < self.graph.n_nodes() && too_large() {
            let (left, right) = targets.split_at(targets.len() / 2);
            self.divide(left, pieces)?;
            return self.divide(right, pieces);
        }
        pieces.push(targets.to_vec());
        Ok(())
    }
}

impl<'a> PartSource<'a> for Sampled<'a> {
    fn smallest(&mut self) -> Result<ModelPart<'a>, BuildError> {
        self.build(&[0], Neighbors::All(0), false)
    }

    /// Rows: the pieces in which targets are computed, then the targets.
    fn scope(&self, targets: &[u32], train: bool, reservation: &mut Reservation<'_>) -> Result<Scope, Stopped> {
        let n = self.graph.n_nodes();
        let mut pieces = Vec::new();
        match &self.parts {
            _ if train || targets.is_empty() => {}
            None => self.divide(targets, &mut pieces)?,
            Some(parts) => {
                let mut of_part = vec![Vec::new(); Part::ALL.len() + 1];
                targets.iter().for_each(|&v| of_part[parts[v as usize] as usize].push(v));
                let size = self.options.batch_nodes.unwrap_or(u32::MAX) as usize;
                pieces.extend(of_part.iter().flat_map(|nodes| nodes.chunks(size)).map(<[u32]>::to_vec));
            }
        }
        pieces.push(targets.to_vec());
        let mut rows = Vec::with_capacity(pieces.len());
        for piece in pieces {
            reservation.grow(RowSet::bytes(piece.len()))?;
            rows.push(Arc::new(RowSet::new(n, piece)));
        }
        Ok(Scope { rows, prepared: Vec::new() })
    }

    fn pieces<'s>(&self, scope: &'s Scope, pass: Pass) -> Vec<&'s [u32]> {
        match pass {
            Pass::Train { .. } | Pass::Measure => vec![scope.targets().rows()],
            Pass::Evaluate => scope.rows[..scope.rows.len() - 1].iter().map(|piece| piece.rows()).collect(),
        }
    }

    fn part(&mut self, items: &[u32], pass: Pass) -> Result<ModelPart<'a>, Stopped> {
        let seed = self.options.seed;
        let (draw, train) = match pass {
            Pass::Train { epoch } => (key(&[seed, NEIGHBORS, u64::from(epoch)]), true),
            Pass::Evaluate | Pass::Measure if self.parts.is_some() => (key(&[seed, EVALUATED]), false),
            Pass::Evaluate | Pass::Measure => {
                return self.build(items, Neighbors::All(self.hops), false).map_err(stopped);
            }
        };
        let fanout = self.fanout.clone();
        self.build(items, Neighbors::Drawn(&fanout, draw), train).map_err(stopped)
    }
}

/// The position of each node in an ascending list, for nodes that ascend from call to call.
fn places(nodes: &[u32]) -> impl FnMut(u32) -> Option<u32> {
    let mut at = 0;
    move |v| {
        at += nodes[at..].partition_point(|&node| node < v);
        (nodes.get(at) == Some(&v)).then_some(at as u32)
    }
}
