//! Sets of graphs in one text: the number of graphs, then for each graph `n label` and a line
//! `tag degree neighbour ... [attribute ...]` for each of its n nodes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, found_or_file};
use crate::columns::Values;
use crate::files::{self, Lines};
use crate::graph_set::{self, GraphSet};
use crate::matrix::Matrix;
use crate::reader::Reader;
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

pub(super) static FORMAT: Format = Format {
    name: "dgcnn",
    description: "NAME.txt: the number of graphs, then for each 'n label' and n lines 'tag degree neighbours' \
         (muhanzhang/pytorch_DGCNN; EXP and CEXP)",
    options: &[DIRECTED],
    recognises: |path| files::only(path, is_ours).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let expected = "one file NAME.txt with a set of graphs is expected";
    let file = found_or_file(files::only(path, is_ours), path, expected)?;
    Ok(FORMAT.dataset(path, options, Text { file }))
}

/// Whether the file begins with a number of graphs and a first graph all of whose lines fit.
fn is_ours(file: &Path) -> bool {
    files::name(file).ends_with(".txt")
        && files::is_file(file)
        && files::head(file, files::SAMPLE_BYTES).is_ok_and(|head| {
            let always = || true;
            let mut parser = Parser::new(file, &head, &always);
            let mut set = Graphs::default();
            parser.count().is_ok_and(|count| count > 0) && parser.graph(&mut set).is_ok_and(|found| found)
        })
}

#[derive(Debug)]
struct Text {
    file: PathBuf,
}

/// The set, column by column.
#[derive(Default)]
struct Graphs {
    set: GraphSet,
    label: Vec<i64>,
    tag: Vec<i64>,
    /// The attributes of all nodes, and the number of them that a node has.
    attributes: Vec<f32>,
    width: Option<usize>,
}

struct Parser<'a> {
    file: &'a Path,
    lines: Lines<'a>,
}

impl<'a> Parser<'a> {
    fn new(file: &'a Path, bytes: &'a [u8], keep_going: &'a dyn Fn() -> bool) -> Self {
        Self { file, lines: Lines::new(file, bytes, keep_going) }
    }

    /// The next line that is not blank.
    fn line(&mut self) -> Result<Option<(usize, &'a str)>> {
        loop {
            match self.lines.next_line()? {
                Some((_, line)) if line.trim().is_empty() => {}
                other => return Ok(other),
            }
        }
    }

    /// The number of graphs.
    fn count(&mut self) -> Result<usize> {
        let (number, line) = self.line()?.unwrap_or((1, ""));
        let fault = |_| Error::line(self.file, number, format!("'{line}' is no number of graphs"));
        line.trim().parse().map_err(fault)
    }

    /// Reads a graph; `false` at the end of the file.
    fn graph(&mut self, graphs: &mut Graphs) -> Result<bool> {
        let Some((number, line)) = self.line()? else { return Ok(false) };
        let mut head = line.split_ascii_whitespace();
        let (Some(Ok(n)), Some(Ok(label)), None) =
            (head.next().map(str::parse::<usize>), head.next().map(str::parse::<i64>), head.next())
        else {
            let what = format!("'{line}' are not the number of nodes and the label of a graph");
            return Err(Error::line(self.file, number, what));
        };
        let mut edges = Vec::new();
        for node in 0..n {
            let Some((number, line)) = self.line()? else {
                let what = format!("the file ends at node {node} of {n} of graph {}", graphs.set.len());
                return Err(Error::line(self.file, number + node, what));
            };
            self.node(node, n, line, &mut edges, graphs).map_err(|what| Error::line(self.file, number, what))?;
        }
        graphs.label.push(label);
        graphs.set.push(n, edges);
        Ok(true)
    }

    fn node(
        &self,
        node: usize,
        n: usize,
        line: &str,
        edges: &mut Vec<(usize, usize)>,
        graphs: &mut Graphs,
    ) -> Result<(), String> {
        let mut words = line.split_ascii_whitespace();
        let (Some(Ok(tag)), Some(Ok(degree))) =
            (words.next().map(str::parse::<i64>), words.next().map(str::parse::<usize>))
        else {
            return Err(format!("'{line}' does not start with a node's tag and degree"));
        };
        graphs.tag.push(tag);
        for position in 0..degree {
            match words.next().map(|word| (word, word.parse::<usize>())) {
                Some((_, Ok(neighbour))) if neighbour < n => edges.push((node, neighbour)),
                Some((word, _)) => return Err(format!("'{word}' is no node of a graph of {n} nodes")),
                None => return Err(format!("degree {degree}, but {position} neighbours")),
            }
        }
        let before = graphs.attributes.len();
        for word in words {
            graphs.attributes.push(word.parse().map_err(|_| format!("'{word}' is no attribute"))?);
        }
        let width = graphs.attributes.len() - before;
        match *graphs.width.get_or_insert(width) {
            expected if expected == width => Ok(()),
            expected => Err(format!("{width} attributes after the neighbours, where the first node has {expected}")),
        }
    }
}

impl Text {
    fn graphs(&self, keep_going: &dyn Fn() -> bool) -> Result<Graphs> {
        let bytes = files::read(&self.file)?;
        let mut parser = Parser::new(&self.file, &bytes, keep_going);
        let expected = parser.count()?;
        let mut graphs = Graphs::default();
        while parser.graph(&mut graphs)? {}
        if graphs.set.len() != expected {
            let what = format!("says {expected} graphs; the file has {}", graphs.set.len());
            return Err(Error::line(&self.file, 1, what));
        }
        Ok(graphs)
    }

    /// The number of attributes of the first node.
    fn width(&self) -> Result<usize> {
        let head = files::head(&self.file, files::SAMPLE_BYTES)?;
        let always = || true;
        let mut parser = Parser::new(&self.file, &head, &always);
        parser.count()?;
        parser.line()?;
        let Some((_, line)) = parser.line()? else { return Ok(0) };
        let words = line.split_ascii_whitespace().count();
        let degree = line.split_ascii_whitespace().nth(1).and_then(|degree| degree.parse::<usize>().ok());
        Ok(degree.map_or(0, |degree| words.saturating_sub(degree.saturating_add(2))))
    }
}

impl Reader for Text {
    fn tables(&self) -> Vec<&'static str> {
        graph_set::TABLES.to_vec()
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(match table {
            "graphs" => graph_set::graphs_schema(DataType::Int64, []),
            "nodes" => {
                let features = match self.width()? {
                    0 => Features::none(),
                    width => Features::dense(width),
                };
                graph_set::nodes_schema(DataType::Int64, features, [])
            }
            _ => graph_set::edges_schema([]),
        })
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut graphs = self.graphs(scan.keep_going)?;
        let rows = graphs.set.rows(scan.table);
        scan.batches(rows, |name| {
            Ok(match (graphs.set.column(scan.table, name), name) {
                (Some(values), _) => values,
                (None, "label") if scan.table == "graphs" => Values::Integers(std::mem::take(&mut graphs.label)),
                (None, "label") => Values::Integers(std::mem::take(&mut graphs.tag)),
                _ => match graphs.width {
                    None | Some(0) => Values::Nulls,
                    Some(width) => {
                        let values = std::mem::take(&mut graphs.attributes);
                        Values::rows_of(Matrix::Dense { rows, width, values })
                    }
                },
            })
        })
    }

    fn expected_bytes(&self, _table: &str, _columns: &[usize]) -> usize {
        files::size(&self.file).saturating_mul(20)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
