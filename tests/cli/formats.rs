//! Formats of rows, byte by byte.

use super::{rows, run};

const QUERY: &str =
    "SELECT * FROM (VALUES (1, 'a', 0.5::double), (NULL, 'say \"hi\", |', 1e300::double)) AS t(n, s, x)";

#[test]
fn a_table_has_aligned_columns_and_a_count() {
    let expected = concat!(
        "    n | s           |     x\n",
        "------+-------------+-------\n",
        "    1 | a           |   0.5\n",
        " NULL | say \"hi\", | | 1e300\n",
        "(2 rows)\n",
    );
    assert_eq!(rows(&["-c", QUERY]), expected);
    assert_eq!(rows(&["--format", "table", "-c", QUERY]), expected);
}

#[test]
fn csv_is_rfc_4180() {
    assert_eq!(rows(&["--format", "csv", "-c", QUERY]), "n,s,x\n1,a,0.5\n,\"say \"\"hi\"\", |\",1e300\n");
}

#[test]
fn json_is_one_array_and_ndjson_one_object_a_line() {
    let rows_of = |format| rows(&["--format", format, "-c", QUERY]);
    let (first, second) = (r#"{"n":1,"s":"a","x":0.5}"#, r#"{"n":null,"s":"say \"hi\", |","x":1e300}"#);
    let array: serde_json::Value = serde_json::from_str(&rows_of("json")).unwrap();
    assert_eq!(array[0], serde_json::from_str::<serde_json::Value>(first).unwrap());
    assert_eq!(array[1], serde_json::from_str::<serde_json::Value>(second).unwrap());
    assert_eq!(array.as_array().unwrap().len(), 2);
    let lines = rows_of("ndjson");
    assert_eq!(lines.lines().next(), Some(first));
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn markdown_escapes_its_bars() {
    let expected = "| n | s | x |\n| ---: | --- | ---: |\n| 1 | a | 0.5 |\n| NULL | say \"hi\", \\| | 1e300 |\n";
    assert_eq!(rows(&["--format", "markdown", "-c", QUERY]), expected);
}

#[test]
fn a_result_without_rows_has_its_names() {
    let query = "SELECT 1 AS a, 'x' AS b WHERE false";
    assert_eq!(rows(&["-c", query]), " a | b\n---+---\n(0 rows)\n");
    assert_eq!(rows(&["--format", "csv", "-c", query]), "a,b\n");
    assert_eq!(rows(&["--format", "json", "-c", query]), "[]\n");
    assert_eq!(rows(&["--format", "ndjson", "-c", query]), "");
    assert_eq!(rows(&["--format", "markdown", "-c", query]), "| a | b |\n| ---: | --- |\n");
}

#[test]
fn several_results_follow_one_another() {
    let script = "SELECT 1 AS a; SELECT 2 AS b;";
    assert_eq!(rows(&["-c", script]), " a\n---\n 1\n(1 row)\n\n b\n---\n 2\n(1 row)\n");
    assert_eq!(rows(&["--format", "csv", "-c", script]), "a\n1\nb\n2\n");
    assert_eq!(rows(&["--format", "json", "-c", script]), "[{\"a\":1}]\n[{\"b\":2}]\n");
    assert_eq!(rows(&["--format", "ndjson", "-c", script]), "{\"a\":1}\n{\"b\":2}\n");
}

#[test]
fn nested_values_are_readable_in_tables_and_json_elsewhere() {
    let query = "SELECT make_array(1, NULL) AS l, named_struct('a', 1, 'b', make_array('x')) AS s";
    assert_eq!(rows(&["-c", query]).lines().nth(2), Some(" [1, NULL] | {a: 1, b: [x]}"));
    assert_eq!(rows(&["--format", "csv", "-c", query]), "l,s\n\"[1,null]\",\"{\"\"a\"\":1,\"\"b\"\":[\"\"x\"\"]}\"\n");
    assert_eq!(rows(&["--format", "ndjson", "-c", query]), "{\"l\":[1,null],\"s\":{\"a\":1,\"b\":[\"x\"]}}\n");
}

#[test]
fn floats_keep_all_their_digits_and_no_more() {
    let query =
        "SELECT 0.1::double + 0.2::double AS sum, 0.1::double AS tenth, 0.1::float AS single, 'inf'::double AS i";
    assert_eq!(rows(&["--format", "csv", "-c", query]), "sum,tenth,single,i\n0.30000000000000004,0.1,0.1,inf\n");
    let json = rows(&["--format", "ndjson", "-c", query]);
    assert_eq!(json, "{\"sum\":0.30000000000000004,\"tenth\":0.1,\"single\":0.1,\"i\":\"Infinity\"}\n");
}

#[test]
fn a_long_result_is_not_cut_in_a_pipe() {
    let table = rows(&["-c", "SELECT value FROM generate_series(1, 5000) ORDER BY value"]);
    assert_eq!(table.lines().count(), 5000 + 3);
    assert!(table.ends_with("  5000\n(5000 rows)\n"));
}

#[test]
fn the_format_can_change_in_a_script() {
    let script = "\\format csv\nSELECT 1 AS a;\n\\format JSON\nSELECT 1 AS a;";
    assert_eq!(rows(&["-c", script]), "a\n1\n[{\"a\":1}]\n");
    let ran = run(&["-c", "\\format xml"]);
    assert!(ran.err.starts_with("-c:1: there is no format `xml`"), "{ran:?}");
}
