//! What combines subjects: components and the profile of a graph.
