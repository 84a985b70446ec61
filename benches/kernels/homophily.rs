//! Homophily of graphs, and metapaths.

use bonnet_homophily::{
    Classifier, ClassifierOptions, FeatureRows, HeteroGraph, Normalization, TypedRelation, aggregation_homophily,
    classifier_accuracies, metapath_pairs,
};

use super::*;

/// The pairs of papers with a common author, without and with authors whose papers are bitmaps.
pub(crate) fn metapaths(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("metapath_pairs");
    let (papers, authors) = (100_000u32, 100_000u32);
    for (name, power) in [("even", 1), ("skewed", 3)] {
        // Knuth's multiplicative hash of the row; a power of it makes a few authors write much.
        let unit = |row: u32| f64::from(row.wrapping_mul(2_654_435_761)) / 2f64.powi(32);
        let author = |row: u32| (unit(row ^ 0x5bd1_e995).powi(power) * f64::from(authors)) as u32;
        let rows: Vec<(u32, u32)> = (0..300_000u32).map(|row| (row % papers, author(row))).collect();
        let sizes = (papers as usize, authors as usize);
        let relation = TypedRelation::new("by".to_owned(), (1, 0), sizes, &rows, true, &Unmonitored)?;
        let node_types = vec![("author".to_owned(), sizes.1), ("paper".to_owned(), sizes.0)];
        let graph = HeteroGraph { node_types, relations: vec![relation] };
        let path = graph.parse_metapath("paper>author>paper")?;
        let labels: Vec<Option<u32>> = (0..papers).map(|v| Some((v.wrapping_mul(2_654_435_761) >> 8) % 5)).collect();
        group.bench_function(name, |b| {
            b.iter(|| metapath_pairs(&graph, &path, black_box(&labels), false, &Unmonitored))
        });
    }
    group.finish();
    Ok(())
}

/// Aggregation homophily and the classifiers, on blocks of 2,000 nodes with 64 features.
pub(crate) fn homophily_of_graphs(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("homophily");
    let blocks = StochasticBlockModel {
        sizes: vec![400; 5],
        p_within: 0.01,
        p_between: 0.001,
        features: 64,
        ..StochasticBlockModel::default()
    };
    let generated = stochastic_block_model(&blocks, 0, &Unmonitored)?;
    let arcs: Vec<(u32, u32)> = generated.edges.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
    let arcs = Digraph::from_arcs(generated.n_nodes, &arcs);
    let labels: Vec<Option<u32>> = generated.labels.iter().flatten().map(|&label| u32::try_from(label).ok()).collect();
    let (width, values) = generated.features.clone().ok_or("the block model has features")?;
    let features = FeatureRows::from_dense(width, &values);
    group.bench_function("aggregation", |b| {
        b.iter(|| aggregation_homophily(&arcs, black_box(&labels), Normalization::Symmetric, &Unmonitored));
    });
    let options = ClassifierOptions { repeats: 10, ..ClassifierOptions::default() };
    for classifier in Classifier::ALL {
        group.bench_function(format!("{}_10_repeats", classifier.name()), |b| {
            b.iter(|| {
                classifier_accuracies(&arcs, &features, &labels, &[classifier], black_box(&options), &Unmonitored)
            });
        });
    }
    group.finish();
    Ok(())
}
