//! Witnesses: values of GraphRicciCurvature, closed forms, components by hand.

use bonnet_graph::{Graph, Unmonitored, connected_components};
use proptest::prelude::*;

use super::*;

/// Zachary's karate club.
const KARATE: &str = include_str!("karate.txt");

fn karate() -> Graph {
    let edge = |line: &str| {
        let (u, v) = line.split_once(' ').unwrap();
        (u.parse().unwrap(), v.parse().unwrap())
    };
    Graph::from_edges(34, &KARATE.lines().map(edge).collect::<Vec<_>>())
}

fn run(graph: &Graph, lengths: Option<&[f64]>, options: &FlowOptions) -> Vec<FlowStep> {
    let mut steps = Vec::new();
    let mut keep = |step: &FlowStep| {
        steps.push(step.clone());
        Ok(())
    };
    let last = ricci_flow(graph, lengths, options, &Unmonitored, &mut keep).unwrap();
    // With NaN, which differs from itself.
    assert_eq!(format!("{:?}", steps.last().unwrap()), format!("{last:?}"));
    assert_eq!(steps.len(), options.steps + 1);
    steps
}

/// The sum, the sum of squares, the smallest and the largest value.
fn figures(values: &[f64]) -> [f64; 4] {
    let fold = |f: fn(f64, f64) -> f64, start| values.iter().copied().fold(start, f);
    [
        values.iter().sum(),
        values.iter().map(|x| x * x).sum(),
        fold(f64::min, f64::INFINITY),
        fold(f64::max, f64::NEG_INFINITY),
    ]
}

fn assert_close(found: [f64; 4], expected: [f64; 4], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "{found} {expected}");
    }
}

#[test]
fn the_flow_of_the_karate_club_is_that_of_graph_ricci_curvature() {
    // GraphRicciCurvature 0.6.1, compute_ricci_flow(delta=0), alpha 0.5, method 'OTD': sum, sum of squares, least and largest, of
    // weights and of curvatures.
    let graph = karate();
    let own: Vec<f64> = graph.edges().map(|(u, v)| 1.0 + f64::from((u + v) % 3)).collect();
    for (measure, lengths, steps, weights, curvatures) in PEER {
        let mut options = FlowOptions { steps, ..FlowOptions::default() };
        options.curvature.measure = measure;
        let last = run(&graph, lengths.then_some(own.as_slice()), &options).pop().unwrap();
        assert_close(figures(&last.lengths), weights, 2e-7);
        assert_close(figures(&last.curvatures), curvatures, 2e-7);
    }
}

/// The measure, whether edges have lengths of their own, the steps, and figures of lengths and curvatures.
type Row = (Measure, bool, usize, [f64; 4], [f64; 4]);

const PEER: [Row; 8] = [
    (
        Measure::Exponential,
        true,
        1,
        [78.0, 93.327828258, 0.077477474, 1.78606426],
        [-0.383307355, 5.348006753, -1.506514285, 0.483078526],
    ),
    (
        Measure::Exponential,
        true,
        5,
        [78.0, 112.917686682, 0.138737343, 2.889230867],
        [6.306785028, 2.693342241, -0.305026564, 0.467229176],
    ),
    (
        Measure::Exponential,
        true,
        20,
        [78.0, 249.922114162, 2.098e-05, 4.129744555],
        [10.685083514, 2.530009845, -0.019048715, 0.499904047],
    ),
    (
        Measure::Exponential,
        false,
        5,
        [78.0, 135.087841758, 0.020859873, 3.0177726],
        [6.847927739, 2.829751352, -0.233860165, 0.515634641],
    ),
    (
        Measure::Uniform,
        true,
        1,
        [78.0, 84.092392684, 0.352708249, 1.622457946],
        [5.109709332, 2.448875856, -0.253023504, 0.5],
    ),
    (
        Measure::Uniform,
        true,
        5,
        [78.0, 95.047614659, 0.059164965, 2.491134953],
        [1.672074022, 0.562560056, -0.030546492, 0.5],
    ),
    (
        Measure::Uniform,
        true,
        20,
        [78.0, 99.705745165, 1.751e-06, 2.753756103],
        [0.803218151, 0.500778429, -0.006988181, 0.5],
    ),
    (
        Measure::Uniform,
        false,
        5,
        [78.0, 94.401843094, 0.036171976, 2.470855964],
        [1.729292118, 0.55831163, -0.03083623, 0.5],
    ),
];

#[test]
fn cycles_and_complete_graphs_keep_their_shape_and_lengths_sum_to_the_number_of_edges() {
    for graph in [
        Graph::from_edges(8, &(0..8).map(|v| (v, (v + 1) % 8)).collect::<Vec<_>>()),
        Graph::from_edges(5, &(0..5).flat_map(|u| (u + 1..5).map(move |v| (u, v))).collect::<Vec<_>>()),
    ] {
        for step in run(&graph, None, &FlowOptions { steps: 5, ..FlowOptions::default() }) {
            step.lengths.iter().for_each(|length| assert!((length - 1.0).abs() < 1e-14));
        }
    }
    // K_3 with half the mass staying: 1 - 1/4. Without scaling, an edge loses as much of itself.
    let triangle = Graph::from_edges(3, &[(0, 1), (1, 2), (0, 2)]);
    let options = FlowOptions { steps: 3, normalized: false, ..FlowOptions::default() };
    for (i, step) in run(&triangle, Some(&[2.0; 3]), &options).iter().enumerate() {
        step.lengths.iter().for_each(|length| assert!((length - 2.0 * 0.25f64.powi(i as i32)).abs() < 1e-15));
    }
}

#[test]
fn an_edge_that_collapses_stays_without_length_and_curvature() {
    // One edge, half the mass staying: both measures are the same, so its curvature is 1 and its length 0 after a step.
    let one = Graph::from_edges(2, &[(0, 1)]);
    let steps = run(&one, None, &FlowOptions { steps: 2, ..FlowOptions::default() });
    assert_eq!((steps[0].lengths[0], steps[0].curvatures[0]), (1.0, 1.0));
    assert!(steps[1..].iter().all(|step| step.lengths[0] == 0.0 && step.curvatures[0].is_nan()));
    // Beside a square, whose sides have curvature.
    let both = Graph::from_edges(6, &[(0, 1), (2, 3), (3, 4), (4, 5), (2, 5)]);
    let last = run(&both, None, &FlowOptions { steps: 3, ..FlowOptions::default() }).pop().unwrap();
    assert_eq!(last.lengths[0], 0.0);
    last.lengths[1..].iter().for_each(|length| assert!((length - 1.25).abs() < 1e-14));
    assert!(last.curvatures[1..].iter().all(|value| value.is_finite()));
}

/// Cliques of `size` in a ring, each joined to the next by an edge.
fn ring_of_cliques(count: u32, size: u32) -> Graph {
    let within = |c: u32| (0..size).flat_map(move |i| (i + 1..size).map(move |j| (c * size + i, c * size + j)));
    let mut edges: Vec<_> = (0..count).flat_map(within).collect();
    edges.extend((0..count).map(|c| (c * size, (c + 1) % count * size + 1)));
    Graph::from_edges((count * size) as usize, &edges)
}

#[test]
fn the_flow_finds_the_cliques_of_a_ring_and_surgery_cuts_between_them() {
    let graph = ring_of_cliques(5, 6);
    let steps = run(&graph, None, &FlowOptions { steps: 10, ..FlowOptions::default() });
    let last = steps.last().unwrap();
    let found = flow_communities(&graph, &last.lengths, None, &Unmonitored).unwrap();
    let expected: Vec<u32> = (0..30).map(|v| v / 6).collect();
    assert_eq!(found.of_node, expected);
    // Five parts of 15 edges, 5 edges between: 75/80 - 5 (32/160)^2.
    assert!((found.modularity - (75.0 / 80.0 - 0.2)).abs() < 1e-12, "{}", found.modularity);

    let surgery = Some(Surgery { every: 3, cutoff: 3.0 });
    let steps = run(&graph, None, &FlowOptions { steps: 7, surgery, ..FlowOptions::default() });
    let cut: usize = steps.iter().map(|step| step.cut.iter().filter(|cut| **cut).count()).sum();
    assert_eq!((cut, steps[7].edges.len()), (5, 75));
    assert!(steps[2].cut.iter().all(|cut| !cut) && steps[3].cut.iter().filter(|cut| **cut).count() == 5);
    let ends: Vec<_> = graph.edges().collect();
    let left: Vec<_> = steps[7].edges.iter().map(|&id| ends[id as usize]).collect();
    assert_eq!(connected_components(&Graph::from_edges(30, &left)).sizes, [6; 5]);
    // What is left flows as a flow of its own that begins with it.
    let graph = Graph::from_edges(30, &left);
    let own: Vec<f64> = (0..80).filter(|&i| !steps[3].cut[i]).map(|i| steps[3].lengths[i]).collect();
    let again = run(&graph, Some(&own), &FlowOptions { steps: 4, ..FlowOptions::default() });
    assert_eq!(again[4].lengths, steps[7].lengths);
}

#[test]
fn answers_are_the_same_for_any_number_of_threads() {
    let graph = karate();
    let of = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&graph, None, &FlowOptions { steps: 6, ..FlowOptions::default() }))
    };
    assert!(of(1) == of(3));
}

#[test]
fn options_out_of_range_are_refused() {
    let graph = karate();
    let error = |lengths: Option<&[f64]>, options: FlowOptions| {
        ricci_flow(&graph, lengths, &options, &Unmonitored, &mut |_| Ok(())).unwrap_err().to_string()
    };
    for rate in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(error(None, FlowOptions { rate, ..FlowOptions::default() }).starts_with("rate => "));
    }
    let surgery = |every, cutoff| FlowOptions { surgery: Some(Surgery { every, cutoff }), ..FlowOptions::default() };
    assert!(error(None, surgery(0, 1.0)).starts_with("surgery => 0"));
    assert!(error(None, surgery(1, f64::NAN)).starts_with("cutoff => NaN"));
    assert!(error(Some(&[1.0]), FlowOptions::default()).starts_with("78 edges and 1 lengths"));
    assert!(error(Some(&[-1.0; 78]), FlowOptions::default()).starts_with("the edge (0, 1) has the length -1"));
}

proptest! {
    #[test]
    fn communities_are_components_and_the_best_cut_has_the_largest_modularity(
        edges in proptest::collection::vec((0u32..12, 0u32..12), 1..40), seed in 1u32..99,
    ) {
        let graph = Graph::from_edges(12, &edges);
        prop_assume!(graph.n_edges() > 0);
        let lengths: Vec<f64> = graph.edges().map(|(u, v)| f64::from((u * seed + v * 7) % 5) / 2.0).collect();
        let modularity = |of_node: &[u32]| {
            let m = graph.n_edges() as f64;
            let mut sum = 0.0;
            for u in 0..12u32 {
                for v in 0..12u32 {
                    if of_node[u as usize] == of_node[v as usize] {
                        let expected = (graph.degree(u) * graph.degree(v)) as f64 / (2.0 * m);
                        sum += f64::from(u8::from(graph.has_edge(u, v))) - expected;
                    }
                }
            }
            sum / (2.0 * m)
        };
        let best = flow_communities(&graph, &lengths, None, &Unmonitored).unwrap();
        prop_assert!((best.modularity - modularity(&best.of_node)).abs() < 1e-12);
        for cutoff in [0.0, 0.5, 1.0, 1.5, 2.0] {
            let found = flow_communities(&graph, &lengths, Some(cutoff), &Unmonitored).unwrap();
            let kept: Vec<_> = graph.edges().zip(&lengths).filter(|(_, l)| **l <= cutoff).map(|(e, _)| e).collect();
            let components = connected_components(&Graph::from_edges(12, &kept)).of_node;
            for u in 0..12 {
                for v in 0..12 {
                    prop_assert_eq!(found.of_node[u] == found.of_node[v], components[u] == components[v]);
                }
            }
            prop_assert!((found.modularity - modularity(&found.of_node)).abs() < 1e-12);
            prop_assert!(best.modularity >= found.modularity - 1e-9);
        }
    }
}
