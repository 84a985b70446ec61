//! What may not change the answer of a graph function: the order of its rows, how they are cut into batches and
//! partitions, whether they come from a table, a view or a subquery, what the nodes are called, the number of threads,
//! whether the table is in memory or on disk, and whether the graph is cached.
//!
//! `BONNET_DIFFERENTIAL_GRAPHS` is how many random graphs are tried (default 6), `BONNET_DIFFERENTIAL_SEED` gives others.

use bonnetdb::EngineOptions;

use super::super::Db;
use super::super::fuzz::random::Random;
use super::rows::{Row, of_batches, same};
use super::{listed, number};

/// Calls in which `{e}` stands for a relation of edges, and `{node}`, `{src}`, `{dst}` for the columns of that name, read
/// back where nodes have other names.
const CALLS: [&str; 15] = [
    "SELECT {node}, component, size FROM connected_components({e})",
    "SELECT {node}, curvature FROM midpoint_curvature({e})",
    "SELECT {node}, curvature FROM midpoint_curvature({e}, relative => false, self_loops => true, unreachable => 2)",
    "SELECT {node}, curvature FROM midpoint_curvature({e}, directed => true)",
    "SELECT {node}, curvature FROM node_resistance_curvature({e})",
    "SELECT {src}, {dst}, forman_ricci FROM forman_ricci({e})",
    "SELECT {src}, {dst}, forman_ricci(src, dst) OVER () FROM {e} AS e",
    "SELECT {src}, {dst}, g, forman_ricci(src, dst) OVER (PARTITION BY g) FROM {e} AS e",
    "SELECT {src}, {dst}, effective_resistance FROM effective_resistance({e})",
    "SELECT {src}, {dst}, resistance_curvature(src, dst) OVER () FROM {e} AS e",
    "SELECT {src}, {dst}, ollivier_ricci FROM ollivier_ricci({e}, alpha => 0.5)",
    "SELECT g, degree_histogram(src, dst), clustering_histogram(src, dst) FROM {e} AS e GROUP BY g",
    "SELECT graph_betti(src, dst), orbit_counts(src, dst) FROM {e} AS e",
    "SELECT g, persistence_diagram(src, dst, w, expand => 2) FROM {e} AS e GROUP BY g",
    "SELECT graph_id, {node}, component FROM connected_components((SELECT g AS graph_id, src, dst FROM {e} AS e))",
];

/// Rows of `(src, dst, w, g)`: few nodes, so that there are triangles, repeats, loops and NULLs.
fn edges(random: &mut Random) -> Vec<String> {
    let nodes = [2, 5, 9, 14][random.below(4)];
    let node = |random: &mut Random| match random.one_in(25) {
        true => None,
        false => Some(random.below(nodes)),
    };
    let text = |node: Option<usize>| node.map_or("NULL".to_owned(), |node| node.to_string());
    let rows = random.below(4 * nodes);
    (0..rows)
        .map(|_| {
            let (src, dst) = (node(random), node(random));
            // One value an edge, in either direction.
            let (a, b) = (src.min(dst).unwrap_or(0), src.max(dst).unwrap_or(0));
            format!("({}, {}, {}, {})", text(src), text(dst), (a * 7 + b) % 5, random.below(2))
        })
        .collect()
}

/// Makes the table `e` of these rows, so many an INSERT.
fn make(db: &Db, rows: &[String], at_once: usize) {
    db.run("CREATE OR REPLACE TABLE e (src BIGINT, dst BIGINT, w DOUBLE, g BIGINT)");
    for rows in rows.chunks(at_once.max(1)) {
        db.run(&format!("INSERT INTO e VALUES {}", rows.join(", ")));
    }
}

fn call(template: &str, relation: &str, back: impl Fn(&str) -> String) -> String {
    let sql = template.replace("{e}", relation);
    ["node", "src", "dst"].iter().fold(sql, |sql, name| sql.replace(&format!("{{{name}}}"), &back(name)))
}

fn answer(db: &Db, sql: &str) -> Result<Vec<Row>, String> {
    db.try_run(sql).map(|batches| of_batches(&batches)).map_err(|error| error.to_string())
}

#[test]
fn graph_functions_answer_the_same_however_their_rows_come() {
    let seed = number("BONNET_DIFFERENTIAL_SEED", 0);
    let folder = tempfile::tempdir().unwrap();
    let threads = |threads| EngineOptions { threads: Some(threads), ..EngineOptions::default() };
    let memory = [2, 1, 8].map(|count| Db::with(threads(count)));
    let lasting = Db::with(EngineOptions { database: Some(folder.path().join("edges.bonnet")), ..threads(2) });
    let plain = |name: &str| name.to_owned();
    let mut compared = 0;
    for graph in 0..number("BONNET_DIFFERENTIAL_GRAPHS", 6) {
        let random = &mut Random::new(seed, graph);
        let rows = edges(random);
        let mut permuted = rows.clone();
        (1..permuted.len()).rev().for_each(|i| permuted.swap(i, random.below(i + 1)));
        let [base, one, eight] = &memory;
        for db in &memory {
            make(db, &rows, rows.len());
        }
        base.run("CREATE OR REPLACE VIEW v AS SELECT * FROM e");
        let expected = CALLS.map(|template| answer(base, &call(template, "e", plain)));
        let mut check = |what: &str, db: &Db, relation: &str, back: &dyn Fn(&str) -> String| {
            for (template, expected) in CALLS.iter().zip(&expected) {
                let sql = call(template, relation, back);
                compared += 1;
                let found = answer(db, &sql);
                let alike = match (&found, expected) {
                    (Ok(found), Ok(expected)) => same(found, expected),
                    (found, expected) => found.is_err() && expected.is_err(),
                };
                let show = |rows: &Result<Vec<Row>, String>| rows.as_ref().map_or_else(Clone::clone, |it| listed(it));
                assert!(
                    alike,
                    "seed {seed}, graph {graph}, {what}: {sql}\n{}\nexpected\n{}\nof the edges {}",
                    show(&found),
                    show(expected),
                    rows.join(", ")
                );
            }
        };
        // The calls before have left graphs in the cache.
        check("cached graphs", base, "e", &plain);
        base.run("SET bonnet.graph_cache = 'off'");
        check("no cached graphs", base, "e", &plain);
        base.run("RESET bonnet.graph_cache");
        check("one thread", one, "e", &plain);
        check("eight threads", eight, "e", &plain);
        check("a view", base, "v", &plain);
        let halves = "(SELECT * FROM e WHERE g = 0 UNION ALL SELECT * FROM e WHERE g <> 0)";
        check("two partitions", base, halves, &plain);
        let renamed = "(SELECT src * 13 + 7 AS src, dst * 13 + 7 AS dst, w, g FROM e)";
        check("other numbers", base, renamed, &|name| format!("({name} - 7) / 13"));
        let texts = "(SELECT chr(97 + src) AS src, chr(97 + dst) AS dst, w, g FROM e)";
        check("nodes of text", base, texts, &|name| format!("CAST(ascii({name}) AS BIGINT) - 97"));
        make(base, &permuted, rows.len());
        check("permuted rows", base, "e", &plain);
        make(base, &permuted, 3);
        check("small batches", base, "e", &plain);
        make(&lasting, &rows, rows.len().div_ceil(2));
        check("a lasting table", &lasting, "e", &plain);
    }
    println!("{compared} answers compared");
}
