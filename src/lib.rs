//! BonnetDB: an embedded analytics engine for the shape of relational data.
//!
//! Graphs live as tables, results are tables, and a stratum is a `GROUP BY`. An [`Engine`] holds the catalog, the
//! memory pool and the threads; an [`Engine::session`] runs statements. Everything is in memory, or in a lasting database
//! whose tables are Delta tables: `Engine::open("lab.bonnet")`.
//!
//! # Floors
//!
//! 1. `answer`, `cells`, `file_faults`, `functions`, `memory`, `names`, `parameters`, `size`: answers, the registry
//!    of functions, memory, sizes, names, parameters.
//! 2. `pictures`, `reference`, `settings`: pictures as a format of files, the reference, settings.
//! 3. `system`: the rows of the schema `bonnet`.
//! 4. `attachments`: the catalogs that an engine opens with.
//! 5. `engine`: what all sessions share.
//! 6. `query`: a running query.
//! 7. `session`: one user's settings, transaction and prepared statements.
//! 8. `append`, `statements`: what the statements do.
//! 9. `execution`: statements on the threads of the engine.

mod answer;
mod append;
mod attachments;
pub mod cells;
mod engine;
mod execution;
mod file_faults;
mod functions;
mod memory;
mod names;
mod parameters;
pub mod pictures;
mod query;
pub mod reference;
mod session;
mod settings;
mod size;
mod statements;
mod system;
#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use bonnet_catalogs::Frames;
pub use bonnet_common::{Error, ErrorKind, Raised, Result, sql_type};
pub use bonnet_dialect::syntax::tokens::split::{Piece, split};
pub use bonnet_learning::FailedRuns;
pub use engine::{Engine, EngineOptions};
pub use parameters::{Parameters, bind};
pub use query::stream_of;
pub use session::Session;
pub use size::parse as parse_size;
pub use statements::abandon;
