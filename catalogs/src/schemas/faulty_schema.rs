//! A schema that its catalog names but that cannot be read.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{Result, plan_err};

use super::engine_schema::EngineSchema;

/// A schema without tables. Every lookup is an error with this message, which says what is wrong.
#[derive(Debug)]
pub struct FaultySchema(pub String);

#[async_trait]
impl SchemaProvider for FaultySchema {
    fn table_names(&self) -> Vec<String> {
        Vec::new()
    }

    async fn table(&self, _: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        plan_err!("{}", self.0)
    }

    fn register_table(&self, _: String, _: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        plan_err!("{}", self.0)
    }

    fn table_exist(&self, _: &str) -> bool {
        false
    }
}

impl EngineSchema for FaultySchema {
    fn fault(&self) -> Option<&str> {
        Some(&self.0)
    }
}
