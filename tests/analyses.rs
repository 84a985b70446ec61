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

/// Scores of four models on six data sets in five runs; one run failed.
const RUNS: &str = "CREATE TABLE trained AS
    SELECT 'd' || d AS dataset, ['gat', 'gcn', 'mlp', 'sgc'][m + 1] AS model, r AS run,
           CASE WHEN d = 6 AND m = 3 THEN NULL ELSE 60 + [5.0, 4.0, 0.0, 3.5][m + 1] + (d * 7 + m * m * 3 + r * 5 + m * r) % 11 / 4.0 END AS value
    FROM (SELECT value AS d FROM generate_series(1, 6)), (SELECT value AS m FROM generate_series(0, 3)), (SELECT value AS r FROM generate_series(0, 4))";

#[test]
fn tests_between_runs_are_printed_with_their_floors() {
    let out = bonnet(&[
        "--quiet",
        "--format",
        "csv",
        "-c",
        RUNS,
        "-v",
        "runs=trained",
        "-f",
        &script("significance.sql"),
        "-c",
        "SELECT a, b, runs, round(difference, 6) AS difference, low <= difference AND difference <= high AS holds, round(t_p, 10) AS t_p,
            round(t_holm, 10) AS t_holm, wilcoxon_p, wilcoxon_holm, wilcoxon_floor FROM run_tests WHERE dataset = 'd2' ORDER BY a, b",
        "-c",
        "SELECT a, b, datasets, wins, losses, p, p_floor, holm, holm_floor FROM dataset_tests ORDER BY a, b",
        "-c",
        "SELECT models, datasets, round(statistic, 9) AS statistic, round(p, 12) AS p, round(p_floor, 12) AS p_floor,
            round(critical_difference, 6) AS critical_difference FROM friedman",
        "-c",
        "SELECT model, round(mean_rank, 6) AS mean_rank, groups FROM nemenyi_groups ORDER BY mean_rank, model",
    ]);
    assert_eq!(out, SIGNIFICANCE);
}

/// By scipy 1.17.1 (ttest_rel, wilcoxon, friedmanchisquare, studentized_range) and statsmodels 0.15 (multipletests, `holm`).
const SIGNIFICANCE: &str = "\
a,b,runs,difference,holds,t_p,t_holm,wilcoxon_p,wilcoxon_holm,wilcoxon_floor
gat,gcn,5,0.85,true,0.2892937674,0.5785875349,0.5,1.0,0.375
gat,mlp,5,4.85,true,0.0031051878,0.0135318933,0.0625,0.375,0.375
gat,sgc,5,0.95,true,0.0833357095,0.2500071284,0.125,0.375,0.75
gcn,mlp,5,4.0,true,0.0000225932,0.0001355591,0.0625,0.375,0.375
gcn,sgc,5,0.1,true,0.8648425933,0.8648425933,0.875,1.0,0.75
mlp,sgc,5,-3.9,true,0.0027063787,0.0135318933,0.0625,0.375,0.375
a,b,datasets,wins,losses,p,p_floor,holm,holm_floor
gat,gcn,6,6,0,0.03125,0.03125,0.1875,0.1875
gat,mlp,6,6,0,0.03125,0.03125,0.1875,0.1875
gat,sgc,5,5,0,0.0625,0.0625,0.1875,0.375
gcn,mlp,6,6,0,0.03125,0.03125,0.1875,0.1875
gcn,sgc,5,5,0,0.0625,0.0625,0.1875,0.375
mlp,sgc,5,0,5,0.0625,0.0625,0.1875,0.375
models,datasets,statistic,p,p_floor,critical_difference
4,5,15.0,0.001816648967,0.001816648967,2.097606
model,mean_rank,groups
gat,1.0,a
gcn,2.0,ab
sgc,3.0,ab
mlp,4.0,b
";

#[test]
fn figures_by_batch_count_absent_classes_as_nothing() {
    // Twenty items in batches of 8; the class 2 is in the last batch alone. The run `constant` says the same of every item.
    let scores = "CREATE TABLE said AS
        SELECT run, i AS item, CASE WHEN i >= 17 THEN 2 ELSE i * 7 % 5 % 2 END AS label, c AS class,
               CASE run WHEN 'constant' THEN 0.5 ELSE (i * 13 + c * 29) % 17 / 17.0 END AS score
        FROM (SELECT value AS i FROM generate_series(0, 19)), (SELECT value AS c FROM generate_series(0, 2)), (VALUES ('a'), ('constant')) AS r(run)";
    let out = bonnet(&[
        "--quiet",
        "--format",
        "csv",
        "-c",
        scores,
        "-v",
        "scores=said",
        "-v",
        "batch=8",
        "-f",
        &script("batch_metrics.sql"),
        "-c",
        "SELECT run, items, batches, round(batch_auroc, 12) AS batch_auroc, round(auroc, 12) AS auroc, round(accuracy, 12) AS accuracy
            FROM batch_metrics ORDER BY run",
    ]);
    // By hand from the definition: 4/9, 1/3 and 2/9 of batches of 8, 8 and 4; all at once 0.538685...; a constant has 1/2 for each of the two
    // classes that a batch has, of three.
    let expected = "run,items,batches,batch_auroc,auroc,accuracy
a,20,3,0.355555555556,0.538685171038,0.35
constant,20,3,0.333333333333,0.5,0.55
";
    assert_eq!(out, expected);
}

/// Two models over 80 nodes of one graph: `gcn` is right about most, `mlp` about those of the stratum `low`.
const NODES: &str = "CREATE TABLE guessed AS
    SELECT 'g' AS graph, ['gcn', 'mlp'][m + 1] AS model, node,
           CASE WHEN node < 20 THEN m * CAST(node % 5 > 0 AS INT) ELSE CAST((node * 7 + m * 3) % 10 > 6 * m AS INT) END AS correct
    FROM (SELECT value AS node FROM generate_series(0, 79)), (SELECT value AS m FROM generate_series(0, 1));
    CREATE TABLE liked AS
    SELECT 'g' AS graph, CAST(node AS TEXT) AS node, property, CASE WHEN property = 'homophily' AND node < 20 OR property = 'parity' AND node % 2 = 0
        THEN 'low' ELSE 'high' END AS stratum
    FROM (SELECT value AS node FROM generate_series(0, 79)), (VALUES ('homophily'), ('parity')) AS p(property)";

#[test]
fn the_strata_where_models_swap_are_found() {
    let out = bonnet(&[
        "--quiet",
        "--format",
        "csv",
        "-c",
        NODES,
        "-v",
        "predictions=guessed",
        "-v",
        "strata=liked",
        "-f",
        &script("slices.sql"),
        "-c",
        "SELECT property, stratum, nodes, differing, accuracy_a, accuracy_b, round(p, 12) AS p, round(q, 12) AS q, p < p_floor OR q < p AS below FROM slices
            ORDER BY property, stratum",
        "-c",
        "SELECT property, stratum, leader, better_here, lead, lead_here, nodes FROM swaps_of_nodes",
    ]);
    assert_eq!(out, SLICES);
}

/// p by scipy.stats.wilcoxon 1.17.1, q by statsmodels' `fdr_bh`.
const SLICES: &str = "\
property,stratum,nodes,differing,accuracy_a,accuracy_b,p,q,below
homophily,high,60,36,0.9,0.3,1.973e-9,7.893e-9,false
homophily,low,20,16,0.0,0.8,0.000063342484,0.000126684967,false
parity,high,40,32,0.75,0.35,0.004677734981,0.006236979975,false
parity,low,40,20,0.6,0.5,0.371093369523,0.371093369523,false
property,stratum,leader,better_here,lead,lead_here,nodes
homophily,low,gcn,mlp,0.25,-0.8,20
";

/// The engine's file of the audit.
fn audit_file() -> String {
    std::fs::read_to_string(crate::repository().join("udfs/learning/src/protocols/audit.tsv")).expect("the audit")
}

/// What analyses/audit.sql writes for these runs, and what it prints.
fn audit_with(runs: &str) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("audit.tsv").display().to_string();
    let out = bonnet(&[
        "--format",
        "csv",
        "-c",
        runs,
        "-v",
        "runs=runs",
        "-v",
        &format!("file={file}"),
        "-f",
        &script("audit.sql"),
    ]);
    (std::fs::read_to_string(file).expect("the file is written"), out)
}

#[test]
fn the_audit_is_written_as_it_stands_where_there_are_no_runs() {
    let none = "CREATE TABLE runs (paper TEXT, \"table\" TEXT, metric TEXT, setting TEXT, dataset TEXT, model TEXT, run INT, value DOUBLE)";
    let (written, _) = audit_with(none);
    let (mut old, mut new) = (audit_file().lines().map(str::to_owned).collect::<Vec<_>>(), written.lines());
    for line in &mut old {
        assert_eq!(new.next(), Some(line.as_str()));
    }
    assert_eq!(new.next(), None);
}

#[test]
fn runs_of_a_cell_change_its_row_of_the_audit_and_no_other() {
    // GCN on Cora, whose log is 80.36 +- 0.713: far from it, so that it is open. HGNN differs from its log in print, whatever our runs say.
    let runs = "CREATE TABLE runs AS SELECT 'CurvBench' AS paper, '3' AS \"table\", 'Accuracy' AS metric, NULL::TEXT AS setting, dataset, model, run, value
        FROM (VALUES ('Cora', 'GCN', 0, 70.0), ('Cora', 'GCN', 1, 71.0), ('Cora', 'HGNN', 0, 60.5), ('Nowhere', 'GCN', 0, 1.0)) t(dataset, model, run, value)";
    let (written, out) = audit_with(runs);
    let old = audit_file();
    let changed: Vec<(Vec<&str>, Vec<&str>)> = old
        .lines()
        .zip(written.lines())
        .filter(|(old, new)| old != new)
        .map(|(old, new)| (old.split('\t').collect(), new.split('\t').collect()))
        .collect();
    assert_eq!(written.lines().count(), old.lines().count());
    assert_eq!(changed.len(), 2, "{changed:?}");
    for (old, new) in &changed {
        assert_eq!((old[..11].to_vec(), old[15], old[17]), (new[..11].to_vec(), new[15], new[17]));
    }
    let of = |model: &str| &changed.iter().find(|(old, _)| old[6] == model).expect("its row").1;
    assert_eq!(of("GCN")[11..17], ["70.5", "0.707", "2", "false", "curvbench/gcn", "open"]);
    assert_eq!(of("HGNN")[11..14], ["60.5", "0.0", "1"]);
    // Runs of a cell that there is not are said.
    let (_, rest) = out.split_once("Runs of no cell\n").expect("the heading");
    assert!(rest.lines().nth(1).expect("a row").starts_with("CurvBench,3,Accuracy,,Nowhere,GCN,1,1.0"), "{rest}");
}
