//! The metrics on published graphs, against published values and those of independent programmes.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use bonnet_graph::{Graph, Unmonitored};
use bonnet_homophily::{
    LabelPairs, NeighborMatches, adjusted_homophily, adjusted_homophily_of_graph, edge_homophily,
    edge_homophily_of_graph, label_informativeness, label_informativeness_of_graph, node_homophily,
    node_homophily_of_graph,
};

/// A file of the staged data, or nothing (said so) if it is not there.
fn read(path: &str) -> Option<String> {
    let base = std::env::var_os("BONNET_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")));
    match std::fs::read_to_string(base.join(path)) {
        Ok(text) => Some(text),
        Err(error) if std::env::var("BONNET_REQUIRE_ALL").is_ok_and(|value| value == "1") => panic!("{path}: {error}"),
        Err(error) => {
            println!("skipped: {path}: {error}");
            None
        }
    }
}

/// The label of each node.
type Labels = Vec<Option<u32>>;

/// The arcs as stored and the labels of a graph in the text format of geom-gcn.
fn geom_gcn(name: &str) -> Option<(Vec<(u32, u32)>, Labels)> {
    let edges = read(&format!("geom-gcn/{name}/out1_graph_edges.txt"))?;
    let nodes = read(&format!("geom-gcn/{name}/out1_node_feature_label.txt"))?;
    let number = |text: &str| text.trim().parse::<u32>().unwrap();
    let arcs = edges.lines().skip(1).map(|line| line.split_once('\t').map(|(u, v)| (number(u), number(v))).unwrap());
    let mut labels = vec![None; nodes.lines().skip(1).count()];
    for line in nodes.lines().skip(1) {
        let mut fields = line.split('\t');
        let node = number(fields.next().unwrap());
        labels[node as usize] = Some(number(fields.next_back().unwrap()));
    }
    Some((arcs.collect(), labels))
}

fn close(found: Option<f64>, published: f64, digits: i32) {
    let found = found.unwrap();
    assert!((found - published).abs() <= 0.5001 * 10f64.powi(-digits), "{found}, published {published}");
}

/// The setting behind the printed H_edge and H_node: arcs as stored, no loops, no repeats, mean over all nodes.
fn printed(name: &str) -> Option<(Option<f64>, Option<f64>)> {
    let (arcs, labels) = geom_gcn(name)?;
    let arcs: BTreeSet<(u32, u32)> = arcs.into_iter().filter(|(u, v)| u != v).collect();
    let label = |node: u32| labels[node as usize].unwrap();
    let (sources, targets): (Vec<u32>, Vec<u32>) = arcs.into_iter().unzip();
    let source_labels: Vec<u32> = sources.iter().map(|&node| label(node)).collect();
    let target_labels: Vec<u32> = targets.iter().map(|&node| label(node)).collect();
    let (mut pairs, mut matches) = (LabelPairs::default(), NeighborMatches::default());
    pairs.add_batch(&source_labels, &target_labels);
    matches.add_batch(&sources, &source_labels, &target_labels);
    Some((edge_homophily(&pairs), node_homophily(&matches, Some(labels.len() as u64)).unwrap()))
}

#[test]
fn the_printed_edge_and_node_homophily_of_texas_and_film() {
    for (name, edge, node) in [("texas", 0.0615, 0.0555), ("film", 0.2163, 0.2023)] {
        let Some(found) = printed(name) else { return };
        close(found.0, edge, 4);
        close(found.1, node, 4);
    }
}

#[test]
fn texas_as_an_undirected_graph() {
    let Some((arcs, labels)) = geom_gcn("texas") else { return };
    let graph = Graph::from_edges(labels.len(), &arcs);
    assert_eq!((graph.n_nodes(), graph.n_edges()), (183, 279));
    close(edge_homophily_of_graph(&graph, &labels, &Unmonitored).unwrap(), 0.0609, 4);
    close(adjusted_homophily_of_graph(&graph, &labels, &Unmonitored).unwrap(), -0.29364, 5);
    close(label_informativeness_of_graph(&graph, &labels, &Unmonitored).unwrap(), 0.19235, 5);
}

#[test]
fn film_as_an_undirected_graph() {
    let Some((arcs, labels)) = geom_gcn("film") else { return };
    let graph = Graph::from_edges(labels.len(), &arcs);
    assert_eq!((graph.n_nodes(), graph.n_edges()), (7600, 26659));
    close(edge_homophily_of_graph(&graph, &labels, &Unmonitored).unwrap(), 0.2167, 4);
}

#[test]
fn a_graph_is_its_arcs_in_both_directions() {
    let Some((arcs, labels)) = geom_gcn("film") else { return };
    let graph = Graph::from_edges(labels.len(), &arcs);
    let label = |node: u32| labels[node as usize].unwrap();
    let (mut pairs, mut matches) = (LabelPairs::default(), NeighborMatches::default());
    for (u, v) in graph.edges() {
        for (u, v) in [(u, v), (v, u)] {
            pairs.add(label(u), label(v), 1);
            matches.add(u, u64::from(label(u) == label(v)), 1);
        }
    }
    let monitor = &Unmonitored;
    assert_eq!(edge_homophily(&pairs), edge_homophily_of_graph(&graph, &labels, monitor).unwrap());
    assert_eq!(adjusted_homophily(&pairs), adjusted_homophily_of_graph(&graph, &labels, monitor).unwrap());
    assert_eq!(label_informativeness(&pairs), label_informativeness_of_graph(&graph, &labels, monitor).unwrap());
    let nodes = Some(labels.len() as u64);
    assert_eq!(node_homophily(&matches, nodes), Ok(node_homophily_of_graph(&graph, &labels, monitor).unwrap()));
}
