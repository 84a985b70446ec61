//! Discrete curvature of graphs.
