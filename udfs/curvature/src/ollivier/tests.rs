//! Witnesses: closed forms, an exact transport solved literally, and values of other libraries.

use bonnet_graph::{Graph, Stopped, Unmonitored};
use proptest::prelude::*;

use super::*;

pub(super) fn options(measure: Measure, alpha: f64, steps: usize) -> OllivierOptions {
    OllivierOptions { measure, alpha, steps, ..OllivierOptions::default() }
}

pub(super) fn uniform(alpha: f64) -> OllivierOptions {
    options(Measure::Uniform, alpha, 2)
}

pub(super) fn graph(n: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::from_edges(n, edges)
}

fn of(graph: &Graph, options: &OllivierOptions) -> Vec<f64> {
    let values = ollivier_ricci(graph, options, &Unmonitored).unwrap();
    // The engine for any pairs is another way to the same numbers.
    let edges: Vec<_> = graph.edges().collect();
    assert_eq!(bits(&values), bits(&ollivier_ricci_pairs(graph, &edges, options, &Unmonitored).unwrap()));
    values
}

pub(super) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn assert_all(values: &[f64], expected: f64) {
    for value in values {
        assert!((value - expected).abs() < 1e-15, "{value} is not {expected}");
    }
}

fn complete(n: u32) -> Graph {
    graph(n as usize, &(0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect::<Vec<_>>())
}

fn cycle(n: u32) -> Graph {
    graph(n as usize, &(0..n).map(|u| (u, (u + 1) % n)).collect::<Vec<_>>())
}

/// The rook's graph 4 x 4 and the Shrikhande graph: both (16, 6, 2, 2).
pub(super) fn rook_and_shrikhande() -> [Graph; 2] {
    let cayley = |steps: &[(u32, u32)]| {
        let steps = steps.to_vec();
        let edges = (0..16)
            .flat_map(|v| steps.clone().into_iter().map(move |(x, y)| (v, (v / 4 + x) % 4 * 4 + (v % 4 + y) % 4)));
        graph(16, &edges.collect::<Vec<_>>())
    };
    [cayley(&[(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)]), cayley(&[(0, 1), (1, 0), (1, 1)])]
}

#[test]
fn complete_graphs_cycles_and_bipartite_graphs_have_their_closed_forms() {
    for n in 3..12u32 {
        // Only i and j differ: 1/(n - 1) moves one hop, or what of it does not stay.
        for alpha in [0.0, 0.1, 0.5, 0.9] {
            let moved = (alpha - (1.0 - alpha) / f64::from(n - 1)).abs();
            assert_all(&of(&complete(n), &uniform(alpha)), 1.0 - moved);
        }
    }
    for n in 6..10 {
        assert_all(&of(&cycle(n), &uniform(0.0)), 0.0);
        assert_all(&of(&cycle(n), &uniform(0.5)), 0.0);
    }
    let edges: Vec<_> = (0..3).flat_map(|u| (3..8).map(move |v| (u, v))).collect();
    assert_all(&of(&graph(8, &edges), &uniform(0.0)), 0.0);
    // A star: every edge ends at a leaf.
    assert_all(&of(&graph(6, &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]), &uniform(0.0)), 0.0);
    assert_all(&of(&graph(2, &[(0, 1)]), &uniform(0.0)), 0.0);
    assert_all(&of(&graph(2, &[(0, 1)]), &uniform(0.5)), 1.0);
}

#[test]
fn trees_have_the_curvature_of_jost_and_liu() {
    // Jost and Liu 2014: -2 (1 - 1/p - 1/q), but 0 where an end has degree 1.
    let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (6, 7), (7, 8), (7, 9), (7, 10), (3, 11)];
    let tree = graph(12, &edges);
    for ((u, v), value) in tree.edges().zip(of(&tree, &uniform(0.0))) {
        let (p, q) = (tree.degree(u) as f64, tree.degree(v) as f64);
        assert_all(&[value], -2.0 * (1.0 - 1.0 / p - 1.0 / q).max(0.0));
    }
}

#[test]
fn the_rook_has_a_third_and_shrikhande_a_sixth_on_every_edge() {
    let [rook, shrikhande] = rook_and_shrikhande();
    assert_eq!((rook.n_edges(), shrikhande.n_edges()), (48, 48));
    for alpha in [0.0, 0.5] {
        assert_eq!(of(&rook, &uniform(alpha)), [1.0 / 3.0; 48]);
        assert_eq!(of(&shrikhande, &uniform(alpha)), [1.0 / 6.0; 48]);
    }
    // Both are edge-transitive: one value for any measure, to the last bit.
    for graph in rook_and_shrikhande() {
        for measure in Measure::ALL {
            for steps in 1..5 {
                let values = of(&graph, &options(measure, 0.3, steps));
                assert_eq!(bits(&values), [values[0].to_bits(); 48]);
            }
        }
    }
}

/// Distances by breadth-first search; `None` across components.
fn all_distances(graph: &Graph) -> Vec<Vec<Option<u32>>> {
    (0..graph.n_nodes() as u32)
        .map(|source| {
            let mut found = vec![None; graph.n_nodes()];
            found[source as usize] = Some(0);
            let mut queue = std::collections::VecDeque::from([source]);
            while let Some(u) = queue.pop_front() {
                for &v in graph.neighbors(u) {
                    if found[v as usize].is_none() {
                        found[v as usize] = found[u as usize].map(|d| d + 1);
                        queue.push_back(v);
                    }
                }
            }
            found
        })
        .collect()
}

/// A measure as a fraction of the returned total, by its definition. Degrees divide 840 or the total overflows loudly.
pub(super) fn literal_measure(
    graph: &Graph,
    v: u32,
    measure: Measure,
    alpha: (i128, i128),
    steps: usize,
) -> (Vec<i128>, i128) {
    const DIVISIBLE: i128 = 840;
    let n = graph.n_nodes();
    let step = |mass: &[i128]| {
        let mut next = vec![0; n];
        for (u, mass) in mass.iter().enumerate().filter(|(_, mass)| **mass > 0) {
            let degree = graph.degree(u as u32) as i128;
            assert_eq!(mass % degree, 0);
            graph.neighbors(u as u32).iter().for_each(|&w| next[w as usize] += mass / degree);
        }
        next
    };
    let at = |total: i128| {
        let mut mass = vec![0; n];
        mass[v as usize] = total;
        mass
    };
    let mut mass = match measure {
        Measure::Uniform => step(&at(DIVISIBLE)),
        Measure::TwoHop => {
            let distance = &all_distances(graph)[v as usize];
            distance.iter().map(|d| [20, 5, 1].get(d.unwrap_or(9) as usize).copied().unwrap_or(0)).collect()
        }
        Measure::RandomWalk => {
            let mut walk = at(DIVISIBLE.pow(steps as u32));
            let mut sum = walk.clone();
            for _ in 0..steps {
                walk = step(&walk);
                sum.iter_mut().zip(&walk).for_each(|(sum, mass)| *sum += mass);
            }
            sum
        }
        Measure::Exponential => unreachable!("whole masses only"),
        Measure::TransitionPower => (0..steps).fold(at(DIVISIBLE.pow(steps as u32)), |walk, _| step(&walk)),
    };
    let total: i128 = mass.iter().sum();
    mass.iter_mut().for_each(|mass| *mass *= alpha.1 - alpha.0);
    mass[v as usize] += alpha.0 * total;
    (mass, total * alpha.1)
}

/// Optimal transport literally: send along a cheapest path of the residual network (Bellman-Ford) until all is sent.
pub(super) fn literal_transport(from: &[i128], to: &[i128], distance: &[Vec<Option<u32>>]) -> i128 {
    let n = from.len();
    let (mut supply, mut demand) = (from.to_vec(), to.to_vec());
    let mut flow = vec![vec![0i128; n]; n];
    let mut cost = 0;
    while supply.iter().any(|mass| *mass > 0) {
        // Nodes 0..n send, n..2n take.
        let mut best = vec![(i128::MAX, usize::MAX); 2 * n];
        (0..n).filter(|&u| supply[u] > 0).for_each(|u| best[u] = (0, usize::MAX));
        loop {
            let mut changed = false;
            for u in 0..n {
                for v in 0..n {
                    let Some(d) = distance[u][v] else { continue };
                    let d = i128::from(d);
                    if best[u].0 < i128::MAX && best[u].0 + d < best[n + v].0 {
                        best[n + v] = (best[u].0 + d, u);
                        changed = true;
                    }
                    if flow[u][v] > 0 && best[n + v].0 < i128::MAX && best[n + v].0 - d < best[u].0 {
                        best[u] = (best[n + v].0 - d, n + v);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let end = (0..n).filter(|&v| demand[v] > 0).min_by_key(|&v| best[n + v].0).unwrap();
        let mut path = vec![n + end];
        while best[*path.last().unwrap()].1 != usize::MAX {
            path.push(best[*path.last().unwrap()].1);
        }
        let start = *path.last().unwrap();
        let back = path.windows(2).filter(|step| step[0] < n).map(|step| flow[step[0]][step[1] - n]);
        let amount = back.chain([supply[start], demand[end]]).min().unwrap();
        for step in path.windows(2) {
            match step[0] >= n {
                true => flow[step[1]][step[0] - n] += amount,
                false => flow[step[0]][step[1] - n] -= amount,
            }
        }
        cost += amount * best[n + end].0;
        supply[start] -= amount;
        demand[end] -= amount;
    }
    cost
}

fn literal(graph: &Graph, u: u32, v: u32, measure: Measure, alpha: (i128, i128), steps: usize) -> Option<f64> {
    let distances = all_distances(graph);
    let distance = i128::from(distances[u as usize][v as usize].filter(|d| *d > 0)?);
    let (mut a, total_a) = literal_measure(graph, u, measure, alpha, steps);
    let (mut b, total_b) = literal_measure(graph, v, measure, alpha, steps);
    a.iter_mut().for_each(|mass| *mass *= total_b);
    b.iter_mut().for_each(|mass| *mass *= total_a);
    let total = total_a * total_b;
    let cost = literal_transport(&a, &b, &distances);
    Some((distance * total - cost) as f64 / (distance * total) as f64)
}

/// Edges of a random graph, whose largest degree is at most 8.
pub(super) fn edges(n: u32, most: usize) -> impl Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((0..n, 0..n), 1..most).prop_map(move |edges| {
        let mut kept: Vec<(u32, u32)> = Vec::new();
        for (u, v) in edges {
            let graph = Graph::from_edges(n as usize, &kept);
            if u != v && graph.degree(u) < 8 && graph.degree(v) < 8 {
                kept.push((u, v));
            }
        }
        kept
    })
}

pub(super) const ALPHAS: [(i128, i128); 5] = [(0, 1), (1, 10), (1, 2), (9, 10), (1, 1)];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn edges_agree_with_the_literal_transport(edges in edges(12, 40), alpha in 0..5usize) {
        let graph = graph(12, &edges);
        let alpha = ALPHAS[alpha];
        let values = of(&graph, &uniform(alpha.0 as f64 / alpha.1 as f64));
        for ((u, v), value) in graph.edges().zip(values) {
            prop_assert_eq!(value, literal(&graph, u, v, Measure::Uniform, alpha, 2).unwrap());
        }
    }

    #[test]
    fn all_pairs_agree_with_the_literal_transport_for_all_measures(
        edges in edges(9, 22), alpha in 0..5usize, measure in 0..4usize, steps in 1..4usize,
    ) {
        let graph = graph(9, &edges);
        let (alpha, measure) = (ALPHAS[alpha], Measure::ALL[measure]);
        let pairs: Vec<_> = (0..9).flat_map(|u| (0..9).map(move |v| (u, v))).collect();
        let options = options(measure, alpha.0 as f64 / alpha.1 as f64, steps);
        let values = ollivier_ricci_pairs(&graph, &pairs, &options, &Unmonitored).unwrap();
        for (&(u, v), value) in pairs.iter().zip(values) {
            match literal(&graph, u, v, measure, alpha, steps) {
                None => prop_assert!(value.is_nan()),
                Some(expected) => prop_assert!((value - expected).abs() < 4e-15, "{value} {expected}"),
            }
        }
        let edges: Vec<_> = graph.edges().collect();
        let values = ollivier_ricci(&graph, &options, &Unmonitored).unwrap();
        let again = ollivier_ricci_pairs(&graph, &edges, &options, &Unmonitored).unwrap();
        prop_assert_eq!(bits(&values), bits(&again));
    }

    #[test]
    fn curvature_is_bounded_as_by_bonnet_and_myers(edges in edges(12, 40), alpha in 0..4usize) {
        // Curvature Filtrations, Lemma 1: at most (J(i) + J(j)) / d(i, j), and J = 1 - alpha here. From below by -2, since no
        // cost is above 3; trees get there in the limit.
        let graph = graph(12, &edges);
        let alpha = ALPHAS[alpha].0 as f64 / ALPHAS[alpha].1 as f64;
        for value in of(&graph, &uniform(alpha)) {
            prop_assert!((-2.0..=2.0 * (1.0 - alpha) + 1e-15).contains(&value));
        }
    }

    #[test]
    fn one_edge_more_changes_a_pair_within_the_bounds_of_theorem_3(edges in edges(9, 30), extra in (0u32..9, 0u32..9)) {
        let before = graph(9, &edges);
        let after = graph(9, &[edges.as_slice(), &[extra]].concat());
        let connected = |graph: &Graph| all_distances(graph)[0].iter().all(Option::is_some);
        prop_assume!(connected(&before) && after.n_edges() > before.n_edges());
        let distances = all_distances(&after);
        let mass = |graph: &Graph, v: u32| -> Vec<i128> {
            let (mass, total) = literal_measure(graph, v, Measure::Uniform, (0, 1), 1);
            mass.into_iter().map(|mass| mass * 840 / total).collect()
        };
        let cost = |a: &[i128], b: &[i128]| literal_transport(a, b, &distances) as f64 / 840.0;
        let worst = (0..9).map(|x| cost(&mass(&before, x), &mass(&after, x))).fold(0.0, f64::max);
        for ((i, j), value) in after.edges().zip(of(&after, &uniform(0.0))) {
            // J' = 1: all mass is on neighbours.
            let lower = 1.0 - 2.0 * worst - cost(&mass(&before, i), &mass(&before, j));
            prop_assert!(lower - 1e-12 <= value && value <= 2.0);
        }
    }
}

/// A graph of `n` nodes with hubs: a node links to earlier ones, by a fixed rule that mixes bits.
pub(super) fn with_hubs(n: u32, links: u32) -> Graph {
    let mut edges = Vec::new();
    for v in 1..n {
        for link in 0..links {
            let mixed = (v * links + link).wrapping_mul(2_654_435_761) >> 7;
            edges.push((v, mixed % v / (1 + mixed % 5)));
        }
    }
    graph(n as usize, &edges)
}

#[test]
fn a_number_that_is_no_fraction_lies_between_its_neighbours() {
    // The value is piecewise linear in alpha, so a small interval pins it.
    let graph = with_hubs(60, 3);
    let alpha = 0.234_567_890_123;
    let at = |alpha: f64| ollivier_ricci(&graph, &uniform(alpha), &Unmonitored).unwrap();
    let (low, here, high) = (at(0.2345), at(alpha), at(0.2346));
    for ((low, here), high) in low.iter().zip(here).zip(high) {
        let line = low + (high - low) * (alpha - 0.2345) / 0.0001;
        assert!((here - line).abs() < 1e-9, "{here} {line}");
    }
}

#[test]
fn hubs_of_many_neighbours_agree_with_the_engine_for_any_pairs() {
    // Rows of more words than are made without counting, some as lists: two hubs that share neighbours among others, a
    // clique, and long arms.
    let mut edges: Vec<(u32, u32)> =
        (2..1200).map(|v| (0, v)).chain((1000..1500).map(|v| (1, v))).chain([(0, 1)]).collect();
    edges.extend((1100..1120).flat_map(|u| (u + 1..1120).map(move |v| (u, v))));
    edges.extend((2..1600u32).map(|v| (v, v.wrapping_mul(2_654_435_761) % 1600)));
    let graph = graph(1600, &edges);
    assert!(graph.degree(0) > 1024 && graph.degree(1) > 256);
    for alpha in [0.0, 0.5] {
        assert!(of(&graph, &uniform(alpha)).iter().all(|value| value.is_finite()));
    }
}

#[test]
fn rows_of_any_width_agree_with_the_engine_for_any_pairs_on_every_instruction_set() {
    // Degrees up to 30, 63, 64 and so on to beyond the widest short row; sparse rows and dense ones.
    for (n, kept) in [(40, 70), (80, 80), (150, 60), (160, 90), (250, 90), (330, 95), (420, 97), (560, 97), (400, 8)] {
        let mixed = |u: u32, v: u32| ((u * n + v).wrapping_mul(2_654_435_761) >> 9) % 100;
        let all = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
        let graph = graph(n as usize, &all.filter(|&(u, v)| mixed(u, v) < kept).collect::<Vec<_>>());
        let some: Vec<(u32, u32)> = graph.edges().step_by(graph.n_edges() / 40).collect();
        for (alpha, denominator) in [(0, 1), (1, 3)] {
            let options = uniform(alpha as f64 / denominator as f64);
            let expected = bits(&ollivier_ricci_pairs(&graph, &some, &options, &Unmonitored).unwrap());
            for isa in Isa::available() {
                let alpha = Fraction { numerator: alpha, denominator };
                let found = neighbors::curvatures(&graph, &some, alpha, isa, &Unmonitored).unwrap();
                assert!(bits(&found) == expected, "{n} nodes, {isa:?}, {alpha:?}");
            }
        }
    }
}

#[test]
fn answers_are_the_same_for_any_number_of_threads() {
    let graph = with_hubs(400, 4);
    let run = |threads, options: &OllivierOptions| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        bits(&pool.install(|| ollivier_ricci(&graph, options, &Unmonitored)).unwrap())
    };
    for options in [uniform(0.25), options(Measure::RandomWalk, 0.0, 2)] {
        let one = run(1, &options);
        assert!(one == run(2, &options) && one == run(5, &options));
    }
}

#[test]
fn distances_across_components_are_no_number_and_isolated_nodes_do_no_harm() {
    let graph = graph(7, &[(0, 1), (1, 2), (3, 4), (4, 5), (5, 3)]);
    let values = ollivier_ricci_pairs(&graph, &[(0, 3), (0, 2), (6, 0), (6, 6), (5, 4)], &uniform(0.0), &Unmonitored);
    let values = values.unwrap();
    assert!(values[0].is_nan() && values[2].is_nan() && values[3].is_nan());
    // Both endpoints of the path look at its middle.
    assert_eq!((values[1], values[4]), (1.0, 0.5));
    assert!(ollivier_ricci(&Graph::from_edges(3, &[]), &uniform(0.0), &Unmonitored).unwrap().is_empty());
    assert!(ollivier_ricci_pairs(&graph, &[], &uniform(0.0), &Unmonitored).unwrap().is_empty());
}

#[test]
fn options_out_of_range_and_strange_nodes_are_refused() {
    let graph = complete(3);
    for alpha in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = ollivier_ricci(&graph, &uniform(alpha), &Unmonitored).unwrap_err();
        assert!(matches!(error, OllivierError::Alpha(_)), "{error}");
    }
    let error = ollivier_ricci(&graph, &options(Measure::RandomWalk, 0.0, 0), &Unmonitored).unwrap_err();
    assert_eq!(error.to_string(), "steps => 0: expected a whole number from 1 to 1048576");
    let error = ollivier_ricci_pairs(&graph, &[(0, 1), (2, 3)], &uniform(0.0), &Unmonitored).unwrap_err();
    assert_eq!(error, OllivierError::Node(1, 3));
}

struct Cancelled;

impl Monitor for Cancelled {
    fn check(&self) -> Result<(), Stopped> {
        Err(Stopped::Cancelled)
    }
    fn reserve(&self, _: usize) -> Result<(), Stopped> {
        Ok(())
    }
    fn release(&self, _: usize) {}
}

#[test]
fn a_cancelled_run_ends_with_that_reason() {
    for options in [uniform(0.0), options(Measure::TwoHop, 0.0, 2)] {
        let error = ollivier_ricci(&complete(5), &options, &Cancelled).unwrap_err();
        assert_eq!(error, OllivierError::Stopped(Stopped::Cancelled));
    }
}
