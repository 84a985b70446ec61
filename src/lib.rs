//! BonnetDB: an embedded analytics engine for the shape of relational data.
//!
//! Graphs live as tables, results are tables, and a stratum is a `GROUP BY`. An [`Engine`] holds the catalog, the
//! memory pool and the threads; an [`Engine::session`] runs statements.

pub mod cli;
mod engine;
mod error;
pub mod front;
mod functions;
mod names;
mod query;
pub mod reference;
mod session;
mod settings;
mod statements;
mod system;

pub use engine::{Engine, EngineOptions};
pub use error::{Error, Result};
pub use session::{Answer, Session};
