//! Diagrams, landscapes and distances of random graphs against GUDHI's, as `benches/peers/gudhi_fixtures.py` stored them.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

use std::str::FromStr;

use bonnet_graph::Unmonitored;
use bonnet_persistence::{
    Complex, FiltrationOptions, Landscape, Point, Vertices, bottleneck_distance, persistence_diagram,
    persistence_landscape, wasserstein_distance,
};

const FACTS: &str = include_str!("gudhi.txt");

/// A line's fields after its first word.
struct Fields<'a>(Vec<&'a str>);

impl Fields<'_> {
    fn at<T: FromStr>(&self, i: usize) -> T {
        self.0[i].parse().unwrap_or_else(|_| panic!("field {i} of {:?}", self.0))
    }
}

fn facts(kind: &'static str) -> impl Iterator<Item = Fields<'static>> {
    FACTS.lines().filter_map(move |line| {
        let mut words = line.split(' ');
        (words.next() == Some(kind)).then(|| Fields(words.collect()))
    })
}

struct Case {
    n: usize,
    options: FiltrationOptions,
    edges: Vec<(u32, u32)>,
    values: Vec<f64>,
    points: Vec<Point>,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in FACTS.lines() {
        let mut words = line.split(' ');
        let kind = words.next();
        let fields = Fields(words.collect());
        match kind {
            Some("graph") => {
                let complex = if fields.0[1] == "1" { Complex::Graph } else { Complex::Triangles };
                let vertices = match fields.0[2] {
                    "first_edge" => Vertices::FirstEdge,
                    "lowest" => Vertices::Lowest,
                    _ => Vertices::At(fields.at(2)),
                };
                cases.push(Case {
                    n: fields.at(0),
                    options: FiltrationOptions { complex, vertices, ..Default::default() },
                    edges: Vec::new(),
                    values: Vec::new(),
                    points: Vec::new(),
                });
            }
            Some("edge") => {
                let case = cases.last_mut().unwrap();
                case.edges.push((fields.at(0), fields.at(1)));
                case.values.push(fields.at(2));
            }
            Some("point") => {
                let point = Point { dim: fields.at(0), birth: fields.at(1), death: fields.at(2) };
                cases.last_mut().unwrap().points.push(point);
            }
            _ => {}
        }
    }
    cases
}

/// The value of lambda_k, k from 1, by interpolation.
fn value(landscape: &Landscape, k: usize, t: f64) -> f64 {
    let piece = landscape.function(k - 1).windows(2).find(|pair| pair[0].0 <= t && t <= pair[1].0);
    piece.map_or(0.0, |pair| {
        let width = pair[1].0 - pair[0].0;
        if width == 0.0 { pair[0].1 } else { pair[0].1 + (pair[1].1 - pair[0].1) * (t - pair[0].0) / width }
    })
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-12 * (1.0 + a.abs())
}

#[test]
fn diagrams_are_those_of_gudhi_to_the_last_bit() {
    let cases = cases();
    assert_eq!(cases.len(), 18);
    for (i, case) in cases.iter().enumerate() {
        let points = persistence_diagram(case.n, &case.edges, &case.values, &case.options, &Unmonitored).unwrap();
        assert_eq!(points, case.points, "graph {i}");
        assert!(!points.is_empty());
    }
}

#[test]
fn landscapes_are_those_of_gudhi_without_its_factor() {
    let cases = cases();
    let mut count = 0;
    for fact in facts("landscape") {
        let points = &cases[fact.at::<usize>(0)].points;
        let landscape = persistence_landscape(points, fact.at(1), None, None, &Unmonitored).unwrap();
        let (k, t, expected): (usize, f64, f64) = (fact.at(2), fact.at(3), fact.at(4));
        let found = value(&landscape, k, t);
        assert!(close(found, expected), "graph {} lambda_{k}({t}): {found} for {expected}", fact.0[0]);
        count += usize::from(expected > 0.0);
    }
    assert!(count > 500, "{count} values that are not 0");
}

#[test]
fn bottleneck_distances_are_those_of_gudhi() {
    let cases = cases();
    let mut finite = 0;
    for fact in facts("bottleneck") {
        let (a, b) = (&cases[fact.at::<usize>(0)].points, &cases[fact.at::<usize>(1)].points);
        let expected: f64 = fact.at(3);
        let found = bottleneck_distance(a, b, Some(fact.at(2)), &Unmonitored).unwrap();
        assert!(close(found, expected), "{:?}: {found} for {expected}", fact.0);
        finite += usize::from(expected.is_finite() && expected > 0.0);
    }
    assert!(finite > 80, "{finite} distances that are finite and not 0");
}

#[test]
fn wasserstein_distances_are_those_of_gudhi() {
    let cases = cases();
    let mut finite = 0;
    for fact in facts("wasserstein") {
        let (a, b) = (&cases[fact.at::<usize>(0)].points, &cases[fact.at::<usize>(1)].points);
        let expected: f64 = fact.at(4);
        let found = wasserstein_distance(a, b, fact.at(3), Some(fact.at(2)), &Unmonitored).unwrap();
        // GUDHI's sum is over a dense matrix of costs.
        assert!(found == expected || (found - expected).abs() < 1e-9, "{:?}: {found} for {expected}", fact.0);
        finite += usize::from(expected.is_finite() && expected > 0.0);
    }
    assert!(finite > 200, "{finite} distances that are finite and not 0");
}
