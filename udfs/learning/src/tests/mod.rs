//! Tests that take the whole crate: models against references, and runs.

mod degenerate;
mod encodings;
pub(crate) mod equations;
mod foundation;
mod gradients;
pub(crate) mod graphs;
mod items;
mod label_rate;
pub(crate) mod links;
mod node_values;
mod objectives;
mod population;
mod products;
mod sampled;
mod steps;
mod together;
mod training;
pub(crate) mod typed;
mod weights;

use std::sync::Arc;

use bonnet_graph::{Digraph, Graph, Monitor, Reservation, Unmonitored};

use crate::data::{Features, SparseRows};
use crate::ground::padded;
use crate::ground::random::{Stream, key};
use crate::kernels::RowSet;
use crate::kernels::loss::nll_gradient;
use crate::models::Problem;
use crate::network::{Messages, Model, Pass, Relations, Scope};
use crate::program::Program;
use crate::training::Training;
use crate::{
    EpochRecord, GraphData, Items, Job, Outcome, Place, Split, SplitScheme, TrainError, TrainOptions, Value, model,
};

/// Every model, with hyperparameters that exercise padding and several heads.
pub(crate) fn jobs() -> Vec<Job> {
    let mut jobs = fused_jobs();
    jobs.extend(program_jobs());
    // Operators that are not their own transposes.
    for model in ["gcn", "appnp", "hgnn"] {
        let mut walk = Job::new(model).with("hidden", 5).with("dropout", 0.3).with("seed", 3);
        walk.set("affinity", "random_walk");
        jobs.push(walk);
    }
    // Averages in other tangent spaces, and by attention.
    for (model, own) in [
        ("hgcn", &[("attention", "true")][..]),
        ("hgcn", &[("local", "true"), ("attention", "true"), ("manifold", "poincare")]),
        ("hgcn", &[("local", "true")]),
        ("hybonet", &[("attention", "true")]),
    ] {
        let mut job = Job::new(model).with("hidden", 5).with("dropout", 0.3).with("seed", 3);
        own.iter().for_each(|(name, value)| job.set(name, *value));
        jobs.push(job);
    }
    jobs
}

/// Variants of models whose options name the width.
fn factored_jobs() -> Vec<Job> {
    let job = |model: &str| Job::new(model).with("hidden", 5).with("dropout", 0.3).with("seed", 3);
    let cusp = |factors: &str| job("cusp").with("hops", 3).with("factors", factors);
    // One factor of each sign, and one filter alone.
    let in_heads = |model: &str| job(model).with("hidden", 6).with("heads", 2).with("hops", 3);
    vec![
        cusp("H2,E1,S2"),
        cusp("S3,H2").with("bank", "false"),
        job("hgnn").with("manifold", "poincare"),
        in_heads("nagphormer"),
        in_heads("polyformer").with("basis", "chebyshev").with("expansion", 2.5),
        in_heads("polyformer").with("basis", "bernstein").with("order_decay", 0.0),
    ]
}

/// Models along arcs: their operators have rows that are not their columns. For data with arcs.
pub(crate) fn directed_jobs() -> Vec<Job> {
    let arcs = |model| Job::new(model).with("hidden", 5).with("dropout", 0.3).with("seed", 3).with("adjacency", "arcs");
    ["gcn", "gat", "appnp", "mixhop", "unimp", "hat", "hgcn"].map(arcs).into()
}

/// The models of [`crate::program`].
fn program_jobs() -> Vec<Job> {
    let fused: Vec<String> = fused_jobs().into_iter().map(|job| job.model).collect();
    let names = crate::models::registry::graph_models()
        // What is solved for has no steps, and no dropout.
        .filter(|spec| !spec.is_solved())
        .map(|spec| spec.name)
        .filter(|name| !fused.iter().any(|fused| fused == name));
    // Sums over neighbours drive relu hard, and the last layer of nagphormer has half as many units: few might all be dead.
    let hidden = |name: &str| if ["gin", "linkx", "nagphormer", "graphtrans", "goat"].contains(&name) { 13 } else { 5 };
    // The filter bank of cusp grows as the square of its hops; tokens of many hops are the same for all nodes.
    let few = |name: &str| ["cusp", "polyformer"].contains(&name);
    let job = |name: &str| match name {
        name if few(name) => Job::new(name).with("hops", 3),
        // Two metapaths: the weight of one alone is 1.
        "han" => Job::new(name).with("metapaths", "node>node,node>node>node"),
        // Two samples, and all kinds of pairs.
        "gophormer" => Job::new(name).with("heads", 1).with("length", 6).with("samples", 2).with("lr", 0.01),
        "goat" => Job::new(name).with("hops", 2).with("centroids", 5).with("codebook_width", 6).with("lr", 0.01),
        "graphtrans" => Job::new(name).with("graph_layers", 1).with("heads", 1).with("layers", 2).with("lr", 0.01),
        "shgn" | "h2g_former" => Job::new(name).with("heads", 2).with("lr", 0.01),
        // Pairs of all members of a sequence are many.
        "hinormer" => Job::new(name).with("heads", 1).with("length", 6).with("lr", 0.01),
        name => Job::new(name),
    };
    names.map(|name| job(name).with("hidden", hidden(name)).with("dropout", 0.3).with("seed", 3)).collect()
}

/// The job with so many layers; none where the model has another number alone.
fn with_layers(job: &Job, layers: i64) -> Option<Job> {
    let (data, job) = (planted(10, true), job.clone().with("layers", layers));
    let options = job.resolve().unwrap();
    let features = Arc::clone(&data.features);
    let known_labels = Arc::new([]);
    let graph = Messages::from(&data.graph);
    let problem = Problem {
        graph,
        arcs: None,
        features,
        n_outputs: 3,
        known_labels,
        options: options.of_model(),
        types: None,
        complexes: None,
        device: false,
    };
    let built = (model(&job.model).unwrap().build)(&problem, &mut Reservation::new(&Unmonitored, 0).unwrap());
    built.is_ok().then_some(job)
}

/// The models whose layers have variants for several shapes.
fn fused_jobs() -> Vec<Job> {
    ["mlp", "gcn", "graphsage", "gat", "gat", "graphsage"]
        .into_iter()
        .enumerate()
        .map(|(i, name)| {
            let mut job = Job::new(name).with("hidden", 5).with("dropout", 0.3).with("seed", 3);
            if i == 5 {
                // Wide enough for other tiles of the kernels.
                job.set("hidden", 34);
            }
            if name == "gat" {
                let heads =
                    if i == 3 { [("heads", 2), ("output_heads", 3)] } else { [("heads", 8), ("output_heads", 1)] };
                job.options.extend(heads.map(|(name, k)| (name.to_string(), Value::Integer(k))));
                job.set("attention_dropout", 0.2);
            }
            job
        })
        .collect()
}

/// Three classes (every seventh node unlabelled), edges mostly within a class, features that hint at it.
pub(crate) fn planted(n: usize, sparse: bool) -> GraphData {
    let mut stream = Stream::new(key(&[n as u64]));
    let mut edges = Vec::new();
    for v in 0..n {
        for _ in 0..3 {
            let u = stream.below(n);
            let u = if stream.uniform() < 0.8 { u - u % 3 + v % 3 } else { u };
            edges.push((v as u32, u.min(n - 1) as u32));
        }
    }
    const COLUMNS: usize = 20;
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for v in 0..n {
        for c in 0..COLUMNS {
            if stream.uniform() < if c % 3 == v % 3 { 0.4 } else { 0.2 } {
                columns.push(c as u32);
                let sign = if (c % 3 == v % 3) == (stream.uniform() < 0.8) { 1.0 } else { -1.0 };
                values.push((sign * (0.5 + stream.uniform())) as f32);
            }
        }
        offsets.push(columns.len());
    }
    let features = if sparse {
        Features::Sparse(SparseRows::new(COLUMNS, offsets, columns, values).unwrap())
    } else {
        let mut dense = vec![0.0; n * COLUMNS];
        for v in 0..n {
            for e in offsets[v]..offsets[v + 1] {
                dense[v * COLUMNS + columns[e] as usize] = values[e];
            }
        }
        Features::dense(COLUMNS, dense).unwrap()
    };
    let labels = (0..n).map(|v| (v % 7 != 6).then_some((v % 3) as u32)).collect();
    let data = GraphData::new(Graph::from_edges(n, &edges), features, labels, 3).unwrap();
    data.with_arcs(Digraph::from_arcs(n, &edges)).unwrap()
}

/// A run on labelled nodes.
fn train_nodes(
    data: &GraphData,
    split: &Split,
    options: &TrainOptions,
    monitor: &dyn Monitor,
    observe: &mut dyn FnMut(&EpochRecord),
) -> Result<Outcome, TrainError> {
    crate::train(Place::Cpu, Items::Nodes(data, split), None, options, monitor, observe)
}

/// A run whose index structures hold every row.
fn train_whole(items: Items<'_>, options: &TrainOptions) -> Outcome {
    let observe = &mut |_: &EpochRecord| {};
    let (device, start, pruned, monitor) = (None, None, false, &Unmonitored);
    Training { device, items, start, options, pruned, monitor, observe }.run().unwrap()
}

pub(crate) fn split(data: &GraphData) -> Split {
    "random:60/20/20".parse::<SplitScheme>().unwrap().split(data, 1).unwrap()
}

/// A model with everything that a pass needs.
struct Bench {
    model: Program,
    scope: Scope,
    /// The nodes of the loss: the targets that the model is not told.
    asked: RowSet,
    labels: Vec<u32>,
    n_classes: usize,
}

impl Bench {
    fn new(data: &GraphData, options: &TrainOptions, train: &[u32]) -> Self {
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let weights = data.weights.as_deref();
        let messages =
            crate::training::messages(&data.graph, data.arcs.as_ref(), weights, options, &mut reservation).unwrap();
        Self::with_messages(data, messages, options, train)
    }

    /// Messages along other edges than those of the graph.
    fn with_messages(data: &GraphData, graph: Messages, options: &TrainOptions, train: &[u32]) -> Self {
        let features = Arc::clone(&data.features);
        let known_labels = train.iter().filter_map(|&v| Some((v, data.labels[v as usize]?))).collect();
        let (arcs, n_outputs) = (data.arcs.clone(), data.n_classes);
        let types = data.types.as_ref().map(|types| Arc::new(Relations::new(types, &data.graph)));
        let problem = Problem {
            graph,
            arcs,
            features,
            n_outputs,
            known_labels,
            options: options.of_model(),
            types,
            complexes: None,
            device: false,
        };
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let model = (model(&options.model).unwrap().build)(&problem, &mut reservation).unwrap();
        let scope = model.scope(train, true, true, &mut reservation).unwrap();
        let labels = data.labels.iter().map(|label| label.unwrap_or(u32::MAX)).collect();
        let given = model.label_inputs(Pass::Train { epoch: 1 });
        let asked = train.iter().copied().filter(|v| !given.contains(v)).collect();
        let asked = RowSet::new(data.graph.n_nodes(), asked);
        Self { model, scope, asked, labels, n_classes: data.n_classes }
    }

    /// Loss and gradient of the first epoch's pass, dropout included.
    fn gradient(&mut self, parameters: &[f32]) -> (f64, Vec<f32>) {
        let loss = self.loss(parameters);
        let mut gradient = vec![f32::NAN; parameters.len()];
        let pass = Pass::Train { epoch: 1 };
        self.model.backward(&self.scope, parameters, pass, &mut gradient, &Unmonitored).unwrap();
        (loss, gradient)
    }

    fn loss(&mut self, parameters: &[f32]) -> f64 {
        self.model.forward(&self.scope, parameters, Pass::Train { epoch: 1 }, &Unmonitored).unwrap();
        let (outputs, d_outputs) = self.model.outputs_and_gradient();
        let (stride, classes) = (padded(self.n_classes), self.n_classes);
        // What a pass is given it is not asked for.
        d_outputs.fill(0.0);
        let asked = &self.asked;
        let loss = nll_gradient(asked, outputs, stride, classes, &self.labels, d_outputs, &Unmonitored).unwrap();
        loss + self.model.penalty()
    }
}

/// Initial parameters with biases off zero, so that nothing sits on a kink, and statistics off what they start with.
fn parameters(bench: &Bench) -> Vec<f32> {
    let mut parameters = bench.model.layout().initialise(5);
    let mut stream = Stream::new(9);
    let shifts = |name: &str| name.ends_with("bias") || name.ends_with("relation");
    for block in bench.model.layout().blocks().iter().filter(|block| shifts(&block.name)) {
        for at in block.positions() {
            parameters[at] = (stream.uniform() * 0.4 - 0.1) as f32;
        }
    }
    for block in bench.model.layout().blocks().iter().filter(|block| block.statistic) {
        block.positions().for_each(|at| parameters[at] += (stream.uniform() * 0.4) as f32);
    }
    parameters
}
