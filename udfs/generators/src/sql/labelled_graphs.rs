//! Random graphs whose nodes have classes: `stochastic_block_model`, `preferential_attachment`, `disease_tree`,
//! `community_graph`.

use bonnet_graph::Reservation;
use bonnet_sql::{Function, OptionValue, Parameter};

use super::lift::{count, lift, nodes, number, seed, to_sql};
use crate::edge_list::zeros;
use crate::error::require_nodes;
use crate::{CommunityGraph, DiseaseTree, Error, PreferentialAttachment, StochasticBlockModel};

/// The registration of `stochastic_block_model`.
pub fn stochastic_block_model() -> Function {
    lift("stochastic_block_model", |options, monitor| {
        let (size, blocks) = (count(options, "nodes_per_block")?, count(options, "blocks")?);
        to_sql(require_nodes("stochastic_block_model", "blocks", blocks, 0))?;
        let mut reservation = to_sql(Reservation::new(monitor, 0).map_err(Error::from))?;
        let mut sizes: Vec<usize> = to_sql(zeros(blocks, &mut reservation).map_err(Error::from))?;
        sizes.fill(size);
        let model = StochasticBlockModel {
            sizes,
            p_within: number(options, "p_within")?,
            p_between: number(options, "p_between")?,
            features: count(options, "features")?,
            separation: number(options, "separation")?,
            noise: number(options, "noise")?,
        };
        to_sql(crate::stochastic_block_model(&model, seed(options)?, monitor))
    })
    .parameters([
        Parameter::integer("blocks", "The number of blocks, at least 1.").or(OptionValue::Integer(2)),
        Parameter::integer("nodes_per_block", "The number of nodes of each block.").or(OptionValue::Integer(100)),
        Parameter::number("p_within", "The probability of an edge within a block.").or(OptionValue::Number(0.1)),
        Parameter::number("p_between", "The probability of an edge between blocks.").or(OptionValue::Number(0.01)),
        Parameter::integer("features", "The number of Gaussian features of a node.").or(OptionValue::Integer(16)),
        Parameter::number("separation", "How far apart the blocks' means lie.").or(OptionValue::Number(1.0)),
        Parameter::number("noise", "The deviation of a feature about its block's mean.").or(OptionValue::Number(1.0)),
        Parameter::seed(),
    ])
    .description(
        "Blocks of nodes, denser within than between. CREATE GRAPH gives each node its block as label and Gaussian \
         features about the block's mean.",
    )
    .example("SELECT count(*) > 0 AS has_edges FROM stochastic_block_model(blocks => 3, nodes_per_block => 20)")
    .source("Holland, Laskey and Leinhardt 1983")
}

/// The registration of `preferential_attachment`.
pub fn preferential_attachment() -> Function {
    lift("preferential_attachment", |options, monitor| {
        let model = PreferentialAttachment {
            n: count(options, "n")?,
            classes: count(options, "classes")?,
            mu: number(options, "mu")?,
            m: count(options, "m")?,
            separation: number(options, "separation")?,
        };
        to_sql(crate::preferential_attachment(&model, seed(options)?, monitor))
    })
    .parameters([
        nodes(),
        Parameter::integer("classes", "The number of classes, of equal size, on a circle."),
        Parameter::number("mu", "The homophily coefficient, in [0, 1]."),
        Parameter::seed(),
        Parameter::integer("m", "The number of links of a new node, at least 2.").or(OptionValue::Integer(6)),
        Parameter::number("separation", "The distance of the classes' means from the origin, in deviations.")
            .or(OptionValue::Number(2.0)),
    ])
    .description(
        "Preferential attachment with homophily: a new node links an existing one in proportion to its degree times mu \
         in its own class, times (1 - mu) w in another, where w falls as e^-d with the distance d of the classes on a \
         circle. CREATE GRAPH gives each node its class as label and two Gaussian features about the class's mean.",
    )
    .example("SELECT count(*) AS edges FROM preferential_attachment(200, 5, 0.7)")
    .source("Luan et al., Are Heterophilic GNNs and Homophily Metrics Really Effective?, Eq. 6")
}

/// The registration of `disease_tree`.
pub fn disease_tree() -> Function {
    lift("disease_tree", |options, monitor| {
        let model = DiseaseTree {
            n: count(options, "n")?,
            branching: count(options, "branching")?,
            sources: number(options, "sources")?,
            transmission: number(options, "transmission")?,
            noise: number(options, "noise")?,
        };
        to_sql(crate::disease_tree(&model, seed(options)?, monitor))
    })
    .parameters([
        nodes().or(OptionValue::Integer(1000)),
        Parameter::integer("branching", "The largest number of children of a node.").or(OptionValue::Integer(3)),
        Parameter::number("sources", "The share of nodes infected from outside.").or(OptionValue::Number(0.05)),
        Parameter::number("transmission", "The probability that a contact infects.").or(OptionValue::Number(0.5)),
        Parameter::number("noise", "The error with which susceptibility is observed.").or(OptionValue::Number(0.1)),
        Parameter::seed(),
    ])
    .description(
        "A disease that spreads along a random tree. CREATE GRAPH labels the infected nodes 1 and gives each node its \
         observed susceptibility and whether it was infected from outside as features.",
    )
    .example("SELECT count(*) AS edges FROM disease_tree(200)")
    .source("in the manner of Chami et al. 2019; tree and process are this project's own")
}

/// The registration of `community_graph`.
pub fn community_graph() -> Function {
    lift("community_graph", |options, monitor| {
        let model = CommunityGraph {
            n: count(options, "n")?,
            communities: count(options, "communities")?,
            p: number(options, "p")?,
            between: number(options, "between")?,
        };
        to_sql(crate::community_graph(&model, seed(options)?, monitor))
    })
    .parameters([
        nodes(),
        Parameter::integer("communities", "The number of communities, of nearly one size.").or(OptionValue::Integer(2)),
        Parameter::number("p", "The probability of an edge within a community.").or(OptionValue::Number(0.3)),
        Parameter::number("between", "The number of edges between communities, over n.").or(OptionValue::Number(0.05)),
        Parameter::seed(),
    ])
    .description(
        "Communities that are random graphs, joined by round(between n) edges drawn uniformly among the pairs of \
         different communities. CREATE GRAPH labels each node with its community.",
    )
    .example("SELECT count(*) > 0 AS has_edges FROM community_graph(60)")
    .source("You et al., GraphRNN (ICML 2018), Sec. 4.1")
}
