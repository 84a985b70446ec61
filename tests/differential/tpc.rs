//! The queries of TPC-H and TPC-DS at a small scale: the rows are DuckDB's.
//!
//! `BONNET_TPC_PYTHON` is a Python with `duckdb` and the packages of its extensions, `duckdb-extension-tpch` and
//! `duckdb-extension-tpcds`, all of one version. `BONNET_TPC_SCALE` is the scale factor (default 0.01: 10 MB).

use std::process::Command;

use super::super::Db;
use super::duckdb::row;
use super::listed;
use super::rows::{Row, of_batches, same_within};

/// Writes the tables as Parquet files below the folder of the first argument, and prints for each query a line: the
/// benchmark, the number, the text, the rows.
const PEER: &str = r#"
import datetime, decimal, duckdb, glob, json, os, sys
folder, scale = sys.argv[1:]
def text(value):
    if value is None: return None
    if isinstance(value, bool): return 't' + str(value).lower()
    if isinstance(value, float): return 'f' + repr(value)
    if isinstance(value, (int, decimal.Decimal)): return 'n' + format(value, 'f')
    return 't' + str(value)
connection = duckdb.connect(config={'allow_unsigned_extensions': 'true'})
connection.execute('SET enable_progress_bar = false')
packages = os.path.dirname(os.path.dirname(duckdb.__file__))
for name, make in [('tpch', 'dbgen'), ('tpcds', 'dsdgen')]:
    extension, = glob.glob(f'{packages}/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension')
    connection.execute(f"LOAD '{extension}'")
    connection.execute(f'CREATE SCHEMA {name}; USE {name}; CALL {make}(sf={scale})')
    os.mkdir(f'{folder}/{name}')
    for table, in connection.execute(f"SELECT table_name FROM duckdb_tables() WHERE schema_name = '{name}'").fetchall():
        connection.execute(f"COPY {table} TO '{folder}/{name}/{table}.parquet' (FORMAT parquet)")
    for number, query in connection.execute(f'SELECT query_nr, query FROM {name}_queries()').fetchall():
        rows = connection.execute(query).fetchall()
        print(json.dumps([name, number, query, [[text(value) for value in row] for row in rows]]))
"#;

/// Averages of decimals have four digits more than the values here, and are DOUBLEs there.
const TOLERANCE: f64 = 1e-6;

/// Queries whose rows differ, each with its reason. None does.
const ACCEPTED: [(&str, u64, &str); 0] = [];

#[test]
fn the_queries_of_tpc_answer_as_in_duckdb() {
    let python = std::env::var("BONNET_TPC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let imports = "import duckdb, duckdb_extension_tpch, duckdb_extension_tpcds";
    if !Command::new(&python).args(["-c", imports]).output().is_ok_and(|output| output.status.success()) {
        assert!(
            std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"),
            "{python} lacks duckdb with TPC-H and TPC-DS"
        );
        println!("skipped: {python} lacks duckdb with the extensions tpch and tpcds");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scale = std::env::var("BONNET_TPC_SCALE").unwrap_or_else(|_| "0.01".to_owned());
    let output = Command::new(python).args(["-c", PEER]).arg(folder.path()).arg(scale).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut db, mut tables_of) = (Db::new(), String::new());
    let (mut compared, mut filled) = (0, 0);
    let mut differences = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let [name, number, query, rows] = line.as_array().unwrap().as_slice() else { panic!("{line}") };
        let (name, number, query) = (name.as_str().unwrap(), number.as_u64().unwrap(), query.as_str().unwrap());
        let theirs: Vec<Row> = rows.as_array().unwrap().iter().map(row).collect();
        if tables_of != name {
            (db, tables_of) = (Db::new(), name.to_owned());
            for file in std::fs::read_dir(folder.path().join(name)).unwrap() {
                let path = file.unwrap().path();
                let table = path.file_stem().unwrap().to_str().unwrap();
                db.run(&format!("CREATE VIEW {table} AS SELECT * FROM '{}'", path.display()));
            }
        }
        if ACCEPTED.iter().any(|(benchmark, accepted, _)| *benchmark == name && *accepted == number) {
            continue;
        }
        (compared, filled) = (compared + 1, filled + usize::from(!theirs.is_empty()));
        match db.try_run(query).map(|batches| of_batches(&batches)) {
            Ok(ours) if same_within(&ours, &theirs, TOLERANCE) => {}
            Ok(ours) => differences.push(format!("{name} {number}:\n{}in DuckDB:\n{}", listed(&ours), listed(&theirs))),
            Err(error) => differences.push(format!("{name} {number} is refused: {error}")),
        }
    }
    println!("{compared} queries compared, {filled} of them with rows");
    assert_eq!(compared + ACCEPTED.len(), 22 + 99);
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}
