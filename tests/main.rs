//! The integration tests of the engine and of its command.

mod cli;
