//! The specification of a model.

use bonnet_graph::Reservation;

use super::Problem;
use crate::ground::{BuildError, OptionError};
use crate::options::{Defaults, ModelOptions, OptionSpec, table};
use crate::program::Program;

/// A model: its kind, its source and its options.
#[derive(Debug, Clone, Copy)]
pub struct ModelSpec {
    /// The name in a job.
    pub name: &'static str,
    /// The model's kind.
    pub family: &'static str,
    /// The geometry of its representations.
    pub geometry: &'static str,
    /// The tasks it can learn.
    pub tasks: &'static [&'static str],
    /// The paper that defines it.
    pub source: &'static str,
    /// Defaults of the options that every model has.
    pub(crate) defaults: Defaults,
    /// Options of this model alone.
    pub(crate) own: &'static [OptionSpec],
    /// Over how many edges an output sees; none where it sees more than that, or has parameters for each node.
    pub(crate) reach: Option<Reach>,
    /// Makes the model for a problem.
    pub(crate) build: Build,
}

/// The family of the models on simplicial complexes.
pub(crate) const COMPLEXES: &str = "simplicial complexes";

/// The family of the models whose tokens are polynomials of the adjacency, made once before training.
pub(crate) const TOKENS: &str = "polynomial tokens";

/// The family of the models that read types of nodes and relations of edges.
pub(crate) const TYPED: &str = "typed graphs";

/// The family of the models that read no edges.
pub(crate) const FEATURES_ALONE: &str = "feature-only";

/// The model whose parameters are solved for.
pub(crate) const SOLVED: &str = "ridge";

/// The options of graphs that a model on complexes has no use for.
const OF_GRAPHS: [&str; 14] = [
    "encodings",
    "embedding",
    "decoder",
    "pooling",
    "head_dropout",
    "batch_nodes",
    "fanout",
    "fanout_order",
    "sampler",
    "evaluate_on",
    "epoch_steps",
    "label_rate",
    "negatives",
    "relative_time",
];

/// The options that a pre-trained model has no use for: it reads aligned features, and adapts to a whole graph.
const NOT_OF_ENCODERS: [&str; 16] = [
    "encodings",
    "embedding",
    "decoder",
    "pooling",
    "head_dropout",
    "batch",
    "batch_nodes",
    "fanout",
    "fanout_order",
    "sampler",
    "evaluate_on",
    "epoch_steps",
    "accumulate",
    "label_rate",
    "negatives",
    "relative_time",
];

impl ModelSpec {
    /// Whether the model is pre-trained, by the function `pretrain`, and adapted to the graph of a job.
    pub fn is_pretrained(&self) -> bool {
        self.family == super::foundation::FOUNDATION
    }

    /// The options of a pre-training whose defaults are not those of the adaptation, if the model is pre-trained.
    pub fn pretraining(&self) -> Option<[OptionSpec; 7]> {
        super::foundation::of(self.name).map(|model| table::training(&model.pretraining()))
    }

    /// Whether the model reads simplicial complexes; graphs otherwise.
    pub fn reads_complexes(&self) -> bool {
        self.family == COMPLEXES
    }

    /// Whether the model reads tokens in place of features: [`crate::models::tokens`].
    pub(crate) fn reads_tokens(&self) -> bool {
        self.family == TOKENS
    }

    /// Whether the model reads types of nodes and relations of edges.
    pub fn reads_types(&self) -> bool {
        self.family == TYPED
    }

    /// Whether the parameters are solved for at once, without steps: [`crate::models::baselines::ridge`].
    pub(crate) fn is_solved(&self) -> bool {
        self.name == SOLVED
    }

    /// Whether the model reads edges, of a graph or of complexes; features alone otherwise.
    pub fn reads_edges(&self) -> bool {
        self.family != FEATURES_ALONE
    }

    /// Whether the model can be trained on neighbourhoods of its nodes.
    pub fn is_sampled(&self) -> bool {
        self.reach.is_some()
    }

    /// Whether the model can learn of items that are nodes of a graph at a time, whose neighbourhoods are all that they see.
    pub fn takes_items_of_graphs(&self) -> bool {
        self.is_sampled() && !self.reads_tokens() && !self.reads_complexes() && !self.is_solved()
    }

    /// The options that `bonnet.models` lists: those that every model has, with this model's defaults, then its own. An own one
    /// takes the place of a shared one of its name.
    pub fn hyperparameters(&self) -> impl Iterator<Item = OptionSpec> + use<> {
        let own = self.own;
        let unread: &[&str] = match () {
            () if self.reads_complexes() => &OF_GRAPHS,
            () if self.is_pretrained() => &NOT_OF_ENCODERS,
            () => &[],
        };
        let is_own =
            move |shared: &OptionSpec| own.iter().any(|own| own.name == shared.name) || unread.contains(&shared.name);
        let shared = table::SHARED_OPTIONS.into_iter().filter(move |shared| !is_own(shared));
        table::training(&self.defaults).into_iter().chain(shared).chain(own.iter().copied())
    }
}

/// Makes a model; the reservation grows by every buffer before it is allocated.
pub(crate) type Build = fn(&Problem<'_>, &mut Reservation<'_>) -> Result<Program, BuildError>;

/// The number of edges over which an output of a model sees, from its options.
pub(crate) type Reach = fn(&ModelOptions<'_>) -> Result<usize, OptionError>;

/// The reaches that several models have.
pub(crate) mod reach {
    use super::Reach;

    /// A node sees itself alone.
    pub(crate) const LOCAL: Option<Reach> = Some(|_| Ok(0));
    /// An edge a layer.
    pub(crate) const A_LAYER: Option<Reach> = Some(|options| Ok(options.layers));
    /// The hyperparameter `hops`.
    pub(crate) const HOPS: Option<Reach> = Some(|options| Ok(options.integer("hops")? as usize));
    /// The hyperparameter `hops`, in each layer.
    pub(crate) const HOPS_A_LAYER: Option<Reach> =
        Some(|options| Ok(options.layers * options.integer("hops")? as usize));
}
