//! Homophily of labelled graphs.
