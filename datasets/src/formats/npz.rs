//! The heterophilous graphs' `NAME.npz`: `node_features`, `node_labels`, `edges`, and masks of ten splits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, Labels, choice, integral, not_this};
use crate::array::{self, Array};
use crate::columns::{self, Splits, Values};
use crate::matrix::Matrix;
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Format, Options, Result, files};

/// The masks and the part of each.
pub(crate) const MASKS: [(&str, &str); 3] = [("train_masks", "train"), ("val_masks", "val"), ("test_masks", "test")];

pub(super) static FORMAT: Format = Format {
    name: "npz",
    description: "NAME.npz with node_features, node_labels, edges and masks (yandex-research/heterophilous-graphs)",
    options: &[DIRECTED, ("features", "dense | sparse: features as FLOAT[], as published, or as MAP(INT, FLOAT)")],
    recognises: |path| find(path, is_ours).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let sparse = choice(options, "features", &["dense", "sparse"])? == Some("sparse");
    let file = match find(path, is_ours) {
        Some(file) => file,
        // Opening the file says what is wrong with it.
        None if path.is_file() => {
            let npz = array::Npz::open(path)?;
            let names = npz.names();
            return Err(not_this(path, &format!("has no edges and node_labels but: {}", files::few(&names))));
        }
        None => return Err(not_this(path, "one .npz with edges and node_labels is expected")),
    };
    Ok(FORMAT.dataset(path, options, Heterophilous { file, sparse }))
}

/// The file itself, or the one archive of this kind in a folder.
pub(crate) fn find(path: &Path, is_ours: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    files::only(path, |file| files::name(file).ends_with(".npz") && is_ours(file))
}

fn is_ours(file: &Path) -> bool {
    files::is_file(file) && array::Npz::open(file).is_ok_and(|npz| npz.has("edges") && npz.has("node_labels"))
}

#[derive(Debug)]
struct Heterophilous {
    file: PathBuf,
    sparse: bool,
}

impl Heterophilous {
    fn open(&self) -> Result<array::Npz> {
        array::Npz::open(&self.file)
    }

    fn features(&self, n: usize) -> Result<Values> {
        let mut npz = self.open()?;
        if !npz.has("node_features") {
            return Ok(Values::Nulls);
        }
        let matrix = dense(&npz.array("node_features")?, n).map_err(|what| npz.fault("node_features", what))?;
        let matrix = if self.sparse { matrix.into_sparse() } else { matrix };
        Ok(Values::rows_of(matrix))
    }
}

/// A matrix of `n` rows.
pub(crate) fn dense(array: &Array, n: usize) -> Result<Matrix, String> {
    match *array.shape() {
        [rows, width] if rows == n => Ok(Matrix::Dense { rows, width, values: array.floats()? }),
        ref other => Err(format!("features of shape {other:?} for {n} nodes; [nodes, features] is expected")),
    }
}

/// The endpoints of an `[edges, 2]` array.
pub(crate) fn endpoints(array: &Array) -> Result<(Vec<i64>, Vec<i64>), String> {
    match *array.shape() {
        [_, 2] => Ok(array.integers()?.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip()),
        ref other => Err(format!("edges of shape {other:?}; [edges, 2] is expected")),
    }
}

impl GraphFile for Heterophilous {
    fn has_splits(&self) -> bool {
        self.open().is_ok_and(|npz| MASKS.iter().any(|(member, _)| npz.has(member)))
    }

    fn nodes_schema(&self) -> Result<SchemaRef> {
        let mut npz = self.open()?;
        let width = match npz.has("node_features").then(|| npz.header("node_features")).transpose()? {
            None => None,
            Some(header) => match header.shape[..] {
                [_, width] => Some(width),
                ref other => {
                    let what = format!("features of shape {other:?}; [nodes, features] is expected");
                    return Err(npz.fault("node_features", what));
                }
            },
        };
        let label = if integral(&npz.header("node_labels")?) {
            DataType::Int64
        } else {
            let labels = npz.array("node_labels")?;
            Labels::of(&labels).map_err(|what| npz.fault("node_labels", what))?.data_type()
        };
        Ok(columns::nodes_schema(DataType::Int64, label, Features { sparse: self.sparse, width }))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut npz = self.open()?;
        let array = npz.array("node_labels")?;
        let &[n] = array.shape() else {
            let what = format!("labels of shape {:?}; one a node is expected", array.shape());
            return Err(npz.fault("node_labels", what));
        };
        scan.batches(n, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "label" => Labels::of(&array).map_err(|what| npz.fault("node_labels", what))?.values(),
                _ => self.features(n)?,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut npz = self.open()?;
        scan.edges(endpoints(&npz.array("edges")?).map_err(|what| npz.fault("edges", what))?)
    }

    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut npz = self.open()?;
        let n = npz.header("node_labels")?.shape.first().copied().unwrap_or(0);
        let mut masks = Vec::new();
        for (member, part) in MASKS {
            if !npz.has(member) {
                continue;
            }
            let array = npz.array(member)?;
            let flags = array.flags().map_err(|what| npz.fault(member, what))?;
            let rows = match *array.shape() {
                [nodes] if nodes == n => 1,
                [splits, nodes] if nodes == n => splits,
                ref other => {
                    let what = format!("shape {other:?} for {n} nodes; [splits, nodes] is expected");
                    return Err(npz.fault(member, what));
                }
            };
            masks.push(((0..rows).map(|split| flags[split * n..(split + 1) * n].to_vec()).collect(), part));
        }
        scan.splits(Splits::from_masks(&masks))
    }

    fn expected_bytes(&self, table: &str, features: bool) -> usize {
        let members: &[&str] = match table {
            "edges" => &["edges"],
            "splits" => &MASKS.map(|(member, _)| member),
            _ if features => &["node_labels", "node_features"],
            _ => &["node_labels"],
        };
        self.open().map_or(0, |mut npz| npz.bytes(members).saturating_mul(3))
    }

    fn missing_features(&self) -> Option<String> {
        let npz = self.open().ok()?;
        (!npz.has("node_features")).then(|| format!("{} (member node_features)", files::name(&self.file)))
    }

    fn directed(&self) -> bool {
        files::name(&self.file).trim_end_matches(".npz").ends_with("_directed")
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
