//! The front of every statement: split, parse, rewrite.

mod ast;
pub mod dialect;
pub mod split;
pub mod statement;
