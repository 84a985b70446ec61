//! HGCN's disease trees: `NAME.edges.csv`, `NAME.labels.npy`, `NAME.feats.npz` (a scipy matrix: csr, csc or coo).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, Labels, integral, not_this};
use crate::array::{self, Npz};
use crate::columns::{self, Values};
use crate::files;
use crate::matrix::Matrix;
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::sparse_npz;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

pub(super) static FORMAT: Format = Format {
    name: "hgcn",
    description: "NAME.edges.csv, NAME.labels.npy, NAME.feats.npz (HazyResearch/hgcn)",
    options: &[DIRECTED],
    recognises: |path| find(path).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let (folder, name) = find(path)
        .ok_or_else(|| not_this(path, "is no hgcn set: NAME.edges.csv and NAME.labels.npy of one NAME are expected"))?;
    Ok(FORMAT.dataset(path, options, Disease { folder, name }))
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

    /// Dense where more than a quarter of the entries are stored, as the publisher's sparse files may hold either.
    fn features(file: &Path) -> Result<Features> {
        let mut npz = Npz::open(file)?;
        let (rows, width) = npz.matrix_shape("shape")?;
        let stored = sparse_npz::stored(&mut npz)?;
        let sparse = rows.saturating_mul(width) / 4 >= stored;
        Ok(Features { sparse, width: Some(width) })
    }

    fn matrix(file: &Path, n: usize, sparse: bool) -> Result<Matrix> {
        let mut npz = Npz::open(file)?;
        let (rows, width) = npz.matrix_shape("shape")?;
        if rows != n {
            return Err(npz.fault("shape", format!("{rows} rows of features for {n} labels")));
        }
        let matrix = sparse_npz::read(&mut npz, n, width)?;
        Ok(if sparse { matrix } else { matrix.into_dense() })
    }
}

impl GraphFile for Disease {
    fn nodes_schema(&self) -> Result<SchemaRef> {
        let labels = self.file("labels.npy");
        let label = if integral(&array::npy_file_header(&labels)?) {
            DataType::Int64
        } else {
            Labels::of(&array::npy_file(&labels)?).map_err(|what| Error::file(&labels, what))?.data_type()
        };
        let features = self.features_file().map_or_else(|| Ok(Features::none()), |file| Self::features(&file))?;
        Ok(columns::nodes_schema(DataType::Int64, label, features))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let file = self.file("labels.npy");
        let labels = array::npy_file(&file)?;
        let &[n] = labels.shape() else {
            let what = format!("labels of shape {:?}; one a node is expected", labels.shape());
            return Err(Error::file(&file, what));
        };
        let sparse = matches!(scan.schema.field(2).data_type(), DataType::Map(..));
        scan.batches(n, |name| {
            Ok(match (name, self.features_file()) {
                ("node", _) => Values::Numbers,
                ("label", _) => Labels::of(&labels).map_err(|what| Error::file(&file, what))?.values(),
                (_, Some(features)) => Values::rows_of(Self::matrix(&features, n, sparse)?),
                (_, None) => Values::Nulls,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        scan.edges(files::node_pairs(&self.file("edges.csv"), ',', false, scan.keep_going)?)
    }

    fn expected_bytes(&self, table: &str, features: bool) -> usize {
        if table == "edges" {
            return 5 * files::size(&self.file("edges.csv"));
        }
        let labels = 3 * files::size(&self.file("labels.npy"));
        let matrix = self.features_file().filter(|_| features).and_then(|file| Npz::open(&file).ok());
        labels.saturating_add(matrix.map_or(0, |mut npz| npz.bytes(&sparse_npz::MEMBERS)).saturating_mul(3))
    }

    fn missing_features(&self) -> Option<String> {
        self.features_file().is_none().then(|| files::name(&self.file("feats.npz")).to_owned())
    }

    fn files(&self) -> Vec<PathBuf> {
        ["edges.csv", "labels.npy", "feats.npz"].iter().map(|part| self.file(part)).collect()
    }
}
