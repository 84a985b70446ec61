//! The server: PostgreSQL's wire protocol, so that its clients can send statements to an engine.
//!
//! A connection has a session of its own on the one engine. [`Server::bind`] listens, [`Server::run`] serves until it is
//! dropped. Connections live on the runtime that awaits the server; their statements run on the engine's threads.
//!
//! # Floors
//!
//! 1. `types`, `keys`, `scram`, `tls`, `failure`: types by their numbers, what cancels, passwords, errors.
//! 2. `client_settings`, `codec`, `cursor`, `values`: settings that clients know, messages from bytes, statements of cursors,
//!    rows as bytes.
//! 3. `parameters`, `wire`: parameters as literals, the two directions of a connection.
//! 4. `catalog`, `copy`, `state`: the tables that clients ask for, rows in and out, what all connections share.
//! 5. `portal`, `startup`, `statement`: rows on their way, logging in, one statement.
//! 6. `connection`: one client.
//! 7. `server`: all of them.

mod catalog;
mod client_settings;
mod codec;
mod connection;
mod copy;
mod cursor;
mod failure;
mod keys;
mod parameters;
mod portal;
mod scram;
mod server;
mod startup;
mod state;
mod statement;
mod tls;
mod types;
mod values;
mod wire;

pub use server::{ServeOptions, Server};
