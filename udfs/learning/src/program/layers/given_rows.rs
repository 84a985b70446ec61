//! Known classes as an input beside the features of any model: a class adds a learnt row to what a layer makes of the features of
//! its nodes (Lin et al. 2024, H2GB, Sec. 5.3; Shi et al. 2021, Sec. 3.3).

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, InputFeatures, Layer, Mask, Parameter, Scratch, Shapes, Slot, Tensors};
use super::add_rows;
use crate::ground::random::Dropout;
use crate::ground::{Axis, Initial};
use crate::kernels::elementwise::Finish;
use crate::kernels::parallel::{for_each_block, sum_blocks};
use crate::kernels::simd::{self, Body, Vectors};
use crate::ops::Pattern;

/// `z_i + v_c` for a node whose class `c` is given, `z_i` for others; the parameter has a row a class. A product of the features
/// with `[W, V]`, had these a further column for each class.
#[derive(Debug)]
struct GivenRows {
    /// The known nodes with their classes, by node.
    known: Arc<[(u32, u32)]>,
    /// Which of them are given in a pass of training, those whose element (node, 0) it keeps; without training all are.
    mask: Option<Mask>,
}

impl Builder<'_, '_> {
    /// Adds the rows of the known classes to the product of the features with some weights: parameters `{name}.labels` beside
    /// weights `{name}.weight`, a row a class. In a pass of training a class is given with the probability of the problem,
    /// [`crate::network::Model::label_inputs`] then says which nodes a loss must leave out; without training all are.
    pub(in crate::program) fn with_given(&mut self, z: Slot, features: InputFeatures, weights: Parameter) -> Slot {
        let rate = self.inputs.label_rate;
        let of_problem = std::ptr::eq(self.features[features.number].features(), &*self.inputs.features);
        if rate == 0.0 || self.reads_labels || !of_problem {
            return z;
        }
        if self.label_mask.is_none() {
            self.label_mask = self.mask(1.0 - rate);
        }
        let rows = match self.given.iter().find(|given| given.0 == weights) {
            Some((_, rows)) => *rows,
            None => {
                let block = &self.layout.blocks()[weights.0];
                let (name, columns) = (block.name.strip_suffix(".weight").unwrap_or(&block.name), block.columns);
                let (name, classes) = (format!("{name}.labels"), self.inputs.n_outputs);
                let initial = Initial::glorot(classes, columns.len());
                let rows = self.parameter(name, Axis::exact(classes), columns, initial);
                self.given.push((weights, rows));
                rows
            }
        };
        self.like(GivenRows { known: Arc::clone(&self.inputs.known_labels), mask: self.label_mask }, &[z], &[rows])
    }
}

/// The class of a node, if it is given.
#[inline(always)]
fn given(known: &[(u32, u32)], dropout: Option<Dropout>, node: u32) -> Option<usize> {
    let at = known.binary_search_by_key(&node, |known| known.0).ok()?;
    dropout.is_none_or(|dropout| dropout.keeps(dropout.row(node), 0)).then_some(known[at].1 as usize)
}

impl Layer for GivenRows {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (x, rows) = (&tensors.inputs[0], &tensors.parameters[0]);
        let dropout = tensors.mask(self.mask);
        // A row a node with a 1 in the column of its class, where that is given.
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for node in 0..x.dims2()?.0 as u32 {
            columns.extend(given(&self.known, dropout, node).map(|class| class as u32));
            offsets.push(columns.len());
        }
        let pattern = Pattern::new(&offsets, &columns, rows.dims2()?.0, tensors.device())?;
        let ones = tensors.of_pass(&vec![1.0; columns.len()], columns.len(), 1)?;
        x + pattern.sum(&ones, rows)?
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * shapes.parameter(0), transposed: 0 }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn rereads_inputs(&self) -> bool {
        false
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        struct Add<'a> {
            rows: &'a [u32],
            first: usize,
            z: &'a [f32],
            known: &'a [(u32, u32)],
            dropout: Option<Dropout>,
            of_classes: &'a [f32],
            width: usize,
            finish: Finish<'a>,
            out: &'a mut [f32],
        }
        impl Body for Add<'_> {
            type Output = ();
            #[inline(always)]
            fn run<V: Vectors>(self) {
                let Self { rows, first, z, known, dropout, of_classes, width, finish, out } = self;
                for &row in rows {
                    let out = &mut out[(row as usize - first) * width..][..width];
                    out.copy_from_slice(&z[row as usize * width..][..width]);
                    if let Some(class) = given(known, dropout, row) {
                        out.iter_mut().zip(&of_classes[class * width..][..width]).for_each(|(out, x)| *out += x);
                    }
                    finish.row::<V>(row, out);
                }
            }
        }
        let (z, of_classes, width, known) = (pass.input(0), pass.parameter(0), pass.width(), &*self.known);
        let (dropout, finish) = (pass.mask(self.mask), pass.finish());
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, out| {
            simd::run(Add { rows, first, z, known, dropout, of_classes, width, finish, out });
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (known, dropout, width) = (&*self.known, f.mask(self.mask), f.width());
        pass.parameter_gradient(0, |out, partials, _| {
            sum_blocks(f.rows(), f.parameter(0).len(), partials, out, f.monitor, |rows, sums| {
                for &row in rows {
                    if let Some(class) = given(known, dropout, row) {
                        let d_out = &d_out[row as usize * width..][..width];
                        sums[class * width..][..width].iter_mut().zip(d_out).for_each(|(sum, d)| *sum += d);
                    }
                }
            })
        })?;
        add_rows(pass, 0, 1.0, d_out)
    }
}
