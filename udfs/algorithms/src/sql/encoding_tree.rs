//! `encoding_tree` and `structural_entropy`.

use bonnet_sql::Function;

use super::network::{Failure, Reads, counts, defined, doubles};
use super::relation::{Answer, count, graph_function, node_function, number};

const TREE: &str = "encoding_tree";
const ENTROPY: &str = "structural_entropy";
const WEIGHTS: &str = "Whether to read the column weight, a strength. A sum of weights beyond a DOUBLE is an error.";

/// The registration of `encoding_tree`.
pub fn encoding_tree() -> Function {
    node_function(TREE, Reads::SIMPLE.weights(WEIGHTS), [], |_| {
        let fields = vec![count("community"), number("volume"), number("cut"), number("entropy")];
        Ok(Answer::new(fields, |call| {
            let tree = call.with_network(|network| Ok::<_, Failure>(crate::encoding_tree(network, call.host)?))?;
            let of = |figures: &[f64]| doubles(tree.community.iter().map(|&c| figures[c as usize]).collect());
            let figures = &tree.figures;
            Ok(vec![counts(&tree.community)?, of(&figures.volume), of(&figures.cut), of(&figures.entropy)])
        }))
    })
    .returns("node, community, volume, cut, entropy; graph_id in front where edges have it")
    .description(
        "The community of every node in the encoding tree of two levels that a greedy search of the least two-dimensional \
         structural entropy finds: from nodes by themselves on, the two communities are merged that lower it most, until none do. With \
         it the community's volume (the sum of the degrees), its cut (the edges that leave it) and its part of the entropy in bits: \
         -(cut / 2m) log2(volume / 2m) less the sum over its nodes of (degree / 2m) log2(degree / volume); the parts of all communities add up \
         to that of the graph. Communities count from 0 by falling size, ties by smallest key; the density of one is (volume - cut) / (n (n - 1)). \
         No seed: among equal gains the smallest keys are merged first. O(log n) for each neighbour of each merged community.",
    )
    .example(
        "SELECT community, count(*) AS nodes, any_value(volume) AS volume, any_value(cut) AS cut FROM encoding_tree(karate.edges) \
         GROUP BY community ORDER BY community",
    )
    .source("Li and Pan, Structural information and dynamical complexity of networks (2016)")
}

/// The registration of `structural_entropy`.
pub fn structural_entropy() -> Function {
    graph_function(ENTROPY, &[], Reads::SIMPLE.weights(WEIGHTS), [], |_| {
        let fields = vec![number("one_dimensional"), number("two_dimensional"), count("communities")];
        Ok(Answer::new(fields, |call| {
            let (one, tree) = call.with_network(|network| {
                Ok::<_, Failure>((crate::one_dimensional_entropy(network), crate::encoding_tree(network, call.host)?))
            })?;
            let column = |value: Option<f64>| defined(vec![value.unwrap_or(f64::NAN)]);
            Ok(vec![column(one), column(tree.entropy()), counts(&[tree.figures.volume.len() as u64])?])
        }))
    })
    .returns("one_dimensional, two_dimensional, communities, one row; graph_id in front where edges have it, one row each")
    .description(
        "The structural entropy of a graph in bits. one_dimensional: that of the node at which a random walk is, the sum over the nodes of \
         -(degree / 2m) log2(degree / 2m). two_dimensional: what is left to say of that node at a step where the community is told only as \
         the walk enters it, for the communities of encoding_tree, of which there are communities; the least that its greedy search finds, \
         and at most one_dimensional. NULL without edges. Cost as encoding_tree.",
    )
    .example("SELECT * FROM structural_entropy(karate.edges)")
    .source("Li and Pan, Structural information and dynamical complexity of networks (2016), Definitions 1 and 2")
}
