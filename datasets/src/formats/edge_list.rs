//! Edge lists in text: `u v`, `u,v` or with tabs, comments, an optional header and further columns, Matrix Market; and
//! a file of labels beside them.
//!
//! Covers hyperbolics (`NAME.edges`), QGCN (`NAME.edges.csv`, `NAME.label.csv`), struc2vec
//! (`NAME-airports.edgelist`, `labels-NAME-airports.txt`) and Network Repository (`NAME.mtx`, also in a `.zip`).

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use zip::ZipArchive;

use super::{DIRECTED, Published, Reader, choice, class, not_this};
use crate::columns::{self, Features, Values};
use crate::files::{self, Lines};
use crate::{Dataset, Error, Format, Options, Result};

/// The endings of files that are edge lists without being told so. Other files take `TYPE edge_list`.
const ENDINGS: [&str; 6] = [".edges", ".edgelist", ".mtx", ".edges.csv", ".edges.tsv", ".edges.txt"];

/// Names that only a header has.
const HEADER_WORDS: [&str; 16] = [
    "src", "dst", "source", "target", "from", "to", "u", "v", "id1", "id2", "id_1", "id_2", "node", "node1", "node_id",
    "label",
];

pub(crate) struct EdgeList;

impl Format for EdgeList {
    fn name(&self) -> &'static str {
        "edge_list"
    }

    fn description(&self) -> &'static str {
        "one edge a line: .edges, .edgelist, .edges.csv, .mtx, or any text file with TYPE edge_list; labels beside it"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[
            DIRECTED,
            ("header", "true | false: whether the first line names the columns; default: as it looks"),
            ("keys", "integer | text: the type of the nodes' keys; default: as the first MiB looks"),
            (
                "labels",
                "the file of labels (id label, or row i = label of node i); default: NAME.label.csv and the like",
            ),
        ]
    }

    fn recognises(&self, path: &Path) -> bool {
        find(path).is_some_and(|file| {
            // The start must read as edges, so that a binary file with such an ending is not claimed.
            List::new(&file, &Options::new()).is_ok_and(|list| list.layout(false).is_ok())
        })
    }

    fn open(&self, path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
        let file = match find(path) {
            Some(file) => file,
            None if path.is_file() => path.to_owned(),
            None => return Err(not_this(path, &format!("one file {} is expected", ENDINGS.join(", ")))),
        };
        let list = List::new(&file, options)?;
        Ok(Published::dataset(self.name(), path, options, list))
    }
}

/// The file itself if its name says that it is an edge list, or the one such file of a folder.
fn find(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        let names = files::names(path);
        let mut lists = names.iter().map(|name| path.join(name)).filter(|file| is_ours(file));
        let file = lists.next()?;
        return lists.next().is_none().then_some(file);
    }
    is_ours(path).then(|| path.to_owned())
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

/// A name without its ending of an edge list.
fn stem(name: &str) -> Option<&str> {
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))
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

/// How the lines of a text are to be read.
#[derive(Debug, Clone)]
struct Layout {
    separator: Separator,
    /// The first line that is not a comment names the columns.
    header: Option<Vec<String>>,
    /// Keys are text.
    text_keys: bool,
    /// The columns after the keys: their names, and whether they are numbers.
    others: Vec<(String, bool)>,
    market: Option<Market>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Separator {
    Blanks,
    One(char),
}

/// What a Matrix Market file says of itself.
#[derive(Debug, Clone, Copy)]
struct Market {
    nodes: i64,
    entries: usize,
    symmetric: bool,
    /// The line with the size, counted from 1; it is no entry.
    size_line: usize,
}

/// One line cut into fields.
fn cut<'a>(line: &'a str, separator: Separator, fields: &mut Vec<Cow<'a, str>>) {
    fields.clear();
    match separator {
        Separator::Blanks => fields.extend(line.split_whitespace().map(Cow::Borrowed)),
        Separator::One(separator) => {
            let mut rest = line;
            loop {
                let trimmed = rest.trim_start_matches(' ');
                // A quoted field may hold the separator; two quotes in it are one.
                if let Some(quoted) = trimmed.strip_prefix('"')
                    && let Some(end) = closing_quote(quoted)
                {
                    fields.push(match &quoted[..end] {
                        text if text.contains("\"\"") => Cow::Owned(text.replace("\"\"", "\"")),
                        text => Cow::Borrowed(text),
                    });
                    match quoted[end + 1..].split_once(separator) {
                        Some((_, more)) => rest = more,
                        None => break,
                    }
                    continue;
                }
                match rest.split_once(separator) {
                    Some((field, more)) => {
                        fields.push(Cow::Borrowed(field.trim()));
                        rest = more;
                    }
                    None => {
                        fields.push(Cow::Borrowed(rest.trim()));
                        break;
                    }
                }
            }
        }
    }
    // networkx writes an empty dictionary behind an edge without attributes.
    if fields.len() == 3 && fields[2] == "{}" {
        fields.pop();
    }
}

fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' if bytes.get(at + 1) == Some(&b'"') => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// An integer in its usual spelling: `7`, but neither `07` nor `+7`, which are other keys as text.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let usual = !digits.starts_with('+') && (digits == "0" || !digits.starts_with('0'));
    if usual { text.parse().ok() } else { None }
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with('#') || line.starts_with('%')
}

/// The key columns of the lines: their values as integers or as text.
enum Keys {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Keys {
    fn new(text: bool) -> Self {
        if text { Self::Texts(Vec::new()) } else { Self::Integers(Vec::new()) }
    }

    fn push(&mut self, field: &str) -> Result<(), String> {
        match self {
            Self::Texts(keys) => keys.push(field.to_owned()),
            Self::Integers(keys) => keys.push(integer(field).ok_or_else(|| {
                format!(
                    "the key '{field}' is no integer, as the keys before it are; attach with the option keys 'text'"
                )
            })?),
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match self {
            Self::Integers(keys) => keys.len(),
            Self::Texts(keys) => keys.len(),
        }
    }

    fn values(self) -> Values {
        match self {
            Self::Integers(keys) => Values::Integers(keys),
            Self::Texts(keys) => Values::Texts(keys),
        }
    }

    /// Appends the distinct keys of the edges that are not among these, in ascending order.
    fn complete(&mut self, src: Self, dst: Self) {
        match (self, src, dst) {
            (Self::Integers(keys), Self::Integers(src), Self::Integers(dst)) => {
                let known: HashSet<i64> = keys.iter().copied().collect();
                let mut new: Vec<i64> = src.into_iter().chain(dst).filter(|key| !known.contains(key)).collect();
                new.sort_unstable();
                new.dedup();
                keys.extend(new);
            }
            (Self::Texts(keys), Self::Texts(src), Self::Texts(dst)) => {
                let known: HashSet<&String> = keys.iter().collect();
                let new: BTreeSet<String> = src.into_iter().chain(dst).filter(|key| !known.contains(key)).collect();
                drop(known);
                keys.extend(new);
            }
            _ => {}
        }
    }
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

    /// Every line's fields.
    fn rows(
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
        let expected = 1 + layout.others.len();
        while let Some((number, line)) = lines.next_line()? {
            if is_comment(line.trim()) || layout.market.is_some_and(|market| market.size_line == number) {
                continue;
            }
            if std::mem::take(&mut before_first) {
                continue;
            }
            cut(line, layout.separator, &mut fields);
            if fields.len() != expected {
                let what =
                    format!("{} fields, where the lines before have {expected}: '{}'", fields.len(), line.trim());
                return Err(Error::line(file, number, what));
            }
            row(&fields).map_err(|what| Error::line(file, number, what))?;
            count += 1;
        }
        Ok(count)
    }

    fn edges(&self, layout: &Layout, keep_going: &dyn Fn() -> bool) -> Result<(Keys, Keys, Vec<Values>)> {
        let bytes = self.text(true)?;
        let (mut src, mut dst) = (Keys::new(layout.text_keys), Keys::new(layout.text_keys));
        let mut others: Vec<Values> = layout.others[1..]
            .iter()
            .map(|(_, number)| if *number { Values::Reals(Vec::new()) } else { Values::Texts(Vec::new()) })
            .collect();
        let rows = self.rows(&self.file, &bytes, layout, keep_going, |fields| {
            src.push(&fields[0])?;
            dst.push(&fields[1])?;
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
            self.rows(file, &bytes, &layout, keep_going, |fields| {
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
        self.rows(file, &bytes, &layout, keep_going, |fields| {
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

    fn nodes(&self, layout: &Layout, keep_going: &dyn Fn() -> bool) -> Result<(Keys, Vec<String>)> {
        let labels = self.label_file(layout.text_keys, keep_going)?;
        let (mut keys, labels) = match labels {
            Some(LabelFile { keys: Some(keys), labels }) => (keys, labels),
            Some(LabelFile { keys: None, labels }) => (Keys::Integers((0..labels.len() as i64).collect()), labels),
            None => match layout.market {
                Some(market) if !layout.text_keys => (Keys::Integers((1..=market.nodes).collect()), Vec::new()),
                _ => (Keys::new(layout.text_keys), Vec::new()),
            },
        };
        let (src, dst, _) = self.edges(layout, keep_going)?;
        keys.complete(src, dst);
        Ok((keys, labels))
    }
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

/// Finds separator, header and types from the first lines of a text whose lines have at least `least` fields.
fn layout(file: &Path, sample: &[u8], header: Option<bool>, least: usize) -> Result<Layout> {
    let always = || true;
    let mut lines = Lines::new(file, sample, &always);
    let mut banner: Option<String> = None;
    let mut sizes_in_comment: Option<[i64; 3]> = None;
    let mut first: Vec<(usize, &str)> = Vec::new();
    while let Some((number, line)) = lines.next_line()? {
        let line = line.trim();
        if number == 1 && line.starts_with("%%MatrixMarket") {
            banner = Some(line.to_lowercase());
        } else if banner.is_some() && line.starts_with('%') {
            sizes_in_comment = sizes_in_comment.or_else(|| three(line.trim_start_matches('%')));
        } else if !is_comment(line) {
            first.push((number, line));
        }
    }
    let market = match &banner {
        Some(banner) => Some(market(file, banner, sizes_in_comment, first.first().copied())?),
        None => None,
    };
    if market.is_some_and(|market| first.first().is_some_and(|(number, _)| *number == market.size_line)) {
        first.remove(0);
    }

    let one = first.first().map_or("", |(_, line)| line);
    let separator = [',', '\t', ';'].into_iter().find(|c| one.contains(*c)).map_or(Separator::Blanks, Separator::One);
    let fields = |line| {
        let mut fields = Vec::new();
        cut(line, separator, &mut fields);
        fields
    };
    let top = fields(one);
    let keys = least.min(top.len());
    let numeric = |fields: &[Cow<'_, str>]| fields.iter().take(keys).all(|field| integer(field).is_some());
    let is_word = |field: &Cow<'_, str>| HEADER_WORDS.contains(&field.to_lowercase().as_str());
    let has_header = header.unwrap_or_else(|| {
        !numeric(&top)
            && (top.iter().all(is_word) && !top.is_empty()
                || top.len() >= 2 && top[..2].iter().all(is_word)
                || first.get(1).is_some_and(|(_, second)| numeric(&fields(second))))
    });
    let names = has_header.then(|| top.iter().map(|name| name.clone().into_owned()).collect::<Vec<_>>());
    let body = &first[usize::from(has_header).min(first.len())..];
    let Some((number, line)) = body.first() else {
        // No line at all: an empty graph.
        let others = vec![(String::new(), true); least - 1];
        return Ok(Layout { separator, header: names, text_keys: false, others, market });
    };
    let width = fields(line).len();
    if width < least {
        return Err(Error::line(
            file,
            *number,
            format!("'{line}' are not two nodes; one edge a line, u v, is expected"),
        ));
    }
    let named = names.as_ref().filter(|names| names.len() == width);
    if width > 3 && named.is_none() {
        let what =
            format!("{width} columns without a header; u v, u v weight, or a header that names them is expected");
        return Err(Error::line(file, *number, what));
    }

    let mut text_keys = false;
    let mut numbers = vec![true; width];
    for (_, line) in body {
        let fields = fields(line);
        text_keys |= !fields.iter().take(least).all(|field| integer(field).is_some());
        for (is_number, field) in numbers.iter_mut().zip(&fields) {
            *is_number &= field.parse::<f64>().is_ok();
        }
    }
    let mut others: Vec<(String, bool)> = Vec::new();
    for position in 1..width {
        let name = match named {
            Some(names) => names[position].to_lowercase(),
            None => "weight".to_owned(),
        };
        // The names of the keys are taken, and no name may come twice.
        let clash =
            position >= 2 && (["src", "dst"].contains(&name.as_str()) || others[1..].iter().any(|(n, _)| *n == name));
        others.push((if clash { format!("{name}_{position}") } else { name }, numbers[position]));
    }
    Ok(Layout { separator, header: names, text_keys, others, market })
}

fn three(text: &str) -> Option<[i64; 3]> {
    let numbers: Vec<i64> = text.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// The size of a Matrix Market file: the first line that is no comment, or (Network Repository) a comment of three
/// numbers.
fn market(file: &Path, banner: &str, comment: Option<[i64; 3]>, first: Option<(usize, &str)>) -> Result<Market> {
    let words: Vec<&str> = banner.split_whitespace().collect();
    let &[_, "matrix", "coordinate", field, symmetry] = &words[..] else {
        let what = format!("'{banner}' is no sparse matrix; 'matrix coordinate pattern general' and the like are read");
        return Err(Error::line(file, 1, what));
    };
    if field == "complex" {
        return Err(Error::line(file, 1, "complex entries are no edges"));
    }
    let in_line = first.and_then(|(number, line)| Some((number, three(line)?)));
    let (size_line, sizes) = match (comment, in_line) {
        (Some(sizes), Some((number, again))) if sizes == again => (number, sizes),
        (Some(sizes), _) => (0, sizes),
        (None, Some((number, sizes))) => (number, sizes),
        (None, None) => {
            let number = first.map_or(1, |(number, _)| number);
            return Err(Error::line(file, number, "the size of the matrix, 'rows columns entries', is expected"));
        }
    };
    let [rows, columns, entries] = sizes;
    if rows != columns || rows < 0 || rows > i64::from(u32::MAX) || entries < 0 {
        let what = format!("a matrix of {rows} by {columns} with {entries} entries is no graph's adjacency matrix");
        return Err(Error::line(file, size_line.max(1), what));
    }
    Ok(Market { nodes: rows, entries: entries as usize, symmetric: symmetry != "general", size_line })
}

impl Reader for List {
    fn tables(&self) -> Vec<&'static str> {
        vec!["nodes", "edges"]
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        let layout = self.layout(true)?;
        let key = if layout.text_keys { DataType::Utf8 } else { DataType::Int64 };
        if table == "edges" {
            let others = layout.others[1..].iter().map(|(name, number)| {
                Arc::new(Field::new(name, if *number { DataType::Float64 } else { DataType::Utf8 }, true))
            });
            let edges = columns::edges_schema(key);
            return Ok(Arc::new(Schema::new(edges.fields().iter().cloned().chain(others).collect::<Vec<_>>())));
        }
        let label = match self.label_kind()? {
            LabelKind::Integer => DataType::Int64,
            LabelKind::Real => DataType::Float64,
            LabelKind::Text => DataType::Utf8,
        };
        Ok(columns::nodes_schema(key, label, Features::none()))
    }

    fn read(
        &self,
        table: &str,
        schema: &SchemaRef,
        columns: &[usize],
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<RecordBatch>> {
        let layout = self.layout(true)?;
        if table == "edges" {
            let (src, dst, others) = self.edges(&layout, keep_going)?;
            let rows = src.len();
            let (mut src, mut dst) = (Some(src), Some(dst));
            let mut others: Vec<Option<Values>> = others.into_iter().map(Some).collect();
            let column = |name: &str| {
                let other = layout.others[1..].iter().position(|(other, _)| other == name);
                let values = match (name, other) {
                    ("src", _) => src.take().map(Keys::values),
                    ("dst", _) => dst.take().map(Keys::values),
                    (_, Some(other)) => others[other].take(),
                    (_, None) => None,
                };
                Ok(values.unwrap_or(Values::Nulls))
            };
            return columns::batches(schema, columns, rows, column, keep_going);
        }
        let (keys, labels) = self.nodes(&layout, keep_going)?;
        let rows = keys.len();
        let mut keys = Some(keys);
        let column = |name: &str| {
            Ok(match name {
                "node" => keys.take().map_or(Values::Nulls, Keys::values),
                "label" => {
                    // Nodes beyond the file of labels have none.
                    let labels = labels.iter().map(Some).chain(std::iter::repeat(None)).take(rows);
                    let labels = labels.map(|label| label.map(String::as_str).filter(|label| !label.is_empty()));
                    match schema.field(1).data_type() {
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
        };
        columns::batches(schema, columns, rows, column, keep_going)
    }

    fn expected_bytes(&self, table: &str, _columns: &[usize]) -> usize {
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
