//! Circular skip link graphs: `graphs_NAME.pkl`, a pickled list of scipy `coo_matrix`, and `y_NAME.pt`, the classes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, found_or_file};
use crate::columns::Values;
use crate::graph_set::{self, GraphSet};
use crate::pickle::Pickle;
use crate::reader::Reader;
use crate::scan::{Scan, check};
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result, files};

pub(super) static FORMAT: Format = Format {
    name: "csl",
    description: "graphs_NAME.pkl (a list of scipy coo_matrix) and y_NAME.pt with the classes (PurdueMINDS/RelationalPooling)",
    options: &[DIRECTED],
    recognises: |path| find(path).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let graphs = found_or_file(find(path), path, "one file graphs_NAME.pkl is expected")?;
    let set = files::name(&graphs).strip_prefix("graphs_").and_then(|name| name.strip_suffix(".pkl"));
    let labels = set.map(|set| graphs.with_file_name(format!("y_{set}.pt"))).filter(|file| files::is_file(file));
    Ok(FORMAT.dataset(path, options, Matrices { graphs, labels }))
}

/// The file itself, or the one such file of a folder.
fn find(path: &Path) -> Option<PathBuf> {
    let is_ours = |file: &Path| {
        let name = files::name(file);
        name.starts_with("graphs_")
            && name.ends_with(".pkl")
            && files::head(file, 256).is_ok_and(|head| head.windows(10).any(|word| word == b"coo_matrix"))
    };
    files::only(path, is_ours)
}

#[derive(Debug)]
struct Matrices {
    graphs: PathBuf,
    labels: Option<PathBuf>,
}

impl Matrices {
    fn graphs(&self, keep_going: &dyn Fn() -> bool) -> Result<GraphSet> {
        let bytes = files::read(&self.graphs)?;
        let pickle = Pickle::read(&bytes).map_err(|fault| Error::byte(&self.graphs, fault.byte, fault.what))?;
        let fault = |what: String| Error::file(&self.graphs, what);
        let (mut set, mut nodes) = (GraphSet::default(), 0usize);
        for (position, matrix) in pickle.coo_list().map_err(fault)?.into_iter().enumerate() {
            check(keep_going)?;
            let wrong = |what: String| fault(format!("graph {position}: {what}"));
            let n = matrix.rows;
            // A few bytes may claim any shape: there cannot be more nodes than bytes.
            nodes = nodes.saturating_add(n);
            if matrix.columns != n || nodes > bytes.len() {
                return Err(wrong(format!("an adjacency matrix of shape {n} x {}", matrix.columns)));
            }
            let within = |end: &i64| (0..n as i64).contains(end);
            if let Some(end) = matrix.row.iter().chain(&matrix.column).find(|end| !within(end)) {
                return Err(wrong(format!("an entry at node {end} of {n}")));
            }
            set.push(n, matrix.row.iter().zip(&matrix.column).map(|(&u, &v)| (u as usize, v as usize)));
        }
        Ok(set)
    }

    /// The classes: the legacy file of a PyTorch tensor ends in its number of values and the values, 64 bits each.
    fn labels(&self, file: &Path, graphs: usize) -> Result<Vec<Option<i64>>> {
        let bytes = files::read(file)?;
        let wrong = || {
            let what =
                format!("does not end in {graphs} labels of 64 bits, one a graph of {}", files::name(&self.graphs));
            Error::file(file, what)
        };
        let start = graphs.checked_mul(8).and_then(|length| bytes.len().checked_sub(length)).ok_or_else(wrong)?;
        let (rest, values) = bytes.split_at(start);
        if rest.last_chunk::<8>().is_none_or(|count| u64::from_le_bytes(*count) != graphs as u64) {
            return Err(wrong());
        }
        let (values, _) = values.as_chunks::<8>();
        Ok(values.iter().map(|value| Some(i64::from_le_bytes(*value))).collect())
    }
}

impl Reader for Matrices {
    fn tables(&self) -> Vec<&'static str> {
        graph_set::TABLES.to_vec()
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(match table {
            "graphs" => graph_set::graphs_schema(DataType::Int64, []),
            "nodes" => graph_set::nodes_schema(DataType::Int64, Features::none(), []),
            _ => graph_set::edges_schema([]),
        })
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut set = self.graphs(scan.keep_going)?;
        let (rows, count) = (set.rows(scan.table), set.len());
        scan.batches(rows, |name| {
            Ok(match (set.column(scan.table, name), &self.labels) {
                (Some(values), _) => values,
                (None, Some(file)) if scan.table == "graphs" && name == "label" => {
                    Values::Labels(self.labels(file, count)?)
                }
                _ => Values::Nulls,
            })
        })
    }

    fn expected_bytes(&self, _table: &str, _columns: &[usize]) -> usize {
        files::size(&self.graphs).saturating_mul(6)
    }

    fn files(&self) -> Vec<PathBuf> {
        std::iter::once(self.graphs.clone()).chain(self.labels.clone()).collect()
    }
}
