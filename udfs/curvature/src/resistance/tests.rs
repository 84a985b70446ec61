//! Witnesses: closed forms, dense and iterative solvers, and sum rules.

use std::sync::atomic::{AtomicU64, Ordering};

use bonnet_graph::{Graph, Unmonitored, connected_components};
use proptest::prelude::*;

use super::*;
use crate::EdgeIds;

fn graph(n: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::from_edges(n, edges)
}

fn effective(graph: &Graph) -> Vec<f64> {
    effective_resistance(graph, None, &Unmonitored).unwrap()
}

fn curvature(graph: &Graph) -> Vec<f64> {
    resistance_curvature(graph, None, &Unmonitored).unwrap()
}

fn assert_all(values: &[f64], expected: f64, tolerance: f64) {
    for value in values {
        assert!((value - expected).abs() <= tolerance * expected.abs(), "{value} is not {expected}");
    }
}

fn assert_same(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "edge {i}: {a} and {b}");
    }
}

/// Numbers by a linear congruential generator.
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn random(n: u32, chance: f64, seed: u64) -> Graph {
    let mut draw = Draw(seed);
    let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
    graph(n as usize, &pairs.filter(|_| draw.unit() < chance).collect::<Vec<_>>())
}

/// A grid with one diagonal in each cell.
fn planar(width: u32, height: u32) -> Vec<(u32, u32)> {
    let at = |x, y| y * width + x;
    let mut edges = Vec::new();
    for y in 0..height {
        for x in 0..width {
            if x > 0 {
                edges.push((at(x - 1, y), at(x, y)));
            }
            if y > 0 {
                edges.push((at(x, y - 1), at(x, y)));
            }
            if x > 0 && y > 0 {
                edges.push((at(x - 1, y - 1), at(x, y)));
            }
        }
    }
    edges
}

/// The definition: the inverse of the Laplacian plus a constant on each component, by Gauss and Jordan with pivoting.
fn literal(graph: &Graph, own: &[f64]) -> Vec<f64> {
    let n = graph.n_nodes();
    let components = connected_components(graph).of_node;
    let mut a = vec![vec![0.0; 2 * n]; n];
    for ((u, v), own) in graph.edges().zip(own) {
        let (u, v, w) = (u as usize, v as usize, 1.0 / own);
        a[u][u] += w;
        a[v][v] += w;
        a[u][v] -= w;
        a[v][u] -= w;
    }
    for u in 0..n {
        a[u][n + u] = 1.0;
        for v in 0..n {
            if components[u] == components[v] {
                a[u][v] += 1.0 / n as f64;
            }
        }
    }
    for pivot in 0..n {
        let row = (pivot..n).max_by(|&a_row, &b_row| a[a_row][pivot].abs().total_cmp(&a[b_row][pivot].abs())).unwrap();
        a.swap(pivot, row);
        let scale = a[pivot][pivot];
        a[pivot].iter_mut().for_each(|x| *x /= scale);
        let pivot_row = a[pivot].clone();
        for (row, values) in a.iter_mut().enumerate().filter(|(row, _)| *row != pivot) {
            let factor = values[pivot];
            if factor != 0.0 && row != pivot {
                values[pivot..].iter_mut().zip(&pivot_row[pivot..]).for_each(|(x, p)| *x -= factor * p);
            }
        }
    }
    let entry = |u: u32, v: u32| a[u as usize][n + v as usize];
    graph.edges().map(|(u, v)| entry(u, u) + entry(v, v) - 2.0 * entry(u, v)).collect()
}

#[test]
fn complete_graphs_cycles_and_trees_have_their_closed_forms() {
    for n in [2u32, 3, 5, 20, 41, 100, 300] {
        let edges: Vec<_> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
        let complete = graph(n as usize, &edges);
        // Each of the n steps rounds.
        assert_all(&effective(&complete), 2.0 / f64::from(n), 1e-14 + 1e-16 * f64::from(n));
        assert_all(&curvature(&complete), 2.0, 1e-11);
    }
    for n in [3u32, 4, 10, 1000, 100_000] {
        let cycle = graph(n as usize, &(0..n).map(|u| (u, (u + 1) % n)).collect::<Vec<_>>());
        assert_all(&effective(&cycle), f64::from(n - 1) / f64::from(n), 1e-15);
        assert_all(&curvature(&cycle), 4.0 / f64::from(n - 1), 1e-10);
    }
    let star = graph(9, &(1..9).map(|v| (0, v)).collect::<Vec<_>>());
    assert_eq!(effective(&star), [1.0; 8]);
    assert!(effective(&graph(3, &[])).is_empty());
    assert_eq!(node_resistance_curvature(&graph(3, &[(0, 1)]), None, &Unmonitored).unwrap(), [0.5, 0.5, 1.0]);
}

#[test]
fn the_rook_and_shrikhande_graphs_have_four_fifths() {
    for steps in [[(0, 1), (0, 2), (1, 0), (2, 0)].as_slice(), &[(0, 1), (1, 0), (1, 1)]] {
        let edges = (0..16).flat_map(|v| steps.iter().map(move |(x, y)| (v, (v / 4 + x) % 4 * 4 + (v % 4 + y) % 4)));
        let graph = graph(16, &edges.collect::<Vec<_>>());
        assert_eq!(graph.n_edges(), 48);
        assert_all(&curvature(&graph), 0.8, 1e-14);
    }
}

#[test]
fn a_ladder_of_50_000_rungs_is_exact() {
    let rungs = 50_000u32;
    let mut edges: Vec<_> = (0..rungs).map(|i| (2 * i, 2 * i + 1)).collect();
    edges.extend((1..rungs).flat_map(|i| [(2 * i - 2, 2 * i), (2 * i - 1, 2 * i + 1)]));
    let ladder = graph(2 * rungs as usize, &edges);
    // What is seen from the last of k rungs: one rung beside two rails in series with the rungs before.
    let mut seen = vec![f64::INFINITY, 1.0];
    for k in 1..rungs as usize {
        seen.push(1.0 / (1.0 + 1.0 / (2.0 + seen[k])));
    }
    for ((u, v), value) in ladder.edges().zip(effective(&ladder)) {
        let (i, last) = ((u / 2) as usize, rungs as usize - 1);
        let expected = match v - u {
            1 => 1.0 / (1.0 + 1.0 / (2.0 + seen[i]) + 1.0 / (2.0 + seen[last - i])),
            _ => 1.0 / (1.0 + 1.0 / (seen[i + 1] + 1.0 + seen[last - i])),
        };
        assert!((value - expected).abs() < 1e-14, "{u} {v}: {value} and {expected}");
    }
}

#[test]
fn random_graphs_agree_with_the_inverse_of_the_laplacian() {
    let mut draw = Draw(7);
    // One front, many fronts, one with many panels and stripes.
    for (n, chance) in [(12, 0.4), (40, 0.2), (41, 0.2), (150, 0.03), (300, 0.02), (420, 0.4)] {
        let graph = random(n, chance, u64::from(n));
        let ones = vec![1.0; graph.n_edges()];
        assert_same(&effective(&graph), &literal(&graph, &ones), 2e-12);
        let own: Vec<f64> = ones.iter().map(|_| (6.0 * draw.unit() - 3.0).exp()).collect();
        assert_same(&effective_resistance(&graph, Some(&own), &Unmonitored).unwrap(), &literal(&graph, &own), 1e-11);
    }
}

/// The resistance between two nodes by conjugate gradients on the Laplacian.
fn by_gradients(graph: &Graph, u: u32, v: u32) -> f64 {
    let n = graph.n_nodes();
    let (mut x, mut r) = (vec![0.0; n], vec![0.0; n]);
    (r[u as usize], r[v as usize]) = (1.0, -1.0);
    let mut p = r.clone();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut rr = dot(&r, &r);
    while rr > 1e-26 {
        let along: Vec<f64> =
            (0..n as u32).map(|a| graph.neighbors(a).iter().map(|&b| p[a as usize] - p[b as usize]).sum()).collect();
        let step = rr / dot(&p, &along);
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
        r.iter_mut().zip(&along).for_each(|(r, a)| *r -= step * a);
        let next = dot(&r, &r);
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + next / rr * *p);
        rr = next;
    }
    x[u as usize] - x[v as usize]
}

#[test]
fn a_planar_graph_in_many_parts_agrees_with_conjugate_gradients_and_with_itself_renumbered() {
    let (width, height) = (110, 100);
    let n = width * height;
    let edges = planar(width, height);
    let graph = graph(n as usize, &edges);
    let values = effective(&graph);
    for (id, (u, v)) in graph.edges().enumerate().step_by(7_777) {
        assert!((values[id] - by_gradients(&graph, u, v)).abs() < 1e-11);
    }
    // 7919 is a prime that does not divide n.
    let renumber = |v: u32| (u64::from(v) * 7919 % u64::from(n)) as u32;
    let other =
        Graph::from_edges(n as usize, &edges.iter().map(|&(u, v)| (renumber(u), renumber(v))).collect::<Vec<_>>());
    let ids = EdgeIds::new(&other);
    let found = effective(&other);
    for ((u, v), value) in graph.edges().zip(&values) {
        assert!((value - found[ids.of(renumber(u), renumber(v)).unwrap()]).abs() < 1e-14);
    }
    let sum: f64 = values.iter().sum();
    assert!((sum - f64::from(n - 1)).abs() < 1e-8);
}

#[test]
fn answers_are_the_same_for_any_number_of_threads() {
    for graph in [graph(12_000, &planar(120, 100)), random(700, 0.2, 3)] {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| effective(&graph)).iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        let one = run(1);
        assert!(one == run(2) && one == run(7));
    }
}

#[test]
fn series_and_parallel_resistances_add_as_they_should() {
    // 0 -2- 1 -3- 2, and 0 -5- 2 beside: 2 is beside 8, 3 beside 7, and 5 beside 5.
    let triangle = graph(3, &[(0, 1), (1, 2), (0, 2)]);
    let own = [2.0, 5.0, 3.0];
    assert_eq!(triangle.edges().collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
    let found = effective_resistance(&triangle, Some(&own), &Unmonitored).unwrap();
    assert_same(&found, &[1.6, 2.5, 2.1], 1e-15);
    // A bridge keeps its own.
    let path = graph(3, &[(0, 1), (1, 2)]);
    let found = effective_resistance(&path, Some(&[0.25, 1e9]), &Unmonitored).unwrap();
    assert!(found[0] == 0.25 && (found[1] / 1e9 - 1.0).abs() < 1e-15);
    let nodes = node_resistance_curvature(&triangle, Some(&own), &Unmonitored).unwrap();
    assert_same(&nodes, &[1.0 - 0.5 * (0.8 + 0.5), 1.0 - 0.5 * (0.8 + 0.7), 1.0 - 0.5 * (0.5 + 0.7)], 1e-15);
}

/// Cayley graphs of cyclic groups and their products: `sides` and the steps.
fn cayley(sides: &[u32], steps: &[&[u32]]) -> Graph {
    let n: u32 = sides.iter().product();
    let moved = |v: u32, step: &[u32]| {
        let (mut rest, mut to, mut scale) = (v, 0, 1);
        for (side, step) in sides.iter().zip(step) {
            to += (rest % side + step) % side * scale;
            rest /= side;
            scale *= side;
        }
        to
    };
    let edges: Vec<_> = (0..n).flat_map(|v| steps.iter().map(move |step| (v, moved(v, step)))).collect();
    graph(n as usize, &edges)
}

#[test]
fn values_that_are_equal_by_symmetry_are_equal_to_the_last_bit() {
    let bipartite = |a: u32, b: u32| {
        graph((a + b) as usize, &(0..a).flat_map(|u| (a..a + b).map(move |v| (u, v))).collect::<Vec<_>>())
    };
    let cube = |d: u32| {
        graph(1 << d, &(0..1 << d).flat_map(|v| (0..d).map(move |bit| (v, v ^ 1u32 << bit))).collect::<Vec<_>>())
    };
    let petersen: Vec<_> = (0..5).flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)]).collect();
    let transitive = [
        random(60, 1.1, 0),
        random(500, 1.1, 0),
        bipartite(3, 17),
        bipartite(200, 211),
        cube(4),
        cube(11),
        graph(10, &petersen),
        cayley(&[4, 4], &[&[1, 0], &[0, 1], &[1, 1]]),
        cayley(&[25, 25], &[&[1, 0], &[0, 1]]),
        cayley(&[9, 9, 9], &[&[1, 0, 0], &[0, 1, 0], &[0, 0, 1]]),
        cayley(&[13], &[&[1], &[3], &[4]]),
        cayley(&[60, 60], &[&[1, 0], &[0, 1], &[1, 1]]),
        cayley(&[1009], &[&[1]]),
    ];
    for graph in transitive {
        // Foster: the values sum to n - 1.
        let expected = (graph.n_nodes() - 1) as f64 / graph.n_edges() as f64;
        let values = effective(&graph);
        assert_all(&values, expected, 1e-13);
        for values in [values, curvature(&graph)] {
            assert!(values.iter().all(|value| value.to_bits() == values[0].to_bits()), "{} nodes", graph.n_nodes());
        }
        let own: Vec<f64> = vec![0.3; graph.n_edges()];
        let values = resistance_curvature(&graph, Some(&own), &Unmonitored).unwrap();
        assert!(values.iter().all(|value| value.to_bits() == values[0].to_bits()), "{} nodes", graph.n_nodes());
    }
    // Transitive on nodes, with two or three kinds of edges.
    for (graph, kinds) in [(cayley(&[7, 12], &[&[1, 0], &[0, 1]]), 2), (cayley(&[101], &[&[1], &[2], &[5]]), 3)] {
        for values in [effective(&graph), curvature(&graph)] {
            let mut bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
            bits.sort_unstable();
            bits.dedup();
            assert_eq!(bits.len(), kinds);
        }
        let nodes = node_resistance_curvature(&graph, None, &Unmonitored).unwrap();
        assert!(nodes.iter().all(|value| value.to_bits() == nodes[0].to_bits()));
    }
}

#[test]
fn theorem_4_is_wrong_an_edge_more_can_lower_a_resistance_curvature() {
    // Curvature Filtrations, Theorem 4, claims that no curvature falls. The path 3-0-1-2 and the edge 0-2: the edge 0-3
    // falls from 1 to 2/3, since 0 gets one more edge while its bridge to 3 stays as it is.
    let before = graph(4, &[(3, 0), (0, 1), (1, 2)]);
    let after = graph(4, &[(3, 0), (0, 1), (1, 2), (0, 2)]);
    let of = |graph: &Graph| curvature(graph)[EdgeIds::new(graph).of(0, 3).unwrap()];
    assert!((of(&before) - 1.0).abs() < 1e-15);
    assert!((of(&after) - 2.0 / 3.0).abs() < 1e-15);
}

#[test]
fn bad_resistances_are_named() {
    let path = graph(3, &[(0, 1), (1, 2)]);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = effective_resistance(&path, Some(&[1.0, bad]), &Unmonitored).unwrap_err();
        assert!(matches!(error, ResistanceError::Resistance { src: 1, dst: 2, .. }), "{error}");
    }
    let error = effective_resistance(&path, Some(&[1.0]), &Unmonitored).unwrap_err();
    assert_eq!(error, ResistanceError::Length(2, 1));
    for extreme in [1e-310, 5e-324] {
        let triangle = graph(3, &[(0, 1), (1, 2), (0, 2)]);
        let error = effective_resistance(&triangle, Some(&[extreme; 3]), &Unmonitored).unwrap_err();
        assert_eq!(error, ResistanceError::Range);
    }
}

struct Tight;

impl Monitor for Tight {
    fn check(&self) -> Result<(), Stopped> {
        Err(Stopped::Cancelled)
    }
    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        if bytes > 1 << 20 { Err(Stopped::OutOfMemory(format!("{bytes}"))) } else { Ok(()) }
    }
    fn release(&self, _: usize) {}
}

#[test]
fn a_run_that_is_cancelled_or_too_large_ends_with_that_reason() {
    let small = effective_resistance(&random(50, 0.5, 1), None, &Tight).unwrap_err();
    assert_eq!(small, ResistanceError::Stopped(Stopped::Cancelled));
    let large = effective_resistance(&random(1000, 0.1, 1), None, &Tight).unwrap_err();
    assert!(matches!(large, ResistanceError::Stopped(Stopped::OutOfMemory(_))));
}

#[derive(Default)]
struct Counting {
    expected: AtomicU64,
    done: AtomicU64,
    advances: AtomicU64,
}

impl Monitor for Counting {
    fn check(&self) -> Result<(), Stopped> {
        Ok(())
    }

    fn reserve(&self, _: usize) -> Result<(), Stopped> {
        Ok(())
    }

    fn release(&self, _: usize) {}

    fn expect(&self, units: u64) {
        self.expected.fetch_add(units, Ordering::SeqCst);
    }

    fn advance(&self, units: u64) {
        self.advances.fetch_add(1, Ordering::SeqCst);
        let done = self.done.fetch_add(units, Ordering::SeqCst) + units;
        assert!(done <= self.expected.load(Ordering::SeqCst), "{done} is more than was expected");
    }
}

#[test]
fn a_dense_and_a_sparse_graph_say_how_far_they_are() {
    for graph in [random(300, 0.7, 3), graph(1600, &planar(40, 40))] {
        let monitor = Counting::default();
        node_resistance_curvature(&graph, None, &monitor).unwrap();
        let [expected, done, advances] =
            [&monitor.expected, &monitor.done, &monitor.advances].map(|count| count.load(Ordering::SeqCst));
        assert!(advances > 10, "{advances} times for {} edges", graph.n_edges());
        assert_eq!(done, expected);
    }
}

fn edges(n: u32, most: usize) -> impl Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((0..n, 0..n), 1..most)
}

proptest! {
    #[test]
    fn small_graphs_agree_with_the_definition_and_the_sum_rules(edges in edges(14, 40), seed in 0u64..100) {
        let graph = graph(14, &edges);
        let mut draw = Draw(seed);
        let own: Vec<f64> = graph.edges().map(|_| 0.1 + draw.unit()).collect();
        let found = effective_resistance(&graph, Some(&own), &Unmonitored).unwrap();
        assert_same(&found, &literal(&graph, &own), 1e-11);
        // Foster: relative resistances sum to n less the number of components; node curvatures to the latter.
        let components = connected_components(&graph).sizes.len();
        let sum: f64 = found.iter().zip(&own).map(|(found, own)| found / own).sum();
        prop_assert!((sum - (14 - components) as f64).abs() < 1e-12);
        let nodes: f64 = node_resistance_curvature(&graph, Some(&own), &Unmonitored).unwrap().iter().sum();
        prop_assert!((nodes - components as f64).abs() < 1e-12);
        prop_assert!(found.iter().zip(&own).all(|(found, own)| *found > 0.0 && *found <= own * (1.0 + 1e-14)));
    }

    #[test]
    fn on_a_tree_resistance_curvature_is_forman_curvature(parents in proptest::collection::vec(0u32..1000, 1..60)) {
        let edges: Vec<_> = parents.iter().zip(1u32..).map(|(parent, v)| (v, parent % v)).collect();
        let tree = graph(parents.len() + 1, &edges);
        let pairs: Vec<_> = tree.edges().collect();
        let forman = crate::forman_ricci(&tree, &pairs, &Unmonitored).unwrap();
        let forman: Vec<f64> = forman.into_iter().map(|value| value.unwrap() as f64).collect();
        assert_same(&curvature(&tree), &forman, 1e-13);
    }

    #[test]
    fn one_edge_more_changes_a_curvature_by_no_more_than_the_bound_of_eq_5(
        edges in edges(9, 30), extra in (0u32..9, 0u32..9),
    ) {
        // Curvature Filtrations, Eq. 5, where its denominator is positive. R of any pair is that of an edge of resistance
        // one beside it: R = x / (1 - x) for the found x.
        let before = graph(9, &edges);
        let after = graph(9, &[edges.as_slice(), &[extra]].concat());
        prop_assume!(connected_components(&before).sizes.len() == 1 && after.n_edges() > before.n_edges());
        let between = |u: u32, v: u32| {
            if let Some(id) = EdgeIds::new(&before).of(u, v) {
                return effective(&before)[id];
            }
            let more = graph(9, &[edges.as_slice(), &[(u, v)]].concat());
            let x = effective(&more)[EdgeIds::new(&more).of(u, v).unwrap()];
            x / (1.0 - x)
        };
        let degree = |v: u32| before.degree(v) as f64;
        let pairs = (0..9).flat_map(|u| (0..u).map(move |v| (u, v)));
        let gap = |(u, v)| between(u, v) - 0.5 * (1.0 / (degree(u) + 1.0) + 1.0 / (degree(v) + 1.0));
        let largest = pairs.map(gap).fold(0.0, f64::max);
        let ids = EdgeIds::new(&after);
        let (old, new) = (curvature(&before), curvature(&after));
        for (id, (u, v)) in before.edges().enumerate() {
            let room = between(u, v) - largest;
            if room > 0.0 {
                let change = (new[ids.of(u, v).unwrap()] - old[id]).abs();
                prop_assert!(change <= largest * (degree(u) + degree(v)) / room + 1e-12);
            }
        }
    }

    #[test]
    fn no_edge_raises_a_resistance(edges in edges(12, 30), extra in (0u32..12, 0u32..12)) {
        // Rayleigh's law.
        let before = graph(12, &edges);
        let after = graph(12, &[edges.as_slice(), &[extra]].concat());
        let (ids, new) = (EdgeIds::new(&after), effective(&after));
        for ((u, v), old) in before.edges().zip(effective(&before)) {
            prop_assert!(new[ids.of(u, v).unwrap()] <= old + 1e-14);
        }
    }
}
