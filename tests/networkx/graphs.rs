//! The graphs of a comparison, and their tables.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::fuzz::random::Random;

/// A graph, and what calls name of it.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    id: u64,
    nodes: Vec<i64>,
    /// Ends; whether they are arcs is for each call to say.
    rows: Vec<(i64, i64)>,
    sources: Vec<i64>,
    /// Pairs of nodes: each once.
    pairs: Vec<(i64, i64)>,
    /// The rows of the other graph of `is_isomorphic`, the same for all samples.
    other: Vec<(i64, i64)>,
}

/// The key of a node: not its number.
fn key(number: usize) -> i64 {
    10 * number as i64 + 3
}

/// The node that paths and flows start from, and the one where flows end.
pub(super) const SOURCE: i64 = 3;
pub(super) const TARGET: i64 = 13;

/// Graphs of 2 to 24 nodes: sparse, dense, in several parts, with loops, repeats, edges both ways and isolated nodes; every
/// fourth is the one before it under other names.
pub(super) fn random_graphs(seed: u64, count: u64) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    for id in 0..count {
        let random = &mut Random::new(seed, id);
        let mut sample = match samples.last() {
            Some(before) if id % 4 == 3 => renamed(before, random),
            _ => random_graph(random),
        };
        sample.id = id;
        samples.push(sample);
    }
    // Of the third, the fourth is a copy.
    let other = samples.get(2).or(samples.first()).map(|sample| sample.rows.clone()).unwrap_or_default();
    for sample in &mut samples {
        sample.other.clone_from(&other);
    }
    samples
}

fn random_graph(random: &mut Random) -> Sample {
    let most = if random.one_in(4) { 6 } else { 23 };
    let n = 2 + random.below(most);
    let parts = 1 + random.below(3);
    let isolated = if random.one_in(3) { random.below(n) / 2 } else { 0 };
    let m = match random.below(4) {
        0 => 1 + n / 2,
        1 => n,
        2 => 2 * n,
        _ => 1 + n * n / 4,
    };
    let mut rows: Vec<(i64, i64)> = Vec::new();
    for _ in 0..m {
        let u = random.below(n - isolated);
        let v = match random.below(10) {
            0 => u,
            _ => random.below(n - isolated),
        };
        let (u, v) = if u % parts == v % parts { (u, v) } else { (u, v / parts * parts + u % parts) };
        rows.push((key(u), key(v.min(n - 1))));
        if random.one_in(6) {
            let (u, v) = rows[random.below(rows.len())];
            rows.push(if random.one_in(2) { (u, v) } else { (v, u) });
        }
    }
    sample(n, rows, random)
}

/// A weighted graph of the kind that Graphalytics generates: few of its nodes have most of its edges. A node is joined with
/// up to four of those before it, by their degrees; one in eight stays by itself. Arcs go either way, and some both.
pub(super) fn power_law(n: usize) -> Sample {
    let random = &mut Random::new(0, 0);
    let mut rows: Vec<(i64, i64)> = Vec::new();
    // A node stands here once, and once more for each of its edges.
    let mut ends: Vec<usize> = vec![0];
    for node in 1..n {
        if random.one_in(8) {
            continue;
        }
        let others: Vec<usize> = (0..1 + random.below(4)).map(|_| ends[random.below(ends.len())]).collect();
        ends.push(node);
        for other in others {
            let (u, v) = if random.one_in(2) { (node, other) } else { (other, node) };
            rows.push((key(u), key(v)));
            if random.one_in(5) {
                rows.push((key(v), key(u)));
            }
            ends.extend([node, other]);
        }
    }
    sample(n, rows, random)
}

/// What calls name is drawn beside.
fn sample(n: usize, rows: Vec<(i64, i64)>, random: &mut Random) -> Sample {
    let nodes: Vec<i64> = (0..n).map(key).collect();
    let sources = (0..3.min(n)).map(|i| key((i * 7 + random.below(2)) % n)).collect::<std::collections::BTreeSet<_>>();
    let pairs = (0..8).map(|_| (key(random.below(n)), key(random.below(n))));
    let pairs: std::collections::BTreeSet<_> = pairs.collect();
    let (sources, pairs) = (sources.into_iter().collect(), pairs.into_iter().collect());
    Sample { id: 0, nodes, rows, sources, pairs, other: Vec::new() }
}

fn renamed(before: &Sample, random: &mut Random) -> Sample {
    let n = before.nodes.len();
    let mut names: Vec<i64> = before.nodes.clone();
    for i in (1..n).rev() {
        names.swap(i, random.below(i + 1));
    }
    let name: BTreeMap<i64, i64> = before.nodes.iter().copied().zip(names).collect();
    let rows = before.rows.iter().rev().map(|(u, v)| (name[u], name[v])).collect();
    sample(n, rows, random)
}

impl Sample {
    /// The graph of rows of keys, numbered in their order; the other one is the same under other names.
    pub(super) fn of_rows(rows: &[Vec<String>]) -> Self {
        let number = |text: &String| text.parse::<i64>().unwrap();
        let rows: Vec<(i64, i64)> = rows.iter().map(|row| (number(&row[0]), number(&row[1]))).collect();
        let mut keys: Vec<i64> = rows.iter().flat_map(|&(u, v)| [u, v]).collect();
        keys.sort_unstable();
        keys.dedup();
        let of = |node: i64| key(keys.binary_search(&node).unwrap());
        let rows = rows.into_iter().map(|(u, v)| (of(u), of(v))).collect();
        let random = &mut Random::new(0, 0);
        let mut sample = sample(keys.len(), rows, random);
        sample.other = renamed(&sample, random).rows;
        sample
    }

    /// The number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The same weight for both arcs of an edge, in halves so that sums are exact.
    fn weight(u: i64, v: i64) -> f64 {
        let (low, high) = (u.min(v), u.max(v));
        f64::from(1 + u32::try_from((low * 31 + high * 17) % 11).unwrap()) / 2.0
    }

    /// Weights of either sign and no cycle of a negative sum: what a potential adds along a path depends on its ends alone.
    fn signed(u: i64, v: i64) -> f64 {
        let potential = |node: i64| f64::from(u32::try_from(node * 7 % 13).unwrap());
        Self::weight(u, v) + potential(v) - potential(u)
    }

    /// Where walks jump to, by which share.
    fn jumps(&self) -> Vec<(i64, f64)> {
        self.sources.iter().zip(1..).map(|(&node, share)| (node, f64::from(share))).collect()
    }

    /// From each source to some nodes, and back.
    fn ends(&self) -> Vec<(i64, i64)> {
        let targets = self.nodes.iter().step_by(1 + self.nodes.len() / 3).copied();
        targets.flat_map(|target| self.sources.iter().map(move |&source| (source, target))).collect()
    }

    pub(super) fn json(&self) -> Value {
        let edge = |&(u, v): &(i64, i64)| json!([u, v, Self::weight(u, v), Self::signed(u, v)]);
        json!({
            "id": self.id, "nodes": self.nodes, "edges": self.rows.iter().map(edge).collect::<Vec<_>>(),
            "sources": self.sources, "jumps": self.jumps(), "pairs": self.pairs, "ends": self.ends(),
            "other": self.other, "source": SOURCE, "target": TARGET,
        })
    }
}

/// The statements that make the tables of the graphs.
pub(super) fn tables(samples: &[Sample]) -> Vec<String> {
    let table = |name: &str, columns: &str, row: &dyn Fn(&Sample) -> Vec<String>| {
        let rows =
            samples.iter().flat_map(|sample| row(sample).into_iter().map(|row| format!("({}, {row})", sample.id)));
        let rows: Vec<String> = rows.collect();
        format!("CREATE TABLE {name} AS SELECT * FROM (VALUES {}) AS t(graph_id, {columns})", rows.join(", "))
    };
    let edge = |&(u, v): &(i64, i64)| format!("{u}, {v}, {:?}, {:?}", Sample::weight(u, v), Sample::signed(u, v));
    let pair = |(u, v): &(i64, i64)| format!("{u}, {v}");
    let listed = |nodes: &[i64]| nodes.iter().map(i64::to_string).collect();
    let other = samples.first().map(|sample| sample.other.iter().map(|(u, v)| format!("({u}, {v})")));
    let other: Vec<String> = other.into_iter().flatten().collect();
    let other = if other.is_empty() { "(3, 13)".to_owned() } else { other.join(", ") };
    vec![
        table("e", "src, dst, weight, signed", &|sample| sample.rows.iter().map(edge).collect()),
        table("n", "node", &|sample| listed(&sample.nodes)),
        table("sources", "node", &|sample| listed(&sample.sources)),
        table("jumps", "node, weight", &|sample| {
            sample.jumps().iter().map(|(node, share)| format!("{node}, {share:?}")).collect()
        }),
        table("pairs", "src, dst", &|sample| sample.pairs.iter().map(pair).collect()),
        table("ends", "node, target", &|sample| sample.ends().iter().map(pair).collect()),
        table("thirds", "node, community", &|sample| {
            sample.nodes.iter().zip(0..).map(|(node, number)| format!("{node}, {}", number % 3)).collect()
        }),
        format!("CREATE TABLE other AS SELECT * FROM (VALUES {other}) AS t(src, dst)"),
    ]
}
