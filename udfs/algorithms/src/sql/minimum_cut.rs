//! `minimum_cut(edges, source, target [, nodes => relation] ...)`.

use bonnet_sql::{Function, Options};
use datafusion::common::Result;

use super::network::Reads;
use super::node_option::NodeOption;
use super::relation::{Answer, node_function};

/// The registration.
pub fn minimum_cut() -> Function {
    let reads = Reads::DIRECTED.weights("Whether the column weight holds capacities; 1 for all without it. A sum of weights beyond a DOUBLE is an error.");
    let source = NodeOption::parameter("source", "A node on the one side.");
    let target = NodeOption::parameter("target", "A node on the other.");
    node_function("minimum_cut", reads, [source, target], bind)
        .returns("node, minimum_cut; graph_id in front where edges have it")
        .description(
            "Whether each node is on the source's side of a minimum cut: the capacities of the arcs that leave that \
             side add up to as little as can be, the value of the maximum flow. Of several such sides, the smallest. \
             O(n^2 m) at worst.",
        )
        .example(
            "SELECT count(*) FROM karate.edges e JOIN minimum_cut(karate.edges, source => 0, target => 33) a ON e.src \
             = a.node JOIN minimum_cut(karate.edges, source => 0, target => 33) b ON e.dst = b.node WHERE \
             a.minimum_cut <> b.minimum_cut",
        )
        .source("Ford and Fulkerson, Maximal flow through a network (1956); the flow by petgraph's dinics")
}

fn bind(options: &Options) -> Result<Answer> {
    let (source, target) = (NodeOption::bind(options, "source")?, NodeOption::bind(options, "target")?);
    Ok(Answer::boolean("minimum_cut", move |call| {
        let (source, target) = (source.number(call.graph)?, target.number(call.graph)?);
        call.with_network(|network| {
            let flow = crate::maximum_flow(network, source, target, call.host)?;
            crate::minimum_cut(network, source, &flow, call.host)
        })
    }))
}
