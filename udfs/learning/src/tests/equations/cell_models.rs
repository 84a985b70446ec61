//! CellMP, CT and DECT against their equations, read literally: neighbours by the vertices they have in common, attention with
//! dense scores, the transform as a double sum.

use super::complexes::{batch, bench, boundary, close, facets, features, hodge, named, outputs, set, transpose};
use super::literal::{Matrix, beside, map, matrix, plus, relu, shift, times};
use crate::Saved;
use crate::complexes::{ComplexBatch, LaplacianPart};
use crate::tests::*;
use bonnet_topology::ChainComplex;
use serde_json::json;

/// The outputs of a model for one complex after another beside `equations(weights by name, the complex as a batch, its faces,
/// features by dimension)`.
fn check(
    job: &Job,
    equations: impl Fn(&dyn Fn(&str) -> Matrix, &ComplexBatch, &ChainComplex, Vec<Matrix>) -> Vec<f64>,
) {
    let options = job.clone().with("task", "graph_classification").with("features", "random:3").with("seed", 7);
    let options = options.resolve().unwrap();
    for facets in facets() {
        let set = set(&[facets]);
        let bench = bench(&set, &options);
        let parameters = parameters(&bench);
        let batch = batch(&set, &[0], &options);
        let x = (0..=batch.dimension()).map(|k| features(&set, &options, k)).collect();
        let expected = equations(&|name| named(&bench, &parameters, name), &batch, &set.complexes.chain, x);
        close(&outputs(&set, &options, &parameters), &[expected], &job.model);
    }
}

fn affine(weight: &dyn Fn(&str) -> Matrix, x: &Matrix, name: &str) -> Matrix {
    shift(&times(x, &weight(&format!("{name}.weight"))), &weight(&format!("{name}.bias")))
}

/// Each row less its mean, over its deviation, times a gain, plus a bias.
fn layer_norm(weight: &dyn Fn(&str) -> Matrix, x: &Matrix, name: &str) -> Matrix {
    let (gain, bias) = (weight(&format!("{name}.gain")), weight(&format!("{name}.bias")));
    let row = |row: &Vec<f64>| -> Vec<f64> {
        let n = row.len() as f64;
        let mean = row.iter().sum::<f64>() / n;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        (0..row.len()).map(|c| gain[0][c] * (row[c] - mean) / (variance + 1e-5).sqrt() + bias[0][c]).collect()
    };
    x.iter().map(row).collect()
}

fn sum_of_rows(x: &Matrix) -> Matrix {
    matrix(1, x[0].len(), |_, c| x.iter().map(|row| row[c]).sum())
}

fn simplices(batch: &ComplexBatch, k: usize) -> Vec<Vec<u32>> {
    batch.simplices(k).chunks_exact(k + 1).map(<[u32]>::to_vec).collect()
}

fn is_face(a: &[u32], b: &[u32]) -> bool {
    a.iter().all(|v| b.contains(v))
}

/// Each column less a mean, over a deviation, times a gain, plus a bias.
pub(crate) fn standardised(
    weight: &dyn Fn(&str) -> Matrix,
    x: &Matrix,
    [mean, variance]: [&[f64]; 2],
    name: &str,
) -> Matrix {
    let (gain, bias) = (weight(&format!("{name}.gain")), weight(&format!("{name}.bias")));
    matrix(x.len(), x[0].len(), |r, c| gain[0][c] * (x[r][c] - mean[c]) / (variance[c] + 1e-5).sqrt() + bias[0][c])
}

/// The mean and the variance of each column.
pub(crate) fn moments(x: &Matrix) -> [Vec<f64>; 2] {
    let mean = |value: &dyn Fn(&Vec<f64>, usize) -> f64| -> Vec<f64> {
        (0..x[0].len()).map(|c| x.iter().map(|row| value(row, c)).sum::<f64>() / x.len() as f64).collect()
    };
    let means = mean(&|row, c| row[c]);
    let variances = mean(&|row, c| (row[c] - means[c]) * (row[c] - means[c]));
    [means, variances]
}

/// Two layers of CellMP of 13 columns on one complex; `block(x, name)` is a linear layer with what follows it.
pub(crate) fn cellmp(
    weight: &dyn Fn(&str) -> Matrix,
    batch: &ComplexBatch,
    x: &[Matrix],
    lower: bool,
    block: &dyn Fn(&Matrix, &str) -> Matrix,
) -> Vec<f64> {
    let top = batch.dimension();
    let cells: Vec<Vec<Vec<u32>>> = (0..=top).map(|k| simplices(batch, k)).collect();
    let mut h: Vec<Matrix> = (0..=top).map(|k| affine(weight, &x[k], &format!("embed.{k}"))).collect();
    for l in 0..2 {
        // What the simplex s of dimension k hears of those that share a simplex of another dimension.
        let heard = |k: usize, s: usize, of: usize, name: &str, part: &str| -> Vec<f64> {
            let mut sum = vec![0.0; 13];
            for (d, between) in cells[of].iter().enumerate() {
                let shares = |cell: &[u32]| if of > k { is_face(cell, between) } else { is_face(between, cell) };
                for (t, other) in cells[k].iter().enumerate() {
                    if t == s || !shares(other) || !shares(&cells[k][s]) {
                        continue;
                    }
                    let message = |part: &str, row: &Vec<f64>| {
                        times(&vec![row.clone()], &weight(&format!("{l}.{k}.{name}.{part}")))
                    };
                    let z = plus(1.0, &message("neighbor", &h[k][t]), 1.0, &message(part, &h[of][d]));
                    let z = relu(&shift(&z, &weight(&format!("{l}.{k}.{name}.bias"))));
                    (0..13).for_each(|c| sum[c] += z[0][c]);
                }
            }
            sum
        };
        let next = (0..=top).map(|k| {
            let (mut below, mut above, mut beside_it) = (h[k].clone(), h[k].clone(), h[k].clone());
            for (s, cell) in cells[k].iter().enumerate() {
                for (t, _) in
                    cells.get(k.wrapping_sub(1)).into_iter().flatten().enumerate().filter(|(_, t)| is_face(t, cell))
                {
                    (0..13).for_each(|c| below[s][c] += h[k - 1][t][c]);
                }
                if k < top {
                    let sum = heard(k, s, k + 1, "message", "coface");
                    (0..13).for_each(|c| above[s][c] += sum[c]);
                }
                if lower && k > 0 {
                    let sum = heard(k, s, k - 1, "lower_message", "face");
                    (0..13).for_each(|c| beside_it[s][c] += sum[c]);
                }
            }
            let twice = |z: &Matrix, name: &str| {
                let name = format!("{l}.{k}.{name}");
                block(&block(z, &format!("{name}.0")), &format!("{name}.1"))
            };
            let mut parts = vec![twice(&below, "below"), twice(&above, "above")];
            if lower && k > 0 {
                parts.push(twice(&beside_it, "beside"));
            }
            block(&beside(&parts.iter().collect::<Vec<_>>()), &format!("{l}.{k}.update"))
        });
        h = next.collect();
    }
    let mut z = matrix(1, 26, |_, _| 0.0);
    for (k, h) in h.iter().enumerate() {
        z = plus(1.0, &z, 1.0, &relu(&affine(weight, &sum_of_rows(h), &format!("read_out.{k}"))));
    }
    affine(weight, &z, "read_out").remove(0)
}

#[test]
fn cellmp_sends_along_faces_and_along_what_simplices_share_with_what_that_knows() {
    for (norm, lower) in [("layer", "false"), ("batch", "false"), ("batch", "true"), ("none", "true")] {
        let job = Job::new("cellmp").with("hidden", 13).with("layers", 2).with("norm", norm).with("lower", lower);
        check(&job, |weight, batch, _, x| {
            let block = |z: &Matrix, name: &str| {
                let normed = format!("{name}.norm");
                relu(&match norm {
                    "layer" => layer_norm(weight, &affine(weight, z, name), &normed),
                    "none" => affine(weight, z, name),
                    _ => {
                        let z = times(z, &weight(&format!("{name}.weight")));
                        let running = ["mean", "variance"].map(|part| weight(&format!("{normed}.{part}")).remove(0));
                        standardised(weight, &z, [&running[0], &running[1]], &normed)
                    }
                })
            };
            cellmp(weight, batch, &x, lower == "true", &block)
        });
    }
}

#[test]
fn cellmp_is_trained_on_the_moments_of_the_simplices_of_a_step() {
    let job = Job::new("cellmp").with("hidden", 13).with("layers", 2).with("dropout", 0.0).with("seed", 7);
    let options = job.with("task", "graph_classification").with("features", "random:3").resolve().unwrap();
    for facets in facets().into_iter().take(2) {
        let set = set(&[facets]);
        let mut bench = bench(&set, &options);
        let parameters = parameters(&bench);
        bench.model.forward(&bench.scope, &parameters, Pass::Train { epoch: 1 }, &Unmonitored).unwrap();
        let found: Vec<f64> = bench.model.outputs()[..3].iter().map(|x| f64::from(*x)).collect();
        let weight = |name: &str| named(&bench, &parameters, name);
        let block = |z: &Matrix, name: &str| {
            let z = times(z, &weight(&format!("{name}.weight")));
            let [mean, variance] = moments(&z);
            relu(&standardised(&weight, &z, [&mean, &variance], &format!("{name}.norm")))
        };
        let x: Vec<Matrix> = (0..=2).map(|k| features(&set, &options, k)).collect();
        let expected = cellmp(&weight, &batch(&set, &[0], &options), &x, false, &block);
        close(&[found], &[expected], "cellmp in training");
    }
}

#[test]
fn running_moments_are_saved_and_parameters_of_another_normalisation_are_refused() {
    let set = set(&facets().into_iter().cycle().take(16).collect::<Vec<_>>());
    let split = Split { train: (0..10).collect(), val: (10..13).collect(), test: (13..16).collect() };
    let run = |job: &Job, start: Option<&Saved>| {
        let items = Items::Complexes(&set, &split);
        crate::train(Place::Cpu, items, start, &job.resolve().unwrap(), &Unmonitored, &mut |_| {})
    };
    let job = Job::new("cellmp").with("task", "graph_classification").with("features", "connectivity").with("batch", 4);
    let job = job.with("hidden", 5).with("layers", 2).with("epochs", 3);
    let saved = |run: &Outcome| Saved::new(&run.weights, json!({"options": {"model": "cellmp"}}));
    let first = run(&job, None).unwrap();
    let again = run(&job.clone().with("load", "file").with("epochs", 0), Some(&saved(&first))).unwrap();
    assert_eq!((&again.logits, &again.weights), (&first.logits, &first.weights));
    let other = run(&job.clone().with("norm", "layer"), None).unwrap();
    assert!(other.weights.len() < first.weights.len());
    let error = run(&job, Some(&saved(&other))).unwrap_err().to_string();
    assert!(error.contains("0.0.below.0.norm.mean is missing"), "{error}");
}

#[test]
fn ct_attends_within_a_dimension_and_to_the_next_ones_with_neighbourhoods_added_to_the_scores() {
    let (heads, width) = (2usize, 5usize);
    let job = Job::new("ct")
        .with("hidden", (heads * width) as i64)
        .with("heads", heads as i64)
        .with("codes", 3)
        .with("layers", 3);
    check(&job, |weight, batch, chain, x| {
        let top = batch.dimension();
        let mut room = Reservation::new(&Unmonitored, 0).unwrap();
        let mut h: Vec<Matrix> = (0..=top)
            .map(|k| {
                let codes = batch.codes(k, 3, &mut room).unwrap();
                let codes = matrix(batch.count(k), 3, |r, c| f64::from(codes[3 * r + c]));
                let token = affine(weight, &x[k], &format!("token.{k}"));
                plus(1.0, &token, 1.0, &times(&codes, &weight(&format!("code.{k}"))))
            })
            .collect();
        for l in 0..3 {
            // What is more layers away from the vertices than there are layers left is not computed.
            let reach = (2 - l).min(top);
            let next = (0..=reach).map(|to| {
                let mut z = h[to].clone();
                for from in to.saturating_sub(1)..=(to + 1).min(top) {
                    let mask = match from {
                        _ if from + 1 == to => transpose(&boundary(chain, to, false)),
                        _ if from == to + 1 => boundary(chain, from, false),
                        0 => hodge(chain, 0, LaplacianPart::Upper, false),
                        _ => hodge(chain, to, LaplacianPart::Lower, false),
                    };
                    let project = |name: &str, x: &Matrix| times(x, &weight(&format!("{l}.{from}.{to}.{name}")));
                    let (q, k, v) = (project("query", &h[to]), project("key", &h[from]), project("value", &h[from]));
                    let mut parts = Vec::new();
                    for head in 0..heads {
                        let of = |m: &Matrix| matrix(m.len(), width, |r, c| m[r][head * width + c]);
                        let (q, k, v) = (of(&q), of(&k), of(&v));
                        let scores = times(&q, &transpose(&k));
                        let scores = matrix(q.len(), k.len(), |i, j| {
                            let neighbor = from != to || i != j;
                            scores[i][j] / (width as f64).sqrt() + if neighbor { mask[i][j].abs() } else { 0.0 }
                        });
                        let exp = map(&scores, f64::exp);
                        let share = matrix(q.len(), k.len(), |i, j| exp[i][j] / exp[i].iter().sum::<f64>());
                        parts.push(times(&share, &v));
                    }
                    let heard = beside(&parts.iter().collect::<Vec<_>>());
                    z = plus(1.0, &z, 1.0, &times(&heard, &weight(&format!("{l}.{from}.{to}.out"))));
                }
                let z = layer_norm(weight, &z, &format!("{l}.{to}.norm.0"));
                let wide = relu(&affine(weight, &z, &format!("{l}.{to}.feed.0")));
                let z = plus(1.0, &z, 1.0, &affine(weight, &wide, &format!("{l}.{to}.feed.1")));
                layer_norm(weight, &z, &format!("{l}.{to}.norm.1"))
            });
            let next: Vec<Matrix> = next.collect();
            h.splice(0..next.len(), next);
        }
        let mean = map(&sum_of_rows(&h[0]), |x| x / h[0].len() as f64);
        let z = relu(&affine(weight, &mean, "read_out.0"));
        affine(weight, &z, "read_out.1").remove(0)
    });
}

#[test]
fn the_euler_characteristic_transform_is_a_sum_over_simplices_below_a_height() {
    for facets in facets() {
        let set = set(&[facets]);
        let options = Job::new("dect").with("task", "graph_classification").with("features", "random:3");
        let options = options.resolve().unwrap();
        let batch = batch(&set, &[0], &options);
        let x = features(&set, &options, 0);
        let directions = [vec![1.0, 0.0, 0.0], vec![0.0, -0.6, 0.8]];
        let heights = [-1.5, -0.2, 0.4, 2.0];
        let found = crate::models::complexes::dect::transform(&batch, 0, batch.dimension(), &directions, &heights, 7.0);
        let mut expected = Vec::new();
        for direction in &directions {
            for height in heights {
                let mut sum = 0.0;
                for k in 0..=batch.dimension() {
                    for simplex in simplices(&batch, k) {
                        let at = |v: &u32| (0..3).map(|c| x[*v as usize][c] * direction[c]).sum::<f64>();
                        let highest = simplex.iter().map(at).fold(f64::MIN, f64::max);
                        sum += f64::from(1 - 2 * (k as i32 % 2)) / (1.0 + (-7.0 * (height - highest)).exp());
                    }
                }
                expected.push(sum);
            }
        }
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
    }
}
