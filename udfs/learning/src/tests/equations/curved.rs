//! The models of curved spaces against their equations, with points as the papers write them: hyperboloids with the time
//! first, arcosh and arcosine, gyrovectors.

use super::literal::{Case, Matrix, adjacency, check, matrix, random_walk, relu, shift, symmetric, times};
use crate::tests::*;

type Row = Vec<f64>;

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn scaled(x: &[f64], by: f64) -> Row {
    x.iter().map(|x| x * by).collect()
}

fn added(x: &[f64], y: &[f64]) -> Row {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// The hyperboloid of curvature -1/k, points and vectors with the time first.
struct Hyperboloid {
    k: f64,
}

impl Hyperboloid {
    fn inner(x: &[f64], y: &[f64]) -> f64 {
        dot(&x[1..], &y[1..]) - x[0] * y[0]
    }

    fn origin(&self, n: usize) -> Row {
        let mut o = vec![0.0; n + 1];
        o[0] = self.k.sqrt();
        o
    }

    fn tangent(v: &[f64]) -> Row {
        [&[0.0], v].concat()
    }

    fn exp(&self, x: &[f64], v: &[f64]) -> Row {
        let length = Self::inner(v, v).max(0.0).sqrt();
        if length == 0.0 {
            return x.to_vec();
        }
        let t = length / self.k.sqrt();
        added(&scaled(x, t.cosh()), &scaled(v, self.k.sqrt() * t.sinh() / length))
    }

    fn distance(&self, x: &[f64], y: &[f64]) -> f64 {
        self.k.sqrt() * (-Self::inner(x, y) / self.k).max(1.0).acosh()
    }

    fn log(&self, x: &[f64], y: &[f64]) -> Row {
        let u = added(y, &scaled(x, Self::inner(x, y) / self.k));
        let length = Self::inner(&u, &u).max(0.0).sqrt();
        if length < 1e-12 { scaled(&u, 0.0) } else { scaled(&u, self.distance(x, y) / length) }
    }

    /// From x to y.
    fn transport(&self, x: &[f64], y: &[f64], v: &[f64]) -> Row {
        added(v, &scaled(&added(x, y), Self::inner(y, v) / (self.k - Self::inner(x, y))))
    }

    fn exp0(&self, v: &[f64]) -> Row {
        self.exp(&self.origin(v.len()), &Self::tangent(v))
    }

    fn log0(&self, x: &[f64]) -> Row {
        self.log(&self.origin(x.len() - 1), x)[1..].to_vec()
    }
}

fn curvature(case: &Case, layer: usize) -> f64 {
    case.parameter(&format!("{layer}.curvature"))[0][0].exp().ln_1p()
}

fn job(model: &str, own: &[(&str, &str)]) -> Job {
    let mut job = Job::new(model).with("hidden", 5).with("seed", 3);
    own.iter().for_each(|(name, value)| job.set(name, *value));
    job
}

/// The rows of neighbours with weights, row by row.
fn weights(case: &Case, affinity: &str) -> Matrix {
    let a = adjacency(case.data.graph(), true);
    if affinity == "symmetric" { symmetric(&a) } else { random_walk(&a) }
}

fn attention(case: &Case, h: &Matrix, layer: usize) -> Matrix {
    let a = adjacency(case.data.graph(), true);
    let of = |name: &str, v: usize| dot(&h[v], &case.parameter(&format!("{layer}.{name}"))[0]);
    softmax(&a, |i, j| {
        let score = of("target", i) + of("source", j);
        if score > 0.0 { score } else { 0.2 * score }
    })
}

/// A softmax of scores over the ones of each row.
fn softmax(a: &Matrix, score: impl Fn(usize, usize) -> f64) -> Matrix {
    let n = a.len();
    let powers = matrix(n, n, |i, j| if a[i][j] > 0.0 { score(i, j).exp() } else { 0.0 });
    random_walk(&powers)
}

#[test]
fn hgcn_adds_its_bias_and_averages_as_the_paper_has_it() {
    let symmetric = ("affinity", "symmetric");
    for own in [
        &[][..],
        &[symmetric],
        &[("attention", "true")],
        &[("local", "true")],
        &[("local", "true"), symmetric],
        &[("local", "true"), ("attention", "true")],
    ] {
        check(&job("hgcn", own), |case| {
            let is = |name: &str| own.iter().any(|(known, _)| *known == name);
            let affinity = if is("affinity") { "symmetric" } else { "random_walk" };
            let mut x = case.x.clone();
            for l in 0..2 {
                let space = Hyperboloid { k: 1.0 / curvature(case, l) };
                let z = times(&x, case.parameter(&format!("{l}.weight")));
                let bias = Hyperboloid::tangent(&case.parameter(&format!("{l}.bias"))[0]);
                let o = space.origin(5);
                let points: Matrix = z
                    .iter()
                    .map(|z| {
                        let x = space.exp0(z);
                        space.exp(&x, &space.transport(&o, &x, &bias))
                    })
                    .collect();
                let h: Matrix = points.iter().map(|x| space.log0(x)).collect();
                let w = if is("attention") { attention(case, &h, l) } else { weights(case, affinity) };
                let mean = match is("local") {
                    false => times(&w, &h),
                    true => (0..h.len())
                        .map(|i| {
                            let sum = (0..h.len()).fold(vec![0.0; 6], |sum, j| {
                                added(&sum, &scaled(&space.log(&points[i], &points[j]), w[i][j]))
                            });
                            space.log0(&space.exp(&points[i], &sum))
                        })
                        .collect(),
                };
                x = relu(&mean);
            }
            case.affine(&x, "decode")
        });
    }
}

#[test]
fn hgcn_in_the_ball_is_hgcn_on_the_hyperboloid_with_vectors_half_as_long() {
    // Without local averages a layer is linear but for its bias and the rectifier, which do not see a scale.
    check(&job("hgcn", &[("manifold", "poincare")]), |case| {
        let mut x = case.x.clone();
        for l in 0..2 {
            let space = Hyperboloid { k: 1.0 / curvature(case, l) };
            let z = times(&x, case.parameter(&format!("{l}.weight")));
            let bias = Hyperboloid::tangent(&scaled(&case.parameter(&format!("{l}.bias"))[0], 2.0));
            let moved = |z: &Row| {
                let x = space.exp0(&scaled(z, 2.0));
                scaled(&space.log0(&space.exp(&x, &space.transport(&space.origin(5), &x, &bias))), 0.5)
            };
            x = relu(&times(&weights(case, "random_walk"), &z.iter().map(moved).collect::<Matrix>()));
        }
        case.affine(&x, "decode")
    });
}

#[test]
fn hgcn_of_no_curvature_is_gcn() {
    for (manifold, affinity) in [("hyperboloid", "random_walk"), ("poincare", "symmetric")] {
        let mut job = job("hgcn", &[("manifold", manifold), ("affinity", affinity)]);
        job.set("curvature", 1e-8);
        check(&job, |case| {
            let w = weights(case, affinity);
            let layer = |x: &Matrix, l: usize| relu(&times(&w, &case.affine(x, &l.to_string())));
            case.affine(&layer(&layer(&case.x, 0), 1), "decode")
        });
    }
}

#[test]
fn hgnn_rectifies_in_the_ball_and_reads_distances() {
    for (manifold, scale) in [("hyperboloid", 0.5), ("poincare", 1.0)] {
        for (aggregate, affinity) in [("true", "symmetric"), ("true", "random_walk"), ("false", "symmetric")] {
            let own = [("manifold", manifold), ("aggregate", aggregate), ("affinity", affinity)];
            let mut job = job("hgnn", &own);
            job.set("centroids", 4);
            check(&job, |case| {
                let space = Hyperboloid { k: 1.0 };
                let mut x = case.x.clone();
                for l in 0..2 {
                    let z = times(&x, case.parameter(&format!("{l}.weight")));
                    let z = if aggregate == "true" { times(&weights(case, affinity), &z) } else { z };
                    x = z
                        .iter()
                        .map(|z| {
                            let v = scaled(z, scale);
                            let length = norm(&v).max(1e-300);
                            let ball: Row = v.iter().map(|v| (length.tanh() * v / length).max(0.0)).collect();
                            let length = norm(&ball);
                            if length == 0.0 { ball } else { scaled(&ball, length.atanh() / length / scale) }
                        })
                        .collect();
                }
                let centroids: Matrix = case
                    .parameter("centroids")
                    .iter()
                    .map(|p| [&[(1.0 + dot(p, p)).sqrt()], &p[..]].concat())
                    .collect();
                let point = |v: &Row| space.exp0(&scaled(v, 2.0 * scale));
                let d = matrix(x.len(), 4, |r, c| space.distance(&point(&x[r]), &centroids[c]));
                case.affine(&d, "decode")
            });
        }
    }
}

#[test]
fn models_average_as_their_authors_programs_do() {
    let affinity = |model: &str| job(model, &[]).resolve().unwrap().hyperparameters["affinity"].to_string();
    let found = ["hgcn", "qgcn", "hgnn", "graphmore"].map(affinity);
    assert_eq!(found, ["random_walk", "random_walk", "symmetric", "symmetric"]);
    let data = planted(20, true);
    let options = job("hgnn", &[("aggregate", "false"), ("affinity", "random_walk")]).resolve().unwrap();
    let error = train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("affinity is `random_walk`; valid: symmetric with aggregate => false"), "{error}");
}

#[test]
fn hat_attends_by_distance() {
    let mut job = job("hat", &[]);
    job.set("heads", 2);
    check(&job, |case| {
        let mut x = case.x.clone();
        for l in 0..2 {
            let space = Hyperboloid { k: 1.0 / curvature(case, l) };
            let g = times(&x, case.parameter(&format!("{l}.weight")));
            // Of the ball: a point of the hyperboloid by a vector twice as long.
            let point = |v: usize, head: usize| space.exp0(&scaled(&g[v][5 * head..5 * head + 5], 2.0));
            let distance = |i: usize, j: usize| {
                (0..2).map(|head| space.distance(&point(i, head), &point(j, head)).powi(2)).sum::<f64>().sqrt()
            };
            let w = softmax(&adjacency(case.data.graph(), true), |i, j| -distance(i, j));
            x = relu(&shift(&times(&w, &g), case.parameter(&format!("{l}.bias"))));
        }
        case.affine(&x, "decode")
    });
}

#[test]
fn hybonet_stays_on_the_hyperboloid() {
    for attention in [false, true] {
        let own = if attention { &[("attention", "true")][..] } else { &[] };
        check(&job("hybonet", own), |case| {
            let space = Hyperboloid { k: 1.0 };
            let linear = |x: &Matrix, name: &str| -> Matrix {
                let y = case.affine(x, name);
                let scale = case.parameter(&format!("{name}.scale"))[0][0].exp();
                y.iter()
                    .map(|y| {
                        let time = scale / (1.0 + (-y[0]).exp()) + 1.1;
                        let length = (time * time - 1.0).sqrt() / norm(&y[1..]);
                        [&[time], &scaled(&y[1..], length)[..]].concat()
                    })
                    .collect()
            };
            let mut x: Matrix = case.x.iter().map(|x| space.exp0(x)).collect();
            for l in 0..2 {
                let z = linear(&if l == 0 { x } else { relu(&x) }, &l.to_string());
                let a = adjacency(case.data.graph(), true);
                let w = if attention {
                    let (q, k) = (linear(&z, &format!("{l}.query")), linear(&z, &format!("{l}.key")));
                    softmax(&a, |i, j| (2.0 + 2.0 * Hyperboloid::inner(&q[i], &k[j])) / 5f64.sqrt())
                } else {
                    random_walk(&a)
                };
                let sum = times(&w, &z);
                x = sum.iter().map(|s| scaled(s, 1.0 / (-Hyperboloid::inner(s, s)).sqrt())).collect();
            }
            let classes = case.parameter("classes");
            let logits = matrix(x.len(), 3, |r, c| {
                let p = [&[(1.0 + dot(&classes[c], &classes[c])).sqrt()], &classes[c][..]].concat();
                2.0 + 2.0 * Hyperboloid::inner(&x[r], &p)
            });
            shift(&logits, case.parameter("decode.bias"))
        });
    }
}

#[test]
fn qgcn_moves_on_the_sphere_and_in_flat_space() {
    let cases =
        [("5,0", 0, "random_walk"), ("3,2", 2, "random_walk"), ("3,2", 2, "symmetric"), ("0,5", 5, "symmetric")];
    for (signature, time, affinity) in cases {
        check(&job("qgcn", &[("signature", signature), ("affinity", affinity)]), |case| {
            let mut x = case.x.clone();
            for l in 0..2 {
                let z = times(&x, case.parameter(&format!("{l}.weight")));
                let bias = &case.parameter(&format!("{l}.bias"))[0];
                let radius = if time > 0 { 1.0 / curvature(case, l).sqrt() } else { 1.0 };
                let moved = |z: &Row| -> Row {
                    let (a, s) = z.split_at(time);
                    let s = added(s, &bias[time..]);
                    if time == 0 {
                        return s;
                    }
                    // The sphere with its pole first: exponential, transport along the arc, exponential, logarithm.
                    let exp = |x: &[f64], v: &[f64]| {
                        let t = norm(v) / radius;
                        if t == 0.0 { x.to_vec() } else { added(&scaled(x, t.cos()), &scaled(v, t.sin() / t)) }
                    };
                    let mut pole = vec![0.0; time + 1];
                    pole[0] = radius;
                    let u = exp(&pole, &Hyperboloid::tangent(a));
                    let b = Hyperboloid::tangent(&bias[..time]);
                    let share = dot(&u, &b) / (radius * radius + dot(&pole, &u));
                    let b = added(&b, &scaled(&added(&pole, &u), -share));
                    let y = exp(&u, &b);
                    let angle = (y[0] / radius).clamp(-1.0, 1.0).acos();
                    let a = scaled(&y[1..], radius * angle / norm(&y[1..]).max(1e-300));
                    [&a[..], &s[..]].concat()
                };
                x = relu(&times(&weights(case, affinity), &z.iter().map(moved).collect::<Matrix>()));
            }
            case.affine(&x, "decode")
        });
    }
}

#[test]
fn a_signature_adds_up_to_the_width() {
    let data = planted(20, true);
    for signature in ["4,2", "5", "1,2,2"] {
        let options = job("qgcn", &[("signature", signature)]).resolve().unwrap();
        let error = train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("signature") && error.contains("add up to the width of a layer, 5"), "{error}");
    }
    for curvature in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let error = Job::new("hgcn").with("curvature", curvature).resolve().unwrap_err().to_string();
        assert!(error.contains("curvature") && error.contains("a number above 0"), "{error}");
    }
}

const CURVED: [&str; 7] = ["hgnn", "hgcn", "hat", "hybonet", "qgcn", "cusp", "graphmore"];

#[test]
fn other_numbers_of_the_nodes_change_no_output() {
    let data = planted(60, false);
    let n = 60u32;
    let place = |v: u32| (v * 7 + 3) % n;
    let edges: Vec<(u32, u32)> = data.graph.edges().map(|(u, v)| (place(u), place(v))).collect();
    let Features::Dense { columns, values } = data.features() else { panic!("these are dense") };
    let mut moved = vec![0.0; values.len()];
    let mut labels = vec![None; n as usize];
    for v in 0..n {
        let to = place(v) as usize;
        moved[to * columns..][..*columns].copy_from_slice(&values[v as usize * columns..][..*columns]);
        labels[to] = data.labels[v as usize];
    }
    let other = Features::dense(*columns, moved).unwrap();
    let other = GraphData::new(Graph::from_edges(n as usize, &edges), other, labels, 3).unwrap();
    for model in CURVED {
        let outputs = |data: &GraphData| {
            let all: Vec<u32> = (0..n).collect();
            let mut bench = Bench::new(data, &job(model, &[]).resolve().unwrap(), &all);
            let values = parameters(&bench);
            bench.model.forward(&bench.scope, &values, Pass::Evaluate, &Unmonitored).unwrap();
            bench.model.outputs().to_vec()
        };
        let (here, there) = (outputs(&data), outputs(&other));
        for v in 0..n {
            for c in 0..3 {
                let (a, b) = (here[v as usize * 8 + c], there[place(v) as usize * 8 + c]);
                assert!((a - b).abs() < 1e-5 * a.abs().max(1.0), "{model}: {a} {b}");
            }
        }
    }
}

#[test]
fn pairs_are_scored_by_the_distance_of_their_points() {
    use crate::data::LinkSplit;
    let data = planted(60, true);
    let shares = crate::Shares::new(80.0, 10.0, 10.0).unwrap();
    let links = LinkSplit::draw(&data.graph, shares, 1, &Unmonitored).unwrap();
    for model in CURVED {
        let job = job(model, &[]).with("task", "link_prediction").with("normalize", "row");
        // Shares of factors and of filters make the first points of cusp small.
        let job = if model == "cusp" { job.with("epochs", 150).with("lr", 0.03) } else { job.with("epochs", 40) };
        let options = TrainOptions { keep_embeddings: true, ..job.with("dropout", 0.0).resolve().unwrap() };
        let items = Items::Links(&data, &links);
        let outcome = crate::train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).unwrap();
        assert!(outcome.test.auc.unwrap() > 0.5, "{model}: {:?}", outcome.test.auc);
        if model == "graphmore" {
            // Its distances weigh the factors by shares of both ends, which are no coordinates.
            continue;
        }
        // The distance of the points that are given out, by their own metric.
        let (points, text) = (outcome.embeddings.unwrap(), outcome.geometry.unwrap());
        for (((u, v), ..), logit) in links.pairs().zip(&outcome.logits.values) {
            let point = |v: u32| -> Row { points.row(v as usize).iter().map(|x| f64::from(*x)).collect() };
            let (x, y) = (point(u), point(v));
            let mut from = 0;
            let square: f64 = text
                .split(" x ")
                .map(|factor| {
                    let columns = columns(factor);
                    let square = square_distance(factor, &x[from..from + columns], &y[from..from + columns]);
                    from += columns;
                    square
                })
                .sum();
            assert_eq!(from, x.len(), "{text}");
            let expected = 2.0 - square;
            assert!(
                (f64::from(*logit) - expected).abs() < 2e-3 * expected.abs().max(1.0),
                "{model}: {logit} {expected}"
            );
        }
    }
}

/// The numbers of a metric such as `lorentz(5, -1)`.
fn numbers(factor: &str) -> Vec<f64> {
    factor.split(['(', ',', ')']).skip(1).filter_map(|text| text.trim().parse().ok()).collect()
}

fn columns(factor: &str) -> usize {
    let numbers = numbers(factor);
    let signature = if factor.starts_with("pseudo") { numbers[0] + numbers[1] } else { numbers[0] };
    signature as usize
}

fn square_distance(factor: &str, x: &[f64], y: &[f64]) -> f64 {
    let numbers = numbers(factor);
    let apart = added(x, &scaled(y, -1.0));
    match factor.split('(').next().unwrap() {
        "lorentz" => Hyperboloid { k: -1.0 / numbers[1] }.distance(x, y).powi(2),
        "poincare" => {
            let c = -numbers[1];
            let below = (1.0 - c * dot(x, x)) * (1.0 - c * dot(y, y));
            (1.0 + 2.0 * c * dot(&apart, &apart) / below).acosh().powi(2) / c
        }
        "euclidean" => dot(&apart, &apart),
        "spherical" => (dot(x, y) * numbers[1]).min(1.0).acos().powi(2) / numbers[1],
        _ => {
            let (time, b) = (numbers[0] as usize, -1.0 / numbers[2]);
            let z = (dot(&x[..time], &y[..time]) - dot(&x[time..], &y[time..])) / b;
            let square = |z: f64| if z > 1.0 { z.acosh().powi(2) } else { z.acos().powi(2) };
            b * if z > -1.0 { square(z) } else { (std::f64::consts::PI + (-z).acosh()).powi(2) }
        }
    }
}
