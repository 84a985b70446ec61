use super::equations::definition::check_slopes;
use super::*;

#[test]
fn every_parameter_receives_a_gradient_and_padding_receives_none() {
    let mut faults = Vec::new();
    for sparse in [true, false] {
        let data = planted(300, sparse);
        let train = split(&data).train;
        for layers in 1..=3 {
            for job in jobs().iter().filter_map(|job| with_layers(job, layers)) {
                let mut bench = Bench::new(&data, &job.resolve().unwrap(), &train);
                let parameters = parameters(&bench);
                let (_, gradient) = bench.gradient(&parameters);
                let mut real = vec![false; gradient.len()];
                for block in bench.model.layout().blocks() {
                    let (name, model) = (&block.name, &job.model);
                    if block.statistic {
                        // No slope: what it moves by. It is 0 where no row is near.
                        block.positions().for_each(|at| real[at] = true);
                        continue;
                    }
                    let (mut count, mut zeros) = (0, 0);
                    for at in block.positions() {
                        real[at] = true;
                        assert!(gradient[at].is_finite(), "{model} with {layers} layers: {name} has {}", gradient[at]);
                        (count, zeros) = (count + 1, zeros + usize::from(gradient[at] == 0.0));
                    }
                    // Sums over neighbours drive relu hard, and among many units (of several experts) some are dead for every
                    // node.
                    let wide = *job.get("hidden") == Value::Integer(34);
                    let driven = [
                        "gin",
                        "linkx",
                        "acm_gcn",
                        "glognn",
                        "graphmore",
                        "nagphormer",
                        "polyformer",
                        "graphtrans",
                        "goat",
                    ]
                    .contains(&model.as_str());
                    // A class is given at few nodes, in front of a rectifier.
                    let dead = if wide || driven || name == "input.labels" { count / 2 } else { 0 };
                    // What is the same in all scores of a row changes no coefficient: its gradient is rounding. In h2g_former
                    // a key meets the weights of two relations, in hybonet scores are distances.
                    let rounding = name.ends_with("key.bias") && !["h2g_former", "hybonet"].contains(&model.as_str());
                    if rounding {
                        let of = |name: &str| {
                            let block = bench.model.layout().blocks().iter().find(|block| block.name == name);
                            block.unwrap().positions().map(|at| gradient[at].abs()).fold(0f32, f32::max)
                        };
                        let (own, queries) = (of(name), of(&name.replace("key.bias", "query.bias")));
                        if own > 1e-3 * queries + 1e-8 {
                            faults.push(format!(
                                "{model} with {layers} layers: {name} has {own:.1e} beside {queries:.1e}"
                            ));
                        }
                    }
                    // Without a layer of attention nothing reads the codes of types, and a known class is read by its own node
                    // alone, whose loss does not count.
                    let unread = layers == 1
                        && (name.starts_with("types.") || ["input.labels", "globals"].contains(&name.as_str()));
                    let enough = zeros <= dead || rounding || unread || name == "adjacency.0.weight";
                    if !enough {
                        faults.push(format!(
                            "{model} with {layers} layers: {zeros} of {count} gradients of {name} are 0"
                        ));
                    }
                    if block.name == "adjacency.0.weight" {
                        // A row a node: none but those that a training node is joined to, and of these nearly all.
                        let rows = gradient[block.range()].chunks(block.columns.stride());
                        let (mut joined, mut moved) = (0, 0);
                        for (node, row) in rows.enumerate() {
                            let near = train.iter().any(|&v| data.graph.has_edge(v, node as u32));
                            let moves = row.iter().any(|g| *g != 0.0);
                            assert!(near || !moves, "node {node}");
                            (joined, moved) = (joined + usize::from(near), moved + usize::from(moves));
                        }
                        assert!(moved * 10 > joined * 9, "{moved} of {joined}");
                    }
                }
                assert!(gradient.iter().zip(&real).all(|(g, real)| *real || *g == 0.0), "{}: padding moves", job.model);
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The models whose gradients are held to differences in f64 alone.
const IN_DOUBLES: [&str; 5] = ["graphtrans", "gophormer", "goat", "unified_gt", "h2g_former"];

#[test]
fn directional_finite_differences_agree_block_by_block() {
    let data = planted(300, true);
    let train = split(&data).train;
    for job in jobs() {
        let job = without_constants(with_layers(&job, 3).unwrap_or(job));
        // These take longest, and those of graphtrans move many rows at once, beside rectifiers: differences in f64 are below.
        if !IN_DOUBLES.contains(&job.model.as_str()) {
            check_directions(&mut Bench::new(&data, &job.resolve().unwrap(), &train), &job.model);
        }
    }
}

#[test]
fn finite_differences_of_the_definitions_agree_far_more_closely() {
    let data = planted(60, true);
    let train = split(&data).train;
    for model in IN_DOUBLES.into_iter().chain(["nagphormer", "r_graphsage", "gat", "gcn"]) {
        for job in jobs().into_iter().filter(|job| job.model == model) {
            let options = without_constants(with_layers(&job, 3).unwrap_or(job)).resolve().unwrap();
            let (mut bench, other) = (Bench::new(&data, &options, &train), Bench::new(&data, &options, &train));
            check_slopes(&mut bench, other.model, model);
        }
    }
}

/// The job without a penalty of which a part is taken for a constant: no difference of losses has its slope.
pub(super) fn without_constants(job: Job) -> Job {
    if job.model == "gophormer" { job.with("consistency", 0.0) } else { job }
}

/// The gradient of every block against finite differences of the loss.
pub(super) fn check_directions(bench: &mut Bench, model: &str) {
    let parameters = parameters(bench);
    let (_, gradient) = bench.gradient(&parameters);
    let blocks = bench.model.layout().blocks().to_vec();
    for (number, block) in blocks.iter().enumerate().filter(|(_, block)| !block.statistic) {
        let mut stream = Stream::new(number as u64);
        let mut direction = vec![0f64; parameters.len()];
        // Along the gradient plus noise: a slope that is not lost in the rounding of the loss.
        let norm = block.positions().map(|at| f64::from(gradient[at]).powi(2)).sum::<f64>().sqrt();
        if norm == 0.0 {
            // No output depends on it: weights of a type, or of a relation, that none of them sees.
            continue;
        }
        let count = (block.rows.len() * block.columns.len()) as f64;
        for at in block.positions() {
            direction[at] = f64::from(gradient[at]) / norm + 0.3 * stream.normal() / count.sqrt();
        }
        let slope: f64 = direction.iter().zip(&gradient).map(|(d, g)| d * f64::from(*g)).sum();
        let mut at = |h: f64| {
            let moved: Vec<f32> =
                parameters.iter().zip(&direction).map(|(p, d)| (f64::from(*p) + h * d) as f32).collect();
            bench.loss(&moved)
        };
        let error = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4]
            .into_iter()
            .map(|h| (((at(h) - at(-h)) / (2.0 * h) - slope) / slope).abs())
            .fold(f64::INFINITY, f64::min);
        // What moves many rows at once meets many kinks.
        let kinks = ["source", "target", "scale", "edge.embedding", "edge.weight", "attention"]
            .iter()
            .any(|name| block.name.ends_with(name));
        let tolerance = match model {
            // Rows that batch normalisation moves together, a few of them.
            "cellmp" => 5e-2,
            // Slopes of 1e-4, beside the rounding of the loss.
            "nagphormer" => 2e-2,
            "gin" | "linkx" | "acm_gcn" => 2e-2,
            // Rows of all nodes, in front of rectifiers: a hundred times closer in f64, below.
            "goat" => 1e-2,
            // A bias of all nodes of a type, in front of rectifiers.
            _ if ["input.bias", "input.labels"].contains(&block.name.as_str()) => 5e-2,
            _ if kinks => 2e-2,
            _ => 5e-3,
        };
        // A slope near 0 is lost in the rounding of the loss.
        // Keys that all move alike change no coefficient: what is left is rounding, over all pairs of nodes.
        let lost = if block.name.ends_with("key.bias") && slope.abs() < 1e-7 { 1e-5 } else { 1e-6 };
        let fits = error < tolerance || error * slope.abs() < lost;
        assert!(fits, "{model} {}: relative error {error:.1e} of {slope:.1e}", block.name);
    }
}

#[test]
fn sparse_and_dense_features_give_the_same_outputs_bit_for_bit() {
    let (sparse, dense) = (planted(300, true), planted(300, false));
    let train = split(&sparse).train;
    for job in jobs() {
        let options = job.resolve().unwrap();
        let outputs = |data: &GraphData| {
            let mut bench = Bench::new(data, &options, &train);
            let parameters = parameters(&bench);
            let loss = bench.loss(&parameters);
            (loss, bench.model.outputs().to_vec())
        };
        assert!(outputs(&sparse) == outputs(&dense), "{}", job.model);
    }
}
