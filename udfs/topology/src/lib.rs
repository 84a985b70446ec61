//! Simplicial complexes: homology, manifolds, enumeration.
//!
//! Kernels only: plain functions over [`Facets`], free of Arrow and SQL.
//!
//! * Complexes: [`Facets`], [`Faces`], [`barycentric_subdivision`], [`connected_sum`], [`clique_complex`],
//!   [`bistellar_walk`].
//! * Operators by dimension, of one complex or of many side by side: [`ChainComplex`], [`SparseMatrix`],
//!   [`hodge_eigenvectors`].
//! * Invariants: [`homology`], [`euler_characteristic`], [`is_orientable`], [`genus`], [`homeomorphism_type`].
//! * Enumeration: [`SurfaceEnumeration`], [`ThreeManifoldEnumeration`], [`classic_triangulations`].
//!
//! ```
//! use bonnet_graph::Unmonitored;
//! use bonnet_topology::{Facets, homology};
//!
//! // The boundary of a tetrahedron is a sphere.
//! let sphere = Facets::new(&[[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]).unwrap();
//! assert_eq!(homology(&sphere, &Unmonitored).unwrap().betti_numbers(), [1, 0, 1]);
//! ```
//!
//! # Floors
//!
//! 1. `enumeration`, `facets`, `flat`, `sparse_matrix`: facets, sparse matrices.
//! 2. `faces`, `ridges`, `small_complex`: faces.
//! 3. `barycentric_subdivision`, `bistellar`, `boundary_matrix`, `canonical_form`, `chain_complex`,
//!    `classic_triangulations`, `clique_complex`, `connected_sum`, `enumerate_3_manifolds`, `enumerate_surfaces`,
//!    `graph_betti`, `homology`, `manifold`, `one_skeleton`, `orientability`: complexes and their invariants.
//! 4. `f_vector`, `genus`, `hodge_laplacian`, `homeomorphism_type`, `small_operators`: invariants made of others.
//! 5. `operators`: operators by dimension.
//! 6. `hodge_eigenvectors`: their eigenvectors.
//! 7. `sql`: their registrations.

mod barycentric_subdivision;
mod bistellar;
mod boundary_matrix;
mod canonical_form;
mod chain_complex;
mod classic_triangulations;
mod clique_complex;
mod connected_sum;
mod enumerate_3_manifolds;
mod enumerate_surfaces;
mod enumeration;
mod f_vector;
mod faces;
mod facets;
mod flat;
mod genus;
mod graph_betti;
mod hodge_eigenvectors;
mod hodge_laplacian;
mod homeomorphism_type;
mod homology;
mod manifold;
mod one_skeleton;
mod operators;
mod orientability;
mod ridges;
mod small_complex;
mod small_operators;
mod sparse_matrix;

pub use barycentric_subdivision::barycentric_subdivision;
pub use bistellar::{MAX_MOVE_DIMENSION, MoveError, bistellar_walk};
pub use boundary_matrix::{BoundaryEntry, boundary_matrix};
pub use canonical_form::canonical_form;
pub use chain_complex::ChainComplex;
pub use classic_triangulations::{Classic, classic_triangulations};
pub use clique_complex::clique_complex;
pub use connected_sum::{SumError, connected_sum};
pub use enumerate_3_manifolds::{MAX_3_MANIFOLD_VERTICES, N_3_MANIFOLDS, ThreeManifoldEnumeration};
pub use enumerate_surfaces::{MAX_SURFACE_VERTICES, N_SURFACES, SurfaceEnumeration};
pub use enumeration::Complexes;
pub use f_vector::euler_characteristic;
pub use faces::{Faces, FacesError, MAX_FACES, faces_at, faces_from};
pub use facets::{Facets, FacetsError, Offset};
pub use flat::FlatFacets;
pub use genus::genus;
pub use graph_betti::graph_betti;
pub use hodge_eigenvectors::{HodgeEigenvectors, hodge_eigenvectors};
pub use hodge_laplacian::{SpectrumError, hodge_laplacian_spectrum};
pub use homeomorphism_type::{DEFAULT_MOVES, census_3_manifold, homeomorphism_type, surface_name};
pub use homology::{Coefficients, CoefficientsError, Group, Homology, Workspace, homology};
pub use manifold::{ManifoldCheck, manifold_check};
pub use one_skeleton::one_skeleton;
pub use operators::Signs;
pub use orientability::is_orientable;
pub use sparse_matrix::SparseMatrix;

#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "sql")]
pub use sql::functions;
