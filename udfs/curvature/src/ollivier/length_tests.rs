//! Witnesses of transports over real lengths and of given measures: literal ones, those over hops, values of another library.

use bonnet_graph::{Graph, Unmonitored};
use proptest::prelude::*;

use super::tests::{
    ALPHAS, bits, edges, graph, literal_measure, literal_transport, options, rook_and_shrikhande, uniform, with_hubs,
};
use super::*;

fn with_lengths<'a>(graph: &'a Graph, lengths: &'a [f64]) -> MeasuredGraph<'a> {
    MeasuredGraph { graph, lengths: Some(lengths), measures: None }
}

/// Floyd and Warshall.
fn all_distances(graph: &Graph, lengths: &[u32]) -> Vec<Vec<Option<u32>>> {
    let n = graph.n_nodes();
    let mut found = vec![vec![None; n]; n];
    (0..n).for_each(|v| found[v][v] = Some(0));
    for ((u, v), &length) in graph.edges().zip(lengths) {
        found[u as usize][v as usize] = Some(length);
        found[v as usize][u as usize] = Some(length);
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                if let (Some(a), Some(b)) = (found[i][k], found[k][j]) {
                    found[i][j] = Some(found[i][j].map_or(a + b, |old: u32| old.min(a + b)));
                }
            }
        }
    }
    found
}

/// The edges of one example, of GraphRicciCurvature's values below.
const EXAMPLE: [(u32, u32, f64); 10] = [
    (0, 1, 1.0),
    (0, 2, 2.5),
    (1, 2, 0.5),
    (2, 3, 4.0),
    (3, 4, 1.25),
    (4, 5, 0.75),
    (3, 5, 1.5),
    (5, 6, 0.2),
    (0, 6, 7.0),
    (1, 4, 3.0),
];

/// The measure, alpha and power of a call, and its values.
const PEER: [(Measure, f64, f64, [f64; 10]); 3] = [
    (
        Measure::Exponential,
        0.5,
        2.0,
        [
            0.491760598913,
            0.50169402435,
            0.520916068218,
            0.093323372615,
            0.594624448497,
            0.390968171468,
            0.413778315762,
            -0.100985515851,
            0.1209484785,
            -0.223699725323,
        ],
    ),
    (
        Measure::Exponential,
        0.0,
        1.0,
        [
            0.29405322924,
            0.803878216765,
            -0.27933286508,
            0.177983479881,
            0.470424583915,
            0.221200367434,
            0.682480576516,
            -1.833759724645,
            0.226103220337,
            -0.313334658352,
        ],
    ),
    (
        Measure::Uniform,
        0.25,
        2.0,
        [
            0.7625,
            0.716666666667,
            0.375,
            0.515625,
            0.9,
            -0.316666666667,
            0.258333333333,
            -8.21875,
            0.665404040404,
            0.270833333333,
        ],
    ),
];

fn example() -> (Graph, Vec<f64>) {
    let graph = graph(7, &EXAMPLE.map(|(u, v, _)| (u, v)));
    let length = |edge| EXAMPLE.iter().find(|(u, v, _)| (*u, *v) == edge).map(|edge| edge.2).unwrap();
    let lengths = graph.edges().map(length).collect();
    (graph, lengths)
}

#[test]
fn lengths_of_one_give_what_hops_give_to_the_last_bit() {
    let [rook, shrikhande] = rook_and_shrikhande();
    for graph in [rook, shrikhande, with_hubs(150, 2), with_hubs(60, 5)] {
        let ones = vec![1.0; graph.n_edges()];
        for options in [uniform(0.0), uniform(0.5), options(Measure::TwoHop, 0.25, 2)] {
            let hops = ollivier_ricci(&graph, &options, &Unmonitored).unwrap();
            assert_eq!(
                bits(&ollivier_ricci(with_lengths(&graph, &ones), &options, &Unmonitored).unwrap()),
                bits(&hops)
            );
        }
        // Another unit changes nothing, and with equal lengths the exponential measure is the uniform one, but for rounding.
        let thirds = vec![1.0 / 3.0; graph.n_edges()];
        let hops = ollivier_ricci(&graph, &uniform(0.3), &Unmonitored).unwrap();
        for measure in [Measure::Uniform, Measure::Exponential] {
            let found = ollivier_ricci(with_lengths(&graph, &thirds), &options(measure, 0.3, 2), &Unmonitored).unwrap();
            found.iter().zip(&hops).for_each(|(found, hops)| assert!((found - hops).abs() < 1e-14, "{found} {hops}"));
        }
    }
}

#[test]
fn edges_that_a_symmetry_maps_to_each_other_have_one_value() {
    for graph in rook_and_shrikhande() {
        let lengths = vec![0.7; graph.n_edges()];
        for measure in [Measure::Uniform, Measure::Exponential, Measure::RandomWalk] {
            let options = OllivierOptions { measure, alpha: 0.1, ..OllivierOptions::default() };
            let values = ollivier_ricci(with_lengths(&graph, &lengths), &options, &Unmonitored).unwrap();
            assert_eq!(bits(&values), [values[0].to_bits(); 48]);
        }
    }
}

#[test]
fn values_are_those_of_graph_ricci_curvature() {
    // GraphRicciCurvature 0.6.1 over POT 0.9.7, method 'OTD', in the order of EXAMPLE.
    let (graph, lengths) = example();
    for (measure, alpha, power, expected) in PEER {
        let options = OllivierOptions { measure, alpha, power, ..OllivierOptions::default() };
        let values = ollivier_ricci(with_lengths(&graph, &lengths), &options, &Unmonitored).unwrap();
        for ((u, v), value) in graph.edges().zip(values) {
            let at = EXAMPLE.iter().position(|edge| (edge.0, edge.1) == (u, v)).unwrap();
            assert!((value - expected[at]).abs() < 2e-12, "{measure:?} {alpha} ({u}, {v}): {value} {}", expected[at]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn all_pairs_agree_with_the_literal_transport(
        edges in edges(10, 26), alpha in 0..5usize, measure in 0..4usize, seed in 0u32..1000, range in 1u32..30,
    ) {
        let graph = graph(10, &edges);
        let (alpha, measure) = (ALPHAS[alpha], Measure::ALL[measure]);
        let whole: Vec<u32> =
            graph.edges().map(|(u, v)| 1 + ((u * 31 + v * 17 + seed).wrapping_mul(2_654_435_761) >> 8) % range).collect();
        let lengths: Vec<f64> = whole.iter().map(|&length| f64::from(length)).collect();
        let distances = all_distances(&graph, &whole);
        let pairs: Vec<_> = (0..10).flat_map(|u| (0..10).map(move |v| (u, v))).collect();
        let options = options(measure, alpha.0 as f64 / alpha.1 as f64, 2);
        let space = with_lengths(&graph, &lengths);
        let values = ollivier_ricci_pairs(space, &pairs, &options, &Unmonitored).unwrap();
        let costs = ollivier_wasserstein(space, &pairs, &options, &Unmonitored).unwrap();
        for ((&(u, v), value), cost) in pairs.iter().zip(values).zip(costs) {
            let Some(distance) = distances[u as usize][v as usize].filter(|distance| *distance > 0) else {
                prop_assert!(value.is_nan());
                let expected = u == v && cost == 0.0 || u != v && cost.is_nan();
                prop_assert!(expected, "({u}, {v}): {cost}");
                continue;
            };
            let (mut a, total_a) = literal_measure(&graph, u, measure, alpha, 2);
            let (mut b, total_b) = literal_measure(&graph, v, measure, alpha, 2);
            a.iter_mut().for_each(|mass| *mass *= total_b);
            b.iter_mut().for_each(|mass| *mass *= total_a);
            let expected = literal_transport(&a, &b, &distances) as f64 / (total_a * total_b) as f64;
            prop_assert!((cost - expected).abs() < 1e-13 * (1.0 + expected), "({u}, {v}): {cost} {expected}");
            let expected = 1.0 - expected / f64::from(distance);
            prop_assert!((value - expected).abs() < 1e-13 * (1.0 + expected.abs()), "({u}, {v}): {value} {expected}");
        }
        let edges: Vec<_> = graph.edges().collect();
        let of_edges = ollivier_ricci(space, &options, &Unmonitored).unwrap();
        let of_pairs = ollivier_ricci_pairs(space, &edges, &options, &Unmonitored).unwrap();
        prop_assert_eq!(bits(&of_edges), bits(&of_pairs));
    }

    #[test]
    fn measures_that_are_given_are_transported(edges in edges(9, 22), alpha in 0..5usize, measure in 0..4usize) {
        let graph = graph(9, &edges);
        let (alpha, measure) = (ALPHAS[alpha], Measure::ALL[measure]);
        // The measures of an option, as rows: without alpha, and with it.
        let alpha = alpha.0 as f64 / alpha.1 as f64;
        let mut rows = Vec::new();
        for v in (0..9).filter(|&v| graph.degree(v) > 0) {
            let (masses, total) = literal_measure(&graph, v, measure, (0, 1), 2);
            rows.extend((0..9).zip(masses).map(|(u, mass)| (v, u, mass as f64 / total as f64)));
        }
        let measures = NodeMeasures::new(&graph, &rows, &Unmonitored).unwrap();
        let pairs: Vec<_> = (0..9).flat_map(|u| (0..9).map(move |v| (u, v))).collect();
        let options = options(measure, alpha, 2);
        let ones = vec![1.0; graph.n_edges()];
        for lengths in [None, Some(ones.as_slice())] {
            let space = MeasuredGraph { graph: &graph, lengths, measures: Some(&measures) };
            let found = ollivier_ricci_pairs(space, &pairs, &options, &Unmonitored).unwrap();
            let expected = ollivier_ricci_pairs(&graph, &pairs, &options, &Unmonitored).unwrap();
            for (found, expected) in found.iter().zip(expected) {
                prop_assert!(found.is_nan() && expected.is_nan() || (found - expected).abs() < 1e-14, "{found} {expected}");
            }
        }
    }
}

#[test]
fn answers_are_the_same_for_any_number_of_threads() {
    let graph = with_hubs(300, 4);
    let lengths: Vec<f64> = graph.edges().map(|(u, v)| 0.1 + f64::from((u * 7 + v * 13) % 29)).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = options(Measure::Exponential, 0.5, 2);
        bits(&pool.install(|| ollivier_ricci(with_lengths(&graph, &lengths), &options, &Unmonitored)).unwrap())
    };
    let one = run(1);
    assert!(one == run(2) && one == run(5));
}

#[test]
fn an_edge_longer_than_the_way_around_it_counts_with_the_way() {
    // A triangle with sides 1, 1, 5: its ends are 2 apart, and both measures are half at the middle and half at the other end.
    let graph = graph(3, &[(0, 1), (1, 2), (0, 2)]);
    let values = ollivier_ricci(with_lengths(&graph, &[1.0, 5.0, 1.0]), &uniform(0.0), &Unmonitored).unwrap();
    // Of (0, 2): half a unit moves from 2 to 0, 2 far: W = 1. Of (0, 1): from 1 to 0, 1 far.
    assert_eq!(values, [0.5, 0.5, 0.5]);
}

#[test]
fn lengths_that_are_none_are_refused() {
    let (graph, lengths) = example();
    let refused = |lengths: &[f64]| {
        ollivier_ricci(with_lengths(&graph, lengths), &uniform(0.0), &Unmonitored).unwrap_err().to_string()
    };
    assert_eq!(refused(&lengths[1..]), "10 edges and 9 lengths: one is needed for each edge");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut lengths = lengths.clone();
        lengths[3] = bad;
        assert!(refused(&lengths).starts_with("the edge (1, 2) has the length "), "{}", refused(&lengths));
    }
    let options = OllivierOptions { power: -1.0, ..uniform(0.0) };
    let error = ollivier_ricci(with_lengths(&graph, &lengths), &options, &Unmonitored).unwrap_err();
    assert_eq!(error, OllivierError::Power(-1.0));
}
