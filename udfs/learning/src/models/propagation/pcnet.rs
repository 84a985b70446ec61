//! PCNet (Li, Pan and Kang 2024): a two-fold filter in Poisson-Charlier polynomials.

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::WEIGHTS;
use crate::options::{COMMON, OptionSpec, Task, up_to};
use crate::program::layers::combine::{Map, Weights};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "pcnet",
    family: "decoupled propagation",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "Li, Pan and Kang 2024, PC-Conv: unifying homophily and heterophily with two-fold filtering",
    defaults: COMMON,
    // The defaults are the values that the authors published for Cora.
    own: &[
        OptionSpec::integer("filters", 6, [1, 16], "number of filters K; each has a learnt weight"),
        OptionSpec::integer("hops", 9, [0, 16], "largest power of the Laplacian in a filter"),
        OptionSpec::real(
            "heat",
            0.0,
            [0.0, 16.0],
            "time t of the heat kernel: the parameter of the Poisson-Charlier polynomials",
        ),
        OptionSpec::real("shift", 1.3, [0.0, 16.0], "factor of the identity in the generalised Laplacian"),
        OptionSpec::real("eta", 0.45, [0.0, up_to(1.0)], "power of the degrees in the generalised Laplacian"),
        OptionSpec::real("start", 2.0, [0.0, 16.0], "what the learnt weights start with"),
        WEIGHTS,
    ],
    reach: reach::HOPS,
    build,
};

/// `Z = theta_0 H + sum over k of theta_k sum over n of C_n(k, t) / n! (-L)^n H` with `H = MLP(X)`, the generalised
/// Laplacian `L = shift I - D^-eta (A + I) D^-eta` and the Poisson-Charlier polynomials `C_n`.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let (filters, hops) = (options.integer("filters")? as usize, options.integer("hops")? as usize);
    let (heat, shift) = (options.real("heat")?, options.real("shift")?);
    let operator = Arc::new(Operator::powered(&problem.graph, options.real("eta")?, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let h = b.perceptron(x, options.layers, options.hidden, problem.n_outputs, options.dropout);
    let mut powers = vec![b.dropout(h, options.dropout)];
    for n in 0..hops {
        powers.push(b.propagate_plus(&operator, 1.0, powers[n], -shift, powers[n]));
    }
    let start = Initial::Constant(options.real("start")?);
    let theta = b.parameter("theta", Axis::exact(1), Axis::exact(filters + 1), start);
    let z = b.learned_sum(&powers, theta, Weights::in_basis(Map::Identity, basis(filters, hops, heat)));
    Ok(b.finish(z)?)
}

/// The coefficient of `(-L)^n` in filter k, a row for each n: `C_n(k, t) / n!`, and 1 for the identity of filter 0.
fn basis(filters: usize, hops: usize, heat: f64) -> Vec<f64> {
    let mut basis = vec![0.0; (hops + 1) * (filters + 1)];
    basis[0] = 1.0;
    for k in 1..=filters {
        let (x, mut before, mut now, mut factorial) = (k as f64, 0.0, 1.0, 1.0);
        for n in 0..=hops {
            basis[n * (filters + 1) + k] = now / factorial;
            // C_0 = 1, C_1 = x - t, C_{n+1} = (x - n - t) C_n - n t C_{n-1}.
            let m = n as f64;
            (before, now) = (now, (x - m - heat) * now - m * heat * before);
            factorial *= m + 1.0;
        }
    }
    basis
}
