//! Filtrations, persistence diagrams, landscapes, and tests between sets of graphs.
