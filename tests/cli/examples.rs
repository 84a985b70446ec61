//! Examples that are several scripts over one lasting database, in a small size.

use std::fs;
use std::path::Path;

use super::{bonnet, rows};

/// Copies the scripts of MANTRA's example; the copy trains one run alone, as planning four more that have no jobs takes longer.
fn mantra(to: &Path) {
    let from = crate::repository().join("examples/mantra");
    for folder in ["", "train", "results"] {
        fs::create_dir_all(to.join(folder)).unwrap();
        for entry in fs::read_dir(from.join(folder)).unwrap().map(Result::unwrap) {
            let Ok(text) = fs::read_to_string(entry.path()) else { continue };
            let mut text = text;
            for seed in 1..5 {
                text = text.replace(&format!("\\set seed {seed}\n\\ir train/run.sql\n"), "");
            }
            fs::write(to.join(folder).join(entry.file_name()), text).unwrap();
        }
    }
}

#[test]
fn mantra_is_trained_once_predicted_on_subdivisions_and_tabulated() {
    let folder = tempfile::tempdir().unwrap();
    mantra(folder.path());
    let database = folder.path().join("database").display().to_string();
    let run = |before: &[&str], name: &str| {
        let ran = bonnet()
            .args(before)
            .args(["-v", "surfaces=8", "-v", "manifolds=7", "-v", "seeds=1", "-v", "epochs=2", "-v", "batch=16"])
            .args(["-v", "models=^(mlp|sccn)$", "-v", &format!("out={}", folder.path().join("saved").display())])
            .args(["-v", &format!("folder={}", folder.path().join("results").display())])
            .args(["--format", "csv", "-f", &folder.path().join(name).display().to_string()])
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let script = |name: &str| run(&[&database], name);
    let answer_of = |database: &str, sql: &str| -> Vec<String> {
        rows(&[database, "--quiet", "--format", "csv", "-c", sql]).lines().map(str::to_owned).collect()
    };
    let answer = |sql: &str| answer_of(&database, sql);

    let tables = script("train.sql");
    for line in ["Table 2:", "Table 7:", "Table 8:", "Table 9:", "Table 10:", "Table 11:", "graph models find beta_0"] {
        assert!(tables.contains(line), "{line} is not in\n{tables}");
    }
    // Three collections, three tasks (two of 3-manifolds), three kinds of features of a model on graphs and two of one on complexes.
    let runs = "SELECT graph, count(*) AS runs, min(status) AS status, count(*) FILTER (WHERE saved IS NULL) AS lost
                FROM mantra_runs GROUP BY graph ORDER BY graph";
    let trained = ["graph,runs,status,lost", "3-manifolds,10,ok,0", "named surfaces,15,ok,0", "surfaces,15,ok,0"];
    assert_eq!(answer(runs), trained);
    // Again: the failed runs alone are left to train.
    let failed = "UPDATE mantra_runs SET status = 'error', saved = NULL WHERE graph = 'surfaces' AND model = 'mlp' AND target = 'type'";
    answer(failed);
    script("train.sql");
    assert_eq!(answer(runs), trained);
    // A run whose Betti numbers are all right has each of them right; predictions count every test complex once.
    let consistent = "SELECT count(*) AS runs, bool_and(r.test_accuracy <= f.accuracy + 1e-9) AS bounded
        FROM mantra_runs r JOIN mantra_betti_figures f USING (graph, model, features, seed) WHERE target = 'betti'";
    assert_eq!(answer(consistent), ["runs,bounded", "50,true"]);
    let counted = "SELECT count(DISTINCT n) AS sizes, min(n) AS size FROM (SELECT sum(complexes) AS n FROM mantra_betti
        WHERE graph = 'surfaces' GROUP BY model, features, dimension)";
    let split =
        "SELECT 1 AS sizes, count(*) AS size FROM predict((SELECT 'surfaces' AS graph, 'mlp1' AS model, 'betti' AS target, 0 AS split),
        complexes => (SELECT * FROM mantra_complexes WHERE graph = 'surfaces'), task => 'graph_regression',
        split_scheme => 'stratified:60/20/20', features => 'degree_number', epochs => 1) WHERE part = 'test'";
    assert_eq!(answer(counted), answer(split));

    let after = script("remesh.sql");
    assert!(after.contains("AUROC on the test set and on its subdivision"), "{after}");
    let subdivided =
        "SELECT count(*) AS runs, min(status) AS status FROM mantra_runs WHERE graph = 'subdivided surfaces'";
    assert_eq!(answer(subdivided), ["runs,status", "15,ok"]);
    // What is asked is the subdivision of the test set, with its labels: six triangles of one.
    let sizes = "SELECT count(*) FILTER (WHERE array_length(s.facets) <> 6 * array_length(m.facets)
            OR euler_characteristic(s.facets) <> euler_characteristic(m.facets)) AS others
        FROM mantra_subdivided s JOIN mantra_complexes m USING (id) WHERE s.part = 'test'";
    assert_eq!(answer(sizes), ["others", "0"]);

    // The files of results make the same tables without the database, and stand for the runs of a new one.
    script("export.sql");
    let tables = run(&["--quiet", "-v", "every=20", "-v", "spheres=250"], "results.sql");
    assert!(tables.contains("Table 11:") && after.ends_with(&tables), "{after}\nand of the files\n{tables}");
    let other = folder.path().join("other").display().to_string();
    run(&[&other, "-v", "results=load"], "train.sql");
    let loaded = [
        "graph,runs,status,lost",
        "3-manifolds,10,ok,10",
        "named surfaces,15,ok,15",
        "subdivided surfaces,15,ok,15",
        "surfaces,15,ok,15",
    ];
    assert_eq!(answer_of(&other, runs), loaded);
}

#[test]
fn models_that_saw_few_vertices_are_asked_for_more() {
    let folder = tempfile::tempdir().unwrap();
    let script = crate::repository().join("examples/mantra/more_vertices.sql");
    let out = rows(&[
        "--quiet",
        "--format",
        "csv",
        "-v",
        "every=400",
        "-v",
        "seeds=1",
        "-v",
        "epochs=2",
        "-v",
        "models=^(mlp|sccn)$",
        "-v",
        &format!("out={}", folder.path().display()),
        "-f",
        script.to_str().unwrap(),
        "-c",
        "SELECT count(*) AS runs, min(a.status || b.status) AS status FROM few_vertex_runs a JOIN ten_vertex_runs b USING (model, target, seed)",
        "-c",
        "SELECT count(*) AS untouched FROM ten_vertices JOIN few_vertices USING (id) WHERE ten_vertices.part = 'test'",
    ]);
    assert!(out.contains("target,model,auroc_9"), "{out}");
    assert!(out.ends_with("runs,status\n4,okok\nuntouched\n0\n"), "{out}");
}

#[test]
fn the_experiment_on_geometry_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("database").display().to_string();
    let script = crate::repository().join("examples/geometry.sql").display().to_string();
    let run = |models: &str| {
        let ran = bonnet()
            .args([
                &database,
                "--quiet",
                "--format",
                "csv",
                "-v",
                "replicates=2",
                "-v",
                "epochs=3",
                "-v",
                "nodes=60",
                "-v",
                models,
                "-f",
                &script,
            ])
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let answer = |sql: &str| -> Vec<String> {
        rows(&[&database, "--quiet", "--format", "csv", "-c", sql]).lines().skip(1).map(str::to_owned).collect()
    };
    run("models=mlp,gcn");
    // A tree has one degree, the others two; two homophilies, two graphs each; every graph has the edges that its degree says.
    let graphs = "SELECT geometry, count(*), min(round(degree * nodes / 2)) = min(edges), max(round(degree * nodes / 2)) = max(edges)
                  FROM (SELECT *, round(avg_degree * nodes / 2) AS edges FROM geometry_graphs) GROUP BY geometry ORDER BY geometry";
    assert_eq!(
        answer(graphs),
        ["flat,8,true,true", "hyperbolic,8,true,true", "spherical,8,true,true", "tree,4,false,false"]
    );
    assert_eq!(answer("SELECT count(*), min(status) FROM geometry_runs"), ["56,ok"]);
    // Labels are drawn anew for more nodes where homophily is low.
    let lower = "SELECT avg(edge_homophily) FILTER (WHERE homophily = 'high') > avg(edge_homophily) FILTER (WHERE homophily = 'low') + 0.2 FROM geometry_graphs";
    assert_eq!(answer(lower), ["true"]);
    let tables = run("models=mlp,gcn,hgcn");
    assert_eq!(
        answer("SELECT model, count(*) FROM geometry_runs GROUP BY model ORDER BY model"),
        ["gcn,28", "hgcn,28", "mlp,28"]
    );
    assert_eq!(answer("SELECT count(*) FROM geometry_graphs"), ["28"]);
    for pair in ["flat - hyperbolic,", "hyperbolic - tree,", "spherical - tree,"] {
        assert!(tables.contains(pair), "{pair} is not in\n{tables}");
    }
}
