//! Lists of triangulations in (mixed) lexicographic order, as F. H. Lutz publishes them: `name=[[1,2,3],...]`.

use std::path::Path;
use std::sync::Arc;

use super::complex_files::ComplexFiles;
use super::not_this;
use crate::complexes::{self, Complex, Label, SimplexLists, Table, first_entry};
use crate::{Dataset, Format, Options, Result};

const LABELS: [Label; 4] = [Label::Id, Label::Vertices, Label::Facets, Label::File];

pub(super) static FORMAT: Format = Format {
    name: "lutz",
    description: "text lists of triangulations, name=[[1,2,3],...] (F. H. Lutz); a file or a folder of them",
    options: &[],
    recognises: |path| complexes::find(path, is_list).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let files = complexes::find(path, is_list)
        .ok_or_else(|| not_this(path, "holds no lists of triangulations: name=[[1,2,3],...] is expected"))?;
    Ok(FORMAT.dataset(path, options, ComplexFiles { files, labels: &LABELS, read, bytes }))
}

fn is_list(file: &Path) -> bool {
    first_entry(&complexes::head(file)).is_some_and(|(_, sign)| sign == "=")
}

fn read(file: &Path, table: &mut Table<'_>) -> Result<()> {
    let mut complex = Complex::default();
    let mut lists = SimplexLists::new(file, complexes::open(file)?);
    while lists.next_complex(&mut complex)? {
        complex.file = Some(complexes::stem(file));
        table.push(&complex)?;
    }
    Ok(())
}

/// A vertex is a digit or two and a comma, and four bytes here.
pub(super) fn bytes(file: &Path) -> usize {
    3 * complexes::unpacked_size(file)
}
