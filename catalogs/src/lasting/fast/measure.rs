//! Measures what this folder gains over the library; the page of [`super`] has the command and the figures.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use datafusion::catalog::TableProvider;
use datafusion::prelude::SessionContext;
use deltalake::datafile::writer::{DeltaWriter, WriterConfig};
use deltalake::delta_datafusion::DeltaScanNext;
use deltalake::kernel::Action;
use deltalake::operations::get_num_idx_cols_and_stats_columns;

use crate::lasting::database::Database;
use crate::lasting::store::{self, Appender, Operation};
use crate::lasting::table::LastingTable;

/// Rows of a key, a number and a text.
fn rows(from: i64, count: usize) -> RecordBatch {
    let to = from + count as i64;
    let columns: [(&str, ArrayRef); 3] = [
        ("key", Arc::new(Int64Array::from_iter_values(from..to))),
        ("value", Arc::new(Float64Array::from_iter_values((from..to).map(|i| (i * 7919 % 10_007) as f64)))),
        ("text", Arc::new(StringArray::from_iter_values((from..to).map(|i| format!("text {}", i * 31 % 1000))))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// An empty table of a new database: the database and the table's folder.
async fn table(root: &Path) -> (Arc<Database>, String) {
    let database = Database::open(&root.join("lab.bonnet"), false).unwrap();
    let building = database.build("main", "t").unwrap();
    let folder = building.folder.clone();
    store::create(&building.path(), "t", &rows(0, 1).schema(), Vec::new()).await.unwrap();
    building.keep();
    (database, folder)
}

/// Commits of one row each, by our log or by the library's.
async fn appends(count: i64, ours: bool) -> (tempfile::TempDir, Arc<Database>, String, f64) {
    let root = tempfile::tempdir().unwrap();
    let (database, folder) = table(root.path()).await;
    let path = database.table_path(&folder);
    let start = Instant::now();
    for i in 0..count {
        let mut files = Appender::new(&path, "t", &rows(0, 1).schema(), &[]).unwrap();
        files.write(&rows(i, 1)).await.unwrap();
        let written = files.take().await.unwrap();
        if ours {
            database.append(&folder, "t", None, written).await.unwrap();
        } else {
            let table = database.table(&folder, "t").await.unwrap();
            let added = store::synced(&path, written).await.unwrap().into_iter().map(Action::Add).collect();
            store::commit(&table, "t", added, Operation::Append).await.unwrap();
        }
    }
    (root, database, folder, start.elapsed().as_secs_f64())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn small_appends() {
    for round in 0..2 {
        for ours in [true, false] {
            let (.., seconds) = appends(1000, ours).await;
            println!("round {round}: 1000 appends of a row, ours {ours}: {seconds:.2} s");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn data_files() {
    for (files, each) in [(1000, 1), (1, 4_000_000)] {
        let root = tempfile::tempdir().unwrap();
        let (database, folder) = table(root.path()).await;
        let path = database.table_path(&folder);
        let batches: Vec<_> = (0..each).step_by(8192).map(|from| rows(from as i64, (each - from).min(8192))).collect();
        let schema = batches[0].schema();
        for round in 0..2 {
            let start = Instant::now();
            for _ in 0..files {
                let mut ours = Appender::new(&path, "t", &schema, &[]).unwrap();
                for batch in &batches {
                    ours.write(batch).await.unwrap();
                }
                black_box(ours.take().await.unwrap());
            }
            let ours = start.elapsed().as_secs_f64();
            let store = database.table(&folder, "t").await.unwrap().object_store();
            let start = Instant::now();
            for _ in 0..files {
                let (indexed, columns) = get_num_idx_cols_and_stats_columns(None, HashMap::new());
                let config = WriterConfig::new(Arc::clone(&schema), Vec::new(), None, None, None, indexed, columns);
                let mut library = DeltaWriter::new(Arc::clone(&store), config);
                for batch in &batches {
                    library.write(batch).await.unwrap();
                }
                black_box(library.close().await.unwrap());
            }
            let library = start.elapsed().as_secs_f64();
            println!("round {round}: {files} files of {each} rows: ours {ours:.2} s, library {library:.2} s");
        }
    }
}

/// A table of 8 files of 500,000 rows each, whose keys are these numbers of the rows.
async fn large_table(key: fn(i64) -> i64) -> (tempfile::TempDir, Arc<Database>, String) {
    let root = tempfile::tempdir().unwrap();
    let (database, folder) = table(root.path()).await;
    let path = database.table_path(&folder);
    for part in 0..8 {
        let mut files = Appender::new(&path, "t", &rows(0, 1).schema(), &[]).unwrap();
        for from in (0..500_000).step_by(8192) {
            let (first, count) = (part * 500_000 + from, 8192.min(500_000 - from));
            let rows = rows(first, count as usize);
            let mut columns = rows.columns().to_vec();
            columns[0] = Arc::new(Int64Array::from_iter_values((first..first + count).map(key)));
            files.write(&RecordBatch::try_new(rows.schema(), columns).unwrap()).await.unwrap();
        }
        database.append(&folder, "t", None, files.take().await.unwrap()).await.unwrap();
    }
    (root, database, folder)
}

/// A session with the table `t`.
fn session(table: impl TableProvider + 'static) -> SessionContext {
    let context = SessionContext::new();
    context.register_table("t", Arc::new(table)).unwrap();
    context
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn scans() {
    let (_small, small, small_folder, _) = appends(1000, true).await;
    let (_ordered, ordered, ordered_folder) = large_table(|row| row).await;
    let (_scattered, scattered, scattered_folder) = large_table(|row| row * 2_654_435_761 % 4_000_037).await;
    for (name, database, folder) in [
        ("1000 files of a row", small, small_folder),
        ("8 files of 500000 rows by their keys", ordered, ordered_folder),
        ("8 files of 500000 rows in no order", scattered, scattered_folder),
    ] {
        let table = database.table(&folder, "t").await.unwrap();
        let plain = LastingTable::at(&database.table_path(&folder)).await.unwrap();
        let library = DeltaScanNext::new(table.snapshot().unwrap().snapshot().clone(), store::scan_config()).unwrap();
        // A session each: both cache the ends of files under the same names, and one would take away the other's.
        let sessions = [session(plain), session(library)];
        for query in [
            "SELECT sum(value) FROM t",
            "SELECT count(*) FROM t",
            "SELECT max(key) FROM t",
            "SELECT sum(value) FROM t WHERE key = 777",
            "SELECT * FROM t WHERE key = 777",
            "SELECT sum(value) FROM t WHERE key BETWEEN 700000 AND 1200000",
            "SELECT sum(key) FROM t WHERE text = 'text 7'",
            "SELECT text, count(*), sum(value) FROM t GROUP BY text",
        ] {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..11 {
                for (context, times) in sessions.iter().zip(&mut times) {
                    let start = Instant::now();
                    black_box(context.sql(query).await.unwrap().collect().await.unwrap());
                    times.push(start.elapsed().as_secs_f64() * 1e3);
                }
            }
            let [ours, library] = times.map(|mut times| {
                times.sort_by(f64::total_cmp);
                (times[0], times[times.len() / 2])
            });
            println!(
                "{name}: {query}: ours {:.1} ms (median {:.1}), library {:.1} ms ({:.1})",
                ours.0, ours.1, library.0, library.1
            );
        }
    }
}
