//! Statements in a lasting database.

use bonnetdb::Engine;

use super::{Db, Lab, refused};

#[test]
fn tables_views_graphs_and_attachments_come_back() {
    let lab = Lab::new();
    let db = lab.open();
    for sql in [
        "CREATE TABLE runs AS SELECT value AS seed, value * 0.5 AS accuracy FROM generate_series(1, 10)",
        "INSERT INTO runs VALUES (11, 5.5)",
        "CREATE SCHEMA notes",
        "CREATE TABLE notes.\"My Table\" (id INT NOT NULL, text TEXT DEFAULT 'none')",
        "INSERT INTO notes.\"My Table\" (id) VALUES (1)",
        "CREATE VIEW best AS SELECT max(accuracy) AS accuracy FROM runs",
        "CREATE VIEW named (a, b) AS SELECT seed, accuracy FROM runs WHERE seed = 1",
        "CREATE GRAPH ring AS cycle(5)",
        "ATTACH 'builtin:karate' AS karate",
        "CREATE VIEW karate.hubs AS SELECT src, count(*) AS n FROM karate.edges GROUP BY src",
        "CREATE VIEW bent AS SELECT * FROM forman_ricci(ring.edges)",
    ] {
        db.run(sql);
    }
    let questions = [
        "SELECT count(*), sum(seed), sum(accuracy) FROM runs",
        "SELECT * FROM notes.\"My Table\"",
        "SELECT * FROM best",
        "SELECT a, b FROM named",
        "SELECT count(*), max(dst) FROM ring.edges",
        "SELECT count(*) FROM ring.nodes",
        "SELECT count(*) FROM karate.edges",
        "SELECT max(n) FROM karate.hubs",
        "SELECT sum(forman_ricci) FROM bent",
        "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_catalog = 'lab' \
         AND table_schema <> 'information_schema' ORDER BY 1, 2",
        "SELECT graph, format, directed, nodes, edges FROM bonnet.graphs ORDER BY graph",
    ];
    let answers = questions.map(|sql| db.rows(sql));
    assert_eq!(answers[0], [["11", "66", "33.0"]]);
    assert_eq!(answers[1], [["1", "none"]]);
    assert_eq!(answers[3], [["1", "0.5"]]);
    assert_eq!(answers[4], [["5", "4"]]);
    assert_eq!(answers[6], [["78"]]);
    drop(db);
    let db = lab.open();
    for (sql, answer) in questions.iter().zip(answers) {
        assert_eq!(db.rows(sql), answer, "{sql}");
    }
    assert_eq!(
        db.rows("SELECT graph, nodes, edges FROM bonnet.graphs ORDER BY 1"),
        [["karate", "34", "78"], ["ring", "5", "5"]]
    );
    // And go when they are dropped.
    for sql in ["DROP VIEW best", "DROP TABLE runs", "DROP GRAPH ring", "DETACH karate", "DROP SCHEMA notes CASCADE"] {
        db.run(sql);
    }
    drop(db);
    let db = lab.open();
    db.refuses("SELECT * FROM runs", &["runs"]);
    db.refuses("SELECT * FROM ring.edges", &["ring"]);
    db.refuses("SELECT * FROM karate.edges", &["karate"]);
    assert_eq!(db.rows("SELECT count(*) FROM bonnet.graphs"), [["0"]]);
    // A view outlives its table, and says so.
    db.refuses("SELECT * FROM named", &["runs", "not found"]);
}

/// The same statements give the same rows in memory and in a database.
#[test]
fn a_database_answers_as_memory_does() {
    let lab = Lab::new();
    let (lasting, memory) = (lab.open(), Db::new());
    let script = [
        "CREATE TABLE t (a INT, b DOUBLE, c TEXT, d INT[])",
        "INSERT INTO t VALUES (1, 0.5, 'x', [1, 2]), (2, NULL, NULL, NULL), (3, 1.5, 'z', []), (NULL, 9.0, 'n', [4])",
        "INSERT INTO t SELECT a + 10, b, c, d FROM t",
        "INSERT INTO t (a) VALUES (7)",
        "UPDATE t SET b = b + 1 WHERE a > 2",
        "UPDATE t SET c = 'none', d = [0] WHERE c IS NULL",
        "DELETE FROM t WHERE a = 12",
        "DELETE FROM t WHERE b > 100",
        "DELETE FROM t WHERE 1 = 0",
        "DELETE FROM t WHERE NULL",
        "DELETE FROM t WHERE a IN (SELECT a FROM t WHERE c = 'z')",
        "DELETE FROM t WHERE a = (SELECT max(a) FROM t)",
        "DELETE FROM t WHERE a NOT IN (SELECT 100 + a FROM t WHERE a IS NOT NULL) AND c = 'none'",
        "UPDATE t SET b = (SELECT count(*) FROM t) WHERE EXISTS (SELECT 1 FROM t WHERE a = 1)",
        "UPDATE t AS u SET a = u.a * 2 WHERE u.a = 1",
        "INSERT INTO t SELECT * FROM t",
        "DELETE FROM t WHERE false OR a IS NULL",
        "UPDATE t SET c = upper(c)",
        "DELETE FROM t",
        "INSERT INTO t VALUES (5, 5, 'five', [5])",
    ];
    for sql in script {
        let tag = |db: &Db| match db.engine.block_on(db.session.execute(sql)) {
            Ok(bonnetdb::Answer::Done(tag)) => tag,
            Ok(_) => panic!("{sql} answers rows"),
            Err(error) => panic!("{sql}\n{error}"),
        };
        assert_eq!(tag(&lasting), tag(&memory), "{sql}");
        let all = "SELECT * FROM t ORDER BY a, b, c";
        assert_eq!(lasting.rows(all), memory.rows(all), "{sql}");
    }
    assert_eq!(lasting.rows("SELECT * FROM t"), [["5", "5.0", "five", "[5]"]]);
}

#[test]
fn a_condition_that_is_never_true_takes_no_rows() {
    // DataFusion folds such conditions into an empty plan, which has no condition any more.
    let lab = Lab::new();
    for db in [Db::new(), lab.open()] {
        db.run("CREATE TABLE t AS SELECT 1 AS a UNION ALL SELECT 2");
        for condition in ["false", "1 = 0", "NULL", "a IN (SELECT 5)", "EXISTS (SELECT 1 WHERE false)", "a <> a"] {
            db.run(&format!("DELETE FROM t WHERE {condition}"));
            db.run(&format!("UPDATE t SET a = 9 WHERE {condition}"));
            assert_eq!(db.value("SELECT sum(a) FROM t"), "3", "{condition}");
        }
        db.refuses("DELETE FROM t WHERE EXISTS (SELECT 1 FROM t y WHERE y.a = t.a + 1)", &["DELETE", "own columns"]);
        db.refuses("DELETE FROM t LIMIT 1", &["LIMIT"]);
        db.run("UPDATE t SET a = u.b FROM (SELECT 1 AS b) u WHERE u.b = t.a");
        db.refuses("DELETE FROM t WHERE a = (SELECT a FROM t)", &["2 rows"]);
        assert_eq!(db.value("SELECT sum(a) FROM t"), "3");
    }
}

#[test]
fn explain_changes_nothing() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    for sql in ["EXPLAIN DELETE FROM t", "EXPLAIN UPDATE t SET a = 2", "EXPLAIN INSERT INTO t VALUES (3)"] {
        db.run(sql);
    }
    assert_eq!(db.rows("SELECT * FROM t"), [["1"]]);
}

#[test]
fn a_statement_that_fails_leaves_everything_as_it_was() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT value AS a FROM generate_series(1, 20000)");
    // The failure comes with the last rows.
    let bad =
        "SELECT CASE WHEN value = 19999 THEN 1 / (value - value) ELSE value END AS a FROM generate_series(1, 20000)";
    db.refuses(&format!("INSERT INTO t {bad}"), &["division by zero"]);
    db.refuses(&format!("CREATE TABLE u AS {bad}"), &["division by zero"]);
    db.refuses(&format!("CREATE OR REPLACE TABLE t AS {bad}"), &["division by zero"]);
    db.refuses("UPDATE t SET a = 1 / (a - 777)", &["division by zero"]);
    db.refuses("DELETE FROM t WHERE 1 / (a - 777) = 5", &["Divide"]);
    assert_eq!(db.rows("SELECT count(*), sum(a) FROM t"), [["20000", "200010000"]]);
    db.refuses("SELECT * FROM u", &["u"]);
    assert_eq!(db.rows("SELECT count(*) FROM bonnet.history('t')"), [["1"]]);
    // No folder of a table that never was stays behind.
    let folders = std::fs::read_dir(lab.root().join("tables/main")).unwrap().count();
    assert_eq!(folders, 1);
}

#[test]
fn constraints_that_hold_are_kept_and_others_refused() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t (a INT NOT NULL, b INT DEFAULT 1 + 1)");
    db.run("INSERT INTO t (a) VALUES (1)");
    assert_eq!(db.rows("SELECT * FROM t"), [["1", "2"]]);
    db.refuses("INSERT INTO t VALUES (NULL, 1)", &["a"]);
    db.refuses("UPDATE t SET a = NULL", &["a"]);
    assert_eq!(db.rows("SELECT * FROM t"), [["1", "2"]]);
    db.refuses("CREATE TABLE k (a INT PRIMARY KEY)", &["PRIMARY KEY"]);
    db.refuses("CREATE TABLE k (a INT DEFAULT random())", &["constant"]);
    db.refuses("CREATE TEMPORARY TABLE k (a INT)", &["emporary"]);
    db.refuses("CREATE TABLE k AS SELECT count(*) FROM t", &["count(*)", "name it"]);
    db.refuses("CREATE TABLE k AS SELECT interval '1 day' AS i", &["column i", "cast"]);
    db.refuses("CREATE EXTERNAL TABLE k STORED AS CSV LOCATION 'x.csv'", &[]);
    db.refuses("INSERT OVERWRITE t VALUES (1, 1)", &[]);
    // What is to live as long as the engine has a place of its own.
    db.run("CREATE TABLE memory.main.k AS SELECT count(*) FROM t");
    assert_eq!(db.rows("SELECT * FROM memory.main.k"), [["1"]]);
}

#[test]
fn types_that_delta_lacks_are_kept_as_wider_ones() {
    let lab = Lab::new();
    let db = lab.open();
    db.run(
        "CREATE TABLE t AS SELECT row_number() OVER () AS n, arrow_cast(200, 'UInt8') AS u,
             arrow_cast('x', 'Dictionary(Int32, Utf8)') AS d, arrow_cast('v', 'Utf8View') AS v, NULL AS nothing,
             arrow_cast([1.5, 2.5], 'FixedSizeList(2, Float32)') AS f, MAP {3: 0.5} AS m,
             TIMESTAMP '2026-01-31 12:00:00.123456' AS ts, {'a': 1, 'b': 'z'} AS s, DATE '2026-01-31' AS day",
    );
    let rows = db.rows("SELECT * FROM t");
    assert_eq!(
        rows,
        [[
            "1",
            "200",
            "x",
            "v",
            "NULL",
            "[1.5, 2.5]",
            "{3: 0.5}",
            "2026-01-31T12:00:00.123456",
            "{a: 1, b: z}",
            "2026-01-31"
        ]]
    );
    db.refuses("CREATE TABLE big AS SELECT arrow_cast(18446744073709551615, 'UInt64') AS n", &["column n"]);
}

#[test]
fn features_keep_their_width_and_graphs_their_curvature() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE SCHEMA g");
    db.run("CREATE TABLE g.nodes AS SELECT value AS node, MAP {value::INT: 1.0::FLOAT} AS features FROM generate_series(0, 4)");
    db.run("CREATE TABLE g.edges AS SELECT * FROM cycle(5)");
    let db = lab.open();
    assert_eq!(db.rows("SELECT graph, nodes, edges, features FROM bonnet.graphs"), [["g", "5", "5", "5"]]);
    let sql = "SELECT round(sum(curvature), 9) FROM midpoint_curvature(g.edges, nodes => g.nodes)";
    let memory = Db::new();
    memory.run("CREATE GRAPH g AS cycle(5)");
    assert_eq!(db.rows(sql), memory.rows(sql));
}

#[test]
fn replacing_and_dropping_say_what_stands_in_the_way() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    db.refuses("CREATE TABLE t AS SELECT 2 AS a", &["exists already"]);
    db.refuses("CREATE VIEW t AS SELECT 2 AS a", &["exists already"]);
    db.run("CREATE TABLE IF NOT EXISTS t AS SELECT 2 AS a");
    assert_eq!(db.rows("SELECT * FROM t"), [["1"]]);
    // A table may be made anew from itself.
    db.run("CREATE OR REPLACE TABLE t AS SELECT a + 1 AS b FROM t");
    assert_eq!(db.rows("SELECT b FROM t"), [["2"]]);
    db.run("CREATE VIEW v AS SELECT b FROM t");
    db.run("CREATE OR REPLACE VIEW v AS SELECT b + 1 AS b FROM t");
    assert_eq!(db.rows("SELECT b FROM v"), [["3"]]);
    db.refuses("DROP TABLE v", &["v is a view: DROP VIEW v"]);
    db.refuses("DROP VIEW t", &["t is a table: DROP TABLE t"]);
    db.refuses("DROP TABLE nothing", &["there is no table nothing"]);
    db.run("DROP TABLE IF EXISTS nothing");
    db.run("CREATE GRAPH g AS cycle(3)");
    db.refuses("CREATE GRAPH g AS cycle(4)", &["exists already"]);
    db.run("CREATE OR REPLACE GRAPH g AS path(4)");
    assert_eq!(db.value("SELECT count(*) FROM g.edges"), "3");
    db.run("CREATE TABLE g.extra AS SELECT 1 AS x");
    db.refuses("DROP SCHEMA g", &["g"]);
    db.refuses("DROP SCHEMA main CASCADE", &["main"]);
    db.run("DROP GRAPH g");
    db.refuses("SELECT * FROM g.extra", &["g"]);
    db.refuses("DROP GRAPH g", &["there is no graph g"]);
}

#[test]
fn views_that_read_each_other_in_a_circle_are_refused_when_read() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE VIEW a AS SELECT 1 AS x");
    db.run("CREATE VIEW b AS SELECT * FROM a");
    db.run("CREATE OR REPLACE VIEW a AS SELECT * FROM b");
    db.refuses("SELECT * FROM a", &["reads itself"]);
    db.run("CREATE OR REPLACE VIEW a AS SELECT 2 AS x");
    assert_eq!(db.rows("SELECT * FROM b"), [["2"]]);
}

#[test]
fn names_of_any_letters_are_files_of_their_own() {
    let lab = Lab::new();
    let db = lab.open();
    let names = ["t", "T", "a:b", "..", "ü 🦀", "con", "x.y", "%41", "select"];
    for (i, name) in names.iter().enumerate() {
        db.run(&format!("CREATE TABLE \"{name}\" AS SELECT {i} AS i"));
    }
    let db = lab.open();
    for (i, name) in names.iter().enumerate() {
        assert_eq!(db.value(&format!("SELECT i FROM \"{name}\"")), i.to_string(), "{name}");
        db.run(&format!("INSERT INTO \"{name}\" VALUES (100)"));
    }
    let long = "n".repeat(400);
    db.refuses(&format!("CREATE TABLE {long} AS SELECT 1 AS x"), &["too long"]);
}

#[test]
fn a_database_is_opened_without_looking_at_its_tables() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    db.run("CREATE TABLE u AS SELECT 2 AS a");
    drop(db);
    let tables = lab.root().join("tables/main");
    let of_t = std::fs::read_dir(&tables).unwrap().map(|file| file.unwrap().path());
    let of_t = of_t.into_iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("t-")).unwrap();
    std::fs::remove_dir_all(of_t).unwrap();
    let db = lab.open();
    assert_eq!(
        db.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"),
        [["t"], ["u"]]
    );
    db.refuses("SELECT * FROM t", &["t cannot be read: '", "is gone; restore it from a copy", "DROP TABLE t"]);
    assert_eq!(db.rows("SELECT * FROM u"), [["2"]]);
    db.run("DROP TABLE t");
}

#[test]
fn counts_need_no_scan() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT value AS a FROM generate_series(1, 1000)");
    db.run("INSERT INTO t VALUES (0)");
    let plan = db.rows("EXPLAIN FORMAT INDENT SELECT count(*) FROM t").concat().join("\n");
    assert!(!plan.contains("file_groups"), "{plan}");
    assert_eq!(db.value("SELECT count(*) FROM t"), "1001");
}

#[test]
fn what_cannot_be_opened_says_why() {
    let lab = Lab::new();
    std::fs::write(lab.beside("file"), "x").unwrap();
    assert!(refused(lab.beside("file").as_ref(), false).contains("is a file"));
    std::fs::create_dir(lab.beside("other")).unwrap();
    std::fs::write(lab.beside("other/notes.txt"), "x").unwrap();
    assert!(refused(lab.beside("other").as_ref(), false).contains("notes.txt"));
    assert!(refused(lab.beside("missing").as_ref(), true).contains("is no database"));
    drop(lab.open());
    std::fs::write(lab.root().join("bonnet.json"), "{\"format\": 99, \"engine\": \"bonnetdb 99\"}").unwrap();
    assert!(refused(&lab.root(), false).contains("later version (bonnetdb 99)"));
    std::fs::write(lab.root().join("bonnet.json"), "{").unwrap();
    assert!(refused(&lab.root(), false).contains("bonnet.json' is damaged"));
}

#[test]
fn a_damaged_catalog_hides_nothing_else() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    db.run("CREATE GRAPH g AS cycle(3)");
    std::fs::write(lab.root().join("catalog/g.json"), "{\"kind\"").unwrap();
    let db = lab.open();
    assert_eq!(db.rows("SELECT * FROM t"), [["1"]]);
    db.refuses("SELECT * FROM g.edges", &["g.json' is damaged"]);
}

#[test]
fn a_database_opened_for_reading_alone_does_not_change() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    drop(db);
    let db = lab.open_read_only();
    assert_eq!(db.rows("SELECT * FROM t"), [["1"]]);
    for sql in [
        "CREATE TABLE u AS SELECT 1 AS a",
        "INSERT INTO t VALUES (2)",
        "DELETE FROM t",
        "UPDATE t SET a = 2",
        "DROP TABLE t",
        "CREATE VIEW v AS SELECT 1",
        "CREATE SCHEMA s",
        "CREATE GRAPH g AS cycle(3)",
        "OPTIMIZE t",
        "VACUUM t",
        "VACUUM",
    ] {
        db.refuses(sql, &["cannot be changed", "reading alone"]);
    }
    // Attached for the moment, to join with.
    db.run("ATTACH 'builtin:karate' AS karate");
    assert_eq!(db.value("SELECT count(*) FROM memory.karate.nodes"), "34");
    assert_eq!(lab.open().rows("SELECT * FROM t"), [["1"]]);
}

#[test]
fn sessions_share_the_database_and_keep_their_own_schema() {
    let lab = Lab::new();
    let db = lab.open();
    let other = db.engine.session();
    db.run("CREATE SCHEMA s");
    db.run("USE s");
    db.run("CREATE TABLE t AS SELECT 1 AS a");
    let rows = db.engine.block_on(other.sql("SELECT a FROM s.t")).unwrap();
    assert_eq!(super::super::texts(&rows), [["1"]]);
    assert!(db.engine.block_on(other.sql("SELECT a FROM t")).is_err());
    // A view's names are those of where it was made.
    db.run("CREATE VIEW v AS SELECT a FROM t");
    let rows = db.engine.block_on(other.sql("SELECT a FROM s.v")).unwrap();
    assert_eq!(super::super::texts(&rows), [["1"]]);
}

#[test]
fn the_library_opens_registers_and_answers_batches() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    let lab = Lab::new();
    let engine = Engine::open(lab.root().as_path()).unwrap();
    shared(&engine);
    let batches = engine.sql("CREATE TABLE t AS SELECT 1 AS a; SELECT a + 1 AS b FROM t;").unwrap();
    assert_eq!(super::super::texts(&batches), [["2"]]);
    engine.register_batches("mine", batches).unwrap();
    assert_eq!(super::super::texts(&engine.sql("SELECT b FROM mine").unwrap()), [["2"]]);
    let error = engine.register_batches("mine", engine.sql("SELECT 1").unwrap()).unwrap_err();
    assert!(error.to_string().contains("exists already"), "{error}");
    assert!(engine.register_batches("none", Vec::new()).is_err());
    engine.sql("CREATE TABLE copied AS SELECT * FROM mine").unwrap();
    drop(engine);
    let engine = Engine::open(lab.root().to_str().unwrap()).unwrap();
    assert!(engine.sql("SELECT * FROM mine").is_err());
    assert_eq!(super::super::texts(&engine.sql("SELECT * FROM copied").unwrap()), [["2"]]);
}

#[test]
fn finished_runs_are_kept_when_a_later_one_fails() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("ATTACH 'builtin:karate' AS karate");
    let jobs = "(SELECT 'karate' AS graph, 'gcn' AS model, value AS seed FROM generate_series(0, 3))";
    let train = |jobs: &str| format!("train({jobs}, epochs => 5, features => 'identity')");
    db.run(&format!(
        "CREATE TABLE results AS SELECT graph, model, seed, status FROM {} WHERE status = 'ok'",
        train(jobs)
    ));
    assert_eq!(db.rows("SELECT count(*), sum(seed) FROM results"), [["4", "6"]]);
    // One commit makes the table, and each run is one.
    assert_eq!(db.value("SELECT count(*) FROM bonnet.history('results')"), "5");
    // The same jobs again, without those that are done.
    let more = jobs.replace("3))", "5)) AS j");
    let left = format!(
        "(SELECT j.* FROM {more} LEFT ANTI JOIN results r ON j.graph = r.graph AND j.model = r.model AND j.seed = r.seed)"
    );
    db.run(&format!("INSERT INTO results SELECT graph, model, seed, status FROM {}", train(&left)));
    assert_eq!(db.rows("SELECT count(*), sum(seed), min(status) FROM results"), [["6", "15", "ok"]]);
    // A failure says how many are kept.
    let error = db.error(&format!(
        "INSERT INTO results SELECT graph, model, 1 / (seed - 9), status FROM {}",
        train("(SELECT 'karate' AS graph, 'gcn' AS model, value AS seed FROM generate_series(8, 9))")
    ));
    assert!(error.contains("finished before are kept in results"), "{error}");
    drop(db);
    let db = lab.open();
    let kept: u64 = db.value("SELECT count(*) FROM results").parse().unwrap();
    assert!((6..=7).contains(&kept), "{kept}");
}

#[test]
fn finished_encoders_are_kept_and_the_others_are_trained_when_it_goes_on() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE GRAPH one AS stochastic_block_model(blocks => 2, nodes_per_block => 20, features => 8, seed => 1)");
    db.run("CREATE GRAPH two AS stochastic_block_model(blocks => 2, nodes_per_block => 20, features => 8, seed => 2)");
    let folder = tempfile::tempdir().unwrap();
    let pretrain = |rows: &str, jobs: &str| {
        format!(
            "SELECT model, {rows} AS seed, status, saved FROM pretrain((SELECT ['one', 'two'] AS graphs, model, seed FROM {jobs}), \
             epochs => 3, dim => 4, hidden => 6, layers => 2, save => '{}')",
            folder.path().display()
        )
    };
    db.run("CREATE TABLE jobs AS SELECT 'mdgpt' AS model, value AS seed FROM generate_series(0, 4)");
    db.run("CREATE TABLE encoders (model TEXT, seed BIGINT, status TEXT, saved TEXT)");
    // The third job ends the statement: those before it are there, in the table and as files.
    let error = db.error(&format!("INSERT INTO encoders {}", pretrain("seed + 0 / CAST(seed <> 2 AS INT)", "jobs")));
    assert!(error.contains("finished before are kept in encoders"), "{error}");
    drop(db);
    let db = lab.open();
    let kept = db.rows("SELECT seed, saved FROM encoders ORDER BY seed");
    assert!(kept.len() < 5 && kept.iter().all(|row| std::fs::exists(&row[1]).unwrap()), "{kept:?}");
    // The same jobs without those that are done.
    let left = "(SELECT j.* FROM jobs j LEFT ANTI JOIN encoders e ON j.model = e.model AND j.seed = e.seed) j";
    db.run(&format!("INSERT INTO encoders {}", pretrain("seed", left)));
    let all = db.rows("SELECT seed, saved, status FROM encoders ORDER BY seed");
    let seeds: Vec<&str> = all.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(seeds, ["0", "1", "2", "3", "4"]);
    assert!(all.iter().all(|row| row[2] == "ok" && std::fs::exists(&row[1]).unwrap()), "{all:?}");
    assert!(kept.iter().all(|row| all.iter().any(|other| other[..2] == row[..])), "what was done is as it was");
    assert_eq!(db.value(&format!("SELECT count(*) FROM ({})", pretrain("seed", left))), "0");
}

#[test]
fn every_run_says_what_it_takes_to_redo_it() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("ATTACH 'builtin:karate' AS karate");
    db.run("CREATE SCHEMA copy");
    for table in ["nodes", "edges"] {
        db.run(&format!("CREATE TABLE copy.{table} AS SELECT * FROM karate.{table} ORDER BY random()"));
    }
    db.run(
        "CREATE TABLE results AS SELECT * FROM train((SELECT unnest(['karate', 'copy', 'none']) AS graph, 'gcn' AS model,
             7 AS seed), epochs => 3, features => 'identity', split_scheme => 'random:60/20/20')",
    );
    db.run(
        "CREATE TABLE few AS SELECT graph, model, status, started_at, graph_hash FROM results WHERE graph = 'karate'",
    );
    db.run("CREATE TABLE memory.main.kept AS SELECT * FROM results WHERE graph = 'copy'");
    db.run("CREATE TABLE other AS SELECT graph, model, status FROM results");
    let db = lab.open();
    let rows = db.rows(
        "SELECT \"table\", graph, model, seed, status, engine_version, host_threads FROM bonnet.runs ORDER BY 1, 2",
    );
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        rows,
        [
            ["main.few", "karate", "gcn", "NULL", "ok", "NULL", "NULL"],
            ["main.results", "copy", "gcn", "7", "ok", version, "2"],
            ["main.results", "karate", "gcn", "7", "ok", version, "2"],
            ["main.results", "none", "gcn", "7", "error", version, "NULL"]
        ]
    );
    // One content, one hash, wherever and in whatever order it is stored; a graph that is not there has none.
    let hashes = db.rows("SELECT graph_hash FROM results ORDER BY graph").concat();
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!((hashes[0].len(), hashes[2].as_str()), (16, "NULL"));
    assert_eq!(
        db.value("SELECT count(*) FROM bonnet.runs WHERE started_at BETWEEN now() - interval '1 hour' AND now()"),
        "3"
    );
    assert_eq!(db.value("SELECT count(*) FROM bonnet.runs"), "4");
    db.run("DELETE FROM copy.edges WHERE src = 0 AND dst = 1");
    let again = db.value(
        "SELECT graph_hash FROM train((SELECT 'copy' AS graph, 'gcn' AS model, 7 AS seed), epochs => 3,
             features => 'identity', split_scheme => 'random:60/20/20')",
    );
    assert_ne!(again, hashes[0]);
}

#[test]
fn prepared_statements_run_on_the_tables_as_they_are() {
    let lab = Lab::new();
    let db = lab.open();
    db.run("CREATE TABLE t AS SELECT value AS a, value % 2 = 0 AS even FROM generate_series(1, 4)");
    db.run("CREATE VIEW v AS SELECT sum(a) AS total FROM t");
    db.run("PREPARE above AS SELECT count(*) FROM t WHERE a > $1");
    db.run("PREPARE total AS SELECT * FROM v");
    db.run("PREPARE add AS INSERT INTO t SELECT $1::BIGINT, $1::BIGINT % 2 = 0");
    db.run("PREPARE take AS DELETE FROM t WHERE a = $1");
    db.run("PREPARE raise AS UPDATE t SET a = a + 10 WHERE a = $1");
    assert_eq!(db.value("EXECUTE above(2)"), "2");
    for a in [5, 6] {
        db.run(&format!("EXECUTE add({a})"));
    }
    assert_eq!(db.value("EXECUTE above(2)"), "4");
    assert_eq!(db.value("EXECUTE total"), "21");
    // A condition that is never true takes nothing, here either.
    db.run("EXECUTE take(NULL)");
    db.run("EXECUTE take(77)");
    assert_eq!(db.value("EXECUTE above(0)"), "6");
    db.run("EXECUTE take(1)");
    db.run("EXECUTE raise(2)");
    assert_eq!(db.rows("SELECT a FROM t ORDER BY a"), [["3"], ["4"], ["5"], ["6"], ["12"]]);
    // Another session's rows are seen, too; its prepared statements are not.
    lab.open().run("INSERT INTO t VALUES (100, true)");
    assert_eq!(db.value("EXECUTE above(50)"), "1");
    lab.open().refuses("EXECUTE above(50)", &["above"]);
    // The statement is that of the names, whatever stands behind them by now.
    db.run("CREATE OR REPLACE TABLE t AS SELECT true AS even, 7 AS a");
    assert_eq!(db.value("EXECUTE above(6)"), "1");
    db.run("CREATE OR REPLACE VIEW v AS SELECT 5 AS a");
    assert_eq!(db.value("EXECUTE total"), "5");
    db.run("DROP VIEW v");
    db.run("DROP TABLE t");
    db.refuses("EXECUTE above(1)", &["t' not found"]);
    db.run("DEALLOCATE above");
    db.refuses("EXECUTE above(1)", &["above"]);
}
