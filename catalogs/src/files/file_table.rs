//! `FROM 'file.parquet'`: a path, a glob or a folder as a table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bonnet_common::{EXTENSIONS, FileExtension};
use datafusion::catalog::TableProvider;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::execution::context::SessionState;

use super::arrow_by_name::ArrowByName;
use super::csv::{CsvText, Open};
use super::file_fault::Kind;
use super::file_patterns::is_pattern;
use super::format::NamedFormat;
use super::json::array::check_json_array;
use super::json::schema::starts_with_array;
#[cfg(feature = "remote")]
use super::listing::listed;
use super::listing::listing;
use super::reading::compression_of;
use super::special::check_special;
use crate::ground::error::external;
#[cfg(feature = "remote")]
use crate::ground::file_path::is_address;
use crate::remote::{Place, shown};

/// The extensions of compressed files, with DataFusion's names for them.
const COMPRESSED: [(&str, FileCompressionType); 4] = [
    ("gz", FileCompressionType::GZIP),
    ("bz2", FileCompressionType::BZIP2),
    ("xz", FileCompressionType::XZ),
    ("zst", FileCompressionType::ZSTD),
];

/// NULL as MySQL and PostgreSQL write it, or as nothing.
const NULL_MARK: &str = r"^(\\N)?$";

/// The rows of a text file from which the types of its columns are found.
const SAMPLE_ROWS: usize = 20_480;

/// A statement's format and options of a file, beside its path.
#[derive(Debug, Clone, Default)]
struct FileClause {
    format: Option<&'static str>,
    options: HashMap<String, String>,
}

impl FileClause {
    fn get(&self, option: &str) -> Option<&str> {
        self.options.get(option).map(String::as_str)
    }

    fn flag(&self, option: &str) -> Result<Option<bool>> {
        self.parsed(option, "true or false", |value| value.to_lowercase().parse().ok())
    }

    /// One character that stands in one byte.
    fn byte(&self, option: &str) -> Result<Option<u8>> {
        let byte = |value: &str| match value {
            "\\t" => Some(b'\t'),
            value => <[u8; 1]>::try_from(value.as_bytes()).ok().map(|[byte]| byte),
        };
        self.parsed(option, "one character of ASCII", byte)
    }

    fn parsed<T>(&self, option: &str, what: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        match self.get(option) {
            None => Ok(None),
            Some(value) => match parse(value) {
                Some(parsed) => Ok(Some(parsed)),
                None => plan_err!("{option} is '{value}': {what} is expected"),
            },
        }
    }

    /// The extension of the files of all paths; its text is empty where they are written in several ways.
    fn common_extension(&self, paths: &[String]) -> Result<FileExtension> {
        let Some((first, rest)) = paths.split_first() else { return plan_err!("no file is named") };
        let mut extension = self.extension(first)?;
        for path in rest {
            let other = self.extension(path)?;
            if (other.format, other.compression) != (extension.format, extension.compression) {
                let (first, path) = (shown(Path::new(first)), shown(Path::new(path)));
                return plan_err!(
                    "'{}' and '{}' are files of two formats: read them apart, and UNION ALL BY NAME them",
                    first.display(),
                    path.display()
                );
            }
            if other.text != extension.text {
                extension.text.clear();
            }
        }
        Ok(extension)
    }

    /// The extension of the files of a path, which need not end like tables where their format is given.
    fn extension(&self, path: &str) -> Result<FileExtension> {
        let mut extension = match (self.format, FileExtension::of(path)) {
            (Some(format), found) if found.as_ref().is_none_or(|it| it.format != format) => {
                if !is_pattern(path) && !Path::new(path).exists() {
                    return Err(external(bonnet_datasets::missing(Path::new(path))));
                }
                let compression = COMPRESSED.iter().map(|(end, _)| *end).find(|end| path.ends_with(&format!(".{end}")));
                // A TSV file is a CSV file with another separator.
                let format = found.filter(|it| format == "csv" && it.format == "tsv").map_or(format, |it| it.format);
                FileExtension { format, text: String::new(), compression }
            }
            _ => find_extension(path)?,
        };
        let compression = |name: &str| match name {
            "none" => Some(None),
            "gzip" => Some(Some("gz")),
            "zstd" => Some(Some("zst")),
            name => COMPRESSED.iter().map(|(end, _)| *end).find(|end| *end == name).map(Some),
        };
        if let Some(compression) = self.parsed("compression", "none, gzip, zstd, bz2 or xz", compression)? {
            extension.compression = compression;
        } else if extension.compression.is_none()
            && ["csv", "tsv", "json", "ndjson", "jsonl"].contains(&extension.format)
        {
            extension.compression = compression_of(Path::new(path));
        }
        Ok(extension)
    }
}

/// The path of a file's address.
fn local(name: &str) -> Result<&str> {
    let path = name.strip_prefix("file://").unwrap_or(name);
    match path.split_once("://") {
        Some((scheme, _)) => {
            plan_err!("'{path}': {scheme}:// addresses are not read here; download the file and name its path")
        }
        None => Ok(path),
    }
}

/// The path in a table's name.
///
/// # Errors
/// If it is an address.
pub(crate) fn local_path(name: &str) -> Result<PathBuf> {
    Ok(PathBuf::from(home(local(name)?)))
}

/// The table of paths: files, globs or folders of files of one format, united by the names of their columns (partition folders
/// `key=value` become columns). Reads the columns from the first rows of the files, of JSON from all. A missing file is an error that
/// says what its folder holds.
///
/// # Errors
/// If a path names no file, or none that can be read; the files are of several formats; or an option does not fit.
pub(crate) async fn file_table(
    paths: &[String],
    format_given: Option<&'static str>,
    options: &[(String, String)],
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    let given = FileClause { format: format_given, options: options.iter().cloned().collect() };
    #[cfg(feature = "remote")]
    let (paths, places) = match fetched(paths, &given, state).await? {
        Fetched::Table(table) => return Ok(table),
        Fetched::Paths(paths, places) => (paths, places),
    };
    #[cfg(not(feature = "remote"))]
    let places = Vec::new();
    let paths = paths.iter().map(|path| local(path).map(str::to_owned)).collect::<Result<Vec<String>>>()?;
    let (paths, given, extension, nulls) = SpawnedTask::spawn_blocking(move || {
        let paths = paths.iter().map(|path| check_special(&home(path))).collect::<Result<Vec<String>>>()?;
        let extension = given.common_extension(&paths)?;
        for path in &paths {
            let file = Path::new(path);
            if file.is_file() && is_json_array(&extension, file, &given)? {
                check_json_array(file, compression(&extension))?;
            }
        }
        let nulls = match given.get("nullstr") {
            Some(word) => Some(null_word(word)),
            None if matches!(extension.format, "csv" | "tsv")
                && paths.iter().any(|path| has_null_marks(Path::new(path))) =>
            {
                Some(NULL_MARK.to_owned())
            }
            None => None,
        };
        Ok::<_, DataFusionError>((paths, given, extension, nulls))
    })
    .join()
    .await
    .map_err(|error| DataFusionError::Execution(format!("looking for the file failed: {error}")))??;

    let sample = match given.flag("all_varchar")? {
        Some(true) => 0,
        _ => given.parsed("sample_size", "a number of rows", rows)?.unwrap_or(SAMPLE_ROWS),
    };
    let first = paths.first().map(Path::new).unwrap_or(Path::new(""));
    let format = format(&extension, first, sample, nulls, &given, places, state)?;
    listing(&paths, format, &extension, state).await
}

/// What paths are once the files of other machines among them have been fetched.
#[cfg(feature = "remote")]
enum Fetched {
    /// A table of files that are read in parts.
    Table(Arc<dyn TableProvider>),
    /// Paths of this machine, and what keeps the copies among them.
    Paths(Vec<String>, Vec<Arc<Place>>),
}

/// Opens the files of other machines. Parquet files alone are read in parts where all servers give them, any others are copied.
#[cfg(feature = "remote")]
async fn fetched(paths: &[String], given: &FileClause, state: &SessionState) -> Result<Fetched> {
    use crate::remote::{Address, copied, opened, register};

    if !paths.iter().any(|path| is_address(path)) {
        return Ok(Fetched::Paths(paths.to_vec(), Vec::new()));
    }
    let mut files: Vec<Result<Address, String>> = Vec::new();
    let mut in_parts = true;
    for path in paths {
        if !is_address(path) {
            in_parts = false;
            files.push(Err(path.clone()));
            continue;
        }
        let address = Address::parse(path)?;
        let extension = address.extension().map(|extension| extension.format);
        let Some(format) = given.format.or(extension) else {
            return plan_err!(
                "'{}' does not end like a file of a table ({}): read_parquet('...'), read_csv('...') or read_json('...') says \
                 what it is",
                address.shown(),
                known()
            );
        };
        if format == "avro" {
            return plan_err!(
                "'{}': Avro files are not read; write it as Parquet, CSV, JSON or Arrow",
                address.shown()
            );
        }
        in_parts &= format == "parquet";
        files.extend(address.files().await?.into_iter().map(Ok));
    }
    let runtime = state.runtime_env();
    if in_parts {
        let mut places = Vec::new();
        for address in files.iter().flatten() {
            match opened(address).await? {
                Some(place) => places.push(place),
                None => break,
            }
        }
        if places.len() == files.len() {
            let urls = register(&places, runtime)?;
            let names: Vec<String> = files.iter().flatten().map(Address::shown).collect();
            let extension = FileExtension { format: "parquet", text: String::new(), compression: None };
            let format = format(&extension, Path::new(""), 0, None, given, places, state)?;
            let table = listed(urls, &names.join("', '"), format, &extension, state).await?;
            return Ok(Fetched::Table(table));
        }
    }
    let (mut local, mut places) = (Vec::new(), Vec::new());
    for file in files {
        match file {
            Err(path) => local.push(path),
            Ok(address) => {
                let place = copied(&address, runtime).await?;
                local.push(place.path.to_string_lossy().into_owned());
                places.push(place);
            }
        }
    }
    Ok(Fetched::Paths(local, places))
}

/// The extensions of files that are read.
fn known() -> String {
    EXTENSIONS.iter().filter(|extension| **extension != "avro").copied().collect::<Vec<_>>().join(", ")
}

/// A number of rows; -1 for all.
fn rows(value: &str) -> Option<usize> {
    if value == "-1" { Some(usize::MAX) } else { value.parse().ok().filter(|rows| *rows > 0) }
}

/// `~/` is the user's home.
fn home(path: &str) -> String {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => path.to_owned(),
    }
}

/// The one extension of the files that a path means.
fn find_extension(path: &str) -> Result<FileExtension> {
    if is_pattern(path) && !Path::new(path).exists() {
        return match FileExtension::of(path) {
            Some(extension) => Ok(extension),
            None => plan_err!("'{path}' does not end like a file of a table ({})", known()),
        };
    }
    let file = Path::new(path);
    if !file.exists() {
        return Err(external(bonnet_datasets::missing(file)));
    }
    if file.is_file() {
        return match FileExtension::of(path) {
            Some(extension) => Ok(extension),
            None => plan_err!(
                "'{path}' does not end like a file of a table ({}); graphs are attached: ATTACH '{path}' AS g",
                known()
            ),
        };
    }
    let mut extensions: Vec<FileExtension> = Vec::new();
    let mut folders = vec![PathBuf::from(file)];
    while let Some(folder) = folders.pop() {
        let mut names: Vec<_> = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        names.sort();
        for path in names {
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
            if path.is_dir() && !hidden {
                folders.push(path);
            } else if let Some(extension) = FileExtension::of(&path.to_string_lossy()).filter(|_| !hidden)
                && !extensions.contains(&extension)
            {
                extensions.push(extension);
            }
        }
    }
    match &extensions[..] {
        [extension] => Ok(extension.clone()),
        [] => plan_err!(
            "the folder '{path}' has no file of a table ({}); graphs are attached: ATTACH '{path}' AS g",
            known()
        ),
        several => {
            let several: Vec<&str> = several.iter().map(|extension| extension.text.as_str()).collect();
            plan_err!(
                "the folder '{path}' has files of several formats: {}; name one, e.g. '{path}/*.{}'",
                several.join(", "),
                several[0]
            )
        }
    }
}

/// The pattern of a word that is NULL, alone.
fn null_word(word: &str) -> String {
    format!("^{}$", regex::escape(word))
}

/// Whether a JSON file is one array of rows, rather than a row a line.
fn is_json_array(extension: &FileExtension, path: &Path, given: &FileClause) -> Result<bool> {
    Ok(match given.get("format") {
        None | Some("auto") => extension.format == "json" && starts_with_array(path, compression(extension)),
        Some("array") => true,
        Some("newline_delimited") => false,
        Some(other) => return plan_err!("format is '{other}': auto, array or newline_delimited is expected"),
    })
}

fn compression(extension: &FileExtension) -> FileCompressionType {
    let found = COMPRESSED.iter().find(|(end, _)| Some(*end) == extension.compression);
    found.map_or(FileCompressionType::UNCOMPRESSED, |(_, compression)| *compression)
}

/// The format of files with this extension. The types of CSV are found from its first `sample` rows; with 0 rows all columns are strings.
/// `nulls` is the pattern of what is NULL without quotes, where that is not nothing.
fn format(
    extension: &FileExtension,
    path: &Path,
    sample: usize,
    nulls: Option<String>,
    given: &FileClause,
    places: Vec<Arc<Place>>,
    state: &SessionState,
) -> Result<Arc<dyn FileFormat>> {
    let compression = compression(extension);
    let options = state.default_table_options();
    let (kind, format): (_, Arc<dyn FileFormat>) = match extension.format {
        "parquet" => {
            let mut options = options.parquet;
            if let Some(as_string) = given.flag("binary_as_string")? {
                options.global.binary_as_string = as_string;
            }
            (Kind::Parquet, Arc::new(ParquetFormat::new().with_options(options)))
        }
        "csv" | "tsv" => {
            let separator = if extension.format == "tsv" { b'\t' } else { b',' };
            let separator = given.byte("delim")?.unwrap_or(separator);
            let open = Open {
                header: given.get("header").is_none() && options.csv.has_header.is_none(),
                delimiter: given.get("delim").is_none(),
            };
            let mut options = options.csv;
            options.null_regex = options.null_regex.or(nulls);
            let mut format = CsvFormat::default().with_options(options);
            if let Some(has_header) = given.flag("header")? {
                format = format.with_has_header(has_header);
            }
            if let Some(quote) = given.byte("quote")? {
                format = format.with_quote(quote);
            }
            if let Some(escape) = given.byte("escape")? {
                format = format.with_escape(Some(escape));
            }
            if let Some(comment) = given.byte("comment")? {
                format = format.with_comment(Some(comment));
            }
            // A row that ends early has NULLs in its last columns, as some publishers write them.
            let format = format.with_schema_infer_max_rec(sample).with_truncated_rows(true);
            let format = format.with_delimiter(separator).with_file_compression_type(compression);
            (Kind::Csv, Arc::new(CsvText::new(format.options().clone(), open)))
        }
        "arrow" | "feather" => (Kind::Arrow, Arc::new(ArrowByName::default())),
        // The reader of arrow-avro 59.3 never ends in a block that has bytes left after its rows.
        "avro" => {
            return plan_err!("'{}': Avro files are not read; write it as Parquet, CSV, JSON or Arrow", path.display());
        }
        _ => {
            let lines = !is_json_array(extension, path, given)?;
            // Of all rows: a number that does not fit the type of those before would be cut, and a new column left out.
            let format = JsonFormat::default().with_options(options.json).with_schema_infer_max_rec(usize::MAX);
            (Kind::Json, Arc::new(format.with_newline_delimited(lines).with_file_compression_type(compression)))
        }
    };
    Ok(Arc::new(NamedFormat::new(format, kind, places)))
}

/// Whether a text file writes NULL as `\N`, as MySQL and PostgreSQL do. Looks at its first 16 MiB.
fn has_null_marks(path: &Path) -> bool {
    use std::io::Read;
    const MOST: u64 = 16 << 20;
    let Ok(file) = std::fs::File::open(path) else { return false };
    let (mut file, mut part, mut last) = (file.take(MOST), vec![0; 1 << 16], 0);
    while let Ok(read @ 1..) = file.read(&mut part) {
        let found = part[..read].windows(2).any(|pair| pair == b"\\N");
        if found || (last == b'\\' && part[0] == b'N') {
            return true;
        }
        last = part[read - 1];
    }
    false
}

#[cfg(test)]
mod tests {
    use bonnet_common::looks_like_a_file;

    use super::*;

    #[test]
    fn paths_are_distinguished_from_names() {
        for path in ["a.parquet", "a/b", "./a", "A.CSV", "x.csv.gz", "data/*.json", "a.ndjson", "b.avro", "c.arrow"] {
            assert!(looks_like_a_file(path), "{path}");
        }
        for name in ["cora", "nodes", "csv", "a.b", "my table", "x.gz"] {
            assert!(!looks_like_a_file(name), "{name}");
        }
    }

    #[test]
    fn a_word_is_no_pattern() {
        assert_eq!(null_word("n/a."), r"^n/a\.$");
        assert_eq!(null_word("(<é>|"), r"^\(<é>\|$");
    }

    #[test]
    fn options_have_values_of_their_kinds() {
        let clause = |options: &[(&str, &str)]| FileClause {
            format: Some("csv"),
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        let given = clause(&[("delim", ";"), ("header", "FALSE"), ("nullstr", "a=b")]);
        assert_eq!(given.byte("delim").unwrap(), Some(b';'));
        assert_eq!(given.flag("header").unwrap(), Some(false));
        assert_eq!((given.get("nullstr"), given.get("quote")), (Some("a=b"), None));
        let wrong = clause(&[("delim", ";;"), ("header", "2")]);
        assert!(wrong.byte("delim").is_err() && wrong.flag("header").is_err());
    }

    #[test]
    fn files_of_a_list_are_of_one_format() {
        let common = |paths: [&str; 2]| FileClause::default().common_extension(&paths.map(str::to_owned));
        let extension = common(["no/*.csv", "no/?.CSV"]).unwrap();
        assert_eq!((extension.format, extension.text.as_str()), ("csv", ""));
        let error = common(["no/*.csv", "no/*.tsv"]).unwrap_err().to_string();
        assert!(error.contains("are files of two formats"), "{error}");
    }

    #[test]
    fn an_extension_keeps_its_spelling_and_compression() {
        let extension = FileExtension::of("dir/Data.CSV.gz").unwrap();
        assert_eq!((extension.format, extension.text.as_str(), extension.compression), ("csv", "CSV.gz", Some("gz")));
        assert_eq!(FileExtension::of("a.tsv").unwrap().format, "tsv");
    }
}
