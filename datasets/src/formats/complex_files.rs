//! Files of complexes as one table, whatever their format.

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::Result;
use crate::complexes::{self, Label, TRIANGULATIONS, Table};
use crate::reader::Reader;
use crate::scan::Scan;

/// Files of one format.
#[derive(Debug)]
pub(super) struct ComplexFiles {
    pub files: Vec<PathBuf>,
    /// The columns that the format has.
    pub labels: &'static [Label],
    /// Adds the complexes of a file.
    pub read: fn(&Path, &mut Table<'_>) -> Result<()>,
    /// The bytes that the rows of a file take, at most.
    pub bytes: fn(&Path) -> usize,
}

impl Reader for ComplexFiles {
    fn tables(&self) -> Vec<&'static str> {
        vec![TRIANGULATIONS]
    }

    fn schema(&self, _table: &str) -> Result<SchemaRef> {
        Ok(complexes::schema(self.labels))
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut table = Table::new(self.labels, scan.columns, scan.keep_going);
        self.files.iter().try_for_each(|file| (self.read)(file, &mut table))?;
        table.finish()
    }

    fn expected_bytes(&self, _table: &str, _columns: &[usize]) -> usize {
        self.files.iter().map(|file| (self.bytes)(file)).sum()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }
}
