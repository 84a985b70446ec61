//! Midpoint curvature against the definition taken literally, closed forms, and published figures.

mod limits;
mod samples;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use bonnet_graph::{Graph, Stopped, Unmonitored, connected_components};

use super::sampling::SplitMix64;
use super::spread::GROUP;
use super::*;

type Arcs = Vec<(u32, u32)>;

/// Random numbers for test graphs: a linear congruential generator (Knuth's MMIX constants).
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    /// Arcs between random nodes: loops, repeats, isolated nodes and several components occur.
    fn arcs(&mut self, n: u32, count: u32) -> Arcs {
        (0..count).map(|_| (self.below(n), self.below(n))).collect()
    }

    /// Hangs trees with `count` nodes in all from nodes of a graph with `n`.
    fn hang_trees(&mut self, arcs: &mut Arcs, n: u32, count: u32) -> u32 {
        for v in n..n + count {
            // Half of them continue a tree, so that trees grow deep.
            let parent = if v > n && self.below(2) == 0 { v - 1 } else { self.below(v) };
            arcs.push((parent, v));
        }
        n + count
    }
}

/// All distances, along arcs or not.
fn distances(n: usize, arcs: &[(u32, u32)], directed: bool) -> Vec<Vec<Option<u32>>> {
    let mut successors = vec![Vec::new(); n];
    for &(u, v) in arcs {
        successors[u as usize].push(v as usize);
        if !directed {
            successors[v as usize].push(u as usize);
        }
    }
    (0..n)
        .map(|source| {
            let mut distance = vec![None; n];
            distance[source] = Some(0);
            let mut queue = VecDeque::from([source]);
            while let Some(v) = queue.pop_front() {
                for &y in &successors[v] {
                    if distance[y].is_none() {
                        distance[y] = distance[v].map(|d| d + 1);
                        queue.push_back(y);
                    }
                }
            }
            distance
        })
        .collect()
}

/// The definition: every anchor of `anchors(m)`, every pair of neighbours, on the matrix of all distances. Gives, by
/// node, the residual of each anchor, in their order, and the divisor of Eq. 3.
struct Literal {
    residuals: Vec<Vec<(u32, f64)>>,
    has_pairs: Vec<bool>,
    largest: f64,
}

fn literal(
    n: usize,
    arcs: &[(u32, u32)],
    options: &MidpointOptions,
    diameter: u32,
    anchors: impl Fn(u32) -> Vec<u32>,
) -> Literal {
    let finite = distances(n, arcs, options.directed);
    let mut largest = f64::from(diameter);
    if let Some(factor) = options.unreachable
        && finite.iter().flatten().any(Option::is_none)
    {
        largest = largest.max(factor * largest);
    }
    let d = |a: u32, b: u32| -> Option<f64> {
        let unreachable = options.unreachable.map(|factor| factor * f64::from(diameter));
        finite[a as usize][b as usize].map(f64::from).or(unreachable)
    };
    let mut neighbors = vec![Vec::new(); n];
    for &(u, v) in arcs {
        if u != v || options.self_loops {
            neighbors[u as usize].push(v);
            if !options.directed {
                neighbors[v as usize].push(u);
            }
        }
    }
    let mut literal = Literal { residuals: Vec::new(), has_pairs: Vec::new(), largest };
    for m in 0..n as u32 {
        let around = &mut neighbors[m as usize];
        around.sort_unstable();
        around.dedup();
        let mut pairs = Vec::new();
        for (i, &b) in around.iter().enumerate() {
            for &c in &around[i + 1..] {
                if let Some(between) = d(b, c) {
                    pairs.push((b, c, between));
                }
            }
        }
        let mut residuals = Vec::new();
        for a in anchors(m) {
            let Some(height) = d(a, m) else { continue };
            if a == m || pairs.is_empty() {
                continue;
            }
            let mut sum = 0.0;
            for &(b, c, between) in &pairs {
                let (left, right) = (d(a, b).unwrap(), d(a, c).unwrap());
                let residual = height * height + between * between / 4.0 - (left * left + right * right) / 2.0;
                sum += residual / (2.0 * height);
            }
            residuals.push((a, sum / pairs.len() as f64));
        }
        literal.has_pairs.push(!pairs.is_empty());
        literal.residuals.push(residuals);
    }
    literal
}

impl Literal {
    fn mean(&self, m: usize, relative: bool) -> f64 {
        let residuals = &self.residuals[m];
        if residuals.is_empty() {
            return 0.0;
        }
        let mean = residuals.iter().map(|r| r.1).sum::<f64>() / residuals.len() as f64;
        if relative { mean / self.largest } else { mean }
    }
}

fn diameter(n: usize, arcs: &[(u32, u32)], directed: bool) -> u32 {
    distances(n, arcs, directed).into_iter().flatten().flatten().max().unwrap_or(0)
}

fn assert_literal(n: usize, arcs: &[(u32, u32)], options: &MidpointOptions) {
    let found = midpoint_curvature(n, arcs, options, &Unmonitored).unwrap();
    let diameter = diameter(n, arcs, options.directed);
    assert_eq!(found.diameter, diameter, "{options:?} {arcs:?}");
    assert_eq!(found.standard_error, None);
    let expected = literal(n, arcs, options, diameter, |_| (0..n as u32).collect());
    for m in 0..n {
        let (found, expected) = (found.curvature[m].unwrap(), expected.mean(m, options.relative));
        assert!((found - expected).abs() <= 1e-12, "node {m}: {found}, not {expected}; {options:?} {arcs:?}");
    }
}

fn every_option() -> Vec<MidpointOptions> {
    let mut all = Vec::new();
    for relative in [true, false] {
        for directed in [false, true] {
            for self_loops in [false, true] {
                for unreachable in [None, Some(0.7), Some(1.0), Some(2.5)] {
                    all.push(MidpointOptions { relative, directed, self_loops, unreachable, ..Default::default() });
                }
            }
        }
    }
    all
}

fn exact(n: usize, arcs: &[(u32, u32)]) -> Vec<f64> {
    let options = MidpointOptions { relative: false, ..Default::default() };
    let found = midpoint_curvature(n, arcs, &options, &Unmonitored).unwrap();
    found.curvature.into_iter().map(Option::unwrap).collect()
}

fn assert_all_near(values: &[f64], expected: f64) {
    assert!(values.iter().all(|x| (x - expected).abs() < 1e-14), "{values:?}, not {expected}");
}

fn grid(width: u32, height: u32) -> Arcs {
    let at = |x, y| y * width + x;
    let across = (0..height).flat_map(move |y| (1..width).map(move |x| (at(x - 1, y), at(x, y))));
    across.chain((1..height).flat_map(move |y| (0..width).map(move |x| (at(x, y - 1), at(x, y))))).collect()
}

/// Preferential attachment, each node linked to `m` endpoints of earlier edges.
fn preferential(n: u32, m: u32, random: &mut Lcg) -> Arcs {
    let mut arcs: Arcs = (1..=m).map(|v| (0, v)).collect();
    for v in m + 1..n {
        for _ in 0..m {
            let (a, b) = arcs[random.below(arcs.len() as u32) as usize];
            arcs.push((v, if random.below(2) == 0 { a } else { b }));
        }
    }
    arcs
}

#[test]
fn small_graphs_follow_the_definition_under_every_combination_of_options() {
    let mut random = Lcg(1);
    for _ in 0..60 {
        let n = 1 + random.below(12);
        let count = random.below(2 * n + 2);
        let arcs = random.arcs(n, count);
        for options in every_option() {
            assert_literal(n as usize, &arcs, &options);
        }
    }
}

#[test]
fn trees_with_loops_follow_the_definition() {
    let mut random = Lcg(2);
    for _ in 0..40 {
        let mut arcs = random.arcs(4, 4);
        let n = random.hang_trees(&mut arcs, 4, 12);
        arcs.push((n - 1, n - 1));
        for options in every_option() {
            assert_literal(n as usize, &arcs, &options);
        }
    }
}

#[test]
fn graphs_large_enough_for_batches_follow_the_definition() {
    let mut random = Lcg(3);
    let mut graphs: Vec<(usize, Arcs)> = vec![(30 * 20, grid(30, 20)), (7 * 120, grid(7, 120))];
    graphs.push((700, random.arcs(700, 2000)));
    graphs.push((550, preferential(550, 3, &mut random)));
    let mut arcs = random.arcs(560, 1900);
    let n = random.hang_trees(&mut arcs, 560, 250);
    graphs.push((n as usize, arcs));
    // Neighbourhoods larger than a lane's count, with trees of two kinds only.
    let mut arcs = random.arcs(520, 18_000);
    (0..200).for_each(|v| arcs.push((2 * v, 520 + v)));
    graphs.push((720, arcs));
    // A long ring of 600 with one long and many short tails.
    let mut arcs: Arcs = (0..600).map(|v| (v, (v + 1) % 600)).collect();
    arcs.push((3, 5));
    arcs.extend((600..700).map(|v| (if v == 600 { 0 } else { v - 1 }, v)));
    arcs.extend((0..100).map(|v| (5 * v + 3, 700 + v)));
    graphs.push((800, arcs));
    for (n, arcs) in graphs {
        for self_loops in [false, true] {
            assert_literal(n, &arcs, &MidpointOptions { self_loops, ..Default::default() });
        }
    }
}

#[test]
fn every_thread_count_and_instruction_set_gives_the_same_bits() {
    let mut random = Lcg(4);
    let mut arcs = preferential(2500, 4, &mut random);
    let n = random.hang_trees(&mut arcs, 2500, 1500);
    arcs.extend(random.arcs(30, 25).into_iter().map(|(u, v)| (n + u, n + v)));
    let n = n as usize + 30;
    for anchors in [None, Some(100), Some(700)] {
        for directed in [false, true] {
            let options = MidpointOptions { anchors, directed, seed: 5, ..Default::default() };
            let mut reference: Option<MidpointCurvature> = None;
            for threads in [1, 2, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                for isa in Isa::available() {
                    let host = Host { monitor: &Unmonitored, isa };
                    let found = pool.install(|| midpoint_curvature_on(n, &arcs, &options, &host)).unwrap();
                    let reference = reference.get_or_insert_with(|| found.clone());
                    let bits = |c: &MidpointCurvature| -> Vec<Option<u64>> {
                        let errors = c.standard_error.iter().flatten();
                        c.curvature.iter().chain(errors).map(|x| x.map(f64::to_bits)).collect()
                    };
                    assert_eq!(found.diameter, reference.diameter);
                    assert!(bits(&found) == bits(reference), "{threads} threads, {isa:?}, {options:?}");
                }
            }
        }
    }
}

#[test]
fn a_plan_gives_what_a_call_without_one_gives() {
    let mut random = Lcg(31);
    for (n, count) in [(0, 0), (1, 1), (30, 25), (700, 1400)] {
        let mut arcs = if n > 0 { random.arcs(n, count) } else { Vec::new() };
        let n = if n > 0 { random.hang_trees(&mut arcs, n, n / 2) } else { 0 };
        let graph = Graph::from_edges(n as usize, &arcs);
        let plan = MidpointPlan::new(&graph, &Unmonitored).unwrap();
        for (relative, unreachable) in [(true, None), (false, Some(1.5)), (true, Some(2.0))] {
            let options = MidpointOptions { relative, unreachable, ..MidpointOptions::default() };
            let alone = midpoint_curvature(n as usize, &arcs, &options, &Unmonitored).unwrap();
            for _ in 0..2 {
                assert_eq!(plan.curvature(&graph, &options, &Unmonitored).unwrap(), alone);
            }
        }
    }
}

/// Whether both ways of summing over the anchors of a connected graph agree.
fn same_sums(n: u32, arcs: &Arcs) -> bool {
    let graph = Graph::from_edges(n as usize, arcs);
    let pruned = pendant::prune(&graph, &vec![false; n as usize], &Unmonitored).unwrap();
    let nodes: Vec<u32> = (0..n).filter(|&v| pruned.kept[v as usize]).collect();
    let mut place = vec![0; n as usize];
    nodes.iter().zip(0..).for_each(|(&v, i)| place[v as usize] = i);
    let part = adjacency::Adjacency::part(&graph, &nodes, &place, |y| pruned.kept[y as usize]);
    let host = Host { monitor: &Unmonitored, isa: Isa::detect() };
    let core = core::Core::new(&part, &nodes, &pruned, &Unmonitored).unwrap();
    core::one_by_one(&part, &nodes, &pruned, &host) == core.sums(&nodes, &pruned, &host)
}

#[test]
fn plain_searches_and_batches_give_the_same_sums() {
    let mut random = Lcg(5);
    for shared in [false, true] {
        let mut arcs: Arcs = (0..400).map(|v| (v, (v + 1) % 400)).collect();
        arcs.extend(random.arcs(400, 300));
        // Trees of few or of many sizes: planes or lists.
        let n = if shared { random.hang_trees(&mut arcs, 400, 90) } else { random.hang_trees(&mut arcs, 400, 2000) };
        assert!(same_sums(n, &arcs));
    }
}

#[test]
fn low_trees_are_searched_from_as_trees_of_late_searches() {
    // So many leaves that the digits of their number get batches of their own.
    let mut arcs: Arcs = (0..600).map(|v| (v, (v + 1) % 600)).collect();
    arcs.extend((0..300).map(|v| (v, (7 * v + 3) % 600)));
    let mut n = 600;
    for v in 0..600 {
        for _ in 0..2 + v % 13 {
            arcs.push((v, n));
            n += 1;
        }
    }
    assert!(same_sums(n, &arcs));
    // Paths that are longer than all distances between their endpoints: what comes up one does not go down it again.
    for (left, right) in [(8, 0), (8, 1), (3, 8), (9, 0), (9, 8), (12, 10)] {
        let mut arcs: Arcs = vec![(0, 1), (1, 2), (0, 2)];
        let mut n = 3;
        for (end, length) in [(0, left), (1, right)] {
            let mut last = end;
            for _ in 0..length {
                arcs.push((last, n));
                (last, n) = (n, n + 1);
            }
        }
        assert!(same_sums(n, &arcs), "{left} {right}");
        assert_literal(n as usize, &arcs, &MidpointOptions::default());
    }
}

#[test]
fn closed_forms() {
    // Trees: (2 - k)/k from two neighbours on.
    let star: Arcs = (1..8).map(|v| (0, v)).collect();
    assert_all_near(&exact(8, &star)[..1], -5.0 / 7.0);
    assert_all_near(&exact(8, &star)[1..], 0.0);
    let path: Arcs = (0..900).map(|v| (v, v + 1)).collect();
    assert_all_near(&exact(901, &path), 0.0);
    let mut random = Lcg(6);
    let mut tree = Vec::new();
    let n = random.hang_trees(&mut tree, 1, 3000) as usize;
    let graph = Graph::from_edges(n, &tree);
    for (v, x) in exact(n, &tree).into_iter().enumerate() {
        let k = graph.degree(v as u32) as f64;
        assert_eq!(x, if k < 2.0 { 0.0 } else { (2.0 - k) / k });
    }
    // Complete graphs: 1/8 + 1/(2k), also where a batch has to do it.
    for n in [3, 4, 5, 6, 600] {
        let complete: Arcs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
        assert_all_near(&exact(n as usize, &complete), 0.125 + 0.5 / f64::from(n - 1));
    }
    let mut petersen: Arcs = (0..5).flat_map(|v| [(v, (v + 1) % 5), (5 + v, 5 + (v + 2) % 5)]).collect();
    petersen.extend((0..5).map(|v| (v, v + 5)));
    assert_all_near(&exact(10, &petersen), 2.0 / 9.0);
    // Even cycle, bipartite: only the antipode has both neighbours closer: 1/(n - 1) of one.
    for n in [4u32, 10, 1200] {
        let cycle: Arcs = (0..n).map(|v| (v, (v + 1) % n)).collect();
        assert_all_near(&exact(n as usize, &cycle), 1.0 / f64::from(n - 1));
    }
    // Hypercube of dimension q: over anchors at distance D, (D - (q - D))/q; without the centre, 1/(2^q - 1).
    for q in [3, 10] {
        let cube: Arcs = (0..1u32 << q).flat_map(|v| (0..q).map(move |bit| (v, v ^ (1 << bit)))).collect();
        assert_all_near(&exact(1 << q, &cube), 1.0 / f64::from((1 << q) - 1));
    }
}

#[test]
fn a_disjoint_union_keeps_its_parts_and_the_order_of_nodes_does_not_matter() {
    let mut random = Lcg(7);
    let arcs = random.arcs(40, 70);
    let alone = exact(40, &arcs);
    let mut both = arcs.clone();
    both.extend(arcs.iter().map(|&(u, v)| (79 - v, 79 - u)));
    let union = exact(80, &both);
    for v in 0..40 {
        assert_eq!((union[v], union[79 - v]), (alone[v], alone[v]));
    }
}

#[test]
fn no_nodes_no_edges_and_loops_alone_are_graphs() {
    for options in every_option() {
        for anchors in [None, Some(1), Some(20)] {
            let options = MidpointOptions { anchors, ..options.clone() };
            let of = |n, arcs: &[(u32, u32)]| midpoint_curvature(n, arcs, &options, &Unmonitored).unwrap();
            assert!(of(0, &[]).curvature.is_empty());
            let found = of(3, &[(1, 1), (1, 1)]);
            assert_eq!((found.curvature, found.diameter), (vec![Some(0.0); 3], 0));
        }
    }
}

#[test]
fn bad_options_and_arcs_say_what_to_do() {
    let error = |options: MidpointOptions| midpoint_curvature(2, &[(0, 1)], &options, &Unmonitored).unwrap_err();
    let options = MidpointOptions::default;
    assert_eq!(error(MidpointOptions { anchors: Some(0), ..options() }), MidpointError::NoAnchors);
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = error(MidpointOptions { unreachable: Some(factor), ..options() });
        assert!(error.to_string().starts_with(&format!("unreachable is {factor}; give a positive number")));
    }
    let error = midpoint_curvature(2, &[(0, 1), (1, 2)], &options(), &Unmonitored).unwrap_err();
    assert_eq!(error.to_string(), "arc 1 joins nodes 1 and 2, but there are only 2 nodes");
}
