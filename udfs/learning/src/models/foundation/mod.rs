//! Models that are pre-trained on several graphs and then adapted to another one: a file each, with the parts that they share.
//!
//! They are written on candle's tensors, with the operations of [`crate::ops`]: a token of a domain, a graph that is refined in
//! every step and a loss over pairs of rows are no layers of a [`crate::program`]. A model says which parameters it has
//! ([`Foundation::encoder`], [`Foundation::prompt`]), what pre-training makes small ([`Foundation::loss`]) and what a node of another
//! graph becomes ([`Foundation::embed`]); the loops stand in `training`.

mod communities;
mod domain;
mod encoder;
pub mod gcope;
pub mod graphglue;
pub mod mdgfm;
pub mod mdgpt;
mod neighbors;
mod objectives;
mod prompts;
mod propagation;
pub mod sa2gfm;
pub mod samgpt;
mod sampled;
mod weights;

use bonnet_graph::{Monitor, Reservation};
use candle_core::{Result, Tensor};

pub use domain::Source;
pub(crate) use domain::{Domain, View};
#[cfg(test)]
pub(crate) use objectives::draws;
pub(crate) use objectives::unit_rows;
pub(crate) use propagation::Propagation;
#[cfg(test)]
pub(crate) use sampled::{Sampled, across};
pub(crate) use weights::Weights;

use super::Problem;
use crate::data::{Alignment, Reduction};
use crate::ground::random::Dropout;
use crate::ground::{BuildError, Layout, OptionError, TrainError};
use crate::options::{Defaults, ModelOptions, OptionSpec, TrainOptions};
use crate::program::Program;

/// The family of the models that are pre-trained by the function `pretrain`, and adapted by `train`.
pub(crate) const FOUNDATION: &str = "graph foundation models";

/// The width that features of every graph are brought to.
pub(crate) const DIM: OptionSpec = OptionSpec::integer(
    "dim",
    50,
    [1, 4096],
    "the width to which the features of every graph are reduced, that of the graph which an encoder is adapted to among them \
     (align_features). A job that loads an encoder has that of its pre-training",
)
.integer_column();

/// How features are reduced.
pub(crate) const ALIGNMENT: OptionSpec = OptionSpec::choice(
    "alignment",
    "svd",
    &["svd", "pca"],
    "how features are reduced to dim columns, each graph by itself: truncated singular value decomposition, or principal \
     components. A graph without features has those of its identity, carried along its edges once. A job that loads an encoder has \
     that of its pre-training",
);

/// From which nodes of an encoder's target the directions come.
pub(crate) const REDUCED_ON: OptionSpec = OptionSpec::choice(
    "reduced_on",
    "all",
    &["all", NOT_TEST],
    "the nodes from which the dim directions come that the features of a job's graph are reduced to, for jobs that load an encoder. \
     all: all nodes of the graph; not_test: those outside the test part, and the features of test nodes are carried into the same \
     directions. A job that loads what was adapted has that of its adaptation",
);

/// The choice of nodes without the test part.
const NOT_TEST: &str = "not_test";

/// The options that say what an encoder is: those of its pre-training hold for whoever loads it.
pub(crate) const SHAPE: [&str; 7] =
    ["hidden", "layers", DIM.name, ALIGNMENT.name, graphglue::GENERATORS.name, graphglue::NEAREST.name, sa2gfm::INNER];

/// What is learnt of an encoder's target, for models with prompts.
pub(crate) const ADAPT: OptionSpec = OptionSpec::choice(
    "adapt",
    Adapt::Prompt.name(),
    &[Adapt::Prompt.name(), Adapt::Head.name(), Adapt::FineTune.name()],
    "what a job learns that loads an encoder. prompt: the model's prompts, before a frozen encoder; a node has the class whose \
     prototype, the mean of its training nodes, is nearest by cosine. head: a linear layer behind the frozen encoder; fine_tune: the \
     same, and the encoder",
);

/// The same for models without prompts.
pub(crate) const ADAPT_WITHOUT_PROMPTS: OptionSpec = OptionSpec::choice(
    ADAPT.name,
    Adapt::FineTune.name(),
    &[Adapt::FineTune.name(), Adapt::Head.name()],
    "what a job learns that loads an encoder. fine_tune: the encoder, and a linear layer behind it; head: that layer alone. The model \
     has no prompts",
);

/// The sharpness of contrasts.
pub(crate) const fn temperature(default: f64) -> OptionSpec {
    OptionSpec::real(
        "temperature",
        default,
        [1e-3, f64::INFINITY],
        "what similarities are divided by in the contrast of pre-training",
    )
}

/// What is learnt of an encoder's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adapt {
    Prompt,
    Head,
    FineTune,
}

impl Adapt {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Head => "head",
            Self::FineTune => "fine_tune",
        }
    }

    /// That of a run.
    pub fn of(options: &ModelOptions<'_>) -> std::result::Result<Self, OptionError> {
        let given = options.text(ADAPT.name)?;
        let known = [Self::Prompt, Self::Head, Self::FineTune].into_iter().find(|adapt| adapt.name() == given);
        known.ok_or_else(|| OptionError::invalid(ADAPT.name, given, &ADAPT.range()))
    }
}

/// The sizes of a model, with its options, and who watches it.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    pub options: ModelOptions<'a>,
    /// The width of the features.
    pub dim: usize,
    /// The number of graphs of the pre-training.
    pub sources: usize,
    monitor: &'a dyn Monitor,
}

impl<'a> Shape<'a> {
    /// Those of a run.
    pub fn new(
        options: &'a TrainOptions,
        sources: usize,
        monitor: &'a dyn Monitor,
    ) -> std::result::Result<Self, OptionError> {
        let options = options.of_model();
        Ok(Self { options, dim: options.integer(DIM.name)? as usize, sources, monitor })
    }

    /// An error if nobody waits any more: whoever gets one of candle asks the monitor why ([`told`]).
    pub fn check(&self) -> Result<()> {
        self.monitor.check().map_err(candle_core::Error::wrap)
    }

    /// How the features are reduced.
    pub fn reduction(&self) -> std::result::Result<Reduction, OptionError> {
        let given = self.options.text(ALIGNMENT.name)?;
        Reduction::of_name(given).ok_or_else(|| OptionError::invalid(ALIGNMENT.name, given, &ALIGNMENT.range()))
    }

    /// How the features of a target are brought to the width of the encoder, with the nodes outside the test part.
    pub fn alignment<'b>(&self, not_test: &'b [u32]) -> std::result::Result<Alignment<'b>, OptionError> {
        let fitted_on = (self.options.text(REDUCED_ON.name)? == NOT_TEST).then_some(not_test);
        Ok(Alignment { dim: self.dim, method: self.reduction()?, fitted_on })
    }

    /// A real option of the model.
    pub fn real(&self, name: &str) -> Result<f64> {
        self.options.real(name).map_err(candle_core::Error::wrap)
    }

    /// A whole number among the options of the model.
    pub fn integer(&self, name: &str) -> Result<usize> {
        self.options.integer(name).map(|value| value as usize).map_err(candle_core::Error::wrap)
    }

    /// The mask of a layer's input in a pass of training, one a layer and a pass.
    pub fn mask(&self, pass: u64, layer: usize) -> Option<Dropout> {
        const MASK: u64 = 31;
        let key = crate::ground::random::key(&[self.options.seed, MASK, pass, layer as u64]);
        Dropout::new(self.options.dropout, key)
    }
}

/// A place in pre-training: what is drawn there depends on it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// From 1.
    pub epoch: u32,
    /// The step of the optimiser within the epoch.
    pub step: usize,
    /// The part of the step: gradients of its parts are added.
    pub part: usize,
}

impl Place {
    /// A key of random numbers for a purpose.
    pub fn key(self, seed: u64, purpose: u64) -> u64 {
        let numbers = [seed, purpose, u64::from(self.epoch), self.step as u64, self.part as u64];
        crate::ground::random::key(&numbers)
    }
}

/// A model that is pre-trained on several graphs.
pub(crate) trait Foundation: Sync {
    /// The defaults of pre-training; those of [`super::ModelSpec`] are of the adaptation.
    fn pretraining(&self) -> Defaults;

    /// The parameters that pre-training learns: of the encoder, of each source, and what the loss alone reads.
    fn encoder(&self, shape: &Shape<'_>) -> std::result::Result<Layout, OptionError>;

    /// The prompts of a target; none for a model without any.
    fn prompt(&self, shape: &Shape<'_>) -> Option<Layout>;

    /// The steps of an epoch, and the parts of each.
    fn steps(&self, shape: &Shape<'_>, sources: &[Domain]) -> Result<(usize, usize)>;

    /// The loss of a part of a step, a number: the gradient of a step is that of the sum over its parts. None where the part has
    /// nothing to learn from.
    fn loss(&self, shape: &Shape<'_>, weights: &Weights, sources: &[Domain], place: Place) -> Result<Option<Tensor>>;

    /// Adds to a target what its prompts read beside features and edges; the memory is reserved for good.
    fn prepare(
        &self,
        _shape: &Shape<'_>,
        _target: &mut Domain,
        _reservation: &mut Reservation<'_>,
    ) -> std::result::Result<(), TrainError> {
        Ok(())
    }

    /// What an adaptation with prompts makes small beside the loss of its task, a number: of the target, and of the training nodes'
    /// rows of [`Foundation::embed`].
    fn penalty(
        &self,
        _shape: &Shape<'_>,
        _weights: &Weights,
        _target: &View,
        _rows: &Tensor,
    ) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// The bytes that the largest part holds beside the parameters, about: what candle keeps for the gradient.
    fn bytes(&self, shape: &Shape<'_>, sources: &[Domain]) -> usize;

    /// A row for each node of a target, with its prompts where `prompted`; in training (`pass` is given) with dropout.
    fn embed(
        &self,
        shape: &Shape<'_>,
        weights: &Weights,
        target: &View,
        prompted: bool,
        pass: Option<u64>,
    ) -> Result<Tensor>;

    /// The width of a row of [`Foundation::embed`].
    fn width(&self, shape: &Shape<'_>) -> usize {
        shape.options.hidden
    }

    /// Over how many edges a row of [`Foundation::embed`] sees; none where it depends on all nodes.
    fn reach(&self, shape: &Shape<'_>) -> Option<usize>;
}

/// The model of a name, if it is pre-trained.
pub(crate) fn of(name: &str) -> Option<&'static dyn Foundation> {
    match name {
        "mdgpt" => Some(&mdgpt::Mdgpt),
        "samgpt" => Some(&samgpt::Samgpt),
        "mdgfm" => Some(&mdgfm::Mdgfm),
        "gcope" => Some(&gcope::Gcope),
        "graphglue" => Some(&graphglue::Graphglue),
        "sa2gfm" => Some(&sa2gfm::Sa2gfm),
        _ => None,
    }
}

/// What a job says that has no encoder.
pub(crate) fn without_encoder(model: &str) -> OptionError {
    OptionError::invalid(
        "load",
        "NULL",
        &format!(
            "a file that pretrain saved: {model} is an encoder that is pre-trained on other graphs (epochs => 0 saves an untrained one)"
        ),
    )
}

/// These models are no programs: whoever builds one has no encoder.
pub(crate) fn build(
    problem: &Problem<'_>,
    reservation: &mut Reservation<'_>,
) -> std::result::Result<Program, BuildError> {
    reservation.check()?;
    Err(without_encoder(problem.options.model).into())
}

/// The result of candle, in the words of the monitor where that ended the work.
pub(crate) fn told<T>(result: Result<T>, monitor: &dyn Monitor) -> std::result::Result<T, TrainError> {
    result.or_else(|error| {
        monitor.check()?;
        Err(error.into())
    })
}
