//! The models on tokens against their equations.

use super::literal::{Case, Matrix, adjacency, check_scaled, map, matrix, plus, relu, shift, symmetric, times};
use crate::tests::*;

/// A row less its mean over its deviation, times a gain, plus a bias.
pub(super) fn layer_norm(case: &Case, z: &Matrix, name: &str) -> Matrix {
    let (gain, bias) = (case.parameter(&format!("{name}.gain")), case.parameter(&format!("{name}.bias")));
    let standard = |row: &Vec<f64>| -> Vec<f64> {
        let n = row.len() as f64;
        let mean = row.iter().sum::<f64>() / n;
        let deviation = (row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n + 1e-5).sqrt();
        row.iter().map(|x| (x - mean) / deviation).collect()
    };
    let z: Matrix = z.iter().map(standard).collect();
    matrix(z.len(), z[0].len(), |r, c| z[r][c] * gain[0][c] + bias[0][c])
}

/// `x Phi(x)` with the series of the normal distribution function.
fn gelu(x: f64) -> f64 {
    // The series loses its digits far out, where the function is x or 0.
    if x.abs() > 6.5 {
        return x.max(0.0);
    }
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 0..300 {
        sum += term / f64::from(2 * k + 1);
        term *= -x * x / 2.0 / f64::from(k + 1);
    }
    x * (0.5 + x * sum / std::f64::consts::TAU.sqrt())
}

pub(super) fn feed_forward(case: &Case, z: &Matrix, l: usize) -> Matrix {
    let y = case.affine(&layer_norm(case, z, &format!("{l}.norm.1")), &format!("{l}.feed.0"));
    plus(1.0, z, 1.0, &case.affine(&map(&y, gelu), &format!("{l}.feed.1")))
}

/// Row v of each matrix, one below the other.
fn of_node(matrices: &[Matrix], v: usize) -> Matrix {
    matrices.iter().map(|matrix| matrix[v].clone()).collect()
}

/// Some columns.
pub(super) fn columns(z: &Matrix, from: usize, count: usize) -> Matrix {
    z.iter().map(|row| row[from..from + count].to_vec()).collect()
}

pub(super) fn transposed(z: &Matrix) -> Matrix {
    matrix(z[0].len(), z.len(), |r, c| z[c][r])
}

pub(super) fn softmax(scores: &[f64]) -> Vec<f64> {
    let sum: f64 = scores.iter().map(|score| score.exp()).sum();
    scores.iter().map(|score| score.exp() / sum).collect()
}

fn job(model: &str, layers: i64) -> Job {
    Job::new(model).with("hidden", 6).with("heads", 2).with("seed", 3).with("layers", layers)
}

/// In full and on planted data, sparse and dense.
fn check(job: &Job, factor: f32, literal: impl Fn(&Case) -> Matrix) {
    for sparse in [true, false] {
        check_scaled(job, planted(50, sparse), &(0..50).collect::<Vec<u32>>(), factor, &literal);
    }
}

#[test]
fn nagphormer_is_a_transformer_over_the_hops_of_one_node() {
    for (layers, hops) in [(1i64, 3i64), (2, 7), (1, 1)] {
        let job = job("nagphormer", layers).with("hops", hops);
        check(&job, 30.0, |case| {
            let p = symmetric(&adjacency(case.data.graph(), true));
            let mut hop = vec![case.x.clone()];
            (0..hops as usize).for_each(|k| hop.push(times(&p, &hop[k])));
            let output = |v: usize| {
                let mut z = case.affine(&of_node(&hop, v), "token");
                for l in 0..layers as usize {
                    let y = layer_norm(case, &z, &format!("{l}.norm.0"));
                    let [q, k, value] = ["query", "key", "value"].map(|part| case.affine(&y, &format!("{l}.{part}")));
                    let mut heads: Vec<Vec<f64>> = vec![Vec::new(); z.len()];
                    for head in 0..2 {
                        let [q, k, value] = [&q, &k, &value].map(|x| columns(x, 3 * head, 3));
                        let scores = map(&times(&q, &transposed(&k)), |score| score / 3f64.sqrt());
                        let alpha: Matrix = scores.iter().map(|row| softmax(row)).collect();
                        let read = times(&alpha, &value);
                        heads.iter_mut().zip(read).for_each(|(row, read)| row.extend(read));
                    }
                    z = plus(1.0, &z, 1.0, &case.affine(&heads, &format!("{l}.out")));
                    z = feed_forward(case, &z, l);
                }
                let z = layer_norm(case, &z, "norm");
                // The paper's weights of the node's own token: any at all.
                let (own, a) = ([0.7, -0.4, 0.1, 2.0, -0.3, 0.9], &case.parameter("read_out.weight")[0]);
                let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
                let scores: Vec<f64> = z[1..].iter().map(|z_k| dot(&own, &z[0]) + dot(a, z_k)).collect();
                let alpha = softmax(&scores);
                let sum = matrix(1, 6, |_, c| z[0][c] + z[1..].iter().zip(&alpha).map(|(z, a)| a * z[c]).sum::<f64>());
                case.affine(&relu(&case.affine(&sum, "0")), "1").remove(0)
            };
            (0..50).map(output).collect()
        });
    }
}

#[test]
fn polyformer_is_a_learnt_filter_of_each_node() {
    let bases = [("monomial", 1i64, 4i64, 1.0), ("chebyshev", 2, 3, 0.5), ("bernstein", 1, 3, 2.0)];
    for (basis, layers, hops, decay) in bases {
        let job = job("polyformer", layers).with("hops", hops).with("basis", basis).with("order_decay", decay);
        let job = job.with("expansion", 1.5).with("feed_forward", 7);
        let orders = hops as usize + 1;
        check(&job, 2.0, |case| {
            let (loops, s) =
                (symmetric(&adjacency(case.data.graph(), true)), symmetric(&adjacency(case.data.graph(), false)));
            let x = &case.x;
            let tokens: Vec<Matrix> = match basis {
                "monomial" => (0..orders).map(|k| (0..k).fold(x.clone(), |x, _| times(&loops, &x))).collect(),
                "chebyshev" => {
                    let mut t = vec![x.clone(), map(&times(&s, x), |x| -x)];
                    for k in 2..orders {
                        t.push(plus(-2.0, &times(&s, &t[k - 1]), -1.0, &t[k - 2]));
                    }
                    t
                }
                // Of degree 3.
                _ => [1.0, 3.0, 3.0, 1.0]
                    .into_iter()
                    .enumerate()
                    .map(|(k, binomial)| {
                        let x = (0..k).fold(x.clone(), |x, _| plus(1.0, &x, -1.0, &times(&s, &x)));
                        let x = (k..3).fold(x, |x, _| plus(1.0, &x, 1.0, &times(&s, &x)));
                        map(&x, |x| binomial / 8.0 * x)
                    })
                    .collect(),
            };
            let output = |v: usize| {
                let mut h = case.affine(&of_node(&tokens, v), "token");
                for l in 0..layers as usize {
                    let value = layer_norm(case, &h, &format!("{l}.norm.0"));
                    // A perceptron of its own for each order.
                    let between: Matrix = (0..orders)
                        .map(|k| {
                            let of = |z: &Matrix, name: &str| {
                                let weights = case.parameter(&format!("{l}.order.{name}.weight"));
                                let rows = weights.len() / orders;
                                let bias = vec![case.parameter(&format!("{l}.order.{name}.bias"))[k].clone()];
                                shift(&times(z, &weights[k * rows..(k + 1) * rows].to_vec()), &bias)
                            };
                            of(&relu(&of(&vec![value[k].clone()], "0")), "1").remove(0)
                        })
                        .collect();
                    let [q, k] =
                        ["query", "key"].map(|part| times(&between, case.parameter(&format!("{l}.{part}.weight"))));
                    let beta = |j: usize, head: usize| case.parameter(&format!("{l}.factor"))[j][head];
                    let mut heads: Vec<Vec<f64>> = vec![Vec::new(); orders];
                    for head in 0..2 {
                        let [q, k, value] = [&q, &k, &value].map(|x| columns(x, 3 * head, 3));
                        let scores = times(&q, &transposed(&k));
                        let filter = matrix(orders, orders, |i, j| {
                            (scores[i][j] / 3f64.sqrt()).tanh() * beta(j, head) / ((j + 1) as f64).powf(decay)
                        });
                        heads.iter_mut().zip(times(&filter, &value)).for_each(|(row, read)| row.extend(read));
                    }
                    h = feed_forward(case, &plus(1.0, &h, 1.0, &heads), l);
                }
                let sum = matrix(1, 6, |_, c| h.iter().map(|row| row[c]).sum());
                case.affine(&relu(&case.affine(&sum, "0")), "1").remove(0)
            };
            (0..50).map(output).collect()
        });
    }
}
