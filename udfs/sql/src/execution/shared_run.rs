//! One run for several readers: a relation function whose answer a statement reads more than once.

use std::sync::{Arc, Mutex};

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::StreamWriter;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, SpillFile, SpillWriter, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::future::{BoxFuture, FutureExt, Shared};
use futures::{StreamExt, TryStreamExt};

/// The answer of one run for all its readers: in memory while the pool grants it, else in a spill file.
pub(crate) struct Materialized {
    batches: Vec<RecordBatch>,
    spilled: Option<Arc<dyn SpillFile>>,
    _memory: MemoryReservation,
}

type Spill = (Arc<dyn SpillFile>, StreamWriter<Box<dyn SpillWriter>>);
type Outcome = Result<Arc<Materialized>, Arc<DataFusionError>>;

/// A run that starts with its first reader and ends with its last.
#[derive(Default)]
pub(crate) struct SharedRun {
    run: Mutex<Option<Shared<BoxFuture<'static, Outcome>>>>,
}

impl std::fmt::Debug for SharedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedRun")
    }
}

impl SharedRun {
    /// Reads the run's answer; the first reader's `start` makes it.
    pub(crate) fn read(
        &self,
        schema: SchemaRef,
        context: Arc<TaskContext>,
        start: impl FnOnce() -> Result<SendableRecordBatchStream>,
    ) -> Result<SendableRecordBatchStream> {
        let outcome = {
            let mut run = self.run.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match &*run {
                Some(outcome) => outcome.clone(),
                None => {
                    let rows = start()?;
                    let outcome = materialize(rows, context).map(|rows| rows.map_err(Arc::new)).boxed().shared();
                    run.insert(outcome).clone()
                }
            }
        };
        let rows = async move { outcome.await.map(replay).map_err(DataFusionError::Shared) };
        let rows = futures::stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// Drains a stream into memory, and into a file from the batch on for which the pool has no room.
async fn materialize(mut rows: SendableRecordBatchStream, context: Arc<TaskContext>) -> Result<Arc<Materialized>> {
    let memory = MemoryConsumer::new("shared relation").with_can_spill(true).register(context.memory_pool());
    let schema = rows.schema();
    let mut batches = Vec::new();
    let mut spill: Option<Spill> = None;
    while let Some(batch) = rows.next().await.transpose()? {
        if spill.is_none() && memory.try_grow(batch.get_array_memory_size()).is_ok() {
            batches.push(batch);
            continue;
        }
        if spill.is_none() {
            let file = context.runtime_env().disk_manager.create_tmp_file("shared relation")?;
            let writer = StreamWriter::try_new(file.open_writer()?, &schema)?;
            spill = Some((file, writer));
        }
        if let Some((_, writer)) = &mut spill {
            writer.write(&batch)?;
        }
    }
    let spilled = match spill {
        Some((file, mut writer)) => {
            writer.finish()?;
            writer.into_inner()?.finish()?;
            Some(file)
        }
        None => None,
    };
    Ok(Arc::new(Materialized { batches, spilled, _memory: memory }))
}

fn replay(rows: Arc<Materialized>) -> impl futures::Stream<Item = Result<RecordBatch>> {
    let spilled = match &rows.spilled {
        None => futures::stream::empty().boxed(),
        Some(file) => match file.read_stream() {
            Err(error) => futures::stream::iter([Err(error)]).boxed(),
            Ok(bytes) => decode(bytes).boxed(),
        },
    };
    let in_memory = (0..rows.batches.len()).map(move |i| Ok(rows.batches[i].clone()));
    futures::stream::iter(in_memory).chain(spilled)
}

/// The batches in the bytes of a spill file, as they come.
fn decode(
    bytes: impl futures::Stream<Item = Result<impl Into<Buffer>>> + Unpin,
) -> impl futures::Stream<Item = Result<RecordBatch>> {
    let start = (bytes, StreamDecoder::new(), Buffer::default());
    futures::stream::try_unfold(start, |(mut bytes, mut decoder, mut buffer)| async move {
        loop {
            if let Some(batch) = decoder.decode(&mut buffer)? {
                return Ok(Some((batch, (bytes, decoder, buffer))));
            }
            match bytes.next().await.transpose()? {
                Some(more) => buffer = more.into(),
                None => return Ok(None),
            }
        }
    })
}
