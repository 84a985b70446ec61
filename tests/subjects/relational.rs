//! Published relational data as graphs.

use bonnetdb::EngineOptions;

use crate::{Db, data};

/// A schema `name` with a view of every CSV file of a folder.
fn schema_of_files(db: &Db, name: &str, folder: &str) {
    db.run(&format!("CREATE SCHEMA {name}"));
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "csv")) {
        let table = file.file_stem().unwrap().to_str().unwrap();
        let file = file.to_str().unwrap().replace('\'', "''");
        db.run(&format!("CREATE VIEW {name}.{table} AS SELECT * FROM '{file}'"));
    }
}

#[test]
fn formula_1_is_one_connected_graph_of_17_types() {
    let Some(folder) = data("relational/f1") else { return };
    let db = Db::new();
    schema_of_files(&db, "f1", &folder);
    // One text of a table names a race by its year and name, which its own name (Event) does not say.
    let create = "FROM SCHEMA f1 KEYS (fatal_accidents_marshalls.Event -> races(year, name),
        fatal_accidents_drivers.Event -> races(year, name))";
    let printed = db.rows(&format!("CREATE GRAPH g {create}"));
    // Rows, NULLs and dangling keys counted by a Python script over the files.
    let foreign: Vec<String> = printed
        .iter()
        .filter(|row| row[0] == "foreign")
        .map(|row| [&row[1..2], &row[3..7]].concat().join(" "))
        .collect();
    assert_eq!(
        foreign,
        [
            "constructor_results.raceId -> races.raceId inferred 12805 0 0",
            "constructor_results.constructorId -> constructors.constructorId inferred 12805 0 0",
            "constructor_standings.raceId -> races.raceId inferred 13571 0 0",
            "constructor_standings.constructorId -> constructors.constructorId inferred 13571 0 0",
            "driver_standings.raceId -> races.raceId inferred 35235 0 0",
            "driver_standings.driverId -> drivers.driverId inferred 35235 0 0",
            "fatal_accidents_drivers.Driver -> drivers(forename, surname) inferred 42 0 9",
            "fatal_accidents_drivers.Event -> races(year, name) declared 33 0 18",
            "fatal_accidents_marshalls.Event -> races(year, name) declared 5 0 0",
            "pit_stops.raceId -> races.raceId inferred 12016 0 0",
            "pit_stops.driverId -> drivers.driverId inferred 12016 0 0",
            "qualifying.raceId -> races.raceId inferred 10854 0 0",
            "qualifying.driverId -> drivers.driverId inferred 10854 0 0",
            "qualifying.constructorId -> constructors.constructorId inferred 10854 0 0",
            "races.year -> seasons.year inferred 1149 0 0",
            "races.circuitId -> circuits.circuitId inferred 1149 0 0",
            "red_flags.Race -> races(year, name) inferred 98 0 0",
            "results.raceId -> races.raceId inferred 27118 0 0",
            "results.driverId -> drivers.driverId inferred 27118 0 0",
            "results.constructorId -> constructors.constructorId inferred 27118 0 0",
            "results.statusId -> status.statusId inferred 27118 0 0",
            "safety_cars.Race -> races(year, name) inferred 362 0 0",
            "sprint_results.raceId -> races.raceId inferred 420 0 0",
            "sprint_results.driverId -> drivers.driverId inferred 420 0 0",
            "sprint_results.constructorId -> constructors.constructorId inferred 420 0 0",
            "sprint_results.statusId -> status.statusId inferred 420 0 0",
            // The name fits, but 'D' (disqualified) is no status.
            "constructor_results.status -> status.status refused 0 12788 17",
        ]
    );
    assert_eq!(db.value("SELECT count(*) FROM g.nodes"), "115052");
    assert_eq!(db.value("SELECT count(DISTINCT type) FROM g.nodes"), "17");
    assert_eq!(db.value("SELECT count(*) FROM g.edges"), "292806");
    // One component, and ten rows to which nothing refers: seven of the accidents, two statuses, one constructor.
    let components = "SELECT size, count(*) FROM connected_components(g.edges, nodes => g.nodes)
        GROUP BY size ORDER BY size DESC";
    assert_eq!(db.rows(components), [["115042", "115042"], ["1", "10"]]);
    let alone = "SELECT type, count(*) FROM g.nodes JOIN connected_components(g.edges, nodes => g.nodes) USING (node)
        WHERE size = 1 GROUP BY type ORDER BY type";
    assert_eq!(db.rows(alone), [["constructors", "1"], ["fatal_accidents_drivers", "7"], ["status", "2"]]);
    db.run(&format!("CREATE OR REPLACE GRAPH g {create} WITH (isolated => false)"));
    assert_eq!(db.rows(components), [["115042", "115042"]]);
    // \N is NULL, and what is left of such a column are numbers: 26 numbers and no text make a result's time of retirement.
    let encodings = db.rows("SELECT \"column\", encoding FROM g.features WHERE type = 'results' ORDER BY \"column\"");
    for (column, encoding) in
        [("milliseconds", "number"), ("fastestLap", "number"), ("time", "text"), ("raceId", "foreign key")]
    {
        assert!(encodings.iter().any(|row| row[0] == column && row[1] == encoding), "{column}: {encodings:?}");
    }
    // A byte-order mark is no part of a name.
    assert_eq!(
        db.value("SELECT count(*) FROM g.features WHERE type = 'fatal_accidents_drivers' AND \"column\" = 'Driver'"),
        "1"
    );
}

#[test]
fn a_graph_of_a_schema_does_not_depend_on_threads() {
    let Some(folder) = data("relational/f1") else { return };
    let made = |threads| {
        let db = Db::with(EngineOptions { threads: Some(threads), ..EngineOptions::default() });
        schema_of_files(&db, "f1", &folder);
        db.run("CREATE GRAPH g FROM SCHEMA f1");
        db.rows(
            "SELECT sum(node * cardinality(features)), sum(node * map_values(features)[1]),
                (SELECT sum(src * 7 + dst) FROM g.edges) AS edges FROM (SELECT * FROM g.nodes ORDER BY node)",
        )
    };
    assert_eq!(made(1), made(4));
}

#[test]
fn a_graph_of_a_schema_keeps_to_the_memory_limit() {
    let db = Db::with(EngineOptions { threads: Some(2), memory_limit: Some(20 << 20), ..EngineOptions::default() });
    db.run("CREATE SCHEMA s");
    db.run("CREATE VIEW s.a AS SELECT value AS id, value % 1000 AS x FROM generate_series(1, 1000000)");
    db.refuses("CREATE GRAPH g FROM SCHEMA s", &["CREATE GRAPH", "--memory-limit"]);
    assert!(db.error("SELECT * FROM g.nodes").contains("not found"));
}

#[test]
fn files_with_marks_for_null_short_rows_and_a_byte_order_mark_are_typed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("laps.csv");
    // Far below what types are found from, `\N` still stands for NULL; the last row ends early.
    let mut text = "\u{feff}lapId,time,driver\n".to_owned();
    (1..=25_000).for_each(|lap| text += &format!("{lap},{}.5,Ann\n", lap % 7));
    text += "25001,\\N,\\N\n25002,3\n";
    std::fs::write(&file, text).unwrap();
    let db = Db::new();
    let laps = format!("'{}'", file.to_str().unwrap());
    let found = db.rows(&format!("SELECT count(*), count(time), count(driver), max(\"lapId\"), sum(time) FROM {laps}"));
    // 25,000 = 3571 * 7 + 3 laps: (0 + ... + 6) 3571 + 1 + 2 + 3, a half each, and the 3 of the last row.
    assert_eq!(found, [["25002", "25001", "25000", "25002", "87500.0"]]);
    assert_eq!(db.value(&format!("SELECT arrow_typeof(time) FROM {laps} LIMIT 1")), "Float64");
    db.run("CREATE SCHEMA s");
    db.run(&format!("CREATE VIEW s.laps AS SELECT * FROM {laps}"));
    let keys = db.rows("CREATE GRAPH g FROM SCHEMA s");
    assert_eq!(keys[0][1..5].join(" "), "laps.lapId laps inferred 25002");
}
