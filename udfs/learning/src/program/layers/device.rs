//! What attention layers share on a device: weights on edges, and the sums that they weigh.

use super::super::{Entries, Gather, Lower, Sink, code};
use crate::device::{Buffer, DeviceError, args};
use crate::kernels::edge::Gate;
use crate::kernels::elementwise::Activation;

/// The coefficients before dropout and after it, which a layer holds.
pub(super) const ALPHA: usize = 0;
pub(super) const DROPPED: usize = 1;

/// The scratch of the gradient of the scores.
const D_SCORES: usize = 0;

/// A gate of edges as an activation.
fn activation(gate: Gate) -> Activation {
    match gate {
        Gate::Identity => Activation::Identity,
        Gate::Tanh => Activation::Tanh,
        Gate::Sigmoid => Activation::Sigmoid,
        Gate::Leaky(slope) => Activation::Leaky(slope),
    }
}

/// `out[e] = gate(target[i] + source[j])` for two inputs, `heads` an entry.
pub(super) fn pair_scores(
    lower: &mut Lower<'_, '_>,
    entries: Entries,
    heads: usize,
    (target, source): (usize, usize),
    gate: Gate,
    out: Buffer,
) {
    let ((activation, slope), stride) = (code(activation(gate)), lower.input_axis(target).stride());
    let (t, s, rows) = (lower.input(target), lower.input(source), lower.rows());
    let args = args![entries.offsets, entries.columns, heads, t, s, stride, activation, slope, out];
    lower.by_warp("edge_pair_scores", rows, args);
}

/// From the gradient of the gated scores, in `d`, to that of the two inputs; `values` are the gated scores.
#[expect(clippy::too_many_arguments, reason = "the operands of a gradient on the edges of a set")]
pub(super) fn pair_scores_gradient(
    lower: &mut Lower<'_, '_>,
    entries: Entries,
    by_source: Entries,
    heads: usize,
    (target, source): (usize, usize),
    gate: Gate,
    values: Buffer,
    d: Buffer,
) -> Result<(), DeviceError> {
    let ((activation, slope), stride) = (code(activation(gate)), lower.input_axis(target).stride());
    let rows = lower.rows();
    lower.by_warp("edge_through_gate", rows, args![entries.offsets, heads, activation, slope, values, d]);
    if let Some(Sink { buffer, add }) = lower.gradient(target)? {
        let args = args![entries.offsets, entries.edges, heads, d, false, add, buffer, stride];
        lower.by_warp("edge_sums", rows, args);
    }
    if let Some(Sink { buffer, add }) = lower.gradient_everywhere(source) {
        let rows = lower.input_rows(source);
        let args = args![by_source.offsets, by_source.edges, heads, d, false, add, buffer, stride];
        lower.by_warp("edge_sums", rows, args);
    }
    Ok(())
}

/// `out_i = tail(sum_j dropout(alpha_ij) x_j)` for the input `value`, with the coefficients that the layer holds.
pub(super) fn attend(
    lower: &mut Lower<'_, '_>,
    entries: Entries,
    n_entries: usize,
    heads: usize,
    value: usize,
    mask: Option<Buffer>,
) -> Result<(), DeviceError> {
    let (rows, width) = (lower.rows(), lower.width());
    let mut weights = lower.own(ALPHA, n_entries * heads)?;
    if mask.is_some() {
        let alpha = std::mem::replace(&mut weights, lower.own(DROPPED, n_entries * heads)?);
        let args = args![entries.offsets, entries.columns, heads, None, mask, alpha, weights];
        lower.by_warp("edge_scale", rows, args);
    }
    let (plain, tail) = (Gather::plain(entries, lower.input(value), width, lower.output()), lower.finish());
    lower.gather(rows, Gather { weights: Some(weights), heads, tail, ..plain });
    Ok(())
}

/// The gradient of [`attend`] by its value, which is added here, and by the scores of the softmax, times `scale`, which is
/// returned: valid until another layer takes its place.
#[expect(clippy::too_many_arguments, reason = "the operands of a gradient on the edges of a set")]
pub(super) fn attend_gradient(
    lower: &mut Lower<'_, '_>,
    entries: Entries,
    by_source: Entries,
    n_entries: usize,
    (heads, dim): (usize, usize),
    value: usize,
    scale: f32,
    mask: Option<Buffer>,
) -> Result<Buffer, DeviceError> {
    let (rows, width, d_out) = (lower.rows(), lower.width(), lower.d_out());
    let (alpha, d) = (lower.own(ALPHA, n_entries * heads)?, lower.scratch(D_SCORES, n_entries * heads)?);
    let args = args![entries.offsets, entries.columns, heads, dim, d_out, lower.input(value), scale, d];
    lower.by_warp("edge_dots", rows, args);
    let mut weights = alpha;
    if mask.is_some() {
        weights = lower.own(DROPPED, n_entries * heads)?;
        lower.by_warp("edge_scale", rows, args![entries.offsets, entries.columns, heads, None, mask, d, d]);
    }
    lower.by_warp("edge_softmax_gradient", rows, args![entries.offsets, heads, alpha, d]);
    if let Some(Sink { buffer, add }) = lower.gradient_everywhere(value) {
        let rows = lower.input_rows(value);
        let plain = Gather::plain(by_source, d_out, width, buffer);
        lower.gather(rows, Gather { weights: Some(weights), heads, add, ..plain });
    }
    Ok(d)
}
