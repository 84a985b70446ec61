//! DataFusion's rules of analysis, and what comes before them.

use std::sync::Arc;

use datafusion::optimizer::{Analyzer, AnalyzerRule};

use super::values::INTERVAL_KEYS;

type Rule = Arc<dyn AnalyzerRule + Send + Sync>;

/// DataFusion's rules of analysis, behind what is to see a plan before they coerce its types.
pub(crate) fn analyzer_rules() -> Vec<Rule> {
    let first: [Rule; 1] = [Arc::new(INTERVAL_KEYS)];
    first.into_iter().chain(Analyzer::new().rules).collect()
}
