//! From the text of one statement to its tree: the statements of DataFusion, and those that it lacks.

pub(crate) mod attach;
pub(crate) mod copy;
pub(crate) mod create_graph;
pub(crate) mod dialect;
pub(crate) mod maintenance;
pub mod parse;
pub mod statement;
pub mod summarize;
pub(crate) mod words;
