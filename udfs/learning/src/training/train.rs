//! The training loop: the same for every task; the best epoch on the validation part is selected.

use std::sync::Arc;
use std::time::Instant;

use bonnet_graph::{Digraph, Graph, Monitor, Reservation};

use crate::data::{
    ComplexSet, EdgeWeights, Features, GraphData, GraphTypes, ItemInput, Split, Standardization, features,
    with_encodings,
};
use crate::ground::random::key;
use crate::ground::{Layout, OptionError, SaveError, TrainError};
use crate::models::foundation::{self, Foundation};
use crate::models::{ModelSpec, Problem, registry};
use crate::network::{Messages, Model, Relations};
use crate::optimizer::schedule::Schedule;
use crate::options::{FeatureSource, Normalize, TrainOptions, Value};
use crate::tasks::{ComplexObjective, GraphObjective, LinkObjective, NodeObjective, NodeValuesObjective, Objective};
use crate::training::adapted::Adapted;
use crate::training::around::Around;
use crate::training::backend::{Backend, CpuBackend, Setup};
use crate::training::batched::Batched;
use crate::training::device::{Lease, Place, TensorBackend};
use crate::training::items::{Items, check};
use crate::training::outcome::{EpochRecord, Outcome};
use crate::training::progress::{Progress, Ran};
use crate::training::sampled::Sampled;
use crate::training::saved::Saved;
use crate::training::solved::solved;

/// Trains a model and gives the figures of its best epoch. The same arguments give the same outcome, seconds apart, for
/// any number of threads. Parameters start as drawn from the seed, or as `start` holds them.
///
/// An epoch is one step on all training items (a step for each batch in graph tasks, and for each
/// [`TrainOptions::batch_nodes`] training nodes where they are given), then the validation figures. The
/// selected epoch has the best figure of `options.select_by`, among equals the lowest validation loss, then the earliest; by
/// [`Last`](crate::SelectBy::Last) it is the last one, and no patience ends the run before.
/// `observe` receives the record of every epoch as it ends.
///
/// Time a step: O(layers * (edges * hidden + nodes * hidden^2) + entries of the features * hidden). Memory:
/// O(layers * nodes * hidden + edges + parameters), reserved from the monitor before it is allocated. With
/// [`TrainOptions::batch_nodes`] the nodes and edges are those of a step's sample, and nodes * outputs come on top; figures
/// are computed on whole neighbourhoods, in as many pieces as keep within the largest sample: nodes in several of them are
/// computed again. By [`EvaluateOn::Samples`](crate::EvaluateOn) they are those of samples, too.
///
/// On a GPU the program runs as its definition says, on candle's tensors: all rows, with candle's gradients. What is drawn from
/// the seed (parameters, masks, splits) is that of the CPU; sums are rounded otherwise than there. Steps on samples or on
/// batches of graphs, models with a codebook, and graphs without edges, are the CPU's in any case: [`Outcome::device`] says where a run was.
///
/// # Errors
/// See [`TrainError`]; the monitor is checked before every block of rows. No memory left on the device is
/// [`TrainError::OutOfMemory`].
pub fn train(
    place: Place,
    items: Items<'_>,
    start: Option<&Saved>,
    options: &TrainOptions,
    monitor: &dyn Monitor,
    observe: &mut dyn FnMut(&EpochRecord),
) -> Result<Outcome, TrainError> {
    let device = match items {
        Items::Nodes(data, _) | Items::NodeValues(data, ..) | Items::Links(data, _) => {
            place.device(data.graph.n_nodes() + data.graph.n_edges())?
        }
        Items::Graphs(set, _) => place.device(set.graph.n_nodes() + set.graph.n_edges())?,
        Items::Complexes(..) => None,
    };
    Training { device, items, start, options, pruned: true, monitor, observe }.run()
}

/// What a graph has beside its edges, for the messages of models that read it.
#[derive(Clone, Copy, Default)]
struct Along<'a> {
    arcs: Option<&'a Arc<Digraph>>,
    weights: Option<&'a EdgeWeights>,
    types: Option<&'a Arc<GraphTypes>>,
}

impl<'a> Along<'a> {
    /// What the nodes of a graph have; types for a model that reads them.
    fn of_nodes(data: &'a GraphData, spec: &ModelSpec) -> Self {
        Self {
            arcs: data.arcs.as_ref(),
            weights: data.weights.as_deref(),
            types: data.types.as_ref().filter(|_| spec.reads_types()),
        }
    }
}

/// The arguments of [`train`], with a device that is ready.
pub(crate) struct Training<'a> {
    pub device: Option<Lease>,
    pub items: Items<'a>,
    pub start: Option<&'a Saved>,
    pub options: &'a TrainOptions,
    /// Whether index structures are restricted to what the outputs depend on: the outcome is the same.
    pub pruned: bool,
    pub monitor: &'a dyn Monitor,
    pub observe: &'a mut dyn FnMut(&EpochRecord),
}

impl<'a> Training<'a> {
    pub fn run(self) -> Result<Outcome, TrainError> {
        let clock = Instant::now();
        let (items, options) = (self.items, self.options);
        check(items, options)?;
        let spec = registry::model(&options.model)?;
        if spec.reads_complexes() != matches!(items, Items::Complexes(..)) {
            return Err(TrainError::Input { model: spec.name, complexes: spec.reads_complexes() });
        }
        let mut reservation = Reservation::new(self.monitor, 0)?;
        match items {
            Items::Nodes(data, split) => {
                let mut objective = NodeObjective::new(data, split, options, &mut reservation)?;
                if let Some(model) = foundation::of(spec.name) {
                    return self.adapted(model, (data, split), &mut objective, reservation, clock);
                }
                self.of_nodes((data, split, spec), &mut objective, reservation, clock)
            }
            Items::NodeValues(data, targets, split) => {
                let mut objective = NodeValuesObjective::new(data, targets, split, options, &mut reservation)?;
                self.of_nodes((data, split, spec), &mut objective, reservation, clock)
            }
            Items::Links(data, split) => {
                let n = data.graph.n_nodes();
                reservation.grow(Graph::bytes(n, split.train.len()))?;
                let graph = Arc::new(Graph::from_edges(n, &split.train));
                if n * n.saturating_sub(1) / 2 == graph.n_edges() {
                    return Err(TrainError::Complete);
                }
                let source = data.input(options.features);
                let input = prepare(&graph, None, (&data.features, source), options, &mut reservation)?;
                let mut objective = LinkObjective::new(&graph, split, options, &mut reservation)?;
                // Relations, too, know no edge that is held out.
                let types = match data.types.as_ref().filter(|_| spec.reads_types()) {
                    None => None,
                    Some(types) => {
                        reservation.grow(2 * types.resident_bytes())?;
                        Some(Arc::new(types.within(&graph)))
                    }
                };
                let along = Along { weights: data.weights.as_deref(), types: types.as_ref(), arcs: None };
                self.epochs(&graph, along, input, &mut objective, reservation, clock)
            }
            Items::Graphs(set, split) => {
                let source = set.input(options.features);
                let starts = Some(&set.starts[..]);
                let input = prepare(&set.graph, starts, (&set.features, source), options, &mut reservation)?;
                let mut objective = GraphObjective::new(set, split, options, &mut reservation)?;
                let along = Along { weights: set.weights.as_deref(), ..Along::default() };
                self.epochs(&set.graph, along, input, &mut objective, reservation, clock)
            }
            Items::Complexes(set, split) => {
                let mut objective = ComplexObjective::new(set, split, options, &mut reservation)?;
                let mut model = Batched::model(set, options, self.monitor, &mut reservation)?;
                let setup = self.setup(model.layout(), &objective);
                let setup = setup.map_err(|error| self.with_dimension(error, set, &objective))?;
                // Without training every complex is read once.
                if options.epochs > 0 {
                    model.source.hold_operators()?;
                }
                let mut backend = CpuBackend::new(Box::new(model), set.len(), &objective, setup, &mut reservation)?;
                self.rounds(&mut backend, set.len(), &mut objective, reservation, clock)
            }
        }
    }

    /// A run that adapts an encoder, which was pre-trained on other graphs.
    fn adapted(
        self,
        model: &'static dyn Foundation,
        (data, split): (&GraphData, &Split),
        objective: &mut dyn Objective,
        mut reservation: Reservation<'_>,
        clock: Instant,
    ) -> Result<Outcome, TrainError> {
        let options = self.options;
        if data.rows.is_some() {
            let valid = "a model that learns of items of a graph: this one is adapted to the nodes of a graph";
            return Err(OptionError::invalid("model", &options.model, valid).into());
        }
        let saved = self.start.ok_or_else(|| foundation::without_encoder(&options.model))?;
        let setup = Setup { options, pruned: true, monitor: self.monitor, parameters: Vec::new() };
        let mut backend = Adapted::new(model, (data, split), saved, objective, setup, &mut reservation)?;
        self.rounds(&mut backend, data.graph.n_nodes(), objective, reservation, clock)
    }

    /// A run on nodes, or on items that are nodes of a graph at a time.
    fn of_nodes(
        self,
        (data, split, spec): (&GraphData, &Split, &ModelSpec),
        objective: &mut dyn Objective,
        mut reservation: Reservation<'_>,
        clock: Instant,
    ) -> Result<Outcome, TrainError> {
        let (options, monitor) = (self.options, self.monitor);
        let Some(rows) = &data.rows else {
            let source = data.input(options.features);
            let input = prepare(&data.graph, None, (&data.features, source), options, &mut reservation)?;
            let scale = self.scale(|| Standardization::fit(&input, &split.train))?;
            let input = match &scale {
                None => input,
                Some(scale) => {
                    reservation.grow(Standardization::bytes(&input))?;
                    Arc::new(scale.apply(&input)?)
                }
            };
            let along = Along::of_nodes(data, spec);
            if !spec.is_solved() {
                let outcome = self.epochs(&data.graph, along, input, objective, reservation, clock)?;
                return Ok(with_scale(outcome, scale));
            }
            let solved = match self.start {
                Some(_) => None,
                None => Some(solved(&input, &*objective, options, &mut reservation)?),
            };
            let options = TrainOptions { epochs: 0, ..options.clone() };
            let Self { pruned, monitor, observe, .. } = self;
            let start = self.start.or(solved.as_ref());
            let run = Training { device: None, items: self.items, start, options: &options, pruned, monitor, observe };
            let outcome = run.epochs(&data.graph, along, input, objective, reservation, clock)?;
            return Ok(with_scale(outcome, scale));
        };
        let scale = self.scale(|| ItemInput::fit(rows, &data.features, &split.train))?;
        let items = (data, rows, objective.n_outputs());
        let model = Around::model(items, scale.as_ref(), options, monitor, &mut reservation)?;
        objective.set_space(model.space());
        let setup = self.setup(model.layout(), objective)?;
        let mut backend = CpuBackend::new(Box::new(model), rows.len(), objective, setup, &mut reservation)?;
        let outcome = self.rounds(&mut backend, rows.len(), objective, reservation, clock)?;
        Ok(with_scale(outcome, scale))
    }

    /// The scale of the training nodes, or of the run whose parameters are loaded, if the options ask for it.
    fn scale(&self, fit: impl FnOnce() -> Standardization) -> Result<Option<Standardization>, TrainError> {
        let asked = self.options.normalize == Normalize::Standard;
        match self.start.map(Saved::standardization) {
            None => Ok(asked.then(fit)),
            Some(saved) if saved.is_some() == asked => Ok(saved),
            Some(saved) => {
                let saved = if saved.is_some() { Normalize::Standard } else { Normalize::None };
                let (saved, needed) = (saved.to_string(), self.options.normalize.to_string());
                Err(SaveError::Geometry { name: "normalize", saved, needed }.into())
            }
        }
    }

    /// The loop, on the graph whose edges carry messages.
    fn epochs(
        mut self,
        graph: &Arc<Graph>,
        Along { arcs, weights, types }: Along<'_>,
        input: Arc<Features>,
        objective: &mut dyn Objective,
        mut reservation: Reservation<'_>,
        clock: Instant,
    ) -> Result<Outcome, TrainError> {
        let (options, monitor) = (self.options, self.monitor);
        let n = graph.n_nodes();
        let known_labels: Arc<[(u32, u32)]> = objective.known_labels().into();
        reservation.grow(8 * known_labels.len())?;
        let n_outputs = objective.n_outputs();
        let messages = messages(graph, arcs, weights, options, &mut reservation)?;
        reservation.grow(if types.is_some() { size_of::<u32>() * n } else { 0 })?;
        let types = types.map(|types| Arc::new(Relations::new(types, graph)));
        let problem = |device| Problem {
            graph: messages.clone(),
            arcs: arcs.cloned(),
            features: Arc::clone(&input),
            n_outputs,
            known_labels: Arc::clone(&known_labels),
            options: options.of_model(),
            types: types.clone(),
            complexes: None,
            device,
        };
        let build = registry::model(&options.model)?.build;
        // The batches of the first epoch are those of all.
        let lease = match self.device.take().filter(|_| options.batch_nodes.is_none() && graph.n_edges() > 0) {
            Some(lease) => {
                objective.begin(1);
                (objective.batches().len() == 1).then_some(lease)
            }
            None => None,
        };
        // Statistics move in the passes of the CPU alone.
        let on_device = match lease {
            Some(lease) => {
                let program = build(&problem(true), &mut reservation)?;
                let moves = program.layout().blocks().iter().any(|block| block.statistic);
                (!moves).then_some((lease, program))
            }
            None => None,
        };
        let problem = problem(false);
        let mut backend: Box<dyn Backend + '_> = match on_device {
            Some((lease, program)) => {
                objective.set_space(program.space());
                let setup = self.setup(program.layout(), objective)?;
                Box::new(TensorBackend::new(lease, program, n, objective, setup, &mut reservation)?)
            }
            None => {
                let model: Box<dyn Model + '_> = match options.batch_nodes {
                    None => Box::new(build(&problem, &mut reservation)?),
                    Some(_) => {
                        let along = (graph, types.as_ref());
                        Box::new(Sampled::model(&problem, options, along, objective, monitor, &mut reservation)?)
                    }
                };
                objective.set_space(model.space());
                let setup = self.setup(model.layout(), objective)?;
                Box::new(CpuBackend::new(model, n, objective, setup, &mut reservation)?)
            }
        };
        self.rounds(&mut *backend, n, objective, reservation, clock)
    }

    /// The parameters that a run begins with: those of the model, then those of the task.
    fn setup(&self, layout: &Layout, objective: &dyn Objective) -> Result<Setup<'a>, TrainError> {
        let options = self.options;
        let parameters = match self.start {
            Some(saved) => {
                saved.expect_geometry(options)?;
                saved.parameters(&options.model, &[layout, objective.head()])?
            }
            None => {
                let mut parameters = layout.initialise(options.seed);
                parameters.extend(objective.head().initialise(key(&[options.seed, HEAD])));
                parameters
            }
        };
        Ok(Setup { options, pruned: self.pruned, monitor: self.monitor, parameters })
    }

    /// The error of parameters that do not fit, with the option `dimension` that makes them fit, if one does: they are those of
    /// complexes of another dimension.
    fn with_dimension(&self, error: TrainError, set: &ComplexSet, objective: &dyn Objective) -> TrainError {
        let (model, difference) = match error {
            TrainError::Saved(SaveError::Mismatch { model, difference }) => (model, difference),
            other => return other,
        };
        let fits = |dimension: &usize| {
            let mut options = self.options.clone();
            options.hyperparameters.insert("dimension".into(), Value::Integer(*dimension as i64));
            let Ok(mut reservation) = Reservation::new(self.monitor, 0) else { return false };
            let Ok(other) = Batched::model(set, &options, self.monitor, &mut reservation) else { return false };
            let layouts = [other.layout(), objective.head()];
            self.start.is_some_and(|saved| saved.parameters(&options.model, &layouts).is_ok())
        };
        let top = set.dimension();
        let remedy = (0..=top)
            .rev()
            .find(fits)
            .map(|k| format!("; the collection has dimension {top}; dimension => {k} reads its {k}-skeleta"));
        SaveError::Mismatch { model, difference: difference + &remedy.unwrap_or_default() }.into()
    }

    /// The loop over the epochs; `n` is the number of rows of the outputs.
    fn rounds(
        self,
        backend: &mut dyn Backend,
        n: usize,
        objective: &mut dyn Objective,
        mut reservation: Reservation<'_>,
        clock: Instant,
    ) -> Result<Outcome, TrainError> {
        let Self { options, monitor, observe, .. } = self;
        let schedule = Schedule { warmup: options.warmup, epochs: options.epochs, decay: options.schedule };
        let mut progress = Progress::default();
        monitor.expect(u64::from(options.epochs));
        for epoch in 1..=options.epochs {
            let fresh = objective.begin(epoch);
            let figures = backend.epoch(objective, epoch, fresh, schedule.factor(epoch))?;
            let (record, ends) = progress.record(options, epoch, figures)?;
            if record.selected {
                backend.keep()?;
            }
            observe(&record);
            monitor.advance(1);
            if ends {
                monitor.advance(u64::from(options.epochs - epoch));
                break;
            }
        }
        let train_seconds = clock.elapsed().as_secs_f64();
        let (device, parameters) = (backend.device(), backend.parameters());
        let ran = Ran { device, parameters, train_seconds, last: Instant::now(), together: 1 };
        let last = backend.finish(&mut reservation)?;
        progress.outcome((options, monitor), objective, (last, n), ran, reservation)
    }
}

/// The outcome of a run on features of this scale.
fn with_scale(mut outcome: Outcome, scale: Option<Standardization>) -> Outcome {
    outcome.weights.extend(scale.iter().flat_map(Standardization::matrices));
    outcome
}

/// Along what a model sends its messages.
pub(crate) fn messages(
    graph: &Arc<Graph>,
    arcs: Option<&Arc<Digraph>>,
    weights: Option<&EdgeWeights>,
    options: &TrainOptions,
    reservation: &mut Reservation<'_>,
) -> Result<Messages, TrainError> {
    let messages = along(graph, arcs, options, reservation)?;
    if !options.reads_weights() {
        return Ok(messages);
    }
    let invalid = |valid: &str| OptionError::invalid("weights", "true", valid);
    if options.batch_nodes.is_some() {
        return Err(invalid("false where neighbours are sampled (batch_nodes)").into());
    }
    let weights = weights.ok_or_else(|| invalid("false: the edges have no weights"))?;
    reservation.grow(size_of::<f64>() * (messages.targets().len() + messages.n_nodes()))?;
    let mut of_entries = Vec::with_capacity(messages.targets().len());
    for to in 0..messages.n_nodes() as u32 {
        for &from in messages.neighbors(to) {
            let weight = weights.of(from, to);
            of_entries.push(weight.ok_or_else(|| invalid("false: some edges have no weight"))?);
        }
    }
    Ok(messages.weighted(of_entries))
}

fn along(
    graph: &Arc<Graph>,
    arcs: Option<&Arc<Digraph>>,
    options: &TrainOptions,
    reservation: &mut Reservation<'_>,
) -> Result<Messages, TrainError> {
    // A model of one matrix of rows reads the arcs by itself, with their weights where it reads these.
    if !options.reads_arcs() || (options.model == "linkx" && !options.reads_weights()) {
        return Ok(Messages::from(graph));
    }
    let invalid = |valid: &str| OptionError::invalid("adjacency", "arcs", valid);
    if options.batch_nodes.is_some() {
        return Err(invalid("edges where neighbours are sampled (batch_nodes)").into());
    }
    let arcs = arcs.ok_or_else(|| invalid("edges: arcs are known to node_classification alone"))?;
    reservation.grow(Digraph::bytes(arcs.n_nodes(), arcs.n_arcs()))?;
    Ok(Messages::Arcs { graph: Arc::clone(graph), incoming: Arc::new(arcs.reversed()) })
}

/// The input of the first layer, from a source that is not `auto`, with its encodings; graph g of a union has the nodes
/// `starts[g]..starts[g + 1]`.
pub(super) fn prepare(
    graph: &Graph,
    starts: Option<&[u32]>,
    (given, source): (&Arc<Features>, FeatureSource),
    options: &TrainOptions,
    reservation: &mut Reservation<'_>,
) -> Result<Arc<Features>, TrainError> {
    let bytes = features::prepared_bytes(given, graph.n_nodes(), source, options.normalize);
    reservation.grow(bytes)?;
    let input = features::prepare(given, graph, source, options.normalize, options.seed)?;
    with_encodings(&input, graph, starts, &options.encodings, reservation)
}

/// Separates the initial values of a task's parameters from those of the model.
const HEAD: u64 = 9;
