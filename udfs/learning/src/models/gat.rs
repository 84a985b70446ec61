//! Graph attention network (Velickovic et al. 2018, Eq. 1-6).

use std::sync::Arc;

use bonnet_graph::{Monitor, Reservation, Stopped};

use super::input::Input;
use super::{Axis, BuildError, Initial, Layout, Model, Operator, Pass, Problem, Scope, Site, dropout, zeros};
use crate::kernels::attention::{self, Attend, BackwardSources, MAX_HEADS, Shape};
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::edge;
use crate::kernels::elementwise::{Activation, Finish, Gate, column_sums};
use crate::kernels::padded;
use crate::kernels::rows::block_rows;
use crate::program::{Builder, Source};
use crate::registry::{Defaults, Hyperparameter, Kind, ModelSpec, reach};

/// The registration: the defaults are those of the paper for Cora.
pub const SPEC: ModelSpec = ModelSpec {
    name: "gat",
    family: "message passing",
    geometry: "euclidean",
    tasks: crate::options::TASKS,
    source: "Velickovic, Cucurull, Casanova, Romero, Lio and Bengio 2018, Graph attention networks",
    defaults: Defaults {
        epochs: 200,
        lr: 0.005,
        weight_decay: 5e-4,
        optimizer: "adam",
        hidden: 8,
        layers: 2,
        dropout: 0.6,
    },
    own: &[
        Hyperparameter {
            name: "heads",
            kind: Kind::Integer { default: 8, min: 1, max: MAX_HEADS as i64 },
            description: "attention heads of the hidden layers, concatenated",
        },
        Hyperparameter {
            name: "output_heads",
            kind: Kind::Integer { default: 1, min: 1, max: MAX_HEADS as i64 },
            description: "attention heads of the last layer, averaged",
        },
        Hyperparameter {
            name: "attention_dropout",
            kind: Kind::Real { default: 0.6, min: 0.0, max: 1.0 },
            description: "probability that an attention coefficient is dropped in training",
        },
        Hyperparameter {
            name: "negative_slope",
            kind: Kind::Real { default: 0.2, min: 0.0, max: 1.0 },
            description: "slope of the leaky rectifier of the scores below 0",
        },
    ],
    reach: reach::A_LAYER,
    build: |problem, reservation| match problem.device {
        true => program(problem, reservation),
        false => Ok(Box::new(Gat::new(problem, reservation)?)),
    },
};

/// The same equations and parameters as a program.
fn program(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Box<dyn Model>, BuildError> {
    let options = problem.options;
    let gate = edge::Gate::Leaky(options.real("negative_slope")? as f32);
    let attention_p = options.real("attention_dropout")?;
    let (heads, output_heads) = (options.integer("heads")? as usize, options.integer("output_heads")? as usize);
    let operator = Arc::new(Operator::attention(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let layer = |b: &mut Builder<'_, '_, '_>, x: Source, l: usize, heads: usize, width: usize| {
        let (rows, columns) = (b.source_axis(x), Axis::padded(heads, width));
        let weights = Initial::glorot(rows.len(), columns.len());
        let weights = b.parameter(format!("{l}.weight"), rows, columns, weights);
        let z = b.linear_with(x, weights);
        let source = b.head_dots(z, format!("{l}.source"), heads, Initial::glorot(heads, width));
        let target = b.head_dots(z, format!("{l}.target"), heads, Initial::glorot(heads, width));
        let mask = b.attention_mask(l, attention_p);
        b.pair_attention(&operator, [target, source, z], heads, gate, mask)
    };
    let mut x: Source = x.into();
    let last = options.layers - 1;
    for l in 0..last {
        let z = layer(&mut b, x, l, heads, options.hidden)?;
        let z = b.bias(z, format!("{l}.bias"));
        let h = b.activation(z, Activation::Elu);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let mut z = layer(&mut b, x, last, output_heads, problem.n_outputs)?;
    if output_heads > 1 {
        z = b.mean_heads(z, output_heads, problem.n_outputs);
    }
    let z = b.bias(z, format!("{last}.bias"));
    Ok(Box::new(b.finish(z)?))
}

/// `H_l = elu(heads side by side of sum_j alpha_ij W_l dropout(H_{l-1})_j + b_l)` over the neighbours and the node itself;
/// the last layer averages its heads and has no elu. Weights and attention vectors start as Glorot and Bengio's (a
/// vector: one input a head, as PyTorch Geometric counts), biases at 0.
struct Gat {
    layout: Layout,
    /// Input columns of each layer, and the columns of its heads.
    inputs: Vec<Axis>,
    heads: Vec<Axis>,
    shapes: Vec<Shape>,
    operator: Arc<Operator>,
    n: usize,
    p: f64,
    attention_p: f64,
    seed: u64,
    input: Input,
    buffers: Buffers,
}

struct Buffers {
    /// The transformed nodes of each layer.
    transformed: Vec<Vec<f32>>,
    /// Their scores.
    scores: Vec<Vec<f32>>,
    /// The coefficients of each layer, `heads` an edge.
    alpha: Vec<Vec<f32>>,
    /// The output of each layer, heads side by side, dropped for the next.
    hidden: Vec<Vec<f32>>,
    /// The mean of the last layer's heads, where there are several.
    mean: Vec<f32>,
    d_mean: Vec<f32>,
    gradient: Vec<f32>,
    d_transformed: Vec<f32>,
    d_scores: Vec<f32>,
    d_source: Vec<f32>,
    d_target: Vec<f32>,
    d_vectors: Vec<f32>,
    transposed: Vec<f32>,
    partials: Vec<f32>,
}

/// The blocks of a layer in the layout.
const WEIGHT: usize = 0;
const SOURCE: usize = 1;
const TARGET: usize = 2;
const BIAS: usize = 3;
const BLOCKS: usize = 4;

impl Gat {
    fn new(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        let (n, options) = (problem.graph.n_nodes(), problem.options);
        let slope = options.real("negative_slope")? as f32;
        let attention_p = options.real("attention_dropout")?;
        let (n_heads, output_heads) = (options.integer("heads")? as usize, options.integer("output_heads")? as usize);
        let mut layout = Layout::default();
        let (mut inputs, mut heads, mut shapes) = (vec![Axis::exact(problem.features.n_columns())], vec![], vec![]);
        for l in 0..options.layers {
            let last = l + 1 == options.layers;
            let (k, width) = if last { (output_heads, problem.n_outputs) } else { (n_heads, options.hidden) };
            let (rows, columns) = (inputs[l], Axis::padded(k, width));
            layout.push(format!("{l}.weight"), rows, columns, Initial::glorot(rows.len(), columns.len()));
            layout.push(format!("{l}.source"), Axis::exact(1), columns, Initial::glorot(k, width));
            layout.push(format!("{l}.target"), Axis::exact(1), columns, Initial::glorot(k, width));
            let bias = if last { Axis::padded(1, width) } else { columns };
            layout.push(format!("{l}.bias"), Axis::exact(1), bias, Initial::Zeros);
            heads.push(columns);
            shapes.push(Shape { heads: k, dim: padded(width), slope });
            inputs.push(columns);
        }
        let operator = Arc::new(Operator::attention(&problem.graph, reservation)?);
        let input = Input::new(Arc::clone(&problem.features));
        let edges = operator.n_entries();
        let blocks = n.div_ceil(block_rows(n));
        let strides: Vec<usize> = heads.iter().map(|axis| axis.stride()).collect();
        let widest = strides.iter().copied().max().unwrap_or(0);
        let largest = strides.windows(2).map(|w| w[0] * w[1]).max().unwrap_or(0);
        let most_heads = shapes.iter().map(|shape| shape.heads).max().unwrap_or(0);
        let partials = input.partials(blocks, strides[0]).max(blocks * largest.max(2 * widest));
        let mean = if output_heads > 1 { n * padded(problem.n_outputs) } else { 0 };
        let mut each = |len: &dyn Fn(&Shape) -> usize| -> Result<Vec<Vec<f32>>, Stopped> {
            shapes.iter().map(|shape| zeros(reservation, len(shape))).collect()
        };
        let (transformed, hidden) = (each(&|s| n * s.stride())?, each(&|s| n * s.stride())?);
        let (scores, alpha) = (each(&|s| 2 * n * s.heads)?, each(&|s| edges * s.heads)?);
        let buffers = Buffers {
            transformed,
            scores,
            alpha,
            hidden,
            mean: zeros(reservation, mean)?,
            d_mean: zeros(reservation, mean)?,
            gradient: zeros(reservation, n * widest)?,
            d_transformed: zeros(reservation, n * widest)?,
            d_scores: zeros(reservation, edges * most_heads)?,
            d_source: zeros(reservation, n * most_heads)?,
            d_target: zeros(reservation, n * most_heads)?,
            d_vectors: zeros(reservation, 2 * widest)?,
            transposed: zeros(reservation, largest)?,
            partials: zeros(reservation, partials)?,
        };
        let (p, seed) = (options.dropout, options.seed);
        Ok(Self { layout, inputs, heads, shapes, operator, n, p, attention_p, seed, input, buffers })
    }

    fn layers(&self) -> usize {
        self.shapes.len()
    }

    fn block<'a>(&self, parameters: &'a [f32], layer: usize, block: usize) -> &'a [f32] {
        &parameters[self.layout.blocks()[BLOCKS * layer + block].range()]
    }

    fn averages(&self) -> bool {
        self.shapes[self.layers() - 1].heads > 1
    }
}

impl Model for Gat {
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
            let (shape, last) = (self.shapes[l], l + 1 == layers);
            let weights = self.block(parameters, l, WEIGHT);
            let (source, target) = (self.block(parameters, l, SOURCE), self.block(parameters, l, TARGET));
            let bias = self.block(parameters, l, BIAS);
            let b = &mut self.buffers;
            let (set, width, out) = (&scope.rows[l], shape.stride(), &mut b.transformed[l]);
            if l == 0 {
                let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                self.input.product(set, weights, width, mask, Finish::NOTHING, out, monitor)?;
            } else {
                let (from, k) = (&b.hidden[l - 1], self.inputs[l].stride());
                dense::product(set, Left::new(from, k), weights, width, Then::Finish(Finish::NOTHING), out, monitor)?;
            }
            attention::scores(set, shape, &b.transformed[l], source, target, &mut b.scores[l], monitor)?;
            let finish = match (last, shape.heads) {
                (false, _) => Finish {
                    bias: Some(bias),
                    activation: Activation::Elu,
                    dropout: dropout(self.p, self.seed, pass, l + 1, Site::Input),
                },
                (true, 1) => Finish { bias: Some(bias), ..Finish::NOTHING },
                (true, _) => Finish::NOTHING,
            };
            let attend = Attend {
                shape,
                edges: scope.forward[l].incoming(),
                x: &b.transformed[l],
                scores: &b.scores[l],
                dropout: dropout(self.attention_p, self.seed, pass, l, Site::Attention),
            };
            attend.run(&scope.rows[l + 1], finish, &mut b.alpha[l], &mut b.hidden[l], monitor)?;
            if last && shape.heads > 1 {
                attention::mean_heads(&scope.rows[l + 1], shape, &b.hidden[l], bias, &mut b.mean, monitor)?;
            }
        }
        Ok(())
    }

    fn outputs(&self) -> &[f32] {
        if self.averages() { &self.buffers.mean } else { &self.buffers.hidden[self.layers() - 1] }
    }

    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]) {
        let last = self.layers() - 1;
        if self.averages() {
            (&self.buffers.mean, &mut self.buffers.d_mean)
        } else {
            let len = self.buffers.hidden[last].len();
            (&self.buffers.hidden[last], &mut self.buffers.gradient[..len])
        }
    }

    fn backward(
        &mut self,
        scope: &Scope,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let layers = self.layers();
        let averages = self.averages();
        for l in (0..layers).rev() {
            let (shape, targets, sources) = (self.shapes[l], &scope.rows[l + 1], &scope.rows[l]);
            let (width, heads) = (shape.stride(), shape.heads);
            let weights = self.block(parameters, l, WEIGHT);
            let (source, target) = (self.block(parameters, l, SOURCE), self.block(parameters, l, TARGET));
            let range = |block: usize| self.layout.blocks()[BLOCKS * l + block].range();
            let b = &mut self.buffers;
            let d_bias = &mut gradient[range(BIAS)];
            if l + 1 == layers && averages {
                column_sums(targets, &b.d_mean, shape.dim, &mut b.partials, d_bias, monitor)?;
                let out = &mut b.gradient[..self.n * width];
                attention::mean_heads_gradient(targets, shape, &b.d_mean, out, monitor)?;
            } else {
                column_sums(targets, &b.gradient, width, &mut b.partials, d_bias, monitor)?;
            }

            let attend = Attend {
                shape,
                edges: scope.forward[l].incoming(),
                x: &b.transformed[l],
                scores: &b.scores[l],
                dropout: dropout(self.attention_p, self.seed, pass, l, Site::Attention),
            };
            let d_target = &mut b.d_target[..self.n * heads];
            d_target.fill(0.0);
            let (alpha, d_scores) = (&mut b.alpha[l], &mut b.d_scores);
            attention::backward_targets(attend, targets, &b.gradient, alpha, d_scores, d_target, monitor)?;
            let backward = BackwardSources {
                shape,
                edges: scope.backward[l].outgoing(),
                gradient: &b.gradient,
                alpha: &b.alpha[l],
                d_scores: &b.d_scores,
                d_target,
                source,
                target,
            };
            let (d_x, d_source) = (&mut b.d_transformed[..self.n * width], &mut b.d_source[..self.n * heads]);
            backward.run(sources, d_x, d_source, monitor)?;
            let (x, vectors) = (&b.transformed[l], &mut b.d_vectors);
            attention::vector_gradients(sources, shape, x, d_source, d_target, &mut b.partials, vectors, monitor)?;
            gradient[range(SOURCE)].copy_from_slice(&b.d_vectors[..width]);
            gradient[range(TARGET)].copy_from_slice(&b.d_vectors[width..2 * width]);

            let d_weights = &mut gradient[range(WEIGHT)];
            if l == 0 {
                let mask = dropout(self.p, self.seed, pass, 0, Site::Input);
                let set = &scope.rows[0];
                return self.input.gradient(
                    set,
                    scope.input_transposed.as_deref(),
                    d_x,
                    width,
                    mask,
                    &mut b.partials,
                    d_weights,
                    monitor,
                );
            }
            let (from, k) = (&b.hidden[l - 1], self.inputs[l].stride());
            dense::transposed_product(sources, Left::new(from, k), d_x, width, &mut b.partials, d_weights, monitor)?;
            let gate = Gate {
                output: from,
                activation: Activation::Elu,
                dropout: dropout(self.p, self.seed, pass, l, Site::Input),
            };
            let to = &mut b.gradient[..self.n * k];
            let (left, then, room) = (Left::new(d_x, width), Then::Gate(gate), &mut b.transposed);
            dense::product_by_transposed(sources, left, weights, k, room, then, to, monitor)?;
        }
        Ok(())
    }

    fn embedding(&self) -> Option<(&[f32], Axis)> {
        let l = self.layers().checked_sub(2)?;
        Some((&self.buffers.hidden[l], self.heads[l]))
    }
}
