//! What saved parameters stand on: the graphs of a pre-training, by their names and hashes.

use serde_json::{Value as Json, json};

use super::Saved;
use crate::ground::SaveError;
use crate::models::foundation;
use crate::options::{Job, TrainOptions, Value};

/// The key of the sources in the description of a run, and that of a pre-training.
const SOURCES: &str = "sources";
const PRETRAINED: &str = "pretrained";

/// A graph that a pre-training read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRecord {
    /// Its name then.
    pub graph: String,
    /// The hash of its edges and features.
    pub hash: String,
    /// The hash of its edges.
    pub edges: String,
}

impl SourceRecord {
    /// Several in the description of a run, whose encoder they made; `is_pretraining` says that it is the encoder itself.
    pub fn describe(records: &[Self], is_pretraining: bool, run: &mut Json) {
        let record = |it: &Self| json!({"graph": it.graph, "hash": it.hash, "edges": it.edges});
        run[SOURCES] = records.iter().map(record).collect();
        if is_pretraining {
            run[PRETRAINED] = json!(true);
        }
    }
}

impl Saved {
    /// The graphs that the parameters were pre-trained on, in the order of their names; none of a run that started from nothing.
    pub fn sources(&self) -> Vec<SourceRecord> {
        let records = self.description().get(SOURCES).and_then(Json::as_array);
        let text = |record: &Json, key: &str| record.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let record =
            |it: &Json| SourceRecord { graph: text(it, "graph"), hash: text(it, "hash"), edges: text(it, "edges") };
        records.into_iter().flatten().map(record).collect()
    }

    /// Whether the file is that of a pre-training, not of a run that adapted its encoder.
    pub fn is_pretrained(&self) -> bool {
        self.description().get(PRETRAINED).is_some()
    }

    /// The options of a job that loads the parameters of a pre-trained model: what gives an encoder its shape is as the file has it
    /// where the job does not say it. Other models' options stay as they are.
    ///
    /// # Errors
    /// If the job says another shape, or the file is that of another model.
    pub fn with_shape(&self, job: &Job, mut options: TrainOptions) -> Result<TrainOptions, SaveError> {
        if foundation::of(&options.model).is_none() {
            return Ok(options);
        }
        if self.model() != options.model {
            return Err(SaveError::Model { saved: self.model().to_owned(), needed: options.model.clone() });
        }
        // Of a pre-training it says nothing: no graph has a test part there.
        let of_adaptation = (!self.is_pretrained()).then_some(foundation::REDUCED_ON.name);
        for name in foundation::SHAPE.into_iter().chain(of_adaptation) {
            let recorded = ["/options/", "/options/hyperparameters/"]
                .iter()
                .find_map(|path| self.description().pointer(&format!("{path}{name}")));
            let recorded = match recorded {
                Some(Json::String(text)) => Value::Text(text.clone()),
                Some(Json::Number(number)) => number.as_i64().map_or(Value::Null, Value::Integer),
                _ => continue,
            };
            match job.get(name) {
                Value::Null => {}
                given if given.to_string() == recorded.to_string() => {}
                given => {
                    let (saved, needed) = (recorded.to_string(), given.to_string());
                    return Err(SaveError::Geometry { name, saved, needed });
                }
            }
            match (name, &recorded) {
                ("hidden", Value::Integer(hidden)) => options.hidden = *hidden as usize,
                ("layers", Value::Integer(layers)) => options.layers = *layers as usize,
                _ => {
                    options.hyperparameters.insert(name.to_owned(), recorded);
                }
            }
        }
        Ok(options)
    }
}
