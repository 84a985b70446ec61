//! `FROM 'file.parquet'`: a path, a glob or a folder as a table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::avro::AvroFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::context::SessionState;

use crate::attached::external;

/// The endings of files that are tables.
const ENDINGS: [&str; 9] = ["parquet", "csv", "tsv", "json", "ndjson", "jsonl", "arrow", "feather", "avro"];

/// The endings of compressed text, with DataFusion's names for them.
const COMPRESSED: [(&str, FileCompressionType); 4] = [
    ("gz", FileCompressionType::GZIP),
    ("bz2", FileCompressionType::BZIP2),
    ("xz", FileCompressionType::XZ),
    ("zst", FileCompressionType::ZSTD),
];

/// Whether a table's name is the path of a file rather than a name: it has a `/`, or ends like a file of a table.
pub fn looks_like_a_file(name: &str) -> bool {
    name.contains('/') || name.contains('\\') || Ending::of(name).is_some()
}

/// How a file's name ends.
#[derive(Debug, Clone, PartialEq)]
struct Ending {
    format: &'static str,
    /// The ending as written, with the compression's: `csv.gz`.
    text: String,
    compression: Option<&'static str>,
}

impl Ending {
    fn of(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        let compression = COMPRESSED.iter().map(|(end, _)| *end).find(|end| lower.ends_with(&format!(".{end}")));
        let plain = compression.map_or(lower.as_str(), |end| &lower[..lower.len() - end.len() - 1]);
        let (stem, last) = plain.rsplit_once('.')?;
        let format = ENDINGS.iter().find(|ending| **ending == last)?;
        Some(Self { format, text: name[stem.len() + 1..].to_owned(), compression })
    }
}

/// The table of a path: a file, a glob or a folder of files of one format (partition folders `key=value` become
/// columns). Reads the columns from the first bytes of the files. A missing file is an error that says what its folder
/// holds.
pub async fn file_table(path: &str, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
    let path = path.strip_prefix("file://").unwrap_or(path).to_owned();
    if let Some((scheme, _)) = path.split_once("://") {
        return plan_err!("'{path}': {scheme}:// addresses are not read; download the file and name its path");
    }
    let (path, ending) = SpawnedTask::spawn_blocking(move || {
        let path = home(&path);
        find_ending(&path).map(|ending| (path, ending))
    })
    .join()
    .await
    .map_err(|error| DataFusionError::Execution(format!("looking for the file failed: {error}")))??;

    let url = ListingTableUrl::parse(&path)?;
    let options = ListingOptions::new(format(&ending, Path::new(&path), state)?).with_file_extension(&ending.text);
    let config = ListingTableConfig::new(url).with_listing_options(options);
    let config = config.infer_partitions_from_path(state).await?;
    let config = config.infer_schema(state).await.map_err(|error| at(&path, &error))?;
    if config.file_schema.as_ref().is_none_or(|schema| schema.fields().is_empty()) {
        return plan_err!("'{path}' is empty: it has no columns");
    }
    Ok(Arc::new(ListingTable::try_new(config)?))
}

fn at(path: &str, error: &DataFusionError) -> DataFusionError {
    DataFusionError::Plan(format!("'{path}': {}", error.strip_backtrace()))
}

/// `~/` is the user's home.
fn home(path: &str) -> String {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => path.to_owned(),
    }
}

fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The one ending of the files that a path means.
fn find_ending(path: &str) -> Result<Ending> {
    let known = || ENDINGS.join(", ");
    if is_glob(path) && !Path::new(path).exists() {
        return match Ending::of(path) {
            Some(ending) => Ok(ending),
            None => plan_err!("'{path}' does not end like a file of a table ({})", known()),
        };
    }
    let file = Path::new(path);
    if !file.exists() {
        return Err(external(bonnet_datasets::missing(file)));
    }
    if file.is_file() {
        return match Ending::of(path) {
            Some(ending) => Ok(ending),
            None => plan_err!(
                "'{path}' does not end like a file of a table ({}); graphs are attached: ATTACH '{path}' AS g",
                known()
            ),
        };
    }
    let mut endings: Vec<Ending> = Vec::new();
    let mut folders = vec![PathBuf::from(file)];
    while let Some(folder) = folders.pop() {
        let mut names: Vec<_> = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        names.sort();
        for path in names {
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
            if path.is_dir() && !hidden {
                folders.push(path);
            } else if let Some(ending) = Ending::of(&path.to_string_lossy()).filter(|_| !hidden)
                && !endings.contains(&ending)
            {
                endings.push(ending);
            }
        }
    }
    match &endings[..] {
        [ending] => Ok(ending.clone()),
        [] => plan_err!(
            "the folder '{path}' has no file of a table ({}); graphs are attached: ATTACH '{path}' AS g",
            known()
        ),
        several => {
            let several: Vec<&str> = several.iter().map(|ending| ending.text.as_str()).collect();
            plan_err!(
                "the folder '{path}' has files of several formats: {}; name one, e.g. '{path}/*.{}'",
                several.join(", "),
                several[0]
            )
        }
    }
}

fn format(ending: &Ending, path: &Path, state: &SessionState) -> Result<Arc<dyn FileFormat>> {
    let compression = COMPRESSED
        .iter()
        .find(|(end, _)| Some(*end) == ending.compression)
        .map_or(FileCompressionType::UNCOMPRESSED, |(_, compression)| *compression);
    let options = state.default_table_options();
    Ok(match ending.format {
        "parquet" => Arc::new(ParquetFormat::new().with_options(options.parquet)),
        "csv" | "tsv" => {
            let separator = if ending.format == "tsv" { b'\t' } else { b',' };
            let has_header = state.config_options().catalog.has_header;
            let format = CsvFormat::default().with_options(options.csv).with_has_header(has_header);
            Arc::new(format.with_delimiter(separator).with_file_compression_type(compression))
        }
        "arrow" | "feather" => Arc::new(ArrowFormat),
        "avro" => Arc::new(AvroFormat),
        name => {
            let lines = name != "json" || !starts_with_array(path);
            let format = JsonFormat::default().with_options(options.json);
            Arc::new(format.with_newline_delimited(lines).with_file_compression_type(compression))
        }
    })
}

/// Whether a JSON file is one array of objects rather than an object a line.
fn starts_with_array(path: &Path) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    read.is_ok() && start.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_names() {
        for path in ["a.parquet", "a/b", "./a", "A.CSV", "x.csv.gz", "data/*.json", "a.ndjson", "b.avro", "c.arrow"] {
            assert!(looks_like_a_file(path), "{path}");
        }
        for name in ["cora", "nodes", "csv", "a.b", "my table", "x.gz"] {
            assert!(!looks_like_a_file(name), "{name}");
        }
    }

    #[test]
    fn an_ending_keeps_its_spelling_and_compression() {
        let ending = Ending::of("dir/Data.CSV.gz").unwrap();
        assert_eq!((ending.format, ending.text.as_str(), ending.compression), ("csv", "CSV.gz", Some("gz")));
        assert_eq!(Ending::of("a.tsv").unwrap().format, "tsv");
    }
}
