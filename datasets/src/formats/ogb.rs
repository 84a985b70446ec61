//! Folders of the Open Graph Benchmark with one graph: `raw/` with its nodes, edges, features and labels, and
//! `split/SCHEME/` with `train`, `valid` and `test`, all of them CSV without headers, packed or not. A graph of one type has
//! `raw/edge.csv.gz`; a typed one `raw/triplet-list.csv.gz` and `raw/relations/A___r___B/edge.csv.gz`.
//!
//! Nodes are numbered from 0 on, the labelled type first, so that its numbers are the publisher's; the others follow in the
//! publisher's order. The column `id` holds the publisher's number within the type, `time` the year of nodes that have one.
//! Each scheme is a split, in the order of their names. Features of edges are not read.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};

use super::{DIRECTED, class, not_this};
use crate::columns::{self, Splits, Values};
use crate::complexes::{open as open_text, unpacked_size};
use crate::matrix::{Matrix, Row};
use crate::reader::GraphFile;
use crate::scan::{Scan, check};
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result, files};

/// The publisher's names of the parts, and ours.
const PARTS: [(&str, &str); 3] = [("train", "train"), ("valid", "val"), ("test", "test")];

/// The bytes of a line: rows of thousands of features are shorter.
const LONGEST_LINE: u64 = 16 << 20;

pub(super) static FORMAT: Format = Format {
    name: "ogb",
    description: "raw/ with edge.csv.gz, or triplet-list.csv.gz and relations/, node-feat, node-label; split/SCHEME/train.csv.gz (snap-stanford/ogb)",
    options: &[DIRECTED],
    recognises: |path| Folder::find(path).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let Some(folder) = Folder::find(path) else {
        let expected = "a folder raw with num-node-list.csv.gz and edge.csv.gz, or num-node-dict.csv.gz and \
                        triplet-list.csv.gz, is expected";
        return Err(not_this(path, expected));
    };
    Ok(FORMAT.dataset(path, options, folder))
}

/// The file `folder/name.csv.gz`, or `folder/name.csv`.
fn table(folder: &Path, name: &str) -> Option<PathBuf> {
    [".csv.gz", ".csv"].iter().map(|ending| folder.join(format!("{name}{ending}"))).find(|file| files::is_file(file))
}

/// Gives each line that is not blank, with its number.
fn each_line(
    file: &Path,
    keep_going: &dyn Fn() -> bool,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<()> {
    let mut input = open_text(file)?;
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        let read =
            std::io::Read::take(&mut input, LONGEST_LINE).read_until(b'\n', &mut line).map_err(Error::io(file))?;
        if read == 0 {
            return Ok(());
        }
        number += 1;
        if number % 4096 == 0 {
            check(keep_going)?;
        }
        let text = std::str::from_utf8(&line).map_err(|_| Error::line(file, number, "is not UTF-8 text"))?;
        if read as u64 == LONGEST_LINE {
            return Err(Error::line(file, number, "is longer than 16 MiB"));
        }
        if !text.trim().is_empty() {
            take(text.trim()).map_err(|what| Error::line(file, number, what))?;
        }
    }
}

/// A column of one whole number a line; `nan` is none.
fn numbers(file: &Path, keep_going: &dyn Fn() -> bool) -> Result<Vec<Option<i64>>> {
    let mut numbers = Vec::new();
    each_line(file, keep_going, |line| {
        numbers.push(match line.parse::<i64>() {
            Ok(number) => Some(number),
            Err(_) if line.eq_ignore_ascii_case("nan") => None,
            // Labels that were doubles once.
            Err(_) => match line.parse::<f64>() {
                Ok(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(number as i64),
                _ => return Err(format!("'{line}' is no whole number: one a line is read")),
            },
        });
        Ok(())
    })?;
    Ok(numbers)
}

/// Pairs of node numbers.
fn pairs(file: &Path, keep_going: &dyn Fn() -> bool) -> Result<Vec<(i64, i64)>> {
    let mut pairs = Vec::new();
    each_line(file, keep_going, |line| {
        let mut ends = line.split(',').map(|end| end.trim().parse::<u32>());
        match (ends.next(), ends.next(), ends.next()) {
            (Some(Ok(src)), Some(Ok(dst)), None) => pairs.push((i64::from(src), i64::from(dst))),
            _ => return Err(format!("'{line}' are not two node numbers and a comma")),
        }
        Ok(())
    })?;
    Ok(pairs)
}

#[derive(Debug)]
struct Folder {
    raw: PathBuf,
    /// The folder of splits, if there is one.
    split: Option<PathBuf>,
    typed: bool,
}

/// The nodes of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    /// Empty in a graph of one type.
    name: String,
    first: usize,
    count: usize,
}

impl Folder {
    fn find(path: &Path) -> Option<Self> {
        let raw = path.join("raw");
        let has = |name: &str| table(&raw, name).is_some();
        let typed = has("num-node-dict") && has("triplet-list");
        let plain = has("num-node-list") && has("edge");
        if !typed && !plain {
            return None;
        }
        let split = [path.join("split"), raw.join("split")].into_iter().find(|folder| folder.is_dir());
        Some(Self { raw, split, typed })
    }

    /// The file of a property of the nodes of a type.
    fn of_nodes(&self, kind: &str, folder: &str, name: &str) -> Option<PathBuf> {
        match self.typed {
            true => table(&self.raw.join(folder).join(kind), name),
            false => table(&self.raw, name),
        }
    }

    fn features(&self, kind: &str) -> Option<PathBuf> {
        self.of_nodes(kind, "node-feat", "node-feat")
    }

    fn labels(&self, kind: &str) -> Option<PathBuf> {
        self.of_nodes(kind, "node-label", "node-label")
    }

    fn years(&self, kind: &str) -> Option<PathBuf> {
        self.of_nodes(kind, "node-feat", "node_year")
    }

    /// The names of the types, those with labels first.
    fn types(&self) -> Result<Vec<String>> {
        Ok(self.blocks(&|| true)?.into_iter().map(|block| block.name).collect())
    }

    /// The types and their numbers of nodes.
    fn blocks(&self, keep_going: &dyn Fn() -> bool) -> Result<Vec<Block>> {
        let (name, expected) = match self.typed {
            true => ("num-node-dict", "the types, and a line with their numbers of nodes"),
            false => ("num-node-list", "the number of nodes of one graph"),
        };
        let file = table(&self.raw, name).unwrap_or_else(|| self.raw.join(name));
        let mut lines = Vec::new();
        each_line(&file, keep_going, |line| {
            lines.push(line.to_owned());
            Ok(())
        })?;
        let malformed = || Error::file(&file, format!("{expected} are expected"));
        let (names, counts) = match (self.typed, lines.as_slice()) {
            (true, [names, counts]) => (names.split(',').map(str::trim).collect(), counts),
            (false, [count]) => (vec![""], count),
            _ => return Err(malformed()),
        };
        let counts = counts.split(',').map(|count| count.trim().parse::<u32>());
        let counts = counts.collect::<Result<Vec<u32>, _>>().map_err(|_| malformed())?;
        if counts.len() != names.len() || (1..names.len()).any(|at| names[..at].contains(&names[at])) {
            return Err(malformed());
        }
        let mut kinds: Vec<(&str, u32)> = names.into_iter().zip(counts).collect();
        kinds.sort_by_key(|kind| self.labels(kind.0).is_none());
        let mut first = 0;
        let blocks: Vec<Block> = kinds
            .into_iter()
            .map(|(name, count)| {
                let block = Block { name: name.to_owned(), first, count: count as usize };
                first += block.count;
                block
            })
            .collect();
        let bytes = GraphFile::files(self).iter().map(|file| unpacked_size(file)).sum();
        files::check_nodes(&file, first, bytes)?;
        Ok(blocks)
    }

    /// The relations: the types of their ends, and their name.
    fn relations(&self, keep_going: &dyn Fn() -> bool) -> Result<Vec<[String; 3]>> {
        let file = table(&self.raw, "triplet-list").unwrap_or_else(|| self.raw.join("triplet-list.csv.gz"));
        let mut relations = Vec::new();
        each_line(&file, keep_going, |line| {
            let words: Vec<String> = line.split(',').map(|word| word.trim().to_owned()).collect();
            relations.push(
                <[String; 3]>::try_from(words)
                    .map_err(|_| format!("'{line}' are not two types and a relation between"))?,
            );
            Ok(())
        })?;
        Ok(relations)
    }

    /// The file of the edges of a relation.
    fn edges_file(&self, [from, name, to]: &[String; 3]) -> PathBuf {
        let folder = self.raw.join("relations").join(format!("{from}___{name}___{to}"));
        table(&folder, "edge").unwrap_or_else(|| folder.join("edge.csv.gz"))
    }

    /// One whole number a node, for the types that have some; NULL for the others.
    fn column(
        &self,
        blocks: &[Block],
        file_of: impl Fn(&str) -> Option<PathBuf>,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<i64>>> {
        let mut column = Vec::new();
        for block in blocks {
            let Some(file) = file_of(&block.name) else {
                column.extend(std::iter::repeat_n(None, block.count));
                continue;
            };
            let values = numbers(&file, keep_going)?;
            if values.len() != block.count {
                return Err(Error::file(&file, format!("{} rows for {} nodes", values.len(), block.count)));
            }
            column.extend(values);
        }
        Ok(column)
    }

    /// The number of features, by the first line of each file of them.
    fn width(&self) -> Result<Option<usize>> {
        let mut width: Option<(usize, String)> = None;
        for kind in self.types()? {
            let Some(file) = self.features(&kind) else { continue };
            let mut line = String::new();
            std::io::Read::take(open_text(&file)?, LONGEST_LINE).read_line(&mut line).map_err(Error::io(&file))?;
            let found = line.trim().split(',').count();
            match &width {
                Some((other, of)) if *other != found => {
                    let what =
                        format!("{found} features where {of} has {other}: types with features have as many each");
                    return Err(Error::file(&file, what));
                }
                _ => width = Some((found, kind)),
            }
        }
        Ok(width.map(|(width, _)| width))
    }

    /// The features of all types, type by type; types without a file have rows that are not there.
    fn matrix(&self, blocks: &[Block], keep_going: &dyn Fn() -> bool) -> Result<Values> {
        let width = self.width()?.unwrap_or(0);
        let (mut values, mut rows, mut at) = (Vec::new(), 0, Vec::new());
        for block in blocks {
            let Some(file) = self.features(&block.name) else {
                at.extend(std::iter::repeat_n(Row::Absent, block.count));
                continue;
            };
            let before = rows;
            each_line(&file, keep_going, |line| {
                let start = values.len();
                for value in line.split(',') {
                    values.push(value.trim().parse::<f32>().map_err(|_| format!("'{value}' is no number"))?);
                }
                match values.len() - start {
                    found if found == width => rows += 1,
                    found => return Err(format!("{found} features where the first row has {width}")),
                }
                Ok(())
            })?;
            if rows - before != block.count {
                return Err(Error::file(&file, format!("{} rows for {} nodes", rows - before, block.count)));
            }
            at.extend((before..rows).map(Row::At));
        }
        Ok(Values::Features(Matrix::Dense { rows, width, values }, Box::new(move |row| at[row])))
    }

    /// The folders of the schemes, by their names.
    fn schemes(&self) -> Vec<PathBuf> {
        let Some(split) = &self.split else { return Vec::new() };
        files::names(split).into_iter().map(|name| split.join(name)).filter(|folder| folder.is_dir()).collect()
    }

    /// The file of a part of a scheme for a type.
    fn part(&self, scheme: &Path, kind: &str, part: &str) -> Option<PathBuf> {
        table(&scheme.join(kind), part)
    }
}

impl GraphFile for Folder {
    fn has_splits(&self) -> bool {
        !self.schemes().is_empty()
    }

    fn nodes_schema(&self) -> Result<SchemaRef> {
        let features = Features { sparse: false, width: self.width()? };
        let nodes = columns::nodes_schema(DataType::Int64, DataType::Int64, features);
        let mut others = Vec::new();
        let types = self.types()?;
        if types.iter().any(|kind| self.years(kind).is_some()) {
            others.push(Field::new("time", DataType::Int64, true));
        }
        if self.typed {
            others.extend([Field::new("type", DataType::Utf8, true), Field::new("id", DataType::Int64, true)]);
        }
        Ok(columns::extended(&nodes, others))
    }

    fn edges_schema(&self) -> Result<SchemaRef> {
        let edges = columns::edges_schema(DataType::Int64);
        Ok(columns::extended(&edges, self.typed.then(|| Field::new("type", DataType::Utf8, true))))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let keep_going = scan.keep_going;
        let blocks = self.blocks(keep_going)?;
        let n: usize = blocks.iter().map(|block| block.count).sum();
        scan.batches(n, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "id" => Values::Integers(blocks.iter().flat_map(|block| 0..block.count as i64).collect()),
                "type" => {
                    let names = blocks.iter().flat_map(|block| std::iter::repeat_n(&block.name, block.count));
                    Values::Texts(names.cloned().collect())
                }
                "label" => {
                    let labels = self.column(&blocks, |kind| self.labels(kind), keep_going)?;
                    Values::Labels(labels.into_iter().map(|label| label.and_then(class)).collect())
                }
                "time" => Values::Labels(self.column(&blocks, |kind| self.years(kind), keep_going)?),
                _ => self.matrix(&blocks, keep_going)?,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let keep_going = scan.keep_going;
        let blocks = self.blocks(keep_going)?;
        let one_type = [String::new(), String::new(), String::new()];
        let relations = if self.typed { self.relations(keep_going)? } else { vec![one_type] };
        let by_name: BTreeMap<&str, &Block> = blocks.iter().map(|block| (block.name.as_str(), block)).collect();
        let (mut src, mut dst, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for relation in &relations {
            let file = match self.typed {
                true => self.edges_file(relation),
                false => table(&self.raw, "edge").unwrap_or_else(|| self.raw.join("edge.csv.gz")),
            };
            let [from, name, to] = relation;
            let of = |kind: &String| by_name.get(kind.as_str()).copied();
            let (Some(from), Some(to)) = (of(from), of(to)) else {
                let what = format!("the relation {from}, {name}, {to} is of types that num-node-dict lacks");
                return Err(Error::file(&self.raw, what));
            };
            let edges = pairs(&file, keep_going)?;
            if let Some((x, y)) = edges.iter().find(|(x, y)| *x >= from.count as i64 || *y >= to.count as i64) {
                let what = format!("the edge {x}, {y} is beyond {} and {} nodes", from.count, to.count);
                return Err(Error::file(&file, what));
            }
            types.extend(std::iter::repeat_n(name.clone(), edges.len()));
            src.extend(edges.iter().map(|edge| edge.0 + from.first as i64));
            dst.extend(edges.iter().map(|edge| edge.1 + to.first as i64));
        }
        scan.typed_edges((src, dst), types)
    }

    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let blocks = self.blocks(scan.keep_going)?;
        let mut splits = Splits::default();
        for (number, scheme) in (0..).zip(self.schemes()) {
            for block in &blocks {
                for (theirs, ours) in PARTS {
                    let Some(file) = self.part(&scheme, &block.name, theirs) else { continue };
                    for node in numbers(&file, scan.keep_going)? {
                        match node {
                            Some(node) if (0..block.count as i64).contains(&node) => {
                                splits.push(number, node + block.first as i64, ours);
                            }
                            _ => {
                                let node = node.map_or("nan".to_owned(), |node| node.to_string());
                                let what = format!("{node} is none of {} nodes", block.count);
                                return Err(Error::file(&file, what));
                            }
                        }
                    }
                }
            }
        }
        scan.splits(splits)
    }

    fn expected_bytes(&self, table: &str, features: bool) -> usize {
        let types = self.types().unwrap_or_default();
        let matrix: usize = types.iter().filter_map(|kind| self.features(kind)).map(|file| unpacked_size(&file)).sum();
        let all: usize = GraphFile::files(self).iter().map(|file| unpacked_size(file)).sum();
        match table {
            "edges" => 6 * all.saturating_sub(matrix),
            "splits" => all.saturating_sub(matrix),
            _ => all.saturating_sub(matrix) + if features { matrix } else { 0 },
        }
    }

    fn directed(&self) -> bool {
        true
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.raw.clone()];
        folders.extend(self.split.clone().filter(|split| !split.starts_with(&self.raw)));
        while let Some(folder) = folders.pop() {
            for name in files::names(&folder) {
                let path = folder.join(&name);
                match path.is_dir() {
                    true => folders.push(path),
                    false if name.ends_with(".csv") || name.ends_with(".csv.gz") => files.push(path),
                    false => {}
                }
            }
        }
        files.sort();
        files
    }
}
