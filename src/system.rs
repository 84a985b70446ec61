//! The rows of the system schema `bonnet`: functions, models, protocols, the audit, cached graphs and settings.

use std::sync::Arc;

use arrow::array::RecordBatch;
use bonnet_catalogs::{CachedGraph, Function, Hyperparameter, Model, Setting, SystemRows};
use bonnet_sql::{CachedGraphRow, GraphCache, Registry};
use datafusion::common::Result;
use datafusion::execution::SessionState;

use crate::settings::BonnetSettings;

/// The rows of `bonnet.functions`, `bonnet.models`, `bonnet.protocols`, `bonnet.audit`, `bonnet.graph_cache` and `bonnet.settings`.
#[derive(Debug)]
pub(crate) struct EngineRows {
    registry: Arc<Registry>,
    graph_cache: Arc<GraphCache>,
}

impl EngineRows {
    pub(crate) fn new(registry: Arc<Registry>, graph_cache: Arc<GraphCache>) -> Self {
        Self { registry, graph_cache }
    }
}

impl SystemRows for EngineRows {
    fn functions(&self) -> Vec<Function> {
        let row = |function: &Arc<bonnet_sql::Function>| Function {
            name: function.name.to_owned(),
            kind: function.kind().name().to_owned(),
            signature: function.signature(),
            returns: function.returns.to_owned(),
            description: function.description.to_owned(),
            example: function.example.to_owned(),
            source: function.source.to_owned(),
        };
        self.registry.iter().map(row).collect()
    }

    fn models(&self) -> Vec<Model> {
        let row = |model: &bonnet_learning::ModelSpec| Model {
            name: model.name.to_owned(),
            family: model.family.to_owned(),
            geometry: model.geometry.to_owned(),
            tasks: model.tasks.iter().map(|task| (*task).to_owned()).collect(),
            source: model.source.to_owned(),
            hyperparameters: model
                .hyperparameters()
                .map(|parameter| Hyperparameter {
                    name: parameter.name.to_owned(),
                    data_type: parameter.type_name().to_owned(),
                    default: parameter.default_value().to_string(),
                    range: parameter.range(),
                    description: parameter.description.to_owned(),
                })
                .collect(),
        };
        bonnet_learning::models().iter().map(row).collect()
    }

    fn protocols(&self) -> Result<RecordBatch> {
        bonnet_learning::protocol_rows()
    }

    fn audit(&self) -> Result<RecordBatch> {
        bonnet_learning::audit_rows()
    }

    fn cached_graphs(&self) -> Vec<CachedGraph> {
        let row = |row: CachedGraphRow| CachedGraph {
            name: row.name,
            version: row.version,
            nodes: row.nodes,
            edges: row.edges,
            bytes: row.bytes,
            hits: row.hits,
        };
        self.graph_cache.rows().into_iter().map(row).collect()
    }

    fn settings(&self, session: &SessionState) -> Vec<Setting> {
        let Some(settings) = session.config_options().extensions.get::<BonnetSettings>() else { return Vec::new() };
        settings
            .rows()
            .into_iter()
            .map(|row| Setting {
                name: row.name,
                value: Some(row.value),
                default: Some(row.default),
                description: row.description.to_owned(),
            })
            .collect()
    }
}
