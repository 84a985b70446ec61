//! Tasks on published graphs, saved parameters, and what a grid does when it is run again.

use std::fs;

use crate::{Db, data};

fn attach(db: &Db, folder: &str, name: &str, options: &str) -> Option<()> {
    db.run(&format!("ATTACH '{}' AS {name} {options}", data(folder)?));
    Some(())
}

#[test]
fn links_of_cora_are_predicted_as_well_as_published() {
    let db = Db::new();
    let Some(()) = attach(&db, "planetoid/cora", "cora", "(TYPE planetoid)") else { return };
    // Kipf and Welling 2016, Variational graph auto-encoders, Table 1: GAE on Cora, 85/5/10, hidden 32, vectors of 16, no
    // dropout, 200 epochs: AUC .910 (.0002), AP .920 (.0003).
    let rows = db.rows(
        "SELECT avg(test_auc), avg(test_ap), min(status), max(status), count(*) FROM train(
             (SELECT 'cora' AS graph, 'gcn' AS model, 'link_prediction' AS task, value AS seed FROM generate_series(0, 2)),
             hidden => 32, embedding => 16, dropout => 0.0, weight_decay => 0.0, normalize => 'row')",
    );
    println!("Cora, links, 3 seeds: AUC {}, AP {}", rows[0][0], rows[0][1]);
    assert_eq!(rows[0][2..], ["ok", "ok", "3"]);
    let (auc, ap): (f64, f64) = (rows[0][0].parse().unwrap(), rows[0][1].parse().unwrap());
    assert!(auc >= 0.89 && ap >= 0.90, "AUC {auc}, AP {ap}");
}

/// Chami et al. 2019, Table 1, links of Disease, AUC: GCN .647 (.005), HGCN .908 (.003), of 16 columns, 85/5/10, features as they are,
/// without dropout; their program's own run gives HGCN .871. In a tree symmetric weights put leaves nearer to one another than to their
/// parents, and pairs are told apart by chance or worse; averages, as in the program, tell them apart, attention does so best.
#[test]
fn links_of_a_tree_are_predicted_as_published() {
    let db = Db::new();
    let Some(()) = attach(&db, "hgcn/disease_lp", "disease_lp", "") else { return };
    let rows = db.rows(
        "SELECT name, test_auc, status FROM train((
             SELECT 'disease_lp' AS graph, 'link_prediction' AS task, c.* FROM (VALUES
                 ('attention', 'hgcn', NULL, 'true', 0.05), ('means', 'hgcn', NULL, NULL, 0.05),
                 ('symmetric', 'hgcn', 'symmetric', NULL, 0.01), ('flat', 'gcn', 'random_walk', NULL, 0.01))
                 AS c(name, model, affinity, attention, lr)),
             decoder => 'distance', hidden => 16, dropout => 0.0, weight_decay => 0.0, epochs => 400) ORDER BY name",
    );
    println!("Disease, links: {rows:?}");
    assert!(rows.iter().all(|row| row[2] == "ok"), "{rows:?}");
    let [attention, flat, means, symmetric]: [f64; 4] = std::array::from_fn(|at| rows[at][1].parse().unwrap());
    assert!(attention >= 0.88 && means >= 0.8 && flat >= 0.647 && symmetric < 0.6, "{rows:?}");
}

#[test]
fn mutagens_are_told_from_other_molecules() {
    let db = Db::new();
    let Some(()) = attach(&db, "tu/MUTAG", "mutag", "(TYPE tu)") else { return };
    let rows = db.rows(
        "SELECT avg(test_accuracy), avg(test_auc), min(status), max(status) FROM train(
             (SELECT 'mutag' AS graph, 'graphsage' AS model, 'graph_classification' AS task, value AS seed
              FROM generate_series(0, 4)), split_scheme => 'stratified:80/10/10', pooling => 'sum', batch => 32)",
    );
    println!("MUTAG, 5 seeds: accuracy {}, AUC {}", rows[0][0], rows[0][1]);
    assert_eq!(rows[0][2..], ["ok", "ok"]);
    // Two thirds are mutagens.
    let accuracy: f64 = rows[0][0].parse().unwrap();
    assert!(accuracy > 0.75, "{accuracy}");
    let counts = db.rows(
        "SELECT part, count(*) FROM predict((SELECT 'mutag' AS graph, 'gcn' AS model, 'graph_classification' AS task),
             epochs => 2) GROUP BY part ORDER BY part",
    );
    assert_eq!(counts, [["test", "37"], ["train", "113"], ["val", "38"]]);
}

#[test]
fn saved_parameters_are_loaded_wherever_jobs_are_taken() {
    let db = Db::with_karate();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs/a").to_str().unwrap().to_owned();
    let jobs = "(SELECT 'karate' AS graph, unnest(['gcn', 'gat', 'mlp']) AS model, 'identity' AS features)";
    db.run(&format!("CREATE TABLE runs AS SELECT * FROM train({jobs}, epochs => 30, seed => 4, save => '{path}')"));
    let files = db.rows("SELECT model, saved FROM runs WHERE status = 'ok' ORDER BY model");
    assert_eq!((files.len(), fs::read_dir(&path).unwrap().count()), (3, 3));
    assert!(files.iter().all(|row| row[1].starts_with(&path) && row[1].contains(&format!("karate-{}-4-", row[0]))));
    // The same runs write the same files.
    let bytes = |files: &[Vec<String>]| files.iter().map(|row| fs::read(&row[1]).unwrap()).collect::<Vec<_>>();
    let first = bytes(&files);
    db.run(&format!("CREATE TABLE again AS SELECT * FROM train({jobs}, epochs => 30, seed => 4, save => '{path}')"));
    assert_eq!(bytes(&db.rows("SELECT model, saved FROM again ORDER BY model")), first);
    // The header says which run it was.
    let header = String::from_utf8_lossy(&first[1]).into_owned();
    assert!(header.contains("bonnetdb") && header.contains("karate") && header.contains("engine"), "{header:.400}");

    // As loaded, they give the figures of the run that saved them, with another seed for what is drawn anew.
    let loaded = "(SELECT graph, model, features, 4 AS seed, saved AS load, test_accuracy AS expected FROM runs)";
    assert_eq!(
        db.rows(&format!(
            "SELECT model, abs(avg(CASE WHEN label = prediction THEN 1.0 ELSE 0.0 END) - max(expected)) < 1e-12
             FROM predict({loaded}) WHERE part = 'test' GROUP BY model ORDER BY model"
        )),
        [["gat", "true"], ["gcn", "true"], ["mlp", "true"]]
    );
    assert_eq!(
        db.rows(&format!(
            "SELECT count(*) FROM (
                 SELECT model, node, embedding FROM embed({loaded})
                 INTERSECT SELECT model, node, embedding FROM embed({jobs}, epochs => 30, seed => 4))"
        )),
        [[(3 * 34).to_string()]]
    );
    // No epochs: the parameters as they are; more epochs start from them.
    let rows = db.rows(&format!(
        "SELECT epochs_run, best_epoch, bool_and(test_accuracy = expected) FROM train({loaded}, epochs => 0) GROUP BY 1, 2"
    ));
    assert_eq!(rows, [["0", "0", "true"]]);
    let loss = |extra: &str| -> f64 {
        let sql = format!(
            "SELECT train_loss FROM training_curve((SELECT graph, model, features, 4 AS seed {extra} FROM runs
             WHERE model = 'gcn'), epochs => 1, dropout => 0.0)"
        );
        db.rows(&sql)[0][0].parse().unwrap()
    };
    assert!(loss(", saved AS load") < 0.8 * loss(""));

    // Another model, other sizes, other files: an error each that names both.
    let file = &files[1][1];
    let error = |model: &str, hidden: u32, file: &str| {
        db.rows(&format!(
            "SELECT status, error FROM train((SELECT 'karate' AS graph, '{model}' AS model, {hidden} AS hidden,
             '{file}' AS load), features => 'identity', epochs => 1)"
        ))
        .remove(0)
    };
    let [status, text] = error("mlp", 64, file).try_into().unwrap();
    assert_eq!(status, "error");
    assert!(text.contains("those of gcn, but the job needs those of mlp"), "{text}");
    let text = &error("gcn", 16, file)[1];
    assert!(text.contains("0.weight is 34 x 64 there and 34 x 16 here"), "{text}");
    fs::write(folder.path().join("text"), "no parameters").unwrap();
    assert!(error("gcn", 64, folder.path().join("text").to_str().unwrap())[1].contains("holds no saved parameters"));
    // A folder that cannot be made.
    let rows = db.rows(&format!(
        "SELECT status, error, saved FROM train((SELECT 'karate' AS graph, 'gcn' AS model, unnest(['{}/text/x', NULL]) AS save),
             features => 'identity', epochs => 1) ORDER BY status",
        folder.path().display()
    ));
    assert!(rows[0][0] == "error" && rows[0][1].contains("cannot be made"), "{rows:?}");
    assert_eq!(rows[1], ["ok", "NULL", "NULL"]);
}

#[test]
fn a_grid_trains_only_what_is_missing_and_reports_the_best_of_each_model() {
    let db = Db::new();
    let Some(folder) = data("geom-gcn/texas") else { return };
    let script = fs::read_to_string(crate::repository().join("examples/heterophily/grid.sql")).unwrap();
    let root = folder.strip_suffix("/geom-gcn/texas").unwrap().to_owned();
    let run = |splits: &str, every: &str| {
        let mut lines = Vec::new();
        for line in script.lines().filter(|line| !line.starts_with('\\') && !line.trim_start().starts_with("--")) {
            let line = line.replace(":'folder'", &format!("'{root}/geom-gcn/texas'")).replace(":\"graph\"", "texas");
            let line = line.replace(":'graph'", "'texas'").replace(":splits", splits).replace(":every", every);
            lines.push(line);
        }
        lines.join("\n").split(";\n").filter(|sql| !sql.trim().is_empty()).map(|sql| db.rows(sql)).collect::<Vec<_>>()
    };
    let count = || db.rows("SELECT model, count(*), min(status) FROM grid_runs GROUP BY model ORDER BY model");
    let first = run("2", "75");
    let runs = count();
    assert!(runs.iter().any(|row| row[0] == "gcn") && runs.iter().all(|row| row[1..] == ["4", "ok"]), "{runs:?}");
    // Of the best configurations: a row a model, both splits in it, and no better than anything that was tried.
    let best = first.last().unwrap();
    assert_eq!(best.len(), runs.len());
    assert!(best.iter().all(|row| row[4] == "2" && row[8] == "2"), "{best:?}");
    for row in best {
        let tops = db.rows(&format!(
            "SELECT round(100 * max(v), 2) FROM (SELECT avg(val_accuracy) AS v FROM grid_runs WHERE model = '{}'
             GROUP BY lr, weight_decay, dropout)",
            row[0]
        ));
        assert_eq!(row[5], tops[0][0]);
    }
    // Again: nothing is left to train. One more split: only its runs are.
    let before = |results: &[Vec<Vec<String>>]| {
        results.iter().find(|rows| rows.len() == 1 && rows[0].len() == 2).unwrap()[0].clone()
    };
    let models = runs.len();
    assert_eq!(before(&run("2", "75")), [(4 * models).to_string(), "0".to_owned()]);
    assert_eq!(count(), runs);
    assert_eq!(before(&run("3", "75")), [(4 * models).to_string(), (2 * models).to_string()]);
    assert!(count().iter().all(|row| row[1] == "6"));
}

#[test]
fn strata_of_nodes_hold_every_prediction_once_for_each_property() {
    let db = Db::new();
    let script = fs::read_to_string(crate::repository().join("examples/node_strata.sql")).unwrap();
    let shown = |line: &&str| !line.starts_with('\\') && !line.trim_start().starts_with("--");
    let script: Vec<&str> = script.lines().filter(shown).collect();
    let script = script.join("\n").replace("epochs => 100", "epochs => 30");
    let answers: Vec<_> = script.split(";\n").filter(|sql| !sql.trim().is_empty()).map(|sql| db.rows(sql)).collect();
    let strata = answers.last().unwrap();
    assert_eq!(strata.len(), 3 * 8);
    let predictions = &db.rows("SELECT count(*) FROM predictions WHERE model = 'gcn'")[0][0];
    assert!(strata.iter().all(|row| row[6] == *predictions), "{strata:?}");
    // Neighbours of one's own label are what message passing lives on.
    let accuracy = |property: &str, model: &str, column: usize| -> f64 {
        let row = strata.iter().find(|row| row[0] == property && row[1] == model).unwrap();
        row[column].parse().unwrap()
    };
    assert!(accuracy("homophily", "sgc", 2) < accuracy("homophily", "sgc", 5), "{strata:?}");
}
