//! Names of files in FROM: the extensions that tables have, and the options that a statement may give.

/// The extensions of files that are tables.
pub const EXTENSIONS: [&str; 9] = ["parquet", "csv", "tsv", "json", "ndjson", "jsonl", "arrow", "feather", "avro"];

/// The extensions of compressed files.
pub const COMPRESSIONS: [&str; 4] = ["gz", "bz2", "xz", "zst"];

/// The formats that a statement may name, with the options that each takes.
pub const FILE_OPTIONS: [(&str, &[&str]); 3] = [
    ("csv", &["header", "delim", "quote", "escape", "comment", "nullstr", "all_varchar", "sample_size", "compression"]),
    ("json", &["format", "compression"]),
    ("parquet", &["binary_as_string"]),
];

/// Whether a table's name is the path of a file rather than a name: it has a `/`, or ends like a file of a table.
pub fn looks_like_a_file(name: &str) -> bool {
    name.contains('/') || name.contains('\\') || FileExtension::of(name).is_some()
}

/// The extension of a file's name.
#[derive(Debug, Clone, PartialEq)]
pub struct FileExtension {
    /// The extension without the compression, in lower case: `csv`.
    pub format: &'static str,
    /// The extension as written, with the compression's: `csv.gz`.
    pub text: String,
    /// The extension of the compression, in lower case: `gz`.
    pub compression: Option<&'static str>,
}

impl FileExtension {
    /// The extension of a file that is a table; `None` for any other name.
    pub fn of(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        let compression = COMPRESSIONS.into_iter().find(|compression| lower.ends_with(&format!(".{compression}")));
        let plain = compression.map_or(lower.as_str(), |compression| &lower[..lower.len() - compression.len() - 1]);
        let (stem, last) = plain.rsplit_once('.')?;
        let format = EXTENSIONS.iter().find(|extension| **extension == last)?;
        Some(Self { format, text: name[stem.len() + 1..].to_owned(), compression })
    }
}
