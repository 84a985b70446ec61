//! The ranking functions in SQL.

mod adjusted;
mod answers;
mod average_rank;
mod binary;
mod blocks;
mod bootstrap_difference;
mod embedding_distortion;
mod frechet_distance;
mod friedman_test;
mod input;
mod nemenyi_test;
mod numbers;
mod order_gap;
mod paired_t_test;
mod regrouping;
mod top_k_jaccard;
mod truncated_rank;
mod variance_decomposition;
mod wilcoxon_signed_rank;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    let mut functions = vec![
        adjusted::benjamini_hochberg(),
        adjusted::holm(),
        average_rank::average_rank(),
        binary::auc(),
        binary::average_precision(),
        bootstrap_difference::bootstrap_difference(),
        embedding_distortion::embedding_distortion(),
        frechet_distance::frechet_distance(),
        friedman_test::friedman_test(),
        nemenyi_test::nemenyi_test(),
        order_gap::order_gap(),
        paired_t_test::paired_t_test(),
        regrouping::regrouping_test(),
        top_k_jaccard::top_k_jaccard(),
        truncated_rank::truncated_rank(),
        variance_decomposition::variance_decomposition(),
        wilcoxon_signed_rank::wilcoxon_signed_rank(),
    ];
    functions.extend(numbers::functions());
    functions
}

/// The paper that several functions cite as their `source`.
const CURVBENCH: &str = "CurvBench (arXiv 2606.06397), App. E.4 and G";
