//! A function in FROM runs once per statement, however often its CTE or view is read.

use super::Db;

const JOBS: &str = "SELECT 'karate' AS graph, 'gcn' AS model, value AS seed FROM generate_series(0, 2)";

#[test]
fn a_cte_over_train_joined_to_itself_trains_each_job_once() {
    let db = Db::with_karate();
    let rows = db.rows(&format!(
        "WITH runs AS (SELECT * FROM train(({JOBS}), epochs => 20, features => 'identity'))
         SELECT a.seed, a.status, a.train_seconds > 0, a.train_seconds = b.train_seconds, a.test_seconds = b.test_seconds
         FROM runs a JOIN runs b ON a.seed = b.seed ORDER BY 1"
    ));
    let row = |seed| vec![seed, "ok", "true", "true", "true"];
    assert_eq!(rows, [row("0"), row("1"), row("2")]);
}

#[test]
fn readers_of_different_columns_share_a_run() {
    let db = Db::with_karate();
    let rows = db.rows(&format!(
        "WITH runs AS (SELECT * FROM train(({JOBS}), epochs => 20, features => 'identity'))
         SELECT count(*), count(DISTINCT seconds) FROM (
             SELECT seed, train_seconds AS seconds FROM runs
             UNION ALL SELECT seed + 100, train_seconds FROM runs WHERE test_accuracy >= 0
             UNION ALL SELECT NULL, max(train_seconds) FROM runs GROUP BY seed)"
    ));
    assert_eq!(rows, [["9", "3"]]);
}

#[test]
fn a_view_read_twice_runs_once() {
    let db = Db::with_karate();
    db.run(&format!("CREATE VIEW runs AS SELECT * FROM train(({JOBS}), epochs => 20, features => 'identity')"));
    let sql = "SELECT sum((a.train_seconds = b.train_seconds)::INT) FROM runs a JOIN runs b USING (seed)";
    assert_eq!(db.value(sql), "3");
    // Inside a scalar subquery, too.
    let sql = "SELECT count(*) FROM runs WHERE train_seconds = (SELECT max(train_seconds) FROM runs)";
    assert_eq!(db.value(sql), "1");
}

#[test]
fn two_statements_are_two_runs() {
    let db = Db::with_karate();
    db.run(&format!("CREATE VIEW runs AS SELECT * FROM train(({JOBS}), epochs => 20, features => 'identity')"));
    let seconds = || db.rows("SELECT train_seconds FROM runs ORDER BY seed");
    assert_ne!(seconds(), seconds());
}

#[test]
fn a_volatile_input_is_seen_once() {
    let db = Db::with_karate();
    // Half of 78 edges at random: two draws agree on all components once in a very long while.
    let sql = "WITH parts AS (
             SELECT * FROM connected_components((SELECT * FROM karate.edges WHERE random() < 0.5), nodes => karate.nodes))
         SELECT count(*) FROM parts a FULL JOIN parts b USING (node)
         WHERE (a.component IS DISTINCT FROM b.component) OR (a.size IS DISTINCT FROM b.size)";
    for _ in 0..3 {
        assert_eq!(db.value(sql), "0");
    }
    let draws: std::collections::BTreeSet<_> = (0..5)
        .map(|_| {
            db.value(
                "SELECT string_agg(component, ',' ORDER BY node) FROM connected_components(
                     (SELECT * FROM karate.edges WHERE random() < 0.5), nodes => karate.nodes)",
            )
        })
        .collect();
    assert!(draws.len() > 1, "random() draws the same edges in every statement");
}

#[test]
fn other_options_are_another_run() {
    let db = Db::with_karate();
    let rows = db.rows(
        "SELECT a.node FROM midpoint_curvature(karate.edges) a JOIN midpoint_curvature(karate.edges, relative => false) b
         USING (node) WHERE a.curvature = b.curvature AND a.curvature <> 0",
    );
    assert!(rows.is_empty(), "{rows:?}");
}
