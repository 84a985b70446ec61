//! Attributed networks as MATLAB files: `Network`, `Attributes`, `Label`; or `network` and the memberships `group`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::{DIRECTED, Published, Reader, not_this};
use crate::columns::{self, Features, Values, dense_features_type};
use crate::matlab::{MatArray, MatFile, is_mat};
use crate::matrix::{Matrix, Row};
use crate::{Dataset, Format, Options, Result, files};

pub(crate) struct Attributed;

impl Format for Attributed {
    fn name(&self) -> &'static str {
        "attributed"
    }

    fn description(&self) -> &'static str {
        "NAME.mat with Network, Attributes, Label (xhuang31/AANE_Python), or network and group (phanein/deepwalk)"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[DIRECTED]
    }

    fn recognises(&self, path: &Path) -> bool {
        find(path, is_ours).is_some()
    }

    fn open(&self, path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
        let Some(file) = find(path, is_ours) else {
            if path.is_file() {
                // What is wrong with the file itself comes first.
                MatFile::open(path)?;
            }
            return Err(not_this(path, "one .mat with Network and Label, or network and group, is expected"));
        };
        Ok(Published::dataset(self.name(), path, options, Network { file }))
    }
}

/// The file itself, or the only `.mat` of a folder that is one of ours.
pub(super) fn find(path: &Path, is_ours: fn(&Path) -> bool) -> Option<PathBuf> {
    if path.is_dir() {
        let mut found =
            files::names(path).into_iter().map(|name| path.join(name)).filter(|file| is_mat_of(file, is_ours));
        return found.next().filter(|_| found.next().is_none());
    }
    is_mat_of(path, is_ours).then(|| path.to_owned())
}

fn is_mat_of(file: &Path, is_ours: fn(&Path) -> bool) -> bool {
    files::name(file).ends_with(".mat") && is_mat(file) && is_ours(file)
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
pub(super) fn edges(matrix: &MatArray) -> (Vec<i64>, Vec<i64>) {
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

impl Reader for Network {
    fn tables(&self) -> Vec<&'static str> {
        vec!["nodes", "edges"]
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        if table == "edges" {
            return Ok(columns::edges_schema(DataType::Int64));
        }
        let (mat, names) = self.open()?;
        let width = names.features.and_then(|name| mat.variable(name)?.shape.get(1).copied());
        let features = Features { sparse: true, width };
        // Several groups a node are several targets.
        let several = names.label == "group";
        let label = if several { dense_features_type() } else { DataType::Int64 };
        let schema = columns::nodes_schema(DataType::Int64, label, features);
        if !several {
            return Ok(schema);
        }
        let fields: Vec<Field> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
        Ok(Arc::new(Schema::new(fields)))
    }

    fn read(
        &self,
        table: &str,
        schema: &SchemaRef,
        columns: &[usize],
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<RecordBatch>> {
        let (mat, names) = self.open()?;
        let n = Self::count(&mat, &names)?;
        if table == "edges" {
            let network = mat.array(names.network)?;
            return columns::edge_batches(schema, columns, edges(&network), keep_going);
        }
        let rows_of = |name: &str| -> Result<usize> {
            let shape = mat.variable(name).map(|variable| variable.shape.clone()).unwrap_or_default();
            match shape.as_slice() {
                [rows, width] if *rows == n => Ok(*width),
                other => Err(mat.fault(name, format!("has the shape {other:?} for {n} nodes"))),
            }
        };
        let column = |name: &str| {
            Ok(match (name, names.features) {
                ("node", _) => Values::Numbers,
                ("label", _) if names.label == "group" => {
                    let width = rows_of(names.label)?;
                    let groups = sparse_rows(&mat.array(names.label)?, n, width).into_dense();
                    Values::Features(groups, Box::new(Row::At))
                }
                ("label", _) => {
                    rows_of(names.label)?;
                    let labels = mat.array(names.label)?.dense().map_err(|what| mat.fault(names.label, what))?;
                    if labels.len() != n {
                        return Err(mat.fault(names.label, format!("has {} values for {n} nodes", labels.len())));
                    }
                    Values::Labels(labels.into_iter().map(|label| Some(label as i64)).collect())
                }
                (_, Some(features)) => {
                    let width = rows_of(features)?;
                    Values::Features(sparse_rows(&mat.array(features)?, n, width), Box::new(Row::At))
                }
                (_, None) => Values::Nulls,
            })
        };
        columns::batches(schema, columns, n, column, keep_going)
    }

    fn expected_bytes(&self, _table: &str, _columns: &[usize]) -> usize {
        // Compressed entries of a byte or two become 24.
        16 * files::size(&self.file)
    }

    fn missing_features(&self) -> Option<String> {
        let (_, names) = self.open().ok()?;
        names.features.is_none().then(|| format!("{} (array Attributes)", files::name(&self.file)))
    }

    fn directed(&self) -> bool {
        false
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
