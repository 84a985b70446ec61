//! Models of typed graphs: what their equations imply, on the whole graph and on samples of it.

use std::collections::BTreeMap;

use serde_json::json;

use super::equations::definition::{check_definition, check_slopes};
use super::gradients::without_constants;
use super::*;
use crate::network::sampling::Sampler;
use crate::{GraphTypes, Matrix, Saved, joined_features, train};

/// The types, in the order of their numbers.
const TYPES: [&str; 3] = ["author", "paper", "subject"];

/// The types of edges, in the order of their numbers.
const EDGES: [&str; 3] = ["about", "cites", "writes"];

/// Half of `4 k` nodes are papers of three classes (every seventh unlabelled) with sparse features that hint at them; a quarter
/// authors with features of another width that say nothing; a quarter subjects without any. Edges, which have a direction, stay
/// mostly within a class. `order` numbers the types: `order[t]` is the place of type t among the names.
fn typed_in(n: usize, order: [u32; 3]) -> GraphData {
    let mut stream = Stream::new(key(&[n as u64, 77]));
    let class = |v: usize| v / 4 % 3;
    let kind = |v: usize| [1, 1, 0, 2][v % 4];
    let mut draw = |of: usize, class_of: usize| loop {
        let v = stream.below(n);
        if kind(v) == of && (class(v) == class_of || stream.uniform() < 0.1) {
            return v as u32;
        }
    };
    let mut edges = Vec::new();
    for v in (0..n).filter(|&v| kind(v) == 1) {
        let (paper, own) = (v as u32, class(v));
        edges.extend([(draw(0, own), paper, 2), (draw(0, own), paper, 2), (paper, draw(2, own), 0)]);
        edges.push((paper, draw(1, own), 1));
    }
    let mut papers = (vec![0], Vec::new(), Vec::new());
    let mut authors = Vec::new();
    for v in 0..n {
        match kind(v) {
            1 => {
                for c in (0..12u32).filter(|c| *c as usize % 3 == class(v) || c % 4 == 1) {
                    if stream.uniform() < 0.5 {
                        papers.1.push(c);
                        papers.2.push((0.5 + stream.uniform()) as f32);
                    }
                }
                papers.0.push(papers.1.len());
            }
            0 => authors.extend((0..5).map(|_| stream.normal() as f32)),
            _ => {}
        }
    }
    let papers = Features::Sparse(SparseRows::new(12, papers.0, papers.1, papers.2).unwrap());
    let mut blocks = vec![Features::None; 3];
    blocks[order[0] as usize] = Features::dense(5, authors).unwrap();
    blocks[order[1] as usize] = papers;
    let of: Vec<u32> = (0..n).map(|v| order[kind(v)]).collect();
    let mut names = vec![String::new(); 3];
    (0..3).for_each(|t| names[order[t] as usize] = TYPES[t].to_owned());
    let features = joined_features(&of, &blocks).unwrap();
    let labels = (0..n).map(|v| (kind(v) == 1 && v % 7 != 6).then_some(class(v) as u32)).collect();
    let ends: Vec<(u32, u32)> = edges.iter().map(|edge| (edge.0, edge.1)).collect();
    let types = GraphTypes::new(names, of, &EDGES.map(str::to_owned), edges, true).unwrap();
    let data = GraphData::new(Graph::from_edges(n, &ends), features, labels, 3).unwrap();
    data.with_types(types).unwrap()
}

pub(crate) fn typed(n: usize) -> GraphData {
    typed_in(n, [0, 1, 2])
}

/// Every model of typed graphs, with hyperparameters that exercise padding, several heads and all options.
pub(crate) fn typed_jobs() -> Vec<Job> {
    let job = |model: &str| Job::new(model).with("hidden", 5).with("dropout", 0.3).with("seed", 3);
    vec![
        job("r_gcn"),
        job("r_gcn").with("bases", 2),
        job("r_graphsage"),
        job("r_graphsage").with("relations", "mean").with("layers", 3),
        job("r_gat").with("heads", 2).with("output_heads", 3).with("attention_dropout", 0.2),
        job("r_gat").with("heads", 3).with("relations", "mean").with("attention_dropout", 0.0),
        job("han").with("heads", 2).with("semantic", 6).with("attention_dropout", 0.2).with("layers", 3),
        job("han")
            .with("heads", 2)
            .with("metapaths", "paper>author>paper,paper>subject>paper,paper>^cites>paper")
            .with("activation", "relu"),
        job("hgt").with("heads", 2).with("attention_dropout", 0.2),
        job("shgn")
            .with("heads", 2)
            .with("output_heads", 3)
            .with("attention_dropout", 0.2)
            .with("edge_width", 4)
            .with("lr", 0.01),
        job("unified_gt")
            .with("heads", 2)
            .with("attention", "relation")
            .with("mask", "hops")
            .with("feed_forward", "shared")
            .with("attention_dropout", 0.2),
        job("unified_gt")
            .with("heads", 2)
            .with("attention", "plain")
            .with("mask", "none")
            .with("feed_forward", "by_type")
            .with("graph_layers", 1),
        job("unified_gt")
            .with("heads", 2)
            .with("mask", "metapaths")
            .with("metapaths", "paper>author>paper,paper>paper"),
        job("gophormer").with("hidden", 6).with("heads", 2).with("length", 7).with("globals", 2).with("lr", 0.01),
        job("goat").with("heads", 2).with("hops", 2).with("centroids", 6).with("codebook_width", 6).with("lr", 0.01),
        job("hinormer").with("hidden", 6).with("length", 9).with("graph_layers", 1).with("lr", 0.01),
        job("h2g_former").with("heads", 2).with("layers", 3).with("lr", 0.005),
    ]
}

/// Those that can be sampled.
fn sampled_jobs() -> Vec<Job> {
    typed_jobs().into_iter().filter(|job| job.clone().with("batch_nodes", 9).resolve().is_ok()).collect()
}

fn outcome(data: &GraphData, job: &Job, pruned: bool) -> Outcome {
    let options = TrainOptions { keep_embeddings: true, test_each_epoch: true, ..job.resolve().unwrap() };
    let split = split(data);
    let items = Items::Nodes(data, &split);
    match pruned {
        true => train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).unwrap(),
        false => train_whole(items, &options),
    }
}

/// Everything of an outcome that must not vary.
fn fixed(outcome: Outcome) -> Outcome {
    Outcome { train_seconds: 0.0, test_seconds: 0.0, peak_memory: 0, ..outcome }
}

#[test]
fn gradients_of_typed_models_agree_with_finite_differences() {
    let data = typed(60);
    let parts = split(&data);
    for job in typed_jobs() {
        let options = without_constants(job).resolve().unwrap();
        let (mut bench, other) = (Bench::new(&data, &options, &parts.train), Bench::new(&data, &options, &parts.train));
        check_slopes(&mut bench, other.model, &options.model);
    }
}

#[test]
fn typed_models_compute_what_their_definitions_say_with_their_gradients() {
    let data = typed(60);
    let parts = split(&data);
    for job in typed_jobs() {
        let options = job.resolve().unwrap();
        let (mut bench, other) = (Bench::new(&data, &options, &parts.train), Bench::new(&data, &options, &parts.train));
        check_definition(&mut bench, other.model, 60, &job.model);
    }
}

#[test]
fn neither_threads_nor_pruning_change_a_bit_of_a_typed_run() {
    let mut data = typed(1200);
    data.labels.iter_mut().enumerate().for_each(|(v, label)| *label = label.filter(|_| v % 40 < 6));
    for job in typed_jobs() {
        let job = job.with("epochs", 4);
        let results = [1, 2, 8].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            fixed(pool.install(|| outcome(&data, &job, true)))
        });
        assert!(results[0] == results[1] && results[0] == results[2], "{}", job.model);
        assert!(results[0] == fixed(outcome(&data, &job, false)), "{}", job.model);
    }
}

#[test]
fn typed_models_learn_what_is_planted_and_no_class_that_is_not() {
    let data = typed(900);
    for job in typed_jobs() {
        let job = job.with("hidden", 16).with("epochs", 60);
        let test = outcome(&data, &job, true).test.accuracy.unwrap();
        assert!(test > 0.8, "{}: {test}", job.model);
    }
    // Labels that hang on nothing are not learnt.
    let mut shuffled = typed(900);
    let mut labels: Vec<u32> = shuffled.labels.iter().flatten().copied().collect();
    Stream::new(5).shuffle(&mut labels);
    let mut labels = labels.into_iter();
    shuffled.labels.iter_mut().filter(|label| label.is_some()).for_each(|label| *label = labels.next());
    let test = outcome(&shuffled, &typed_jobs()[0].clone().with("epochs", 60), true).test.accuracy.unwrap();
    assert!(test < 0.5, "{test}");
}

#[test]
fn a_step_on_all_neighbours_of_each_relation_is_one_on_the_whole_graph_to_rounding() {
    let data = typed(600);
    for job in sampled_jobs() {
        let job = job.with("epochs", 3).with("dropout", 0.0).with("optimizer", "sgd");
        let attends = model(&job.model).unwrap().own.iter().any(|option| option.name == "attention_dropout");
        let job = if attends { job.with("attention_dropout", 0.0) } else { job };
        // Which classes are given hangs on the rows of a sample.
        let job = job.with("label_rate", 0.0);
        let whole = outcome(&data, &job, true);
        let sampled = outcome(&data, &job.clone().with("batch_nodes", 1_000_000), true);
        for (of_whole, of_sampled) in whole.weights.iter().zip(&sampled.weights) {
            let largest = of_whole.1.values.iter().fold(1f32, |largest, x| largest.max(x.abs()));
            for (a, b) in of_whole.1.values.iter().zip(&of_sampled.1.values) {
                assert!((a - b).abs() <= 1e-5 * largest, "{} {}: {a} and {b}", job.model, of_whole.0);
            }
        }
    }
}

#[test]
fn figures_of_a_run_that_samples_relations_are_those_of_the_whole_graph() {
    let data = typed(600);
    let parts = split(&data);
    for job in sampled_jobs() {
        let job = job.with("epochs", 2);
        let mut logits = Vec::new();
        for (sampler, fanout) in [("neighbors", Value::Integer(2)), ("hgt", Value::from("6,6,6"))] {
            let in_steps = job.clone().with("batch_nodes", 16).with("fanout", fanout).with("sampler", sampler);
            let sampled = outcome(&data, &in_steps, true);
            let saved = Saved::new(&sampled.weights, json!({"options": {"model": job.model}}));
            let mut options = TrainOptions { keep_embeddings: true, ..job.resolve().unwrap() };
            options.epochs = 0;
            let items = Items::Nodes(&data, &parts);
            let whole = train(Place::Cpu, items, Some(&saved), &options, &Unmonitored, &mut |_| {}).unwrap();
            assert!(whole.logits == sampled.logits && whole.test == sampled.test, "{}, {sampler}", job.model);
            assert!(fixed(outcome(&data, &in_steps, true)) == fixed(sampled), "{}, {sampler}", job.model);
            logits.push(whole.logits);
        }
        assert!(logits[0] != logits[1], "{}", job.model);
    }
}

#[test]
fn a_node_draws_of_each_relation_apart_and_one_relation_is_the_graph() {
    let data = typed(400);
    let types = data.types().unwrap();
    let relations = Relations::new(types, &data.graph);
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let mut sampler = Sampler::by_relation(&data.graph, relations.lists(), &mut reservation).unwrap();
    let seeds: Vec<u32> = (0..400).filter(|v| v % 4 == 0).take(20).collect();
    let samples = sampler.samples(&seeds, &[1, 2], 5, &mut reservation).unwrap();
    assert_eq!(samples.len(), relations.list().len());
    for (sample, relation) in samples.iter().zip(relations.list()) {
        assert_eq!(sample.nodes, samples[0].nodes);
        for (row, &node) in sample.nodes.iter().enumerate() {
            let drawn = &sample.targets[sample.offsets[row]..sample.offsets[row + 1]];
            let all = relation.messages.neighbors(node);
            assert_eq!(sample.degrees[row] as usize, all.len());
            assert!(drawn.iter().all(|&u| all.contains(&sample.nodes[u as usize])));
            if seeds.contains(&node) {
                assert_eq!(drawn.len(), all.len().min(1), "{}", relations.name(relation));
            } else {
                assert!(drawn.is_empty() || drawn.len() == all.len().min(2));
            }
        }
    }
    let whole = Relations::plain(&Messages::from(&data.graph));
    let mut one = Sampler::by_relation(&data.graph, whole.lists(), &mut reservation).unwrap();
    let mut plain = Sampler::new(&data.graph, &mut reservation).unwrap();
    let draw = |sampler: &mut Sampler<'_>| {
        sampler.sample(&seeds, &[3, 2], 9, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap()
    };
    assert_eq!(draw(&mut one), draw(&mut plain));
}

/// The outputs of a job for all nodes with given parameters, by name; a block that `values` lacks keeps its own.
fn outputs(data: &GraphData, job: &Job, values: &BTreeMap<String, Matrix>) -> Vec<f32> {
    let all: Vec<u32> = (0..data.graph.n_nodes() as u32).collect();
    let mut bench = Bench::new(data, &job.resolve().unwrap(), &split(data).train);
    let mut flat = parameters(&bench);
    for block in bench.model.layout().blocks() {
        let given = &values[&block.name];
        assert_eq!(block.positions().count(), given.values.len(), "{}", block.name);
        block.positions().zip(&given.values).for_each(|(at, value)| flat[at] = *value);
    }
    let scope = bench.model.scope(&all, false, true, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap();
    bench.model.forward(&scope, &flat, Pass::Evaluate, &Unmonitored).unwrap();
    bench.model.outputs().to_vec()
}

/// The parameters of a job, off their initial values, by name.
fn named(data: &GraphData, job: &Job) -> BTreeMap<String, Matrix> {
    let bench = Bench::new(data, &job.resolve().unwrap(), &split(data).train);
    let flat = parameters(&bench);
    let matrix = |block: &crate::ground::Block| Matrix {
        columns: block.columns.len(),
        values: block.positions().map(|at| flat[at]).collect(),
    };
    bench.model.layout().blocks().iter().map(|block| (block.name.clone(), matrix(block))).collect()
}

fn close(a: &[f32], b: &[f32], what: &str) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 2e-5 * (1.0 + b.abs()), "{what}: {a} and {b}");
    }
}

#[test]
fn one_type_and_one_relation_are_the_plain_model() {
    let data = planted(120, true);
    let plain = |model: &str| Job::new(model).with("hidden", 5).with("seed", 3);
    // Heads, side by side in the one and the other.
    let (job, typed_job) = (plain("gat").with("heads", 2), plain("r_gat").with("heads", 2));
    let values = named(&data, &job);
    let renamed = |name: &String| match name.split_once('.') {
        Some((layer, "bias")) => format!("{layer}.bias"),
        Some((layer, part)) => format!("{layer}.node>edge>node.{part}"),
        None => name.clone(),
    };
    let of_relations = values.iter().map(|(name, matrix)| (renamed(name), matrix.clone())).collect();
    assert_eq!(outputs(&data, &job, &values), outputs(&data, &typed_job, &of_relations));
    // [V | U] side by side, V for the mean of the neighbours.
    let (job, typed_job) = (plain("graphsage"), plain("r_graphsage"));
    let values = named(&data, &job);
    let mut apart = BTreeMap::new();
    for (name, matrix) in &values {
        let layer = &name[..1];
        if name.ends_with("bias") {
            apart.insert(name.clone(), matrix.clone());
            continue;
        }
        let half = matrix.columns / 2;
        for (part, name) in [(0, "node>edge>node"), (half, "self.node")] {
            let rows = matrix.values.chunks(matrix.columns).flat_map(|row| row[part..part + half].to_vec());
            let own = Matrix { columns: half, values: rows.collect() };
            apart.insert(format!("{layer}.{name}.weight"), own);
        }
    }
    close(&outputs(&data, &job, &values), &outputs(&data, &typed_job, &apart), "r_graphsage");
}

#[test]
fn the_order_of_the_types_changes_nothing_but_that_of_the_parameters() {
    let (data, turned) = (typed_in(240, [0, 1, 2]), typed_in(240, [2, 0, 1]));
    for job in typed_jobs() {
        let values = named(&data, &job);
        let mut moved = values.clone();
        // Rows of one block that stand for types, or for the columns of types, stand in another order.
        let (types, other) = (data.types().unwrap(), turned.types().unwrap());
        let widths = |types: &GraphTypes| -> Vec<usize> {
            let width = |name: &String| match name.as_str() {
                "author" => 5,
                "paper" => 12,
                _ => 60,
            };
            types.names().iter().map(width).collect()
        };
        let blocks_of_rows = |matrix: &Matrix, widths: &[usize]| -> BTreeMap<String, Vec<f32>> {
            let mut from = 0;
            let mut parts = BTreeMap::new();
            for (name, width) in types.names().iter().zip(widths) {
                parts.insert(
                    name.clone(),
                    matrix.values[from * matrix.columns..(from + width) * matrix.columns].to_vec(),
                );
                from += width;
            }
            parts
        };
        for (name, matrix) in &mut moved {
            let by_type = matrix.values.len() == 3 * matrix.columns
                && ["bias", "skip", "factor", "types.0.weight"].iter().any(|end| name.ends_with(end));
            let widths = match name.as_str() {
                "input.weight" => widths(types),
                _ if by_type && !name.starts_with("output") => vec![1; 3],
                _ => continue,
            };
            let parts = blocks_of_rows(matrix, &widths);
            matrix.values = other.names().iter().flat_map(|name| parts[name].clone()).collect();
        }
        // Factors have a row a relation, in the order of the relations.
        let order = |types: &Arc<GraphTypes>, data: &GraphData| -> Vec<String> {
            let relations = Relations::new(types, &data.graph);
            relations.list().iter().map(|relation| relations.name(relation)).collect()
        };
        let (before, after) = (order(types, &data), order(other, &turned));
        let of_relations = |name: &str| ["prior", "relation", "edge.embedding"].iter().any(|end| name.ends_with(end));
        for (_, matrix) in moved.iter_mut().filter(|(name, _)| of_relations(name)) {
            let rows: Vec<Vec<f32>> = matrix.values.chunks(matrix.columns).map(<[f32]>::to_vec).collect();
            // Metapaths have the order of their text; what stands behind the relations is of none of them.
            if rows.len() >= before.len() {
                let place = |name: &String| before.iter().position(|known| known == name).unwrap();
                let behind = rows[before.len()..].concat();
                matrix.values = after.iter().flat_map(|name| rows[place(name)].clone()).chain(behind).collect();
            }
        }
        close(&outputs(&data, &job, &values), &outputs(&turned, &job, &moved), &job.model);
    }
}

#[test]
fn what_a_typed_model_cannot_do_it_says() {
    let data = typed(120);
    let parts = split(&data);
    let error = |job: Job| {
        let options = job.with("epochs", 1).resolve().map_err(|error| error.to_string())?;
        let items = Items::Nodes(&data, &parts);
        let outcome = train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {});
        outcome.map(|_| ()).map_err(|error| error.to_string())
    };
    let path = |text: &str| error(Job::new("han").with("metapaths", text)).unwrap_err();
    assert!(
        path("paper>autor>paper").contains("no type or relation autor, but author"),
        "{}",
        path("paper>autor>paper")
    );
    assert!(path("paper>author").contains("metapaths of which one leads to paper"), "{}", path("paper>author"));
    let sampled = error(Job::new("han").with("batch_nodes", 9)).unwrap_err();
    assert!(sampled.contains("han reads more than the neighbours of nodes"), "{sampled}");
    let unread = error(Job::new("gcn").with("metapaths", "paper>author>paper")).unwrap_err();
    assert!(unread.contains("no hyperparameter `metapaths`"), "{unread}");
    // Nodes without a relation, and relations without a node, train all the same.
    let lonely = GraphData::new(Graph::from_edges(3, &[]), Features::None, vec![Some(0), Some(1), None], 2).unwrap();
    let names = ["a", "b"].map(str::to_owned).to_vec();
    let lonely = lonely.with_types(GraphTypes::new(names, vec![0, 1, 1], &[], [], true).unwrap()).unwrap();
    let parts = Split { train: vec![0], val: vec![1], test: vec![] };
    for name in ["r_gcn", "r_graphsage", "r_gat", "hgt", "shgn", "h2g_former"] {
        let options = Job::new(name).with("epochs", 2).resolve().unwrap();
        let items = Items::Nodes(&lonely, &parts);
        let outcome = train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).unwrap();
        assert!(outcome.logits.values.iter().all(|z| z.is_finite()), "{name}");
    }
}
