//! The runs of jobs: from a job to its items, through training, to what it comes to.

use std::path::{Path, PathBuf};

use bonnet_graph::{Monitor, Reservation, Stopped};
use bonnet_sql::outside_databases;
use serde_json::json;

use crate::sql::columns::LABEL;
use crate::sql::execution::RunMonitor;
use crate::sql::given::pairs::PAIRS;
use crate::sql::item_table::ITEMS;
use crate::sql::items::{CLASSES, OwnedItems, classes_of};
use crate::sql::jobs::JobRow;
use crate::sql::pretraining::Standing;
use crate::sql::provenance::Provenance;
use crate::sql::splits::ItemsError;
use crate::sql::training_data::TrainingData;
use crate::training::device::Place;
use crate::{
    EpochRecord, FeatureSource, Outcome, Run, Saved, SourceRecord, Status, Task, TrainError, TrainOptions, file_name,
    train, train_together,
};

/// A run that ended well.
pub(in crate::sql) struct CompletedRun {
    pub items: OwnedItems,
    pub outcome: Outcome,
    /// The source of its features, never `auto`.
    pub features: FeatureSource,
    pub epochs: Vec<EpochRecord>,
    /// The file of its parameters.
    pub saved: Option<String>,
    /// Where the job says otherwise than its protocol.
    pub departures: Option<String>,
    /// The model of the job, or of its protocol.
    pub model: String,
    /// The classes that the split leaves out.
    pub left_out: Vec<String>,
    /// What its parameters stand on, where its model is pre-trained.
    pub standing: Option<Standing>,
    pub start: Provenance,
}

/// Why a job has no figures.
#[derive(Debug, Clone)]
pub(in crate::sql) struct Failure {
    pub status: Status,
    pub text: String,
    /// The epochs before it failed.
    pub epochs: Vec<EpochRecord>,
    /// The model of the job, or of its protocol, where it is known.
    pub model: Option<Box<str>>,
    pub start: Provenance,
}

impl Failure {
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), epochs: Vec::new(), model: None, start: Provenance::default() }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self::new(Status::Error, text)
    }
}

/// A job that can be trained.
struct Ready<'a> {
    items: OwnedItems,
    options: TrainOptions,
    saved: Option<Saved>,
    standing: Option<Standing>,
    description: serde_json::Value,
    /// The file for its parameters.
    file: Option<PathBuf>,
    /// The epochs so far, where each has its figures.
    epochs: Vec<EpochRecord>,
    start: Provenance,
    /// Of the items, and of the file that it starts from.
    _memory: [Reservation<'a>; 2],
}

/// What jobs come to; `None` when the query has ended. Several are trained together.
pub(in crate::sql) fn train_jobs(
    loaded: &TrainingData,
    jobs: &[&JobRow],
    place: Place,
    starts: &[Provenance],
    monitors: &[RunMonitor<'_>],
) -> Vec<std::result::Result<Option<CompletedRun>, Failure>> {
    let each = jobs.iter().zip(starts).zip(monitors);
    let mut ready: Vec<_> = each.map(|((job, start), monitor)| prepare(loaded, job, *start, monitor)).collect();
    let trainable = ready.iter_mut().zip(monitors).filter_map(|(ready, monitor)| match ready {
        Ok(Some(ready)) => Some((ready, monitor)),
        _ => None,
    });
    let observed = trainable.map(|(Ready { items, options, saved, epochs, .. }, monitor)| {
        let every = options.every_figure;
        let observe = move |record: &EpochRecord| epochs.extend(every.then(|| record.clone()));
        (items.as_items(), &*options, saved.as_ref(), monitor, observe)
    });
    let mut observed: Vec<_> = observed.collect();
    let outcomes = match &mut observed[..] {
        [(items, options, saved, monitor, observe)] => vec![train(place, *items, *saved, options, *monitor, observe)],
        several => {
            let runs = several.iter_mut().map(|(items, options, _, monitor, observe)| Run {
                items: *items,
                options,
                monitor: *monitor,
                observe,
            });
            train_together(place, runs.collect())
        }
    };
    drop(observed);
    let mut outcomes = outcomes.into_iter();
    let complete = |(ready, job): (std::result::Result<Option<Ready<'_>>, Failure>, &&JobRow)| {
        let Some(ready) = ready? else { return Ok(None) };
        let Some(outcome) = outcomes.next() else { return Ok(None) };
        complete(loaded, job, ready, outcome)
    };
    ready.into_iter().zip(jobs).map(complete).collect()
}

/// Makes a job ready for its training; `None` when the query has ended.
fn prepare<'a>(
    loaded: &TrainingData,
    job: &JobRow,
    start: Provenance,
    monitor: &'a dyn Monitor,
) -> std::result::Result<Option<Ready<'a>>, Failure> {
    let options = job.options.as_ref().map_err(Failure::error)?;
    let stopped = |stopped: Stopped| match stopped {
        Stopped::Cancelled => Ok(None),
        Stopped::OutOfMemory(text) => Err(Failure::new(Status::OutOfMemory, text)),
    };
    let of_items = match Reservation::new(monitor, loaded.bytes()) {
        Ok(memory) => memory,
        Err(reason) => return stopped(reason),
    };
    // The file and its numbers are held side by side while it is read.
    let bytes = job.load.as_ref().and_then(|path| std::fs::metadata(path).ok()).map_or(0, |file| 2 * file.len());
    let of_file = match Reservation::new(monitor, usize::try_from(bytes).unwrap_or(usize::MAX)) {
        Ok(memory) => memory,
        Err(reason) => return stopped(reason),
    };
    let saved = job.load.as_deref().map(|path| Saved::read(Path::new(path))).transpose();
    let saved = saved.map_err(|error| Failure::error(format!("load: {error}")))?;
    let known = saved.as_ref().and_then(classes_of);
    let items = match loaded.items(options, job.label(), &job.choice, known.as_deref(), monitor) {
        Ok(items) => items,
        Err(ItemsError::Error(text)) => return Err(Failure::error(text)),
        Err(ItemsError::Stopped(reason)) => return stopped(reason),
    };
    if options.epochs > 0 && !items.is_held_out() {
        return Err(Failure::error(
            "the split leaves nothing labelled to validate or test: choose another split_scheme",
        ));
    }
    // The file of a run names what it took for `auto`.
    let options = TrainOptions { features: items.as_items().input(options.features), ..options.clone() };
    let former =
        saved.as_ref().map(|saved| saved.with_shape(&job.job, saved.with_former_defaults(&job.job, options.clone())));
    let former = former.transpose().map_err(|error| Failure::error(format!("load: {error}")))?;
    let options = former.unwrap_or(options);
    let standing = loaded.standing(saved.as_ref(), &options).map_err(Failure::error)?;
    let mut description = description(job, &options);
    if loaded.is_of_items() {
        // Items have no name: two tables of them make two files.
        description["items"] = json!(start.graph_hash());
    }
    if let Some(pairs) = &job.choice.pairs {
        description[PAIRS] = json!(pairs.hash().to_string());
    }
    if let Some(standing) = &standing {
        SourceRecord::describe(&standing.sources, false, &mut description);
    }
    let file = job.save.as_deref().map(|folder| file_of(Path::new(folder), job, &options, &description)).transpose()?;
    let (epochs, _memory) = (Vec::new(), [of_items, of_file]);
    Ok(Some(Ready { items, options, saved, standing, description, file, epochs, start, _memory }))
}

/// What a job comes to that was trained; `None` when the query has ended.
fn complete(
    loaded: &TrainingData,
    job: &JobRow,
    ready: Ready<'_>,
    outcome: std::result::Result<Outcome, TrainError>,
) -> std::result::Result<Option<CompletedRun>, Failure> {
    let Ready { items, options, standing, mut description, file, epochs, start, .. } = ready;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(TrainError::Cancelled) => return Ok(None),
        Err(error) => {
            let status = error.status().unwrap_or(Status::Error);
            return Err(Failure { epochs, ..Failure::new(status, loaded.describe(&error)) });
        }
    };
    if let Some(file) = &file {
        if loaded.is_of_items() && options.task == Task::NodeClassification {
            description[CLASSES] = json!(*items.names.classes);
        }
        let saved = Saved::new(&outcome.weights, description).write(file);
        saved.map_err(|error| Failure::error(format!("save: {error}")))?;
    }
    let saved = file.map(|file| file.display().to_string());
    let few = job.choice.least_items().map(|least| items.classes_below(least)).unwrap_or_default();
    let left_out = few.into_iter().map(str::to_owned).collect();
    let (departures, model, features) = (job.departures.clone(), job.job.model.clone(), options.features);
    Ok(Some(CompletedRun { items, outcome, features, epochs, saved, departures, model, left_out, standing, start }))
}

/// The file for a run's parameters. The folder is made now: a run whose result has no place need not start.
fn file_of(
    folder: &Path,
    job: &JobRow,
    options: &TrainOptions,
    description: &serde_json::Value,
) -> std::result::Result<PathBuf, Failure> {
    outside_databases(folder).map_err(|what| Failure::error(format!("save: {what}")))?;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::error(format!("save: the folder {} cannot be made: {error}", folder.display())))?;
    let items = description.get("items").map_or("", |_| ITEMS);
    let graph = job.graph.as_deref().unwrap_or(items);
    Ok(folder.join(file_name(graph, &options.model, options.seed, description)))
}

/// The run in the header of its file.
fn description(job: &JobRow, options: &TrainOptions) -> serde_json::Value {
    let mut text = json!({
        "engine": env!("CARGO_PKG_VERSION"),
        "graph": job.graph,
        "split_scheme": job.choice.scheme,
        "split": job.choice.split,
        "load": job.load,
        "options": options,
    });
    if job.label() != LABEL {
        text["label"] = json!(job.label());
    }
    text
}
