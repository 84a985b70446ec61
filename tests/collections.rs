//! Collections of many graphs in one relation: read in parts, by all threads, within the memory of a part.

use bonnetdb::EngineOptions;

use super::Db;

/// Cycles of 3 to 9 nodes, in no order, more rows than a part has; every third graph has a node by itself.
const EDGES: &str = "CREATE TABLE edges AS SELECT graph_id, src, dst FROM cycle(
     (SELECT (value * 7919) % 30011 AS graph_id, 3 + value % 7 AS n FROM generate_series(0, 30010)))";
const NODES: &str = "CREATE TABLE nodes AS
     SELECT DISTINCT graph_id, node
     FROM (SELECT graph_id, src AS node FROM edges UNION ALL SELECT graph_id, dst FROM edges)
     UNION ALL SELECT value AS graph_id, 100 AS node FROM generate_series(0, 30010) WHERE value % 3 = 0
     UNION ALL SELECT 40000, 5";

fn with(threads: usize, memory_limit: Option<usize>) -> Db {
    Db::with(EngineOptions { threads: Some(threads), memory_limit, ..EngineOptions::default() })
}

#[test]
fn a_collection_is_answered_in_the_order_of_its_graphs_at_any_number_of_threads() {
    let calls = [
        "SELECT graph_id, node, component, size FROM connected_components(edges, nodes => nodes)",
        "SELECT * FROM midpoint_curvature(edges, nodes => nodes)",
        // The id is not asked for, but the order is that of the ids.
        "SELECT curvature FROM node_resistance_curvature(edges)",
    ];
    let answers = |threads: usize| {
        let db = with(threads, None);
        db.run(EDGES);
        db.run(NODES);
        calls.map(|call| db.rows(call))
    };
    let one = answers(1);
    for threads in [2, 7] {
        assert!(one == answers(threads), "{threads} threads");
    }
    let number = |text: &str| text.parse::<i64>().unwrap();
    let [components, ..] = &one;
    assert!(components.is_sorted_by_key(|row| (number(&row[0]), number(&row[1]))));
    // A cycle is one component; what is by itself is another one.
    let nodes = |id: i64| 3 + (0..30011).find(|value| (value * 7919) % 30011 == id).unwrap() % 7;
    for id in [0, 1, 2, 15000, 30010] {
        let rows: Vec<_> = components.iter().filter(|row| number(&row[0]) == id).collect();
        let expected = nodes(id) + i64::from(id % 3 == 0);
        assert_eq!(rows.len() as i64, expected, "graph {id}");
        assert!(rows.iter().all(|row| match row[1].as_str() {
            "100" => row[2] == "1" && row[3] == "1",
            _ => row[2] == "0" && number(&row[3]) == nodes(id),
        }));
    }
    assert_eq!(components.last().unwrap(), &["40000", "5", "0", "1"]);
    // A node of a cycle has two neighbours, which are two apart (one in a triangle).
    assert!(one.iter().all(|rows| rows.len() > 150_000));
}

#[test]
fn a_collection_larger_than_memory_is_answered_within_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("edges.parquet").display().to_string();
    // 36 MB of rows, and as much again where they are made one graph each.
    with(2, None).run(&format!(
        "COPY (SELECT graph_id, src, dst FROM cycle((SELECT (value * 7919) % 300007 AS graph_id, 5 AS n FROM
         generate_series(0, 300006)))) TO '{file}'"
    ));
    let db = with(2, Some(32 << 20));
    let edges = format!("(SELECT * FROM '{file}')");
    let sql = format!("SELECT count(*), min(graph_id), max(graph_id), sum(size) FROM connected_components({edges})");
    assert_eq!(db.rows(&sql), [["1500035", "0", "300006", "7500175"]]);
    let sql = format!("SELECT count(*), min(curvature) = max(curvature) FROM midpoint_curvature({edges})");
    assert_eq!(db.rows(&sql), [["1500035", "true"]]);
    let sql = format!("SELECT count(*), min(ollivier_ricci) = max(ollivier_ricci) FROM ollivier_ricci({edges})");
    assert_eq!(db.rows(&sql), [["1500035", "true"]]);
}

#[test]
fn graphs_with_nodes_are_compared_with_another_one_in_parts() {
    let calls = [
        "SELECT graph_id, is_isomorphic FROM is_isomorphic(edges, (SELECT src, dst FROM cycle(5)), nodes => nodes)",
        "SELECT * FROM subgraph_isomorphisms(edges, (SELECT src, dst FROM cycle(3)), nodes => nodes)",
    ];
    let answers = |threads: usize| {
        let db = with(threads, None);
        db.run(EDGES);
        db.run(NODES);
        for call in calls {
            let plan = db.rows(&format!("EXPLAIN {call}")).concat().concat();
            let partitioned = plan.matches("partitioning=Hash([graph_id@").count();
            assert!(threads == 1 || partitioned == 2, "{threads} threads: {plan}");
        }
        calls.map(|call| db.rows(call))
    };
    let one = answers(1);
    for threads in [2, 7] {
        assert!(one == answers(threads), "{threads} threads");
    }
    // A cycle of five nodes, and no node by itself; every cycle of three is a place of the triangle.
    let ids = |size: i64| (0..30011).filter(move |value| 3 + value % 7 == size).map(|value| (value * 7919) % 30011);
    let isomorphic = one[0].iter().filter(|row| row[1] == "true").count();
    assert_eq!((one[0].len(), isomorphic), (30012, ids(5).filter(|id| id % 3 != 0).count()));
    let mut found: Vec<i64> = one[1].iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(found.is_sorted());
    found.dedup();
    let mut expected: Vec<i64> = ids(3).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn edges_of_a_collection_have_their_values_in_parts() {
    let pairs = "(SELECT graph_id, src, dst FROM edges UNION ALL SELECT NULL, 0, 1 UNION ALL SELECT 50000, 0, 1)";
    let calls = [
        "SELECT * FROM ollivier_ricci(edges)".to_owned(),
        format!("SELECT * FROM ollivier_ricci_pairs(edges, {pairs})"),
        "SELECT *, forman_ricci(src, dst) OVER (PARTITION BY graph_id) FROM edges".to_owned(),
    ];
    let answers = |threads: usize| {
        let db = with(threads, None);
        db.run(EDGES);
        for (call, relations) in calls.iter().zip([1, 2, 1]) {
            let plan = db.rows(&format!("EXPLAIN {call}")).concat().concat();
            let partitioned = plan.matches("partitioning=Hash([").count();
            assert!(threads == 1 || partitioned == relations, "{threads} threads: {plan}");
        }
        [0, 1, 2].map(|i| db.rows(&calls[i]))
    };
    let one = answers(1);
    for threads in [2, 7] {
        assert!(one == answers(threads), "{threads} threads");
    }
    let [edges, pairs, windows] = &one;
    assert_eq!(pairs.first().unwrap(), &["NULL", "0", "1", "NULL"]);
    assert_eq!(pairs.last().unwrap(), &["50000", "0", "1", "NULL"]);
    assert!(pairs[1..pairs.len() - 1] == edges[..]);
    // By symmetry all edges of a cycle have one value, which its length decides.
    let mut by_size = std::collections::BTreeMap::<usize, std::collections::BTreeSet<[&str; 2]>>::new();
    let graphs = edges.chunk_by(|a, b| a[0] == b[0]).zip(windows.chunk_by(|a, b| a[0] == b[0]));
    for (edges, windows) in graphs {
        assert_eq!(edges.len(), windows.len());
        let values = edges.iter().zip(windows).map(|(edge, window)| [edge[3].as_str(), window[3].as_str()]);
        by_size.entry(edges.len()).or_default().extend(values);
    }
    assert_eq!(by_size.keys().copied().collect::<Vec<_>>(), [3, 4, 5, 6, 7, 8, 9]);
    assert!(by_size.values().all(|values| values.len() == 1), "{by_size:?}");
}

#[test]
fn edges_without_an_id_are_a_graph_of_their_own() {
    let db = with(3, None);
    db.run(
        "CREATE TABLE e AS SELECT * FROM
         (VALUES (1, 2, 7), (2, 3, 7), (3, 1, 7), (1, 2, NULL), (5, 6, 3), (6, NULL, 3)) AS t(src, dst, graph_id)",
    );
    let rows = db.rows("SELECT graph_id, src, dst, forman_ricci FROM forman_ricci(e)");
    assert_eq!(
        rows,
        [
            ["NULL", "1", "2", "2"],
            ["3", "5", "6", "2"],
            ["3", "6", "NULL", "NULL"],
            ["7", "1", "2", "3"],
            ["7", "2", "3", "3"],
            ["7", "3", "1", "3"]
        ]
    );
    // In OVER as in FROM.
    let sql = "SELECT graph_id, src, dst, forman_ricci(src, dst) OVER (PARTITION BY graph_id) FROM e";
    assert_eq!(db.rows(sql)[0], ["NULL", "1", "2", "2"]);
    assert_eq!(db.rows(sql)[1..], rows[1..]);
}

#[test]
fn errors_and_graphs_without_an_id_are_as_of_one_graph() {
    let db = with(2, None);
    // Rows without an id are a graph, and ids of two types are compared by their values.
    db.run("CREATE TABLE e AS SELECT * FROM (VALUES (1, 2, 7), (2, 3, 7), (1, 2, NULL), (5, 6, 3)) AS t(src, dst, graph_id)");
    assert_eq!(
        db.rows("SELECT * FROM connected_components(e)"),
        [
            ["NULL", "1", "0", "2"],
            ["NULL", "2", "0", "2"],
            ["3", "5", "0", "2"],
            ["3", "6", "0", "2"],
            ["7", "1", "0", "3"],
            ["7", "2", "0", "3"],
            ["7", "3", "0", "3"]
        ]
    );
    let nodes = "(SELECT CAST(3 AS INT) AS graph_id, value AS node FROM generate_series(5, 7))";
    let error = db.error(&format!("SELECT * FROM connected_components(e, nodes => {nodes})"));
    assert!(error.contains("an edge ends at node 1 (src), which nodes lacks"), "{error}");
    let nodes = nodes.replace("CAST(3 AS INT)", "3");
    let error = db.error(&format!("SELECT * FROM connected_components(e, nodes => {nodes})"));
    assert!(error.contains("an edge ends at node 1 (src), which nodes lacks"), "{error}");
    let error = db
        .error(&format!("SELECT * FROM connected_components(e, nodes => (SELECT * FROM {nodes} AS n WHERE node < 0))"));
    assert!(error.contains("which nodes lacks"), "{error}");
    let error = db.error("SELECT * FROM connected_components(e, nodes => (SELECT src AS node FROM e))");
    assert!(error.contains("nodes has none: add it to nodes"), "{error}");
    assert!(db.rows("SELECT * FROM midpoint_curvature((SELECT * FROM e WHERE src > 9))").is_empty());
}
