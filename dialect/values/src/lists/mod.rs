//! Lists and maps.

pub(crate) mod list_aggregate;
pub(crate) mod list_functions;
pub(crate) mod list_unique;
pub(crate) mod map_from_entries;
pub(crate) mod map_keys;
