//! GOAT and Gophormer beside literal implementations of their equations, in `f64`.

use std::collections::BTreeSet;

use super::literal::{Case, Matrix, adjacency, beside, check_scaled, matrix, plus, relu, symmetric, times};
use super::tokens::{columns, feed_forward, layer_norm, softmax, transposed};
use crate::ground::random::{Stream, key};
use crate::tests::*;

const N: usize = 50;

/// The number of edges between two nodes; none where it is more than `hops`.
fn distances(case: &Case, hops: usize) -> Vec<Vec<Option<usize>>> {
    let a = adjacency(case.data.graph(), true);
    let mut walks = matrix(N, N, |i, j| f64::from(u8::from(i == j)));
    let mut found = vec![vec![None; N]; N];
    for hop in 0..=hops {
        for (i, row) in walks.iter().enumerate() {
            for j in (0..N).filter(|&j| row[j] > 0.0) {
                found[i][j].get_or_insert(hop);
            }
        }
        walks = times(&walks, &a);
    }
    found
}

/// `softmax(q K^T / sqrt(d) + terms) V` of one row and head.
fn attended(q: &[f64], keys: &Matrix, values: &Matrix, terms: &[f64]) -> Vec<f64> {
    let dot = |k: &Vec<f64>| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>();
    let scores: Vec<f64> = keys.iter().zip(terms).map(|(k, term)| dot(k) / (q.len() as f64).sqrt() + term).collect();
    let alpha = softmax(&scores);
    (0..values[0].len()).map(|c| values.iter().zip(&alpha).map(|(v, alpha)| alpha * v[c]).sum()).collect()
}

fn rectified(case: &Case, x: &Matrix, name: &str) -> Matrix {
    relu(&layer_norm(case, x, name))
}

/// The input of the first layer of goat, without the last `encodings` columns of the features.
fn goat_stream(case: &Case, encodings: usize) -> Matrix {
    let own = columns(&case.x, 0, case.x[0].len() - encodings);
    case.affine(&rectified(case, &case.affine(&own, "input"), "input.norm"), "stream")
}

/// What centroids are means of, in a layer whose input is `h`.
fn coded(case: &Case, h: &Matrix, layer: usize, encodings: usize, width: usize) -> Matrix {
    let own = case.affine(h, &format!("{layer}.code"));
    if encodings == 0 {
        return own;
    }
    let codes = columns(&case.x, case.x[0].len() - encodings, encodings);
    beside(&[&own, &matrix(N, width, |v, c| codes[v].get(c).copied().unwrap_or(0.0))])
}

fn goat_job(layers: i64, hops: i64) -> Job {
    Job::new("goat")
        .with("hidden", 5)
        .with("heads", 2)
        .with("seed", 3)
        .with("layers", layers)
        .with("hops", hops)
        .with("centroids", 7)
        .with("codebook_width", 6)
        .with("dropout", 0.0)
}

#[test]
fn goat_attends_to_what_is_near_and_to_a_codebook() {
    for (layers, hops, encodings) in [(2i64, 1usize, 0usize), (3, 2, 0), (2, 2, 4)] {
        let mut job = goat_job(layers, hops as i64);
        if encodings > 0 {
            // The last columns of the features stand for them.
            job.set("encodings", format!("laplacian:{encodings}").as_str());
        }
        for sparse in [true, false] {
            check_scaled(&job, planted(N, sparse), &(0..N as u32).collect::<Vec<_>>(), 2.0, |case| {
                let distance = distances(case, hops);
                let mut h = goat_stream(case, encodings);
                for l in 0..layers as usize - 1 {
                    let [q, k, v] = ["query", "key", "value"].map(|part| case.affine(&h, &format!("{l}.local.{part}")));
                    let x = coded(case, &h, l, encodings, 6);
                    let book = case.parameter(&format!("{l}.codebook.centroids"));
                    let sizes = &case.parameter(&format!("{l}.codebook.sizes"))[0];
                    let global_q = case.affine(&x, &format!("{l}.global.query"));
                    let global_k = case.affine(book, &format!("{l}.global.key"));
                    let global_v = case.affine(&columns(book, 0, 6), &format!("{l}.global.value"));
                    let logs: Vec<f64> = sizes.iter().map(|size| size.ln()).collect();
                    let learnt = case.parameter(&format!("{l}.local.distance"));
                    let row = |i: usize| {
                        let near: Vec<usize> = (0..N).filter(|&j| distance[i][j].is_some()).collect();
                        let of = |x: &Matrix, head: usize| -> Matrix {
                            near.iter().map(|&j| x[j][5 * head..5 * head + 5].to_vec()).collect()
                        };
                        let term = |j: usize, head: usize| {
                            let count = (0..N).filter(|&other| distance[i][other] == distance[i][j]).count();
                            learnt[distance[i][j].unwrap()][head] - (count as f64).ln()
                        };
                        let mut z = Vec::new();
                        for head in 0..2 {
                            let terms: Vec<f64> = near.iter().map(|&j| term(j, head)).collect();
                            z.extend(attended(&q[i][5 * head..5 * head + 5], &of(&k, head), &of(&v, head), &terms));
                        }
                        for head in 0..2 {
                            let [keys, values] = [&global_k, &global_v].map(|x| columns(x, 5 * head, 5));
                            z.extend(attended(&global_q[i][5 * head..5 * head + 5], &keys, &values, &logs));
                        }
                        z
                    };
                    let z: Matrix = (0..N).map(row).collect();
                    let z = rectified(case, &case.affine(&z, &format!("{l}.feed.0")), &format!("{l}.norm.0"));
                    h = rectified(case, &case.affine(&z, &format!("{l}.feed.1")), &format!("{l}.norm.1"));
                }
                case.affine(&h, "output")
            });
        }
    }
}

/// The statistics that a step of goat leaves, from those before: centroids and sizes.
fn step(data: &GraphData, job: &Job, sizes: Option<&[f32]>) -> (Matrix, Matrix, Vec<f64>, Vec<u32>) {
    let train = split(data).train;
    let mut bench = Bench::new(data, &job.resolve().unwrap(), &train);
    let mut values = parameters(&bench);
    let blocks = bench.model.layout().blocks().to_vec();
    let block = |name: &str| blocks.iter().find(|block| block.name == name).unwrap();
    let of_sizes: Vec<usize> = block("0.codebook.sizes").positions().collect();
    of_sizes.iter().enumerate().for_each(|(c, &at)| values[at] = sizes.map_or(0.0, |sizes| sizes[c]));
    let (_, steps) = bench.gradient(&values);
    let moved = |at: usize| f64::from(values[at]) - f64::from(steps[at]);
    let book = block("0.codebook.centroids");
    let positions: Vec<usize> = book.positions().collect();
    let centroids = positions.chunks(book.columns.len()).map(|row| row.iter().map(|&at| moved(at)).collect()).collect();
    let case = Case::of(&bench, data.clone(), &values);
    let x = coded(&case, &goat_stream(&case, 0), 0, 0, 6);
    let rows = train.iter().map(|&v| x[v as usize].clone()).collect();
    (centroids, rows, of_sizes.into_iter().map(moved).collect(), train)
}

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[test]
fn a_step_moves_each_centroid_to_the_rows_that_are_nearest_and_its_size_to_their_number() {
    let data = planted(N, true);
    let job = goat_job(2, 1).with("codebook_decay", 0.8);
    let sizes = [2.0, 1.0, 0.5, 4.0, 3.0, 0.25, 1.5f32];
    let (found, rows, found_sizes, _) = step(&data, &job, Some(&sizes));
    // The centroids before: those of a run that no step has moved.
    let bench = Bench::new(&data, &job.resolve().unwrap(), &split(&data).train);
    let case = Case::of(&bench, data.clone(), &parameters(&bench));
    let before = case.parameter("0.codebook.centroids");
    let nearest =
        |x: &Vec<f64>| (0..7).min_by(|&a, &b| square(x, &before[a]).total_cmp(&square(x, &before[b]))).unwrap();
    let mut met = BTreeSet::new();
    for c in 0..7 {
        let own: Vec<&Vec<f64>> = rows.iter().filter(|x| nearest(x) == c).collect();
        let (old, new) = (0.8 * f64::from(sizes[c]), 0.2 * own.len() as f64);
        assert!((found_sizes[c] - (old + new)).abs() < 1e-6, "size of {c}");
        for at in 0..6 {
            let sum: f64 = own.iter().map(|x| x[at]).sum();
            let expected = if own.is_empty() { before[c][at] } else { (old * before[c][at] + 0.2 * sum) / (old + new) };
            assert!((found[c][at] - expected).abs() < 1e-5, "centroid {c}: {} for {expected}", found[c][at]);
        }
        met.insert(own.len().min(1));
    }
    assert_eq!(met.len(), 2, "centroids with rows, and one without");
}

#[test]
fn the_first_step_begins_with_rows_of_its_own() {
    let data = planted(N, true);
    let n = split(&data).train.len();
    // As many centroids as rows: each is that of one.
    let (found, rows, sizes, _) = step(&data, &goat_job(2, 1).with("centroids", n as i64), None);
    assert!(sizes.iter().all(|size| (size - 0.01).abs() < 1e-8), "{sizes:?}");
    for x in &rows {
        let nearest = found.iter().map(|centroid| square(x, centroid)).fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-9, "{nearest}");
    }
}

#[test]
fn the_codebook_of_a_run_stands_for_the_nodes() {
    let data = planted(300, true);
    let job = Job::new("goat").with("centroids", 8).with("hidden", 16).with("epochs", 40).with("seed", 1);
    let options = job.resolve().unwrap();
    let outcome = train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap();
    let of = |name: &str| &outcome.weights.iter().find(|(known, _)| known == name).unwrap().1;
    let sizes = &of("0.codebook.sizes").values;
    let train = split(&data).train.len() as f64;
    // A geometric sum of the numbers of rows; the last epochs are not kept.
    let steps = f64::from(outcome.best_epoch);
    let expected = train * (1.0 - 0.99f64.powf(steps));
    let total: f64 = sizes.iter().map(|size| f64::from(*size)).sum();
    assert!((total - expected).abs() < 1e-3 * expected, "{total} for {expected}");
    assert!(sizes.iter().filter(|size| **size > 0.0).count() >= 6, "{sizes:?}");
}

/// Which members the sequences of a gophormer have is drawn: literal is what is made of them.
#[test]
fn gophormer_is_a_transformer_over_ego_graphs_whose_scores_know_how_near_two_nodes_are() {
    let (length, hops, neighbors) = (6usize, 2usize, 3usize);
    for (samples, globals, orders) in [(1usize, 0usize, 1usize), (3, 2, 3)] {
        let job = Job::new("gophormer").with("hidden", 6).with("heads", 2).with("seed", 3).with("layers", 3);
        let job = job.with("length", length as i64).with("hops", hops as i64).with("neighbors", neighbors as i64);
        let job = job.with("samples", samples as i64).with("globals", globals as i64).with("proximity", orders as i64);
        check_scaled(&job, planted(N, true), &(0..N as u32).collect::<Vec<_>>(), 2.0, |case| {
            let p = symmetric(&adjacency(case.data.graph(), true));
            let x = case.affine(&case.x, "input");
            let output = |v: usize| {
                let mut mean = vec![0.0; 3];
                for sample in 0..samples {
                    let members = drawn(case, v, sample, (length, hops, neighbors));
                    let z = ego(case, &x, &p, &members, globals, orders);
                    let q = softmax(&z);
                    mean.iter_mut().zip(q).for_each(|(mean, q)| *mean += q / samples as f64);
                }
                mean.into_iter().map(f64::ln).collect()
            };
            (0..N).map(output).collect()
        });
    }
}

/// The members of a sequence, by its definition: of each in turn the first of its shuffled neighbours, ring by ring.
fn drawn(case: &Case, v: usize, sample: usize, (length, hops, neighbors): (usize, usize, usize)) -> Vec<usize> {
    let mut members = vec![(v, 0)];
    let mut at = 0;
    while at < members.len() && members[at].1 < hops {
        let mut near = case.data.graph().neighbors(members[at].0 as u32).to_vec();
        let mut of = key(&[3, 23, v as u64, at as u64]);
        if sample > 0 {
            of = key(&[of, sample as u64]);
        }
        Stream::new(of).shuffle(&mut near);
        for &other in near.iter().take(neighbors) {
            if members.len() < length && !members.iter().any(|member| member.0 == other as usize) {
                members.push((other as usize, members[at].1 + 1));
            }
        }
        at += 1;
    }
    members.into_iter().map(|member| member.0).collect()
}

/// The logits for an ego graph.
fn ego(case: &Case, x: &Matrix, p: &Matrix, members: &[usize], globals: usize, orders: usize) -> Vec<f64> {
    let m = members.len();
    let block = matrix(m, m, |i, j| p[members[i]][members[j]]);
    let powers: Vec<Matrix> = (0..orders)
        .map(|k| (0..k).fold(matrix(m, m, |i, j| f64::from(u8::from(i == j))), |a, _| times(&a, &block)))
        .collect();
    let mut h: Matrix = members.iter().map(|&v| x[v].clone()).collect();
    if globals > 0 {
        h.extend(case.parameter("globals").iter().cloned());
    }
    for l in 0..2 {
        let y = layer_norm(case, &h, &format!("{l}.norm.0"));
        let [q, k, v] = ["query", "key", "value"].map(|part| case.affine(&y, &format!("{l}.{part}")));
        let learnt = case.parameter(&format!("{l}.proximity"));
        let mut heads: Matrix = vec![Vec::new(); m + globals];
        for head in 0..2 {
            let [q, k, v] = [&q, &k, &v].map(|x| columns(x, 3 * head, 3));
            let of_head: Vec<f64> = learnt.iter().map(|row| row[head]).collect();
            let term = |i: usize, j: usize| match i < m && j < m {
                true => powers.iter().zip(&of_head).map(|(power, b)| b * power[i][j]).sum::<f64>(),
                false => of_head[orders],
            };
            let scores = times(&q, &transposed(&k));
            let scores = matrix(m + globals, m + globals, |i, j| scores[i][j] / 3f64.sqrt() + term(i, j));
            let alpha: Matrix = scores.iter().map(|row| softmax(row)).collect();
            heads.iter_mut().zip(times(&alpha, &v)).for_each(|(row, read)| row.extend(read));
        }
        h = plus(1.0, &h, 1.0, &case.affine(&heads, &format!("{l}.out")));
        h = feed_forward(case, &h, l);
    }
    case.affine(&vec![h[0].clone()], "output").remove(0)
}

#[test]
fn where_the_samples_of_a_training_node_differ_there_is_a_penalty() {
    let data = planted(N, true);
    let train = split(&data).train;
    let job = Job::new("gophormer").with("hidden", 6).with("heads", 2).with("seed", 3).with("layers", 3);
    let job = job.with("length", 6).with("neighbors", 3).with("samples", 3).with("consistency", 0.7);
    let job = job.with("temperature", 0.4).with("dropout", 0.0);
    let mut bench = Bench::new(&data, &job.resolve().unwrap(), &train);
    let values = parameters(&bench);
    let loss = bench.loss(&values);
    let (penalty, case) = (bench.model.penalty(), Case::of(&bench, data.clone(), &values));
    let (p, x) = (symmetric(&adjacency(data.graph(), true)), case.affine(&case.x, "input"));
    let (mut apart, mut entropy) = (0.0, 0.0);
    for &v in &train {
        let of = |sample| softmax(&ego(&case, &x, &p, &drawn(&case, v as usize, sample, (6, 2, 3)), 1, 3));
        let samples: Matrix = (0..3).map(of).collect();
        let mean: Vec<f64> = (0..3).map(|c| samples.iter().map(|p| p[c]).sum::<f64>() / 3.0).collect();
        let sharp: Vec<f64> = mean.iter().map(|p| p.powf(1.0 / 0.4)).collect();
        let sum: f64 = sharp.iter().sum();
        let target: Vec<f64> = sharp.iter().map(|p| p / sum).collect();
        apart += samples.iter().map(|p| square(p, &target)).sum::<f64>();
        entropy -= mean[data.labels[v as usize].unwrap() as usize].ln();
    }
    let n = train.len() as f64;
    assert!((penalty - 0.7 * apart / n).abs() < 1e-6 * penalty, "{penalty} for {}", 0.7 * apart / n);
    assert!((loss - penalty - entropy / n).abs() < 1e-5 * loss, "{loss}");
    assert!(penalty > 1e-3);
}

#[test]
fn what_they_cannot_do_they_say() {
    let data = planted(N, true);
    let parts = split(&data);
    let error = |job: Job| {
        let options = job.with("epochs", 1).resolve().map_err(|error| error.to_string())?;
        let outcome = train_nodes(&data, &parts, &options, &Unmonitored, &mut |_| {});
        outcome.map(|_| ()).map_err(|error| error.to_string())
    };
    let of = |job: Job| error(job).unwrap_err();
    assert!(of(Job::new("gophormer").with("heads", 3)).contains("a divisor of hidden, 64"));
    assert!(of(Job::new("gophormer").with("temperature", 0.0)).contains("a number above 0"));
    let sampled = of(Job::new("gophormer").with("batch_nodes", 9));
    assert!(sampled.contains("gophormer reads more than the neighbours of nodes"), "{sampled}");
    let narrow = of(Job::new("goat").with("codebook_width", 3).with("encodings", "laplacian:4"));
    assert!(narrow.contains("at least 4, the columns of the encodings"), "{narrow}");
    // More centroids than rows to begin with.
    assert!(error(Job::new("goat").with("centroids", 99)).is_ok());
    assert!(error(Job::new("goat").with("encodings", "laplacian:4").with("batch_nodes", 9).with("fanout", 3)).is_ok());
}
