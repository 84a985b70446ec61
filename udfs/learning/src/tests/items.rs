//! Items that are rows of a database at a time: what they see, and what comes of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicIsize, Ordering};

use bonnet_graph::Stopped;

use super::*;
use crate::{ALWAYS, GraphTypes, ItemRows, NEVER, Saved, Targets, TimedGraph, TimedItem};

/// A row of a database: its type, its key, its time, its features and the rows that it refers to by relation.
#[derive(Debug, Clone)]
struct Row {
    kind: &'static str,
    id: u32,
    time: i64,
    features: Vec<f32>,
    refers: Vec<(&'static str, &'static str, u32)>,
}

const KINDS: [&str; 3] = ["customer", "order", "product"];
const RELATIONS: [&str; 3] = ["bought_by", "first", "of"];

/// The last time of an item.
const LAST: i64 = 9;

fn row(kind: &'static str, id: u32, time: i64, stream: &mut Stream) -> Row {
    let width = if kind == "order" { 3 } else { 2 };
    let features = (0..width).map(|_| stream.normal() as f32).collect();
    Row { kind, id, time, features, refers: Vec::new() }
}

/// An order after a time: keys of customers and products are tens, some orders refer to an early one.
fn order(id: u32, from: i64, stream: &mut Stream) -> Row {
    let mut order = row("order", id, from + stream.below(9) as i64, stream);
    let ten = |stream: &mut Stream| 10 * stream.below(5) as u32;
    order.refers =
        vec![("bought_by", "customer", ten(stream)), ("of", "product", ten(stream)), ("first", "order", ten(stream))];
    order
}

/// Five customers and products, orders up to the last time of an item, and later ones of either.
fn database(seed: u64) -> Vec<Row> {
    let mut stream = Stream::new(seed);
    let mut rows = Vec::new();
    for id in 0..5 {
        rows.push(row("customer", 10 * id, ALWAYS, &mut stream));
        let time = if id < 3 { ALWAYS } else { stream.below(6) as i64 };
        rows.push(row("product", 10 * id, time, &mut stream));
    }
    // Every relation is there from the start.
    rows.extend((0..5).map(|id| Row { time: 0, ..order(10 * id, 0, &mut stream) }));
    rows.extend((5..40).map(|id| order(10 * id, 0, &mut stream)));
    rows.extend((40..50).map(|id| order(10 * id, LAST + 1, &mut stream)));
    rows
}

/// The same database, in which rows that are later than all items are others: deleted, changed or added, and named between the others.
fn other_future(rows: &[Row], seed: u64) -> Vec<Row> {
    let mut stream = Stream::new(1000 + seed);
    let mut others: Vec<Row> = rows.iter().filter(|row| row.time <= LAST).cloned().collect();
    for late in rows.iter().filter(|row| row.time > LAST) {
        if stream.uniform() < 0.5 {
            others.push(Row { id: late.id, ..order(0, LAST + 1, &mut stream) });
        }
    }
    for id in 0..stream.below(12) as u32 {
        others.push(order(10 * id + 5, LAST + 1, &mut stream));
        others.push(row("product", 10 * id + 5, LAST + 1, &mut stream));
        others.push(row("customer", 10 * id + 5, LAST + 1, &mut stream));
    }
    others
}

/// The rows as a graph, numbered by type and key as CREATE GRAPH FROM SCHEMA does; dangling keys are no edges.
struct Database {
    graph: Arc<TimedGraph>,
    rows: Vec<Row>,
    edges: Vec<(u32, u32, u32)>,
}

impl Database {
    fn new(rows: &[Row]) -> Self {
        let mut rows = rows.to_vec();
        rows.sort_by_key(|row| (row.kind, row.id));
        let keys: Vec<(&str, u32)> = rows.iter().map(|row| (row.kind, row.id)).collect();
        let mut edges = Vec::new();
        for (at, row) in (0u32..).zip(&rows) {
            for &(relation, kind, id) in &row.refers {
                let name = RELATIONS.iter().position(|other| *other == relation).unwrap() as u32;
                edges.extend(keys.binary_search(&(kind, id)).ok().map(|to| (at, to as u32, name)));
            }
        }
        let names = |names: [&str; 3]| names.map(str::to_owned).to_vec();
        let of: Vec<u32> =
            rows.iter().map(|row| KINDS.iter().position(|kind| *kind == row.kind).unwrap() as u32).collect();
        let types = GraphTypes::new(names(KINDS), of, &names(RELATIONS), edges.iter().copied(), true).unwrap();
        let pairs: Vec<(u32, u32)> = edges.iter().map(|&(from, to, _)| (from, to)).collect();
        let block = |kind: &str| {
            let own: Vec<&Row> = rows.iter().filter(|row| row.kind == kind).collect();
            let values = own.iter().flat_map(|row| row.features.clone()).collect();
            Features::dense(own[0].features.len(), values).unwrap()
        };
        let graph = Graph::from_edges(rows.len(), &pairs);
        let graph = TimedGraph::new(graph, types, KINDS.map(block).to_vec(), true).unwrap();
        let times = rows.iter().map(|row| row.time).collect();
        Self { graph: Arc::new(graph.with_times(times, 2.0).unwrap()), rows, edges }
    }

    /// Customers of old at some times: what is drawn of one hangs on its key and its time.
    fn items(&self, times: &[i64]) -> ItemRows {
        let mut items = Vec::new();
        for (node, row) in (0u32..).zip(&self.rows).filter(|(_, row)| row.kind == "customer" && row.id % 10 == 0) {
            items.extend(times.iter().map(|&time| TimedItem {
                number: key(&[u64::from(row.id), time as u64]),
                node,
                time,
            }));
        }
        ItemRows::new(Arc::clone(&self.graph), items).unwrap()
    }

    /// Items with classes, and what they bring, split in turns.
    fn data(&self, times: &[i64], own: bool) -> (GraphData, Split) {
        let rows = self.items(times);
        let n = rows.len();
        let labels = (0..n as u32).map(|item| Some((item / 2) % 3)).collect();
        let features = match own {
            true => Features::dense(2, (0..2 * n).map(|at| (at as f32 * 0.7).sin()).collect()).unwrap(),
            false => Features::None,
        };
        let data = GraphData::new(Graph::from_edges(n, &[]), features, labels, 3).unwrap().with_rows(rows).unwrap();
        let part = |part: u32| (0..n as u32).filter(|item| item % 4 == part).collect::<Vec<u32>>();
        let train = (0..n as u32).filter(|item| item % 4 < 2).collect();
        (data, Split { train, val: part(2), test: part(3) })
    }
}

fn job(model: &str) -> Job {
    Job::new(model).with("hidden", 5).with("seed", 3).with("epochs", 2).with("batch_nodes", 8).with("dropout", 0.2)
}

fn run(data: &(GraphData, Split), start: Option<&Saved>, job: &Job) -> Result<Outcome, TrainError> {
    let options = TrainOptions { keep_embeddings: true, ..job.resolve().unwrap() };
    crate::train(Place::Cpu, Items::Nodes(&data.0, &data.1), start, &options, &Unmonitored, &mut |_| {})
}

const TYPED: [&str; 4] = ["r_graphsage", "r_gcn", "r_gat", "hgt"];

/// The jobs of typed models, and one whose hidden layers are wider than the rows of a type: its first layer reads the features
/// themselves.
fn typed() -> Vec<Job> {
    let mut jobs: Vec<Job> = TYPED.map(job).to_vec();
    jobs.push(job("r_graphsage").with("hidden", 24));
    jobs
}

#[test]
fn rows_that_are_later_than_an_item_change_no_bit_of_its_output() {
    for seed in 0..6 {
        let rows = database(seed);
        let (before, after) = (Database::new(&rows), Database::new(&other_future(&rows, seed)));
        assert_ne!(before.edges, after.edges);
        let times = [2, 4, LAST];
        for job in typed().into_iter().chain(["gcn", "graphsage", "gat", "mlp"].map(job)) {
            for (fanout, order) in [(Some("2"), "uniform"), (Some("3"), "latest"), (None, "uniform")] {
                let job = job.clone().with("fanout_order", order).with("normalize", "standard");
                let job = fanout.iter().fold(job, |job, fanout| job.with("fanout", *fanout));
                let [a, b] = [&before, &after].map(|database| run(&database.data(&times, true), None, &job).unwrap());
                assert!(a.logits == b.logits, "{job:?}, seed {seed}");
                assert!(a.weights == b.weights && a.val == b.val && a.embeddings == b.embeddings, "{job:?}");
            }
        }
        // An earlier row is seen: the test above can fail.
        let mut earlier = rows.clone();
        earlier.iter_mut().filter(|row| row.kind == "order").for_each(|row| row.features[0] += 1.0);
        let logits =
            |rows: &[Row]| run(&Database::new(rows).data(&times, true), None, &job("r_graphsage")).unwrap().logits;
        assert_ne!(logits(&rows), logits(&earlier));
    }
}

#[test]
fn an_output_hangs_on_what_its_own_time_shows_and_not_on_the_other_items() {
    let rows = database(7);
    let whole = Database::new(&rows);
    let trained = run(&whole.data(&[2, 5], false), None, &job("r_graphsage")).unwrap();
    let saved = Saved::new(&trained.weights, serde_json::json!({"options": {"model": "r_graphsage"}}));
    let asked = job("r_graphsage").with("epochs", 0).with("load", "file");
    let logits = |database: &Database, times: &[i64]| {
        let outcome = run(&database.data(times, false), Some(&saved), &asked).unwrap();
        (0..5).map(|customer| outcome.logits.row(customer * times.len()).to_vec()).collect::<Vec<_>>()
    };
    // Beside later items, or alone; with everything later cut away, or there.
    let past: Vec<Row> = rows.iter().filter(|row| row.time <= 3).cloned().collect();
    let found = logits(&whole, &[3, 8]);
    assert_eq!(found, logits(&whole, &[3]));
    assert_eq!(found, logits(&Database::new(&past), &[3]));
    assert_ne!(found, logits(&whole, &[8]));
}

/// The database as a graph without items: customers are labelled, and nothing has a time.
fn plain(database: &Database) -> (GraphData, Split) {
    let (of_items, split) = database.data(&[NEVER], false);
    let (types, n) = (Arc::clone(&database.graph.types), database.rows.len());
    let features = crate::joined_features(types.of(), &database.graph.blocks).unwrap();
    let mut labels = vec![None; n];
    let nodes: Vec<u32> = of_items.rows.as_ref().unwrap().items.iter().map(|item| item.node).collect();
    nodes.iter().zip(of_items.labels()).for_each(|(&node, label)| labels[node as usize] = *label);
    let graph = Arc::clone(&database.graph.graph);
    let data = GraphData::new(graph, features, labels, 3).unwrap().with_types(types).unwrap();
    let of = |items: Vec<u32>| items.into_iter().map(|item| nodes[item as usize]).collect();
    (data, Split { train: of(split.train), val: of(split.val), test: of(split.test) })
}

#[test]
fn without_times_items_give_what_nodes_give() {
    let mut rows = database(11);
    rows.iter_mut().for_each(|row| row.time = ALWAYS);
    let database = Database::new(&rows);
    let (items, nodes) = (database.data(&[NEVER], false), plain(&database));
    let of_node: Vec<usize> = items.0.rows.as_ref().unwrap().items.iter().map(|item| item.node as usize).collect();
    for model in TYPED.into_iter().chain(["gcn", "graphsage"]) {
        let job = job(model).with("dropout", 0.0).with("epochs", 3).with("optimizer", "sgd").with("batch_nodes", 1000);
        let job = match model {
            "r_gat" => job.with("attention_dropout", 0.0),
            _ => job,
        };
        let (of_items, of_nodes) = (run(&items, None, &job).unwrap(), run(&nodes, None, &job).unwrap());
        for (a, b) in of_nodes.weights.iter().zip(&of_items.weights) {
            assert_eq!(a.0, b.0);
            let largest = a.1.values.iter().fold(1f32, |largest, x| largest.max(x.abs()));
            for (x, y) in a.1.values.iter().zip(&b.1.values) {
                assert!((x - y).abs() <= 1e-5 * largest, "{model} {}: {x} and {y}", a.0);
            }
        }
        // The same parameters give the same outputs, bit for bit: sums run in the order of the nodes. The first layer of
        // r_graphsage on items multiplies its weights first.
        let rounding = if model == "r_graphsage" { 1e-6 } else { 0.0 };
        let saved = Saved::new(&of_nodes.weights, serde_json::json!({"options": {"model": model}}));
        let asked = job.with("epochs", 0).with("load", "file");
        let (of_items, of_nodes) =
            (run(&items, Some(&saved), &asked).unwrap(), run(&nodes, Some(&saved), &asked).unwrap());
        for (item, &node) in of_node.iter().enumerate() {
            for (x, y) in of_items.logits.row(item).iter().zip(of_nodes.logits.row(node)) {
                assert!((x - y).abs() <= rounding * y.abs().max(1.0), "{model}: {x} and {y}");
            }
        }
    }
}

type Parameters = BTreeMap<String, Vec<Vec<f64>>>;

/// `x W + b` in `f64`.
fn times(x: &[f64], w: &[Vec<f64>]) -> Vec<f64> {
    (0..w[0].len()).map(|c| x.iter().zip(w).map(|(x, w)| x * w[c]).sum()).collect()
}

#[test]
fn without_a_limit_an_output_is_the_literal_one_on_what_was_there() {
    // Narrower than the rows of a type, and wider.
    for hidden in [5, 12] {
        literal(hidden);
    }
}

fn literal(hidden: i64) {
    let database = Database::new(&database(23));
    let data = database.data(&[1, 4, 8], true);
    let job = job("r_graphsage").with("normalize", "standard").with("relative_time", 3).with("lr", 0.05);
    let job = job.with("hidden", hidden);
    let outcome = run(&data, None, &job).unwrap();
    let parameters: Parameters = outcome
        .weights
        .iter()
        .map(|(name, matrix)| {
            let rows = matrix.values.chunks(matrix.columns).map(|row| row.iter().map(|x| f64::from(*x)).collect());
            (name.clone(), rows.collect())
        })
        .collect();
    let rows = data.0.rows.as_ref().unwrap();
    // Statistics over the rows up to the last training item's time, column by column, in their definition.
    let latest = data.1.train.iter().map(|&item| rows.items[item as usize].time).max().unwrap();
    let (mean, deviation) = (&parameters["features.mean"][0], &parameters["features.deviation"][0]);
    let mut start = 0;
    for kind in KINDS {
        let seen: Vec<&Row> = database.rows.iter().filter(|row| row.kind == kind && row.time <= latest).collect();
        let width = seen[0].features.len();
        for column in 0..width {
            let values: Vec<f64> = seen.iter().map(|row| f64::from(row.features[column])).collect();
            let average = values.iter().sum::<f64>() / values.len() as f64;
            let spread = values.iter().map(|x| (x - average).powi(2)).sum::<f64>() / values.len() as f64;
            assert!((mean[start + column] - average).abs() < 1e-6, "{kind} {column}");
            assert!((deviation[start + column] - spread.sqrt()).abs() < 1e-6, "{kind} {column}");
        }
        start += width;
    }
    let own_start = start;
    let names: Vec<String> = KINDS.map(str::to_owned).to_vec();
    let kind = |node: usize| names.iter().position(|name| name == database.rows[node].kind).unwrap();
    for (item, &TimedItem { node: root, time, .. }) in rows.items.iter().enumerate() {
        let there = |node: usize| database.rows[node].time <= time;
        let input = |node: usize| -> Vec<f64> {
            let row = &database.rows[node];
            let mut x = vec![0.0; own_start + 3 * 6 + 2];
            let first: usize = [2, 3, 2][..kind(node)].iter().sum();
            for (column, &value) in row.features.iter().enumerate() {
                x[first + column] = (f64::from(value) - mean[first + column]) / deviation[first + column];
            }
            if row.time != ALWAYS {
                let days = (time - row.time) as f64 / 2.0;
                for wave in 0..3 {
                    let angle = days / 10_000f64.powf(wave as f64 / 3.0);
                    let at = own_start + 6 * kind(node) + 2 * wave;
                    (x[at], x[at + 1]) = (angle.sin(), angle.cos());
                }
            }
            if node == root as usize {
                let crate::Features::Dense { values, .. } = data.0.features() else { panic!("dense") };
                for column in 0..2 {
                    let value = f64::from(values[2 * item + column]);
                    x[own_start + 18 + column] = (value - mean[own_start + column]) / deviation[own_start + column];
                }
            }
            x
        };
        let bias = |name: &str, node: usize| parameters[name][kind(node)].clone();
        let plus = |a: Vec<f64>, b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
        let layer = |h: &dyn Fn(usize) -> Vec<f64>, l: usize, node: usize| -> Vec<f64> {
            let own = &names[kind(node)];
            let mut z = plus(
                times(&h(node), &parameters[&format!("{l}.self.{own}.weight")]),
                &bias(&format!("{l}.bias"), node),
            );
            for (number, relation) in RELATIONS.iter().enumerate() {
                for inverse in [false, true] {
                    // Messages of an edge go from its source to its target, those of the inverse back.
                    let mut sources: Vec<usize> = Vec::new();
                    for &(from, to, name) in database.edges.iter().filter(|edge| edge.2 as usize == number) {
                        assert_eq!(name as usize, number);
                        let (source, target) = if inverse { (to, from) } else { (from, to) };
                        if target as usize == node && there(source as usize) {
                            sources.push(source as usize);
                        }
                    }
                    sources.sort_unstable();
                    sources.dedup();
                    if sources.is_empty() {
                        continue;
                    }
                    let mark = if inverse { "^" } else { "" };
                    let name = format!("{l}.{}>{mark}{relation}>{own}.weight", names[kind(sources[0])]);
                    let messages: Vec<Vec<f64>> = sources.iter().map(|&source| h(source)).collect();
                    let average: Vec<f64> = (0..messages[0].len())
                        .map(|c| messages.iter().map(|m| m[c]).sum::<f64>() / messages.len() as f64)
                        .collect();
                    z = plus(z, &times(&average, &parameters[&name]));
                }
            }
            z
        };
        let projected = |node: usize| plus(times(&input(node), &parameters["input.weight"]), &bias("input.bias", node));
        let hidden =
            |node: usize| -> Vec<f64> { layer(&projected, 0, node).into_iter().map(|z: f64| z.max(0.0)).collect() };
        let expected = layer(&hidden, 1, root as usize);
        for (found, expected) in outcome.logits.row(item).iter().zip(&expected) {
            assert!((f64::from(*found) - expected).abs() < 2e-5 * expected.abs().max(1.0), "{found} for {expected}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit_of_a_run_on_items() {
    let database = Database::new(&database(31));
    let data = database.data(&[1, 3, 5, 7, 9], true);
    for job in typed().into_iter().chain([job("gcn")]) {
        let job = job.with("fanout", "2").with("batch_nodes", 5);
        let found = [1, 4].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let outcome = pool.install(|| run(&data, None, &job)).unwrap();
            Outcome { train_seconds: 0.0, test_seconds: 0.0, peak_memory: 0, ..outcome }
        });
        assert!(found[0] == found[1], "{job:?}");
        let other = run(&data, None, &job.clone().with("seed", 4)).unwrap();
        assert!(found[0].logits != other.logits, "{job:?}");
    }
}

/// A host that refuses memory once, so many requests from now.
struct Refusing {
    left: AtomicIsize,
    bytes: AtomicIsize,
}

impl Monitor for Refusing {
    fn check(&self) -> Result<(), Stopped> {
        Ok(())
    }

    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(Stopped::OutOfMemory(format!("{bytes} bytes were refused")));
        }
        self.bytes.fetch_add(bytes as isize, Ordering::SeqCst);
        Ok(())
    }

    fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes as isize, Ordering::SeqCst);
    }
}

#[test]
fn a_step_that_finds_no_room_beside_another_is_made_after_it() {
    let database = Database::new(&database(31));
    let data = database.data(&[1, 3, 5, 7, 9], true);
    let options = job("r_graphsage").with("hidden", 24).with("batch_nodes", 5).resolve().unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let run = |left| {
        let host = Refusing { left: AtomicIsize::new(left), bytes: AtomicIsize::new(0) };
        let items = Items::Nodes(&data.0, &data.1);
        let train = || crate::train(Place::Cpu, items, None, &options, &host, &mut |_| {});
        let outcome = pool.install(train);
        assert_eq!(host.bytes.load(Ordering::SeqCst), 0);
        (outcome, isize::MAX - host.left.load(Ordering::SeqCst))
    };
    let (whole, requests) = run(isize::MAX);
    let logits = whole.unwrap().logits;
    let (mut refused, mut waited) = (0, 0);
    for left in (0..requests).step_by(3) {
        match run(left).0 {
            Ok(outcome) => {
                assert!(outcome.logits == logits);
                waited += 1;
            }
            Err(error) => {
                assert_eq!(error.status(), Some(crate::Status::OutOfMemory));
                refused += 1;
            }
        }
    }
    assert!(refused > 0 && waited > 0, "{refused} and {waited} of {requests}");
}

#[test]
fn a_number_is_learnt_from_how_long_ago_a_row_came() {
    // Each customer has one order, which differs from others by its time alone; the number is how long ago it came.
    let mut stream = Stream::new(41);
    let mut rows = vec![Row { features: vec![0.0; 2], ..row("product", 0, ALWAYS, &mut stream) }];
    for id in 0..80 {
        rows.push(Row { features: vec![1.0; 2], ..row("customer", 10 * id, ALWAYS, &mut stream) });
        let time = stream.below(LAST as usize + 1) as i64;
        let refers = vec![("bought_by", "customer", 10 * id)];
        rows.push(Row { features: vec![1.0; 3], refers, ..row("order", id, time, &mut stream) });
    }
    let database = Database::new(&rows);
    let (data, split) = database.data(&[LAST], false);
    let ago = |item: &TimedItem| {
        let order = database.edges.iter().find(|edge| edge.1 == item.node).unwrap();
        (LAST - database.rows[order.0 as usize].time) as f64
    };
    let targets = Targets::Values(data.rows.as_ref().unwrap().items.iter().map(|item| Some(ago(item))).collect());
    let job = Job::new("r_graphsage").with("task", "node_regression").with("hidden", 16).with("dropout", 0.0);
    let job = job.with("epochs", 300).with("lr", 0.02).with("batch_nodes", 100).with("weight_decay", 0.0);
    let items = Items::NodeValues(&data, &targets, &split);
    let train =
        |job: &Job| crate::train(Place::Cpu, items, None, &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap();
    // Without the code of time nothing says when the orders were.
    let [known, unknown] = [8, 0].map(|waves| train(&job.clone().with("relative_time", waves)).test);
    assert!(known.rmse.is_some() && known.r2.unwrap() > 0.9, "{known:?}");
    assert!(known.mae.unwrap() < 0.3 * unknown.mae.unwrap() && unknown.r2.unwrap() < 0.1, "{known:?}, {unknown:?}");
}

#[test]
fn parameters_and_scale_are_saved_and_score_new_items() {
    let database = Database::new(&database(53));
    let job = job("r_graphsage").with("normalize", "standard");
    let trained = run(&database.data(&[2, 4, 6], true), None, &job).unwrap();
    let saved = Saved::new(&trained.weights, serde_json::json!({"options": job.resolve().unwrap()}));
    let asked = job.clone().with("epochs", 0).with("load", "file");
    let again = run(&database.data(&[2, 4, 6], true), Some(&saved), &asked).unwrap();
    assert_eq!(again.logits, trained.logits, "the same bits");
    let later = run(&database.data(&[8], true), Some(&saved), &asked).unwrap();
    assert_eq!(later.logits.values.len(), 5 * 3);
    let error = run(&database.data(&[8], true), Some(&saved), &asked.clone().with("normalize", "none"));
    assert!(error.unwrap_err().to_string().contains("have normalize standard, the job has none"));
    let error = run(&database.data(&[8], false), Some(&saved), &asked).unwrap_err().to_string();
    assert!(error.contains("7 features, where the saved run was trained on 9"), "{error}");
}

#[test]
fn what_would_know_the_future_or_more_than_neighbourhoods_is_refused() {
    let database = Database::new(&database(61));
    let data = database.data(&[4], false);
    let error = |job: Job| run(&data, None, &job).unwrap_err().to_string();
    for (name, value, says) in [
        ("features", "identity", "features is `identity`; valid: auto, given for items of a graph"),
        ("featureless", "neighbor_mean", "featureless is `neighbor_mean`; valid: NULL for items of a graph"),
        ("normalize", "row", "normalize is `row`; valid: none, standard"),
        ("encodings", "degree", "encodings is `degree`; valid: NULL for items of a graph"),
    ] {
        let error = error(job("r_graphsage").with(name, value));
        assert!(error.contains(says), "{error}");
    }
    assert!(error(job("gcn").with("adjacency", "arcs")).contains("adjacency is `arcs`; valid: edges"));
    let without = Job::new("han").with("hidden", 5);
    assert!(error(without).contains("model is `han`; valid: mlp, "));
    assert!(error(Job::new("r_graphsage")).contains("batch_nodes is `NULL`; valid: a number"));
}
