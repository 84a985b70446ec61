//! Differentiable Euler characteristic transform (Roell and Rieck 2024).

use bonnet_graph::Reservation;

use super::COMPLEX_TASKS;
use crate::complexes::ComplexBatch;
use crate::ground::random::{Stream, key};
use crate::ground::{Axis, BuildError};
use crate::models::spec::COMPLEXES;
use crate::models::{ModelSpec, Problem};
use crate::options::table::{BATCH_OF_COMPLEXES, DIMENSION};
use crate::options::{Defaults, Domain, OF_COMPLEXES, OptionSpec};
use crate::program::{Builder, Program, Space};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "dect",
    family: COMPLEXES,
    geometry: "euclidean",
    tasks: COMPLEX_TASKS,
    source: "Roell and Rieck 2024, Differentiable Euler characteristic transforms for shape classification",
    defaults: Defaults { layers: 3, ..OF_COMPLEXES },
    own: &[
        BATCH_OF_COMPLEXES,
        DIMENSION,
        OptionSpec::integer("directions", 32, [1, 4096], "directions, drawn once and for all on the sphere"),
        OptionSpec::integer("steps", 32, [2, 4096], "heights along each direction"),
        OptionSpec::new(
            "radius",
            Domain::OptionalPositive,
            "heights go from -radius to radius; NULL is 1.1, for coordinates in the unit ball",
        ),
        OptionSpec::real("scale", 500.0, [0.0, f64::INFINITY], "steepness of the sigmoid that stands for a step"),
        OptionSpec::new(
            "dims",
            Domain::OptionalInteger { min: 0, max: 15 },
            "the highest dimension that is counted; 0 are the vertices alone, as in the MANTRA benchmark; NULL is all",
        ),
    ],
    reach: None,
    build,
};

/// Separates the stream of directions from others. It does not depend on the seed, so that saved parameters keep their
/// meaning.
const DIRECTIONS: u64 = 14;

/// A perceptron of [`transform`], flattened and divided by its largest absolute value.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, batch) = (problem.options, problem.complexes()?);
    let (directions, steps) = (options.integer("directions")? as usize, options.integer("steps")? as usize);
    let radius = options.real("radius").unwrap_or(1.1);
    let dims = options.integer("dims").map_or(batch.dimension(), |dims| dims as usize).min(batch.dimension());
    let heights: Vec<f64> = (0..steps).map(|i| radius * (2.0 * i as f64 / (steps - 1) as f64 - 1.0)).collect();
    let directions = draw(directions, batch.features(0).width);
    let scale = options.real("scale")?;
    let mut b = Builder::new(problem, reservation);
    let columns = directions.len() * steps;
    let axis = Axis::padded(1, columns);
    b.reservation().check()?;
    let x = b.constant(Space::Rows(batch.n_complexes()), axis, |out| {
        for (number, row) in out.chunks_exact_mut(axis.stride()).enumerate() {
            let values = transform(batch, number, dims, &directions, &heights, scale);
            let largest = values.iter().fold(0f64, |largest, value| largest.max(value.abs()));
            let share = if largest > 0.0 { 1.0 / largest } else { 0.0 };
            row.iter_mut().zip(&values).for_each(|(out, value)| *out = (value * share) as f32);
        }
    })?;
    let out = b.perceptron(x, options.layers, options.hidden, problem.n_outputs, options.dropout);
    Ok(b.finish(out)?)
}

/// Unit vectors.
fn draw(count: usize, width: usize) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(key(&[DIRECTIONS, width as u64]));
    let mut unit = || {
        let vector: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
        let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        vector.into_iter().map(|x| x / norm).collect()
    };
    (0..count).map(|_| unit()).collect()
}

/// `sum over simplices s of (-1)^dim(s) sigmoid(scale (t - max over vertices v of s of <x_v, xi>))` for each direction xi and
/// height t of a complex of a batch, up to a dimension. O(simplices * directions * heights).
pub(crate) fn transform(
    batch: &ComplexBatch,
    number: usize,
    dims: usize,
    directions: &[Vec<f64>],
    heights: &[f64],
    scale: f64,
) -> Vec<f64> {
    let features = batch.features(0);
    let mut out = Vec::with_capacity(directions.len() * heights.len());
    for direction in directions {
        let height = |v: u32| -> f64 {
            let row = &features.values[v as usize * features.width..][..features.width];
            row.iter().zip(direction).map(|(x, d)| f64::from(*x) * d).sum()
        };
        let mut curve = vec![0.0; heights.len()];
        for k in 0..=dims {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let starts = batch.starts(k);
            let range = starts[number] as usize * (k + 1)..starts[number + 1] as usize * (k + 1);
            for simplex in batch.simplices(k)[range].chunks_exact(k + 1) {
                let highest = simplex.iter().map(|&v| height(v)).fold(f64::NEG_INFINITY, f64::max);
                for (out, t) in curve.iter_mut().zip(heights) {
                    *out += sign * sigmoid(scale * (t - highest));
                }
            }
        }
        out.extend(curve);
    }
    out
}

/// The logistic function; values that `f32` rounds to 0 or 1 are not computed.
fn sigmoid(x: f64) -> f64 {
    match x {
        x if x > 40.0 => 1.0,
        x if x < -120.0 => 0.0,
        x => 1.0 / (1.0 + (-x).exp()),
    }
}
