//! Columns of relations as functions read them: keys of nodes, numbered, and rows, group by group.
//!
//! Every function over edges passes its rows through here before its kernel begins, so that the crate is compiled as kernels are, with
//! none of what is slow to compile beside it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow::array::{ArrayRef, Int64Array};
//! use bonnet_columns::{KeyColumn, KeyIndex};
//!
//! let src: ArrayRef = Arc::new(Int64Array::from(vec![30, 10, 30]));
//! let src = KeyColumn::new(&src, "src")?;
//! let index = KeyIndex::new(&[("src", &src)])?;
//! assert_eq!(index.numbers(&src), [Some(1), Some(0), Some(1)]);
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! ```
//!
//! # Floors
//!
//! 1. `columns`: columns of several batches in one piece.
//! 2. `keys`: keys of nodes.
//! 3. `grouped_rows`, `key_stream`: rows of groups; keys that come batch by batch.

mod columns;
mod grouped_rows;
mod key_stream;
mod keys;

pub use columns::{number_column, rows_of, whole_column};
pub use grouped_rows::{GroupedRows, RowBuffer, RowsByGroup, item};
pub use key_stream::{KeyMarks, KeyStream};
pub use keys::{Key, KeyColumn, KeyIndex};
