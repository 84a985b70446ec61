//! `spectral_clustering(distances, clusters [, ...])` and `adjusted_rand_index(a, b)`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Field, Float64Type, Schema};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    AggregateFunction, AggregateState, Binding, Body, Call, Function, KeyColumn, KeyIndex, Operator, Options,
    Parameter, Run, execution_error, require_columns, stopped, usage_error,
};
use datafusion::common::{Result, ScalarValue};

use super::descriptors::damaged;
use crate::{ClusteringError, Contingency, adjusted_rand_index, spectral_clustering};

const CLUSTERING: &str = "spectral_clustering";
const INDEX: &str = "adjusted_rand_index";

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        Function::new(CLUSTERING, Body::Relation(Arc::new(Clustering)))
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
            .source("Ng, Jordan and Weiss, On Spectral Clustering (NIPS 2001)"),
        Function::new(INDEX, Body::Aggregate(Arc::new(Index)))
            .parameters([
                Parameter::column("a", "The item's cluster or class in one clustering: any values."),
                Parameter::column("b", "Its cluster in the other."),
            ])
            .returns("DOUBLE")
            .description(
                "How well two clusterings of the same items agree, corrected for chance: 1 where they are the same up to \
                 names, 0 in the mean over random ones of the same sizes. Rows with a NULL do not count; no rows give NULL.",
            )
            .example("SELECT adjusted_rand_index(a, b) FROM (VALUES (0, 'x'), (0, 'x'), (1, 'y'), (1, 'z')) t(a, b)")
            .source("Hubert and Arabie, Comparing partitions (1985), Eq. 5"),
    ]
}

#[derive(Debug)]
struct Clustering;

impl Operator for Clustering {
    fn bind(&self, call: &Call) -> Result<Binding> {
        let input = &call.inputs[0];
        require_columns(CLUSTERING, input, &["a", "b", "distance"])?;
        if call.options.integer_from("clusters", 1)?.is_none() {
            return usage_error(format!("{CLUSTERING}: clusters is NULL: expected a whole number of at least 1"));
        }
        if let Some(sigma) = call.options.number("sigma")?.filter(|sigma| !(*sigma > 0.0 && sigma.is_finite())) {
            return usage_error(format!("{CLUSTERING}: {}", ClusteringError::Sigma(sigma)));
        }
        let key = |name: &str| -> Result<DataType> {
            let given = input.schema.field_with_name(name)?.data_type();
            match KeyColumn::normal_type(given) {
                Some(normal) => Ok(normal),
                None => usage_error(format!("{CLUSTERING}: {name} is {given}: items are integers or text")),
            }
        };
        let (a, b) = (key("a")?, key("b")?);
        if a != b {
            return usage_error(format!("{CLUSTERING}: a is {a} and b is {b}: cast one of them"));
        }
        let distance = input.schema.field_with_name("distance")?.data_type();
        if !distance.is_numeric() && *distance != DataType::Null {
            return usage_error(format!("{CLUSTERING}: distance is {distance}: expected numbers"));
        }
        let schema = Schema::new(vec![Field::new("item", a, true), Field::new("cluster_id", DataType::Int64, true)]);
        let reads = vec![["a", "b", "distance"].map(str::to_owned).to_vec()];
        Ok(Binding { schema: Arc::new(schema), reads, carries: None })
    }

    fn run(&self, call: &Call, run: &mut Run) -> Result<()> {
        let batches = run.collect(0)?;
        let host = run.host();
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let _rows = Reservation::new(host, 32 * rows).map_err(stopped)?;
        if rows == 0 {
            return Ok(());
        }
        let column = |name: &str| -> Result<ArrayRef> {
            let parts: Vec<&dyn Array> =
                batches.iter().filter_map(|batch| batch.column_by_name(name)).map(AsRef::as_ref).collect();
            Ok(concat(&parts)?)
        };
        let (a, b) = (KeyColumn::new(&column("a")?, "a")?, KeyColumn::new(&column("b")?, "b")?);
        let items = KeyIndex::new(&[("a", &a), ("b", &b)])?;
        let n = items.len();
        let _matrix = Reservation::new(host, 8usize.saturating_mul(n).saturating_mul(n)).map_err(stopped)?;
        let distance = cast(&column("distance")?, &DataType::Float64)?;
        let matrix = matrix(&items, [&items.numbers(&a), &items.numbers(&b)], &distance, host)?;
        let clusters = call.options.integer("clusters")?.unwrap_or(1) as usize;
        let (sigma, seed) = (call.options.number("sigma")?, call.options.integer("seed")?.unwrap_or(0) as u64);
        let found =
            run.install(|| spectral_clustering(&matrix, n, clusters, sigma, seed, host)).map_err(
                |error| match error {
                    ClusteringError::Stopped(reason) => stopped(reason),
                    error => execution_error(format!("{CLUSTERING}: {error}")),
                },
            )?;
        let found: Int64Array = found.into_iter().map(i64::from).collect();
        run.emit_all(vec![items.array(), Arc::new(found)])
    }
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
            return Err(execution_error(format!("{CLUSTERING}: a or b is NULL in a row of distances")));
        };
        // In the items' order, so that the text does not depend on that of the rows.
        let pair =
            || format!("{CLUSTERING}: the distance of {} and {}", items.describe(a.min(b)), items.describe(a.max(b)));
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
            "{CLUSTERING}: {count} of the {} pairs of items have no distance, e.g. {a} and {b}; give each pair once",
            n * (n - 1) / 2
        )));
    }
    Ok(matrix)
}

#[derive(Debug)]
struct Index;

impl AggregateFunction for Index {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Pairs::default()))
    }
}

/// The names of a clustering's clusters, numbered as they come.
#[derive(Debug, Default)]
struct Names(HashMap<String, u32>);

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        let next = self.0.len() as u32;
        match self.0.get(name) {
            Some(number) => *number,
            None => {
                self.0.insert(name.to_owned(), next);
                next
            }
        }
    }

    fn in_order(&self) -> Vec<&str> {
        let mut names: Vec<(&u32, &String)> = self.0.iter().map(|(name, number)| (number, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name.as_str()).collect()
    }

    fn bytes(&self) -> usize {
        self.0.keys().map(|name| name.capacity() + 40).sum()
    }
}

#[derive(Debug, Default)]
struct Pairs {
    a: Names,
    b: Names,
    table: Contingency,
}

/// What travels between partitions: the names of both sides and the counts of pairs.
type Written = (Vec<String>, Vec<String>, Vec<(u32, u32, u64)>);

impl AggregateState for Pairs {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let text = |column: &ArrayRef| -> Result<StringArray> {
            Ok(cast(column, &DataType::Utf8)?.as_string::<i32>().clone())
        };
        let (a, b) = (text(&columns[0])?, text(&columns[1])?);
        for (a, b) in a.iter().zip(&b) {
            if let (Some(a), Some(b)) = (a, b) {
                let (a, b) = (self.a.number(a), self.b.number(b));
                self.table.add(a, b, 1);
            }
        }
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let (a, b, counts): Written = serde_json::from_slice(bytes).map_err(|_| damaged(INDEX))?;
        let a: Vec<u32> = a.iter().map(|name| self.a.number(name)).collect();
        let b: Vec<u32> = b.iter().map(|name| self.b.number(name)).collect();
        for (of_a, of_b, count) in counts {
            let (Some(&of_a), Some(&of_b)) = (a.get(of_a as usize), b.get(of_b as usize)) else {
                return Err(damaged(INDEX));
            };
            self.table.add(of_a, of_b, count);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let written = (self.a.in_order(), self.b.in_order(), self.table.counts());
        serde_json::to_vec(&written).expect("texts and numbers become JSON")
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(adjusted_rand_index(&self.table)))
    }

    fn size(&self) -> usize {
        self.a.bytes() + self.b.bytes() + self.table.bytes()
    }
}
