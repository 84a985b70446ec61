//! The gradient of every task through a model and the task's own parameters.

use super::*;
use crate::network::zeros;
use crate::tasks::{GraphObjective, LinkObjective, NodeObjective, NodeValuesObjective, Objective, Outputs, Step};
use crate::{GraphSet, LinkSplit, Shares, Targets};

/// Loss and gradient by all parameters, and the directional derivative of the loss against finite differences.
fn check(what: &str, graph: &Arc<Graph>, features: &Arc<Features>, options: &TrainOptions, task: &mut dyn Objective) {
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let problem = Problem {
        graph: Messages::from(graph),
        arcs: None,
        features: Arc::clone(features),
        n_outputs: task.n_outputs(),
        known_labels: task.known_labels().into(),
        options: options.of_model(),
        types: None,
        complexes: None,
        device: false,
    };
    let mut net = (model(&options.model).unwrap().build)(&problem, &mut reservation).unwrap();
    task.begin(1);
    let of_model = net.layout().stored();
    let stored = of_model + task.head().stored();
    let mut parameters = net.layout().initialise(5);
    parameters.extend(task.head().initialise(6));
    // Biases start at 0, where a node without features has no direction, and so no cosine.
    let mut noise = Stream::new(7);
    parameters.iter_mut().for_each(|p| *p += 0.1 * noise.normal() as f32);
    let batch = task.batches().len() - 1;
    let scope = net.scope(&task.batches()[batch], true, true, &mut reservation).unwrap();
    let pass = Pass::Train { epoch: 1 };
    let mut evaluate = |parameters: &[f32]| {
        let mut gradient = zeros(&mut reservation, stored).unwrap();
        let (nodes, head) = parameters.split_at(of_model);
        let (d_model, d_head) = gradient.split_at_mut(of_model);
        net.forward(&scope, nodes, pass, &Unmonitored).unwrap();
        let (outputs, d_nodes) = net.outputs_and_gradient();
        let step = Step { outputs: Outputs { nodes: outputs, head }, label_inputs: &[], d_nodes, d_head };
        let loss = task.train(batch, step, &Unmonitored).unwrap();
        net.backward(&scope, nodes, pass, d_model, &Unmonitored).unwrap();
        (loss, gradient)
    };
    let (_, gradient) = evaluate(&parameters);
    // In the parts of the model and of the task apart.
    for part in [0..of_model, of_model..stored] {
        if part.is_empty() {
            continue;
        }
        let norm = gradient[part.clone()].iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        assert!(norm > 0.0, "{what}: no gradient");
        let mut stream = Stream::new(3);
        let mut direction = vec![0f64; stored];
        for at in part.filter(|&at| gradient[at] != 0.0) {
            direction[at] = f64::from(gradient[at]) / norm * (1.0 + 0.5 * stream.normal());
        }
        let slope: f64 = direction.iter().zip(&gradient).map(|(d, g)| d * f64::from(*g)).sum();
        let mut at = |h: f64| {
            let moved: Vec<f32> =
                parameters.iter().zip(&direction).map(|(p, d)| (f64::from(*p) + h * d) as f32).collect();
            evaluate(&moved).0
        };
        let error = [1e-2, 3e-3, 1e-3, 3e-4]
            .into_iter()
            .map(|h| (((at(h) - at(-h)) / (2.0 * h) - slope) / slope).abs())
            .fold(f64::INFINITY, f64::min);
        assert!(error < 5e-3, "{what}: relative error {error:.1e}");
    }
}

/// 30 graphs of 4 to 8 nodes out of the planted graph, without the edges between them.
pub(super) fn many(targets: impl Fn(usize) -> Targets) -> GraphSet {
    let data = planted(180, true);
    let mut starts = vec![0u32];
    (0..30).for_each(|g| starts.push(starts[g] + 4 + (g as u32 * 7) % 5));
    let n = starts[30] as usize;
    let of = |v: u32| starts.partition_point(|&start| start <= v);
    let edges: Vec<_> = data.graph.edges().filter(|&(u, v)| (v as usize) < n && of(u) == of(v)).collect();
    let extra: Vec<_> = (0..n as u32 - 1).map(|v| (v, v + 1)).filter(|&(u, v)| of(u) == of(v)).collect();
    let Features::Sparse(rows) = data.features() else { panic!("planted features are sparse") };
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for v in 0..n {
        let (c, x) = rows.row(v);
        columns.extend_from_slice(c);
        values.extend_from_slice(x);
        offsets.push(columns.len());
    }
    let features = Features::Sparse(SparseRows::new(rows.n_columns(), offsets, columns, values).unwrap());
    GraphSet::new(Graph::from_edges(n, &[edges, extra].concat()), features, starts, targets(30)).unwrap()
}

#[test]
fn the_gradient_of_every_task_agrees_with_finite_differences() {
    // Every model has its own gradients checked elsewhere; what is new here is the task.
    for mut job in jobs().into_iter().filter(|job| ["mlp", "gcn", "graphsage", "gat"].contains(&job.model.as_str())) {
        job.set("dropout", 0.1);
        let name = job.model.clone();
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let options = |task: &str, more: &[(&str, Value)]| {
            let mut job = job.clone().with("task", task);
            job.options.extend(more.iter().map(|(name, value)| (name.to_string(), value.clone())));
            job.resolve().unwrap()
        };

        let data = planted(200, true);
        let nodes = options("node_classification", &[("class_weights", Value::Text("balanced".into()))]);
        let parts = split(&data);
        let mut task = NodeObjective::new(&data, &parts, &nodes, &mut reservation).unwrap();
        check(&format!("{name}, nodes"), &data.graph, &data.features, &nodes, &mut task);

        let numbers = Targets::Values((0..200).map(|v| Some(f64::from(v % 11) / 10.0)).collect());
        let values = options("node_regression", &[("batch_nodes", Value::Integer(50))]);
        let mut task = NodeValuesObjective::new(&data, &numbers, &parts, &values, &mut reservation).unwrap();
        check(&format!("{name}, numbers of nodes"), &data.graph, &data.features, &values, &mut task);

        for decoder in ["inner_product", "cosine", "distance"] {
            let width = ("embedding", Value::Integer(6));
            let links = options("link_prediction", &[("decoder", Value::Text(decoder.into())), width]);
            let parts = LinkSplit::draw(&data.graph, Shares::new(85.0, 5.0, 10.0).unwrap(), 1, &Unmonitored).unwrap();
            let graph = Arc::new(Graph::from_edges(200, &parts.train));
            let mut task = LinkObjective::new(&graph, &parts, &links, &mut reservation).unwrap();
            check(&format!("{name}, links, {decoder}"), &graph, &data.features, &links, &mut task);
        }

        let classes = many(|n| Targets::Classes((0..n).map(|g| Some(g as u32 % 3)).collect(), 3));
        let values = many(|n| Targets::Values((0..n).map(|g| Some(g as f64 / 10.0)).collect()));
        for (set, task, pooling, dropped) in
            [(&classes, "graph_classification", "mean", 0.0), (&values, "graph_regression", "sum", 0.4)]
        {
            let more = [("pooling", Value::Text(pooling.into())), ("head_dropout", Value::Real(dropped))];
            let sizes = [("batch", Value::Integer(7)), ("embedding", Value::Integer(9))];
            let graphs = options(task, &[more, sizes].concat());
            let parts = set.split("random:60/20/20".parse().unwrap(), 1).unwrap();
            let mut objective = GraphObjective::new(set, &parts, &graphs, &mut reservation).unwrap();
            check(&format!("{name}, {task}"), &set.graph, &set.features, &graphs, &mut objective);
        }
    }
}

#[test]
fn the_steps_of_an_epoch_cover_every_training_graph_once() {
    let set = many(|n| Targets::Classes((0..n).map(|g| Some(g as u32 % 3)).collect(), 3));
    let parts = set.split("random:60/20/20".parse().unwrap(), 1).unwrap();
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    for batch in [1, 7, 18, 100] {
        let job = Job::new("gcn").with("task", "graph_classification").with("batch", batch);
        let options = job.resolve().unwrap();
        let objective = GraphObjective::new(&set, &parts, &options, &mut reservation).unwrap();
        let batches = objective.batches();
        assert_eq!(batches.len(), 18usize.div_ceil(batch as usize));
        assert_eq!((0..batches.len()).map(|b| objective.batch_items(b)).sum::<usize>(), 18);
        let mut nodes = batches.concat();
        nodes.sort_unstable();
        assert_eq!(nodes, objective.nodes(&[crate::Part::Train]));
    }
}

#[test]
fn every_model_trains_on_every_task_that_it_lists() {
    use crate::{Items, train};
    let data = planted(60, true);
    let links = LinkSplit::draw(&data.graph, Shares::new(85.0, 5.0, 10.0).unwrap(), 1, &Unmonitored).unwrap();
    let classes = many(|n| Targets::Classes((0..n).map(|g| Some(g as u32 % 3)).collect(), 3));
    let values = many(|n| Targets::Values((0..n).map(|g| Some(g as f64 / 10.0)).collect()));
    let nodes = split(&data);
    let numbers = Targets::Values((0..60).map(|v| Some(f64::from(v % 7))).collect());
    let graphs = classes.split("random:60/20/20".parse().unwrap(), 1).unwrap();
    for spec in crate::models::registry::graph_models() {
        for &task in spec.tasks {
            let job = Job::new(spec.name).with("task", task).with("epochs", 3).with("hidden", 8);
            let options = TrainOptions { keep_embeddings: true, ..job.resolve().unwrap() };
            let items = match task {
                "node_classification" => Items::Nodes(&data, &nodes),
                "link_prediction" => Items::Links(&data, &links),
                "graph_classification" => Items::Graphs(&classes, &graphs),
                "node_regression" => Items::NodeValues(&data, &numbers, &nodes),
                _ => Items::Graphs(&values, &graphs),
            };
            let outcome = train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {});
            let outcome = outcome.unwrap_or_else(|error| panic!("{}, {task}: {error}", spec.name));
            assert!(outcome.logits.values.iter().all(|z| z.is_finite()), "{}, {task}", spec.name);
        }
    }
}
