//! Names: of types, and of the schema and the database in which names without a prefix are looked up.

pub(crate) mod current_names;
pub(crate) mod type_names;
pub(crate) mod typeof_function;
pub(crate) mod version;
