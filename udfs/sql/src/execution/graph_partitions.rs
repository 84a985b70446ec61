//! Calls on collections of graphs, part by part.
//!
//! The relations are partitioned by the hash of `graph_id` and each partition is sorted by it, on disk where memory is
//! short. A run then sees some thousand rows of whole graphs at a time, so that a collection of any size takes the memory
//! of a part, and the partitions keep all cores at work. The answers of the partitions are merged in the order of
//! `graph_id`: the order in which one run on everything emits them, at any number of partitions.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use arrow::array::RecordBatch;
use arrow::compute::BatchCoalescer;
use arrow::datatypes::{DataType, SchemaRef};
use bonnet_columns::{Key, KeyColumn};
use bonnet_graph::Monitor;
use datafusion::common::{Result, internal_datafusion_err, internal_err};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, OrderingRequirements, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::distribution_requirements::InputDistributionRequirements;
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion::physical_plan::sorts::streaming_merge::StreamingMergeBuilder;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{Distribution, ExecutionPlan, ExecutionPlanProperties, Partitioning, collect};
use futures::StreamExt;
use tokio::sync::{OnceCell, mpsc};

use crate::error::stopped;
use crate::execution::launch::Launch;
use crate::registry::operator::Binding;
use crate::runs::run::{Input, Output, wait};

/// A part has at least so many batches' rows of some relation, unless it is the last: enough to keep a core at work.
const PART_BATCHES: usize = 8;

/// Where the columns of ids of a call are, which all its relations have but one that all parts read.
#[derive(Debug, Clone)]
pub(crate) struct ByGraph {
    /// In each input; `None` for the one that is read whole.
    inputs: Vec<Option<Ids>>,
    /// In the answer.
    answer: usize,
}

/// The column of ids of an input.
#[derive(Debug, Clone)]
struct Ids {
    position: usize,
    /// The order in which the rows are read.
    ordering: LexOrdering,
}

impl Ids {
    /// By the ids, ascending, rows without one first. Rows that are carried through come in the order of their other
    /// columns then, at any number of partitions; of other rows the order means nothing.
    fn new(schema: &SchemaRef, position: usize, carried: bool) -> Option<Self> {
        let sortable = |i: &usize| {
            let data_type = schema.field(*i).data_type();
            let plain = data_type.is_primitive() || data_type.is_string() || *data_type == DataType::Boolean;
            carried && *i != position && plain
        };
        let columns = std::iter::once(position).chain((0..schema.fields().len()).filter(sortable));
        let by = |i: usize| PhysicalSortExpr::new_default(Arc::new(Column::new(schema.field(i).name(), i)));
        Some(Self { position, ordering: LexOrdering::new(columns.map(by))? })
    }

    fn column(&self) -> Arc<dyn PhysicalExpr> {
        Arc::clone(&self.ordering.first().expr)
    }
}

impl ByGraph {
    /// The columns of a call that computes graphs apart, if all its relations have them, of one type.
    pub(crate) fn of(binding: &Binding, inputs: &[SchemaRef]) -> Option<Self> {
        let column = binding.by_graph.as_deref()?;
        let data_type = inputs.first()?.field_with_name(column).ok()?.data_type();
        // Equal keys of two types have two hashes.
        let ids = |(input, schema): (usize, &SchemaRef)| {
            if binding.beside == Some(input) {
                return Some(None);
            }
            let (position, field) = schema.column_with_name(column)?;
            let ids = Ids::new(schema, position, binding.carries == Some(input))?;
            (field.data_type() == data_type).then_some(Some(ids))
        };
        // Any other type is refused when the graphs are read.
        KeyColumn::normal_type(data_type)?;
        Some(Self {
            inputs: inputs.iter().enumerate().map(ids).collect::<Option<_>>()?,
            answer: binding.schema.index_of(column).ok()?,
        })
    }

    pub(crate) fn distribution(&self) -> InputDistributionRequirements {
        let keys = |ids: &Option<Ids>| match ids {
            Some(ids) => Distribution::KeyPartitioned(vec![ids.column()]),
            None => Distribution::SinglePartition,
        };
        let inputs: Vec<Distribution> = self.inputs.iter().map(keys).collect();
        match self.inputs.iter().flatten().count() {
            // Partitions that correspond can only be required of all inputs: where one is read whole, `start` looks.
            keyed if keyed > 1 && keyed == inputs.len() => InputDistributionRequirements::co_partitioned(inputs),
            _ => InputDistributionRequirements::new(inputs),
        }
    }

    pub(crate) fn ordering(&self) -> Vec<Option<OrderingRequirements>> {
        self.inputs.iter().map(|ids| ids.as_ref().map(|ids| ids.ordering.clone().into())).collect()
    }

    /// Whether partitions of the same number hold the same graphs in all inputs that are partitioned.
    fn correspond(&self, inputs: &[Arc<dyn ExecutionPlan>]) -> bool {
        let keyed = inputs.iter().zip(&self.inputs).filter(|(_, id)| id.is_some());
        let keyed: Vec<&Partitioning> = keyed.map(|(input, _)| input.output_partitioning()).collect();
        let count = keyed.first().map_or(0, |first| first.partition_count());
        let hashed = |partitioning: &&Partitioning| matches!(partitioning, Partitioning::Hash(..));
        keyed.iter().all(|partitioning| partitioning.partition_count() == count)
            && (keyed.len() == 1 || count == 1 || keyed.iter().all(hashed))
    }

    /// Starts a run for each partition; `computed` are the columns of the answer that are computed.
    pub(crate) fn start(&self, launch: &Launch, computed: Option<&[usize]>) -> Result<SendableRecordBatchStream> {
        let partitions = launch.inputs[0].output_partitioning().partition_count();
        if !self.correspond(&launch.inputs) {
            return launch.merged().whole(launch.binding.projected(computed)?);
        }
        // Merging takes the column of ids, wanted or not.
        let columns: Option<Vec<usize>> = computed.map(|computed| {
            let missing = (!computed.contains(&self.answer)).then_some(self.answer);
            computed.iter().copied().chain(missing).collect()
        });
        let merged = launch.binding.projected(columns.as_deref())?;
        // Read by the partition that comes first.
        let whole: Arc<Whole> = Arc::default();
        let start = |partition: usize| -> Result<SendableRecordBatchStream> {
            let launch = launch.partition(columns.clone());
            let keyed = launch.inputs.iter().zip(&self.inputs).filter_map(|(input, ids)| Some((input, ids.as_ref()?)));
            let inputs = keyed.map(|(input, ids)| {
                let rows = input.execute(partition, Arc::clone(&launch.context))?;
                Ok(SortedRows::new(rows, ids.position))
            });
            let inputs = inputs.collect::<Result<Vec<_>>>()?;
            let beside = self.inputs.iter().position(Option::is_none).map(|input| (input, Arc::clone(&whole)));
            let schema = Arc::clone(&merged);
            let of = Arc::clone(&schema);
            Ok(launch.clone().spawn(schema, move |output| run_parts(&launch, inputs, beside, &of, &output)))
        };
        let id = merged.index_of(launch.binding.schema.field(self.answer).name())?;
        let ids = Ids::new(&merged, id, false).ok_or_else(|| internal_datafusion_err!("an answer without ids"))?;
        let mut streams = (0..partitions).map(start).collect::<Result<Vec<_>>>()?;
        let rows = match streams.len() {
            1 => streams.swap_remove(0),
            _ => {
                let pool = launch.context.memory_pool();
                StreamingMergeBuilder::new()
                    .with_streams(streams)
                    .with_schema(Arc::clone(&merged))
                    .with_expressions(&ids.ordering)
                    .with_metrics(BaselineMetrics::new(&ExecutionPlanMetricsSet::new(), 0))
                    .with_batch_size(launch.batch_size())
                    .with_reservation(MemoryConsumer::new(launch.name).register(pool))
                    .build()?
            }
        };
        match computed {
            Some(computed) if computed.len() < merged.fields().len() => {
                let positions: Vec<usize> = (0..computed.len()).collect();
                let schema = Arc::new(merged.project(&positions)?);
                let rows = rows.map(move |batch| Ok(batch?.project(&positions)?));
                Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
            }
            _ => Ok(rows),
        }
    }
}

/// The rows of the input that all parts read, once they are read.
type Whole = OnceCell<Vec<RecordBatch>>;

/// Runs the function on the graphs of one partition, part by part. `beside` is the input that is read whole.
fn run_parts(
    launch: &Launch,
    inputs: Vec<SortedRows>,
    beside: Option<(usize, Arc<Whole>)>,
    schema: &SchemaRef,
    output: &mpsc::Sender<Result<RecordBatch>>,
) -> Result<()> {
    let size = launch.batch_size();
    let mut parts = Parts { inputs, rows: PART_BATCHES * size };
    let mut small = BatchCoalescer::new(Arc::clone(schema), size).with_biggest_coalesce_batch_size(Some(size / 2));
    let reading = launch.host();
    let send = |small: &mut BatchCoalescer| {
        while let Some(batch) = small.next_completed_batch() {
            output.blocking_send(Ok(batch)).map_err(|_| stopped(bonnet_graph::Stopped::Cancelled))?;
        }
        Ok(())
    };
    while let Some(mut part) = wait(&launch.runtime, &reading, parts.next())? {
        reading.check().map_err(stopped)?;
        if let Some((input, whole)) = &beside {
            let plan = &launch.inputs[*input];
            let read = whole.get_or_try_init(|| collect(Arc::clone(plan), Arc::clone(&launch.context)));
            part.insert(*input, wait(&launch.runtime, &reading, read)?.clone());
        }
        let inputs = part
            .into_iter()
            .zip(&launch.inputs)
            .map(|(batches, input)| Ok(Input::Rows(Box::pin(MemoryStream::try_new(batches, input.schema(), None)?))));
        let mut run = launch.run(inputs.collect::<Result<_>>()?, Output::Batches(Default::default()));
        // Values of rows that are carried through have the places of these rows.
        run.sorted_arcs = launch.binding.carries.is_none();
        // In one step: many a small graph takes less time than the way into the kernel threads.
        launch.kernels.pool.install(|| launch.binding.run(&mut run))?;
        let Output::Batches(batches) = &run.output else { return internal_err!("a part's rows were sent away") };
        for batch in std::mem::take(&mut *batches.lock().unwrap_or_else(PoisonError::into_inner)) {
            small.push_batch(batch)?;
            send(&mut small)?;
        }
    }
    small.finish_buffered_batch()?;
    send(&mut small)
}

/// The rows of one partition of each relation, cut between graphs.
struct Parts {
    inputs: Vec<SortedRows>,
    /// The least rows of a part.
    rows: usize,
}

impl Parts {
    /// The rows of the next graphs in each input; `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<Vec<RecordBatch>>>> {
        for input in &mut self.inputs {
            input.fill(self.rows).await?;
        }
        // Of the last graph that was read of an input, more rows may follow.
        let open = self.inputs.iter().filter(|input| !input.ended).filter_map(|input| input.last());
        let part: Vec<Vec<RecordBatch>> = match open.min().map(Key::into_owned) {
            Some(end) => self.inputs.iter_mut().map(|input| input.take_before(&end)).collect(),
            None => self.inputs.iter_mut().map(SortedRows::take).collect(),
        };
        Ok(part.iter().any(|batches| !batches.is_empty()).then_some(part))
    }
}

/// Rows in the order of their ids, as they are read. Those without an id, which are a graph of their own, come first.
struct SortedRows {
    rows: SendableRecordBatchStream,
    /// The position of the ids.
    id: usize,
    /// The batches that were read and not taken, with their ids.
    read: VecDeque<(RecordBatch, KeyColumn)>,
    count: usize,
    ended: bool,
}

impl SortedRows {
    fn new(rows: SendableRecordBatchStream, id: usize) -> Self {
        Self { rows, id, read: VecDeque::new(), count: 0, ended: false }
    }

    /// The id of the last row that was read.
    fn last(&self) -> Option<Key<'_>> {
        self.read.back().and_then(|(_, ids)| ids.get(ids.len() - 1))
    }

    /// Reads until there are so many rows, and a whole graph among them, or no more rows.
    async fn fill(&mut self, rows: usize) -> Result<()> {
        while !self.ended && (self.count < rows || self.first() == self.last()) {
            match self.rows.next().await.transpose()? {
                Some(batch) => self.push(batch)?,
                None => self.ended = true,
            }
        }
        Ok(())
    }

    fn first(&self) -> Option<Key<'_>> {
        self.read.front().and_then(|(_, ids)| ids.get(0))
    }

    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        if batch.num_rows() > 0 {
            let ids = KeyColumn::new(batch.column(self.id), batch.schema_ref().field(self.id).name())?;
            self.count += batch.num_rows();
            self.read.push_back((batch, ids));
        }
        Ok(())
    }

    /// All rows that were read.
    fn take(&mut self) -> Vec<RecordBatch> {
        self.count = 0;
        self.read.drain(..).map(|(batch, _)| batch).collect()
    }

    /// The rows of the graphs before this one.
    fn take_before(&mut self, end: &Key<'_>) -> Vec<RecordBatch> {
        let mut taken = Vec::new();
        while let Some((batch, ids)) = self.read.pop_front() {
            let rows = ids.partition_point(|key| key < *end);
            self.count -= rows;
            if rows > 0 {
                taken.push(batch.slice(0, rows));
            }
            if rows < batch.num_rows() {
                let left = rows..batch.num_rows();
                self.read.push_front((batch.slice(rows, left.len()), ids.slice(left)));
                break;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;

    fn sorted(batches: &[&[Option<i64>]]) -> SortedRows {
        let batch = |ids: &&[Option<i64>]| {
            let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
            RecordBatch::try_from_iter_with_nullable([("graph_id", ids, true)]).unwrap()
        };
        let batches: Vec<RecordBatch> = batches.iter().map(batch).collect();
        let schema = batches[0].schema();
        SortedRows::new(Box::pin(MemoryStream::try_new(batches, schema, None).unwrap()), 0)
    }

    fn parts(inputs: Vec<SortedRows>, rows: usize) -> Vec<Vec<Vec<i64>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut parts = Parts { inputs, rows };
        let mut found = Vec::new();
        while let Some(part) = runtime.block_on(parts.next()).unwrap() {
            let ids = |batches: &Vec<RecordBatch>| {
                let ids = batches.iter().map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec());
                ids.collect::<Vec<_>>().concat()
            };
            found.push(part.iter().map(ids).collect());
        }
        found
    }

    #[test]
    fn parts_are_whole_graphs_of_all_relations() {
        let ids = |ids: &[i64]| ids.iter().copied().map(Some).collect::<Vec<_>>();
        let (a, b, c) = (ids(&[1, 1, 2]), ids(&[2, 2, 5]), ids(&[5, 7]));
        let edges = || sorted(&[&a, &b, &c]);
        assert_eq!(parts(vec![edges()], 1), [[vec![1, 1]], [vec![2, 2, 2]], [vec![5, 5]], [vec![7]]]);
        assert_eq!(parts(vec![edges()], 100), [[vec![1, 1, 2, 2, 2, 5, 5, 7]]]);
        // Graphs that only the second relation has, before, between and behind those of the first.
        let (d, e) = (ids(&[0, 1, 3]), ids(&[5, 8, 9]));
        let nodes = sorted(&[&d, &e]);
        let found = parts(vec![edges(), nodes], 1);
        assert_eq!(found[0], [vec![1, 1], vec![0, 1]]);
        let columns = |i: usize| found.iter().flat_map(|part| part[i].clone()).collect::<Vec<_>>();
        assert_eq!(columns(0), [1, 1, 2, 2, 2, 5, 5, 7]);
        assert_eq!(columns(1), [0, 1, 3, 5, 8, 9]);
        for pair in found.windows(2) {
            let (last, first) = (pair[0].concat().into_iter().max(), pair[1].concat().into_iter().min());
            assert!(last < first, "{found:?}");
        }
    }

    #[test]
    fn no_rows_are_no_part() {
        assert!(parts(vec![sorted(&[&[]])], 1).is_empty());
    }

    #[test]
    fn rows_without_an_id_are_a_part_that_comes_first() {
        let rows = |inputs: Vec<SortedRows>| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let mut parts = Parts { inputs, rows: 1 };
            let next = || runtime.block_on(parts.next()).unwrap();
            let count = |batches: &Vec<RecordBatch>| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
            std::iter::from_fn(next).map(|part| part.iter().map(count).collect()).collect::<Vec<Vec<usize>>>()
        };
        let some = || sorted(&[&[None, None], &[None, Some(3)], &[Some(4)]]);
        assert_eq!(rows(vec![some()]), [[3], [1], [1]]);
        assert_eq!(rows(vec![sorted(&[&[None, Some(4)]]), some()]), [[1, 3], [0, 1], [1, 1]]);
        assert_eq!(rows(vec![sorted(&[&[None]])]), [[1]]);
    }
}
