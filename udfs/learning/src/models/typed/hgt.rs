//! Heterogeneous graph transformer (Hu, Dong, Wang and Sun 2020, Sec. 3).

use super::ON_NODES_AND_LINKS;
use super::masks::Mask;
use super::unified_gt::{ATTENTION_DROPOUT, Attention, Composition, FeedForward, HEADS, TRANSFORMER, composed};
use crate::models::ModelSpec;
use crate::models::spec::{Reach, TYPED};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hgt",
    family: TYPED,
    geometry: "euclidean",
    tasks: ON_NODES_AND_LINKS,
    source: "Hu, Dong, Wang and Sun 2020, Heterogeneous graph transformer",
    defaults: TRANSFORMER,
    own: &[HEADS, ATTENTION_DROPOUT],
    reach: ATTENTION_LAYERS,
    build: |problem, reservation| composed(problem, COMPOSITION, reservation),
};

/// An edge an attention layer: all layers but the last.
const ATTENTION_LAYERS: Option<Reach> = Some(|options| Ok(options.layers - 1));

/// Cross-type attention over the neighbours alone.
const COMPOSITION: Composition<'static> = Composition {
    attention: Attention::CrossType,
    mask: Mask::Direct,
    feed_forward: FeedForward::None,
    graph_layers: 0,
};
