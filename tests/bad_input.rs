//! Bad input: every error says what, where and what to do; nothing else is lost, and the session lives on.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bonnetdb::{Answer, EngineOptions};
use futures::StreamExt;

use super::{Db, data};

/// A schema `g` of these nodes and edges.
fn graph(db: &Db, nodes: &str, edges: &str) {
    db.run("CREATE SCHEMA g");
    db.run(&format!("CREATE TABLE g.nodes AS {nodes}"));
    db.run(&format!("CREATE TABLE g.edges AS {edges}"));
}

/// Status and error of two jobs: one on the graph, one on the karate club beside it, which has to go well.
fn train(db: &Db, columns: &str) -> (String, String) {
    let rows = db.rows(&format!(
        "SELECT graph, status, error FROM train((SELECT unnest(['g', 'karate']) AS graph, 'gcn' AS model {columns}),
         epochs => 3, features => 'identity') ORDER BY graph"
    ));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[1], ["karate", "ok", "NULL"]);
    (rows[0][1].clone(), rows[0][2].clone())
}

fn shorten(file: &Path, keep: f64) {
    let bytes = fs::read(file).unwrap();
    fs::write(file, &bytes[..(bytes.len() as f64 * keep) as usize]).unwrap();
}

/// A copy of a folder of published files.
fn copy(folder: &str) -> Option<tempfile::TempDir> {
    let from = data(folder)?;
    let to = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
    }
    Some(to)
}

/// Files that would be read in part, or not at all, say what is wrong with them.
#[test]
fn damaged_files_of_tables_are_not_read_in_part() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::new();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    for (name, text, says) in [
        ("cut.json", "[{\"a\":1},{\"a\":2}", "is cut short"),
        ("more.json", "[{\"a\":1}]\n[{\"a\":2}]\n", "goes on behind its array, at byte 10"),
        ("quote.csv", "a,b\n1,\"x\n2,y\n3,z\n", "a text in quotes does not end before the file does"),
        ("twice.csv", "a,b,a\n1,2,3\n", "two columns are called \"a\""),
    ] {
        db.refuses(&format!("SELECT count(*) FROM '{}'", file(name, text)), &[says]);
    }
    let rows = "{\"a\":1}\n".repeat(1000) + "{\"a\":2.5}\n{\"b\":\"x\"}\n";
    let rows = file("late.ndjson", &rows);
    assert_eq!(db.value(&format!("SELECT concat_ws(' ', sum(a), max(b), count(*)) FROM '{rows}'")), "1002.5 x 1002");
    let (keys, some) = (folder.path().join("keyed/k=1"), folder.path().join("some"));
    for (name, path) in [("x.csv", &keys), ("y.csv", &some)] {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join(name), "v\n1\n").unwrap();
    }
    let root = folder.path().display();
    assert_eq!(db.value(&format!("SELECT count(*) FROM '{root}/s*/*.csv'")), "1");
    assert_eq!(db.value(&format!("SELECT k FROM '{root}/keyed/k=*/*.csv'")), "1");
    db.refuses(&format!("SELECT * FROM '{root}/*/*.nosuch'"), &["does not end like a file of a table"]);
    db.refuses(&format!("SELECT * FROM '{root}/*/z*.csv'"), &["no file matches"]);
}

#[test]
fn a_missing_path_says_what_its_folder_holds() {
    let db = Db::new();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("cora")).unwrap();
    let path = folder.path().join("coda");
    let text = format!("'{}'", folder.path().display());
    for sql in
        [format!("ATTACH '{}' AS c", path.display()), format!("ATTACH '{}' AS c (TYPE planetoid)", path.display())]
    {
        db.refuses(&sql, &["there is no file or folder", "coda'", &text, "holds: cora"]);
    }
    db.refuses(&format!("SELECT * FROM '{}.csv'", path.display()), &["there is no file or folder", "coda.csv'", &text]);
    let empty = folder.path().join("cora");
    db.refuses(
        &format!("ATTACH '{}' AS c", empty.display()),
        &["is not recognised", "cora'", "planetoid", "edge_list"],
    );
}

#[test]
fn an_unknown_type_lists_those_that_exist() {
    let db = Db::new();
    let types = ["planetoid", "geom_gcn", "npz", "gnn_benchmark", "hgcn", "edge_list", "curvbench", "tables"];
    db.refuses("ATTACH 'builtin:karate' AS k (TYPE nonsense)", &["unknown TYPE 'nonsense'"]);
    db.refuses("ATTACH 'builtin:karate' AS k (TYPE nonsense)", &types);
}

#[test]
fn a_truncated_pickle_names_the_file() {
    let db = Db::with_karate();
    let Some(folder) = copy("planetoid/cora") else { return };
    shorten(&folder.path().join("ind.cora.graph"), 0.6);
    db.run(&format!("ATTACH '{}' AS g (TYPE planetoid)", folder.path().display()));
    db.refuses("SELECT count(src) FROM g.edges", &["ind.cora.graph'"]);
    // What is whole is still read, and the job on it fails alone.
    assert_eq!(db.value("SELECT count(label) FROM g.nodes"), "2708");
    let (status, error) = train(&db, "");
    assert!(status == "error" && error.contains("ind.cora.graph'"), "{status}: {error}");
    shorten(&folder.path().join("ind.cora.allx"), 0.5);
    db.refuses("SELECT count(features) FROM g.nodes", &["ind.cora.allx'"]);
}

#[test]
fn a_truncated_npz_names_the_file() {
    let db = Db::new();
    let Some(folder) = copy("heterophilous-graphs/texas") else { return };
    let file = folder.path().join("texas.npz");
    for keep in [0.9, 0.3, 0.0] {
        shorten(&file, keep);
        let attach = format!("ATTACH '{}' AS g (TYPE npz)", file.display());
        match db.try_run(&attach) {
            Err(error) => assert!(error.to_string().contains("texas.npz'"), "{error}"),
            Ok(_) => {
                db.refuses("SELECT * FROM g.nodes", &["texas.npz'"]);
                db.run("DETACH g");
            }
        }
    }
}

#[test]
fn a_truncated_parquet_names_the_file() {
    let db = Db::new();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let edges = path("edges.parquet");
    db.run(&format!(
        "COPY (SELECT value AS src, value + 1 AS dst FROM generate_series(0, 9999)) TO '{edges}' (FORMAT parquet)"
    ));
    db.run(&format!(
        "COPY (SELECT value AS node FROM generate_series(0, 10000)) TO '{}' (FORMAT csv)",
        path("nodes.csv")
    ));
    db.run(&format!("ATTACH '{}' AS g", folder.path().display()));
    assert_eq!(db.value("SELECT count(*) FROM connected_components(g.edges, nodes => g.nodes)"), "10001");
    shorten(Path::new(&edges), 0.5);
    db.refuses("SELECT count(src) FROM g.edges", &["edges.parquet"]);
    db.refuses(&format!("SELECT * FROM '{edges}'"), &["edges.parquet"]);
    assert_eq!(db.value("SELECT count(node) FROM g.nodes"), "10001");
}

#[test]
fn no_error_asks_for_a_report_to_datafusion() {
    let db = Db::with_karate();
    for (sql, call) in [
        ("SELECT round(articulation_points, 2) FROM articulation_points(karate.edges)", "round(BOOLEAN, BIGINT)"),
        ("SELECT trunc(true, 2)", "trunc(BOOLEAN, BIGINT)"),
        ("SELECT substr(1.5, true)", "substr(DOUBLE, BOOLEAN)"),
        ("SELECT date_trunc(1, 2)", "date_trunc(BIGINT, BIGINT)"),
    ] {
        let error = db.error(sql);
        assert!(
            error.starts_with(&format!("No function matches the given name and argument types '{call}'")),
            "{sql}\nsays: {error}"
        );
        assert!(!error.contains("bug") && !error.contains("Internal error"), "{sql}\nsays: {error}");
    }
}

#[test]
fn an_edge_to_a_node_that_nodes_lacks_is_named() {
    let db = Db::with_karate();
    graph(&db, "SELECT value AS node, value % 2 AS label FROM generate_series(0, 5)", "SELECT 0 AS src, 9 AS dst");
    for function in ["midpoint_curvature", "connected_components"] {
        db.refuses(
            &format!("SELECT * FROM {function}(g.edges, nodes => g.nodes)"),
            &[function, "an edge ends at node 9 (dst), which nodes lacks", "Add the node", "WHERE src IN"],
        );
    }
    db.refuses("SELECT * FROM graph_profile(karate, g)", &["graph_profile: graph g:", "nodes lacks"]);
    let (status, error) = train(&db, "");
    assert!(status == "error" && error.contains("nodes lacks"), "{status}: {error}");
}

#[test]
fn null_endpoints_are_no_edges() {
    let db = Db::with_karate();
    let edges = "SELECT src, dst FROM karate.edges UNION ALL SELECT NULL, 3 UNION ALL SELECT 4, NULL UNION ALL SELECT NULL, NULL";
    graph(&db, "SELECT node, label FROM karate.nodes", edges);
    let profile = |graph: &str| db.rows(&format!("SELECT nodes, edges, mean_curvature FROM graph_profile({graph})"));
    assert_eq!(profile("g"), profile("karate"));
    assert_eq!(db.value("SELECT count(*) FROM forman_ricci(g.edges) WHERE forman_ricci IS NULL"), "3");
    assert_eq!(db.value("SELECT max(size) FROM connected_components(g.edges)"), "34");
    let figures =
        "SELECT graph, test_accuracy, val_auc FROM train((SELECT unnest(['g', 'karate']) AS graph, 'gcn' AS model),
                   epochs => 5, features => 'identity') ORDER BY graph";
    let rows = db.rows(figures);
    assert_eq!(rows[0][1..], rows[1][1..]);
    // Nothing but NULLs, typed and not.
    assert_eq!(db.value("SELECT count(*) FROM midpoint_curvature((SELECT NULL AS src, NULL AS dst))"), "0");
    assert_eq!(
        db.value("SELECT count(*) FROM connected_components((SELECT NULL::TEXT AS src, NULL::TEXT AS dst))"),
        "0"
    );
}

#[test]
fn text_keys_are_keys_and_do_not_mix_with_integers() {
    let db = Db::with_karate();
    graph(
        &db,
        "SELECT 'n' || node AS node, label FROM karate.nodes",
        "SELECT 'n' || src AS src, 'n' || dst AS dst FROM karate.edges",
    );
    let profile = |graph: &str| db.rows(&format!("SELECT nodes, edges, regime FROM graph_profile({graph})"));
    assert_eq!(profile("g"), profile("karate"));
    assert_eq!(train(&db, "").0, "ok");
    let mixed = "SELECT * FROM connected_components(karate.edges, nodes => g.nodes)";
    db.refuses(mixed, &["holds integers", "holds text", "cast one of them", "src", "node"]);
    db.refuses(
        "SELECT forman_ricci(src, dst) OVER () FROM (SELECT 1 AS src, 'a' AS dst)",
        &["src holds integers and dst holds text", "CAST("],
    );
}

#[test]
fn an_empty_graph_has_no_rows_and_no_training() {
    let db = Db::with_karate();
    graph(&db, "SELECT 1 AS node, 1 AS label WHERE false", "SELECT 1 AS src, 2 AS dst WHERE false");
    for function in ["midpoint_curvature", "connected_components", "forman_ricci"] {
        assert_eq!(db.value(&format!("SELECT count(*) FROM {function}(g.edges)")), "0");
    }
    assert_eq!(db.rows("SELECT nodes, edges, regime FROM graph_profile(g)"), [["0", "0", "NULL"]]);
    let (status, error) = train(&db, "");
    assert!(status == "error" && error.contains("nothing to learn"), "{status}: {error}");
}

#[test]
fn one_node_and_self_loops_only_are_graphs() {
    let db = Db::with_karate();
    graph(&db, "SELECT 1 AS node, 1 AS label", "SELECT 1 AS src, 1 AS dst");
    assert_eq!(db.rows("SELECT * FROM midpoint_curvature(g.edges)"), [["1", "0.0"]]);
    assert_eq!(db.rows("SELECT * FROM connected_components(g.edges)"), [["1", "0", "1"]]);
    assert_eq!(db.rows("SELECT * FROM forman_ricci(g.edges)"), [["1", "1", "NULL"]]);
    assert_eq!(db.rows("SELECT nodes, edges, diameter FROM graph_profile(g)"), [["1", "0", "0"]]);
    let (_, error) = train(&db, "");
    assert!(!error.contains("defect"), "{error}");
    // Several nodes, each with a loop only: as many components, nothing curved, and labels to learn.
    db.run("CREATE OR REPLACE TABLE g.nodes AS SELECT value AS node, value % 2 AS label FROM generate_series(0, 9)");
    db.run("CREATE OR REPLACE TABLE g.edges AS SELECT node AS src, node AS dst FROM g.nodes");
    assert_eq!(db.value("SELECT max(component) FROM connected_components(g.edges)"), "9");
    assert_eq!(db.value("SELECT max(abs(curvature)) FROM midpoint_curvature(g.edges)"), "0.0");
    assert_eq!(db.value("SELECT count(forman_ricci) FROM forman_ricci(g.edges)"), "0");
    assert_eq!(train(&db, "").0, "ok");
}

#[test]
fn labels_that_are_all_null_are_nothing_to_learn() {
    let db = Db::with_karate();
    graph(&db, "SELECT value AS node, NULL::INT AS label FROM generate_series(0, 5)", "SELECT * FROM cycle(6)");
    let (status, error) = train(&db, "");
    assert_eq!((status.as_str(), error.as_str()), ("error", "all labels are NULL: there is nothing to learn"));
    assert_eq!(db.rows("SELECT classes, edge_homophily FROM graph_profile(g)"), [["NULL", "NULL"]]);
    // No column at all.
    db.run("CREATE OR REPLACE TABLE g.nodes AS SELECT value AS node FROM generate_series(0, 5)");
    let (status, error) = train(&db, "");
    assert!(status == "error" && error.contains("no column label"), "{status}: {error}");
}

#[test]
fn a_class_with_no_training_node_does_not_stop_a_run() {
    let db = Db::with_karate();
    graph(&db, "SELECT value AS node, value % 3 AS label FROM generate_series(0, 29)", "SELECT * FROM cycle(30)");
    db.run(
        "CREATE TABLE g.splits AS SELECT 0 AS split, node,
             CASE WHEN label < 2 AND node < 12 THEN 'train' WHEN node < 20 THEN 'val' ELSE 'test' END AS part FROM g.nodes",
    );
    assert_eq!(train(&db, ", CASE WHEN true THEN 'random:60/20/20' END AS split_scheme").0, "ok");
    let rows = db.rows(
        "SELECT status, error, test_accuracy <= 1, test_macro_f1 <= 1 FROM train((SELECT 'g' AS graph, 'gcn' AS model),
         epochs => 5, features => 'identity')",
    );
    assert_eq!(rows, [["ok", "NULL", "true", "true"]]);
    // No training node at all is another matter.
    db.run("CREATE OR REPLACE TABLE g.splits AS SELECT 0 AS split, node, 'test' AS part FROM g.nodes");
    let rows = db.rows(
        "SELECT status, error FROM train((SELECT 'g' AS graph, 'gcn' AS model), epochs => 5, features => 'identity')",
    );
    assert!(rows[0][0] == "error" && rows[0][1].contains("train"), "{rows:?}");
}

#[test]
fn one_wrong_job_of_many_fails_alone() {
    let db = Db::with_karate();
    let rows = db.rows(
        "SELECT status, count(*) FROM train((
             SELECT CASE value WHEN 3 THEN 'nothing' ELSE 'karate' END AS graph,
                 CASE value WHEN 5 THEN 'nothing' ELSE 'gcn' END AS model,
                 CASE value WHEN 7 THEN -1 ELSE 8 END AS hidden,
                 CASE value WHEN 8 THEN 'nothing' ELSE 'adam' END AS optimizer,
                 value AS seed
             FROM generate_series(0, 9)), epochs => 2, features => 'identity') GROUP BY status ORDER BY status",
    );
    assert_eq!(rows, [["error", "4"], ["ok", "6"]]);
}

#[test]
fn a_job_column_of_the_wrong_type_is_refused_before_anything_runs() {
    let db = Db::with_karate();
    for (column, parts) in [
        ("'x' AS seed", ["the job column seed is", "expected a whole number"]),
        ("1.5 AS hidden", ["the job column hidden is", "expected a whole number"]),
        ("true AS lr", ["the job column lr is BOOLEAN", "expected a number"]),
        ("[1] AS dropout", ["the job column dropout is", "expected a number"]),
        ("1 AS normalize", ["the job column normalize is BIGINT", "expected a text"]),
    ] {
        db.refuses(&format!("SELECT * FROM train((SELECT 'karate' AS graph, 'gcn' AS model, {column}))"), &parts);
        db.refuses(
            &format!("EXPLAIN SELECT * FROM train((SELECT 'karate' AS graph, 'gcn' AS model, {column}))"),
            &["CAST it"],
        );
    }
}

#[test]
fn reaching_the_memory_limit_is_an_error_and_a_status() {
    let db = Db::with(EngineOptions { threads: Some(2), memory_limit: Some(24 << 20), ..EngineOptions::default() });
    db.run("ATTACH 'builtin:karate' AS karate");
    let sql = "SELECT max(size) FROM connected_components((SELECT value AS src, value + 1 AS dst FROM generate_series(1, 3000000)))";
    let error = db.error(sql).to_lowercase();
    assert!(error.contains("memory") || error.contains("resources exhausted"), "{error}");
    db.refuses("CREATE GRAPH big AS complete(5000)", &[]);
    // A job that asks for too much says so; the next one has the memory to itself.
    let rows = db.rows(
        "SELECT hidden, status, error IS NULL FROM train((SELECT 'karate' AS graph, 'gcn' AS model,
         unnest([60000, 8]) AS hidden), epochs => 2, features => 'identity') ORDER BY hidden",
    );
    assert_eq!(rows, [["8", "ok", "true"], ["60000", "out_of_memory", "false"]]);
    // The graph stays, by intent.
    db.run("SET bonnet.graph_cache = 'off'");
    assert_eq!(reserved(&db), 0);
    assert_eq!(db.value("SELECT max(size) FROM connected_components(karate.edges)"), "34");
}

/// A statement that would train for hours, on a graph that does not stay.
fn long_training(db: &Db) -> &'static str {
    db.run("SET bonnet.graph_cache = 'off'");
    db.run("CREATE GRAPH blocks AS stochastic_block_model(nodes_per_block => 500, features => 64, p_within => 0.02, p_between => 0.002)");
    "SELECT * FROM train((SELECT 'blocks' AS graph, unnest(['gcn', 'gat', 'mlp', 'graphsage']) AS model, 10000000 AS epochs))"
}

/// Bytes that queries and tables hold.
fn reserved(db: &Db) -> usize {
    db.session.context().runtime_env().memory_pool.reserved()
}

/// Waits until a query that was dropped holds nothing beyond what was held before.
fn until_idle(db: &Db, what: &str, before: usize) {
    let dropped = Instant::now();
    while reserved(db) > before {
        assert!(dropped.elapsed() < Duration::from_secs(5), "{what} still holds memory after 5 s");
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("{what} ended after {:?}", dropped.elapsed());
    assert_eq!(db.value("SELECT count(*) FROM cycle(5)"), "5");
}

#[test]
fn dropping_the_rows_ends_training() {
    let db = Db::new();
    let sql = long_training(&db);
    let before = reserved(&db);
    db.engine.block_on(async {
        let Answer::Rows(mut rows) = db.session.execute(sql).await.unwrap() else { panic!("train answers rows") };
        let waited = tokio::time::timeout(Duration::from_millis(1500), rows.next()).await;
        assert!(waited.is_err(), "training was to run for hours");
        assert!(reserved(&db) > before, "training has not begun");
        drop(rows);
    });
    until_idle(&db, "training", before);
}

#[test]
fn dropping_the_statement_ends_it() {
    let db = Db::new();
    // CREATE TABLE AS runs inside `execute`: the future itself is dropped.
    let sql = format!("CREATE TABLE t AS {}", long_training(&db));
    let before = reserved(&db);
    db.engine.block_on(async {
        let statement = db.session.execute(&sql);
        assert!(tokio::time::timeout(Duration::from_millis(1500), statement).await.is_err());
    });
    until_idle(&db, "the statement", before);
    db.refuses("SELECT * FROM t", &["'memory.main.t' not found"]);
}

#[test]
fn a_timeout_ends_training_and_says_how_to_raise_it() {
    let db = Db::new();
    let sql = long_training(&db);
    let before = reserved(&db);
    db.run("SET bonnet.statement_timeout = '1s'");
    let start = Instant::now();
    db.refuses(sql, &["the statement ran past bonnet.statement_timeout (1s)", "raise it with SET"]);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    db.run("RESET bonnet.statement_timeout");
    until_idle(&db, "training", before);
}

#[test]
fn a_long_curvature_ends_when_its_rows_are_dropped() {
    let db = Db::new();
    let sql = "SELECT avg(curvature) FROM midpoint_curvature((SELECT * FROM barabasi_albert(60000, 8)))";
    db.engine.block_on(async {
        let Answer::Rows(mut rows) = db.session.execute(sql).await.unwrap() else { panic!("a query answers rows") };
        // A fast machine may be done by then; what counts is that nothing is left.
        let _ = tokio::time::timeout(Duration::from_millis(400), rows.next()).await;
    });
    until_idle(&db, "the curvature", 0);
}
