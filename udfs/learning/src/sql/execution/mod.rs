//! What every run of a job does around its work: progress, rows, texts of errors.

mod monitor;
pub(super) mod rows;
mod words;

pub(super) use monitor::RunMonitor;
pub(super) use words::text_of;
