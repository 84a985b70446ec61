//! The graph of an input that is larger than memory: its rows go into a file as they come, and its adjacency lists into another one.

use std::fs::File;
use std::sync::Arc;

use arrow::array::RecordBatch;
use bonnet_columns::{KeyColumn, KeyIndex, KeyStream};
use bonnet_graph::{EdgeFile, EdgeFileError, EmptyFile, Monitor, Reservation, Stopped};
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use futures::StreamExt;

use crate::error::{execution_error, stopped};
use crate::host::Host;
use crate::runs::input_graph::{InputGraph, key_column, known};
use crate::runs::run::Run;

/// The bytes that a graph in memory takes for each of its rows, beside the rows: both keys, arc, lists as they are made.
const ROW: usize = 64;

/// What was read of an input of edges.
pub(crate) enum Edges {
    /// Its rows, in one batch at least.
    Rows(Vec<RecordBatch>),
    /// The graph of its columns `src` and `dst`, without the rows.
    Graph(InputGraph),
}

impl Run {
    /// The edges of the first input: its rows, whose memory is reserved until the run ends, or, where there is not the memory for these
    /// and for the graph that is made of them, the graph; with the input `nodes`, of whose nodes `lacking` says what to do about an edge
    /// that ends at none.
    pub(crate) fn edges(&mut self, function: &str, nodes: Option<usize>, lacking: &str) -> Result<Edges> {
        let Some(mut stream) = self.take(0)? else { return Ok(Edges::Rows(Vec::new())) };
        let schema = stream.schema();
        let mut small = self.coalescer(Arc::clone(&schema));
        let mut held = Held::default();
        let mut spilled = None;
        loop {
            let batch = self.wait(async { stream.next().await.transpose() })?;
            let is_last = batch.is_none();
            match batch {
                Some(batch) => small.push_batch(batch)?,
                None => small.finish_buffered_batch()?,
            }
            while let Some(batch) = small.next_completed_batch() {
                if let Some(spilled) = &mut spilled {
                    Spilled::add(spilled, &batch)?;
                } else if !held.add(batch, self.host())? {
                    spilled = Some(held.spill(self, function, nodes, lacking)?);
                }
            }
            if is_last {
                break;
            }
        }
        drop(stream);
        match spilled {
            Some(spilled) => Ok(Edges::Graph(spilled.graph(self)?)),
            None if held.batches.is_empty() => Ok(Edges::Rows(vec![RecordBatch::new_empty(schema)])),
            None => Ok(Edges::Rows(held.batches)),
        }
    }

    /// A temporary file of this query. Where the system lets an open file lose its name it has none, so that nothing is left of it
    /// however the process ends.
    fn temporary_file(&self, what: &str) -> Result<EmptyFile> {
        let file = self.context.runtime_env().disk_manager.create_tmp_file(what)?;
        let path = file.path().ok_or_else(|| internal_datafusion_err!("{what}: a temporary file without a path"))?;
        let (writer, reader) = (Box::new(file.open_writer()?), File::open(path)?);
        let _ = std::fs::remove_file(path);
        Ok(EmptyFile { writer, reader, keep: Box::new(file) })
    }
}

/// Rows in memory.
#[derive(Default)]
struct Held {
    batches: Vec<RecordBatch>,
    /// Batches are often slices of the same buffers.
    counter: RecordBatchMemoryCounter,
    reserved: usize,
    rows: usize,
}

impl Held {
    /// Adds a batch, and says whether there is the memory for it and for the graph of all rows so far.
    fn add(&mut self, batch: RecordBatch, host: &Host) -> Result<bool> {
        self.rows += batch.num_rows();
        let bytes = self.counter.count_batch(&batch);
        self.batches.push(batch);
        match host.reserve(bytes) {
            Ok(()) => self.reserved += bytes,
            Err(Stopped::OutOfMemory(_)) => return Ok(false),
            Err(reason) => return Err(stopped(reason)),
        }
        match Reservation::new(host, ROW * self.rows) {
            Ok(_) => Ok(true),
            Err(Stopped::OutOfMemory(_)) => Ok(false),
            Err(reason) => Err(stopped(reason)),
        }
    }

    /// Writes the rows away.
    fn spill(&mut self, run: &mut Run, function: &str, nodes: Option<usize>, lacking: &str) -> Result<Spilled> {
        let file = run.temporary_file(&format!("{function}: its edges"))?;
        let (edges, host) = (EdgeFile::new(file), Arc::clone(&run.host));
        run.host.release(self.reserved);
        let keys = match nodes {
            None => Keys::Stream(KeyStream::default()),
            Some(nodes) => {
                let batches = run.collect(nodes)?;
                let nodes = key_column(&batches, "node", "nodes.node")?;
                host.reserve(24 * nodes.len()).map_err(stopped)?;
                Keys::Nodes { index: KeyIndex::new(&[("nodes.node", &nodes)])?, nodes, lacking: lacking.to_owned() }
            }
        };
        let mut spilled = Spilled { function: function.to_owned(), edges, keys, reserved: 0, host };
        for batch in std::mem::take(&mut self.batches) {
            spilled.add(&batch)?;
        }
        Ok(spilled)
    }
}

/// Rows in a file.
struct Spilled {
    function: String,
    edges: EdgeFile,
    keys: Keys,
    /// The bytes of the keys that come with the edges.
    reserved: usize,
    host: Arc<Host>,
}

/// The nodes of rows in a file.
enum Keys {
    /// The endpoints, as they come.
    Stream(KeyStream),
    /// Those of a relation, and what to do about an endpoint that is none of them.
    Nodes { index: KeyIndex, nodes: KeyColumn, lacking: String },
}

impl Spilled {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let column = |name: &str| {
            let column = batch.column_by_name(name).ok_or_else(|| internal_datafusion_err!("no column {name}"))?;
            KeyColumn::new(column, &format!("edges.{name}"))
        };
        let (src, dst) = (column("src")?, column("dst")?);
        let (starts, ends) = match &mut self.keys {
            Keys::Stream(keys) => (keys.marks(&src)?, keys.marks(&dst)?),
            Keys::Nodes { index, nodes, lacking } => {
                let numbers = (index.numbers(&src), index.numbers(&dst));
                if numbers.0.iter().chain(&numbers.1).any(Option::is_none) {
                    known(&self.function, index, nodes, (&src, &dst), lacking)?;
                }
                numbers
            }
        };
        for ends in starts.into_iter().zip(ends) {
            if let (Some(u), Some(v)) = ends
                && u != v
            {
                self.edges.push((u, v)).map_err(|error| file_error(&self.function, &error))?;
            }
        }
        if let Keys::Stream(keys) = &self.keys {
            let bytes = keys.bytes();
            self.host.reserve(bytes.saturating_sub(self.reserved)).map_err(stopped)?;
            self.reserved = self.reserved.max(bytes);
        }
        Ok(())
    }

    /// The graph of all rows.
    fn graph(self, run: &Run) -> Result<InputGraph> {
        let Self { function, edges, keys, reserved, host } = self;
        let lists = run.temporary_file(&format!("{function}: its adjacency lists"))?;
        let (keys, marks) = match keys {
            Keys::Nodes { index, .. } => (index, None),
            Keys::Stream(keys) => {
                let numbered = keys.finish_bytes();
                host.reserve(numbered).map_err(stopped)?;
                let (keys, marks) = keys.finish()?;
                // Of both the keys are left, 8 bytes each, and the marks.
                host.release((reserved + numbered).saturating_sub(keys.bytes() + marks.bytes()));
                (keys, Some(marks))
            }
        };
        let n = keys.len();
        let graph = run.install(|| match &marks {
            Some(marks) => edges.into_graph(n, |mark| marks.number(mark), lists, &*host),
            None => edges.into_graph(n, |number| number, lists, &*host),
        });
        let graph = graph.map_err(|error| match error {
            EdgeFileError::File(error) => file_error(&function, &error),
            EdgeFileError::Stopped(reason) => stopped(reason),
        })?;
        host.release(marks.map_or(0, |marks| marks.bytes()));
        InputGraph::of_file(keys, graph, &host)
    }
}

fn file_error(function: &str, error: &std::io::Error) -> DataFusionError {
    execution_error(format!(
        "{function}: the edges are larger than the memory limit, and the temporary file they go into fails: {error}. Raise the memory \
         limit, or give the file room: SET datafusion.runtime.temp_directory, SET datafusion.runtime.max_temp_directory_size"
    ))
}
