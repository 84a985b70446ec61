//! The analyses of result tables: the CurvBench paper's own, copies that were changed, and other relations.

use std::collections::BTreeMap;
use std::process::Command;

use super::data;

fn script(path: &str) -> String {
    crate::repository().join("analyses").join(path).to_str().expect("a path in UTF-8").to_owned()
}

/// What the command writes, where it succeeds.
fn bonnet(arguments: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_bonnet")).args(arguments).output().expect("the command runs");
    assert!(run.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("text on standard output")
}

/// Our figure and the verdict, by analysis and figure.
type Verdicts = BTreeMap<(String, String), (String, String)>;

/// Those of every analysis over a folder like the paper's.
fn verdicts(folder: &str) -> Verdicts {
    let out = bonnet(&[
        "--format",
        "ndjson",
        "-v",
        &format!("data={folder}"),
        "-f",
        &script("curvbench/paper.sql"),
        "-c",
        "\\echo ====\nSELECT analysis, figure, ours, verdict FROM verdicts",
    ]);
    let (_, rows) = out.split_once("====\n").expect("the mark");
    let text = |row: &serde_json::Value, name: &str| match &row[name] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let rows = rows.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a row"));
    rows.map(|row| ((text(&row, "analysis"), text(&row, "figure")), (text(&row, "ours"), text(&row, "verdict"))))
        .collect()
}

#[test]
fn the_papers_figures_follow_from_its_tables_but_for_those_that_are_named() {
    let Some(folder) = data("curvbench_paper") else { return };
    let verdicts = verdicts(&folder);
    let differ: Vec<(&str, &str)> = verdicts
        .iter()
        .filter(|(_, (_, verdict))| verdict != "equal")
        .map(|((analysis, figure), _)| (analysis.as_str(), figure.as_str()))
        .collect();
    let expected = [
        ("Appendix H", "QGCN on Cornell: 10472.98 corrected, as if by 10"),
        ("Observation 1", "Kendall across regimes"),
        ("Observation 1", "Kendall within regimes"),
        ("Observation 1", "Spearman across regimes"),
        ("Observation 1", "Spearman gap"),
        ("Observation 1", "Spearman within regimes"),
        ("Observation 1", "Top-3 Jaccard across regimes"),
        ("Observation 1", "Top-3 Jaccard within regimes"),
        ("Observation 2", "R2 of family + regime"),
        ("Observation 2", "R2 with their interaction"),
        ("Observation 2", "negative: Euclidean share of the top 3, %"),
        ("Observation 2", "share of the interaction, %"),
        ("Observation 4", "gain on near-zero graphs"),
    ];
    assert_eq!(differ, expected);
    let count = |analysis: &str| verdicts.keys().filter(|(name, _)| name == analysis).count();
    assert_eq!(["Table 10", "Table 11", "Table 12", "Table 13", "Table 14"].map(count), [18, 18, 9, 14, 16]);
}

#[test]
fn a_cell_that_is_changed_changes_the_answer() {
    let Some(folder) = data("curvbench_paper") else { return };
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let mut text = std::fs::read_to_string(&path).unwrap();
        if path.ends_with("results.csv") {
            // GraphMoRE on CS_Phds, by accuracy: from the third to the last place.
            let cell = "3,NC,Accuracy,,GraphMoRE,GraphMoRE,CS_Phds,37.45,";
            let changed = text.replace(cell, "3,NC,Accuracy,,GraphMoRE,GraphMoRE,CS_Phds,3.45,");
            assert_ne!(changed, text);
            text = changed;
        }
        std::fs::write(copy.path().join(path.file_name().unwrap()), text).unwrap();
    }
    let (before, after) = (verdicts(&folder), verdicts(copy.path().to_str().unwrap()));
    // Averages are summed in the order in which rows come: their last digits are no change.
    let figure = |of: &Verdicts, key: &(String, String)| of[key].0.parse::<f64>().expect("a number");
    let changed: Vec<&(String, String)> =
        before.keys().filter(|key| (figure(&before, key) - figure(&after, key)).abs() > 1e-9).collect();
    let analyses: std::collections::BTreeSet<&str> = changed.iter().map(|(analysis, _)| analysis.as_str()).collect();
    for analysis in ["Observation 1", "Observation 2", "Table 10", "Table 11", "Table 12"] {
        assert!(analyses.contains(analysis), "{analysis} does not depend on the cell: {changed:?}");
    }
    // What is made of other tables stays.
    for analysis in ["Observation 3", "Observation 4", "Observation 5", "Table 13", "Table 14", "Appendix H"] {
        assert!(!analyses.contains(analysis), "{analysis}: {changed:?}");
    }
}

const RESULTS: &str =
    "CREATE TABLE mine AS SELECT 'NC' AS task, 'Accuracy' AS metric, NULL AS setting, column1 AS model,
    column2 AS dataset, column3 AS mean, column4 AS std, column5 AS status FROM (VALUES
    ('gcn', 'ring', 90.0, 1.5, 'ok'), ('mlp', 'ring', 80.0, NULL, 'ok'), ('gat', 'ring', NULL, NULL, 'out_of_memory'),
    ('gcn', 'tree', 50.0, 0.25, 'ok'), ('mlp', 'tree', 50.0, 2.0, 'ok'), ('gat', 'tree', 70.126, 0.0, 'ok'),
    ('gcn', 'star', 40.0, 1.0, 'ok'), ('gat', 'star', 60.0, 1.0, 'ok'));
    CREATE TABLE strata_of_mine AS SELECT column1 AS dataset, column2 AS regime
    FROM (VALUES ('ring', 'flat'), ('tree', 'curved'), ('star', 'curved'));
    CREATE TABLE kinds AS SELECT 'gcn' AS model, 'graph' AS family";

fn of_mine<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["--quiet", "--format", "csv", "-v", "results=mine", "-v", "regimes=strata_of_mine"];
    arguments.extend([
        "-v",
        "families=kinds",
        "-v",
        "task=NC",
        "-v",
        "metric=Accuracy",
        "-v",
        "setting=",
        "-c",
        RESULTS,
    ]);
    arguments.extend(more);
    arguments
}

#[test]
fn a_leaderboard_marks_the_best_and_names_what_is_missing() {
    let out = bonnet(&of_mine(&["-f", &script("leaderboard.sql")]));
    let expected = "\
| model | ring | star | tree |
| --- | --- | --- | --- |
| gat | OOM | **60.00 ± 1.00** (1) | **70.13 ± 0.00** (1) |
| gcn | **90.00 ± 1.50** (1) | 40.00 ± 1.00 (2) | 50.00 ± 0.25 (2) |
| mlp | 80.00 (2) | missing | 50.00 ± 2.00 (2) |
";
    assert_eq!(out, expected);
}

#[test]
fn any_relation_of_the_same_columns_is_analysed() {
    let rank_shift = "SELECT regime, rsi FROM rank_shift ORDER BY regime";
    let pairs = "SELECT a, b, round(spearman, 12) AS spearman, round(kendall, 12) AS kendall, jaccard FROM dataset_pairs ORDER BY a, b";
    let out = bonnet(&of_mine(&[
        "-f",
        &script("stratified.sql"),
        "-f",
        &script("regrouping.sql"),
        "-c",
        rank_shift,
        "-c",
        pairs,
        "-c",
        "SELECT agreement, within, p_value, partitions FROM regrouped ORDER BY agreement",
    ]));
    // Flat, only gcn ran everywhere; in curved regimes gat leads gcn. Ring and star share two models, which they order
    // differently.
    let expected = "\
regime,rsi
curved,1.0
flat,0.3333333333333333
a,b,spearman,kendall,jaccard
ring,star,-1.0,-1.0,1.0
ring,tree,-0.866025403784,-0.816496580928,1.0
star,tree,1.0,1.0,1.0
agreement,within,p_value,partitions
jaccard,1.0,1.0,3
kendall,1.0,0.3333333333333333,3
spearman,1.0,0.3333333333333333,3
";
    assert_eq!(out, expected);
    // The comparison with the paper runs on it too: figures that it has no data for have no value.
    let out = bonnet(&of_mine(&[
        "-f",
        &script("curvbench/all.sql"),
        "-c",
        "\\echo ====\nSELECT DISTINCT verdict FROM verdicts WHERE analysis LIKE 'Table 1_'",
    ]));
    assert!(out.ends_with("====\nverdict\nno value\n"), "{out}");
}
