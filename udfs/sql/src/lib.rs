//! The registry of SQL functions and the adapters that lift a plain function into SQL.
