//! Runs: the loop over epochs, the models that a run trains in parts, where passes run, and saved parameters.

mod adapted;
mod around;
mod backend;
mod batched;
pub mod device;
mod item_sample;
mod items;
mod parts;
mod pretrain;
mod sampled;
mod saved;
mod solved;
mod stands_on;
mod train;

pub use device::Place;
pub use items::Items;
pub use pretrain::{Pretrained, pretrain};
pub use saved::{Saved, file_name};
pub use stands_on::SourceRecord;
pub use train::{EpochRecord, Outcome, train};
#[cfg(test)]
pub(crate) use train::{Training, messages};
