//! The options of a run: how each is declared ([`OptionSpec`], in the one [`table`]), what a user gives ([`Job`]), and what
//! that resolves to ([`TrainOptions`], of which models read [`ModelOptions`]).
//!
//! A model's own options stand in its file.

pub(crate) mod choices;
mod class_weights;
mod decay;
mod encodings;
mod evaluate_on;
mod fanout_order;
mod features;
pub(crate) mod forms;
mod job;
mod model_options;
mod optimizer_kind;
pub(crate) mod option_spec;
mod sampler_kind;
mod select_by;
pub(crate) mod split_scheme;
pub(crate) mod table;
mod train_options;

pub use choices::{Decoder, Negatives, Pooling, RegressionLoss, Task};
pub use class_weights::ClassWeights;
pub use decay::Decay;
pub use encodings::Encodings;
pub use evaluate_on::EvaluateOn;
pub use fanout_order::FanoutOrder;
pub use features::{FeatureSource, Featureless, Normalize};
pub use forms::Form;
pub use job::Job;
pub use model_options::ModelOptions;
pub use optimizer_kind::OptimizerKind;
pub(crate) use option_spec::{COMMON, Defaults, OF_COMPLEXES, up_to};
pub use option_spec::{ColumnType, Domain, OptionSpec, Value};
pub use sampler_kind::SamplerKind;
pub use select_by::SelectBy;
pub use split_scheme::{Shares, SplitError, SplitScheme};
pub use train_options::TrainOptions;
