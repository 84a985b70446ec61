//! Witnesses of embeddings: closed forms, a dense decomposition, communities that are found again, a literal gradient descent.

use bonnet_graph::random::{below, shuffle};
use bonnet_graph::{Graph, Unmonitored};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::WeightedArcs;
use bonnet_encodings::columns::symmetric;

fn svd(graph: &Graph, count: usize) -> Vec<f64> {
    adjacency_svd(Network::undirected(graph), count, 8, 1, &Unmonitored).unwrap()
}

/// Edges by a fixed rule.
fn scattered(n: u32) -> Graph {
    let edges: Vec<(u32, u32)> =
        (0..n).flat_map(|v| [1, 7, 31].map(|step| (v, (v * 3 + step * step + v / 5) % n))).collect();
    Graph::from_edges(n as usize, &edges)
}

#[test]
fn singular_vectors_have_their_closed_forms() {
    // A star of m leaves: sqrt(m) twice, once on the centre and once on the leaves; all else is 0.
    let star = Graph::from_edges(17, &(1..17).map(|leaf| (0, leaf)).collect::<Vec<_>>());
    let found = svd(&star, 4);
    assert!((found[0] - 2.0).abs() < 1e-12 && found[1..4].iter().all(|x| x.abs() < 1e-12));
    for leaf in found.chunks(4).skip(1) {
        assert!(leaf[0].abs() < 1e-12 && (leaf[1] - 0.5).abs() < 1e-12 && leaf[2] == 0.0 && leaf[3] == 0.0);
    }
    // A complete graph: n - 1 of the constant vector.
    let complete = Graph::from_edges(9, &(0..9u32).flat_map(|u| (0..u).map(move |v| (u, v))).collect::<Vec<_>>());
    svd(&complete, 1).iter().for_each(|x| assert!((x - 8f64.sqrt() / 3.0).abs() < 1e-12));
    // Arcs 0 -> 1 of weight 4: of the nodes that point, 0 has the value 4, 1 none.
    let (out, into) = (WeightedArcs::new(2, [(0, 1, 4.0)].into_iter()).unwrap(), [(1, 0, 4.0)]);
    let into = WeightedArcs::new(2, into.into_iter()).unwrap();
    let found = adjacency_svd(Network::weighted(&out, Some(&into)), 1, 8, 0, &Unmonitored).unwrap();
    assert!((found[0] - 2.0).abs() < 1e-12 && found[1].abs() < 1e-12);
}

#[test]
fn singular_vectors_are_those_of_the_dense_matrix() {
    let (n, count) = (150, 12);
    let graph = scattered(n as u32);
    let entry = |at: usize| f64::from(u8::from(graph.has_edge((at / n) as u32, (at % n) as u32)));
    let (values, vectors) = symmetric(n, &(0..n * n).map(entry).collect::<Vec<_>>()).unwrap();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    // Without a cut through equal values.
    assert!(values[order[count - 1]].abs() - values[order[count]].abs() > 1e-3);
    let found = adjacency_svd(Network::undirected(&graph), count, 60, 1, &Unmonitored).unwrap();
    for u in 0..n {
        for v in 0..n {
            let expected: f64 =
                order[..count].iter().map(|&i| values[i].abs() * vectors[u * n + i] * vectors[v * n + i]).sum();
            let product: f64 = (0..count).map(|i| found[u * count + i] * found[v * count + i]).sum();
            assert!((product - expected).abs() < 1e-6, "({u}, {v}): {product} {expected}");
        }
    }
}

/// Communities of `size` nodes with a chance of an edge within and one between.
fn planted(communities: usize, size: usize, within: f64, between: f64, seed: u64) -> Graph {
    let n = communities * size;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut edges = Vec::new();
    for u in 0..n {
        for v in 0..u {
            let chance = if u / size == v / size { within } else { between };
            if (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 <= chance {
                edges.push((u as u32, v as u32));
            }
        }
    }
    Graph::from_edges(n, &edges)
}

/// The share of nodes whose nearest other node by cosine is of their community.
fn recovered(vectors: &[f32], dimension: usize, size: usize) -> f64 {
    let rows: Vec<&[f32]> = vectors.chunks(dimension).collect();
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum::<f64>();
    let cosine =
        |u: usize, v: usize| product(rows[u], rows[v]) / (product(rows[u], rows[u]) * product(rows[v], rows[v])).sqrt();
    let found = (0..rows.len()).filter(|&u| {
        let nearest = (0..rows.len()).filter(|&v| v != u).max_by(|&a, &b| cosine(u, a).total_cmp(&cosine(u, b)));
        nearest.is_some_and(|v| v / size == u / size)
    });
    found.count() as f64 / rows.len() as f64
}

#[test]
fn walks_find_communities_again() {
    // Ten communities, so that a tenth comes by chance: in one part of vectors, and in several.
    for (size, parts) in [(12, "one"), (60, "nine")] {
        let graph = planted(10, size, 8.0 / size as f64, 2.0 / (9.0 * size as f64), 3);
        let walks = WalkOptions { length: 40, q: 2.0, seed: 5, ..WalkOptions::default() };
        let options = SkipGramOptions { dimension: 32, epochs: 5, seed: 5, ..SkipGramOptions::default() };
        let found = walk_embedding(Network::undirected(&graph), &walks, &options, &Unmonitored).unwrap();
        let share = recovered(&found, 32, size);
        assert!(share > 0.9, "{parts} part: {share}");
    }
}

#[test]
fn training_is_the_descent_of_its_loss() {
    // The definition in f64, over one part of vectors, with the same draws.
    let graph = scattered(40);
    let walks = WalkOptions { walks: 4, length: 20, seed: 3, ..WalkOptions::default() };
    let options = SkipGramOptions { dimension: 6, window: 3, epochs: 2, seed: 9, ..SkipGramOptions::default() };
    let found = walk_embedding(Network::undirected(&graph), &walks, &options, &Unmonitored).unwrap();
    let sources: Vec<u32> = (0..40).collect();
    let walks = random_walks(Network::undirected(&graph), &sources, &walks, &Unmonitored).unwrap();

    let stream = |purpose: u64, number: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(9u64.wrapping_add(purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        random.set_stream(number);
        random
    };
    let mut random = stream(1, 0);
    let mut place: Vec<usize> = (0..40).collect();
    shuffle(&mut place, || random.next_u64());
    let mut random = stream(1, 1);
    let mut order: Vec<usize> = (0..walks.len()).collect();
    shuffle(&mut order, || random.next_u64());
    let mut random = stream(1, 2);
    let mut inputs = vec![[0.0f64; 6]; 40];
    for &place in &place {
        inputs[place] =
            std::array::from_fn(|_| (f64::from((random.next_u32() >> 8) as f32 / (1u32 << 24) as f32) - 0.5) / 6.0);
    }
    let mut outputs = vec![[0.0f64; 6]; 40];
    // 160 walks of 21 nodes fill less than one chunk, in 8 pieces.
    assert!(walks.iter().map(Vec::len).sum::<usize>() <= 1 << 12);
    let noise = super::skip_gram::tests::noise(&walks, &place);
    for epoch in 0..2u64 {
        let rate = f64::from((0.025 * (1.0 - epoch as f64 / 2.0)) as f32);
        let mut draws = stream(3, epoch);
        for (piece, own) in order.chunks(order.len().div_ceil(8)).enumerate() {
            let mut windows = stream(2, epoch * 8 + piece as u64);
            for &walk in own {
                let walk = &walks[walk];
                for (at, &context) in walk.iter().enumerate() {
                    let reach = 1 + below(3, || windows.next_u64()) as usize;
                    for other in at.saturating_sub(reach)..(at + reach + 1).min(walk.len()) {
                        if other == at {
                            continue;
                        }
                        let (node, context) = (place[walk[other] as usize], place[context as usize]);
                        let mut change = [0.0; 6];
                        for draw in 0..6 {
                            let target = if draw == 0 { context } else { noise(&mut draws) };
                            if draw > 0 && target == context {
                                continue;
                            }
                            let x: f64 = (0..6).map(|d| inputs[node][d] * outputs[target][d]).sum();
                            let label = if draw == 0 { 1.0 } else { 0.0 };
                            let step = rate * (label - 1.0 / (1.0 + (-x).exp()));
                            for d in 0..6 {
                                change[d] += step * outputs[target][d];
                                outputs[target][d] += step * inputs[node][d];
                            }
                        }
                        (0..6).for_each(|d| inputs[node][d] += change[d]);
                    }
                }
            }
        }
    }
    let mut largest = 0.0f64;
    for v in 0..40 {
        for d in 0..6 {
            let (found, expected) = (f64::from(found[v * 6 + d]), inputs[place[v]][d]);
            largest = largest.max(expected.abs());
            assert!((found - expected).abs() < 2e-3, "{v} {d}: {found} {expected}");
        }
    }
    // Far from where it began, a twelfth at most.
    assert!(largest > 0.2, "{largest}");
}

#[test]
fn a_seed_is_an_answer_at_any_number_of_threads() {
    let graph = planted(4, 60, 0.2, 0.02, 1);
    let run = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let walks = WalkOptions { length: 20, seed, ..WalkOptions::default() };
        let options = SkipGramOptions { dimension: 20, seed, ..SkipGramOptions::default() };
        let network = Network::undirected(&graph);
        pool.install(|| {
            let walks = walk_embedding(network, &walks, &options, &Unmonitored).unwrap();
            (walks, adjacency_svd(network, 8, 8, seed, &Unmonitored).unwrap())
        })
    };
    let one = run(1, 4);
    assert!(one == run(2, 4) && one == run(5, 4));
    assert!(one.0 != run(2, 5).0);
}

#[test]
fn options_out_of_range_are_refused_and_no_nodes_have_no_vectors() {
    let graph = scattered(10);
    let network = Network::undirected(&graph);
    let refused = |options: SkipGramOptions| {
        walk_embedding(network, &WalkOptions::default(), &options, &Unmonitored).unwrap_err().to_string()
    };
    let usual = SkipGramOptions::default();
    assert!(refused(SkipGramOptions { dimension: 0, ..usual }).starts_with("dim => 0"));
    assert!(refused(SkipGramOptions { window: 0, ..usual }).starts_with("window => 0"));
    assert!(refused(SkipGramOptions { rate: f64::NAN, ..usual }).starts_with("rate => NaN"));
    assert!(skip_gram(&[vec![0, 7]], 3, &usual, &Unmonitored).unwrap_err().to_string().contains("the node 7"));
    let error = adjacency_svd(network, 11, 8, 0, &Unmonitored).unwrap_err().to_string();
    assert!(error.starts_with("dim => 11: a graph of 10 nodes has 10 singular vectors"), "{error}");
    let empty = Graph::from_edges(0, &[]);
    let none = walk_embedding(Network::undirected(&empty), &WalkOptions::default(), &usual, &Unmonitored).unwrap();
    assert!(none.is_empty() && svd(&empty, 3).is_empty());
    // Without edges no pair is trained.
    let alone = Graph::from_edges(3, &[]);
    let start = walk_embedding(Network::undirected(&alone), &WalkOptions::default(), &usual, &Unmonitored).unwrap();
    assert!(start.len() == 3 * 128 && start.iter().all(|x| x.abs() <= 0.5 / 128.0));
}
