//! Error bars, logarithmic axes, reference lines, names of axes and panels, in both documents.

use serde_json::{Value, json};

use super::{elements, marks, numbers, picture, place, ranks, texts};
use crate::{Picture, PictureError, Request, Table, draw, vega_lite};

/// Three models with a figure, and the ends of its error bar; the last without.
fn spans() -> Table {
    Table {
        columns: vec![
            texts("model", &[Some("gcn"), Some("mlp"), Some("gat")]),
            numbers("size", [1.0, 10.0, 1000.0]),
            numbers("accuracy", [0.5, 0.25, 0.75]),
            numbers("low", [0.4, 0.2, f64::NAN]),
            numbers("high", [0.7, 0.3, 0.8]),
        ],
    }
}

fn refused(table: &Table, request: &str) -> String {
    draw(table, &Request::parse(request).unwrap()).unwrap_err().to_string()
}

/// The attributes of the elements of a name that have a class.
fn of_class(picture: &Picture, name: &str, class: &str) -> Vec<std::collections::HashMap<String, String>> {
    let found = elements(&picture.svg, name).into_iter().map(|(attributes, _)| attributes);
    found.filter(|attributes| attributes.get("class").is_some_and(|found| found == class)).collect()
}

/// The bottom and the top of the first panel: the places of the least and the most that its axis of y has.
fn upright(picture: &Picture) -> (f64, f64) {
    let grid = elements(&picture.svg, "line");
    let rows = grid.iter().filter(|(a, _)| a["stroke"] == "#e8e8e8" && a["y1"] == a["y2"]);
    let heights: Vec<f64> = rows.map(|(a, _)| place(a, "y1")).collect();
    (heights.iter().copied().fold(0.0, f64::max), heights.iter().copied().fold(f64::INFINITY, f64::min))
}

fn specification(table: &Table, request: &str) -> Value {
    serde_json::from_str(&vega_lite(table, &Request::parse(request).unwrap()).unwrap()).unwrap()
}

#[test]
fn error_bars_reach_from_ymin_to_ymax() {
    for request in ["points size accuracy", "bars model accuracy"] {
        let drawn = picture(&spans(), &format!("{request} ymin=low ymax=high yline=0,1"));
        let (bottom, top) = upright(&drawn);
        let value = |y: f64| (bottom - y) / (bottom - top);
        let lines = of_class(&drawn, "line", "span");
        // A bar and two caps each.
        assert_eq!(lines.len(), 6, "{request}");
        for (bar, (low, high)) in [&lines[0], &lines[3]].into_iter().zip([(0.4, 0.7), (0.2, 0.3)]) {
            assert_eq!(bar["x1"], bar["x2"]);
            let ends = (value(place(bar, "y1")), value(place(bar, "y2")));
            assert!((ends.0 - low).abs() < 1e-3 && (ends.1 - high).abs() < 1e-3, "{request}: {ends:?}");
        }
        assert!(marks(&drawn.svg)[0].ends_with("low: 0.4\nhigh: 0.7"), "{:?}", marks(&drawn.svg));
        assert_eq!(drawn.notes, ["Without an error bar: 1 row without low or high."]);
    }
    // Lying bars, their names are long.
    let long = Table {
        columns: vec![
            texts("model", &(0..4).map(|i| Some(["a", "b", "c", "d"][i])).collect::<Vec<_>>()),
            numbers("accuracy", [0.5, 0.25, 0.75, -0.25]),
            numbers("low", [0.4, 0.2, 0.5, -0.5]),
            numbers("high", [0.7, 0.3, 1.0, 0.0]),
        ],
    };
    let drawn = picture(&long, "bars model accuracy ymin=low ymax=high width=160 yline=0.5 xlabel=Model ylabel=Share");
    let lines = of_class(&drawn, "line", "span");
    assert_eq!(lines.len(), 12);
    assert!(lines.iter().step_by(3).all(|bar| bar["y1"] == bar["y2"] && place(bar, "x1") < place(bar, "x2")));
    let reference = &of_class(&drawn, "line", "reference")[0];
    // From -0.5 to 1: the error bar of the third ends at 1, that of the last begins at -0.5.
    let share = (place(reference, "x1") - place(&lines[9], "x1")) / (place(&lines[6], "x2") - place(&lines[9], "x1"));
    assert!((share - 2.0 / 3.0).abs() < 0.01, "{share}");
}

#[test]
fn a_line_has_a_ribbon_from_ymin_to_ymax() {
    let table = Table {
        columns: vec![
            numbers("epoch", (0..6).map(f64::from)),
            numbers("loss", [5.0, 4.0, 3.0, 2.0, 1.0, 0.5]),
            numbers("low", [4.0, 3.0, 2.0, f64::NAN, 0.5, 0.25]),
            numbers("high", [6.0, 5.0, 4.0, 3.0, 1.5, 0.75]),
        ],
    };
    let drawn = picture(&table, "lines epoch loss ymin=low ymax=high yline=0,8");
    let (bottom, top) = upright(&drawn);
    let ribbons = of_class(&drawn, "polygon", "span");
    // Two: the fourth row has no end.
    assert_eq!(ribbons.len(), 2);
    let corners: Vec<f64> = ribbons[0]["points"]
        .split(' ')
        .map(|corner| (bottom - corner.split_once(',').unwrap().1.parse::<f64>().unwrap()) / (bottom - top) * 8.0)
        .collect();
    let expected = [6.0, 5.0, 4.0, 2.0, 3.0, 4.0];
    assert!(corners.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.01), "{corners:?}");
    let mut single = table.clone();
    single.columns[2] = numbers("low", [4.0, f64::NAN, 2.0, f64::NAN, 0.5, f64::NAN]);
    let drawn = picture(&single, "lines epoch loss ymin=low ymax=high");
    assert_eq!((of_class(&drawn, "polygon", "span").len(), of_class(&drawn, "line", "span").len()), (0, 9));
    assert_eq!(drawn.notes, ["Without an error bar: 3 rows without low or high."]);
}

#[test]
fn wrong_error_bars_are_refused() {
    let table = spans();
    assert_eq!(refused(&table, "points size accuracy ymin=high ymax=low"), "points: high 0.7 is above low 0.4");
    let error =
        refused(&Table { columns: vec![texts("a", &[Some("x")]), numbers("low", [0.0])] }, "bars a ymin=low ymax=low");
    assert!(error.contains("YMIN and YMAX are about a number: name its column by Y"), "{error}");
    let many = Table { columns: ["x", "y", "e"].map(|name| numbers(name, (0..20_001).map(f64::from))).to_vec() };
    let error = draw(&many, &Request::parse("points x y ymin=e ymax=e").unwrap()).unwrap_err();
    assert!(matches!(error, PictureError::TooMany { what: "error bars", found: 20_001, .. }), "{error}");
}

#[test]
fn logarithmic_axes_have_powers_at_even_places_and_say_what_they_lack() {
    let table = Table {
        columns: vec![
            numbers("size", [1.0, 10.0, 100.0, 1000.0, 0.0, -5.0, 7.0]),
            numbers("seconds", [0.001, 0.01, 0.1, 1.0, 1.0, 1.0, 0.0]),
        ],
    };
    for kind in ["points", "lines"] {
        let drawn = picture(&table, &format!("{kind} size seconds x_scale=log y_scale=log xline=10"));
        assert_eq!(
            drawn.notes,
            [
                "Left out: 2 rows whose size is zero or less, which a logarithmic axis does not have.",
                "Left out: 1 row whose seconds is zero or less, which a logarithmic axis does not have.",
            ]
        );
        assert!(drawn.svg.contains("Left out: 2 rows"));
        let dots = of_class(&drawn, "circle", "mark");
        let steps = |axis: &str| -> Vec<f64> {
            dots.windows(2).map(|pair| place(&pair[1], axis) - place(&pair[0], axis)).collect()
        };
        assert_eq!(dots.len(), 4);
        for axis in ["cx", "cy"] {
            assert!(steps(axis).windows(2).all(|pair| (pair[0] - pair[1]).abs() < 0.02), "{kind}: {:?}", steps(axis));
        }
        let line = &of_class(&drawn, "line", "reference")[0];
        assert_eq!(line["x1"], dots[1]["cx"]);
    }
    let boxes = picture(&table, "boxes y=seconds y_scale=log");
    assert_eq!(marks(&boxes.svg).len(), 1);
    assert_eq!(boxes.notes.len(), 1);
    // An error bar that begins below: to the axis.
    let table = Table {
        columns: vec![
            numbers("x", [1.0, 2.0]),
            numbers("y", [10.0, 100.0]),
            numbers("low", [-1.0, 50.0]),
            numbers("high", [20.0, 200.0]),
        ],
    };
    let drawn = picture(&table, "points x y ymin=low ymax=high y_scale=log");
    assert_eq!(drawn.notes, ["1 row whose low is zero or less: the span reaches to the axis."]);
    let axis = elements(&drawn.svg, "line").into_iter().find(|(a, _)| a["stroke"] == "#888").unwrap().0;
    assert_eq!(of_class(&drawn, "line", "span")[0]["y1"], axis["y1"]);
    let error = vega_lite(&table, &Request::parse("points x y ymin=low ymax=high y_scale=log").unwrap()).unwrap_err();
    assert!(error.to_string().contains("low is zero or less, which Vega-Lite's logarithmic axis"), "{error}");
    // Nothing to draw at all.
    let table = Table { columns: vec![numbers("x", [0.0]), numbers("y", [1.0])] };
    let drawn = picture(&table, "points x y x_scale=log");
    assert_eq!((marks(&drawn.svg).len(), drawn.notes.len()), (0, 1));
}

#[test]
fn reference_lines_are_on_the_axis_wherever_the_rows_are() {
    for request in ["points size accuracy", "lines size accuracy", "histogram accuracy", "curvature accuracy"] {
        let drawn = picture(&spans(), &format!("{request} xline='-3,7' yline=9"));
        let lines = of_class(&drawn, "line", "reference");
        assert_eq!(lines.len(), 3, "{request}");
        let axis = elements(&drawn.svg, "line").into_iter().find(|(a, _)| a["stroke"] == "#888").unwrap().0;
        let inside = |line: &std::collections::HashMap<String, String>| {
            place(line, "x1") >= place(&axis, "x1") && place(line, "x2") <= place(&axis, "x2")
        };
        assert!(lines.iter().all(inside), "{request}");
        assert!(place(&lines[0], "x1") < place(&lines[1], "x1"));
    }
    assert_eq!(of_class(&picture(&spans(), "boxes model accuracy yline=-2"), "line", "reference").len(), 1);
}

#[test]
fn axes_are_named_as_the_request_says() {
    let drawn = picture(&ranks(), "bars regime accuracy model xlabel='Regime of <curvature>' ylabel=''");
    assert!(drawn.svg.contains(">Regime of &lt;curvature&gt;</text>") && !drawn.svg.contains(">accuracy</text>"));
    for request in
        ["bump", "heatmap regime model accuracy", "boxes regime accuracy", "histogram accuracy", "lines rank accuracy"]
    {
        let drawn = picture(&ranks(), &format!("{request} xlabel=across ylabel=upwards"));
        assert!(drawn.svg.contains(">across</text>") && drawn.svg.contains(">upwards</text>"), "{request}");
    }
}

#[test]
fn each_value_of_facet_has_a_panel_with_the_same_axes() {
    for (request, name) in [
        ("points rank accuracy color=model", "circle"),
        ("lines rank accuracy", "circle"),
        ("bars model accuracy", "rect"),
        ("bars model", "rect"),
        ("histogram accuracy", "rect"),
        ("boxes model accuracy", "rect"),
    ] {
        let drawn = picture(&ranks(), &format!("{request} facet=regime xlabel=across"));
        let panels = of_class(&drawn, "text", "panel");
        let middles: Vec<f64> = panels.iter().map(|panel| place(panel, "x")).collect();
        assert_eq!(panels.len(), 3, "{request}");
        assert_eq!(drawn.svg.matches(">across</text>").count(), 1, "{request}");
        let found = marks(&drawn.svg);
        assert_eq!(found.len(), of_class(&drawn, name, "mark").len(), "{request}");
        assert!(found.len() >= 9 || request.starts_with("histogram"), "{request}: {}", found.len());
        for (mark, title) in of_class(&drawn, name, "mark").iter().zip(&found) {
            let x = if name == "rect" { place(mark, "x") + place(mark, "width") / 2.0 } else { place(mark, "cx") };
            let distance = |panel: &usize| (middles[*panel] - x).abs() as u64;
            let nearest = (0..3).min_by_key(distance).unwrap();
            assert!(
                title.contains(["regime: negative", "regime: positive", "regime: mixed"][nearest]),
                "{request}: {title}"
            );
        }
    }
    // The same value at the same height in each panel.
    let table = Table {
        columns: vec![
            texts("part", &[Some("a"), Some("a"), Some("b"), None]),
            numbers("x", [1.0, 2.0, 1.0, 1.0]),
            numbers("y", [5.0, 9.0, 5.0, 5.0]),
        ],
    };
    let drawn = picture(&table, "points x y facet=part yline=5");
    let dots = of_class(&drawn, "circle", "mark");
    assert!(dots[0]["cy"] == dots[2]["cy"] && dots[0]["cy"] == dots[3]["cy"] && dots[0]["cy"] != dots[1]["cy"]);
    assert_eq!(of_class(&drawn, "line", "reference").len(), 3);
    assert!(drawn.svg.contains(">NULL</text>"));
    assert!(picture(&table, "points x y facet=x").svg.contains(">x: 2</text>"), "a number alone says little");
    let many = Table { columns: vec![numbers("x", (0..37).map(f64::from)), numbers("y", (0..37).map(f64::from))] };
    let error = refused(&many, "points x y facet=x");
    assert!(error.contains("points would draw 37 panels, and at most 36 can be told apart"), "{error}");
}

#[test]
fn specifications_say_the_same() {
    let spec = specification(&spans(), "points size accuracy ymin=low ymax=high x_scale=log xlabel=Size yline=0.5");
    let layers = spec["layer"].as_array().unwrap();
    assert_eq!(layers.len(), 3);
    assert_eq!(
        (&layers[0]["mark"]["type"], &layers[0]["encoding"]["y"]["field"], &layers[0]["encoding"]["y2"]["field"]),
        (&json!("rule"), &json!("low"), &json!("high"))
    );
    let x = &layers[1]["encoding"]["x"];
    assert_eq!((&x["scale"]["type"], &x["title"], &x["field"]), (&json!("log"), &json!("Size"), &json!("size")));
    assert_eq!(layers[2]["encoding"]["y"]["datum"], 0.5);
    assert_eq!(spec["transform"], json!([{ "filter": { "field": "size", "gt": 0 } }]));
    assert_eq!(spec["title"]["text"], json!(["Without an error bar: 1 row without low or high."]));
    let bars = specification(&spans(), "bars model accuracy ymin=low ymax=high");
    assert_eq!((&bars["layer"][0]["mark"]["type"], &bars["layer"][1]["mark"]["type"]), (&json!("bar"), &json!("rule")));
    let lines = specification(&spans(), "lines size accuracy ymin=low ymax=high");
    assert_eq!(
        (&lines["layer"][0]["mark"]["type"], &lines["layer"][1]["mark"]["point"]),
        (&json!("area"), &json!(true))
    );
    let faceted = specification(&ranks(), "lines rank accuracy model facet=regime width=900 title=Ranks");
    assert_eq!(
        (&faceted["facet"]["field"], &faceted["columns"], &faceted["title"]),
        (&json!("regime"), &json!(3), &json!("Ranks"))
    );
    assert_eq!((&faceted["spec"]["width"], &faceted["spec"]["mark"]["type"]), (&json!(300), &json!("line")));
    assert_eq!(faceted["facet"]["sort"], json!(["negative", "positive", "mixed"]));
    let titled = specification(&spans(), "points size accuracy ymin=low ymax=high title=T");
    assert_eq!((&titled["title"]["text"], titled["title"]["subtitle"].as_array().unwrap().len()), (&json!("T"), 1));
    assert_eq!(faceted["spec"]["encoding"]["strokeDash"]["field"], "model");
    let histogram = specification(&ranks(), "histogram accuracy ylabel=''");
    assert_eq!(
        (&histogram["encoding"]["y"]["aggregate"], &histogram["encoding"]["y"]["title"]),
        (&json!("count"), &Value::Null)
    );
    // What drawing refuses.
    let error = vega_lite(&ranks(), &Request::parse("bars regime accuracy color=regime").unwrap()).unwrap_err();
    assert!(matches!(error, PictureError::Repeated { .. }), "{error}");
}
