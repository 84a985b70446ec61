//! The TU Dortmund sets for graph classification: `NAME_A.txt`, `NAME_graph_indicator.txt`, `NAME_graph_labels.txt`
//! and optional labels and attributes of nodes, edges and graphs, in a folder or a zip.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};
use zip::ZipArchive;

use super::{DIRECTED, not_this};
use crate::columns::Values;
use crate::files::{self, Lines};
use crate::graph_set;
use crate::matrix::Matrix;
use crate::reader::Reader;
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

/// The suffixes of the files of a set.
const PARTS: [&str; 8] = [
    ARCS,
    INDICATOR,
    "graph_labels",
    "graph_attributes",
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
];
const ARCS: &str = "A";
const INDICATOR: &str = "graph_indicator";

pub(super) static FORMAT: Format = Format {
    name: "tu",
    description: "NAME_A.txt, NAME_graph_indicator.txt, NAME_graph_labels.txt and more, in a folder or a zip (TU Dortmund)",
    options: &[DIRECTED],
    recognises: |path| SetFiles::find(path).is_ok_and(|source| source.is_some()),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let expected = "is no tu set: NAME_A.txt and NAME_graph_indicator.txt are expected";
    let source = SetFiles::find(path)?.ok_or_else(|| not_this(path, expected))?;
    Ok(FORMAT.dataset(path, options, source))
}

/// Where the files of a set are.
#[derive(Debug)]
struct SetFiles {
    /// The folder or the zip.
    place: PathBuf,
    zipped: bool,
    /// The prefix of every file of the set: `MUTAG`, or `MUTAG/MUTAG` in a zip.
    stem: String,
}

impl SetFiles {
    /// The one set of a folder or a zip.
    fn find(path: &Path) -> Result<Option<Self>> {
        let zipped = !path.is_dir();
        let names = match zipped {
            false => files::names(path),
            true if files::name(path).ends_with(".zip") && files::is_file(path) => {
                open_zip(path)?.file_names().flatten().map(|name| name.into_owned()).collect()
            }
            true => return Ok(None),
        };
        let mut stems = names.iter().filter_map(|name| name.strip_suffix("_A.txt")).filter(|stem| {
            let indicator = format!("{stem}_{INDICATOR}.txt");
            names.contains(&indicator)
        });
        let (first, second) = (stems.next(), stems.next());
        let one = first.filter(|_| second.is_none());
        Ok(one.map(|stem| Self { place: path.to_owned(), zipped, stem: stem.to_owned() }))
    }

    fn name(&self, part: &str) -> String {
        format!("{}_{part}.txt", self.stem)
    }

    /// The path of a file, for errors; in a zip, as if that were a folder.
    fn path(&self, part: &str) -> PathBuf {
        self.place.join(self.name(part))
    }

    /// The size of a file once unpacked; `None` where there is none.
    fn size(&self, part: &str) -> Option<usize> {
        if self.zipped {
            return open_zip(&self.place).ok()?.by_name(&self.name(part)).ok().map(|member| member.size() as usize);
        }
        let path = self.path(part);
        files::is_file(&path).then(|| files::size(&path))
    }

    fn has(&self, part: &str) -> bool {
        self.size(part).is_some()
    }

    /// The first bytes of a file, at most `limit`.
    fn head(&self, part: &str, limit: u64) -> Result<Vec<u8>> {
        let path = self.path(part);
        if !self.zipped {
            return files::head(&path, limit);
        }
        let mut zip = open_zip(&self.place)?;
        let fault = |error: &dyn std::fmt::Display| Error::file(&path, format!("cannot be unpacked: {error}"));
        let member = zip.by_name(&self.name(part)).map_err(|error| fault(&error))?;
        let mut bytes = Vec::new();
        member.take(limit).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
        Ok(bytes)
    }

    /// A whole file. In a zip, no more than its directory announces, which is what was reserved.
    fn whole(&self, part: &str) -> Result<Vec<u8>> {
        let size = self.size(part).ok_or_else(|| Error::file(&self.path(part), "is missing"))?;
        let bytes = self.head(part, size as u64 + 1)?;
        if self.zipped && bytes.len() != size {
            return Err(Error::file(&self.path(part), format!("is damaged: it does not unpack to its {size} bytes")));
        }
        Ok(bytes)
    }
}

fn open_zip(path: &Path) -> Result<ZipArchive<BufReader<File>>> {
    let file = BufReader::new(File::open(path).map_err(Error::io(path))?);
    ZipArchive::new(file).map_err(|error| Error::file(path, format!("is no complete zip: {error}")))
}

/// Calls `row` with each line, which stands for a node, an edge or a graph; only the last lines may be blank.
fn each_row(
    path: &Path,
    bytes: &[u8],
    keep_going: &dyn Fn() -> bool,
    mut row: impl FnMut(&str) -> Result<(), String>,
) -> Result<()> {
    let mut lines = Lines::new(path, bytes, keep_going);
    let mut blank = None;
    while let Some((number, line)) = lines.next_line()? {
        let line = line.trim();
        match blank {
            _ if line.is_empty() => blank = blank.or(Some(number)),
            Some(blank) => return Err(Error::line(path, blank, "is blank, with more lines after it")),
            None => row(line).map_err(|what| Error::line(path, number, what))?,
        }
    }
    Ok(())
}

/// Labels: whole numbers, or text where a line of the file's start is none (e.g. several labels a line).
enum Labels {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Labels {
    fn len(&self) -> usize {
        match self {
            Self::Integers(labels) => labels.len(),
            Self::Texts(labels) => labels.len(),
        }
    }

    fn values(self) -> Values {
        match self {
            Self::Integers(labels) => Values::Integers(labels),
            Self::Texts(labels) => Values::Texts(labels),
        }
    }

    /// The distinct labels in order, and each row's position among them.
    fn places(&self) -> (usize, Vec<usize>) {
        fn of<T: Ord>(labels: &[T]) -> (usize, Vec<usize>) {
            let mut places: BTreeMap<&T, usize> = labels.iter().map(|label| (label, 0)).collect();
            places.values_mut().enumerate().for_each(|(place, value)| *value = place);
            (places.len(), labels.iter().map(|label| places[label]).collect())
        }
        match self {
            Self::Integers(labels) => of(labels),
            Self::Texts(labels) => of(labels),
        }
    }
}

/// The values of an attributes file: `width` of them a row.
struct Attributes {
    width: usize,
    values: Vec<f32>,
}

impl Attributes {
    fn rows(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    fn column(self) -> Values {
        let (rows, width) = (self.rows(), self.width);
        Values::rows_of(Matrix::Dense { rows, width, values: self.values })
    }
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ' ', '\t']).filter(|word| !word.is_empty())
}

impl SetFiles {
    fn label_type(&self, part: &str) -> Result<DataType> {
        let sample = self.head(part, files::SAMPLE_BYTES)?;
        let whole = files::whole_lines(&sample, files::SAMPLE_BYTES);
        let mut integers = true;
        let is_integer = |line: &str| {
            integers &= line.parse::<i64>().is_ok();
            Ok(())
        };
        each_row(&self.path(part), whole, &|| true, is_integer)?;
        Ok(if integers { DataType::Int64 } else { DataType::Utf8 })
    }

    fn labels(&self, part: &str, keep_going: &dyn Fn() -> bool) -> Result<Labels> {
        let (path, bytes) = (self.path(part), self.whole(part)?);
        if self.label_type(part)? == DataType::Int64 {
            let labels = self.integers(&path, &bytes, keep_going)?;
            return Ok(Labels::Integers(labels));
        }
        let mut labels = Vec::new();
        each_row(&path, &bytes, keep_going, |line| {
            labels.push(line.to_owned());
            Ok(())
        })?;
        Ok(Labels::Texts(labels))
    }

    fn integers(&self, path: &Path, bytes: &[u8], keep_going: &dyn Fn() -> bool) -> Result<Vec<i64>> {
        let mut values = Vec::new();
        each_row(path, bytes, keep_going, |line| {
            values.push(line.parse().map_err(|_| format!("'{line}' is no whole number"))?);
            Ok(())
        })?;
        Ok(values)
    }

    /// The number of attributes in the first line.
    fn width(&self, part: &str) -> Result<usize> {
        let head = self.head(part, files::SAMPLE_BYTES)?;
        let always = || true;
        let first =
            Lines::new(&self.path(part), &head, &always).next_line()?.map_or(0, |(_, line)| fields(line).count());
        Ok(first)
    }

    fn attributes(&self, part: &str, keep_going: &dyn Fn() -> bool) -> Result<Attributes> {
        let (path, bytes, width) = (self.path(part), self.whole(part)?, self.width(part)?);
        let mut values: Vec<f32> = Vec::new();
        each_row(&path, &bytes, keep_going, |line| {
            let before = values.len();
            for word in fields(line) {
                values.push(word.parse().map_err(|_| format!("'{word}' is no number"))?);
            }
            match values.len() - before {
                found if found == width => Ok(()),
                found => Err(format!("{found} attributes, where the first line has {width}")),
            }
        })?;
        Ok(Attributes { width, values })
    }

    /// Fails unless a file has as many rows as it has to.
    fn same_rows(&self, part: &str, rows: usize, expected: usize, what: &str, base: &str) -> Result<()> {
        if rows == expected {
            return Ok(());
        }
        let what = format!("has {rows} lines; {} has {expected} {what}", self.name(base));
        Err(Error::file(&self.path(part), what))
    }

    /// The number of graphs and the graph of each node, from 1.
    fn indicator(&self, keep_going: &dyn Fn() -> bool) -> Result<(usize, Vec<i64>)> {
        let path = self.path(INDICATOR);
        let graphs = match ["graph_labels", "graph_attributes"].into_iter().find(|part| self.has(part)) {
            None => None,
            Some(part) => {
                let mut rows = 0usize;
                each_row(&self.path(part), &self.whole(part)?, keep_going, |_| {
                    rows += 1;
                    Ok(())
                })?;
                Some((rows, self.name(part)))
            }
        };
        let indicator = self.integers(&path, &self.whole(INDICATOR)?, keep_going)?;
        for (row, &graph) in indicator.iter().enumerate() {
            let wrong = match &graphs {
                _ if graph < 1 => format!("graph {graph}; graphs are numbered from 1"),
                Some((graphs, from)) if graph > *graphs as i64 => {
                    format!("graph {graph}, but {from} has {graphs} graphs")
                }
                // Without a list of graphs, each has a node.
                None if graph > indicator.len() as i64 => format!("graph {graph} of only {} nodes", indicator.len()),
                _ => continue,
            };
            return Err(Error::line(&path, row + 1, wrong));
        }
        let last = || indicator.iter().copied().max().unwrap_or(0) as usize;
        Ok((graphs.map_or_else(last, |(graphs, _)| graphs), indicator))
    }

    /// The arcs and the graph of each.
    fn arcs(&self, keep_going: &dyn Fn() -> bool) -> Result<[Vec<i64>; 3]> {
        let (_, indicator) = self.indicator(keep_going)?;
        let graph_of = |node: i64| {
            let place = node.checked_sub(1).and_then(|place| usize::try_from(place).ok());
            place.and_then(|place| indicator.get(place)).copied().ok_or_else(|| {
                format!("node {node}, but {} has the nodes 1 to {}", self.name(INDICATOR), indicator.len())
            })
        };
        let [mut graph, mut src, mut dst] = [const { Vec::new() }; 3];
        each_row(&self.path(ARCS), &self.whole(ARCS)?, keep_going, |line| {
            let mut ends = fields(line).map(str::parse::<i64>);
            let (Some(Ok(u)), Some(Ok(v)), None) = (ends.next(), ends.next(), ends.next()) else {
                return Err(format!("'{line}' are not two node numbers"));
            };
            let (of_u, of_v) = (graph_of(u)?, graph_of(v)?);
            if of_u != of_v {
                return Err(format!("an edge from node {u} of graph {of_u} to node {v} of graph {of_v}"));
            }
            graph.push(of_u);
            src.push(u);
            dst.push(v);
            Ok(())
        })?;
        Ok([graph, src, dst])
    }

    /// The storage of the nodes' features: attributes, or with labels a sparse row of the attributes and a 1 at the
    /// position of the label among the distinct ones.
    fn features(&self) -> Result<Features> {
        let attributes = if self.has("node_attributes") { self.width("node_attributes")? } else { 0 };
        match self.size("node_labels") {
            None if attributes > 0 => Ok(Features::dense(attributes)),
            None => Ok(Features::none()),
            // The number of distinct labels takes a look at all of them.
            Some(size) if size as u64 > files::SAMPLE_BYTES => Ok(Features { sparse: true, width: None }),
            Some(_) => {
                let (distinct, _) = self.labels("node_labels", &|| true)?.places();
                Ok(Features::sparse(attributes + distinct))
            }
        }
    }

    fn feature_values(&self, nodes: usize, keep_going: &dyn Fn() -> bool) -> Result<Values> {
        let attributes = match self.has("node_attributes") {
            true => Some(self.node_attributes(nodes, keep_going)?),
            false => None,
        };
        if !self.has("node_labels") {
            return Ok(attributes.map_or(Values::Nulls, Attributes::column));
        }
        let (distinct, places) = self.node_labels(nodes, keep_going)?.places();
        let before = attributes.as_ref().map_or(0, |attributes| attributes.width);
        let (mut offsets, mut entries) = (vec![0], Vec::new());
        for (node, place) in places.into_iter().enumerate() {
            if let Some(Attributes { width, values }) = &attributes {
                let row = values[node * width..(node + 1) * width].iter().enumerate();
                entries.extend(row.filter(|(_, value)| **value != 0.0).map(|(i, value)| (i as i32, *value)));
            }
            entries.push(((before + place) as i32, 1.0));
            offsets.push(entries.len());
        }
        Ok(Values::sparse(before + distinct, offsets, entries))
    }

    fn node_labels(&self, nodes: usize, keep_going: &dyn Fn() -> bool) -> Result<Labels> {
        let labels = self.labels("node_labels", keep_going)?;
        self.same_rows("node_labels", labels.len(), nodes, "nodes", INDICATOR)?;
        Ok(labels)
    }

    fn node_attributes(&self, nodes: usize, keep_going: &dyn Fn() -> bool) -> Result<Attributes> {
        let attributes = self.attributes("node_attributes", keep_going)?;
        self.same_rows("node_attributes", attributes.rows(), nodes, "nodes", INDICATOR)?;
        Ok(attributes)
    }

    /// The type of a label column; BIGINT, all NULL, where there is no such file.
    fn label_field(&self, part: &str) -> Result<DataType> {
        if self.has(part) { self.label_type(part) } else { Ok(DataType::Int64) }
    }

    /// The columns that an attributes file adds.
    fn attributes_field(&self, part: &str) -> Result<Option<Field>> {
        if !self.has(part) {
            return Ok(None);
        }
        let features = Features::dense(self.width(part)?);
        Ok(Some(features.field().with_name("attributes")))
    }

    fn graphs(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let (graphs, _) = self.indicator(scan.keep_going)?;
        scan.batches(graphs, |name| {
            Ok(match name {
                "graph_id" => Values::Integers((1..=graphs as i64).collect()),
                "label" if self.has("graph_labels") => self.labels("graph_labels", scan.keep_going)?.values(),
                "attributes" => {
                    let attributes = self.attributes("graph_attributes", scan.keep_going)?;
                    self.same_rows("graph_attributes", attributes.rows(), graphs, "graphs", "graph_labels")?;
                    attributes.column()
                }
                _ => Values::Nulls,
            })
        })
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let (_, mut indicator) = self.indicator(scan.keep_going)?;
        let nodes = indicator.len();
        scan.batches(nodes, |name| {
            Ok(match name {
                "graph_id" => Values::Integers(std::mem::take(&mut indicator)),
                "node" => Values::Integers((1..=nodes as i64).collect()),
                "label" if self.has("node_labels") => self.node_labels(nodes, scan.keep_going)?.values(),
                "features" => self.feature_values(nodes, scan.keep_going)?,
                "attributes" => self.node_attributes(nodes, scan.keep_going)?.column(),
                _ => Values::Nulls,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let [mut graph, mut src, mut dst] = self.arcs(scan.keep_going)?;
        let rows = src.len();
        scan.batches(rows, |name| {
            Ok(match name {
                "graph_id" => Values::Integers(std::mem::take(&mut graph)),
                "src" => Values::Integers(std::mem::take(&mut src)),
                "dst" => Values::Integers(std::mem::take(&mut dst)),
                "label" => {
                    let labels = self.labels("edge_labels", scan.keep_going)?;
                    self.same_rows("edge_labels", labels.len(), rows, "edges", ARCS)?;
                    labels.values()
                }
                _ => {
                    let attributes = self.attributes("edge_attributes", scan.keep_going)?;
                    self.same_rows("edge_attributes", attributes.rows(), rows, "edges", ARCS)?;
                    attributes.column()
                }
            })
        })
    }
}

impl Reader for SetFiles {
    fn tables(&self) -> Vec<&'static str> {
        graph_set::TABLES.to_vec()
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(match table {
            "graphs" => {
                let attributes = self.attributes_field("graph_attributes")?;
                graph_set::graphs_schema(self.label_field("graph_labels")?, attributes)
            }
            "nodes" => {
                let attributes = self.attributes_field("node_attributes")?;
                graph_set::nodes_schema(self.label_field("node_labels")?, self.features()?, attributes)
            }
            _ => {
                let label = match self.has("edge_labels") {
                    true => Some(Field::new("label", self.label_type("edge_labels")?, true)),
                    false => None,
                };
                graph_set::edges_schema(label.into_iter().chain(self.attributes_field("edge_attributes")?))
            }
        })
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        match scan.table {
            "graphs" => self.graphs(scan),
            "nodes" => self.nodes(scan),
            _ => self.edges(scan),
        }
    }

    fn expected_bytes(&self, table: &str, _columns: &[usize]) -> usize {
        let prefix = match table {
            "graphs" => "graph_",
            "nodes" => "node_",
            _ => "edge_",
        };
        let mine =
            |part: &&&str| part.starts_with(prefix) || **part == INDICATOR || (table == "edges" && **part == ARCS);
        let size: usize = PARTS.iter().filter(mine).filter_map(|part| self.size(part)).sum();
        // A line of two characters becomes an integer of eight bytes, twice.
        size.saturating_mul(10)
    }

    fn files(&self) -> Vec<PathBuf> {
        if self.zipped {
            return vec![self.place.clone()];
        }
        PARTS.iter().map(|part| self.path(part)).collect()
    }
}
