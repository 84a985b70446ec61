//! The rows of `jobs` as jobs.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field};
use bonnet_sql::{Call, OptionValue, usage_error};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, ScalarValue};

use super::columns::LABEL;
use super::complexes::COMPLEXES;
use super::given::pairs::PairTable;
use super::given::protocols::{self, PROTOCOL};
use super::given::sets::{self, GRAPHS};
use super::given::share::{SHARE, Share};
use super::item_table::ITEMS;
use super::splits::SplitChoice;
use crate::options::table::{DATA_OPTIONS, RUN_OPTIONS};
use crate::{ColumnType, Job, OptionError, OptionSpec, Protocol, Task, TrainOptions, Value};

/// The column that names a file of saved parameters.
const LOAD: &str = "load";
/// The column that names the column of the labels, and its older name.
pub(super) const LABEL_OPTION: &str = "label";
pub(super) const OLDER_LABEL_OPTION: &str = "target";
/// The column of the model.
pub(super) const MODEL: &str = "model";
/// The column that numbers the draws of a split.
pub(super) const DRAW: &str = "draw";
/// The column that names a folder for the parameters; `train` alone takes it.
pub(super) const SAVE: &str = "save";

/// The values of a column of the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    /// The values that its option declares.
    Of(ColumnType),
    /// A number or a text: an option that two models declare with different types.
    Any,
}

/// The columns that mean something to every model: graph and model first.
pub(super) fn run_columns() -> impl Iterator<Item = OptionSpec> {
    DATA_OPTIONS.into_iter().take(2).chain(RUN_OPTIONS).chain(DATA_OPTIONS.into_iter().skip(2))
}

/// The hyperparameters of all models, with what they take.
static HYPERPARAMETERS: LazyLock<BTreeMap<&'static str, Type>> = LazyLock::new(|| {
    let mut types: BTreeMap<&'static str, Type> = BTreeMap::new();
    for option in crate::models().iter().flat_map(|model| model.hyperparameters()) {
        let column = Type::Of(option.column);
        types.entry(option.name).and_modify(|known| *known = if *known == column { column } else { Type::Any });
        types.entry(option.name).or_insert(column);
    }
    types
});

fn type_of(name: &str) -> Option<Type> {
    let name = if name == OLDER_LABEL_OPTION { LABEL_OPTION } else { name };
    let of_runs = run_columns().find(|option| option.name == name).map(|option| Type::Of(option.column));
    of_runs.or_else(|| HYPERPARAMETERS.get(name).copied())
}

/// The way in which a function reads its jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reads {
    /// The function's name.
    pub function: &'static str,
    /// Whether parameters may be saved.
    pub save: bool,
    /// Whether parameters that are loaded are used as they are unless the job has epochs.
    pub as_loaded: bool,
    /// Whether a job is of several graphs, which its column `graphs` names.
    pub of_sets: bool,
}

/// Checks the columns and options of a call; gives the columns that mean something.
pub(super) fn check(reads: &Reads, call: &Call) -> Result<Vec<String>> {
    let schema = &call.inputs[0].schema;
    let function = reads.function;
    if !reads.save && (schema.field_with_name(SAVE).is_ok() || call.options.get(SAVE).is_some()) {
        return usage_error(format!("{function}: only train saves parameters: leave {SAVE} out"));
    }
    let is_given = |name: &str| schema.field_with_name(name).is_ok() || call.options.get(name).is_some();
    if [LABEL_OPTION, OLDER_LABEL_OPTION].into_iter().all(is_given) {
        return usage_error(format!(
            "{function}: {OLDER_LABEL_OPTION} is the older name of {LABEL_OPTION}: keep one of them"
        ));
    }
    Share::of_call(function, call)?;
    let is_of_jobs = |name: &str| name != SHARE && !(reads.of_sets && name == GRAPHS);
    for (name, value) in call.options.iter().filter(|(name, _)| is_of_jobs(name)) {
        let Some(kind) = type_of(name) else {
            let of_runs = run_columns().map(|option| option.name).filter(|name| reads.save || *name != SAVE);
            let known: Vec<&str> = of_runs.chain(HYPERPARAMETERS.keys().copied()).collect();
            return usage_error(format!("{function}: there is no option {name}; there are: {}", known.join(", ")));
        };
        if schema.field_with_name(name).is_ok() {
            return usage_error(format!("{function}: {name} is an option and a column of the jobs: keep one of them"));
        }
        use ColumnType::{Integer, Integers, Number, Text, Texts};
        let fits = matches!(
            (kind, value),
            (_, OptionValue::Null)
                | (Type::Any, _)
                | (Type::Of(Integers), OptionValue::Integer(_) | OptionValue::Text(_) | OptionValue::List(_))
                | (Type::Of(Texts), OptionValue::Text(_) | OptionValue::List(_))
                | (Type::Of(Text), OptionValue::Text(_) | OptionValue::Boolean(_))
                | (Type::Of(Integer | Number), OptionValue::Integer(_))
                | (Type::Of(Number), OptionValue::Number(_))
        );
        if !fits {
            return usage_error(format!("{function}: {name} => {value}: expected {}", words(kind)));
        }
    }
    if reads.of_sets {
        sets::check(function, call)?;
    }
    let without_graph = reads.of_sets || call.input(COMPLEXES).is_some() || call.input(ITEMS).is_some();
    let needed = [("graph", without_graph), ("model", is_given(PROTOCOL))];
    for (name, _) in needed.into_iter().filter(|(_, said)| !said) {
        if schema.field_with_name(name).is_err() && call.options.get(name).is_none() {
            return usage_error(format!(
                "{function}: the jobs have no column {name}; they need graph and model, \
                 as in {function}((SELECT 'cora' AS graph, 'gcn' AS model, 0 AS seed))"
            ));
        }
    }
    let mut columns = Vec::new();
    for field in schema.fields() {
        let Some(kind) = type_of(field.name()) else { continue };
        let text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let fits = match kind {
            _ if *field.data_type() == DataType::Null => true,
            Type::Of(ColumnType::Text) => text || *field.data_type() == DataType::Boolean,
            Type::Of(ColumnType::Integer) => field.data_type().is_integer(),
            Type::Of(ColumnType::Number) => field.data_type().is_numeric(),
            Type::Of(ColumnType::Integers) => match field.data_type() {
                DataType::List(item) => item.data_type().is_integer(),
                of_one => text || of_one.is_integer(),
            },
            Type::Of(ColumnType::Texts) => match field.data_type() {
                DataType::List(item) => item.data_type().is_string(),
                _ => text,
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
    columns.extend((reads.of_sets && schema.field_with_name(GRAPHS).is_ok()).then(|| GRAPHS.to_owned()));
    Ok(columns)
}

fn words(kind: Type) -> &'static str {
    match kind {
        Type::Of(ColumnType::Text) => "a text",
        Type::Of(ColumnType::Integer) => "a whole number",
        Type::Of(ColumnType::Number) => "a number",
        Type::Of(ColumnType::Texts) => "texts, such as ['laplacian:8', 'degree']",
        Type::Of(ColumnType::Integers) => "whole numbers, such as [15, 10]",
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
    /// The graphs of a job of several, each as the row names it.
    pub graphs: Vec<String>,
    pub choice: SplitChoice,
    /// The column of the labels, where the row names one.
    label: Option<String>,
    /// The file of parameters to start from.
    pub load: Option<String>,
    /// The folder for the file of the run's parameters.
    pub save: Option<String>,
    /// Where the row says otherwise than its protocol.
    pub departures: Option<String>,
    /// The options that the row gives, and those of its protocol.
    pub job: Job,
    pub options: std::result::Result<TrainOptions, String>,
}

impl JobRow {
    /// The column of the labels.
    pub(super) fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(LABEL)
    }

    /// The model that the row or its protocol names.
    pub(super) fn model(&self) -> Option<String> {
        Some(self.job.model.clone()).filter(|model| !model.is_empty())
    }

    /// The job's own columns, of the batch that it came in, in so many rows; with the model that a protocol names where the
    /// job's is NULL.
    pub(super) fn carried(&self, batch: &RecordBatch, rows: usize) -> Result<Vec<ArrayRef>> {
        let repeated = UInt32Array::from(vec![self.row as u32; rows]);
        let schema = batch.schema();
        let carry = |(field, column): (&Arc<Field>, &ArrayRef)| {
            let lacks =
                field.name() == MODEL && !matches!(column.data_type(), DataType::Null) && column.is_null(self.row);
            Ok(match self.model().filter(|_| lacks) {
                Some(model) => {
                    let named: ArrayRef = Arc::new(StringArray::from(vec![model; rows]));
                    cast(&named, column.data_type())?
                }
                None => take(column, &repeated, None)?,
            })
        };
        schema.fields().iter().zip(batch.columns()).map(carry).collect()
    }

    /// The option by which the job reads or writes a file, if it does.
    pub(super) fn door(&self) -> Option<String> {
        let door = |name: &str, path: &Option<String>| path.as_ref().map(|path| format!("{name} => '{path}'"));
        door(LOAD, &self.load).or_else(|| door(SAVE, &self.save))
    }
}

/// Whether the session may not read and write files: its setting `bonnet.external_access`, which belongs to the engine
/// above.
pub(super) fn doors_closed(options: &ConfigOptions) -> bool {
    let mut entries = options.extensions.iter().flat_map(|(_, settings)| settings.entries());
    entries.any(|entry| entry.key == "bonnet.external_access" && entry.value.as_deref() == Some("off"))
}

/// The items of a graph in a step, unless the job says so.
const BATCH_OF_ITEMS: i64 = 512;

/// Gives a job on the items of a graph its batches where nothing says how large they are.
fn set_batch_of_items(job: &mut Job) {
    let of_nodes = match job.get("task") {
        Value::Text(task) => task.parse::<Task>().is_ok_and(Task::is_of_nodes),
        _ => true,
    };
    let is_sampled = crate::model(&job.model).is_ok_and(|model| model.is_sampled());
    if of_nodes && is_sampled && job.get("batch_nodes").is_null() {
        job.set("batch_nodes", BATCH_OF_ITEMS);
    }
}

/// Whether jobs may name graphs.
pub(super) fn name_graphs(call: &Call) -> bool {
    call.inputs[0].schema.field_with_name("graph").is_ok() || call.options.get("graph").is_some()
}

/// The relations of a call that its jobs read.
pub(super) struct Given {
    pub pairs: Option<PairTable>,
    pub protocols: Vec<Protocol>,
}

/// The jobs of all batches, or of the call's share of them.
pub(super) fn read(reads: &Reads, call: &Call, given: &mut Given, batches: &[RecordBatch]) -> Result<Vec<JobRow>> {
    let share = Share::of_call(reads.function, call)?;
    let means_something = |name: &str| type_of(name).is_some() || reads.of_sets && name == GRAPHS;
    let mut jobs = Vec::new();
    for (i, batch) in batches.iter().enumerate() {
        let ours = share.map(|share| share.rows(batch, means_something)).transpose()?;
        for row in (0..batch.num_rows()).filter(|row| ours.as_ref().is_none_or(|ours| ours[*row])) {
            jobs.push(read_row(reads, call, given, batch, (i, row))?);
        }
    }
    Ok(jobs)
}

fn read_row(
    reads: &Reads,
    call: &Call,
    given: &mut Given,
    batch: &RecordBatch,
    (number, row): (usize, usize),
) -> Result<JobRow> {
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
    let mut job = Job::new(&text("model")?.unwrap_or_default());
    for name in RUN_OPTIONS.iter().map(|option| option.name).chain(HYPERPARAMETERS.keys().copied()) {
        if let Some(value) = protocols::value_of(&value(name)?) {
            job.set(name, value);
        }
    }
    let load = text(LOAD)?;
    if reads.as_loaded && load.is_some() && job.get("epochs").is_null() {
        job.set("epochs", 0);
    }
    let label = text(LABEL_OPTION)?.or(text(OLDER_LABEL_OPTION)?);
    let graph = text("graph")?;
    let graphs = if reads.of_sets { sets::names(&value(GRAPHS)?) } else { Vec::new() };
    let mut choice = SplitChoice { scheme: text("split_scheme")?, split: integer("split")?, pairs: None };
    if let (Some(pairs), Some(graph)) = (&mut given.pairs, &graph) {
        choice.pairs = Some(pairs.of_graph(graph)?);
    }
    let draw = integer(DRAW)?;
    let both = draw.is_some() && choice.split.is_some();
    choice.split = choice.split.or(draw);
    let said = choice.scheme.clone();
    let followed = match text(PROTOCOL)? {
        None => Ok(None),
        Some(name) => protocols::follow(&name, &given.protocols, graph.as_deref(), &mut job, &mut choice),
    };
    let departures = followed.as_ref().ok().cloned().flatten();
    if call.input(ITEMS).is_some() && graph.is_some() {
        set_batch_of_items(&mut job);
    }
    let resolved = followed.and_then(|_| match reads.of_sets {
        true => job.resolve_pretraining().map_err(|error| error.to_string()),
        false => job.resolve().map_err(|error| error.to_string()),
    });
    let options = resolved.and_then(|options| match (&choice.pairs, said) {
        (Some(_), _) if options.task != Task::LinkPrediction => {
            Err(format!("pairs are given, and {} reads none: leave them out", options.task.name()))
        }
        (Some(_), Some(scheme)) => {
            Err(format!("pairs are given, and split_scheme is `{scheme}`: leave one of them out"))
        }
        _ => Ok(options),
    });
    let options = options.and_then(|options| match (draw, both) {
        (Some(draw), true) => Err(format!("{DRAW} is {draw}, and split is given: leave one of them out")),
        (Some(draw), false) => choice.drawn(draw).map(|()| options),
        (None, _) => Ok(options),
    });
    let options = options.and_then(|options| match &label {
        Some(label) if label != LABEL && options.task == Task::LinkPrediction => {
            let (option, task) = (LABEL_OPTION, options.task.name());
            Err(OptionError::Unread { option, value: label.clone(), task }.to_string())
        }
        _ => Ok(options),
    });
    Ok(JobRow {
        batch: number,
        row,
        graph,
        graphs,
        label,
        choice,
        departures,
        save: if reads.save { text(SAVE)? } else { None },
        options,
        job,
        load,
    })
}
