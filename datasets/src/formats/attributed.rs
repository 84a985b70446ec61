//! Attributed networks as MATLAB files: `Network`, `Attributes`, `Label`; or `network` and the memberships `group`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, not_this};
use crate::columns::{self, Values};
use crate::matlab::{MatArray, MatFile, is_mat};
use crate::matrix::Matrix;
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::types::{Features, dense_features_type};
use crate::{Dataset, Error, Format, Options, Result, files};

pub(super) static FORMAT: Format = Format {
    name: "attributed",
    description: "NAME.mat with Network, Attributes, Label (xhuang31/AANE_Python), or network and group (phanein/deepwalk)",
    options: &[DIRECTED],
    recognises: |path| find(path, is_ours).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let Some(file) = find(path, is_ours) else {
        if path.is_file() {
            // What is wrong with the file itself comes first.
            MatFile::open(path)?;
        }
        return Err(not_this(path, "one .mat with Network and Label, or network and group, is expected"));
    };
    Ok(FORMAT.dataset(path, options, Network { file }))
}

/// The file itself, or the only `.mat` of a folder that is one of ours.
pub(super) fn find(path: &Path, is_ours: fn(&Path) -> bool) -> Option<PathBuf> {
    files::only(path, |file| files::name(file).ends_with(".mat") && is_mat(file) && is_ours(file))
}

fn is_ours(file: &Path) -> bool {
    MatFile::open(file).is_ok_and(|mat| Names::of(&mat).is_some())
}

/// The names of a file's arrays.
struct Names {
    network: &'static str,
    label: &'static str,
    features: Option<&'static str>,
}

impl Names {
    fn of(mat: &MatFile) -> Option<Self> {
        let there = |name: &'static str| mat.variable(name).map(|_| name);
        match (there("Network"), there("Label"), there("network"), there("group")) {
            (Some(network), Some(label), ..) => Some(Self { network, label, features: there("Attributes") }),
            (_, _, Some(network), Some(label)) => Some(Self { network, label, features: None }),
            _ => None,
        }
    }
}

/// So many nodes times groups are accepted whatever the size of the file; beyond, 64 for each of its bytes.
const FEW_MEMBERSHIPS: usize = 1 << 24;

#[derive(Debug)]
struct Network {
    file: PathBuf,
}

impl Network {
    fn open(&self) -> Result<(MatFile, Names)> {
        let mat = MatFile::open(&self.file)?;
        let names = Names::of(&mat).ok_or_else(|| mat.fault("Network", "is missing"))?;
        Ok((mat, names))
    }

    /// The number of nodes: the rows of the network.
    fn count(mat: &MatFile, names: &Names) -> Result<usize> {
        let shape = &mat.variable(names.network).ok_or_else(|| mat.fault(names.network, "is missing"))?.shape;
        match shape.as_slice() {
            [n, m] if n == m => Ok(*n),
            other => {
                Err(mat.fault(names.network, format!("has the shape {other:?}; as many rows as columns are expected")))
            }
        }
    }
}

/// The entries of a matrix as edges: row to column.
pub(super) fn entries(matrix: &MatArray) -> (Vec<i64>, Vec<i64>) {
    let mut entries = matrix.entries();
    entries.retain(|entry| entry.2 != 0.0);
    entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
    entries.into_iter().map(|(row, column, _)| (i64::from(row), i64::from(column))).unzip()
}

/// A matrix of `n` rows by its entries.
pub(super) fn sparse_rows(matrix: &MatArray, n: usize, width: usize) -> Matrix {
    let mut entries: Vec<(u32, i32, f32)> =
        matrix.entries().into_iter().map(|(row, column, value)| (row, column as i32, value as f32)).collect();
    entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
    let mut offsets = vec![0usize; n + 1];
    entries.iter().for_each(|entry| offsets[entry.0 as usize + 1] += 1);
    (0..n).for_each(|row| offsets[row + 1] += offsets[row]);
    Matrix::Sparse { width, offsets, entries: entries.into_iter().map(|(_, column, value)| (column, value)).collect() }
}

impl GraphFile for Network {
    fn nodes_schema(&self) -> Result<SchemaRef> {
        let (mat, names) = self.open()?;
        let width = names.features.and_then(|name| mat.variable(name)?.shape.get(1).copied());
        // Several groups a node are several targets.
        let label = if names.label == "group" { dense_features_type() } else { DataType::Int64 };
        Ok(columns::nodes_schema(DataType::Int64, label, Features { sparse: true, width }))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let (mat, names) = self.open()?;
        let n = Self::count(&mat, &names)?;
        let width = |name: &str| -> Result<usize> {
            match mat.variable(name).map_or(&[][..], |variable| &variable.shape) {
                [rows, width] if *rows == n => Ok(*width),
                other => Err(mat.fault(name, format!("has the shape {other:?} for {n} nodes"))),
            }
        };
        let matrix = |name: &str| Ok::<_, Error>(sparse_rows(&mat.array(name)?, n, width(name)?));
        scan.batches(n, |name| {
            Ok(match (name, names.features) {
                ("node", _) => Values::Numbers,
                ("label", _) if names.label == "group" => {
                    let most = files::size(&self.file).saturating_mul(64).max(FEW_MEMBERSHIPS);
                    let groups = width(names.label)?;
                    if n.saturating_mul(groups) > most {
                        return Err(mat.fault(names.label, format!("has {groups} groups for {n} nodes: it is damaged")));
                    }
                    Values::rows_of(matrix(names.label)?.into_dense())
                }
                ("label", _) => {
                    width(names.label)?;
                    let labels = mat.array(names.label)?.dense().map_err(|what| mat.fault(names.label, what))?;
                    if labels.len() != n {
                        return Err(mat.fault(names.label, format!("has {} values for {n} nodes", labels.len())));
                    }
                    Values::Labels(labels.into_iter().map(|label| Some(label as i64)).collect())
                }
                (_, Some(features)) => Values::rows_of(matrix(features)?),
                (_, None) => Values::Nulls,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let (mat, names) = self.open()?;
        Self::count(&mat, &names)?;
        scan.edges(entries(&mat.array(names.network)?))
    }

    fn expected_bytes(&self, _table: &str, _features: bool) -> usize {
        // Compressed entries of a byte or two become 24.
        16 * files::size(&self.file)
    }

    fn missing_features(&self) -> Option<String> {
        let (_, names) = self.open().ok()?;
        names.features.is_none().then(|| format!("{} (array Attributes)", files::name(&self.file)))
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
