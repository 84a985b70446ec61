//! Tests of all repairs together.

mod lines;
mod retired;
