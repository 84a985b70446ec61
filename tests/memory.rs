//! Memory is bounded by the engine's limit, and comes back.

use bonnetdb::EngineOptions;

use crate::Db;

/// An engine with so many MiB.
fn limited(mebibytes: usize) -> Db {
    Db::with(EngineOptions { threads: Some(2), memory_limit: Some(mebibytes << 20), ..EngineOptions::default() })
}

#[test]
fn rows_of_a_table_in_memory_count_against_the_limit() {
    let db = limited(32);
    db.refuses("CREATE TABLE big AS SELECT value FROM generate_series(1, 10000000)", &["table big"]);
    db.refuses("SELECT * FROM big", &["big"]);

    db.run("CREATE TABLE small AS SELECT value FROM generate_series(1, 1000000)");
    db.refuses("INSERT INTO small SELECT value FROM generate_series(1, 10000000)", &["table small"]);
    assert_eq!(db.value("SELECT count(*) FROM small"), "1000000", "a refused INSERT leaves nothing behind");
}

#[test]
fn dropped_and_deleted_rows_give_their_memory_back() {
    let db = limited(32);
    for _ in 0..4 {
        db.run("CREATE TABLE t AS SELECT value FROM generate_series(1, 3000000)");
        db.run("DROP TABLE t");
    }
    db.run("CREATE TABLE t (value BIGINT)");
    for _ in 0..4 {
        db.run("INSERT INTO t SELECT value FROM generate_series(1, 2000000)");
        assert_eq!(db.value("SELECT count(*) FROM t"), "2000000");
        db.run("DELETE FROM t");
    }
}

#[test]
fn a_deletion_or_update_happens_when_it_runs_and_not_when_it_is_explained() {
    let db = Db::new();
    db.run("CREATE TABLE t AS SELECT value FROM generate_series(1, 10)");
    db.run("EXPLAIN DELETE FROM t");
    db.run("EXPLAIN UPDATE t SET value = 0");
    assert_eq!(db.value("SELECT sum(value) FROM t"), "55");
    db.run("UPDATE t SET value = value * 2 WHERE value > 8");
    db.run("DELETE FROM t WHERE value = 1");
    assert_eq!(db.rows("SELECT count(*), sum(value) FROM t"), [["9", "73"]]);
}

#[test]
fn a_graph_that_is_made_counts_against_the_limit() {
    let db = limited(16);
    db.refuses("CREATE GRAPH g AS cycle(2000000)", &["CREATE GRAPH: no room", "memory"]);
    db.run("CREATE GRAPH g AS cycle(1000)");
}

#[test]
fn edges_that_are_made_as_they_are_read_hold_no_more_than_some_blocks() {
    let db = limited(16);
    // 4,194,304 edges are 64 MiB.
    assert_eq!(db.value("SELECT count(*) FROM kronecker_edges(18) WHERE src >= 0 AND dst >= 0"), "4194304");
    db.refuses("CREATE TABLE t AS SELECT * FROM kronecker_edges(18)", &["table t", "memory"]);
}

/// Of 1,048,576 rows in memory a graph takes some 80 MiB.
const EDGES: &str = "(SELECT src, dst FROM kronecker_edges(16, seed => 3))";

#[test]
fn a_graph_that_is_larger_than_memory_is_read_from_files() {
    let (whole, narrow) = (Db::new(), limited(24));
    let queries = [
        "SELECT count(*), sum(component), max(size) FROM connected_components({edges})",
        "SELECT sum(node * core_number) FROM core_number({edges})",
        "SELECT sum(node * pagerank) FROM pagerank({edges})",
        "SELECT count(*), sum(local_clustering) FROM local_clustering({edges})",
    ];
    for query in queries {
        let query = query.replace("{edges}", EDGES);
        assert_eq!(narrow.rows(&query), whole.rows(&query), "{query}");
    }
    // Searches from several nodes at once take some 600 bytes a node.
    let query = format!(
        "SELECT sum(curvature), sum(standard_error) FROM midpoint_curvature({EDGES}, anchors => 64, seed => 1)"
    );
    assert_eq!(limited(72).rows(&query), whole.rows(&query));
    // Keys that are no small numbers, loops, and rows with one end or none.
    let edges = format!(
        "(SELECT src * 1000003 - 9000000000 AS src, CASE WHEN src % 7 = 0 THEN NULL WHEN src % 7 = 1 THEN src * 1000003 - 9000000000 \
         ELSE dst * 1000003 - 9000000000 END AS dst FROM {EDGES})"
    );
    let texts = format!("(SELECT 'n' || src AS src, 'n' || dst AS dst FROM {EDGES})");
    for edges in [edges, texts] {
        for (function, column) in [("connected_components", "component"), ("core_number", "core_number")] {
            let query = format!("SELECT count(*), min(node), max(node), sum({column}) FROM {function}({edges})");
            assert_eq!(narrow.rows(&query), whole.rows(&query), "{query}");
        }
    }
    // With a relation of nodes: of a node without edges, and without one that has some.
    let call = |nodes: &str| {
        format!("SELECT count(*), max(size), sum(component) FROM connected_components({EDGES}, nodes => {nodes})")
    };
    let all = call("(SELECT value AS node FROM generate_series(0, 65535))");
    assert_eq!(narrow.rows(&all), whole.rows(&all));
    for db in [&narrow, &whole] {
        db.refuses(
            &call("(SELECT value AS node FROM generate_series(0, 65534))"),
            &["ends at node 65535", "Add the node"],
        );
        db.refuses(&call("(SELECT 'a' AS node)"), &["text", "cast one of them"]);
    }
    // What reads rows as arcs holds them.
    narrow.refuses(&format!("SELECT count(*) FROM strong_components({EDGES})"), &["strong_components", "memory"]);
    narrow.refuses(&format!("SELECT count(*) FROM pagerank({EDGES}, directed => true)"), &["pagerank", "memory"]);
}

#[test]
fn a_temporary_file_without_room_is_an_error_that_says_what_to_do() {
    let db = limited(24);
    db.run("SET datafusion.runtime.max_temp_directory_size = '4M'");
    let query = format!("SELECT count(*) FROM connected_components({EDGES})");
    db.refuses(&query, &["connected_components", "larger than the memory limit", "max_temp_directory_size"]);
    db.run("SET datafusion.runtime.max_temp_directory_size = '100M'");
    assert_eq!(db.value(&query), db.value(&query));
}
