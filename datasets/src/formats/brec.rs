//! The BREC benchmark's raw pairs: `basic.npy`, `regular.npy`, `str.npy`, `extension.npy`, `cfi.npy`, `4vtx.npy`,
//! `dr.npy`, arrays of graph6 strings of which entries 2i and 2i + 1, or the two of a row, are a pair.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};

use super::graph6::Graph6;
use super::{DIRECTED, not_this};
use crate::array::{self, ValueType};
use crate::columns::Values;
use crate::graph_set::{self, GraphSet};
use crate::reader::Reader;
use crate::scan::{Scan, check};
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result, files};

/// The categories in the benchmark's order; each is the name of a file.
const CATEGORIES: [&str; 7] = ["basic", "regular", "str", "extension", "cfi", "4vtx", "dr"];

pub(super) static FORMAT: Format = Format {
    name: "brec",
    description: "basic.npy, regular.npy, str.npy, extension.npy, cfi.npy, 4vtx.npy, dr.npy: pairs of graph6 (GraphPKU/BREC, raw)",
    options: &[DIRECTED],
    recognises: |path| !find(path).is_empty(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let files = find(path);
    if files.is_empty() {
        let names: Vec<String> = CATEGORIES.iter().map(|category| format!("{category}.npy")).collect();
        return Err(not_this(path, &format!("is no brec set: texts in {} are expected", names.join(", "))));
    }
    Ok(FORMAT.dataset(path, options, Pairs { files }))
}

/// The files of pairs, in the benchmark's order: those of a folder, or the one file.
fn find(path: &Path) -> Vec<(&'static str, PathBuf)> {
    let is_text = |file: &Path| {
        files::is_file(file)
            && array::npy_file_header(file)
                .is_ok_and(|header| matches!(header.dtype.kind, ValueType::Bytes | ValueType::Text))
    };
    let candidates = CATEGORIES.iter().map(|category| {
        let name = format!("{category}.npy");
        let file = if path.is_dir() { path.join(&name) } else { path.to_owned() };
        (*category, name, file)
    });
    candidates
        .filter(|(_, name, file)| files::name(file) == name && is_text(file))
        .map(|(category, _, file)| (category, file))
        .collect()
}

#[derive(Debug)]
struct Pairs {
    files: Vec<(&'static str, PathBuf)>,
}

/// All graphs: a pair's two stand side by side.
#[derive(Default)]
struct Graphs {
    set: GraphSet,
    category: Vec<&'static str>,
    graph6: Vec<String>,
}

impl Pairs {
    fn graphs(&self, edges: bool, keep_going: &dyn Fn() -> bool) -> Result<Graphs> {
        let mut graphs = Graphs::default();
        for (category, file) in &self.files {
            let array = array::npy_file(file)?;
            if !matches!(*array.shape(), [_, 2]) && !matches!(*array.shape(), [n] if n % 2 == 0) {
                let what = format!("texts of shape {:?}; [pairs, 2] or [2 * pairs] is expected", array.shape());
                return Err(Error::file(file, what));
            }
            let texts = array.texts().map_err(|what| Error::file(file, what))?;
            for (position, text) in texts.into_iter().enumerate() {
                check(keep_going)?;
                let graph = Graph6::parse(text.trim_end())
                    .map_err(|what| Error::member(file, &format!("text {position}"), what))?;
                graphs.set.push(graph.nodes(), edges.then(|| graph.edges()).into_iter().flatten());
                graphs.category.push(category);
                graphs.graph6.push(text);
            }
        }
        Ok(graphs)
    }
}

impl Reader for Pairs {
    fn tables(&self) -> Vec<&'static str> {
        graph_set::TABLES.to_vec()
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(match table {
            "graphs" => graph_set::graphs_schema(
                DataType::Int64,
                [
                    Field::new("pair", DataType::Int64, false),
                    Field::new("side", DataType::Int64, false),
                    Field::new("category", DataType::Utf8, false),
                    Field::new("graph6", DataType::Utf8, false),
                ],
            ),
            "nodes" => graph_set::nodes_schema(DataType::Int64, Features::none(), []),
            _ => graph_set::edges_schema([]),
        })
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut graphs = self.graphs(scan.table == "edges", scan.keep_going)?;
        let (rows, count) = (graphs.set.rows(scan.table), graphs.set.len() as i64);
        scan.batches(rows, |name| {
            Ok(match (graphs.set.column(scan.table, name), name) {
                (Some(values), _) => values,
                (None, "pair") => Values::Integers((0..count).map(|graph| graph / 2).collect()),
                (None, "side") => Values::Integers((0..count).map(|graph| graph % 2).collect()),
                (None, "category") => Values::Words(std::mem::take(&mut graphs.category)),
                (None, "graph6") => Values::Texts(std::mem::take(&mut graphs.graph6)),
                _ => Values::Nulls,
            })
        })
    }

    fn expected_bytes(&self, table: &str, _columns: &[usize]) -> usize {
        let size: usize = self.files.iter().map(|(_, file)| files::size(file)).sum();
        size.saturating_mul(if table == "edges" { 6 / 2 * 48 } else { 8 })
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(_, file)| file.clone()).collect()
    }
}
