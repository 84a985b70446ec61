//! `COPY ... FROM STDIN` and `COPY ... TO STDOUT`: rows of a table over the connection, as text, CSV or in binary.
//!
//! From below: the statement (`statement`), rows out of bytes (`records`, `binary`), rows as columns (`gathered`), the two
//! directions (`receiving`, `sending`).

mod binary;
mod gathered;
mod receiving;
mod records;
mod sending;
mod statement;

pub(super) use receiving::receive;
pub(super) use sending::send;
pub(super) use statement::{CopyStatement, Direction, asks, parse};
