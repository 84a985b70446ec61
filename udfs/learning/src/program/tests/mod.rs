//! Every layer in a small program: its gradient against finite differences, pruned against full, and its definition.

use std::sync::Arc;

use bonnet_graph::{Graph, Reservation, Unmonitored};
use candle_core::{DType, Device, Tensor, Var};

use super::layers::combine::{Map, Weights};
use super::layers::edges::gated_sum::Gates;
use super::layers::expressions::composed::Neighborwise;
use super::layers::expressions::expression::Rowwise;
use super::layers::pool::Pool;
use super::*;
use crate::data::{Features, SparseRows};
use crate::ground::random::Stream;
use crate::ground::{BuildError, Initial};
use crate::kernels::edge::{Gate, Similarity};
use crate::kernels::low_rank::Ridge;
use crate::network::{Hop, Messages, Model, Operator, Pass, Scope, Statistics};
use crate::spaces::{Factor, Geometry, Space};

mod listed;
mod tokens;
mod typed;

const NODES: usize = 40;
const WIDTH: usize = 5;

struct Host {
    graph: Arc<Graph>,
    features: Arc<Features>,
}

fn host(sparse: bool) -> Host {
    let mut stream = Stream::new(17);
    let edges: Vec<(u32, u32)> = (0..70).map(|_| (stream.below(NODES) as u32, stream.below(NODES) as u32)).collect();
    let columns = 7;
    let values: Vec<f32> = (0..NODES * columns).map(|_| stream.normal() as f32).collect();
    let features = if sparse {
        let offsets = (0..=NODES).map(|v| v * columns).collect();
        let indices = (0..NODES).flat_map(|_| 0..columns as u32).collect();
        Features::Sparse(SparseRows::new(columns, offsets, indices, values).unwrap())
    } else {
        Features::dense(columns, values).unwrap()
    };
    Host { graph: Arc::new(Graph::from_edges(NODES, &edges)), features: Arc::new(features) }
}

type Write = fn(&mut Builder<'_, '_>, Slot, Slot, &Arc<Operator>) -> Result<Slot, BuildError>;

/// A program that reads two slots with parameters behind them.
fn program(host: &Host, write: Write) -> Program {
    let inputs = Inputs {
        n_nodes: NODES,
        features: Arc::clone(&host.features),
        n_outputs: WIDTH,
        known_labels: (0..NODES as u32).filter(|v| v % 4 != 3).map(|v| (v, v % WIDTH as u32)).collect(),
        label_rate: 0.0,
        seed: 0,
        device: false,
    };
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let operator = Arc::new(Operator::mean(&Messages::from(&host.graph), &mut reservation).unwrap());
    let mut b = Builder::new(inputs, &mut reservation);
    let x = b.input(0.2);
    let first = b.affine(x, "first", WIDTH);
    let second = b.linear(x, "second", WIDTH);
    let output = write(&mut b, first, second, &operator).unwrap();
    b.finish(output).unwrap()
}

/// Every layer, each with inputs that other layers read too.
fn programs() -> Vec<(&'static str, Write)> {
    let mut programs = typed::programs();
    programs.extend(of_nodes());
    programs.extend(tokens::programs());
    programs
}

/// Those of all layers but the ones on tokens, and on types and relations.
fn of_nodes() -> Vec<(&'static str, Write)> {
    vec![
        ("propagate", |b, x, y, p| {
            let z = b.propagate_plus(p, 0.7, x, -0.3, y);
            let z = b.activation(z, crate::kernels::Activation::Tanh);
            let z = b.dropout(z, 0.4);
            let z = b.propagate(p, z);
            Ok(b.sum(&[(z, 1.0), (x, 0.5)]))
        }),
        ("shared weights", |b, x, y, _| {
            let axis = b.axis(x);
            let weights = b.parameter("shared", axis, axis, Initial::glorot(WIDTH, WIDTH));
            let z = b.linear_with(x, weights);
            let z = b.relu(z);
            let z = b.linear_with(z, weights);
            let u = b.linear_with(y, weights);
            Ok(b.sum(&[(z, 1.0), (u, -1.0), (x, 0.1)]))
        }),
        ("product", |b, x, y, p| {
            let u = b.propagate(p, x);
            let z = b.product(u, y);
            let z = b.product(z, z);
            Ok(b.product(z, x))
        }),
        ("concat", |b, x, y, p| {
            let u = b.propagate(p, y);
            let z = b.concat(&[x, u, y, x]);
            let z = b.dropout(z, 0.3);
            Ok(b.linear(z, "out", WIDTH))
        }),
        ("mix", |b, x, y, p| {
            let u = b.propagate(p, x);
            let gates = b.linear(y, "gates", 3);
            let gates = b.row_softmax(gates);
            Ok(b.mix_rows(&[x, u, y], gates))
        }),
        ("norms", |b, x, y, _| {
            let u = b.unit_rows(x);
            let v = b.layer_norm(y, "norm");
            let v = b.activation(v, crate::kernels::Activation::Leaky(0.1));
            Ok(b.sum(&[(u, 2.0), (v, 1.0), (x, 0.3)]))
        }),
        ("batch norm", |b, x, y, p| {
            let u = b.propagate(p, x);
            let z = b.batch_norm(u, "norm", Statistics::Population)?;
            let z = b.activation(z, crate::kernels::Activation::Leaky(0.1));
            Ok(b.sum(&[(z, 1.0), (x, 0.3), (y, 0.4)]))
        }),
        ("learnt sums", |b, x, y, p| {
            use crate::ground::Axis;
            let u = b.propagate(p, x);
            let start = Initial::Values([0.4, -0.2, 0.7].into());
            let a = b.parameter("a", Axis::exact(1), Axis::exact(3), start.clone());
            let c = b.parameter("c", Axis::exact(1), Axis::exact(2), start);
            let v = b.learned_sum(&[x, u, y], a, Weights::plain(Map::Softmax));
            let w = b.learned_sum(&[x, v, u], c, Weights::in_basis(Map::Sigmoid, vec![1.0, 0.5, -1.0, 2.0, 0.3, 0.0]));
            Ok(b.activation(w, crate::kernels::Activation::Sigmoid))
        }),
        ("dot attention", |b, x, y, _| {
            let edges = edges(b)?;
            let (q, k, v) = (b.concat(&[x, y]), b.concat(&[y, x]), b.concat(&[x, x]));
            let z = b.dot_attention(&edges, [q, k, v], 2, 0.3)?;
            let z = b.mean_heads(z, 2, WIDTH);
            let u = b.dot_attention(&edges, [x, x, z], 1, 0.0)?;
            Ok(b.sum(&[(z, 1.0), (u, 0.7), (y, 0.2)]))
        }),
        ("biased attention", |b, x, y, _| {
            let edges = edges(b)?;
            let bias = (0..edges.n_entries()).map(|entry| (entry % 3) as f32 * 0.5).collect();
            let z = b.biased_attention(&edges, bias, [x, y, x], 1, 0.3)?;
            let z = b.random_signs(z, &[0, 11, 11, NODES as u32]);
            Ok(b.sum(&[(z, 1.0), (y, 0.2)]))
        }),
        ("gated sum", |b, x, y, _| {
            let edges = edges(b)?;
            let (t, s) = (b.linear(x, "t", 1), b.linear(y, "s", 1));
            let tanh = Gates { gate: Gate::Tanh, dropout: 0.3, loss: None };
            let z = b.gated_sum(&edges, |i, j| 0.5 + ((i + 2 * j) % 3) as f32, tanh, [t, s, x])?;
            let sigmoid = Gates { gate: Gate::Sigmoid, dropout: 0.0, loss: None };
            let u = b.gated_sum(&edges, |_, _| 1.0, sigmoid, [s, s, z])?;
            Ok(b.sum(&[(z, 1.0), (u, -0.6), (x, 0.2)]))
        }),
        ("pair attention", |b, x, y, _| {
            let edges = edges(b)?;
            let both = b.concat(&[x, y]);
            let mask = b.attention_mask(0, 0.3);
            let z = b.pair_attention(&edges, both, "two", 2, 0.2, mask)?;
            let z = b.mean_heads(z, 2, WIDTH);
            let u = b.pair_attention(&edges, z, "one", 1, 0.1, None)?;
            let u = b.bias_from(u, "one.bias", Initial::Constant(0.1));
            let u = b.activation(u, crate::kernels::Activation::Elu);
            // Wide heads, and an input that another layer reads first.
            let w = b.pair_attention(&edges, y, "wide", 1, 0.2, None)?;
            Ok(b.sum(&[(z, 1.0), (u, 0.7), (w, 0.4), (y, 0.2)]))
        }),
        ("propagate beside", |b, x, y, p| {
            let both = b.concat(&[x, y]);
            let z = b.propagate_beside(p, both, WIDTH);
            let z = b.bias_from(z, "beside.bias", Initial::Constant(0.1));
            let z = b.relu(z);
            let again = b.concat(&[y, z]);
            let u = b.propagate_beside(p, again, WIDTH);
            let v = b.propagate_beside(p, both, WIDTH);
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (v, -0.7)]))
        }),
        ("all pairs", |b, x, y, p| {
            let q = b.ridge(x, Ridge { c: 0.4, a: 2.0, scale: 1.5 })?;
            let z = b.all_pairs(y, x, q, 0.3)?;
            let u = b.all_pairs(z, z, z, 0.2)?;
            let u = b.propagate(p, u);
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (q, 1.0)]))
        }),
        ("local similarity", |b, x, y, _| {
            let edges = edges(b)?;
            let phi = b.local_similarity(&edges, Similarity::UnitDistance, "similarity", 5)?;
            let z = b.mix_rows(&[x], phi);
            Ok(b.sum(&[(z, 1.0), (y, 0.5)]))
        }),
        ("polynomials", |b, x, y, p| {
            use crate::ground::Axis;
            let z = b.polynomial(p, x, &[0.3, -0.5, 0.8])?;
            let z = b.activation(z, crate::kernels::Activation::Tanh);
            let z = b.dropout(z, 0.3);
            let start = Initial::Values([0.4, -0.2, 0.7, 0.5].into());
            let c = b.parameter("c", Axis::exact(1), Axis::exact(4), start.clone());
            let u = b.learned_polynomial(p, z, c, 3)?;
            let of_degree_0 = b.parameter("c0", Axis::exact(1), Axis::exact(1), start);
            let v = b.learned_polynomial(p, y, of_degree_0, 0)?;
            Ok(b.sum(&[(u, 1.0), (v, 0.5), (z, 0.3), (x, 0.2)]))
        }),
        ("given labels", |b, x, y, _| {
            let labels = b.given_labels("labels", 0.6)?;
            let features = b.input(0.1);
            let (rows, columns) = (b.source_axis(features.into()), b.axis(x));
            let weights = b.parameter("shared", rows, columns, Initial::glorot(rows.len(), WIDTH));
            let z = b.linear_with(features, weights);
            let z = b.add_labels(z, &labels, weights)?;
            let z = b.relu(z);
            let u = b.add_labels(y, &labels, weights)?;
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (x, 0.2)]))
        }),
        ("expression", |b, x, y, _| {
            use crate::ground::Axis;
            let c = b.parameter("c", Axis::exact(1), Axis::padded(1, WIDTH), Initial::Constant(0.3));
            let z = b.rows(Wave, &[x, y], &[c], WIDTH);
            let u = b.rows(Wave, &[z, z], &[c], WIDTH);
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (x, 0.2)]))
        }),
        ("composed", |b, x, y, p| {
            let axis = b.axis(x);
            let z = b.neighbors(Near { values: true }, p, &[x, y], &[], axis);
            let edges = edges(b)?;
            let u = b.neighbors(Near { values: false }, &edges, &[z, z], &[], axis);
            Ok(b.sum(&[(z, 1.0), (u, 0.5), (y, 0.2)]))
        }),
        ("distortion", |b, x, y, _| {
            let edges = edges(b)?;
            // Two columns of coordinates of one factor and one of the other, then their curvatures, tanh of a slot: other
            // numbers in every row.
            let factor = |dimension| Factor { geometry: Geometry::Stereographic, dimension };
            let space = Space { factors: vec![factor(2), factor(1)], gates: false };
            let x = b.activation(x, crate::kernels::Activation::Tanh);
            let z = b.distortion(&edges, x, &space, 0.7)?;
            Ok(b.sum(&[(z, 1.0), (x, 0.5), (y, 0.2)]))
        }),
        ("pool sum", |b, x, y, _| pooled(b, x, y, Pool::Sum)),
        ("pool mean", |b, x, y, _| pooled(b, x, y, Pool::Mean)),
        ("pool max", |b, x, y, _| pooled(b, x, y, Pool::Max)),
    ]
}

/// `x sin(c y) + x`.
#[derive(Debug)]
struct Wave;

impl Rowwise for Wave {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> candle_core::Result<Tensor> {
        &x[0] + (&x[0] * x[1].broadcast_mul(&w[0])?.sin()?)?
    }
}

/// `x_i + sum_j w_ij tanh(x_i - y_j)`, the weights values or a softmax.
#[derive(Debug)]
struct Near {
    values: bool,
}

impl Neighborwise for Near {
    fn compute(&self, x: &[Tensor], _: &[Tensor], hop: &Hop) -> candle_core::Result<Tensor> {
        let apart = (hop.target(&x[0])? - hop.source(&x[1])?)?.tanh()?;
        let weights = match self.values {
            true => hop.values(&apart)?,
            false => hop.softmax(&apart.sum_keepdim(1)?)?,
        };
        hop.own(&x[0])? + hop.sum(&apart.broadcast_mul(&weights)?)?
    }
}

fn edges(b: &mut Builder<'_, '_>) -> Result<Arc<Operator>, BuildError> {
    let graph = Messages::from(&host(false).graph);
    Ok(Arc::new(Operator::edges(&graph, b.reservation())?))
}

fn pooled(b: &mut Builder<'_, '_>, x: Slot, y: Slot, pool: Pool) -> Result<Slot, BuildError> {
    let z = b.sum(&[(x, 1.0), (y, -1.0)]);
    // The third graph has no nodes.
    let g = b.pool(z, GRAPHS.into(), pool)?;
    let g = b.relu(g);
    Ok(b.affine(g, "out", WIDTH))
}

const GRAPHS: [u32; 6] = [0, 7, 18, 18, 30, NODES as u32];

fn initial(program: &Program) -> Vec<f32> {
    let mut parameters = program.layout().initialise(5);
    let mut stream = Stream::new(3);
    for block in program.layout().blocks().iter().filter(|block| block.name.ends_with("bias")) {
        block.positions().for_each(|at| parameters[at] = (0.3 * stream.uniform()) as f32);
    }
    parameters
}

/// The targets' outputs times fixed numbers, added up, with what layers add to the loss; and the gradient of that.
fn loss(program: &mut Program, scope: &Scope, parameters: &[f32], gradient: Option<&mut [f32]>) -> f64 {
    let pass = Pass::Train { epoch: 2 };
    program.forward(scope, parameters, pass, &Unmonitored).unwrap();
    let axis = program.shapes[program.output.0].axis;
    let (outputs, d_outputs) = program.outputs_and_gradient();
    let mut sum = 0.0;
    d_outputs.fill(0.0);
    for &row in scope.targets().rows().iter().filter(|row| **row % 3 != 1) {
        for c in axis.positions() {
            let (at, weight) = (row as usize * axis.stride() + c, ((row * 5 + c as u32) as f64).sin());
            sum += weight * f64::from(outputs[at]);
            d_outputs[at] = weight as f32;
        }
    }
    sum += program.penalty();
    if let Some(gradient) = gradient {
        program.backward(scope, parameters, pass, gradient, &Unmonitored).unwrap();
    }
    sum
}

fn scope_of(program: &Program, pruned: bool) -> Scope {
    let n = program.shapes[program.output.0].space.rows() as u32;
    // Rows that a loss reads, and no others.
    let targets: Vec<u32> = (0..n).filter(|row| row % 3 != 1 && *row < 11).collect();
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let scope = program.scope(&targets, true, pruned, &mut reservation).unwrap();
    if pruned {
        assert_eq!(scope.targets().rows(), targets);
    }
    scope
}

#[test]
fn every_layer_has_the_gradient_of_finite_differences() {
    for sparse in [true, false] {
        let host = host(sparse);
        for (name, write) in programs().into_iter().filter(|(name, _)| *name != tokens::CONSTANTS) {
            let mut program = program(&host, write);
            let parameters = initial(&program);
            let scope = scope_of(&program, true);
            let mut gradient = vec![f32::NAN; parameters.len()];
            loss(&mut program, &scope, &parameters, Some(&mut gradient));
            let blocks = program.layout().blocks().to_vec();
            for (number, block) in blocks.iter().enumerate().filter(|(_, block)| !block.statistic) {
                let mut stream = Stream::new(number as u64);
                let mut direction = vec![0f64; parameters.len()];
                let norm = block.positions().map(|at| f64::from(gradient[at]).powi(2)).sum::<f64>().sqrt();
                if norm == 0.0 && ["relations", "projected sum"].contains(&name) {
                    // The weights of a relation that no target of the pass sees.
                    continue;
                }
                assert!(norm > 0.0, "{name}: {} has no gradient", block.name);
                for at in block.positions() {
                    direction[at] = f64::from(gradient[at]) / norm + 0.1 * stream.normal();
                }
                let slope: f64 = direction.iter().zip(&gradient).map(|(d, g)| d * f64::from(*g)).sum();
                let mut at = |h: f64| {
                    let moved = parameters.iter().zip(&direction).map(|(p, d)| (f64::from(*p) + h * d) as f32);
                    loss(&mut program, &scope, &moved.collect::<Vec<f32>>(), None)
                };
                let error = [1e-2, 3e-3, 1e-3]
                    .into_iter()
                    .map(|h| (((at(h) - at(-h)) / (2.0 * h) - slope) / slope).abs())
                    .fold(f64::INFINITY, f64::min);
                assert!(error < 2e-3, "{name} {}: relative error {error:.1e}", block.name);
            }
            let real: Vec<usize> = program.layout().blocks().iter().flat_map(|block| block.positions()).collect();
            let padding = (0..gradient.len()).filter(|at| !real.contains(at));
            assert!(padding.into_iter().all(|at| gradient[at] == 0.0), "{name}: padding moves");
        }
    }
}

#[test]
fn pruned_and_full_passes_give_the_same_bits() {
    for sparse in [true, false] {
        let host = host(sparse);
        for (name, write) in programs() {
            let mut results = Vec::new();
            for pruned in [true, false] {
                let mut program = program(&host, write);
                program.take_buffers(&mut Shelf::default(), true, false);
                // Where a pruned pass writes nothing stands something that would show; constants are what they are.
                let computed: Vec<usize> = program.nodes.iter().map(|node| node.output.0).collect();
                let shapes = program.shapes.iter().enumerate().filter(|(slot, _)| computed.contains(slot));
                for (slot, shape) in shapes.filter(|_| pruned) {
                    let columns: Vec<usize> = shape.axis.positions().collect();
                    for values in [&mut program.values[slot], program.gradients[slot].get_mut()] {
                        let rows = values.chunks_mut(shape.axis.stride());
                        rows.for_each(|row| columns.iter().for_each(|&c| row[c] = 1e9));
                    }
                }
                let (targets, scope) = (scope_of(&program, true), scope_of(&program, pruned));
                let parameters = initial(&program);
                program.forward(&scope, &parameters, Pass::Train { epoch: 2 }, &Unmonitored).unwrap();
                let axis = program.shapes[program.output.0].axis;
                let mut gradient = vec![0.0; parameters.len()];
                let (outputs, d_outputs) = program.outputs_and_gradient();
                let mut read = Vec::new();
                if !pruned {
                    d_outputs.fill(0.0);
                }
                for &row in targets.targets().rows() {
                    for c in 0..axis.stride() {
                        let at = row as usize * axis.stride() + c;
                        read.push(outputs[at]);
                        d_outputs[at] = if c < WIDTH { outputs[at] * 0.3 + 0.1 } else { 0.0 };
                    }
                }
                program.backward(&scope, &parameters, Pass::Train { epoch: 2 }, &mut gradient, &Unmonitored).unwrap();
                results.push((read, gradient));
            }
            assert!(results[0] == results[1], "{name}, sparse {sparse}");
        }
    }
}

#[test]
fn what_follows_a_layer_is_fused_unless_somebody_else_reads_it() {
    let host = host(true);
    let fused = program(&host, |b, x, _, p| {
        let z = b.propagate(p, x);
        let z = b.bias(z, "bias");
        let z = b.relu(z);
        Ok(b.dropout(z, 0.5))
    });
    // Two linear layers (one with its bias), one propagation with everything after it.
    assert_eq!(fused.nodes.len(), 3);
    let read = program(&host, |b, x, _, p| {
        let z = b.propagate(p, x);
        let a = b.relu(z);
        let c = b.dropout(a, 0.5);
        let twice = b.relu(c);
        Ok(b.sum(&[(twice, 1.0), (a, 1.0)]))
    });
    // relu is fused, dropout is a layer of its own since `a` is read twice, and the second relu cannot follow it.
    assert_eq!(read.nodes.len(), 6);
}

#[test]
fn rows_of_a_scope_shrink_towards_the_targets_and_equal_sets_are_shared() {
    let host = Host { graph: Arc::new(Graph::from_edges(NODES, &[(0, 1), (1, 2), (2, 3)])), ..host(true) };
    let path = program(&host, |b, x, _, p| {
        let z = b.propagate(p, x);
        let z = b.propagate(p, z);
        let z = b.sum(&[(z, 1.0)]);
        Ok(b.row_softmax(z))
    });
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let scope = path.scope(&[0], true, true, &mut reservation).unwrap();
    let rows = |node: usize| scope.rows[path.nodes[node].output.0].rows();
    // first, second, P x, P P x, sum, softmax: the mean has no loops.
    assert_eq!((rows(0), rows(1)), (&[0, 2][..], &[][..]));
    assert_eq!((rows(2), rows(3), rows(4), rows(5)), (&[1][..], &[0][..], &[0][..], &[0][..]));
    let of = |node: usize| &scope.rows[path.nodes[node].output.0];
    assert!(Arc::ptr_eq(of(3), of(4)) && Arc::ptr_eq(of(4), of(5)));
}

#[test]
fn running_moments_near_those_of_the_rows_and_take_their_place_without_training() {
    let mut program = program(&host(false), |b, _, y, _| Ok(b.batch_norm(y, "norm", Statistics::Running)?));
    let (all, mut reservation) = ((0..NODES as u32).collect::<Vec<_>>(), Reservation::new(&Unmonitored, 0).unwrap());
    let scope = program.scope(&all, true, true, &mut reservation).unwrap();
    let blocks = program.layout().blocks().to_vec();
    let block = |part: &str| blocks.iter().find(|block| block.name == format!("norm.{part}")).unwrap();
    let mut parameters = initial(&program);
    let mut running = [(0.0, 1.0); WIDTH];
    for step in 0..30i32 {
        let mut gradient = vec![f32::NAN; parameters.len()];
        loss(&mut program, &scope, &parameters, Some(&mut gradient));
        let y = &program.values[program.nodes[1].output.0];
        // A mean of the first ten, then a tenth for the next.
        let share = f64::max(0.1, 1.0 / (f64::from(step) + 1.0));
        for (c, (mean, variance)) in running.iter_mut().enumerate() {
            let column: Vec<f64> = y.chunks(8).map(|row| f64::from(row[c])).collect();
            let average = column.iter().sum::<f64>() / NODES as f64;
            let squares = column.iter().map(|y| (y - average) * (y - average)).sum::<f64>();
            *mean += share * (average - *mean);
            *variance += share * (squares / (NODES - 1) as f64 - *variance);
        }
        for part in ["mean", "variance", "steps"] {
            block(part).positions().for_each(|at| parameters[at] -= gradient[at]);
        }
    }
    let at = |part: &str| -> Vec<f64> { block(part).positions().map(|at| f64::from(parameters[at])).collect() };
    assert_eq!(at("steps"), [30.0]);
    for (c, (mean, variance)) in running.iter().enumerate() {
        assert!((at("mean")[c] - mean).abs() < 1e-4 && (at("variance")[c] - variance).abs() < 1e-4, "column {c}");
    }
    program.forward(&scope, &parameters, Pass::Evaluate, &Unmonitored).unwrap();
    let y = &program.values[program.nodes[1].output.0];
    for (got, y) in program.outputs().chunks(8).zip(y.chunks(8)) {
        for (c, (mean, variance)) in running.iter().enumerate() {
            let standard = (f64::from(y[c]) - mean) / (variance + 1e-5).sqrt();
            let expected = at("gain")[c] * standard + at("bias")[c];
            assert!((f64::from(got[c]) - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{} for {expected}", got[c]);
        }
    }
}

#[test]
fn pooling_takes_sum_mean_and_largest_of_each_graph() {
    let host = host(false);
    let at = |pool: Pool| {
        let write: Write = match pool {
            Pool::Sum => |b, x, _, _| Ok(b.pool(x, GRAPHS.into(), Pool::Sum)?),
            Pool::Mean => |b, x, _, _| Ok(b.pool(x, GRAPHS.into(), Pool::Mean)?),
            Pool::Max => |b, x, _, _| Ok(b.pool(x, GRAPHS.into(), Pool::Max)?),
        };
        let mut program = program(&host, write);
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let scope = program.scope(&[0, 1, 2, 3, 4], false, true, &mut reservation).unwrap();
        let parameters = initial(&program);
        program.forward(&scope, &parameters, Pass::Evaluate, &Unmonitored).unwrap();
        let stride = 8;
        let nodes = program.values[program.nodes[0].output.0].clone();
        for graph in 0..5 {
            let members = GRAPHS[graph] as usize..GRAPHS[graph + 1] as usize;
            for c in 0..WIDTH {
                let values: Vec<f32> = members.clone().map(|v| nodes[v * stride + c]).collect();
                let sum: f32 = values.iter().sum();
                let expected = match pool {
                    _ if values.is_empty() => 0.0,
                    Pool::Sum => sum,
                    Pool::Mean => sum / values.len() as f32,
                    Pool::Max => values.iter().copied().fold(f32::NEG_INFINITY, f32::max),
                };
                let got = program.outputs()[graph * stride + c];
                assert!((got - expected).abs() < 1e-5, "{pool:?} of graph {graph}: {got} for {expected}");
            }
        }
    };
    [Pool::Sum, Pool::Mean, Pool::Max].into_iter().for_each(at);
}

#[test]
fn every_layer_computes_what_its_definition_says_with_its_gradient() {
    for sparse in [true, false] {
        let host = host(sparse);
        for (name, write) in programs() {
            let (mut program, defined) = (program(&host, write), program(&host, write));
            let (parameters, scope) = (initial(&program), scope_of(&program, true));
            let mut gradient = vec![f32::NAN; parameters.len()];
            let loss = loss(&mut program, &scope, &parameters, Some(&mut gradient));

            let evaluation = Evaluation::new(defined, Device::Cpu, DType::F64);
            let leaves = evaluation.parameters(&parameters).unwrap();
            let leaves: Vec<Var> = leaves.iter().map(|leaf| Var::from_tensor(leaf).unwrap()).collect();
            let tensors: Vec<Tensor> = leaves.iter().map(|leaf| leaf.as_tensor().clone()).collect();
            let values = evaluation.run(&tensors, Pass::Train { epoch: 2 }, &Unmonitored).unwrap();
            let (n, width) = values.output.dims2().unwrap();
            let axis = program.shapes[program.output.0].axis;
            let rows = values.output.to_vec2::<f64>().unwrap();
            let mut weights = vec![0f64; n * width];
            for &row in scope.targets().rows() {
                for (c, at) in axis.positions().enumerate() {
                    let (got, expected) = (program.outputs()[row as usize * axis.stride() + at], rows[row as usize][c]);
                    let close = (f64::from(got) - expected).abs() <= 1e-5 * (1.0 + expected.abs());
                    assert!(close, "{name}, sparse {sparse}: {got} for {expected} in row {row}, {c}");
                    weights[row as usize * width + c] = f64::from(((row * 5 + at as u32) as f64).sin() as f32);
                }
            }
            let weights = Tensor::from_vec(weights, (n, width), &Device::Cpu).unwrap();
            let mut expected = (values.output * weights).unwrap().sum_all().unwrap();
            if let Some(penalty) = values.penalty {
                expected = (expected + penalty.sum_all().unwrap()).unwrap();
            }
            let gradients = expected.backward().unwrap();
            let expected = expected.to_scalar::<f64>().unwrap();
            assert!((loss - expected).abs() <= 1e-5 * (1.0 + expected.abs()), "{name}: {loss} for {expected}");
            let learnt = program.layout().blocks().iter().zip(&leaves).filter(|(block, _)| !block.statistic);
            for (block, leaf) in learnt {
                let slopes = gradients.get(leaf).unwrap_or_else(|| panic!("{name}: {} has no gradient", block.name));
                let slopes = slopes.flatten_all().unwrap().to_vec1::<f64>().unwrap();
                let largest = slopes.iter().fold(0f64, |max, g| max.max(g.abs()));
                for (at, expected) in block.positions().zip(slopes) {
                    let error = (f64::from(gradient[at]) - expected).abs();
                    assert!(error <= 1e-5 * largest.max(1.0), "{name}: {} at {at}: error {error:.1e}", block.name);
                }
            }
        }
    }
}
