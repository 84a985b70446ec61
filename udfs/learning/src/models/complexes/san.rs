//! Simplicial attention network (Giusti, Battiloro, Di Lorenzo, Sardellitti and Barbarossa 2022).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{Result as Tensors, Tensor};

use super::COMPLEX_TASKS;
use crate::complexes::LaplacianPart;
use crate::ground::{BuildError, OptionError};
use crate::models::spec::COMPLEXES;
use crate::models::{ModelSpec, Problem, complexes};
use crate::network::{Entries, Hop, Operator};
use crate::options::table::{BATCH_OF_COMPLEXES, DIMENSION, SIGNED};
use crate::options::{Defaults, OF_COMPLEXES, OptionSpec};
use crate::program::layers::expressions::composed::{Composed, Neighborwise};
use crate::program::layers::expressions::expression::Precision;
use crate::program::layers::expressions::hop_kernel::HopKernel;
use crate::program::{Builder, Program, Slot};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "san",
    family: COMPLEXES,
    geometry: "euclidean",
    tasks: COMPLEX_TASKS,
    source: "Giusti, Battiloro, Di Lorenzo, Sardellitti and Barbarossa 2022, Simplicial attention networks",
    defaults: Defaults { layers: 1, ..OF_COMPLEXES },
    own: &[
        BATCH_OF_COMPLEXES,
        DIMENSION,
        SIGNED,
        OptionSpec::choice(
            "activation",
            "sigmoid",
            complexes::ACTIVATIONS,
            "what follows the sums of a layer. Hidden rows do not turn with the orientation of a simplex, not even with an odd \
             one (tanh, identity): attention weighs rows by a softmax, whatever their orientation",
        ),
        OptionSpec::integer("filters", 2, [1, 64], "J, the largest power of the attention matrices"),
        OptionSpec::integer(
            "harmonic_order",
            5,
            [0, 1000],
            "the power of I - epsilon L, which nears the harmonic projector",
        ),
        OptionSpec::real("harmonic_epsilon", 0.1, [0.0, f64::INFINITY], "epsilon in I - epsilon L"),
    ],
    reach: None,
    build,
};

/// The slope of scores below 0.
const SLOPE: f64 = 0.2;

/// `sum_j softmax_j(leaky(t_i + s_j)) y_j` over the entries of an operator, with t and s the columns of the first input.
#[derive(Debug)]
struct Attend;

impl Neighborwise for Attend {
    fn compute(&self, x: &[Tensor], _w: &[Tensor], hop: &Hop) -> Tensors<Tensor> {
        let (scores, y) = (&x[0], &x[1]);
        let sums = (hop.target(&scores.narrow(1, 0, 1)?.contiguous()?)?
            + hop.source(&scores.narrow(1, 1, 1)?.contiguous()?)?)?;
        let weights = hop.softmax(&(sums.relu()? - (sums.neg()?.relu()? * SLOPE)?)?)?;
        hop.sum(&hop.source(y)?.broadcast_mul(&weights)?)
    }

    fn kernel(&self) -> Option<&dyn HopKernel> {
        Some(self)
    }
}

/// The columns of scores in front of those of a message.
const SCORES: usize = 2;

impl Attend {
    /// The coefficients of a row's entries, and the slopes of their scores.
    fn coefficients(x: &[f64], stride: usize, row: usize, sources: &[u32], entries: &mut Vec<(f64, f64)>) {
        entries.clear();
        let own = x[row * stride];
        entries.extend(sources.iter().map(|&source| {
            let score = own + x[source as usize * stride + 1];
            if score < 0.0 { (SLOPE * score, SLOPE) } else { (score, 1.0) }
        }));
        let largest = entries.iter().map(|entry| entry.0).fold(f64::NEG_INFINITY, f64::max);
        entries.iter_mut().for_each(|entry| entry.0 = (entry.0 - largest).exp());
        let sum: f64 = entries.iter().map(|entry| entry.0).sum();
        entries.iter_mut().for_each(|entry| entry.0 /= sum);
    }
}

impl HopKernel for Attend {
    fn values(&self, entries: Entries<'_>, x: &[f64], _w: &[Vec<f64>], y: &mut [f64]) {
        let columns = y.len() / entries.rows().max(1);
        let (stride, mut coefficients) = (columns + SCORES, Vec::new());
        for (row, y) in y.chunks_exact_mut(columns).enumerate() {
            let sources = entries.of(row);
            Self::coefficients(x, stride, row, sources, &mut coefficients);
            for (&source, (weight, _)) in sources.iter().zip(&coefficients) {
                let message = &x[source as usize * stride + SCORES..][..columns];
                y.iter_mut().zip(message).for_each(|(y, x)| *y += weight * x);
            }
        }
    }

    fn gradients(
        &self,
        entries: Entries<'_>,
        x: &[f64],
        _w: &[Vec<f64>],
        d_y: &[f64],
        d_x: &mut [f64],
        _d_w: &mut [Vec<f64>],
    ) {
        let columns = d_y.len() / entries.rows().max(1);
        let (stride, mut coefficients, mut along) = (columns + SCORES, Vec::new(), Vec::new());
        for (row, d_y) in d_y.chunks_exact(columns).enumerate() {
            let sources = entries.of(row);
            Self::coefficients(x, stride, row, sources, &mut coefficients);
            along.clear();
            let mut mean = 0.0;
            for (&source, (weight, _)) in sources.iter().zip(&coefficients) {
                let at = source as usize * stride + SCORES;
                let product: f64 = d_y.iter().zip(&x[at..at + columns]).map(|(d_y, x)| d_y * x).sum();
                d_x[at..at + columns].iter_mut().zip(d_y).for_each(|(d_x, d_y)| *d_x += weight * d_y);
                mean += weight * product;
                along.push(product);
            }
            for ((&source, (weight, slope)), product) in sources.iter().zip(&coefficients).zip(&along) {
                let d_score = weight * (product - mean) * slope;
                d_x[row * stride] += d_score;
                d_x[source as usize * stride + 1] += d_score;
            }
        }
    }
}

/// `Z <- sigmoid(sum_p A_down^p X W_p + A_up^p X V_p + (I - epsilon L_1)^5 X W_h)` on edges, p = 1..J: A_down is the softmax of
/// the scores of two edges, a learnt product with what all `X W_p` give for both, over the edges with a common vertex, A_up
/// the same over those with a common triangle. Edges alone are read out.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, batch) = (problem.options, problem.complexes()?);
    let (signed, activation) = (complexes::signed(&options)?, complexes::activation(&options)?);
    let (filters, order) = (options.integer("filters")? as usize, options.integer("harmonic_order")?);
    let epsilon = options.real("harmonic_epsilon")?;
    if batch.dimension() == 0 {
        let why = "1 or more: the model reads the edges of complexes";
        return Err(OptionError::invalid("dimension", 0, why).into());
    }
    let mut b = Builder::new(problem, reservation);
    let pattern = |b: &mut Builder<'_, '_>, part: LaplacianPart| -> Result<Arc<Operator>, BuildError> {
        // Without signs, that no entry cancels.
        Ok(Arc::new(batch.laplacian(1, part, false, b.reservation())?))
    };
    let parts = [("lower", pattern(&mut b, LaplacianPart::Lower)?), ("upper", pattern(&mut b, LaplacianPart::Upper)?)];
    let laplacian = Arc::new(batch.laplacian(1, LaplacianPart::Both, signed, b.reservation())?);
    let mut x = complexes::input(&mut b, batch, 1)?;
    for l in 0..options.layers {
        let h = b.dropout(x, options.dropout);
        let mut terms = Vec::new();
        for (name, operator) in parts.iter().take(if batch.dimension() > 1 { 2 } else { 1 }) {
            let powers: Vec<Slot> =
                (1..=filters).map(|p| b.linear(h, format!("{l}.{name}.{p}"), options.hidden)).collect();
            let all = b.concat(&powers);
            let scores = b.linear(all, format!("{l}.{name}.attention"), 2);
            let mut z = powers[filters - 1];
            for p in (0..filters).rev() {
                let (space, axis) = (b.space(z), b.axis(z));
                let layer = Composed::with(Attend, operator, Precision::Single);
                z = b.push(layer, &[scores, z], &[], space, axis);
                if p > 0 {
                    z = b.sum(&[(z, 1.0), (powers[p - 1], 1.0)]);
                }
            }
            terms.push((z, 1.0));
        }
        let mut harmonic = b.linear(h, format!("{l}.harmonic"), options.hidden);
        for _ in 0..order {
            harmonic = b.propagate_plus(&laplacian, -epsilon, harmonic, 1.0, harmonic);
        }
        terms.push((harmonic, 1.0));
        let z = b.sum(&terms);
        x = b.activation(z, activation);
    }
    let pooled = complexes::sum(&mut b, batch, 1, x)?;
    complexes::read_out(b, &[pooled], problem.n_outputs)
}
