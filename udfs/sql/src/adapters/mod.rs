//! The adapters that lift a plain function into SQL, one for each shape of answer.

pub(crate) mod adapter;
pub(crate) mod edge;
pub(crate) mod flatten;
pub(crate) mod generator;
pub(crate) mod graph_aggregate;
pub(crate) mod groups;
pub(crate) mod inner_function;
pub(crate) mod number_aggregate;
pub(crate) mod rows;
pub(crate) mod rows_function;
pub(crate) mod scalar_function;
pub(crate) mod shared_states;
pub(crate) mod udf;
pub(crate) mod window;
