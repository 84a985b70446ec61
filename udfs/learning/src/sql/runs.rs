//! The runs of `train`, `predict`, `embed` and `training_curve`: jobs in, runs in the pool, rows out as runs finish.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, mpsc};

use arrow::array::{ArrayRef, RecordBatch, StringArray, new_null_array};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::{Monitor, Reservation, Stopped};
use bonnet_sql::{Binding, Call, ErrorKind, Host, Parameter, Raised, Run, stopped, usage_error};
use datafusion::common::{DataFusionError, Result};

use super::collection::LoadedCollection;
use super::complexes::{self, COMPLEXES, ComplexTable};
use super::execution::{RunMonitor, rows, text_of};
use super::given::pairs::{self, PAIRS, PairTable};
use super::given::protocols::{self, PROTOCOL, PROTOCOLS};
use super::given::share;
use super::graph::{LoadedGraph, RequiredParts};
use super::item_table::{self, ITEMS, ItemTable};
use super::jobs::{self, Given, JobRow, LABEL_OPTION, MODEL, OLDER_LABEL_OPTION, Reads};
use super::notices::{FailedRuns, Notices};
use super::provenance::{self, Provenance};
use super::timed::graph_items::GraphItems;
pub(super) use super::trained::{CompletedRun, Failure};
use super::trained::{groups, train_jobs};
use super::training_data::TrainingData;
use crate::training::device::Place;
use crate::{EvaluateOn, FanoutOrder, Featureless, SamplerKind, Status, TrainOptions, reads_types};

/// The column of the classes that a split leaves out.
pub(super) const LEFT_OUT: &str = "left_out";

/// A function over jobs: how it reads them and what it answers for a run.
pub(super) trait Answer: Sync {
    /// The way in which the jobs are read.
    fn reads(&self) -> Reads;

    /// The function's own columns, behind those of the job.
    fn fields(&self, call: &Call) -> Vec<Field>;

    /// Sets the options of a run that the answer needs.
    fn prepare(&self, _options: &mut TrainOptions) {}

    /// The own columns of a run that ended well, as many rows each.
    fn rows(&self, run: &CompletedRun, call: &Call) -> std::result::Result<Vec<ArrayRef>, String>;

    /// The own columns of a run without figures: one row, or one for each epoch that it had.
    fn failure(&self, failure: &Failure, call: &Call) -> Vec<ArrayRef> {
        let (status, error) = (failure.status.name(), failure.text.as_str());
        let start = failure.start.columns();
        let column = |field: &Field| -> ArrayRef {
            match field.name().as_str() {
                "status" => Arc::new(StringArray::from(vec![status])),
                "error" => Arc::new(StringArray::from(vec![error])),
                PROTOCOL => Arc::new(StringArray::from(vec![protocols::of_all(call)])),
                MODEL => Arc::new(StringArray::from(vec![failure.model.as_deref()])),
                name => match provenance::COLUMNS.iter().position(|column| *column == name) {
                    Some(i) => Arc::clone(&start[i]),
                    None => new_null_array(field.data_type(), 1),
                },
            }
        };
        self.fields(call).iter().map(column).collect()
    }
}

/// `status` and `error` of `rows` rows of a run that ended well.
pub(super) fn ok_columns(rows: usize) -> [ArrayRef; 2] {
    let status = StringArray::from_iter_values(std::iter::repeat_n(Status::Ok.name(), rows));
    [Arc::new(status), new_null_array(&DataType::Utf8, rows)]
}

/// Fields that may be NULL.
pub(super) fn field(name: impl Into<String>, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

/// The relations and options that every function over jobs of one graph each declares; `jobs` says what the jobs are.
pub(super) fn parameters(jobs: &'static str) -> [Parameter; 6] {
    [
        Parameter::relation("jobs", jobs),
        complexes::parameter(),
        item_table::parameter(),
        pairs::parameter(),
        protocols::parameter(),
        share::parameter(),
    ]
}

/// Checks a call of a function over jobs.
pub(super) fn bind(answer: impl Answer + Send + 'static, call: &Call) -> Result<Binding> {
    let reads = answer.reads();
    let columns = jobs::check(&reads, call)?;
    let input = &call.inputs[0].schema;
    let mut inputs = vec![columns];
    for given in &call.inputs[1..] {
        inputs.push(match given.name.as_str() {
            ITEMS => item_table::check(reads.function, &given.schema, jobs::name_graphs(call))?,
            PAIRS => pairs::check(reads.function, &given.schema)?,
            PROTOCOLS => protocols::check(reads.function, &given.schema)?,
            _ => complexes::check(reads.function, &given.schema)?,
        });
    }
    let given: Vec<&str> = [COMPLEXES, ITEMS, PAIRS].into_iter().filter(|name| call.input(name).is_some()).collect();
    if given.len() > 1 {
        let given = given.join(" and ");
        return usage_error(format!("{}: {given} are both given: keep one of them", reads.function));
    }
    let own = answer.fields(call);
    if let Some(field) = own.iter().find(|field| input.field_with_name(field.name()).is_ok()) {
        let advice = match field.name().as_str() {
            LABEL_OPTION => format!("call it {OLDER_LABEL_OPTION}, the older name of the option"),
            _ => "rename or drop it".to_owned(),
        };
        return usage_error(format!(
            "{}: the jobs have a column {}, which the answer has too: {advice}",
            reads.function,
            field.name()
        ));
    }
    let fields: Vec<_> = input.fields().iter().cloned().chain(own.into_iter().map(Arc::new)).collect();
    let call = call.clone();
    let run = move |host: &mut Run| run(&answer, &call, host);
    Ok(Binding::new(Arc::new(Schema::new(fields)), inputs, run).carrying(0))
}

/// Runs all jobs.
fn run(answer: &dyn Answer, call: &Call, run: &mut Run) -> Result<()> {
    let place = match Place::of(&run.kernels().device) {
        Ok(place) => place,
        Err(why) => return usage_error(why),
    };
    let batches = run.collect(0)?;
    let complexes = match call.input(COMPLEXES) {
        Some(input) => Some(ComplexTable::new(&run.collect(input)?)?),
        None => None,
    };
    let items = match call.input(ITEMS) {
        Some(input) => Some(ItemTable::new(&run.collect(input)?)?),
        None => None,
    };
    let pairs = call.input(PAIRS).map(|input| PairTable::new(&run.collect(input)?)).transpose()?;
    let protocols = call.input(PROTOCOLS).map(|input| protocols::read(&run.collect(input)?)).transpose()?;
    let mut given = Given { pairs, protocols: protocols.unwrap_or_default() };
    let mut jobs = jobs::read(&answer.reads(), call, &mut given, &batches)?;
    let closed = jobs::doors_closed(run.context().session_config().options());
    if let Some(what) = jobs.iter().find_map(JobRow::door).filter(|_| closed) {
        let text = format!("{what} is refused: bonnet.external_access is off in this session");
        return Err(Raised::new(ErrorKind::Forbidden, text).into());
    }
    jobs.iter_mut().filter_map(|job| job.options.as_mut().ok()).for_each(|options| answer.prepare(options));
    let execution = Execution { answer, call, run, batches, place, failed: RefCell::default() };
    // The total is announced before the first run starts, so that the remaining time can be estimated.
    let epochs = jobs.iter().filter_map(|job| job.options.as_ref().ok()).map(|options| u64::from(options.epochs));
    run.host().expect(epochs.sum());

    // Jobs of one graph follow one another, so that it is read once.
    let mut by_graph: BTreeMap<(&str, bool), Vec<&JobRow>> = BTreeMap::new();
    let mut order: Vec<(&str, bool)> = Vec::new();
    for job in &jobs {
        match (&job.options, &job.graph) {
            (Err(error), _) => execution.fail(job, Failure::error(error))?,
            (_, None) if complexes.is_none() && items.is_none() => {
                execution.fail(job, Failure::error("graph is NULL: name a graph"))?;
            }
            (Ok(options), graph) => {
                let of_graph = graph.is_some() && items.is_some();
                if let Some(why) = misplaced(options, of_graph) {
                    execution.fail(job, Failure::error(why))?;
                    continue;
                }
                let key = (graph.as_deref().unwrap_or_default(), options.task.is_of_graphs());
                let jobs = by_graph.entry(key).or_default();
                if jobs.is_empty() {
                    order.push(key);
                }
                jobs.push(job);
            }
        }
    }
    // Several graphs at a time, so that the threads have work though each graph has few jobs.
    let enough = 4 * run.kernels().pool.current_num_threads();
    let mut ready: Vec<(TrainingData, &[&JobRow])> = Vec::new();
    for (i, key) in order.iter().enumerate() {
        let jobs = by_graph[key].as_slice();
        let loaded = match (&complexes, &items) {
            (Some(table), _) => {
                failed(run, table.collection(run, jobs[0].graph.as_deref()).map(TrainingData::Complexes))?
            }
            (None, Some(table)) => match jobs[0].graph.as_deref() {
                None => failed(run, table.items(run, &labels(jobs)).map(TrainingData::Items))?,
                Some(graph) => load_items(run, graph, jobs, table)?,
            },
            (None, None) => load(run, key.0, key.1, jobs)?,
        };
        match loaded {
            Ok(loaded) => ready.push((loaded, jobs)),
            Err(failure) => jobs.iter().try_for_each(|job| execution.fail(job, failure.clone()))?,
        }
        let waiting: usize = ready.iter().map(|(_, jobs)| jobs.len()).sum();
        if waiting >= enough || i + 1 == order.len() {
            execution.train(&ready)?;
            ready.clear();
        }
    }
    let Failures { count: failed, first } = execution.failed.into_inner();
    let notices = run.context().session_config().get_extension::<Notices>();
    if let (Some(notices), Some((_, reason))) = (notices, first) {
        notices.add(FailedRuns { function: answer.reads().function, failed, jobs: jobs.len(), reason });
    }
    Ok(())
}

/// The jobs of a call that failed.
#[derive(Debug, Default)]
struct Failures {
    count: usize,
    /// Batch and row of the first of the jobs, whichever failed first, with the reason.
    first: Option<((usize, usize), String)>,
}

impl Failures {
    fn add(&mut self, job: &JobRow, why: String) {
        self.count += 1;
        let place = (job.batch, job.row);
        if self.first.as_ref().is_none_or(|(first, _)| place < *first) {
            self.first = Some((place, why));
        }
    }
}

/// The columns of labels of some jobs.
fn labels<'a>(jobs: &[&'a JobRow]) -> BTreeSet<&'a str> {
    jobs.iter().map(|job| job.label()).collect()
}

/// Reads a job's graph, unless it is cached. What is wrong with it fails its jobs alone; only the query's end ends them all.
fn load(run: &Run, name: &str, collection: bool, jobs: &[&JobRow]) -> Result<Result<TrainingData, Failure>> {
    let any = |reads: &dyn Fn(&TrainOptions) -> bool| jobs.iter().any(|job| job.options.as_ref().is_ok_and(reads));
    let required = RequiredParts {
        labels: &labels(jobs).into_iter().collect::<Vec<_>>(),
        features: any(&|options| options.features.reads_given()),
        arcs: any(&TrainOptions::reads_arcs),
        weights: any(&TrainOptions::reads_weights),
        types: any(&reads_types),
        means: any(&|options| options.featureless == Featureless::NeighborMean),
        rows: false,
    };
    let loaded = run.wait(run.graphs().tables(name)).and_then(|tables| match collection {
        true => LoadedCollection::read(run, &tables, required).map(TrainingData::Collection),
        false => LoadedGraph::read(run, &tables, required).map(TrainingData::Graph),
    });
    failed(run, loaded)
}

/// Reads a graph whose nodes are the items of its jobs; [`load`].
fn load_items(run: &Run, name: &str, jobs: &[&JobRow], table: &ItemTable) -> Result<Result<TrainingData, Failure>> {
    let required = RequiredParts {
        labels: &[],
        features: true,
        arcs: false,
        weights: false,
        types: true,
        means: false,
        rows: true,
    };
    let loaded = run.wait(run.graphs().tables(name)).and_then(|tables| {
        let graph = LoadedGraph::read(run, &tables, required)?;
        GraphItems::new(graph, table.items(run, &labels(jobs))?).map(TrainingData::GraphItems)
    });
    failed(run, loaded)
}

/// What a job says that its items do not read: those of a graph have an order of their neighbours, all others a sampler.
fn misplaced(options: &TrainOptions, of_graph: bool) -> Option<String> {
    let TrainOptions { fanout_order, sampler, evaluate_on, .. } = options;
    match of_graph {
        true if *sampler != SamplerKind::default() => Some(format!(
            "sampler is `{sampler}`; valid: neighbors: each item of a graph has a neighbourhood of its own"
        )),
        true if *evaluate_on != EvaluateOn::default() => Some(format!(
            "evaluate_on is `{evaluate_on}`; valid: graph: figures of items are those of their whole neighbourhoods"
        )),
        false if *fanout_order != FanoutOrder::default() => {
            Some(format!("fanout_order is `{fanout_order}`, and is read for items of a graph alone: leave it out"))
        }
        _ => None,
    }
}

/// A graph's error as the failure of its jobs.
fn failed(run: &Run, loaded: Result<TrainingData>) -> Result<Result<TrainingData, Failure>> {
    run.host().check().map_err(stopped)?;
    Ok(loaded.map_err(|error| match error {
        DataFusionError::ResourcesExhausted(text) => Failure::new(Status::OutOfMemory, text),
        error => Failure::error(text_of(&error)),
    }))
}

struct Execution<'a> {
    answer: &'a dyn Answer,
    call: &'a Call,
    run: &'a Run,
    batches: Vec<RecordBatch>,
    place: Place,
    failed: RefCell<Failures>,
}

/// What a run comes to.
struct RunColumns<'a> {
    /// The job's own columns.
    columns: Vec<ArrayRef>,
    /// Why it has no figures, if it has none.
    failure: Option<String>,
    /// Covers the columns until they are emitted.
    _memory: Option<Reservation<'a>>,
}

impl Execution<'_> {
    fn fail(&self, job: &JobRow, failure: Failure) -> Result<()> {
        if let Ok(options) = &job.options {
            self.run.host().advance(u64::from(options.epochs));
        }
        let failure = Failure { model: job.model().map(String::into_boxed_str), ..failure };
        let columns = self.answer.failure(&failure, self.call);
        self.failed.borrow_mut().add(job, failure.text);
        rows::emit(self.run, self.answer.reads().function, &self.batches, job, columns)
    }

    /// Trains all jobs in the pool and emits the rows of each as its run ends.
    fn train(&self, graphs: &[(TrainingData, &[&JobRow])]) -> Result<()> {
        let (answer, call, host, place) = (self.answer, self.call, self.run.host(), self.place);
        let (done, rows) = mpsc::channel::<(&JobRow, RunColumns<'_>)>();
        let pool = Arc::clone(&self.run.kernels().pool);
        let threads = pool.current_num_threads();
        std::thread::scope(|scope| {
            // The jobs wait in the pool; this thread emits their rows.
            scope.spawn(move || {
                pool.in_place_scope(|tasks| {
                    for (loaded, jobs) in graphs {
                        for group in groups(loaded, jobs, threads) {
                            let done = done.clone();
                            tasks.spawn(move |_| {
                                let runs = several(answer, call, loaded, &group, place, host).unwrap_or_default();
                                for run in group.into_iter().zip(runs) {
                                    // The receiver is gone once the query has ended.
                                    let _ = done.send(run);
                                }
                            });
                        }
                    }
                });
            });
            rows.iter().try_for_each(|(job, run)| {
                if let Some(why) = run.failure {
                    self.failed.borrow_mut().add(job, why);
                }
                rows::emit(self.run, answer.reads().function, &self.batches, job, run.columns)
            })
        })?;
        host.check().map_err(stopped)
    }
}

/// Runs that are trained together and the rows of each; `None` when the query has ended. A panic is a defect of ours and fails one
/// job alone.
fn several<'a>(
    answer: &dyn Answer,
    call: &Call,
    loaded: &TrainingData,
    jobs: &[&JobRow],
    place: Place,
    host: &'a Host,
) -> Option<Vec<RunColumns<'a>>> {
    type Done = std::result::Result<Option<Vec<ArrayRef>>, Failure>;
    host.check().ok()?;
    let epochs = |job: &JobRow| job.options.as_ref().map_or(0, |options| u64::from(options.epochs));
    let monitors: Vec<RunMonitor<'_>> = jobs.iter().map(|job| RunMonitor::new(host, epochs(job))).collect();
    let start = |job: &&JobRow| {
        let start = job.options.as_ref().map(|options| {
            let read = loaded.content(options, job.label());
            Provenance::now(job.choice.pairs.iter().fold(read, |read, pairs| read + pairs.hash()))
        });
        start.unwrap_or_default()
    };
    let starts: Vec<Provenance> = jobs.iter().map(start).collect();
    let attempt = || -> Vec<Done> {
        let rows = |run: CompletedRun| answer.rows(&run, call).map_err(Failure::error);
        let done = train_jobs(loaded, jobs, place, &starts, &monitors);
        done.into_iter().map(|done| done.and_then(|done| done.map(rows).transpose())).collect()
    };
    let done = match std::panic::catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(done) => done,
        Err(_) if jobs.len() > 1 => {
            let alone = jobs.iter().map(|job| several(answer, call, loaded, &[*job], place, host));
            return alone.collect::<Option<Vec<_>>>().map(|runs| runs.into_iter().flatten().collect());
        }
        Err(_) => vec![Err(Failure::error("the run failed by a defect of the engine, please report it"))],
    };
    let of_job = |((done, job), start): ((Done, &&JobRow), Provenance)| {
        let failed = |failure: Failure| {
            let model = job.model().map(String::into_boxed_str);
            (answer.failure(&Failure { start, model, ..failure.clone() }, call), Some(failure.text))
        };
        let (columns, failure) = match done {
            Ok(columns) => (columns?, None),
            Err(failure) => failed(failure),
        };
        let bytes = columns.iter().map(|column: &ArrayRef| column.get_array_memory_size()).sum();
        match Reservation::new(host, bytes) {
            Ok(memory) => Some(RunColumns { columns, failure, _memory: Some(memory) }),
            Err(Stopped::Cancelled) => None,
            Err(Stopped::OutOfMemory(text)) => {
                let (columns, failure) = failed(Failure::new(Status::OutOfMemory, text));
                Some(RunColumns { columns, failure, _memory: None })
            }
        }
    };
    done.into_iter().zip(jobs).zip(starts).map(of_job).collect()
}
