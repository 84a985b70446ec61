//! The adapter for functions that answer one value per edge: a window function and a relation function, one operator.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::{Field, Schema};
use bonnet_columns::{KeyColumn, whole_column};
use bonnet_graph::Monitor;
use datafusion::common::{Result, ScalarValue, internal_err};
use rayon::prelude::*;

use crate::binding::graph_input::{InputGraphs, edge_schema, require_weight};
use crate::error::{stopped, usage_error};
use crate::registry::body::{EdgeFunction, EdgeKernel};
use crate::registry::operator::{Binding, Call, Operator};
use crate::registry::options::Options;
use crate::runs::cached_input::CacheRequest;
use crate::runs::run::Run;

/// The operator behind both spellings of an edge function.
///
/// The window spelling names its columns by options that begin with `@`: `@src`, `@dst`, `@partition` (how many columns
/// `__partition_i` there are) and `@value` (the name of the answer's column).
#[derive(Debug)]
pub(crate) struct EdgeOperator {
    name: &'static str,
    function: Arc<dyn EdgeFunction>,
}

impl EdgeOperator {
    pub(crate) fn new(name: &'static str, function: Arc<dyn EdgeFunction>) -> Self {
        Self { name, function }
    }

    /// The columns read: src, dst, the partition, the weight.
    fn columns(&self, options: &Options) -> Result<Columns> {
        let named = |option: &str, default: &str| {
            Ok::<_, datafusion::common::DataFusionError>(options.text(option)?.unwrap_or(default).to_owned())
        };
        let partition = match options.integer("@partition")? {
            Some(count) => (0..count).map(|i| format!("__partition_{i}")).collect(),
            None => vec!["graph_id".to_owned()],
        };
        Ok(Columns {
            src: named("@src", "src")?,
            dst: named("@dst", "dst")?,
            partition,
            weight: options.text("weight")?.map(str::to_owned),
            value: named("@value", self.name)?,
        })
    }
}

struct Columns {
    src: String,
    dst: String,
    partition: Vec<String>,
    weight: Option<String>,
    value: String,
}

impl Operator for EdgeOperator {
    fn bind(&self, call: &Call) -> Result<Binding> {
        let (name, input) = (self.name, &call.inputs[0]);
        let columns = self.columns(&call.options)?;
        if call.options.get("@src").is_none() {
            edge_schema(name, input)?;
        }
        let kernel = self.function.bind(&call.options)?;
        let mut reads = vec![columns.src.clone(), columns.dst.clone()];
        if let Some(weight) = &columns.weight {
            if input.schema.field_with_name(weight).is_err() {
                return usage_error(format!("{name}: the edges have no column {weight}"));
            }
            require_weight(name, input, weight)?;
            reads.push(weight.clone());
        }
        reads.extend(columns.partition.iter().filter(|name| input.schema.field_with_name(name).is_ok()).cloned());
        let value = Field::new(&columns.value, self.function.data_type(), true);
        let fields: Vec<_> = input.schema.fields().iter().cloned().chain([Arc::new(value)]).collect();
        let id = columns.partition.first().filter(|_| columns.partition.len() == 1).cloned();
        let run = move |run: &mut Run| run_edges(name, &columns, &kernel, run);
        let binding = Binding::new(Arc::new(Schema::new(fields)), vec![reads], run).carrying(0);
        Ok(match id {
            Some(id) => binding.by_graph_of(&id),
            None => binding,
        })
    }
}

/// Emits the rows of the edges, each with its value behind.
fn run_edges(name: &str, columns: &Columns, kernel: &EdgeKernel, run: &mut Run) -> Result<()> {
    let batches = run.collect(0)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if rows == 0 {
        return Ok(());
    }
    // The graphs' rows, under the names that `InputGraphs` knows.
    let view = view(columns, &batches)?;
    run.host().reserve(view.get_array_memory_size()).map_err(stopped)?;
    let weight = columns.weight.as_deref();
    let graphs = InputGraphs::new(run, name, &[view], None, weight)?;
    // With the column of weights: what is made of them is kept with the graph.
    let request = CacheRequest::new(run, (&columns.src, &columns.dst), weight, None).filter(|_| !graphs.have_ids());
    let cached = request.map(|request| graphs.cached(&request, run)).transpose()?;

    run.host().expect(graphs.len() as u64);
    let host = run.host();
    let compute = |i: usize| -> Result<ArrayRef> {
        host.check().map_err(stopped)?;
        let own = if cached.is_some() { None } else { Some(graphs.graph(i)?) };
        let Some(graph) = cached.as_ref().or(own.as_ref()) else { return internal_err!("{name}: a graph is lost") };
        let values = graph.by_row(kernel(graph, host)?)?;
        host.advance(1);
        Ok(values)
    };
    // Collected before the first error is looked for: of several, that of the first graph is reported.
    let found: Vec<Result<_>> = run.install(|| (0..graphs.len()).into_par_iter().map(compute).collect());
    let values = found.into_iter().collect::<Result<Vec<ArrayRef>>>()?;
    let own = run.schema().fields().len() - 1;
    let value = match values.len() {
        0 => new_null_array(run.schema().field(own).data_type(), 0),
        _ => concat(&values.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>())?,
    };
    let value = match graphs.order() {
        Some(order) => in_order(value, order, rows)?,
        None => value,
    };
    let mut offset = 0;
    for batch in batches {
        let values = value.slice(offset, batch.num_rows());
        offset += batch.num_rows();
        let columns = batch.columns()[..own].iter().cloned().chain([values]).collect();
        run.emit(RecordBatch::try_new(Arc::clone(&run.schema), columns)?)?;
    }
    Ok(())
}

/// Back to the order of the rows, of which `order` names each value's.
fn in_order(values: ArrayRef, order: &[u32], rows: usize) -> Result<ArrayRef> {
    if order.len() == rows && order.iter().zip(0..).all(|(&position, row)| position == row) {
        return Ok(values);
    }
    let mut place: Vec<Option<u32>> = vec![None; rows];
    for (from, &to) in order.iter().enumerate() {
        place[to as usize] = Some(from as u32);
    }
    Ok(take(&values, &UInt32Array::from(place), None)?)
}

/// `src`, `dst`, `graph_id` and the weight of the rows. Several partition columns become one text.
fn view(columns: &Columns, batches: &[RecordBatch]) -> Result<RecordBatch> {
    let whole = |name: &str| whole_column(batches, name);
    let (Some(src), Some(dst)) = (whole(&columns.src)?, whole(&columns.dst)?) else {
        return usage_error("the edges have no rows to read");
    };
    let mut fields = vec![("src", src, true), ("dst", dst, true)];
    let partition: Vec<ArrayRef> =
        columns.partition.iter().map(|name| whole(name)).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    if !partition.is_empty() {
        let rows = partition[0].len();
        let id = match partition.as_slice() {
            // NULL groups with NULL in OVER, as everywhere in SQL; a NULL graph_id in FROM is no graph.
            [id] if columns.partition[0] == "graph_id"
                || (id.null_count() == 0 && KeyColumn::normal_type(id.data_type()).is_some()) =>
            {
                Arc::clone(id)
            }
            partition => {
                let ids = (0..rows)
                    .map(|row| {
                        let parts = partition.iter().map(|column| ScalarValue::try_from_array(column, row));
                        let parts = parts.collect::<Result<Vec<_>>>()?;
                        Ok(Some(format!("{parts:?}")))
                    })
                    .collect::<Result<Vec<_>>>()?;
                Arc::new(arrow::array::StringArray::from(ids)) as ArrayRef
            }
        };
        fields.push(("graph_id", id, true));
    }
    if let Some(weight) = &columns.weight {
        fields.extend(whole(weight)?.map(|column| (weight.as_str(), column, true)));
    }
    Ok(RecordBatch::try_from_iter_with_nullable(fields)?)
}
