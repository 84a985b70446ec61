//! Simplicial complexes: homology, manifolds, enumeration.
