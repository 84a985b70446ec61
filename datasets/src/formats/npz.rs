//! The heterophilous graphs' `NAME.npz`: `node_features`, `node_labels`, `edges`, and masks of ten splits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, Labels, Published, Reader, choice, integral, not_this};
use crate::array::{self, Array};
use crate::columns::{self, Features, Splits, Values};
use crate::matrix::{Matrix, Row};
use crate::{Dataset, Format, Options, Result, files};

/// The masks and the part of each.
pub(crate) const MASKS: [(&str, &str); 3] = [("train_masks", "train"), ("val_masks", "val"), ("test_masks", "test")];

pub(crate) struct Npz;

impl Format for Npz {
    fn name(&self) -> &'static str {
        "npz"
    }

    fn description(&self) -> &'static str {
        "NAME.npz with node_features, node_labels, edges and masks (yandex-research/heterophilous-graphs)"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[DIRECTED, ("features", "dense | sparse: features as FLOAT[], as published, or as MAP(INT, FLOAT)")]
    }

    fn recognises(&self, path: &Path) -> bool {
        find(path, is_ours).is_some()
    }

    fn open(&self, path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
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
        Ok(Published::dataset(self.name(), path, options, Heterophilous { file, sparse }))
    }
}

/// The file itself, or the one archive of this kind in a folder.
pub(crate) fn find(path: &Path, is_ours: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    if path.is_dir() {
        let names = files::names(path);
        let mut archives = names.iter().filter(|n| n.ends_with(".npz")).map(|n| path.join(n)).filter(|f| is_ours(f));
        let file = archives.next()?;
        return archives.next().is_none().then_some(file);
    }
    (files::name(path).ends_with(".npz") && is_ours(path)).then(|| path.to_owned())
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
        Ok(Values::Features(matrix, Box::new(Row::At)))
    }

    fn splits(&self) -> Result<Splits> {
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
            masks.push((rows, flags, part));
        }
        let mut splits = Splits::default();
        for split in 0..masks.iter().map(|(rows, ..)| *rows).max().unwrap_or(0) {
            for (rows, flags, part) in &masks {
                if split < *rows {
                    splits.push_mask(split as i64, &flags[split * n..(split + 1) * n], part);
                }
            }
        }
        Ok(splits)
    }

    fn members(&self, table: &str, columns: &[usize]) -> Vec<&'static str> {
        match table {
            "edges" => vec!["edges"],
            "splits" => MASKS.iter().map(|(member, _)| *member).collect(),
            _ if columns.contains(&2) => vec!["node_labels", "node_features"],
            _ => vec!["node_labels"],
        }
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

impl Reader for Heterophilous {
    fn tables(&self) -> Vec<&'static str> {
        match self.open() {
            Ok(npz) if MASKS.iter().any(|(member, _)| npz.has(member)) => vec!["nodes", "edges", "splits"],
            _ => vec!["nodes", "edges"],
        }
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(match table {
            "nodes" => {
                let mut npz = self.open()?;
                let features = if npz.has("node_features") {
                    match npz.header("node_features")?.shape[..] {
                        [_, width] => Features { sparse: self.sparse, width: Some(width) },
                        ref other => {
                            let what = format!("features of shape {other:?}; [nodes, features] is expected");
                            return Err(npz.fault("node_features", what));
                        }
                    }
                } else {
                    Features { sparse: self.sparse, width: None }
                };
                let label = if integral(&npz.header("node_labels")?) {
                    DataType::Int64
                } else {
                    let labels = npz.array("node_labels")?;
                    Labels::of(&labels).map_err(|what| npz.fault("node_labels", what))?.data_type()
                };
                columns::nodes_schema(DataType::Int64, label, features)
            }
            "edges" => columns::edges_schema(DataType::Int64),
            _ => columns::splits_schema(DataType::Int64),
        })
    }

    fn read(
        &self,
        table: &str,
        schema: &SchemaRef,
        columns: &[usize],
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<RecordBatch>> {
        match table {
            "edges" => {
                let mut npz = self.open()?;
                let edges = endpoints(&npz.array("edges")?).map_err(|what| npz.fault("edges", what))?;
                columns::edge_batches(schema, columns, edges, keep_going)
            }
            "splits" => self.splits()?.batches(schema, columns, keep_going),
            _ => {
                let mut npz = self.open()?;
                let array = npz.array("node_labels")?;
                let &[n] = array.shape() else {
                    let what = format!("labels of shape {:?}; one a node is expected", array.shape());
                    return Err(npz.fault("node_labels", what));
                };
                let column = |name: &str| {
                    Ok(match name {
                        "node" => Values::Numbers,
                        "label" => Labels::of(&array).map_err(|what| npz.fault("node_labels", what))?.values(),
                        _ => self.features(n)?,
                    })
                };
                columns::batches(schema, columns, n, column, keep_going)
            }
        }
    }

    fn expected_bytes(&self, table: &str, columns: &[usize]) -> usize {
        self.open().map_or(0, |mut npz| npz.bytes(&self.members(table, columns)).saturating_mul(3))
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
