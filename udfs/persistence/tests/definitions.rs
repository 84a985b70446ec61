//! Everything against its definition, taken literally and slowly.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

use bonnet_graph::{Graph, Unmonitored};
use bonnet_persistence::{
    Complex, Direction, Essential, Exponent, FiltrationError, FiltrationOptions, Landscape, Point, Vertices,
    betti_curve, bottleneck_distance, landscape_distance, landscape_mean, landscape_norm, permutation_test,
    persistence_diagram, persistence_landscape, vertex_persistence_diagram, wasserstein_distance,
};
use proptest::prelude::*;

/// The reduction of the boundary matrix, column by column, over simplices in the order of value and dimension.
fn by_matrix(mut simplices: Vec<(f64, Vec<u32>)>, n: usize) -> Vec<Point> {
    simplices.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(&b.1)));
    let place = |simplex: &[u32]| simplices.iter().position(|other| other.1 == simplex).unwrap();
    let mut columns: Vec<Vec<usize>> = Vec::new();
    let mut owner: Vec<Option<usize>> = vec![None; simplices.len()];
    let mut points = Vec::new();
    for (j, (value, simplex)) in simplices.iter().enumerate() {
        let mut column: Vec<usize> = Vec::new();
        if simplex.len() > 1 {
            for skip in 0..simplex.len() {
                let face: Vec<u32> = simplex.iter().enumerate().filter(|&(i, _)| i != skip).map(|(_, &v)| v).collect();
                column.push(place(&face));
            }
        }
        column.sort_unstable();
        while let Some(&low) = column.last() {
            let Some(other) = owner[low] else { break };
            let sum: Vec<usize> = columns[other]
                .iter()
                .chain(&column)
                .copied()
                .filter(|i| columns[other].contains(i) != column.contains(i))
                .collect();
            column = sum;
            column.sort_unstable();
        }
        if let Some(&low) = column.last() {
            owner[low] = Some(j);
            let (birth, face) = &simplices[low];
            if birth < value && face.len() < 3 {
                points.push(Point { dim: face.len() as u32 - 1, birth: *birth, death: *value });
            }
        }
        columns.push(column);
    }
    for (j, (birth, simplex)) in simplices.iter().enumerate() {
        if columns[j].is_empty() && simplex.len() < 3 && !owner.contains(&Some(j)) && owner[j].is_none() {
            points.push(Point { dim: simplex.len() as u32 - 1, birth: *birth, death: f64::INFINITY });
        }
    }
    assert!(n > 0 || points.is_empty());
    sorted(points)
}

fn sorted(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.dim.cmp(&b.dim).then(a.birth.total_cmp(&b.birth)).then(a.death.total_cmp(&b.death)));
    points
}

/// All simplices of the filtration: vertices, edges, and the triangles of a clique complex.
fn simplices(n: usize, edges: &[(u32, u32)], births: &[f64], values: &[f64], triangles: bool) -> Vec<(f64, Vec<u32>)> {
    let value = |u: u32, v: u32| {
        let at = edges.iter().position(|&(a, b)| (a.min(b), a.max(b)) == (u, v));
        at.map(|i| values[i])
    };
    let mut all = Vec::new();
    for u in 0..n as u32 {
        if births[u as usize].is_finite() {
            all.push((births[u as usize], vec![u]));
        }
        for v in u + 1..n as u32 {
            let Some(uv) = value(u, v) else { continue };
            all.push((uv, vec![u, v]));
            for w in v + 1..n as u32 {
                if let (true, Some(uw), Some(vw)) = (triangles, value(u, w), value(v, w)) {
                    all.push((uv.max(uw).max(vw), vec![u, v, w]));
                }
            }
        }
    }
    all
}

/// The definition of `persistence_diagram` without options of direction and essential classes.
fn literal(n: usize, edges: &[(u32, u32)], values: &[f64], options: &FiltrationOptions) -> Vec<Point> {
    let births: Vec<f64> = (0..n as u32)
        .map(|v| {
            let own = edges.iter().zip(values).filter(|((a, b), _)| (*a == v || *b == v) && a != b);
            let first = own.map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
            let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
            match options.vertices {
                Vertices::FirstEdge => first,
                Vertices::Lowest => lowest,
                Vertices::At(value) => first.min(value),
            }
        })
        .collect();
    by_matrix(simplices(n, edges, &births, values, options.complex == Complex::Triangles), n)
}

/// A graph on 9 nodes: the bits of the pairs that are edges, and a value for each pair.
fn graphs() -> impl Strategy<Value = (Vec<(u32, u32)>, Vec<f64>)> {
    let pairs: Vec<(u32, u32)> = (0..9).flat_map(|u| (u + 1..9).map(move |v| (u, v))).collect();
    (proptest::collection::vec((any::<bool>(), 0..6i32, -1.0..1.0f64), pairs.len()), any::<bool>()).prop_map(
        move |(drawn, whole)| {
            let chosen = pairs.iter().zip(drawn).filter(|(_, (is_edge, _, _))| *is_edge);
            // Whole values make ties.
            chosen.map(|(&pair, (_, step, value))| (pair, if whole { f64::from(step) } else { value })).unzip()
        },
    )
}

fn options() -> impl Strategy<Value = FiltrationOptions> {
    (
        prop_oneof![Just(Complex::Graph), Just(Complex::Triangles)],
        prop_oneof![Just(Vertices::FirstEdge), Just(Vertices::Lowest), Just(Vertices::At(0.25))],
    )
        .prop_map(|(complex, vertices)| FiltrationOptions { complex, vertices, ..Default::default() })
}

fn diagram(n: usize, edges: &[(u32, u32)], values: &[f64], options: &FiltrationOptions) -> Vec<Point> {
    persistence_diagram(n, edges, values, options, &Unmonitored).unwrap()
}

/// Small diagrams of dimension 0, with some infinite deaths.
fn diagrams() -> impl Strategy<Value = Vec<Point>> {
    let point = (0..8i32, 0..6i32, 0..8u32).prop_map(|(birth, length, kind)| {
        let birth = f64::from(birth) / 4.0;
        let death = if kind == 0 { f64::INFINITY } else { birth + f64::from(length) / 8.0 };
        Point { dim: 0, birth, death }
    });
    proptest::collection::vec(point, 0..6)
}

/// The cost of all matchings of two small diagrams: `add` combines the distances of a matching.
fn best_matching(a: &[Point], b: &[Point], add: &dyn Fn(f64, f64) -> f64) -> f64 {
    let diagonal = |point: &Point| (point.death - point.birth).abs() / 2.0;
    let Some((first, rest)) = a.split_first() else {
        return b.iter().map(diagonal).fold(0.0, add);
    };
    let mut best = add(diagonal(first), best_matching(rest, b, add));
    for j in 0..b.len() {
        let mut others = b.to_vec();
        let other = others.remove(j);
        let far = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).abs() };
        let distance = far(first.birth, other.birth).max(far(first.death, other.death));
        best = best.min(add(distance, best_matching(rest, &others, add)));
    }
    best
}

fn height(points: &[Point], cap: f64, k: usize, t: f64) -> f64 {
    let mut heights: Vec<f64> = points.iter().map(|p| (t - p.birth).min(p.death.min(cap) - t).max(0.0)).collect();
    heights.sort_by(|a, b| b.total_cmp(a));
    heights.get(k).copied().unwrap_or(0.0)
}

fn value(corners: &[(f64, f64)], t: f64) -> f64 {
    let piece = corners.windows(2).find(|pair| pair[0].0 <= t && t <= pair[1].0 && pair[0].0 < pair[1].0);
    piece.map_or(0.0, |pair| pair[0].1 + (pair[1].1 - pair[0].1) * (t - pair[0].0) / (pair[1].0 - pair[0].0))
}

fn landscape(points: &[Point]) -> Landscape {
    persistence_landscape(points, 0, None, None, &Unmonitored).unwrap()
}

fn p(value: f64) -> Exponent {
    Exponent::new(value).unwrap()
}

proptest! {
    #[test]
    fn diagrams_are_those_of_the_boundary_matrix((edges, values) in graphs(), options in options()) {
        prop_assert_eq!(diagram(9, &edges, &values, &options), literal(9, &edges, &values, &options));
    }

    #[test]
    fn vertices_filter_as_the_boundary_matrix_says(
        (edges, _) in graphs(), values in proptest::collection::vec(0..5i32, 9), options in options(),
    ) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let graph = Graph::from_edges(9, &edges);
        let found = vertex_persistence_diagram(&graph, &values, &options, &Unmonitored).unwrap();
        let of_edges: Vec<f64> = edges.iter().map(|&(u, v)| values[u as usize].max(values[v as usize])).collect();
        let all = simplices(9, &edges, &values, &of_edges, options.complex == Complex::Triangles);
        prop_assert_eq!(found, by_matrix(all, 9));
    }

    #[test]
    fn rows_may_come_in_any_order_and_turned_round((edges, values) in graphs(), options in options()) {
        let turned: Vec<(u32, u32)> = edges.iter().rev().chain(&edges).map(|&(u, v)| (v, u)).collect();
        let twice: Vec<f64> = values.iter().rev().chain(&values).copied().collect();
        prop_assert_eq!(diagram(9, &turned, &twice, &options), diagram(9, &edges, &values, &options));
    }

    #[test]
    fn a_superlevel_filtration_is_that_of_the_values_with_a_minus_sign((edges, values) in graphs(), options in options()) {
        let vertices = match options.vertices {
            Vertices::At(value) => Vertices::At(-value),
            other => other,
        };
        let down = FiltrationOptions { direction: Direction::Superlevel, vertices, ..options };
        let negated: Vec<f64> = values.iter().map(|value| -value).collect();
        let mut expected = diagram(9, &edges, &negated, &options);
        expected.iter_mut().for_each(|point| (point.birth, point.death) = (0.0 - point.birth, 0.0 - point.death));
        prop_assert_eq!(diagram(9, &edges, &values, &down), sorted(expected));
    }

    #[test]
    fn essential_classes_are_as_many_as_betti_numbers_and_are_cut_or_dropped(
        (edges, values) in graphs(), options in options(),
    ) {
        let all = diagram(9, &edges, &values, &options);
        let last = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let last = all.iter().map(|point| point.birth).fold(last, f64::max);
        let max = diagram(9, &edges, &values, &FiltrationOptions { essential: Essential::Max, ..options });
        let mut expected: Vec<Point> =
            all.iter().map(|point| Point { death: point.death.min(last), ..*point }).collect();
        expected.retain(|point| point.birth < point.death);
        prop_assert_eq!(max, sorted(expected));
        let drop = diagram(9, &edges, &values, &FiltrationOptions { essential: Essential::Drop, ..options });
        let finite: Vec<Point> = all.iter().copied().filter(|point| point.death.is_finite()).collect();
        prop_assert_eq!(drop, finite);
        // Euler: vertices - edges = components - cycles, on the graph alone.
        let graph = FiltrationOptions { complex: Complex::Graph, ..options };
        let graph = diagram(9, &edges, &values, &graph);
        let seen = (0..9).filter(|v| edges.iter().any(|(a, b)| a == v || b == v)).count();
        let seen = if options.vertices == Vertices::FirstEdge || edges.is_empty() && options.vertices == Vertices::Lowest {
            seen
        } else {
            9
        };
        let euler = betti_curve(&graph, 0, 1e300) as i64 - betti_curve(&graph, 1, 1e300) as i64;
        prop_assert_eq!(euler, seen as i64 - edges.len() as i64);
    }

    #[test]
    fn stability_the_distance_is_at_most_the_largest_change_of_value(
        (edges, values) in graphs(), changes in proptest::collection::vec(-0.3..0.3f64, 36), options in options(),
    ) {
        let changed: Vec<f64> = values.iter().zip(&changes).map(|(value, change)| value + change).collect();
        let largest = values.iter().zip(&changed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let (a, b) = (diagram(9, &edges, &values, &options), diagram(9, &edges, &changed, &options));
        for dim in 0..2 {
            let distance = bottleneck_distance(&a, &b, Some(dim), &Unmonitored).unwrap();
            prop_assert!(distance <= largest + 1e-12, "{distance} > {largest}");
        }
    }

    #[test]
    fn distances_are_the_best_of_all_matchings(a in diagrams(), b in diagrams()) {
        let infinite = |points: &[Point]| points.iter().filter(|point| point.death.is_infinite()).count();
        let bottleneck = bottleneck_distance(&a, &b, None, &Unmonitored).unwrap();
        let by_p = |p| wasserstein_distance(&a, &b, p, None, &Unmonitored).unwrap();
        if infinite(&a) != infinite(&b) {
            prop_assert_eq!(bottleneck, f64::INFINITY);
            prop_assert_eq!(by_p(2.0), f64::INFINITY);
        } else {
            prop_assert_eq!(bottleneck, best_matching(&a, &b, &f64::max));
            for p in [1.0, 2.0, 3.5] {
                // `add` combines powers: the first of each pair is a distance.
                let add = move |distance: f64, rest: f64| (distance.powf(p) + rest.powf(p)).powf(1.0 / p);
                let expected = best_matching(&a, &b, &add);
                prop_assert!((by_p(p) - expected).abs() < 1e-12, "p = {}: {} for {}", p, by_p(p), expected);
            }
        }
        prop_assert_eq!(bottleneck_distance(&b, &a, None, &Unmonitored).unwrap(), bottleneck);
        prop_assert_eq!(bottleneck_distance(&a, &a, None, &Unmonitored).unwrap(), 0.0);
    }

    #[test]
    fn landscapes_are_the_largest_heights_of_tents(a in diagrams(), most in 0..4usize) {
        let values = a.iter().flat_map(|point| [point.birth, point.death]).filter(|value| value.is_finite());
        let cap = values.fold(f64::NEG_INFINITY, f64::max);
        let whole = landscape(&a);
        let some = persistence_landscape(&a, 0, None, Some(most), &Unmonitored).unwrap();
        prop_assert!(some.functions().eq(whole.functions().take(most)));
        for (k, corners) in whole.functions().enumerate() {
            prop_assert!(corners.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            prop_assert_eq!((corners[0].1, corners[corners.len() - 1].1), (0.0, 0.0));
            // Corners are no more than are needed.
            for three in corners.windows(3) {
                let [before, after] = [0, 1].map(|i| (three[i + 1].1 - three[i].1) / (three[i + 1].0 - three[i].0));
                prop_assert!(before != after, "{:?} in lambda_{}", three[1], k + 1);
            }
        }
        for k in 0..=whole.functions().len() {
            for t in 0..64 {
                let t = f64::from(t) / 16.0 - 0.5;
                let found = value(whole.function(k), t);
                prop_assert_eq!(found, height(&a, cap, k, t), "lambda_{}({})", k + 1, t);
            }
        }
    }

    #[test]
    fn norms_and_distances_are_integrals(a in diagrams(), b in diagrams()) {
        let (x, y) = (landscape(&a), landscape(&b));
        // Everything is linear between multiples of 1/32 or crosses 0 at one of 1/64.
        let grid: Vec<f64> = (-64..320).map(|i| f64::from(i) / 64.0).collect();
        let depth = x.functions().len().max(y.functions().len());
        let of = |it: &Landscape, k: usize, t: f64| value(it.function(k), t);
        for exponent in [1.0, 2.0, 3.0] {
            let mut integral = 0.0;
            for k in 0..depth {
                for pair in grid.windows(2) {
                    // Gauss's rule with three nodes is exact for these powers on a linear piece without change of sign.
                    let (middle, half) = ((pair[0] + pair[1]) / 2.0, (pair[1] - pair[0]) / 2.0);
                    for (node, weight) in [(-0.6f64.sqrt(), 5.0), (0.0, 8.0), (0.6f64.sqrt(), 5.0)] {
                        let t = middle + half * node;
                        integral += half * weight / 9.0 * (of(&x, k, t) - of(&y, k, t)).abs().powf(exponent);
                    }
                }
            }
            let expected = integral.powf(1.0 / exponent);
            let found = landscape_distance(&x, &y, p(exponent));
            prop_assert!((found - expected).abs() < 1e-9, "p = {exponent}: {found} for {expected}");
        }
        let supremum = (0..depth)
            .flat_map(|k| grid.iter().map(move |&t| (k, t)))
            .map(|(k, t)| (of(&x, k, t) - of(&y, k, t)).abs())
            .fold(0.0, f64::max);
        prop_assert_eq!(landscape_distance(&x, &y, Exponent::INFINITE), supremum);
        prop_assert_eq!(landscape_distance(&x, &x, p(2.0)), 0.0);
        // Between whole exponents a norm lies between those of its neighbours, and uses the general formula.
        let [low, middle, high] = [2.0, 2.000001, 2.5].map(|q| landscape_norm(&x, p(q)));
        prop_assert!((low - middle).abs() < 1e-5);
        prop_assert!(high >= 0.0);
    }

    #[test]
    fn means_are_means_in_any_order(samples in proptest::collection::vec(diagrams(), 1..70)) {
        let landscapes: Vec<Landscape> = samples.iter().map(|points| landscape(points)).collect();
        let mean = landscape_mean(&landscapes, &Unmonitored).unwrap().unwrap();
        let reversed: Vec<Landscape> = landscapes.iter().rev().cloned().collect();
        let backwards = landscape_mean(&reversed, &Unmonitored).unwrap().unwrap();
        prop_assert_eq!(&mean, &backwards);
        for (k, corners) in mean.functions().enumerate() {
            for t in 0..40 {
                let t = f64::from(t) / 8.0;
                let of = |it: &Landscape| value(it.function(k), t);
                let expected = landscapes.iter().map(of).sum::<f64>() / landscapes.len() as f64;
                prop_assert!((value(corners, t) - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_permutation_test_measures_the_distance_of_means(
        a in proptest::collection::vec(diagrams(), 1..6), b in proptest::collection::vec(diagrams(), 1..6),
    ) {
        for exponent in [p(1.0), p(2.0), p(3.0), Exponent::INFINITE] {
            let mean = |sample: &[Vec<Point>]| {
                let landscapes: Vec<Landscape> = sample.iter().map(|points| landscape(points)).collect();
                landscape_mean(&landscapes, &Unmonitored).unwrap().unwrap()
            };
            let expected = landscape_distance(&mean(&a), &mean(&b), exponent);
            let all: Vec<Vec<Point>> = a.iter().chain(&b).cloned().collect();
            let labels: Vec<bool> = (0..all.len()).map(|i| i < a.len()).collect();
            let test = permutation_test(all.clone(), &labels, exponent, 40, 3, &Unmonitored).unwrap();
            prop_assert!((test.distance - expected).abs() < 1e-9, "{} for {}", test.distance, expected);
            prop_assert!(test.share_above <= test.p_value && test.p_value <= 1.0);
            // Neither the order of the rows nor the number of threads matters.
            let backwards = all.iter().rev().cloned().collect();
            let labels: Vec<bool> = labels.into_iter().rev().collect();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let again =
                pool.install(|| permutation_test(backwards, &labels, exponent, 40, 3, &Unmonitored)).unwrap();
            prop_assert_eq!(test, again);
        }
    }
}

#[test]
fn a_permutation_test_of_two_against_two_sees_every_regrouping() {
    // One interval each, of lengths 1, 1 and 3, 3: of the three ways to halve the four, one has the observed distance
    // and two have distance 0.
    let of_length = |length: f64| vec![Point { dim: 1, birth: 0.0, death: length }];
    let diagrams = vec![of_length(1.0), of_length(1.0), of_length(3.0), of_length(3.0)];
    let labels = [true, true, false, false];
    let test = permutation_test(diagrams, &labels, p(1.0), 3000, 0, &Unmonitored).unwrap();
    // Areas 1/4 and 9/4.
    assert!((test.distance - 2.0).abs() < 1e-15, "{}", test.distance);
    assert_eq!(test.share_above, 0.0);
    assert!((test.p_value - 1.0 / 3.0).abs() < 0.03, "{}", test.p_value);
    let same = vec![of_length(1.0); 4];
    let test = permutation_test(same, &labels, p(2.0), 99, 0, &Unmonitored).unwrap();
    assert_eq!((test.distance, test.p_value, test.share_above), (0.0, 1.0, 0.0));
}

#[test]
fn a_single_tent_has_closed_forms() {
    let tent = landscape(&[Point { dim: 0, birth: 1.0, death: 5.0 }]);
    assert_eq!(tent.functions().collect::<Vec<_>>(), [[(1.0, 0.0), (3.0, 2.0), (5.0, 0.0)]]);
    // Area 4; integral of squares 2 * 8 / 3; of the p-th power 2 * 2^(p+1) / (p+1).
    assert!((landscape_norm(&tent, p(1.0)) - 4.0).abs() < 1e-15);
    assert!((landscape_norm(&tent, p(2.0)) - (16.0f64 / 3.0).sqrt()).abs() < 1e-15);
    for q in [1.5, 3.0, 7.25, 40.0, 400.0] {
        let expected = 2.0 * (4.0f64 / (q + 1.0)).powf(1.0 / q);
        let found = landscape_norm(&tent, p(q));
        assert!((found - expected).abs() < 1e-14 * expected, "p = {q}: {found} for {expected}");
    }
    assert_eq!(landscape_norm(&tent, Exponent::INFINITE), 2.0);
    assert_eq!(Exponent::new(0.5), None);
    assert_eq!(Exponent::new(f64::NAN), None);
}

#[test]
fn infinite_deaths_are_cut_at_the_cap_and_may_vanish() {
    let points = [
        Point { dim: 0, birth: 0.0, death: f64::INFINITY },
        Point { dim: 1, birth: 1.0, death: 2.0 },
        Point { dim: 1, birth: 2.0, death: f64::INFINITY },
    ];
    let of = |dim, cap| {
        let landscape = persistence_landscape(&points, dim, cap, None, &Unmonitored).unwrap();
        landscape.functions().map(<[_]>::to_vec).collect::<Vec<_>>()
    };
    assert_eq!(of(0, None), [[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]]);
    assert_eq!(of(0, Some(4.0)), [[(0.0, 0.0), (2.0, 2.0), (4.0, 0.0)]]);
    // Born at the cap; and a finite death is never cut.
    assert_eq!(of(1, Some(1.5)), [[(1.0, 0.0), (1.5, 0.5), (2.0, 0.0)]]);
    assert!(of(2, None).is_empty());
    // Along a superlevel filtration, the cut is below.
    let down = [Point { dim: 0, birth: 3.0, death: f64::NEG_INFINITY }, Point { dim: 0, birth: 2.0, death: 1.0 }];
    let cut = persistence_landscape(&down, 0, None, None, &Unmonitored).unwrap();
    assert_eq!(cut.function(0), [(1.0, 0.0), (2.0, 1.0), (3.0, 0.0)]);
    assert_eq!(betti_curve(&down, 0, 1.5), 2);
    assert_eq!(betti_curve(&down, 0, 1.0), 1);
    assert_eq!(betti_curve(&down, 0, 3.5), 0);
}

#[test]
fn a_cycle_lives_from_its_last_edge_to_its_filling() {
    // A square whose diagonal comes late: one cycle from 4 to 5 in the clique complex, which then splits in two that
    // die at once; on the graph alone, two that stay.
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)];
    let values = [1.0, 2.0, 3.0, 4.0, 5.0];
    let filled = FiltrationOptions { complex: Complex::Triangles, ..Default::default() };
    let cycles = |options: &FiltrationOptions| {
        let points = diagram(4, &edges, &values, options).into_iter().filter(|point| point.dim == 1);
        points.map(|point| (point.birth, point.death)).collect::<Vec<_>>()
    };
    assert_eq!(cycles(&filled), [(4.0, 5.0)]);
    assert_eq!(cycles(&FiltrationOptions::default()), [(4.0, f64::INFINITY), (5.0, f64::INFINITY)]);
}

#[test]
fn empty_and_isolated_are_no_error_and_bad_values_are() {
    let options = FiltrationOptions::default();
    assert_eq!(diagram(0, &[], &[], &options), []);
    // A loop is no edge: its node enters where vertices enter by themselves, and never with an edge.
    assert_eq!(
        diagram(3, &[(0, 1), (2, 2)], &[1.0, f64::NAN], &options),
        [Point { dim: 0, birth: 1.0, death: f64::INFINITY }]
    );
    let early = FiltrationOptions { vertices: Vertices::Lowest, ..options };
    assert_eq!(betti_curve(&diagram(3, &[(0, 1), (2, 2)], &[1.0, 0.0], &early), 0, 1.0), 2);
    assert_eq!(diagram(3, &[], &[], &early), []);
    let fails = |edges: &[(u32, u32)], values: &[f64]| {
        persistence_diagram(3, edges, values, &options, &Unmonitored).unwrap_err()
    };
    assert_eq!(
        fails(&[(0, 1), (1, 2), (1, 0)], &[1.0, 2.0, 0.5]),
        FiltrationError::TwoValues { src: 0, dst: 1, first: 0.5, second: 1.0 }
    );
    assert!(fails(&[(0, 1)], &[f64::NAN]).to_string().contains("edge (0, 1) has the value NaN"));
    assert!(fails(&[(0, 1)], &[f64::INFINITY]).to_string().contains("inf"));
    let graph = Graph::from_edges(2, &[(0, 1)]);
    let error = vertex_persistence_diagram(&graph, &[0.0, f64::NAN], &options, &Unmonitored).unwrap_err();
    assert!(error.to_string().contains("node 1"), "{error}");
    // -0 and 0 are one value.
    assert_eq!(diagram(3, &[(0, 1), (1, 0), (1, 2)], &[0.0, -0.0, 0.0], &options).len(), 1);
}

#[test]
fn diagrams_without_points_are_at_distance_zero_or_half_of_the_longest() {
    let none: [Point; 0] = [];
    let one = [Point { dim: 0, birth: 1.0, death: 4.0 }, Point { dim: 1, birth: 0.0, death: 1.0 }];
    assert_eq!(bottleneck_distance(&none, &none, None, &Unmonitored), Ok(0.0));
    assert_eq!(bottleneck_distance(&none, &one, None, &Unmonitored), Ok(2.0));
    assert_eq!(bottleneck_distance(&none, &one, Some(0), &Unmonitored), Ok(1.5));
    assert_eq!(wasserstein_distance(&one, &none, 1.0, None, &Unmonitored), Ok(2.0));
    assert_eq!(wasserstein_distance(&one, &none, 1.0, Some(7), &Unmonitored), Ok(0.0));
}
