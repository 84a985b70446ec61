//! The models for graphs with heterophily against their papers' equations, written out with dense matrices under candle's
//! autograd in `f64`: outputs, losses and the gradient of every parameter.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Result, Tensor, Var};

use crate::tests::*;

mod reference;

use reference::Reference;

/// Every model with hyperparameters that take all its branches.
pub(crate) fn jobs() -> Vec<Job> {
    let job = |name: &str, own: &[(&str, Value)]| {
        let mut job = Job::new(name).with("hidden", 5).with("dropout", 0.3).with("seed", 3);
        job.options.extend(own.iter().map(|(name, value)| (name.to_string(), value.clone())));
        job
    };
    let text = |text: &str| Value::Text(text.into());
    vec![
        job("fagcn", &[("epsilon", Value::Real(0.4))]),
        job("acm_gcn", &[]),
        job("acm_gcn", &[("variant", text("acmii+")), ("structure_info", Value::Integer(1))]),
        job("acm_gcn", &[("variant", text("acm++"))]),
        job("fsgnn", &[]),
        job("fsgnn", &[("hops", Value::Integer(2)), ("feature_set", text("heterophily"))]),
        job("unimp", &[("heads", Value::Integer(2)), ("attention_dropout", Value::Real(0.2))]),
        job("unimp", &[("attention_dropout", Value::Real(0.2)), ("label_rate", Value::Real(0.6))]),
        job("glognn", &[("orders", Value::Integer(3)), ("beta1", Value::Real(0.6)), ("beta2", Value::Real(0.9))]),
        job("gbk_gnn", &[]),
        job("lsgnn", &[("hops", Value::Integer(3)), ("beta", Value::Real(0.6))]),
        job("lsgnn", &[("hops", Value::Integer(1)), ("similarity", text("cosine"))]),
        job("fagcn", &[("weights", text("true"))]),
        job("glognn", &[("orders", Value::Integer(2)), ("beta1", Value::Real(0.6)), ("weights", text("true"))]),
        job("lsgnn", &[("hops", Value::Integer(2)), ("weights", text("true"))]),
    ]
}

#[test]
fn losses_and_gradients_equal_the_equations_of_the_papers() -> Result<()> {
    let data = crate::tests::weights::weighted(planted(40, true), |u, v| f64::from((u * v + u + v) % 7 + 1) / 4.0);
    let train = split(&data).train;
    for mut job in jobs() {
        job = job.with("dropout", 0.0).with("epochs", 1);
        job.options.entry("attention_dropout".into()).and_modify(|p| *p = Value::Real(0.0));
        let options = job.resolve().unwrap();
        let mut bench = Bench::new(&data, &options, &train);
        let values = parameters(&bench);
        let (loss, gradient) = bench.gradient(&values);
        let mut named = BTreeMap::new();
        for block in bench.model.layout().blocks() {
            let real: Vec<f64> = block.positions().map(|at| f64::from(values[at])).collect();
            let shape = (block.rows.len(), block.columns.len());
            named.insert(block.name.clone(), Var::from_tensor(&Tensor::from_vec(real, shape, &Device::Cpu)?)?);
        }
        let given = bench.model.label_inputs(Pass::Train { epoch: 1 });
        let train = bench.asked.rows();
        let reference = Reference { data: &data, options: &options, parameters: named, train, given: &given };
        let what = format!("{} {:?}", job.model, job.options);
        let logits = reference.logits()?.to_dtype(DType::F64)?.to_vec2::<f64>()?;
        let (outputs, stride) = (bench.model.outputs(), padded(data.n_classes));
        for &v in train {
            for (c, expected) in logits[v as usize].iter().enumerate() {
                let got = f64::from(outputs[v as usize * stride + c]);
                assert!(
                    (got - expected).abs() < 1e-5 * expected.abs().max(1.0),
                    "{what}: ({v}, {c}) is {got} for {expected}"
                );
            }
        }
        let expected = reference.loss()?;
        let gradients = expected.backward()?;
        let expected = expected.to_scalar::<f64>()?;
        assert!((loss - expected).abs() < 5e-6 * expected.max(1.0), "{what}: loss {loss} for {expected}");
        for block in bench.model.layout().blocks() {
            let expected =
                gradients.get(&reference.parameters[&block.name]).unwrap().flatten_all()?.to_vec1::<f64>()?;
            let scale = expected.iter().fold(0f64, |max, g| max.max(g.abs())).max(1e-4);
            for (at, expected) in block.positions().zip(expected) {
                let error = (f64::from(gradient[at]) - expected).abs() / scale;
                assert!(error < 1e-4, "{what} {}: error {error:.1e} of {scale:.1e}", block.name);
            }
        }
    }
    Ok(())
}

/// The outputs of the nodes without dropout, real columns alone.
fn outputs(data: &GraphData, job: &Job, parameters: impl Fn(&str, usize) -> f32) -> Vec<Vec<f32>> {
    let nodes: Vec<u32> = (0..data.graph.n_nodes() as u32).collect();
    let mut bench = Bench::new(data, &job.resolve().unwrap(), &nodes);
    let mut values = vec![0f32; bench.model.layout().stored()];
    for block in bench.model.layout().blocks() {
        block.positions().enumerate().for_each(|(k, at)| values[at] = parameters(&block.name, k));
    }
    bench.model.forward(&bench.scope, &values, Pass::Evaluate, &Unmonitored).unwrap();
    let stride = padded(data.n_classes);
    bench.model.outputs().chunks(stride).map(|row| row[..data.n_classes].to_vec()).collect()
}

fn close(got: &[Vec<f32>], expected: &[Vec<f32>], what: &str) {
    for (v, (got, expected)) in got.iter().zip(expected).enumerate() {
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < 2e-5 * expected.abs().max(1.0), "{what}, node {v}: {got} for {expected}");
        }
    }
    assert_eq!(got.len(), expected.len());
}

/// Any number for a parameter.
fn any(name: &str, k: usize) -> f32 {
    ((name.len() * 7 + k) as f32 * 1.3).sin() * 0.6
}

/// FAConv and TransformerConv of PyTorch Geometric 2.8.1 (`float64`) in the network of each paper: the graph, the features
/// and the parameters of `published`.
#[test]
fn outputs_equal_those_of_pytorch_geometric() {
    let features = (0..5).flat_map(|i| (0..3).map(move |j| f64::from(3 * i + j).cos() as f32)).collect();
    let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (0, 2)]);
    let data = GraphData::new(graph, Features::dense(3, features).unwrap(), vec![Some(0); 5], 2).unwrap();
    let fagcn = [
        0.88108384,
        -0.12590493,
        0.75508029,
        -0.19707186,
        0.99542173,
        -0.19440043,
        0.67616973,
        -0.31407582,
        0.47912559,
        -0.12004431,
    ];
    let unimp = [
        1.23505152,
        0.88801425,
        0.41502229,
        0.95414373,
        0.92807205,
        0.95748417,
        0.37751038,
        0.93366301,
        -0.59685822,
        0.39136975,
    ];
    for (name, expected) in [("fagcn", fagcn), ("unimp", unimp)] {
        let job = Job::new(name).with("hidden", 4).with("layers", 2);
        let mut bench = Bench::new(&data, &job.resolve().unwrap(), &[0, 1, 2, 3, 4]);
        let mut parameters = vec![0f32; bench.model.layout().stored()];
        for (k, at) in bench.model.layout().blocks().iter().flat_map(|block| block.positions()).enumerate() {
            parameters[at] = (k as f64).sin() as f32;
        }
        bench.model.forward(&bench.scope, &parameters, Pass::Evaluate, &Unmonitored).unwrap();
        for (at, expected) in expected.iter().enumerate() {
            let got = f64::from(bench.model.outputs()[at / 2 * 8 + at % 2]);
            assert!((got - expected).abs() < 2e-6, "{name}, output {at}: {got} for {expected}");
        }
    }
}

#[test]
fn new_numbers_for_the_nodes_change_no_output() {
    let data = planted(60, true);
    let mut order: Vec<u32> = (0..60).collect();
    Stream::new(key(&[5])).shuffle(&mut order);
    // Node v is called order[v].
    let edges: Vec<(u32, u32)> = (0..60u32)
        .flat_map(|v| {
            data.graph.neighbors(v).iter().map(|&u| (order[v as usize], order[u as usize])).collect::<Vec<_>>()
        })
        .collect();
    let Features::Sparse(rows) = data.features() else { panic!() };
    let mut dense = vec![0.0; 60 * rows.n_columns()];
    for (v, &to) in order.iter().enumerate() {
        let (columns, values) = rows.row(v);
        let to = to as usize * rows.n_columns();
        columns.iter().zip(values).for_each(|(&column, &value)| dense[to + column as usize] = value);
    }
    let mut labels = vec![None; 60];
    (0..60).for_each(|v| labels[order[v] as usize] = data.labels[v]);
    let features = Features::dense(rows.n_columns(), dense).unwrap();
    let renamed = GraphData::new(Graph::from_edges(60, &edges), features, labels, 3).unwrap();
    let weight = |u: u32, v: u32| f64::from((u * v + u + v) % 7 + 1) / 4.0;
    let was = |v: u32| order.iter().position(|&to| to == v).unwrap() as u32;
    let renamed = crate::tests::weights::weighted(renamed, |u, v| weight(was(u), was(v)));
    let data = crate::tests::weights::weighted(data.clone(), weight);
    for job in jobs() {
        let before = outputs(&data, &job, any);
        // The weights of the nodes move with them.
        let after = outputs(&renamed, &job, |name, k| {
            if name == "adjacency.weight" || name.ends_with("structure.weight") {
                let width = if name == "1.structure.weight" { 3 } else { 5 };
                let v = order.iter().position(|&to| to as usize == k / width).unwrap();
                any(name, v * width + k % width)
            } else {
                any(name, k)
            }
        });
        let moved: Vec<Vec<f32>> = (0..60).map(|v| after[order[v] as usize].clone()).collect();
        close(&moved, &before, &job.model);
    }
}

#[test]
fn fagcn_without_edges_keeps_the_first_representation() {
    let data = planted(30, true);
    let alone = GraphData { graph: Arc::new(Graph::from_edges(30, &[])), ..data };
    let job = Job::new("fagcn").with("hidden", 5);
    let got = outputs(&alone, &job, any);
    // epsilon relu(X W + b) W' + b': the perceptron whose second weights are scaled.
    let perceptron = Job::new("mlp").with("hidden", 5);
    let expected = outputs(&alone, &perceptron, |name, k| match name {
        "0.weight" => any("input.weight", k),
        "0.bias" => any("input.bias", k),
        "1.weight" => 0.3 * any("output.weight", k),
        _ => any("output.bias", k),
    });
    close(&got, &expected, "fagcn");
}

#[test]
fn equal_kernels_of_gbk_gnn_are_graphsage() {
    let data = planted(60, true);
    let got = outputs(&data, &Job::new("gbk_gnn").with("hidden", 5), |name, k| {
        any(&name.replace("dissimilar", "similar"), k)
    });
    let graphsage = Job::new("graphsage").with("hidden", 5);
    let expected = outputs(&data, &graphsage, |name, k| {
        let (layer, part) = name.split_once('.').unwrap();
        let width = if layer == "0" { 5 } else { 3 };
        match part {
            "bias" => any(name, k),
            // The weights of the neighbours and of the node, side by side.
            _ if k % (2 * width) < width => {
                any(&format!("{layer}.similar.weight"), k / (2 * width) * width + k % width)
            }
            _ => any(&format!("{layer}.self.weight"), k / (2 * width) * width + k % width),
        }
    });
    close(&got, &expected, "gbk_gnn");
}

#[test]
fn glognn_without_the_adjacency_in_its_terms_does_not_see_the_graph() {
    let data = planted(60, true);
    let job = |alpha: f64, beta2: f64| {
        let mut job = Job::new("glognn").with("hidden", 5);
        let own = [("alpha", alpha), ("beta1", 1.0), ("beta2", beta2)];
        job.options.extend(own.map(|(name, value)| (name.to_string(), Value::Real(value))));
        job
    };
    let other = GraphData { graph: Arc::new(Graph::from_edges(60, &[(0, 1), (5, 9)])), ..planted(60, true) };
    let (here, there) = (outputs(&data, &job(0.0, 0.0), any), outputs(&other, &job(0.0, 0.0), any));
    assert!(here == there);
    assert!(outputs(&data, &job(0.1, 0.0), any) != outputs(&other, &job(0.1, 0.0), any));
    assert!(outputs(&data, &job(0.0, 0.5), any) != outputs(&other, &job(0.0, 0.5), any));
}

#[test]
fn a_node_without_neighbours_gets_its_gated_residual_from_unimp() {
    let data = small_with_an_isolated_node();
    let job = Job::new("unimp").with("hidden", 4).with("layers", 1);
    let got = outputs(&data, &job, any);
    let Features::Dense { columns, values } = data.features() else { panic!() };
    let x = &values[3 * columns..];
    let linear = |c: usize| -> f32 {
        (0..*columns).map(|i| x[i] * any("0.skip.weight", i * 2 + c)).sum::<f32>() + any("0.skip.bias", c)
    };
    let r = [linear(0), linear(1)];
    let score: f32 = (0..2).map(|c| r[c] * any("0.gate.skip", c) - r[c] * any("0.gate.difference", c)).sum();
    let beta = 1.0 / (1.0 + (-score).exp());
    close(&got[3..], &[vec![beta * r[0], beta * r[1]]], "unimp");
}

#[test]
fn a_node_is_told_the_classes_of_others_and_never_asked_for_its_own() {
    let data = planted(600, true);
    let parts = split(&data);
    let mut job = Job::new("unimp").with("dropout", 0.0).with("hidden", 5).with("seed", 3);
    job.set("label_rate", 0.6);
    let options = job.resolve().unwrap();
    let (pass, n_classes) = (Pass::Train { epoch: 1 }, data.n_classes);
    let bench = Bench::new(&data, &options, &parts.train);
    let given = bench.model.label_inputs(pass);
    assert!(bench.model.label_inputs(Pass::Evaluate).is_empty());
    assert_ne!(given, bench.model.label_inputs(Pass::Train { epoch: 2 }), "drawn anew");
    let mut both = [&given, bench.asked.rows()].concat();
    both.sort_unstable();
    assert_eq!(both, parts.train, "every training node is given or asked for");
    // A binomial share: four deviations.
    let (n, got) = (parts.train.len() as f64, given.len() as f64);
    assert!((got - 0.6 * n).abs() < 4.0 * (0.24 * n).sqrt(), "{got} of {n}");

    // The outputs of all nodes where the labels of some are others.
    let outputs = |nodes: &[u32], pass: Pass| {
        let mut data = data.clone();
        let labels = &mut data.labels;
        nodes.iter().for_each(|&v| labels[v as usize] = labels[v as usize].map(|c| (c + 1) % n_classes as u32));
        let mut bench = Bench::new(&data, &options, &parts.train);
        let all: Vec<u32> = (0..600).collect();
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let scope = bench.model.scope(&all, true, true, &mut reservation).unwrap();
        let values = parameters(&bench);
        bench.model.forward(&scope, &values, pass, &Unmonitored).unwrap();
        bench.model.outputs().to_vec()
    };
    let differ = |a: &[f32], b: &[f32]| -> Vec<u32> {
        let rows = a.chunks(8).zip(b.chunks(8)).enumerate();
        rows.filter(|(_, (a, b))| a != b).map(|(v, _)| v as u32).collect()
    };
    let before = outputs(&[], pass);
    assert!(before == outputs(bench.asked.rows(), pass), "what training asks for is nobody's input");
    let moved = differ(&before, &outputs(&given[..1], pass));
    let asked = moved.iter().filter(|v| bench.asked.rows().contains(v)).count();
    assert!(moved.contains(&given[0]) && asked > 0, "a class given changes its node and others");
    // Without training every training class is an input, and no other.
    let before = outputs(&[], Pass::Evaluate);
    let others = [&parts.val[..], &parts.test].concat();
    assert!(before == outputs(&others, Pass::Evaluate), "classes of other parts are nobody's input");
    for &v in &[bench.asked.rows()[0], given[0]] {
        assert!(differ(&before, &outputs(&[v], Pass::Evaluate)).contains(&v));
    }

    // The loss of a run is that of the nodes that were asked for.
    let still = TrainOptions { lr: 0.0, epochs: 1, ..options.clone() };
    let mut losses = Vec::new();
    let mut observe = |record: &crate::EpochRecord| losses.push(record.train_loss);
    train_nodes(&data, &parts, &still, &Unmonitored, &mut observe).unwrap();
    let mut bench = bench;
    let first = bench.model.layout().initialise(options.seed);
    assert!((losses[0] - bench.loss(&first)).abs() < 1e-6);
}

#[test]
fn given_classes_teach_where_features_say_nothing() {
    let mut data = planted(600, true);
    data.features = Arc::new(Features::dense(4, vec![1.0; 600 * 4]).unwrap());
    let parts = split(&data);
    let test = |rate: f64| {
        let mut job = Job::new("unimp").with("hidden", 8).with("epochs", 60).with("lr", 0.01);
        job.set("label_rate", rate);
        let outcome = train_nodes(&data, &parts, &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap();
        outcome.test.accuracy.unwrap()
    };
    let (without, with) = (test(0.0), test(0.6));
    assert!(with > 0.7 && with > without + 0.2, "{with} with labels, {without} without");
}

#[test]
fn labels_are_an_input_where_nodes_have_classes() {
    let data = planted(40, true);
    let links = crate::tests::links::links(&data);
    let run = |rate: f64| {
        let mut job = Job::new("unimp").with("task", "link_prediction").with("epochs", 1);
        job.set("label_rate", rate);
        let options = job.resolve().map_err(|error| error.to_string())?;
        let items = crate::Items::Links(&data, &links);
        crate::train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).map_err(|error| error.to_string())
    };
    assert!(run(0.0).is_ok());
    let refused = run(0.5).unwrap_err();
    assert!(refused.contains("label_rate") && refused.contains("no classes"), "{refused}");
    assert!(run(1.0).unwrap_err().contains("[0, 1)"));
}

fn small_with_an_isolated_node() -> GraphData {
    let features = (0..8).map(|k| (k as f32 * 0.7).cos()).collect();
    let labels = vec![Some(0), Some(1), Some(0), Some(1)];
    GraphData::new(Graph::from_edges(4, &[(0, 1), (1, 2)]), Features::dense(2, features).unwrap(), labels, 2).unwrap()
}

#[test]
fn the_loss_of_the_gates_counts_in_training_alone() {
    let data = planted(200, true);
    let parts = split(&data);
    let run = |weight: f64| {
        let mut job = Job::new("gbk_gnn").with("hidden", 5).with("epochs", 1).with("lr", 0.0);
        job.set("gate_loss", weight);
        let mut losses = (0.0, 0.0);
        train_nodes(&data, &parts, &job.resolve().unwrap(), &Unmonitored, &mut |record| {
            losses = (record.train_loss, record.val_loss.unwrap());
        })
        .unwrap();
        losses
    };
    let (without, one, two) = (run(0.0), run(1.0), run(2.0));
    let added = one.0 - without.0;
    assert!(added > 0.1, "{added}");
    assert!((two.0 - without.0 - 2.0 * added).abs() < 1e-9);
    assert_eq!((one.1, two.1), (without.1, without.1));
}

#[test]
fn what_a_model_cannot_have_is_refused_with_what_it_can() {
    let data = planted(30, true);
    let error = |name: &str, layers: Option<i64>, own: &[(&str, f64)]| {
        let mut job = Job::new(name).with("layers", layers).with("epochs", 1);
        job.options.extend(own.iter().map(|(name, x)| (name.to_string(), Value::Real(*x))));
        let options = job.resolve().unwrap();
        train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string()
    };
    for name in ["fsgnn", "lsgnn"] {
        let error = error(name, Some(3), &[]);
        assert!(error.contains("layers is `3`") && error.contains("2: "), "{error}");
    }
    assert!(error("glognn", None, &[("beta1", 0.0), ("beta2", 0.0)]).contains("above 0"));
    let mut job = Job::new("acm_gcn");
    job.set("variant", "acm-");
    assert!(job.resolve().unwrap_err().to_string().contains("acmii++"));
}
