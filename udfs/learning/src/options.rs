//! The options of a run: as a job gives them, and resolved with the model's defaults.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::features::{FeatureSource, Normalize, text_serde};
use crate::optimizer::OptimizerKind;
use crate::registry::{self, ADJACENCY, Kind, ModelSpec};
use crate::schedule::Decay;

/// The value of a hyperparameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// No value: of a hyperparameter that may have none.
    Null,
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A name.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// One run as it is asked for: what is `None` takes the model's default. Field names are the columns of `train`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Job {
    /// A name of [`crate::models()`].
    pub model: String,
    /// A name of [`TASKS`]; `node_classification` if not given.
    pub task: Option<String>,
    /// Draws initial weights, dropout masks and random features; 0 if not given.
    pub seed: Option<u64>,
    /// The number of passes over the training items, at least 1; 0 too where [`Job::load`] gives the parameters.
    pub epochs: Option<i64>,
    /// Stops after so many epochs without improvement of what [`Job::select_by`] names.
    pub patience: Option<i64>,
    /// `val_accuracy`, `val_macro_f1`, `val_f1`, `val_auc`, `val_ap`, `val_mae`, `val_mse` or `val_loss`.
    pub select_by: Option<String>,
    /// The learning rate.
    pub lr: Option<f64>,
    /// The weight decay: L2 in the gradient for `adam` and `sgd`, decoupled for `adamw`.
    pub weight_decay: Option<f64>,
    /// `adam`, `adamw` or `sgd`.
    pub optimizer: Option<String>,
    /// The width of the hidden layers (of one head, where there are heads).
    pub hidden: Option<i64>,
    /// The number of layers, the last one included.
    pub layers: Option<i64>,
    /// The probability that an input of a layer is dropped in training.
    pub dropout: Option<f64>,
    /// `given`, `identity`, `degree` or `random:k`.
    pub features: Option<String>,
    /// `none` or `row`.
    pub normalize: Option<String>,
    /// The file of saved parameters that the run starts from.
    pub load: Option<String>,
    /// The other hyperparameters by name: those that all models share, and the model's own.
    pub hyperparameters: BTreeMap<String, Value>,
}

/// What a run computes: every option has its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainOptions {
    /// A name of [`crate::models()`].
    pub model: String,
    /// What is learnt.
    pub task: Task,
    /// Draws initial weights, dropout masks and random features.
    pub seed: u64,
    /// The largest number of epochs.
    pub epochs: u32,
    /// Stops after so many epochs without improvement.
    pub patience: Option<u32>,
    /// What selects the epoch.
    pub select_by: SelectBy,
    /// The learning rate.
    pub lr: f64,
    /// The weight decay.
    pub weight_decay: f64,
    /// The optimiser.
    pub optimizer: OptimizerKind,
    /// The width of the hidden layers (of one head, where there are heads).
    pub hidden: usize,
    /// The number of layers, the last one included.
    pub layers: usize,
    /// The probability that an input of a layer is dropped in training.
    pub dropout: f64,
    /// What the first layer reads.
    pub features: FeatureSource,
    /// Whether its rows are normalised.
    pub normalize: Normalize,
    /// The learning rate over the epochs.
    pub schedule: Decay,
    /// The epochs in which the learning rate grows to its value.
    pub warmup: u32,
    /// The largest norm of the gradient.
    pub clip: Option<f64>,
    /// The weights of the classes in the training loss.
    pub class_weights: ClassWeights,
    /// The width of a node's output where the task reads embeddings.
    pub embedding: usize,
    /// What scores a pair of nodes.
    pub decoder: Decoder,
    /// What makes a graph's vector of its nodes'.
    pub pooling: Pooling,
    /// The graphs of a step; all if none.
    pub batch: Option<u32>,
    /// The training nodes of a step, which then runs on a sample of their neighbours; all, on the whole graph, if none.
    #[serde(default)]
    pub batch_nodes: Option<u32>,
    /// With `batch_nodes`, the largest number of sampled neighbours of a node, for each number of edges from the step's
    /// nodes; [`u32::MAX`] for all. Empty without.
    #[serde(default)]
    pub fanout: Vec<u32>,
    /// The model's own hyperparameters, every one of them.
    pub hyperparameters: BTreeMap<String, Value>,
    /// Whether each epoch's record carries test figures too (for curves; they never influence the run).
    pub test_each_epoch: bool,
    /// Whether each epoch's record carries every figure of the task, not only those that select.
    pub every_figure: bool,
    /// Whether the outcome carries the last hidden representation of every node.
    pub keep_embeddings: bool,
}

/// An enum with a name for each variant: `FromStr` lists them in its error, serde goes through them.
macro_rules! named {
    ($type:ty, $option:literal, $names:expr) => {
        impl $type {
            /// The name in a job.
            pub fn name(self) -> &'static str {
                $names.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| *name)
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
        impl FromStr for $type {
            type Err = OptionError;
            fn from_str(text: &str) -> Result<Self, OptionError> {
                let found = $names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
                let valid = || $names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                found.ok_or_else(|| OptionError::invalid($option, text, &valid()))
            }
        }
        text_serde!($type);
    };
}

/// What is learnt. A model says in [`ModelSpec::tasks`] which it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Task {
    /// A class for each node.
    #[default]
    NodeClassification,
    /// Whether two nodes are joined by an edge.
    LinkPrediction,
    /// A class for each graph of a collection.
    GraphClassification,
    /// A number for each graph of a collection.
    GraphRegression,
}

/// The names of the tasks that this crate trains.
pub const TASKS: &[&str] = &["node_classification", "link_prediction", "graph_classification", "graph_regression"];

const TASK_NAMES: [(&str, Task); 4] = [
    (TASKS[0], Task::NodeClassification),
    (TASKS[1], Task::LinkPrediction),
    (TASKS[2], Task::GraphClassification),
    (TASKS[3], Task::GraphRegression),
];
named!(Task, "task", TASK_NAMES);

impl Task {
    /// Whether the items are the graphs of a collection.
    pub fn is_of_graphs(self) -> bool {
        matches!(self, Self::GraphClassification | Self::GraphRegression)
    }

    /// Whether the targets are classes.
    pub fn has_classes(self) -> bool {
        matches!(self, Self::NodeClassification | Self::GraphClassification)
    }

    /// What selects the epoch: the default, then the others.
    pub fn selections(self) -> &'static [SelectBy] {
        use SelectBy::{Accuracy, Ap, Auc, F1, Loss, MacroF1, Mae, Mse};
        match self {
            Self::NodeClassification | Self::GraphClassification => &[Accuracy, MacroF1, F1, Auc, Ap, Loss],
            Self::LinkPrediction => &[Auc, Ap, Loss],
            Self::GraphRegression => &[Mae, Mse, Loss],
        }
    }
}

/// What selects the epoch, measured on the validation items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SelectBy {
    /// The largest accuracy.
    #[default]
    Accuracy,
    /// The largest macro-F1.
    MacroF1,
    /// The largest F1 of the positive class; two classes only.
    F1,
    /// The largest area under the ROC curve.
    Auc,
    /// The largest average precision; two classes only.
    Ap,
    /// The smallest mean absolute error.
    Mae,
    /// The smallest mean squared error.
    Mse,
    /// The smallest loss.
    Loss,
}

const SELECTIONS: [(&str, SelectBy); 8] = [
    ("val_accuracy", SelectBy::Accuracy),
    ("val_macro_f1", SelectBy::MacroF1),
    ("val_f1", SelectBy::F1),
    ("val_auc", SelectBy::Auc),
    ("val_ap", SelectBy::Ap),
    ("val_mae", SelectBy::Mae),
    ("val_mse", SelectBy::Mse),
    ("val_loss", SelectBy::Loss),
];
named!(SelectBy, "select_by", SELECTIONS);

/// The weights of the classes in the training loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ClassWeights {
    /// All 1.
    #[default]
    None,
    /// Training items / (classes among them * training items of the class): `class_weight='balanced'` of scikit-learn.
    Balanced,
}
named!(ClassWeights, "class_weights", [("none", ClassWeights::None), ("balanced", ClassWeights::Balanced)]);

/// The logit of an edge between two nodes with the outputs `a` and `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Decoder {
    /// `<a, b>` (Kipf and Welling 2016, Variational graph auto-encoders, Eq. 2).
    #[default]
    InnerProduct,
    /// `(r - |a - b|^2) / t` with r = 2, t = 1: the Fermi-Dirac decoder (Krioukov et al. 2010; Chami et al. 2019, Sec. 4).
    Distance,
}
named!(Decoder, "decoder", [("inner_product", Decoder::InnerProduct), ("distance", Decoder::Distance)]);

/// How the outputs of a graph's nodes become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Pooling {
    /// Their mean.
    #[default]
    Mean,
    /// Their sum.
    Sum,
}
named!(Pooling, "pooling", [("mean", Pooling::Mean), ("sum", Pooling::Sum)]);

named!(Decay, "schedule", [("constant", Decay::Constant), ("cosine", Decay::Cosine)]);

/// An option that is not obeyed; the text lists what is valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// A value that the option does not take.
    #[error("{option} is `{value}`; valid: {valid}")]
    Invalid {
        /// The option.
        option: String,
        /// The value given.
        value: String,
        /// The values it takes.
        valid: String,
    },
    /// An option that the task does not read.
    #[error("{option} is `{value}`, which the task {task} does not read: leave it out")]
    Unread {
        /// The option.
        option: &'static str,
        /// The value given.
        value: String,
        /// The task.
        task: &'static str,
    },
    /// A hyperparameter that the model does not have.
    #[error("the model {model} has no hyperparameter `{name}`; it has: {valid}")]
    Unknown {
        /// The model.
        model: String,
        /// The name given.
        name: String,
        /// The model's hyperparameters.
        valid: String,
    },
}

impl OptionError {
    pub(crate) fn invalid(option: &str, value: impl fmt::Display, valid: &str) -> Self {
        Self::Invalid { option: option.into(), value: value.to_string(), valid: valid.into() }
    }
}

impl Job {
    /// A job of a model, every option at its default.
    pub fn new(model: &str) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    /// Checks every option and fills in the model's defaults.
    ///
    /// # Errors
    /// If the model, the task, a hyperparameter or a value is not known; the text lists the valid ones.
    pub fn resolve(&self) -> Result<TrainOptions, OptionError> {
        let spec = registry::model(&self.model)?;
        let task = self.task.as_deref().unwrap_or(Task::NodeClassification.name());
        if !spec.tasks.contains(&task) {
            return Err(OptionError::invalid("task", task, &spec.tasks.join(", ")));
        }
        let task: Task = task.parse()?;
        let mut given = self.hyperparameters.clone();
        let columns = [
            ("epochs", self.epochs.map(Value::Integer)),
            ("lr", self.lr.map(Value::Real)),
            ("weight_decay", self.weight_decay.map(Value::Real)),
            ("optimizer", self.optimizer.clone().map(Value::Text)),
            ("hidden", self.hidden.map(Value::Integer)),
            ("layers", self.layers.map(Value::Integer)),
            ("dropout", self.dropout.map(Value::Real)),
        ];
        given.extend(columns.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))));
        // Parameters that are loaded may be used as they are.
        let no_epochs = self.load.is_some() && given.get("epochs") == Some(&Value::Integer(0));
        if no_epochs {
            given.remove("epochs");
        }
        let mut values = resolve_hyperparameters(spec, given)?;
        refuse_unread(spec, task, &values)?;

        let mut integer = |name: &str| match values.remove(name) {
            Some(Value::Integer(value)) => value,
            _ => unreachable!("{name} is a common integer hyperparameter of every model"),
        };
        let epochs = integer("epochs");
        let (hidden, layers, warmup) = (integer("hidden"), integer("layers"), integer("warmup"));
        let mut real = |name: &str| match values.remove(name) {
            Some(Value::Real(value)) => value,
            _ => unreachable!("{name} is a common real hyperparameter of every model"),
        };
        let (lr, weight_decay, dropout) = (real("lr"), real("weight_decay"), real("dropout"));
        let mut name = |name: &str| match values.remove(name) {
            Some(Value::Text(value)) => value,
            _ => unreachable!("{name} is a common text hyperparameter of every model"),
        };
        let (optimizer, schedule) = (name("optimizer").parse()?, name("schedule").parse()?);
        let (class_weights, decoder) = (name("class_weights").parse()?, name("decoder").parse()?);
        let pooling = name("pooling").parse()?;
        let clip = match values.remove("clip") {
            Some(Value::Real(value)) => Some(value),
            _ => None,
        };
        let mut optional = |name: &str| match values.remove(name) {
            Some(Value::Integer(value)) => Some(value),
            _ => None,
        };
        let (embedding, batch, batch_nodes) = (optional("embedding"), optional("batch"), optional("batch_nodes"));
        let fanout = values.remove("fanout").unwrap_or(Value::Null);
        let select_by = match &self.select_by {
            None => task.selections()[0],
            Some(text) => {
                let valid = || task.selections().iter().map(|s| s.name()).collect::<Vec<_>>().join(", ");
                let selection = text.parse().ok().filter(|selection| task.selections().contains(selection));
                selection.ok_or_else(|| OptionError::invalid("select_by", text, &valid()))?
            }
        };
        let patience = match self.patience {
            Some(p) if p < 1 || p > i64::from(u32::MAX) => {
                return Err(OptionError::invalid("patience", p, "an integer from 1, or NULL for none"));
            }
            p => p.map(|p| p as u32),
        };
        fn parse<T: FromStr<Err = OptionError> + Default>(text: &Option<String>) -> Result<T, OptionError> {
            text.as_deref().map_or(Ok(T::default()), str::parse)
        }
        let mut options = TrainOptions {
            model: spec.name.into(),
            task,
            seed: self.seed.unwrap_or(0),
            epochs: if no_epochs { 0 } else { epochs as u32 },
            patience,
            select_by,
            lr,
            weight_decay,
            optimizer,
            hidden: hidden as usize,
            layers: layers as usize,
            dropout,
            features: parse(&self.features)?,
            normalize: parse(&self.normalize)?,
            schedule,
            warmup: warmup as u32,
            clip,
            class_weights,
            embedding: embedding.unwrap_or(hidden) as usize,
            decoder,
            pooling,
            batch: batch.map(|batch| batch as u32),
            batch_nodes: batch_nodes.map(|nodes| nodes as u32),
            fanout: Vec::new(),
            hyperparameters: values,
            test_each_epoch: false,
            every_figure: false,
            keep_embeddings: false,
        };
        options.fanout = resolve_fanout(spec, &options, &fanout)?;
        Ok(options)
    }
}

/// Every hyperparameter of the model with its given value or its default.
fn resolve_hyperparameters(
    spec: &ModelSpec,
    mut given: BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, OptionError> {
    let mut values = BTreeMap::new();
    for hyperparameter in spec.hyperparameters() {
        let name = hyperparameter.name;
        let value = given.remove(name).unwrap_or_else(|| hyperparameter.default_value());
        let error = || OptionError::invalid(name, &value, &hyperparameter.range());
        let value = match (hyperparameter.kind, &value) {
            (Kind::Integer { min, max, .. }, Value::Integer(x)) if (min..=max).contains(x) => Value::Integer(*x),
            // A whole number that arrives as a real one, as SQL's `64.0` does.
            (Kind::Integer { min, max, .. }, Value::Real(x))
                if x.fract() == 0.0 && (min as f64..=max as f64).contains(x) =>
            {
                Value::Integer(*x as i64)
            }
            (Kind::Real { min, max, .. }, Value::Real(x)) if min <= *x && *x < max => Value::Real(*x),
            (Kind::Real { min, max, .. }, Value::Integer(x)) if min <= *x as f64 && (*x as f64) < max => {
                Value::Real(*x as f64)
            }
            (Kind::OptionalInteger { .. } | Kind::OptionalPositive, Value::Null) => Value::Null,
            (Kind::OptionalInteger { min, max }, Value::Integer(x)) if (min..=max).contains(x) => Value::Integer(*x),
            (Kind::OptionalInteger { min, max }, Value::Real(x))
                if x.fract() == 0.0 && (min as f64..=max as f64).contains(x) =>
            {
                Value::Integer(*x as i64)
            }
            (Kind::OptionalPositive, Value::Real(x)) if *x > 0.0 && x.is_finite() => Value::Real(*x),
            (Kind::OptionalPositive, Value::Integer(x)) if *x > 0 => Value::Real(*x as f64),
            (Kind::OptionalCounts { .. }, Value::Null) => Value::Null,
            (Kind::OptionalCounts { min, max }, x) => match counts(x, min, max) {
                Some(_) => x.clone(),
                None => return Err(error()),
            },
            (Kind::Choice { values, .. }, Value::Text(x)) if values.contains(&x.as_str()) => Value::Text(x.clone()),
            _ => return Err(error()),
        };
        values.insert(name.to_string(), value);
    }
    match given.into_keys().next() {
        None => Ok(values),
        Some(name) => {
            let valid = spec.hyperparameters().map(|h| h.name).collect::<Vec<_>>().join(", ");
            Err(OptionError::Unknown { model: spec.name.into(), name, valid })
        }
    }
}

/// A number, or several in a text such as `15,10`, each in its range.
fn counts(value: &Value, min: u32, max: u32) -> Option<Vec<u32>> {
    let text = match value {
        Value::Real(x) if x.fract() == 0.0 => format!("{x:.0}"),
        value => value.to_string(),
    };
    let count = |part: &str| part.trim().parse().ok().filter(|count| (min..=max).contains(count));
    text.split(',').map(count).collect()
}

/// The most neighbours of a node for each number of edges from the nodes of a step.
fn resolve_fanout(spec: &ModelSpec, options: &TrainOptions, given: &Value) -> Result<Vec<u32>, OptionError> {
    let Some(batch) = options.batch_nodes else {
        return match given {
            Value::Null => Ok(Vec::new()),
            given => Err(OptionError::invalid("fanout", given, "NULL without batch_nodes")),
        };
    };
    let Some(reach) = spec.reach else {
        let valid = format!("NULL: {} reads more than the neighbours of nodes, on the whole graph alone", spec.name);
        return Err(OptionError::invalid("batch_nodes", batch, &valid));
    };
    let hops = reach(options)?;
    // Its range has been checked.
    match counts(given, 1, u32::MAX).as_deref() {
        None => Ok(vec![u32::MAX; hops]),
        Some(&[every]) => Ok(vec![every; hops]),
        Some(fanout) if fanout.len() == hops => Ok(fanout.to_vec()),
        Some(_) => {
            let valid = format!("one number, or one for each of the {hops} hops that the outputs of {} see", spec.name);
            Err(OptionError::invalid("fanout", given, &valid))
        }
    }
}

/// An option of another task would be ignored silently; its default says nothing and is let through.
fn refuse_unread(spec: &ModelSpec, task: Task, values: &BTreeMap<String, Value>) -> Result<(), OptionError> {
    let read = |option: &str| match option {
        "class_weights" => task.has_classes(),
        "embedding" => task != Task::NodeClassification,
        "decoder" => task == Task::LinkPrediction,
        "pooling" | "batch" => task.is_of_graphs(),
        "batch_nodes" | "fanout" => task == Task::NodeClassification,
        _ => true,
    };
    for hyperparameter in spec.hyperparameters() {
        let value = &values[hyperparameter.name];
        if !read(hyperparameter.name) && *value != hyperparameter.default_value() {
            let (option, value) = (hyperparameter.name, value.to_string());
            return Err(OptionError::Unread { option, value, task: task.name() });
        }
    }
    Ok(())
}

impl TrainOptions {
    /// A model's own integer hyperparameter.
    pub(crate) fn integer(&self, name: &str) -> Result<i64, OptionError> {
        match self.hyperparameters.get(name) {
            Some(Value::Integer(value)) => Ok(*value),
            _ => Err(self.missing(name)),
        }
    }

    /// A model's own real hyperparameter.
    pub(crate) fn real(&self, name: &str) -> Result<f64, OptionError> {
        match self.hyperparameters.get(name) {
            Some(Value::Real(value)) => Ok(*value),
            _ => Err(self.missing(name)),
        }
    }

    /// A model's own choice.
    pub(crate) fn text(&self, name: &str) -> Result<&str, OptionError> {
        match self.hyperparameters.get(name) {
            Some(Value::Text(value)) => Ok(value),
            _ => Err(self.missing(name)),
        }
    }

    /// Whether the model reads which end of an edge is its tail.
    pub fn reads_arcs(&self) -> bool {
        self.hyperparameters.get(ADJACENCY.name).is_some_and(|value| *value == Value::Text("arcs".into()))
    }

    fn missing(&self, name: &str) -> OptionError {
        let valid = self.hyperparameters.keys().cloned().collect::<Vec<_>>().join(", ");
        OptionError::Unknown { model: self.model.clone(), name: name.into(), valid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_come_from_the_model() {
        let gcn = Job::new("gcn").resolve().unwrap();
        assert_eq!((gcn.hidden, gcn.layers, gcn.epochs, gcn.lr), (64, 2, 200, 0.01));
        let gat = Job::new("gat").resolve().unwrap();
        assert_eq!((gat.hidden, gat.integer("heads").unwrap(), gat.lr), (8, 8, 0.005));
        assert!(gat.real("heads").is_err());
    }

    #[test]
    fn every_wrong_option_is_refused_with_the_valid_ones() {
        let error = |change: &dyn Fn(&mut Job)| {
            let mut job = Job::new("gat");
            change(&mut job);
            job.resolve().unwrap_err().to_string()
        };
        assert!(error(&|j| j.model = "gnc".into()).contains("graphsage"));
        assert!(error(&|j| j.task = Some("sorting".into())).contains("node_classification"));
        assert!(error(&|j| j.epochs = Some(0)).contains("epochs is `0`"));
        assert!(error(&|j| j.patience = Some(0)).contains("NULL"));
        assert!(error(&|j| j.select_by = Some("test_accuracy".into())).contains("val_macro_f1"));
        assert!(error(&|j| j.optimizer = Some("adam2".into())).contains("adamw"));
        assert!(error(&|j| j.dropout = Some(1.0)).contains("[0, 1)"));
        assert!(error(&|j| j.lr = Some(f64::NAN)).contains("lr is `NaN`"));
        assert!(error(&|j| j.features = Some("all".into())).contains("random:k"));
        assert!(error(&|j| j.normalize = Some("column".into())).contains("row"));
        let heads = |value: Value| error(&|j| drop(j.hyperparameters.insert("heads".into(), value.clone())));
        assert!(heads(Value::Integer(0)).contains("heads is `0`"));
        assert!(heads(Value::Text("two".into())).contains("heads is `two`"));
        let unknown = error(&|j| drop(j.hyperparameters.insert("alpha".into(), Value::Real(0.1))));
        assert!(unknown.contains("no hyperparameter `alpha`") && unknown.contains("negative_slope"), "{unknown}");
    }

    #[test]
    fn training_options_have_ranges_and_belong_to_tasks() {
        let job = |task: &str, name: &str, value: Value| {
            let hyperparameters = [(name.to_string(), value)].into();
            Job { task: Some(task.into()), hyperparameters, ..Job::new("gcn") }.resolve()
        };
        let node = |name: &str, value: Value| job("node_classification", name, value);
        let text = |value: &str| Value::Text(value.into());
        let options = node("schedule", text("cosine")).unwrap();
        assert_eq!((options.schedule, options.warmup, options.clip), (Decay::Cosine, 0, None));
        assert_eq!(node("clip", Value::Integer(2)).unwrap().clip, Some(2.0));
        assert_eq!(node("clip", Value::Null).unwrap().clip, None);
        assert_eq!(node("warmup", Value::Real(3.0)).unwrap().warmup, 3);
        let error = |result: Result<TrainOptions, OptionError>| result.unwrap_err().to_string();
        for clip in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(error(node("clip", Value::Real(clip))).contains("a number above 0, or NULL"));
        }
        assert!(error(node("warmup", Value::Integer(-1))).contains("[0, 4294967295]"));
        assert!(error(node("schedule", text("step"))).contains("constant, cosine"));
        assert!(error(node("class_weights", text("even"))).contains("none, balanced"));
        // What the task does not read is refused; its default says nothing.
        for (task, name, value) in [
            ("node_classification", "decoder", text("distance")),
            ("node_classification", "embedding", Value::Integer(3)),
            ("link_prediction", "class_weights", text("balanced")),
            ("graph_regression", "class_weights", text("balanced")),
            ("link_prediction", "batch", Value::Integer(3)),
        ] {
            assert!(error(job(task, name, value)).contains("does not read"), "{task}: {name}");
        }
        assert!(node("decoder", text("inner_product")).is_ok());
        let link = job("link_prediction", "decoder", text("distance")).unwrap();
        assert_eq!((link.decoder, link.embedding, link.select_by), (Decoder::Distance, 64, SelectBy::Auc));
        assert_eq!(job("graph_regression", "batch", Value::Integer(9)).unwrap().batch, Some(9));
        let wrong = Job { task: Some("link_prediction".into()), select_by: Some("val_mae".into()), ..Job::new("gcn") };
        assert!(error(wrong.resolve()).contains("valid: val_auc, val_ap, val_loss"));
        // No epochs only where parameters are loaded.
        let none = Job { epochs: Some(0), load: Some("file".into()), ..Job::new("gcn") };
        assert_eq!(none.resolve().unwrap().epochs, 0);
        assert!(Job { load: None, ..none }.resolve().is_err());
    }

    #[test]
    fn sampling_has_ranges_and_models_that_cannot_say_so() {
        let job = |model: &str, options: &[(&str, Value)]| {
            let hyperparameters = options.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
            Job { hyperparameters, ..Job::new(model) }.resolve()
        };
        let sampled =
            |model: &str, fanout: Value| job(model, &[("batch_nodes", Value::Integer(64)), ("fanout", fanout)]);
        let text = |value: &str| Value::Text(value.into());
        let whole = Job::new("gcn").resolve().unwrap();
        assert_eq!((whole.batch_nodes, whole.fanout), (None, vec![]));
        assert_eq!(sampled("gcn", text("15,10")).unwrap().fanout, [15, 10]);
        assert_eq!(sampled("gcn", text("15, 10")).unwrap().fanout, [15, 10]);
        assert_eq!(sampled("gcn", Value::Integer(5)).unwrap().fanout, [5, 5]);
        assert_eq!(sampled("appnp", Value::Real(5.0)).unwrap().fanout, [5; 10]);
        assert_eq!(sampled("gat", Value::Null).unwrap().fanout, [u32::MAX; 2]);
        assert!(sampled("mlp", Value::Null).unwrap().fanout.is_empty());
        let error = |result: Result<TrainOptions, OptionError>| result.unwrap_err().to_string();
        for wrong in
            [text("15,0"), text("many"), text(""), Value::Integer(-1), Value::Real(1.5), Value::Integer(2_000_000)]
        {
            let error = error(sampled("gcn", wrong.clone()));
            assert!(error.contains("integers in [1, 1000000]"), "{wrong:?}: {error}");
        }
        assert!(error(sampled("gcn", text("15,10,5"))).contains("each of the 2 hops that the outputs of gcn see"));
        assert!(error(job("gcn", &[("fanout", Value::Integer(5))])).contains("NULL without batch_nodes"));
        assert!(error(job("gcn", &[("batch_nodes", Value::Integer(0))])).contains("[1, 4294967295], or NULL"));
        for model in ["h2gcn", "linkx", "glognn", "label_propagation"] {
            assert!(error(sampled(model, Value::Null)).contains(&format!("NULL: {model} reads more")), "{model}");
        }
        let structure = [("batch_nodes", Value::Integer(9)), ("structure_info", Value::Integer(1))];
        assert!(error(job("acm_gcn", &structure)).contains("0 where neighbours are sampled"));
        let hyperparameters = [("batch_nodes".to_string(), Value::Integer(9))].into();
        let links = Job { task: Some("link_prediction".into()), hyperparameters, ..Job::new("gcn") };
        assert!(error(links.resolve()).contains("does not read"));
    }

    #[test]
    fn options_survive_serialisation() {
        let mut job = Job::new("gat");
        job.features = Some("random:8".into());
        job.hyperparameters.insert("heads".into(), Value::Integer(4));
        let options = job.resolve().unwrap();
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<TrainOptions>(&text).unwrap(), options);
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
    }
}
