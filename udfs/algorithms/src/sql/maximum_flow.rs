//! `maximum_flow(edges, source, target [, nodes => relation] ...)`.

use bonnet_sql::{Function, Options};
use datafusion::common::Result;

use super::network::{Reads, doubles, nodes};
use super::node_option::NodeOption;
use super::relation::{Answer, graph_function, number};

/// The registration.
pub fn maximum_flow() -> Function {
    let reads = Reads::DIRECTED.weights("Whether the column weight holds capacities; 1 for all without it. A sum of weights beyond a DOUBLE is an error.");
    let source = NodeOption::parameter("source", "The node that the flow leaves.");
    let target = NodeOption::parameter("target", "The node that it reaches.");
    graph_function("maximum_flow", &["src", "dst"], reads, [source, target], bind)
        .returns("src, dst, maximum_flow; graph_id in front where edges have it")
        .description(
            "What flows along each arc in a maximum flow from source to target: between 0 and its capacity, and as \
             much into every other node as out of it. The value of the flow is what leaves the source less what enters \
             it. An edge that is not directed carries its capacity either way, and is there once, in the direction of \
             its flow. O(n^2 m) at worst.",
        )
        .example("SELECT sum(maximum_flow) FROM maximum_flow(karate.edges, source => 0, target => 33) WHERE src = 0")
        .source("Dinic, Algorithm for solution of a problem of maximum flow (1970); petgraph's dinics")
}

fn bind(options: &Options) -> Result<Answer> {
    let (source, target) = (NodeOption::bind(options, "source")?, NodeOption::bind(options, "target")?);
    Ok(Answer::new(vec![number("maximum_flow")], move |call| {
        let (source, target) = (source.number(call.graph)?, target.number(call.graph)?);
        let (mut src, mut dst, mut values) = (Vec::new(), Vec::new(), Vec::new());
        call.with_network(|network| {
            let flow = crate::maximum_flow(network, source, target, call.host)?;
            let mut at = 0;
            for u in 0..network.n_nodes() as u32 {
                for &v in network.out.of(u) {
                    let along = flow.along[at];
                    at += 1;
                    // Of an edge that nothing flows along, the arc from its smaller endpoint.
                    let back = network.out.offsets()[v as usize] + network.out.of(v).partition_point(|&w| w < u);
                    if network.directed || along > 0.0 || (u < v && flow.along[back] == 0.0) {
                        src.push(u);
                        dst.push(v);
                        values.push(along);
                    }
                }
            }
            Ok::<_, crate::AlgorithmError>(())
        })?;
        Ok(vec![nodes(src), nodes(dst), doubles(values)])
    }))
}
