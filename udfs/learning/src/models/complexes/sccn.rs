//! Simplicial complex convolutional network, messages between dimensions (Yang, Sala and Bogdan 2022).

use std::sync::Arc;

use bonnet_graph::Reservation;

use super::COMPLEX_TASKS;
use crate::complexes::LaplacianPart;
use crate::ground::BuildError;
use crate::models::spec::COMPLEXES;
use crate::models::{ModelSpec, Problem, complexes};
use crate::options::OF_COMPLEXES;
use crate::options::table::{BATCH_OF_COMPLEXES, DIMENSION, SIGNED};
use crate::program::{Builder, Program, Slot};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "sccn",
    family: COMPLEXES,
    geometry: "euclidean",
    tasks: COMPLEX_TASKS,
    source: "Yang, Sala and Bogdan 2022, Efficient representation learning for higher-order data with simplicial complexes",
    defaults: OF_COMPLEXES,
    own: &[BATCH_OF_COMPLEXES, DIMENSION, SIGNED, complexes::ACTIVATION],
    reach: None,
    build,
};

/// `X_k <- sigmoid(L_k X_k W_kk + B_k^T X_{k-1} W_{k-1,k} + B_{k+1} X_{k+1} W_{k+1,k})` with the Hodge Laplacians L and the
/// boundary matrices B.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, batch) = (problem.options, problem.complexes()?);
    let (signed, activation) = (complexes::signed(&options)?, complexes::activation(&options)?);
    let top = batch.dimension();
    let mut b = Builder::new(problem, reservation);
    let (mut laplacians, mut up, mut down) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..=top {
        laplacians.push(Arc::new(batch.laplacian(k, LaplacianPart::Both, signed, b.reservation())?));
        if k > 0 {
            up.push(Arc::new(batch.coboundary(k, signed, b.reservation())?));
            down.push(Arc::new(batch.boundary(k, signed, b.reservation())?));
        }
    }
    let mut x = (0..=top).map(|k| complexes::input(&mut b, batch, k)).collect::<Result<Vec<Slot>, _>>()?;
    for l in 0..options.layers {
        let inputs: Vec<Slot> = x.iter().map(|&x| b.dropout(x, options.dropout)).collect();
        let weigh = |b: &mut Builder<'_, '_>, from: usize, to: usize| {
            b.linear(inputs[from], format!("{l}.weight.{from}.{to}"), options.hidden)
        };
        for k in 0..=top {
            let own = weigh(&mut b, k, k);
            let mut z = b.propagate(&laplacians[k], own);
            if k > 0 {
                let below = weigh(&mut b, k - 1, k);
                z = b.carry_plus(&up[k - 1], below, z);
            }
            if k < top {
                let above = weigh(&mut b, k + 1, k);
                z = b.carry_plus(&down[k], above, z);
            }
            x[k] = b.activation(z, activation);
        }
    }
    let pooled = (0..=top).map(|k| complexes::sum(&mut b, batch, k, x[k])).collect::<Result<Vec<Slot>, _>>()?;
    complexes::read_out(b, &pooled, problem.n_outputs)
}
