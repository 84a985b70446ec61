//! The error of the engine, its kind, and the words of DataFusion in the words of SQL.

mod arrow_types;
mod capital_words;
mod causes;
mod datafusion_words;
mod debug_structures;
mod error;
mod kind;
mod kind_of;
mod nearest;
mod panic_text;
pub mod panics;
mod position;
mod raised;
mod report_request;

pub use datafusion_words::{NullColumn, null_column};
pub use error::{Error, Result};
pub use kind::ErrorKind;
pub use nearest::nearest;
pub use panic_text::panic_text;
pub use position::position;
pub use raised::Raised;
pub use report_request::without_report_request;
