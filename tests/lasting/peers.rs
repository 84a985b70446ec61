//! Other programs read our tables as they are.

use std::process::Command;

use super::Lab;

/// The Python with the packages that read Delta tables: `BONNET_PYTHON`, else the one on the path.
pub(super) fn python() -> Option<String> {
    let python = std::env::var("BONNET_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python).args(["-c", "import deltalake, duckdb, pyarrow"]).output();
    if has.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "{python} lacks deltalake, duckdb or pyarrow");
    println!("skipped: {python} lacks deltalake, duckdb or pyarrow");
    None
}

const READ: &str = r"
import sys
import deltalake, duckdb
table = deltalake.DeltaTable(sys.argv[1])
rows = table.to_pyarrow_dataset()
print(table.version(), *[f'{field.name}:{field.type}' for field in table.schema().fields], sep='|')
print(*duckdb.sql('SELECT count(*), sum(n), min(t), max(r), sum(len(l)), sum(s.x) FROM rows').fetchall()[0], sep='|')
print(*duckdb.sql('SELECT sum(map_values(m)[1]) FROM rows').fetchall()[0], sep='|')
print(deltalake.DeltaTable(sys.argv[1], version=0).to_pyarrow_table().num_rows)
deltalake.write_deltalake(sys.argv[1], table.to_pyarrow_table().slice(0, 1), mode='append')
";

#[test]
fn deltalake_and_duckdb_read_what_we_write_and_we_what_they_append() {
    let Some(python) = python() else { return };
    let lab = Lab::new();
    let db = lab.open();
    db.run(
        "CREATE TABLE t AS SELECT value AS n, 'text ' || value AS t, value / 4.0 AS r, [value, 2] AS l,
             {'x': value} AS s, MAP {1: value * 0.5} AS m, value % 2 = 0 AS even,
             TIMESTAMP '2026-01-31 12:00:00' AS at, row_number() OVER (ORDER BY value) AS i
         FROM generate_series(1, 10)",
    );
    db.run("DELETE FROM t WHERE n = 10");
    db.run("UPDATE t SET t = 'new' WHERE n = 1");
    db.run("INSERT INTO t SELECT * FROM t WHERE n = 2");
    let folder = std::fs::read_dir(lab.root().join("tables/main")).unwrap().next().unwrap().unwrap().path();
    let output = Command::new(python).args(["-c", READ]).arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("3|n:"), "{text}");
    // The same by hand: 1 to 9, and 2 once more.
    assert_eq!(lines[1], "10|47|new|2.25|20|47", "{text}");
    assert_eq!(lines[2], "23.5", "{text}");
    assert_eq!(lines[3], "10", "{text}");
    assert_eq!(db.rows("SELECT count(*) FROM t"), [["11"]]);
    assert_eq!(
        db.rows("SELECT operation, engine LIKE 'bonnetdb%' FROM bonnet.history('t') ORDER BY version DESC LIMIT 1"),
        [["WRITE", "false"]]
    );
}
