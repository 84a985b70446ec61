//! JSON files that are one array of rows: DataFusion 55 reads them up to where they are cut, and no farther than the array's end.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;

use super::nesting::Nesting;
use crate::remote::shown;

/// The bytes that are read at once.
const PART: usize = 1 << 16;

/// Checks that a file is one array, and nothing else. Values are not looked at.
///
/// # Errors
/// If the array does not end, or something follows it.
pub(crate) fn check_json_array(path: &Path, compression: FileCompressionType) -> Result<()> {
    let wrong =
        |error: std::io::Error| DataFusionError::Plan(format!("'{}' cannot be read: {error}", shown(path).display()));
    let file = BufReader::new(File::open(path).map_err(wrong)?);
    let mut text = compression.convert_read(file)?;
    let (mut value, mut part, mut before) = (Value::default(), vec![0; PART], 0);
    loop {
        let read = text.read(&mut part).map_err(wrong)?;
        if let Some(at) = part[..read].iter().position(|&byte| !value.step(byte)) {
            return plan_err!(
                "'{}' goes on behind its array, at byte {}: a file has one array, or with format => 'newline_delimited' a row a \
                 line",
                shown(path).display(),
                before + at
            );
        }
        before += read;
        if read == 0 {
            break;
        }
    }
    match value.nesting.is_within_brackets() {
        // A file without anything is said to be empty elsewhere.
        false => Ok(()),
        true => plan_err!("'{}' is cut short: its array does not end", shown(path).display()),
    }
}

/// A file that is to have one value.
#[derive(Debug, Default)]
struct Value {
    nesting: Nesting,
    /// Whether it has begun.
    begun: bool,
}

impl Value {
    /// Takes the next byte; false after the end of the value.
    fn step(&mut self, byte: u8) -> bool {
        if self.begun && self.nesting.is_outside() && !byte.is_ascii_whitespace() {
            return false;
        }
        self.nesting.step(byte);
        self.begun |= self.nesting.is_within_brackets();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_ends_and_is_all_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.json");
        let found = |text: &str| {
            std::fs::write(&path, text).unwrap();
            check_json_array(&path, FileCompressionType::UNCOMPRESSED).map_err(|error| error.to_string())
        };
        for whole in ["[]", " [{\"a\": \"]}\\\"[\"}, {\"b\": [1, {}]}]\n\n", ""] {
            assert!(found(whole).is_ok(), "{whole}");
        }
        for cut in ["[", "[{\"a\":1},{\"a\":2}", "[{\"a\":1},", "[{\"a\":\"]"] {
            assert!(found(cut).unwrap_err().contains("is cut short"), "{cut}");
        }
        for more in ["[{\"a\":1}]\n[{\"a\":2}]", "[] xyz", "[]\n{\"a\":3}"] {
            assert!(found(more).unwrap_err().contains("goes on behind its array, at byte"), "{more}");
        }
    }
}
