//! Facts of Prolog: every predicate is a table with the columns `arg1`, `arg2`, ... `:- fact.` says that it does not hold, as
//! do the facts of a file `neg.pl`, SML-Bench's negative examples: a predicate with such facts has the column `holds`, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::not_this;
use crate::scan::{BATCH_ROWS, batch, project};
use crate::{Dataset, Error, Format, Options, Result, Stamp, files};

pub(super) static FORMAT: Format = Format {
    name: "prolog",
    description: "*.pl with facts such as bond(d1, a1, a2, 7). and :- active(d2).: a table for each predicate (SML-Bench)",
    options: &[],
    recognises: |path| !sources(path).is_empty(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let sources = sources(path);
    if sources.is_empty() {
        return Err(not_this(path, "a .pl file, or a folder of them, is expected"));
    }
    let location = std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned();
    let facts = Facts { location, options: options.clone(), sources };
    // The tables follow from the facts, so errors of the files appear here.
    facts.predicates(&|| true)?;
    Ok(Arc::new(facts))
}

fn sources(path: &Path) -> Vec<PathBuf> {
    let is_source = |file: &PathBuf| files::name(file).ends_with(".pl") && files::is_file(file);
    match path.is_dir() {
        true => files::names(path).iter().map(|name| path.join(name)).filter(is_source).collect(),
        false => Some(path.to_owned()).filter(is_source).into_iter().collect(),
    }
}

/// An argument of a fact.
#[derive(Debug, Clone, PartialEq)]
enum Term {
    Integer(i64),
    Number(f64),
    /// An atom, a string, or a compound term as it is written.
    Text(String),
    List(Vec<Term>),
}

impl Term {
    fn text(&self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text.clone(),
            Self::List(terms) => format!("[{}]", terms.iter().map(Self::text).collect::<Vec<_>>().join(",")),
        }
    }
}

/// The facts of a predicate.
#[derive(Debug, Default)]
struct Predicate {
    rows: Vec<Vec<Term>>,
    holds: Vec<bool>,
}

#[derive(Debug)]
struct Facts {
    location: String,
    options: Options,
    sources: Vec<PathBuf>,
}

impl Facts {
    /// The tables by name: that of the predicate, with the number of arguments where it comes with several.
    fn predicates(&self, keep_going: &dyn Fn() -> bool) -> Result<BTreeMap<String, Predicate>> {
        let mut found: BTreeMap<(String, usize), Predicate> = BTreeMap::new();
        for file in &self.sources {
            let bytes = files::read(file)?;
            // Older files are Latin-1.
            let text = String::from_utf8(bytes)
                .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
            let mut parser = Parser { text: text.as_bytes(), at: 0 };
            let negative = files::name(file) == "neg.pl";
            let mut facts = 0usize;
            loop {
                let fact = parser.fact().map_err(|what| {
                    let line =
                        text.as_bytes()[..parser.at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
                    Error::line(file, line, what)
                })?;
                let Some((holds, name, arguments)) = fact else { break };
                let predicate = found.entry((name, arguments.len())).or_default();
                predicate.rows.push(arguments);
                predicate.holds.push(holds && !negative);
                facts += 1;
                if facts.is_multiple_of(4096) && !keep_going() {
                    return Err(Error::Cancelled);
                }
            }
        }
        let names: Vec<String> = found.keys().map(|(name, _)| name.clone()).collect();
        let alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
        let table = |(name, arity): (String, usize)| if alone(&name) { name } else { format!("{name}_{arity}") };
        Ok(found.into_iter().map(|(key, predicate)| (table(key), predicate)).collect())
    }

    fn predicate(&self, table: &str, keep_going: &dyn Fn() -> bool) -> Result<Predicate> {
        let mut predicates = self.predicates(keep_going)?;
        predicates.remove(table).ok_or_else(|| Error::UnknownTable {
            location: self.location.clone(),
            table: table.to_owned(),
            known: predicates.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }
}

impl Predicate {
    fn schema(&self) -> SchemaRef {
        let arity = self.rows.first().map_or(0, Vec::len);
        let mut fields: Vec<Field> =
            (0..arity).map(|i| Field::new(format!("arg{}", i + 1), self.data_type(i), true)).collect();
        if self.holds.contains(&false) || arity == 0 {
            fields.push(Field::new("holds", DataType::Boolean, false));
        }
        Arc::new(Schema::new(fields))
    }

    fn data_type(&self, column: usize) -> DataType {
        let all = |is: fn(&Term) -> bool| self.rows.iter().all(|row| is(&row[column]));
        if all(|term| matches!(term, Term::Integer(_))) {
            DataType::Int64
        } else if all(|term| matches!(term, Term::Integer(_) | Term::Number(_))) {
            DataType::Float64
        } else if all(|term| matches!(term, Term::List(_))) {
            DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)))
        } else {
            DataType::Utf8
        }
    }

    fn column(&self, column: usize) -> ArrayRef {
        let Some(terms) =
            self.rows.first().filter(|row| column < row.len()).map(|_| self.rows.iter().map(|row| &row[column]))
        else {
            return Arc::new(BooleanArray::from(self.holds.clone()));
        };
        match self.data_type(column) {
            DataType::Int64 => {
                let integer = |term: &Term| if let Term::Integer(value) = term { Some(*value) } else { None };
                Arc::new(Int64Array::from_iter(terms.map(integer)))
            }
            DataType::Float64 => Arc::new(Float64Array::from_iter(terms.map(|term| match term {
                Term::Integer(value) => Some(*value as f64),
                Term::Number(value) => Some(*value),
                _ => None,
            }))),
            DataType::List(_) => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                for term in terms {
                    if let Term::List(items) = term {
                        items.iter().for_each(|item| lists.values().append_value(item.text()));
                    }
                    lists.append(true);
                }
                Arc::new(lists.finish())
            }
            _ => Arc::new(StringArray::from_iter_values(terms.map(Term::text))),
        }
    }
}

impl Dataset for Facts {
    fn format(&self) -> &'static str {
        "prolog"
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn directed(&self) -> bool {
        false
    }

    fn tables(&self) -> Vec<String> {
        // A file that has changed since it was opened says what is wrong with it when a table is read.
        self.predicates(&|| true).map_or_else(|_| Vec::new(), |predicates| predicates.into_keys().collect())
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(self.predicate(table, &|| true)?.schema())
    }

    fn read(&self, table: &str, columns: &[usize], keep_going: &dyn Fn() -> bool) -> Result<Vec<RecordBatch>> {
        let predicate = self.predicate(table, keep_going)?;
        let schema = predicate.schema();
        if let Some(column) = columns.iter().find(|column| **column >= schema.fields().len()) {
            let what = format!("column {column} of table {table} is asked for, which has {}", schema.fields().len());
            return Err(Error::file(Path::new(&self.location), what));
        }
        let projected = project(&schema, columns);
        let arrays: Vec<ArrayRef> = columns.iter().map(|&column| predicate.column(column)).collect();
        let rows = predicate.rows.len();
        let starts = (0..rows).step_by(BATCH_ROWS);
        starts
            .map(|start| {
                let length = BATCH_ROWS.min(rows - start);
                batch(&projected, arrays.iter().map(|array| array.slice(start, length)).collect(), length)
            })
            .collect()
    }

    fn expected_bytes(&self, _table: &str, _columns: &[usize]) -> usize {
        // A term of five letters takes 50 bytes.
        self.sources.iter().map(|file| 10 * files::size(file)).sum()
    }

    fn stamp(&self) -> Stamp {
        files::stamp(&self.sources)
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips blanks and comments.
    fn skip(&mut self) -> Result<(), String> {
        loop {
            match (self.peek(), self.text.get(self.at + 1)) {
                (Some(byte), _) if byte.is_ascii_whitespace() => self.at += 1,
                (Some(b'%'), _) => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                (Some(b'/'), Some(b'*')) => {
                    let end = self.text[self.at..].windows(2).position(|pair| pair == b"*/");
                    self.at += end.ok_or("a comment /* is not closed")? + 2;
                }
                _ => return Ok(()),
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        self.skip()?;
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(found) => Err(format!("'{}' is expected, there is '{}'", char::from(byte), char::from(found))),
            None => Err(format!("'{}' is expected, the file ends", char::from(byte))),
        }
    }

    /// The next fact: whether it holds, its predicate and its arguments.
    fn fact(&mut self) -> Result<Option<(bool, String, Vec<Term>)>, String> {
        self.skip()?;
        if self.peek().is_none() {
            return Ok(None);
        }
        let negative = self.text[self.at..].starts_with(b":-");
        self.at += if negative { 2 } else { 0 };
        self.skip()?;
        let name = self.word()?;
        self.skip()?;
        let mut arguments = Vec::new();
        if self.peek() == Some(b'(') {
            self.at += 1;
            arguments = self.terms(b')')?;
        }
        self.skip()?;
        if self.text[self.at..].starts_with(b":-") {
            return Err(format!("a rule for {name}; facts are read, rules are not"));
        }
        self.expect(b'.')?;
        Ok(Some((!negative, name, arguments)))
    }

    /// Terms between commas, up to the closing bracket.
    fn terms(&mut self, close: u8) -> Result<Vec<Term>, String> {
        let mut terms = Vec::new();
        self.skip()?;
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(terms);
        }
        loop {
            terms.push(self.term(0)?);
            self.skip()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => {
                    self.expect(close)?;
                    return Ok(terms);
                }
            }
        }
    }

    fn term(&mut self, depth: usize) -> Result<Term, String> {
        if depth > 64 {
            return Err("terms are nested more than 64 deep".to_owned());
        }
        self.skip()?;
        if self.peek() == Some(b'[') {
            self.at += 1;
            self.skip()?;
            let mut terms = Vec::new();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Term::List(terms));
            }
            loop {
                terms.push(self.term(depth + 1)?);
                self.skip()?;
                if self.peek() != Some(b',') {
                    break;
                }
                self.at += 1;
            }
            self.expect(b']')?;
            return Ok(Term::List(terms));
        }
        let quoted = self.peek().is_some_and(|byte| matches!(byte, b'\'' | b'"'));
        let word = self.word()?;
        if self.peek() == Some(b'(') {
            self.at += 1;
            let mut inner = Vec::new();
            loop {
                inner.push(self.term(depth + 1)?.text());
                self.skip()?;
                if self.peek() != Some(b',') {
                    break;
                }
                self.at += 1;
            }
            self.expect(b')')?;
            return Ok(Term::Text(format!("{word}({})", inner.join(","))));
        }
        if quoted {
            return Ok(Term::Text(word));
        }
        match (word.parse::<i64>(), word.parse::<f64>()) {
            (Ok(value), _) => Ok(Term::Integer(value)),
            (_, Ok(value)) if word.bytes().any(|byte| byte.is_ascii_digit()) => Ok(Term::Number(value)),
            _ => Ok(Term::Text(word)),
        }
    }

    /// An atom, a number, or a string in quotes.
    fn word(&mut self) -> Result<String, String> {
        let start = self.at;
        if let Some(quote @ (b'\'' | b'"')) = self.peek() {
            let mut bytes = Vec::new();
            self.at += 1;
            loop {
                match (self.peek(), self.text.get(self.at + 1)) {
                    (Some(byte), Some(next)) if byte == quote && *next == quote => {
                        bytes.push(quote);
                        self.at += 2;
                    }
                    (Some(byte), _) if byte == quote => {
                        self.at += 1;
                        return Ok(String::from_utf8_lossy(&bytes).into_owned());
                    }
                    (Some(byte), _) => {
                        bytes.push(byte);
                        self.at += 1;
                    }
                    (None, _) => return Err("a quote is not closed".to_owned()),
                }
            }
        }
        while let Some(byte) = self.peek() {
            // A point belongs to a number only before a digit.
            let point = byte == b'.'
                && self.text[start..self.at].iter().any(u8::is_ascii_digit)
                && self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit);
            let sign = matches!(byte, b'-' | b'+')
                && (self.at == start
                    || matches!(self.text[self.at - 1], b'e' | b'E') && self.text[start].is_ascii_digit());
            if !(byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128 || point || sign) {
                break;
            }
            self.at += 1;
        }
        match self.at {
            at if at > start => Ok(String::from_utf8_lossy(&self.text[start..at]).into_owned()),
            _ => match self.peek() {
                Some(byte) => Err(format!("a name or a number is expected, there is '{}'", char::from(byte))),
                None => Err("a name or a number is expected, the file ends".to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Result<Vec<(bool, String, Vec<Term>)>, String> {
        let mut parser = Parser { text: text.as_bytes(), at: 0 };
        let mut facts = Vec::new();
        while let Some(fact) = parser.fact()? {
            facts.push(fact);
        }
        Ok(facts)
    }

    #[test]
    fn facts_of_all_kinds_of_terms() {
        let text = |text: &str| Term::Text(text.to_owned());
        let found = facts(
            "% a comment\natm(d1,d1_1,c,22,-0.117).\n/* more */ ring([a1, 'b c',[x]], f(y,2)).:- active(d2).\nlone.\n\
             e(1e-5,'It''s',-7).",
        )
        .unwrap();
        let expected = [
            (true, "atm", vec![text("d1"), text("d1_1"), text("c"), Term::Integer(22), Term::Number(-0.117)]),
            (
                true,
                "ring",
                vec![Term::List(vec![text("a1"), text("b c"), Term::List(vec![text("x")])]), text("f(y,2)")],
            ),
            (false, "active", vec![text("d2")]),
            (true, "lone", vec![]),
            (true, "e", vec![Term::Number(1e-5), text("It's"), Term::Integer(-7)]),
        ];
        assert_eq!(found, expected.map(|(holds, name, terms)| (holds, name.to_owned(), terms)));
    }

    #[test]
    fn what_is_no_fact_is_an_error() {
        for (text, error) in [
            ("p(a", "')' is expected, the file ends"),
            ("p(a)\nq(b).", "'.' is expected, there is 'q'"),
            ("p(X) :- q(X).", "a rule for p"),
            ("p('a).", "a quote is not closed"),
            ("p(,).", "a name or a number is expected, there is ','"),
            ("/* open", "a comment /* is not closed"),
        ] {
            let found = facts(text).unwrap_err();
            assert!(found.contains(error), "{text}: {found}");
        }
        assert!(facts(&format!("p({}.", "[".repeat(100_000))).unwrap_err().contains("nested"));
        assert!(facts(&format!("p({}.", "f(".repeat(100_000))).unwrap_err().contains("nested"));
    }
}
