//! Writes a picture of every kind into a folder, to be looked at: `gallery FOLDER`.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "an example fails by a panic")]

use std::f64::consts::TAU;

use bonnet_pictures::{Column, Request, Table, Values, draw};

fn texts(name: &str, values: impl IntoIterator<Item = String>) -> Column {
    let values: Vec<String> = values.into_iter().collect();
    Column::new(name, Values::texts(values.iter().map(|v| Some(v.as_str()))))
}

fn numbers(name: &str, values: impl IntoIterator<Item = f64>) -> Column {
    Column::new(name, Values::Numbers(values.into_iter().collect()))
}

/// Noise in 0..1 that is the same every time.
fn noise(i: usize) -> f64 {
    ((i as f64 * 12.9898).sin() * 43_758.545_3).rem_euclid(1.0)
}

fn gaussian(i: usize) -> f64 {
    (-2.0 * noise(2 * i).max(1e-9).ln()).sqrt() * (TAU * noise(2 * i + 1)).cos()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("give a folder")?;
    let models = ["gcn", "gat", "graphsage", "mlp", "h2gcn"];
    let strata = ["negative", "near zero", "positive", "mixed"];
    let cross = || (0..20).map(|i| (models[i % 5].to_owned(), strata[i / 5].to_owned(), i));
    let table = Table {
        columns: vec![
            texts("regime", cross().map(|(_, stratum, _)| stratum)),
            texts("model", cross().map(|(model, _, _)| model)),
            numbers("rank", (0..20).map(|i| ((i * 7 + i / 5 * 3) % 5 + 1) as f64)),
            numbers("accuracy", (0..20).map(|i| 0.5 + 0.4 * noise(i))),
            numbers("gain", (0..20).map(|i| noise(i + 50) - 0.4)),
        ],
    };
    let single = Table {
        columns: vec![texts("model", models.map(str::to_owned)), numbers("accuracy", [0.81, 0.79, 0.8345, 0.57, 0.77])],
    };
    let long = Table {
        columns: vec![
            texts("data set", (0..14).map(|i| format!("a data set with a long name {i}"))),
            numbers("mean curvature", (0..14).map(|i| noise(i) - 0.5)),
        ],
    };
    let many = Table {
        columns: vec![
            texts("model", (0..600).map(|i| models[i % 5].to_owned())),
            numbers("epoch", (0..600).map(|i| (i / 5) as f64)),
            numbers(
                "loss",
                (0..600).map(|i| (-((i / 5) as f64) / (20.0 + 10.0 * (i % 5) as f64)).exp() + 0.02 * noise(i)),
            ),
            numbers("value", (0..600).map(|i| gaussian(i) * (1.0 + 0.2 * (i % 5) as f64) + (i % 5) as f64)),
        ],
    };
    let cloud = Table {
        columns: vec![
            numbers("x", (0..60_000).map(gaussian)),
            numbers("y", (0..60_000).map(|i| gaussian(i) * 0.5 + gaussian(i + 77_777))),
        ],
    };
    let times = Table {
        columns: vec![
            Column::new("day", Values::Times((0..300).map(|i| 1.7e9 + 86_400.0 * f64::from(i)).collect())),
            numbers("edges", (0..300).map(|i| 1000.0 + 900.0 * (i as f64 / 40.0).sin() + 100.0 * noise(i))),
        ],
    };
    let edges: Vec<(usize, usize)> = (0..90)
        .map(|i| (i % 40, (i * 7 + i / 40 * 3 + 1) % 40))
        .filter(|(a, b)| a / 10 == b / 10 || (a + b) % 9 == 0)
        .chain((0..39).map(|i| (i, i + 1)))
        .collect();
    let n = edges.len();
    let graph = Table {
        columns: vec![
            numbers("src", edges.iter().map(|e| e.0 as f64).chain((0..40).map(f64::from))),
            numbers("dst", edges.iter().map(|e| e.1 as f64).chain([f64::NAN; 40])),
            numbers("curvature", (0..n + 40).map(|i| noise(i) - 0.6)),
            texts("label", (0..n + 40).map(|i| format!("class {}", i.saturating_sub(n) / 10))),
        ],
    };
    let diagram = Table {
        columns: vec![
            numbers("dim", (0..60).map(|i| f64::from(u8::from(i > 35)))),
            numbers("birth", (0..60).map(|i| if i < 20 { 0.0 } else { noise(i) })),
            numbers(
                "death",
                (0..60).map(|i| {
                    if i == 3 || i == 50 {
                        f64::INFINITY
                    } else {
                        0.0 + if i < 20 { 0.0 } else { noise(i) } + noise(i + 99).powi(2)
                    }
                }),
            ),
        ],
    };
    let tents = [(0.0, 4.0), (1.0, 6.0), (3.0, 5.0), (5.0, 8.0)];
    let tent = |b: f64, d: f64, x: f64| (x - b).min(d - x).max(0.0);
    let corners: Vec<(usize, f64, f64)> = (0..3)
        .flat_map(|k| {
            (0..33).map(move |i| {
                let x = f64::from(i) / 4.0;
                let mut heights: Vec<f64> = tents.iter().map(|&(b, d)| tent(b, d, x)).collect();
                heights.sort_by(|a, b| b.total_cmp(a));
                (k, x, heights[k])
            })
        })
        .collect();
    let landscape = Table {
        columns: vec![
            numbers("k", corners.iter().map(|c| c.0 as f64 + 1.0)),
            numbers("x", corners.iter().map(|c| c.1)),
            numbers("y", corners.iter().map(|c| c.2)),
        ],
    };
    let curvature = Table { columns: vec![numbers("curvature", (0..400).map(|i| 0.03 * gaussian(i) - 0.012))] };
    let disk = Table {
        columns: vec![
            numbers(
                "x",
                (0..150)
                    .map(|i| (gaussian(i) * 0.2 + (i % 5) as f64 / 2.0).tanh() * (TAU * (i % 5) as f64 / 5.0).cos()),
            ),
            numbers(
                "y",
                (0..150).map(|i| {
                    (gaussian(i) * 0.2 + (i % 5) as f64 / 2.0).tanh() * (TAU * (i % 5) as f64 / 5.0).sin() * 0.9
                }),
            ),
            texts("label", (0..150).map(|i| format!("class {}", i % 5))),
        ],
    };
    let torus: Vec<String> = (0..7)
        .flat_map(|i| [[i, (i + 1) % 7, (i + 3) % 7], [i, (i + 2) % 7, (i + 3) % 7]])
        .map(|t| format!("{t:?}"))
        .collect();
    let grid = (0..12).flat_map(|i| (0..6).map(move |j| (i, j)));
    let large: Vec<String> = grid
        .flat_map(|(i, j)| {
            let at = |i: usize, j: usize| i % 12 * 6 + j % 6;
            [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)]]
        })
        .map(|t| format!("{t:?}"))
        .collect();
    let surface = Table { columns: vec![texts("facets", [format!("[{}]", torus.join(","))])] };
    let mesh = Table { columns: vec![texts("facets", [format!("[{}]", large.join(","))])] };
    let deviation = |sign: f64| (0..20).map(move |i| 0.5 + 0.4 * noise(i) + sign * (0.02 + 0.05 * noise(i + 30)));
    let mut spread = table.clone();
    spread.columns.extend([numbers("low", deviation(-1.0)), numbers("high", deviation(1.0))]);
    let mut ribbon = many.clone();
    let loss = ribbon.columns[2].clone();
    if let Values::Numbers(values) = loss.values {
        ribbon.columns.push(numbers("low", values.iter().map(|value| value * 0.85)));
        ribbon.columns.push(numbers("high", values.iter().map(|value| value * 1.2 + 0.02)));
    }
    let sizes = Table {
        columns: vec![
            numbers("nodes", (0..60).map(|i| 10f64.powf(1.0 + 5.0 * noise(i)))),
            numbers("seconds", (0..60).map(|i| 10f64.powf(-3.0 + 5.0 * noise(i) + 0.4 * gaussian(i + 9)))),
        ],
    };
    let pictures = [
        ("bars_errors", &spread, "bars regime accuracy model ymin=low ymax=high ylabel='test accuracy' yline=0.5"),
        ("bars_lying_errors", &spread, "bars regime accuracy model ymin=low ymax=high width=320 facet=model"),
        ("points_errors", &spread, "points model accuracy regime ymin=low ymax=high facet=regime"),
        ("lines_ribbon", &ribbon, "lines epoch loss model ymin=low ymax=high"),
        ("lines_log", &many, "lines epoch loss model y_scale=log width=320 height=260"),
        ("lines_facets", &ribbon, "lines epoch loss ymin=low ymax=high facet=model yline=0.1 y_scale=log"),
        ("lines_names", &table, "lines regime accuracy model"),
        ("points_log", &sizes, "points nodes seconds x_scale=log y_scale=log xline=1000 xlabel='number of nodes'"),
        ("boxes_facets", &many, "boxes model value facet=model"),
        ("histogram_facets", &many, "histogram value facet=model xline=0 width=400"),
        ("bars_narrow", &long, "bars width=320"),
        ("cd", &table, "cd regime accuracy model title='Five models on four data sets'"),
        ("diagram", &diagram, ""),
        ("barcode", &diagram, "barcode"),
        ("landscape", &landscape, ""),
        ("curvature", &curvature, ""),
        ("graph", &graph, "graph color=curvature node_color=label"),
        ("graph_plain", &graph, "graph seed=3"),
        ("disk", &disk, "disk"),
        ("surface", &surface, ""),
        ("mesh", &mesh, "surface seed=2"),
        ("bars", &single, "bars title='Accuracy of five models'"),
        ("bars_grouped", &table, "bars regime accuracy model"),
        ("bars_lying", &long, "bars"),
        ("bars_counts", &table, "bars regime"),
        ("points", &many, "points epoch value model"),
        ("points_ramp", &many, "points epoch loss value"),
        ("points_names", &table, "points model accuracy regime"),
        ("squares", &cloud, "points"),
        ("lines", &many, "lines epoch loss model title='Training loss'"),
        ("lines_time", &times, ""),
        ("boxes", &many, "boxes model value"),
        ("boxes_one", &cloud, "boxes y=y"),
        ("boxes_color", &table, "boxes regime accuracy regime"),
        ("histogram", &many, "histogram value"),
        ("histogram_stacked", &many, "histogram value color=model"),
        ("heatmap", &table, "heatmap regime model gain"),
        ("heatmap_positive", &table, "heatmap model regime accuracy"),
        ("bump", &table, "bump title='Ranks by regime'"),
    ];
    for (name, table, request) in pictures {
        let picture = draw(table, &Request::parse(request)?)?;
        std::fs::write(format!("{folder}/{name}.svg"), picture.svg)?;
    }
    Ok(())
}
