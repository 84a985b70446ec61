//! Spectro-Riemannian graph neural network (Grover et al. 2025, Sec. 4).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::{Axis, BuildError, Initial, OptionError};
use crate::models::{ModelSpec, Problem, curved};
use crate::network::{NodeCurvature, Operator};
use crate::options::table::{GEODESIC, NO_YES};
use crate::options::{COMMON, Defaults, Domain, OptionSpec, Task, up_to};
use crate::program::layers::curved::ProductPoints;
use crate::program::layers::curved::filter_bank::Bank;
use crate::program::layers::expressions::sinusoidal_code::SinusoidalCode;
use crate::program::layers::propagation::polynomial::pagerank;
use crate::program::{Builder, Parameter, Program, Slot};
use crate::spaces::product::{Product, Sign};
use crate::spaces::softplus_inverse;

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "cusp",
    family: "decoupled propagation",
    geometry: "mixed curvature",
    tasks: Task::NAMES,
    source: "Grover, Yu, Song, Zhu, Xie, Ioannidis and Faloutsos 2025, Spectro-Riemannian graph neural networks",
    defaults: Defaults { hidden: 64, ..COMMON },
    own: &[
        OptionSpec::new(
            "factors",
            Domain::Text {
                forms: "factors with their dimensions, such as H32,S16,E16 (hyperbolic, spherical, flat), that add up to \
                        hidden, or embedding in link and graph tasks; or NULL",
            },
            "the product of spaces of constant curvature that nodes are points of; curvatures are -1 and 1 at first, and \
             learned. NULL divides the width by the shares of nodes whose Ollivier-Ricci curvature is below -0.1, above 0.1, \
             and between",
        ),
        OptionSpec::choice(
            "edge_weights",
            "curvature",
            &["curvature", "unit"],
            "weights of edges. curvature: exp(-1 / (1 - k)) of an edge's Ollivier-Ricci curvature k, half of the mass staying; \
             unit: 1",
        ),
        OptionSpec::integer(
            "frequencies",
            16,
            [0, 4096],
            "learned frequencies of the code of a node's curvature, two columns each beside its point; 0 is no code",
        ),
        OptionSpec::real(
            "alpha",
            0.1,
            [0.0, up_to(1.0)],
            "teleport probability of the personalised PageRank with whose weights each filter starts",
        ),
        OptionSpec::integer("hops", 10, [1, 64], "number of propagations"),
        OptionSpec::choice(
            "bank",
            "true",
            NO_YES,
            "whether there is a filter for each number of propagations up to hops; false is the last one alone",
        ),
        GEODESIC,
    ],
    reach: None,
    build,
};

/// Curvatures within it count as flat where the factors are chosen.
const FLAT: f64 = 0.1;

/// The product that the option names, or that the nodes' curvatures suggest.
fn product(problem: &Problem<'_>, nodes: &[f64], width: usize) -> Result<Product, OptionError> {
    match problem.options.text("factors") {
        Ok(text) => Product::parse("factors", text, width),
        Err(_) => Ok(Product::of_histogram(nodes, FLAT, width)),
    }
}

/// Features become tangent vectors at the origin of a product of spaces, and are propagated along the edges by
/// `P = D^-1/2 (A + I) D^-1/2`, weighted by curvature. Filter l of the bank is the Moebius sum over `k <= l` of
/// `gamma_lk` times `P^k x` (Eq. 5 and 6); pooling weighs the factors of each filter and then the filters (Eq. 8). Nodes are
/// classified by an affine map of the vectors and of the code of their curvature (Eq. 7).
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let (alpha, hops) = (options.real("alpha")?, options.integer("hops")? as usize);
    let frequencies = options.integer("frequencies")? as usize;
    let weighted = options.text("edge_weights")? == "curvature";
    let width = curved::last_width(&options);
    let curvature = match weighted || frequencies > 0 || options.text("factors").is_err() {
        true => Some(NodeCurvature::new(&problem.graph, reservation)?),
        false => None,
    };
    let operator = Arc::new(match &curvature {
        // 0 in the limit of curvature 1.
        Some(curvature) if weighted => {
            let weight = |k: f64| if k < 1.0 { (-1.0 / (1.0 - k)).exp() } else { 0.0 };
            Operator::symmetric(&curvature.weighted(weight), reservation)?
        }
        _ => Operator::symmetric(&problem.graph, reservation)?,
    });
    let of_nodes = curvature.map(|curvature| curvature.of_nodes).unwrap_or_default();
    let product = product(problem, &of_nodes, width)?;
    let mut b = Builder::new(problem, reservation);

    let x = b.input(options.dropout);
    let x = b.perceptron(x, options.layers, options.hidden, width, options.dropout);
    let mut powers = vec![b.dropout(x, options.dropout)];
    for k in 0..hops {
        powers.push(b.propagate(&operator, powers[k]));
    }
    let raw = curvatures(&mut b, &product);
    let h = bank(&mut b, &product, &powers, &raw, alpha, options.text("bank")? == "true");
    let code = match frequencies {
        0 => None,
        _ => Some(code(&mut b, &of_nodes, frequencies)?),
    };
    b.embedding(h);
    if options.task == Task::LinkPrediction || (options.task.is_of_nodes() && options.keep_embeddings) {
        let parts: Vec<Slot> = [h].into_iter().chain(code).collect();
        let space = product.space(2 * frequencies);
        let points = b.rows(ProductPoints(product), &parts, &raw, space.columns());
        b.points(points, space);
        if options.task == Task::LinkPrediction {
            return Ok(b.finish(points)?);
        }
    }
    let h = b.dropout(h, options.dropout);
    let mut z = b.linear(h, "decode.weight", problem.n_outputs);
    if let Some(code) = code {
        let of_code = b.linear(code, "decode.code", problem.n_outputs);
        z = b.sum(&[(z, 1.0), (of_code, 1.0)]);
    }
    let z = b.bias(z, "decode.bias");
    Ok(b.finish(z)?)
}

fn curvatures(b: &mut Builder<'_, '_>, product: &Product) -> Vec<Parameter> {
    let (one, initial) = (Axis::exact(1), Initial::Constant(softplus_inverse(1.0)));
    let curved = product.0.iter().enumerate().filter(|(_, (sign, _))| *sign != Sign::Zero);
    // The sign is in the name: saved parameters of another geometry do not fit.
    let name = |q: usize, sign: Sign| match sign {
        Sign::Negative => format!("{q}.hyperbolic.curvature"),
        _ => format!("{q}.spherical.curvature"),
    };
    curved.map(|(q, (sign, _))| b.parameter(name(q, *sign), one, one, initial.clone())).collect()
}

fn bank(
    b: &mut Builder<'_, '_>,
    product: &Product,
    powers: &[Slot],
    raw: &[Parameter],
    alpha: f64,
    every: bool,
) -> Slot {
    let hops = powers.len() - 1;
    let degrees = if every { 0..=hops } else { hops..=hops };
    let one = Axis::exact(1);
    let start: Vec<f64> = degrees.clone().flat_map(|degree| pagerank(alpha, degree)).collect();
    let gamma = Axis::exact(start.len());
    let mut parameters = vec![b.parameter("gamma", one, gamma, Initial::Values(start.into()))];
    parameters.extend(raw);
    if product.0.len() > 1 {
        let common = product.0.iter().map(|factor| factor.1).max().unwrap_or(0);
        for (q, &(_, dimension)) in product.0.iter().enumerate() {
            let (rows, initial) = (Axis::exact(dimension), Initial::glorot(dimension, common));
            parameters.push(b.parameter(format!("{q}.map"), rows, Axis::exact(common), initial));
        }
        for q in 0..product.0.len() {
            let initial = Initial::glorot(common, 1);
            parameters.push(b.parameter(format!("{q}.score"), one, Axis::exact(common), initial));
        }
    }
    if every {
        parameters.push(b.parameter("filters", one, Axis::exact(hops + 1), Initial::Zeros));
    }
    let width = b.axis(powers[0]).len();
    b.rows(Bank { product: product.clone(), degrees }, powers, &parameters, width)
}

fn code(b: &mut Builder<'_, '_>, of_nodes: &[f64], frequencies: usize) -> Result<Slot, BuildError> {
    let axis = Axis::padded(1, 1);
    let curvature = b.constant(b.nodes(), axis, |values| {
        values.chunks_exact_mut(axis.stride()).zip(of_nodes).for_each(|(row, &k)| row[0] = k as f32);
    })?;
    // Evenly on a scale of logarithms from 1 down to a tenth.
    let start = |i: usize| 10f64.powf(-(i as f64) / (frequencies - 1).max(1) as f64);
    let (columns, start) = (Axis::exact(frequencies), Initial::Values((0..frequencies).map(start).collect()));
    let omega = b.parameter("frequencies", Axis::exact(1), columns, start);
    Ok(b.rows(SinusoidalCode, &[curvature], &[omega], 2 * frequencies))
}
