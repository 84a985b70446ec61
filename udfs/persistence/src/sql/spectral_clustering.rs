//! `spectral_clustering(distances, clusters [, sigma] [, seed])`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Schema};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, KeyColumn, KeyIndex, Parameter, Run, execution_error, kernel_error, require_columns,
    stopped, usage_error, whole_column,
};
use datafusion::common::Result;

use crate::ClusteringError;

const NAME: &str = "spectral_clustering";

/// The registration.
pub fn spectral_clustering() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::relation("distances", "The distances of all pairs of items: a, b, distance; each pair once or both ways."),
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
             size, among equal sizes by their smallest item. A pair without a distance is an error. O(n^3) time and \
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
    require_columns(NAME, input, &["a", "b", "distance"])?;
    let Some(clusters) = call.options.integer_from("clusters", 1)? else {
        return usage_error(format!("{NAME}: clusters is NULL: expected a whole number of at least 1"));
    };
    let (sigma, seed) = (call.options.number("sigma")?, call.options.integer("seed")?.unwrap_or(0) as u64);
    if let Some(sigma) = sigma.filter(|sigma| !(*sigma > 0.0 && sigma.is_finite())) {
        return usage_error(format!("{NAME}: {}", ClusteringError::Sigma(sigma)));
    }
    let key = |name: &str| -> Result<DataType> {
        let given = input.schema.field_with_name(name)?.data_type();
        match KeyColumn::normal_type(given) {
            Some(normal) => Ok(normal),
            None => usage_error(format!("{NAME}: {name} is {given}: items are integers or text")),
        }
    };
    let (a, b) = (key("a")?, key("b")?);
    if a != b {
        return usage_error(format!("{NAME}: a is {a} and b is {b}: cast one of them"));
    }
    let distance = input.schema.field_with_name("distance")?.data_type();
    if !distance.is_numeric() && *distance != DataType::Null {
        return usage_error(format!("{NAME}: distance is {distance}: expected numbers"));
    }
    let schema = Schema::new(vec![Field::new("item", a, true), Field::new("cluster_id", DataType::Int64, true)]);
    let reads = vec![["a", "b", "distance"].map(str::to_owned).to_vec()];
    Ok(Binding::new(Arc::new(schema), reads, move |run| cluster((clusters as usize, sigma, seed), run)))
}

fn cluster((clusters, sigma, seed): (usize, Option<f64>, u64), run: &mut Run) -> Result<()> {
    let batches = run.collect(0)?;
    let host = run.host();
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let _rows = Reservation::new(host, 32 * rows).map_err(stopped)?;
    if rows == 0 {
        return Ok(());
    }
    let column = |name: &str| -> Result<ArrayRef> {
        Ok(whole_column(&batches, name)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0)))
    };
    let (a, b) = (KeyColumn::new(&column("a")?, "a")?, KeyColumn::new(&column("b")?, "b")?);
    let items = KeyIndex::new(&[("a", &a), ("b", &b)])?;
    let n = items.len();
    let _matrix = Reservation::new(host, 8usize.saturating_mul(n).saturating_mul(n)).map_err(stopped)?;
    let distance = cast(&column("distance")?, &DataType::Float64)?;
    let matrix = matrix(&items, [&items.numbers(&a), &items.numbers(&b)], &distance, host)?;
    let found = run
        .install(|| crate::spectral_clustering(&matrix, n, clusters, sigma, seed, host))
        .map_err(|error| kernel_error(NAME, error))?;
    let found: Int64Array = found.into_iter().map(i64::from).collect();
    run.emit_all(vec![items.array(), Arc::new(found)])
}

/// The distances of all pairs, row by row.
fn matrix(items: &KeyIndex, ends: [&[Option<u32>]; 2], distance: &ArrayRef, monitor: &dyn Monitor) -> Result<Vec<f64>> {
    let n = items.len();
    // Given back when the run ends.
    monitor.reserve(n.saturating_mul(n).saturating_mul(size_of::<f64>())).map_err(stopped)?;
    let mut matrix = vec![f64::NAN; n * n];
    (0..n).for_each(|i| matrix[i * n + i] = 0.0);
    let distance = distance.as_primitive::<Float64Type>();
    for (row, (a, b)) in ends[0].iter().zip(ends[1]).enumerate() {
        if row % (1 << 16) == 0 {
            monitor.check().map_err(stopped)?;
        }
        let (&Some(a), &Some(b)) = (a, b) else {
            return Err(execution_error(format!("{NAME}: a or b is NULL in a row of distances")));
        };
        // In the items' order, so that the text does not depend on that of the rows.
        let pair = || format!("{NAME}: the distance of {} and {}", items.describe(a.min(b)), items.describe(a.max(b)));
        let value = match distance.is_valid(row).then(|| distance.value(row)) {
            Some(value) if value >= 0.0 && value.is_finite() => value,
            Some(value) => {
                return Err(execution_error(format!("{} is {value}; it must be finite and at least 0", pair())));
            }
            None => return Err(execution_error(format!("{} is NULL", pair()))),
        };
        let known = matrix[a as usize * n + b as usize];
        // NaN stands for a pair that has not come yet.
        if !known.is_nan() && known != value {
            let (least, most) = (known.min(value), known.max(value));
            return Err(execution_error(format!("{} is given as {least} and as {most}", pair())));
        }
        matrix[a as usize * n + b as usize] = value;
        matrix[b as usize * n + a as usize] = value;
    }
    if let Some(missing) = matrix.iter().position(|value| value.is_nan()) {
        let count = matrix.iter().filter(|value| value.is_nan()).count() / 2;
        let (a, b) = (items.describe((missing / n) as u32), items.describe((missing % n) as u32));
        return Err(execution_error(format!(
            "{NAME}: {count} of the {} pairs of items have no distance, e.g. {a} and {b}; give each pair once",
            n * (n - 1) / 2
        )));
    }
    Ok(matrix)
}
