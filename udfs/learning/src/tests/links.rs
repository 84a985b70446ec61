use super::typed::typed;
use super::*;
use crate::data::NonEdges;
use crate::{EpochRecord, GraphTypes, Items, LinkSplit, Outcome, Shares, Status, TrainError, train};

fn job(model: &str, decoder: &str) -> Job {
    Job::new(model).with("task", "link_prediction").with("decoder", decoder).with("embedding", 12).with("epochs", 60)
}

pub(crate) fn links(data: &GraphData) -> LinkSplit {
    LinkSplit::draw(&data.graph, Shares::new(85.0, 5.0, 10.0).unwrap(), 1, &Unmonitored).unwrap()
}

fn run(data: &GraphData, split: &LinkSplit, job: &Job) -> Outcome {
    let options = TrainOptions { keep_embeddings: true, ..job.resolve().unwrap() };
    let outcome = train(Place::Cpu, Items::Links(data, split), None, &options, &Unmonitored, &mut |_| {}).unwrap();
    Outcome { train_seconds: 0.0, test_seconds: 0.0, peak_memory: 0, ..outcome }
}

/// 8 groups of 25 nodes, dense within and sparse between: held-out edges can be told from other pairs.
fn groups() -> GraphData {
    let mut stream = Stream::new(8);
    let mut edges = Vec::new();
    for u in 0..200u32 {
        for v in u + 1..200 {
            if stream.uniform() < if u / 25 == v / 25 { 0.4 } else { 0.005 } {
                edges.push((u, v));
            }
        }
    }
    GraphData::new(Graph::from_edges(200, &edges), Features::None, vec![None; 200], 0).unwrap()
}

#[test]
fn held_out_edges_of_planted_groups_are_found() {
    let data = groups();
    let split = links(&data);
    for (model, decoder) in [
        ("gcn", "inner_product"),
        ("gcn", "cosine"),
        ("gcn", "distance"),
        ("graphsage", "inner_product"),
        ("gat", "distance"),
    ] {
        let job = job(model, decoder).with("features", "identity");
        let outcome = run(&data, &split, &job);
        let test = outcome.test;
        assert!(test.auc > Some(0.85) && test.ap > Some(0.8), "{model}, {decoder}: {test:?}");
        assert_eq!((test.accuracy, test.macro_f1, test.mse), (None, None, None));

        // The figures by their definitions, from the outputs that are handed out.
        let rows: Vec<_> = split.pairs().zip(&outcome.logits.values).collect();
        assert_eq!(rows.len(), outcome.logits.values.len());
        let of = |edge: bool| -> Vec<f32> {
            let test = |((_, part, is_edge), _): &&((_, crate::Part, bool), &f32)| {
                *part == crate::Part::Test && *is_edge == edge
            };
            rows.iter().filter(test).map(|(_, z)| **z).collect()
        };
        let (edges, others) = (of(true), of(false));
        let wins: f64 = edges
            .iter()
            .flat_map(|a| {
                others.iter().map(move |b| {
                    if a > b {
                        1.0
                    } else if a == b {
                        0.5
                    } else {
                        0.0
                    }
                })
            })
            .sum();
        let auc = wins / (edges.len() * others.len()) as f64;
        // Scores were compared in f64 before they were rounded.
        assert!((auc - test.auc.unwrap()).abs() < 1e-3, "{auc} {test:?}");
        // A pair's output is what the decoder makes of the embeddings.
        let vectors = outcome.embeddings.as_ref().unwrap();
        assert_eq!(vectors.columns, 12);
        for (((u, v), ..), z) in rows.iter().map(|((pair, part, edge), z)| ((*pair, part, edge), **z)).step_by(97) {
            let (a, b) = (vectors.row(u as usize), vectors.row(v as usize));
            let product =
                |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
            let expected: f64 = match decoder {
                "distance" => 2.0 - a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>(),
                "cosine" => product(a, b) / (product(a, a) * product(b, b)).sqrt(),
                _ => product(a, b),
            };
            assert!((expected - f64::from(z)).abs() < 1e-4 * (1.0 + expected.abs()), "{z} for {expected}");
        }
    }
}

#[test]
fn held_out_edges_leave_no_trace_in_training() {
    // With and without the held-out edges in the graph, the same parameters come out, whatever the features.
    let data = planted(150, true);
    let split = links(&data);
    let kept = GraphData::new(Graph::from_edges(150, &split.train), Arc::clone(&data.features), vec![None; 150], 0);
    let only = LinkSplit { train: split.train.clone(), ..LinkSplit::default() };
    for features in ["given", "degree", "random:6"] {
        let job = job("gcn", "inner_product").with("features", features).with("epochs", 5);
        // Without validation the last epoch is selected, so the other run must select it too.
        let blind = LinkSplit { val: vec![], val_non_edges: vec![], ..split.clone() };
        assert_eq!(run(&data, &blind, &job).weights, run(kept.as_ref().unwrap(), &only, &job).weights, "{features}");
    }
}

#[test]
fn relations_know_the_training_edges_alone() {
    let data = typed(240);
    let split = links(&data);
    let graph = Graph::from_edges(240, &split.train);
    let types = data.types().unwrap().within(&graph);
    let kept = GraphData::new(graph, Arc::clone(&data.features), vec![None; 240], 0).unwrap();
    let kept = kept.with_types(types).unwrap();
    let only = LinkSplit { train: split.train.clone(), ..LinkSplit::default() };
    for model in ["r_gcn", "r_graphsage", "r_gat", "han", "hgt", "unified_gt", "graphtrans", "goat"] {
        let job = job(model, "inner_product").with("epochs", 3).with("hidden", 8);
        let blind = LinkSplit { val: vec![], val_non_edges: vec![], ..split.clone() };
        assert_eq!(run(&data, &blind, &job).weights, run(&kept, &only, &job).weights, "{model}");
    }
    // Held-out edges of planted groups are found, whose nodes are of two types.
    let plain = groups();
    let edges: Vec<(u32, u32, u32)> = plain.graph.edges().map(|(u, v)| (u, v, 0)).collect();
    let (names, of) = (["even", "odd"].map(str::to_owned).to_vec(), (0..200).map(|v| v % 2).collect());
    let grouped = plain.with_types(GraphTypes::new(names, of, &["near".to_owned()], edges, false).unwrap()).unwrap();
    let split = links(&grouped);
    for model in ["r_gcn", "r_graphsage"] {
        let outcome = run(&grouped, &split, &job(model, "inner_product").with("features", "identity"));
        assert!(outcome.test.auc > Some(0.7), "{model}: {:?}", outcome.test);
    }
    for model in ["shgn", "hinormer", "h2g_former", "gophormer"] {
        let error = Job::new(model).with("task", "link_prediction").resolve().unwrap_err().to_string();
        assert!(error.contains("valid: node_classification; it"), "{error}");
    }
}

#[test]
fn the_loss_of_an_epoch_is_that_of_its_pairs() {
    let data = planted(150, true);
    let split = links(&data);
    let job = job("mlp", "inner_product").with("dropout", 0.0).with("epochs", 1).with("seed", 4);
    let options = job.resolve().unwrap();
    let mut records: Vec<EpochRecord> = Vec::new();
    let mut observe = |record: &EpochRecord| records.push(record.clone());
    train(Place::Cpu, Items::Links(&data, &split), None, &options, &Unmonitored, &mut observe).unwrap();

    // The initial outputs of the model, and the pairs of the first epoch.
    let graph = Arc::new(Graph::from_edges(150, &split.train));
    let problem = Problem {
        graph: Messages::from(&graph),
        arcs: None,
        features: Arc::clone(&data.features),
        n_outputs: 12,
        known_labels: Arc::new([]),
        options: options.of_model(),
        types: None,
        complexes: None,
        device: false,
    };
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let mut mlp = (model("mlp").unwrap().build)(&problem, &mut reservation).unwrap();
    let all: Vec<u32> = (0..150).collect();
    let scope = mlp.scope(&all, false, true, &mut reservation).unwrap();
    let parameters = mlp.layout().initialise(4);
    mlp.forward(&scope, &parameters, Pass::Evaluate, &Unmonitored).unwrap();
    let row = |v: u32| &mlp.outputs()[v as usize * 16..][..12];
    let mut others = vec![(0, 0); split.train.len()];
    NonEdges::new(&graph).draw(&mut others, 4, 1);
    assert!(others.iter().all(|&(u, v)| u < v && !graph.has_edge(u, v)));
    let term = |&(u, v): &(u32, u32), sign: f64| {
        let z: f64 = row(u).iter().zip(row(v)).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        (1.0 + (-sign * z).exp()).ln()
    };
    let sum = split.train.iter().map(|pair| term(pair, 1.0)).sum::<f64>()
        + others.iter().map(|pair| term(pair, -1.0)).sum::<f64>();
    let expected = sum / (2 * others.len()) as f64;
    assert!((records[0].train_loss - expected).abs() < 1e-6, "{} for {expected}", records[0].train_loss);
}

#[test]
fn given_and_fixed_pairs_are_those_of_every_epoch() {
    let data = planted(150, true);
    let drawn = links(&data);
    let curve = |split: &LinkSplit, negatives: &str| {
        let job = job("gcn", "inner_product").with("epochs", 3).with("seed", 6).with("negatives", negatives);
        let mut losses = Vec::new();
        let mut observe = |record: &EpochRecord| losses.push(record.train_loss);
        let options = job.resolve().unwrap();
        train(Place::Cpu, Items::Links(&data, split), None, &options, &Unmonitored, &mut observe).unwrap();
        losses
    };
    // The pairs of the first epoch, given: the run is that of fixed pairs, and another one from the second epoch on.
    let mut first = vec![(0, 0); drawn.train.len()];
    let graph = Graph::from_edges(150, &drawn.train);
    NonEdges::new(&graph).draw(&mut first, 6, 1);
    first.retain(|&(u, v)| !data.graph.has_edge(u, v));
    let given = LinkSplit { train_non_edges: first.clone(), ..drawn.clone() };
    assert_eq!(curve(&given, "each_epoch"), curve(&given, "fixed"));
    let (fixed, fresh) = (curve(&drawn, "fixed"), curve(&drawn, "each_epoch"));
    assert_eq!(fixed[0], fresh[0]);
    assert_ne!(fixed[1..], fresh[1..]);
    // Whatever is given of other parts, an edge among the pairs that are none is refused.
    let wrong = LinkSplit { train_non_edges: vec![drawn.val[0]], ..drawn.clone() };
    let options = job("gcn", "inner_product").resolve().unwrap();
    let error = train(Place::Cpu, Items::Links(&data, &wrong), None, &options, &Unmonitored, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("is an edge of"), "{error}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let data = planted(700, true);
    let split = links(&data);
    for (model, decoder) in [("gcn", "distance"), ("graphsage", "inner_product")] {
        let job = job(model, decoder).with("epochs", 4);
        let outcomes = [1, 2, 8].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&data, &split, &job))
        });
        assert!(outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2], "{model}");
    }
}

#[test]
fn what_is_no_split_of_the_graphs_edges_is_refused() {
    let data = planted(60, true);
    let good = links(&data);
    let options = job("gcn", "inner_product").resolve().unwrap();
    let error = |data: &GraphData, split: &LinkSplit| {
        train(Place::Cpu, Items::Links(data, split), None, &options, &Unmonitored, &mut |_| {}).unwrap_err()
    };
    let cases = [
        LinkSplit { train: vec![], ..good.clone() },
        LinkSplit { test: vec![(3, 3)], ..good.clone() },
        LinkSplit { test: vec![(3, 60)], ..good.clone() },
        LinkSplit { test: vec![good.val_non_edges[0]], ..good.clone() },
        LinkSplit { val_non_edges: vec![good.test[0]], ..good.clone() },
    ];
    for (split, text) in cases.iter().zip(["no training edge", "no pair", "no pair", "no edge of", "is an edge of"]) {
        let error = error(&data, split);
        assert_eq!(error.status(), Some(Status::Error));
        assert!(error.to_string().contains(text), "{error}");
    }
    let complete = GraphData::new(Graph::from_edges(3, &[(0, 1), (1, 2), (0, 2)]), Features::None, vec![None; 3], 0);
    let split = LinkSplit { train: vec![(0, 1), (0, 2), (1, 2)], ..LinkSplit::default() };
    assert_eq!(error(&complete.unwrap(), &split), TrainError::Complete);
    let nodes = Job::new("gcn").resolve().unwrap();
    let wrong = train(Place::Cpu, Items::Links(&data, &good), None, &nodes, &Unmonitored, &mut |_| {}).unwrap_err();
    assert!(wrong.to_string().contains("node_classification"), "{wrong}");
}
