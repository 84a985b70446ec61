//! `common_neighbors`, `jaccard_similarity`, `adamic_adar`, `resource_allocation`, `preferential_attachment_score`.

use bonnet_sql::Function;

use super::network::{Failure, GraphCall, Reads, counts, defined, nodes};
use super::node_relation::NodeRelation;
use super::relation::{Answer, BindOptions, count, graph_function, number};
use crate::LinkScore;

fn of_pairs(name: &'static str, bind: BindOptions) -> Function {
    let pairs = NodeRelation::nodes(
        "pairs",
        "The pairs to score: src, dst; with graph_id where edges have it. All pairs two hops apart by default.",
    );
    graph_function(name, &["src", "dst"], Reads::SIMPLE.choosing(pairs.with_pairs()), [], bind)
}

/// The answer of a score: a BIGINT if `whole`.
fn answer(name: &'static str, score: LinkScore, whole: bool) -> Answer {
    let field = if whole { count(name) } else { number(name) };
    Answer::new(vec![field], move |call: &GraphCall| {
        let graph = call.simple()?;
        let (src, dst, scores) = match call.pairs {
            Some(pairs) => {
                let scores = crate::link_scores(graph, score, pairs, call.host)?;
                let (src, dst) = pairs.iter().copied().unzip();
                (src, dst, scores)
            }
            None => {
                let pairs = crate::two_hop_scores(graph, score, call.host)?;
                (pairs.src, pairs.dst, pairs.score)
            }
        };
        let scores = if whole { whole_numbers(&scores)? } else { defined(scores) };
        Ok(vec![nodes(src), nodes(dst), scores])
    })
}

/// A column of counts with NULL for NaN.
fn whole_numbers(scores: &[f64]) -> Result<arrow::array::ArrayRef, Failure> {
    if scores.iter().any(|score| score.is_nan()) {
        let values = scores.iter().map(|&score| (!score.is_nan()).then_some(score as i64));
        return Ok(std::sync::Arc::new(values.collect::<arrow::array::Int64Array>()));
    }
    counts(&scores.iter().map(|&score| score as i64).collect::<Vec<_>>())
}

const RETURNS: [&str; 5] = [
    "src, dst, common_neighbors; graph_id in front where edges have it",
    "src, dst, jaccard_similarity; graph_id in front where edges have it",
    "src, dst, adamic_adar; graph_id in front where edges have it",
    "src, dst, resource_allocation; graph_id in front where edges have it",
    "src, dst, preferential_attachment_score; graph_id in front where edges have it",
];

/// The registration of `common_neighbors`.
pub fn common_neighbors() -> Function {
    of_pairs("common_neighbors", |_| Ok(answer("common_neighbors", LinkScore::CommonNeighbors, true)))
        .returns(RETURNS[0])
        .description(
            "The number of common neighbours of given pairs, or of all pairs that are not adjacent and have one (src < dst); NULL for \
             a node with itself. O(sum of the degrees) for given pairs, O(sum of the squared degrees) for all.",
        )
        .example("SELECT * FROM common_neighbors(karate.edges) ORDER BY common_neighbors DESC, src, dst LIMIT 3")
        .source("Liben-Nowell and Kleinberg, The link-prediction problem for social networks (2007)")
}

/// The registration of `jaccard_similarity`.
pub fn jaccard_similarity() -> Function {
    of_pairs("jaccard_similarity", |_| Ok(answer("jaccard_similarity", LinkScore::Jaccard, false)))
        .returns(RETURNS[1])
        .description(
            "The common neighbours of a pair over the nodes that are a neighbour of either, 0 where there are none; pairs and cost \
             as for common_neighbors.",
        )
        .example("SELECT * FROM jaccard_similarity(karate.edges) ORDER BY jaccard_similarity DESC, src, dst LIMIT 3")
        .source("Jaccard (1901); Liben-Nowell and Kleinberg (2007)")
}

/// The registration of `adamic_adar`.
pub fn adamic_adar() -> Function {
    of_pairs("adamic_adar", |_| Ok(answer("adamic_adar", LinkScore::AdamicAdar, false)))
        .returns(RETURNS[2])
        .description(
            "The sum of 1 / ln(degree) over the common neighbours of a pair; pairs and cost as for common_neighbors.",
        )
        .example("SELECT * FROM adamic_adar(karate.edges) ORDER BY adamic_adar DESC, src, dst LIMIT 3")
        .source("Adamic and Adar, Friends and neighbors on the Web (2003)")
}

/// The registration of `resource_allocation`.
pub fn resource_allocation() -> Function {
    of_pairs("resource_allocation", |_| Ok(answer("resource_allocation", LinkScore::ResourceAllocation, false)))
        .returns(RETURNS[3])
        .description(
            "The sum of 1 / degree over the common neighbours of a pair; pairs and cost as for common_neighbors.",
        )
        .example("SELECT * FROM resource_allocation(karate.edges) ORDER BY resource_allocation DESC, src, dst LIMIT 3")
        .source("Zhou, Lu and Zhang, Predicting missing links via local information (2009)")
}

/// The registration of `preferential_attachment_score`.
pub fn preferential_attachment_score() -> Function {
    let bind: BindOptions = |_| Ok(answer("preferential_attachment_score", LinkScore::PreferentialAttachment, true));
    of_pairs("preferential_attachment_score", bind)
        .returns(RETURNS[4])
        .description("The product of the degrees of a pair; pairs and cost as for common_neighbors.")
        .example("SELECT * FROM preferential_attachment_score(karate.edges) ORDER BY 3 DESC, src, dst LIMIT 3")
        .source("Newman, Clustering and preferential attachment in growing networks (2001)")
}
