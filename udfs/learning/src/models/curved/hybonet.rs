//! Fully hyperbolic neural network on graphs (Chen et al. 2022, Eq. 3, 5 and 6).

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::data::features;
use crate::ground::{Axis, BuildError, Initial, PointSpace};
use crate::models::spec::reach;
use crate::models::{ModelSpec, Problem, curved};
use crate::network::Operator;
use crate::options::table::{DIRECTION, GEODESIC, NO_YES, WEIGHTS};
use crate::options::{COMMON, Defaults, OptionSpec, Task};
use crate::program::layers::curved::{
    LorentzAttention, LorentzCentroid, LorentzDistances, LorentzLift, LorentzTangent, SpaceCoordinates,
};
use crate::program::{Builder, Program, Slot, Source};
use crate::spaces::{Geometry, Space};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hybonet",
    family: "message passing",
    geometry: "hyperbolic",
    tasks: Task::NAMES,
    source: "Chen, Han, Lin, Zhao, Liu, Li, Sun and Zhou 2022, Fully hyperbolic neural networks",
    defaults: Defaults { hidden: 16, ..COMMON },
    own: &[
        OptionSpec::choice(
            "attention",
            "false",
            NO_YES,
            "weights of neighbours. false: uniform; true: a softmax of the negative squared Lorentz distance of a query \
             and a key, which linear layers give",
        ),
        OptionSpec::real(
            "time_scale",
            10.0,
            [0.0, 1e6],
            "the scale of a layer's time coordinate at first; it is learned",
        ),
        DIRECTION,
        WEIGHTS,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// `x_i <- centroid of the neighbours' f(x_j)` with Lorentz linear layers f on the hyperboloid of curvature -1, after a
/// rectifier from the second layer on; no exponentials between the layers. Features are lifted by `exp_0`, their tangent
/// vectors no longer than 20. Classes by the negative squared Lorentz distance to a learned point, plus a bias.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let options = problem.options;
    let attention = options.text("attention")? == "true";
    let scale = options.real("time_scale")?.max(f64::MIN_POSITIVE);
    let operator = Arc::new(match attention {
        true => problem.attention(reservation)?,
        false => Operator::mean_with_loops(&problem.graph, reservation)?,
    });
    reservation.grow(features::lifted_bytes(&problem.features, problem.graph.n_nodes()))?;
    let lifted = Arc::new(features::lifted(&problem.features, problem.graph.n_nodes()));
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.features(lifted, options.dropout).into();
    let linear = |b: &mut Builder<'_, '_>, x: Source, name: String, width: usize| {
        let z = b.affine(x, &name, width + 1);
        let initial = Initial::Constant(scale.ln());
        let scale = b.parameter(format!("{name}.scale"), Axis::exact(1), Axis::exact(1), initial);
        b.rows(LorentzLift, &[z], &[scale], width + 1)
    };
    let mut l = 0;
    let h = loop {
        let last = l + 1 == options.layers;
        let width = if last { curved::last_width(&options) } else { options.hidden };
        let z = linear(&mut b, x, l.to_string(), width);
        let h = if attention {
            let (q, k) = (
                linear(&mut b, z.into(), format!("{l}.query"), width),
                linear(&mut b, z.into(), format!("{l}.key"), width),
            );
            b.neighbors(LorentzAttention, &operator, &[z, q, k], &[], b.axis(z))
        } else {
            let sum = b.propagate(&operator, z);
            b.rows(LorentzCentroid, &[sum], &[], width + 1)
        };
        b.embedding(h);
        if last {
            break h;
        }
        let h = b.relu(h);
        x = b.dropout(h, options.dropout).into();
        l += 1;
    };
    let width = curved::last_width(&options);
    let points = |b: &mut Builder<'_, '_>| {
        let space = Space::single(Geometry::SpaceCoordinates, width);
        let points = b.rows(SpaceCoordinates, &[h], &[], space.columns());
        b.points(points, space);
        points
    };
    let output: Slot = match options.task {
        Task::NodeClassification | Task::NodeRegression => {
            if options.keep_embeddings {
                points(&mut b);
            }
            let (rows, columns) = (Axis::exact(problem.n_outputs), Axis::padded(1, width));
            let (initial, space) = (Initial::glorot(problem.n_outputs, width), PointSpace::Hyperboloid { c: 1.0 });
            let classes = b.point_parameter("classes", rows, columns, initial, space);
            let z = b.rows(LorentzDistances(width), &[h], &[classes], problem.n_outputs);
            b.bias(z, "decode.bias")
        }
        Task::LinkPrediction => points(&mut b),
        _ => b.rows(LorentzTangent, &[h], &[], width),
    };
    Ok(b.finish(output)?)
}
