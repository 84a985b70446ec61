//! Local similarity: a learned function of fixed similarities of a node and its neighbours (Chen et al. 2023, Eq. 1-2).

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::data::Features;
use crate::ground::{Axis, Initial};
use crate::kernels::RowSet;
use crate::kernels::edge::{self, EdgeArgs, FeatureRows, ScalarMlp, Similarity, Store, Total};
use crate::network::{Operator, zeros};
use crate::ops::{self, Curve};
use crate::program::{Backward, Builder, Forward, Layer, Scratch, Shapes, Slot, Tensors};

/// The parameters of the layer.
const HIDDEN: usize = 0;
const HIDDEN_BIAS: usize = 1;
const OUT: usize = 2;
const OUT_BIAS: usize = 3;

/// The mean over the edges into a node of `w' silu(W [x, x^2] + b) + c`, one column; 0 for a node without any. No gradient
/// goes to the similarities `x`.
#[derive(Debug)]
struct LocalSimilarity {
    operator: Arc<Operator>,
    x: Vec<f32>,
    /// The values of the edges; in the backward pass their gradients.
    values: Vec<f32>,
    /// The weights of the hidden units side by side, and the gradient of all parameters.
    out: Vec<f32>,
    gradient: Vec<f32>,
}

impl Builder<'_, '_> {
    /// The local similarity of every node, one column, from the features of the problem: `{name}.0.weight`, `{name}.0.bias`,
    /// `{name}.1.weight` and `{name}.1.bias` are the parameters of the network. The similarities are computed here, once:
    /// O(edges * entries of a row of the features).
    ///
    /// # Errors
    /// If the host refuses the memory for two numbers an entry of the operator, or wants no answer any more.
    pub fn local_similarity(
        &mut self,
        operator: &Arc<Operator>,
        similarity: Similarity,
        name: &str,
        hidden: usize,
    ) -> Result<Slot, Stopped> {
        let n = operator.n_rows();
        let mut x = zeros(self.reservation(), operator.n_entries())?;
        self.reservation().grow(n * (size_of::<f64>() + size_of::<u32>()))?;
        let features = Arc::clone(&self.inputs().features);
        let rows = match &*features {
            Features::Sparse(rows) => FeatureRows::Sparse(rows.csr()),
            Features::Dense { columns, values } => FeatureRows::Dense(values, *columns),
            Features::None => FeatureRows::Dense(&[], 0),
        };
        let monitor = self.reservation().monitor();
        let (set, mut norms) = (RowSet::all(n), vec![0f64; n]);
        edge::similarities(&set, operator.incoming(), rows, similarity, &mut norms, &mut x, monitor)?;
        let (one, two, units) = (Axis::exact(1), Axis::exact(2), Axis::padded(1, hidden));
        let parameters = [
            self.parameter(format!("{name}.0.weight"), two, units, Initial::linear(2)),
            self.parameter(format!("{name}.0.bias"), one, units, Initial::linear(2)),
            self.parameter(format!("{name}.1.weight"), units, Axis::padded(1, 1), Initial::linear(hidden)),
            self.parameter(format!("{name}.1.bias"), one, Axis::padded(1, 1), Initial::linear(hidden)),
        ];
        let layer = LocalSimilarity {
            operator: Arc::clone(operator),
            x,
            values: self.zeros(operator.n_entries())?,
            out: self.zeros(units.stride())?,
            gradient: self.zeros(ScalarMlp::gradient_len(units.stride()))?,
        };
        let space = self.nodes();
        Ok(self.push(layer, &[], &parameters, space, Axis::padded(1, 1)))
    }
}

impl LocalSimilarity {
    fn mlp<'a>(out: &'a [f32], pass: &Forward<'a>) -> ScalarMlp<'a> {
        let (weights, bias, shift) = (pass.parameter(HIDDEN), pass.parameter(HIDDEN_BIAS), pass.parameter(OUT_BIAS)[0]);
        ScalarMlp { weights, bias, out, shift }
    }
}

impl Layer for LocalSimilarity {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let pattern = tensors.operator(&self.operator)?.pattern;
        let x = tensors.constant(&self.x, self.x.len(), 1)?;
        let p = tensors.parameters;
        let hidden = ops::add_row(&Tensor::cat(&[&x, &x.sqr()?], 1)?.matmul(&p[HIDDEN])?, &p[HIDDEN_BIAS])?;
        let values = ops::add_row(&ops::activate(&hidden, Curve::Silu)?.matmul(&p[OUT])?, &p[OUT_BIAS])?;
        let shares: Vec<f32> = self.operator.offsets().windows(2).map(|w| 1.0 / (w[1] - w[0]).max(1) as f32).collect();
        pattern.total(&values)? * tensors.of_pass(&shares, shares.len(), 1)?
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * self.gradient.len(), transposed: 0 }
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let args = EdgeArgs { set: pass.rows(), edges: self.operator.incoming(), monitor: pass.monitor };
        // The first of 8 stored columns of each row.
        self.out.iter_mut().zip(pass.parameter(OUT).chunks_exact(8)).for_each(|(out, row)| *out = row[0]);
        Self::mlp(&self.out, pass).values(args, &self.x, &mut self.values)?;
        edge::sum_at_targets(args, 1, &self.values, Total::Mean, Store::Replace, out, pass.width())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let forward = pass.forward;
        let args = EdgeArgs { set: forward.rows(), edges: self.operator.incoming(), monitor: forward.monitor };
        edge::spread(args, 1, d_out, forward.width(), Total::Mean, &mut self.values)?;
        let (mlp, width) = (Self::mlp(&self.out, &forward), self.out.len());
        let (x, d, gradient) = (&self.x, &self.values, &mut self.gradient);
        mlp.gradient(args, x, d, pass.scratch().0, gradient)?;
        let parts = [(HIDDEN, 0..2 * width), (HIDDEN_BIAS, 2 * width..3 * width), (OUT_BIAS, 4 * width..4 * width + 8)];
        for (parameter, range) in parts {
            pass.parameter_gradient(parameter, |out, _, _| {
                out.copy_from_slice(&gradient[range]);
                Ok(())
            })?;
        }
        pass.parameter_gradient(OUT, |out, _, _| {
            out.fill(0.0);
            out.chunks_exact_mut(8).zip(&gradient[3 * width..4 * width]).for_each(|(row, d)| row[0] = *d);
            Ok(())
        })
    }
}
