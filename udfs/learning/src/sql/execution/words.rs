//! What a row says of an error.

use bonnet_sql::without_report_request;
use datafusion::common::DataFusionError;

/// The text of an error without DataFusion's wrappers.
pub(in crate::sql) fn text_of(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Plan(text) | DataFusionError::Execution(text) => text.clone(),
        DataFusionError::Context(_, inner) => text_of(inner),
        DataFusionError::External(inner) => inner.to_string(),
        DataFusionError::Shared(inner) => text_of(inner),
        other => without_report_request(&other.strip_backtrace()).into_owned(),
    }
}
