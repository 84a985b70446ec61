//! Readers of published graph formats, and the small data that the project ships.
