//! The names in a statement: of tables, columns, common table expressions and outputs.

pub mod columns;
pub(crate) mod context;
pub(crate) mod ctes;
pub(crate) mod join_keys;
pub(crate) mod letter_case;
pub(crate) mod nested_ctes;
pub(crate) mod order_names;
pub(crate) mod ordinals;
pub(crate) mod outer_columns;
pub(crate) mod output_aliases;
pub(crate) mod pivot_values;
pub(crate) mod references;
pub(crate) mod relations;
pub(crate) mod scopes;
pub mod tables;
pub(crate) mod type_names;
pub mod unknown_names;
pub(crate) mod wildcards;
