//! `pretrain(jobs [, option => value ...])`.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray, new_null_array};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::{Monitor, Reservation, Stopped};
use bonnet_sql::{
    Binding, Body, Call, ErrorKind, Function, Parameter, Raised, Run, outside_databases, stopped, usage_error,
};
use datafusion::common::{DataFusionError, Result};
use serde_json::json;

use super::sources::{source_columns, source_fields};
use crate::sql::execution::{RunMonitor, rows, text_of};
use crate::sql::given::sets::GRAPHS;
use crate::sql::given::share;
use crate::sql::graph::{LoadedGraph, RequiredParts};
use crate::sql::jobs::{self, Given, JobRow, Reads};
use crate::sql::notices::{FailedRuns, Notices};
use crate::sql::provenance::{self, ContentHash, Provenance};
use crate::{Featureless, Pretrained, Saved, SourceRecord, Status, TrainError, TrainOptions, file_name};

const READS: Reads = Reads { function: "pretrain", save: true, as_loaded: false, of_sets: true };

/// The registration.
pub fn pretrain() -> Function {
    Function::new(READS.function, Body::Run(Arc::new(bind)))
        .parameters([
            Parameter::relation(
                "jobs",
                "One row a run: graphs (a list of names), model, save (a folder) and any options of it as columns.",
            ),
            share::parameter(),
        ])
        .open_options()
        .returns(
            "the job's columns, status, error, loss (of the epoch that is saved, before its steps), best_epoch, epochs_run, parameters, \
             train_seconds, peak_memory (bytes), saved (the path of the encoder), sources (the graphs), source_hashes (of the edges \
             and features of each), engine_version, host_threads, started_at, graph_hash (of all of them)",
        )
        .description(
            "Pre-trains an encoder on several graphs for every row of jobs, without labels, and saves it in the folder save; a job of train, \
             predict or embed that names the file as load adapts it to another graph. Models are those of bonnet.models of the family \
             graph foundation models. Columns that mean something: graphs, model, save, seed, dim, alignment, epochs, lr, weight_decay, \
             optimizer, hidden, layers, dropout, patience, features, normalize, schedule, warmup, clip and the model's own; every other \
             column is carried through, and NULL is the default: for epochs, lr and the like that of the model's pre-training, which the \
             reference of the models says. Features of all graphs are brought to dim columns (align_features), each graph's by itself. \
             epochs => 0 saves the encoder as it is drawn from the seed: the baseline of every pre-training. With patience training stops after so \
             many epochs without a lower loss, and the encoder is that of the lowest; without, that of the last epoch. The order of graphs \
             changes nothing: they are taken in the order of their names. The file names its graphs with their hashes, and train refuses a \
             graph whose edges are among them. Runs go one after the other; each is a row as it ends, and a job that fails is a row with \
             its status that stops no other. The same job gives the same file, whatever the thread count.",
        )
        .example(
            "SELECT graphs, status, loss > 0 AS learns, sources FROM pretrain((SELECT ['karate'] AS graphs, 'mdgpt' AS model), \
             dim => 8, hidden => 8, epochs => 2, save => '/tmp/encoders')",
        )
        .source("CurvBench (arXiv 2606.06397), Sec. 3.3 and App. B; models as bonnet.models says")
}

/// Checks a call.
fn bind(call: &Call) -> Result<Binding> {
    let columns = jobs::check(&READS, call)?;
    let input = &call.inputs[0].schema;
    let own = fields();
    if let Some(field) = own.iter().find(|field| input.field_with_name(field.name()).is_ok()) {
        return usage_error(format!(
            "{}: the jobs have a column {}, which the answer has too: rename or drop it",
            READS.function,
            field.name()
        ));
    }
    let fields: Vec<_> = input.fields().iter().cloned().chain(own.into_iter().map(Arc::new)).collect();
    let call = call.clone();
    Ok(Binding::new(Arc::new(Schema::new(fields)), vec![columns], move |host: &mut Run| run(&call, host)).carrying(0))
}

/// The function's own columns.
fn fields() -> Vec<Field> {
    let field = |name: &str, data_type: DataType| Field::new(name, data_type, true);
    let mut fields = ["status", "error"].map(|name| field(name, DataType::Utf8)).to_vec();
    fields.push(field("loss", DataType::Float64));
    fields.extend(["best_epoch", "epochs_run", "parameters"].map(|name| field(name, DataType::Int64)));
    fields.push(field("train_seconds", DataType::Float64));
    fields.push(field("peak_memory", DataType::Int64));
    fields.push(field("saved", DataType::Utf8));
    fields.extend(source_fields());
    fields.extend(provenance::fields());
    fields
}

/// Why a job has no encoder.
struct Failure {
    status: Status,
    text: String,
}

impl Failure {
    fn error(text: impl Into<String>) -> Self {
        Self { status: Status::Error, text: text.into() }
    }
}

/// A run that ended well.
struct Done {
    encoder: Pretrained,
    saved: String,
    sources: Vec<SourceRecord>,
    start: Provenance,
}

impl Done {
    fn columns(&self) -> Vec<ArrayRef> {
        let text = |value: Option<&str>| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
        let integer = |value: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
        let number = |value: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
        let encoder = &self.encoder;
        let mut columns = vec![text(Some(Status::Ok.name())), text(None), number(encoder.loss)];
        columns.extend([encoder.best_epoch, encoder.epochs_run].map(|epoch| integer(i64::from(epoch))));
        columns.push(integer(encoder.parameters as i64));
        columns.push(number(Some(encoder.seconds)));
        columns.push(integer(encoder.peak_memory as i64));
        columns.push(text(Some(&self.saved)));
        columns.extend(source_columns(&self.sources));
        columns.extend(self.start.columns());
        columns
    }
}

impl Failure {
    fn columns(&self) -> Vec<ArrayRef> {
        let column = |field: Field| -> ArrayRef {
            match field.name().as_str() {
                "status" => Arc::new(StringArray::from(vec![self.status.name()])),
                "error" => Arc::new(StringArray::from(vec![self.text.as_str()])),
                _ => new_null_array(field.data_type(), 1),
            }
        };
        fields().into_iter().map(column).collect()
    }
}

/// Runs all jobs, one after the other.
fn run(call: &Call, run: &mut Run) -> Result<()> {
    let batches = run.collect(0)?;
    let mut given = Given { pairs: None, protocols: Vec::new() };
    let jobs = jobs::read(&READS, call, &mut given, &batches)?;
    let closed = jobs::doors_closed(run.context().session_config().options());
    if let Some(what) = jobs.iter().find_map(JobRow::door).filter(|_| closed) {
        let text = format!("{what} is refused: bonnet.external_access is off in this session");
        return Err(Raised::new(ErrorKind::Forbidden, text).into());
    }
    let epochs = jobs.iter().filter_map(|job| job.options.as_ref().ok()).map(|options| u64::from(options.epochs));
    run.host().expect(epochs.sum());
    let (mut failed, mut first) = (0, None);
    for job in &jobs {
        let columns = match one(run, job)? {
            Ok(done) => done.columns(),
            Err(failure) => {
                failed += 1;
                let columns = failure.columns();
                first.get_or_insert(failure.text);
                columns
            }
        };
        rows::emit(run, READS.function, &batches, job, columns)?;
    }
    let notices = run.context().session_config().get_extension::<Notices>();
    if let (Some(notices), Some(reason)) = (notices, first) {
        notices.add(FailedRuns { function: READS.function, failed, jobs: jobs.len(), reason });
    }
    Ok(())
}

/// The graphs of a job as they are read: edges and features.
fn required(options: &TrainOptions) -> RequiredParts<'static> {
    RequiredParts {
        labels: &[],
        features: options.features.reads_given(),
        arcs: false,
        weights: false,
        types: false,
        means: options.featureless == Featureless::NeighborMean,
        rows: false,
    }
}

/// One run. An error ends the query; what is wrong with a job alone is its failure.
fn one(run: &Run, job: &JobRow) -> Result<std::result::Result<Done, Failure>> {
    let options = match &job.options {
        Ok(options) => options,
        Err(error) => return Ok(Err(Failure::error(error))),
    };
    let monitor = RunMonitor::new(run.host(), u64::from(options.epochs));
    if job.graphs.is_empty() {
        return Ok(Err(Failure::error(format!("{GRAPHS} is NULL or empty: name the graphs to pre-train on"))));
    }
    let Some(folder) = job.save.as_deref() else {
        return Ok(Err(Failure::error("save is NULL: name a folder for the encoder")));
    };
    let mut names: Vec<&String> = job.graphs.iter().collect();
    names.sort();
    let (mut sources, mut records, mut content, mut graphs) =
        (Vec::new(), Vec::new(), ContentHash::default(), Vec::new());
    for name in names {
        let read =
            run.wait(run.graphs().tables(name)).and_then(|tables| LoadedGraph::read(run, &tables, required(options)));
        run.host().check().map_err(stopped)?;
        let graph = match read {
            Ok(graph) => graph,
            Err(DataFusionError::ResourcesExhausted(text)) => {
                return Ok(Err(Failure { status: Status::OutOfMemory, text }));
            }
            Err(error) => return Ok(Err(Failure::error(text_of(&error)))),
        };
        match graph.source(name, options) {
            Ok(source) => sources.push(source),
            Err(why) => return Ok(Err(Failure::error(format!("{name}: {why}")))),
        }
        let hash = graph.content().unlabelled(options);
        content = content + hash;
        let edges = graph.content().edges().to_string();
        records.push(SourceRecord { graph: name.clone(), hash: hash.to_string(), edges });
        graphs.push(graph);
    }
    let (start, mut description) = (run.install(|| Provenance::now(content)), description(options));
    SourceRecord::describe(&records, true, &mut description);
    let file = match file_of(Path::new(folder), &records, options, &description) {
        Ok(file) => file,
        Err(failure) => return Ok(Err(failure)),
    };
    // A panic is a defect of ours and fails this job alone.
    let attempt = || run.install(|| crate::pretrain(sources, options, &monitor, &mut |_, _| {}));
    let encoder = match std::panic::catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(Ok(encoder)) => encoder,
        Ok(Err(TrainError::Cancelled)) => return Err(stopped(Stopped::Cancelled)),
        Ok(Err(error)) => {
            let status = error.status().unwrap_or(Status::Error);
            return Ok(Err(Failure { status, text: error.to_string() }));
        }
        Err(_) => return Ok(Err(Failure::error("the run failed by a defect of the engine, please report it"))),
    };
    // The parameters are held twice while they are written.
    let _memory = match Reservation::new(&monitor, 8 * encoder.parameters) {
        Ok(memory) => memory,
        Err(Stopped::Cancelled) => return Err(stopped(Stopped::Cancelled)),
        Err(Stopped::OutOfMemory(text)) => return Ok(Err(Failure { status: Status::OutOfMemory, text })),
    };
    if let Err(error) = Saved::new(&encoder.weights, description).write(&file) {
        return Ok(Err(Failure::error(format!("save: {error}"))));
    }
    let saved = file.display().to_string();
    Ok(Ok(Done { encoder, saved, sources: records, start }))
}

/// The run in the header of its file.
fn description(options: &TrainOptions) -> serde_json::Value {
    json!({ "engine": env!("CARGO_PKG_VERSION"), "options": options })
}

/// The file of an encoder. The folder is made now: a run whose result has no place need not start.
fn file_of(
    folder: &Path,
    sources: &[SourceRecord],
    options: &TrainOptions,
    description: &serde_json::Value,
) -> std::result::Result<PathBuf, Failure> {
    outside_databases(folder).map_err(|what| Failure::error(format!("save: {what}")))?;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::error(format!("save: the folder {} cannot be made: {error}", folder.display())))?;
    let graphs = sources.iter().map(|it| it.graph.as_str()).collect::<Vec<_>>().join("+");
    Ok(folder.join(file_name(&graphs, &options.model, options.seed, description)))
}
