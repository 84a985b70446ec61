//! The front of every statement: split, parse, rewrite.
