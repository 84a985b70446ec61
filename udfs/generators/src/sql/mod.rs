//! The generators as SQL functions.

mod features;
mod gencat;
mod kronecker_edges;
mod labelled_graphs;
mod lift;
mod named_graphs;
mod perturb_edges;
mod random_graphs;
mod regular_homophily;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        gencat::gencat(),
        kronecker_edges::kronecker_edges(),
        labelled_graphs::community_graph(),
        labelled_graphs::disease_tree(),
        labelled_graphs::preferential_attachment(),
        labelled_graphs::stochastic_block_model(),
        named_graphs::complete(),
        named_graphs::cycle(),
        named_graphs::grid_2d(),
        named_graphs::path(),
        named_graphs::petersen_graph(),
        named_graphs::rook_graph(),
        named_graphs::shrikhande_graph(),
        named_graphs::star(),
        perturb_edges::perturb_edges(),
        random_graphs::barabasi_albert(),
        random_graphs::erdos_renyi(),
        random_graphs::graphon(),
        random_graphs::random_regular(),
        random_graphs::random_tree(),
        regular_homophily::regular_homophily(),
    ]
}
