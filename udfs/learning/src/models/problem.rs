//! The problem that a model is built for: messages, features, outputs and options.

use std::sync::Arc;

use bonnet_graph::{Digraph, Reservation};

use crate::complexes::ComplexBatch;
use crate::data::{Features, SparseRows};
use crate::ground::{Axis, BuildError, OptionError};
use crate::network::{Messages, Operator, Relations, adjacency, adjacency_bytes};
use crate::options::ModelOptions;
use crate::program::Inputs;

/// The problem that a model is built for.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    /// The edges that carry messages.
    pub graph: Messages,
    /// The directed edges of the whole graph, where they are known.
    pub arcs: Option<Arc<Digraph>>,
    /// The input of the first layer; never [`Features::None`].
    pub features: Arc<Features>,
    /// The number of outputs of a node.
    pub n_outputs: usize,
    /// The nodes whose classes a model may read beside the features, with their classes: those of the training part, where
    /// the task has classes.
    pub known_labels: Arc<[(u32, u32)]>,
    /// The options of the run.
    pub options: ModelOptions<'a>,
    /// The types of the nodes and the relations of the edges, where the graph has some.
    pub types: Option<Arc<Relations>>,
    /// The complexes of a pass, for models on simplicial complexes.
    pub complexes: Option<&'a ComplexBatch>,
    /// Whether the passes are a device's: then a model is a [`crate::program::Program`], without buffers on the host.
    pub device: bool,
}

impl From<&Problem<'_>> for Inputs {
    fn from(problem: &Problem<'_>) -> Self {
        Self {
            n_nodes: problem.graph.n_nodes(),
            features: Arc::clone(&problem.features),
            n_outputs: problem.n_outputs,
            known_labels: Arc::clone(&problem.known_labels),
            label_rate: problem.options.label_rate,
            seed: problem.options.seed,
            device: problem.device,
        }
    }
}

impl<'a> Problem<'a> {
    /// The relations that a model of typed graphs is built for; without types all edges are one.
    pub fn relations(&self) -> Arc<Relations> {
        self.types.clone().unwrap_or_else(|| Arc::new(Relations::plain(&self.graph)))
    }

    /// The complexes that a model on complexes is built for.
    ///
    /// # Errors
    /// If there is a graph alone.
    pub(crate) fn complexes(&self) -> Result<&'a ComplexBatch, OptionError> {
        let why = "a model on graphs; this one reads complexes";
        self.complexes.ok_or_else(|| OptionError::invalid("model", self.options.model, why))
    }

    /// The adjacency with loops, normalised as the hyperparameter `affinity` says. O(n + m).
    ///
    /// # Errors
    /// The errors of [`Operator::symmetric`].
    pub fn affinity(&self, reservation: &mut Reservation<'_>) -> Result<Operator, BuildError> {
        match self.options.text("affinity")? {
            "random_walk" => Operator::mean_with_loops(&self.graph, reservation),
            _ => Operator::symmetric(&self.graph, reservation),
        }
    }

    /// The rows of the adjacency matrix as features: of each node the neighbours, or the heads of its arcs where the
    /// hyperparameter `adjacency` says so, with the weights of these. O(n + m).
    ///
    /// # Errors
    /// If the host refuses the memory, or arcs are not known.
    pub fn adjacency_rows(&self, reservation: &mut Reservation<'_>) -> Result<Features, BuildError> {
        let (graph, n) = (&self.graph, self.graph.n_nodes());
        if !self.options.reads_arcs() {
            reservation.grow(adjacency_bytes(graph.whole()?))?;
            return Ok(adjacency(graph));
        }
        let arcs = self.arcs.as_ref().ok_or_else(|| {
            OptionError::invalid("adjacency", "arcs", "edges: arcs are known to node_classification alone")
        })?;
        reservation.grow((n + 1) * size_of::<usize>() + 8 * arcs.n_arcs())?;
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        offsets.extend((0..n as u32).scan(0, |end, v| {
            *end += arcs.successors(v).len();
            Some(*end)
        }));
        // Messages along arcs are the rows of their heads.
        let values = arcs.arcs().map(|(from, to)| graph.weight(to, from) as f32).collect();
        let rows = SparseRows::new(n, offsets, arcs.arcs().map(|(_, to)| to).collect(), values);
        // A graph's rows are well formed.
        Ok(Features::Sparse(rows.map_err(|error| OptionError::invalid("adjacency", "arcs", &error.to_string()))?))
    }

    /// The entries of attention, [`Operator::attention`], for a model whose attention is an option.
    ///
    /// # Errors
    /// If the options ask for weights of edges: attention scores take their place.
    pub fn attention(&self, reservation: &mut Reservation<'_>) -> Result<Operator, BuildError> {
        if self.options.reads_weights() {
            let valid = "false with attention => true, whose scores are the weights";
            return Err(OptionError::invalid("weights", "true", valid).into());
        }
        Ok(Operator::attention(&self.graph, reservation)?)
    }

    /// The stored widths of a stack of layers with one hidden width: input, hidden ones, output.
    pub(crate) fn widths(&self) -> Vec<Axis> {
        let options = self.options;
        let mut widths = vec![Axis::exact(self.features.n_columns())];
        widths.extend(std::iter::repeat_n(Axis::padded(1, options.hidden), options.layers - 1));
        widths.push(Axis::padded(1, self.n_outputs));
        widths
    }

    /// Refuses another number of layers than the one that the model has.
    pub(crate) fn expect_layers(&self, layers: usize) -> Result<(), OptionError> {
        let (name, given) = (self.options.model, self.options.layers);
        let valid = || format!("{layers}: {name} has as many linear layers, no more and no less");
        if given == layers { Ok(()) } else { Err(OptionError::invalid("layers", given, &valid())) }
    }
}
