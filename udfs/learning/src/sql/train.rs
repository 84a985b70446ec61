//! `train(jobs [, option => value ...])`.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, mpsc};

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::Monitor;
use bonnet_sql::{
    Binding, Body, Call, Function, Host, Operator, Parameter, Run, execution_error, stopped, usage_error,
};
use datafusion::common::{DataFusionError, Result};

use super::graph::LoadedGraph;
use super::jobs::{self, JobRow};
use crate::metrics::Metrics;
use crate::{FeatureSource, Outcome, Status, TrainError};

const NAME: &str = "train";

/// The registration.
pub fn train() -> Function {
    Function::new(NAME, Body::Run(Arc::new(Train)))
        .parameters([Parameter::relation("jobs", "One row a run: graph, model, and any options of it as columns.")])
        .open_options()
        .returns(
            "the job's columns, status, error, val_ and test_ accuracy, macro_f1, f1, auc, ap, mae, mse, best_epoch, \
             epochs_run, parameters, train_seconds, test_seconds, peak_memory (bytes), device",
        )
        .description(
            "Trains a model on a graph for every row of jobs. Columns that mean something: graph, model, task, seed, split \
             or split_scheme, epochs, patience, select_by, lr, weight_decay, optimizer, hidden, layers, dropout, features, \
             normalize, and the hyperparameters that bonnet.models lists; every other column is carried through. NULL is \
             the model's default. An option is a column that is the same for every job. Without split and split_scheme a \
             job takes the publisher's split 0, else random:60/20/20; a split beside a drawn split_scheme seeds the draw \
             (else the job's seed does). A job that fails is a row with its status and stops no other. The same job gives \
             the same row in every column but the seconds, whatever the thread count.",
        )
        .example(
            "SELECT model, status, epochs_run FROM train((SELECT 'karate' AS graph, 'gcn' AS model, 0 AS seed), \
             epochs => 5, features => 'identity')",
        )
        .source("CurvBench (arXiv 2606.06397), Sec. 3 and App. C; models as bonnet.models says")
}

#[derive(Debug)]
struct Train;

const FIGURES: [&str; 7] = ["accuracy", "macro_f1", "f1", "auc", "ap", "mae", "mse"];

fn answer_fields() -> Vec<Field> {
    let field = |name: String, data_type| Field::new(name, data_type, true);
    let mut fields = vec![field("status".into(), DataType::Utf8), field("error".into(), DataType::Utf8)];
    for part in ["val", "test"] {
        fields.extend(FIGURES.map(|figure| field(format!("{part}_{figure}"), DataType::Float64)));
    }
    fields.extend(["best_epoch", "epochs_run", "parameters"].map(|name| field(name.into(), DataType::Int64)));
    fields.extend(["train_seconds", "test_seconds"].map(|name| field(name.into(), DataType::Float64)));
    fields.push(field("peak_memory".into(), DataType::Int64));
    fields.push(field("device".into(), DataType::Utf8));
    fields
}

impl Operator for Train {
    fn bind(&self, call: &Call) -> Result<Binding> {
        let reads = jobs::check(NAME, call)?;
        let input = &call.inputs[0].schema;
        let own = answer_fields();
        if let Some(field) = own.iter().find(|field| input.field_with_name(field.name()).is_ok()) {
            return usage_error(format!(
                "{NAME}: the jobs have a column {}, which the answer has too: rename or drop it",
                field.name()
            ));
        }
        let fields: Vec<_> = input.fields().iter().cloned().chain(own.into_iter().map(Arc::new)).collect();
        Ok(Binding { schema: Arc::new(Schema::new(fields)), reads: vec![reads], carries: Some(0) })
    }

    fn run(&self, call: &Call, run: &mut Run) -> Result<()> {
        if run.kernels().device == "cuda" {
            return usage_error(
                "bonnet.device is cuda, but this build trains on the CPU only: SET bonnet.device = 'cpu' (or auto)",
            );
        }
        let batches = run.collect(0)?;
        let jobs = jobs::read(call, &batches)?;
        let mut by_graph: BTreeMap<&str, Vec<&JobRow>> = BTreeMap::new();
        let mut order: Vec<&str> = Vec::new();
        for job in &jobs {
            match &job.graph {
                None => emit(run, &batches, job, &Err(Failure::error("graph is NULL: name a graph")))?,
                Some(graph) => {
                    let jobs = by_graph.entry(graph).or_default();
                    if jobs.is_empty() {
                        order.push(graph);
                    }
                    jobs.push(job);
                }
            }
        }

        // Several graphs at a time, so that the threads have work though each graph has few jobs.
        let enough = 4 * run.kernels().pool.current_num_threads();
        let mut ready: Vec<(LoadedGraph, &[&JobRow])> = Vec::new();
        for (i, name) in order.iter().enumerate() {
            let jobs = by_graph[name].as_slice();
            match load(run, name, jobs)? {
                Ok(graph) => ready.push((graph, jobs)),
                Err(failure) => {
                    let failure = Err(failure);
                    jobs.iter().try_for_each(|job| emit(run, &batches, job, &failure))?;
                }
            }
            let waiting: usize = ready.iter().map(|(_, jobs)| jobs.len()).sum();
            if waiting >= enough || i + 1 == order.len() {
                train_all(run, &batches, &ready)?;
                ready.clear();
            }
        }
        Ok(())
    }
}

/// Why a job has no figures.
#[derive(Debug, Clone)]
struct Failure {
    status: Status,
    text: String,
}

impl Failure {
    fn error(text: impl Into<String>) -> Self {
        Self { status: Status::Error, text: text.into() }
    }
}

/// Reads a job's graph. What is wrong with the graph fails its jobs alone; only the query's end ends them all.
fn load(run: &Run, name: &str, jobs: &[&JobRow]) -> Result<Result<LoadedGraph, Failure>> {
    let given = |job: &&&JobRow| job.options.as_ref().is_ok_and(|options| options.features == FeatureSource::Given);
    let with_features = jobs.iter().any(|job| given(&job));
    let loaded = run.wait(run.graphs().tables(name)).and_then(|tables| LoadedGraph::read(run, &tables, with_features));
    run.host().check().map_err(stopped)?;
    Ok(loaded.map_err(|error| match error {
        DataFusionError::ResourcesExhausted(text) => Failure { status: Status::OutOfMemory, text },
        error => Failure::error(text_of(&error)),
    }))
}

/// The text of an error without DataFusion's wrappers.
fn text_of(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Plan(text) | DataFusionError::Execution(text) => text.clone(),
        DataFusionError::Context(_, inner) => text_of(inner),
        DataFusionError::External(inner) => inner.to_string(),
        DataFusionError::Shared(inner) => text_of(inner),
        other => other.strip_backtrace(),
    }
}

type Answer = Result<Outcome, Failure>;

/// Trains all jobs in the pool and emits each row as its run ends.
fn train_all(run: &Run, batches: &[RecordBatch], graphs: &[(LoadedGraph, &[&JobRow])]) -> Result<()> {
    let (done, rows) = mpsc::channel::<(&JobRow, Answer)>();
    let (pool, host) = (Arc::clone(&run.kernels().pool), run.host());
    std::thread::scope(|threads| {
        // The jobs wait in the pool; this thread hands their rows on.
        threads.spawn(move || {
            pool.in_place_scope(|tasks| {
                for (graph, jobs) in graphs {
                    for &job in *jobs {
                        let done = done.clone();
                        tasks.spawn(move |_| {
                            if let Some(answer) = train_one(graph, job, host) {
                                // Nobody listens once the query has ended.
                                let _ = done.send((job, answer));
                            }
                        });
                    }
                }
            });
        });
        rows.iter().try_for_each(|(job, answer)| emit(run, batches, job, &answer))
    })?;
    run.host().check().map_err(stopped)
}

/// One run; `None` when the query has ended. A panic is a defect of ours and fails this job alone.
fn train_one(graph: &LoadedGraph, job: &JobRow, host: &Host) -> Option<Answer> {
    host.check().ok()?;
    let attempt = || {
        let options = job.options.as_ref().map_err(Failure::error)?;
        let data = graph.data(options).map_err(Failure::error)?;
        let split = graph.split(&data, &job.choice, options.seed).map_err(Failure::error)?;
        if split.val.is_empty() && split.test.is_empty() {
            return Err(Failure::error(
                "the split leaves no labelled node to validate or test: choose another split_scheme",
            ));
        }
        let outcome = crate::train(&data, &split, options, host, &mut |_| {});
        outcome.map(Some).or_else(|error| match (error.status(), error) {
            (None, TrainError::Cancelled) => Ok(None),
            (status, error) => Err(Failure { status: status.unwrap_or(Status::Error), text: error.to_string() }),
        })
    };
    match std::panic::catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(answer) => answer.transpose(),
        Err(_) => Some(Err(Failure::error("the run failed by a defect of the engine, please report it"))),
    }
}

/// The job's row.
fn emit(run: &Run, batches: &[RecordBatch], job: &JobRow, answer: &Answer) -> Result<()> {
    let text = |value: Option<&str>| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
    let integer = |value: Option<i64>| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
    let number = |value: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
    let row = batches[job.batch].slice(job.row, 1);
    let mut columns: Vec<ArrayRef> = row.columns().to_vec();
    let (status, error) = match answer {
        Ok(_) => (Status::Ok, None),
        Err(failure) => (failure.status, Some(failure.text.as_str())),
    };
    columns.extend([text(Some(status.name())), text(error)]);
    let outcome = answer.as_ref().ok();
    let figures = |metrics: Option<&Metrics>| {
        let metrics = metrics.copied().unwrap_or_default();
        let Metrics { accuracy, macro_f1, f1, auc, ap, mae, mse } = metrics;
        [accuracy, macro_f1, f1, auc, ap, mae, mse].map(number)
    };
    columns.extend(figures(outcome.map(|outcome| &outcome.val)));
    columns.extend(figures(outcome.map(|outcome| &outcome.test)));
    columns.push(integer(outcome.map(|outcome| i64::from(outcome.best_epoch))));
    columns.push(integer(outcome.map(|outcome| i64::from(outcome.epochs_run))));
    columns.push(integer(outcome.map(|outcome| outcome.parameters as i64)));
    columns.push(number(outcome.map(|outcome| outcome.train_seconds)));
    columns.push(number(outcome.map(|outcome| outcome.test_seconds)));
    columns.push(integer(outcome.map(|outcome| outcome.peak_memory as i64)));
    columns.push(text(outcome.map(|outcome| outcome.device)));
    let batch = RecordBatch::try_new(Arc::clone(run.schema()), columns);
    run.emit(batch.map_err(|error| execution_error(format!("{NAME}: {error}")))?)
}
