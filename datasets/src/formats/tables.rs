//! A folder with `nodes.*`, `edges.*` and optional `splits.*`, `graphs.*` as CSV, TSV, Parquet or JSON lines.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::csv;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::json;
use parquet::arrow::ProjectionMask;

use super::{DIRECTED, not_this};
use crate::guard::caught;
use crate::reader::Reader;
use crate::scan::{BATCH_ROWS, Scan, batch, project};
use crate::{Dataset, Error, Format, Options, Result, files, parquet_file};

/// The tables and the columns that each must have.
const TABLES: [(&str, &[&str]); 4] = [
    ("nodes", &["node"]),
    ("edges", &["src", "dst"]),
    ("splits", &["split", "node", "part"]),
    ("graphs", &["graph_id"]),
];

/// The extensions that are read, in order of preference.
const EXTENSIONS: [&str; 6] = ["parquet", "csv", "tsv", "jsonl", "ndjson", "json"];

/// The rows from which the types of a text file's columns are found.
const SAMPLE_ROWS: usize = 10_000;

pub(super) static FORMAT: Format = Format {
    name: "tables",
    description: "a folder with nodes.*, edges.* and optional splits.*, graphs.* as csv, tsv, parquet or JSON lines",
    options: &[DIRECTED],
    recognises: |path| {
        path.is_dir() && ["nodes", "edges"].iter().all(|table| find(path, table).is_ok_and(|file| file.is_some()))
    },
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let mut tables = Vec::new();
    for (table, _) in TABLES {
        match find(path, table)? {
            Some(file) => tables.push((table, file)),
            None if table == "nodes" || table == "edges" => {
                return Err(not_this(path, &format!("{table}.csv (or {}) is expected", EXTENSIONS.join(", "))));
            }
            None => {}
        }
    }
    Ok(FORMAT.dataset(path, options, Folder { tables }))
}

/// The one file of a table.
fn find(folder: &Path, table: &str) -> Result<Option<PathBuf>> {
    let mut found =
        EXTENSIONS.iter().map(|extension| folder.join(format!("{table}.{extension}"))).filter(|f| files::is_file(f));
    let first = found.next();
    if let (Some(first), Some(second)) = (&first, found.next()) {
        let what = format!("has both {} and {}; keep one of them", files::name(first), files::name(&second));
        return Err(Error::file(folder, what));
    }
    Ok(first)
}

#[derive(Debug)]
struct Folder {
    tables: Vec<(&'static str, PathBuf)>,
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

fn buffered(file: &Path) -> Result<BufReader<File>> {
    Ok(BufReader::new(File::open(file).map_err(Error::io(file))?))
}

fn separator(file: &Path) -> u8 {
    if extension(file) == "tsv" { b'\t' } else { b',' }
}

/// Takes off a byte-order mark, which would be part of the first column's name.
fn skip_mark(mut input: BufReader<File>, file: &Path) -> Result<BufReader<File>> {
    let mut mark = Vec::new();
    input.by_ref().take(3).read_to_end(&mut mark).map_err(Error::io(file))?;
    if mark != b"\xef\xbb\xbf" {
        input.rewind().map_err(Error::io(file))?;
    }
    Ok(input)
}

fn schema(file: &Path) -> Result<SchemaRef> {
    let fault = |error: ArrowError| Error::file(file, error);
    Ok(match extension(file) {
        "parquet" => Arc::clone(parquet_file::reader(file)?.schema()),
        "csv" | "tsv" => {
            let format = csv::reader::Format::default().with_header(true).with_delimiter(separator(file));
            let input = skip_mark(buffered(file)?, file)?;
            Arc::new(format.infer_schema(input, Some(SAMPLE_ROWS)).map_err(fault)?.0)
        }
        _ => {
            let (schema, _) = json::reader::infer_json_schema(buffered(file)?, Some(SAMPLE_ROWS)).map_err(fault)?;
            Arc::new(schema)
        }
    })
}

impl Folder {
    fn file(&self, table: &str) -> &Path {
        let found = self.tables.iter().find(|(name, _)| *name == table);
        found.map_or(Path::new(""), |(_, file)| file)
    }
}

impl Reader for Folder {
    fn tables(&self) -> Vec<&'static str> {
        self.tables.iter().map(|(table, _)| *table).collect()
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        let file = self.file(table);
        let schema = schema(file)?;
        let expected = TABLES.iter().find(|(name, _)| *name == table).map_or(&[][..], |(_, columns)| columns);
        for column in expected {
            if schema.column_with_name(column).is_none() {
                let has: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
                let what = format!("table {table} needs the column {column}; the file has: {}", files::few(&has));
                return Err(Error::file(file, what));
            }
        }
        Ok(schema)
    }

    fn read(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let file = self.file(scan.table);
        let fault = |error: ArrowError| Error::file(file, error);
        // Each reader gives the columns in the file's order; `scan.columns` may want another.
        let mut wanted = scan.columns.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let mut rows: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>> = match extension(file) {
            "parquet" => {
                let builder = parquet_file::reader(file)?;
                let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
                let reader = caught(file, || builder.with_projection(mask).with_batch_size(BATCH_ROWS).build())?;
                Box::new(reader.map_err(|error| Error::file(file, error))?)
            }
            "csv" | "tsv" => {
                let builder = csv::ReaderBuilder::new(Arc::clone(scan.schema))
                    .with_header(true)
                    .with_delimiter(separator(file))
                    .with_projection(wanted.clone())
                    .with_batch_size(BATCH_ROWS);
                Box::new(builder.build_buffered(skip_mark(buffered(file)?, file)?).map_err(fault)?)
            }
            _ => {
                let builder = json::ReaderBuilder::new(project(scan.schema, &wanted)).with_batch_size(BATCH_ROWS);
                Box::new(builder.build(buffered(file)?).map_err(fault)?)
            }
        };
        let projected = project(scan.schema, scan.columns);
        let mut batches = Vec::new();
        while let Some(read) = caught(file, || rows.next())? {
            scan.check()?;
            let read = read.map_err(fault)?;
            let place = |column| wanted.iter().position(|wanted| wanted == column).unwrap_or_default();
            let arrays = scan.columns.iter().map(|column| Arc::clone(read.column(place(column)))).collect();
            batches.push(batch(&projected, arrays, read.num_rows())?);
        }
        Ok(batches)
    }

    fn expected_bytes(&self, table: &str, columns: &[usize]) -> usize {
        let file = self.file(table);
        if extension(file) != "parquet" {
            return 3 * files::size(file);
        }
        let Ok(builder) = parquet_file::reader(file) else { return 0 };
        let wanted = |root: usize| columns.contains(&root);
        let schema = builder.parquet_schema();
        let leaves = (0..schema.num_columns()).filter(|leaf| wanted(schema.get_column_root_idx(*leaf)));
        let leaves: Vec<usize> = leaves.collect();
        let groups = builder.metadata().row_groups();
        let bytes =
            |leaf: usize| groups.iter().map(|g| g.column(leaf).uncompressed_size().max(0) as usize).sum::<usize>();
        // Dictionary pages hold a value once that a batch holds again and again.
        leaves.into_iter().map(|leaf| 4 * bytes(leaf)).sum()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.tables.iter().map(|(_, file)| file.clone()).collect()
    }
}
