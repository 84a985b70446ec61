//! BonnetDB: an embedded analytics engine for the shape of relational data.
//!
//! Graphs live as tables, results are tables, and a stratum is a `GROUP BY`. An [`Engine`] holds the catalog, the
//! memory pool and the threads; an [`Engine::session`] runs statements. Everything is in memory, or in a lasting database
//! whose tables are Delta tables: `Engine::open("lab.bonnet")`.

mod answer;
mod append;
mod arrow_types;
mod attachments;
mod capital_words;
pub mod cells;
mod debug_structures;
mod engine;
mod error;
mod error_kind;
mod execution;
mod front;
mod functions;
mod memory;
mod names;
mod nearest;
mod panics;
mod parameters;
pub mod pictures;
mod query;
pub mod reference;
mod rules;
mod session;
mod settings;
mod size;
mod statements;
mod system;

pub use answer::Answer;
pub use bonnet_catalogs::Frames;
pub use engine::{Engine, EngineOptions};
pub use error::{Error, Result};
pub use error_kind::ErrorKind;
pub use front::split::{Piece, split};
pub use front::sql_type::sql_type;
pub use parameters::{Parameters, bind};
pub use query::stream_of;
pub use session::Session;
pub use size::parse as parse_size;
pub use statements::abandon;

/// The syntax of statements, for programs that read them before an engine does.
pub mod dialect {
    pub use crate::front::{ast, parse, split};
}
