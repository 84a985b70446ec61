//! The columns of a CSV file, found from its first rows, and what they leave open: whether the first line is one of names, and
//! whether the fields are divided by something else.

use std::collections::HashSet;
use std::io::{self, Read};

use arrow::datatypes::{DataType, Field, Fields, Schema};
use csv::{Reader, ReaderBuilder, StringRecord};
use regex::Regex;

use super::kinds::Kinds;
use super::syntax::Syntax;
use crate::files::limits::LOOKED_AT;

/// What else may divide fields where a file has one column.
const DIVIDERS: [u8; 4] = *b";\t|,";

/// The columns of a file of edges that hold the keys of nodes.
const ENDPOINTS: [&str; 2] = ["src", "dst"];

/// What a statement leaves open.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Open {
    /// Whether the first line has names.
    pub(crate) header: bool,
    pub(crate) delimiter: bool,
}

/// How a file is looked at.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) syntax: Syntax,
    pub(super) header: bool,
    pub(super) open: Open,
    /// What is NULL, where that is not nothing.
    pub(super) nulls: Option<&'a Regex>,
    /// The most rows.
    pub(super) rows: usize,
}

/// The columns of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    pub(super) kinds: Vec<Kinds>,
    /// The rows that were looked at.
    pub(super) rows: usize,
}

impl Columns {
    /// Their types, all of them strings if they are to be; that of NULL where nothing is known of one.
    pub(super) fn schema(&self, strings: bool) -> Schema {
        let keys_are_strings = self.endpoints_are_strings();
        let fields = self.names.iter().zip(&self.kinds).map(|(name, kinds)| {
            let strings = strings || (keys_are_strings && ENDPOINTS.contains(&name.as_str()));
            let data_type = if strings { DataType::Utf8 } else { kinds.data_type() };
            Field::new(name, data_type, true)
        });
        Schema::new(fields.collect::<Fields>())
    }

    /// Whether the endpoints of edges are strings: if one is, since both hold keys of the same nodes.
    fn endpoints_are_strings(&self) -> bool {
        let kinds =
            |end: &str| self.names.iter().zip(&self.kinds).find(|(name, _)| *name == end).map(|(_, kinds)| *kinds);
        let ends: Vec<Kinds> = ENDPOINTS.iter().filter_map(|end| kinds(end)).collect();
        ends.len() == 2 && ends.iter().any(|kinds| kinds.is_text())
    }
}

impl Look<'_> {
    /// Looks at the start of a file; what is wrong with it is the end of a sentence that begins with its path.
    pub(super) fn at(&self, mut text: impl Read) -> io::Result<Result<Columns, String>> {
        let mut start = Vec::new();
        text.by_ref().take(LOOKED_AT).read_to_end(&mut start)?;
        let mut records = reader(start.as_slice().chain(text), self.syntax, self.syntax.delimiter);
        let mut record = StringRecord::new();
        let mut columns = Columns::default();
        match next(&mut records, &mut record)? {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(columns)),
            Err(what) => return Ok(Err(what)),
        }
        let first = record.clone();
        let line = first.position().map_or(1, |position| position.line());
        columns.kinds = vec![Kinds::default(); first.len()];
        let words: HashSet<&str> = first.iter().filter(|word| !self.is_null(word)).collect();
        let mut returns = false;
        if !self.header {
            self.add(&mut columns, &first);
        }
        while columns.rows < self.rows {
            match next(&mut records, &mut record)? {
                // The row is refused where it is read.
                Ok(true) if record.len() > first.len() => break,
                Ok(true) => {}
                Ok(false) => break,
                Err(what) => return Ok(Err(what)),
            }
            returns |= self.open.header && record.iter().any(|field| words.contains(field));
            self.add(&mut columns, &record);
        }
        if self.open.delimiter
            && first.len() == 1
            && let Some(divider) = divider(&start, self.syntax)
        {
            return Ok(Err(undivided(line, divider, self.syntax.delimiter)));
        }
        if self.open.header && self.header && self.may_be_a_row(&first, &columns, returns) {
            return Ok(Err(undecided(line, &first, self.syntax.delimiter)));
        }
        columns.names = match self.header {
            true => first.iter().map(str::to_owned).collect(),
            false => (1..=first.len()).map(|number| format!("column_{number}")).collect(),
        };
        Ok(Ok(columns))
    }

    fn is_null(&self, field: &str) -> bool {
        self.nulls.map_or(field.is_empty(), |nulls| nulls.is_match(field))
    }

    fn add(&self, columns: &mut Columns, record: &StringRecord) {
        for (kinds, field) in columns.kinds.iter_mut().zip(record) {
            if !self.is_null(field) {
                kinds.add(field);
            }
        }
        columns.rows += 1;
    }

    /// Whether nothing tells the first line from the rows: its fields have the types of the columns, and one of them is no
    /// plain string, or comes again (`returns`). A line of strings that come nowhere else has names.
    fn may_be_a_row(&self, first: &StringRecord, columns: &Columns, returns: bool) -> bool {
        let kinds = || first.iter().map(|field| if self.is_null(field) { Kinds::default() } else { Kinds::of(field) });
        let fits =
            kinds().zip(&columns.kinds).all(|(own, kinds)| !own.is_text() || kinds.is_text() || kinds.is_empty());
        let has_value = kinds().any(|own| !own.is_empty() && !own.is_text());
        let all_null = kinds().all(Kinds::is_empty);
        fits && (has_value || all_null || (returns && first.len() > 1))
    }
}

fn reader<R: Read>(text: R, syntax: Syntax, delimiter: u8) -> Reader<R> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).quote(syntax.quote).escape(syntax.escape);
    builder.comment(syntax.comment);
    if let Some(terminator) = syntax.terminator {
        builder.terminator(csv::Terminator::Any(terminator));
    }
    builder.from_reader(text)
}

/// Reads a record; false at the end.
fn next<R: Read>(records: &mut Reader<R>, record: &mut StringRecord) -> io::Result<Result<bool, String>> {
    match records.read_record(record) {
        Ok(found) => Ok(Ok(found)),
        Err(error) => match error.kind() {
            csv::ErrorKind::Utf8 { pos, .. } => {
                let line = pos.as_ref().map_or(1, csv::Position::line);
                Ok(Err(format!(", line {line}: a text is not in UTF-8; save the file in UTF-8")))
            }
            _ => Err(error.into()),
        },
    }
}

/// The byte that divides each of the first rows into as many fields, two at the least. Blanks may stand within words, so they
/// divide numbers alone.
fn divider(start: &[u8], syntax: Syntax) -> Option<u8> {
    let whole = start.iter().rposition(|byte| syntax.ends_row(*byte)).filter(|_| start.len() as u64 == LOOKED_AT);
    let start = whole.map_or(start, |end| &start[..=end]);
    let divides = |divider: u8| {
        let mut width = None;
        let mut rows = 0;
        for record in reader(start, syntax, divider).byte_records() {
            let Ok(record) = record else { return false };
            let numbers = || {
                let field = |field| std::str::from_utf8(field).is_ok_and(|field| !Kinds::of(field).is_text());
                record.iter().all(field)
            };
            if record.len() < 2
                || *width.get_or_insert(record.len()) != record.len()
                || (divider == b' ' && rows > 0 && !numbers())
            {
                return false;
            }
            rows += 1;
        }
        rows > 1
    };
    let others = DIVIDERS.into_iter().chain([b' ']).filter(|divider| *divider != syntax.delimiter);
    others.into_iter().find(|divider| *divider != syntax.quote && divides(*divider))
}

/// A byte as an option takes it.
fn shown(byte: u8) -> String {
    if byte == b'\t' { "\\t".to_owned() } else { char::from(byte).to_string() }
}

fn undivided(line: u64, divider: u8, delimiter: u8) -> String {
    let (divider, delimiter) = (shown(divider), shown(delimiter));
    format!(
        ", line {line}: one column, where '{divider}' would divide each row alike; read_csv(..., delim => '{divider}') divides \
         them, delim => '{delimiter}' reads them as they are"
    )
}

fn undecided(line: u64, first: &StringRecord, delimiter: u8) -> String {
    let fields: Vec<&str> = first.iter().collect();
    let mut text = fields.join(&char::from(delimiter).to_string());
    if let Some((end, _)) = text.char_indices().nth(60) {
        text.truncate(end);
        text.push_str("...");
    }
    format!(
        ", line {line}: '{text}' may be names of columns or a row; read_csv(..., header => false) reads it as a row, header => \
         true as names (in COPY ... FROM: HEADER false, HEADER true)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax { delimiter: b',', quote: b'"', escape: None, comment: None, terminator: None };
    const OPEN: Open = Open { header: true, delimiter: true };

    fn found(text: &str) -> Result<Vec<(String, DataType)>, String> {
        let look = Look { syntax: SYNTAX, header: true, open: OPEN, nulls: None, rows: 100 };
        let schema = look.at(text.as_bytes()).unwrap()?.schema(false);
        Ok(schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect())
    }

    #[test]
    fn names_and_types_are_those_of_the_first_rows() {
        let expected = |columns: &[(&str, DataType)]| {
            Ok(columns.iter().map(|(name, data_type)| ((*name).to_owned(), data_type.clone())).collect())
        };
        let text = "id,k,x,e\n1,007,2,\n2,\"7\",2.5,\n3,\"a\nb\",\"3\",\n";
        let types = [("id", DataType::Int64), ("k", DataType::Utf8), ("x", DataType::Float64), ("e", DataType::Null)];
        assert_eq!(found(text), expected(&types));
        // Line ends within quotes, anywhere.
        let rows: String = (0..50).map(|i| format!("{i},\"{}\n\"\n", "x\n".repeat(i))).collect();
        assert_eq!(found(&format!("id,t\n{rows}")), expected(&[("id", DataType::Int64), ("t", DataType::Utf8)]));
        assert_eq!(found(""), Ok(vec![]));
        assert_eq!(found("a,b\n"), expected(&[("a", DataType::Null), ("b", DataType::Null)]));
        assert_eq!(found(",name\n0,Ava\n"), expected(&[("", DataType::Int64), ("name", DataType::Utf8)]));
    }

    #[test]
    fn a_first_line_that_may_be_a_row_is_asked_for() {
        for text in [
            "1,2\n2,3\n",
            "1,2",
            "country,2019\nAustria,1.5\n",
            "Ava,Bo\nBo,Cy\n",
            ",\n1,2\n",
            "2024-01-01\n2024-01-02",
        ] {
            let what = found(text).unwrap_err();
            assert!(what.starts_with(", line 1: ") && what.contains("header => false"), "{text}: {what}");
        }
        for text in
            ["src,dst\n1,2\n", "name,city\nAva,Graz\n", "country,2019,n\nAustria,1.5,2\n", "a\na\n", "2019,n\nx,1\n"]
        {
            assert!(found(text).is_ok(), "{text}");
        }
        let given = Look { syntax: SYNTAX, header: true, open: Open::default(), nulls: None, rows: 100 };
        assert_eq!(given.at("1,2\n2,3\n".as_bytes()).unwrap().unwrap().names, ["1", "2"]);
        let without = Look { header: false, ..given };
        let columns = without.at("1,2\n2,3\n".as_bytes()).unwrap().unwrap();
        assert_eq!((columns.names.as_slice(), columns.rows), (&["column_1".to_owned(), "column_2".to_owned()][..], 2));
    }

    #[test]
    fn another_divider_is_named() {
        for (text, divider) in [
            ("a;b\n1;2\n", ";"),
            ("a;b\n1,5;2\n", ";"),
            ("a\tb\tc\nx\ty\tz\nx\ty\tz\n", "\\t"),
            ("k|n\na|1\nb,c|5\n", "|"),
            ("src dst\n1 2\n2 3\n", " "),
        ] {
            let what = found(text).unwrap_err();
            assert!(what.contains(&format!("delim => '{divider}'")), "{text}: {what}");
        }
        for text in ["c0\nv0\na;b\n", "title\nA day; a night\nOne more\n", "full name\nAva Smith\n", "a;b\n"] {
            assert!(found(text).is_ok(), "{text}");
        }
    }
}
