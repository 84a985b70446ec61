//! The front of every statement: split, parse, rewrite.

pub(crate) mod ast;
pub mod columns;
mod copy;
mod depth;
pub mod dialect;
mod duplicates;
mod everyday;
mod everyday_tokens;
mod from_first;
pub mod functions;
pub mod join_keys;
pub mod parse;
pub mod pivot;
mod pivot_statement;
mod pivot_values;
pub mod rewrite;
pub mod split;
pub mod sql_type;
pub mod statement;
pub mod summarize;
#[cfg(test)]
mod testing;
