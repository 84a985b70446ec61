//! The table `triangulations`, which all readers of complexes fill.

mod simplex_lists;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBuilder, Int32Builder, Int64Builder, ListBuilder, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use flate2::read::MultiGzDecoder;

use crate::scan::{BATCH_ROWS, batch, project};
use crate::{Error, Result, files};

pub(crate) use self::simplex_lists::{SimplexLists, first_entry};

/// The name of the table.
pub(crate) const TRIANGULATIONS: &str = "triangulations";

/// The bytes of a file that are read to recognise it.
const HEAD: u64 = 64 << 10;

/// Complexes between two calls of `keep_going`.
const COMPLEXES_BETWEEN_CHECKS: usize = 256;

/// A column of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Label {
    Id,
    Vertices,
    Facets,
    Dimension,
    Name,
    File,
    Betti,
    Torsion,
    Homology,
    FVector,
    Euler,
    Genus,
    Orientable,
    Manifold,
    Boundary,
    /// A key of the publisher's that has no column of its own, as text.
    Other(String),
}

impl Label {
    fn name(&self) -> &str {
        match self {
            Self::Id => "id",
            Self::Vertices => "n_vertices",
            Self::Facets => "facets",
            Self::Dimension => "dimension",
            Self::Name => "name",
            Self::File => "file",
            Self::Betti => "betti_numbers",
            Self::Torsion => "torsion_coefficients",
            Self::Homology => "homology",
            Self::FVector => "f_vector",
            Self::Euler => "euler_characteristic",
            Self::Genus => "genus",
            Self::Orientable => "orientable",
            Self::Manifold => "manifold",
            Self::Boundary => "has_boundary",
            Self::Other(name) => name,
        }
    }

    fn data_type(&self) -> DataType {
        let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
        match self {
            Self::Facets => list(list(DataType::Int32)),
            Self::Betti | Self::FVector => list(DataType::Int64),
            Self::Torsion => list(DataType::Utf8),
            Self::Vertices | Self::Dimension | Self::Euler | Self::Genus => DataType::Int64,
            Self::Orientable | Self::Manifold | Self::Boundary => DataType::Boolean,
            Self::Id | Self::Name | Self::File | Self::Homology | Self::Other(_) => DataType::Utf8,
        }
    }
}

/// The table's columns.
pub(crate) fn schema(labels: &[Label]) -> SchemaRef {
    let field = |label: &Label| {
        let required = matches!(label, Label::Id | Label::Vertices | Label::Facets);
        Field::new(label.name(), label.data_type(), !required)
    };
    Arc::new(Schema::new(labels.iter().map(field).collect::<Vec<_>>()))
}

/// A complex and what its publisher says of it.
#[derive(Debug, Default)]
pub(crate) struct Complex {
    pub(crate) id: String,
    pub(crate) n_vertices: Option<i64>,
    /// The facets' vertices one after another, and where each facet ends.
    vertices: Vec<i32>,
    ends: Vec<usize>,
    pub(crate) dimension: Option<i64>,
    pub(crate) name: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) betti: Option<Vec<i64>>,
    pub(crate) torsion: Option<Vec<String>>,
    pub(crate) homology: Option<String>,
    pub(crate) f_vector: Option<Vec<i64>>,
    pub(crate) euler: Option<i64>,
    pub(crate) genus: Option<i64>,
    pub(crate) orientable: Option<bool>,
    pub(crate) manifold: Option<bool>,
    pub(crate) boundary: Option<bool>,
    pub(crate) others: Vec<Option<String>>,
}

impl Complex {
    /// Forgets everything but its memory for facets.
    pub(crate) fn clear(&mut self) {
        let (mut vertices, mut ends) = (std::mem::take(&mut self.vertices), std::mem::take(&mut self.ends));
        vertices.clear();
        ends.clear();
        *self = Self { vertices, ends, ..Self::default() };
    }

    /// Adds a vertex to the facet in the making.
    pub(crate) fn push_vertex(&mut self, vertex: i64) -> Result<(), String> {
        match i32::try_from(vertex) {
            Ok(vertex) if vertex >= 0 => {
                self.vertices.push(vertex);
                Ok(())
            }
            _ => Err(format!("the vertex {vertex} is out of range; vertices are 0 to {}", i32::MAX)),
        }
    }

    /// Ends a facet: its vertices become ascending.
    pub(crate) fn end_facet(&mut self) -> Result<(), String> {
        let start = self.ends.last().copied().unwrap_or_default();
        if start == self.vertices.len() {
            return Err(format!("facet {} is empty", self.ends.len() + 1));
        }
        self.vertices[start..].sort_unstable();
        self.ends.push(self.vertices.len());
        Ok(())
    }

    pub(crate) fn has_facets(&self) -> bool {
        !self.ends.is_empty()
    }

    fn count_vertices(&self) -> i64 {
        let mut distinct = self.vertices.clone();
        distinct.sort_unstable();
        distinct.dedup();
        distinct.len() as i64
    }
}

enum Column {
    Text(StringBuilder),
    Integer(Int64Builder),
    Boolean(BooleanBuilder),
    Integers(ListBuilder<Int64Builder>),
    Texts(ListBuilder<StringBuilder>),
    Facets(ListBuilder<ListBuilder<Int32Builder>>),
}

impl Column {
    fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Int64 => Self::Integer(Int64Builder::new()),
            DataType::Boolean => Self::Boolean(BooleanBuilder::new()),
            DataType::List(item) => match item.data_type() {
                DataType::Int64 => Self::Integers(ListBuilder::new(Int64Builder::new())),
                DataType::Utf8 => Self::Texts(ListBuilder::new(StringBuilder::new())),
                _ => Self::Facets(ListBuilder::new(ListBuilder::new(Int32Builder::new()))),
            },
            _ => Self::Text(StringBuilder::new()),
        }
    }

    fn push(&mut self, label: &Label, others: &[Label], complex: &Complex) {
        match self {
            Self::Text(column) => column.append_option(match label {
                Label::Id => Some(&complex.id),
                Label::Name => complex.name.as_ref(),
                Label::File => complex.file.as_ref(),
                Label::Homology => complex.homology.as_ref(),
                other => {
                    let at = others.iter().position(|known| known == other);
                    at.and_then(|at| complex.others.get(at)?.as_ref())
                }
            }),
            Self::Integer(column) => column.append_option(match label {
                Label::Vertices => Some(complex.n_vertices.unwrap_or_else(|| complex.count_vertices())),
                Label::Dimension => complex.dimension,
                Label::Euler => complex.euler,
                _ => complex.genus,
            }),
            Self::Boolean(column) => column.append_option(match label {
                Label::Orientable => complex.orientable,
                Label::Manifold => complex.manifold,
                _ => complex.boundary,
            }),
            Self::Integers(column) => {
                let list = if *label == Label::Betti { &complex.betti } else { &complex.f_vector };
                column.values().append_slice(list.as_deref().unwrap_or_default());
                column.append(list.is_some());
            }
            Self::Texts(column) => {
                complex.torsion.iter().flatten().for_each(|torsion| column.values().append_value(torsion));
                column.append(complex.torsion.is_some());
            }
            Self::Facets(column) => {
                let mut start = 0;
                for &end in &complex.ends {
                    let facets = column.values();
                    facets.values().append_slice(&complex.vertices[start..end]);
                    facets.append(true);
                    start = end;
                }
                column.append(true);
            }
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => Arc::new(column.finish()),
            Self::Integer(column) => Arc::new(column.finish()),
            Self::Boolean(column) => Arc::new(column.finish()),
            Self::Integers(column) => Arc::new(column.finish()),
            Self::Texts(column) => Arc::new(column.finish()),
            Self::Facets(column) => Arc::new(column.finish()),
        }
    }
}

/// The table in the making: complexes become columns one by one.
pub(crate) struct Table<'a> {
    schema: SchemaRef,
    columns: Vec<(Label, Column)>,
    others: Vec<Label>,
    rows: usize,
    batches: Vec<RecordBatch>,
    read: usize,
    keep_going: &'a dyn Fn() -> bool,
}

impl<'a> Table<'a> {
    /// An empty table of some of these columns.
    pub(crate) fn new(labels: &[Label], projection: &[usize], keep_going: &'a dyn Fn() -> bool) -> Self {
        let schema = project(&schema(labels), projection);
        let columns = projection.iter().map(|&i| (labels[i].clone(), Column::new(&labels[i].data_type()))).collect();
        let others = labels.iter().filter(|label| matches!(label, Label::Other(_))).cloned().collect();
        Self { schema, columns, others, rows: 0, batches: Vec::new(), read: 0, keep_going }
    }

    pub(crate) fn wants(&self, label: &Label) -> bool {
        self.columns.iter().any(|(wanted, _)| wanted == label)
    }

    pub(crate) fn push(&mut self, complex: &Complex) -> Result<()> {
        self.read += 1;
        if self.read.is_multiple_of(COMPLEXES_BETWEEN_CHECKS) && !(self.keep_going)() {
            return Err(Error::Cancelled);
        }
        self.columns.iter_mut().for_each(|(label, column)| column.push(label, &self.others, complex));
        self.rows += 1;
        if self.rows == BATCH_ROWS {
            self.cut()?;
        }
        Ok(())
    }

    fn cut(&mut self) -> Result<()> {
        let arrays = self.columns.iter_mut().map(|(_, column)| column.finish()).collect();
        self.batches.push(batch(&self.schema, arrays, self.rows)?);
        self.rows = 0;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Vec<RecordBatch>> {
        if self.rows > 0 {
            self.cut()?;
        }
        Ok(self.batches)
    }
}

/// Whether a file is compressed by gzip, as its name says.
fn zipped(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// A file's content as a stream, unpacked where its name ends in `.gz`.
pub(crate) fn open(file: &Path) -> Result<Box<dyn BufRead>> {
    let input = File::open(file).map_err(Error::io(file))?;
    Ok(match zipped(file) {
        true => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(BufReader::new(input)))),
        false => Box::new(BufReader::with_capacity(1 << 16, input)),
    })
}

/// The first bytes of a file's content; nothing where it cannot be read.
pub(crate) fn head(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if files::is_file(file)
        && let Ok(input) = open(file)
    {
        // Half a content is enough to look at.
        let _ = input.take(HEAD).read_to_end(&mut bytes);
    }
    bytes
}

/// The size of an unpacked file: gzip says so at the file's end, modulo 4 GiB.
pub(crate) fn unpacked_size(file: &Path) -> usize {
    let size = files::size(file);
    if !zipped(file) {
        return size;
    }
    let mut end = [0; 4];
    let read =
        File::open(file).and_then(|mut input| input.seek(SeekFrom::End(-4)).and_then(|_| input.read_exact(&mut end)));
    read.map_or(size, |()| size.max(u32::from_le_bytes(end) as usize))
}

/// The files that a path stands for: itself, or all files of a folder if each is of the kind.
pub(crate) fn find(path: &Path, kind: impl Fn(&Path) -> bool) -> Option<Vec<PathBuf>> {
    if !path.is_dir() {
        return kind(path).then(|| vec![path.to_owned()]);
    }
    let found: Vec<PathBuf> = files::names(path).into_iter().map(|name| path.join(name)).collect();
    (!found.is_empty() && found.iter().all(|file| kind(file))).then_some(found)
}

/// A file's name without its extensions.
pub(crate) fn stem(file: &Path) -> String {
    let name = files::name(file);
    let name = name.strip_suffix(".gz").unwrap_or(name);
    ["scb", "txt", "json", "dat"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension)?.strip_suffix('.'))
        .unwrap_or(name)
        .to_owned()
}
