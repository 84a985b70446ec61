//! Lists of triangulations in (mixed) lexicographic order, as F. H. Lutz publishes them: `name=[[1,2,3],...]`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::{Published, Reader, not_this};
use crate::complexes::{self, Complex, Label, TRIANGULATIONS, Table};
use crate::simplex_lists::{SimplexLists, first_entry};
use crate::{Dataset, Format, Options, Result};

const LABELS: [Label; 4] = [Label::Id, Label::Vertices, Label::Facets, Label::File];

pub(crate) struct Lutz;

impl Format for Lutz {
    fn name(&self) -> &'static str {
        "lutz"
    }

    fn description(&self) -> &'static str {
        "text lists of triangulations, name=[[1,2,3],...] (F. H. Lutz); a file or a folder of them"
    }

    fn recognises(&self, path: &Path) -> bool {
        complexes::find(path, is_list).is_some()
    }

    fn open(&self, path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
        let files = complexes::find(path, is_list)
            .ok_or_else(|| not_this(path, "holds no lists of triangulations: name=[[1,2,3],...] is expected"))?;
        Ok(Published::dataset(self.name(), path, options, Lists { files }))
    }
}

fn is_list(file: &Path) -> bool {
    first_entry(&complexes::head(file)).is_some_and(|(_, sign)| sign == "=")
}

#[derive(Debug)]
struct Lists {
    files: Vec<PathBuf>,
}

impl Reader for Lists {
    fn tables(&self) -> Vec<&'static str> {
        vec![TRIANGULATIONS]
    }

    fn schema(&self, _table: &str) -> Result<SchemaRef> {
        Ok(complexes::schema(&LABELS))
    }

    fn read(
        &self,
        _table: &str,
        _schema: &SchemaRef,
        columns: &[usize],
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<RecordBatch>> {
        let mut table = Table::new(&LABELS, columns, keep_going);
        let mut complex = Complex::default();
        for file in &self.files {
            let mut lists = SimplexLists::new(file, complexes::open(file)?);
            while lists.next_complex(&mut complex)? {
                complex.file = Some(complexes::stem(file));
                table.push(&complex)?;
            }
        }
        Ok(table.finish())
    }

    fn expected_bytes(&self, _table: &str, _columns: &[usize]) -> usize {
        // A vertex is a digit or two and a comma, and four bytes here.
        self.files.iter().map(|file| 3 * complexes::unpacked_size(file)).sum()
    }

    fn directed(&self) -> bool {
        false
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }
}
