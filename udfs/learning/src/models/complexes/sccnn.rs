//! Simplicial complex convolutional neural network (Yang and Isufi 2023).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::COMPLEX_TASKS;
use crate::complexes::LaplacianPart;
use crate::ground::BuildError;
use crate::models::spec::COMPLEXES;
use crate::models::{ModelSpec, Problem, complexes};
use crate::network::Operator;
use crate::options::table::{BATCH_OF_COMPLEXES, DIMENSION, SIGNED};
use crate::options::{OF_COMPLEXES, OptionSpec};
use crate::program::{Builder, Program, Slot};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "sccnn",
    family: COMPLEXES,
    geometry: "euclidean",
    tasks: COMPLEX_TASKS,
    source: "Yang and Isufi 2023, Convolutional learning on simplicial complexes",
    defaults: OF_COMPLEXES,
    own: &[
        BATCH_OF_COMPLEXES,
        DIMENSION,
        SIGNED,
        complexes::ACTIVATION,
        OptionSpec::integer("conv_order", 1, [0, 64], "largest power of a Laplacian in a filter"),
    ],
    reach: None,
    build,
};

/// `sum_p P^p z_p` by Horner's rule.
fn filter(b: &mut Builder<'_, '_>, operator: &Arc<Operator>, terms: &[Slot]) -> Option<Slot> {
    let (&last, before) = terms.split_last()?;
    Some(before.iter().rev().fold(last, |z, &term| b.propagate_plus(operator, 1.0, z, 1.0, term)))
}

/// `X_k <- sigmoid(F(X_k) + F(B_k^T X_{k-1}) + F(B_{k+1} X_{k+1}))` with `F(Y) = Y W + sum_{p=1..P} (L_k^down)^p Y V_p +
/// (L_k^up)^p Y U_p`, where what comes from below is filtered by the lower Laplacian alone and what comes from above by the
/// upper one. Each term has weights of its own.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, batch) = (problem.options, problem.complexes()?);
    let (signed, activation) = (complexes::signed(&options)?, complexes::activation(&options)?);
    let order = options.integer("conv_order")? as usize;
    let top = batch.dimension();
    let mut b = Builder::new(problem, reservation);
    let laplacians = |b: &mut Builder<'_, '_>, part: LaplacianPart| -> Result<Vec<Arc<Operator>>, Stopped> {
        (0..=top).map(|k| batch.laplacian(k, part, signed, b.reservation()).map(Arc::new)).collect()
    };
    let (lower, upper) = (laplacians(&mut b, LaplacianPart::Lower)?, laplacians(&mut b, LaplacianPart::Upper)?);
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for k in 1..=top {
        up.push(Arc::new(batch.coboundary(k, signed, b.reservation())?));
        down.push(Arc::new(batch.boundary(k, signed, b.reservation())?));
    }
    let mut x = (0..=top).map(|k| complexes::input(&mut b, batch, k)).collect::<Result<Vec<Slot>, _>>()?;
    for l in 0..options.layers {
        let inputs: Vec<Slot> = x.iter().map(|&x| b.dropout(x, options.dropout)).collect();
        for k in 0..=top {
            // `first` is the power of the first term.
            let weigh = |b: &mut Builder<'_, '_>, from: usize, name: &str, first: usize| -> Vec<Slot> {
                let name = |p: usize| format!("{l}.{name}.{from}.{k}.{p}");
                (first..=order).map(|p| b.linear(inputs[from], name(p), options.hidden)).collect()
            };
            let mut terms = vec![b.linear(inputs[k], format!("{l}.own.{k}.{k}.0"), options.hidden)];
            for (part, operator, there) in [("lower", &lower[k], k > 0), ("upper", &upper[k], k < top)] {
                if there && order > 0 {
                    let weighed = weigh(&mut b, k, part, 1);
                    terms.extend(filter(&mut b, operator, &weighed).map(|z| b.propagate(operator, z)));
                }
            }
            if k > 0 {
                let weighed = weigh(&mut b, k - 1, "below", 0);
                let carried: Vec<Slot> = weighed.into_iter().map(|z| b.carry(&up[k - 1], z)).collect();
                terms.extend(filter(&mut b, &lower[k], &carried));
            }
            if k < top {
                let weighed = weigh(&mut b, k + 1, "above", 0);
                let carried: Vec<Slot> = weighed.into_iter().map(|z| b.carry(&down[k], z)).collect();
                terms.extend(filter(&mut b, &upper[k], &carried));
            }
            let terms: Vec<(Slot, f64)> = terms.into_iter().map(|term| (term, 1.0)).collect();
            let z = b.sum(&terms);
            x[k] = b.activation(z, activation);
        }
    }
    let pooled = (0..=top).map(|k| complexes::sum(&mut b, batch, k, x[k])).collect::<Result<Vec<Slot>, _>>()?;
    complexes::read_out(b, &pooled, problem.n_outputs)
}
