//! What every reader gives: a data set, its tables and the state of its files.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::SystemTime;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::error::Result;

/// The options of a format, by name, as the user wrote them.
pub type Options = BTreeMap<String, String>;

/// One published graph. Each call reads what it needs; nothing is cached between two calls.
///
/// The tables and their columns:
/// * `nodes(node BIGINT or TEXT, label, features)` and what else the publisher gives of a node. Labels are as published:
///   BIGINT or TEXT, DOUBLE for one real target, `FLOAT[]` for several; a missing label (`-1`, an all-zero one-hot row)
///   is NULL. Features are `MAP(INT, FLOAT)` for bags of words, `FLOAT[]` otherwise, NULL where the publisher's files
///   lack them. The field's metadata [`WIDTH_KEY`](crate::WIDTH_KEY) holds the number of features.
/// * `edges(src, dst)`, rows as published: nothing dropped, turned round or added.
/// * Sets of graphs have `graphs(graph_id, label, ...)` too, and `graph_id` as the first column of the other tables.
/// * `splits(split BIGINT, node, part TEXT)`, parts `train`, `val`, `test`; only where the publisher gives splits.
/// * `triangulations(id TEXT, n_vertices BIGINT, facets INT[][])` and what the publisher states of each, instead of the
///   others where complexes are published; the vertices of a facet are ascending.
pub trait Dataset: Send + Sync + Debug {
    /// The name of the format.
    fn format(&self) -> &'static str;

    /// Where the data is: an absolute path or `builtin:name`. [`open`](crate::open()) with it gives the same data set.
    fn location(&self) -> &str;

    /// The options that it was opened with.
    fn options(&self) -> &Options;

    /// Whether the publisher's rows of `edges` are arcs.
    fn directed(&self) -> bool;

    /// The names of the tables.
    fn tables(&self) -> Vec<String>;

    /// The columns of a table. Reads headers only; text files are sampled (their first MiB).
    fn schema(&self, table: &str) -> Result<SchemaRef>;

    /// The rows of a table, projected to `columns` (positions in its schema, in any order), in batches of at most 8192
    /// rows. Stops with [`Error::Cancelled`](crate::Error::Cancelled) soon after `keep_going` turns false.
    fn read(&self, table: &str, columns: &[usize], keep_going: &dyn Fn() -> bool) -> Result<Vec<RecordBatch>>;

    /// About how many bytes a read of these columns will hold at its peak, to be reserved before it starts. Found from
    /// the sizes of files, so an estimate.
    fn expected_bytes(&self, table: &str, columns: &[usize]) -> usize;

    /// The state of its files.
    fn stamp(&self) -> Stamp;

    /// The version of its files alone.
    fn version(&self) -> String {
        self.stamp().version
    }

    /// The file that the publisher's set lacks, so that (some) features are NULL.
    fn missing_features(&self) -> Option<String> {
        None
    }
}

/// The state of the files of a data set, from one look at each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// A string that changes when a file changes, comes or goes (from their sizes and times).
    pub version: String,
    /// When a file changed last; `None` where there are no files.
    pub modified: Option<SystemTime>,
}
