//! Rows of a program in tables of the engine, without SQL.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use bonnetdb::Error;

use super::Db;

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn whole<const N: usize>(values: [i64; N]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn append(db: &Db, table: &str, rows: RecordBatch) -> Result<u64, Error> {
    db.engine.block_on(db.session.append(table, rows))
}

fn refuses(db: &Db, table: &str, rows: RecordBatch, parts: &[&str]) {
    let error = append(db, table, rows).unwrap_err().to_string();
    assert!(parts.iter().all(|part| error.contains(part)) && !error.contains("defect"), "{table}: {error}");
}

fn rows_are_appended(db: &Db) {
    db.run("CREATE TABLE runs (seed BIGINT NOT NULL, model TEXT DEFAULT 'gcn', accuracy DOUBLE)");
    // In another order, of narrower types.
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let model: ArrayRef = Arc::new(StringArray::from(vec![Some("mlp"), None]));
    assert_eq!(append(db, "runs", batch([("model", model), ("seed", narrow)])).unwrap(), 2);
    // What the rows lack is the default, or NULL.
    assert_eq!(append(db, "RUNS", batch([("seed", whole([3]))])).unwrap(), 1);
    let accuracy: ArrayRef = Arc::new(Float64Array::from(vec![0.5]));
    assert_eq!(append(db, "main.runs", batch([("accuracy", accuracy), ("seed", whole([4]))])).unwrap(), 1);
    assert_eq!(append(db, "runs", batch([("seed", whole([]))])).unwrap(), 0);
    let expected = [["1", "mlp", "NULL"], ["2", "NULL", "NULL"], ["3", "gcn", "NULL"], ["4", "gcn", "0.5"]];
    assert_eq!(db.rows("SELECT * FROM runs ORDER BY seed"), expected);

    // A refused batch leaves nothing.
    refuses(
        db,
        "runs",
        batch([("seed", whole([5])), ("depth", whole([5]))]),
        &["runs has no column depth", "accuracy"],
    );
    let text: ArrayRef = Arc::new(StringArray::from(vec!["6", "seven"]));
    refuses(db, "runs", batch([("seed", text)]), &["runs: column seed", "seven"]);
    refuses(db, "runs", batch([("accuracy", whole([1]))]), &["runs", "seed"]);
    refuses(db, "nothing", batch([("seed", whole([1]))]), &["nothing"]);
    db.run("CREATE VIEW best AS SELECT * FROM runs");
    refuses(db, "best", batch([("seed", whole([1]))]), &["best", "view"]);
    assert_eq!(db.rows("SELECT * FROM runs ORDER BY seed"), expected);
}

#[test]
fn rows_of_a_program_are_appended_to_a_table_in_memory() {
    let db = Db::new();
    rows_are_appended(&db);
    assert_eq!(db.engine.append("runs", batch([("seed", whole([9]))])).unwrap(), 1);
    assert_eq!(db.value("SELECT max(seed) FROM runs"), "9");
}
#[test]
fn rows_of_a_program_are_appended_to_a_lasting_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lab.bonnet");
    let options = |read_only| bonnetdb::EngineOptions { read_only, ..path.as_path().into() };
    rows_are_appended(&Db::with(options(false)));
    let db = Db::with(options(true));
    assert_eq!(db.value("SELECT count(*) FROM runs"), "4");
    refuses(&db, "runs", batch([("seed", whole([5]))]), &["reading"]);
    // Each batch is a version of its own.
    assert_eq!(db.value("SELECT count(*) FROM runs VERSION AS OF 1"), "2");
    assert_eq!(db.value("SELECT count(*) FROM bonnet.history('runs')"), "4");
}
