//! DataFusion, corrected: everything that makes it answer as `docs/sql.md` says.
//!
//! | folder | what is repaired there |
//! |---|---|
//! | `syntax` | what the parser does not read, or reads otherwise: tokens and statements |
//! | `names` | which table, column or output a name means |
//! | `forms` | expressions and clauses of DuckDB and PostgreSQL, written as DataFusion plans them, or refused |
//! | `plans` | rules beside DataFusion's own, for plans that it answers wrongly, cannot make, or cannot cancel |
//! | `bonnet_values` (the folder `values`, a crate of its own) | functions, aggregates and casts |
//!
//! It knows no catalog and no graph. [`install`] puts all of it into a session.
//!
//! # Floors
//!
//! 1. `syntax`, `plans`: from text to trees; rules of plans
//! 2. `names`: names in a tree
//! 3. `forms`: forms of expressions and clauses
//! 4. `resolver`: what each name of a statement means
//! 5. `preparation`: the passes over a statement, in their order
//! 6. `install`: all of it in a session

pub mod forms;
mod install;
pub mod names;
pub mod plans;
pub mod preparation;
mod resolver;
pub mod syntax;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bonnet_common::{Error, ErrorKind, Raised, Result};
pub use install::{configure, install};
pub use preparation::{Plannable, plan, plan_prepared, prepare};
