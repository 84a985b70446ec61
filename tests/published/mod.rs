//! The engine's figures on published graphs, in the statements that a user would type.

mod heterophily;
mod registered;

use std::collections::BTreeMap;
use std::fs;

use bonnetdb::EngineOptions;

use crate::{Db, data};

fn close(found: f64, published: f64, tolerance: f64, what: &str) {
    assert!((found - published).abs() <= tolerance, "{what}: {found}, published {published}");
}

/// Attaches a data set under its own name; `None` where it is absent.
fn attach(db: &Db, folder: &str, name: &str, options: &str) -> Option<()> {
    db.run(&format!("ATTACH '{}' AS {name} {options}", data(folder)?));
    Some(())
}

#[test]
fn curvatures_of_published_graphs_are_those_of_the_paper() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid/pubmed", "pubmed", "(TYPE planetoid)") else { return };
    let curvature = |sql: &str, mean: f64, skewness: f64, what: &str| {
        let rows = db.rows(&format!("SELECT avg(curvature), skewness_sample(curvature) FROM {sql}"));
        // Half of the last digit that was printed.
        close(rows[0][0].parse().unwrap(), mean, 5e-8, what);
        close(rows[0][1].parse().unwrap(), skewness, 5e-7, what);
    };
    curvature("midpoint_curvature(pubmed.edges, nodes => pubmed.nodes)", 0.0067765, 0.431218, "PubMed");
    attach(&db, "planetoid/cora", "cora", "").unwrap();
    let rows = db.rows(
        "WITH largest AS (SELECT node FROM connected_components(cora.edges, nodes => cora.nodes) WHERE component = 0),
             edges AS (SELECT * FROM cora.edges WHERE src IN (SELECT node FROM largest))
         SELECT avg(curvature), skewness_sample(curvature), count(*) FROM midpoint_curvature(edges, nodes => largest)",
    );
    close(rows[0][0].parse().unwrap(), 0.0074886, 5e-8, "Cora");
    close(rows[0][1].parse().unwrap(), 0.084005, 5e-7, "Cora");
    assert_eq!(rows[0][2], "2485");
    attach(&db, "hyperbolics/real/ca-CSphd.edges", "phd", "").unwrap();
    curvature("midpoint_curvature(phd.edges)", -0.0030062, -1.539577, "CS_Phds");
}

#[test]
fn profiles_of_published_graphs_have_the_published_counts() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid/cora", "cora", "") else { return };
    let rows =
        db.rows("SELECT nodes, edges, features, classes, round(edge_homophily, 4), regime FROM graph_profile(cora)");
    assert_eq!(rows, [["2708", "5278", "1433", "7", "0.81", "near_zero"]]);
    attach(&db, "planetoid/pubmed", "pubmed", "").unwrap();
    let rows = db.rows("SELECT graph, nodes, features, classes FROM bonnet.graphs ORDER BY graph");
    assert_eq!(rows, [["cora", "2708", "1433", "7"], ["pubmed", "19717", "500", "3"]]);
}

/// Everything of a run but seconds and memory, in an order of its own.
fn rows_of_training(db: &Db, seeds: u32, epochs: &str) -> Vec<Vec<String>> {
    db.rows(&format!(
        "SELECT graph, model, seed, status, error, val_accuracy, val_macro_f1, val_f1, val_auc, val_ap, val_mae, val_mse,
             test_accuracy, test_macro_f1, test_f1, test_auc, test_ap, test_mae, test_mse, best_epoch, epochs_run,
             parameters, device
         FROM train((SELECT 'cora' AS graph, m.model, value AS seed
             FROM (SELECT unnest(['gcn', 'gat', 'mlp', 'graphsage']) AS model) m, generate_series(0, {seeds} - 1)),
             normalize => 'row', split_scheme => 'public' {epochs})
         ORDER BY model, seed"
    ))
}

#[test]
fn models_on_cora_reach_the_published_accuracies() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid/cora", "cora", "(TYPE planetoid)") else { return };
    let rows = rows_of_training(&db, 5, "");
    let mut accuracies: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in &rows {
        assert_eq!((row[3].as_str(), row[4].as_str()), ("ok", "NULL"), "{row:?}");
        accuracies.entry(&row[1]).or_default().push(row[12].parse().unwrap());
    }
    let mean = |model| {
        let accuracies = &accuracies[model];
        assert_eq!(accuracies.len(), 5, "{model}");
        accuracies.iter().sum::<f64>() / 5.0
    };
    let [gcn, gat, mlp, graphsage] = ["gcn", "gat", "mlp", "graphsage"].map(mean);
    println!("Cora, public split, 5 seeds: gcn {gcn:.4}, gat {gat:.4}, mlp {mlp:.4}, graphsage {graphsage:.4}");
    // CurvBench, Table 3, whose GCN, GAT and MLP sit at the level of this split: .8036, .8072 and .5612.
    assert!(gcn >= 0.81, "gcn {gcn}: {accuracies:?}");
    assert!(gat >= 0.82, "gat {gat}: {accuracies:?}");
    assert!((0.52..=0.62).contains(&mlp), "mlp {mlp}: {accuracies:?}");
    assert!(graphsage >= 0.79, "graphsage {graphsage}: {accuracies:?}");
}

#[test]
fn models_trained_on_sampled_neighbours_of_cora_are_about_as_good() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid/cora", "cora", "(TYPE planetoid)") else { return };
    // 28 nodes a step are five steps an epoch: 40 epochs have as many as 200 on the whole graph.
    let accuracy = |model: &str, options: &str| -> f64 {
        let rows = db.rows(&format!(
            "SELECT min(status), avg(test_accuracy) FROM train((SELECT 'cora' AS graph, '{model}' AS model, value AS seed
                 FROM generate_series(0, 4)), normalize => 'row', split_scheme => 'public', {options})"
        ));
        assert_eq!(rows[0][0], "ok", "{model}");
        rows[0][1].parse().unwrap()
    };
    for model in ["gcn", "graphsage", "gat"] {
        let whole = accuracy(model, "epochs => 200");
        let sampled = accuracy(model, "epochs => 40, batch_nodes => 28, fanout => [10, 5]");
        println!("Cora, public split, 5 seeds: {model} {whole:.4}, on sampled neighbours {sampled:.4}");
        assert!(sampled >= whole - 0.025, "{model}: {sampled} beside {whole}");
    }
}

#[test]
fn programs_of_layers_on_cora_learn_as_much_as_they_did() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid/cora", "cora", "(TYPE planetoid)") else { return };
    // Public split, three seeds. The bounds are a margin below what these models reach here, so that one that stops
    // learning is seen: most lie about GCN; LINKX and MLP-1 lack smooth neighbourhoods and fall behind.
    let least = [
        ("sgc", 0.795),
        ("appnp", 0.82),
        ("gprgnn", 0.82),
        ("tag", 0.82),
        ("mixhop", 0.80),
        ("gin", 0.76),
        ("bernnet", 0.81),
        ("pcnet", 0.81),
        ("h2gcn", 0.80),
        ("label_propagation", 0.70),
        ("mlp1", 0.55),
        ("linkx", 0.60),
    ];
    let models = least.map(|(model, _)| format!("'{model}'")).join(", ");
    let rows = db.rows(&format!(
        "SELECT model, min(status), avg(test_accuracy) FROM train((SELECT 'cora' AS graph, m.model, value AS seed
             FROM (SELECT unnest([{models}]) AS model) m, generate_series(0, 2)), normalize => 'row', split_scheme => 'public')
         GROUP BY model"
    ));
    for (model, least) in least {
        let row = rows.iter().find(|row| row[0] == model).unwrap_or_else(|| panic!("{model} is missing"));
        assert_eq!(row[1], "ok", "{model}");
        let accuracy: f64 = row[2].parse().unwrap();
        println!("Cora, public split, 3 seeds: {model} {accuracy:.4}");
        assert!(accuracy >= least, "{model} {accuracy}");
    }
}

#[test]
fn the_same_query_gives_the_same_rows_whatever_the_threads() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid/cora", "cora", "") else { return };
    let first = rows_of_training(&db, 2, ", epochs => 12");
    assert_eq!(first.len(), 8);
    assert_eq!(rows_of_training(&db, 2, ", epochs => 12"), first, "a second time");
    db.run("SET bonnet.threads = 1");
    assert_eq!(rows_of_training(&db, 2, ", epochs => 12"), first, "on one thread, by SET");
    for threads in [1, 3, 5] {
        let other = Db::with(EngineOptions { threads: Some(threads), memory_limit: None, ..EngineOptions::default() });
        attach(&other, "planetoid/cora", "cora", "").unwrap();
        assert_eq!(rows_of_training(&other, 2, ", epochs => 12"), first, "on {threads} threads");
        let sql = "SELECT node, curvature FROM midpoint_curvature(cora.edges, nodes => cora.nodes, anchors => 100) ORDER BY node";
        assert_eq!(other.rows(sql), db.rows(sql), "on {threads} threads");
    }
}

#[test]
fn features_that_the_publisher_lost_are_an_error_that_names_the_file() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid/pubmed", "pubmed", "(TYPE planetoid)") else { return };
    db.run("ATTACH 'builtin:karate' AS karate");
    let rows = db.rows(
        "SELECT graph, features, status, error FROM train((SELECT column1 AS graph, column2 AS features, 'gcn' AS model
             FROM (VALUES ('pubmed', 'given'), ('pubmed', 'degree'), ('karate', 'identity'))), epochs => 2)
         ORDER BY graph, features",
    );
    assert_eq!(rows[0], ["karate", "identity", "ok", "NULL"]);
    assert_eq!(rows[1], ["pubmed", "degree", "ok", "NULL"]);
    assert_eq!(rows[2][..3], ["pubmed", "given", "error"]);
    assert!(
        rows[2][3].contains("ind.pubmed.") && rows[2][3].contains("the option features: identity, degree"),
        "{}",
        rows[2][3]
    );
}

#[test]
fn results_joined_with_a_file_of_regimes_are_pivoted_written_and_read_back() {
    let db = Db::with_karate();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("regimes.csv"), "graph,regime\nkarate,mixed\nblocks,positive\n").unwrap();
    db.run("CREATE GRAPH blocks AS stochastic_block_model(blocks => 2, nodes_per_block => 40, separation => 3)");
    db.run(&format!(
        "CREATE TABLE runs AS SELECT r.regime, t.graph, t.model, t.seed, t.test_accuracy
         FROM train((SELECT g.graph, m.model, value AS seed
             FROM (SELECT unnest(['karate', 'blocks']) AS graph) g, (SELECT unnest(['gcn', 'mlp']) AS model) m, generate_series(0, 2)),
             epochs => 20, features => 'identity') t
         JOIN '{}' r ON r.graph = t.graph WHERE t.status = 'ok'",
        path("regimes.csv")
    ));
    assert_eq!(db.value("SELECT count(*) FROM runs"), "12");
    db.run(&format!(
        "COPY (SELECT * FROM (SELECT regime, model, test_accuracy FROM runs)
               PIVOT (avg(test_accuracy) FOR model IN ('gcn', 'mlp'))) TO '{}' (FORMAT parquet)",
        path("leaderboard.parquet")
    ));
    let read = db.rows(&format!("SELECT regime, gcn, mlp FROM '{}' ORDER BY regime", path("leaderboard.parquet")));
    let plain = db.rows(
        "SELECT regime, avg(test_accuracy) FILTER (WHERE model = 'gcn'), avg(test_accuracy) FILTER (WHERE model = 'mlp')
         FROM runs GROUP BY regime ORDER BY regime",
    );
    assert_eq!(read.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["mixed", "positive"]);
    for (read, plain) in read.iter().zip(&plain) {
        for (read, plain) in read[1..].iter().zip(&plain[1..]) {
            close(read.parse().unwrap(), plain.parse().unwrap(), 1e-12, "a mean accuracy");
        }
    }
    // The other spelling of PIVOT answers the same.
    let other = db.rows("SELECT regime, gcn, mlp FROM (PIVOT runs ON model IN ('gcn', 'mlp') USING max(seed) GROUP BY regime) ORDER BY 1");
    assert_eq!(other, [["mixed", "2", "2"], ["positive", "2", "2"]]);
}

#[test]
fn views_over_two_csv_files_are_a_graph() {
    let db = Db::with_karate();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    db.run(&format!(
        "COPY (SELECT node AS member, label AS faction FROM karate.nodes) TO '{}' (FORMAT csv)",
        path("people.csv")
    ));
    db.run(&format!(
        "COPY (SELECT src AS a, dst AS b, 'friends' AS how FROM karate.edges) TO '{}' (FORMAT csv)",
        path("ties.csv")
    ));
    db.run("CREATE SCHEMA club");
    db.run(&format!("CREATE VIEW club.nodes AS SELECT member AS node, faction AS label FROM '{}'", path("people.csv")));
    db.run(&format!("CREATE VIEW club.edges AS SELECT a AS src, b AS dst, how FROM '{}'", path("ties.csv")));
    let profile = |graph: &str| {
        db.rows(&format!(
            "SELECT nodes, edges, components, diameter, classes, edge_homophily, mean_curvature, regime FROM graph_profile({graph})"
        ))
    };
    assert_eq!(profile("club"), profile("karate"));
    let figures = |graph: &str| {
        db.rows(&format!(
            "SELECT model, seed, status, test_accuracy, val_auc, best_epoch FROM train((SELECT '{graph}' AS graph, model, value AS seed
                 FROM (SELECT unnest(['gcn', 'gat']) AS model), generate_series(0, 1)), epochs => 25, features => 'identity')
             ORDER BY model, seed"
        ))
    };
    assert_eq!(figures("club"), figures("karate"));
    assert!(figures("club").iter().all(|row| row[2] == "ok"));
    assert_eq!(db.rows("SELECT format, nodes, edges FROM bonnet.graphs WHERE graph = 'club'"), [["views", "34", "78"]]);
}

#[test]
fn a_folder_of_published_graphs_is_a_catalog() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid", "citations", "") else { return };
    let rows = db.rows("SELECT graph, nodes, classes FROM bonnet.graphs ORDER BY graph");
    let expected =
        [["citations.citeseer", "3327", "6"], ["citations.cora", "2708", "7"], ["citations.pubmed", "19717", "3"]];
    assert_eq!(rows, expected);
    assert_eq!(db.value("SELECT count(*) FROM citations.cora.nodes"), "2708");
    let rows = db.rows("SELECT nodes, classes FROM graph_profile(citations.cora)");
    assert_eq!(rows, [["2708", "7"]]);
    let rows =
        db.rows("SELECT status, error FROM train((SELECT 'citations.cora' AS graph, 'mlp' AS model), epochs => 2)");
    assert_eq!(rows, [["ok", "NULL"]]);
    db.run("USE citations");
    assert_eq!(db.value("SELECT count(*) FROM cora.nodes"), "2708");
    db.run("USE memory.main");
    db.run("DETACH citations");
    db.refuses("SELECT * FROM citations.cora.nodes", &["citations"]);
}

#[test]
fn sets_of_graphs_are_attached_and_compared_in_sql() {
    let db = Db::new();
    let Some(()) = attach(&db, "tu", "tu", "") else { return };
    let rows = db.rows(
        "SELECT graph, format, nodes, edges, features, classes FROM bonnet.graphs WHERE graph IN ('tu.mutag', 'tu.enzymes') ORDER BY graph",
    );
    assert_eq!(rows, [["tu.enzymes", "tu", "19580", "37282", "21", "3"], ["tu.mutag", "tu", "3371", "3721", "7", "7"]]);
    let rows = db.rows("SELECT label, count(*) FROM tu.mutag.graphs GROUP BY label ORDER BY label");
    assert_eq!(rows, [["-1", "63"], ["1", "125"]]);
    let rows = db.rows(
        "WITH descriptors AS (SELECT graph_id, degree_histogram(src, dst) AS degrees FROM tu.mutag.edges GROUP BY graph_id)
         SELECT mmd(degrees, label, kernel => 'gaussian_emd') > 0.001 FROM descriptors JOIN tu.mutag.graphs USING (graph_id)",
    );
    assert_eq!(rows, [["true"]]);

    attach(&db, "strongly-regular", "sr", "").unwrap();
    let rows = db.rows(
        "SELECT graph_id, orbit_counts(src, dst)[15] AS cliques FROM sr.sr16622.edges GROUP BY graph_id ORDER BY graph_id",
    );
    // The rook's graph, whose nodes are in two complete graphs of 4 each, and the Shrikhande graph.
    assert_eq!(rows, [["0", "2.0"], ["1", "0.0"]]);

    // How many pairs of BREC have other mean counts: as networkx and a walk along all connected sets of nodes say. Graphs
    // with the 4-vertex condition agree on subgraphs of 4 nodes by definition.
    attach(&db, "brec/raw", "brec", "").unwrap();
    let rows = db.rows(
        "WITH counts AS (SELECT graph_id, orbit_counts(src, dst) AS o FROM brec.edges GROUP BY graph_id),
              pairs AS (SELECT category, pair, count(DISTINCT o) AS different FROM brec.graphs JOIN counts USING (graph_id)
                        GROUP BY category, pair)
         SELECT category, count(*), sum(different - 1) FROM pairs GROUP BY category ORDER BY category",
    );
    for expected in [
        ["4vtx", "20", "0"],
        ["basic", "60", "60"],
        ["extension", "100", "83"],
        ["regular", "50", "49"],
        ["str", "50", "33"],
    ] {
        assert!(rows.iter().any(|row| *row == expected), "{expected:?} {rows:?}");
    }
}

#[test]
fn the_tests_of_weisfeiler_and_leman_tell_as_many_pairs_of_brec_apart_as_its_authors_print() {
    let db = Db::new();
    let Some(()) = attach(&db, "brec/raw", "brec", "") else { return };
    // Wang and Zhang, An Empirical Study of Realized GNN Expressiveness (ICML 2024), Table 2: basic, CFI, extension and regular, which are
    // those of four files here.
    for (options, expected) in [
        ("", ["0", "0", "0", "0"]),
        (", k => 3", ["60", "60", "100", "50"]),
        (", substructures => 3", ["52", "0", "5", "48"]),
        (", substructures => 4", ["60", "0", "84", "99"]),
    ] {
        let rows = db.rows(&format!(
            "WITH hashes AS (SELECT graph_id, wl_hash(src, dst{options}) AS hash FROM brec.edges GROUP BY graph_id),
                  pairs AS (SELECT CASE WHEN category IN ('basic', 'cfi', 'extension') THEN category ELSE 'regular' END AS kind,
                                   category, pair, count(DISTINCT hash) - 1 AS apart
                            FROM brec.graphs JOIN hashes USING (graph_id) GROUP BY category, pair)
             SELECT sum(apart) FROM pairs GROUP BY kind ORDER BY kind"
        ));
        assert_eq!(rows.concat(), expected, "{options}");
    }
}

#[test]
fn graphons_are_told_apart_by_their_share_of_closed_triples() {
    let db = Db::new();
    let rows = db.rows(
        "WITH params AS (SELECT value AS graph_id, 'w' || (1 + 3 * (value % 2)) AS w, 60 AS n, value AS seed
                         FROM generate_series(0, 39)),
              counts AS (SELECT graph_id, orbit_counts(src, dst) AS o FROM graphon(params) GROUP BY graph_id),
              shares AS (SELECT graph_id, o[4] / (o[3] + o[4]) AS closed FROM counts),
              distances AS (SELECT x.graph_id AS a, y.graph_id AS b, abs(x.closed - y.closed) AS distance
                            FROM shares x JOIN shares y ON x.graph_id < y.graph_id)
         SELECT adjusted_rand_index(item % 2, cluster_id) AS agreement,
                (SELECT avg(closed) FROM shares WHERE graph_id % 2 = 0) AS w1,
                (SELECT avg(closed) FROM shares WHERE graph_id % 2 = 1) AS w4 FROM spectral_clustering(distances, 2)",
    );
    let value = |column: usize| rows[0][column].parse::<f64>().unwrap();
    assert!(value(0) > 0.7 && value(0) <= 1.0, "{rows:?}");
    // Of W1 = u v: (1/3)^3 over 1/12. Of W4 = |u - v|: Selberg's integral 1/30 over 7/60.
    close(value(1), 4.0 / 9.0, 0.02, "w1");
    close(value(2), 2.0 / 7.0, 0.02, "w4");
}
