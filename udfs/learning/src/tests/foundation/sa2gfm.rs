//! SA2GFM's equations, number by number.

use bonnet_encodings::encoding_tree;
use bonnet_graph::{Network, Reservation, Unmonitored};
use candle_core::DType;

use super::literal::{Named, Rows, cosine, link_contrast, normalized, product, rows};
use super::{check_gradient, options, parameters, planted, sources};
use crate::models::foundation::sa2gfm::{Sa2gfm, noise};
use crate::models::foundation::{Domain, Foundation, Place, Shape, Weights};
use crate::options::TrainOptions;

fn small() -> TrainOptions {
    let own = [("inner", 5.into()), ("bottleneck", 0.3.into()), ("heads", 2.into()), ("mix", 0.4.into())];
    options("sa2gfm", &own)
}

fn affine(named: &Named<'_>, name: &str, x: &Rows) -> Rows {
    let bias = named.get(&format!("{name}.bias"));
    let mut rows = product(x, &named.get(&format!("{name}.weight")));
    rows.iter_mut().flatten().zip(bias[0].iter().cycle()).for_each(|(x, b)| *x += b);
    rows
}

fn rectified(mut x: Rows) -> Rows {
    x.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
    x
}

/// The means and the logarithms of variances of an expert of two layers.
fn expert(named: &Named<'_>, source: usize, x: &Rows, a: &Rows) -> (Rows, Rows) {
    let mut h = x.clone();
    for l in 0..2 {
        let name = format!("encoder.{source}.{l}");
        let slope = named.get(&format!("{name}.slope"))[0][0];
        h = affine(named, &name, &product(a, &h));
        h.iter_mut().flatten().for_each(|x| *x = if *x < 0.0 { slope * *x } else { *x });
    }
    let h = rectified(affine(named, &format!("encoder.{source}.perceptron.0"), &h));
    let both = affine(named, &format!("encoder.{source}.perceptron.1"), &h);
    both.iter().map(|row| (row[..3].to_vec(), row[3..].iter().map(|x| x.clamp(-10.0, 10.0)).collect())).unzip()
}

#[test]
fn sa2gfm_is_its_equations() {
    let options = small();
    let (sources, shape) = (sources(), Shape::new(&options, 2, &Unmonitored).unwrap());
    let layout = Sa2gfm.encoder(&shape).unwrap();
    let values = parameters(&layout, 31);
    for part in [0, 1] {
        let place = Place { epoch: 2, step: 0, part };
        let graph = &sources[part].graph;
        let (a, x) = (normalized(graph), rows(&sources[part]));
        check_gradient(&Sa2gfm, &shape, &sources, place, &values, &|values| {
            let (mean, log_variance) = expert(&Named(&layout, values), part, &x, &a);
            let like = sources[part].view.features.narrow(1, 0, 3).unwrap();
            let drawn = noise(&like, place.key(5, 62)).unwrap().to_vec2::<f64>().unwrap();
            let mut z = mean.clone();
            for (at, row) in z.iter_mut().enumerate() {
                for (c, z) in row.iter_mut().enumerate() {
                    *z += drawn[at][c] * (log_variance[at][c] / 2.0).exp();
                }
            }
            let pairs = mean.iter().flatten().zip(log_variance.iter().flatten());
            let divergence: f64 = pairs.map(|(mu, ln)| -(1.0 + ln - mu * mu - ln.exp()) / 2.0).sum();
            link_contrast(graph, &z, &z, 1.0, place.key(5, 61)) + 0.3 * divergence / (3 * x.len()) as f64
        });
    }
}

#[test]
fn the_graph_and_the_experts_of_a_target_are_their_equations() {
    let options = small();
    let shape = Shape::new(&options, 2, &Unmonitored).unwrap();
    let (graph, given) = planted(12, 4, 9);
    let sparse: Vec<(u32, u32)> = graph.edges().filter(|(u, v)| v - u == 1 || (u + v) % 5 == 0).collect();
    let graph = bonnet_graph::Graph::from_edges(12, &sparse);
    let mut target = Domain::of(graph.clone(), given, DType::F64).unwrap();
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    Sa2gfm.prepare(&shape, &mut target, &mut reservation).unwrap();
    let mut layout = Sa2gfm.encoder(&shape).unwrap();
    for block in Sa2gfm.prompt(&shape).unwrap().blocks() {
        layout.push(block.name.clone(), block.rows, block.columns, block.initial.clone());
    }
    let values = parameters(&layout, 32);
    let weights = Weights::new(&layout, &values, DType::F64, |_| false).unwrap();
    let rows_found = Sa2gfm.embed(&shape, &weights, &target.view, true, None).unwrap();
    let found = rows_found.to_vec2::<f64>().unwrap();
    let penalty =
        Sa2gfm.penalty(&shape, &weights, &target.view, &rows_found).unwrap().unwrap().to_scalar::<f64>().unwrap();

    let doubles: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let named = Named(&layout, &doubles);
    let (n, x) = (12, rows(&target));
    let tree = encoding_tree(Network::undirected(&graph), &Unmonitored).unwrap();
    let projected = rectified(affine(&named, "prompt.projection", &x));
    let [q, k] = ["query", "key"].map(|name| affine(&named, &format!("prompt.{name}"), &projected));
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let ranks = personalised(&normalized(&graph));
    let threshold = named.get("prompt.threshold")[0][0];
    let (mut variances, mut pairs, mut between) = (0.0, 0.0, 0);
    let mut weight: Rows = vec![vec![0.0; n]; n];
    for u in 0..n {
        for v in 0..n {
            let edge = f64::from(graph.has_edge(u as u32, v as u32));
            weight[u][v] = if u == v {
                1.0
            } else if tree.community[u] == tree.community[v] {
                let heads = [0, 1].map(|h| cosine(&q[u][16 * h..16 * (h + 1)], &k[v][16 * h..16 * (h + 1)]));
                let mean = (heads[0] + heads[1]) / 2.0;
                let variance = (heads[0] - mean).powi(2) + (heads[1] - mean).powi(2);
                variances += variance;
                pairs += 1.0;
                0.4 * edge + 0.6 * sigmoid(5.0 * mean) * (-variance).exp()
            } else {
                between += edge as u32;
                edge * sigmoid(10.0 * (ranks[u][v] - threshold))
            };
        }
    }
    assert!(pairs > 10.0 && between > 2, "{pairs} pairs, {between} edges between communities");
    let degrees: Vec<f64> = weight.iter().map(|row| row.iter().sum()).collect();
    let a: Rows = (0..n).map(|u| (0..n).map(|v| weight[u][v] / (degrees[u] * degrees[v]).sqrt()).collect()).collect();
    let route = named.get("prompt.route")[0].clone();
    let total: f64 = route.iter().map(|r| r.exp()).sum();
    let shares: Vec<f64> = route.iter().map(|r| r.exp() / total).collect();
    let experts = [0, 1].map(|source| expert(&named, source, &x, &a).0);
    for (v, row) in found.iter().enumerate() {
        for (c, found) in row.iter().enumerate() {
            let expected = shares[0] * experts[0][v][c] + shares[1] * experts[1][v][c];
            assert!((found - expected).abs() < 1e-11, "{found} {expected}");
        }
    }
    let entropy: f64 = -shares.iter().map(|share| share * (share + 1e-10).ln()).sum::<f64>();
    let expected = 0.1 * (entropy + variances / pairs);
    assert!((penalty - expected).abs() < 1e-12, "{penalty} {expected}");

    // Without prompts the mean of the experts on the graph as it is.
    let plain = Sa2gfm.embed(&shape, &weights, &target.view, false, None).unwrap().to_vec2::<f64>().unwrap();
    let experts = [0, 1].map(|source| expert(&named, source, &x, &normalized(&graph)).0);
    for (v, row) in plain.iter().enumerate() {
        for (c, found) in row.iter().enumerate() {
            let expected = (experts[0][v][c] + experts[1][v][c]) / 2.0;
            assert!((found - expected).abs() < 1e-11, "{found} {expected}");
        }
    }
}

/// `sum over k < 10 of 0.1 * 0.9^k T^k + 0.9^10 T^10`.
fn personalised(t: &Rows) -> Rows {
    let n = t.len();
    let mut power: Rows = (0..n).map(|u| (0..n).map(|v| f64::from(u == v)).collect()).collect();
    let mut sum: Rows = vec![vec![0.0; n]; n];
    for k in 0..=10 {
        let factor = if k < 10 { 0.1 } else { 1.0 } * 0.9f64.powi(k);
        sum.iter_mut().flatten().zip(power.iter().flatten()).for_each(|(sum, x)| *sum += factor * x);
        power = product(&power, t);
    }
    sum
}
