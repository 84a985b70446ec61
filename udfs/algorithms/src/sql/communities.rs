//! `louvain`, `leiden`, `label_propagation_communities` and `modularity`.

use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::{Reads, defined, wrong};
use super::node_relation::NodeRelation;
use super::relation::{Answer, graph_function, node_function, number};
use crate::{CommunityOptions, LabelPropagation};

const LOUVAIN: &str = "louvain";
const LEIDEN: &str = "leiden";
const LABELS: &str = "label_propagation_communities";
const MODULARITY: &str = "modularity";
const WEIGHTS: &str = "Whether to read the column weight, a strength. A sum of weights beyond a DOUBLE is an error.";

fn resolution() -> Parameter {
    Parameter::number("resolution", "The larger, the smaller communities are preferred; 1 is plain modularity.")
        .or(OptionValue::Number(1.0))
}

fn options(options: &Options) -> Result<CommunityOptions> {
    let options = CommunityOptions {
        resolution: options.number("resolution")?.unwrap_or(1.0),
        seed: options.integer("seed")?.unwrap_or(0) as u64,
    };
    match options.validate() {
        Ok(()) => Ok(options),
        Err(error) => usage_error(error.to_string()),
    }
}

/// The registration of `louvain`.
pub fn louvain() -> Function {
    node_function(LOUVAIN, Reads::SIMPLE.weights(WEIGHTS), [resolution(), Parameter::seed()], |given| {
        let options = options(given)?;
        Ok(Answer::count(LOUVAIN, move |call| {
            call.with_network(|network| crate::louvain(network, &options, call.host))
        }))
    })
    .returns("node, louvain; graph_id in front where edges have it")
    .description(
        "The community of every node by the method of Louvain: no move of a node, nor of a community, to a neighbour's raises \
         modularity. Communities count from 0 by falling size, ties by smallest key. O(m) a sweep over the nodes, usually some tens; \
         the same communities for a seed at any number of threads.",
    )
    .example("SELECT louvain, count(*) AS nodes FROM louvain(karate.edges) GROUP BY 1 ORDER BY 1")
    .source("Blondel, Guillaume, Lambiotte and Lefebvre, Fast unfolding of communities in large networks (2008)")
}

/// The registration of `leiden`.
pub fn leiden() -> Function {
    node_function(LEIDEN, Reads::SIMPLE.weights(WEIGHTS), [resolution(), Parameter::seed()], |given| {
        let options = options(given)?;
        Ok(Answer::count(LEIDEN, move |call| call.with_network(|network| crate::leiden(network, &options, call.host))))
    })
    .returns("node, leiden; graph_id in front where edges have it")
    .description(
        "The community of every node by the method of Leiden: as louvain, but each community is connected. Communities count \
         from 0 by falling size, ties by smallest key. About twice the cost of louvain.",
    )
    .example("SELECT leiden, count(*) AS nodes FROM leiden(karate.edges) GROUP BY 1 ORDER BY 1")
    .source("Traag, Waltman and van Eck, From Louvain to Leiden: guaranteeing well-connected communities (2019)")
}

/// The registration of `label_propagation_communities`.
pub fn label_propagation_communities() -> Function {
    let iterations = Parameter::integer(
        "iterations",
        "All nodes change at once, so many times, as LDBC Graphalytics has it; NULL for one by one, until none changes.",
    )
    .optional();
    node_function(LABELS, Reads::DIRECTED, [iterations, Parameter::seed()], |given| {
        let seed = given.integer("seed")?.unwrap_or(0) as u64;
        let how = match given.integer_from("iterations", 0)? {
            None => LabelPropagation::Asynchronous { seed },
            Some(iterations) => LabelPropagation::Synchronous { iterations: iterations as usize },
        };
        Ok(Answer::count(LABELS, move |call| {
            call.with_network(|network| crate::label_propagation_communities(network, how, call.host))
        }))
    })
    .returns("node, label_propagation_communities; graph_id in front where edges have it")
    .description(
        "The community of every node by the propagation of labels: each takes the label that is most frequent among its \
         neighbours, one node after the other, until none changes. With directed => true both arcs of a pair count. Communities count \
         from 0 by falling size, ties by smallest key. O(m) a sweep over the nodes.",
    )
    .example("SELECT count(DISTINCT label_propagation_communities) FROM label_propagation_communities(karate.edges)")
    .source("Raghavan, Albert and Kumara (2007); with iterations, CDLP of LDBC Graphalytics, Sec. 2.3.4")
}

/// The registration of `modularity`.
pub fn modularity() -> Function {
    let communities = NodeRelation::nodes(
        "communities",
        "The community of every node: node, community; with graph_id where edges have it.",
    );
    let reads = Reads::SIMPLE.weights(WEIGHTS).choosing(communities.with_communities().required());
    graph_function(MODULARITY, &[], reads, [resolution()], |given| {
        let resolution = options(given)?.resolution;
        Ok(Answer::new(vec![number(MODULARITY)], move |call| {
            let mut community = vec![u32::MAX; call.graph.n_nodes()];
            for &(v, own) in call.chosen.unwrap_or_default() {
                let own = own as u32;
                if ![u32::MAX, own].contains(&std::mem::replace(&mut community[v as usize], own)) {
                    return wrong(format!("communities has two communities of the node {}", call.graph.keys.describe(v)));
                }
            }
            if let Some(v) = community.iter().position(|&own| own == u32::MAX) {
                return wrong(format!("communities has none of the node {}", call.graph.keys.describe(v as u32)));
            }
            let found = call.with_network(|network| {
                Ok::<_, super::network::Failure>(crate::modularity(network, &community, resolution))
            })?;
            Ok(vec![defined(vec![found.unwrap_or(f64::NAN)])])
        }))
    })
    .returns("modularity, one row; graph_id in front where edges have it, one row each")
    .description(
        "The modularity of communities: the share of edges within them, less what it would be by chance at the same degrees, times \
         resolution; NULL without edges. O(n + m).",
    )
    .example(
        "SELECT * FROM modularity(karate.edges, (SELECT node, louvain AS community FROM louvain(karate.edges)))",
    )
    .source("Newman and Girvan, Finding and evaluating community structure in networks (2004)")
}
