//! One row a graph of a union.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Tensors};
use crate::kernels::RowSet;
use crate::kernels::parallel::{for_each_block, for_each_block_with};

/// The pooling of a graph's rows into one. Kernels know it by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// Added.
    Sum,
    /// Added and divided by the number of nodes.
    Mean,
    /// The largest of each column; among equals the first node's passes the gradient on.
    Max,
}

/// The pooled rows of each graph; zeros for a graph without nodes.
#[derive(Debug)]
pub struct PoolRows {
    offsets: Arc<[u32]>,
    pool: Pool,
    /// For [`Pool::Max`]: which node has the largest value, graphs x columns.
    largest: Vec<u32>,
}

impl PoolRows {
    /// Graph `g` has the nodes `offsets[g]..offsets[g + 1]`; `columns` stored columns.
    pub fn new(offsets: Arc<[u32]>, pool: Pool, columns: usize) -> Self {
        let largest = if pool == Pool::Max { (offsets.len() - 1) * columns } else { 0 };
        Self { offsets, pool, largest: vec![0; largest] }
    }

    fn nodes(&self, graph: u32) -> std::ops::Range<u32> {
        self.offsets[graph as usize]..self.offsets[graph as usize + 1]
    }

    fn scale(&self, graph: u32) -> f32 {
        match self.pool {
            Pool::Mean => 1.0 / self.nodes(graph).len().max(1) as f32,
            _ => 1.0,
        }
    }
}

impl Layer for PoolRows {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (pattern, x) = (tensors.segments(&self.offsets)?, &tensors.inputs[0]);
        match self.pool {
            Pool::Sum => pattern.total(x),
            Pool::Max => pattern.max(x),
            Pool::Mean => {
                let n = self.offsets.len() as u32 - 1;
                let shares: Vec<f32> = (0..n).map(|graph| self.scale(graph)).collect();
                pattern.total(x)?.broadcast_mul(&tensors.of_pass(&shares, shares.len(), 1)?)
            }
        }
    }

    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        for &graph in rows.rows() {
            self.nodes(graph).for_each(|node| needed[node as usize] = true);
        }
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, width, set) = (pass.input(0), pass.width(), pass.rows());
        let row = |node: u32| &x[node as usize * width..][..width];
        if self.pool != Pool::Max {
            let this = &*self;
            return for_each_block(set, out, width, pass.monitor, |graphs, first, chunk| {
                for &graph in graphs {
                    let out = &mut chunk[(graph as usize - first) * width..][..width];
                    out.fill(0.0);
                    for node in this.nodes(graph) {
                        out.iter_mut().zip(row(node)).for_each(|(out, x)| *out += x);
                    }
                    out.iter_mut().for_each(|out| *out *= this.scale(graph));
                }
            });
        }
        let offsets = &self.offsets;
        let mut parts: Vec<&mut [u32]> = self.largest.chunks_mut(set.span() * width).collect();
        for_each_block_with(set, out, width, &mut parts, pass.monitor, |graphs, first, chunk, largest| {
            for &graph in graphs {
                let at = (graph as usize - first) * width;
                let (out, largest) = (&mut chunk[at..at + width], &mut largest[at..at + width]);
                let mut nodes = offsets[graph as usize]..offsets[graph as usize + 1];
                match nodes.next() {
                    None => out.fill(0.0),
                    Some(node) => {
                        out.copy_from_slice(row(node));
                        largest.fill(node);
                    }
                }
                for node in nodes {
                    for ((out, largest), x) in out.iter_mut().zip(&mut *largest).zip(row(node)) {
                        if *x > *out {
                            (*out, *largest) = (*x, node);
                        }
                    }
                }
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (width, graphs, this) = (f.width(), f.rows(), &*self);
        let Some(mut d_x) = pass.gradient_everywhere(0) else { return Ok(()) };
        let add = d_x.add;
        for_each_block(f.input_rows(0), &mut d_x.values, width, f.monitor, |nodes, first, chunk| {
            for &node in nodes {
                let out = &mut chunk[(node as usize - first) * width..][..width];
                if !add {
                    out.fill(0.0);
                }
                // The last graph that starts at or before the node: graphs without nodes start where the next one does.
                let graph = this.offsets.partition_point(|&start| start <= node) as u32 - 1;
                if graphs.rows().binary_search(&graph).is_err() {
                    continue;
                }
                let d_out = &d_out[graph as usize * width..][..width];
                match this.pool {
                    Pool::Max => {
                        let largest = &this.largest[graph as usize * width..][..width];
                        for ((out, d), largest) in out.iter_mut().zip(d_out).zip(largest) {
                            *out += if *largest == node { *d } else { 0.0 };
                        }
                    }
                    _ => {
                        let scale = this.scale(graph);
                        out.iter_mut().zip(d_out).for_each(|(out, d)| *out += scale * d);
                    }
                }
            }
        })
    }
}
