//! The ranking functions in SQL.

mod average_rank;
mod binary;
mod embedding_distortion;
mod frechet_distance;
mod input;
mod numbers;
mod order_gap;
mod regrouping;
mod top_k_jaccard;
mod truncated_rank;
mod variance_decomposition;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    let mut functions = vec![
        average_rank::average_rank(),
        binary::auc(),
        binary::average_precision(),
        embedding_distortion::embedding_distortion(),
        frechet_distance::frechet_distance(),
        order_gap::order_gap(),
        regrouping::regrouping_test(),
        top_k_jaccard::top_k_jaccard(),
        truncated_rank::truncated_rank(),
        variance_decomposition::variance_decomposition(),
    ];
    functions.extend(numbers::functions());
    functions
}

/// The paper that several functions cite as their `source`.
const CURVBENCH: &str = "CurvBench (arXiv 2606.06397), App. E.4 and G";
