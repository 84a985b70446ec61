//! What every kind of table rests on: errors, the plans and methods of tables, what a new table or graph is, versions of rows.

pub(crate) mod blocking;
pub(crate) mod change_exec;
pub(crate) mod column_change;
pub(crate) mod committed_rows;
pub(crate) mod error;
pub(crate) mod file_path;
pub(crate) mod graph_facts;
pub(crate) mod lazy;
pub(crate) mod leaf_plan;
pub(crate) mod new_table;
pub(crate) mod table_methods;
pub(crate) mod table_version;
