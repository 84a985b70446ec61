//! Pictures from the command line: formats of results, and COPY.

use std::fs;

use super::{rows, run};

const ROWS: &str =
    "SELECT * FROM (VALUES ('gcn', 0.81, 1), ('mlp', 0.57, 2), (NULL, 0.5, 3)) AS t(model, accuracy, place)";

/// The titles of the marks of an SVG.
fn marks(svg: &str) -> Vec<String> {
    let marks = svg.split("class=\"mark\"").skip(1);
    let title = |mark: &str| mark.split_once("<title>")?.1.split_once("</title>").map(|(title, _)| title.to_owned());
    marks.filter_map(title).collect()
}

#[test]
fn a_result_is_an_svg_whose_marks_have_the_numbers_of_the_rows() {
    let svg = rows(&["--format", "svg", "-c", ROWS]);
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && svg.ends_with("</svg>\n"), "{svg}");
    assert_eq!(marks(&svg), ["model: gcn\naccuracy: 0.81", "model: mlp\naccuracy: 0.57"]);
    assert!(svg.contains("Left out: 1 row without a value of model or accuracy"));
    assert_eq!(svg, rows(&["--format", "svg", "-c", ROWS]));
    let named = rows(&["--format", "svg", "--plot", "points place accuracy model title='a & b'", "-c", ROWS]);
    assert_eq!(marks(&named)[0], "place: 1\naccuracy: 0.81\nmodel: gcn");
    assert!(named.contains(">a &amp; b</text>"));
}

#[test]
fn a_page_has_a_section_a_result_and_nothing_from_elsewhere() {
    let page = rows(&["--format", "html", "-c", &format!("{ROWS}; SELECT '<b>' AS t, 1.0 / 3 AS x")]);
    assert_eq!((page.matches("<!DOCTYPE html>").count(), page.matches("<table>").count()), (1, 2));
    assert_eq!(page.matches("<svg").count(), 1, "one row needs no picture");
    assert!(page.contains("<td>&lt;b&gt;</td>") && page.contains("<td class=\"null\">NULL</td>"));
    let elsewhere = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!elsewhere.contains("http") && !elsewhere.contains("src="));
}

#[test]
fn copy_writes_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str, options: &str| {
        let file = folder.path().join(name);
        let ran = run(&["-c", &format!("COPY ({ROWS}) TO '{}' {options}", file.display())]);
        (ran, fs::read_to_string(file).unwrap_or_default())
    };
    let (ran, svg) = copy("a.svg", "");
    assert_eq!((ran.err.as_str(), ran.status), ("COPY 3\n", Some(0)));
    assert_eq!(svg, rows(&["--format", "svg", "-c", ROWS]));
    let (_, svg) = copy("b.svg", "(FORMAT svg, KIND lines, X place, Y accuracy, COLOR model, WIDTH 400)");
    assert_eq!(marks(&svg)[2], "place: 3\nmodel: \naccuracy: 0.5");
    assert!(svg.contains("width=\"400\""));
    assert!(copy("c.html", "").1.starts_with("<!DOCTYPE html>"));
    let spec: serde_json::Value = serde_json::from_str(&copy("d.json", "(FORMAT vega_lite)").1).unwrap();
    assert_eq!(spec["data"]["values"][1], serde_json::json!({ "model": "mlp", "accuracy": 0.57, "place": 2.0 }));

    for (options, what) in [
        ("(FORMAT svg, Y acuracy)", "there is no column `acuracy`, did you mean `accuracy`?"),
        ("(FORMAT svg, KIND bumb)", "give `bump`, or another of bars"),
        ("(COLR model)", "there is no option `colr` of a picture, did you mean `color`?"),
        ("(KIND points, X model, Y model)", "points needs numbers for y, and the column `model` has text"),
        ("(PARTITION_BY (model))", "FORMAT svg writes one file"),
        ("(FORMAT pdf)", "a format among csv, parquet, json, arrow, mantra, svg, html, vega_lite"),
    ] {
        let (ran, text) = copy("e.svg", options);
        assert!(ran.err.contains(what) && ran.status == Some(1), "{ran:?}");
        assert_eq!(text, "");
    }
    let empty = run(&["--format", "svg", "-c", &format!("SELECT * FROM ({ROWS}) WHERE false")]);
    assert!(empty.out.contains("No rows."), "{empty:?}");
    let none = run(&["--format", "svg", "--plot", "bump", "-c", "SELECT 1 AS a"]);
    assert!(
        none.err.contains("bump needs numbers for y, and the result has no such column; name one by Y"),
        "{none:?}"
    );
}

#[test]
fn the_last_result_is_drawn_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("last.svg");
    let script = format!("{ROWS};\n\\plot '{}' points place accuracy title='The last'\n", file.display());
    let ran = super::run_with_input(&[], script.as_bytes());
    assert_eq!((ran.err, ran.status), (format!("'{}' is written.\n", file.display()), Some(0)));
    let svg = fs::read_to_string(&file).unwrap();
    assert_eq!(marks(&svg).len(), 3);
    assert!(svg.contains(">The last</text>"));
    for (script, what) in [
        ("\\plot a.svg\n".to_owned(), "there is no last result"),
        (format!("{ROWS};\n\\plot a.gif\n"), "ends in none of .svg, .html, .json, .pdf and .png"),
        (format!("{ROWS};\n\\plot a.svg bars modl\n"), "there is no column `modl`, did you mean `model`?"),
    ] {
        let ran = super::run_with_input(&[], script.as_bytes());
        assert!(ran.err.contains(what) && ran.status == Some(1), "{ran:?}");
    }
}

#[test]
fn nodes_of_the_karate_club_stand_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("karate.svg");
    let script = format!(
        "ATTACH 'builtin:karate' AS karate;
         COPY (SELECT src, dst, forman_ricci(src, dst) OVER () AS forman FROM karate.edges) TO '{}' (KIND graph, COLOR forman)",
        file.display()
    );
    let ran = run(&["-c", &script]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let svg = fs::read_to_string(&file).unwrap();
    let number = |element: &str, name: &str| -> f64 {
        element.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
    };
    let discs: Vec<[f64; 3]> =
        svg.split("<circle").skip(1).map(|disc| ["cx", "cy", "r"].map(|name| number(disc, name))).collect();
    assert_eq!((discs.len(), marks(&svg).len()), (34, 78));
    for (i, a) in discs.iter().enumerate() {
        for b in &discs[..i] {
            assert!((a[0] - b[0]).hypot(a[1] - b[1]) > a[2] + b[2] + 2.0, "{a:?} and {b:?}");
        }
    }
}

#[test]
#[cfg(not(feature = "print"))]
fn a_page_without_its_feature_says_which_is_missing() {
    for file in ["a.pdf", "a.png"] {
        let ran =
            super::run_with_input(&[], format!("{ROWS};\n\\plot {file}\nCOPY ({ROWS}) TO '{file}';\n").as_bytes());
        assert!(
            ran.err.contains("build it with the feature print, or write an SVG") && ran.status == Some(1),
            "{ran:?}"
        );
        assert!(!std::path::Path::new(file).exists());
    }
}
