//! The columns of a JSON file, found from all of its rows, and the first row that has others.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::{DataType, Schema};
use arrow::error::ArrowError;
use arrow::json::reader::infer_json_schema_from_iterator;
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use serde_json::Value;

use super::rows::{JsonRows, Row};
use super::unique_keys::UniqueKeys;
use crate::files::file_fault::{fault, too_long};
use crate::files::limits::{MOST_COLUMNS, columns_text};
use crate::files::lines::open_text;

/// The columns of a file, of the kinds of values in all rows. Ends when they are no longer `awaited`.
pub(in crate::files) fn schema(
    path: &Path,
    compression: FileCompressionType,
    array: bool,
    awaited: &AtomicBool,
) -> Result<Schema> {
    let mut rows = JsonRows::new(open_text(path, compression)?, array);
    let wrong = RefCell::new(None);
    let values = std::iter::from_fn(|| {
        if !awaited.load(Ordering::Relaxed) {
            return None;
        }
        match parsed(rows.next()?) {
            Ok((_, value)) => Some(Ok(value)),
            Err(what) => {
                *wrong.borrow_mut() = Some(what);
                Some(Err(ArrowError::JsonError(String::new())))
            }
        }
    });
    let found = infer_json_schema_from_iterator(values);
    if let Some(what) = wrong.into_inner() {
        return Err(fault(path, what));
    }
    match found {
        Ok(schema) => match schema.fields().iter().map(|field| leaves(field.data_type())).sum::<usize>() {
            columns if columns > MOST_COLUMNS => Err(fault(path, too_many_keys(columns))),
            _ => Ok(schema),
        },
        Err(error) => Err(match find_fault(path, compression) {
            Some(what) => fault(path, what),
            None => DataFusionError::from(error),
        }),
    }
}

fn too_many_keys(columns: usize) -> String {
    format!(
        "has {columns} keys, more than the {} columns that a file may have; write a row for each of them, with the key as a \
         value",
        columns_text()
    )
}

/// The columns of a column: itself, and those within it.
fn leaves(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => 1 + fields.iter().map(|field| leaves(field.data_type())).sum::<usize>(),
        DataType::List(item) => leaves(item.data_type()),
        _ => 1,
    }
}

/// The row as an object with its line, or what is wrong with it.
fn parsed(row: Row<'_>) -> Result<(usize, Value), String> {
    let (line, text) = match row {
        Row::Text(line, text) => (line, text),
        Row::TooLong(line) => return Err(too_long(line)),
        Row::Failed(line, error) => return Err(format!("cannot be read in line {line}: {error}")),
    };
    match serde_json::from_slice::<UniqueKeys>(text).map(|UniqueKeys(value)| value) {
        Ok(value @ Value::Object(_)) => Ok((line, value)),
        Ok(value) => {
            Err(format!(", line {line}: {} stands where a row has to be an object, {{\"key\": value}}", word(&value)))
        }
        Err(_) if std::str::from_utf8(text).is_err() => {
            Err(format!(", line {line}: a text is not in UTF-8; save the file in UTF-8"))
        }
        Err(error) => {
            let text = error.to_string();
            let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
            let at = (line + error.line().saturating_sub(1), error.column());
            if error.is_data() {
                return Err(format!(", line {}: {what}", at.0));
            }
            let help = match error.is_eof() {
                true => "; a row has a line of its own, or all rows are one array",
                false => "",
            };
            Err(format!(", line {}, column {}: no JSON: {what}{help}", at.0, at.1))
        }
    }
}

/// What is wrong with the first row of a file that cannot be read with those before it.
pub(in crate::files) fn find_fault(path: &Path, compression: FileCompressionType) -> Option<String> {
    let array = starts_with_array(path, compression);
    let mut rows = JsonRows::new(open_text(path, compression).ok()?, array);
    let mut kinds = Kinds::default();
    while let Some(row) = rows.next() {
        match parsed(row) {
            Ok((line, value)) => {
                if let Some(conflict) = kinds.add("", &value, line) {
                    return Some(format!(", line {line}: {conflict}; give a key values of one kind"));
                }
            }
            Err(what) => return Some(what),
        }
    }
    None
}

/// The kinds of values by their keys: a word of the first one, and its line.
#[derive(Default)]
struct Kinds(HashMap<String, (u8, &'static str, usize)>);

impl Kinds {
    /// Adds a value and those within it; describes a conflict with the values before.
    fn add(&mut self, key: &str, value: &Value, line: usize) -> Option<String> {
        if value.is_null() {
            return None;
        }
        let kind = match value {
            Value::Array(_) => 1,
            Value::Object(_) => 2,
            Value::String(_) => 3,
            Value::Bool(_) => 4,
            _ => 0,
        };
        match self.0.get(key) {
            None => {
                self.0.insert(key.to_owned(), (kind, word(value), line));
            }
            Some((known, _, _)) if *known == kind => {}
            Some((_, known, first)) => {
                return Some(format!("\"{key}\" is {}, and {known} in line {first}", word(value)));
            }
        }
        match value {
            Value::Array(items) => items.iter().find_map(|item| self.add(&format!("{key}[]"), item, line)),
            Value::Object(fields) => fields.iter().find_map(|(name, field)| {
                let name = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                self.add(&name, field, line)
            }),
            _ => None,
        }
    }
}

fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Whether a JSON file is one array of objects rather than an object a line.
pub(crate) fn starts_with_array(path: &Path, compression: FileCompressionType) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    let read = open_text(path, compression).and_then(|text| Ok(text.take(256).read_to_end(&mut start)?));
    read.is_ok() && start.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_and_the_key_are_named_in_words_of_json() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.json");
        let found = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let (plain, awaited) = (FileCompressionType::UNCOMPRESSED, AtomicBool::new(true));
            schema(&path, plain, starts_with_array(&path, plain), &awaited)
                .map(|schema| schema.fields().len())
                .map_err(|error| error.to_string().split_once("rows.json'").unwrap().1.to_owned())
        };
        assert_eq!(found("\u{feff}{\"a\":1,\"b\":null}\n{\"a\":2.5}\n"), Ok(2));
        assert_eq!(found("[{\"a\":1},\n{\"c\":{\"d\":1}}]"), Ok(2));
        for (text, says) in [
            ("{\"a\":1}\n\n{\"a\":{\"b\":2}}\n", ", line 3: \"a\" is an object, and a number in line 1; give"),
            (
                "{\"a\":[{\"b\":1}]}\n{\"a\":[{\"b\":[2]}]}",
                ", line 2: \"a[].b\" is an array, and a number in line 1; give",
            ),
            (
                "[{\"a\":{\"b\":1}},\n\n {\"a\":{\"b\":{}}}]",
                ", line 3: \"a.b\" is an object, and a number in line 1; give",
            ),
            (
                "{\"a\":1}\n{\"a\":2}\n{\"a\":",
                ", line 3, column 5: no JSON: EOF while parsing a value; a row has a line",
            ),
            ("{\"a\":1}\n7\n", ", line 2: a number stands where a row has to be an object"),
            ("[{\"a\":1},\n{\"a\":\nNaN}]", ", line 3, column 1: no JSON: expected value"),
        ] {
            // Of values and lists beside each other the columns are found, and the rows are not read.
            if !text.contains("[{\"b\":[2]}]") {
                let error = found(text).unwrap_err();
                assert!(error.starts_with(says), "{error}");
            }
            std::fs::write(&path, text).unwrap();
            let what = find_fault(&path, FileCompressionType::UNCOMPRESSED).unwrap();
            assert!(what.starts_with(says), "{what}");
        }
        let wide: Vec<String> = (0..=MOST_COLUMNS).map(|i| format!("\"k{i}\":1")).collect();
        let error = found(&format!("{{{}}}", wide.join(","))).unwrap_err();
        assert!(error.starts_with(" has 16385 keys, more than the 16,384 columns"), "{error}");
    }
}
