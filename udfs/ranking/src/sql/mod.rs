//! The ranking functions in SQL.

mod agreement;
mod average_rank;
mod binary;
mod embedding_distortion;
mod gini;
mod input;
mod order_gap;
mod regrouping_test;
mod statistics;
mod top_k_jaccard;
mod truncated_rank;
mod variance_decomposition;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        agreement::kendall_tau(),
        agreement::spearman(),
        average_rank::average_rank(),
        binary::auc(),
        binary::average_precision(),
        embedding_distortion::embedding_distortion(),
        gini::gini(),
        order_gap::order_gap(),
        regrouping_test::regrouping_test(),
        statistics::frechet_distance(),
        statistics::rank_volatility(),
        top_k_jaccard::top_k_jaccard(),
        truncated_rank::truncated_rank(),
        variance_decomposition::variance_decomposition(),
    ]
}

/// The paper that several functions cite as their `source`.
const CURVBENCH: &str = "CurvBench (arXiv 2606.06397), App. E.4 and G";
