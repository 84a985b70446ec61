//! The equations, number by number.

use bonnet_graph::{Graph, Unmonitored};
use candle_core::{DType, Device, Tensor};

use super::{check_gradient, options, parameters, planted, sources};
use crate::ground::Layout;
use crate::ground::random::{Stream, key};
use crate::models::foundation::draws;
use crate::models::foundation::gcope::{Change, Gcope, Joint, loss_of};
use crate::models::foundation::mdgfm::{Mdgfm, others};
use crate::models::foundation::mdgpt::Mdgpt;
use crate::models::foundation::samgpt::Samgpt;
use crate::models::foundation::{Domain, Foundation, Place, Shape, View, Weights};

pub(super) type Rows = Vec<Vec<f64>>;

/// The parameters of a layout by their names.
pub(super) struct Named<'a>(pub &'a Layout, pub &'a [f64]);

impl Named<'_> {
    pub fn get(&self, name: &str) -> Rows {
        let block = self.0.blocks().iter().find(|block| block.name == name).unwrap_or_else(|| panic!("no {name}"));
        self.1[block.range()].chunks(block.columns.len()).map(<[f64]>::to_vec).collect()
    }
}

pub(super) fn product(a: &Rows, b: &Rows) -> Rows {
    let entry = |row: &Vec<f64>, c: usize| row.iter().zip(b).map(|(x, b)| x * b[c]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|c| entry(row, c)).collect()).collect()
}

/// `D^-1/2 (A + I) D^-1/2`.
pub(super) fn normalized(graph: &Graph) -> Rows {
    let n = graph.n_nodes();
    let joined = |u: usize, v: usize| u == v || graph.has_edge(u as u32, v as u32);
    let degree = |v: usize| (0..n).filter(|&u| joined(u, v)).count() as f64;
    (0..n)
        .map(|u| (0..n).map(|v| if joined(u, v) { 1.0 / (degree(u) * degree(v)).sqrt() } else { 0.0 }).collect())
        .collect()
}

pub(super) fn scaled(x: &Rows, token: &[f64]) -> Rows {
    x.iter().map(|row| row.iter().zip(token).map(|(x, t)| x * t).collect()).collect()
}

pub(super) fn encode(named: &Named<'_>, layers: usize, x: &Rows, a: &Rows) -> Rows {
    let mut h = x.clone();
    for l in 0..layers {
        let [weight, bias, slope] = ["weight", "bias", "slope"].map(|what| named.get(&format!("encoder.{l}.{what}")));
        h = product(a, &product(&h, &weight));
        for row in &mut h {
            for (x, b) in row.iter_mut().zip(&bias[0]) {
                *x += b;
                if *x < 0.0 {
                    *x *= slope[0][0];
                }
            }
        }
    }
    h
}

pub(super) fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())
}

/// The contrast of links with the draws of a key.
pub(super) fn link_contrast(graph: &Graph, z: &Rows, other: &Rows, temperature: f64, draw: u64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (v, z) in z.iter().enumerate() {
        let Some(row) = draws(graph, v as u32, &mut Stream::new(key(&[draw, v as u64]))) else { continue };
        let similarity = |&u: &u32| (cosine(z, &other[u as usize]) / temperature).exp();
        sum -= (similarity(&row[0]) / row[1..].iter().map(similarity).sum::<f64>()).ln();
        count += 1.0;
    }
    sum / count
}

pub(super) fn rows(domain: &Domain) -> Rows {
    domain.rows.values.chunks(domain.rows.columns).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect()
}

#[test]
fn mdgpt_is_its_equations() {
    let options = options("mdgpt", &[("temperature", 0.7.into())]);
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    let layout = Mdgpt.encoder(&shape).unwrap();
    let values = parameters(&layout, 3);
    for part in [0, 1] {
        let place = Place { epoch: 4, step: 0, part };
        let graph = &sources[part].graph;
        let (a, x) = (normalized(graph), rows(&sources[part]));
        check_gradient(&Mdgpt, &shape, &sources, place, &values, &|values| {
            let named = Named(&layout, values);
            let token = named.get(&format!("token.{part}"));
            let z = encode(&named, 2, &scaled(&x, &token[0]), &a);
            link_contrast(graph, &z, &z, 0.7, place.key(5, 41))
        });
    }
}

#[test]
fn the_dual_prompt_of_mdgpt_is_its_equation() {
    let options = options("mdgpt", &[]);
    let shape = Shape::new(&options, 2, &Unmonitored).unwrap();
    let (graph, given) = planted(8, 4, 9);
    let target = Domain::of(graph, given, DType::F64).unwrap();
    let mut layout = Mdgpt.encoder(&shape).unwrap();
    for block in Mdgpt.prompt(&shape).unwrap().blocks() {
        layout.push(block.name.clone(), block.rows, block.columns, block.initial.clone());
    }
    let values = parameters(&layout, 8);
    let weights = Weights::new(&layout, &values, DType::F64, |_| false).unwrap();
    let found = Mdgpt.embed(&shape, &weights, &target.view, true, None).unwrap().to_vec2::<f64>().unwrap();
    let doubles: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let named = Named(&layout, &doubles);
    let [gamma, p, a, b] = ["gamma", "p", "a", "b"].map(|name| named.get(&format!("prompt.{name}"))[0].clone());
    let tokens = [0, 1].map(|i| named.get(&format!("token.{i}"))[0].clone());
    let elu = |x: f64| if x > 0.0 { x } else { x.exp() - 1.0 };
    let x: Rows = rows(&target)
        .iter()
        .map(|row| {
            let prompted = |(c, x): (usize, &f64)| {
                let of_sources = gamma[0] * tokens[0][c] + gamma[1] * tokens[1][c];
                elu(a[0] * of_sources * x + b[0] * p[c] * x)
            };
            row.iter().enumerate().map(prompted).collect()
        })
        .collect();
    let expected = encode(&named, 2, &x, &normalized(&target.graph));
    for (found, expected) in found.concat().iter().zip(expected.concat()) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

/// The dense matrix of a sparse one.
fn dense(product: impl Fn(&Tensor) -> candle_core::Result<Tensor>, n: usize) -> Rows {
    product(&Tensor::eye(n, DType::F64, &Device::Cpu).unwrap()).unwrap().to_vec2().unwrap()
}

fn perceptron(named: &Named<'_>, name: &str, x: &Rows) -> Rows {
    let linear = |x: &Rows, layer: usize| {
        let bias = named.get(&format!("{name}.{layer}.bias"));
        let mut rows = product(x, &named.get(&format!("{name}.{layer}.weight")));
        rows.iter_mut().flatten().zip(bias[0].iter().cycle()).for_each(|(x, b)| *x += b);
        rows
    };
    let mut hidden = linear(x, 0);
    hidden.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
    linear(&hidden, 1)
}

#[test]
fn gcope_is_its_equations() {
    let own = [("batch", 3.into()), ("walk", 6.into()), ("walks", 0.2.into()), ("reconstruction", 0.4.into())];
    let options = options("gcope", &own);
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    let joint = Joint::new(&sources);
    let layout = Gcope.encoder(&shape).unwrap();
    let values = parameters(&layout, 6);
    let place = Place { epoch: 2, step: 0, part: 0 };
    let subgraphs = joint.subgraphs(&shape, place).unwrap();
    let contrast = |named: &Named<'_>| {
        // The draws of the step, in their order.
        let mut stream = Stream::new(place.key(5, 44));
        let changes = [(); 2].map(|()| [Change::Nodes, Change::Edges, Change::Rows][stream.below(3)]);
        let share = (1 + stream.below(3)) as f64 / 10.0;
        let single: Vec<f32> = named.1.iter().map(|&x| x as f32).collect();
        let weights = Weights::new(&layout, &single, DType::F64, |_| false).unwrap();
        // Coordinators to the last digit.
        let exact = |weights: Weights, source: usize| {
            let name = format!("coordinator.{source}");
            let row = named.get(&name).concat();
            weights.with(&name, Tensor::from_vec(row, (1, 4), &Device::Cpu).unwrap())
        };
        let weights = (0..2).fold(weights, exact);
        let (mut projected, mut error) = (Vec::new(), 0.0);
        for change in changes {
            let view = joint.view(&subgraphs, change, share, &mut stream, &weights).unwrap();
            let x = view.features.to_vec2::<f64>().unwrap();
            let a = dense(|x| view.propagation.product(x), x.len());
            let h = encode(named, 2, &x, &a);
            let pooled = product(&dense(|x| view.pooling.product(x), x.len()), &h);
            projected.push(perceptron(named, "projection", &pooled));
            let given = perceptron(named, "decoder", &h);
            let squares = given.concat().iter().zip(x.concat()).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            error += 0.4 * squares / x.concat().len() as f64;
        }
        let n = projected[0].len();
        let similarity = |i: usize, j: usize| (cosine(&projected[0][i], &projected[1][j]) / 0.5).exp();
        let one =
            |i: usize| -(similarity(i, i) / (0..n).filter(|&j| j != i).map(|j| similarity(i, j)).sum::<f64>()).ln();
        (0..n).map(one).sum::<f64>() / n as f64 + error
    };
    check_gradient(&Gcope, &shape, &sources, place, &values, &|values| contrast(&Named(&layout, values)));
}

#[test]
fn the_joint_graph_and_its_views_are_as_defined() {
    let options = options("gcope", &[("batch", 2.into()), ("walk", 12.into()), ("walks", 1.0.into())]);
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    let joint = Joint::new(&sources);
    // Nodes 0 to 8 and 9 to 15; the coordinators are 16 and 17.
    assert!(joint.has_edge(16, 17) && joint.has_edge(16, 3) && joint.has_edge(12, 17));
    assert!(!joint.has_edge(16, 12) && !joint.has_edge(3, 12) && !joint.has_edge(16, 16));
    assert_eq!(joint.has_edge(0, 1), sources[0].graph.has_edge(0, 1));
    assert_eq!(Gcope.steps(&shape, &sources).unwrap(), (9, 1));
    let layout = Gcope.encoder(&shape).unwrap();
    let weights = Weights::new(&layout, &parameters(&layout, 1), DType::F64, |_| false).unwrap();
    let coordinator = weights.numbered("coordinator", 1).unwrap().to_vec2::<f64>().unwrap();
    let mut starts = Vec::new();
    for step in 0..9 {
        let place = Place { epoch: 1, step, part: 0 };
        let subgraphs = joint.subgraphs(&shape, place).unwrap();
        starts.extend(subgraphs.iter().map(Vec::len));
        assert!(subgraphs.iter().all(|nodes| nodes.is_sorted() && nodes.len() <= 13));
        let mut stream = Stream::new(1);
        let mut view = |change, share| joint.view(&subgraphs, change, share, &mut stream, &weights).unwrap();
        let whole = view(Change::Edges, 0.0);
        let x = whole.features.to_vec2::<f64>().unwrap();
        let nodes = subgraphs.concat();
        assert_eq!(x.len(), nodes.len());
        for (row, &node) in x.iter().zip(&nodes) {
            match node {
                17 => assert_eq!(row, &coordinator[0]),
                node if node < 9 => assert_eq!(row[0] as f32, sources[0].rows.row(node as usize)[0]),
                _ => {}
            }
        }
        let a = dense(|x| whole.propagation.product(x), nodes.len());
        let first = subgraphs[0].len();
        for i in 0..nodes.len() {
            let within = |j: usize| (i < first) == (j < first);
            let degree =
                |i: usize, of: &[u32]| of.iter().filter(|&&b| joint.has_edge(nodes[i], b)).count() as f64 + 1.0;
            let part = |i: usize| if i < first { &nodes[..first] } else { &nodes[first..] };
            for j in 0..nodes.len() {
                let joined = within(j) && (i == j || joint.has_edge(nodes[i], nodes[j]));
                let expected = 1.0 / (degree(i, part(i)) * degree(j, part(j))).sqrt() * f64::from(u8::from(joined));
                assert!((a[i][j] - expected).abs() < 1e-12);
            }
        }
        let dropped = view(Change::Nodes, 0.3);
        let kept: usize = subgraphs.iter().map(|nodes| nodes.len() - (nodes.len() as f64 * 0.3) as usize).sum();
        assert_eq!(dropped.features.dim(0).unwrap(), kept);
        let masked = view(Change::Rows, 0.3).features.to_vec2::<f64>().unwrap();
        let mean: Vec<f64> = (0..4).map(|c| x[..first].iter().map(|row| row[c]).sum::<f64>() / first as f64).collect();
        let is_mean = |row: &Vec<f64>| row.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-12);
        assert_eq!(masked[..first].iter().filter(|row| is_mean(row)).count(), (first as f64 * 0.3) as usize);
    }
    assert_eq!(starts.len(), 18, "every node of the joint graph starts a walk");
    let views: Vec<_> = [Change::Nodes, Change::Edges]
        .map(|change| {
            let subgraphs = joint.subgraphs(&shape, Place { epoch: 1, step: 0, part: 0 }).unwrap();
            joint.view(&subgraphs, change, 0.1, &mut Stream::new(2), &weights).unwrap()
        })
        .into();
    assert!(loss_of(&shape, &weights, &views, 1).unwrap().to_scalar::<f64>().unwrap().is_finite());
}

#[test]
fn identity_prompts_give_the_frozen_encoder_behind_their_activation() {
    let options = options("mdgpt", &[]);
    let shape = Shape::new(&options, 3, &Unmonitored).unwrap();
    let (graph, rows) = planted(12, 4, 4);
    let target = Domain::of(graph, rows, DType::F64).unwrap();
    let mut layout = Mdgpt.encoder(&shape).unwrap();
    let of_encoder = layout.stored();
    for block in Mdgpt.prompt(&shape).unwrap().blocks() {
        layout.push(block.name.clone(), block.rows, block.columns, block.initial.clone());
    }
    // Prompts as they start, behind an encoder with tokens that are the identity.
    let mut values = layout.initialise(5);
    let drawn = parameters(&layout, 2);
    for block in layout.blocks().iter().filter(|block| block.name.starts_with("encoder.")) {
        values[block.range()].copy_from_slice(&drawn[block.range()]);
    }
    assert!(values[of_encoder..].iter().all(|x| *x != 0.0));
    let weights = Weights::new(&layout, &values, DType::F64, |_| false).unwrap();
    let prompted = Mdgpt.embed(&shape, &weights, &target.view, true, None).unwrap();
    let features = target.view.features.elu(1.0).unwrap();
    let view = View { features, ..target.view.clone() };
    let frozen = Mdgpt.embed(&shape, &weights, &view, false, None).unwrap();
    let (prompted, frozen) = (prompted.to_vec2::<f64>().unwrap(), frozen.to_vec2::<f64>().unwrap());
    // A third, three times, is 1 to the last digit of an f32.
    for (a, b) in prompted.concat().iter().zip(frozen.concat()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn rows_around_the_shots_are_those_of_the_whole_graph() {
    let options = options("mdgpt", &[]);
    let shape = Shape::new(&options, 1, &Unmonitored).unwrap();
    let (graph, rows) = planted(40, 4, 11);
    let sparse: Vec<(u32, u32)> = graph.edges().filter(|(u, v)| v - u == 1 || (u * 7 + v) % 11 == 0).collect();
    let target = Domain::of(Graph::from_edges(40, &sparse), rows, DType::F64).unwrap();
    let layout = Mdgpt.encoder(&shape).unwrap();
    let weights = Weights::new(&layout, &parameters(&layout, 3), DType::F64, |_| false).unwrap();
    let whole = Mdgpt.embed(&shape, &weights, &target.view, false, None).unwrap().to_vec2::<f64>().unwrap();
    let (near, places) = target.around(&[2, 30], Mdgpt.reach(&shape).unwrap()).unwrap();
    assert!(near.features.dim(0).unwrap() < 40, "the neighbourhoods are not everything");
    let rows = Mdgpt.embed(&shape, &weights, &near, false, None).unwrap().to_vec2::<f64>().unwrap();
    for v in [2u32, 30] {
        for (near, whole) in rows[places[&v] as usize].iter().zip(&whole[v as usize]) {
            assert!((near - whole).abs() < 1e-12, "{near} {whole}");
        }
    }
}

#[test]
fn samgpt_is_its_equations() {
    let options = options("samgpt", &[("structure", 0.4.into()), ("specific", 0.7.into())]);
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    let layout = Samgpt.encoder(&shape).unwrap();
    let values = parameters(&layout, 13);
    let with_tokens = |named: &Named<'_>, x: &Rows, a: &Rows, token: &dyn Fn(usize) -> Vec<f64>| {
        let mut h = x.clone();
        for l in 0..2 {
            let [weight, bias, slope] = ["weight", "bias", "slope"].map(|it| named.get(&format!("encoder.{l}.{it}")));
            h = product(a, &product(&scaled(&h, &token(l)), &weight));
            for row in &mut h {
                let active = |(x, b): (&f64, &f64)| if x + b < 0.0 { slope[0][0] * (x + b) } else { x + b };
                *row = row.iter().zip(&bias[0]).map(active).collect();
            }
        }
        h
    };
    let sum = |a: &Rows, factor: f64, b: &Rows| -> Rows {
        a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + factor * b).collect()).collect()
    };
    for part in [0, 1] {
        let place = Place { epoch: 1, step: 0, part };
        let graph = &sources[part].graph;
        let (a, x) = (normalized(graph), rows(&sources[part]));
        check_gradient(&Samgpt, &shape, &sources, place, &values, &|values| {
            let named = Named(&layout, values);
            let of_features = encode(&named, 2, &scaled(&x, &named.get(&format!("token.{part}"))[0]), &a);
            let token = |l: usize| named.get(&format!("structure.{l}.{part}"))[0].clone();
            let z = sum(&of_features, 0.4, &with_tokens(&named, &x, &a, &token));
            link_contrast(graph, &z, &z, 1.0, place.key(5, 45))
        });
    }
    // The prompts of a target.
    let mut layout = layout;
    for block in Samgpt.prompt(&shape).unwrap().blocks() {
        layout.push(block.name.clone(), block.rows, block.columns, block.initial.clone());
    }
    let values = parameters(&layout, 14);
    let weights = Weights::new(&layout, &values, DType::F64, |_| false).unwrap();
    let found = Samgpt.embed(&shape, &weights, &sources[0].view, true, None).unwrap().to_vec2::<f64>().unwrap();
    let doubles: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let named = Named(&layout, &doubles);
    let mixed = |gamma: &str, name: &str| -> Vec<f64> {
        let shares = named.get(gamma)[0].clone();
        let [a, b] = [0, 1].map(|i| named.get(&format!("{name}.{i}"))[0].clone());
        a.iter().zip(&b).map(|(a, b)| shares[0] * a + shares[1] * b).collect()
    };
    let (a, x) = (normalized(&sources[0].graph), rows(&sources[0]));
    let own = named.get("prompt.p")[0].clone();
    let prompt: Vec<f64> = mixed("prompt.gamma", "token").iter().zip(&own).map(|(t, p)| t + 0.7 * p).collect();
    let of_features = encode(&named, 2, &scaled(&x, &prompt), &a);
    let holistic = |l: usize| mixed(&format!("prompt.structure.gamma.{l}"), &format!("structure.{l}"));
    let specific = |l: usize| named.get(&format!("prompt.structure.p.{l}"))[0].clone();
    let of_structure = sum(&with_tokens(&named, &x, &a, &holistic), 0.7, &with_tokens(&named, &x, &a, &specific));
    let expected = sum(&of_features, 0.4, &of_structure);
    for (found, expected) in found.concat().iter().zip(expected.concat()) {
        assert!((found - expected).abs() < 1e-11, "{found} {expected}");
    }
}

/// The refined graph of some rows: the edges, and the normalised weights of its rows.
fn refined(e: &Rows, k: usize, kept: &dyn Fn(usize, usize) -> bool) -> (Vec<(usize, usize)>, Rows) {
    let n = e.len();
    let nearest = |v: usize| {
        let mut others: Vec<usize> = (0..n).filter(|&u| u != v).collect();
        others.sort_by(|&a, &b| cosine(&e[b], &e[v]).total_cmp(&cosine(&e[a], &e[v])));
        others.truncate(k);
        others
    };
    let lists: Vec<Vec<usize>> = (0..n).map(nearest).collect();
    let joined = |u: usize, v: usize| u != v && (lists[u].contains(&v) || lists[v].contains(&u));
    let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).filter(|&(u, v)| joined(u, v)).collect();
    let weight = |u: usize, v: usize| match u == v {
        true => 1.0,
        false if joined(u, v) && kept(u, v) => cosine(&e[u], &e[v]).max(0.0),
        false => 0.0,
    };
    let degrees: Vec<f64> = (0..n).map(|u| (0..n).map(|v| weight(u, v)).sum()).collect();
    let row = |u: usize| (0..n).map(|v| weight(u, v) / (degrees[u] * degrees[v]).sqrt()).collect();
    (pairs, (0..n).map(row).collect())
}

#[test]
fn mdgfm_is_its_equations() {
    let own = [("neighbors", 2.into()), ("edge_dropout", 0.0.into()), ("temperature", 0.8.into())];
    let options = options("mdgfm", &own);
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    let mut layout = Mdgfm.encoder(&shape).unwrap();
    // Positive tokens, so that few rows are 0 behind the rectifier.
    let positive = |layout: &Layout, seed: u64| -> Vec<f32> {
        let mut values = parameters(layout, seed);
        for block in layout.blocks().iter().filter(|block| !block.name.starts_with("encoder")) {
            values[block.range()].iter_mut().for_each(|x| *x = 0.3 + x.abs());
        }
        values
    };
    let topology = |x: &Rows, a: &Rows, balance: &[f64]| -> Rows {
        let beside = product(a, x);
        let joined: Rows = x.iter().zip(&beside).map(|(x, y)| [&x[..], &y[..]].concat()).collect();
        scaled(&joined, balance)
    };
    let values = positive(&layout, 21);
    for part in [0, 1] {
        let place = Place { epoch: 3, step: 0, part };
        let graph = &sources[part].graph;
        let (a, given) = (normalized(graph), rows(&sources[part]));
        check_gradient(&Mdgfm, &shape, &sources, place, &values, &|values| {
            let named = Named(&layout, values);
            let mut x = scaled(&given, &named.get(&format!("token.{part}"))[0]);
            x.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
            let x = scaled(&x, &named.get("shared")[0]);
            let e = topology(&x, &a, &named.get(&format!("balance.{part}"))[0]);
            let (pairs, refined) = refined(&e, 2, &|_, _| true);
            let (z, other) = (encode(&named, 2, &x, &a), encode(&named, 2, &x, &refined));
            let similarity = |v: usize, u: u32| (cosine(&z[v], &other[u as usize]) / 0.8).exp();
            let own = |v: usize| {
                let row = others(v as u32, z.len(), place.key(5, 47));
                assert!(row[0] == v as u32 && row[1..].iter().all(|&u| u != v as u32));
                let negatives: f64 = row[1..].iter().map(|&u| similarity(v, u)).sum();
                -(similarity(v, row[0]) / negatives).ln()
            };
            let own = (0..z.len()).map(own).sum::<f64>() / z.len() as f64;
            let pairs: Vec<(u32, u32)> = pairs.iter().map(|&(u, v)| (u as u32, v as u32)).collect();
            own + link_contrast(&Graph::from_edges(z.len(), &pairs), &z, &other, 0.8, place.key(5, 48))
        });
    }
    // The prompts of a target.
    for block in Mdgfm.prompt(&shape).unwrap().blocks() {
        layout.push(block.name.clone(), block.rows, block.columns, block.initial.clone());
    }
    let values = positive(&layout, 22);
    let weights = Weights::new(&layout, &values, DType::F64, |_| false).unwrap();
    let found = Mdgfm.embed(&shape, &weights, &sources[0].view, true, None).unwrap().to_vec2::<f64>().unwrap();
    let doubles: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let named = Named(&layout, &doubles);
    let mixed = |name: &str| -> Vec<f64> {
        let shares = named.get("prompt.gamma")[0].clone();
        let [a, b] = [0, 1].map(|i| named.get(&format!("{name}.{i}"))[0].clone());
        a.iter().zip(&b).map(|(a, b)| shares[0] * a + shares[1] * b).collect()
    };
    let a = normalized(&sources[0].graph);
    let mut x = scaled(&rows(&sources[0]), &mixed("token"));
    x.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
    let x = scaled(&scaled(&x, &named.get("shared")[0]), &named.get("prompt.p")[0]);
    let (_, refined) = refined(&topology(&x, &a, &mixed("balance")), 2, &|_, _| true);
    let half: Rows =
        a.iter().zip(&refined).map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a + b) / 2.0).collect()).collect();
    let expected = encode(&named, 2, &x, &half);
    for (found, expected) in found.concat().iter().zip(expected.concat()) {
        assert!((found - expected).abs() < 1e-11, "{found} {expected}");
    }
}
