//! Multi-layer perceptron on the node features: no messages.

use std::sync::Arc;

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::input::Input;
use super::{Axis, BuildError, Initial, Layout, Model, Pass, Problem, Scope, Site, dropout, widths, zeros};
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::{Activation, Finish, Gate, column_sums};
use crate::kernels::rows::block_rows;
use crate::program::Builder;
use crate::registry::{COMMON, ModelSpec, reach};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "mlp",
    family: "feature-only",
    geometry: "euclidean",
    tasks: crate::options::TASKS,
    source: "Rumelhart, Hinton and Williams 1986, Learning representations by back-propagating errors",
    defaults: COMMON,
    own: &[],
    reach: reach::LOCAL,
    build: |problem, reservation| match problem.device {
        true => program(problem, reservation),
        false => Ok(Box::new(Mlp::new(problem, reservation)?)),
    },
};

/// The same equations and parameters as a program.
fn program(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Box<dyn Model>, BuildError> {
    let options = problem.options;
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let z = b.perceptron(x, options.layers, options.hidden, problem.n_outputs, options.dropout);
    Ok(Box::new(b.finish(z)?))
}

/// `H_l = relu(dropout(H_{l-1}) W_l + b_l)`, the last layer without relu. Weights start as Glorot and Bengio's, biases at 0.
struct Mlp {
    layout: Layout,
    widths: Vec<Axis>,
    n: usize,
    p: f64,
    seed: u64,
    input: Input,
    /// The output of each layer, dropped for the next.
    hidden: Vec<Vec<f32>>,
    gradient: Vec<f32>,
    next_gradient: Vec<f32>,
    transposed: Vec<f32>,
    partials: Vec<f32>,
}

impl Mlp {
    fn new(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        let (n, options, widths) = (problem.graph.n_nodes(), problem.options, widths(problem));
        let mut layout = Layout::default();
        for l in 0..options.layers {
            let (rows, columns) = (widths[l], widths[l + 1]);
            layout.push(format!("{l}.weight"), rows, columns, Initial::glorot(rows.len(), columns.len()));
            layout.push(format!("{l}.bias"), Axis::exact(1), columns, Initial::Zeros);
        }
        let input = Input::new(Arc::clone(&problem.features));
        let strides: Vec<usize> = widths.iter().map(|axis| axis.stride()).collect();
        let widest = strides[1..].iter().copied().max().unwrap_or(0);
        let blocks = n.div_ceil(block_rows(n));
        let largest = strides[1..].windows(2).map(|w| w[0] * w[1]).max().unwrap_or(0);
        let partials = input.partials(blocks, strides[1]).max(blocks * largest.max(widest));
        Ok(Self {
            hidden: strides[1..].iter().map(|s| zeros(reservation, n * s)).collect::<Result<_, _>>()?,
            gradient: zeros(reservation, n * widest)?,
            next_gradient: zeros(reservation, n * widest)?,
            transposed: zeros(reservation, largest)?,
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
}

impl Model for Mlp {
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
        Scope::local(self.n, self.layers(), targets, train, pruned, self.input.features(), reservation)
    }

    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped> {
        let layers = self.layers();
        for l in 0..layers {
            let (weights, bias) = (self.layout.blocks()[2 * l].range(), self.layout.blocks()[2 * l + 1].range());
            let last = l + 1 == layers;
            let finish = Finish {
                bias: Some(&parameters[bias]),
                activation: if last { Activation::Identity } else { Activation::Relu },
                dropout: if last { None } else { dropout(self.p, self.seed, pass, l + 1, Site::Input) },
            };
            let (weights, width) = (&parameters[weights], self.widths[l + 1].stride());
            let (before, after) = self.hidden.split_at_mut(l);
            match before.last() {
                None => {
                    let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                    self.input.product(&scope.rows[1], weights, width, mask, finish, &mut after[0], monitor)?;
                }
                Some(source) => {
                    let (set, k) = (&scope.rows[l + 1], self.widths[l].stride());
                    dense::product(
                        set,
                        Left::new(source, k),
                        weights,
                        width,
                        Then::Finish(finish),
                        &mut after[0],
                        monitor,
                    )?;
                }
            }
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
            let (set, width) = (&scope.rows[l + 1], self.widths[l + 1].stride());
            column_sums(set, &self.gradient, width, &mut self.partials, &mut gradient[bias], monitor)?;
            let d_weights = &mut gradient[weights.clone()];
            if l == 0 {
                let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                let partials = &mut self.partials;
                let set = &scope.rows[0];
                return self.input.gradient(
                    set,
                    scope.input_transposed.as_deref(),
                    &self.gradient,
                    width,
                    mask,
                    partials,
                    d_weights,
                    monitor,
                );
            }
            let (source, k) = (&self.hidden[l - 1], self.widths[l].stride());
            let partials = &mut self.partials;
            dense::transposed_product(set, Left::new(source, k), &self.gradient, width, partials, d_weights, monitor)?;
            let gate = Gate {
                output: source,
                activation: Activation::Relu,
                dropout: dropout(self.p, self.seed, pass, l, Site::Input),
            };
            let (from, to) = (&self.gradient, &mut self.next_gradient[..self.n * k]);
            let (left, then, room) = (Left::new(from, width), Then::Gate(gate), &mut self.transposed);
            dense::product_by_transposed(set, left, &parameters[weights], k, room, then, to, monitor)?;
            std::mem::swap(&mut self.gradient, &mut self.next_gradient);
        }
        Ok(())
    }

    fn embedding(&self) -> Option<(&[f32], Axis)> {
        let l = self.layers().checked_sub(2)?;
        Some((&self.hidden[l], self.widths[l + 1]))
    }
}
