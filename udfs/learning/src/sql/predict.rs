//! `predict(jobs [, complexes => relation] [, items => relation] [, pairs => relation] [, protocols => relation]
//! [, option => value ...])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Float64Builder, ListArray, StringBuilder};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use bonnet_sql::{Body, Call, Function};

use super::graph::TIME;
use super::item_table::ITEMS;
use super::items::Data;
use super::jobs::Reads;
use super::runs::{self, Answer, CompletedRun, field, ok_columns};
use super::splits::parts;
use crate::data::ComplexSet;
use crate::kernels::loss::arg_max;
use crate::kernels::pairs::sigmoid;
use crate::tasks::metrics::softmax;
use crate::{GraphSet, Part, Split, Targets};

const READS: Reads = Reads { function: "predict", save: false, as_loaded: true, of_sets: false };

/// The registration.
pub fn predict() -> Function {
    Function::new(READS.function, Body::Run(Arc::new(|call: &Call| runs::bind(Predict, call))))
        .parameters(runs::parameters("One row a run, as train takes them."))
        .open_options()
        .returns(
            "the job's columns, node, time where items has one, part (train, val, test or NULL), label, prediction, probability \
             (of the prediction), dst, status, error, outputs",
        )
        .description(
            "The predictions of a run's selected epoch, a row for every node of the graph; keys and labels are text. Jobs \
             are those of train; with load and without epochs the saved parameters are used as they are. In graph tasks \
             node is the graph_id; a regression predicts a number and has no probability. In link prediction a row is a \
             pair, node and dst: every edge, and the pairs without an edge that validation and test are scored against; \
             label and prediction are 1 or 0. Items with a NULL split, or all where parameters are loaded, need no label: a run on items that is \
             saved keeps the labels of its classes. outputs (FLOAT[]) holds what the model gives for the row: a logit for each class in ascending order of their \
             labels, the logit of a pair, the number or numbers of a regression; lists of numbers are text such as \
             [1, 2, 1] in label and prediction. A job that fails is one row with its status and error.",
        )
        .example(
            "SELECT node, part, label, prediction, probability FROM predict((SELECT 'karate' AS graph, 'gcn' AS model), \
             epochs => 20, features => 'identity') ORDER BY probability LIMIT 3",
        )
        .source("as train")
}

struct Predict;

fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, true))
}

impl Answer for Predict {
    fn reads(&self) -> Reads {
        READS
    }

    fn fields(&self, call: &Call) -> Vec<Field> {
        let text = |name: &str| field(name, DataType::Utf8);
        let mut fields = vec![
            text("node"),
            text("part"),
            text("label"),
            text("prediction"),
            field("probability", DataType::Float64),
            text("dst"),
            text("status"),
            text("error"),
            field("outputs", DataType::List(item())),
        ];
        if let Some(time) = time_of(call) {
            fields.insert(1, field(TIME, time));
        }
        fields
    }

    fn rows(&self, run: &CompletedRun, call: &Call) -> std::result::Result<Vec<ArrayRef>, String> {
        let names = &run.items.names;
        let logits = &run.outcome.logits;
        let mut rows = PredictionColumns::default();
        let class = |class: u32| names.classes[class as usize].as_str();
        let mut of_classes = |labels: &[Option<u32>], split: &Split| {
            for (item, part) in parts(split, labels.len()).into_iter().enumerate() {
                let predicted = arg_max(logits.row(item));
                let probability = softmax(logits.row(item))[predicted as usize];
                let label = labels[item].map(class);
                rows.push(names.key(item as u32), None, part, label, class(predicted), Some(probability));
            }
        };
        match &run.items.data {
            Data::Nodes(data, split) => of_classes(data.labels(), split),
            Data::NodeValues(_, targets, split) => of_numbers(&mut rows, targets, split, run),
            Data::Graphs(GraphSet { targets, .. }, split) | Data::Complexes(ComplexSet { targets, .. }, split) => {
                match targets {
                    Targets::Classes(labels, _) => of_classes(labels, split),
                    targets => of_numbers(&mut rows, targets, split, run),
                }
            }
            Data::Links(_, split) => {
                for (((u, v), part, is_edge), &logit) in split.pairs().zip(&logits.values) {
                    let p = sigmoid(f64::from(logit));
                    let (prediction, probability) = if p >= 0.5 { ("1", p) } else { ("0", 1.0 - p) };
                    let label = Some(if is_edge { "1" } else { "0" });
                    let ends = (names.key(u), Some(names.key(v)));
                    rows.push(ends.0, ends.1, Some(part), label, prediction, Some(probability));
                }
            }
        }
        // Offsets are 32 bits; a table that large is read in parts.
        i32::try_from(logits.values.len())
            .map_err(|_| format!("{} numbers are too many for one answer", logits.values.len()))?;
        let mut columns = rows.finish();
        let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(logits.columns, columns[0].len()));
        let values = Arc::new(Float32Array::from(logits.values.clone()));
        columns.push(Arc::new(ListArray::new(item(), offsets, values, None)));
        if let (Some(_), Some(times)) = (time_of(call), &names.times) {
            columns.insert(1, Arc::clone(times));
        }
        Ok(columns)
    }
}

fn of_numbers(rows: &mut PredictionColumns, targets: &Targets, split: &Split, run: &CompletedRun) {
    let text = |numbers: &mut dyn Iterator<Item = f64>| match targets {
        Targets::Vectors(..) => {
            format!("[{}]", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", "))
        }
        _ => numbers.next().unwrap_or(f64::NAN).to_string(),
    };
    for (item, part) in (0u32..).zip(parts(split, targets.len())) {
        let label = targets.is_known(item as usize).then(|| text(&mut targets.numbers(item).iter().copied()));
        let row = run.outcome.logits.row(item as usize);
        let prediction = text(&mut row.iter().map(|&number| f64::from(number)));
        rows.push(run.items.names.key(item), None, part, label.as_deref(), &prediction, None);
    }
}

/// The type of the times of the items, where they have some.
fn time_of(call: &Call) -> Option<DataType> {
    let items = &call.inputs[call.input(ITEMS)?];
    items.schema.field_with_name(TIME).ok().map(|time| time.data_type().clone())
}

#[derive(Debug, Default)]
struct PredictionColumns {
    count: usize,
    node: StringBuilder,
    dst: StringBuilder,
    part: StringBuilder,
    label: StringBuilder,
    prediction: StringBuilder,
    probability: Float64Builder,
}

impl PredictionColumns {
    fn push(
        &mut self,
        node: String,
        dst: Option<String>,
        part: Option<Part>,
        label: Option<&str>,
        prediction: &str,
        probability: Option<f64>,
    ) {
        self.count += 1;
        self.node.append_value(node);
        self.dst.append_option(dst);
        self.part.append_option(part.map(Part::name));
        self.label.append_option(label);
        self.prediction.append_value(prediction);
        self.probability.append_option(probability);
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        let [status, error] = ok_columns(self.count);
        vec![
            Arc::new(self.node.finish()),
            Arc::new(self.part.finish()),
            Arc::new(self.label.finish()),
            Arc::new(self.prediction.finish()),
            Arc::new(self.probability.finish()),
            Arc::new(self.dst.finish()),
            status,
            error,
        ]
    }
}
