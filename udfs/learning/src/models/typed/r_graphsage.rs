//! GraphSAGE with the mean aggregator of each relation (Hamilton, Ying and Leskovec 2017, Algorithm 1; Lin et al. 2024, H2GB).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::{ON_NODES_AND_LINKS, RELATIONS, input, projection};
use crate::ground::{Axis, BuildError, Initial};
use crate::models::spec::{TYPED, reach};
use crate::models::{ModelSpec, Problem};
use crate::network::{KindColumns, ListedOperator, Relations};
use crate::options::{COMMON, ModelOptions};
use crate::program::layers::typed::projected_sum::ProjectedWeights;
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
    let last = options.layers - 1;
    let mut first = None;
    let mut x = match narrow(&relations, options) {
        Some(columns) => {
            let width = if last == 0 { problem.n_outputs } else { options.hidden };
            let (z, features) = projected_first(&mut b, (&relations, columns), &means, options, width)?;
            first = Some(z);
            features
        }
        None => input(&mut b, &relations, options),
    };
    for l in 0..last {
        let z = match first.take() {
            Some(z) => z,
            None => layer(&mut b, x, l, options.hidden)?,
        };
        let h = b.relu(z);
        let h = b.dropout(h, options.dropout);
        b.embedding(h);
        x = h.into();
    }
    let z = match first {
        Some(z) => z,
        None => layer(&mut b, x, last, problem.n_outputs)?,
    };
    Ok(b.finish(z)?)
}

/// The columns of the features, where the first layer is cheaper on them than on their projections: where no type has more than
/// these. Samples do not decide it, and outputs hang on none.
fn narrow<'r>(relations: &'r Relations, options: ModelOptions<'_>) -> Option<&'r KindColumns> {
    let columns = relations.columns().filter(|columns| columns.most <= options.hidden)?;
    (relations.n_types() > 1 && options.label_rate == 0.0).then_some(columns)
}

/// The first layer with the projections of the features, which nothing is between; and the features.
fn projected_first(
    b: &mut Builder<'_, '_>,
    (relations, columns): (&Relations, &KindColumns),
    means: &[(String, Arc<ListedOperator>)],
    options: ModelOptions<'_>,
    width: usize,
) -> Result<(Slot, Source), Stopped> {
    let (hidden, width) = (Axis::padded(1, options.hidden), Axis::padded(1, width));
    let (features, input) = projection(b, relations, hidden, options.dropout);
    let kinds = relations.kinds();
    let input_bias = b.parameter("input.bias", Axis::exact(kinds.names.len()), hidden, Initial::Zeros);
    let mut weights = |name: String| b.parameter(name, hidden, width, Initial::linear(hidden.len()));
    let own = kinds.names.iter().map(|kind| weights(format!("0.self.{kind}.weight"))).collect();
    let of_relations = means.iter().map(|(name, _)| weights(format!("0.{name}.weight"))).collect();
    let bias = b.parameter("0.bias", Axis::exact(kinds.names.len()), width, Initial::linear(hidden.len()));
    let weights = ProjectedWeights { input, input_bias, own, relations: of_relations, bias };
    let operators = means.iter().map(|(_, mean)| Arc::clone(mean));
    Ok((b.projected_sum(features, (relations, columns), operators, &weights)?, features.into()))
}
