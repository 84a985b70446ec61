//! GraphTrans (Wu et al. 2021, Sec. 3): layers of message passing, then a transformer over all nodes without positional codes.

use super::ON_NODES_AND_LINKS;
use super::masks::Mask;
use super::unified_gt::{ATTENTION_DROPOUT, Attention, Composition, FeedForward, HEADS, composed};
use crate::models::ModelSpec;
use crate::options::{COMMON, Defaults, Domain, OptionSpec};

/// The registration: the settings of H2GB, but for its warm-up, cosine and clipping, which are options of every model. All pairs of
/// nodes are in memory.
pub const SPEC: ModelSpec = ModelSpec {
    name: "graphtrans",
    family: "attention",
    geometry: "euclidean",
    tasks: ON_NODES_AND_LINKS,
    source: "Wu, Jain, Wright, Mirhoseini, Gonzalez and Stoica 2021, Representing long-range context for graph neural networks with \
             global attention",
    defaults: Defaults {
        lr: 5e-4,
        weight_decay: 1e-5,
        optimizer: "adamw",
        hidden: 16,
        layers: 4,
        dropout: 0.2,
        ..COMMON
    },
    own: &[
        OptionSpec::integer("graph_layers", 3, [0, 64], "layers of gcn before the layers of attention"),
        OptionSpec::new(
            "feed_forward_width",
            Domain::OptionalInteger { min: 1, max: 65_536 },
            "the width within the block behind attention; NULL is twice that of all heads",
        ),
        HEADS,
        ATTENTION_DROPOUT,
    ],
    // Every node attends to all.
    reach: None,
    build: |problem, reservation| {
        let width = problem.options.optional_integer("feed_forward_width");
        let feed_forward = FeedForward::Shared(width.map(|width| width as usize));
        let graph_layers = problem.options.integer("graph_layers")? as usize;
        composed(
            problem,
            Composition { attention: Attention::Plain, mask: Mask::None, feed_forward, graph_layers },
            reservation,
        )
    },
};
