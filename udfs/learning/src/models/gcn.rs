//! Graph convolutional network (Kipf and Welling 2017, Eq. 2 and 9).

use std::sync::Arc;

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::input::Input;
use super::{Axis, BuildError, Initial, Layout, Model, Operator, Pass, Problem, Scope, Site, dropout, widths, zeros};
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::{Activation, Finish, Gate, column_sums};
use crate::kernels::rows::block_rows;
use crate::kernels::sparse::{Mask, Own, Product};
use crate::program::{Builder, Source};
use crate::registry::{AFFINITY, COMMON, ModelSpec, reach};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "gcn",
    family: "message passing",
    geometry: "euclidean",
    tasks: crate::options::TASKS,
    source: "Kipf and Welling 2017, Semi-supervised classification with graph convolutional networks",
    defaults: COMMON,
    own: &[AFFINITY],
    reach: reach::A_LAYER,
    build: |problem, reservation| match problem.device {
        true => program(problem, reservation),
        false => Ok(Box::new(Gcn::new(problem, reservation)?)),
    },
};

/// The same equations and parameters as a program.
fn program(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Box<dyn Model>, BuildError> {
    let options = problem.options;
    let operator = Arc::new(Operator::affinity(problem, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    for l in 1..options.layers {
        let z = b.linear(x, format!("{}.weight", l - 1), options.hidden);
        let z = b.propagate(&operator, z);
        let h = b.bias(z, format!("{}.bias", l - 1));
        let h = b.relu(h);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let last = options.layers - 1;
    let z = b.linear(x, format!("{last}.weight"), problem.n_outputs);
    let z = b.propagate(&operator, z);
    let z = b.bias(z, format!("{last}.bias"));
    Ok(Box::new(b.finish(z)?))
}

/// `H_l = relu(A dropout(H_{l-1}) W_l + b_l)` with the renormalised adjacency `A = D^-1/2 (A + I) D^-1/2`, or the
/// affinity that is asked for, the last layer without relu. Weights start as Glorot and Bengio's, biases at 0.
struct Gcn {
    layout: Layout,
    widths: Vec<Axis>,
    operator: Arc<Operator>,
    n: usize,
    p: f64,
    seed: u64,
    input: Input,
    /// The output of each layer, dropped for the next.
    hidden: Vec<Vec<f32>>,
    /// `H W` before the messages; in the backward pass its gradient.
    messages: Vec<f32>,
    gradient: Vec<f32>,
    transposed: Vec<f32>,
    partials: Vec<f32>,
}

impl Gcn {
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
            operator: Arc::new(Operator::affinity(problem, reservation)?),
            hidden: strides[1..].iter().map(|s| zeros(reservation, n * s)).collect::<Result<_, _>>()?,
            messages: zeros(reservation, n * widest)?,
            gradient: zeros(reservation, n * widest)?,
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

impl Model for Gcn {
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
            let (weights, width) = (&parameters[weights], self.widths[l + 1].stride());
            let messages = &mut self.messages[..self.n * width];
            if l == 0 {
                let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                self.input.product(&scope.rows[0], weights, width, mask, Finish::NOTHING, messages, monitor)?;
            } else {
                let (source, k) = (&self.hidden[l - 1], self.widths[l].stride());
                let then = Then::Finish(Finish::NOTHING);
                dense::product(&scope.rows[l], Left::new(source, k), weights, width, then, messages, monitor)?;
            }
            let last = l + 1 == layers;
            let finish = Finish {
                bias: Some(&parameters[bias]),
                activation: if last { Activation::Identity } else { Activation::Relu },
                dropout: if last { None } else { dropout(self.p, self.seed, pass, l + 1, Site::Input) },
            };
            let matrix = scope.forward[l].csr();
            Product { matrix, mask: Mask::None, x: messages, stride: width, width, own: Own::Nothing, finish }.run(
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

            let messages = &mut self.messages[..self.n * width];
            let (matrix, finish) = (scope.backward[l].csr(), Finish::NOTHING);
            Product { matrix, mask: Mask::None, x: &self.gradient, stride: width, width, own: Own::Nothing, finish }
                .run(&scope.rows[l], messages, monitor)?;

            let d_weights = &mut gradient[weights.clone()];
            if l == 0 {
                let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                let set = &scope.rows[0];
                return self.input.gradient(
                    set,
                    scope.input_transposed.as_deref(),
                    messages,
                    width,
                    mask,
                    &mut self.partials,
                    d_weights,
                    monitor,
                );
            }
            let (set, source, k) = (&scope.rows[l], &self.hidden[l - 1], self.widths[l].stride());
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
