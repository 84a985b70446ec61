//! The provenance of a run: columns that every function that trains answers beside the job's own, enough to redo it.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, StringArray, TimestampMicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, TimeUnit};
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;

use super::columns::LABEL;
use crate::{TrainOptions, reads_types};

/// The names of the columns.
pub const COLUMNS: [&str; 4] = ["engine_version", "host_threads", "started_at", "graph_hash"];

/// The columns: the engine's version, the threads that kernels had, when the run was started, and a hash of what was
/// read of its graph. (The seed is the job's, and the device a column of its own.)
pub(super) fn fields() -> [Field; 4] {
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    [
        Field::new(COLUMNS[0], DataType::Utf8, true),
        Field::new(COLUMNS[1], DataType::Int64, true),
        Field::new(COLUMNS[2], utc, true),
        Field::new(COLUMNS[3], DataType::Utf8, true),
    ]
}

/// When a run was started, where and on what; nothing for a job that never started.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Provenance {
    /// Microseconds since 1970 UTC.
    started_at: Option<i64>,
    threads: Option<usize>,
    graph: Option<ContentHash>,
}

impl Provenance {
    /// A run on this graph that starts now, in the pool of the calling thread.
    pub fn now(graph: ContentHash) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let started_at = i64::try_from(now.as_micros()).ok();
        Self { started_at, threads: Some(rayon::current_num_threads()), graph: Some(graph) }
    }

    /// The hash of what was read, as the column has it.
    pub fn graph_hash(self) -> Option<String> {
        self.graph.map(|hash| hash.to_string())
    }

    /// The values of [`fields`], for one row.
    pub fn columns(self) -> [ArrayRef; 4] {
        [
            Arc::new(StringArray::from(vec![env!("CARGO_PKG_VERSION")])),
            Arc::new(Int64Array::from(vec![self.threads.map(|threads| threads as i64)])),
            Arc::new(TimestampMicrosecondArray::from(vec![self.started_at]).with_timezone("UTC")),
            Arc::new(StringArray::from(vec![self.graph_hash()])),
        ]
    }
}

/// The content of a graph by its parts, of which runs read some. The hash of several is their sum.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    /// What every run reads.
    structure: ContentHash,
    /// The edges alone.
    edges: ContentHash,
    /// The table of the items with their labels, by the column of the labels.
    labelled: BTreeMap<String, ContentHash>,
    features: ContentHash,
    weights: ContentHash,
    types: ContentHash,
}

impl Content {
    /// The content of a graph of which every run reads this.
    pub fn new(structure: ContentHash) -> Self {
        Self { structure, ..Self::default() }
    }

    /// The same content of a graph with these edges.
    pub fn with_edges(self, edges: ContentHash) -> Self {
        Self { edges, ..self }
    }

    /// A hash of the edges alone, neither labels nor splits nor features.
    pub fn edges(&self) -> ContentHash {
        self.edges
    }

    /// A hash of what pre-training reads of the graph: its edges, and its features where the run reads those that are given.
    pub fn unlabelled(&self, options: &TrainOptions) -> ContentHash {
        if options.features.reads_given() { self.edges + self.features } else { self.edges }
    }

    /// The same content with columns of `table`, the items with their labels, for the runs that read these labels.
    pub fn with_labels(mut self, label: &str, table: &str, columns: &[ArrayRef]) -> Result<Self> {
        self.labelled.entry(label.to_owned()).or_default().add(table, columns)?;
        Ok(self)
    }

    /// The same content with features.
    pub fn with_features(mut self, features: Option<&[ArrayRef]>) -> Result<Self> {
        if let Some(columns) = features {
            self.features.add("features", columns)?;
        }
        Ok(self)
    }

    /// The same content with edges and their weights.
    pub fn with_weights(mut self, edges: Option<&[ArrayRef]>) -> Result<Self> {
        if let Some(columns) = edges {
            self.weights.add("weights", columns)?;
        }
        Ok(self)
    }

    /// The same content with types of nodes and of edges, where there are some.
    pub fn with_types(mut self, [nodes, edges]: [Option<&[ArrayRef]>; 2]) -> Result<Self> {
        for (table, columns) in [("types of nodes", nodes), ("types of edges", edges)] {
            if let Some(columns) = columns {
                self.types.add(table, columns)?;
            }
        }
        Ok(self)
    }

    /// A hash of what a run reads of the graph whose labels stand in this column. That of another column than `label` has its
    /// name in it, too.
    pub fn of(&self, options: &TrainOptions, label: &str) -> ContentHash {
        let name = || hash(label.as_bytes(), hash(LABEL.as_bytes(), 0));
        let parts = [
            self.labelled.get(label).map(|labels| labels.0),
            (label != LABEL).then(name),
            options.features.reads_given().then_some(self.features.0),
            options.reads_weights().then_some(self.weights.0),
            reads_types(options).then_some(self.types.0),
        ];
        ContentHash(parts.into_iter().flatten().fold(self.structure.0, u64::wrapping_add))
    }
}

/// A hash of tables that does not depend on the order of their rows: the sum of the hashes of the rows. Equal content
/// has equal hashes; different content different ones but for chance (1 in 2^64; it is no proof against forgery).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ContentHash(u64);

impl ContentHash {
    /// The hash of both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Adds the rows of a table, by the columns that are read. O(bytes).
    ///
    /// # Errors
    /// If the columns have no order, which no column of a graph lacks.
    pub fn add(&mut self, table: &str, columns: &[ArrayRef]) -> Result<()> {
        for_each_row_hash(table, columns, |hash| self.0 = self.0.wrapping_add(hash))
    }
}

/// Hands over a hash of each row of a table in turn, the same wherever the row stands and in whatever type of their kind its values are.
/// O(bytes).
///
/// # Errors
/// If the columns have no order.
pub(super) fn for_each_row_hash(table: &str, columns: &[ArrayRef], mut take: impl FnMut(u64)) -> Result<()> {
    let columns = columns.iter().map(plain).collect::<Result<Vec<_>>>()?;
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone()));
    let converter = RowConverter::new(fields.collect())?;
    const ROWS: usize = 8192;
    let rows = columns.first().map_or(0, |column| column.len());
    let salt = hash(table.as_bytes(), 0);
    for start in (0..rows).step_by(ROWS) {
        let part: Vec<ArrayRef> = columns.iter().map(|column| column.slice(start, ROWS.min(rows - start))).collect();
        converter.convert_columns(&part)?.iter().for_each(|row| take(hash(row.as_ref(), salt)));
    }
    Ok(())
}

impl std::ops::Add for ContentHash {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The column in the normal type of its kind, so that a graph has one hash wherever it is stored.
fn plain(column: &ArrayRef) -> Result<ArrayRef> {
    let data_type = column.data_type();
    let list = || DataType::List(Arc::new(Field::new("item", DataType::Float64, true)));
    let target = match data_type {
        data_type if data_type.is_integer() => DataType::Int64,
        data_type if data_type.is_floating() => DataType::Float64,
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Dictionary(_, value) => return plain(&cast(column, value)?),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)
            if item.data_type().is_numeric() =>
        {
            list()
        }
        DataType::Map(entries, _) => {
            let map = column.as_map();
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            let entries = Arc::clone(entries);
            return Ok(Arc::new(ListArray::try_new(entries, offsets, Arc::new(map.entries().clone()), nulls)?));
        }
        _ => return Ok(Arc::clone(column)),
    };
    Ok(if *data_type == target { Arc::clone(column) } else { cast(column, &target)? })
}

/// FNV-1a (Fowler, Noll, Vo) over 64 bits, its bits spread by the finaliser of SplitMix64 (Steele, Lea, Flood 2014), so
/// that sums of hashes keep them.
fn hash(bytes: &[u8], salt: u64) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325 ^ salt;
    for &byte in bytes {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(Option<i64>, &str)]) -> ContentHash {
        let keys: ArrayRef = Arc::new(rows.iter().map(|(key, _)| *key).collect::<Int64Array>());
        let texts: ArrayRef = Arc::new(rows.iter().map(|(_, text)| Some(*text)).collect::<StringArray>());
        let mut hash = ContentHash::default();
        hash.add("nodes", &[keys, texts]).unwrap();
        hash
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_all_else_does() {
        let rows = [(Some(1), "a"), (Some(2), "b"), (None, "c")];
        let turned = [rows[2], rows[0], rows[1]];
        assert_eq!(of(&rows), of(&turned));
        for other in [
            vec![(Some(1), "a"), (Some(2), "b")],
            vec![(Some(1), "b"), (Some(2), "a"), (None, "c")],
            vec![(Some(1), "a"), (Some(2), "b"), (Some(0), "c")],
            vec![rows[0], rows[0], rows[1], rows[2]],
        ] {
            assert_ne!(of(&rows), of(&other), "{other:?}");
        }
        let mut edges = ContentHash::default();
        edges.add("edges", &[Arc::new(Int64Array::from(vec![1])) as ArrayRef]).unwrap();
        let mut nodes = ContentHash::default();
        nodes.add("nodes", &[Arc::new(Int64Array::from(vec![1])) as ArrayRef]).unwrap();
        assert_ne!(edges, nodes);
    }

    #[test]
    fn a_number_is_the_same_in_any_integer_type() {
        let mut hashes = [DataType::Int16, DataType::Int64, DataType::UInt32].map(|data_type| {
            let column = cast(&Int64Array::from(vec![Some(7), None]), &data_type).unwrap();
            let mut hash = ContentHash::default();
            hash.add("nodes", &[column]).unwrap();
            hash
        });
        hashes.sort_by_key(|hash| hash.0);
        assert_eq!(hashes[0], hashes[2]);
    }

    #[test]
    fn a_hash_of_nothing_is_known() {
        assert_eq!(ContentHash::default().to_string(), "0000000000000000");
        // FNV-1a of the empty text is its offset basis; the finaliser is SplitMix64's of that number.
        let mut state = 0xcbf2_9ce4_8422_2325_u64;
        for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb_u64)] {
            state = (state ^ (state >> shift)).wrapping_mul(factor);
        }
        assert_eq!(hash(b"", 0), state ^ (state >> 31));
    }
}
