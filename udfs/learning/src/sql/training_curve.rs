//! `training_curve(jobs [, complexes => relation] [, items => relation] [, pairs => relation] [, protocols => relation]
//! [, option => value ...])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field};
use bonnet_sql::{Body, Call, Function};

use super::jobs::Reads;
use super::runs::{self, Answer, CompletedRun, Failure, field, ok_columns};
use super::train::{FIGURES, figures};
use crate::tasks::metrics::Metrics;
use crate::{EpochRecord, TrainOptions};

const READS: Reads = Reads { function: "training_curve", save: false, as_loaded: false, of_sets: false };

/// The registration.
pub fn training_curve() -> Function {
    Function::new(READS.function, Body::Run(Arc::new(|call: &Call| runs::bind(TrainingCurve, call))))
        .parameters(runs::parameters("One row a run, as train takes them."))
        .open_options()
        .returns(
            "the job's columns, epoch, train_loss, val_loss, val_ and test_ accuracy, macro_f1, f1, auc, ap, mae, mse, rmse, \
             r2, selected, status, error",
        )
        .description(
            "A row for every epoch of every run. train_loss is taken before the step, with dropout; val_loss and the \
             figures after it. selected is true in the epoch whose figures train reports. Test figures influence nothing. \
             Jobs are those of train. A job that fails has the epochs before it failed, or one row, with its status and \
             error.",
        )
        .example(
            "SELECT epoch, train_loss, val_accuracy, selected FROM training_curve((SELECT 'karate' AS graph, 'gcn' AS \
             model), epochs => 5, features => 'identity') ORDER BY epoch",
        )
        .source("as train")
}

struct TrainingCurve;

impl Answer for TrainingCurve {
    fn reads(&self) -> Reads {
        READS
    }

    fn fields(&self, _call: &Call) -> Vec<Field> {
        let number = |name: String| field(name, DataType::Float64);
        let mut fields = vec![field("epoch", DataType::Int64)];
        fields.extend(["train_loss", "val_loss"].map(|name| number(name.to_owned())));
        for part in ["val", "test"] {
            fields.extend(FIGURES.map(|figure| number(format!("{part}_{figure}"))));
        }
        fields.push(field("selected", DataType::Boolean));
        fields.extend(["status", "error"].map(|name| field(name, DataType::Utf8)));
        fields
    }

    fn prepare(&self, options: &mut TrainOptions) {
        (options.test_each_epoch, options.every_figure) = (true, true);
    }

    fn rows(&self, run: &CompletedRun, _call: &Call) -> std::result::Result<Vec<ArrayRef>, String> {
        let mut columns = columns(&run.epochs, run.outcome.best_epoch);
        columns.extend(ok_columns(run.epochs.len()));
        Ok(columns)
    }

    fn failure(&self, failure: &Failure, _call: &Call) -> Vec<ArrayRef> {
        let none = [None];
        let rows = failure.epochs.len().max(1);
        let mut columns = match failure.epochs.as_slice() {
            [] => {
                let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![None]))];
                columns.extend((0..2 + 2 * FIGURES.len()).map(|_| numbers(none.into_iter())));
                columns.push(Arc::new(BooleanArray::from(vec![None])));
                columns
            }
            epochs => columns(epochs, 0),
        };
        let repeated = |text: &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text.to_owned(), rows)))
        };
        columns.extend([repeated(failure.status.name()), repeated(&failure.text)]);
        columns
    }
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(values))
}

fn columns(epochs: &[EpochRecord], selected: u32) -> Vec<ArrayRef> {
    let mut columns: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from_iter_values(epochs.iter().map(|record| i64::from(record.epoch))))];
    columns.push(numbers(epochs.iter().map(|record| Some(record.train_loss))));
    columns.push(numbers(epochs.iter().map(|record| record.val_loss)));
    let parts: [fn(&EpochRecord) -> &Metrics; 2] = [|record| &record.val, |record| &record.test];
    for part in parts {
        columns.extend((0..FIGURES.len()).map(|f| numbers(epochs.iter().map(|record| figures(part(record))[f]))));
    }
    columns.push(Arc::new(BooleanArray::from_iter(epochs.iter().map(|record| Some(record.epoch == selected)))));
    columns
}
