//! What relations make of their sources: products with the weights of a relation, head by head (Hu et al. 2020, Eq. 3-4).

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::super::{
    Backward, Builder, Forward, Layer, Parameter, Prepare, Prepared, Scratch, Shapes, Slot, Space, Tensors,
};
use crate::ground::{Axis, Initial};
use crate::kernels::RowSet;
use crate::kernels::attention::add_scaled;
use crate::kernels::combine::dot;
use crate::kernels::edge::HeadShape;
use crate::kernels::parallel::{for_each_block, sum_blocks};
use crate::kernels::simd::{self, Body, Vectors};
use crate::network::StackedSources;
use crate::ops::Pattern;

/// Row `s`, of relation r and node j: head h of it is `p_rh x_jh W_rh`. The parameters are the weights of each relation, the
/// heads side by side, then the factors `p`, if there are some.
#[derive(Debug)]
struct RelationLinear {
    stack: StackedSources,
    shape: HeadShape,
    factors: bool,
}

impl Builder<'_, '_> {
    /// For each relation and each of its sources the product with new weights of the relation, `name(relation)`: of each head
    /// of `x`, which has `heads` groups of columns, with a square matrix. With `factors` a number for each relation and head,
    /// 1 at first, which a block of this name holds.
    pub fn relation_linear(
        &mut self,
        x: Slot,
        stack: &StackedSources,
        heads: usize,
        name: impl Fn(&str) -> String,
        factors: Option<String>,
    ) -> Slot {
        let axis = self.axis(x);
        let width = axis.len() / heads;
        let (rows, initial) = (Axis::padded(1, width), Initial::glorot(width, width));
        let names = &stack.kinds.names;
        let mut parameters: Vec<Parameter> =
            names.iter().map(|relation| self.parameter(name(relation), rows, axis, initial.clone())).collect();
        let layer = RelationLinear {
            stack: stack.clone(),
            shape: HeadShape { heads, dim: axis.stride() / heads },
            factors: factors.is_some(),
        };
        if let Some(name) = factors {
            let (rows, columns) = (Axis::exact(names.len()), Axis::exact(heads));
            parameters.push(self.parameter(name, rows, columns, Initial::Constant(1.0)));
        }
        self.push(layer, &[x], &parameters, Space::Rows(stack.nodes.len()), axis)
    }
}

impl RelationLinear {
    fn n_relations(&self) -> usize {
        self.stack.kinds.names.len()
    }

    /// The weights of all relations, and the factors.
    fn weights<'a>(&self, pass: &Forward<'a>) -> Weights<'a> {
        let of = (0..self.n_relations()).map(|relation| pass.parameter(relation)).collect();
        Weights { of, factors: self.factors.then(|| pass.parameter(self.n_relations())), heads: self.shape.heads }
    }
}

/// The parameters of a pass.
#[derive(Clone)]
struct Weights<'a> {
    of: Vec<&'a [f32]>,
    factors: Option<&'a [f32]>,
    heads: usize,
}

impl Weights<'_> {
    #[inline(always)]
    fn factor(&self, relation: usize, head: usize) -> f32 {
        self.factors.map_or(1.0, |factors| factors[relation * self.heads + head])
    }
}

impl Layer for RelationLinear {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (x, heads, stack) = (&tensors.inputs[0], self.shape.heads, &self.stack);
        let (n, all) = x.dims2()?;
        let width = all / heads;
        let offsets: Vec<usize> = (0..=stack.nodes.len()).collect();
        let sources = Pattern::new(&offsets, &stack.nodes, n, tensors.device())?.at_sources(x)?;
        let (mut terms, mut first) = (Vec::new(), 0);
        for relation in 0..self.n_relations() {
            let count = stack.kinds.of.iter().filter(|of| **of as usize == relation).count();
            if count == 0 {
                continue;
            }
            let by_head = |x: Tensor, rows: usize| x.reshape((rows, heads, width))?.transpose(0, 1)?.contiguous();
            let own = by_head(sources.narrow(0, first, count)?.contiguous()?, count)?;
            let mut product = own.matmul(&by_head(tensors.parameters[relation].clone(), width)?)?;
            if self.factors {
                let factors = tensors.parameters[self.n_relations()].narrow(0, relation, 1)?;
                product = product.broadcast_mul(&factors.reshape((heads, 1, 1))?)?;
            }
            terms.push(product.transpose(0, 1)?.contiguous()?.reshape((count, all))?);
            first += count;
        }
        if terms.is_empty() { Ok(sources) } else { Tensor::cat(&terms, 0) }
    }

    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        rows.rows().iter().for_each(|&row| needed[self.stack.nodes[row as usize] as usize] = true);
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        prepare.kinds(&self.stack.kinds)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * self.shape.dim * self.shape.stride(), transposed: 0 }
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, weights, stack, shape) = (pass.input(0), self.weights(pass), &self.stack, self.shape);
        for_each_block(pass.rows(), out, shape.stride(), pass.monitor, |rows, first, out| {
            simd::run_wide(Products { rows, first, stack, shape, weights: &weights, x, out });
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let Prepared::Kinds(sets) = f.prepared() else { return Ok(()) };
        let (x, weights, stack, shape) = (f.input(0), self.weights(&f), &self.stack, self.shape);
        let HeadShape { heads, dim } = shape;
        let mut d_factors = vec![0f32; self.n_relations() * heads];
        for (relation, set) in sets.iter().enumerate() {
            pass.parameter_gradient(relation, |out, partials, _| {
                sum_blocks(set, dim * shape.stride(), partials, out, f.monitor, |rows, sums| {
                    simd::run_wide(Outer { rows, stack, shape, x, d_out, sums });
                })?;
                // So far those of the products without their factors.
                for (row, own) in
                    out.chunks_exact_mut(shape.stride()).zip(weights.of[relation].chunks_exact(shape.stride()))
                {
                    for head in 0..heads {
                        let columns = head * dim..(head + 1) * dim;
                        let along = row[columns.clone()].iter().zip(&own[columns.clone()]).map(|(d, w)| d * w);
                        d_factors[relation * heads + head] += along.sum::<f32>();
                        let factor = weights.factor(relation, head);
                        row[columns].iter_mut().for_each(|d| *d *= factor);
                    }
                }
                Ok(())
            })?;
        }
        if self.factors {
            pass.parameter_gradient(self.n_relations(), |out, _, _| {
                out.copy_from_slice(&d_factors);
                Ok(())
            })?;
        }
        let Some(mut d_x) = pass.gradient_everywhere(0) else { return Ok(()) };
        let (add, computed) = (d_x.add, f.rows());
        for_each_block(f.input_rows(0), &mut d_x.values, shape.stride(), f.monitor, |nodes, first, out| {
            simd::run_wide(Back { nodes, first, stack, shape, weights: &weights, computed, d_out, add, out });
        })
    }
}

struct Products<'a> {
    rows: &'a [u32],
    first: usize,
    stack: &'a StackedSources,
    shape: HeadShape,
    weights: &'a Weights<'a>,
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Body for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, first, stack, shape: HeadShape { heads, dim }, weights, x, out } = self;
        let stride = heads * dim;
        for &row in rows {
            let (node, relation) = (stack.nodes[row as usize] as usize, stack.kinds.of[row as usize] as usize);
            let (x, own) = (&x[node * stride..][..stride], weights.of[relation]);
            let out = &mut out[(row as usize - first) * stride..][..stride];
            out.fill(0.0);
            for head in 0..heads {
                let (columns, factor) = (head * dim..(head + 1) * dim, weights.factor(relation, head));
                for (x, row) in x[columns.clone()].iter().zip(own.chunks_exact(stride)) {
                    add_scaled::<V>(factor * x, &row[columns.clone()], &mut out[columns.clone()]);
                }
            }
        }
    }
}

struct Outer<'a> {
    rows: &'a [u32],
    stack: &'a StackedSources,
    shape: HeadShape,
    x: &'a [f32],
    d_out: &'a [f32],
    sums: &'a mut [f32],
}

impl Body for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { rows, stack, shape: HeadShape { heads, dim }, x, d_out, sums } = self;
        let stride = heads * dim;
        for &row in rows {
            let x = &x[stack.nodes[row as usize] as usize * stride..][..stride];
            let d = &d_out[row as usize * stride..][..stride];
            for head in 0..heads {
                let columns = head * dim..(head + 1) * dim;
                for (x, sums) in x[columns.clone()].iter().zip(sums.chunks_exact_mut(stride)) {
                    add_scaled::<V>(*x, &d[columns.clone()], &mut sums[columns.clone()]);
                }
            }
        }
    }
}

struct Back<'a> {
    nodes: &'a [u32],
    first: usize,
    stack: &'a StackedSources,
    shape: HeadShape,
    weights: &'a Weights<'a>,
    computed: &'a RowSet,
    d_out: &'a [f32],
    add: bool,
    out: &'a mut [f32],
}

impl Body for Back<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { nodes, first, stack, shape: HeadShape { heads, dim }, weights, computed, d_out, add, out } = self;
        let stride = heads * dim;
        for &node in nodes {
            let out = &mut out[(node as usize - first) * stride..][..stride];
            if !add {
                out.fill(0.0);
            }
            for &row in &stack.rows[stack.offsets[node as usize]..stack.offsets[node as usize + 1]] {
                if !computed.is_all() && computed.rows().binary_search(&row).is_err() {
                    continue;
                }
                let relation = stack.kinds.of[row as usize] as usize;
                let (d, own) = (&d_out[row as usize * stride..][..stride], weights.of[relation]);
                for head in 0..heads {
                    let (columns, factor) = (head * dim..(head + 1) * dim, weights.factor(relation, head));
                    for (out, row) in out[columns.clone()].iter_mut().zip(own.chunks_exact(stride)) {
                        *out = V::fma(factor, dot::<V>(&row[columns.clone()], &d[columns.clone()]), *out);
                    }
                }
            }
        }
    }
}
