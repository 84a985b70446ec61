//! `wl_subtree_kernel(edges ...)` and the other kernels and distances of pairs of graphs.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, OptionValue, Options, Parameter, Run, kernel_error, stopped, usage_error,
};
use datafusion::common::{DataFusionError, Result};

use super::graph_set::{GraphSetInput, Graphs};
use crate::{NeuralTangentOptions, PairValues};

/// Rows that are emitted together.
const TOGETHER: usize = 1 << 16;

const WL_SUBTREE: &str = "wl_subtree_kernel";
const SHORTEST_PATH: &str = "shortest_path_kernel";
const NEURAL_TANGENT: &str = "graph_neural_tangent_kernel";
const WL_WASSERSTEIN: &str = "wl_wasserstein_distance";
const TREE_MOVERS: &str = "tree_movers_distance";

/// Computes the values of all pairs of graphs.
type Kernel = Box<dyn Fn(&Graphs, &dyn Monitor) -> Result<PairValues> + Send + Sync>;

/// Parses the options of a call.
type BindOptions = fn(&Options) -> Result<Kernel>;

/// A relation `a, b, value` of all pairs of graphs.
fn pairs(
    name: &'static str,
    value: &'static str,
    options: impl IntoIterator<Item = Parameter>,
    bind: BindOptions,
) -> Function {
    let operator = move |call: &Call| bind_call(name, value, bind, call);
    Function::new(name, Body::Relation(Arc::new(operator)))
        .parameters(GraphSetInput::parameters().into_iter().chain(options))
}

fn bind_call(name: &'static str, value: &'static str, bind: BindOptions, call: &Call) -> Result<Binding> {
    let kernel = bind(&call.options)?;
    let input = GraphSetInput::bind(name, call)?;
    let id = input.require_id()?;
    let key = |name: &str| Field::new(name, id.data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![key("a"), key("b"), Field::new(value, DataType::Float64, true)]));
    let reads = input.reads.clone();
    Ok(Binding::new(schema, reads, move |run| {
        let graphs = input.collect(run)?;
        let host = run.host();
        let _values = Reservation::new(host, PairValues::bytes(graphs.set.len())).map_err(stopped)?;
        let values = run.install(|| kernel(&graphs, host))?;
        emit(run, &graphs, &values)
    }))
}

/// A row for each pair, a graph with itself too: the one that comes first as `a`.
fn emit(run: &Run, graphs: &Graphs, values: &PairValues) -> Result<()> {
    let Some(ids) = graphs.ids()? else { return Ok(()) };
    let (mut a, mut b, mut start) = (Vec::new(), Vec::new(), 0);
    for i in 0..values.len() {
        a.extend(0..=i as u32);
        b.resize(a.len(), i as u32);
        if a.len() >= TOGETHER || i + 1 == values.len() {
            let end = start + a.len();
            let key = |numbers: &mut Vec<u32>| take(&ids, &UInt32Array::from(std::mem::take(numbers)), None);
            let columns: Vec<ArrayRef> =
                vec![key(&mut a)?, key(&mut b)?, Arc::new(Float64Array::from(values.values()[start..end].to_vec()))];
            run.emit_all(columns)?;
            start = end;
        }
    }
    Ok(())
}

fn rounds(default: i64) -> Parameter {
    Parameter::integer("rounds", "The rounds of colour refinement; the colours before the first count too.")
        .or(OptionValue::Integer(default))
}

fn normalize() -> Parameter {
    Parameter::boolean("normalize", false, "Whether each value is divided by the square roots of both graphs' own.")
}

fn count(options: &Options, name: &str, least: i64, default: i64) -> Result<usize> {
    Ok(options.integer_from(name, least)?.unwrap_or(default) as usize)
}

fn error(name: &'static str) -> impl Fn(bonnet_graph::Stopped) -> DataFusionError {
    move |reason| kernel_error(name, reason)
}

fn scaled(values: PairValues, normalize: bool) -> PairValues {
    if normalize { values.normalized() } else { values }
}

/// The registration.
pub(super) fn wl_subtree_kernel() -> Function {
    pairs(WL_SUBTREE, "kernel", [rounds(5), normalize()], |options| {
        let (rounds, normalize) = (count(options, "rounds", 0, 5)?, options.boolean("normalize")?.unwrap_or(false));
        Ok(Box::new(move |graphs, monitor| {
            let values = crate::wl_subtree_kernel(&graphs.set, rounds, monitor).map_err(error(WL_SUBTREE))?;
            Ok(scaled(values, normalize))
        }))
    })
    .returns("a, b, kernel")
    .description(
        "The Weisfeiler-Lehman subtree kernel of all pairs of graphs, a graph with itself too: how many pairs of nodes, one of each \
         graph, have one colour, summed over the rounds of colour refinement from 0 on. spectral_clustering and \
         kernel_two_sample_test take the rows. Labels are compared; without, all nodes are alike. O(rounds (n + m)), then a step for \
         each colour that two graphs have in common.",
    )
    .example(
        "SELECT a, b, kernel FROM wl_subtree_kernel((SELECT src % 2 AS graph_id, src, dst FROM karate.edges), rounds => 1) \
         ORDER BY a, b",
    )
    .source("Shervashidze et al., Weisfeiler-Lehman Graph Kernels (JMLR 2011), Definition 4 and Theorem 3")
}

/// The registration.
pub(super) fn shortest_path_kernel() -> Function {
    pairs(SHORTEST_PATH, "kernel", [normalize()], |options| {
        let normalize = options.boolean("normalize")?.unwrap_or(false);
        Ok(Box::new(move |graphs, monitor| {
            let values = crate::shortest_path_kernel(&graphs.set, monitor).map_err(error(SHORTEST_PATH))?;
            Ok(scaled(values, normalize))
        }))
    })
    .returns("a, b, kernel")
    .description(
        "The shortest-path kernel of all pairs of graphs, a graph with itself too: how many ordered pairs of two nodes of one graph, and of two \
         of the other, have the same distance and the same labels, first and second. Nodes that no path joins do not count. Without labels \
         all nodes are alike. O(n (n + m)) a graph, then a step for each kind of path that two graphs have in common.",
    )
    .example(
        "SELECT a, b, kernel FROM shortest_path_kernel((SELECT src % 2 AS graph_id, src, dst FROM karate.edges)) ORDER BY a, b",
    )
    .source("Borgwardt and Kriegel, Shortest-path kernels on graphs (ICDM 2005)")
}

/// The registration.
pub(super) fn graph_neural_tangent_kernel() -> Function {
    let own = [
        Parameter::integer("blocks", "The blocks, each a sum over a node and its neighbours and then layers.")
            .or(OptionValue::Integer(4)),
        Parameter::integer("layers", "The fully connected layers of a block, at least 1.").or(OptionValue::Integer(2)),
        Parameter::text("aggregate", "'sum' over a node and its neighbours, or 'mean'.")
            .or(OptionValue::Text("sum".into())),
        Parameter::boolean(
            "jumping_knowledge",
            true,
            "Whether all blocks are read out, the features too, and not the last alone.",
        ),
        normalize(),
    ];
    pairs(NEURAL_TANGENT, "kernel", own, |options| {
        let mean = match options.text("aggregate")?.unwrap_or("sum") {
            "sum" => false,
            "mean" => true,
            other => {
                return usage_error(format!("{NEURAL_TANGENT}: aggregate => '{other}': expected 'sum' or 'mean'"));
            }
        };
        let network = NeuralTangentOptions {
            blocks: count(options, "blocks", 0, 4)?,
            layers: count(options, "layers", 1, 2)?,
            mean,
            jumping_knowledge: options.boolean("jumping_knowledge")?.unwrap_or(true),
        };
        let normalize = options.boolean("normalize")?.unwrap_or(false);
        Ok(Box::new(move |graphs, monitor| {
            let values = crate::graph_neural_tangent_kernel(&graphs.set, network, monitor)
                .map_err(error(NEURAL_TANGENT))?;
            Ok(scaled(values, normalize))
        }))
    })
    .returns("a, b, kernel")
    .description(
        "The graph neural tangent kernel of all pairs of graphs, a graph with itself too: that of infinitely wide graph networks with \
         ReLU, trained by gradient descent. A node's features are the unit vector of its label; without labels all nodes have one. \
         For graphs of n and n' nodes with m and m' edges O(n n' + n m' + n' m) a block and layer.",
    )
    .example(
        "SELECT a, b, kernel FROM graph_neural_tangent_kernel((SELECT src % 2 AS graph_id, src, dst FROM karate.edges), blocks => \
         1, normalize => true) ORDER BY a, b",
    )
    .source("Du et al., Graph Neural Tangent Kernel: Fusing Graph Neural Networks with Graph Kernels (NeurIPS 2019), Sec. 3")
}

/// The registration.
pub(super) fn wl_wasserstein_distance() -> Function {
    pairs(WL_WASSERSTEIN, "distance", [rounds(3)], |options| {
        let rounds = count(options, "rounds", 0, 3)?;
        Ok(Box::new(move |graphs, monitor| {
            crate::wl_wasserstein_distance(&graphs.set, rounds, monitor).map_err(|error| match error {
                crate::WlWassersteinError::NoNodes(i) => {
                    graphs.graphs[i].context(kernel_error(WL_WASSERSTEIN, crate::WlWassersteinError::NoNodes(i)))
                }
                other => kernel_error(WL_WASSERSTEIN, other),
            })
        }))
    })
    .returns("a, b, distance")
    .description(
        "The Wasserstein Weisfeiler-Lehman distance of all pairs of graphs, a graph with itself too: the least mean distance at which the \
         nodes of one graph are moved to those of the other, two nodes being apart by the share of the rounds of colour refinement, \
         0 included, in which their colours differ. From 0 to 1; exact. The kernel of the paper is exp(-lambda distance). Labels are \
         compared; without, all nodes are alike. A graph without nodes is an error. Cost as for wl_subtree_kernel.",
    )
    .example(
        "SELECT a, b, distance FROM wl_wasserstein_distance((SELECT src % 2 AS graph_id, src, dst FROM karate.edges)) ORDER BY a, b",
    )
    .source("Togninalli et al., Wasserstein Weisfeiler-Lehman Graph Kernels (NeurIPS 2019), Definitions 4 and 5, Eq. 3")
}

/// The registration.
pub(super) fn tree_movers_distance() -> Function {
    let own = [
        Parameter::integer("depth", "The levels of the trees, at least 1.").or(OptionValue::Integer(4)),
        Parameter::number("weight", "What the distance of subtrees counts beside that of their roots, at least 0.")
            .or(OptionValue::Number(1.0)),
    ];
    pairs(TREE_MOVERS, "distance", own, |options| {
        let depth = count(options, "depth", 1, 4)?;
        let weight = options.number("weight")?.unwrap_or(1.0);
        if !(weight >= 0.0 && weight.is_finite()) {
            return usage_error(format!("{TREE_MOVERS}: weight => {weight}: expected a finite number of at least 0"));
        }
        Ok(Box::new(move |graphs, monitor| {
            crate::tree_movers_distance(&graphs.set, depth, weight, monitor).map_err(error(TREE_MOVERS))
        }))
    })
    .returns("a, b, distance")
    .description(
        "The tree mover's distance of all pairs of graphs, a graph with itself too: the least sum of distances in a matching of the nodes' \
         computation trees, the smaller graph filled up with blank trees. Two trees are apart by the distance of their roots' features \
         plus weight times that of their subtrees, matched likewise. A node's features are the unit vector of its label; without labels all \
         nodes have one. Exact; for graphs of n nodes of degree d, O(n^2 d^3) a level and O(n^3) for a pair at most.",
    )
    .example(
        "SELECT a, b, distance FROM tree_movers_distance((SELECT src % 2 AS graph_id, src, dst FROM karate.edges), depth => 3) \
         ORDER BY a, b",
    )
    .source("Chuang and Jegelka, Tree Mover's Distance (NeurIPS 2022), Definitions 4 to 6")
}
