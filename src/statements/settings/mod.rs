//! `USE`, and `SET`, `SHOW` and `RESET` of the engine's own settings.

pub(super) mod external_access;
pub(super) mod temporary_folder;
pub(super) mod time_zone;

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use bonnet_catalogs::MAIN_SCHEMA;
use datafusion::config::ExtensionOptions;

use crate::query::stream_of;
use crate::settings::BonnetSettings;
use crate::{Answer, Error, ErrorKind, Raised, Result, Session};
use bonnet_dialect::syntax::statements::statement::WithSpan;

/// `USE [catalog.]schema`.
pub(super) fn use_schema(session: &Session, name: &WithSpan<Vec<String>>) -> Result<Answer> {
    let state = session.state();
    let catalogs = Arc::clone(state.catalog_list());
    let current = state.config_options().catalog.default_catalog.clone();
    let has = |catalog: &str, schema: &str| {
        catalogs.catalog(catalog).is_some_and(|catalog| catalog.schema_names().iter().any(|name| name == schema))
    };
    let (catalog, schema) = match name.as_slice() {
        [schema] if has(&current, schema) => (current.as_str(), schema.as_str()),
        // A catalog by itself: its default schema, and its schemas by their own names.
        [catalog] if catalogs.catalog(catalog).is_some() => (catalog.as_str(), MAIN_SCHEMA),
        [catalog, schema] if has(catalog, schema) => (catalog.as_str(), schema.as_str()),
        _ => {
            let schemas = catalogs.catalog(&current).map(|catalog| catalog.schema_names()).unwrap_or_default();
            let text = format!(
                "there is no schema {}; this catalog has: {}; catalogs are: {}",
                name.join("."),
                schemas.join(", "),
                catalogs.catalog_names().join(", ")
            );
            return Err(Raised::new(ErrorKind::UnknownSchema, text).at(name.span).into());
        }
    };
    let state = session.context.state_ref();
    let mut state = state.write();
    let options = &mut state.config_mut().options_mut().catalog;
    options.default_catalog = catalog.to_owned();
    options.default_schema = schema.to_owned();
    Ok(Answer::Done(format!("USE {catalog}.{schema}")))
}

/// `SET bonnet.name = value`.
pub(super) fn set(session: &Session, name: &WithSpan<String>, value: &str) -> Result<Answer> {
    change(session, |settings| Ok(settings.set(key(name), value)?)).map_err(|error| error.at(name.span))?;
    Ok(Answer::Done("SET".to_owned()))
}

/// `RESET bonnet.name`, `RESET ALL`.
pub(super) fn reset(session: &Session, name: Option<&WithSpan<String>>) -> Result<Answer> {
    change(session, |settings| {
        match name {
            Some(name) => settings.reset(key(name)).map_err(|error| Error::from(error).at(name.span))?,
            None => settings.reset_all(),
        }
        Ok(())
    })?;
    Ok(Answer::Done("RESET".to_owned()))
}

/// `SHOW bonnet.name`.
pub(super) fn show(session: &Session, name: &WithSpan<String>) -> Result<Answer> {
    let settings = session.settings()?;
    let value = settings.get(key(name)).map_err(|error| Error::from(error).at(name.span))?;
    let text = |text: String| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
    let batch = RecordBatch::try_from_iter([("name", text(name.value.clone())), ("value", text(value))])
        .map_err(datafusion::common::DataFusionError::from)?;
    Ok(Answer::Rows(stream_of(batch)?))
}

/// The setting's name without its prefix.
fn key(name: &str) -> &str {
    name.strip_prefix("bonnet.").unwrap_or(name)
}

fn change(session: &Session, change: impl FnOnce(&mut BonnetSettings) -> Result<()>) -> Result<()> {
    {
        let state = session.context.state_ref();
        let mut state = state.write();
        let settings = state.config_mut().options_mut().extensions.get_mut::<BonnetSettings>();
        change(settings.ok_or_else(|| Error::statement("the session has lost its settings"))?)?;
    }
    session.apply_settings()
}
