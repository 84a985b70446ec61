//! The homophily metrics in SQL: aggregates over edges joined with labels, and functions of graphs.

mod features;
mod generalized_edge_homophily;
mod graph;
mod hetero;
mod homophily;
mod label_keys;
mod label_pairs;
mod metapaths;
mod node_homophily;

use bonnet_sql::Function;

const SOURCE: &str = "Luan et al., Are Heterophilic GNNs and Homophily Metrics Really Effective?, Sec. 2 and App. B";

/// The registrations.
pub fn functions() -> Vec<Function> {
    let mut functions = vec![
        generalized_edge_homophily::generalized_edge_homophily(),
        label_pairs::adjusted_homophily(),
        label_pairs::edge_homophily(),
        label_pairs::label_homophily(),
        label_pairs::label_informativeness(),
        node_homophily::node_homophily(),
    ];
    functions.extend(homophily::functions());
    functions.extend(metapaths::functions());
    functions
}
