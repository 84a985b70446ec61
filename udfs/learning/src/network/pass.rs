//! A pass over a network, and the masks of dropout that belong to it.

use crate::ground::random::{Dropout, key};

/// Which pass over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Without dropout.
    Evaluate,
    /// Without dropout, but normalised by the moments of its own rows, as in training: the pass that measures [`super::Moments`].
    Measure,
    /// With the dropout masks, and the sampled neighbours, of an epoch.
    Train {
        /// The epoch, counted from 1; the step where neighbours are sampled for each.
        epoch: u32,
    },
}

/// Where dropout is applied, for the keys of its masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// The input of a layer.
    Input,
    /// The attention coefficients of a layer.
    Attention,
}

/// The mask of a layer in a pass.
pub(crate) fn dropout(p: f64, seed: u64, pass: Pass, layer: usize, site: Site) -> Option<Dropout> {
    const DROPOUT: u64 = 3;
    match pass {
        Pass::Evaluate | Pass::Measure => None,
        Pass::Train { epoch } => Dropout::new(p, key(&[seed, DROPOUT, u64::from(epoch), layer as u64, site as u64])),
    }
}
