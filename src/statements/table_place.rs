//! The place of a table: its full name and its schema.

use std::sync::Arc;

use bonnet_catalogs::SessionSchema;
use datafusion::catalog::SchemaProvider;
use datafusion::common::{ResolvedTableReference, TableReference};
use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::tokenizer::Span;

use crate::{ErrorKind, Raised, Result};

/// A table's name in full, and its schema; none for `information_schema`.
pub(super) struct TablePlace {
    pub name: ResolvedTableReference,
    provider: Arc<dyn SchemaProvider>,
}

impl TablePlace {
    /// The place that a name means in a session. `at` is where the name stands in the statement.
    ///
    /// # Errors
    /// If there is no such schema.
    pub fn of(state: &SessionState, name: &TableReference, at: Span) -> Result<Self> {
        let options = &state.config_options().catalog;
        let name = name.clone().resolve(&options.default_catalog, &options.default_schema);
        let catalog = state.catalog_list().catalog(&name.catalog);
        match catalog.and_then(|catalog| catalog.schema(&name.schema)) {
            Some(provider) => Ok(Self { name, provider }),
            None => {
                let text = format!("there is no schema {}.{}", name.catalog, name.schema);
                let advice = format!("CREATE SCHEMA {} makes one", name.schema);
                Err(Raised::new(ErrorKind::UnknownSchema, text).advise(advice).at(at).into())
            }
        }
    }

    /// The schema.
    pub fn schema(&self) -> Option<&SessionSchema> {
        SessionSchema::of(self.provider.as_ref())
    }
}
