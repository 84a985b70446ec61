//! What an earlier build wrote opens in this one: `fixtures/database_109f6ab.zip` holds a database (tables with updates,
//! deletes, a checkpoint and files removed; views, graphs, an attached graph) and saved models, both written by the
//! command of commit 109f6ab, whose answers stand below.

use bonnetdb::EngineOptions;
use tempfile::TempDir;
use zip::ZipArchive;

use crate::Db;

fn unpacked() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = crate::repository().join("tests/fixtures/database_109f6ab.zip");
    ZipArchive::new(std::fs::File::open(file).unwrap()).unwrap().extract(folder.path()).unwrap();
    folder
}

fn open(folder: &TempDir) -> Db {
    let database = Some(folder.path().join("lab.bonnet"));
    Db::with(EngineOptions { threads: Some(2), database, ..EngineOptions::default() })
}

#[test]
fn a_database_of_an_earlier_build_answers_as_it_did() {
    let folder = unpacked();
    let answers: [(&str, &[&[&str]]); 9] = [
        ("SELECT * FROM best ORDER BY model", &[&["appnp", "0.81"], &["gcn", "0.82"], &["mlp", "0.55"]]),
        ("SELECT count(*), sum(i) FROM counted", &[&["101", "5050"]]),
        ("SELECT count(*) FROM results VERSION AS OF 2", &[&["4"]]),
        ("SELECT count(*), round(sum(curvature), 6) FROM curved", &[&["12", "-0.142857"]]),
        ("SELECT * FROM karate.hubs ORDER BY degree DESC, src LIMIT 1", &[&["0", "16"]]),
        ("SELECT count(*), sum(epochs_run) FROM runs WHERE status = 'ok'", &[&["5", "25"]]),
        (
            "SELECT graph, nodes, edges, directed FROM bonnet.graphs ORDER BY graph",
            &[&["karate", "34", "78", "false"], &["study", "4", "4", "false"], &["tree", "12", "11", "false"]],
        ),
        ("SELECT count(*) FROM bonnet.history('counted')", &[&["105"]]),
        ("SELECT count(*) FROM study.edges JOIN study.nodes ON src = node", &[&["4"]]),
    ];
    let db = open(&folder);
    for (sql, expected) in answers {
        assert_eq!(db.rows(sql), expected, "{sql}");
    }
}

#[test]
fn a_database_of_an_earlier_build_is_written() {
    let folder = unpacked();
    let db = open(&folder);
    db.run("INSERT INTO counted VALUES (1000)");
    db.run("DELETE FROM results WHERE model = 'appnp'");
    db.run("CREATE OR REPLACE VIEW best AS SELECT count(*) AS models FROM results");
    db.run("OPTIMIZE results");
    drop(db);
    let db = open(&folder);
    assert_eq!(db.rows("SELECT count(*), sum(i) FROM counted"), [["102", "6050"]]);
    assert_eq!(db.value("SELECT models FROM best"), "3");
}

#[test]
fn models_of_an_earlier_build_load() {
    let folder = unpacked();
    let db = Db::with_karate();
    let saved = folder.path().join("saved").display().to_string();
    let models = "('appnp'), ('gat'), ('gcn'), ('graphsage'), ('mlp')";
    let rows = db.rows(&format!(
        "SELECT model, count(*), round(sum(probability), 4) FROM predict((
             SELECT 'karate' AS graph, model, 0 AS seed, '{saved}/' || model || '.safetensors' AS load
             FROM (VALUES {models}) AS m(model)
         ), features => 'identity', hidden => 4) GROUP BY model ORDER BY model"
    ));
    let expected = [("appnp", 18.3968), ("gat", 17.9953), ("gcn", 17.4167), ("graphsage", 24.578), ("mlp", 19.4469)];
    assert_eq!(rows.len(), expected.len(), "{rows:?}");
    for (row, (model, sum)) in rows.iter().zip(expected) {
        assert_eq!(row[..2], [model, "34"]);
        let found: f64 = row[2].parse().unwrap();
        // The last digits may differ between processors.
        assert!((found - sum).abs() < 2e-4, "{model}: {found} instead of {sum}");
    }
}
