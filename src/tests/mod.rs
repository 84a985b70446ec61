//! Tests of the engine as a whole.

mod error_kinds;
mod sql_types;
