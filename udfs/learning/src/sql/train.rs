//! `train(jobs [, complexes => relation] [, items => relation] [, pairs => relation] [, protocols => relation]
//! [, share => 'i/n'] [, option => value ...])`.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field};
use bonnet_sql::{Body, Call, Function, OptionValue};

use super::given::protocols::{self, DEPARTURES, PROTOCOL};
use super::jobs::{DRAW, MODEL, Reads, SAVE, run_columns};
use super::pretraining::Standing;
use super::provenance;
use super::runs::{self, Answer, CompletedRun, LEFT_OUT, field, ok_columns};
use crate::OptionSpec;
use crate::options::COMMON;
use crate::tasks::metrics::Metrics;

const READS: Reads = Reads { function: "train", save: true, as_loaded: false, of_sets: false };

/// The reference: the names of the columns are those of the table of options.
static DESCRIPTION: LazyLock<String> = LazyLock::new(|| {
    let names = |options: &mut dyn Iterator<Item = OptionSpec>| {
        options.map(|option| option.name).collect::<Vec<_>>().join(", ")
    };
    let of_every_model =
        crate::options::table::training(&COMMON).into_iter().chain(crate::options::table::SHARED_OPTIONS);
    format!(
        "Trains a model on a graph for every row of jobs. Columns that mean something: {}; the hyperparameters of every \
         model: {}; and the model's own, which bonnet.models lists. The reference of the models says what each takes. Every \
         other column is carried through. NULL is the default. An option is a column that is the same for every job. \
         Without split and split_scheme a job takes the publisher's split 0, else random:60/20/20; edges are split \
         random:85/5/10. A split beside a drawn split_scheme seeds the draw (else the job's seed does). A job that fails is \
         a row with its status and stops no other; the command says how many did. The same job gives the same row in every column but the seconds, the \
         memory, started_at and host_threads, whatever the thread count.",
        names(&mut run_columns()),
        names(&mut of_every_model.into_iter()),
    )
});

/// The registration.
pub fn train() -> Function {
    Function::new(READS.function, Body::Run(Arc::new(|call: &Call| runs::bind(Train, call))))
        .parameters(runs::parameters("One row a run: graph, model, and any options of it as columns."))
        .open_options()
        .returns(
            "the job's columns, status, error, test_accuracy, val_accuracy and so on with macro_f1, f1, auc, ap, mae, mse, rmse, r2; \
             best_epoch, epochs_run, parameters, train_seconds, test_seconds, peak_memory (bytes), device, input_features (what \
             the option features was, auto as what it stood for), trained_together (how many runs were trained side by side as one, this one \
             among them: those of one graph, features, model and widths that differ in seed, lr, weight_decay, dropout or split; \
             each has the figures that it has alone); with save also saved, the path of the file; with draw, or kshot:k/all for \
             all jobs, left_out, the classes that have fewer than k items; with a protocol its name and the model, where the jobs have no such \
             column, and departures, what the job says otherwise than the protocol; with load also sources and source_hashes, the graphs that \
             the loaded encoder was pre-trained on with the hashes of their edges and features, and target_hash, the same of the job's graph \
             (all NULL of other models); and what it takes \
             to redo the run: engine_version, host_threads, started_at, graph_hash (of the tables that it read with the column \
             of the labels, whatever the order of their rows)",
        )
        .description(&DESCRIPTION)
        .example(
            "SELECT model, status, epochs_run FROM train((SELECT 'karate' AS graph, 'gcn' AS model, 0 AS seed), \
             epochs => 5, features => 'identity')",
        )
        .source("CurvBench (arXiv 2606.06397), Sec. 3 and App. C; models as bonnet.models says")
}

struct Train;

/// The figures of a part, as columns are called.
pub(super) const FIGURES: [&str; 9] = ["accuracy", "macro_f1", "f1", "auc", "ap", "mae", "mse", "rmse", "r2"];

/// The figures in the order of [`FIGURES`].
pub(super) fn figures(metrics: &Metrics) -> [Option<f64>; 9] {
    let Metrics { accuracy, macro_f1, f1, auc, ap, mae, mse, rmse, r2 } = *metrics;
    [accuracy, macro_f1, f1, auc, ap, mae, mse, rmse, r2]
}

fn saves(call: &Call) -> bool {
    call.inputs[0].schema.field_with_name(SAVE).is_ok() || call.options.get(SAVE).is_some()
}

/// Whether jobs may leave out classes of few items, and say so.
fn leaves_out(call: &Call) -> bool {
    let of_all =
        matches!(call.options.get("split_scheme"), Some(OptionValue::Text(scheme)) if scheme.ends_with("/all"));
    of_all || call.inputs[0].schema.field_with_name(DRAW).is_ok() || call.options.get(DRAW).is_some()
}

impl Answer for Train {
    fn reads(&self) -> Reads {
        READS
    }

    fn fields(&self, call: &Call) -> Vec<Field> {
        let mut fields = vec![field("status", DataType::Utf8), field("error", DataType::Utf8)];
        // The figures by which models are compared stand first.
        for figure in FIGURES {
            fields.extend(["test", "val"].map(|part| field(format!("{part}_{figure}"), DataType::Float64)));
        }
        fields.extend(["best_epoch", "epochs_run", "parameters"].map(|name| field(name, DataType::Int64)));
        fields.extend(["train_seconds", "test_seconds"].map(|name| field(name, DataType::Float64)));
        fields.push(field("peak_memory", DataType::Int64));
        fields.extend(["device", "input_features"].map(|name| field(name, DataType::Utf8)));
        fields.push(field("trained_together", DataType::Int64));
        fields.extend(saves(call).then(|| field("saved", DataType::Utf8)));
        fields.extend(leaves_out(call).then(|| field(LEFT_OUT, DataType::Utf8)));
        fields.extend(protocols::of_all(call).map(|_| field(PROTOCOL, DataType::Utf8)));
        fields.extend(protocols::names_models(call).then(|| field(MODEL, DataType::Utf8)));
        fields.extend(protocols::is_named(call).then(|| field(DEPARTURES, DataType::Utf8)));
        fields.extend(Standing::is_asked(call).then(Standing::fields).into_iter().flatten());
        fields.extend(provenance::fields());
        fields
    }

    fn rows(&self, run: &CompletedRun, call: &Call) -> std::result::Result<Vec<ArrayRef>, String> {
        let text = |value: Option<&str>| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
        let integer = |value: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
        let number = |value: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
        let outcome = &run.outcome;
        let mut columns = ok_columns(1).to_vec();
        let of_parts = figures(&outcome.test).into_iter().zip(figures(&outcome.val));
        columns.extend(of_parts.flat_map(|(test, val)| [number(test), number(val)]));
        columns.extend([outcome.best_epoch, outcome.epochs_run].map(|epoch| integer(i64::from(epoch))));
        columns.push(integer(outcome.parameters as i64));
        columns.extend([outcome.train_seconds, outcome.test_seconds].map(|seconds| number(Some(seconds))));
        columns.push(integer(outcome.peak_memory as i64));
        columns.push(text(Some(outcome.device)));
        columns.push(text(Some(&run.features.to_string())));
        columns.push(integer(outcome.trained_together as i64));
        columns.extend(saves(call).then(|| text(run.saved.as_deref())));
        match (leaves_out(call), run.left_out.as_slice()) {
            (true, []) => columns.push(text(None)),
            (true, classes) => columns.push(text(Some(&classes.join(", ")))),
            (false, []) => {}
            (false, classes) => {
                return Err(format!(
                    "the few shots leave out classes that have fewer items ({}), and the answer has no column that says so: give the \
                     jobs a column {DRAW}",
                    classes.join(", ")
                ));
            }
        }
        columns.extend(protocols::of_all(call).map(|name| text(Some(name))));
        columns.extend(protocols::names_models(call).then(|| text(Some(&run.model))));
        columns.extend(protocols::is_named(call).then(|| text(run.departures.as_deref())));
        if Standing::is_asked(call) {
            columns.extend(run.standing.clone().unwrap_or_default().columns());
        }
        columns.extend(run.start.columns());
        Ok(columns)
    }
}
