//! The rows of `jobs` as jobs.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use bonnet_sql::{Call, OptionValue, usage_error};
use datafusion::common::{Result, ScalarValue};

use super::graph::SplitChoice;
use crate::{Job, Kind, TrainOptions, Value};

/// What a column of the jobs holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Integer,
    Number,
    /// Whole numbers: a list, one of them, or a text such as `15,10`.
    Integers,
    /// A number or a text: a hyperparameter whose models do not agree.
    Any,
}

/// The columns that mean something for every model.
const COLUMNS: [(&str, Type); 18] = [
    ("graph", Type::Text),
    ("model", Type::Text),
    ("task", Type::Text),
    ("seed", Type::Integer),
    ("split", Type::Integer),
    ("split_scheme", Type::Text),
    ("epochs", Type::Integer),
    ("patience", Type::Integer),
    ("select_by", Type::Text),
    ("lr", Type::Number),
    ("weight_decay", Type::Number),
    ("optimizer", Type::Text),
    ("hidden", Type::Integer),
    ("layers", Type::Integer),
    ("dropout", Type::Number),
    ("features", Type::Text),
    ("normalize", Type::Text),
    (LOAD, Type::Text),
];

/// The column that names a file of saved parameters.
const LOAD: &str = "load";
/// The column that names a folder for the parameters; `train` alone takes it.
pub(super) const SAVE: &str = "save";

/// The other hyperparameters of the models, with what they take.
fn hyperparameters() -> BTreeMap<&'static str, Type> {
    let mut types: BTreeMap<&'static str, Type> = BTreeMap::new();
    let all = crate::models().iter().flat_map(|model| model.hyperparameters());
    for hyperparameter in all.filter(|h| COLUMNS.iter().all(|(column, _)| *column != h.name)) {
        let kind = match hyperparameter.kind {
            Kind::Integer { .. } | Kind::OptionalInteger { .. } | Kind::Real { .. } | Kind::OptionalPositive => {
                Type::Number
            }
            Kind::OptionalCounts { .. } => Type::Integers,
            Kind::Choice { .. } => Type::Text,
        };
        types.entry(hyperparameter.name).and_modify(|known| *known = if *known == kind { kind } else { Type::Any });
        types.entry(hyperparameter.name).or_insert(kind);
    }
    types
}

fn type_of(name: &str, function: &Reads) -> Option<Type> {
    let common = COLUMNS.iter().find(|(column, _)| *column == name).map(|(_, kind)| *kind);
    let save = (function.save && name == SAVE).then_some(Type::Text);
    common.or(save).or_else(|| hyperparameters().get(name).copied())
}

/// How a function reads its jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reads {
    /// The function's name.
    pub function: &'static str,
    /// Whether parameters may be saved.
    pub save: bool,
    /// Whether parameters that are loaded are used as they are unless the job has epochs.
    pub as_loaded: bool,
}

/// Checks the columns and options of a call; gives the columns that mean something.
pub(super) fn check(reads: &Reads, call: &Call) -> Result<Vec<String>> {
    let schema = &call.inputs[0].schema;
    let function = reads.function;
    if !reads.save && (schema.field_with_name(SAVE).is_ok() || call.options.get(SAVE).is_some()) {
        return usage_error(format!("{function}: only train saves parameters: leave {SAVE} out"));
    }
    for (name, value) in call.options.iter() {
        let Some(kind) = type_of(name, reads) else {
            let save = reads.save.then_some(SAVE);
            let known = COLUMNS.iter().map(|(name, _)| *name).chain(save).chain(hyperparameters().into_keys());
            let known: Vec<&str> = known.collect();
            return usage_error(format!("{function}: there is no option {name}; there are: {}", known.join(", ")));
        };
        if schema.field_with_name(name).is_ok() {
            return usage_error(format!("{function}: {name} is an option and a column of the jobs: keep one of them"));
        }
        let fits = matches!(
            (kind, value),
            (_, OptionValue::Null)
                | (Type::Any, _)
                | (Type::Integers, OptionValue::Integer(_) | OptionValue::Text(_) | OptionValue::List(_))
                | (Type::Text, OptionValue::Text(_))
                | (Type::Integer | Type::Number, OptionValue::Integer(_))
                | (Type::Number, OptionValue::Number(_))
        );
        if !fits {
            return usage_error(format!("{function}: {name} => {value}: expected {}", words(kind)));
        }
    }
    for name in ["graph", "model"] {
        if schema.field_with_name(name).is_err() && call.options.get(name).is_none() {
            return usage_error(format!(
                "{function}: the jobs have no column {name}; they need graph and model, \
                 as in {function}((SELECT 'cora' AS graph, 'gcn' AS model, 0 AS seed))"
            ));
        }
    }
    let mut columns = Vec::new();
    for field in schema.fields() {
        let Some(kind) = type_of(field.name(), reads) else { continue };
        let text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let fits = match kind {
            _ if *field.data_type() == DataType::Null => true,
            Type::Text => text,
            Type::Integer => field.data_type().is_integer(),
            Type::Number => field.data_type().is_numeric(),
            Type::Integers => match field.data_type() {
                DataType::List(item) => item.data_type().is_integer(),
                of_one => text || of_one.is_integer(),
            },
            Type::Any => text || field.data_type().is_numeric(),
        };
        if !fits {
            return usage_error(format!(
                "{function}: the job column {} is {}, expected {}: CAST it",
                field.name(),
                field.data_type(),
                words(kind)
            ));
        }
        columns.push(field.name().clone());
    }
    Ok(columns)
}

fn words(kind: Type) -> &'static str {
    match kind {
        Type::Text => "a text",
        Type::Integer => "a whole number",
        Type::Number => "a number",
        Type::Integers => "whole numbers, such as [15, 10]",
        Type::Any => "a number or a text",
    }
}

/// One row of the jobs.
#[derive(Debug)]
pub(super) struct JobRow {
    /// The batch and the row that it came in.
    pub batch: usize,
    pub row: usize,
    pub graph: Option<String>,
    pub choice: SplitChoice,
    /// The file of parameters to start from.
    pub load: Option<String>,
    /// The folder for the file of the run's parameters.
    pub save: Option<String>,
    pub options: std::result::Result<TrainOptions, String>,
}

/// The jobs of all batches.
pub(super) fn read(reads: &Reads, call: &Call, batches: &[RecordBatch]) -> Result<Vec<JobRow>> {
    let mut jobs = Vec::new();
    for (i, batch) in batches.iter().enumerate() {
        for row in 0..batch.num_rows() {
            jobs.push(read_row(reads, call, batch, i, row)?);
        }
    }
    Ok(jobs)
}

fn read_row(reads: &Reads, call: &Call, batch: &RecordBatch, number: usize, row: usize) -> Result<JobRow> {
    let value = |name: &str| -> Result<OptionValue> {
        match batch.column_by_name(name) {
            None => Ok(call.options.get(name).cloned().unwrap_or(OptionValue::Null)),
            Some(column) => {
                let value = ScalarValue::try_from_array(column, row)?;
                Ok(OptionValue::from_scalar(&value).unwrap_or(OptionValue::Null))
            }
        }
    };
    let text = |name: &str| -> Result<Option<String>> {
        Ok(match value(name)? {
            OptionValue::Text(text) => Some(text),
            _ => None,
        })
    };
    let integer = |name: &str| -> Result<Option<i64>> {
        Ok(match value(name)? {
            OptionValue::Integer(value) => Some(value),
            _ => None,
        })
    };
    let real = |name: &str| -> Result<Option<f64>> {
        Ok(match value(name)? {
            OptionValue::Integer(value) => Some(value as f64),
            OptionValue::Number(value) => Some(value),
            _ => None,
        })
    };
    let mut job = Job {
        model: text("model")?.unwrap_or_default(),
        task: text("task")?,
        seed: integer("seed")?.map(|seed| seed as u64),
        epochs: integer("epochs")?,
        patience: integer("patience")?,
        select_by: text("select_by")?,
        lr: real("lr")?,
        weight_decay: real("weight_decay")?,
        optimizer: text("optimizer")?,
        hidden: integer("hidden")?,
        layers: integer("layers")?,
        dropout: real("dropout")?,
        features: text("features")?,
        normalize: text("normalize")?,
        ..Job::default()
    };
    job.load = text(LOAD)?;
    if reads.as_loaded && job.load.is_some() && job.epochs.is_none() {
        job.epochs = Some(0);
    }
    for name in hyperparameters().into_keys() {
        let value = match value(name)? {
            OptionValue::Integer(value) => Value::Integer(value),
            OptionValue::Number(value) => Value::Real(value),
            OptionValue::Text(value) => Value::Text(value),
            OptionValue::List(values) => {
                Value::Text(values.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
            }
            _ => continue,
        };
        job.hyperparameters.insert(name.to_owned(), value);
    }
    Ok(JobRow {
        batch: number,
        row,
        graph: text("graph")?,
        choice: SplitChoice { scheme: text("split_scheme")?, split: integer("split")? },
        save: if reads.save { text(SAVE)? } else { None },
        options: job.resolve().map_err(|error| error.to_string()),
        load: job.load,
    })
}
