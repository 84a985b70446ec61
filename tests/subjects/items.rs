//! Items with their features in place of a graph: runs that are saved and asked about new rows.

use crate::Db;

/// 200 points of two words, three in four of which are known.
fn points() -> Db {
    let db = Db::new();
    db.run(
        "CREATE TABLE points AS
         SELECT value AS id, CASE value % 2 WHEN 0 THEN 'no' ELSE 'yes' END AS word, 3 * sin(value) + value % 2 AS y,
                [CAST(value % 2 AS DOUBLE) * 3 + sin(value * 1.7), 1000 * cos(value * 2.3), value % 7] AS x,
                CASE WHEN value >= 150 THEN NULL WHEN value % 5 < 3 THEN 'train' WHEN value % 5 = 3 THEN 'val' ELSE 'test' END AS split
         FROM generate_series(0, 199)",
    );
    db
}

#[test]
fn rows_that_come_later_are_predicted_by_the_run_that_was_saved() {
    let db = points();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for (task, label) in [("node_classification", "word"), ("node_regression", "y")] {
        let options = format!("task => '{task}', normalize => 'standard', epochs => 40");
        let known = format!("SELECT id AS node, x AS features, {label} AS label, split FROM points");
        db.run(&format!(
            "CREATE OR REPLACE TABLE run AS SELECT * FROM train((SELECT 'mlp' AS model, 5 AS seed), {options}, save => '{path}',
                 items => ({known} WHERE id < 150))"
        ));
        assert_eq!(db.value("SELECT status FROM run"), "ok", "{}", db.value("SELECT error FROM run"));
        let saved = db.value("SELECT saved FROM run");
        assert!(saved.contains("items-mlp-5-"), "{saved}");
        // New rows with neither label nor split: what the run that was saved says of them had they been there.
        let later = format!(
            "SELECT node, part, label, prediction, outputs FROM predict((SELECT 'mlp' AS model), task => '{task}',
                 normalize => 'standard', load => '{saved}', items => (SELECT id AS node, x AS features FROM points WHERE id >= 150))"
        );
        let at_once = format!(
            "SELECT node, part, NULL, prediction, outputs FROM predict((SELECT 'mlp' AS model, 5 AS seed), {options},
                 items => ({known})) WHERE part IS NULL"
        );
        assert_eq!(db.value(&format!("SELECT count(*) FROM ({later})")), "50");
        assert_eq!(db.value(&format!("SELECT count(*) FROM ({later} EXCEPT {at_once})")), "0");
        // Of other rows, another run is another file.
        db.run(&format!(
            "CREATE OR REPLACE TABLE other AS SELECT * FROM train((SELECT 'mlp' AS model, 5 AS seed), {options}, save => '{path}',
                 items => ({known} WHERE id < 149))"
        ));
        assert_ne!(db.value("SELECT saved FROM other"), saved);
        assert_ne!(db.value("SELECT graph_hash FROM other"), db.value("SELECT graph_hash FROM run"));
    }
}

#[test]
fn classes_are_those_of_the_run_that_was_saved() {
    let db = points();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let saved = db.value(&format!(
        "SELECT saved FROM train((SELECT 'mlp' AS model), normalize => 'standard', epochs => 60, save => '{path}',
             items => (SELECT id AS node, x AS features, word AS label, split FROM points WHERE id < 150))"
    ));
    let of = |labels: &str, more: &str| {
        format!(
            "train((SELECT 'mlp' AS model), normalize => 'standard', load => '{saved}', epochs => 0,
                 items => (SELECT id AS node, x{more} AS features, {labels} AS label, 'test' AS split FROM points WHERE id % 2 = 1))"
        )
    };
    // Rows of one class alone, whose number is 1 in the run: nearly all are right, and would be wrong as class 0.
    assert_eq!(db.rows(&format!("SELECT status, test_accuracy > 0.9 FROM {}", of("word", ""))), [["ok", "true"]]);
    let error = |call: String| db.value(&format!("SELECT error FROM {call}"));
    let unknown = error(of("'maybe'", ""));
    assert_eq!(unknown, "the label of node 1 is maybe, and the saved run knows: no, yes");
    let wide = error(of("word", "[1:2]"));
    assert!(wide.contains("2 features, where the saved run was trained on 3"), "{wide}");
}
