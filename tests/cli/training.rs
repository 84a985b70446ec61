//! Runs that fail: rows, a notice on standard error, and a status for scripts that ask for one.

use std::fs;

use super::run;

/// Three jobs, of which two have no figures.
const JOBS: &str = "(SELECT 'karate' AS graph, unnest(['gcn', 'nothing', 'none']) AS model)";

fn script(statement: &str) -> String {
    format!("ATTACH 'builtin:karate' AS karate; {statement}; SELECT 1 AS n")
}

#[test]
fn runs_that_fail_are_said_and_the_script_goes_on() {
    let train = script(&format!("SELECT model, status FROM train({JOBS}, epochs => 1) ORDER BY model"));
    let arguments = ["--quiet", "--format", "csv", "-c", &train];
    let ran = run(&arguments);
    assert_eq!(ran.out, "model,status\ngcn,ok\nnone,error\nnothing,error\nn\n1\n");
    // The reason is that of the first job, whichever ends first.
    assert!(ran.err.starts_with("train: 2 of 3 runs failed: model is `nothing`; valid: mlp, "), "{ran:?}");
    assert_eq!((ran.err.lines().count(), ran.status), (1, Some(0)));
    // A script can ask for a status of its own, and writes the same.
    let asked = run(&[&["--fail-on-failed-runs"], arguments.as_slice()].concat());
    assert_eq!((asked.out, asked.err, asked.status), (ran.out, ran.err, Some(3)));
}

#[test]
fn the_rows_of_failed_runs_need_not_be_looked_at() {
    for (statement, function) in [
        (format!("CREATE TABLE runs AS SELECT * FROM train({JOBS}, epochs => 1)"), "train"),
        (format!("SELECT count(*) AS c FROM train({JOBS}, epochs => 1) WHERE status = 'ok'"), "train"),
        (format!("SELECT count(*) AS c FROM predict({JOBS}, epochs => 1)"), "predict"),
        (format!("SELECT count(*) AS c FROM embed({JOBS}, epochs => 1)"), "embed"),
        (format!("SELECT count(*) AS c FROM training_curve({JOBS}, epochs => 1)"), "training_curve"),
    ] {
        let ran = run(&["--quiet", "--fail-on-failed-runs", "-c", &script(&statement)]);
        assert!(ran.err.starts_with(&format!("{function}: 2 of 3 runs failed: ")), "{statement}: {ran:?}");
        assert_eq!(ran.status, Some(3), "{statement}");
    }
}

#[test]
fn runs_that_end_well_say_nothing_and_an_error_is_an_error() {
    let well = script("SELECT status FROM train((SELECT 'karate' AS graph, 'gcn' AS model), epochs => 1)");
    let ran = run(&["--quiet", "--fail-on-failed-runs", "--format", "csv", "-c", &well]);
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.status), ("status\nok\nn\n1\n", "", Some(0)));
    let wrong = script(&format!("SELECT model FROM train({JOBS}, epochs => 1); SELECT nothing"));
    assert_eq!(run(&["--quiet", "--fail-on-failed-runs", "-c", &wrong]).status, Some(1));
}

#[test]
fn a_report_says_it_too() {
    let folder = tempfile::tempdir().unwrap();
    let (source, page) = (folder.path().join("a.sql"), folder.path().join("a.html"));
    fs::write(&source, script(&format!("SELECT status FROM train({JOBS}, epochs => 1)"))).unwrap();
    let (source, page_text) = (source.to_str().unwrap(), page.to_str().unwrap());
    let ran = run(&["report", source, "-o", page_text, "--fail-on-failed-runs"]);
    assert!(ran.err.contains("train: 2 of 3 runs failed: ") && ran.status == Some(3), "{ran:?}");
    assert!(fs::read_to_string(&page).unwrap().contains("error"));
    assert_eq!(run(&["report", source, "-o", page_text]).status, Some(0));
}

#[test]
fn the_figures_stand_in_front_and_the_origin_behind() {
    let train = "ATTACH 'builtin:karate' AS karate;
        SELECT * FROM train((SELECT 'karate' AS graph, 'gcn' AS model, 0 AS seed), epochs => 1)";
    let ran = run(&["--quiet", "--format", "csv", "-c", train]);
    let names = ran.out.lines().next().unwrap_or_default();
    let figures = ["accuracy", "macro_f1", "f1", "auc", "ap", "mae", "mse", "rmse", "r2"];
    let figures = figures.map(|figure| format!("test_{figure},val_{figure}")).join(",");
    let expected = format!(
        "graph,model,seed,status,error,{figures},best_epoch,epochs_run,parameters,train_seconds,test_seconds,peak_memory,device,\
         input_features,trained_together,engine_version,host_threads,started_at,graph_hash"
    );
    assert_eq!(names, expected, "{ran:?}");
}
