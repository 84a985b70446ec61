//! Errors: what they say, where they say it stands, and the exit status.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use super::{bonnet, run, run_with_input};

#[test]
fn a_script_stops_at_its_first_error_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.sql");
    fs::write(&path, "SELECT 1 AS a;\n\n-- a comment\nSELECT nothing_such\n  FROM nowhere;\nSELECT 2 AS b;\n").unwrap();
    let path = path.to_str().unwrap();
    let ran = run(&["--format", "csv", "-f", path, "-c", "SELECT 3"]);
    assert_eq!(ran.out, "a\n1\n");
    assert!(ran.err.starts_with(&format!("{path}:5: ")) && ran.err.contains("nowhere"), "{ran:?}");
    assert_eq!(ran.status, Some(1));
}

#[test]
fn an_error_of_syntax_names_the_line_inside_the_statement() {
    let ran = run(&["-c", "SELECT 1;\nSELECT (1 +\n  2 3)"]);
    assert!(ran.err.starts_with("-c:3: "), "{ran:?}");
    assert_eq!(ran.status, Some(1));
    let ran = run_with_input(&[], b"SELECT 1 AS a;\nSELEKT 1;\n");
    assert!(ran.err.starts_with("<stdin>:2: ") && ran.err.contains("SELEKT"), "{ran:?}");
    assert_eq!((ran.out.as_str(), ran.status), (" a\n---\n 1\n(1 row)\n", Some(1)));
}

#[test]
fn an_error_of_a_name_is_marked_in_the_script() {
    let ran = run(&["--quiet", "-c", "CREATE TABLE t(a INT);\n\nCREATE TABLE\n  t(a INT)"]);
    let text = "the table t exists already: CREATE OR REPLACE TABLE, or DROP TABLE t first (Line: 4, Column: 3)";
    assert_eq!(ran.err, format!("-c:4: {text}\n    t(a INT)\n    ^\n"));
    assert_eq!(ran.status, Some(1));
    let ran = run(&["-c", "SELECT 1; SELECT * FROM read_csv('a.csv', skip => 1)"]);
    assert!(ran.err.starts_with("-c:1: read_csv: there is no argument skip; it takes: file, header, "), "{ran:?}");
    assert!(ran.err.contains("(Line: 1, Column: 43)"), "{ran:?}");
}

#[test]
fn an_error_while_rows_are_made_is_an_error() {
    let ran = run(&["-c", "\n\nSELECT 1 / (value - 3) FROM generate_series(1, 5)"]);
    assert!(ran.err.starts_with("-c:3: "), "{ran:?}");
    assert_eq!(ran.status, Some(1));
}

#[test]
fn an_open_quote_or_comment_is_an_error() {
    for script in ["SELECT 'a;", "SELECT 1; /* a", "SELECT \"a;"] {
        let ran = run(&["-c", script]);
        assert!(ran.err.starts_with("-c:1: "), "{script}: {ran:?}");
        assert_eq!(ran.status, Some(1), "{script}");
    }
}

#[test]
fn an_error_in_an_included_script_names_that_script() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner.sql");
    fs::write(&inner, "\n\\nonsense\n").unwrap();
    let inner = inner.to_str().unwrap();
    let ran = run(&["-c", &format!("\\i '{inner}'")]);
    assert_eq!(ran.err, format!("{inner}:2: there is no command `\\nonsense`: \\? lists the commands\n"));
    assert_eq!(ran.status, Some(1));
}

#[test]
fn a_missing_script_is_an_error() {
    let ran = run(&["-f", "no/such.sql"]);
    assert!(ran.err.starts_with("'no/such.sql' cannot be read: "), "{ran:?}");
    assert_eq!(ran.status, Some(1));
    let ran = run(&["-c", "SELECT 1;\n\\i no/such.sql"]);
    assert!(ran.err.starts_with("-c:2: 'no/such.sql' cannot be read: "), "{ran:?}");
}

#[test]
fn a_script_that_is_not_text_is_an_error() {
    let ran = run_with_input(&["--format", "csv"], b"SELECT 1 AS a;\nSELECT '\xff';\n");
    assert_eq!(ran.err, "<stdin>:2: this line is not UTF-8 text\n");
    assert_eq!((ran.out.as_str(), ran.status), ("a\n1\n", Some(1)));
}

#[test]
fn a_wrong_use_has_status_2() {
    for (arguments, reason) in [
        (&["--memory-limit", "0", "-c", ""][..], "at least one byte"),
        (&["--memory-limit", "lots"], "is not a size"),
        (&["--memory-limit", "5XB"], "`XB` is not a unit"),
        (&["--threads", "0"], "0"),
        (&["--threads", "two"], "two"),
        (&["--format", "xml"], "xml"),
        (&["-v", "novalue"], "name=value"),
        (&["-v", "1a=x"], "`1a` is no name"),
        (&["--nonsense"], "--nonsense"),
    ] {
        let ran = run(arguments);
        assert!(ran.err.contains(reason), "{arguments:?}: {ran:?}");
        assert_eq!((ran.out.as_str(), ran.status), ("", Some(2)), "{arguments:?}");
    }
}

#[test]
fn limits_are_taken() {
    for arguments in [["--memory-limit", "1GiB"], ["--memory-limit", "512mb"], ["--threads", "1"]] {
        let ran = run(&[&arguments[..], &["-c", "SELECT 1 AS a"]].concat());
        assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)), "{arguments:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_cannot_be_attached() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("edges.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for statement in ["ATTACH '{}' AS p", "ATTACH '{}' AS p (TYPE csv)", "ATTACH '{}' AS p (TYPE sqlite)"] {
        let ran = run(&["-c", &statement.replace("{}", pipe.to_str().unwrap())]);
        assert!(ran.err.contains("edges.csv' is a pipe, a socket or a device"), "{ran:?}");
    }
    // Nor is it read where it lies in a folder.
    let ran = run(&["-c", &format!("ATTACH '{}' AS p", folder.path().display())]);
    assert!(ran.err.contains("not recognised"), "{ran:?}");
}

#[test]
fn help_and_version_succeed() {
    assert!(run(&["--version"]).out.starts_with("bonnet 0."));
    let help = run(&["--help"]);
    assert_eq!(help.status, Some(0));
    for option in ["-c", "-f", "-v", "--format", "--threads", "--memory-limit", "--quiet"] {
        assert!(help.out.contains(option), "{option}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for format in ["csv", "ndjson", "json", "markdown", "table"] {
        let mut child = bonnet()
            .args(["--format", format, "-c", "SELECT value FROM generate_series(1, 100000000)", "-c", "SELECT 2"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 5]).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{format}");
        assert_eq!(output.status.code(), Some(0), "{format}");
    }
}
