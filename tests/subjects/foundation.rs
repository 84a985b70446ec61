//! Encoders of several graphs: what pre-training sees, and what it does not.

use std::fs;

use crate::Db;

/// Two sources, and a target with few nodes of each class.
const GRAPHS: [(&str, &str); 3] = [
    ("one", "blocks => 3, nodes_per_block => 30, p_within => 0.3, p_between => 0.02, features => 8, seed => 1"),
    ("two", "blocks => 2, nodes_per_block => 40, p_within => 0.2, p_between => 0.02, features => 12, seed => 2"),
    ("target", "blocks => 3, nodes_per_block => 40, p_within => 0.25, p_between => 0.02, features => 10, seed => 3"),
];

fn create(db: &Db, names: &[&str]) {
    for (name, options) in GRAPHS.iter().filter(|(name, _)| names.contains(name)) {
        db.run(&format!("CREATE GRAPH {name} AS stochastic_block_model({options}, separation => 4)"));
    }
}

/// The bytes of the encoders of every model, in the order of their names, as they are saved in a folder.
fn encoders(db: &Db, folder: &str) -> Vec<Vec<u8>> {
    let rows = db.rows(&format!(
        "SELECT model, status, saved FROM pretrain((SELECT ['two', 'one'] AS graphs, name AS model FROM bonnet.models
         WHERE family = 'graph foundation models'), dim => 6, hidden => 8, layers => 2, epochs => 4, save => '{folder}') ORDER BY model"
    ));
    assert!(rows.len() >= 4 && rows.iter().all(|row| row[1] == "ok"), "{rows:?}");
    rows.iter().map(|row| fs::read(&row[2]).unwrap()).collect()
}

#[test]
fn an_encoder_knows_neither_labels_nor_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let db = Db::new();
    create(&db, &["one", "two"]);
    let absent = encoders(&db, folder);
    // The target there, with its labels, and altered.
    create(&db, &["target"]);
    assert_eq!(encoders(&db, folder), absent);
    db.run("DELETE FROM target.edges WHERE src < 30");
    assert_eq!(encoders(&db, folder), absent);
    // Labels of a source moved by one node, and none at all.
    db.run("CREATE OR REPLACE TABLE one.nodes AS SELECT node, (label + node) % 3 AS label, features FROM one.nodes");
    assert_eq!(encoders(&db, folder), absent);
    db.run("CREATE OR REPLACE TABLE one.nodes AS SELECT node, features FROM one.nodes");
    assert_eq!(encoders(&db, folder), absent);
    // An edge of a source makes another encoder.
    db.run("DELETE FROM one.edges WHERE src < 2");
    let altered = encoders(&db, folder);
    assert!(altered.iter().zip(&absent).all(|(a, b)| a != b));
}
