//! H2G-former (Lin et al. 2024, H2GB, Sec. 5.3): hgt with a wider mask, known labels as an input, and a feed-forward block of each
//! type.

use super::masks::Mask;
use super::unified_gt::{ATTENTION_DROPOUT, Attention, Composition, FeedForward, HEADS, composed};
use crate::models::ModelSpec;
use crate::models::spec::{Reach, TYPED};
use crate::options::table::LABEL_RATE;
use crate::options::{COMMON, Defaults, OptionSpec, Task};

/// The registration: the authors' settings, but for the width, which they choose by data set (64 to 512 in all heads), and for batches
/// of 32 nodes (`batch_nodes`), 5 epochs of warm-up (`warmup`), a cosine (`schedule`) and gradients of norm 1 (`clip`), which are
/// options of every model.
pub const SPEC: ModelSpec = ModelSpec {
    name: "h2g_former",
    family: TYPED,
    geometry: "euclidean",
    tasks: &[Task::NodeClassification.name()],
    source: "Lin et al. 2024, When heterophily meets heterogeneity: challenges and a new large-scale graph benchmark (H2G-former)",
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
        OptionSpec::integer("hops", 2, [1, 16], "the edges that attention goes over"),
        HEADS,
        ATTENTION_DROPOUT,
        OptionSpec::real(
            LABEL_RATE.name,
            0.3,
            [0.0, 1.0],
            "the probability that the class of a training node is an input in a step, as in every model",
        ),
    ],
    reach: HOPS_A_LAYER,
    build: |problem, reservation| {
        let mask = Mask::Hops(problem.options.integer("hops")? as usize);
        let (attention, feed_forward) = (Attention::CrossType, FeedForward::ByType(None));
        composed(problem, Composition { attention, mask, feed_forward, graph_layers: 0 }, reservation)
    },
};

/// So many edges an attention layer: all layers but the last.
const HOPS_A_LAYER: Option<Reach> = Some(|options| Ok((options.layers - 1) * options.integer("hops")? as usize));
