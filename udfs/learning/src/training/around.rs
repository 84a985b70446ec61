//! A model on the neighbourhoods of items, each as it was at the item's time.

use std::sync::Arc;

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::data::{Features, GraphData, ItemInput, ItemRows, Standardization, TimedItem};
use crate::ground::random::key;
use crate::ground::{BuildError, OptionError, TrainError};
use crate::kernels::RowSet;
use crate::models::{ModelSpec, Problem, registry};
use crate::network::{KindColumns, Messages, Model, Pass, Relations, Scope, TemporalSampler};
use crate::options::{FeatureSource, Featureless, Normalize, TrainOptions};
use crate::training::item_sample::{Draw, ItemSample};
use crate::training::parts::{ModelPart, PartModel, PartSource, stopped};

/// Separates the draw of neighbours from other uses of the seed.
const NEIGHBORS: u64 = 18;

/// Rows of a part of a pass without training, where it has several items.
const PIECE_ROWS: usize = 1 << 16;

/// A step builds the model anew on the neighbourhoods of its items, as far as the model's outputs reach. Without training all
/// neighbours that are there at the item's time are in it, and outputs depend on no draw.
pub(super) struct Around<'a> {
    spec: &'static ModelSpec,
    rows: Arc<ItemRows>,
    input: ItemInput,
    sampler: TemporalSampler,
    /// The names of the relations and the types of the nodes.
    relations: Relations,
    n_outputs: usize,
    options: &'a TrainOptions,
    monitor: &'a dyn Monitor,
}

/// Refuses what has no meaning for items of a graph: what would read rows that come later, or more than neighbourhoods.
pub(super) fn check(spec: &ModelSpec, options: &TrainOptions) -> Result<(), OptionError> {
    let invalid =
        |option: &str, given: &dyn std::fmt::Display, valid: &str| Err(OptionError::invalid(option, given, valid));
    if !spec.takes_items_of_graphs() {
        let of_graphs = registry::models().iter().filter(|spec| spec.takes_items_of_graphs());
        let names: Vec<&str> = of_graphs.map(|spec| spec.name).collect();
        let valid = format!("{} for items of a graph, whose neighbourhoods are all that they see", names.join(", "));
        return invalid("model", &spec.name, &valid);
    }
    if options.batch_nodes.is_none() {
        return invalid("batch_nodes", &"NULL", "a number for items of a graph");
    }
    if !matches!(options.features, FeatureSource::Auto | FeatureSource::Given) {
        return invalid("features", &options.features, "auto, given for items of a graph");
    }
    if options.normalize == Normalize::Row {
        return invalid("normalize", &options.normalize, "none, standard for items of a graph");
    }
    if options.featureless != Featureless::default() {
        let valid = "NULL for items of a graph: means of neighbours would know rows that are later than an item";
        return invalid("featureless", &options.featureless, valid);
    }
    if !options.encodings.is_empty() {
        let valid = "NULL for items of a graph: encodings of all edges would know rows that are later than an item";
        return invalid("encodings", &options.encodings, valid);
    }
    if options.reads_arcs() {
        return invalid("adjacency", &"arcs", "edges for items of a graph");
    }
    if options.reads_weights() {
        return invalid("weights", &"true", "false for items of a graph");
    }
    Ok(())
}

impl<'a> Around<'a> {
    /// The model of the options for items, of which each is a node of the rows at a time, with the scale of its input.
    pub fn model(
        (data, rows, n_outputs): (&GraphData, &Arc<ItemRows>, usize),
        scale: Option<&Standardization>,
        options: &'a TrainOptions,
        monitor: &'a dyn Monitor,
        reservation: &mut Reservation<'_>,
    ) -> Result<PartModel<'a, Self>, TrainError> {
        let spec = registry::model(&options.model)?;
        check(spec, options)?;
        reservation.grow(ItemInput::bytes(rows, &data.features, scale.is_some()))?;
        let input = ItemInput::new(rows, &data.features, options.relative_time, scale)?;
        let graph = &rows.graph;
        reservation.grow(TemporalSampler::bytes(&graph.types) + 4 * graph.n_nodes())?;
        let (types, arc_times) = match spec.reads_types() {
            true => (Arc::clone(&graph.types), graph.arc_times.to_vec()),
            false => {
                reservation.grow(40 * graph.graph.n_edges() + 24 * graph.n_nodes())?;
                let (types, times) = graph.untyped()?;
                (Arc::new(types), times)
            }
        };
        let mut relations = Relations::new(&types, &graph.graph);
        if spec.reads_types() {
            let (of, most) = input.columns_of_kinds();
            relations = relations.with_columns(KindColumns { of, most });
        }
        let sampler = TemporalSampler::new(types, &graph.times, &arc_times, options.fanout_order);
        let rows = Arc::clone(rows);
        let around = Self { spec, rows, input, sampler, relations, n_outputs, options, monitor };
        let n_items = around.rows.len();
        Ok(PartModel::new(around, n_items, n_outputs, options.keep_embeddings, reservation)?)
    }

    fn timed(&self, items: &[u32]) -> Vec<TimedItem> {
        items.iter().map(|&item| self.rows.items[item as usize]).collect()
    }

    /// The model around some items.
    fn build(&self, items: &[u32], fanout: &[u32], draw: u64, train: bool) -> Result<ModelPart<'a>, BuildError> {
        let mut reservation = Reservation::new(self.monitor, 0)?;
        let all_degrees = !self.spec.reads_types();
        let draw = Draw { sampler: &self.sampler, input: &self.input, fanout, key: draw, all_degrees };
        let n_relations = self.relations.list().len();
        let sample = ItemSample::draw(draw, &self.timed(items), items, n_relations, &mut reservation)?;
        let ItemSample { nodes, roots, samples, union, features } = sample;
        let types = match self.spec.reads_types() {
            true => {
                let messages = samples.into_iter().map(|edges| Messages::Listed(Arc::new(edges)));
                Some(Arc::new(self.relations.sampled(&nodes, messages, &mut reservation)?))
            }
            false => None,
        };
        let problem = Problem {
            features: Arc::new(Features::Sparse(features)),
            graph: Messages::Sampled(Arc::new(union)),
            arcs: None,
            n_outputs: self.n_outputs,
            // Labels of other items are of other neighbourhoods.
            known_labels: Arc::new([]),
            options: self.options.of_model(),
            types,
            complexes: None,
            device: false,
        };
        let model = (self.spec.build)(&problem, &mut reservation)?;
        let scope = model.scope(&roots, train, true, &mut reservation)?;
        let targets = items.iter().copied().zip(roots).collect();
        Ok(ModelPart { model, scope, targets, reservation })
    }

    /// The items in pieces of some rows.
    fn divide(&self, items: &[u32], reservation: &Reservation<'_>) -> Result<Vec<Vec<u32>>, Stopped> {
        let all = self.unlimited();
        let sizes = self.sampler.each(&self.timed(items), &all, 0, reservation, |_, found| found.nodes.len())?;
        let (mut pieces, mut rows): (Vec<Vec<u32>>, usize) = (Vec::new(), PIECE_ROWS);
        for (&item, size) in items.iter().zip(sizes) {
            match pieces.last_mut() {
                Some(piece) if rows + size <= PIECE_ROWS => piece.push(item),
                _ => {
                    pieces.push(vec![item]);
                    rows = 0;
                }
            }
            rows += size;
        }
        Ok(pieces)
    }

    fn unlimited(&self) -> Vec<u32> {
        vec![u32::MAX; self.options.fanout.len()]
    }

    /// The model around the items of a part of a pass.
    fn of_pass(&self, items: &[u32], pass: Pass) -> Result<ModelPart<'a>, Stopped> {
        match pass {
            Pass::Train { epoch } => {
                let draw = key(&[self.options.seed, NEIGHBORS, u64::from(epoch)]);
                self.build(items, &self.options.fanout, draw, true).map_err(stopped)
            }
            Pass::Evaluate | Pass::Measure => self.build(items, &self.unlimited(), 0, false).map_err(stopped),
        }
    }
}

impl<'a> PartSource<'a> for Around<'a> {
    fn smallest(&mut self) -> Result<ModelPart<'a>, BuildError> {
        self.build(&[0], &[], 0, false)
    }

    /// Rows: the pieces in which items are computed, then the items.
    fn scope(&self, targets: &[u32], train: bool, reservation: &mut Reservation<'_>) -> Result<Scope, Stopped> {
        let mut pieces = match train || targets.is_empty() {
            true => Vec::new(),
            false => self.divide(targets, reservation)?,
        };
        pieces.push(targets.to_vec());
        let mut rows = Vec::with_capacity(pieces.len());
        for piece in pieces {
            reservation.grow(RowSet::bytes(piece.len()))?;
            rows.push(Arc::new(RowSet::new(self.rows.len(), piece)));
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
        self.of_pass(items, pass)
    }

    fn ahead(&self, items: &[u32], pass: Pass) -> Option<Result<ModelPart<'a>, Stopped>> {
        Some(self.of_pass(items, pass))
    }
}
