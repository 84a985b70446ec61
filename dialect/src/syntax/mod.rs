//! The syntax of a statement: from its text to a tree that DataFusion plans.

pub mod statements;
pub mod tokens;
pub mod tree;
pub mod views;
