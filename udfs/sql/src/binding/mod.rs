//! From a call to what its run needs: arguments, expressions, relations as graphs.

pub mod arguments;
pub(crate) mod expressions;
pub(crate) mod graph_input;
