//! The models of products of curved spaces against their equations, with gyrovectors as the papers write them.

use super::equations::literal::{Case, Matrix, adjacency, check, matrix, plus, shift, symmetric, times};
use super::*;

type Row = Vec<f64>;

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn scaled(x: &[f64], by: f64) -> Row {
    x.iter().map(|x| x * by).collect()
}

/// The space of curvature kappa by the formulas of its sign.
struct Gyro {
    kappa: f64,
}

impl Gyro {
    fn tan(&self, t: f64) -> f64 {
        let root = self.kappa.abs().sqrt();
        match self.kappa {
            0.0 => t,
            kappa if kappa < 0.0 => (root * t).tanh() / root,
            // No farther, as the model has it.
            _ => (root * t).min(crate::ground::radial::TAN_BOUND).tan() / root,
        }
    }

    fn arctan(&self, t: f64) -> f64 {
        let root = self.kappa.abs().sqrt();
        match self.kappa {
            0.0 => t,
            kappa if kappa < 0.0 => (root * t).atanh() / root,
            _ => (root * t).atan() / root,
        }
    }

    fn exp0(&self, v: &[f64]) -> Row {
        let length = dot(v, v).sqrt();
        if length == 0.0 { v.to_vec() } else { scaled(v, self.tan(length) / length) }
    }

    fn log0(&self, x: &[f64]) -> Row {
        let length = dot(x, x).sqrt();
        if length == 0.0 { x.to_vec() } else { scaled(x, self.arctan(length) / length) }
    }

    fn add(&self, x: &[f64], y: &[f64]) -> Row {
        let (k, xy, xx, yy) = (self.kappa, dot(x, y), dot(x, x), dot(y, y));
        let below = 1.0 - 2.0 * k * xy + k * k * xx * yy;
        let (a, b) = ((1.0 - 2.0 * k * xy - k * yy) / below, (1.0 + k * xx) / below);
        x.iter().zip(y).map(|(x, y)| a * x + b * y).collect()
    }

    /// `by` times a point.
    fn times(&self, by: f64, x: &[f64]) -> Row {
        self.exp0(&scaled(&self.log0(x), by))
    }
}

fn job(model: &str, own: &[(&str, Value)]) -> Job {
    let mut job = Job::new(model).with("hidden", 5).with("seed", 3);
    own.iter().for_each(|(name, value)| job.set(name, value.clone()));
    job
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

/// The Ollivier-Ricci curvature of the edges of a case, as a matrix.
fn curvatures(case: &Case) -> Matrix {
    let graph = case.data.graph();
    let options = bonnet_curvature::OllivierOptions { alpha: 0.5, ..Default::default() };
    let of_edges = bonnet_curvature::ollivier_ricci(graph, &options, &Unmonitored).unwrap();
    let n = graph.n_nodes();
    let mut out = matrix(n, n, |_, _| 0.0);
    for ((u, v), curvature) in graph.edges().zip(of_edges) {
        (out[u as usize][v as usize], out[v as usize][u as usize]) = (curvature, curvature);
    }
    out
}

fn softmax(x: &[f64]) -> Row {
    let powers: Row = x.iter().map(|x| x.exp()).collect();
    scaled(&powers, 1.0 / powers.iter().sum::<f64>())
}

#[test]
fn cusp_adds_points_of_its_factors_and_pools_them() {
    let own = [("factors", text("H2,E1,S2")), ("hops", 2.into()), ("frequencies", 3.into())];
    check(&job("cusp", &own), |case| {
        let (n, edges) = (case.x.len(), curvatures(case));
        let a = adjacency(case.data.graph(), false);
        let weights = matrix(n, n, |r, c| {
            let loops = f64::from(u8::from(r == c));
            loops + if a[r][c] > 0.0 { (-1.0 / (1.0 - edges[r][c])).exp() } else { 0.0 }
        });
        let p = symmetric(&weights);
        let h = case.perceptron(2);
        let powers = [h.clone(), times(&p, &h), times(&p, &times(&p, &h))];
        let raw = |name: &str| case.parameter(&format!("{name}.curvature"))[0][0].exp().ln_1p();
        let [hyperbolic, spherical] = [Gyro { kappa: -raw("0.hyperbolic") }, Gyro { kappa: raw("2.spherical") }];
        let factors = [(0, 2, hyperbolic), (2, 1, Gyro { kappa: 0.0 }), (3, 2, spherical)];
        let gamma = &case.parameter("gamma")[0];
        let filters = softmax(&case.parameter("filters")[0]);
        let omega = &case.parameter("frequencies")[0];
        let rows: Matrix = (0..n)
            .map(|v| {
                let (mut pooled, mut at) = (vec![0.0; 5], 0);
                for (degree, share) in filters.iter().enumerate() {
                    let points: Vec<Row> = factors
                        .iter()
                        .map(|(from, dimension, space)| {
                            let point = |k: usize| space.exp0(&powers[k][v][*from..from + dimension]);
                            let term = |k: usize| space.times(gamma[at + k], &point(k));
                            (1..=degree).fold(term(0), |sum, k| space.add(&sum, &term(k)))
                        })
                        .collect();
                    at += degree + 1;
                    let vectors: Vec<Row> = factors.iter().zip(&points).map(|((.., s), x)| s.log0(x)).collect();
                    let mapped: Matrix = (0..3)
                        .map(|q| times(&vec![vectors[q].clone()], case.parameter(&format!("{q}.map"))).remove(0))
                        .collect();
                    let mean: Row = (0..2).map(|c| mapped.iter().map(|row| row[c]).sum::<f64>() / 3.0).collect();
                    let score = |q: usize| {
                        let apart: Row = mapped[q].iter().zip(&mean).map(|(x, mean)| x - mean).collect();
                        1.0 / (1.0 + (-dot(&apart, &case.parameter(&format!("{q}.score"))[0])).exp())
                    };
                    let shares = softmax(&[score(0), score(1), score(2)]);
                    for (q, (from, dimension, _)) in factors.iter().enumerate() {
                        for c in 0..*dimension {
                            pooled[from + c] += share * shares[q] * vectors[q][c];
                        }
                    }
                }
                let degree: f64 = a[v].iter().sum();
                let mean = if degree > 0.0 { edges[v].iter().sum::<f64>() / degree } else { 0.0 };
                let code = omega.iter().map(|w| (w * mean).sin()).chain(omega.iter().map(|w| (w * mean).cos()));
                pooled.extend(code.map(|x| x / 6f64.sqrt()));
                pooled
            })
            .collect();
        let decode = [case.parameter("decode.weight").clone(), case.parameter("decode.code").clone()].concat();
        crate::tests::equations::literal::shift(&times(&rows, &decode), case.parameter("decode.bias"))
    });
}

#[test]
fn cusp_of_one_flat_factor_without_weights_bank_and_code_is_gprgnn() {
    let own = [
        ("factors", text("E5")),
        ("edge_weights", text("unit")),
        ("bank", text("false")),
        ("frequencies", 0.into()),
        ("hops", 4.into()),
    ];
    check(&job("cusp", &own), |case| {
        let s = symmetric(&adjacency(case.data.graph(), true));
        let mut power = case.perceptron(2);
        let mut z = matrix(power.len(), 5, |_, _| 0.0);
        for gamma in &case.parameter("gamma")[0] {
            z = plus(1.0, &z, *gamma, &power);
            power = times(&s, &power);
        }
        case.affine(&z, "decode")
    });
    // The model itself, where a layer of three columns is decoded by the identity.
    let data = planted(60, true);
    let all: Vec<u32> = (0..60).collect();
    let outputs = |job: Job| {
        let options = job.with("hidden", 3).with("layers", 1).with("hops", 4).with("dropout", 0.0).resolve().unwrap();
        let mut bench = Bench::new(&data, &options, &all);
        let mut values = bench.model.layout().initialise(5);
        for block in bench.model.layout().blocks() {
            let len = block.columns.len();
            for (number, at) in block.positions().enumerate() {
                let (row, column) = (number / len, number % len);
                values[at] = match block.name.as_str() {
                    "decode.weight" => f32::from(u8::from(row == column)),
                    "decode.bias" => 0.0,
                    "gamma" => 0.3 - 0.1 * column as f32,
                    // The same number in both programs, whatever their other blocks.
                    _ => ((7 * row + 3 * column) % 11) as f32 / 11.0 - 0.4,
                };
            }
        }
        bench.model.forward(&bench.scope, &values, Pass::Evaluate, &Unmonitored).unwrap();
        (0..60).flat_map(|v| bench.model.outputs()[8 * v..8 * v + 3].to_vec()).collect::<Vec<f32>>()
    };
    let own: Vec<(&str, Value)> = own.iter().map(|(name, value)| (*name, value.clone())).collect();
    let mut cusp = job("cusp", &own);
    cusp.set("factors", "E3");
    for (a, b) in outputs(cusp).iter().zip(outputs(job("gprgnn", &[]))) {
        assert!((a - b).abs() < 1e-5 * b.abs().max(1.0), "{a} for {b}");
    }
}

#[test]
fn factors_add_up_to_the_width_of_points() {
    let data = planted(20, true);
    for factors in ["H4", "H4,E2", "round"] {
        let options = job("cusp", &[("factors", text(factors))]).resolve().unwrap();
        let error = train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("factors is `") && error.contains("add up to the width, 5"), "{error}");
    }
    let sampled = job("cusp", &[("batch_nodes", 5.into())]).resolve().unwrap_err().to_string();
    assert!(sampled.contains("NULL: cusp reads more than the neighbours"), "{sampled}");
}

/// Rows of `D^-1/2 (A + I) D^-1/2` of a case.
fn looped(case: &Case) -> Matrix {
    symmetric(&adjacency(case.data.graph(), true))
}

/// The vectors of the experts of a case whose messages are weighed by `p`, and their curvatures.
fn experts(case: &Case, p: &Matrix, signs: &[f64]) -> Vec<(Gyro, Matrix)> {
    let one = |(number, sign): (usize, &f64)| {
        let name = if *sign < 0.0 { "hyperbolic" } else { "spherical" };
        let raw = || case.parameter(&format!("{number}.{name}.curvature"))[0][0].exp().ln_1p();
        let space = Gyro { kappa: if *sign == 0.0 { 0.0 } else { sign * raw() } };
        let mut x = case.x.clone();
        for l in 0..2 {
            let bias = space.exp0(&case.parameter(&format!("{number}.{l}.bias"))[0]);
            let z = times(&x, case.parameter(&format!("{number}.{l}.weight")));
            let z: Matrix = z.iter().map(|z| space.log0(&space.add(&space.exp0(z), &bias))).collect();
            x = times(p, &z);
            if l == 0 {
                x = crate::tests::equations::literal::relu(&x);
            }
        }
        (space, x)
    };
    signs.iter().enumerate().map(one).collect()
}

#[test]
fn graphmore_joins_its_experts() {
    for affinity in ["symmetric", "random_walk"] {
        let own = [("experts", text("2,1,1")), ("affinity", text(affinity))];
        check(&job("graphmore", &own), |case| {
            let walk = || crate::tests::equations::literal::random_walk(&adjacency(case.data.graph(), true));
            let p = if affinity == "symmetric" { looped(case) } else { walk() };
            let experts = experts(case, &p, &[-1.0, -1.0, 0.0, 1.0]);
            let vectors: Vec<&Matrix> = experts.iter().map(|(_, vectors)| vectors).collect();
            case.affine(&crate::tests::equations::literal::beside(&vectors), "decode")
        });
    }
}

#[test]
fn graphmore_of_one_flat_expert_is_gcn_and_an_affine_map() {
    check(&job("graphmore", &[("experts", text("0,1,0"))]), |case| {
        let p = looped(case);
        let bias = |l: usize| case.parameter(&format!("0.{l}.bias")).clone();
        let z = crate::tests::equations::literal::shift(&times(&case.x, case.parameter("0.0.weight")), &bias(0));
        let h = crate::tests::equations::literal::relu(&times(&p, &z));
        let z = crate::tests::equations::literal::shift(&times(&h, case.parameter("0.1.weight")), &bias(1));
        case.affine(&times(&p, &z), "decode")
    });
}

#[test]
fn distortion_is_that_of_distances_with_the_shares_of_both_ends() {
    let data = planted(50, true);
    let options = job("graphmore", &[("distortion", 0.7.into()), ("ego_hops", text("1,2"))]).with("dropout", 0.0);
    let options = options.resolve().unwrap();
    let mut bench = Bench::new(&data, &options, &split(&data).train);
    let values = parameters(&bench);
    bench.loss(&values);
    let case = Case::of(&bench, data.clone(), &values);
    let spaces = experts(&case, &looped(&case), &[-1.0, 0.0, 1.0]);
    // The shares, from ego graphs literally.
    let graph = data.graph();
    let x = times(&times(&case.x, case.parameter("gate.0.weight")), case.parameter("gate.1.weight"));
    let ego = |v: usize, hops: usize| -> Row {
        let mut near = vec![v];
        for _ in 0..hops {
            let joins = |u: usize| near.iter().any(|&w| u == w || graph.has_edge(u as u32, w as u32));
            near = (0..50).filter(|&u| joins(u)).collect();
        }
        let a = matrix(near.len(), near.len(), |r, c| {
            f64::from(u8::from(r == c || graph.has_edge(near[r] as u32, near[c] as u32)))
        });
        let (p, x): (Matrix, Matrix) = (symmetric(&a), near.iter().map(|&u| x[u].clone()).collect());
        let rounds = times(&p, &times(&p, &x));
        (0..5).map(|c| rounds.iter().map(|row| row[c]).sum::<f64>() / near.len() as f64).collect()
    };
    let gate = |v: usize| {
        let part = |hops: usize| times(&vec![ego(v, hops)], case.parameter(&format!("gate.ego.{}.weight", hops - 1)));
        plus(1.0, &part(1), 1.0, &part(2))
    };
    let shares: Matrix = (0..50).map(|v| softmax(&shift(&gate(v), case.parameter("gate.bias"))[0])).collect();
    let distance = |e: usize, u: usize, v: usize| -> f64 {
        let (space, vectors) = &spaces[e];
        let way = space.add(&scaled(&space.exp0(&vectors[u]), -1.0), &space.exp0(&vectors[v]));
        4.0 * space.arctan(dot(&way, &way).sqrt()).powi(2)
    };
    let edges: Vec<(u32, u32)> = graph.edges().collect();
    let sum: f64 = edges
        .iter()
        .map(|&(u, v)| {
            let (u, v) = (u as usize, v as usize);
            let both: Row = shares[u].iter().zip(&shares[v]).map(|(a, b)| a * b).collect();
            let square: f64 = softmax(&both).iter().enumerate().map(|(e, share)| share * distance(e, u, v)).sum();
            (square - 1.0).abs()
        })
        .sum();
    let expected = 0.7 * sum / edges.len() as f64;
    let found = bench.model.penalty();
    assert!((found - expected).abs() < 1e-5 * expected, "{found} for {expected}");
}

#[test]
fn graphmore_has_an_expert() {
    let data = planted(20, true);
    for experts in ["0,0,0", "1,1", "3"] {
        let options = job("graphmore", &[("experts", text(experts))]).resolve().unwrap();
        let error = train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("experts is `") && error.contains("one at least"), "{error}");
    }
}
