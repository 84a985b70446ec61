//! Structure, paths and choices: graph algorithms on petgraph and our own.

use bonnet_algorithms::{
    Elimination, Ends, Network, PathOptions, articulation_points, biconnected_components, bridges, graph_coloring,
    is_planar, maximal_cliques, maximum_matching, minimum_spanning_tree, shortest_paths, strong_components,
    treewidth_upper_bound,
};

use super::*;

/// On 100,000 nodes of three shapes; widths on 1,000.
pub(crate) fn structure(c: &mut Criterion) -> Result<()> {
    for (name, generated) in shapes(100_000)? {
        let mut group = c.benchmark_group(format!("structure_{name}"));
        let graph = graph(&generated);
        let arcs = Digraph::from_arcs(generated.n_nodes, &generated.edges);
        let network = Network::undirected(&graph);
        let sources: Vec<Ends> = (0..16).map(Ends::From).collect();
        let options = PathOptions { nodes: false, ..PathOptions::default() };
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
