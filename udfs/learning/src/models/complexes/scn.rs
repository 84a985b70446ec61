//! Simplicial complex network, each dimension apart (Yang, Sala and Bogdan 2022).

use std::sync::Arc;

use bonnet_graph::Reservation;

use super::COMPLEX_TASKS;
use crate::ground::{BuildError, OptionError};
use crate::models::spec::COMPLEXES;
use crate::models::{ModelSpec, Problem, complexes};
use crate::options::OF_COMPLEXES;
use crate::options::table::{BATCH_OF_COMPLEXES, DIMENSION, SIGNED};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "scn",
    family: COMPLEXES,
    geometry: "euclidean",
    tasks: COMPLEX_TASKS,
    source: "Yang, Sala and Bogdan 2022, Efficient representation learning for higher-order data with simplicial complexes",
    defaults: OF_COMPLEXES,
    own: &[BATCH_OF_COMPLEXES, DIMENSION, SIGNED, complexes::ACTIVATION],
    reach: None,
    build,
};

/// `X_k <- sigmoid(N_k X_k W_k)` in every layer with `N = D^-1/2 L_k D^-1/2`, L_k the Hodge Laplacian and D the sums of the
/// absolute values of its rows; every layer is as wide as the features of its dimension, so `hidden` is not read.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, batch) = (problem.options, problem.complexes()?);
    if options.hidden != OF_COMPLEXES.hidden as usize {
        let why = "left out: every layer is as wide as the features";
        return Err(OptionError::invalid("hidden", options.hidden, why).into());
    }
    let (signed, activation) = (complexes::signed(&options)?, complexes::activation(&options)?);
    let mut b = Builder::new(problem, reservation);
    let mut pooled = Vec::new();
    for k in 0..=batch.dimension() {
        let operator = Arc::new(batch.normalized_laplacian(k, signed, b.reservation())?);
        let mut h = complexes::input(&mut b, batch, k)?;
        for l in 0..options.layers {
            let h_in = b.dropout(h, options.dropout);
            let z = b.linear(h_in, format!("{l}.weight.{k}"), batch.features(k).width);
            let z = b.propagate(&operator, z);
            h = b.activation(z, activation);
        }
        pooled.push(complexes::sum(&mut b, batch, k, h)?);
    }
    complexes::read_out(b, &pooled, problem.n_outputs)
}
