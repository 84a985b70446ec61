//! Views, which databases keep as text.

pub mod older;
pub(crate) mod stored;
