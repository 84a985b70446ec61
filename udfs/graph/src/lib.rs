//! Graphs as compressed sparse rows, traversal and components: plain Rust, no Arrow, no SQL.
