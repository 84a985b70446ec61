//! The traits of a format, and their adapter to [`Dataset`].

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use crate::scan::Scan;
use crate::{Dataset, Error, Format, Options, Result, Stamp, columns, files};

/// The prefix of the locations of built-in data.
pub(crate) const BUILTIN: &str = "builtin:";

/// The position of `features` among the columns of `nodes` of a [`GraphFile`].
const FEATURES: usize = 2;

/// A format of one graph: `nodes`, `edges` and, where the publisher gives them, `splits`.
///
/// Every method that reads takes a [`Scan`], which builds the batches.
pub(crate) trait GraphFile: Debug + Send + Sync {
    /// Whether there are rows of `splits`.
    fn has_splits(&self) -> bool {
        false
    }
    /// The tables that the files give.
    fn tables(&self) -> Vec<&'static str> {
        if self.has_splits() { vec!["nodes", "edges", "splits"] } else { vec!["nodes", "edges"] }
    }
    /// The columns of `nodes`: `node`, `label`, `features`, and others.
    fn nodes_schema(&self) -> Result<SchemaRef>;
    /// The columns of `edges`.
    fn edges_schema(&self) -> Result<SchemaRef> {
        Ok(columns::edges_schema(DataType::Int64))
    }
    /// The rows of `nodes`.
    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>>;
    /// The rows of `edges`.
    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>>;
    /// The rows of `splits`.
    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        scan.splits(columns::Splits::default())
    }
    /// See [`Dataset::expected_bytes`]; `features` tells whether they are read.
    fn expected_bytes(&self, table: &str, features: bool) -> usize;
    /// See [`Dataset::missing_features`].
    fn missing_features(&self) -> Option<String> {
        None
    }
    /// Whether rows of `edges` are arcs.
    fn directed(&self) -> bool {
        false
    }
    /// The files that the data comes from, including those that are missing.
    fn files(&self) -> Vec<PathBuf>;
}

/// A format of any tables.
pub(crate) trait Reader: Debug + Send + Sync {
    /// The tables that the files give.
    fn tables(&self) -> Vec<&'static str>;
    /// The columns of one of them.
    fn schema(&self, table: &str) -> Result<SchemaRef>;
    /// The rows of one of them.
    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>>;
    /// See [`Dataset::expected_bytes`].
    fn expected_bytes(&self, table: &str, columns: &[usize]) -> usize;
    /// See [`Dataset::missing_features`].
    fn missing_features(&self) -> Option<String> {
        None
    }
    /// Whether rows of `edges` are arcs.
    fn directed(&self) -> bool {
        false
    }
    /// The files that the data comes from, including those that are missing.
    fn files(&self) -> Vec<PathBuf>;
}

impl<G: GraphFile> Reader for G {
    fn tables(&self) -> Vec<&'static str> {
        GraphFile::tables(self)
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        match table {
            "nodes" => self.nodes_schema(),
            "edges" => self.edges_schema(),
            _ => Ok(columns::splits_schema()),
        }
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        match scan.table {
            "nodes" => self.nodes(scan),
            "edges" => self.edges(scan),
            _ => self.splits(scan),
        }
    }

    fn expected_bytes(&self, table: &str, columns: &[usize]) -> usize {
        GraphFile::expected_bytes(self, table, columns.contains(&FEATURES))
    }

    fn missing_features(&self) -> Option<String> {
        GraphFile::missing_features(self)
    }

    fn directed(&self) -> bool {
        GraphFile::directed(self)
    }

    fn files(&self) -> Vec<PathBuf> {
        GraphFile::files(self)
    }
}

/// A data set in files.
#[derive(Debug)]
pub(crate) struct Published {
    format: &'static str,
    location: String,
    options: Options,
    reader: Box<dyn Reader>,
}

impl Format {
    /// The data set that a reader gives; a path becomes absolute.
    pub(crate) fn dataset(
        &self,
        location: &Path,
        options: &Options,
        reader: impl Reader + 'static,
    ) -> Arc<dyn Dataset> {
        let builtin = location.to_str().is_some_and(|location| location.starts_with(BUILTIN));
        let absolute = std::path::absolute(location).ok().filter(|_| !builtin);
        let location = absolute.as_deref().unwrap_or(location).to_string_lossy().into_owned();
        Arc::new(Published { format: self.name, location, options: options.clone(), reader: Box::new(reader) })
    }
}

impl Published {
    fn check(&self, table: &str) -> Result<()> {
        let tables = self.reader.tables();
        if tables.contains(&table) {
            return Ok(());
        }
        Err(Error::UnknownTable { location: self.location.clone(), table: table.to_owned(), known: tables.join(", ") })
    }
}

impl Dataset for Published {
    fn format(&self) -> &'static str {
        self.format
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn directed(&self) -> bool {
        self.options.get("directed").map_or_else(|| self.reader.directed(), |value| value == "true")
    }

    fn tables(&self) -> Vec<String> {
        self.reader.tables().into_iter().map(str::to_owned).collect()
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        self.check(table)?;
        self.reader.schema(table)
    }

    fn read(&self, table: &str, columns: &[usize], keep_going: &dyn Fn() -> bool) -> Result<Vec<RecordBatch>> {
        let schema = self.schema(table)?;
        if let Some(column) = columns.iter().find(|column| **column >= schema.fields().len()) {
            let what = format!("column {column} of table {table} is asked for, which has {}", schema.fields().len());
            return Err(Error::file(Path::new(&self.location), what));
        }
        let scan = Scan { table, schema: &schema, columns, keep_going };
        scan.check()?;
        self.reader.read(&scan)
    }

    fn expected_bytes(&self, table: &str, columns: &[usize]) -> usize {
        self.reader.expected_bytes(table, columns)
    }

    fn stamp(&self) -> Stamp {
        files::stamp(&self.reader.files())
    }

    fn missing_features(&self) -> Option<String> {
        self.reader.missing_features()
    }
}
