//! Graphs that stay between statements: built once, and never of rows that are no more.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use bonnetdb::{Engine, EngineOptions};

use super::Db;

/// Longer than files take to settle.
const SETTLED: Duration = Duration::from_millis(120);

const COMPONENTS: &str = "SELECT count(*), max(component) + 1, max(size) FROM connected_components";

/// Nodes, components and the largest component of a relation of edges.
fn components(db: &Db, edges: &str) -> [String; 3] {
    db.rows(&format!("{COMPONENTS}({edges})")).swap_remove(0).try_into().unwrap()
}

/// The cached graphs: their tables, nodes, edges and hits.
fn cached(db: &Db) -> Vec<Vec<String>> {
    db.rows("SELECT graph, nodes, edges, hits FROM bonnet.graph_cache")
}

#[test]
fn a_graph_is_built_once_for_all_functions_that_read_the_same_columns() {
    let db = Db::new();
    db.run("CREATE TABLE e AS SELECT src, dst, 1.5 AS weight FROM cycle(6)");
    db.run("CREATE TABLE n AS SELECT value AS node FROM generate_series(0, 6)");
    assert_eq!(components(&db, "e"), ["6", "1", "6"]);
    assert_eq!(cached(&db), [["e", "6", "6", "0"]]);
    // Another function, other names of the columns, an alias, a view that is the table: the same graph.
    db.run("SELECT * FROM midpoint_curvature(e)");
    db.run("SELECT * FROM forman_ricci(e)");
    db.run("SELECT ollivier_ricci(src, dst) OVER () FROM e AS f");
    db.run("CREATE VIEW v AS SELECT src AS a, dst AS b FROM e");
    db.run("SELECT * FROM connected_components((SELECT a AS src, b AS dst FROM v))");
    assert_eq!(cached(&db), [["e", "6", "6", "4"]]);
    // With nodes, with weights, with the ends the other way round: other graphs.
    assert_eq!(components(&db, "e, nodes => n"), ["7", "2", "6"]);
    db.run("SELECT * FROM node_resistance_curvature(e, weight => weight)");
    db.run("SELECT * FROM connected_components((SELECT dst AS src, src AS dst FROM e))");
    let found = cached(&db);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found.iter().any(|row| row[..3] == ["e, n", "7", "6"]));
    // What is not all rows of a table as it stands is read anew.
    for relation in
        ["(SELECT * FROM e WHERE src < 4)", "(SELECT * FROM e LIMIT 3)", "(SELECT src + 1 AS src, dst FROM e)"]
    {
        db.run(&format!("SELECT * FROM connected_components({relation})"));
    }
    db.run("SELECT * FROM connected_components(e, nodes => (SELECT node FROM n WHERE node < 9))");
    db.run("SELECT * FROM connected_components((SELECT src, dst FROM e UNION ALL SELECT src, dst FROM e))");
    assert_eq!(cached(&db), found);
    assert!(db.value("SELECT min(bytes) > 0 FROM bonnet.graph_cache") == "true");
}

#[test]
fn arcs_and_weights_are_made_once_for_all_calls() {
    let db = Db::new();
    db.run("CREATE TABLE e AS SELECT src, dst, 1.0 + src % 3 AS weight FROM barabasi_albert(300, 3)");
    let calls = [
        "SELECT * FROM pagerank(e, directed => true)",
        "SELECT * FROM strong_components(e)",
        "SELECT * FROM pagerank(e, weights => true)",
        "SELECT * FROM closeness_centrality(e, weights => true)",
        "SELECT * FROM pagerank(e, directed => true, weights => true)",
        "SELECT * FROM pagerank(e, directed => true, weights => true, damping => 0.5)",
    ];
    let bytes = || db.value("SELECT sum(bytes) FROM bonnet.graph_cache").parse::<u64>().unwrap();
    let run = |call: &&str| (db.rows(call), bytes());
    let first: Vec<_> = calls.iter().map(run).collect();
    // The first call of each pair makes what the second one finds.
    for pair in first.chunks(2) {
        assert_eq!(pair[0].1, pair[1].1);
    }
    assert!(first[0].1 < first[2].1 && first[2].1 < first[4].1);
    let again: Vec<_> = calls.iter().map(run).collect();
    assert!(again.iter().all(|(_, bytes)| *bytes == first[5].1));
    let rows = |answers: &[(Vec<Vec<String>>, u64)]| answers.iter().map(|answer| answer.0.clone()).collect::<Vec<_>>();
    assert!(rows(&first) == rows(&again));
    db.run("SET bonnet.graph_cache = 'off'");
    assert!(rows(&first) == calls.iter().map(|call| db.rows(call)).collect::<Vec<_>>());
    // Another version is another graph.
    db.run("RESET bonnet.graph_cache");
    db.run("INSERT INTO e VALUES (0, 1000, 1.0)");
    assert_eq!(db.rows("SELECT count(*) FROM pagerank(e, directed => true)"), [["301"]]);
}

#[test]
fn edge_functions_read_the_weights_that_the_call_names() {
    let db = Db::new();
    // A triangle whose longest side is another one by each column of weights; `below` has a negative one.
    db.run(
        "CREATE TABLE e AS SELECT * FROM (VALUES (1, 2, 1.0, 9.0, -1.0), (2, 3, 2.0, 1.0, 2.0), (1, 3, 9.0, 2.0, 3.0))
             AS t(src, dst, w1, w2, below)",
    );
    // An edge of one weight in `same` and of two in `two`.
    db.run(
        "CREATE TABLE r AS SELECT * FROM (VALUES (1, 2, 1.0, 1.0), (2, 1, 1.0, 3.0), (2, 3, 1.0, 1.0))
             AS t(src, dst, same, two)",
    );
    let tree = |weight: &str| {
        db.rows(&format!(
            "SELECT src, dst FROM minimum_spanning_tree(e, weight => {weight}) WHERE minimum_spanning_tree ORDER BY 1, 2"
        ))
    };
    let used = |weight: &str| {
        db.rows(&format!(
            "SELECT src, dst FROM edge_betweenness(e, weight => {weight}) WHERE edge_betweenness > 0 ORDER BY 1, 2"
        ))
    };
    // The longest side is in no tree, and on no shortest path.
    for _ in 0..2 {
        assert_eq!(tree("w1"), [["1", "2"], ["2", "3"]]);
        assert_eq!(tree("w2"), [["1", "3"], ["2", "3"]]);
        assert_eq!(tree("below"), [["1", "2"], ["2", "3"]]);
        assert_eq!(used("w1"), [["1", "2"], ["2", "3"]]);
        assert_eq!(used("w2"), [["1", "3"], ["2", "3"]]);
        db.refuses("SELECT * FROM edge_betweenness(e, weight => below)", &["the edge (1, 2) has the weight -1"]);
        assert_eq!(db.rows("SELECT * FROM minimum_spanning_tree(r, weight => same)").len(), 3);
        db.refuses(
            "SELECT * FROM minimum_spanning_tree(r, weight => two)",
            &["is there more than once, with the weights", "keep one row of it"],
        );
    }
    // Of each column of weights its own graph.
    assert_eq!(cached(&db).iter().filter(|row| row[0] == "e").count(), 3, "{:?}", cached(&db));

    // Directed, and in OVER, beside the answers without the cache.
    let calls: Vec<String> = ["w1", "w2", "w1"]
        .iter()
        .flat_map(|weight| {
            [
                format!("SELECT * FROM edge_betweenness(e, directed => true, weight => {weight})"),
                format!("SELECT src, dst, edge_betweenness(src, dst, weight => {weight}) OVER () FROM e"),
                format!("SELECT src, dst, minimum_spanning_tree(src, dst, weight => {weight}) OVER () FROM e"),
                format!("SELECT src, dst, effective_resistance(src, dst, {weight}) OVER () FROM e"),
                format!("SELECT * FROM pagerank((SELECT src, dst, {weight} AS weight FROM e), weights => true)"),
            ]
        })
        .collect();
    let answers = || calls.iter().map(|call| db.rows(call)).collect::<Vec<_>>();
    let with = answers();
    db.run("SET bonnet.graph_cache = 'off'");
    let own = answers();
    for ((call, with), own) in calls.iter().zip(&with).zip(&own) {
        assert_eq!(with, own, "{call}");
    }
    assert!((0..5).all(|call| own[call] != own[call + 5]), "the columns of weights do not differ");
}

#[test]
fn functions_of_named_graphs_use_one_graph() {
    let db = Db::with_karate();
    let rows = db.value("SELECT count(*) FROM karate.edges");
    let found = |hits: &str| vec![["karate.edges, karate.nodes", "34", &rows, hits].map(str::to_owned).to_vec()];
    let first = db.rows("SELECT edge, node, class, aggregation FROM homophily(karate)");
    assert_eq!(cached(&db), found("0"));
    assert_eq!(db.rows("SELECT edge, node, class, aggregation FROM homophily(karate)"), first);
    db.run("SELECT * FROM classifier_accuracies(karate, repeats => 2)");
    db.run("SELECT nodes, edges FROM graph_profile(karate)");
    db.run("SELECT * FROM connected_components(karate.edges, nodes => karate.nodes)");
    assert_eq!(cached(&db), found("4"));

    // Labels are those of the table as it is, and edges are.
    db.run("CREATE SCHEMA g");
    db.run("CREATE TABLE g.nodes AS SELECT value AS node, value % 2 AS label FROM generate_series(0, 3)");
    db.run("CREATE TABLE g.edges AS SELECT * FROM (VALUES (0, 2), (1, 3), (0, 1)) AS t(src, dst)");
    let edge = || db.value("SELECT round(edge, 6) FROM homophily(g)");
    assert_eq!([edge(), edge()], ["0.666667", "0.666667"]);
    db.run("UPDATE g.nodes SET label = 0");
    db.run("UPDATE g.nodes SET label = 1 WHERE node >= 2");
    assert_eq!([edge(), edge()], ["0.333333", "0.333333"]);
    db.run("INSERT INTO g.edges VALUES (2, 3)");
    assert_eq!([edge(), edge()], ["0.5", "0.5"]);
    db.run("INSERT INTO g.edges VALUES (2, 9)");
    for _ in 0..2 {
        db.refuses(
            "SELECT edge FROM homophily(g)",
            &["homophily: graph g: an edge ends at node 9 (dst), which nodes lacks"],
        );
    }
    db.run("INSERT INTO g.nodes VALUES (9, 1), (9, 0)");
    for _ in 0..2 {
        db.refuses("SELECT edge FROM homophily(g)", &["homophily: graph g: nodes holds a key twice"]);
    }
}

/// A graph `g` with features and weights.
fn with_features() -> Db {
    let db = Db::new();
    db.run("CREATE SCHEMA g");
    db.run(
        "CREATE TABLE g.nodes AS SELECT value AS node, value % 2 AS label, [value % 3 * 1.0, 1.0] AS features
             FROM generate_series(0, 29)",
    );
    db.run(
        "CREATE TABLE g.edges AS SELECT value AS src, (value * 7 + 2) % 30 AS dst, 1.0 + value % 2 AS weight
             FROM generate_series(0, 29)",
    );
    db
}

/// The outcome of two models on a graph.
fn train(db: &Db, graph: &str) -> Vec<Vec<String>> {
    db.rows(&format!(
        "SELECT model, graph_hash, status, error, val_accuracy, test_accuracy, test_auc FROM train(
             (SELECT '{graph}' AS graph, unnest(['gcn', 'mlp']) AS model), epochs => 5) ORDER BY model"
    ))
}

#[test]
fn functions_that_train_read_the_tables_of_a_graph_once() {
    let db = with_features();
    let row = |hits: &str| ["g.nodes, g.edges", "30", "30", hits].map(str::to_owned).to_vec();
    let first = train(&db, "g");
    assert_eq!(cached(&db), [row("0")]);
    assert_eq!(train(&db, "g"), first);
    assert_eq!(cached(&db), [row("1")]);
    for function in ["predict", "embed", "training_curve"] {
        db.run(&format!("SELECT * FROM {function}((SELECT 'g' AS graph, 'gcn' AS model), epochs => 2)"));
    }
    assert_eq!(cached(&db), [row("4")]);
    // Other columns of the tables, and arcs beside the edges, are read apart.
    for options in ["features => 'degree'", "weights => true", "adjacency => 'arcs'"] {
        let jobs = "(SELECT 'g' AS graph, 'gcn' AS model)";
        let sql = format!("SELECT graph_hash, status, test_accuracy FROM train({jobs}, epochs => 2, {options})");
        let first = db.rows(&sql);
        assert_eq!(first[0][1], "ok");
        assert_eq!(db.rows(&sql), first);
    }
    let mut hits: Vec<String> = cached(&db).into_iter().map(|row| row[3].clone()).collect();
    hits.sort();
    assert_eq!(hits, ["1", "1", "1", "4"]);
    // As is what functions of edges read.
    db.run("SELECT * FROM connected_components(g.edges, nodes => g.nodes)");
    assert_eq!(cached(&db).len(), 5);
    assert_eq!(db.value("SELECT min(bytes) > 0 FROM bonnet.graph_cache"), "true");

    db.run("SET bonnet.graph_cache = 'off'");
    assert_eq!(train(&db, "g"), first);
    assert!(cached(&db).is_empty());
    // What is larger than the cache is read each time, and takes the place of nothing.
    db.run("RESET bonnet.graph_cache");
    train(&db, "g");
    let bytes: usize = db.value("SELECT bytes FROM bonnet.graph_cache").parse().unwrap();
    db.run(&format!("SET bonnet.graph_cache = '{}'", bytes - 1));
    db.run("CREATE TABLE e AS SELECT * FROM (VALUES (1, 2)) AS t(src, dst)");
    components(&db, "e");
    assert_eq!(train(&db, "g"), first);
    assert_eq!(cached(&db), [["e", "2", "1", "0"]]);

    // A view has no version.
    db.run("RESET bonnet.graph_cache");
    db.run("CREATE SCHEMA v");
    db.run("CREATE VIEW v.nodes AS SELECT node, label, features FROM g.nodes");
    db.run("CREATE VIEW v.edges AS SELECT src, dst FROM g.edges");
    assert_eq!(train(&db, "v"), train(&db, "v"));
    assert!(cached(&db).iter().all(|row| !row[0].contains("v.")), "{:?}", cached(&db));
}

#[test]
fn functions_that_train_see_every_change_of_a_graph() {
    let (db, without) = (with_features(), with_features());
    without.run("SET bonnet.graph_cache = 'off'");
    let hits = || cached(&db).iter().map(|row| row[3].parse::<u64>().unwrap()).sum::<u64>();
    let mut hashes = BTreeSet::new();
    let changes = [
        "SELECT 1",
        "UPDATE g.nodes SET label = 1 WHERE node < 7",
        "UPDATE g.nodes SET features = [CAST(node AS DOUBLE), 0.5] WHERE node > 20",
        "DELETE FROM g.edges WHERE src = 4",
        "INSERT INTO g.edges VALUES (1, 99, 1.0)",
        "INSERT INTO g.nodes VALUES (99, NULL, [1.0, 2.0])",
        "CREATE TABLE g.splits AS SELECT 0 AS split, value AS node,
             CASE value % 3 WHEN 0 THEN 'train' WHEN 1 THEN 'val' ELSE 'test' END AS part FROM generate_series(0, 29)",
        "UPDATE g.splits SET part = 'test' WHERE node = 1",
        "DROP TABLE g.splits",
        "CREATE OR REPLACE TABLE g.edges AS SELECT src, dst FROM cycle(30)",
    ];
    for change in changes {
        db.run(change);
        without.run(change);
        let expected = train(&without, "g");
        assert_eq!(train(&db, "g"), expected, "{change}");
        let before = hits();
        assert_eq!(train(&db, "g"), expected, "{change}");
        // A graph with an edge whose end is no node cannot be read, and is not cached.
        let fails = change.contains("(1, 99");
        assert_eq!(expected[0][2], if fails { "error" } else { "ok" }, "{change}: {expected:?}");
        assert_eq!(hits() - before, u64::from(!fails), "{change}");
        hashes.insert(expected[0][1].clone());
    }
    // Without its splits the graph is what it was before it had them.
    assert_eq!(hashes.len(), changes.len() - 1);
}

#[test]
fn a_collection_is_read_once_for_training() {
    let db = Db::new();
    db.run("CREATE SCHEMA c");
    db.run("CREATE TABLE c.graphs AS SELECT value AS graph_id, value % 2 AS label FROM generate_series(0, 19)");
    db.run("CREATE TABLE c.nodes AS SELECT graph_id, value AS node FROM c.graphs, generate_series(0, 4)");
    db.run(
        "CREATE TABLE c.edges AS SELECT graph_id, CASE WHEN graph_id % 2 = 0 THEN 0 ELSE node - 1 END AS src, node AS dst
             FROM c.nodes WHERE node > 0",
    );
    let train = || {
        db.rows(
            "SELECT graph_hash, status, val_accuracy, test_accuracy FROM train((SELECT 'c' AS graph, 'gcn' AS model,
                 'graph_classification' AS task), features => 'degree', epochs => 3)",
        )
    };
    let first = train();
    assert_eq!(first[0][1], "ok");
    assert_eq!(train(), first);
    assert_eq!(cached(&db), [["c.graphs, c.nodes, c.edges", "100", "80", "1"]]);
    db.run("UPDATE c.graphs SET label = 1 - label WHERE graph_id < 6");
    let changed = train();
    assert!(changed[0][0] != first[0][0] && changed[0][1] == "ok");
    assert_eq!(cached(&db), [["c.graphs, c.nodes, c.edges", "100", "80", "0"]]);
}

#[test]
fn every_statement_that_changes_a_table_in_memory_changes_the_answer() {
    let db = Db::new();
    let twice = |edges: &str, expected: [&str; 3]| {
        for _ in 0..2 {
            assert_eq!(components(&db, edges), expected);
        }
        assert!(cached(&db).iter().any(|row| row[0] == edges && row[3] == "1"), "{:?}", cached(&db));
    };
    db.run("CREATE TABLE e AS SELECT src, dst FROM cycle(6)");
    twice("e", ["6", "1", "6"]);
    db.run("INSERT INTO e VALUES (10, 11)");
    twice("e", ["8", "2", "6"]);
    db.run("UPDATE e SET dst = 0 WHERE dst = 11");
    twice("e", ["7", "1", "7"]);
    db.run("DELETE FROM e WHERE src = 10");
    twice("e", ["6", "1", "6"]);
    db.run("CREATE OR REPLACE TABLE e AS SELECT src, dst FROM path(4)");
    twice("e", ["4", "1", "4"]);
    db.run("DROP TABLE e");
    db.run("CREATE TABLE e AS SELECT src, dst FROM star(3)");
    assert_eq!(components(&db, "e")[1], "1");
    db.engine
        .append("e", db.run("SELECT CAST(70 AS BIGINT) AS src, CAST(71 AS BIGINT) AS dst").swap_remove(0))
        .unwrap();
    assert_eq!(components(&db, "e")[1], "2");
    // An older version of a table is gone as soon as a newer one is cached.
    assert_eq!(cached(&db).iter().filter(|row| row[0] == "e").count(), 3, "{:?}", cached(&db));
    // A table with keys is changed in another way.
    db.run("CREATE TABLE k (src BIGINT PRIMARY KEY, dst BIGINT)");
    db.run("INSERT INTO k VALUES (1, 2), (3, 4)");
    twice("k", ["4", "2", "2"]);
    db.run("UPDATE k SET dst = 3 WHERE src = 1");
    twice("k", ["3", "1", "3"]);
    assert!(db.try_run("INSERT INTO k VALUES (9, 9), (1, 5)").is_err());
    assert_eq!(components(&db, "k"), ["3", "1", "3"]);

    db.run("CREATE GRAPH g AS cycle(5)");
    twice("g.edges", ["5", "1", "5"]);
    db.run("CREATE OR REPLACE GRAPH g AS cycle(7)");
    twice("g.edges", ["7", "1", "7"]);
    db.run("DROP GRAPH g");
    db.run("CREATE GRAPH g AS cycle(8)");
    assert_eq!(components(&db, "g.edges"), ["8", "1", "8"]);
    // Of a prepared statement the tables are those of its run.
    db.run(&format!("PREPARE p AS {COMPONENTS}(g.edges)"));
    assert_eq!(db.rows("EXECUTE p")[0][0], "8");
    db.run("INSERT INTO g.edges VALUES (100, 101)");
    assert_eq!(db.rows("EXECUTE p")[0][0], "10");
}

#[test]
fn a_lasting_table_has_the_graph_of_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Db::with(EngineOptions::from(folder.path().join("lab.bonnet").as_path()));
    let db = open();
    db.run("CREATE TABLE e AS SELECT src, dst FROM cycle(6)");
    for (change, expected) in [
        ("SELECT 1", "6"),
        ("INSERT INTO e VALUES (10, 11)", "8"),
        ("UPDATE e SET dst = 0 WHERE dst = 11", "7"),
        ("DELETE FROM e WHERE src = 10", "6"),
        ("CREATE OR REPLACE TABLE e AS SELECT src, dst FROM path(4)", "4"),
        ("DROP TABLE e", ""),
        ("CREATE TABLE e AS SELECT src, dst FROM cycle(9)", "9"),
    ] {
        db.run(change);
        if !expected.is_empty() {
            for _ in 0..2 {
                assert_eq!(components(&db, "e")[0], expected, "{change}");
            }
            assert_eq!(cached(&db).iter().filter(|row| row[1] == expected && row[3] == "1").count(), 1, "{change}");
        }
    }
    // Versions of the past, and of another process.
    db.run("INSERT INTO e VALUES (50, 51)");
    assert_eq!(components(&db, "e")[0], "11");
    let before = db.value("SELECT max(version) - 1 FROM bonnet.history('e')");
    for _ in 0..2 {
        let past = format!("{COMPONENTS}((SELECT * FROM e VERSION AS OF {before}))");
        assert_eq!(db.rows(&past)[0][0], "9");
        assert_eq!(components(&db, "e")[0], "11");
    }
}

#[test]
fn files_are_read_again_when_they_change() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("edges.csv");
    let db = Db::new();
    let (name, write) = (format!("(SELECT * FROM '{}')", file.display()), |text: &str| {
        fs::write(&file, text).unwrap();
    });
    write("src,dst\n1,2\n2,3\n");
    // What was written just now may be written again without a trace.
    assert_eq!(components(&db, &name)[0], "3");
    std::thread::sleep(SETTLED);
    for _ in 0..3 {
        assert_eq!(components(&db, &name)[0], "3");
    }
    assert_eq!(cached(&db).len(), 1);
    assert!(cached(&db)[0][3].parse::<u64>().unwrap() >= 1);
    // As many bytes, another graph.
    write("src,dst\n1,2\n3,4\n");
    assert_eq!(components(&db, &name)[0], "4");
    std::thread::sleep(SETTLED);
    assert_eq!(components(&db, &name)[0], "4");
    write("src,dst\n1,1\n1,1\n");
    assert_eq!(components(&db, &name)[0], "1");
    // A folder of files gets one more.
    let all = format!("(SELECT * FROM '{}')", folder.path().display());
    std::thread::sleep(SETTLED);
    assert_eq!(components(&db, &all)[0], "1");
    fs::write(folder.path().join("more.csv"), "src,dst\n7,8\n").unwrap();
    assert_eq!(components(&db, &all)[0], "3");
    fs::remove_file(folder.path().join("more.csv")).unwrap();
    assert_eq!(components(&db, &all)[0], "1");
    // How a file is read is part of what it is.
    fs::write(&file, "src,dst\n5,6\n").unwrap();
    std::thread::sleep(SETTLED);
    assert_eq!(components(&db, &name)[0], "2");
    assert_eq!(components(&db, &name)[0], "2");
}

#[test]
fn attached_data_is_read_again_when_its_files_change() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::new();
    let file = folder.path().join("toy.edges");
    let write = |edges: &str| {
        fs::write(&file, edges).unwrap();
        std::thread::sleep(SETTLED);
    };
    write("0 1\n1 2\n");
    db.run(&format!("ATTACH '{}' AS toy", file.display()));
    for _ in 0..3 {
        assert_eq!(components(&db, "toy.edges")[0], "3");
    }
    assert!(cached(&db).contains(&["toy.edges", "3", "2", "2"].map(str::to_owned).to_vec()), "{:?}", cached(&db));
    write("0 1\n2 3\n");
    for _ in 0..2 {
        assert_eq!(components(&db, "toy.edges")[0], "4");
    }
    // Other data under the same name.
    db.run("DETACH toy");
    let other = folder.path().join("other.edges");
    fs::write(&other, "0 1\n0 2\n0 3\n0 4\n").unwrap();
    std::thread::sleep(SETTLED);
    db.run(&format!("ATTACH '{}' AS toy", other.display()));
    assert_eq!(components(&db, "toy.edges")[0], "5");

    db.run("ATTACH 'builtin:karate' AS karate");
    for _ in 0..2 {
        assert_eq!(components(&db, "karate.edges"), ["34", "1", "34"]);
    }
    let rows = db.value("SELECT count(*) FROM karate.edges");
    assert!(cached(&db).contains(&["karate.edges", "34", &rows, "1"].map(str::to_owned).to_vec()));
    db.run("DETACH karate");
    db.run("CREATE GRAPH karate AS cycle(5)");
    assert_eq!(components(&db, "karate.edges")[0], "5");
    db.run("DROP GRAPH karate");
    db.run("ATTACH 'builtin:karate' AS karate");
    assert_eq!(components(&db, "karate.edges")[0], "34");
}

#[test]
fn queries_at_the_same_time_build_a_graph_once() {
    let engine = Engine::open(EngineOptions { threads: Some(4), ..EngineOptions::default() }).unwrap();
    engine.sql("CREATE GRAPH g AS barabasi_albert(20000, 5)").unwrap();
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let engine = engine.clone();
            std::thread::spawn(move || engine.sql(&format!("{COMPONENTS}(g.edges)")).unwrap())
        })
        .collect();
    let answers: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let rows = engine.sql("SELECT count(*) AS n, sum(hits) AS hits FROM bonnet.graph_cache").unwrap();
    assert_eq!(super::texts(&rows), [["1", "7"]]);
}

#[test]
fn the_cache_has_a_size_and_goes_before_queries_fail() {
    let db = Db::with(EngineOptions { threads: Some(2), memory_limit: Some(48 << 20), ..EngineOptions::default() });
    assert_eq!(db.rows("SHOW bonnet.graph_cache"), [["bonnet.graph_cache", "1GB"]]);
    for i in 0..3 {
        db.run(&format!("CREATE GRAPH g{i} AS barabasi_albert(10000, 5, seed => {i})"));
        components(&db, &format!("g{i}.edges"));
    }
    assert_eq!(cached(&db).len(), 3);
    // The one that was used longest ago goes first.
    components(&db, "g0.edges");
    let bytes: usize = db.value("SELECT sum(bytes) FROM bonnet.graph_cache").parse().unwrap();
    db.run(&format!("SET bonnet.graph_cache = '{}'", bytes - 1));
    let names: Vec<String> = cached(&db).into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(names, ["g0.edges", "g2.edges"]);
    // A new one takes the place of an old one.
    components(&db, "g1.edges");
    let names: Vec<String> = cached(&db).into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(names, ["g0.edges", "g1.edges"]);
    db.run("SET bonnet.graph_cache = 'off'");
    assert!(cached(&db).is_empty());
    components(&db, "g1.edges");
    assert!(cached(&db).is_empty());
    db.run("RESET bonnet.graph_cache");
    components(&db, "g1.edges");
    components(&db, "g2.edges");
    assert_eq!(cached(&db).len(), 2);
    // A query that needs the room gets it.
    let tables = (0..60).map(|i| {
        db.try_run(&format!("CREATE TABLE t{i} AS SELECT value FROM generate_series(1, 131072)")).unwrap();
        cached(&db).len()
    });
    assert!(tables.into_iter().any(|graphs| graphs < 2), "the cached graphs stay");
    let error = db.error("SET bonnet.graph_cache = 'much'");
    assert!(error.contains("expected a size as '512MB', '4GB', or off"), "{error}");
}

#[test]
fn answers_are_the_same_to_the_last_digit_with_and_without_the_cache_at_any_number_of_threads() {
    let calls = [
        "SELECT * FROM midpoint_curvature(g.edges, nodes => g.nodes)",
        "SELECT * FROM midpoint_curvature(e)",
        "SELECT * FROM node_resistance_curvature(e, weight => w)",
        "SELECT * FROM effective_resistance(e)",
        "SELECT * FROM minimum_spanning_tree(e, weight => w)",
        "SELECT * FROM minimum_spanning_tree(e, weight => u)",
        "SELECT src, dst, edge_betweenness(src, dst, weight => u) OVER () FROM e",
        "SELECT src, dst, ollivier_ricci(src, dst) OVER () FROM e",
        "SELECT * FROM forman_ricci(e)",
        "SELECT * FROM connected_components(e)",
        "SELECT * FROM pagerank(e)",
        "SELECT * FROM graph_profile(g)",
        "SELECT * FROM homophily(karate)",
        "SELECT * FROM homophily(karate, directed => true)",
    ];
    let mut answers: Vec<Vec<Vec<Vec<String>>>> = Vec::new();
    for threads in [1, 2, 5] {
        let db = Db::with(EngineOptions { threads: Some(threads), ..EngineOptions::default() });
        db.run("ATTACH 'builtin:karate' AS karate");
        db.run("CREATE GRAPH g AS barabasi_albert(300, 3, seed => 7)");
        // Loops, repeats and rows without an end.
        db.run(
            "CREATE TABLE e AS SELECT CASE WHEN value % 41 = 3 THEN NULL ELSE value % 37 END AS src,
                 (value * value + 5) % 31 AS dst,
                 1 + (value % 37 + (value * value + 5) % 31) % 3 AS w,
                 1 + (value % 37) * ((value * value + 5) % 31) % 5 AS u FROM generate_series(1, 400)",
        );
        db.run("SET bonnet.graph_cache = 'off'");
        answers.push(calls.iter().map(|call| db.rows(call)).collect());
        db.run("SET bonnet.graph_cache = '64MB'");
        for _ in 0..2 {
            answers.push(calls.iter().map(|call| db.rows(call)).collect());
        }
        assert!(cached(&db).len() >= 3, "{:?}", cached(&db));
    }
    for (other, call) in calls.iter().enumerate() {
        for answer in &answers[1..] {
            assert_eq!(answer[other], answers[0][other], "{call}");
        }
    }
}
