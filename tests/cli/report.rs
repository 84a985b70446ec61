//! `bonnet report`: a script as a page.

use std::fs;

use super::run;

const SCRIPT: &str = "-- What is <drawn>, and `why`?
--
--     bonnet -f a.sql

-- 1. Rows -----------------------------------

CREATE TABLE t AS SELECT * FROM (VALUES ('gcn', 'a', 0.5, 2), ('mlp', 'a', 0.75, 1), ('gcn', 'b', 0.25, 1),
    ('mlp', 'b', 0.125, 2)) AS v(model, regime, accuracy, rank);
CREATE VIEW half AS SELECT * FROM t LIMIT 2;

-- \\plot bump regime rank model title='Who wins where'
-- \\plot bars regime accuracy model
\\echo All of
\\echo them.
\\echo
\\echo ## By regime
SELECT * FROM t;

-- \\plot none
SELECT model, accuracy FROM half;
\\ir included.sql
\\format csv
SELECT count(*) AS rows FROM cycle(5); -- one row
-- The end.
";

const INCLUDED: &str = "-- What it makes.
CREATE GRAPH g AS random_tree(20, seed => 7);
-- Included.
";

/// The titles of the marks of a page.
fn marks(page: &str) -> Vec<&str> {
    let marks = page.split("class=\"mark\"").skip(1);
    marks.filter_map(|mark| Some(mark.split_once("<title>")?.1.split_once("</title>")?.0)).collect()
}

#[test]
fn a_script_is_a_page_with_its_comments_tables_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let (script, page) = (folder.path().join("two_strata.sql"), folder.path().join("page.html"));
    fs::write(&script, SCRIPT).unwrap();
    fs::write(folder.path().join("included.sql"), INCLUDED).unwrap();
    let write = || {
        let ran = run(&["report", script.to_str().unwrap(), "-o", page.to_str().unwrap()]);
        assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.status), ("", "", Some(0)));
        fs::read_to_string(&page).unwrap()
    };
    let html = write();
    assert_eq!(html, write(), "the same script gives the same page");
    for part in [
        "<title>Two strata</title>",
        "<h1>Two strata</h1>",
        "<p>What is &lt;drawn&gt;, and <code>why</code>?</p>",
        "<pre>bonnet -f a.sql</pre>",
        "<h2>1. Rows</h2>",
        "<summary>CREATE TABLE t, CREATE VIEW half</summary>",
        "<p class=\"lead\">All of\nthem.</p>\n<h2>By regime</h2>",
        ">Who wins where</text>",
        "<td class=\"number\">0.125</td>",
        "<p>Included.</p>",
        "<p>The end.</p>",
        concat!("BonnetDB ", env!("CARGO_PKG_VERSION")),
        "random_tree(20, seed =&gt; 7)",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
    // A script that others include explains its statements to their readers alone.
    assert!(!html.contains("<p>What it makes.</p>"));
    assert_eq!(html.matches("<table>").count(), 3);
    // A bump chart and bars of four rows each; the other two results have no picture.
    assert_eq!((html.matches("<svg").count(), marks(&html).len()), (2, 8));
    assert_eq!(marks(&html)[4], "regime: a\nmodel: gcn\naccuracy: 0.5");
    let elsewhere = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for sign in ["http", "src=", "href=\"/", "url(", "@import"] {
        assert!(!elsewhere.contains(sign), "{sign}");
    }
}

#[test]
fn a_page_ends_with_the_versions_of_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (database, script, page) = (path("lab.bonnet"), path("a.sql"), path("page.html"));
    let lines = |statements: &str| {
        fs::write(&script, statements).unwrap();
        let ran = run(&["report", &script, "--database", &database, "-o", &page]);
        assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)));
        let html = fs::read_to_string(&page).unwrap();
        let data = html.split_once("<p>Data:</p>").unwrap().1.split_once("</ul>").unwrap().0;
        data.lines().filter(|line| line.starts_with("<li>")).map(str::to_owned).collect::<Vec<_>>()
    };
    let made =
        "ATTACH 'builtin:karate' AS karate; CREATE TABLE t AS SELECT 1 AS a; CREATE SCHEMA s; CREATE TABLE s.u(b INT);";
    let expected = [
        "<li><code>karate</code>: builtin, builtin:karate</li>",
        "<li><code>lab.main.t</code>: version 0</li>",
        "<li><code>lab.s.u</code>: version 0</li>",
    ];
    assert_eq!(lines(made), expected);
    // Other rows are another version.
    let changed = lines("INSERT INTO t VALUES (2); INSERT INTO t VALUES (3);");
    assert_eq!(changed[1], "<li><code>lab.main.t</code>: version 2</li>");
    assert_eq!([&changed[0], &changed[2]], [expected[0], expected[2]]);
}

#[test]
fn a_script_that_fails_leaves_the_page_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let (script, page) = (folder.path().join("a.sql"), folder.path().join("page.html"));
    fs::write(&page, "before").unwrap();
    for (text, what) in [
        ("SELECT 1 AS a;\nSELECT nothing;", "a.sql:2"),
        ("-- \\plot bars modle\nSELECT 'x' AS model, 1 AS n;", "there is no column `modle`"),
        ("-- \\plot bumb\nSELECT 1 AS a;", "KIND is `bumb`; give `bump`"),
    ] {
        fs::write(&script, text).unwrap();
        let ran = run(&["report", script.to_str().unwrap(), "-o", page.to_str().unwrap()]);
        assert!(ran.err.contains(what) && ran.status == Some(1), "{ran:?}");
        assert_eq!(fs::read_to_string(&page).unwrap(), "before");
    }
    let nowhere = run(&["report", script.to_str().unwrap(), "-o", "/nowhere/page.html"]);
    assert_eq!(nowhere.status, Some(1));
    assert_eq!(run(&["report", "nothing.sql", "-o", page.to_str().unwrap()]).status, Some(1));
}

#[test]
fn the_picture_of_the_page_of_the_main_job_is_of_the_script_as_it_is() {
    let read = |path: &str| fs::read(crate::repository().join(path)).unwrap();
    assert!(String::from_utf8(read("docs/leaderboard.md")).unwrap().contains("src=\"leaderboard.png\""));
    let (picture, script) = (read("docs/leaderboard.png"), read("examples/stratified_leaderboard.sql"));
    assert!(picture.len() < 300_000, "{}", picture.len());
    // The picture carries the script that it was made of.
    let is_of_script = picture.windows(script.len()).any(|part| part == script);
    assert!(is_of_script, "the script has changed since: run `.ci/page_picture target/debug/bonnet`");
}
