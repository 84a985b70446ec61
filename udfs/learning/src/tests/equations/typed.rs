//! Models of typed graphs beside literal implementations of their equations: node by node, edge by edge, in `f64`.

use super::literal::{Case, Matrix, check_on, map, matrix, plus, relu, shift, times};
use crate::GraphRelation;
use crate::tests::typed::typed;
use crate::tests::*;

pub(super) const N: usize = 60;

pub(super) fn job(model: &str) -> Job {
    Job::new(model).with("hidden", 5).with("seed", 3)
}

fn check(job: &Job, literal: impl Fn(&Case) -> Matrix) {
    let all: Vec<u32> = (0..N as u32).collect();
    check_on(job, typed(N), &all, literal);
}

fn kind(case: &Case, node: usize) -> &str {
    let types = case.data.types().unwrap();
    &types.names()[types.of()[node] as usize]
}

/// A row of a block that has one for each type.
fn of_type<'a>(case: &'a Case, name: &str, node: usize) -> &'a [f64] {
    &case.parameter(name)[case.data.types().unwrap().of()[node] as usize]
}

/// `x_i W_t + b_t`, the weights named by the type between `before` and `.weight`.
pub(super) fn by_type(case: &Case, x: &Matrix, before: &str, bias: &str) -> Matrix {
    let rows = (0..N).map(|i| {
        let w = case.parameter(&format!("{before}.{}.weight", kind(case, i)));
        let z = times(&vec![x[i].clone()], w);
        z[0].iter().zip(of_type(case, bias, i)).map(|(z, b)| z + b).collect()
    });
    rows.collect()
}

/// The projected features.
pub(super) fn projected(case: &Case) -> Matrix {
    let z = times(&case.x, case.parameter("input.weight"));
    matrix(N, z[0].len(), |r, c| z[r][c] + of_type(case, "input.bias", r)[c])
}

/// The relations with their names, and the sources of each node's messages.
pub(super) fn relations(case: &Case) -> Vec<(String, GraphRelation)> {
    let types = case.data.types().unwrap();
    let name = |relation: &GraphRelation| {
        let mark = if relation.inverse { "^" } else { "" };
        let (source, target) = (&types.names()[relation.source as usize], &types.names()[relation.target as usize]);
        format!("{source}>{mark}{}>{target}", relation.name)
    };
    types.relations().iter().map(|relation| (name(relation), relation.clone())).collect()
}

pub(super) fn sources(relation: &GraphRelation, node: usize) -> Vec<usize> {
    relation.incoming.successors(node as u32).iter().map(|&source| source as usize).collect()
}

/// The mean over a relation's sources of the rows of `x`; zeros without any.
fn mean(relation: &GraphRelation, x: &Matrix) -> Matrix {
    matrix(N, x[0].len(), |i, c| {
        let from = sources(relation, i);
        from.iter().map(|&j| x[j][c]).sum::<f64>() / from.len().max(1) as f64
    })
}

#[test]
fn r_gcn_adds_the_mean_of_each_relation() {
    for bases in [None, Some(2)] {
        check(&job("r_gcn").with("bases", bases), |case| {
            let layer = |h: &Matrix, l: usize| {
                let mut z = times(h, case.parameter(&format!("{l}.weight")));
                for (name, relation) in relations(case) {
                    let w = match bases {
                        None => case.parameter(&format!("{l}.{name}.weight")).clone(),
                        Some(_) => {
                            let a = &case.parameter(&format!("{l}.{name}.coefficients"))[0];
                            let base = |b: usize| case.parameter(&format!("{l}.basis.{b}.weight"));
                            plus(a[0], base(0), a[1], base(1))
                        }
                    };
                    z = plus(1.0, &z, 1.0, &mean(&relation, &times(h, &w)));
                }
                shift(&z, case.parameter(&format!("{l}.bias")))
            };
            layer(&relu(&layer(&projected(case), 0)), 1)
        });
    }
}

#[test]
fn r_graphsage_adds_what_graphsage_is_in_each_relation() {
    for how in ["sum", "mean"] {
        check(&job("r_graphsage").with("relations", how), |case| {
            let layer = |h: &Matrix, l: usize| {
                let mut z = by_type(case, h, &format!("{l}.self"), &format!("{l}.bias"));
                for (name, relation) in relations(case) {
                    let into = relations(case).iter().filter(|(_, other)| other.target == relation.target).count();
                    let share = if how == "mean" { 1.0 / into as f64 } else { 1.0 };
                    let messages = times(&mean(&relation, h), case.parameter(&format!("{l}.{name}.weight")));
                    z = plus(1.0, &z, share, &messages);
                }
                z
            };
            layer(&relu(&layer(&projected(case), 0)), 1)
        });
    }
}

pub(super) fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

pub(super) fn elu(x: &Matrix) -> Matrix {
    map(x, |x| if x > 0.0 { x } else { x.exp_m1() })
}

/// The attention of gat over given sources, `heads` heads side by side.
fn attention(case: &Case, z: &Matrix, from: impl Fn(usize) -> Vec<usize>, name: &str, heads: usize) -> Matrix {
    let (source, target) =
        (&case.parameter(&format!("{name}.source"))[0], &case.parameter(&format!("{name}.target"))[0]);
    let width = z[0].len() / heads;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut out = matrix(N, z[0].len(), |_, _| 0.0);
    for i in 0..N {
        for head in 0..heads {
            let columns = head * width..(head + 1) * width;
            let score = |j: usize| {
                let s = dot(&source[columns.clone()], &z[j][columns.clone()])
                    + dot(&target[columns.clone()], &z[i][columns.clone()]);
                if s > 0.0 { s } else { 0.2 * s }
            };
            let scores: Vec<f64> = from(i).into_iter().map(score).collect();
            for (alpha, j) in softmax(&scores).into_iter().zip(from(i)) {
                columns.clone().for_each(|c| out[i][c] += alpha * z[j][c]);
            }
        }
    }
    out
}

#[test]
fn r_gat_adds_what_gat_is_in_each_relation() {
    for how in ["sum", "mean"] {
        let job = job("r_gat").with("heads", 2).with("output_heads", 3).with("relations", how);
        check(&job, |case| {
            let layer = |h: &Matrix, l: usize, heads: usize| {
                let mut sum: Option<Matrix> = None;
                for (name, relation) in relations(case) {
                    let own = case.data.types().unwrap().of();
                    let from = |i: usize| {
                        let mut from = sources(&relation, i);
                        let within = relation.source == relation.target && own[i] == relation.target;
                        if within && !from.contains(&i) {
                            from.push(i);
                        }
                        from
                    };
                    let into = relations(case).iter().filter(|(_, other)| other.target == relation.target).count();
                    let share = if how == "mean" { 1.0 / into as f64 } else { 1.0 };
                    let z = times(h, case.parameter(&format!("{l}.{name}.weight")));
                    let z = attention(case, &z, from, &format!("{l}.{name}"), heads);
                    sum = Some(match sum {
                        None => map(&z, |z| share * z),
                        Some(sum) => plus(1.0, &sum, share, &z),
                    });
                }
                sum.unwrap()
            };
            let z = layer(&projected(case), 0, 2);
            let h = elu(&matrix(N, 10, |r, c| z[r][c] + of_type(case, "0.bias", r)[c]));
            let z = layer(&h, 1, 3);
            matrix(N, 3, |r, c| (z[r][c] + z[r][3 + c] + z[r][6 + c]) / 3.0 + of_type(case, "1.bias", r)[c])
        });
    }
}

/// The error function: its series, for arguments of a few units (Abramowitz and Stegun, 7.1.5).
pub(super) fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for k in 1..200 {
        term *= -x * x / f64::from(k);
        sum += term / f64::from(2 * k + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn hgt_attends_to_all_neighbours_with_the_weights_of_types_and_relations() {
    check(&job("hgt").with("heads", 2).with("layers", 3), |case| {
        let (heads, width) = (2, 5);
        let mut h = relu(&projected(case));
        for l in 0..2 {
            let part = |name: &str| by_type(case, &h, &format!("{l}.{name}"), &format!("{l}.{name}.bias"));
            let (q, k, v) = (part("query"), part("key"), part("value"));
            let head_of = |x: &[f64], w: &Matrix, head: usize| -> Vec<f64> {
                (0..width).map(|c| (0..width).map(|a| x[head * width + a] * w[a][head * width + c]).sum()).collect()
            };
            let mut sum = matrix(N, heads * width, |_, _| 0.0);
            for i in 0..N {
                for head in 0..heads {
                    let (mut scores, mut messages) = (Vec::new(), Vec::new());
                    for (number, (name, relation)) in relations(case).iter().enumerate() {
                        let prior = case.parameter(&format!("{l}.prior"))[number][head];
                        for j in sources(relation, i) {
                            let key = head_of(&k[j], case.parameter(&format!("{l}.attention.{name}.weight")), head);
                            let dot: f64 = key.iter().zip(&q[i][head * width..]).map(|(k, q)| k * q).sum();
                            scores.push(dot * prior / (width as f64).sqrt());
                            messages.push(head_of(&v[j], case.parameter(&format!("{l}.message.{name}.weight")), head));
                        }
                    }
                    for (alpha, message) in softmax(&scores).into_iter().zip(messages) {
                        (0..width).for_each(|c| sum[i][head * width + c] += alpha * message[c]);
                    }
                }
            }
            let gelu = map(&sum, |x| 0.5 * x * (1.0 + erf(x / 2f64.sqrt())));
            let a = by_type(case, &gelu, &format!("{l}.output"), &format!("{l}.output.bias"));
            let gate = |i: usize| 1.0 / (1.0 + (-of_type(case, &format!("{l}.skip"), i)[0]).exp());
            h = matrix(N, heads * width, |i, c| gate(i) * a[i][c] + (1.0 - gate(i)) * h[i][c]);
        }
        case.affine(&h, "output")
    });
}

#[test]
fn han_weighs_metapaths_by_a_number_of_each_for_a_type() {
    let paths = "paper>author>paper,paper>^cites>paper,author>paper,subject>paper>author";
    // The relations of each path, by their names, from its start to its end.
    let steps = [
        ("paper>author>paper", "paper", vec!["paper>^writes>author", "author>writes>paper"]),
        ("paper>^cites>paper", "paper", vec!["paper>^cites>paper"]),
        ("author>paper", "paper", vec!["author>writes>paper"]),
        ("subject>paper>author", "author", vec!["subject>^about>paper", "paper>^writes>author"]),
    ];
    let job = job("han").with("heads", 2).with("semantic", 4).with("metapaths", paths).with("layers", 3);
    check(&job, |case| {
        let mut h = Vec::new();
        for l in 0..2 {
            let m = match l {
                0 => projected(case),
                _ => by_type(case, &h, &format!("{l}.input"), &format!("{l}.input.bias")),
            };
            let mut z = Vec::new();
            for (name, _, relations_of) in &steps {
                // Products of adjacency matrices, each entry once.
                let mut joined = matrix(N, N, |i, j| f64::from(u8::from(i == j)));
                for step in relations_of.iter().rev() {
                    let (_, relation) = relations(case).into_iter().find(|(known, _)| known == step).unwrap();
                    let a = matrix(N, N, |i, j| f64::from(u8::from(sources(&relation, i).contains(&j))));
                    joined = map(&times(&joined, &a), |x| f64::from(u8::from(x > 0.0)));
                }
                let from = |i: usize| (0..N).filter(|&j| joined[i][j] > 0.0).collect::<Vec<_>>();
                z.push(elu(&attention(case, &m, from, &format!("{l}.{name}"), 2)));
            }
            let scores: Vec<Matrix> = z
                .iter()
                .map(|z| map(&case.affine(z, &format!("{l}.semantic")), f64::tanh))
                .map(|y| {
                    times(&y, &case.parameter(&format!("{l}.semantic.query"))[0].iter().map(|q| vec![*q]).collect())
                })
                .collect();
            h = matrix(N, 10, |i, c| {
                let own: Vec<usize> = (0..steps.len()).filter(|&p| steps[p].1 == kind(case, i)).collect();
                let members: Vec<usize> = (0..N).filter(|&j| kind(case, j) == kind(case, i)).collect();
                let mean = |p: usize| members.iter().map(|&j| scores[p][j][0]).sum::<f64>() / members.len() as f64;
                let weights = softmax(&own.iter().map(|&p| mean(p)).collect::<Vec<_>>());
                own.iter().zip(weights).map(|(&p, weight)| weight * z[p][i][c]).sum()
            });
        }
        case.affine(&h, "output")
    });
}
