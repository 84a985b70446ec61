//! gnn-benchmark's `NAME.npz`: adjacency and attributes as compressed sparse rows, labels, names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};

use super::npz::{dense, find};
use super::{DIRECTED, class, not_this};
use crate::array::Npz;
use crate::columns::{self, Values};
use crate::matrix::Matrix;
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Format, Options, Result, files};

pub(super) static FORMAT: Format = Format {
    name: "gnn_benchmark",
    description: "NAME.npz with adj_data, adj_indices, adj_indptr, adj_shape, attr_*, labels (shchur/gnn-benchmark)",
    options: &[DIRECTED],
    recognises: |path| find(path, is_ours).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let file = match find(path, is_ours) {
        Some(file) => file,
        None if path.is_file() => {
            let names = Npz::open(path)?.names();
            return Err(not_this(path, &format!("has no adj_indptr and adj_indices but: {}", files::few(&names))));
        }
        None => return Err(not_this(path, "one .npz with adj_indptr and adj_indices is expected")),
    };
    Ok(FORMAT.dataset(path, options, Benchmark { file }))
}

fn is_ours(file: &Path) -> bool {
    files::is_file(file) && Npz::open(file).is_ok_and(|npz| csr_prefix(&npz, "adj").is_some())
}

/// The members of a sparse matrix are named `adj_data` or, in older files, `adj_matrix.data`.
fn csr_prefix(npz: &Npz, matrix: &str) -> Option<String> {
    [format!("{matrix}_"), format!("{matrix}_matrix.")]
        .into_iter()
        .find(|prefix| ["indptr", "indices", "shape"].iter().all(|part| npz.has(&format!("{prefix}{part}"))))
}

#[derive(Debug)]
struct Benchmark {
    file: PathBuf,
}

impl Benchmark {
    fn open(&self) -> Result<Npz> {
        Npz::open(&self.file)
    }

    fn integers(npz: &mut Npz, member: &str) -> Result<Vec<i64>> {
        npz.array(member)?.integers().map_err(|what| npz.fault(member, what))
    }

    /// The number of nodes, checked against the adjacency's own rows.
    fn n_nodes(npz: &mut Npz) -> Result<usize> {
        let prefix = csr_prefix(npz, "adj").ok_or_else(|| npz.fault("adj_indptr", "is missing"))?;
        let (n, columns) = npz.matrix_shape(&format!("{prefix}shape"))?;
        let indptr = npz.array(&format!("{prefix}indptr"))?;
        if n != columns || indptr.shape() != [n + 1] {
            let what = format!("shape [{n}, {columns}] with indptr of {:?} is no adjacency matrix", indptr.shape());
            return Err(npz.fault(&format!("{prefix}shape"), what));
        }
        Ok(n)
    }

    /// The endpoints of the adjacency's entries, row by row.
    fn arcs(npz: &mut Npz) -> Result<(Vec<i64>, Vec<i64>)> {
        let n = Self::n_nodes(npz)?;
        let prefix = csr_prefix(npz, "adj").unwrap_or_default();
        let indptr = Self::integers(npz, &format!("{prefix}indptr"))?;
        let dst = Self::integers(npz, &format!("{prefix}indices"))?;
        let member = format!("{prefix}indices");
        if let Some(node) = dst.iter().find(|node| **node < 0 || **node >= n as i64) {
            return Err(npz.fault(&member, format!("node {node} in a graph of {n} nodes")));
        }
        let mut src = Vec::with_capacity(dst.len());
        for row in 0..n {
            let (start, end) = (indptr[row], indptr[row + 1]);
            if start != src.len() as i64 || end < start || end > dst.len() as i64 {
                let what = format!("row {row} spans {start}..{end} of {} arcs", dst.len());
                return Err(npz.fault(&format!("{prefix}indptr"), what));
            }
            src.resize(end as usize, row as i64);
        }
        if src.len() != dst.len() {
            return Err(npz.fault(&member, format!("{} arcs, indptr counts {}", dst.len(), src.len())));
        }
        Ok((src, dst))
    }

    /// The weights, where they are not all one.
    fn weights(npz: &mut Npz) -> Result<Option<Vec<f64>>> {
        let prefix = csr_prefix(npz, "adj").unwrap_or_default();
        let member = format!("{prefix}data");
        if !npz.has(&member) {
            return Ok(None);
        }
        let weights = npz.array(&member)?.reals().map_err(|what| npz.fault(&member, what))?;
        Ok(weights.iter().any(|weight| *weight != 1.0).then_some(weights))
    }

    fn features(npz: &mut Npz, n: usize) -> Result<Values> {
        let matrix = if let Some(prefix) = csr_prefix(npz, "attr") {
            let (rows, width) = npz.matrix_shape(&format!("{prefix}shape"))?;
            if rows != n {
                return Err(npz.fault(&format!("{prefix}shape"), format!("{rows} rows of features for {n} nodes")));
            }
            let indptr = Self::integers(npz, &format!("{prefix}indptr"))?;
            let indices = Self::integers(npz, &format!("{prefix}indices"))?;
            let member = format!("{prefix}data");
            let data = match npz.has(&member) {
                true => npz.array(&member)?.floats().map_err(|what| npz.fault(&member, what))?,
                false => vec![1.0; indices.len()],
            };
            Matrix::from_csr(width, &indptr, &indices, &data, n).map_err(|what| npz.fault(&member, what))?
        } else if npz.has("attr_matrix") {
            dense(&npz.array("attr_matrix")?, n).map_err(|what| npz.fault("attr_matrix", what))?
        } else {
            return Ok(Values::Nulls);
        };
        Ok(Values::rows_of(matrix))
    }

    fn texts(npz: &mut Npz, member: &str) -> Result<Vec<String>> {
        npz.array(member)?.texts().map_err(|what| npz.fault(member, what))
    }

    fn labels(npz: &mut Npz, n: usize) -> Result<Vec<Option<i64>>> {
        if !npz.has("labels") {
            return Ok(vec![None; n]);
        }
        let labels = Self::integers(npz, "labels")?;
        if labels.len() != n {
            return Err(npz.fault("labels", format!("{} labels for {n} nodes", labels.len())));
        }
        Ok(labels.into_iter().map(class).collect())
    }
}

impl GraphFile for Benchmark {
    fn nodes_schema(&self) -> Result<SchemaRef> {
        let mut npz = self.open()?;
        let features = match csr_prefix(&npz, "attr") {
            Some(prefix) => Features::sparse(npz.matrix_shape(&format!("{prefix}shape"))?.1),
            None if npz.has("attr_matrix") => {
                let shape = npz.header("attr_matrix")?.shape;
                Features::dense(shape.get(1).copied().unwrap_or(0))
            }
            None => Features::none(),
        };
        let others = [("class_names", "class"), ("node_names", "name")].into_iter();
        let others = others.filter(|(member, _)| npz.has(member));
        let others = others.map(|(_, column)| Field::new(column, DataType::Utf8, true));
        Ok(columns::extended(&columns::nodes_schema(DataType::Int64, DataType::Int64, features), others))
    }

    fn edges_schema(&self) -> Result<SchemaRef> {
        let weight = Self::weights(&mut self.open()?)?.map(|_| Field::new("weight", DataType::Float64, false));
        Ok(columns::extended(&columns::edges_schema(DataType::Int64), weight))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut npz = self.open()?;
        let n = Self::n_nodes(&mut npz)?;
        scan.batches(n, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "label" => Values::Labels(Self::labels(&mut npz, n)?),
                "class" => {
                    let names = Self::texts(&mut npz, "class_names")?;
                    let classes = Self::labels(&mut npz, n)?.into_iter().map(|label| {
                        let name = label.and_then(|label| names.get(usize::try_from(label).ok()?));
                        name.cloned()
                    });
                    Values::OptionalTexts(classes.collect())
                }
                "name" => {
                    let names = Self::texts(&mut npz, "node_names")?;
                    if names.len() != n {
                        return Err(npz.fault("node_names", format!("{} names for {n} nodes", names.len())));
                    }
                    Values::Texts(names)
                }
                _ => Self::features(&mut npz, n)?,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut npz = self.open()?;
        let (mut src, mut dst) = Self::arcs(&mut npz)?;
        let rows = src.len();
        scan.batches(rows, |name| {
            Ok(match name {
                "src" => Values::Integers(std::mem::take(&mut src)),
                "dst" => Values::Integers(std::mem::take(&mut dst)),
                _ => {
                    let weights = Self::weights(&mut npz)?.unwrap_or_else(|| vec![1.0; rows]);
                    if weights.len() != rows {
                        return Err(npz.fault("adj_data", format!("{} weights for {rows} arcs", weights.len())));
                    }
                    Values::Reals(weights)
                }
            })
        })
    }

    fn expected_bytes(&self, table: &str, features: bool) -> usize {
        let Ok(mut npz) = self.open() else { return 0 };
        let names = npz.names();
        let edges = table == "edges";
        let wanted = |name: &&str| name.starts_with("adj") == edges && (features || !name.starts_with("attr"));
        let members: Vec<&str> = names.iter().map(String::as_str).filter(wanted).collect();
        npz.bytes(&members).saturating_mul(4)
    }

    fn missing_features(&self) -> Option<String> {
        let npz = self.open().ok()?;
        let present = csr_prefix(&npz, "attr").is_some() || npz.has("attr_matrix");
        (!present).then(|| format!("{} (members attr_*)", files::name(&self.file)))
    }

    fn directed(&self) -> bool {
        true
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
