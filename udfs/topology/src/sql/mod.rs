//! Topology as SQL functions.

mod column;
mod complexes;
mod constructions;
mod dimensions;
mod enumerations;
mod graphs;
mod homology;
mod manifolds;
mod matrices;
mod spectra;
mod structs;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        homology::betti_numbers(),
        homology::homology_groups(),
        homology::torsion_coefficients(),
        homology::euler_characteristic(),
        homology::f_vector(),
        homology::dimension(),
        manifolds::is_closed_manifold(),
        manifolds::manifold_check(),
        manifolds::is_orientable(),
        manifolds::genus(),
        complexes::barycentric_subdivision(),
        complexes::one_skeleton(),
        complexes::faces(),
        matrices::boundary_matrix(),
        matrices::coboundary_matrix(),
        matrices::hodge_laplacian(),
        matrices::adjacency_of_simplices(),
        matrices::incident_simplices(),
        spectra::hodge_laplacian_spectrum(),
        spectra::hodge_eigenvectors(),
        constructions::canonical_form(),
        constructions::bistellar_walk(),
        constructions::connected_sum(),
        constructions::homeomorphism_type(),
        enumerations::enumerate_surfaces(),
        enumerations::enumerate_3_manifolds(),
        enumerations::classic_triangulations(),
        graphs::graph_betti(),
        graphs::clique_complex(),
    ]
}
