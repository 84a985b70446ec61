//! The ranking functions in SQL.

mod agreement;
mod embedding;
mod input;
mod order;
mod ranks;
mod regrouping;
mod variance;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    let mut functions = agreement::functions();
    functions.extend([
        ranks::average_rank(),
        ranks::truncated_rank(),
        regrouping::regrouping_test(),
        order::order_gap(),
        variance::variance_decomposition(),
        embedding::embedding_distortion(),
    ]);
    functions
}

/// The papers' names, as `source` cites them.
const CURVBENCH: &str = "CurvBench (arXiv 2606.06397), App. E.4 and G";
