//! Relational graph convolutional network (Schlichtkrull et al. 2018, Eq. 2 and 3).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::{ON_NODES_AND_LINKS, input};
use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::{TYPED, reach};
use crate::models::{ModelSpec, Problem};
use crate::network::ListedOperator;
use crate::options::{COMMON, Domain, OptionSpec};
use crate::program::layers::combine::{Map, Weights};
use crate::program::{Builder, Program, Slot, Source};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "r_gcn",
    family: TYPED,
    geometry: "euclidean",
    tasks: ON_NODES_AND_LINKS,
    source: "Schlichtkrull, Kipf, Bloem, van den Berg, Titov and Welling 2018, Modeling relational data with graph \
             convolutional networks",
    defaults: COMMON,
    own: &[OptionSpec::new(
        "bases",
        Domain::OptionalInteger { min: 1, max: 65_536 },
        "matrices of which the weights of every relation of a layer are combinations (Eq. 3); NULL gives each relation weights \
         of its own",
    )],
    reach: reach::A_LAYER,
    build,
};

/// `H_l = relu(H W_0 + sum over the relations r of M_r H W_r + b_l)` with `H = dropout(H_{l-1})` and the mean over the
/// neighbours in a relation, `M_r = D_r^-1 A_r`: a relation is normalised by itself. The last layer has no relu. Weights start
/// as Glorot and Bengio's, biases at 0.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let bases = options.optional_integer("bases");
    let mut means = Vec::new();
    for relation in relations.list() {
        means.push((relations.name(relation), Arc::new(ListedOperator::mean(&relation.messages, None, reservation)?)));
    }
    let mut b = Builder::new(problem, reservation);
    let layer = |b: &mut Builder<'_, '_>, x: Source, layer: usize, width: usize| -> Result<Slot, Stopped> {
        let mut z = b.linear(x, format!("{layer}.weight"), width);
        if let (Source::Slot(x), None) = (x, bases) {
            z = b.relation_sum(x, z, &means, |name| format!("{layer}.{name}.weight"))?;
            return Ok(b.bias(z, format!("{layer}.bias")));
        }
        let base = |base| b.linear(x, format!("{layer}.basis.{base}.weight"), width);
        let basis: Option<Vec<Slot>> = bases.map(|bases| (0..bases).map(base).collect());
        for (name, mean) in &means {
            let y = match &basis {
                None => b.linear(x, format!("{layer}.{name}.weight"), width),
                Some(basis) => {
                    let (columns, initial) = (Axis::exact(basis.len()), Initial::glorot(means.len(), basis.len()));
                    let theta = b.parameter(format!("{layer}.{name}.coefficients"), Axis::exact(1), columns, initial);
                    b.learned_sum(basis, theta, Weights::plain(Map::Identity))
                }
            };
            z = b.propagate_plus(&Arc::new(mean.whole()), 1.0, y, 1.0, z);
        }
        Ok(b.bias(z, format!("{layer}.bias")))
    };
    let mut x = input(&mut b, &relations, options);
    let last = options.layers - 1;
    for l in 0..last {
        let z = layer(&mut b, x, l, options.hidden)?;
        let h = b.relu(z);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let z = layer(&mut b, x, last, problem.n_outputs)?;
    Ok(b.finish(z)?)
}
