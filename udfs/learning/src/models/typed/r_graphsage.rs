//! GraphSAGE with the mean aggregator of each relation (Hamilton, Ying and Leskovec 2017, Algorithm 1; Lin et al. 2024, H2GB).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::{ON_NODES_AND_LINKS, RELATIONS, input};
use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::{TYPED, reach};
use crate::models::{ModelSpec, Problem};
use crate::network::ListedOperator;
use crate::options::COMMON;
use crate::program::{Builder, Program, Slot, Source};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "r_graphsage",
    family: TYPED,
    geometry: "euclidean",
    tasks: ON_NODES_AND_LINKS,
    source: "Hamilton, Ying and Leskovec 2017, Inductive representation learning on large graphs; by relation as Lin et al. \
             2024, When heterophily meets heterogeneity",
    defaults: COMMON,
    own: &[RELATIONS],
    reach: reach::A_LAYER,
    build,
};

/// `h_i <- relu(sum over the relations r into the type t of i of (M_r H)_i V_r + h_i U_t + b_t)` with `H = dropout(H_{l-1})` and
/// the mean over the neighbours in a relation, `M_r = D_r^-1 A_r` (zero for a node without any); with `relations => 'mean'`
/// their mean in place of the sum over the relations. `U_t` and `b_t` are what the GraphSAGE layers of all relations into a
/// type add up to. The last layer has no relu. All parameters start uniform within 1 / sqrt(inputs), as linear layers of
/// PyTorch.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
    let (options, relations) = (problem.options, problem.relations());
    let (kinds, into) = (relations.kinds(), relations.count_into_types());
    let mean = options.text("relations")? == "mean";
    let mut means = Vec::new();
    for relation in relations.list() {
        let share = mean.then(|| 1.0 / into[relation.target as usize] as f32);
        let operator = ListedOperator::mean(&relation.messages, share, reservation)?;
        means.push((relations.name(relation), Arc::new(operator)));
    }
    let mut b = Builder::new(problem, reservation);
    b.initial(|inputs, _| Initial::linear(inputs));
    let layer = |b: &mut Builder<'_, '_>, x: Source, layer: usize, width: usize| -> Result<Slot, Stopped> {
        let initial = Initial::linear(b.source_axis(x).len());
        let own = |kind: &str| format!("{layer}.self.{kind}.weight");
        let mut z = match x {
            Source::Slot(x) => b.kind_linear(x, kinds, own, Axis::padded(1, width), &initial),
            // Of one type.
            features => b.linear(features, own(&kinds.names[0]), width),
        };
        let weight = |name: &str| format!("{layer}.{name}.weight");
        match x {
            Source::Slot(x) => z = b.relation_sum(x, z, &means, weight)?,
            features => {
                for (name, mean) in &means {
                    let y = b.linear(features, weight(name), width);
                    z = b.propagate_plus(&Arc::new(mean.whole()), 1.0, y, 1.0, z);
                }
            }
        }
        Ok(b.kind_bias(z, kinds, format!("{layer}.bias"), initial))
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
