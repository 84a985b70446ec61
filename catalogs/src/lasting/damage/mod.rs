//! What is wrong with the files of a table that cannot be read, in plain words, with the file's path and what to do.
//!
//! The packages that read the log and the data files say what they stumbled over, mostly without the file. So where one of
//! them fails, the files are looked at once more, each by itself.

mod data_files;
mod log;
mod origin;
mod place;
mod scan;
mod unreadable;
mod version_before;

pub(super) use data_files::of_files;
pub(super) use log::of_log;
pub(super) use place::{of_folder, without_log};
pub use scan::DamagedFiles;
pub(super) use unreadable::{plain, unreadable};
