//! Weights of edges in training.

use super::equations::literal::{Matrix, adjacency, beside, check_on, matrix, plus, relu, shift, symmetric, times};
use super::*;
use crate::EdgeWeights;
use crate::data::LinkSplit;

pub(super) fn weighted(data: GraphData, weight: impl Fn(u32, u32) -> f64) -> GraphData {
    let rows: Vec<(u32, u32, f64)> = data.graph.edges().map(|(u, v)| (u, v, weight(u, v))).collect();
    data.with_weights(EdgeWeights::new(rows.into_iter(), false).unwrap())
}

fn job(model: &str) -> Job {
    Job::new(model).with("hidden", 5).with("dropout", 0.3).with("seed", 3).with("epochs", 3)
}

fn models() -> Vec<&'static str> {
    let reads = |spec: &&crate::ModelSpec| spec.hyperparameters().any(|option| option.name == "weights");
    crate::models().iter().filter(reads).map(|spec| spec.name).collect()
}

fn run(items: Items<'_>, job: &Job) -> Result<Outcome, String> {
    let options = job.resolve().map_err(|error| error.to_string())?;
    crate::train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).map_err(|error| error.to_string())
}

#[test]
fn edges_of_weight_1_are_edges() {
    let data = weighted(planted(60, true), |_, _| 1.0);
    let parts = split(&data);
    let shares = crate::Shares::new(80.0, 10.0, 10.0).unwrap();
    let links = LinkSplit::draw(&data.graph, shares, 1, &Unmonitored).unwrap();
    assert!(models().len() >= 23, "{:?}", models());
    for model in models() {
        let with = job(model).with("weights", "true");
        let (a, b) = (run(Items::Nodes(&data, &parts), &job(model)), run(Items::Nodes(&data, &parts), &with));
        let (a, b) = (a.unwrap(), b.unwrap());
        assert!(a.logits == b.logits && a.weights == b.weights, "{model}");
        let spec = crate::model(model).unwrap();
        if spec.tasks.contains(&"link_prediction") {
            let of_links = |job: Job| run(Items::Links(&data, &links), &job.with("task", "link_prediction")).unwrap();
            assert_eq!(of_links(with).logits, of_links(job(model)).logits, "{model}");
        }
    }
    // Arcs have weights of their own: those of the edges turned round lead elsewhere.
    let arcs: Vec<(u32, u32, f64)> = data.arcs.as_ref().unwrap().arcs().map(|(u, v)| (u, v, 1.0)).collect();
    let of_arcs = data.clone().with_weights(EdgeWeights::new(arcs.into_iter(), true).unwrap());
    let along = job("gcn").with("adjacency", "arcs");
    let with = run(Items::Nodes(&of_arcs, &parts), &along.clone().with("weights", "true")).unwrap();
    assert_eq!(with.logits, run(Items::Nodes(&data, &parts), &along).unwrap().logits);
}

#[test]
fn messages_count_as_their_weights_say() {
    let weight = |u: u32, v: u32| f64::from((u * v + u + v) % 7) / 4.0;
    let matrix_of = |data: &GraphData| -> Matrix {
        let a = adjacency(data.graph(), false);
        matrix(a.len(), a.len(), |r, c| a[r][c] * weight(r as u32, c as u32))
    };
    let looped = |a: &Matrix| plus(1.0, a, 1.0, &matrix(a.len(), a.len(), |r, c| f64::from(u8::from(r == c))));
    let all: Vec<u32> = (0..50).collect();
    let job = |model: &str| Job::new(model).with("hidden", 5).with("seed", 3).with("weights", "true");
    check_on(&job("gcn"), weighted(planted(50, true), weight), &all, |case| {
        let p = symmetric(&looped(&matrix_of(&case.data)));
        let h = relu(&shift(&times(&p, &times(&case.x, case.parameter("0.weight"))), case.parameter("0.bias")));
        shift(&times(&p, &times(&h, case.parameter("1.weight"))), case.parameter("1.bias"))
    });
    check_on(&job("tag").with("layers", 1).with("hops", 1), weighted(planted(50, true), weight), &all, |case| {
        let p = symmetric(&matrix_of(&case.data));
        let z = times(&case.x, case.parameter("0.0.weight"));
        shift(&plus(1.0, &z, 1.0, &times(&p, &times(&case.x, case.parameter("0.1.weight")))), case.parameter("0.bias"))
    });
}

#[test]
fn filters_and_gates_count_weights_as_well() {
    let weight = |u: u32, v: u32| f64::from((u * v + u + v) % 7) / 4.0;
    let all: Vec<u32> = (0..50).collect();
    let of = |data: &GraphData| -> Matrix {
        let a = adjacency(data.graph(), false);
        matrix(a.len(), a.len(), |r, c| a[r][c] * weight(r as u32, c as u32))
    };
    let job = |model: &str| Job::new(model).with("hidden", 5).with("seed", 3).with("weights", "true");
    // Two filters of degree 1: theta_0 (I + S) / 2 + theta_1 (I - S) / 2.
    check_on(&job("bernnet").with("hops", 1), weighted(planted(50, true), weight), &all, |case| {
        let h = case.affine(&relu(&case.affine(&case.x, "0")), "1");
        let theta: Vec<f64> = case.parameter("theta")[0].iter().map(|theta| theta.max(0.0)).collect();
        let s = times(&symmetric(&of(&case.data)), &h);
        plus((theta[0] + theta[1]) / 2.0, &h, (theta[0] - theta[1]) / 2.0, &s)
    });
    check_on(&job("fagcn").with("layers", 1), weighted(planted(50, true), weight), &all, |case| {
        let h = relu(&case.affine(&case.x, "input"));
        let (target, source) = (times(&h, case.parameter("0.target")), times(&h, case.parameter("0.source")));
        let s = symmetric(&of(&case.data));
        let gates = matrix(s.len(), s.len(), |i, j| s[i][j] * (target[i][0] + source[j][0]).tanh());
        case.affine(&plus(0.3, &h, 1.0, &times(&gates, &h)), "output")
    });
}

#[test]
fn rings_and_rows_of_the_adjacency_have_weights() {
    let weight = |u: u32, v: u32| f64::from((u * v + u + v) % 7) / 4.0;
    let all: Vec<u32> = (0..50).collect();
    let job = |model: &str| Job::new(model).with("hidden", 5).with("seed", 3).with("weights", "true").with("layers", 1);
    let of = |a: &Matrix| matrix(a.len(), a.len(), |r, c| a[r][c] * weight(r as u32, c as u32));
    check_on(&job("h2gcn"), weighted(planted(50, true), weight), &all, |case| {
        let a = adjacency(case.data.graph(), false);
        let (n, two_steps) = (a.len(), times(&a, &a));
        let ring = matrix(n, n, |r, c| f64::from(u8::from(r != c && a[r][c] == 0.0 && two_steps[r][c] > 0.0)));
        let r = relu(&times(&case.x, case.parameter("embed.weight")));
        let parts = [r.clone(), times(&symmetric(&of(&a)), &r), times(&symmetric(&ring), &r)];
        times(&beside(&[&parts[0], &parts[1], &parts[2]]), case.parameter("classify.weight"))
    });
    // Along arcs a row holds those that lead away from its node.
    let arc = |u: u32, v: u32| f64::from((2 * u + v) % 5) - 1.5;
    let along = |data: GraphData| {
        let rows: Vec<(u32, u32, f64)> =
            data.arcs.iter().flat_map(|arcs| arcs.arcs()).map(|(u, v)| (u, v, arc(u, v))).collect();
        data.with_weights(EdgeWeights::new(rows.into_iter(), true).unwrap())
    };
    let linkx = |a: &Matrix, case: &crate::tests::equations::literal::Case| {
        let (h_a, h_x) = (case.affine(a, "adjacency.0"), case.affine(&case.x, "features.0"));
        let both = case.affine(&beside(&[&h_a, &h_x]), "join");
        case.affine(&relu(&plus(1.0, &plus(1.0, &both, 1.0, &h_a), 1.0, &h_x)), "0")
    };
    check_on(&job("linkx"), weighted(planted(50, true), weight), &all, |case| {
        linkx(&of(&adjacency(case.data.graph(), false)), case)
    });
    check_on(&job("linkx").with("adjacency", "arcs"), along(planted(50, true)), &all, |case| {
        let mut a = matrix(50, 50, |_, _| 0.0);
        let arcs = case.data.arcs.as_ref().unwrap();
        arcs.arcs().for_each(|(u, v)| a[u as usize][v as usize] = arc(u, v));
        linkx(&a, case)
    });
}

#[test]
fn edges_of_a_collection_have_weights() {
    let set = crate::tests::graphs::kinds(false);
    let split = set.split("stratified:60/20/20".parse().unwrap(), 1).unwrap();
    let with = |weight: f64| {
        let rows: Vec<(u32, u32, f64)> = set.graph.edges().map(|(u, v)| (u, v, weight)).collect();
        set.clone().with_weights(EdgeWeights::new(rows.into_iter(), false).unwrap())
    };
    let job = |model: &str| job(model).with("task", "graph_classification").with("features", "degree");
    for model in ["gcn", "gin", "hgcn", "linkx"] {
        let plain = run(Items::Graphs(&set, &split), &job(model)).unwrap();
        let logits = |weight: f64| {
            run(Items::Graphs(&with(weight), &split), &job(model).with("weights", "true")).unwrap().logits
        };
        assert_eq!(logits(1.0), plain.logits, "{model}");
        assert_ne!(logits(0.5), plain.logits, "{model}");
    }
    let error = run(Items::Graphs(&set, &split), &job("gcn").with("weights", "true")).unwrap_err();
    assert!(error.contains("the edges have no weights"), "{error}");
    let error = run(Items::Graphs(&with(-1.0), &split), &job("gcn").with("weights", "true")).unwrap_err();
    assert!(error.contains("has the weight -1"), "{error}");
}

#[test]
fn weights_that_a_model_cannot_read_are_refused() {
    let data = weighted(planted(40, true), |u, v| if (u, v) == first_edge() { -0.5 } else { 1.0 });
    let parts = split(&data);
    let nodes = |job: Job| run(Items::Nodes(&data, &parts), &job.with("weights", "true"));
    let (u, v) = first_edge();
    for model in models() {
        match model {
            // Sums of neighbours are divided by nothing.
            "gin" => assert!(nodes(job("gin")).is_ok()),
            // Weights are an input like any other.
            "linkx" => assert!(nodes(job("linkx")).is_ok()),
            model => {
                let error = nodes(job(model)).unwrap_err();
                let named =
                    [(u, v), (v, u)].map(|(a, b)| format!("the edge from node {a} to node {b} has the weight -0.5"));
                assert!(named.iter().any(|named| error.starts_with(named)), "{model}: {error}");
            }
        }
    }
    let refused = |job: Job, part: &str| {
        let error = nodes(job).unwrap_err();
        assert!(error.contains("weights") && error.contains(part), "{error}");
    };
    refused(job("gcn").with("batch_nodes", 9), "neighbours are sampled");
    refused(job("hgcn").with("attention", "true"), "attention => true");
    refused(job("hybonet").with("attention", "true"), "attention => true");
    refused(job("hgnn").with("aggregate", "false"), "aggregate => false");
    refused(job("acm_gcn").with("structure_info", 1), "structure_info => 1");
    refused(job("gat"), "no hyperparameter `weights`");
    refused(job("unimp"), "Its equations have no place for weights of edges; label_propagation, gcn, ");
    let without = GraphData { weights: None, ..data.clone() };
    let error = run(Items::Nodes(&without, &parts), &job("gcn").with("weights", "true")).unwrap_err();
    assert!(error.contains("the edges have no weights"), "{error}");
}

/// An edge of the planted graph.
fn first_edge() -> (u32, u32) {
    planted(40, true).graph.edges().next().unwrap()
}
