//! Rank agreement, regrouping tests, stratified evaluation: plain Rust, no Arrow, no SQL.
//!
//! A table of results is models against items (data sets, graphs); a stratification puts each item in a group. The
//! kernels ask of such a table how far its rankings agree, whether they agree better within groups than across them,
//! and how much of the scores the groups explain. A value that is missing is `None`, never a number that stands for it.
//!
//! * Agreement: [`spearman`], [`kendall_tau`], [`TopSets`], [`rank_volatility`].
//! * Scores of positive and negative items: [`auc()`], [`average_precision()`].
//! * Strata: [`regrouping_test`], [`order_gap`], [`variance_decomposition`].
//! * Tests between runs: [`paired_t_test()`], [`wilcoxon_signed_rank()`], [`bootstrap_difference()`], [`friedman_test()`] with
//!   Nemenyi's [`critical_difference`], [`welch_test`]; over sets of tests [`holm`], [`benjamini_hochberg`].
//! * Inequality: [`gini()`].
//! * Embeddings: [`embedding_distortion`], [`frechet_distance`].
//!
//! ```
//! use bonnet_graph::Unmonitored;
//! use bonnet_ranking::{kendall_tau, spearman};
//!
//! // Two of three pairs are in the same order.
//! let (x, y) = ([1.0, 2.0, 3.0], [10.0, 30.0, 20.0]);
//! assert_eq!(spearman(&x, &y, &Unmonitored).unwrap(), Some(0.5));
//! assert_eq!(kendall_tau(&x, &y, &Unmonitored).unwrap(), Some(1.0 / 3.0));
//! ```
//!
//! # Floors
//!
//! 1. `geometry`, `merge`, `order_gap`, `random`: sorting, spaces, randomness.
//! 2. `order_codes`: numbers as codes in their order.
//! 3. `binary_ranking`, `ranks`: ranks.
//! 4. `auc`, `average_precision`, `embedding_distortion`, `frechet_distance`, `gini`, `kendall_tau`, `regrouping`,
//!    `significance`, `spearman`, `top_k_jaccard`, `truncated_rank`, `variance_decomposition`, `volatility`:
//!    statistics, one a file, and tests between runs.
//! 5. `sql`: their registrations.

mod auc;
mod average_precision;
mod binary_ranking;
mod embedding_distortion;
mod frechet_distance;
mod geometry;
mod gini;
mod kendall_tau;
mod merge;
mod order_codes;
mod order_gap;
mod random;
mod ranks;
mod regrouping;
mod significance;
mod spearman;
#[cfg(feature = "sql")]
mod sql;
mod top_k_jaccard;
mod truncated_rank;
mod variance_decomposition;
mod volatility;

pub use auc::auc;
pub use average_precision::average_precision;
pub use embedding_distortion::{Distortion, EmbeddingError, Scale, distortion_constant, embedding_distortion};
pub use frechet_distance::{FrechetError, frechet_distance};
pub use geometry::{Factor, Metric, MetricError, PointError, Points, factors};
pub use gini::{GiniError, gini};
pub use kendall_tau::kendall_tau;
pub use order_gap::{OrderGap, PairGap, order_gap};
pub use ranks::average_ranks;
pub use regrouping::{Regrouping, RegroupingError, RegroupingOptions, regrouping_test};
pub use significance::{
    Bootstrap, BootstrapMethod, BootstrapOptions, Friedman, NoProbability, PairedError, PairedTest, SignedRank,
    benjamini_hochberg, bootstrap_difference, critical_difference, friedman_test, holm, nemenyi_p, paired_t_test,
    student_t_two_sided, welch_test, wilcoxon_signed_rank,
};
pub use spearman::spearman;
#[cfg(feature = "sql")]
pub use sql::functions;
pub use top_k_jaccard::TopSets;
pub use truncated_rank::truncated_rank;
pub use variance_decomposition::{
    Decomposition, Normalization, Observation, decompose, normalize, variance_decomposition,
};
pub use volatility::rank_volatility;
