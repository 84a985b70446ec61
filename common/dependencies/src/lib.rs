//! Empty. `cargo subject CRATE` names this package beside the crate, see its `Cargo.toml`.
