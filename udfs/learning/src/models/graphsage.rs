//! GraphSAGE with the mean aggregator, full batch (Hamilton, Ying and Leskovec 2017, Algorithm 1).

use std::sync::Arc;

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::input::Input;
use super::{Axis, BuildError, Initial, Layout, Model, Operator, Pass, Problem, Scope, Site, dropout, widths, zeros};
use crate::features::Features;
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::{Activation, Finish, Gate, column_sums};
use crate::kernels::rows::block_rows;
use crate::kernels::sparse::{Mask, Own, Product};
use crate::program::{Builder, Source};
use crate::registry::{COMMON, Hyperparameter, Kind, ModelSpec, reach};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "graphsage",
    family: "message passing",
    geometry: "euclidean",
    tasks: crate::options::TASKS,
    source: "Hamilton, Ying and Leskovec 2017, Inductive representation learning on large graphs",
    defaults: COMMON,
    own: &[Hyperparameter {
        name: "aggregator",
        kind: Kind::Choice { default: "mean", values: &["mean"] },
        description: "how the neighbours' representations are joined",
    }],
    reach: reach::A_LAYER,
    build: |problem, reservation| match problem.device {
        true => program(problem, reservation),
        false => Ok(Box::new(GraphSage::new(problem, reservation)?)),
    },
};

/// The same equations and parameters as a program.
fn program(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Box<dyn Model>, BuildError> {
    let (options, widths) = (problem.options, widths(problem));
    let operator = Arc::new(Operator::mean(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    let layer = |b: &mut Builder<'_, '_, '_>, x: Source, l: usize| {
        let (rows, width) = (widths[l], widths[l + 1].len());
        let initial = Initial::linear(rows.len());
        let weights = b.parameter(format!("{l}.weight"), rows, Axis::padded(2, width), initial.clone());
        let z = b.linear_with(x, weights);
        let z = b.propagate_beside(&operator, z, width);
        b.bias_from(z, format!("{l}.bias"), initial)
    };
    for l in 1..options.layers {
        let z = layer(&mut b, x, l - 1);
        let h = b.relu(z);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let z = layer(&mut b, x, options.layers - 1);
    Ok(Box::new(b.finish(z)?))
}

/// `H_l = relu(M H' V_l + H' U_l + b_l)` with `H' = dropout(H_{l-1})` and the mean over the neighbours `M = D^-1 A` (zero
/// for a node without any), the last layer without relu; no normalisation of the rows of H. A layer's two matrices stand
/// side by side, `[V | U]`: one product, then the messages carry the narrow result. All parameters start uniform within
/// 1 / sqrt(inputs), as linear layers of PyTorch.
struct GraphSage {
    layout: Layout,
    widths: Vec<Axis>,
    operator: Arc<Operator>,
    n: usize,
    p: f64,
    seed: u64,
    input: Input,
    /// The output of each layer, dropped for the next.
    hidden: Vec<Vec<f32>>,
    /// `H [V | U]` before the messages, or `H V` alone; in the backward pass its gradient.
    messages: Vec<f32>,
    /// `V`, then `U`; in the backward pass their gradients.
    halves: Vec<f32>,
    gradient: Vec<f32>,
    transposed: Vec<f32>,
    partials: Vec<f32>,
}

impl GraphSage {
    fn new(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        let (n, options, widths) = (problem.graph.n_nodes(), problem.options, widths(problem));
        let mut layout = Layout::default();
        for l in 0..options.layers {
            let (rows, columns) = (widths[l], widths[l + 1]);
            let (both, initial) = (Axis::padded(2, columns.len()), Initial::linear(rows.len()));
            layout.push(format!("{l}.weight"), rows, both, initial.clone());
            layout.push(format!("{l}.bias"), Axis::exact(1), columns, initial);
        }
        let input = Input::new(Arc::clone(&problem.features));
        let strides: Vec<usize> = widths.iter().map(|axis| axis.stride()).collect();
        let widest = strides[1..].iter().copied().max().unwrap_or(0);
        let blocks = n.div_ceil(block_rows(n));
        let largest = strides[1..].windows(2).map(|w| w[0] * w[1]).max().unwrap_or(0);
        let partials = input.partials(blocks, 2 * strides[1]).max(blocks * (2 * largest).max(widest));
        let halves = strides.windows(2).map(|w| 2 * w[0] * w[1]).max().unwrap_or(0);
        Ok(Self {
            operator: Arc::new(Operator::mean(&problem.graph, reservation)?),
            hidden: strides[1..].iter().map(|s| zeros(reservation, n * s)).collect::<Result<_, _>>()?,
            messages: zeros(reservation, 2 * n * widest)?,
            halves: zeros(reservation, halves)?,
            gradient: zeros(reservation, n * widest)?,
            transposed: zeros(reservation, 2 * largest)?,
            partials: zeros(reservation, partials)?,
            layout,
            widths,
            n,
            p: options.dropout,
            seed: options.seed,
            input,
        })
    }

    fn layers(&self) -> usize {
        self.hidden.len()
    }

    /// Whether a layer's two products are made apart: where each fills registers, so that what is gathered lies close
    /// together and the node's own part is computed for the rows that need it alone, and where the left side is not read
    /// entry by entry.
    fn is_split(&self, l: usize) -> bool {
        let dense = l > 0 || matches!(self.input.features(), Features::Dense { .. });
        dense && self.widths[l + 1].stride() >= 32
    }
}

/// The two matrices of `[V | U]`, of `width` columns each, one after the other.
fn split(both: &[f32], width: usize, halves: &mut [f32]) {
    let (v, u) = halves[..both.len()].split_at_mut(both.len() / 2);
    for (row, (v, u)) in both.chunks_exact(2 * width).zip(v.chunks_exact_mut(width).zip(u.chunks_exact_mut(width))) {
        v.copy_from_slice(&row[..width]);
        u.copy_from_slice(&row[width..]);
    }
}

/// What [`split`] undoes.
fn join(halves: &[f32], width: usize, both: &mut [f32]) {
    let (v, u) = halves[..both.len()].split_at(both.len() / 2);
    for (row, (v, u)) in both.chunks_exact_mut(2 * width).zip(v.chunks_exact(width).zip(u.chunks_exact(width))) {
        row[..width].copy_from_slice(v);
        row[width..].copy_from_slice(u);
    }
}

impl Model for GraphSage {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn scope(
        &self,
        targets: &[u32],
        train: bool,
        pruned: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Scope, Stopped> {
        let features = self.input.features();
        Scope::message_passing(&self.operator, self.layers(), targets, train, pruned, features, reservation)
    }

    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped> {
        let layers = self.layers();
        for l in 0..layers {
            let (weights, bias) = (self.layout.blocks()[2 * l].range(), self.layout.blocks()[2 * l + 1].range());
            let (weights, width, is_split) = (&parameters[weights], self.widths[l + 1].stride(), self.is_split(l));
            let stride = if is_split { width } else { 2 * width };
            let messages = &mut self.messages[..self.n * stride];
            if is_split {
                split(weights, width, &mut self.halves);
                let (v, u) = self.halves[..weights.len()].split_at(weights.len() / 2);
                let (before, after) = self.hidden.split_at_mut(l);
                for (set, w, out) in [(&scope.rows[l], v, messages), (&scope.rows[l + 1], u, &mut after[0][..])] {
                    match before.last() {
                        None => {
                            let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                            self.input.product(set, w, width, mask, Finish::NOTHING, out, monitor)?;
                        }
                        Some(source) => {
                            let source = Left::new(source, self.widths[l].stride());
                            dense::product(set, source, w, width, Then::Finish(Finish::NOTHING), out, monitor)?;
                        }
                    }
                }
            } else if l == 0 {
                let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                self.input.product(&scope.rows[0], weights, 2 * width, mask, Finish::NOTHING, messages, monitor)?;
            } else {
                let (source, k) = (&self.hidden[l - 1], self.widths[l].stride());
                let then = Then::Finish(Finish::NOTHING);
                dense::product(&scope.rows[l], Left::new(source, k), weights, 2 * width, then, messages, monitor)?;
            }
            let last = l + 1 == layers;
            let finish = Finish {
                bias: Some(&parameters[bias]),
                activation: if last { Activation::Identity } else { Activation::Relu },
                dropout: if last { None } else { dropout(self.p, self.seed, pass, l + 1, Site::Input) },
            };
            let (matrix, x) = (scope.forward[l].csr(), &self.messages[..self.n * stride]);
            let own = if is_split { Own::Output } else { Own::Columns(width) };
            Product { matrix, mask: Mask::None, x, stride, width, own, finish }.run(
                &scope.rows[l + 1],
                &mut self.hidden[l],
                monitor,
            )?;
        }
        Ok(())
    }

    fn outputs(&self) -> &[f32] {
        &self.hidden[self.layers() - 1]
    }

    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]) {
        let last = self.layers() - 1;
        let len = self.hidden[last].len();
        (&self.hidden[last], &mut self.gradient[..len])
    }

    fn backward(
        &mut self,
        scope: &Scope,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        for l in (0..self.layers()).rev() {
            let (weights, bias) = (self.layout.blocks()[2 * l].range(), self.layout.blocks()[2 * l + 1].range());
            let width = self.widths[l + 1].stride();
            column_sums(&scope.rows[l + 1], &self.gradient, width, &mut self.partials, &mut gradient[bias], monitor)?;

            let (matrix, finish) = (scope.backward[l].csr(), Finish::NOTHING);
            let own = Own::Nothing;
            let back = Product { matrix, mask: Mask::None, x: &self.gradient, stride: width, width, own, finish };
            let d_weights = &mut gradient[weights.clone()];
            if l == 0 && self.is_split(0) {
                let (messages, mask) =
                    (&mut self.messages[..self.n * width], dropout(self.p, self.seed, pass, 0, Site::Input));
                back.run(&scope.rows[0], messages, monitor)?;
                let (v, u) = self.halves[..d_weights.len()].split_at_mut(d_weights.len() / 2);
                let d_own = &self.gradient[..self.n * width];
                for (set, d, out) in [(&scope.rows[0], &*messages, v), (&scope.rows[1], d_own, u)] {
                    self.input.gradient(set, None, d, width, mask, &mut self.partials, out, monitor)?;
                }
                join(&self.halves, width, d_weights);
                return Ok(());
            }
            let messages = &mut self.messages[..2 * self.n * width];
            back.run_beside_copy(&scope.rows[l], &scope.rows[l + 1], messages, monitor)?;
            if l == 0 {
                let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                let set = &scope.rows[0];
                return self.input.gradient(
                    set,
                    scope.input_transposed.as_deref(),
                    messages,
                    2 * width,
                    mask,
                    &mut self.partials,
                    d_weights,
                    monitor,
                );
            }
            let (set, source, k) = (&scope.rows[l], &self.hidden[l - 1], self.widths[l].stride());
            let width = 2 * width;
            dense::transposed_product(
                set,
                Left::new(source, k),
                messages,
                width,
                &mut self.partials,
                d_weights,
                monitor,
            )?;
            let gate = Gate {
                output: source,
                activation: Activation::Relu,
                dropout: dropout(self.p, self.seed, pass, l, Site::Input),
            };
            let to = &mut self.gradient[..self.n * k];
            let (left, then, room) = (Left::new(messages, width), Then::Gate(gate), &mut self.transposed);
            dense::product_by_transposed(set, left, &parameters[weights], k, room, then, to, monitor)?;
        }
        Ok(())
    }

    fn embedding(&self) -> Option<(&[f32], Axis)> {
        let l = self.layers().checked_sub(2)?;
        Some((&self.hidden[l], self.widths[l + 1]))
    }
}
