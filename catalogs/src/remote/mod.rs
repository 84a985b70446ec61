//! Files of other machines, by their addresses: `https://host/x.parquet`, `http://...`, `s3://bucket/key`.
//!
//! [`open`] answers a [`Place`]: the path by which the readers of files know it. A file of which a server gives parts is read in
//! parts ([`parts`]); any other one is fetched whole, into a folder of its own that goes with its last reader ([`copied`]).
//! [`Upload`] writes one, [`download()`] fetches one that stays. What a server answers instead is said in words by [`failure`].

mod address;
mod connect;
mod copied;
mod download;
mod failure;
mod opened;
mod parts;
mod place;
mod store;
#[cfg(test)]
mod tests;
mod upload;

use std::time::Duration;

pub(crate) use address::Address;
pub(crate) use copied::copied;
pub use download::download;
pub(crate) use opened::opened;
pub(crate) use place::{Place, holding, recorded_failure, shown};
pub(crate) use store::register;
pub use upload::Upload;

/// How long a server may keep silent, before its answer and within it.
const SILENCE: Duration = Duration::from_secs(30);
