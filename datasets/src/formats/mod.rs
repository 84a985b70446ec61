//! The published formats, one file each, and what they share.

mod attributed;
mod brec;
mod builtin;
mod complex_files;
mod csl;
mod curvbench;
mod dgcnn;
mod edge_list;
mod geom_gcn;
mod gnn_benchmark;
mod graph6;
mod heco;
mod hgcn;
mod linkx;
mod lutz;
mod lutz_library;
mod magnn_lastfm;
mod mantra;
mod musae;
mod npz;
mod ogb;
mod planetoid;
mod prolog;
mod simpcomp;
mod tables;
mod tu;
mod twitch;

use std::path::{Path, PathBuf};

use arrow::datatypes::DataType;

use crate::array::{Array, Header, ValueType};
use crate::columns::Values;
use crate::{Error, Format, Options, Result, files};

static FORMATS: [&Format; 26] = [
    &builtin::FORMAT,
    &planetoid::FORMAT,
    &geom_gcn::FORMAT,
    &npz::FORMAT,
    &gnn_benchmark::FORMAT,
    &hgcn::FORMAT,
    &heco::FORMAT,
    &magnn_lastfm::FORMAT,
    &ogb::FORMAT,
    &linkx::FORMAT,
    &attributed::FORMAT,
    &twitch::FORMAT,
    &musae::FORMAT,
    &curvbench::FORMAT,
    &mantra::FORMAT,
    &simpcomp::FORMAT,
    &lutz_library::FORMAT,
    &lutz::FORMAT,
    &prolog::FORMAT,
    &tables::FORMAT,
    &tu::FORMAT,
    &brec::FORMAT,
    &csl::FORMAT,
    &graph6::FORMAT,
    &dgcnn::FORMAT,
    &edge_list::FORMAT,
];

/// All formats, the most specific first: where several recognise a path, the first of them reads it.
pub fn formats() -> &'static [&'static Format] {
    &FORMATS
}

/// The option `directed`, which every format of files takes.
pub(crate) const DIRECTED: (&str, &str) =
    ("directed", "true | false: whether rows of edges are arcs; default: as the format or its files say");

/// A choice among words; the first is the default.
pub(crate) fn choice<'a>(options: &'a Options, name: &str, words: &[&'a str]) -> Result<Option<&'a str>> {
    match options.get(name) {
        None => Ok(None),
        Some(value) if words.contains(&value.as_str()) => Ok(Some(value)),
        Some(value) => Err(Error::Option(format!("option {name} is '{value}'; it may be {}", words.join(" | ")))),
    }
}

/// The label column of an integer or real array: integers as BIGINT with `-1` as NULL; reals too where all are whole.
pub(crate) enum Labels {
    Classes(Vec<Option<i64>>),
    Targets(Vec<f64>),
}

impl Labels {
    pub(crate) fn of(array: &Array) -> Result<Self, String> {
        match array.integers() {
            Ok(labels) => Ok(Self::Classes(labels.into_iter().map(class).collect())),
            Err(_) if array.header.dtype.kind == ValueType::Float => Ok(Self::Targets(array.reals()?)),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn data_type(&self) -> DataType {
        match self {
            Self::Classes(_) => DataType::Int64,
            Self::Targets(_) => DataType::Float64,
        }
    }

    pub(crate) fn values(self) -> Values {
        match self {
            Self::Classes(labels) => Values::Labels(labels),
            Self::Targets(targets) => Values::Reals(targets),
        }
    }
}

/// Whether labels of this array can be integers or have to be looked at.
pub(crate) fn integral(header: &Header) -> bool {
    header.dtype.kind != ValueType::Float
}

/// A class number; `-1` means none.
pub(crate) fn class(label: i64) -> Option<i64> {
    (label != -1).then_some(label)
}

/// The error of a path that is not what TYPE says.
pub(crate) fn not_this(path: &Path, expected: &str) -> Error {
    let found = if path.is_dir() {
        format!("the folder holds: {}", files::few(&files::names(path)))
    } else {
        "it is a file".to_owned()
    };
    Error::file(path, format!("{expected}; {found}"))
}

/// The file that was found at a path; else the path itself, whose reader says what is wrong with it, if it is a file.
pub(crate) fn found_or_file(found: Option<PathBuf>, path: &Path, expected: &str) -> Result<PathBuf> {
    found.or_else(|| path.is_file().then(|| path.to_owned())).ok_or_else(|| not_this(path, expected))
}
