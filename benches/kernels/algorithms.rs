//! Graph algorithms, on a graph with hubs and on a long one.

use bonnet_algorithms::{
    BetweennessOptions, CommunityOptions, Encoding, LabelPropagation, LinkScore, Network, PageRankOptions,
    betweenness_centrality, closeness_centrality, core_number, diameter, encoding_tree, label_propagation_communities,
    leiden, louvain, pagerank, positional_encoding, triangle_count, truss_number, two_hop_scores,
};

use super::*;

pub(crate) fn algorithms(c: &mut Criterion) -> Result<()> {
    let side = 300;
    let shapes = [
        ("barabasi_albert", barabasi_albert(100_000, 10, 0, &Unmonitored)?),
        ("grid_2d", grid_2d(side, side, false, false, &Unmonitored)?),
    ];
    let small = graph(&barabasi_albert(5_000, 10, 0, &Unmonitored)?);
    for (name, generated) in shapes {
        let graph = graph(&generated);
        let network = Network::undirected(&graph);
        let mut group = c.benchmark_group(format!("algorithms/{name}"));
        let sampled = BetweennessOptions { samples: Some(16), ..BetweennessOptions::default() };
        let monitor = &Unmonitored;
        group.bench_function("pagerank", |b| b.iter(|| pagerank(network, &PageRankOptions::default(), monitor)));
        group.bench_function("core_number", |b| b.iter(|| core_number(black_box(&graph), monitor)));
        group.bench_function("triangle_count", |b| b.iter(|| triangle_count(black_box(&graph), monitor)));
        group.bench_function("truss_number", |b| b.iter(|| truss_number(black_box(&graph), monitor)));
        group.bench_function("betweenness_16", |b| b.iter(|| betweenness_centrality(network, &sampled, monitor)));
        group.bench_function("diameter", |b| b.iter(|| diameter(network, monitor)));
        group.bench_function("louvain", |b| b.iter(|| louvain(network, &CommunityOptions::default(), monitor)));
        if name == "grid_2d" {
            group.bench_function("encoding_tree", |b| b.iter(|| encoding_tree(network, monitor)));
        }
        group.bench_function("leiden", |b| b.iter(|| leiden(network, &CommunityOptions::default(), monitor)));
        let labels = LabelPropagation::Asynchronous { seed: 0 };
        group.bench_function("labels", |b| b.iter(|| label_propagation_communities(network, labels, monitor)));
        group.bench_function("closeness_5000", |b| {
            b.iter(|| closeness_centrality(Network::undirected(black_box(&small)), monitor));
        });
        group.bench_function("adamic_adar_5000", |b| {
            b.iter(|| two_hop_scores(black_box(&small), LinkScore::AdamicAdar, monitor));
        });
        group.bench_function("random_walk_encoding_5000", |b| {
            b.iter(|| positional_encoding(black_box(&small), Encoding::RandomWalk, 8, monitor));
        });
        group.bench_function("laplacian_encoding_5000", |b| {
            b.iter(|| positional_encoding(black_box(&small), Encoding::Laplacian, 8, monitor));
        });
        group.finish();
    }
    Ok(())
}
