//! Mixture of Riemannian experts (Guo et al. 2025, Sec. 4).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::models::{ModelSpec, Problem, curved};
use crate::network::{EgoMeans, Operator, ego_means};
use crate::options::table::{AFFINITY, GEODESIC, WEIGHTS};
use crate::options::{COMMON, Defaults, Domain, ModelOptions, OptionSpec, Task};
use crate::program::layers::curved::{ExpertPoints, StereographicBias};
use crate::program::layers::expressions::first_columns::FirstColumns;
use crate::program::{Builder, Parameter, Program, Slot, Source};
use crate::spaces::product::{Product, Sign};
use crate::spaces::{Space, softplus_inverse};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "graphmore",
    family: "mixture of experts",
    geometry: "mixed curvature",
    tasks: Task::NAMES,
    source: "Guo, Sun, Yuan, Fu, Zhou, Gao and Li 2025, GraphMoRE: mitigating topological heterogeneity via mixture of \
             Riemannian experts",
    defaults: Defaults { hidden: 32, ..COMMON },
    own: &[
        OptionSpec::new(
            "experts",
            Domain::OptionalCounts { min: 0, max: 64 },
            "hyperbolic, flat and spherical experts, one at least; the curvatures of several of one sign start at -1, -1/2, -1/3 \
             or 1, 1/2, 1/3, and are learned. NULL is 1,1,1",
        ),
        OptionSpec::new(
            "ego_hops",
            Domain::OptionalCounts { min: 1, max: 8 },
            "radii of the ego graphs from which a node's shares in the experts are computed; NULL is 2,3",
        ),
        OptionSpec::new(
            "ego_fanout",
            Domain::OptionalInteger { min: 1, max: 1_000_000 },
            "most neighbours through which an ego graph goes on from a node, drawn once from the seed; NULL is all",
        ),
        OptionSpec::real(
            "distortion",
            1.0,
            [0.0, f64::INFINITY],
            "factor of the loss of distortion: the mean over the edges of |d^2 - 1|, d the distance of the two ends",
        ),
        AFFINITY,
        WEIGHTS,
        GEODESIC,
    ],
    reach: None,
    build,
};

/// The signs of the experts and the sizes at which their curvatures start.
fn experts(problem: &Problem<'_>) -> Result<Vec<(Sign, f64)>, BuildError> {
    let given = problem.options.counts("experts").unwrap_or_else(|_| vec![1, 1, 1]);
    let counts = match given[..] {
        [h, e, s] if h + e + s > 0 => [h, e, s],
        _ => {
            let text: Vec<String> = given.iter().map(u32::to_string).collect();
            let valid = "three numbers, of hyperbolic, flat and spherical experts, one at least";
            return Err(OptionError::invalid("experts", text.join(","), valid).into());
        }
    };
    let signs = [Sign::Negative, Sign::Zero, Sign::Positive];
    Ok(signs
        .into_iter()
        .zip(counts)
        .flat_map(|(sign, count)| (1..=count).map(move |number| (sign, 1.0 / f64::from(number))))
        .collect())
}

/// An expert: kappa-GCN layers, `x <- log_0(exp_0(W x) + exp_0(b))` and then `P x` with `P = D^-1/2 (A + I) D^-1/2`, as the
/// authors' program has it, or the other affinity, a rectifier between two of them.
fn expert(
    b: &mut Builder<'_, '_>,
    operator: &Arc<Operator>,
    (number, sign): (usize, Sign),
    raw: Option<Parameter>,
    width: usize,
    options: &ModelOptions<'_>,
) -> Slot {
    let mut x: Source = b.input(options.dropout).into();
    let mut l = 0;
    loop {
        let last = l + 1 == options.layers;
        let columns = if last { width } else { options.hidden };
        let z = b.linear(x, format!("{number}.{l}.weight"), columns);
        let bias = b.parameter(format!("{number}.{l}.bias"), Axis::exact(1), b.axis(z), Initial::Zeros);
        let z = match raw {
            None => b.shift(z, bias),
            Some(raw) => b.rows(StereographicBias::new(sign, columns), &[z], &[bias, raw], columns),
        };
        let z = b.propagate(operator, z);
        if last {
            return z;
        }
        let h = b.relu(z);
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}

/// The shares of the nodes in so many experts.
fn gate(b: &mut Builder<'_, '_>, egos: Vec<EgoMeans>, count: usize, width: usize) -> Slot {
    let x = b.input(0.0);
    let (rows, axis) = (b.source_axis(x.into()), Axis::padded(1, width));
    let initial = Initial::glorot(egos.len() * width, count);
    let first = b.parameter("gate.0.weight", rows, axis, Initial::glorot(rows.len(), width));
    let second = b.parameter("gate.1.weight", axis, axis, Initial::glorot(width, width));
    let mut hidden = None;
    let mut parts = Vec::new();
    for (number, ego) in egos.into_iter().enumerate() {
        let weights = b.parameter(format!("gate.ego.{number}.weight"), axis, Axis::padded(1, count), initial.clone());
        let map = |b: &mut Builder<'_, '_>, x: Source| {
            let h = b.linear_with(x, first);
            b.linear_with(h, second)
        };
        let z = match ego {
            EgoMeans::Features(means) => {
                let means = b.features(Arc::new(means), 0.0);
                let h = map(b, means.into());
                b.linear_with(h, weights)
            }
            EgoMeans::Matrix(means) => {
                let h = *hidden.get_or_insert_with(|| map(b, x.into()));
                // A number for each expert is averaged over an ego graph, not all columns of h: the map is linear.
                let z = b.linear_with(h, weights);
                b.propagate(&Arc::new(means), z)
            }
        };
        parts.push((z, 1.0));
    }
    let scores = b.sum(&parts);
    let scores = b.bias(scores, "gate.bias");
    b.row_softmax(scores)
}

/// The experts' vectors side by side (Eq. 8). A node's shares in the experts are a softmax of a linear map of what two
/// convolutions over its ego graphs give on average (Eq. 5-7); a squared distance is the sum of the experts', weighed by
/// `softmax(w_i * w_j)` (Eq. 9). Nodes are classified by an affine map of the vectors; the distortion of the edges is a loss
/// beside the task's (Eq. 10). Weights are those of the convolutions, of the experts and of the ego graphs; distances in the
/// graph count edges.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let experts = experts(problem)?;
    let graph = Arc::clone(problem.graph.whole()?);
    let weights = &problem.graph;
    let fanout = options.integer("ego_fanout").ok().map(|most| most as u32);
    let hops = options.counts("ego_hops").unwrap_or_else(|_| vec![2, 3]);
    let operator = Arc::new(problem.affinity(reservation)?);
    let edges = Arc::new(Operator::edges(&problem.graph, reservation)?);
    let mut egos = Vec::new();
    // A softmax of one is 1, whatever the ego graphs are.
    for &hops in hops.iter().filter(|_| experts.len() > 1) {
        let draw = (hops as usize, fanout);
        egos.push(ego_means(&graph, weights, &problem.features, draw, options.seed, reservation)?);
    }
    let width = curved::last_width(&options);
    let product = Product(experts.iter().map(|&(sign, _)| (sign, width)).collect());
    let space = Space { gates: true, ..product.space(0) };
    let mut b = Builder::new(problem, reservation);

    let (one, mut raw, mut parts) = (Axis::exact(1), Vec::new(), Vec::new());
    for (number, &(sign, size)) in experts.iter().enumerate() {
        let start = Initial::Constant(softplus_inverse(size));
        let curvature = match sign {
            Sign::Zero => None,
            Sign::Negative => Some(b.parameter(format!("{number}.hyperbolic.curvature"), one, one, start)),
            Sign::Positive => Some(b.parameter(format!("{number}.spherical.curvature"), one, one, start)),
        };
        parts.push(expert(&mut b, &operator, (number, sign), curvature, width, &options));
        raw.extend(curvature);
    }
    let shares = match experts.len() {
        1 => {
            let axis = Axis::padded(1, 1);
            b.constant(b.nodes(), axis, |values| {
                values.chunks_exact_mut(axis.stride()).for_each(|row| row[0] = 1.0);
            })?
        }
        count => gate(&mut b, egos, count, options.hidden),
    };
    let mut inputs = parts.clone();
    inputs.push(shares);
    let columns = width * experts.len();
    let points = b.rows(ExpertPoints(product), &inputs, &raw, space.columns());
    let points = b.distortion(&edges, points, &space, options.real("distortion")?)?;
    if options.task == Task::LinkPrediction {
        b.points(points, space);
        return Ok(b.finish(points)?);
    }
    let h = b.rows(FirstColumns(columns), &[points], &[], columns);
    b.embedding(h);
    if options.task.is_of_nodes() && options.keep_embeddings {
        b.points(points, space);
    }
    let h = b.dropout(h, options.dropout);
    let z = b.affine(h, "decode", problem.n_outputs);
    Ok(b.finish(z)?)
}
