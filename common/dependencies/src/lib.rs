//! Empty. `cargo subject CRATE` names this package beside the crate, see its `Cargo.toml`.
//!
//! # Floors
//!
//! None: it has no modules.
