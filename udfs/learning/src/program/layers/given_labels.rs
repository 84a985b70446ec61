//! Known classes as an input beside the features (Shi et al. 2021, Eq. 6): a class adds a learnt row to those of its nodes.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, Layer, Mask, Parameter, Scratch, Shapes, Slot, Tensors};
use super::add_rows;
use crate::ground::random::Dropout;
use crate::ground::{Axis, Initial};
use crate::kernels::RowSet;
use crate::kernels::combine::dot;
use crate::kernels::dense::{Left, Then, product, transposed_product};
use crate::kernels::elementwise::Finish;
use crate::kernels::parallel::{for_each_block, sum_blocks};
use crate::kernels::simd::{self, Body, Vectors};
use crate::ops::Pattern;

/// Known classes as inputs of the layers on the features: the classes that training knows, and the rows that stand for them.
#[derive(Debug, Clone)]
pub struct GivenLabels {
    /// Of every node; `u32::MAX` where there is none.
    classes: Arc<[u32]>,
    n_classes: usize,
    /// A row a class, as wide as the features.
    rows: Parameter,
    mask: Option<Mask>,
}

/// The parameters of the layer.
const ROWS: usize = 0;
const WEIGHTS: usize = 1;

/// `z_i + v_c W` for a node whose class `c` is given, `z_i` for others: with `z = X W` the product of the weights with
/// features to which the row `v_c` is added.
#[derive(Debug)]
struct AddLabels {
    classes: Arc<[u32]>,
    mask: Option<Mask>,
    /// Every class.
    all: RowSet,
    /// `V W`, and its gradient.
    products: Vec<f32>,
    d_products: Vec<f32>,
}

impl Builder<'_, '_> {
    /// The classes of the problem's known nodes as an input. In training each is given with probability `rate`, drawn anew
    /// in every epoch; without training all are. The rows of the classes are the parameter `name`, and start as Glorot's.
    ///
    /// [`crate::network::Model::label_inputs`] then says which nodes a loss must leave out.
    ///
    /// # Errors
    /// If the host refuses the memory for a class a node.
    pub fn given_labels(&mut self, name: &str, rate: f64) -> Result<GivenLabels, Stopped> {
        let (columns, n) = (self.inputs().features.n_columns(), self.inputs().n_nodes);
        self.reservation().grow(size_of::<u32>() * n)?;
        let mut classes = vec![u32::MAX; n];
        self.inputs().known_labels.iter().for_each(|&(node, class)| classes[node as usize] = class);
        let n_classes = self.inputs().n_outputs;
        let (each, wide) = (Axis::exact(n_classes), Axis::exact(columns));
        let rows = self.parameter(name, each, wide, Initial::glorot(n_classes, columns));
        let mask = self.mask(1.0 - rate);
        self.gives(mask);
        Ok(GivenLabels { classes: classes.into(), n_classes, rows, mask })
    }

    /// Adds what the given classes contribute to `z`, the features times `weights`. O(nodes * width).
    ///
    /// # Errors
    /// If the host refuses the memory for two rows a class.
    pub fn add_labels(&mut self, z: Slot, labels: &GivenLabels, weights: Parameter) -> Result<Slot, Stopped> {
        let products = labels.n_classes * self.axis(z).stride();
        let layer = AddLabels {
            classes: Arc::clone(&labels.classes),
            mask: labels.mask,
            all: RowSet::all(labels.n_classes),
            products: self.zeros(products)?,
            d_products: self.zeros(products)?,
        };
        Ok(self.like(layer, &[z], &[labels.rows, weights]))
    }
}

/// The class of a node, if it is given.
#[inline(always)]
fn given(classes: &[u32], dropout: Option<Dropout>, node: u32) -> Option<usize> {
    let class = classes[node as usize];
    let is_given = class != u32::MAX && dropout.is_none_or(|dropout| dropout.keeps(dropout.row(node), 0));
    is_given.then_some(class as usize)
}

impl Layer for AddLabels {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let n = self.classes.len();
        let products = tensors.parameters[ROWS].matmul(&tensors.parameters[WEIGHTS])?;
        let dropout = tensors.mask(self.mask);
        // A row a node with a 1 in the column of its class, where that is given.
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for node in 0..n as u32 {
            columns.extend(given(&self.classes, dropout, node).map(|class| class as u32));
            offsets.push(columns.len());
        }
        let pattern = Pattern::new(&offsets, &columns, self.all.n_rows(), tensors.device())?;
        let ones = tensors.of_pass(&vec![1.0; columns.len()], columns.len(), 1)?;
        &tensors.inputs[0] + pattern.sum(&ones, &products)?
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        let of_classes = shapes.blocks() * self.products.len();
        Scratch { partials: of_classes.max(self.all.n_blocks() * shapes.parameter(WEIGHTS)), transposed: 0 }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        struct Add<'a> {
            rows: &'a [u32],
            first: usize,
            z: &'a [f32],
            classes: &'a [u32],
            dropout: Option<Dropout>,
            products: &'a [f32],
            width: usize,
            finish: Finish<'a>,
            out: &'a mut [f32],
        }
        impl Body for Add<'_> {
            type Output = ();
            #[inline(always)]
            fn run<V: Vectors>(self) {
                let Self { rows, first, z, classes, dropout, products, width, finish, out } = self;
                for &row in rows {
                    let out = &mut out[(row as usize - first) * width..][..width];
                    out.copy_from_slice(&z[row as usize * width..][..width]);
                    if let Some(class) = given(classes, dropout, row) {
                        out.iter_mut().zip(&products[class * width..][..width]).for_each(|(out, x)| *out += x);
                    }
                    finish.row::<V>(row, out);
                }
            }
        }
        let (width, weights) = (pass.width(), pass.parameter(WEIGHTS));
        let (rows, then) = (Left::new(pass.parameter(ROWS), weights.len() / width), Then::Finish(Finish::NOTHING));
        product(&self.all, rows, weights, width, then, &mut self.products, pass.monitor)?;
        let (z, classes, products) = (pass.input(0), &self.classes, &self.products);
        let (dropout, finish) = (pass.mask(self.mask), pass.finish());
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, out| {
            simd::run(Add { rows, first, z, classes, dropout, products, width, finish, out });
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        struct Dots<'a>(&'a [f32], &'a [f32], usize, &'a mut [f32]);
        impl Body for Dots<'_> {
            type Output = ();
            #[inline(always)]
            fn run<V: Vectors>(self) {
                let Self(d_products, weights, width, out) = self;
                let pairs =
                    d_products.chunks_exact(width).flat_map(|d| weights.chunks_exact(width).map(move |w| (d, w)));
                out.iter_mut().zip(pairs).for_each(|(out, (d, w))| *out = dot::<V>(d, w));
            }
        }
        add_rows(pass, 0, 1.0, d_out)?;
        let (forward, width) = (pass.forward, pass.forward.width());
        let (classes, dropout, monitor) = (&self.classes, forward.mask(self.mask), forward.monitor);
        let Self { all, products, d_products, .. } = self;
        sum_blocks(forward.rows(), products.len(), pass.scratch().0, d_products, monitor, |rows, sums| {
            for &row in rows {
                if let Some(class) = given(classes, dropout, row) {
                    let d_out = &d_out[row as usize * width..][..width];
                    sums[class * width..][..width].iter_mut().zip(d_out).for_each(|(sum, d)| *sum += d);
                }
            }
        })?;
        let weights = forward.parameter(WEIGHTS);
        let rows = Left::new(forward.parameter(ROWS), weights.len() / width);
        if rows.columns == 0 {
            // Features without columns leave nothing to learn.
            return Ok(());
        }
        pass.parameter_gradient(WEIGHTS, |out, partials, _| {
            transposed_product(all, rows, d_products, width, partials, out, monitor)
        })?;
        pass.parameter_gradient(ROWS, |out, _, _| {
            simd::run(Dots(d_products, weights, width, out));
            Ok(())
        })
    }
}
