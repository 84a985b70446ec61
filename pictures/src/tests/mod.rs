//! Properties of every picture.

mod looks;
mod options;

use std::collections::HashMap;

use quick_xml::events::Event;
use quick_xml::reader::Reader;

use crate::{Column, Kind, Picture, PictureError, Request, Table, Values, draw, vega_lite};

fn texts(name: &str, values: &[Option<&str>]) -> Column {
    Column::new(name, Values::texts(values.iter().copied()))
}

fn numbers(name: &str, values: impl IntoIterator<Item = f64>) -> Column {
    Column::new(name, Values::Numbers(values.into_iter().collect()))
}

/// Three models on three strata.
fn ranks() -> Table {
    let strata = ["negative", "positive", "mixed"];
    let models = ["gcn", "a <b> & \"c\"", "mlp"];
    Table {
        columns: vec![
            texts("regime", &(0..9).map(|i| Some(strata[i / 3])).collect::<Vec<_>>()),
            texts("model", &(0..9).map(|i| Some(models[i % 3])).collect::<Vec<_>>()),
            numbers("rank", [1.0, 2.0, 3.0, 3.0, 1.0, 2.0, 2.0, 2.0, 1.0]),
            numbers("accuracy", (0..9).map(|i| 0.1 + f64::from(i) / 7.0)),
        ],
    }
}

fn picture(table: &Table, request: &str) -> Picture {
    draw(table, &Request::parse(request).unwrap()).unwrap()
}

/// The titles of the marks, in their order; and that the text is XML without anything from elsewhere.
pub(crate) fn marks(svg: &str) -> Vec<String> {
    let mut reader = Reader::from_str(svg);
    let (mut titles, mut in_mark, mut in_title, mut elements) = (Vec::new(), false, false, Vec::new());
    loop {
        match reader.read_event().expect("XML") {
            Event::Start(start) => {
                for attribute in start.attributes() {
                    let attribute = attribute.expect("an attribute");
                    let value = String::from_utf8_lossy(&attribute.value).into_owned();
                    assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
                    if attribute.key.as_ref() == b"class" && value == "mark" {
                        in_mark = true;
                        titles.push(String::new());
                    }
                }
                in_title = start.name().as_ref() == b"title";
                elements.push(String::from_utf8_lossy(start.name().as_ref()).into_owned());
            }
            Event::Text(text) if in_mark && in_title => {
                titles.last_mut().unwrap().push_str(&text.decode().expect("UTF-8"));
            }
            Event::GeneralRef(entity) if in_mark && in_title => {
                let name = entity.decode().expect("UTF-8");
                let known = [("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\"")];
                titles.last_mut().unwrap().push_str(known.iter().find(|(n, _)| *n == name).expect("an entity").1);
            }
            Event::End(_) => {
                let ended = elements.pop();
                in_title = false;
                in_mark = in_mark && ended.as_deref() == Some("title");
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(elements.is_empty());
    let elsewhere = svg.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for sign in ["http", "<script", "url(", "href", "<image", "@import"] {
        assert!(!elsewhere.contains(sign), "{sign}");
    }
    titles
}

/// The elements of a name in their order: their attributes, and the text within.
pub(crate) fn elements(svg: &str, name: &str) -> Vec<(HashMap<String, String>, String)> {
    let mut reader = Reader::from_str(svg);
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends) = (false, true);
    let (mut found, mut open) = (Vec::new(), false);
    loop {
        let event = reader.read_event().expect("XML");
        match &event {
            Event::Start(start) | Event::Empty(start) if start.name().as_ref() == name.as_bytes() => {
                let attributes = start.attributes().map(|attribute| {
                    let attribute = attribute.expect("an attribute");
                    let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
                    (key, String::from_utf8_lossy(&attribute.value).into_owned())
                });
                found.push((attributes.collect::<HashMap<_, _>>(), String::new()));
                open = matches!(event, Event::Start(_));
            }
            Event::Start(_) => open = false,
            Event::Text(text) if open => found.last_mut().unwrap().1.push_str(&text.decode().expect("UTF-8")),
            Event::End(_) => open = false,
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// A number among an element's attributes.
pub(crate) fn place(attributes: &HashMap<String, String>, name: &str) -> f64 {
    attributes[name].parse().unwrap()
}

#[test]
fn each_row_is_a_mark_with_its_numbers() {
    let table = ranks();
    for request in
        ["bars regime accuracy model", "points rank accuracy model", "lines regime accuracy model", "heatmap", "bump"]
    {
        let request = if request == "heatmap" { "heatmap regime model accuracy" } else { request };
        let picture = picture(&table, request);
        let mut found: Vec<String> = marks(&picture.svg)
            .iter()
            .map(|title| {
                let value = |name: &str| title.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
                value("accuracy").or(value("rank")).expect("a number").to_owned()
            })
            .collect();
        let column = if request == "bump" { &table.columns[2] } else { &table.columns[3] };
        let mut expected: Vec<String> = column.numbers().unwrap().iter().map(f64::to_string).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{request}");
        assert_eq!(picture.notes, [""; 0], "{request}");
    }
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    for request in
        ["bars regime accuracy model", "points rank accuracy", "boxes regime accuracy", "histogram accuracy", "bump"]
    {
        assert_eq!(picture(&ranks(), request), picture(&ranks(), request), "{request}");
    }
}

#[test]
fn the_counts_of_a_histogram_add_up() {
    let table = Table { columns: vec![numbers("x", (0..500).map(|i| f64::from(i * i % 97)))] };
    let titles = marks(&picture(&table, "histogram x bins=10").svg);
    let count = |title: &String| title.rsplit_once("count: ").unwrap().1.parse::<u64>().unwrap();
    assert_eq!(titles.iter().map(count).sum::<u64>(), 500);
    // 0 to 97 in steps of 10: the first interval holds the squares modulo 97 below 10.
    let expected = (0..500).filter(|i| i * i % 97 < 10).count() as u64;
    assert_eq!((titles.len(), count(&titles[0])), (10, expected));
}

#[test]
fn missing_values_are_left_out_and_said() {
    let table = Table {
        columns: vec![
            texts("model", &[Some("a"), None, Some("c"), Some("d")]),
            numbers("x", [1.0, 2.0, f64::NAN, f64::INFINITY]),
        ],
    };
    let drawn = picture(&table, "bars");
    assert_eq!(marks(&drawn.svg), ["model: a\nx: 1"]);
    assert_eq!(drawn.notes, ["Left out: 3 rows without a value of model or x that can be drawn."]);
    assert!(drawn.svg.contains(&drawn.notes[0]));
    let nothing = Table { columns: vec![texts("model", &[None, None]), numbers("x", [f64::NAN, f64::NAN])] };
    for kind in ["bars", "points x=x y=x", "lines", "boxes", "histogram", "heatmap model model x", "bump model x model"]
    {
        assert_eq!(marks(&picture(&nothing, kind).svg), [""; 0], "{kind}");
    }
}

#[test]
fn no_rows_are_a_picture_that_says_so() {
    let table = Table { columns: vec![texts("model", &[]), numbers("x", [])] };
    let drawn = picture(&table, "");
    assert_eq!(marks(&drawn.svg), [""; 0]);
    assert!(drawn.svg.contains("No rows."));
}

#[test]
fn a_million_points_are_counted_in_squares() {
    let n = 1_000_000;
    let table = Table {
        columns: vec![
            numbers("x", (0..n).map(|i| f64::from(i % 1000))),
            numbers("y", (0..n).map(|i| f64::from(i / 1000))),
        ],
    };
    let drawn = picture(&table, "points");
    let titles = marks(&drawn.svg);
    let count = |title: &String| title.strip_prefix("count: ").unwrap().parse::<u64>().unwrap();
    assert_eq!(titles.iter().map(count).sum::<u64>(), 1_000_000);
    assert!(titles.len() < 10_000 && drawn.svg.len() < 2_000_000, "{} {}", titles.len(), drawn.svg.len());
    assert_eq!(drawn.notes, ["1000000 rows: each square is coloured by how many lie in it."]);
    let line = picture(&table, "lines x y");
    assert!(line.svg.len() < 200_000, "{}", line.svg.len());
    let landscape = picture(&table, "landscape x y");
    assert!(landscape.svg.len() < 400_000, "{}", landscape.svg.len());
    let error = draw(&table, &Request::parse("landscape x y y").unwrap()).unwrap_err();
    assert!(matches!(error, PictureError::TooMany { kind: Kind::Landscape, found: 1000, most: 500, .. }), "{error}");
    assert_eq!(landscape.notes, ["1000000 rows: of each pixel a line shows the least and the most."]);
}

#[test]
fn too_many_marks_are_refused_with_what_to_do() {
    let names: Vec<String> = (0..600).map(|i| i.to_string()).collect();
    let names: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
    let table = Table { columns: vec![texts("name", &names), numbers("x", (0..600).map(f64::from))] };
    let error = draw(&table, &Request::parse("bars").unwrap()).unwrap_err();
    assert!(matches!(error, PictureError::TooMany { kind: Kind::Bars, found: 600, most: 500, .. }));
    assert!(error.to_string().contains("LIMIT"), "{error}");
    let rows =
        |n: i32| Table { columns: vec![numbers("x", (0..n).map(f64::from)), numbers("y", (0..n).map(f64::from))] };
    let points = Request::parse("points").unwrap();
    assert!(vega_lite(&rows(20_000), &points).is_ok());
    let error = vega_lite(&rows(20_001), &points).unwrap_err();
    assert!(matches!(error, PictureError::TooMany { kind: Kind::Points, found: 20_001, most: 20_000, .. }));
    assert!(error.to_string().contains("take svg"), "{error}");
    let error = draw(&ranks(), &Request::parse("bars model accuracy").unwrap());
    // The other text tells them apart.
    assert!(error.is_ok());
    let error = draw(&ranks(), &Request::parse("bump regime rank regime").unwrap()).unwrap_err().to_string();
    assert!(error.contains("`negative`, `negative` has several"), "{error}");
}

#[test]
fn extreme_numbers_are_drawn() {
    for values in [vec![1e300, -1e300], vec![5e-324, 0.0], vec![1e15, 1e15 + 1.0], vec![f64::MAX, f64::MIN]] {
        let n = values.iter().filter(|value| value.abs() <= 1e300).count();
        let table = Table { columns: vec![numbers("x", values.clone()), numbers("y", values.clone())] };
        assert_eq!(marks(&picture(&table, "points").svg).len(), n, "{values:?}");
        for kind in ["histogram x", "lines", "boxes y=y", "bars x y"] {
            marks(&picture(&table, kind).svg);
        }
    }
}

#[test]
fn every_kind_is_a_specification_of_vega_lite() {
    for request in
        ["bars regime accuracy model", "points rank accuracy", "lines", "boxes", "histogram", "heatmap", "bump"]
    {
        let text = vega_lite(&ranks(), &Request::parse(request).unwrap()).unwrap();
        let spec: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(spec["data"]["values"].as_array().unwrap().len(), 9);
        assert_eq!(spec["data"]["values"][8]["accuracy"], 0.1 + 8.0 / 7.0);
        assert!(spec["mark"]["type"].is_string() && spec["encoding"]["x"]["field"].is_string(), "{request}");
    }
}

#[test]
fn diagrams_have_a_mark_for_each_pair_also_for_those_that_never_die() {
    let table = Table {
        columns: vec![
            numbers("dim", [0.0, 0.0, 1.0, 1.0]),
            numbers("birth", [0.0, 0.5, 1.0, f64::NAN]),
            numbers("death", [f64::INFINITY, 2.5, 2.0, 3.0]),
        ],
    };
    for kind in ["", "barcode"] {
        let drawn = picture(&table, kind);
        assert_eq!(marks(&drawn.svg)[1], "birth: 0.5\ndeath: 2.5\ndim: 0", "{kind}");
        assert_eq!(marks(&drawn.svg).len(), 3, "{kind}");
        assert!(drawn.svg.contains("death: inf"), "{kind}");
        assert_eq!(drawn.notes, ["Left out: 1 rows without a finite birth and a death."]);
    }
    assert_eq!(picture(&table, "").kind, Kind::PersistenceDiagram);
}

#[test]
fn a_landscape_is_a_function_for_each_k() {
    let table = Table {
        columns: vec![
            numbers("dim", [0.0; 5]),
            numbers("k", [1.0, 1.0, 1.0, 2.0, 2.0]),
            numbers("x", [0.0, 2.0, 4.0, 1.0, 2.0]),
            numbers("y", [0.0, 2.0, 0.0, 0.0, 1.0]),
        ],
    };
    let drawn = picture(&table, "");
    assert_eq!((drawn.kind, marks(&drawn.svg).len()), (Kind::Landscape, 5));
    assert_eq!(drawn.svg.matches("<polyline").count(), 2);
}

#[test]
fn a_graph_has_a_mark_an_edge_and_a_circle_a_node() {
    let table = Table {
        columns: vec![
            numbers("src", [0.0, 1.0, 2.0, 0.0, 9.0]),
            numbers("dst", [1.0, 2.0, 0.0, f64::NAN, f64::NAN]),
            numbers("curvature", [0.5, -0.5, 0.0, f64::NAN, f64::NAN]),
            texts("label", &[None, None, None, Some("a"), Some("b")]),
        ],
    };
    let drawn = picture(&table, "graph color=curvature node_color=label");
    assert_eq!(
        marks(&drawn.svg),
        ["src: 0\ndst: 1\ncurvature: 0.5", "src: 1\ndst: 2\ncurvature: -0.5", "src: 2\ndst: 0\ncurvature: 0"]
    );
    assert_eq!(drawn.svg.matches("class=\"node\"").count(), 4);
    assert!(drawn.svg.contains("9\ndegree: 0\nlabel: b"));
    assert_eq!(drawn, picture(&table, "graph color=curvature node_color=label"));
    assert_ne!(drawn, picture(&table, "graph color=curvature node_color=label seed=1"));
    let large =
        Table { columns: vec![numbers("src", (0..4000).map(f64::from)), numbers("dst", (1..4001).map(f64::from))] };
    let error = draw(&large, &Request::default()).unwrap_err().to_string();
    assert!(error.contains("at most 3000"), "{error}");
}

#[test]
fn a_surface_has_a_mark_a_triangle() {
    let facets = |text| Table { columns: vec![texts("facets", &[Some(text)])] };
    let drawn = picture(&facets("[[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]"), "");
    assert_eq!(marks(&drawn.svg).len(), 4);
    assert!(
        drawn.notes[0].starts_with("4 vertices, 6 edges, 4 triangles, Euler characteristic 2."),
        "{:?}",
        drawn.notes
    );
    for (text, what) in [("[[0, 1]]", "[0, 1] is no triangle"), ("a", "no list of facets")] {
        let error = draw(&facets(text), &Request::default()).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn the_disk_has_what_lies_within_its_rim() {
    let table = |x: f64| Table { columns: vec![numbers("x", [0.0, x]), numbers("y", [0.5, 0.6])] };
    assert_eq!(marks(&picture(&table(0.79), "disk").svg).len(), 2);
    let error = draw(&table(0.8), &Request::parse("disk").unwrap()).unwrap_err().to_string();
    assert!(error.contains("(0.8, 0.6) lies on or beyond the rim"), "{error}");
}

#[test]
fn critical_differences_say_mean_ranks() {
    let drawn = picture(&ranks(), "cd regime accuracy model");
    assert_eq!(marks(&drawn.svg), ["mlp\nmean rank: 1", "a <b> & \"c\"\nmean rank: 2", "gcn\nmean rank: 3"]);
    // 2.3437 sqrt(3 * 4 / (6 * 3)), as the critical values of scipy.stats.studentized_range have it.
    assert!(drawn.svg.contains("critical difference 1.914"));
    let error = draw(&ranks(), &Request::parse("cd model accuracy regime").unwrap());
    assert!(error.is_ok());
    let one = Table {
        columns: ranks().columns.into_iter().map(|column| Column::new(column.name, first(&column.values))).collect(),
    };
    let error = draw(&one, &Request::parse("cd regime accuracy model").unwrap()).unwrap_err().to_string();
    assert!(error.contains("model has 1 values; give from 2 to 20"), "{error}");
}

fn first(values: &Values) -> Values {
    match values {
        Values::Numbers(values) => Values::Numbers(values[..1].to_vec()),
        Values::Times(values) => Values::Times(values[..1].to_vec()),
        Values::Texts { names, codes } => Values::Texts { names: names.clone(), codes: codes[..1].to_vec() },
    }
}

#[test]
fn a_curvature_histogram_has_the_cuts_and_the_mean() {
    let table = Table { columns: vec![numbers("curvature", [-0.2, -0.02, 0.0, 0.005, 0.3, 0.1])] };
    let drawn = picture(&table, "");
    assert_eq!(drawn.kind, Kind::Curvature);
    assert_eq!((drawn.svg.matches("class=\"cut\"").count(), drawn.svg.matches("class=\"mean\"").count()), (2, 1));
    let count = |title: &String| title.rsplit_once("count: ").unwrap().1.parse::<u64>().unwrap();
    assert_eq!(marks(&drawn.svg).iter().map(count).sum::<u64>(), 6);
    assert!(drawn.notes[0].starts_with("Mean 0.031"), "{:?}", drawn.notes);
}
