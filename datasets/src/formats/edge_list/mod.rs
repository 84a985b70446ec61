//! Edge lists in text: `u v`, `u,v` or with tabs, comments, an optional header and further columns, or dictionaries as networkx
//! writes the data of edges; Matrix Market; and a file of labels beside them.
//!
//! Covers hyperbolics (`NAME.edges`), QGCN (`NAME.edges.csv`, `NAME.label.csv`), struc2vec
//! (`NAME-airports.edgelist`, `labels-NAME-airports.txt`) and Network Repository (`NAME.mtx`, also in a `.zip`).

mod attributes;
mod header;
mod keys;
mod layout;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};
use zip::ZipArchive;

use self::attributes::Attribute;
use self::keys::{Keys, integer};
use self::layout::{Layout, cut, is_comment, layout, with_data};
use super::{DIRECTED, choice, class, found_or_file};
use crate::columns::{self, Values};
use crate::files::{self, Lines};
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

/// The extensions of files that are recognised as edge lists. Other files take `TYPE edge_list`.
const EXTENSIONS: [&str; 6] = [".edges", ".edgelist", ".mtx", ".edges.csv", ".edges.tsv", ".edges.txt"];

pub(super) static FORMAT: Format = Format {
    name: "edge_list",
    description: "one edge a line: .edges, .edgelist, .edges.csv, .mtx, or any text file with TYPE edge_list, with networkx's data; labels beside it",
    options: &[
        DIRECTED,
        ("header", "true | false: whether the first line names the columns; default: as it looks"),
        ("keys", "integer | text: the type of the nodes' keys; default: as the first MiB looks"),
        ("labels", "the file of labels (id label, or row i = label of node i); default: NAME.label.csv and the like"),
    ],
    recognises: |path| {
        find(path).is_some_and(|file| {
            // The start must read as edges, so that a binary file with such an extension is not claimed.
            List::new(&file, &Options::new()).is_ok_and(|list| list.layout(false).is_ok())
        })
    },
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let file = found_or_file(find(path), path, &format!("one file {} is expected", EXTENSIONS.join(", ")))?;
    Ok(FORMAT.dataset(path, options, List::new(&file, options)?))
}

/// The file itself if its name says that it is an edge list, or the one such file of a folder.
fn find(path: &Path) -> Option<PathBuf> {
    files::only(path, is_ours)
}

fn is_ours(file: &Path) -> bool {
    let name = files::name(file);
    if !files::is_file(file) {
        return false;
    }
    if name.ends_with(".zip") {
        return member(file).is_ok();
    }
    // Beside a list of graphs' numbers, the edges are those of many graphs.
    let many = stem(name).is_some_and(|stem| files::is_file(&file.with_file_name(format!("{stem}.graph_idx"))));
    stem(name).is_some() && !many
}

/// A name without its extension of an edge list.
fn stem(name: &str) -> Option<&str> {
    EXTENSIONS.iter().find_map(|extension| name.strip_suffix(extension))
}

/// The name of the one edge list in a zip.
fn member(file: &Path) -> Result<String> {
    let input = BufReader::new(File::open(file).map_err(Error::io(file))?);
    let zip = ZipArchive::new(input).map_err(|error| Error::file(file, format!("is no complete zip: {error}")))?;
    let mut names: Vec<String> = zip.file_names().flatten().map(|name| name.into_owned()).collect();
    names.sort_unstable();
    let lists: Vec<&String> = names.iter().filter(|name| stem(name).is_some()).collect();
    match lists[..] {
        [list] => Ok(list.clone()),
        _ => Err(Error::file(file, format!("has not one edge list but: {}", files::few(&names)))),
    }
}

#[derive(Debug)]
struct List {
    file: PathBuf,
    labels: Option<PathBuf>,
    header: Option<bool>,
    text_keys: Option<bool>,
}

/// A file of labels: its keys (`None`: row i is node i), and the labels as text.
struct LabelFile {
    keys: Option<Keys>,
    labels: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum LabelKind {
    Integer,
    Real,
    Text,
}

impl List {
    fn new(file: &Path, options: &Options) -> Result<Self> {
        let flag = |name| Ok::<_, Error>(choice(options, name, &["true", "false"])?.map(|value| value == "true"));
        let labels = match options.get("labels") {
            Some(path) if Path::new(path).is_file() => Some(PathBuf::from(path)),
            Some(path) => return Err(Error::Option(format!("option labels: there is no file '{path}'"))),
            None => labels_beside(file),
        };
        Ok(Self {
            file: file.to_owned(),
            labels,
            header: flag("header")?,
            text_keys: choice(options, "keys", &["integer", "text"])?.map(|keys| keys == "text"),
        })
    }

    /// The whole text, or its first lines.
    fn text(&self, whole: bool) -> Result<Vec<u8>> {
        let limit = if whole { u64::MAX } else { files::SAMPLE_BYTES };
        let mut bytes = if files::name(&self.file).ends_with(".zip") {
            let name = member(&self.file)?;
            let fault = |what: String| Error::member(&self.file, &format!("member {name}"), what);
            let input = BufReader::new(File::open(&self.file).map_err(Error::io(&self.file))?);
            let mut zip = ZipArchive::new(input).map_err(|error| fault(error.to_string()))?;
            let member = zip.by_name(&name).map_err(|error| fault(error.to_string()))?;
            let (mut bytes, size) = (Vec::new(), member.size());
            member
                .take(size.min(limit))
                .read_to_end(&mut bytes)
                .map_err(|error| fault(format!("cannot be unpacked: {error}")))?;
            bytes
        } else if whole {
            files::read(&self.file)?
        } else {
            files::head(&self.file, limit)?
        };
        bytes.truncate(files::whole_lines(&bytes, limit).len());
        Ok(bytes)
    }

    /// Finds how the lines are to be read, from the first of them. `with_labels`: keys are text also where only those
    /// of the labels are.
    fn layout(&self, with_labels: bool) -> Result<Layout> {
        let bytes = self.text(false)?;
        let mut layout = layout(&self.file, &bytes, self.header, 2)?;
        let sampled_text = layout.text_keys;
        layout.text_keys = match self.text_keys {
            Some(text) => text,
            None if with_labels && !sampled_text => self.labels_have_text_keys()?,
            None => sampled_text,
        };
        Ok(layout)
    }

    fn labels_have_text_keys(&self) -> Result<bool> {
        let Some(file) = &self.labels else { return Ok(false) };
        let bytes = files::head(file, files::SAMPLE_BYTES)?;
        let layout = layout(file, files::whole_lines(&bytes, files::SAMPLE_BYTES), None, 1)?;
        Ok(layout.text_keys && !layout.others.is_empty())
    }

    /// Calls `row` with the fields of every line.
    fn each_row(
        &self,
        file: &Path,
        bytes: &[u8],
        layout: &Layout,
        keep_going: &dyn Fn() -> bool,
        mut row: impl FnMut(&[Cow<'_, str>]) -> Result<(), String>,
    ) -> Result<usize> {
        let mut lines = Lines::new(file, bytes, keep_going);
        let mut fields = Vec::new();
        let (mut before_first, mut count) = (layout.header.is_some(), 0);
        // Dictionaries are a field of their own.
        let expected = if layout.data.is_some() { 2 } else { 1 + layout.others.len() };
        while let Some((number, line)) = lines.next_line()? {
            if is_comment(line.trim()) || layout.market.is_some_and(|market| market.size_line == number) {
                continue;
            }
            if std::mem::take(&mut before_first) {
                continue;
            }
            let (edge, data) = if layout.data.is_some() { with_data(line) } else { (line, "") };
            cut(edge, layout.separator, &mut fields);
            if fields.len() != expected {
                let what =
                    format!("{} fields, where the lines before have {expected}: '{}'", fields.len(), line.trim());
                return Err(Error::line(file, number, what));
            }
            if layout.data.is_some() {
                fields.push(Cow::Borrowed(data));
            }
            row(&fields).map_err(|what| Error::line(file, number, what))?;
            count += 1;
        }
        Ok(count)
    }

    fn rows(&self, layout: &Layout, keep_going: &dyn Fn() -> bool) -> Result<(Keys, Keys, Vec<Values>)> {
        let bytes = self.text(true)?;
        let (mut src, mut dst) = (Keys::new(layout.text_keys), Keys::new(layout.text_keys));
        let mut others: Vec<Values> = layout.others[1..]
            .iter()
            .map(|(_, number)| match (number, layout.data.is_some()) {
                (true, false) => Values::Reals(Vec::new()),
                (false, false) => Values::Texts(Vec::new()),
                (true, true) => Values::OptionalReals(Vec::new()),
                (false, true) => Values::OptionalTexts(Vec::new()),
            })
            .collect();
        let rows = self.each_row(&self.file, &bytes, layout, keep_going, |fields| {
            src.push(&fields[0])?;
            dst.push(&fields[1])?;
            if let Some(keys) = &layout.data {
                push_data(&mut others, keys, &fields[2])?;
                return Ok(());
            }
            for (other, field) in others.iter_mut().zip(&fields[2..]) {
                match other {
                    Values::Reals(values) => {
                        values.push(field.parse().map_err(|_| format!("'{field}' is no number, as those above are"))?);
                    }
                    Values::Texts(values) => values.push(field.clone().into_owned()),
                    _ => {}
                }
            }
            if let (Some(market), Keys::Integers(src), Keys::Integers(dst)) = (layout.market, &src, &dst) {
                for key in [src.last(), dst.last()].into_iter().flatten() {
                    if !(1..=market.nodes).contains(key) {
                        return Err(format!("entry {key} in a matrix of {} rows", market.nodes));
                    }
                }
            }
            Ok(())
        })?;
        if let Some(market) = layout.market
            && market.entries != rows
        {
            let what = format!("announces {} entries and has {rows}; the file may be cut short", market.entries);
            return Err(Error::file(&self.file, what));
        }
        Ok((src, dst, others))
    }

    fn label_file(&self, text_keys: bool, keep_going: &dyn Fn() -> bool) -> Result<Option<LabelFile>> {
        let Some(file) = &self.labels else { return Ok(None) };
        let bytes = files::read(file)?;
        let layout = layout(file, &bytes, None, 1)?;
        let mut labels = Vec::new();
        if layout.others.is_empty() {
            self.each_row(file, &bytes, &layout, keep_going, |fields| {
                labels.push(fields[0].clone().into_owned());
                Ok(())
            })?;
            if text_keys {
                let what = "has one column, the labels of the nodes 0, 1, ..., but the keys of the edges are text";
                return Err(Error::file(file, what));
            }
            return Ok(Some(LabelFile { keys: None, labels }));
        }
        if layout.others.len() > 1 {
            let what = format!("has {} columns; id and label, or labels alone are expected", 1 + layout.others.len());
            return Err(Error::file(file, what));
        }
        let mut keys = Keys::new(text_keys);
        self.each_row(file, &bytes, &layout, keep_going, |fields| {
            keys.push(&fields[0])?;
            labels.push(fields[1].clone().into_owned());
            Ok(())
        })?;
        Ok(Some(LabelFile { keys: Some(keys), labels }))
    }

    /// The type of the labels, from a look at all of them: there is one a node.
    fn label_kind(&self) -> Result<LabelKind> {
        let Some(file) = self.label_file(self.layout(true)?.text_keys, &|| true)? else {
            return Ok(LabelKind::Integer);
        };
        let all = |test: fn(&str) -> bool| file.labels.iter().all(|label| label.is_empty() || test(label));
        Ok(if all(|label| integer(label).is_some()) {
            LabelKind::Integer
        } else if all(|label| label.parse::<f64>().is_ok()) {
            LabelKind::Real
        } else {
            LabelKind::Text
        })
    }

    fn keys_and_labels(&self, layout: &Layout, keep_going: &dyn Fn() -> bool) -> Result<(Keys, Vec<String>)> {
        let labels = self.label_file(layout.text_keys, keep_going)?;
        if let Some(market) = layout.market
            && market.nodes as usize > files::FEW_NODES
        {
            files::check_nodes(&self.file, market.nodes as usize, self.text(true)?.len())?;
        }
        let (mut keys, labels) = match labels {
            Some(LabelFile { keys: Some(keys), labels }) => (keys, labels),
            Some(LabelFile { keys: None, labels }) => (Keys::Integers((0..labels.len() as i64).collect()), labels),
            None => match layout.market {
                Some(market) if !layout.text_keys => (Keys::Integers((1..=market.nodes).collect()), Vec::new()),
                _ => (Keys::new(layout.text_keys), Vec::new()),
            },
        };
        let (src, dst, _) = self.rows(layout, keep_going)?;
        keys.complete(src, dst);
        Ok((keys, labels))
    }
}

/// Appends the values of a dictionary to the columns of these keys.
fn push_data(columns: &mut [Values], keys: &[String], data: &str) -> Result<(), String> {
    let found = attributes::parse(data)?;
    if let Some((key, _)) = found.iter().find(|(key, _)| !keys.contains(key)) {
        return Err(format!(
            "the key '{key}' is none of those that edges of the first MiB have ({}): give one of them this key, too",
            keys.join(", ")
        ));
    }
    for (column, key) in columns.iter_mut().zip(keys) {
        let value = found.iter().find(|(name, _)| name == key).map_or(&Attribute::Null, |(_, value)| value);
        match (column, value) {
            (Values::OptionalReals(values), Attribute::Null) => values.push(None),
            (Values::OptionalReals(values), Attribute::Number(value)) => values.push(Some(*value)),
            (Values::OptionalReals(_), Attribute::Text(value)) => {
                return Err(format!("{key}: '{value}' is no number, as those of the first MiB are"));
            }
            (Values::OptionalTexts(values), Attribute::Null) => values.push(None),
            (Values::OptionalTexts(values), Attribute::Number(value)) => values.push(Some(value.to_string())),
            (Values::OptionalTexts(values), Attribute::Text(value)) => values.push(Some(value.clone())),
            _ => {}
        }
    }
    Ok(())
}

/// The file of labels that belongs to an edge list, by its name.
fn labels_beside(file: &Path) -> Option<PathBuf> {
    let stem = stem(files::name(file))?;
    let names = [
        format!("{stem}.label.csv"),
        format!("{stem}.labels.csv"),
        format!("{stem}.labels"),
        format!("{stem}.labels.txt"),
        format!("labels-{stem}.txt"),
    ];
    names.iter().map(|name| file.with_file_name(name)).find(|file| files::is_file(file))
}

impl GraphFile for List {
    fn nodes_schema(&self) -> Result<SchemaRef> {
        let label = match self.label_kind()? {
            LabelKind::Integer => DataType::Int64,
            LabelKind::Real => DataType::Float64,
            LabelKind::Text => DataType::Utf8,
        };
        Ok(columns::nodes_schema(self.layout(true)?.key_type(), label, Features::none()))
    }

    fn edges_schema(&self) -> Result<SchemaRef> {
        let layout = self.layout(true)?;
        let others = layout.others[1..]
            .iter()
            .map(|(name, number)| Field::new(name, if *number { DataType::Float64 } else { DataType::Utf8 }, true));
        Ok(columns::extended(&columns::edges_schema(layout.key_type()), others))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let (keys, labels) = self.keys_and_labels(&self.layout(true)?, scan.keep_going)?;
        let rows = keys.len();
        let mut keys = Some(keys);
        scan.batches(rows, |name| {
            Ok(match name {
                "node" => keys.take().map_or(Values::Nulls, Keys::values),
                "label" => {
                    // Nodes beyond the file of labels have none.
                    let labels = labels.iter().map(Some).chain(std::iter::repeat(None)).take(rows);
                    let labels = labels.map(|label| label.map(String::as_str).filter(|label| !label.is_empty()));
                    match scan.schema.field(1).data_type() {
                        DataType::Int64 => {
                            Values::Labels(labels.map(|label| label.and_then(integer).and_then(class)).collect())
                        }
                        DataType::Float64 => Values::OptionalReals(
                            labels.map(|label| label.and_then(|label| label.parse().ok())).collect(),
                        ),
                        _ => Values::OptionalTexts(labels.map(|label| label.map(str::to_owned)).collect()),
                    }
                }
                _ => Values::Nulls,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let layout = self.layout(true)?;
        let (src, dst, others) = self.rows(&layout, scan.keep_going)?;
        let rows = src.len();
        let names = ["src", "dst"].into_iter().chain(layout.others[1..].iter().map(|(name, _)| name.as_str()));
        let values = [src.values(), dst.values()].into_iter().chain(others);
        let mut columns: HashMap<&str, Values> = names.zip(values).collect();
        scan.batches(rows, |name| Ok(columns.remove(name).unwrap_or(Values::Nulls)))
    }

    fn expected_bytes(&self, table: &str, _features: bool) -> usize {
        let unpacked = if files::name(&self.file).ends_with(".zip") { 5 } else { 1 };
        let per_byte = if self.text_keys == Some(true) { 12 } else { 6 };
        let labels = self.labels.as_ref().filter(|_| table == "nodes").map_or(0, |file| 16 * files::size(file));
        (unpacked * per_byte * files::size(&self.file)).saturating_add(labels)
    }

    fn directed(&self) -> bool {
        self.layout(false).is_ok_and(|layout| layout.market.is_some_and(|market| !market.symmetric))
    }

    fn files(&self) -> Vec<PathBuf> {
        [Some(self.file.clone()), self.labels.clone()].into_iter().flatten().collect()
    }
}
