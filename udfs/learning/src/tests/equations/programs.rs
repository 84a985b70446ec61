//! The models of [`crate::program`] against their equations, and what the equations imply.

use super::literal::{
    Case, Matrix, adjacency, beside, check, map, matrix, plus, random_walk, relu, shift, symmetric, times,
};
use crate::tests::*;

fn job(model: &str, own: &[(&str, Value)]) -> Job {
    let mut job = Job::new(model).with("hidden", 5).with("seed", 3);
    job.options.extend(own.iter().map(|(name, value)| (name.to_string(), value.clone())));
    job
}

#[test]
fn mlp1_is_an_affine_map() {
    check(&job("mlp1", &[]), |case| case.perceptron(1));
}

#[test]
fn sgc_is_a_power_of_the_adjacency_times_an_affine_map() {
    check(&job("sgc", &[("hops", Value::Integer(3))]), |case| {
        let s = symmetric(&adjacency(case.data.graph(), true));
        let x = (0..3).fold(case.x.clone(), |x, _| times(&s, &x));
        shift(&times(&x, case.parameter("0.weight")), case.parameter("0.bias"))
    });
}

#[test]
fn appnp_is_the_power_iteration_of_personalised_pagerank() {
    for layers in 1..=3 {
        let job = job("appnp", &[("alpha", Value::Real(0.2)), ("hops", Value::Integer(4))]).with("layers", layers);
        check(&job, |case| {
            let s = symmetric(&adjacency(case.data.graph(), true));
            let h = case.perceptron(layers as usize);
            (0..4).fold(h.clone(), |z, _| plus(0.8, &times(&s, &z), 0.2, &h))
        });
    }
}

#[test]
fn messages_are_weighed_by_the_affinity_that_is_asked_for() {
    let walk = |model: &str| job(model, &[("affinity", Value::Text("random_walk".into()))]);
    let p = |case: &Case| random_walk(&adjacency(case.data.graph(), true));
    check(&walk("sgc"), |case| {
        let x = times(&p(case), &times(&p(case), &case.x));
        shift(&times(&x, case.parameter("0.weight")), case.parameter("0.bias"))
    });
    check(&walk("appnp"), |case| {
        let h = case.perceptron(2);
        (0..10).fold(h.clone(), |z, _| plus(0.9, &times(&p(case), &z), 0.1, &h))
    });
    check(&walk("gcn"), |case| {
        let layer = |x: &Matrix, l: usize| {
            let z = times(&p(case), &times(x, case.parameter(&format!("{l}.weight"))));
            shift(&z, case.parameter(&format!("{l}.bias")))
        };
        layer(&relu(&layer(&case.x, 0)), 1)
    });
}

#[test]
fn gprgnn_is_a_polynomial_of_the_adjacency() {
    check(&job("gprgnn", &[("alpha", Value::Real(0.3)), ("hops", Value::Integer(5))]), |case| {
        let s = symmetric(&adjacency(case.data.graph(), true));
        let mut power = case.perceptron(2);
        let mut z = map(&power, |_| 0.0);
        for gamma in &case.parameter("gamma")[0] {
            z = plus(1.0, &z, *gamma, &power);
            power = times(&s, &power);
        }
        z
    });
}

#[test]
fn gin_is_a_perceptron_of_the_sum_over_the_neighbours_and_the_node() {
    // A row less its mean over its deviation, times a gain, plus a bias.
    let normalised = |case: &Case, z: &Matrix, name: &str| -> Matrix {
        let (gain, bias) = (case.parameter(&format!("{name}.gain")), case.parameter(&format!("{name}.bias")));
        let standard = |row: &Vec<f64>| -> Vec<f64> {
            let n = row.len() as f64;
            let mean = row.iter().sum::<f64>() / n;
            let deviation = (row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n + 1e-5).sqrt();
            row.iter().map(|x| (x - mean) / deviation).collect()
        };
        let z: Matrix = z.iter().map(standard).collect();
        matrix(z.len(), z[0].len(), |r, c| z[r][c] * gain[0][c] + bias[0][c])
    };
    for (layers, norm) in [(1, "none"), (2, "none"), (3, "none"), (2, "layer")] {
        let job = job("gin", &[("norm", Value::Text(norm.into()))]).with("layers", layers);
        check(&job, |case| {
            let a = adjacency(case.data.graph(), false);
            let mut h = case.x.clone();
            for l in 0..layers {
                let eps = case.parameter(&format!("{l}.eps"))[0][0];
                let sum = plus(1.0 + eps, &h, 1.0, &times(&a, &h));
                let z = case.affine(&sum, &format!("{l}.0"));
                let z = if norm == "layer" { normalised(case, &z, &format!("{l}.norm")) } else { z };
                h = case.affine(&relu(&z), &format!("{l}.1"));
                if l + 1 < layers {
                    h = relu(&h);
                }
            }
            h
        });
    }
}

#[test]
fn mixhop_puts_the_powers_side_by_side_and_mixes_the_last() {
    check(&job("mixhop", &[]).with("layers", 3), |case| {
        let s = symmetric(&adjacency(case.data.graph(), true));
        let powers = |h: &Matrix, l: usize| -> Vec<Matrix> {
            let mut h = h.clone();
            (0..3)
                .map(|j| {
                    let z = case.affine(&h, &format!("{l}.{j}"));
                    h = times(&s, &h);
                    z
                })
                .collect()
        };
        let mut h = case.x.clone();
        for l in 0..2 {
            let parts = powers(&h, l);
            h = relu(&beside(&[&parts[0], &parts[1], &parts[2]]));
        }
        let parts = powers(&h, 2);
        let weights: Vec<f64> = case.parameter("mix")[0].iter().map(|theta| theta.exp()).collect();
        let sum: f64 = weights.iter().sum();
        let first = plus(weights[0] / sum, &parts[0], weights[1] / sum, &parts[1]);
        plus(1.0, &first, weights[2] / sum, &parts[2])
    });
}

#[test]
fn tag_adds_the_powers_up() {
    check(&job("tag", &[]).with("layers", 2), |case| {
        let s = symmetric(&adjacency(case.data.graph(), false));
        (0..2).fold(case.x.clone(), |h, l| {
            let mut power = h;
            let mut z = times(&power, case.parameter(&format!("{l}.0.weight")));
            for k in 1..=3 {
                power = times(&s, &power);
                z = plus(1.0, &z, 1.0, &times(&power, case.parameter(&format!("{l}.{k}.weight"))));
            }
            let z = shift(&z, case.parameter(&format!("{l}.bias")));
            if l == 0 { relu(&z) } else { z }
        })
    });
}

#[test]
fn h2gcn_keeps_the_node_its_ring_and_its_second_ring_apart() {
    check(&job("h2gcn", &[]).with("layers", 2), |case| {
        let a = adjacency(case.data.graph(), false);
        let two_steps = times(&a, &a);
        let n = a.len();
        let ring = matrix(n, n, |r, c| f64::from(u8::from(r != c && a[r][c] == 0.0 && two_steps[r][c] > 0.0)));
        let (one, two) = (symmetric(&a), symmetric(&ring));
        let mut rounds = vec![relu(&times(&case.x, case.parameter("embed.weight")))];
        for k in 0..2 {
            rounds.push(beside(&[&times(&one, &rounds[k]), &times(&two, &rounds[k])]));
        }
        let all = beside(&[&rounds[0], &rounds[1], &rounds[2]]);
        assert_eq!(all[0].len(), 7 * 5);
        times(&all, case.parameter("classify.weight"))
    });
}

#[test]
fn linkx_joins_adjacency_rows_and_features() {
    for (layers, input_layers, rows) in [(1, 1, "edges"), (2, 2, "edges"), (1, 1, "arcs")] {
        let own = [("input_layers", Value::Integer(input_layers)), ("adjacency", Value::Text(rows.into()))];
        let job = job("linkx", &own).with("layers", layers);
        check(&job, |case| {
            let perceptron = |x: &Matrix, name: &str| {
                (0..input_layers).fold(x.clone(), |h, l| {
                    let z = case.affine(&h, &format!("{name}.{l}"));
                    if l + 1 < input_layers { relu(&z) } else { z }
                })
            };
            let mut a = adjacency(case.data.graph(), false);
            if rows == "arcs" {
                a = map(&a, |_| 0.0);
                case.data.arcs.iter().flat_map(|arcs| arcs.arcs()).for_each(|(u, v)| a[u as usize][v as usize] = 1.0);
            }
            let h_a = perceptron(&a, "adjacency");
            let h_x = perceptron(&case.x, "features");
            let both = case.affine(&beside(&[&h_a, &h_x]), "join");
            let h = relu(&plus(1.0, &plus(1.0, &both, 1.0, &h_a), 1.0, &h_x));
            (0..layers).fold(h, |h, l| {
                let z = case.affine(&h, &l.to_string());
                if l + 1 < layers { relu(&z) } else { z }
            })
        });
    }
}

#[test]
fn label_propagation_iterates_fifty_times_without_clamping() {
    for (alpha, hops) in [(0.9, 1), (0.5, 2)] {
        let own = [("alpha", Value::Real(alpha)), ("hops", Value::Integer(hops))];
        check(&job("label_propagation", &own), |case| {
            let s = symmetric(&adjacency(case.data.graph(), false));
            let train = split(&case.data).train;
            let start = matrix(50, 3, |v, c| {
                let known = train.contains(&(v as u32)) && case.data.labels()[v] == Some(c as u32);
                f64::from(u8::from(known))
            });
            (0..50).fold(start.clone(), |y, _| {
                let y = (0..hops).fold(y, |y, _| times(&s, &y));
                plus(alpha, &y, 1.0 - alpha, &start)
            })
        });
    }
}

/// The Poisson-Charlier polynomial by its explicit sum: over j of binomial(n, j) (-t)^(n-j) x (x-1) ... (x-j+1).
fn charlier(n: usize, x: usize, t: f64) -> f64 {
    let binomial = |n: usize, k: usize| (0..k).fold(1.0, |b, i| b * (n - i) as f64 / (i + 1) as f64);
    let falling = |j: usize| (0..j).map(|i| x as f64 - i as f64).product::<f64>();
    (0..=n).map(|j| binomial(n, j) * (-t).powi((n - j) as i32) * falling(j)).sum()
}

#[test]
fn pcnet_is_a_sum_of_poisson_charlier_filters() {
    for heat in [0.0, 0.7] {
        let own = [("filters", Value::Integer(3)), ("hops", Value::Integer(4)), ("heat", Value::Real(heat))];
        check(&job("pcnet", &own), |case| {
            let a = adjacency(case.data.graph(), true);
            let n = a.len();
            let degree: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
            let minus_l =
                matrix(n, n, |r, c| a[r][c] * (degree[r] * degree[c]).powf(-0.45) - if r == c { 1.3 } else { 0.0 });
            let h = case.perceptron(2);
            let theta = &case.parameter("theta")[0];
            let mut z = map(&h, |h| theta[0] * h);
            for (k, theta) in theta.iter().enumerate().skip(1) {
                let (mut power, mut factorial) = (h.clone(), 1.0);
                for n in 0..=4 {
                    z = plus(1.0, &z, theta * charlier(n, k, heat) / factorial, &power);
                    power = times(&minus_l, &power);
                    factorial *= (n + 1) as f64;
                }
            }
            z
        });
    }
}

#[test]
fn bernnet_is_a_sum_of_bernstein_filters() {
    check(&job("bernnet", &[("hops", Value::Integer(5))]), |case| {
        let s = symmetric(&adjacency(case.data.graph(), false));
        let n = s.len();
        let identity = |r: usize, c: usize| f64::from(u8::from(r == c));
        let low = matrix(n, n, |r, c| identity(r, c) + s[r][c]);
        let high = matrix(n, n, |r, c| identity(r, c) - s[r][c]);
        let h = case.perceptron(2);
        let mut z = map(&h, |_| 0.0);
        for (k, (theta, binomial)) in
            case.parameter("theta")[0].iter().zip([1.0, 5.0, 10.0, 10.0, 5.0, 1.0]).enumerate()
        {
            let term = (0..k).fold(h.clone(), |h, _| times(&high, &h));
            let term = (k..5).fold(term, |h, _| times(&low, &h));
            z = plus(1.0, &z, theta.max(0.0) * binomial / 32.0, &term);
        }
        z
    });
}

/// The outputs of a job for all nodes, with the parameters of another model's layout by their names.
fn outputs(data: &GraphData, job: &Job) -> Vec<f32> {
    let all: Vec<u32> = (0..data.graph.n_nodes() as u32).collect();
    let mut bench = Bench::new(data, &job.clone().with("dropout", 0.0).resolve().unwrap(), &all);
    let parameters = bench.model.layout().initialise(5);
    bench.model.forward(&bench.scope, &parameters, Pass::Evaluate, &Unmonitored).unwrap();
    bench.model.outputs().to_vec()
}

fn close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}

#[test]
fn one_hop_without_a_hidden_layer_is_one_gcn_layer() {
    let data = planted(120, true);
    let gcn = outputs(&data, &job("gcn", &[]).with("layers", 1));
    assert!(close(&outputs(&data, &job("sgc", &[("hops", Value::Integer(1))])), &gcn));
}

#[test]
fn full_teleport_is_the_perceptron() {
    let data = planted(120, true);
    let mlp = outputs(&data, &job("mlp", &[]));
    assert!(close(&outputs(&data, &job("appnp", &[("alpha", Value::Real(1.0))])), &mlp));
    assert!(close(&outputs(&data, &job("gprgnn", &[("alpha", Value::Real(1.0))])), &mlp));
    assert!(!close(&outputs(&data, &job("appnp", &[])), &mlp));
}

#[test]
fn gprgnn_starts_as_appnp() {
    let data = planted(120, true);
    for alpha in [0.1, 0.5] {
        let own = [("alpha", Value::Real(alpha))];
        assert!(close(&outputs(&data, &job("gprgnn", &own)), &outputs(&data, &job("appnp", &own))));
    }
}

#[test]
fn bernnet_starts_as_the_perceptron_whatever_its_degree() {
    // The Bernstein polynomials of a degree add up to 1.
    let data = planted(120, true);
    let mlp = outputs(&data, &job("mlp", &[]));
    for hops in [1, 10] {
        assert!(close(&outputs(&data, &job("bernnet", &[("hops", Value::Integer(hops))])), &mlp));
    }
    let most = outputs(&data, &job("bernnet", &[("hops", Value::Integer(20))]));
    assert!(most.iter().zip(&mlp).all(|(a, b)| (a - b).abs() < 1e-4));
}

#[test]
fn pcnet_without_heat_is_a_sum_of_powers_of_the_adjacency() {
    // C_n(k, 0) / n! = binomial(k, n), and I - L is the adjacency for shift 1: one filter more than gprgnn's power.
    let data = planted(120, true);
    let own = [("heat", 0.0), ("shift", 1.0), ("eta", 0.5), ("start", 0.25)].map(|(name, x)| (name, Value::Real(x)));
    let mut pcnet = job("pcnet", &own);
    pcnet.set("filters", 4);
    let got = outputs(&data, &pcnet);
    let hops = |k: i64| outputs(&data, &job("appnp", &[("alpha", Value::Real(0.0)), ("hops", Value::Integer(k))]));
    let mut expected: Vec<f32> = outputs(&data, &job("mlp", &[])).iter().map(|z| 0.25 * z).collect();
    for k in 1..=4 {
        expected.iter_mut().zip(hops(k)).for_each(|(sum, z)| *sum += 0.25 * z);
    }
    assert!(close(&got, &expected));
}

#[test]
fn a_power_of_zero_leaves_a_perceptron() {
    let data = planted(120, true);
    let none = [("hops", Value::Integer(0))];
    let mlp1 = outputs(&data, &job("mlp1", &[]));
    assert!(close(&outputs(&data, &job("tag", &none).with("layers", 1)), &mlp1));
    assert!(close(&outputs(&data, &job("mixhop", &none).with("layers", 1)), &mlp1));
}

#[test]
fn label_propagation_has_no_parameters_and_reaches_whole_components() {
    // Two paths; one label each.
    let edges = [(0, 1), (1, 2), (3, 4), (4, 5)];
    let features = Features::dense(1, vec![0.0; 6]).unwrap();
    let labels = [0, 0, 0, 1, 1, 1].map(Some).to_vec();
    let data = GraphData::new(Graph::from_edges(6, &edges), features, labels, 2).unwrap();
    let parts = Split::given(&data, &[0, 5], &[1, 4], &[2, 3]).unwrap();
    let options = job("label_propagation", &[]).resolve().unwrap();
    let outcome = train_nodes(&data, &parts, &options, &Unmonitored, &mut |_| {}).unwrap();
    assert_eq!((outcome.parameters, outcome.weights.len(), outcome.best_epoch), (0, 0, 1));
    assert_eq!((outcome.val.accuracy, outcome.test.accuracy), (Some(1.0), Some(1.0)));
}

#[test]
fn h2gcn_bounds_its_rounds() {
    let data = planted(20, true);
    let options = Job::new("h2gcn").with("layers", 7).resolve().unwrap();
    let error = train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("[1, 6]"), "{error}");
}

#[test]
fn the_filter_starts_with_the_weights_of_pagerank_which_add_up_to_one() {
    let data = planted(20, true);
    let bench = Bench::new(&data, &job("gprgnn", &[]).resolve().unwrap(), &[0]);
    let blocks = bench.model.layout().blocks();
    let gamma = &bench.model.layout().initialise(1)[blocks[blocks.len() - 1].range()];
    assert!((gamma.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    let expected = matrix(1, 2, |_, k| if k == 0 { 0.1 } else { 0.09 });
    assert!(gamma.iter().zip(&expected[0]).all(|(g, e)| (f64::from(*g) - e).abs() < 1e-7));
}

#[test]
fn models_without_a_hidden_layer_refuse_more_layers() {
    let data = planted(20, true);
    for name in ["mlp1", "sgc", "label_propagation"] {
        let options = Job::new(name).with("layers", 2).resolve().unwrap();
        let error = train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("no more and no less"), "{error}");
    }
}

/// 1 where an arc leads from column to row; on the diagonal too with loops.
fn arcs_into(case: &Case, loops: bool) -> Matrix {
    let n = case.data.graph().n_nodes();
    let mut a = matrix(n, n, |r, c| f64::from(u8::from(loops && r == c)));
    case.data.arcs.iter().flat_map(|arcs| arcs.arcs()).for_each(|(u, v)| a[v as usize][u as usize] = 1.0);
    a
}

#[test]
fn messages_go_along_arcs_where_these_are_asked_for() {
    let arcs =
        |model: &str, layers: i64| job(model, &[("adjacency", Value::Text("arcs".into()))]).with("layers", layers);
    check(&arcs("gcn", 1), |case| {
        let z = times(&symmetric(&arcs_into(case, true)), &times(&case.x, case.parameter("0.weight")));
        shift(&z, case.parameter("0.bias"))
    });
    check(&arcs("gin", 1), |case| {
        let eps = case.parameter("0.eps")[0][0];
        let sum = plus(1.0 + eps, &case.x, 1.0, &times(&arcs_into(case, false), &case.x));
        case.affine(&relu(&case.affine(&sum, "0.0")), "0.1")
    });
    check(&arcs("tag", 1), |case| {
        let s = symmetric(&arcs_into(case, false));
        let mut power = case.x.clone();
        let mut z = times(&power, case.parameter("0.0.weight"));
        for k in 1..=3 {
            power = times(&s, &power);
            z = plus(1.0, &z, 1.0, &times(&power, case.parameter(&format!("0.{k}.weight"))));
        }
        shift(&z, case.parameter("0.bias"))
    });
    check(&arcs("graphsage", 1), |case| {
        let a = arcs_into(case, false);
        let mean = matrix(a.len(), a.len(), |r, c| a[r][c] / a[r].iter().sum::<f64>().max(1.0));
        let (w, bias) = (case.parameter("0.weight"), case.parameter("0.bias"));
        let width = bias[0].len();
        let part = |from: usize| matrix(w.len(), width, |r, c| w[r][from + c]);
        let sent = times(&times(&mean, &case.x), &part(0));
        shift(&plus(1.0, &sent, 1.0, &times(&case.x, &part(width))), bias)
    });
    for structure in [0, 1] {
        check(&arcs("acm_gcn", 1).with("structure_info", structure), |case| {
            let p = random_walk(&arcs_into(case, true));
            let weights = |name: &str| case.parameter(&format!("0.{name}.weight"));
            let channel = |name: &str| times(&case.x, weights(name));
            let low = relu(&times(&p, &channel("low")));
            let high = channel("high");
            let high = relu(&plus(1.0, &high, -1.0, &times(&p, &high)));
            let mut channels = vec![("low", low), ("high", high), ("identity", relu(&channel("identity")))];
            if structure == 1 {
                // A node's row holds those that its own arcs lead to.
                let into = arcs_into(case, false);
                let rows = matrix(into.len(), into.len(), |r, c| into[c][r]);
                channels.push(("structure", relu(&times(&rows, weights("structure")))));
            }
            let score = |x: &Matrix, name: &str| {
                map(&times(x, case.parameter(&format!("0.{name}.attention"))), |z| 1.0 / (1.0 + (-z).exp()))
            };
            let scores: Vec<Matrix> = channels.iter().map(|(name, x)| score(x, name)).collect();
            let mixed = times(&beside(&scores.iter().collect::<Vec<_>>()), case.parameter("0.mix"));
            matrix(mixed.len(), channels[0].1[0].len(), |r, c| {
                let powers: Vec<f64> = mixed[r].iter().map(|z| (z / channels.len() as f64).exp()).collect();
                let sum: f64 = powers.iter().sum();
                channels.iter().zip(&powers).map(|((_, x), power)| power / sum * x[r][c]).sum()
            })
        });
    }
}

#[test]
fn arcs_in_both_directions_are_the_edges() {
    let data = planted(50, true);
    let both: Vec<(u32, u32)> = data.graph.edges().flat_map(|(u, v)| [(u, v), (v, u)]).collect();
    let data = data.with_arcs(Digraph::from_arcs(50, &both)).unwrap();
    let mut models = 0;
    for spec in crate::models::registry::graph_models() {
        let Some(option) = spec.hyperparameters().find(|option| option.name == "adjacency") else { continue };
        if option.description.starts_with("what a node's row") {
            continue;
        }
        let output = |adjacency: &str| {
            let job = job(spec.name, &[("adjacency", Value::Text(adjacency.into()))]);
            let options = job.resolve().unwrap();
            let mut bench = Bench::new(&data, &options, &split(&data).train);
            let values = parameters(&bench);
            bench.loss(&values);
            bench.model.outputs().to_vec()
        };
        assert_eq!(output("arcs"), output("edges"), "{}", spec.name);
        models += 1;
    }
    assert!(models >= 20, "{models}");
}

#[test]
fn arcs_that_are_not_known_or_cannot_be_sampled_are_refused() {
    let data = planted(50, true);
    let arcs = job("gcn", &[("adjacency", Value::Text("arcs".into()))]).with("epochs", 1);
    let run = |data: &GraphData, job: &Job| {
        let items = Items::Nodes(data, &split(data));
        let outcome = crate::train(Place::Cpu, items, None, &job.resolve().unwrap(), &Unmonitored, &mut |_| {});
        outcome.map_err(|error| error.to_string())
    };
    assert!(run(&data, &arcs).is_ok());
    let sampled = run(&data, &arcs.clone().with("batch_nodes", 10)).unwrap_err();
    assert!(sampled.contains("neighbours are sampled"), "{sampled}");
    let without = GraphData { arcs: None, ..data };
    let unknown = run(&without, &arcs).unwrap_err();
    assert!(unknown.contains("node_classification alone"), "{unknown}");
}
