//! The models against literal implementations of their equations in `f64`, with gradients by finite differences, and what must not
//! change them.

mod graphglue;
mod literal;
mod runs;
mod sa2gfm;

use bonnet_graph::Graph;
use candle_core::DType;

use crate::ground::random::{Stream, key};
use crate::ground::{Block, Layout, Matrix};
use crate::models::foundation::{Domain, Foundation, Place, Shape, Weights};
use crate::options::TrainOptions;
use crate::{Job, Value};

/// A graph of two planted blocks with features of a width, drawn from a seed.
pub(super) fn planted(n: u32, dim: usize, seed: u64) -> (Graph, Matrix) {
    let mut stream = Stream::new(key(&[seed]));
    let mut edges = Vec::new();
    for v in 1..n {
        edges.push((v - 1, v));
        edges.extend((0..v).filter(|u| stream.uniform() < if (u + v) % 2 == 0 { 0.3 } else { 0.05 }).map(|u| (u, v)));
    }
    let values = (0..n as usize * dim).map(|at| (stream.normal() + ((at / dim) % 2) as f64) as f32).collect();
    (Graph::from_edges(n as usize, &edges), Matrix { columns: dim, values })
}

/// The options of a small pre-training.
pub(super) fn options(model: &str, own: &[(&str, Value)]) -> TrainOptions {
    let mut job =
        Job::new(model).with("dim", 4).with("hidden", 3).with("layers", 2).with("seed", 5).with("dropout", 0.0);
    own.iter().for_each(|(name, value)| job.set(name, value.clone()));
    job.resolve_pretraining().unwrap()
}

/// Parameters that are nowhere special, of a layout.
pub(super) fn parameters(layout: &Layout, seed: u64) -> Vec<f32> {
    let mut stream = Stream::new(key(&[seed, 77]));
    (0..layout.stored()).map(|_| (0.6 * stream.normal() + 0.1) as f32).collect()
}

/// Two sources, in `f64`.
pub(super) fn sources() -> Vec<Domain> {
    [(9, 1), (7, 2)]
        .map(|(n, seed)| {
            let (graph, rows) = planted(n, 4, seed);
            Domain::of(graph, rows, DType::F64).unwrap()
        })
        .into()
}

/// The gradient of a model's loss at a place against central differences of a function of the parameters; what stands in its place for
/// statistics is none.
pub(super) fn check_gradient(
    model: &dyn Foundation,
    shape: &Shape<'_>,
    sources: &[Domain],
    place: Place,
    values: &[f32],
    literal: &dyn Fn(&[f64]) -> f64,
) {
    let layout = model.encoder(shape).unwrap();
    let weights = Weights::new(&layout, values, DType::F64, |_| true).unwrap();
    let loss = model.loss(shape, &weights, sources, place).unwrap().unwrap();
    let doubles: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let (found, expected) = (loss.to_scalar::<f64>().unwrap(), literal(&doubles));
    assert!((found - expected).abs() < 1e-10 * (1.0 + expected.abs()), "loss {found}, literal {expected}");
    let mut gradient = vec![0f32; layout.stored()];
    weights.add_gradient(&layout, &loss.backward().unwrap(), &mut gradient).unwrap();
    let step = 1e-6;
    let mut nonzero = 0;
    let statistics: Vec<_> = layout.blocks().iter().filter(|block| block.statistic).map(Block::range).collect();
    for (at, &found) in gradient.iter().enumerate() {
        if statistics.iter().any(|range| range.contains(&at)) {
            continue;
        }
        let moved = |by: f64| {
            let mut moved = doubles.clone();
            moved[at] += by;
            literal(&moved)
        };
        let expected = (moved(step) - moved(-step)) / (2.0 * step);
        assert!((f64::from(found) - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{at}: {found}, {expected}");
        nonzero += usize::from(found != 0.0);
    }
    assert!(nonzero * 10 > gradient.len(), "{nonzero} of {} parameters have a gradient", gradient.len());
}
