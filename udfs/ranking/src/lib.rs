//! Rank agreement, regrouping tests, stratified evaluation.
