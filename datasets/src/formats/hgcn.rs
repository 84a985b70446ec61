//! HGCN's disease trees: `NAME.edges.csv`, `NAME.labels.npy`, `NAME.feats.npz` (a scipy CSR matrix).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, Labels, Published, Reader, integral, not_this};
use crate::array::{self, Npz};
use crate::columns::{self, Features, Values};
use crate::files::{self, Lines};
use crate::matrix::{Matrix, Row};
use crate::{Dataset, Error, Format, Options, Result};

pub(crate) struct Hgcn;

impl Format for Hgcn {
    fn name(&self) -> &'static str {
        "hgcn"
    }

    fn description(&self) -> &'static str {
        "NAME.edges.csv, NAME.labels.npy, NAME.feats.npz (HazyResearch/hgcn)"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[DIRECTED]
    }

    fn recognises(&self, path: &Path) -> bool {
        find(path).is_some()
    }

    fn open(&self, path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
        let (folder, name) = find(path).ok_or_else(|| {
            not_this(path, "is no hgcn set: NAME.edges.csv and NAME.labels.npy of one NAME are expected")
        })?;
        Ok(Published::dataset(self.name(), path, options, Disease { folder, name }))
    }
}

fn find(path: &Path) -> Option<(PathBuf, String)> {
    let complete = |folder: &Path, name: &str| files::is_file(&folder.join(format!("{name}.labels.npy")));
    if path.is_dir() {
        let names = files::names(path);
        let mut sets = names.iter().filter_map(|f| f.strip_suffix(".edges.csv")).filter(|name| complete(path, name));
        let set = sets.next()?;
        return sets.next().is_none().then(|| (path.to_owned(), set.to_owned()));
    }
    let name = files::name(path).strip_suffix(".edges.csv")?;
    let folder = path.parent()?;
    (files::is_file(path) && complete(folder, name)).then(|| (folder.to_owned(), name.to_owned()))
}

#[derive(Debug)]
struct Disease {
    folder: PathBuf,
    name: String,
}

impl Disease {
    fn file(&self, part: &str) -> PathBuf {
        self.folder.join(format!("{}.{part}", self.name))
    }

    fn features_file(&self) -> Option<PathBuf> {
        Some(self.file("feats.npz")).filter(|file| files::is_file(file))
    }

    fn shape(npz: &mut Npz) -> Result<(usize, usize)> {
        let shape = npz.array("shape")?.integers().map_err(|what| npz.fault("shape", what))?;
        match shape[..] {
            [rows, width] if rows >= 0 && width >= 0 => Ok((rows as usize, width as usize)),
            ref other => Err(npz.fault("shape", format!("{other:?} is no shape of a matrix"))),
        }
    }

    /// Dense where more than a quarter of the entries are stored, as the publisher's sparse files may hold either.
    fn features(file: &Path) -> Result<Features> {
        let mut npz = Npz::open(file)?;
        let (rows, width) = Self::shape(&mut npz)?;
        let stored = npz.header("indices")?.len().unwrap_or(0);
        let sparse = rows.saturating_mul(width) / 4 >= stored;
        Ok(Features { sparse, width: Some(width) })
    }

    fn matrix(file: &Path, n: usize, sparse: bool) -> Result<Matrix> {
        let mut npz = Npz::open(file)?;
        let (rows, width) = Self::shape(&mut npz)?;
        if rows != n {
            return Err(npz.fault("shape", format!("{rows} rows of features for {n} labels")));
        }
        if npz.has("format") {
            let format = npz.array("format")?.texts().map_err(|what| npz.fault("format", what))?;
            if format != ["csr"] {
                return Err(npz.fault("format", format!("the matrix is stored as {format:?}; csr is expected")));
            }
        }
        let mut part = |name: &str| npz.array(name).map(|array| (array.integers(), array));
        let (indptr, (indices, _)) = (part("indptr")?.0, part("indices")?);
        let data = npz.array("data")?.floats().map_err(|what| npz.fault("data", what))?;
        let indptr = indptr.map_err(|what| npz.fault("indptr", what))?;
        let indices = indices.map_err(|what| npz.fault("indices", what))?;
        let matrix = Matrix::from_csr(width, &indptr, &indices, &data, n).map_err(|what| Error::file(file, what))?;
        Ok(if sparse { matrix } else { matrix.into_dense() })
    }

    fn edges(&self, keep_going: &dyn Fn() -> bool) -> Result<(Vec<i64>, Vec<i64>)> {
        let file = self.file("edges.csv");
        let bytes = files::read(&file)?;
        let mut lines = Lines::new(&file, &bytes, keep_going);
        let (mut src, mut dst) = (Vec::new(), Vec::new());
        while let Some((number, line)) = lines.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let mut ends = line.split(',').map(|end| end.trim().parse::<i64>());
            match (ends.next(), ends.next(), ends.next()) {
                (Some(Ok(from)), Some(Ok(to)), None) => {
                    src.push(from);
                    dst.push(to);
                }
                _ => return Err(Error::line(&file, number, format!("'{line}' are not two node numbers and a comma"))),
            }
        }
        Ok((src, dst))
    }
}

impl Reader for Disease {
    fn tables(&self) -> Vec<&'static str> {
        vec!["nodes", "edges"]
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        if table == "edges" {
            return Ok(columns::edges_schema(DataType::Int64));
        }
        let labels = self.file("labels.npy");
        let label = if integral(&array::npy_file_header(&labels)?) {
            DataType::Int64
        } else {
            Labels::of(&array::npy_file(&labels)?).map_err(|what| Error::file(&labels, what))?.data_type()
        };
        let features = match self.features_file() {
            Some(file) => Self::features(&file)?,
            None => Features::none(),
        };
        Ok(columns::nodes_schema(DataType::Int64, label, features))
    }

    fn read(
        &self,
        table: &str,
        schema: &SchemaRef,
        columns: &[usize],
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<RecordBatch>> {
        if table == "edges" {
            return columns::edge_batches(schema, columns, self.edges(keep_going)?, keep_going);
        }
        let file = self.file("labels.npy");
        let labels = array::npy_file(&file)?;
        let &[n] = labels.shape() else {
            let what = format!("labels of shape {:?}; one a node is expected", labels.shape());
            return Err(Error::file(&file, what));
        };
        let column = |name: &str| {
            Ok(match name {
                "node" => Values::Numbers,
                "label" => Labels::of(&labels).map_err(|what| Error::file(&file, what))?.values(),
                _ => match self.features_file() {
                    Some(features) => {
                        let sparse = matches!(schema.field(2).data_type(), DataType::Map(..));
                        Values::Features(Self::matrix(&features, n, sparse)?, Box::new(Row::At))
                    }
                    None => Values::Nulls,
                },
            })
        };
        columns::batches(schema, columns, n, column, keep_going)
    }

    fn expected_bytes(&self, table: &str, columns: &[usize]) -> usize {
        if table == "edges" {
            return 5 * files::size(&self.file("edges.csv"));
        }
        let labels = 3 * files::size(&self.file("labels.npy"));
        let features = match self.features_file() {
            Some(file) if columns.contains(&2) => {
                Npz::open(&file).map_or(0, |mut npz| npz.bytes(&["indptr", "indices", "data"]))
            }
            _ => 0,
        };
        labels.saturating_add(features.saturating_mul(3))
    }

    fn missing_features(&self) -> Option<String> {
        self.features_file().is_none().then(|| files::name(&self.file("feats.npz")).to_owned())
    }

    fn directed(&self) -> bool {
        false
    }

    fn files(&self) -> Vec<PathBuf> {
        ["edges.csv", "labels.npy", "feats.npz"].iter().map(|part| self.file(part)).collect()
    }
}
