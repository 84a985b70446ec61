//! Settings of the engine.
