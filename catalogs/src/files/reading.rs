//! What is wrong with a file that cannot be read, found from the words of the package that reads it.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use bonnet_common::{ErrorKind, Raised};
use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;

use super::file_fault::{Kind, damage, fault, is_named, too_long};
use super::json::schema as json_schema;
use super::limits::{PADDED, TOO_LONG};
use super::lines::lines_before;
use crate::remote::recorded_failure;

/// The error of a file whose bytes are not what its format has.
fn damaged(path: &Path, kind: Kind, reason: &str) -> DataFusionError {
    fault(path, damage(&format!("it cannot be read as {} ({reason})", kind.name())))
}

/// A file, and how it is read.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) compression: FileCompressionType,
    /// Where the part of the file begins that is read.
    pub(super) start: u64,
}

impl Reading {
    /// The error of a panic of the package that reads the file.
    pub(super) fn of_panic(&self, panic: &str) -> DataFusionError {
        self.of_reason(panic)
    }

    /// The error with the file's name, if it comes of the file rather than of what is computed of its rows.
    pub(super) fn of_error(&self, error: DataFusionError, schema: Option<&Schema>) -> DataFusionError {
        // What a server answered is said in its own words, whatever the reader made of it.
        if let Some(what) =
            recorded_failure(&self.path).filter(|_| !matches!(error, DataFusionError::ResourcesExhausted(_)))
        {
            return fault(&self.path, what);
        }
        match reason(&error) {
            Some(reason) => self.of_text(&reason, schema),
            // Arrow's words about a batch that cannot be are those about an argument of a kernel.
            None if self.kind == Kind::Arrow && is_of_argument(&error) => match read_arrow(&self.path) {
                Err(error) => self.of_reason(&plain(&error.to_string())),
                Ok(()) => error,
            },
            None => error,
        }
    }

    /// The error with the file's name, wherever it comes from.
    pub(super) fn of_any(&self, error: DataFusionError) -> DataFusionError {
        if is_named(&error) {
            return error;
        }
        match reason(&error) {
            Some(reason) => self.of_text(&reason, None),
            None => match error {
                DataFusionError::ResourcesExhausted(_) => error,
                error => fault(&self.path, format!("cannot be read: {}", plain(&error.strip_backtrace()))),
            },
        }
    }

    fn of_text(&self, reason: &str, schema: Option<&Schema>) -> DataFusionError {
        if let Some(what) = recorded_failure(&self.path) {
            return fault(&self.path, what);
        }
        if let Some(what) = self.packed(reason) {
            return fault(&self.path, what);
        }
        match self.kind {
            Kind::Csv => fault(&self.path, self.csv(reason, schema)),
            Kind::Json => match json_schema::find_fault(&self.path, self.compression) {
                Some(what) => fault(&self.path, what),
                None => fault(&self.path, format!("cannot be read as JSON: {reason}")),
            },
            _ => self.of_reason(reason),
        }
    }

    /// What is wrong with a compressed file.
    fn packed(&self, reason: &str) -> Option<String> {
        if !self.compression.is_compressed() {
            return None;
        }
        if compression_of(&self.path).is_none() {
            return Some(
                "is not compressed as its name, or compression => '...', says: compression => 'none' reads it as it is"
                    .to_owned(),
            );
        }
        // The words of the packages that unpack.
        let words =
            ["deflate", "gzip", "Zstd", "zstd", "frame", "bzip", "lzma", "xz", "corrupt", "unexpected end", "checksum"];
        words.iter().any(|word| reason.contains(word)).then(|| damage(&format!("it cannot be unpacked ({reason})")))
    }

    fn of_reason(&self, reason: &str) -> DataFusionError {
        match self.kind {
            Kind::Parquet => match ends(&self.path) {
                Some((start, _)) if &start != b"PAR1" => fault(
                    &self.path,
                    "is no Parquet file: it does not begin with PAR1; read_csv and read_json read texts, whatever their names",
                ),
                Some((_, end)) if &end != b"PAR1" => {
                    fault(&self.path, damage("it does not end with PAR1, so it is cut short"))
                }
                _ => damaged(&self.path, self.kind, reason),
            },
            kind => damaged(&self.path, kind, reason),
        }
    }

    /// What is wrong with a row of CSV.
    fn csv(&self, reason: &str, schema: Option<&Schema>) -> String {
        // A part begins with the first row after the byte before its start.
        let before = || match self.start.checked_sub(1) {
            Some(before) => lines_before(&self.path, self.compression, before).map_or(0, |lines| lines + 1),
            None => 0,
        };
        let line =
            |text: &str| Some(before() + text.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok()?);
        let fields = || {
            let (number, counts) =
                reason.strip_prefix("incorrect number of fields for line ")?.split_once(", expected ")?;
            let (columns, found) = counts.split_once(" got ")?;
            Some(format!(
                ", line {}: {found} fields, where {columns} are expected; put texts with the delimiter in quotes, or name \
                 another, read_csv(..., delim => '...')",
                line(number)?
            ))
        };
        let utf8 = || {
            let at = reason.contains("UTF-8").then(|| reason.rsplit_once("line "))??.1;
            Some(format!(", line {}: a text is not in UTF-8; save the file in UTF-8", line(at)?))
        };
        let named = |column: &str| {
            let name =
                schema.and_then(|schema| Some(schema.fields().get(column.parse::<usize>().ok()?)?.name().clone()));
            name.map_or_else(|| format!("column {column}"), |name| format!("column \"{name}\""))
        };
        let value = || {
            let (value, rest) = reason.strip_prefix("Error while parsing value '")?.split_once("' as type '")?;
            let (data_type, rest) = rest.split_once("' for column ")?;
            let (column, rest) = rest.split_once(" at line ")?;
            // It counts from 0.
            let line = line(rest)? + 1;
            let column = named(column);
            Some(format!(
                ", line {line}: '{}' is no {data_type}, which {column} was found to be by the first rows; read_csv(..., \
                 sample_size => -1) looks at all rows, all_varchar => true reads texts",
                shortened(value)
            ))
        };
        let padded = || {
            let (row, column) = reason.strip_prefix(PADDED)?.trim().split_once(' ')?;
            let line = lines_before(&self.path, self.compression, self.start + row.parse::<u64>().ok()?).ok()? + 1;
            Some(format!(
                ", line {line}: zeros stand before a number, where {} was found to be of numbers by the first rows, and 007 \
                 would be 7; read_csv(..., sample_size => -1) looks at all rows, all_varchar => true reads texts",
                named(column)
            ))
        };
        let long = || {
            let at: u64 = reason.strip_prefix(TOO_LONG)?.trim().parse().ok()?;
            let line = lines_before(&self.path, self.compression, self.start + at).ok()? + 1;
            Some(too_long(line))
        };
        fields()
            .or_else(utf8)
            .or_else(value)
            .or_else(long)
            .or_else(padded)
            .unwrap_or_else(|| format!("cannot be read as CSV: {reason}"))
    }
}

fn is_of_argument(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ArrowError(error, _) if matches!(error.as_ref(), ArrowError::InvalidArgumentError(_)))
}

/// Reads an Arrow file to its end.
fn read_arrow(path: &Path) -> Result<(), ArrowError> {
    let file = || File::open(path).map(BufReader::new);
    match FileReader::try_new(file()?, None) {
        Ok(mut batches) => batches.try_for_each(|batch| batch.map(drop)),
        Err(_) => StreamReader::try_new(file()?, None)?.try_for_each(|batch| batch.map(drop)),
    }
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value.to_owned(),
    }
}

/// The first and the last four bytes of a file that has them.
fn ends(path: &Path) -> Option<([u8; 4], [u8; 4])> {
    let mut file = File::open(path).ok()?;
    let (mut start, mut end) = ([0; 4], [0; 4]);
    file.read_exact(&mut start).ok()?;
    file.seek(SeekFrom::End(-4)).ok()?;
    file.read_exact(&mut end).ok()?;
    Some((start, end))
}

/// The error with the path of a statement, if it does not name a file yet.
pub(crate) fn name_error(path: &str, error: DataFusionError) -> DataFusionError {
    match is_named(&error) {
        true => error,
        false => {
            let text = format!("'{path}': {}", plain(&error.strip_backtrace()));
            Raised::new(ErrorKind::of(&error), text).into()
        }
    }
}

/// Why a file could not be read, in the words of the package that reads it; `None` for errors of other causes.
fn reason(error: &DataFusionError) -> Option<String> {
    let text = match error.find_root() {
        DataFusionError::ParquetError(error) => error.to_string(),
        DataFusionError::ObjectStore(error) => error.to_string(),
        DataFusionError::IoError(error) => error.to_string(),
        DataFusionError::ArrowError(error, _) => match error.as_ref() {
            ArrowError::ParquetError(text)
            | ArrowError::CsvError(text)
            | ArrowError::JsonError(text)
            | ArrowError::IpcError(text)
            | ArrowError::IoError(text, _) => text.clone(),
            ArrowError::ParseError(text) if text.starts_with("Error while parsing value '") => text.clone(),
            _ => return None,
        },
        _ => return None,
    };
    // What a condition says of its rows is no fault of the file.
    (!text.contains("evaluating filter predicate")).then(|| plain(&text))
}

/// The names of classes in the errors of packages.
const CLASSES: [&str; 17] = [
    "Parquet argument error: ",
    "Parquet error: ",
    "Arrow error: ",
    "Arrow: ",
    "External error: ",
    "External: ",
    "EOF: ",
    "Csv error: ",
    "Json error: ",
    "Ipc error: ",
    "Io error: ",
    "IO error: ",
    "Object Store error: ",
    "Generic LocalFileSystem error: ",
    "Generic read to delimited chunks failed error: ",
    "Invalid Parquet file. ",
    "Invalid argument error: ",
];

/// The message of an error without the names of classes.
fn plain(text: &str) -> String {
    let mut text = text.trim();
    while let Some(rest) = CLASSES.iter().find_map(|class| text.strip_prefix(class)) {
        text = rest;
    }
    // Names of Rust, `Damaged(OffsetOutOfBounds)`, are words.
    if text.contains(|c: char| !c.is_ascii_alphabetic() && !matches!(c, '(' | ')')) || !text.ends_with(')') {
        return text.to_owned();
    }
    let mut words = String::new();
    for c in text.trim_end_matches(')').chars() {
        match c {
            '(' => words.push(':'),
            c if c.is_uppercase() && !words.is_empty() => words.extend([' ', c.to_ascii_lowercase()]),
            c => words.push(c.to_ascii_lowercase()),
        }
    }
    words
}

/// The compression of a file by its first bytes, whatever its name: `COPY ... (COMPRESSION gzip)` writes to any path.
pub(crate) fn compression_of(path: &Path) -> Option<&'static str> {
    // A block of bzip2 begins with the digits of pi.
    let mut start = Vec::new();
    File::open(path).ok()?.take(10).read_to_end(&mut start).ok()?;
    match &start[..] {
        [0x1f, 0x8b, 8, ..] => Some("gz"),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some("bz2"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zst"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_left_out() {
        assert_eq!(plain("Parquet argument error: External: Unknown frame descriptor"), "Unknown frame descriptor");
        assert_eq!(plain("incomplete deflate stream"), "incomplete deflate stream");
        assert_eq!(plain("DecompressionError(OffsetOutOfBounds)"), "decompression error: offset out of bounds");
    }

    #[test]
    fn what_is_computed_of_rows_is_no_fault_of_a_file() {
        let error = |error: ArrowError| DataFusionError::from(error);
        assert_eq!(reason(&error(ArrowError::DivideByZero)), None);
        assert_eq!(reason(&error(ArrowError::ParseError("'x' is no date".to_owned()))), None);
        let filter = "Error evaluating filter predicate: division by zero".to_owned();
        assert_eq!(reason(&error(ArrowError::ParquetError(filter))), None);
        assert_eq!(reason(&error(ArrowError::ParquetError("EOF: cut".to_owned()))).as_deref(), Some("cut"));
    }
}
