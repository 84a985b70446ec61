//! A lasting table is read as the plain files that it mostly is, and answers what the same rows in memory do.

use std::process::Command;

use super::{Lab, peers};

/// Rows with everything that statistics are taken of: NULLs, NaN, long texts, times between the milliseconds, and bounds
/// that meet. `{}` stands for the batch.
const ROWS: &str = "SELECT {} * 10 + value AS n,
    CASE WHEN value <> 4 THEN ({} * 10 + value) % 7 END AS m,
    CASE WHEN value = 3 THEN 'NaN'::DOUBLE WHEN value <> 5 THEN {} - value / 4.0 END AS r,
    CASE WHEN {} = 2 THEN NULL ELSE repeat('ab', 40) || {} END AS t,
    'constant' AS c,
    to_timestamp_micros(1769860800000250 + value * 100 + {} * 1000) AS at,
    DATE '2026-01-31' + value::INT AS day,
    value % 2 = 0 AS even,
    (value * 1.25)::DECIMAL(10, 2) AS d,
    [value, NULL] AS l
    FROM generate_series(0, 9) AS s(value)";

const CONDITIONS: [&str; 22] = [
    "n = 17",
    "n > 35 AND n <= 41",
    "n IN (3, 44)",
    "n < 0",
    "m IS NULL",
    "m = 6 AND n > 20",
    "NOT (n BETWEEN 5 AND 45)",
    "r > 1000",
    "r = 2.0",
    "r IS NULL AND n < 20",
    "t IS NULL",
    "t LIKE 'abab%3'",
    "t = repeat('ab', 40) || 1",
    "t > 'abc'",
    "c = 'constant'",
    "c <> 'constant'",
    "at = TIMESTAMP '2026-01-31 12:00:00.001950'",
    "at > TIMESTAMP '2026-01-31 12:00:00.004999'",
    "day = DATE '2026-02-03' OR n = 1",
    "even AND n > 40",
    "d = 2.50",
    "length(t) > 80 AND abs(r) < 1",
];

#[test]
fn every_condition_holds_for_the_rows_that_it_holds_for_in_memory() {
    let lab = Lab::new();
    let db = lab.open();
    db.run(&format!("CREATE TABLE t AS {} LIMIT 0", ROWS.replace("{}", "0")));
    let batches = || (0..5).map(|batch| ROWS.replace("{}", &batch.to_string()));
    for rows in batches() {
        db.run(&format!("INSERT INTO t {rows}"));
    }
    let all: Vec<String> = batches().map(|rows| format!("({rows})")).collect();
    db.run(&format!("CREATE TABLE memory.main.m AS {}", all.join(" UNION ALL ")));
    let check = |after: &str| {
        for condition in CONDITIONS {
            let rows = |table: &str| db.rows(&format!("SELECT * FROM {table} WHERE {condition} ORDER BY n, m"));
            assert_eq!(rows("t"), rows("memory.main.m"), "{condition}, after {after}");
        }
        let sums = |table: &str| {
            db.rows(&format!(
                "SELECT count(*), count(n), count(m), count(t), min(n), max(n), min(m), max(m), min(t), max(t), min(at),
                     max(at), min(day), max(day), min(r), max(r), min(even), max(even), min(d), max(d), sum(r)
                 FROM {table}"
            ))
        };
        assert_eq!(sums("t"), sums("memory.main.m"), "after {after}");
        for aggregate in ["count(*)", "count(m)", "min(t)", "max(at)", "max(r)", "min(day)", "max(n)"] {
            let value = |table: &str| db.value(&format!("SELECT {aggregate} FROM {table}"));
            assert_eq!(value("t"), value("memory.main.m"), "{aggregate}, after {after}");
        }
    };
    check("INSERT");
    for table in ["t", "memory.main.m"] {
        db.run(&format!("DELETE FROM {table} WHERE n % 10 = 9"));
        db.run(&format!("UPDATE {table} SET m = NULL WHERE n BETWEEN 11 AND 13"));
    }
    check("DELETE and UPDATE");
    db.run("OPTIMIZE t");
    check("OPTIMIZE");
}

#[test]
fn files_without_rows_of_a_condition_are_not_opened_and_counts_open_none() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t (n BIGINT, t TEXT)");
    for batch in 0..6 {
        db.run(&format!("INSERT INTO t SELECT {batch} * 10 + value, 'x' || {batch} FROM generate_series(0, 9)"));
    }
    let plan = |sql: &str| db.rows(&format!("EXPLAIN FORMAT INDENT {sql}")).concat().join("\n");
    let files = |sql: &str| plan(sql).matches(".parquet").count();
    assert_eq!(files("SELECT * FROM t"), 6, "{}", plan("SELECT * FROM t"));
    assert_eq!(files("SELECT * FROM t WHERE n = 33"), 1);
    assert_eq!(files("SELECT * FROM t WHERE n > 38 AND n < 51"), 3);
    assert_eq!(files("SELECT * FROM t WHERE t = 'x2' OR n < 10"), 2);
    assert_eq!(files("SELECT * FROM t WHERE n < 0"), 0);
    assert_eq!(files("SELECT count(*), max(n), count(t) FROM t"), 0);
    assert_eq!(db.rows("SELECT count(*), max(n), count(t) FROM t"), [["60", "59", "60"]]);
    // A version of the past has the files that it had.
    assert_eq!(files("SELECT * FROM t VERSION AS OF 4"), 4);
    assert_eq!(db.value("SELECT sum(n) FROM t VERSION AS OF 4"), "780");
}

/// Tables whose rows are not just those of their files: of other writers.
const WRITE: &str = r"
import sys
import deltalake, pyarrow
rows = pyarrow.table({'part': [1, 1, 2], 'a': [1, 2, 3], 'b': ['x', None, 'z']})
deltalake.write_deltalake(sys.argv[1] + '/parts', rows, partition_by=['part'])
deltalake.write_deltalake(sys.argv[1] + '/odd', rows, partition_by=['b'])
grown = sys.argv[1] + '/grown'
deltalake.write_deltalake(grown, rows.drop_columns(['b']))
deltalake.write_deltalake(grown, rows, mode='append', schema_mode='merge')
item = pyarrow.field('item', pyarrow.int64(), nullable=False)
strict = pyarrow.schema([pyarrow.field('l', pyarrow.list_(item), nullable=False)])
deltalake.write_deltalake(sys.argv[1] + '/strict', pyarrow.table({'l': [[1, 2], [3]]}, schema=strict))
";

#[test]
fn tables_that_are_more_than_their_files_are_read_all_the_same() {
    let Some(python) = peers::python() else { return };
    let lab = Lab::new();
    let folder = lab.beside("others");
    std::fs::create_dir(&folder).unwrap();
    let output = Command::new(python).args(["-c", WRITE, &folder]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let db = lab.open();
    db.run(&format!("ATTACH '{folder}' AS others (TYPE delta)"));
    assert_eq!(
        db.rows("SELECT part, count(*), sum(a), max(b) FROM others.parts GROUP BY part ORDER BY part"),
        [["1", "2", "3", "x"], ["2", "1", "3", "z"]]
    );
    assert_eq!(db.rows("SELECT a FROM others.parts WHERE part = 2"), [["3"]]);
    assert_eq!(db.rows("SELECT a FROM others.odd WHERE b IS NULL"), [["2"]]);
    assert_eq!(db.rows("SELECT count(*), count(b), sum(a) FROM others.grown"), [["6", "2", "12"]]);
    assert_eq!(db.rows("SELECT count(*) FROM others.grown WHERE b IS NULL"), [["4"]]);
    assert_eq!(db.rows("SELECT l FROM others.strict WHERE l[1] = 3"), [["[3]"]]);
}
