//! Analyzer rules: those of DataFusion, and those that have to run before its coercion.

use std::sync::Arc;

use datafusion::optimizer::{Analyzer, AnalyzerRule};

use super::date_comparisons::DateComparisons;
use super::negative_scales::NEGATIVE_SCALES;
use super::range_frames::RANGE_FRAMES;
use super::untyped_nulls::UNTYPED_NULLS;
use super::values::INTERVAL_KEYS;

type SharedAnalyzerRule = Arc<dyn AnalyzerRule + Send + Sync>;

/// The rules with which the analyzer begins. The session appends those that run after coercion.
pub(crate) fn analyzer_rules() -> Vec<SharedAnalyzerRule> {
    let first: [SharedAnalyzerRule; 5] = [
        Arc::new(NEGATIVE_SCALES),
        Arc::new(UNTYPED_NULLS),
        Arc::new(INTERVAL_KEYS),
        Arc::new(RANGE_FRAMES),
        Arc::new(DateComparisons),
    ];
    first.into_iter().chain(Analyzer::new().rules).collect()
}
