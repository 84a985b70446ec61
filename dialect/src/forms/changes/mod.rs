//! INSERT, UPDATE and DELETE: the values that they give columns, and the names of their tables.

pub(crate) mod changed_columns;
pub(crate) mod changed_values;
pub(crate) mod delete_alias;
pub(crate) mod insert_defaults;
pub(crate) mod insert_numbers;
pub(crate) mod insert_values;
