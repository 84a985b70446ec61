//! A graph made of the rows of a matrix: each joined to those most like it.

use bonnet_graph::Graph;
use candle_core::{DType, Result, Tensor};
use rayon::prelude::*;

use super::objectives::unit_rows;
use super::{Propagation, Shape};
use crate::ground::random::{hash32, key};
use crate::ops::Pattern;

/// The rows whose similarities are held at a time.
const BLOCK: usize = 256;

/// The graph of the `k` nearest by cosine of each row, an edge where one of two has the other among its nearest; ties go to the
/// smaller number. Similarities are computed in blocks of 256 rows, never all: O(n^2 width) time and 1 KB a row of room.
pub(super) fn nearest(shape: &Shape<'_>, e: &Tensor, k: usize) -> Result<Graph> {
    let unit = unit_rows(&e.detach())?;
    let (n, _) = unit.dims2()?;
    let turned = unit.t()?.contiguous()?;
    let mut edges: Vec<(u32, u32)> = Vec::with_capacity(n * k);
    for start in (0..n).step_by(BLOCK) {
        shape.check()?;
        let rows = BLOCK.min(n - start);
        let block = unit.narrow(0, start, rows)?.matmul(&turned)?.to_dtype(DType::F64)?;
        let similarity = block.flatten_all()?.to_vec1::<f64>()?;
        let found: Vec<Vec<u32>> = similarity
            .par_chunks_exact(n)
            .enumerate()
            .map(|(row, similarity)| most_similar(similarity, |u| u as usize != start + row, k))
            .collect();
        for (row, found) in found.into_iter().enumerate() {
            let v = (start + row) as u32;
            edges.extend(found.into_iter().map(|u| (u.min(v), u.max(v))));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    Ok(Graph::from_edges(n, &edges))
}

/// The numbers of the `k` largest of the entries that are `admitted`, ties by the smaller number; in no order.
pub(super) fn most_similar(similarity: &[f64], admitted: impl Fn(u32) -> bool, k: usize) -> Vec<u32> {
    let mut others: Vec<u32> = (0..similarity.len() as u32).filter(|&u| admitted(u)).collect();
    let order = |a: &u32, b: &u32| similarity[*b as usize].total_cmp(&similarity[*a as usize]).then(a.cmp(b));
    if k < others.len() {
        others.select_nth_unstable_by(k, order);
        others.truncate(k);
    }
    others
}

/// `D^-1/2 (W + I) D^-1/2` with `W_uv = max(0, cos(e_u, e_v))` on the edges of a graph and the row sums D, differentiable in `e`. Edges
/// are left out with probability `drop`, both ways at once, by the key.
pub(super) fn refined(graph: &Graph, e: &Tensor, drop: f64, draw: u64) -> Result<Propagation> {
    let n = graph.n_nodes();
    let keeps = |u: u32, v: u32| {
        let drawn = hash32(key(&[draw, u64::from(u.min(v)), u64::from(u.max(v))]) as u32);
        f64::from(drawn) >= drop * 4_294_967_296.0
    };
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for v in 0..n as u32 {
        columns.push(v);
        columns.extend(graph.neighbors(v).iter().copied().filter(|&u| drop == 0.0 || keeps(u, v)));
        offsets.push(columns.len());
    }
    let pattern = Pattern::new(&offsets, &columns, n, e.device())?;
    let unit = unit_rows(e)?;
    // The loop of each row comes first; its weight is 1 even where the row is 0.
    let mut loops = vec![0.0f64; columns.len()];
    offsets[..n].iter().for_each(|&at| loops[at] = 1.0);
    let loops = Tensor::from_vec(loops, (columns.len(), 1), e.device())?.to_dtype(e.dtype())?;
    let others = loops.affine(-1.0, 1.0)?;
    let weights = ((pattern.dots(&unit, &unit, 1)?.relu()? * others)? + loops)?;
    Propagation::by_row_sums(pattern, &weights)
}

/// The bytes of a graph of the nearest and of what the gradient of its weights keeps.
pub(super) fn bytes(n: usize, k: usize, width: usize) -> usize {
    12 * BLOCK * n + 2 * n * k * 80 + 16 * n * width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_are_the_first_of_a_sorted_list() {
        let similarity = [0.5, 0.9, 0.5, -1.0, 0.5, 1.0];
        let sorted = |mut found: Vec<u32>| {
            found.sort_unstable();
            found
        };
        assert_eq!(sorted(most_similar(&similarity, |u| u != 5, 3)), [0, 1, 2], "of equals the smaller number");
        assert_eq!(sorted(most_similar(&similarity, |u| u != 0, 3)), [1, 2, 5]);
        assert_eq!(sorted(most_similar(&similarity, |u| u != 0, 9)), [1, 2, 3, 4, 5], "no more than there are");
    }
}
