//! Graph algorithms beside networkx: equal where the answer is unique, else the property that defines it and its objective.
//!
//! `BONNET_NETWORKX` is how many random graphs are compared (default 12); from 100 on, five published graphs are, too.
//! `BONNET_NETWORKX_SEED` gives others (default 0).

mod calls;
mod graphs;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use bonnetdb::EngineOptions;
use serde_json::{Value, json};

use self::calls::{Call, calls, graphalytics};
use self::graphs::{Sample, power_law, random_graphs};
use super::{Db, data};

/// Differences that are printed.
const MOST: usize = 40;

fn number(variable: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(variable) else { return default };
    text.parse().unwrap_or_else(|_| panic!("{variable} is '{text}'; a whole number is expected"))
}

/// Python with networkx; `None` (or, where all tests are required, a panic) without.
fn python() -> Option<String> {
    let python = std::env::var("BONNET_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python).args(["-c", "import networkx, numpy, scipy"]).output();
    if has.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    assert!(std::env::var("BONNET_REQUIRE_ALL").as_deref() != Ok("1"), "{python} lacks networkx, numpy or scipy");
    println!("skipped: {python} lacks networkx, numpy or scipy");
    None
}

/// The rows of every call, as text.
fn answers(threads: usize, statements: &[String], calls: &[Call]) -> Vec<Vec<Vec<String>>> {
    let db = Db::with(EngineOptions { threads: Some(threads), memory_limit: None, ..EngineOptions::default() });
    for statement in statements {
        db.run(statement);
    }
    calls.iter().map(|call| db.rows(&call.sql)).collect()
}

/// Runs all calls on the graphs at several numbers of threads, and has networkx look at the rows.
fn compare(python: &str, samples: &[Sample], calls: &[Call]) {
    let statements = graphs::tables(samples);
    let found = answers(2, &statements, calls);
    for threads in [1, 8] {
        let others = answers(threads, &statements, calls);
        for ((call, rows), others) in calls.iter().zip(&found).zip(&others) {
            assert!(rows == others, "{} answers otherwise with {threads} threads", call.sql);
        }
    }
    let text = |value: &String| if value == "NULL" { Value::Null } else { json!(value) };
    let rows = |rows: &Vec<Vec<String>>| rows.iter().map(|row| row.iter().map(text).collect()).collect::<Vec<Vec<_>>>();
    let answers: BTreeMap<&str, _> = calls.iter().map(|call| call.name).zip(found.iter().map(rows)).collect();
    assert_eq!(answers.len(), calls.len(), "two calls of one name");
    let document = json!({ "graphs": samples.iter().map(Sample::json).collect::<Vec<_>>(), "answers": answers });

    let mut peer = Command::new(python);
    let mut peer =
        peer.args(["-c", include_str!("peer.py")]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    peer.stdin.take().unwrap().write_all(document.to_string().as_bytes()).unwrap();
    let output = peer.wait_with_output().unwrap();
    assert!(output.status.success(), "networkx ended with {}", output.status);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    for call in calls {
        assert_eq!(said["compared"][call.name], samples.len(), "{}", call.name);
    }
    let differences: Vec<&str> =
        said["differences"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let shown = differences.iter().take(MOST).copied().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} differences:\n{shown}", differences.len());
    println!("{} calls answer as networkx on {} graphs", calls.len(), samples.len());
}

#[test]
fn functions_of_random_graphs_answer_as_in_networkx() {
    let Some(python) = python() else { return };
    let samples = random_graphs(number("BONNET_NETWORKX_SEED", 0), number("BONNET_NETWORKX", 12));
    compare(&python, &samples, &calls());
}

#[test]
fn functions_of_published_graphs_answer_as_in_networkx() {
    let Some(python) = python() else { return };
    let network = |name: &str| data(&format!("hyperbolics/{name}.edges"));
    let Some(dolphins) = network("network-datasets/dolphins.gml") else { return };
    let mut files = vec![dolphins];
    if number("BONNET_NETWORKX", 12) >= 100 {
        let more =
            ["network-datasets/jazz", "network-datasets/celegansneural.gml", "real/bio-diseasome", "real/ca-CSphd"];
        files.extend(more.iter().map(|name| network(name).unwrap()));
        files.extend(data("planetoid/cora"));
    }
    for file in files {
        println!("{file}");
        let db = Db::new();
        db.run(&format!("ATTACH '{file}' AS g"));
        let rows = db.rows("SELECT src, dst FROM g.edges");
        let sample = Sample::of_rows(&rows);
        let calls: Vec<Call> = calls().into_iter().filter(|call| sample.n_nodes() <= call.most).collect();
        compare(&python, &[sample], &calls);
    }
}

#[test]
fn algorithms_of_graphalytics_answer_as_in_networkx_on_a_graph_of_its_kind() {
    let Some(python) = python() else { return };
    compare(&python, &[power_law(1500)], &graphalytics());
}
