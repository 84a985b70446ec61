//! What is read in a picture: names that do not touch, lines and nodes that are told apart, marks that are where they belong.

use super::{elements, numbers, picture, place, ranks, texts};
use crate::text::width;
use crate::{Request, Table, draw, palette};

/// The left end, the right end and the base of each string of a picture that is not turned, and the string.
fn strings(svg: &str) -> Vec<(f64, f64, f64, String)> {
    let turned = |attributes: &std::collections::HashMap<String, String>| attributes.contains_key("transform");
    let upright = elements(svg, "text").into_iter().filter(|(attributes, _)| !turned(attributes));
    upright
        .map(|(attributes, text)| {
            let size = attributes.get("font-size").map_or(11.0, |size| size.parse().unwrap());
            let (x, wide) = (place(&attributes, "x"), width(&text, size));
            let left = match attributes["text-anchor"].as_str() {
                "start" => x,
                "middle" => x - wide / 2.0,
                _ => x - wide,
            };
            (left, left + wide, place(&attributes, "y"), text)
        })
        .collect()
}

#[test]
fn names_of_ticks_do_not_touch_at_any_width() {
    let long: Vec<String> = (0..9).map(|i| format!("a model with a long name {i}")).collect();
    let named = Table {
        columns: vec![
            texts("model", &long.iter().map(|name| Some(name.as_str())).collect::<Vec<_>>()),
            numbers("accuracy", (0..9).map(|i| 0.011 * f64::from(i) + 0.0001)),
            numbers("size", (0..9).map(|i| 10f64.powi(i) * 3.0)),
            numbers("sum", (0..9).map(|i| 100_000.0 * f64::from(i) - 300_000.0)),
        ],
    };
    for request in [
        "bars model accuracy",
        "bars model sum",
        "points sum accuracy",
        "points size accuracy x_scale=log",
        "points accuracy size y_scale=log",
        "lines sum size y_scale=log",
        "histogram sum",
        "boxes model sum",
        "curvature sum",
        "heatmap model model accuracy",
        "points sum accuracy facet=model",
        "diagram sum size",
    ] {
        for size in ["width=320", "width=640", "", "width=200 height=150", "height=120"] {
            if request.contains("facet") && size.contains("height") {
                let request = Request::parse(&format!("{request} {size}")).unwrap();
                let error = draw(&named, &request).unwrap_err().to_string();
                assert!(error.starts_with("HEIGHT is `1") && error.contains("panels below one another"), "{error}");
                continue;
            }
            let drawn = picture(&named, &format!("{request} {size}"));
            let axes = drawn.svg.split_once("class=\"axes\"").unwrap().1.split_once("class=\"mark\"").unwrap().0;
            let axes = axes.split_once("class=\"legend\"").map_or(axes, |parts| parts.0);
            // Without the beginning of the element that follows.
            let names = strings(&format!("<g{}", axes.rsplit_once('\n').unwrap().0));
            for (i, a) in names.iter().enumerate() {
                for b in &names[..i] {
                    let touch = a.0 < b.1 && b.0 < a.1 && (a.2 - b.2).abs() < 9.0;
                    assert!(!touch, "{request} {size}: {a:?} and {b:?}");
                }
            }
            assert!(names.len() > 2, "{request} {size}: {names:?}");
        }
    }
}

#[test]
fn a_mark_of_many_points_is_where_they_are() {
    // Two columns, of which the right one was drawn at 9.65 of 10.
    let n = 30_000;
    let table = Table {
        columns: vec![
            numbers("x", (0..n).map(|i| if i % 2 == 0 { 0.05 } else { 9.95 })),
            numbers("y", (0..n).map(|i| f64::from(i % 1000) / 100.0)),
        ],
    };
    for (request, panels) in [("points", 1), ("points width=300", 1), ("points x y facet=x", 2)] {
        let drawn = picture(&table, request);
        let axes: Vec<_> = elements(&drawn.svg, "line").into_iter().filter(|(a, _)| a["stroke"] == "#888").collect();
        assert_eq!(axes.len(), panels);
        let (left, right) = (place(&axes[0].0, "x1"), place(&axes[panels - 1].0, "x2"));
        let wide = place(&axes[0].0, "x2") - left;
        let marks: Vec<_> = elements(&drawn.svg, "rect").into_iter().filter(|(a, _)| a.contains_key("class")).collect();
        let ends = |mark: &std::collections::HashMap<String, String>| {
            (place(mark, "x"), place(mark, "x") + place(mark, "width"))
        };
        let last = marks.iter().map(|(mark, _)| ends(mark).1).fold(0.0, f64::max);
        assert!((last - right).abs() < 0.02, "{request}: {last} and {right}");
        for (mark, _) in &marks {
            let (from, to) = ends(mark);
            let (first, last) = (left + 0.005 * wide, right - 0.005 * wide);
            assert!((from..=to).contains(&first) || (from..=to).contains(&last), "{request}: {from} to {to}");
            assert!(to - from < 12.0);
        }
        let bottom = place(&axes[0].0, "y1");
        let lowest = marks.iter().map(|(mark, _)| place(mark, "y") + place(mark, "height")).fold(0.0, f64::max);
        assert!((lowest - bottom).abs() < 0.02 || panels > 1, "{request}: {lowest} and {bottom}");
    }
}

#[test]
fn lines_are_told_apart_without_colours() {
    let table = |rows: i32, apart: f64| Table {
        columns: vec![
            texts("model", &(0..rows).map(|i| Some(["gcn", "gat", "mlp"][i as usize % 3])).collect::<Vec<_>>()),
            numbers("epoch", (0..rows).map(|i| f64::from(i / 3))),
            numbers("loss", (0..rows).map(|i| apart * f64::from(i % 3) + 0.01 * f64::from(i / 3 % 7) + 1.0)),
        ],
    };
    let dashes = |svg: &str| {
        let lines = elements(svg, "polyline").into_iter();
        lines.map(|(line, _)| line.get("stroke-dasharray").cloned()).collect::<Vec<_>>()
    };
    let seen = |svg: &str| {
        let dots = elements(svg, "circle").into_iter();
        dots.filter(|(dot, _)| dot.get("fill-opacity").is_none_or(|opacity| opacity != "0")).count()
    };
    let names = |svg: &str| -> Vec<String> {
        let names = elements(svg, "text").into_iter().filter(|(a, _)| a.get("class").is_some_and(|c| c == "name"));
        names.map(|(_, name)| name).collect()
    };
    // Names stand behind lines that end apart, in a legend with the dashes of those that do not.
    let drawn = picture(&table(180, 1.0), "lines epoch loss model");
    assert_eq!(dashes(&drawn.svg), [None, Some("7 4".to_owned()), Some("2 3".to_owned())]);
    assert_eq!((names(&drawn.svg), seen(&drawn.svg)), (["gcn", "gat", "mlp"].map(str::to_owned).to_vec(), 180));
    assert!(!drawn.svg.contains("class=\"legend\""));
    let near = picture(&table(180, 0.0001), "lines epoch loss model");
    assert_eq!(names(&near.svg), [""; 0]);
    let legend = near.svg.split_once("class=\"legend\"").unwrap().1.split_once("</g>").unwrap().0;
    assert_eq!((legend.matches("<line").count(), legend.matches("stroke-dasharray").count()), (3, 2));
    // 60 corners have dots, 61 have none that is seen; both have the numbers of their rows.
    let more = picture(&table(183, 1.0), "lines epoch loss model");
    assert_eq!((seen(&more.svg), super::marks(&more.svg).len()), (0, 183));
    let one = picture(&table(3, 1.0), "lines model loss");
    assert_eq!((dashes(&one.svg), names(&one.svg)), (vec![None], Vec::new()));
}

#[test]
fn nodes_do_not_touch_and_edges_are_darker_than_the_page() {
    // A star, a clique and a path.
    let edges: Vec<(u32, u32)> = (1..20)
        .map(|i| (0, i))
        .chain((20..30).flat_map(|a| (20..a).map(move |b| (a, b))))
        .chain((30..40).map(|i| (i, i + 1)))
        .collect();
    let table = Table {
        columns: vec![
            numbers("src", edges.iter().map(|edge| f64::from(edge.0))),
            numbers("dst", edges.iter().map(|edge| f64::from(edge.1))),
            numbers("curvature", (0..edges.len()).map(|i| i as f64 % 5.0 / 100.0 - 0.02)),
        ],
    };
    for request in
        ["graph color=curvature", "graph color=curvature seed=5", "graph color=curvature width=320 height=300"]
    {
        let drawn = picture(&table, request);
        let nodes: Vec<(f64, f64, f64)> = elements(&drawn.svg, "circle")
            .iter()
            .map(|(node, _)| (place(node, "cx"), place(node, "cy"), place(node, "r")))
            .collect();
        assert_eq!(nodes.len(), 41);
        for (i, a) in nodes.iter().enumerate() {
            for b in &nodes[..i] {
                let gap = (a.0 - b.0).hypot(a.1 - b.1) - a.2 - b.2;
                assert!(gap > 1.0, "{request}: {a:?} and {b:?}");
            }
        }
        let zero = palette::Ramp::new(-0.02, 0.02).of_lines().color(0.0);
        let marks: Vec<_> = elements(&drawn.svg, "line").into_iter().filter(|(a, _)| a.contains_key("class")).collect();
        assert_eq!(marks.len(), edges.len());
        let of_zero = (0..edges.len()).filter(|i| i % 5 == 2).count();
        assert_eq!(marks.iter().filter(|(mark, _)| mark["stroke"] == zero).count(), of_zero);
    }
}

#[test]
fn the_bar_of_a_critical_difference_is_to_scale() {
    // Of two data sets the difference, 1.914, is nearly the whole axis of three ranks; of one rank fewer it is longer than it.
    let two: Vec<usize> = (0..6).filter(|i| i % 3 != 2).collect();
    let of = |column: usize, rows: &[usize]| {
        let table = ranks();
        rows.iter().map(|&row| table.columns[column].text(row)).collect::<Vec<_>>()
    };
    let (items, models, values) = (of(0, &two), of(1, &two), of(3, &two));
    let table = Table {
        columns: vec![
            texts("regime", &items.iter().map(|t| Some(t.as_str())).collect::<Vec<_>>()),
            texts("model", &models.iter().map(|t| Some(t.as_str())).collect::<Vec<_>>()),
            numbers("accuracy", values.iter().map(|t| t.parse().unwrap())),
        ],
    };
    for (table, models, items) in [(table, 2.0_f64, 2.0_f64), (ranks(), 3.0, 3.0)] {
        let svg = picture(&table, "cd regime accuracy model width=400").svg;
        let lines = elements(&svg, "line");
        let bar = &lines.iter().find(|(a, _)| a.get("class").is_some_and(|class| class == "critical")).unwrap().0;
        let ticks: Vec<f64> = elements(&svg, "text")
            .iter()
            .filter(|(_, text)| text == "1" || text == "2")
            .map(|(tick, _)| place(tick, "x"))
            .collect();
        let length = (place(bar, "x2") - place(bar, "x1")) / (ticks[1] - ticks[0]);
        // Demsar 2006, table 5: 1.960 of two models, 2.343 of three.
        let q = if models == 2.0 { 1.960 } else { 2.343 };
        let expected = q * (models * (models + 1.0) / (6.0 * items)).sqrt();
        assert!((length - expected).abs() < 0.005, "{length} and {expected}");
        assert!(place(bar, "x2") <= 400.0);
    }
}
