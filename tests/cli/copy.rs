//! COPY: what it leaves behind when it fails, what it refuses to write, and what it keeps of what was there.

use std::fs;
use std::path::Path;

use super::{bonnet, rows, run, run_with_input};

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn copy(query: &str, target: &Path, options: &str) -> super::Ran {
    run(&["-c", &format!("COPY ({query}) TO '{}' {options}", target.display())])
}

const FAILING: &str = "SELECT 1 / (value - 3) AS a FROM generate_series(1, 5) t(value)";

#[test]
fn a_failing_copy_leaves_the_old_file_and_no_fragment() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["parquet", "csv", "json", "arrow"] {
        let file = folder.path().join(format!("good.{ending}"));
        assert_eq!(copy("SELECT value AS a FROM generate_series(1, 5) t(value)", &file, "").status, Some(0));
        let before = fs::read(&file).unwrap();
        let failed = copy(FAILING, &file, "");
        assert!(failed.err.contains("division by zero"), "{failed:?}");
        assert_eq!(fs::read(&file).unwrap(), before);
        fs::remove_file(&file).unwrap();
        copy(FAILING, &file, "");
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}

#[test]
fn a_missing_folder_is_an_error_and_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    for (target, options) in [("a/c.csv", ""), ("a/b/c.parquet", ""), ("a/parts", "(FORMAT csv, PARTITION_BY (a))")] {
        let failed = copy("SELECT 1 AS a, 2 AS b", &folder.path().join(target), options);
        assert_eq!(failed.status, Some(1));
        assert!(failed.err.contains("is no folder; make it first"), "{failed:?}");
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}

#[test]
fn compressed_text_is_read_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for (ending, compression) in [("csv", "gzip"), ("csv", "zstd"), ("csv", "bzip2"), ("csv", "xz"), ("json", "gzip")] {
        let file = folder.path().join(format!("{compression}.{ending}"));
        let written = copy("SELECT 1 AS a, 'x' AS b", &file, &format!("(COMPRESSION {compression})"));
        assert_eq!(written.status, Some(0), "{written:?}");
        let read = run(&["-c", &format!("SELECT a + 1 AS sum, b FROM '{}'", file.display())]);
        assert!(read.status == Some(0) && read.out.contains('2') && read.out.contains('x'), "{compression}: {read:?}");
    }
}

/// Rows with all that an empty field may stand for.
const GAPS: &str = "SELECT * FROM (VALUES (1, '', NULL, ''), (2, NULL, 7, 'a'), (3, '\"', NULL, NULL), \
                    (4, ',\"\",', 8, ''), (5, 'two\nlines', NULL, '')) t(id, a, n, b)";

#[test]
fn null_and_the_empty_text_come_back_from_csv() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |source: &str| {
        let query = format!("SELECT id, a, n, b FROM {source} ORDER BY id");
        rows(&["--format", "ndjson", "-c", &query])
    };
    let expected = asked(&format!("({GAPS})"));
    for (name, options) in [
        ("a.csv", ""),
        ("b.csv.gz", ""),
        ("c.csv", "(DELIM ';')"),
        ("d.csv", "(HEADER false)"),
        ("e.csv", "(DELIM 'g')"),
    ] {
        let file = folder.path().join(name);
        let copied = copy(GAPS, &file, options);
        assert_eq!(copied.status, Some(0), "{copied:?}");
        let path = file.display();
        let named = "column_1 AS id, column_2 AS a, column_3 AS n, column_4 AS b";
        let source = match name {
            "c.csv" => format!("read_csv('{path}', delim => ';')"),
            "d.csv" => format!("(SELECT {named} FROM read_csv('{path}', header => false))"),
            "e.csv" => format!("read_csv('{path}', delim => 'g')"),
            _ => format!("'{path}'"),
        };
        assert_eq!(asked(&source), expected, "{name}: {:?}", fs::read(&file));
    }
    let file = folder.path().join("a.csv");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "id,a,n,b\n1,\"\",,\"\"\n2,,7,a\n3,\"\"\"\",,\n4,\",\"\"\"\",\",8,\"\"\n5,\"two\nlines\",,\"\"\n"
    );
    // What the command prints is the same.
    assert_eq!(rows(&["--format", "csv", "-c", GAPS]), fs::read_to_string(&file).unwrap());
    // As a table of the session, which takes more rows.
    let external = folder.path().join("external");
    fs::create_dir(&external).unwrap();
    let script = format!(
        "CREATE EXTERNAL TABLE t (id BIGINT, a VARCHAR, n BIGINT, b VARCHAR) STORED AS CSV LOCATION '{}/';
         INSERT INTO t {GAPS};
         SELECT id, a, n, b FROM t ORDER BY id;",
        external.display()
    );
    assert!(rows(&["--quiet", "--format", "ndjson", "-c", &script]).ends_with(&expected));
}

#[test]
fn a_column_of_texts_alone_keeps_its_nulls_in_csv() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let texts = "SELECT * FROM (VALUES ('x'), (''), (NULL), ('y'), (NULL)) t(a)";
    copy(texts, &file, "");
    assert_eq!(fs::read_to_string(&file).unwrap(), "a\nx\n\"\"\n\ny\n\n");
    let query = format!("SELECT a FROM '{}'", file.display());
    let read = rows(&["--format", "ndjson", "-c", &query]);
    assert_eq!(read, "{\"a\":\"x\"}\n{\"a\":\"\"}\n{\"a\":null}\n{\"a\":\"y\"}\n{\"a\":null}\n");
}

#[test]
fn a_column_whose_texts_are_all_empty_is_one_of_texts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    fs::write(&file, "a,b\n\"\",1\n,2\n").unwrap();
    let read = rows(&["--format", "ndjson", "-c", &format!("SELECT * FROM '{}'", file.display())]);
    assert_eq!(read, "{\"a\":\"\",\"b\":1}\n{\"a\":null,\"b\":2}\n");
}

/// A file is cut into ranges of bytes, which are read at the same time.
#[test]
fn gaps_of_a_large_csv_are_told_apart_in_all_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let gaps = "SELECT value AS id, CASE value % 3 WHEN 0 THEN '' WHEN 1 THEN 'text \" of ' || value END AS a,
                nullif(value % 5, 0) AS n FROM generate_series(1, 400000)";
    copy(gaps, &file, "");
    let counts = "count(*), count(a), count(nullif(a, '')), count(n), sum(length(a))";
    let read = |source: &str| {
        let small = "SET datafusion.optimizer.repartition_file_min_size = 1000";
        let query = format!("SELECT {counts} FROM {source}");
        rows(&["--quiet", "--threads", "4", "--format", "csv", "-c", small, "-c", &query])
    };
    assert_eq!(read(&format!("'{}'", file.display())), read(&format!("({gaps})")));
}

#[test]
fn lists_and_structs_are_json_texts_in_csv() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let nested = "SELECT 1 AS id, [1, NULL] AS l, {'x': 'a\"b', 'y': 0.5} AS s, NULL::int[] AS none";
    let copied = copy(nested, &file, "");
    assert_eq!(copied.status, Some(0), "{copied:?}");
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(written, "id,l,s,none\n1,\"[1,null]\",\"{\"\"x\"\":\"\"a\\\"\"b\"\",\"\"y\"\":0.5}\",\n");
    assert_eq!(rows(&["--format", "csv", "-c", nested]), written);
}

#[test]
fn partitions_come_all_or_not_at_all_and_join_those_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("parts");
    let options = "(FORMAT parquet, PARTITION_BY (k))";
    copy("SELECT value % 2 AS k, 1 / (value - 3) AS a FROM generate_series(1, 5) t(value)", &target, options);
    assert_eq!(names(folder.path()), Vec::<String>::new());
    for k in [1, 2] {
        assert_eq!(copy(&format!("SELECT {k} AS k, 7 AS a"), &target, options).status, Some(0));
    }
    assert_eq!(names(&target), ["k=1", "k=2"]);
    assert_eq!(names(folder.path()), ["parts"]);
}

#[test]
fn a_file_may_be_written_from_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    copy("SELECT 1 AS a", &file, "");
    assert_eq!(copy(&format!("SELECT a + 1 AS a FROM '{}'", file.display()), &file, "").status, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), "a\n2\n");
}

#[test]
fn names_with_signs_of_patterns_are_plain_names() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a[1]*?%41 #é");
    fs::create_dir(&inner).unwrap();
    assert_eq!(copy("SELECT 1 AS a", &inner.join("b*.csv"), "").status, Some(0));
    assert_eq!(names(&inner), ["b*.csv"]);
}

#[test]
fn databases_are_not_written_into() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("lab.bonnet");
    let path = database.to_str().unwrap();
    rows(&[path, "--quiet", "-c", "CREATE TABLE t AS SELECT 1 AS a"]);
    let table = fs::read_dir(database.join("tables/main")).unwrap().next().unwrap().unwrap().path();
    let targets =
        [database.join("bonnet.json"), table.join("_delta_log/00000000000000000000.json"), table.join("new/x.json")];
    for target in &targets {
        let statement = format!("COPY (SELECT 1 AS x) TO '{}' (FORMAT json)", target.display());
        for arguments in
            [vec![path, "--read-only", "-c", &statement], vec![path, "-c", &statement], vec!["-c", &statement]]
        {
            let ran = run(&arguments);
            assert!(ran.err.contains("whose files only its own statements change"), "{arguments:?}: {ran:?}");
            assert_eq!(ran.status, Some(1));
        }
    }
    // Nor by any other door: results that are sent to a file, pictures, pages, parameters of models.
    let script = folder.path().join("s.sql");
    fs::write(&script, "SELECT 1 AS x;").unwrap();
    for target in &targets {
        let target = target.to_str().unwrap();
        for words in [format!("\\o {target}"), format!("SELECT 1 AS x, 2 AS y;\n\\plot {target}.svg bars x y")] {
            let ran = run_with_input(&[path, "--read-only"], format!("{words}\nSELECT 1;\n").as_bytes());
            assert!(ran.err.contains("whose files only its own statements change"), "{words}: {ran:?}");
            assert_eq!(ran.status, Some(1));
        }
        let ran = run(&["report", script.to_str().unwrap(), "-o", target]);
        assert!(ran.err.contains("whose files only its own statements change"), "{ran:?}");
    }
    let save = format!(
        "ATTACH 'builtin:karate' AS karate; SELECT status, error FROM train((SELECT 'memory.karate' AS graph, 'mlp' AS model), \
         features => 'identity', epochs => 1, save => '{path}')"
    );
    let saved = run(&[path, "--read-only", "--quiet", "--format", "csv", "-c", &save]);
    let refusal = "whose files only its own statements change";
    assert!(saved.out.contains("error") && saved.out.contains(refusal), "{saved:?}");
    assert!(saved.err.starts_with("train: 1 of 1 runs failed: save: ") && saved.err.contains(refusal), "{saved:?}");
    assert_eq!(saved.status, Some(0));
    assert_eq!(rows(&[path, "--read-only", "--format", "csv", "-c", "SELECT a FROM t"]), "a\n1\n");
    let plain = folder.path().join("x.csv");
    let statement = format!("COPY t TO '{}'", plain.display());
    rows(&[path, "--read-only", "--quiet", "-c", &statement]);
    assert_eq!(fs::read_to_string(&plain).unwrap(), "a\n1\n");
}

#[test]
fn errors_are_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let ran = copy("SELECT 1 AS a", &file.join("x.csv"), "");
    assert!(ran.err.contains("is a file, not a folder"), "{ran:?}");
    let ran = copy("SELECT 1 AS a", folder.path(), "(FORMAT csv)");
    assert!(ran.err.contains("it is a folder"), "{ran:?}");
    let ran = copy("SELECT 1 AS k, 1 AS a", &file, "(FORMAT csv, PARTITION_BY (k))");
    assert!(ran.err.contains("partitions need a folder"), "{ran:?}");
    let ran = run(&["-c", &format!("EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO '{}' (FORMAT csv)", file.display())]);
    assert!(ran.err.contains("EXPLAIN ANALYZE the query alone"), "{ran:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("private.csv");
        fs::write(&file, "secret").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(copy("SELECT 1 AS a", &file, "").status, Some(0));
        assert_eq!(fs::read_to_string(&file).unwrap(), "a\n1\n");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn links_are_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file.csv"), folder.path().join("link.csv"));
        symlink("file.csv", &link).unwrap();
        for value in ["1", "2"] {
            assert_eq!(copy(&format!("SELECT {value} AS a"), &link, "").status, Some(0));
            assert_eq!(fs::read_to_string(&file).unwrap(), format!("a\n{value}\n"));
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
    }

    #[test]
    fn devices_and_pipes_are_refused_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for target in [pipe.as_path(), Path::new("/dev/full"), Path::new("/dev/null")] {
            let ran = copy("SELECT 1 AS a", target, "(FORMAT csv)");
            assert!(ran.err.contains("it is a device, a pipe or a socket"), "{ran:?}");
            assert_eq!(ran.status, Some(1));
        }
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert!(fs::symlink_metadata("/dev/full").unwrap().file_type().is_char_device());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_where_no_file_can_be_is_an_error_at_once() {
        for target in ["/proc/x.csv", "/proc/1/x.csv", "/sys/x.csv"] {
            let ran = copy("SELECT 1 AS a", Path::new(target), "");
            assert!(ran.err.contains(&format!("COPY cannot write '{target}'")), "{ran:?}");
            assert_eq!(ran.status, Some(1));
        }
    }

    #[test]
    fn a_full_disk_is_called_one() {
        // A file may not grow beyond 64 KB here, which looks like a full disk.
        let folder = tempfile::tempdir().unwrap();
        for ending in ["csv", "parquet"] {
            let file = folder.path().join(format!("large.{ending}"));
            let program = env!("CARGO_BIN_EXE_bonnet");
            let statement =
                format!("COPY (SELECT random() AS a FROM generate_series(1, 3000000)) TO '{}'", file.display());
            let script = format!("trap '' XFSZ; ulimit -f 64; exec '{program}' -c \"$0\"");
            let ran: crate::cli::Ran = Command::new("bash").args(["-c", &script, &statement]).output().unwrap().into();
            assert!(ran.err.contains("COPY cannot write") && ran.err.contains("nothing was changed"), "{ran:?}");
            assert!(!ran.err.contains("bug"), "{ran:?}");
            assert_eq!(names(folder.path()), Vec::<String>::new());
        }
    }

    #[test]
    fn an_interrupted_copy_leaves_the_old_file_and_no_fragment() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cc.csv");
        fs::write(&file, "old").unwrap();
        let statement = format!("COPY (SELECT * FROM generate_series(1, 1000000000)) TO '{}'", file.display());
        let mut child = bonnet().args(["-c", &statement]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Until it writes.
        let mut waited = 0;
        while names(folder.path()).len() < 2 && waited < 500 {
            std::thread::sleep(Duration::from_millis(20));
            waited += 1;
        }
        std::thread::sleep(Duration::from_millis(300));
        crate::send_ctrl_c(&child);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(names(folder.path()), ["cc.csv"]);
    }
}
