//! LINKX's MATLAB files: the networks of facebook100 (`A`, `local_info`), Deezer Europe (`A`, `features`, `label`), and
//! `edge_index`, `node_feat`, `label`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};

use super::attributed::{entries, find, sparse_rows};
use super::{DIRECTED, class, not_this};
use crate::columns::{self, Values};
use crate::matlab::MatFile;
use crate::matrix::Matrix;
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result, files, linkx_splits};

/// The columns of `local_info`; 0 means missing. The second is the label.
const INFO: [&str; 7] = ["status", "gender", "major", "second_major", "dorm", "year", "high_school"];
const GENDER: usize = 1;

/// The option that names the file of splits.
pub(super) const SPLITS: (&str, &str) =
    ("splits", "the file of splits; default: NAME-splits.npy beside the set or in a folder splits above it");

/// The file of splits that the option names, else the one that lies where the publisher's do.
pub(super) fn splits_file(path: &Path, name: &str, options: &Options) -> Result<Option<PathBuf>> {
    match options.get(SPLITS.0) {
        None => Ok(linkx_splits::find(path, name)),
        Some(file) if files::is_file(Path::new(file)) => Ok(Some(PathBuf::from(file))),
        Some(file) => Err(Error::Option(format!("option splits: there is no file '{file}'"))),
    }
}

pub(super) static FORMAT: Format = Format {
    name: "linkx",
    description: "NAME.mat with A and local_info (facebook100), A, features and label (Deezer), or edge_index, node_feat, label (CUAI/Non-Homophily-Large-Scale)",
    options: &[DIRECTED, SPLITS],
    recognises: |path| find(path, is_ours).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let Some(file) = find(path, is_ours) else {
        if path.is_file() {
            // What is wrong with the file itself comes first.
            MatFile::open(path)?;
        }
        let expected =
            "one .mat with A and local_info, A, features and label, or edge_index, node_feat and label, is expected";
        return Err(not_this(path, expected));
    };
    let kind = kind(&MatFile::open(&file)?).unwrap_or(Layout::Index);
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let name = if kind == Layout::Facebook { format!("fb100-{stem}") } else { stem.to_owned() };
    let splits = splits_file(&file, &name, options)?;
    Ok(FORMAT.dataset(path, options, Set { file, kind, splits }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Facebook,
    Deezer,
    Index,
}

impl Layout {
    /// The name of the matrix of features; none where they are made of `local_info`.
    fn features(self) -> Option<&'static str> {
        match self {
            Self::Facebook => None,
            Self::Deezer => Some("features"),
            Self::Index => Some("node_feat"),
        }
    }
}

fn kind(mat: &MatFile) -> Option<Layout> {
    let has = |name: &str| mat.variable(name).is_some();
    if has("A") && has("local_info") {
        return Some(Layout::Facebook);
    }
    if has("A") && has("features") && has("label") {
        return Some(Layout::Deezer);
    }
    (has("edge_index") && has("label")).then_some(Layout::Index)
}

fn is_ours(file: &Path) -> bool {
    MatFile::open(file).is_ok_and(|mat| kind(&mat).is_some())
}

#[derive(Debug)]
struct Set {
    file: PathBuf,
    kind: Layout,
    splits: Option<PathBuf>,
}

impl Set {
    /// A column of integers of every node.
    fn info(mat: &MatFile) -> Result<(usize, Vec<f64>)> {
        let shape = mat.variable("local_info").map(|variable| variable.shape.clone()).unwrap_or_default();
        let &[n, width] = shape.as_slice() else {
            return Err(mat.fault("local_info", format!("has the shape {shape:?}; [nodes, 7] is expected")));
        };
        if width != INFO.len() {
            return Err(mat.fault("local_info", format!("has {width} columns, 7 are expected")));
        }
        let values = mat.array("local_info")?.dense().map_err(|what| mat.fault("local_info", what))?;
        Ok((n, values))
    }

    /// One feature for each value of each column but the label; a missing one has none.
    fn one_hot(n: usize, info: &[f64]) -> Matrix {
        let mut rows: Vec<Vec<(i32, f32)>> = vec![Vec::new(); n];
        let mut width = 0;
        for (column, values) in info.chunks(n.max(1)).enumerate().filter(|(column, _)| *column != GENDER) {
            debug_assert!(column < INFO.len());
            let known: BTreeSet<i64> = values.iter().map(|&value| value as i64).filter(|&value| value != 0).collect();
            let known: Vec<i64> = known.into_iter().collect();
            for (row, value) in rows.iter_mut().zip(values) {
                if let Ok(position) = known.binary_search(&(*value as i64)) {
                    row.push(((width + position) as i32, 1.0));
                }
            }
            width += known.len();
        }
        let mut offsets = vec![0];
        let mut entries = Vec::new();
        for row in rows {
            entries.extend(row);
            offsets.push(entries.len());
        }
        Matrix::Sparse { width, offsets, entries }
    }

    fn facebook(mat: &MatFile, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let (n, info) = Self::info(mat)?;
        scan.batches(n, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "features" => Values::rows_of(Self::one_hot(n, &info)),
                name => {
                    let column = INFO.iter().position(|info| *info == name).unwrap_or(GENDER);
                    let known = |&value: &f64| Some(value as i64).filter(|&value| value != 0);
                    Values::Labels(info[column * n..(column + 1) * n].iter().map(known).collect())
                }
            })
        })
    }

    /// The nodes by their labels, with the rows of a matrix of features, if there is one.
    fn labelled(mat: &MatFile, features: &str, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let labels = mat.array("label")?.dense().map_err(|what| mat.fault("label", what))?;
        let n = labels.len();
        scan.batches(n, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "label" => Values::Labels(labels.iter().map(|&label| class(label as i64)).collect()),
                _ => match mat.variable(features).map(|variable| variable.shape.as_slice()) {
                    Some(&[rows, width]) if rows == n => Values::rows_of(sparse_rows(&mat.array(features)?, n, width)),
                    Some(other) => {
                        return Err(mat.fault(features, format!("has the shape {other:?} for {n} labels")));
                    }
                    None => Values::Nulls,
                },
            })
        })
    }
}

impl GraphFile for Set {
    fn has_splits(&self) -> bool {
        self.splits.is_some()
    }

    fn nodes_schema(&self) -> Result<SchemaRef> {
        let mat = MatFile::open(&self.file)?;
        if let Some(features) = self.kind.features() {
            let width = mat.variable(features).and_then(|variable| variable.shape.get(1).copied());
            return Ok(columns::nodes_schema(DataType::Int64, DataType::Int64, Features { sparse: true, width }));
        }
        let (n, info) = Self::info(&mat)?;
        let (Matrix::Sparse { width, .. } | Matrix::Dense { width, .. }) = Self::one_hot(n, &info);
        let nodes = columns::nodes_schema(DataType::Int64, DataType::Int64, Features::sparse(width));
        let others = INFO.iter().enumerate().filter(|(column, _)| *column != GENDER);
        Ok(columns::extended(&nodes, others.map(|(_, name)| Field::new(*name, DataType::Int64, true))))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mat = MatFile::open(&self.file)?;
        match self.kind.features() {
            None => Self::facebook(&mat, scan),
            Some(features) => Self::labelled(&mat, features, scan),
        }
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mat = MatFile::open(&self.file)?;
        if self.kind != Layout::Index {
            return scan.edges(entries(&mat.array("A")?));
        }
        let ends = mat.array("edge_index")?.dense().map_err(|what| mat.fault("edge_index", what))?;
        if mat.variable("edge_index").is_none_or(|variable| variable.shape.first() != Some(&2)) {
            return Err(mat.fault("edge_index", "has not two rows"));
        }
        scan.edges(ends.as_chunks::<2>().0.iter().map(|&[u, v]| (u as i64, v as i64)).unzip())
    }

    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        linkx_splits::scan(self.splits.as_deref(), scan)
    }

    fn expected_bytes(&self, table: &str, _features: bool) -> usize {
        match table {
            "splits" => linkx_splits::expected_bytes(self.splits.as_deref()),
            // Compressed entries of about a byte become 24.
            _ => 32 * files::size(&self.file),
        }
    }

    fn directed(&self) -> bool {
        self.kind == Layout::Index
    }

    fn files(&self) -> Vec<PathBuf> {
        [&self.file].into_iter().chain(&self.splits).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    use super::*;
    use crate::matlab::tests::{bytes, mat};
    use crate::{Opened, open};

    #[test]
    fn deezer_has_a_matrix_of_features_beside_its_network() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deezer-europe.mat");
        // A path of three nodes; two features; labels in a row.
        let network = bytes("A", [3, 3], &[0, 1, 0, 1, 0, 1, 0, 1, 0]);
        let features = bytes("features", [3, 2], &[1, 0, 0, 0, 0, 4]);
        let labels = bytes("label", [1, 3], &[1, 0, 1]);
        std::fs::write(&file, mat(&[network.clone(), features, labels.clone()])).unwrap();
        let Opened::Graph(graph) = open(file.to_str().unwrap(), None, &Options::default()).unwrap() else { panic!() };
        assert_eq!((graph.format(), graph.directed()), ("linkx", false));
        let nodes = graph.read("nodes", &[1, 2], &|| true).unwrap().remove(0);
        assert_eq!(nodes.column(0).as_primitive::<Int64Type>().values(), &[1, 0, 1]);
        let features = nodes.column(1).as_map();
        assert_eq!((0..3).map(|row| features.value_length(row)).collect::<Vec<_>>(), [1, 0, 1]);
        let edges = graph.read("edges", &[0, 1], &|| true).unwrap().remove(0);
        assert_eq!(edges.column(0).as_primitive::<Int64Type>().values(), &[0, 1, 1, 2]);

        std::fs::write(&file, mat(&[network, bytes("features", [2, 2], &[1, 0, 0, 0]), labels])).unwrap();
        let Opened::Graph(graph) = open(file.to_str().unwrap(), None, &Options::default()).unwrap() else { panic!() };
        let error = graph.read("nodes", &[2], &|| true).unwrap_err().to_string();
        assert!(error.contains("features: has the shape [2, 2] for 3 labels"), "{error}");
    }
}
