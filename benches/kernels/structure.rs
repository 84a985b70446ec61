//! Structure, paths and choices: graph algorithms on petgraph and our own.

use bonnet_algorithms::{
    Elimination, Ends, Network, PathOptions, articulation_points, biconnected_components, bridges, graph_coloring,
    is_planar, maximal_cliques, maximum_matching, minimum_spanning_tree, shortest_paths, strong_components,
    treewidth_upper_bound,
};
use bonnet_graph::{EdgeFile, EmptyFile};

use super::*;

/// The graph of edges, with its lists in a file.
fn from_file(n: usize, edges: &[(u32, u32)]) -> Result<Graph> {
    let empty = || {
        let file = tempfile::NamedTempFile::new()?;
        Ok::<_, std::io::Error>(EmptyFile {
            writer: Box::new(file.reopen()?),
            reader: file.reopen()?,
            keep: Box::new(file),
        })
    };
    let mut file = EdgeFile::new(empty()?);
    edges.iter().try_for_each(|&edge| file.push(edge))?;
    Ok(file.into_graph(n, |v| v, empty()?, &Unmonitored)?)
}

/// On 100,000 nodes of three shapes; widths on 1,000.
pub(crate) fn structure(c: &mut Criterion) -> Result<()> {
    for (name, generated) in shapes(100_000)? {
        let mut group = c.benchmark_group(format!("structure_{name}"));
        let graph = graph(&generated);
        let arcs = Digraph::from_arcs(generated.n_nodes, &generated.edges);
        let network = Network::undirected(&graph);
        let sources: Vec<Ends> = (0..16).map(Ends::From).collect();
        let options = PathOptions { nodes: false, ..PathOptions::default() };
        let (n, edges) = (generated.n_nodes, &generated.edges);
        group.bench_function("from_edges", |b| b.iter(|| Graph::from_edges(n, black_box(edges))));
        group.bench_function("edge_file", |b| b.iter(|| from_file(n, black_box(edges))));
        group.bench_function("strong_components", |b| b.iter(|| strong_components(black_box(&arcs), &Unmonitored)));
        group.bench_function("biconnected_components", |b| b.iter(|| biconnected_components(&graph, &Unmonitored)));
        group.bench_function("articulation_points", |b| b.iter(|| articulation_points(&graph, &Unmonitored)));
        group.bench_function("bridges", |b| b.iter(|| bridges(&graph, &Unmonitored)));
        group.bench_function("is_planar", |b| b.iter(|| is_planar(&graph, &Unmonitored)));
        group.bench_function("maximum_matching", |b| b.iter(|| maximum_matching(&graph, &Unmonitored)));
        group.bench_function("minimum_spanning_tree", |b| b.iter(|| minimum_spanning_tree(network, &Unmonitored)));
        group.bench_function("graph_coloring", |b| b.iter(|| graph_coloring(&graph, &Unmonitored)));
        group.bench_function("maximal_cliques", |b| b.iter(|| maximal_cliques(&graph, usize::MAX, &Unmonitored)));
        group.bench_function("shortest_paths_16", |b| {
            b.iter(|| shortest_paths(network, black_box(&sources), options, &Unmonitored));
        });
        group.finish();
    }
    let mut group = c.benchmark_group("treewidth_upper_bound");
    for (name, generated) in shapes(1_000)? {
        let graph = graph(&generated);
        for (by, elimination) in [("min_degree", Elimination::MinDegree), ("min_fill", Elimination::MinFill)] {
            group.bench_function(BenchmarkId::new(name, by), |b| {
                b.iter(|| treewidth_upper_bound(&graph, black_box(elimination), &Unmonitored));
            });
        }
    }
    group.finish();
    Ok(())
}
