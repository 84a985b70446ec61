//! Runs: the loop over epochs, the models that a run trains in parts, where passes run, and saved parameters.

mod adapted;
mod around;
mod backend;
mod batched;
pub mod device;
mod item_sample;
mod items;
mod outcome;
mod parts;
mod pretrain;
mod progress;
mod sampled;
mod saved;
mod solved;
mod stands_on;
mod together;
mod train;

pub use device::Place;
pub use items::Items;
pub use outcome::{EpochRecord, Outcome};
pub use pretrain::{Pretrained, pretrain};
pub use saved::{Saved, file_name};
pub use stands_on::SourceRecord;
#[cfg(test)]
pub(crate) use together::SIDE_BY_SIDE;
pub use together::{Run, most_together, together_key, train_together};
pub use train::train;
#[cfg(test)]
pub(crate) use train::{Training, messages};
