//! Tests of the engine as a whole.

mod error_kinds;
#[cfg(feature = "print")]
mod pages;
mod sql_types;
