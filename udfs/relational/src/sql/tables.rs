//! The tables of a graph that was made of a schema.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float32Array, Float64Array, Int32Array, Int64Array, MapArray, RecordBatch, StringArray, StructArray,
    new_null_array,
};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Schema, TimeUnit};
use bonnet_graph::Monitor;
use bonnet_sql::stopped;
use datafusion::common::{Result, internal_err};

use super::keys::Keys;
use super::options::Times;
use super::source::Source;
use crate::{Features, ForeignKey, Links, PrimaryKey, SchemaGraph, Values};

/// The table that the statement prints.
pub const KEYS: &str = "keys";

/// Rows of a batch of nodes or edges.
const BATCH: usize = 1 << 16;

/// The parts of the tables.
pub(super) struct Tables<'a> {
    pub source: &'a Source,
    pub keys: &'a Keys,
    pub graph: &'a SchemaGraph,
    pub features: &'a Features,
    /// The column `features` of nodes: sparse, a map from feature numbers to values.
    pub features_field: Field,
    /// Whether nodes and edges have a column `type`.
    pub typed: bool,
    /// The times of the rows, for a column `time` of nodes.
    pub times: Option<Times>,
}

impl Tables<'_> {
    /// All tables, each with one batch at least.
    pub fn all(
        &self,
        label: Option<(usize, usize)>,
        weight: Option<&[Option<usize>]>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<(&'static str, Vec<RecordBatch>)>> {
        Ok(vec![
            ("nodes", self.nodes(label, monitor)?),
            ("edges", self.edges(weight, monitor)?),
            (KEYS, vec![self.key_rows()?]),
            ("features", vec![self.feature_rows()?]),
        ])
    }

    fn table_name(&self, table: usize) -> &str {
        &self.source.database.tables[table].name
    }

    fn nodes(&self, label: Option<(usize, usize)>, monitor: &dyn Monitor) -> Result<Vec<RecordBatch>> {
        let database = &self.source.database;
        let label_type = label.map(|(table, column)| match database.tables[table].columns[column].values {
            Values::Integers(_) => DataType::Int64,
            Values::Numbers(_) => DataType::Float64,
            Values::Texts(_) => DataType::Utf8,
        });
        let mut fields = vec![Field::new("node", DataType::Int64, true)];
        fields.extend(label_type.clone().map(|data_type| Field::new("label", data_type, true)));
        fields.push(self.features_field.clone());
        fields.extend(self.typed.then(|| Field::new("type", DataType::Utf8, true)));
        fields.push(Field::new("id", DataType::Utf8, true));
        let time_type = |times: &Times| match times.dates {
            true => DataType::Timestamp(TimeUnit::Microsecond, None),
            false => DataType::Int64,
        };
        fields.extend(self.times.as_ref().map(|times| Field::new("time", time_type(times), true)));
        let schema = Arc::new(Schema::new(fields));
        let mut batches = Vec::new();
        for (table, (first, rows)) in self.graph.rows.iter().enumerate() {
            for (block, rows) in rows.chunks(BATCH).enumerate() {
                monitor.check().map_err(stopped)?;
                let first = (first + block * BATCH) as i64;
                let node = Int64Array::from_iter_values(first..first + rows.len() as i64);
                let mut columns: Vec<ArrayRef> = vec![Arc::new(node)];
                if let Some(data_type) = &label_type {
                    let of_table = label.filter(|(labelled, _)| *labelled == table);
                    columns.push(match of_table {
                        Some((_, column)) => values(&database.tables[table].columns[column].values, rows),
                        None => new_null_array(data_type, rows.len()),
                    });
                }
                columns.push(self.features_of(table, rows)?);
                if self.typed {
                    columns.push(repeated(self.table_name(table), rows.len()));
                }
                columns.push(self.ids(table, rows));
                if let Some(times) = &self.times {
                    let of_table = times.columns[table].map(|column| &database.tables[table].columns[column].values);
                    let at = |&row: &u32| match of_table? {
                        Values::Integers(values) => values[row as usize],
                        // Days of whole milliseconds.
                        Values::Numbers(values) => {
                            values[row as usize].map(|days| (days * 86_400e3).round() as i64 * 1000)
                        }
                        Values::Texts(_) => None,
                    };
                    let column: Int64Array = rows.iter().map(at).collect();
                    columns.push(cast(&column, &time_type(times))?);
                }
                batches.push(RecordBatch::try_new(Arc::clone(&schema), columns)?);
            }
        }
        Ok(some(batches, &schema))
    }

    /// The keys of rows as text, or their numbers.
    fn ids(&self, table: usize, rows: &[u32]) -> ArrayRef {
        let columns = &self.source.database.tables[table].columns;
        let id = |row: u32| match self.keys.primary[table].columns.as_slice() {
            [] => Some((u64::from(row) + 1).to_string()),
            key => {
                let parts = key.iter().map(|&column| columns[column].values.text(row as usize));
                parts.collect::<Option<Vec<String>>>().map(|parts| parts.join(" "))
            }
        };
        Arc::new(rows.iter().map(|&row| id(row)).collect::<StringArray>())
    }

    fn features_of(&self, table: usize, rows: &[u32]) -> Result<ArrayRef> {
        let features = &self.features.rows[table];
        let (mut offsets, mut positions, mut numbers) = (vec![0i32], Vec::new(), Vec::new());
        for &row in rows {
            for (position, value) in features.row(row as usize) {
                positions.push(position as i32);
                numbers.push(value);
            }
            let Ok(end) = i32::try_from(positions.len()) else {
                return internal_err!("the features of {BATCH} rows are too many for one batch");
            };
            offsets.push(end);
        }
        let DataType::Map(entries, sorted) = self.features_field.data_type() else {
            return internal_err!("sparse features are no map");
        };
        let DataType::Struct(fields) = entries.data_type() else { return internal_err!("a map has entries") };
        let columns: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(positions)), Arc::new(Float32Array::from(numbers))];
        let values = StructArray::try_new(Fields::clone(fields), columns, None)?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Arc::new(MapArray::try_new(Arc::clone(entries), offsets, values, None, *sorted)?))
    }

    fn edges(&self, weight: Option<&[Option<usize>]>, monitor: &dyn Monitor) -> Result<Vec<RecordBatch>> {
        let mut fields = vec![Field::new("src", DataType::Int64, true), Field::new("dst", DataType::Int64, true)];
        fields.extend(self.typed.then(|| Field::new("type", DataType::Utf8, true)));
        fields.extend(weight.map(|_| Field::new("weight", DataType::Float64, true)));
        let schema = Arc::new(Schema::new(fields));
        let mut batches = Vec::new();
        for edges in self.graph.edges.chunk_by(|a, b| a.2 == b.2).flat_map(|edges| edges.chunks(BATCH)) {
            monitor.check().map_err(stopped)?;
            let (key, _) = &self.keys.foreign[edges[0].2 as usize];
            let end = |pick: fn(&(u32, u32, u32)) -> u32| -> ArrayRef {
                Arc::new(edges.iter().map(|edge| i64::from(pick(edge))).collect::<Int64Array>())
            };
            let mut columns = vec![end(|edge| edge.0), end(|edge| edge.1)];
            if self.typed {
                columns.push(repeated(&self.edge_type(key), edges.len()));
            }
            if let Some(weight) = weight {
                columns.push(self.weights(weight[key.from], key.from, edges));
            }
            batches.push(RecordBatch::try_new(Arc::clone(&schema), columns)?);
        }
        Ok(some(batches, &schema))
    }

    fn weights(&self, column: Option<usize>, table: usize, edges: &[(u32, u32, u32)]) -> ArrayRef {
        let (first, rows) = &self.graph.rows[table];
        let row = |edge: &(u32, u32, u32)| rows[edge.0 as usize - first] as usize;
        let values = column.map(|column| &self.source.database.tables[table].columns[column].values);
        let weight = |edge: &(u32, u32, u32)| match values {
            None => Some(1.0),
            Some(Values::Integers(values)) => values[row(edge)].map(|value| value as f64),
            Some(Values::Numbers(values)) => values[row(edge)],
            Some(Values::Texts(_)) => None,
        };
        Arc::new(edges.iter().map(weight).collect::<Float64Array>())
    }

    /// The name of a foreign key's edges.
    fn edge_type(&self, key: &ForeignKey) -> String {
        let columns =
            key.columns.iter().map(|&column| self.source.database.tables[key.from].columns[column].name.as_str());
        let made = || format!("{}.{}", self.table_name(key.from), columns.collect::<Vec<_>>().join("_"));
        key.name.clone().unwrap_or_else(made)
    }

    fn key_rows(&self) -> Result<RecordBatch> {
        let database = &self.source.database;
        let mut rows = KeyRows::default();
        for (table, key) in self.keys.primary.iter().enumerate() {
            let PrimaryKey { columns, declared } = key;
            let found = match (columns.is_empty(), declared) {
                (true, _) => "row number",
                (_, true) => "declared",
                (_, false) => "inferred",
            };
            let name = (!columns.is_empty()).then(|| database.describe(table, columns));
            rows.push("primary", name, self.table_name(table), found, self.graph.rows[table].1.len(), None);
        }
        let describe = |key: &ForeignKey| {
            let (from, to) = (database.describe(key.from, &key.columns), database.describe(key.to, &key.to_columns));
            Some(format!("{from} -> {to}"))
        };
        for (key, links) in &self.keys.foreign {
            let found = if key.declared { "declared" } else { "inferred" };
            rows.push("foreign", describe(key), &self.edge_type(key), found, links.pairs.len(), Some(links));
        }
        for (key, links) in &self.keys.refused {
            rows.push("foreign", describe(key), &self.edge_type(key), "refused", 0, Some(links));
        }
        for (key, links) in &self.keys.hidden {
            rows.push("foreign", describe(key), &self.edge_type(key), "label", 0, Some(links));
        }
        rows.batch()
    }

    fn feature_rows(&self) -> Result<RecordBatch> {
        let database = &self.source.database;
        let (mut types, mut columns, mut encodings) = (Vec::new(), Vec::new(), Vec::new());
        let (mut first, mut width) = (Vec::new(), Vec::new());
        for block in &self.features.blocks {
            types.push(self.table_name(block.table).to_owned());
            columns.push(database.tables[block.table].columns[block.column].name.clone());
            encodings.push(block.encoding.name().to_owned());
            first.push((block.width > 0).then_some(block.first as i64));
            width.push(block.width as i64);
        }
        for (table, column, data_type) in &self.source.left_out {
            types.push(self.table_name(*table).to_owned());
            columns.push(column.clone());
            encodings.push(format!("left out: {data_type}"));
            first.push(None);
            width.push(0);
        }
        let texts = [("type", types), ("column", columns), ("encoding", encodings)];
        let texts = texts.map(|(name, texts)| (name, Arc::new(StringArray::from(texts)) as ArrayRef, true));
        let first: ArrayRef = Arc::new(Int64Array::from(first));
        let width: ArrayRef = Arc::new(Int64Array::from(width));
        let columns = texts.into_iter().chain([("first", first, true), ("width", width, true)]);
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }
}

/// The rows of the table `keys`, column by column.
#[derive(Default)]
struct KeyRows {
    texts: [Vec<Option<String>>; 4],
    rows: Vec<i64>,
    counts: [Vec<Option<i64>>; 2],
    examples: Vec<Option<String>>,
}

impl KeyRows {
    fn push(&mut self, kind: &str, key: Option<String>, name: &str, found: &str, rows: usize, links: Option<&Links>) {
        let texts = [Some(kind.to_owned()), key, Some(name.to_owned()), Some(found.to_owned())];
        self.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
        self.rows.push(rows as i64);
        self.counts[0].push(links.map(|links| links.nulls as i64));
        self.counts[1].push(links.map(|links| links.dangling as i64));
        self.examples.push(links.filter(|links| !links.examples.is_empty()).map(|links| links.examples.join(", ")));
    }

    fn batch(self) -> Result<RecordBatch> {
        let names = ["kind", "key", "type", "found"];
        let texts = names.into_iter().zip(self.texts);
        let mut columns: Vec<(&str, ArrayRef, bool)> =
            texts.map(|(name, texts)| (name, Arc::new(StringArray::from(texts)) as ArrayRef, true)).collect();
        columns.push(("rows", Arc::new(Int64Array::from(self.rows)), true));
        let counts = ["nulls", "dangling"].into_iter().zip(self.counts);
        columns.extend(counts.map(|(name, counts)| (name, Arc::new(Int64Array::from(counts)) as ArrayRef, true)));
        columns.push(("examples", Arc::new(StringArray::from(self.examples)), true));
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }
}

/// The batches, or one without rows.
fn some(batches: Vec<RecordBatch>, schema: &Arc<Schema>) -> Vec<RecordBatch> {
    if batches.is_empty() { vec![RecordBatch::new_empty(Arc::clone(schema))] } else { batches }
}

fn repeated(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows)))
}

/// Values of some rows as a column.
fn values(values: &Values, rows: &[u32]) -> ArrayRef {
    let rows = rows.iter().map(|&row| row as usize);
    match values {
        Values::Integers(values) => Arc::new(rows.map(|row| values[row]).collect::<Int64Array>()),
        Values::Numbers(values) => Arc::new(rows.map(|row| values[row]).collect::<Float64Array>()),
        Values::Texts(texts) => Arc::new(rows.map(|row| texts.get(row)).collect::<StringArray>()),
    }
}
