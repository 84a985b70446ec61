//! `spectral_clustering(distances, clusters [, sigma] [, seed])`.

use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_sql::{Binding, Body, Call, Function, Parameter, Run, kernel_error, usage_error};
use datafusion::common::Result;

use super::pair_matrix::{PairKind, PairMatrix, pair_schema};
use crate::{Affinities, ClusteringError};

const NAME: &str = "spectral_clustering";

/// The registration.
pub fn spectral_clustering() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::relation(
                "distances",
                "The distances of all pairs of items: a, b, distance; or their affinities: a, b, kernel. Each pair once or both ways.",
            ),
            Parameter::integer("clusters", "The number of clusters, from 1 to the number of items."),
            Parameter::number(
                "sigma",
                "The width of the affinity exp(-d^2 / (2 sigma^2)); NULL for the median distance of two items.",
            )
            .optional(),
            Parameter::seed(),
        ])
        .returns("item, cluster_id")
        .description(
            "Clusters items by their distances: k-means (the best of 10 starts by k-means++) on the rows, scaled to \
             length 1, of the k first eigenvectors of the normalised affinities. Clusters are numbered from 0 by falling \
             size, among equal sizes by their smallest item. With a column kernel, and none named distance, its values are the \
             affinities as they stand, at least 0; an item's own does not count. A pair without a value is an error. O(n^3) time and \
             about 50 n^2 bytes for n items.",
        )
        .example(
            "SELECT * FROM spectral_clustering((SELECT * FROM (VALUES ('p', 'q', 0.5), ('p', 'r', 7.0), ('q', 'r', 7.2)) \
             t(a, b, distance)), clusters => 2) ORDER BY item",
        )
        .source("Ng, Jordan and Weiss, On Spectral Clustering (NIPS 2001)")
}

fn bind(call: &Call) -> Result<Binding> {
    let input = &call.inputs[0];
    let has = |name: &str| input.schema.field_with_name(name).is_ok();
    let kind = match has("distance") || !has("kernel") {
        true => PairKind::Distance,
        false => PairKind::Kernel { positive: true, diagonal: false },
    };
    let item = pair_schema(NAME, input, kind)?;
    let Some(clusters) = call.options.integer_from("clusters", 1)? else {
        return usage_error(format!("{NAME}: clusters is NULL: expected a whole number of at least 1"));
    };
    let (sigma, seed) = (call.options.number("sigma")?, call.options.integer("seed")?.unwrap_or(0) as u64);
    if let Some(sigma) = sigma.filter(|sigma| !(*sigma > 0.0 && sigma.is_finite())) {
        return usage_error(format!("{NAME}: {}", ClusteringError::Sigma(sigma)));
    }
    if kind != PairKind::Distance && sigma.is_some() {
        return usage_error(format!(
            "{NAME}: sigma is the width of distances, and the column kernel has affinities: leave it out"
        ));
    }
    let schema = Schema::new(vec![Field::new("item", item, true), Field::new("cluster_id", DataType::Int64, true)]);
    let reads = vec![["a", "b", kind.column()].map(str::to_owned).to_vec()];
    Ok(Binding::new(Arc::new(schema), reads, move |run| cluster(kind, (clusters as usize, sigma, seed), run)))
}

fn cluster(kind: PairKind, (clusters, sigma, seed): (usize, Option<f64>, u64), run: &mut Run) -> Result<()> {
    let Some(PairMatrix { items, values }) = PairMatrix::collect(NAME, kind, run)? else { return Ok(()) };
    let host = run.host();
    let affinities = match kind {
        PairKind::Distance => Affinities::Distances { distances: &values, sigma },
        PairKind::Kernel { .. } => Affinities::Kernel(&values),
    };
    let found = run
        .install(|| crate::spectral_clustering(affinities, items.len(), clusters, seed, host))
        .map_err(|error| kernel_error(NAME, error))?;
    let found: Int64Array = found.into_iter().map(i64::from).collect();
    run.emit_all(vec![items.array(), Arc::new(found)])
}
