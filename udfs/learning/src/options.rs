//! The options of a run: as a job gives them, and resolved with the model's defaults.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::features::{FeatureSource, Normalize, text_serde};
use crate::optimizer::OptimizerKind;
use crate::registry::{self, Kind, ModelSpec};

/// The value of a hyperparameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
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
    /// `node_classification`.
    pub task: Option<String>,
    /// Draws initial weights, dropout masks and random features; 0 if not given.
    pub seed: Option<u64>,
    /// The number of passes over the training nodes, at least 1.
    pub epochs: Option<i64>,
    /// Stops after so many epochs without improvement of what [`Job::select_by`] names.
    pub patience: Option<i64>,
    /// `val_accuracy`, `val_macro_f1`, `val_f1`, `val_auc`, `val_ap` or `val_loss`.
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
    /// The model's own hyperparameters by name.
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
    /// The model's own hyperparameters, every one of them.
    pub hyperparameters: BTreeMap<String, Value>,
    /// Whether each epoch's record carries test figures too (for curves; they never influence the run).
    pub test_each_epoch: bool,
    /// Whether the outcome carries the last hidden representation of every node.
    pub keep_embeddings: bool,
}

/// What is learnt. A model says in [`ModelSpec::tasks`] which it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A class for each node.
    #[default]
    NodeClassification,
}

/// The names of the tasks that this crate trains.
pub const TASKS: &[&str] = &["node_classification"];

impl Task {
    /// The name in a job.
    pub fn name(self) -> &'static str {
        match self {
            Self::NodeClassification => "node_classification",
        }
    }
}

/// What selects the epoch, measured on the validation nodes.
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
    /// The smallest loss.
    Loss,
}

const SELECTIONS: [(&str, SelectBy); 6] = [
    ("val_accuracy", SelectBy::Accuracy),
    ("val_macro_f1", SelectBy::MacroF1),
    ("val_f1", SelectBy::F1),
    ("val_auc", SelectBy::Auc),
    ("val_ap", SelectBy::Ap),
    ("val_loss", SelectBy::Loss),
];

impl fmt::Display for SelectBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = SELECTIONS.iter().find(|(_, selection)| selection == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for SelectBy {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let valid = || SELECTIONS.map(|(name, _)| name).join(", ");
        let found = SELECTIONS.iter().find(|(name, _)| *name == text);
        found.map(|(_, selection)| *selection).ok_or_else(|| OptionError::invalid("select_by", text, &valid()))
    }
}

text_serde!(SelectBy);

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
        let mut values = resolve_hyperparameters(spec, given)?;

        let mut integer = |name: &str| match values.remove(name) {
            Some(Value::Integer(value)) => value,
            _ => unreachable!("{name} is a common integer hyperparameter of every model"),
        };
        let (epochs, hidden, layers) = (integer("epochs"), integer("hidden"), integer("layers"));
        let mut real = |name: &str| match values.remove(name) {
            Some(Value::Real(value)) => value,
            _ => unreachable!("{name} is a common real hyperparameter of every model"),
        };
        let (lr, weight_decay, dropout) = (real("lr"), real("weight_decay"), real("dropout"));
        let optimizer = match values.remove("optimizer") {
            Some(Value::Text(name)) => name.parse()?,
            _ => unreachable!("optimizer is a common text hyperparameter of every model"),
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
        Ok(TrainOptions {
            model: spec.name.into(),
            task: Task::NodeClassification,
            seed: self.seed.unwrap_or(0),
            epochs: epochs as u32,
            patience,
            select_by: parse(&self.select_by)?,
            lr,
            weight_decay,
            optimizer,
            hidden: hidden as usize,
            layers: layers as usize,
            dropout,
            features: parse(&self.features)?,
            normalize: parse(&self.normalize)?,
            hyperparameters: values,
            test_each_epoch: false,
            keep_embeddings: false,
        })
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
