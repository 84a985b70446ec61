//! Layers of models on tokens.

use super::*;
use crate::ground::Axis;
use crate::program::layers::sample_mean::Agreement;

pub(super) fn programs() -> Vec<(&'static str, Write)> {
    vec![
        ("gelu", |b, x, y, _| {
            let z = b.gelu(x);
            let u = b.sum(&[(z, 1.5), (y, -1.0)]);
            let u = b.gelu(u);
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (x, 0.2)]))
        }),
        ("tanh attention", |b, x, y, _| {
            let pairs = Arc::new(four_tokens_a_node());
            let (q, k, v) = (b.concat(&[x, y]), b.concat(&[y, x]), b.concat(&[x, x]));
            let z = b.tanh_attention(&pairs, [q, k, v], 2, "factor", &[1.0, 0.5, 0.25, 0.2], 0.3)?;
            let z = b.mean_heads(z, 2, WIDTH);
            let edges = edges(b)?;
            let u = b.tanh_attention(&edges, [x, x, z], 1, "other", &[1.0, -0.7], 0.0)?;
            Ok(b.sum(&[(z, 1.0), (u, 0.7), (y, 0.2)]))
        }),
        ("order affine", |b, x, y, _| {
            let both = b.concat(&[x, y]);
            let z = b.order_affine(both, "both", 4, Axis::padded(1, 9));
            let z = b.relu(z);
            let z = b.order_affine(z, "narrow", 5, b.axis(x));
            let u = b.order_affine(x, "own", 1, b.axis(x));
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (x, 0.2)]))
        }),
        ("read out", |b, x, y, _| {
            let z = b.product(x, y);
            let u = b.token_read_out(z, "first", 4, Initial::glorot(WIDTH, 1));
            let v = b.token_read_out(x, "second", 4, Initial::glorot(WIDTH, 1));
            Ok(b.sum(&[(u, 1.0), (v, 0.5)]))
        }),
        ("codebook", |b, x, y, _| {
            let both = b.concat(&[x, y]);
            let (rows, sizes) = b.centroids(both, "code", 6, 0.9)?;
            let axis = b.axis(both);
            let initial = || Initial::glorot(2 * WIDTH, 2 * WIDTH);
            let (key, value) = (b.parameter("key", axis, axis, initial()), b.parameter("value", axis, axis, initial()));
            let (k, v) = (b.linear_with(rows, key), b.linear_with(rows, value));
            let z = b.codebook_attention([both, k, v], sizes, 2, 0.3);
            let z = b.mean_heads(z, 2, WIDTH);
            Ok(b.sum(&[(z, 1.0), (x, 0.2), (y, 0.3)]))
        }),
        ("sample mean", |b, x, y, _| sampled(b, x, y, 0.0)),
        (CONSTANTS, |b, x, y, _| sampled(b, x, y, 0.7)),
    ]
}

/// A program whose penalty takes a part of itself for a constant: no difference of losses has its slope.
pub(super) const CONSTANTS: &str = "sample mean with a penalty";

/// Three samples of each row, two of them of others.
fn sampled(b: &mut Builder<'_, '_>, x: Slot, y: Slot, weight: f64) -> Result<Slot, BuildError> {
    let rows = (0..3 * NODES as u32).map(|row| (row / 3 + row % 3 * 7) % NODES as u32).collect();
    let (offsets, values) = ((0..=3 * NODES).collect(), vec![1.0; 3 * NODES]);
    let of_samples = Arc::new(Operator::rectangular(offsets, rows, values, NODES));
    let z = b.carry(&of_samples, x);
    // Rows that are targets of these tests.
    let z = b.sample_mean(z, y, Arc::new([0, 2, 5, 9]), Agreement { samples: 3, weight, temperature: 0.5 });
    Ok(b.sum(&[(z, 1.0), (x, 0.2), (y, 0.3)]))
}

/// All pairs of the four tokens of each of ten nodes.
fn four_tokens_a_node() -> Operator {
    let offsets = (0..=NODES).map(|row| 4 * row).collect();
    let columns = (0..NODES as u32).flat_map(|row| row / 4 * 4..row / 4 * 4 + 4).collect();
    Operator::from_rows(offsets, columns, Vec::new(), false)
}
