//! Planetoid's citation graphs: `ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index}`, pickles of Python 2.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, not_this};
use crate::columns::{self, Splits, Values};
use crate::files::{self, Lines};
use crate::matrix::{Matrix, Row};
use crate::pickle::Pickle;
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

/// The ends of the names of a set's files.
const PARTS: [&str; 8] = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"];

/// The nodes of the public validation part.
const VALIDATION: usize = 500;

pub(super) static FORMAT: Format = Format {
    name: "planetoid",
    description: "ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index} (kimiyoung/planetoid); split 0 is the public one",
    options: &[DIRECTED],
    recognises: |path| find(path).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let (folder, name) = find(path).ok_or_else(|| {
        not_this(path, "is no planetoid set: ind.NAME.graph and ind.NAME.ally of one NAME are expected")
    })?;
    // A folder of its own stands for the set; in a folder of several, the common start of the files' names.
    let location = if path.is_dir() { path.to_owned() } else { folder.join(format!("ind.{name}")) };
    Ok(FORMAT.dataset(&location, options, Citation { folder, name }))
}

/// The folder and the name of the one set that a folder, one of its files, or their common start means.
fn find(path: &Path) -> Option<(PathBuf, String)> {
    if path.is_dir() {
        let names = files::names(path);
        let mut sets = names.iter().filter_map(|file| file.strip_prefix("ind.")?.strip_suffix(".graph"));
        let set = sets.next()?;
        return (sets.next().is_none() && complete(path, set)).then(|| (path.to_owned(), set.to_owned()));
    }
    let folder = path.parent()?;
    let rest = files::name(path).strip_prefix("ind.")?;
    let set = PARTS.iter().find_map(|part| rest.strip_suffix(part)?.strip_suffix('.')).unwrap_or(rest);
    complete(folder, set).then(|| (folder.to_owned(), set.to_owned()))
}

fn complete(folder: &Path, set: &str) -> bool {
    ["graph", "ally"].iter().all(|part| files::is_file(&folder.join(format!("ind.{set}.{part}"))))
}

#[derive(Debug)]
struct Citation {
    folder: PathBuf,
    name: String,
}

impl Citation {
    fn file(&self, part: &str) -> PathBuf {
        self.folder.join(format!("ind.{}.{part}", self.name))
    }

    fn pickle<T>(&self, part: &str, read: impl FnOnce(&Pickle<'_>) -> Result<T, String>) -> Result<T> {
        let path = self.file(part);
        let bytes = files::read(&path)?;
        let pickle = Pickle::read(&bytes).map_err(|fault| Error::byte(&path, fault.byte, fault.what))?;
        read(&pickle).map_err(|what| Error::file(&path, what))
    }

    /// One-hot rows as class numbers; an all-zero row has none.
    fn labels(&self, part: &str) -> Result<Vec<Option<i64>>> {
        let array = self.pickle(part, |pickle| pickle.array())?;
        let fault = |what: String| Error::file(&self.file(part), what);
        let &[rows, classes] = array.shape() else {
            return Err(fault(format!("labels of shape {:?}; one-hot rows are expected", array.shape())));
        };
        let values = array.integers().map_err(fault)?;
        (0..rows)
            .map(|row| {
                let row_values = &values[row * classes..(row + 1) * classes];
                let mut marked = row_values.iter().enumerate().filter(|(_, value)| **value != 0);
                match (marked.next(), marked.next()) {
                    (None, _) => Ok(None),
                    (Some((class, 1)), None) => Ok(Some(class as i64)),
                    _ => Err(fault(format!("row {row} is not one-hot: {row_values:?}"))),
                }
            })
            .collect()
    }

    /// The number of rows of a label file.
    fn rows(&self, part: &str) -> Result<usize> {
        Ok(self.pickle(part, |pickle| pickle.array())?.rows())
    }

    fn test(&self, keep_going: &dyn Fn() -> bool) -> Result<Vec<usize>> {
        let path = self.file("test.index");
        let bytes = files::read(&path)?;
        let mut lines = Lines::new(&path, &bytes, keep_going);
        let mut nodes = Vec::new();
        while let Some((number, line)) = lines.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let node: u32 =
                line.trim().parse().map_err(|_| Error::line(&path, number, format!("'{line}' is no node number")))?;
            nodes.push(node as usize);
        }
        Ok(nodes)
    }

    /// The number of nodes: the rows of `ally`, and the test range up to its last node.
    fn n_nodes(&self, known: usize, test: &[usize]) -> Result<usize> {
        if let Some(node) = test.iter().find(|node| **node < known) {
            let what = format!("node {node} is for testing, but it is one of the {known} rows of ally");
            return Err(Error::file(&self.file("test.index"), what));
        }
        let n = test.iter().max().map_or(known, |last| last + 1);
        // The range may have gaps (citeseer: 15), but not be gaps.
        if n - known > 2 * test.len() {
            let what = format!("the test range {known}..{n} has only {} nodes", test.len());
            return Err(Error::file(&self.file("test.index"), what));
        }
        Ok(n)
    }

    fn features(&self, n: usize, known: usize, test: &[usize]) -> Result<Values> {
        // Without `allx`, the features of the labelled nodes are in `x`.
        let first = if files::is_file(&self.file("allx")) { "allx" } else { "x" };
        let known_rows = self.pickle(first, |pickle| pickle.sparse())?;
        let test_rows = self.pickle("tx", |pickle| pickle.sparse())?;
        if test_rows.rows() != test.len() {
            let what = format!("{} rows of features for {} nodes of test.index", test_rows.rows(), test.len());
            return Err(Error::file(&self.file("tx"), what));
        }
        let first_rows = known_rows.rows();
        if first_rows > known || (first == "allx" && first_rows != known) {
            let what = format!("{first_rows} rows of features for {known} rows of ally");
            return Err(Error::file(&self.file(first), what));
        }
        // Nodes of the test range that no file mentions have no features that are not zero.
        let mut row_of = vec![Row::Absent; n];
        for (node, row) in row_of.iter_mut().enumerate() {
            *row = match node {
                node if node < first_rows => Row::At(node),
                node if node < known => Row::Absent,
                _ => Row::Zero,
            };
        }
        for (row, &node) in test.iter().enumerate() {
            row_of[node] = Row::At(first_rows + row);
        }
        let both = stack(known_rows, test_rows).map_err(|what| Error::file(&self.file("tx"), what))?;
        Ok(Values::Features(both, Box::new(move |node| row_of[node])))
    }
}

/// One matrix below the other.
fn stack(above: Matrix, below: Matrix) -> Result<Matrix, String> {
    let (
        Matrix::Sparse { width, mut offsets, mut entries },
        Matrix::Sparse { width: other, offsets: more, entries: rest },
    ) = (above.into_sparse(), below.into_sparse())
    else {
        return Err("the features are no sparse matrices".to_owned());
    };
    if width != other {
        return Err(format!("{other} features, where the other nodes have {width}"));
    }
    let start = entries.len();
    offsets.extend(more[1..].iter().map(|offset| start + offset));
    entries.extend(rest);
    Ok(Matrix::Sparse { width, offsets, entries })
}

impl GraphFile for Citation {
    fn has_splits(&self) -> bool {
        true
    }

    fn nodes_schema(&self) -> Result<SchemaRef> {
        let (_, width) = self.pickle("tx", |pickle| pickle.sparse_shape())?;
        Ok(columns::nodes_schema(DataType::Int64, DataType::Int64, Features::sparse(width)))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let test = self.test(scan.keep_going)?;
        let mut labels = self.labels("ally")?;
        let known = labels.len();
        let n = self.n_nodes(known, &test)?;
        scan.batches(n, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "label" => {
                    let tested = self.labels("ty")?;
                    if tested.len() != test.len() {
                        let what = format!("{} labels for {} nodes of test.index", tested.len(), test.len());
                        return Err(Error::file(&self.file("ty"), what));
                    }
                    labels.resize(n, None);
                    test.iter().zip(tested).for_each(|(&node, label)| labels[node] = label);
                    Values::Labels(std::mem::take(&mut labels))
                }
                _ => self.features(n, known, &test)?,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let lists = self.pickle("graph", |pickle| pickle.adjacency())?;
        let (mut src, mut dst) = (Vec::new(), Vec::new());
        for (position, (node, neighbors)) in lists.into_iter().enumerate() {
            if position % 4096 == 0 {
                scan.check()?;
            }
            src.resize(src.len() + neighbors.len(), node);
            dst.extend(neighbors);
        }
        scan.edges((src, dst))
    }

    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let test = self.test(scan.keep_going)?;
        let (train, known) = (self.rows("y")?, self.rows("ally")?);
        let mut splits = Splits::default();
        (0..train).for_each(|node| splits.push(0, node as i64, "train"));
        (train..known.min(train + VALIDATION)).for_each(|node| splits.push(0, node as i64, "val"));
        test.iter().for_each(|&node| splits.push(0, node as i64, "test"));
        scan.splits(splits)
    }

    fn expected_bytes(&self, table: &str, features: bool) -> usize {
        // A pickled number of 2 to 3 bytes becomes an arena value and a row; an array is copied about twice.
        let (parts, per_byte): (&[&str], _) = match table {
            "edges" => (&["graph"], 24),
            "splits" => (&["y", "ally", "test.index"], 6),
            _ if features => (&["ally", "ty", "x", "allx", "tx"], 6),
            _ => (&["ally", "ty"], 6),
        };
        parts.iter().map(|part| per_byte * files::size(&self.file(part))).sum()
    }

    fn missing_features(&self) -> Option<String> {
        let file = self.file("allx");
        (!files::is_file(&file)).then(|| files::name(&file).to_owned())
    }

    fn files(&self) -> Vec<PathBuf> {
        PARTS.iter().map(|part| self.file(part)).collect()
    }
}
