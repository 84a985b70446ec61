//! Scripts: where they come from, in which order they run, and their variables.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use super::{bonnet, rows, run, run_with_input};

#[test]
fn statements_and_scripts_run_in_the_order_given() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b.sql");
    fs::write(&file, "-- the second\nSELECT 2 AS n; /* no more; */").unwrap();
    let file = file.to_str().unwrap();
    let out = rows(&["--format", "csv", "-c", "SELECT 1 AS n", "-f", file, "-c", "SELECT 3 AS n; SELECT 4 AS n"]);
    assert_eq!(out, "n\n1\nn\n2\nn\n3\nn\n4\n");
}

#[test]
fn standard_input_is_a_script() {
    let script = b"SELECT 'a;b' AS s; -- a; comment\n\nSELECT\n  2 AS n\n";
    let expected = "s\na;b\nn\n2\n";
    for arguments in [&["--format", "csv"][..], &["--format", "csv", "-f", "-"]] {
        let ran = run_with_input(arguments, script);
        assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.status), (expected, "", Some(0)));
    }
}

#[test]
fn standard_input_is_not_read_beside_other_scripts() {
    assert_eq!(run_with_input(&["--format", "csv", "-c", "SELECT 1 AS n"], b"SELECT 2 AS n").out, "n\n1\n");
}

#[test]
fn a_statement_of_standard_input_runs_before_the_next_is_there() {
    let mut child = bonnet().args(["--format", "csv"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for n in 1..=3 {
        writeln!(input, "SELECT\n {n} AS n;").unwrap();
        input.flush().unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "n");
        assert_eq!(lines.next().unwrap().unwrap(), n.to_string());
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_empty_script_does_nothing() {
    for script in ["", ";;", "-- nothing", "/* nothing; */ ;"] {
        assert_eq!(rows(&["-c", script]), "", "{script}");
    }
}

#[test]
fn variables_go_into_statements() {
    let script = "SELECT :n + 1 AS n, :'who' AS who, ':n' AS text, 7::int AS :\"name\" -- :no";
    let arguments = ["--format", "csv", "-v", "n=41", "-v", "who=O'Hara = me", "-v", "name=a \"b\"", "-c", script];
    assert_eq!(rows(&arguments), "n,who,text,\"a \"\"b\"\"\"\n42,O'Hara = me,:n,7\n");
}

#[test]
fn a_colon_in_brackets_is_no_variable() {
    let script = "SELECT make_array(1, 2, 3)[2:n] AS l FROM (SELECT 3 AS n)";
    assert_eq!(rows(&["--format", "csv", "-v", "n=1", "-c", script]), "l\n\"[2,3]\"\n");
}

#[test]
fn scripts_set_variables_themselves() {
    let script = "\\set n 5\n\\set words 'two words'\nSELECT :n AS n, :'words' AS w;\n\\echo :n and :words\n";
    assert_eq!(rows(&["--format", "csv", "-c", script]), "n,w\n5,two words\n5 and two words\n");
}

#[test]
fn a_default_stands_for_a_variable_that_nobody_has_set() {
    let script = "\\default n 5\n\\default n 6\n\\default m 1 2\nSELECT :n AS n, :m AS m;\n";
    assert_eq!(rows(&["--format", "csv", "-c", script]), "n,m\n5,12\n");
    assert_eq!(rows(&["--format", "csv", "-v", "n=7", "-c", script]), "n,m\n7,12\n");
}

#[test]
fn a_variable_that_is_not_set_is_an_error_on_its_line() {
    let ran = run(&["-c", "SELECT 1 AS a;\nSELECT 1,\n  :m;", "-c", "SELECT 3"]);
    assert_eq!(ran.out, " a\n---\n 1\n(1 row)\n");
    assert!(ran.err.starts_with("-c:3: variable `m` is not set"), "{ran:?}");
    assert_eq!(ran.status, Some(1));
}

#[test]
fn a_script_includes_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("main.sql"), "\\ir one.sql\n\\i :file\n\\q\nSELECT 9 AS never;\n").unwrap();
    fs::write(path("one.sql"), "SELECT 1 AS n;\n\\q\nSELECT 9 AS never;").unwrap();
    fs::write(path("two.sql"), "SELECT 2 AS n").unwrap();
    let file = format!("file={}", path("two.sql"));
    let out = rows(&["--format", "csv", "-v", &file, "-f", &path("main.sql"), "-c", "SELECT 3 AS n"]);
    assert_eq!(out, "n\n1\nn\n2\nn\n3\n");
}

#[test]
fn a_script_that_includes_itself_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("round.sql");
    fs::write(&path, "\\ir round.sql\n").unwrap();
    let ran = run(&["-f", path.to_str().unwrap()]);
    assert!(ran.err.contains("round.sql:1: ") && ran.err.contains("does it include itself?"), "{ran:?}");
    assert_eq!(ran.status, Some(1));
}

#[test]
fn rows_go_to_a_file_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    let script = format!(
        "\\o '{}'\nSELECT 1 AS a;\nSELECT 2 AS a;\n\\echo here\n\\o\nSELECT 3 AS a;",
        path.to_str().unwrap().replace('\'', "''")
    );
    assert_eq!(rows(&["--format", "csv", "-c", &script]), "here\na\n3\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\n1\na\n2\n");
}

#[test]
fn a_heading_stands_apart_from_the_table_before_it() {
    let script = "\\echo one\nSELECT 1;\n\\echo two\n\\echo three\nSELECT 2, 2;\nSELECT 3";
    let one = "one\n 1\n---\n 1\n(1 row)\n\n";
    let two = "two\nthree\n 2 | 2\n---+---\n 2 | 2\n(1 row)\n\n";
    assert_eq!(rows(&["-c", script]), format!("{one}{two} 3\n---\n 3\n(1 row)\n"));
}

#[test]
fn copy_writes_one_file_under_a_name_without_an_extension() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let script = format!("COPY (SELECT 1 AS a) TO '{}' (FORMAT csv)", path.to_str().unwrap().replace('\'', "''"));
    assert_eq!(rows(&["--quiet", "-c", &script]), "");
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\n1\n");
}

#[test]
fn timings_are_messages_and_quiet_drops_them() {
    let script = "\\timing on\nSELECT 1 AS a;";
    let ran = run(&["--format", "csv", "-c", script]);
    assert_eq!(ran.out, "a\n1\n");
    let (first, second) = ran.err.split_once('\n').unwrap();
    assert_eq!(first, "Timing is on.");
    assert!(second.starts_with("Time: ") && second.ends_with(" ms\n"), "{second}");
    assert_eq!(rows(&["--quiet", "--format", "csv", "-c", script]), "a\n1\n");
}

#[test]
fn messages_stay_off_standard_output() {
    let ran = run(&["--format", "csv", "-c", "CREATE TABLE t AS SELECT 1 AS a; SELECT a FROM t"]);
    assert_eq!((ran.out.as_str(), ran.status), ("a\n1\n", Some(0)), "{ran:?}");
}

#[test]
fn tables_are_listed_and_described() {
    let make = "CREATE TABLE first AS SELECT 1 AS a, 'x' AS b;\n";
    let out = rows(&["--quiet", "--format", "csv", "-c", &format!("{make}\\d first")]);
    let names: Vec<&str> = out.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(names, ["a", "b"], "{out}");
    let out = rows(&["--quiet", "--format", "csv", "-c", &format!("{make}\\d")]);
    assert!(out.lines().any(|line| line.ends_with(",first,BASE TABLE")), "{out}");
    assert!(out.lines().any(|line| line == "graph,format,location"), "{out}");
    // A name that no table has may be a function's.
    let out = rows(&["--quiet", "--format", "csv", "-c", "\\d Gini"]);
    assert!(out.starts_with("name,kind,signature,returns,description\ngini,aggregate,gini(x),DOUBLE,"), "{out}");
    let ran = run(&["-c", "\\d missing"]);
    assert!(ran.err.starts_with("-c:1: ") && ran.err.contains("missing"), "{ran:?}");
    assert_eq!(ran.status, Some(1));
}

#[test]
fn databases_schemas_tables_and_views_are_listed() {
    let make =
        "ATTACH 'builtin:karate' AS karate; CREATE TABLE first AS SELECT 1 AS a; CREATE VIEW seen AS SELECT 1 AS a;\n";
    let listed = |command: &str| rows(&["--quiet", "--format", "csv", "-c", &format!("{make}{command}")]);
    assert_eq!(listed("\\l"), "database,schemas\nmemory,2\n");
    assert_eq!(listed("\\dn"), "catalog,name\nmemory,karate\nmemory,main\n");
    let tables = "catalog,schema,name\nmemory,karate,edges\nmemory,karate,nodes\nmemory,main,first\n";
    assert_eq!(listed("\\dt"), tables);
    assert_eq!(listed("\\dt FIR*"), "catalog,schema,name\nmemory,main,first\n");
    assert_eq!(listed("\\dv"), "catalog,schema,name\nmemory,main,seen\n");
    let help = rows(&["-c", "\\?"]);
    for command in ["\\l ", "\\dn ", "\\dt [pattern]", "\\dv [pattern]"] {
        assert!(help.lines().any(|line| line.starts_with(command)), "{command}");
    }
}

/// The figures of an operator, as EXPLAIN ANALYZE shows them.
#[test]
fn operators_of_the_engine_are_measured() {
    let attach = "ATTACH 'builtin:karate' AS karate";
    let measured = |query: &str, operator: &str, rows_out: u64| {
        let plan = rows(&["--quiet", "--format", "csv", "-c", attach, "-c", &format!("EXPLAIN ANALYZE {query}")]);
        let line = plan.lines().find(|line| line.contains(operator)).unwrap_or_else(|| panic!("{operator}: {plan}"));
        assert!(line.contains(&format!("output_rows={rows_out},")), "{line}");
        let time = line.split_once("elapsed_compute=").unwrap().1;
        assert!(!time.starts_with("0ns") && !time.starts_with("1ns"), "{line}");
    };
    measured("SELECT * FROM midpoint_curvature(karate.edges)", "RelationExec: midpoint_curvature", 34);
    measured("SELECT * FROM karate.edges", "LazyExec: ", 78);
}

#[test]
fn functions_are_listed_by_pattern() {
    let names = |pattern: &str| -> Vec<String> {
        let out = rows(&["--format", "csv", "-c", &format!("\\df {pattern}")]);
        assert!(out.starts_with("name,kind,signature,description\n"), "{out}");
        out.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    assert!(names("").len() > 10);
    assert!(names("forman").contains(&"forman_ricci".to_owned()));
    assert!(names("*_ricci").contains(&"forman_ricci".to_owned()));
    assert!(names("icci*").is_empty());
}
