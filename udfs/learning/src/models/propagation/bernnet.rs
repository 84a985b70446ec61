//! BernNet (He et al. 2021, Eq. 5): a filter in Bernstein polynomials with coefficients that are not negative.

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem};
use crate::network::Operator;
use crate::options::table::WEIGHTS;
use crate::options::{COMMON, OptionSpec, Task};
use crate::program::layers::combine::{Map, Weights};
use crate::program::{Builder, Program};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "bernnet",
    family: "decoupled propagation",
    geometry: "euclidean",
    tasks: Task::NAMES,
    source: "He, Wei, Huang and Xu 2021, BernNet: learning arbitrary graph spectral filters via Bernstein approximation",
    defaults: COMMON,
    own: &[OptionSpec::integer("hops", 10, [1, 20], "degree of the filter"), WEIGHTS],
    reach: reach::HOPS,
    build,
};

/// `Z = sum over k of max(theta_k, 0) 2^-K binomial(K, k) (2I - L)^(K-k) L^k MLP(X)`, theta 1 at first, with the
/// Laplacian `L = I - S`, `S = D^-1/2 A D^-1/2`. Evaluated in powers of S, with `2I - L = I + S`: K propagations instead
/// of K (K + 3) / 2. The coefficients of the powers cancel by a factor of at most `binomial(K, K / 2) 2^(K/2) / 2^K`: below
/// 200 for the largest K of 20.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let hops = options.integer("hops")? as usize;
    let operator = Arc::new(Operator::symmetric_without_loops(&problem.graph, reservation)?);
    let mut b = Builder::new(problem, reservation);
    let x = b.input(options.dropout);
    let h = b.perceptron(x, options.layers, options.hidden, problem.n_outputs, options.dropout);
    let mut powers = vec![b.dropout(h, options.dropout)];
    for k in 0..hops {
        powers.push(b.propagate(&operator, powers[k]));
    }
    let theta = b.parameter("theta", Axis::exact(1), Axis::exact(hops + 1), Initial::Constant(1.0));
    let z = b.learned_sum(&powers, theta, Weights::in_basis(Map::Relu, bernstein(hops)));
    Ok(b.finish(z)?)
}

/// The coefficient of `S^j` in basis polynomial k, a row for each j: those of `2^-K binomial(K, k) (1 + s)^(K-k) (1 - s)^k`.
fn bernstein(degree: usize) -> Vec<f64> {
    let columns = degree + 1;
    let mut basis = vec![0.0; columns * columns];
    let mut binomial = 1.0;
    for k in 0..=degree {
        let mut polynomial = vec![1.0];
        for factor in 0..degree {
            let sign = if factor < k { -1.0 } else { 1.0 };
            polynomial.push(0.0);
            for j in (1..polynomial.len()).rev() {
                polynomial[j] += sign * polynomial[j - 1];
            }
        }
        for (j, coefficient) in polynomial.into_iter().enumerate() {
            basis[j * columns + k] = binomial * coefficient / f64::powi(2.0, degree as i32);
        }
        binomial *= (degree - k) as f64 / (k + 1) as f64;
    }
    basis
}
