//! Forms of DuckDB and PostgreSQL, written as DataFusion plans them.

pub(crate) mod calls;
pub(crate) mod casts;
pub(crate) mod changes;
pub(crate) mod computed_rows;
pub(crate) mod duckdb_syntax;
pub(crate) mod exact_casts;
pub(crate) mod files;
pub(crate) mod function_names;
pub(crate) mod grouping;
pub(crate) mod intervals;
pub(crate) mod named_windows;
pub(crate) mod partial_times;
pub mod pivot;
pub(crate) mod refusals;
pub(crate) mod repeated_draws;
pub(crate) mod rewrite;
pub(crate) mod rows_in;
pub(crate) mod show;
pub(crate) mod unplanned;
pub(crate) mod versions;
