//! Files of graphs in graph6, one a line, as nauty writes them: `NAME.g6`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};

use super::{DIRECTED, found_or_file};
use crate::columns::Values;
use crate::files::{self, Lines};
use crate::graph_set::{self, GraphSet};
use crate::reader::Reader;
use crate::scan::{Scan, check};
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

const EXTENSIONS: [&str; 2] = [".g6", ".graph6"];

/// The headers of a file, or of each of its lines.
const HEADER: &str = ">>graph6<<";

pub(super) static FORMAT: Format = Format {
    name: "graph6",
    description: "NAME.g6, one graph a line (McKay's nauty; graphs are numbered from 0, and nodes in each graph)",
    options: &[DIRECTED],
    recognises: |path| find(path).is_some_and(|file| starts_well(&file)),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let file = found_or_file(find(path), path, "one file NAME.g6 is expected")?;
    Ok(FORMAT.dataset(path, options, List { file }))
}

/// The file itself, or the one such file of a folder without folders in it.
fn find(path: &Path) -> Option<PathBuf> {
    if files::names(path).iter().any(|name| path.join(name).is_dir()) {
        return None;
    }
    files::only(path, |file| {
        EXTENSIONS.iter().any(|extension| files::name(file).ends_with(extension)) && files::is_file(file)
    })
}

/// Whether the first line is a graph, so that a binary file with such an extension is not claimed.
fn starts_well(file: &Path) -> bool {
    let Ok(head) = files::head(file, files::SAMPLE_BYTES) else { return false };
    let always = || true;
    match Lines::new(file, &head, &always).next_line() {
        Ok(Some((_, line))) => {
            let line = line.strip_prefix(HEADER).unwrap_or(line);
            line.is_empty() || Graph6::parse(line).is_ok() || head.len() as u64 == files::SAMPLE_BYTES
        }
        _ => false,
    }
}

/// A graph as graph6 spells it (B. D. McKay, "Description of graph6, sparse6 and digraph6 encodings"): the number of
/// nodes, then the upper triangle of the adjacency matrix column by column, six bits a character.
#[derive(Debug)]
pub(super) struct Graph6<'a> {
    nodes: usize,
    bits: &'a [u8],
}

impl<'a> Graph6<'a> {
    /// Checks a line.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let bytes = text.as_bytes();
        match bytes.first() {
            None => return Err("is empty where a graph is expected".to_owned()),
            Some(b':' | b';') => return Err("is sparse6; graph6 is read".to_owned()),
            Some(b'&') => return Err("is digraph6; graph6 is read".to_owned()),
            _ => {}
        }
        if let Some(at) = bytes.iter().position(|byte| !(63..=126).contains(byte)) {
            let found = char::from(bytes[at]).escape_default();
            return Err(format!("has '{found}' as character {}; graph6 has those from '?' to '~'", at + 1));
        }
        let digits = match bytes {
            [b'~', b'~', ..] => 2..8,
            [b'~', ..] => 1..4,
            _ => 0..1,
        };
        let Some(size) = bytes.get(digits.clone()) else {
            return Err("is cut short within its number of nodes".to_owned());
        };
        let nodes = size.iter().fold(0u64, |nodes, byte| nodes << 6 | u64::from(byte - 63));
        let pairs = u128::from(nodes) * u128::from(nodes.saturating_sub(1)) / 2;
        let (expected, bits) = (pairs.div_ceil(6), &bytes[digits.end..]);
        if bits.len() as u128 != expected {
            return Err(format!(
                "is a graph of {nodes} nodes, which needs {expected} characters after the number of nodes; there are {}",
                bits.len()
            ));
        }
        let unused = (expected * 6 - pairs) as u32;
        if bits.last().is_some_and(|last| (last - 63).trailing_zeros() < unused) {
            return Err("has bits after its last pair of nodes; the line is damaged".to_owned());
        }
        Ok(Self { nodes: nodes as usize, bits })
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The edges `(u, v)` with `u < v`, in the order of the bits.
    pub(super) fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let pairs = (1..self.nodes).flat_map(|v| (0..v).map(move |u| (u, v)));
        let bits = self.bits.iter().flat_map(|byte| (0..6).rev().map(move |bit| (byte - 63) >> bit & 1 == 1));
        pairs.zip(bits).filter(|(_, edge)| *edge).map(|(pair, _)| pair)
    }
}

#[derive(Debug)]
struct List {
    file: PathBuf,
}

impl List {
    /// The graphs, their edges where wanted, and their lines where wanted.
    fn graphs(&self, edges: bool, texts: bool, keep_going: &dyn Fn() -> bool) -> Result<(GraphSet, Vec<String>)> {
        let bytes = files::read(&self.file)?;
        let mut lines = Lines::new(&self.file, &bytes, keep_going);
        let (mut set, mut written) = (GraphSet::default(), Vec::new());
        while let Some((number, line)) = lines.next_line()? {
            let line = line.strip_prefix(HEADER).unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            check(keep_going)?;
            let graph = Graph6::parse(line).map_err(|what| Error::line(&self.file, number, what))?;
            set.push(graph.nodes(), edges.then(|| graph.edges()).into_iter().flatten());
            if texts {
                written.push(line.to_owned());
            }
        }
        Ok((set, written))
    }
}

impl Reader for List {
    fn tables(&self) -> Vec<&'static str> {
        graph_set::TABLES.to_vec()
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(match table {
            "graphs" => graph_set::graphs_schema(DataType::Int64, [Field::new("graph6", DataType::Utf8, false)]),
            "nodes" => graph_set::nodes_schema(DataType::Int64, Features::none(), []),
            _ => graph_set::edges_schema([]),
        })
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let (mut set, mut lines) = self.graphs(scan.table == "edges", scan.wants("graph6"), scan.keep_going)?;
        scan.batches(set.rows(scan.table), |name| {
            Ok(match (set.column(scan.table, name), name) {
                (Some(values), _) => values,
                (None, "graph6") => Values::Texts(std::mem::take(&mut lines)),
                _ => Values::Nulls,
            })
        })
    }

    fn expected_bytes(&self, table: &str, _columns: &[usize]) -> usize {
        // A character stands for six pairs of nodes, of which half may be edges of three integers.
        let size = files::size(&self.file);
        size.saturating_mul(if table == "edges" { 6 / 2 * 48 } else { 8 })
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> (usize, Vec<(usize, usize)>) {
        let graph = Graph6::parse(text).unwrap();
        (graph.nodes(), graph.edges().collect())
    }

    #[test]
    fn the_description_s_own_example_is_read() {
        // McKay's text: n = 5 with the edges 0-2, 0-4, 1-3, 3-4 is "DQc".
        assert_eq!(edges("DQc"), (5, vec![(0, 2), (1, 3), (0, 4), (3, 4)]));
        assert_eq!(edges("?"), (0, vec![]));
        assert_eq!(edges("@"), (1, vec![]));
        assert_eq!(edges("A_"), (2, vec![(0, 1)]));
    }

    #[test]
    fn sizes_beyond_62_take_more_characters() {
        // McKay's text: 12345 is "~B?x", 460175067 is "~~?ZZZZZ"; here without their bits.
        let error = |text: &str| Graph6::parse(text).unwrap_err();
        assert!(error("~B?x").contains("a graph of 12345 nodes"), "{}", error("~B?x"));
        assert!(error("~~?ZZZZZ").contains("a graph of 460175067 nodes"), "{}", error("~~?ZZZZZ"));
    }

    #[test]
    fn damaged_lines_are_refused_with_a_reason() {
        let error = |text: &str| Graph6::parse(text).unwrap_err();
        assert!(error("DQ").contains("needs 2 characters after the number of nodes; there are 1"));
        assert!(error("DQcc").contains("there are 3"));
        assert!(error("D c").contains("has ' ' as character 2"));
        assert!(error("DQ\u{7f}").contains("as character 3"));
        assert!(error("~B").contains("cut short"));
        assert!(error(":DaY").contains("sparse6"));
        assert!(error("&DI?AO").contains("digraph6"));
        assert!(error("A`").contains("after its last pair"));
    }
}
