//! `embed(jobs [, complexes => relation] [, items => relation] [, pairs => relation] [, protocols => relation]
//! [, option => value ...])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, ListArray, StringArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use bonnet_sql::{Body, Call, Function};

use super::jobs::Reads;
use super::runs::{self, Answer, CompletedRun, field, ok_columns};
use crate::TrainOptions;

const READS: Reads = Reads { function: "embed", save: false, as_loaded: true, of_sets: false };

/// The registration.
pub fn embed() -> Function {
    Function::new(READS.function, Body::Run(Arc::new(|call: &Call| runs::bind(Embed, call))))
        .parameters(runs::parameters("One row a run, as train takes them."))
        .open_options()
        .returns("the job's columns, node, embedding (FLOAT[]), geometry, status, error")
        .description(
            "The vectors that a run has learnt, of the selected epoch, a row for every node; keys are text. In node \
             classification they are what the last layer reads (a model of one layer has none), in link prediction what \
             the decoder reads; in graph tasks node is the graph_id and the vector is what the linear layer reads. A model of curved \
             space gives points, and their metric in geometry, as embedding_distortion takes it: lorentz(17, -0.7) is a \
             hyperboloid of 17 coordinates and curvature -0.7; geometry is NULL for flat vectors. Jobs \
             are those of train; with load and without epochs the saved parameters are used as they are. A job that fails \
             is one row with its status and error.",
        )
        .example(
            "SELECT node, embedding[1] AS first FROM embed((SELECT 'karate' AS graph, 'gcn' AS model), epochs => 20, \
             hidden => 2, features => 'identity') LIMIT 3",
        )
        .source("as train")
}

struct Embed;

fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, true))
}

impl Answer for Embed {
    fn reads(&self) -> Reads {
        READS
    }

    fn fields(&self, _call: &Call) -> Vec<Field> {
        vec![
            field("node", DataType::Utf8),
            field("embedding", DataType::List(item())),
            field("geometry", DataType::Utf8),
            field("status", DataType::Utf8),
            field("error", DataType::Utf8),
        ]
    }

    fn prepare(&self, options: &mut TrainOptions) {
        options.keep_embeddings = true;
    }

    fn rows(&self, run: &CompletedRun, _call: &Call) -> std::result::Result<Vec<ArrayRef>, String> {
        let Some(vectors) = &run.outcome.embeddings else {
            return Err(
                "the model has no layer before its last: there is no hidden vector to give; use layers => 2 or \
                        more"
                    .to_owned(),
            );
        };
        let names = &run.items.names;
        let rows = names.len();
        // Offsets are 32 bits; a table that large is read in parts.
        i32::try_from(vectors.values.len())
            .map_err(|_| format!("{rows} vectors of {} numbers are too many for one answer", vectors.columns))?;
        let nodes = StringArray::from_iter_values((0..rows as u32).map(|node| names.key(node)));
        let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(vectors.columns, rows));
        let values = Arc::new(Float32Array::from(vectors.values.clone()));
        let geometry = StringArray::from(vec![run.outcome.geometry.as_deref(); rows]);
        let [status, error] = ok_columns(rows);
        let vectors = Arc::new(ListArray::new(item(), offsets, values, None));
        Ok(vec![Arc::new(nodes), vectors, Arc::new(geometry), status, error])
    }
}
