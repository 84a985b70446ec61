//! The equations of graphglue, number by number.

use bonnet_graph::Unmonitored;
use candle_core::{DType, Device, Tensor};

use super::literal::{Named, Rows, cosine, encode, product};
use super::{check_gradient, options, parameters, planted, sources};
use crate::ground::Layout;
use crate::models::foundation::graphglue::{Graphglue, draw};
use crate::models::foundation::{Domain, Foundation, Place, Sampled, Shape, View, Weights, across};
use crate::options::TrainOptions;

fn small() -> TrainOptions {
    let own = [
        ("generators", 2.into()),
        ("nearest", 3.into()),
        ("sample", 2.into()),
        ("batch", 8.into()),
        ("gluing", 0.3.into()),
        ("temperature", 0.8.into()),
        ("transfer", 0.7.into()),
    ];
    options("graphglue", &own)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn plus(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

fn with_bias(x: &Rows, weight: &Rows, bias: &Rows) -> Rows {
    product(x, weight).iter().map(|row| plus(row, 1.0, &bias[0])).collect()
}

/// The sum of the edges and loops of a view.
fn dense(view: &View) -> Rows {
    let n = view.features.dim(0).unwrap();
    let (pattern, eye) = (&view.propagation.pattern, Tensor::eye(n, DType::F64, &Device::Cpu).unwrap());
    let ones = Tensor::ones((pattern.n_entries(), 1), DType::F64, &Device::Cpu).unwrap();
    pattern.sum(&ones, &eye).unwrap().to_vec2().unwrap()
}

/// Pooled rows of the nodes, and the rows of the generators.
fn pooled(named: &Named<'_>, view: &View, nearest: usize) -> (Rows, Rows) {
    let (x, a) = (view.features.to_vec2::<f64>().unwrap(), dense(view));
    let n = x.len();
    let generators = named.get("encoder.generators");
    let [weight, bias] = ["weight", "bias"].map(|what| named.get(&format!("encoder.similarity.{what}")));
    let (keys, queries) = (with_bias(&generators, &weight, &bias), with_bias(&x, &weight, &bias));
    let count = generators.len();
    let mut joint = vec![vec![0.0; n + count]; n + count];
    (0..n).for_each(|v| joint[v][..n].copy_from_slice(&a[v]));
    for (m, key) in keys.iter().enumerate() {
        joint[n + m][n + m] = 1.0;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&u, &v| dot(key, &queries[v]).total_cmp(&dot(key, &queries[u])));
        for &v in &order[..nearest.min(n)] {
            let strength = 1.0 / (1.0 + (-dot(key, &queries[v])).exp());
            (joint[v][n + m], joint[n + m][v]) = (strength, strength);
        }
    }
    let degrees: Vec<f64> = joint.iter().map(|row| row.iter().sum()).collect();
    for (v, row) in joint.iter_mut().enumerate() {
        row.iter_mut().zip(&degrees).for_each(|(entry, degree)| *entry /= (degrees[v] * degree).sqrt());
    }
    let h = encode(named, 2, &[x, generators].concat(), &joint);
    let mean: Rows = a.iter().map(|row| row.iter().map(|entry| entry / row.iter().sum::<f64>()).collect()).collect();
    (product(&mean, &product(&mean, &h[..n].to_vec())), h[n..].to_vec())
}

/// The tangents of a row, made orthogonal one after the other, with their lengths kept.
fn frame(z: &[f64], ends: &Rows) -> Rows {
    let mut directions: Rows = Vec::new();
    let mut scaled = Vec::new();
    for end in ends {
        let tangent = plus(end, -1.0, z);
        let rest = directions.iter().fold(tangent.clone(), |rest, e| plus(&rest, -dot(&tangent, e), e));
        let direction: Vec<f64> = rest.iter().map(|x| x / dot(&rest, &rest).sqrt()).collect();
        scaled.push(direction.iter().map(|x| x * dot(&tangent, &tangent).sqrt()).collect());
        directions.push(direction);
    }
    scaled
}

/// Whether something of each tangent is left beside those before it: a frame is read of such tangents alone.
fn is_independent(z: &[f64], ends: &Rows) -> bool {
    let tangents: Rows = ends.iter().map(|end| plus(end, -1.0, z)).collect();
    let longest = tangents.iter().map(|u| dot(u, u)).fold(0.0, f64::max);
    let frame = frame(z, ends);
    let left = |m: usize| dot(&tangents[m], &frame[m]).powi(2) / dot(&frame[m], &frame[m]);
    (0..ends.len()).all(|m| left(m) > 2e-4 * longest)
}

/// The contrast of rows with themselves along their frames.
fn contrast(z: &Rows, ends: &Rows, temperature: f64) -> f64 {
    let near = |a: &[f64], b: &[f64]| {
        let unit = |x: &[f64]| x.iter().map(|x_i| x_i / dot(x, x).sqrt()).collect::<Vec<f64>>();
        let gap = plus(&unit(a), -1.0, &unit(b));
        (-dot(&gap, &gap) / temperature).exp()
    };
    let (mut sum, mut count) = (0.0, 0.0);
    for (i, row) in z.iter().enumerate() {
        let others: f64 = (0..z.len()).filter(|&j| j != i).map(|j| near(row, &z[j])).sum();
        for tangent in frame(row, ends) {
            let own = near(row, &plus(row, 1.0, &tangent));
            sum -= (own / (own + others)).ln();
            count += 1.0;
        }
    }
    sum / count
}

/// Holonomy and smoothness of volumes along paths, of metrics that the frames of rows give.
fn gluing(z: &Rows, ends: &Rows, paths: &[[u32; 3]]) -> [f64; 2] {
    let metrics: Rows = z.iter().map(|row| frame(row, ends).iter().map(|u| dot(u, u)).collect()).collect();
    let [mut holonomy, mut smoothness] = [0.0; 2];
    for &[i, j, k] in paths {
        let transport = |i: u32, j: u32, m: usize| (metrics[i as usize][m] / metrics[j as usize][m]).sqrt();
        let defect = |m: usize| transport(j, k, m) * transport(i, j, m) - transport(i, k, m);
        holonomy += (0..ends.len()).map(|m| defect(m).powi(2)).sum::<f64>();
        let determinant = |i: u32| metrics[i as usize].iter().product::<f64>();
        let ratio = |i: u32, j: u32| (determinant(i) / determinant(j)).ln() / ends.len() as f64;
        smoothness += (ratio(i, j) - ratio(j, k)).powi(2);
    }
    [holonomy, smoothness].map(|sum| if paths.is_empty() { 0.0 } else { sum / paths.len() as f64 })
}

fn tensor(rows: &Rows) -> Tensor {
    Tensor::from_vec(rows.concat(), (rows.len(), rows[0].len()), &Device::Cpu).unwrap()
}

#[test]
fn graphglue_is_its_equations() {
    let options = small();
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    let layout = Graphglue.encoder(&shape).unwrap();
    for place in [Place { epoch: 1, step: 1, part: 0 }, Place { epoch: 2, step: 0, part: 0 }] {
        let sampled = Sampled::new(&sources, draw(&shape, 2, place).unwrap()).unwrap();
        let are_independent = |values: &Vec<f32>| {
            let doubles: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
            let (rows, ends) = pooled(&Named(&layout, &doubles), &sampled.view, 3);
            rows.iter().all(|row| is_independent(row, &ends))
        };
        let values = (31..80).map(|seed| parameters(&layout, seed)).find(are_independent).unwrap();
        assert_eq!((sampled.centers.len(), &sampled.sources[3..5]), (8, &[0, 1][..]));
        check_gradient(&Graphglue, &shape, &sources, place, &values, &|values| {
            let named = Named(&layout, values);
            let (rows, ends) = pooled(&named, &sampled.view, 3);
            let z: Rows = sampled.centers.iter().map(|&at| rows[at as usize].clone()).collect();
            let mut loss = contrast(&z, &ends, 0.8);
            let mut far = across(&tensor(&z), &sampled.sources, 3, place.key(5, 62)).unwrap();
            far.iter_mut().flatten().for_each(|at| *at = sampled.centers[*at as usize]);
            for paths in [&sampled.paths, &far] {
                assert!(!paths.is_empty());
                let [holonomy, smoothness] = gluing(&rows, &ends, paths);
                assert!(holonomy < 1e-20, "diagonal transports are composed without defect: {holonomy}");
                loss += 0.3 * (holonomy + smoothness);
            }
            if place.epoch > 1 {
                let prototypes = [0, 1].map(|s| named.get(&format!("prototype.row.{s}"))[0].clone());
                let one = |(row, &source): (&Vec<f64>, &usize)| {
                    let share = |s: usize| (dot(row, &prototypes[s]) / 0.8).exp();
                    -(share(source) / (share(0) + share(1))).ln()
                };
                loss += z.iter().zip(&sampled.sources).map(one).sum::<f64>() / z.len() as f64;
            }
            loss
        });
    }
}

#[test]
fn prototypes_are_moving_averages_of_the_rows_and_metrics_of_their_sources() {
    let options = small();
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    let layout = Graphglue.encoder(&shape).unwrap();
    let values = parameters(&layout, 32);
    let doubles: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let named = Named(&layout, &doubles);
    for (place, rate) in [((1, 0), 1.0), ((1, 1), 0.01), ((3, 0), 0.01)] {
        let place = Place { epoch: place.0, step: place.1, part: 0 };
        let weights = Weights::new(&layout, &values, DType::F64, |_| true).unwrap();
        let loss = Graphglue.loss(&shape, &weights, &sources, place).unwrap().unwrap();
        let mut steps = vec![0f32; layout.stored()];
        weights.add_gradient(&layout, &loss.backward().unwrap(), &mut steps).unwrap();
        let steps: Vec<f64> = steps.iter().map(|&x| f64::from(x)).collect();
        let steps = Named(&layout, &steps);
        let sampled = Sampled::new(&sources, draw(&shape, 2, place).unwrap()).unwrap();
        let (rows, ends) = pooled(&named, &sampled.view, 3);
        for source in [0, 1] {
            let of_source = |(&at, &s): (&u32, &usize)| (s == source).then(|| rows[at as usize].clone());
            let rows: Rows = sampled.centers.iter().zip(&sampled.sources).filter_map(of_source).collect();
            let metric = |row: &Vec<f64>| frame(row, &ends).iter().map(|u| dot(u, u).ln()).collect();
            let metrics: Rows = rows.iter().map(metric).collect();
            for (name, rows) in [("prototype.row", rows), ("prototype.metric", metrics)] {
                let name = format!("{name}.{source}");
                let (before, step) = (named.get(&name)[0].clone(), steps.get(&name)[0].clone());
                for (c, (before, step)) in before.iter().zip(&step).enumerate() {
                    let mean = rows.iter().map(|row| row[c]).sum::<f64>() / rows.len() as f64;
                    let expected = (1.0 - rate) * before + rate * mean;
                    assert!((before - step - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{name}, {place:?}");
                }
            }
        }
    }
}

/// The encoder's layout with the prompts of a target behind it.
fn prompted(shape: &Shape<'_>) -> Layout {
    let mut layout = Graphglue.encoder(shape).unwrap();
    for block in Graphglue.prompt(shape).unwrap().blocks() {
        layout.push(block.name.clone(), block.rows, block.columns, block.initial.clone());
    }
    layout
}

#[test]
fn a_target_is_turned_by_its_prompt_and_aligned_by_its_gate() {
    let options = small();
    let shape = Shape::new(&options, 2, &Unmonitored).unwrap();
    let (graph, given) = planted(8, 4, 9);
    let target = Domain::of(graph, given, DType::F64).unwrap();
    let layout = prompted(&shape);
    let values = parameters(&layout, 33);
    let weights = Weights::new(&layout, &values, DType::F64, |_| false).unwrap();
    let doubles: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let named = Named(&layout, &doubles);
    let (z, ends) = pooled(&named, &target.view, 3);
    let turned = [&z, &ends].map(|rows| product(rows, &named.get("prompt.q")));
    let embed = |prompted| Graphglue.embed(&shape, &weights, &target.view, prompted, None).unwrap();
    for (is_prompted, [z, ends]) in [(false, [z, ends]), (true, turned.clone())] {
        let found = embed(is_prompted).to_vec2::<f64>().unwrap();
        for (found, row) in found.iter().zip(&z) {
            let metric = ends.iter().map(|end| dot(&plus(end, -1.0, row), &plus(end, -1.0, row)).ln());
            let expected: Vec<f64> = row.iter().copied().chain(metric).collect();
            assert_eq!(found.len(), Graphglue.width(&shape));
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-11), "{found:?} {expected:?}");
        }
    }
    let rows = embed(true);
    let found = Graphglue.penalty(&shape, &weights, &target.view, &rows).unwrap().unwrap().to_scalar::<f64>().unwrap();
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let volumes = [0, 1].map(|s| mean(&named.get(&format!("prototype.metric.{s}"))[0]));
    let gate = with_bias(&turned[0], &named.get("prompt.gate.weight"), &named.get("prompt.gate.bias"));
    let mut expected = 0.0;
    for (row, gate) in rows.to_vec2::<f64>().unwrap().iter().zip(&gate) {
        let share = |s: usize| gate[s].exp() / gate.iter().map(|x| x.exp()).sum::<f64>();
        for (s, t) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            expected += 0.7 / 8.0 * share(s) * share(t) * (volumes[s] - 2.0 * mean(&row[3..]) + volumes[t]).powi(2);
        }
    }
    assert!((found - expected).abs() < 1e-11 * expected, "{found} {expected}");
}

#[test]
fn a_prompt_as_it_starts_gives_the_frozen_encoder_and_no_prototype_aligns_nothing() {
    let options = small();
    let shape = Shape::new(&options, 3, &Unmonitored).unwrap();
    let (graph, rows) = planted(12, 4, 4);
    let target = Domain::of(graph, rows, DType::F64).unwrap();
    let layout = prompted(&shape);
    let weights = Weights::new(&layout, &layout.initialise(5), DType::F64, |_| false).unwrap();
    let embed = |prompted| Graphglue.embed(&shape, &weights, &target.view, prompted, None).unwrap();
    assert_eq!(embed(true).to_vec2::<f64>().unwrap(), embed(false).to_vec2::<f64>().unwrap());
    assert!(Graphglue.penalty(&shape, &weights, &target.view, &embed(true)).unwrap().is_none());
}

#[test]
fn a_sample_has_the_edges_that_were_drawn_and_paths_in_it() {
    let options = small();
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    for step in 0..20 {
        let place = Place { epoch: 1, step, part: 0 };
        let sampled = Sampled::new(&sources, draw(&shape, 2, place).unwrap()).unwrap();
        let x = sampled.view.features.to_vec2::<f64>().unwrap();
        // The node of each row, by its features.
        let node = |row: &Vec<f64>| {
            let is_it =
                |(s, v): &(usize, usize)| sources[*s].rows.row(*v).iter().map(|&x| f64::from(x)).eq(row.clone());
            (0..2).flat_map(|s| (0..sources[s].graph.n_nodes()).map(move |v| (s, v))).find(is_it).unwrap()
        };
        let nodes: Vec<(usize, usize)> = x.iter().map(node).collect();
        let mut once = nodes.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), nodes.len(), "each node once");
        let of_centers: Vec<usize> = sampled.centers.iter().map(|&at| nodes[at as usize].0).collect();
        assert_eq!(of_centers, sampled.sources);
        let a = dense(&sampled.view);
        for (u, row) in a.iter().enumerate() {
            for (v, &entry) in row.iter().enumerate() {
                assert_eq!(entry, a[v][u]);
                let ((s, of_u), (t, of_v)) = (nodes[u], nodes[v]);
                let may = u == v || s == t && sources[s].graph.has_edge(of_u as u32, of_v as u32);
                assert!(entry == 0.0 || may && entry == 1.0, "{u} {v} {entry}");
            }
        }
        for &at in &sampled.centers {
            let (s, v) = nodes[at as usize];
            let joined = a[at as usize].iter().sum::<f64>() as usize - 1;
            assert!(joined >= sources[s].graph.degree(v as u32).min(2), "two neighbours are drawn");
        }
        for &[i, j, k] in &sampled.paths {
            assert!(i != k && sampled.centers.contains(&j));
            assert!(a[i as usize][j as usize] == 1.0 && a[j as usize][k as usize] == 1.0);
        }
    }
}

#[test]
fn paths_across_sources_lead_through_the_nearest_of_another_source() {
    let z: Rows = vec![vec![1.0, 0.0], vec![0.9, 0.1], vec![0.0, 1.0], vec![0.8, 0.0], vec![0.1, 0.9], vec![0.7, 0.3]];
    let sources = [0, 0, 0, 1, 1, 2];
    let mut seen = std::collections::BTreeSet::new();
    for draw in 0..50 {
        for [i, j, k] in across(&tensor(&z), &sources, 1, draw).unwrap() {
            assert_ne!(i, k);
            for (a, b) in [(i as usize, j as usize), (j as usize, k as usize)] {
                assert_ne!(sources[a], sources[b]);
                let is_nearest = |v: usize, u: usize| {
                    (0..6).filter(|&w| sources[w] != sources[v]).all(|w| dot(&z[v], &z[w]) <= dot(&z[v], &z[u]))
                };
                assert!(is_nearest(a, b) || is_nearest(b, a), "{a} {b}");
            }
            seen.insert([i, j, k]);
        }
    }
    assert!(seen.len() > 2, "{seen:?}");
    assert_eq!(across(&tensor(&z), &[0; 6], 2, 1).unwrap(), Vec::<[u32; 3]>::new(), "one source alone");
    assert!((cosine(&z[0], &z[3]) - 1.0).abs() < 1e-12, "scalar products, not cosines, order them");
}
