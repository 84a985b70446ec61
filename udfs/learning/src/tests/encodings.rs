//! Positional encodings as an option of training.

use super::*;
use crate::data::with_encodings;
use crate::{LinkSplit, Shares};

const ENCODINGS: &str = "laplacian:4,random_walk:3,degree";

fn run(items: Items<'_>, job: &Job) -> Result<Outcome, String> {
    let options = job.resolve().map_err(|error| error.to_string())?;
    crate::train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).map_err(|error| error.to_string())
}

/// The features with the encodings of a graph, or of the graphs of a union.
fn appended(features: &Arc<Features>, graph: &Graph, starts: Option<&[u32]>) -> Arc<Features> {
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    with_encodings(features, graph, starts, &ENCODINGS.parse().unwrap(), &mut reservation).unwrap()
}

/// The job with the option, and without it.
fn jobs_of(model: &str, task: &str) -> [Job; 2] {
    let job = Job::new(model).with("task", task).with("hidden", 6).with("epochs", 4).with("seed", 3);
    [job.clone().with("encodings", ENCODINGS), job]
}

#[test]
fn a_run_with_encodings_is_one_on_features_that_hold_them() {
    for sparse in [true, false] {
        let data = planted(120, sparse);
        let mut other = data.clone();
        other.features = appended(&data.features, &data.graph, None);
        let parts = split(&data);
        for model in ["gcn", "nagphormer"] {
            let [with, plain] = jobs_of(model, "node_classification");
            for steps in [None, Some(30i64)] {
                let [with, plain] = [&with, &plain].map(|job| job.clone().with("batch_nodes", steps));
                let (a, b) = (run(Items::Nodes(&data, &parts), &with), run(Items::Nodes(&other, &parts), &plain));
                let (a, b) = (a.unwrap(), b.unwrap());
                assert!(a.logits == b.logits && a.weights == b.weights, "{model}, sparse {sparse}, {steps:?}");
                assert_ne!(a.logits, run(Items::Nodes(&data, &parts), &plain).unwrap().logits);
            }
        }
    }
}

#[test]
fn encodings_of_links_are_those_of_the_edges_that_carry_messages() {
    let data = planted(100, true);
    let links = LinkSplit::draw(&data.graph, Shares::new(80.0, 10.0, 10.0).unwrap(), 1, &Unmonitored).unwrap();
    let mut other = data.clone();
    other.features = appended(&data.features, &Graph::from_edges(100, &links.train), None);
    let [with, plain] = jobs_of("gcn", "link_prediction");
    let (a, b) = (run(Items::Links(&data, &links), &with), run(Items::Links(&other, &links), &plain));
    assert_eq!(a.unwrap().logits, b.unwrap().logits);
}

#[test]
fn graphs_of_a_collection_have_encodings_of_their_own() {
    let set = crate::tests::graphs::kinds(false);
    let parts = set.split("stratified:60/20/20".parse().unwrap(), 1).unwrap();
    let [with, plain] = jobs_of("gcn", "graph_classification");
    let [with, plain] = [with, plain].map(|job| job.with("features", "random:5"));
    let found = run(Items::Graphs(&set, &parts), &with).unwrap();
    // Another graph in front changes the numbers of the nodes, and no encoding: it is that of the graph alone.
    let (first, end) = (set.starts[1], set.starts[2]);
    let edges: Vec<(u32, u32)> = set.graph.edges().filter(|e| (first..end).contains(&e.0)).collect();
    let alone: Vec<(u32, u32)> = edges.iter().map(|&(u, v)| (u - first, v - first)).collect();
    let alone = Graph::from_edges((end - first) as usize, &alone);
    let none = Arc::new(Features::None);
    let of = |features: Arc<Features>| match &*features {
        Features::Dense { values, .. } => values.clone(),
        _ => panic!("encodings are dense"),
    };
    let all = of(appended(&none, &set.graph, Some(&set.starts)));
    assert_eq!(all[first as usize * 8..end as usize * 8], of(appended(&none, &alone, None)));
    assert_ne!(found.logits, run(Items::Graphs(&set, &parts), &plain).unwrap().logits);
}

#[test]
fn encodings_that_are_not_there_are_refused() {
    let data = planted(40, true);
    let parts = split(&data);
    let error = |job: Job| run(Items::Nodes(&data, &parts), &job).unwrap_err();
    let job = |text: &str| Job::new("gcn").with("encodings", text);
    let wide = error(job("laplacian:40"));
    assert!(wide.contains("a graph of 40 nodes has 39 eigenvectors beside the first"), "{wide}");
    let unknown = error(job("node2vec:8"));
    assert!(unknown.contains("laplacian:k, random_walk:k, degree"), "{unknown}");
    let complexes = Job::new("sccn").with("task", "graph_regression").with("encodings", "degree");
    assert!(complexes.resolve().unwrap_err().to_string().contains("no hyperparameter `encodings`"));
}
