//! The layout of an edge list, or of its labels: separator, header, types, Matrix Market's banner.

use std::borrow::Cow;
use std::path::Path;

use arrow::datatypes::DataType;

use super::attributes::{self, Attribute};
use super::header::{Header, header};
use super::keys::integer;
use crate::files::Lines;
use crate::{Error, Result};

/// The layout of the lines of a file.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    /// The first line that is not a comment names the columns.
    pub(super) header: Option<Vec<String>>,
    /// Keys are text.
    pub(super) text_keys: bool,
    /// The columns after the keys: their names, and whether they are numbers.
    pub(super) others: Vec<(String, bool)>,
    /// The keys of the dictionaries that stand behind the edges, for `others` but the first; `None` where there are none.
    pub(super) data: Option<Vec<String>>,
    pub(super) market: Option<Market>,
}

impl Layout {
    /// The type of the keys' columns.
    pub(super) fn key_type(&self) -> DataType {
        if self.text_keys { DataType::Utf8 } else { DataType::Int64 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Separator {
    Blanks,
    One(char),
}

/// The first words of a Matrix Market file.
const BANNER: &str = "%%MatrixMarket";

/// The banner of a Matrix Market file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Market {
    pub(super) nodes: i64,
    pub(super) entries: usize,
    pub(super) symmetric: bool,
    /// The line with the size, counted from 1; it is no entry.
    pub(super) size_line: usize,
}

/// One line cut into fields.
pub(super) fn cut<'a>(line: &'a str, separator: Separator, fields: &mut Vec<Cow<'a, str>>) {
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

/// A line of a file with dictionaries: what stands before it, and that.
pub(super) fn with_data(line: &str) -> (&str, &str) {
    attributes::split(line).unwrap_or((line, "{}"))
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

pub(super) fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with('#') || line.starts_with('%')
}

/// Finds separator, header and types from the first lines of a file whose lines have at least `least` fields.
pub(super) fn layout(file: &Path, sample: &[u8], header_option: Option<bool>, least: usize) -> Result<Layout> {
    let always = || true;
    let mut lines = Lines::new(file, sample, &always);
    let mut banner: Option<String> = None;
    let mut sizes_in_comment: Option<[i64; 3]> = None;
    let mut first: Vec<(usize, &str)> = Vec::new();
    while let Some((number, line)) = lines.next_line()? {
        let line = line.trim();
        if number == 1 && line.get(..BANNER.len()).is_some_and(|start| start.eq_ignore_ascii_case(BANNER)) {
            banner = Some(line.to_lowercase());
        } else if banner.is_some() && line.starts_with('%') {
            sizes_in_comment = sizes_in_comment.or_else(|| three(line.trim_start_matches('%')));
        } else if banner.is_none()
            && first.is_empty()
            && file.extension().is_some_and(|it| it == "mtx")
            && three(line).is_some()
        {
            // The sizes of a matrix, or an edge with a weight: nothing says.
            let what = format!(
                "'{}' is no banner: a file of a matrix begins with '{BANNER} matrix coordinate pattern general', or real, and a \
                 list of edges ends in .edges",
                line.chars().take(60).collect::<String>()
            );
            return Err(Error::line(file, number, what));
        } else if !is_comment(line) {
            first.push((number, line));
        }
    }
    let market = match &banner {
        Some(banner) => Some(market(file, banner, sizes_in_comment, &first)?),
        None => None,
    };
    if market.is_some_and(|market| first.first().is_some_and(|(number, _)| *number == market.size_line)) {
        first.remove(0);
    }

    let has_data = |line: &str| attributes::split(line).is_some_and(|(_, data)| data != "{}");
    let data = least == 2 && market.is_none() && first.iter().any(|(_, line)| has_data(line));
    let mut dictionaries = Vec::new();
    if data {
        for (number, line) in &mut first {
            let (edge, data) = with_data(line);
            let data = attributes::parse(data).map_err(|what| Error::line(file, *number, what))?;
            dictionaries.push(data);
            *line = edge;
        }
    }

    let one = first.first().map_or("", |(_, line)| line);
    let separator = [',', '\t', ';'].into_iter().find(|c| one.contains(*c)).map_or(Separator::Blanks, Separator::One);
    let fields = |line| {
        let mut fields = Vec::new();
        cut(line, separator, &mut fields);
        fields
    };
    let top = fields(one);
    let has_header = match header_option {
        Some(given) => given,
        None if data || market.is_some() => false,
        None => match header(&top, first.iter().skip(1).map(|(_, line)| fields(line)), least) {
            Header::Names => true,
            Header::Row => false,
            // Labels have no option, and none of them is to be lost.
            Header::Open if least == 1 => false,
            Header::Open => {
                let number = first.first().map_or(1, |(number, _)| *number);
                let what = format!(
                    "'{one}' may be names of columns or an edge: attach with the option header 'true' or 'false', \
                     ATTACH '{}' AS g (TYPE edge_list, HEADER false)",
                    file.display()
                );
                return Err(Error::line(file, number, what));
            }
        },
    };
    let names = has_header.then(|| top.iter().map(|name| name.clone().into_owned()).collect::<Vec<_>>());
    let body = &first[usize::from(has_header).min(first.len())..];
    let Some((number, line)) = body.first() else {
        // No line at all: an empty graph.
        let others = vec![(String::new(), true); least - 1];
        return Ok(Layout { separator, header: names, text_keys: false, others, data: None, market });
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
    let columns = columns_of(&dictionaries);
    if data {
        if width != 2 {
            return Err(Error::line(file, *number, "two nodes are expected before the data of an edge"));
        }
        numbers.extend(columns.iter().map(|(_, is_number)| *is_number));
    }
    let mut others: Vec<(String, bool)> = Vec::new();
    for position in 1..numbers.len() {
        let name = match (named, position.checked_sub(2).and_then(|at| columns.get(at))) {
            (_, Some((key, _))) => key.to_lowercase(),
            (Some(names), None) => names[position].to_lowercase(),
            (None, None) => "weight".to_owned(),
        };
        // The names of the keys are taken, and no name may come twice.
        let clash =
            position >= 2 && (["src", "dst"].contains(&name.as_str()) || others[1..].iter().any(|(n, _)| *n == name));
        others.push((if clash { format!("{name}_{position}") } else { name }, numbers[position]));
    }
    let data = data.then(|| columns.into_iter().map(|(key, _)| key).collect());
    Ok(Layout { separator, header: names, text_keys, others, data, market })
}

/// The keys of dictionaries, as they come, and whether the values of each are numbers.
fn columns_of(dictionaries: &[Vec<(String, Attribute)>]) -> Vec<(String, bool)> {
    let mut columns: Vec<(String, bool)> = Vec::new();
    for (key, value) in dictionaries.iter().flatten() {
        let is_number = !matches!(value, Attribute::Text(_));
        match columns.iter_mut().find(|(known, _)| known == key) {
            Some((_, numbers)) => *numbers &= is_number,
            None => columns.push((key.clone(), is_number)),
        }
    }
    columns
}

fn three(text: &str) -> Option<[i64; 3]> {
    let numbers: Vec<i64> = text.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// The size of a Matrix Market file: the first line that is no comment, or (Network Repository) a comment of three
/// numbers.
fn market(file: &Path, banner: &str, comment: Option<[i64; 3]>, lines: &[(usize, &str)]) -> Result<Market> {
    let first = lines.first().copied();
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
        // Three numbers in a comment may mean anything: the line is the size if as many entries follow it, or none in the comment
        // can be.
        (Some([rows, columns, _]), Some((number, sizes @ [_, _, entries])))
            if entries == lines.len() as i64 - 1 || rows != columns =>
        {
            (number, sizes)
        }
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
