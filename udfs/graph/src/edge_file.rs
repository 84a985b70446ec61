//! Graphs that are larger than memory: their edges in one file, their adjacency lists in another one that is mapped.

use std::any::Any;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::graph::Graph;
use crate::targets::{MappedFile, Targets};
use crate::{Monitor, Reservation, Stopped};

/// The bytes of an edge in the file.
const EDGE: usize = 8;
/// Edges that are read at a time.
const BLOCK: usize = 1 << 16;
/// The least bytes of adjacency lists that are made at a time.
const LEAST: usize = 1 << 20;

/// Why a graph was not made of a file.
#[derive(Debug, thiserror::Error)]
pub enum EdgeFileError {
    /// A file cannot be written or read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The host stopped it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// A temporary file that is empty.
pub struct EmptyFile {
    /// What adds to it.
    pub writer: Box<dyn Write + Send>,
    /// What reads it.
    pub reader: File,
    /// What removes it when nobody needs it any more.
    pub keep: Box<dyn Any + Send + Sync>,
}

/// The edges of a graph in a file, in the order in which they came.
///
/// Holds a buffer of half a megabyte; the file has 8 bytes an edge.
pub struct EdgeFile {
    writer: BufWriter<Box<dyn Write + Send>>,
    reader: File,
    _keep: Box<dyn Any + Send + Sync>,
    edges: usize,
}

impl EdgeFile {
    /// No edges yet.
    pub fn new(file: EmptyFile) -> Self {
        let writer = BufWriter::with_capacity(EDGE * BLOCK, file.writer);
        Self { writer, reader: file.reader, _keep: file.keep, edges: 0 }
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.edges
    }

    /// Whether there are no edges.
    pub fn is_empty(&self) -> bool {
        self.edges == 0
    }

    /// Adds an edge, whose endpoints are numbers that mean something to the caller.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn push(&mut self, (u, v): (u32, u32)) -> io::Result<()> {
        self.edges += 1;
        self.writer.write_all(&u.to_ne_bytes())?;
        self.writer.write_all(&v.to_ne_bytes())
    }

    /// The simple graph on `n` nodes under the edges, as [`Graph::from_edges`] makes it, with its adjacency lists in a file of their
    /// own, which is mapped: 4 bytes for each of both directions of an edge. `number` says which node an endpoint is.
    ///
    /// The edges are read once to count degrees, and once for each part of the lists, which are made in memory: as much as the
    /// monitor gives, at least a megabyte. O(m) a reading, `8 n` bytes beside a part.
    ///
    /// # Errors
    /// If a file cannot be written or read, or the monitor stops it.
    ///
    /// # Panics
    /// If a node is not below `n`.
    pub fn into_graph(
        mut self,
        n: usize,
        number: impl Fn(u32) -> u32 + Sync,
        lists: EmptyFile,
        monitor: &dyn Monitor,
    ) -> Result<Graph, EdgeFileError> {
        self.writer.flush()?;
        let _nodes = Reservation::new(monitor, 8 * n + 4 * EDGE * BLOCK)?;
        // Degrees at first, then the lengths of lists, at last where these start.
        let mut offsets = vec![0usize; n + 1];
        let share = n.div_ceil(rayon::current_num_threads()).max(1);
        self.scan((n, &number), monitor, |edges| {
            offsets[..n].par_chunks_mut(share).enumerate().for_each(|(part, degrees)| {
                let first = part * share;
                for &(u, v) in edges {
                    for end in [u, v] {
                        if let Some(degree) = (end as usize).checked_sub(first).and_then(|at| degrees.get_mut(at)) {
                            *degree += 1;
                        }
                    }
                }
            });
        })?;
        let mut writer = BufWriter::with_capacity(EDGE * BLOCK, lists.writer);
        let (mut start, mut room) = (0, 4 * offsets.iter().sum::<usize>());
        while start < n {
            let (nodes, _memory) = part(&offsets[..n], start, &mut room, monitor)?;
            let mut pieces = Lists::pieces(&offsets, nodes.clone());
            self.scan((n, &number), monitor, |edges| pieces.par_iter_mut().for_each(|piece| piece.add(edges)))?;
            let mut lengths = Vec::with_capacity(pieces.len());
            let mut left = &mut offsets[nodes.clone()];
            for piece in &pieces {
                let (own, others) = left.split_at_mut(piece.nodes.len());
                lengths.push(own);
                left = others;
            }
            pieces.par_iter_mut().zip(lengths).try_for_each(|(piece, lengths)| piece.finish(lengths, monitor))?;
            for piece in &pieces {
                for targets in piece.targets.chunks(BLOCK) {
                    monitor.check()?;
                    targets.iter().try_for_each(|target| writer.write_all(&target.to_ne_bytes()))?;
                }
            }
            start = nodes.end;
        }
        let mut sum = 0;
        offsets.iter_mut().for_each(|entry| sum += std::mem::replace(entry, sum));
        writer.flush()?;
        Ok(Graph::of_rows(offsets, Targets::File(Arc::new(MappedFile::new(&lists.reader, lists.keep)?))))
    }

    /// Reads all edges but loops, some at a time.
    fn scan(
        &mut self,
        (n, number): (usize, &(impl Fn(u32) -> u32 + Sync)),
        monitor: &dyn Monitor,
        mut visit: impl FnMut(&[(u32, u32)]),
    ) -> Result<(), EdgeFileError> {
        self.reader.seek(SeekFrom::Start(0))?;
        let (mut bytes, mut edges) = (vec![0; EDGE * BLOCK], Vec::with_capacity(BLOCK));
        monitor.expect(self.edges as u64);
        let mut left = self.edges;
        while left > 0 {
            monitor.check()?;
            let count = left.min(BLOCK);
            let bytes = &mut bytes[..EDGE * count];
            self.reader.read_exact(bytes)?;
            let edge = |entry: &[u8]| {
                let end =
                    |at: usize| number(u32::from_ne_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]));
                (end(0), end(4))
            };
            bytes.par_chunks_exact(EDGE).with_min_len(1 << 12).map(edge).collect_into_vec(&mut edges);
            assert!(edges.iter().all(|&(u, v)| (u.max(v) as usize) < n), "a node beyond the {n} of the graph");
            edges.retain(|(u, v)| u != v);
            visit(&edges);
            monitor.advance(count as u64);
            left -= count;
        }
        Ok(())
    }
}

/// The nodes from `start` on whose lists have room together, and the memory of these; `room` becomes less where it is not there.
fn part<'a>(
    degrees: &[usize],
    start: usize,
    room: &mut usize,
    monitor: &'a dyn Monitor,
) -> Result<(Range<usize>, Reservation<'a>), Stopped> {
    loop {
        let (mut end, mut bytes) = (start, 0);
        while end < degrees.len() && (end == start || bytes + 4 * degrees[end] <= *room) {
            bytes += 4 * degrees[end];
            end += 1;
        }
        match Reservation::new(monitor, bytes + 16 * (end - start)) {
            Err(Stopped::OutOfMemory(_)) if *room > LEAST => *room /= 2,
            reservation => return Ok((start..end, reservation?)),
        }
    }
}

/// The adjacency lists of some nodes, which one thread fills.
struct Lists {
    nodes: Range<usize>,
    targets: Vec<u32>,
    /// Where the list of each node has come to.
    ends: Vec<usize>,
}

impl Lists {
    /// Those of some nodes in pieces of about the same length, one a thread.
    fn pieces(degrees: &[usize], nodes: Range<usize>) -> Vec<Self> {
        let all: usize = degrees[nodes.clone()].iter().sum();
        let goal = all.div_ceil(rayon::current_num_threads()).max(1);
        let mut pieces = Vec::new();
        let (mut first, mut sum, mut ends) = (nodes.start, 0, Vec::new());
        for v in nodes.clone() {
            ends.push(sum);
            sum += degrees[v];
            if sum >= goal || v + 1 == nodes.end {
                pieces.push(Self { nodes: first..v + 1, targets: vec![0; sum], ends: std::mem::take(&mut ends) });
                (first, sum) = (v + 1, 0);
            }
        }
        pieces
    }

    /// Adds both directions of edges.
    fn add(&mut self, edges: &[(u32, u32)]) {
        for &(u, v) in edges {
            for (from, to) in [(u, v), (v, u)] {
                let place = (from as usize).checked_sub(self.nodes.start);
                if let Some(end) = place.and_then(|at| self.ends.get_mut(at)) {
                    self.targets[*end] = to;
                    *end += 1;
                }
            }
        }
    }

    /// Sorts each list, leaves repeats out, and says how long each is in `lengths`.
    fn finish(&mut self, lengths: &mut [usize], monitor: &dyn Monitor) -> Result<(), Stopped> {
        let (mut start, mut kept, mut checked) = (0, 0, 0);
        for (&end, length) in self.ends.iter().zip(lengths) {
            if end - checked >= BLOCK {
                monitor.check()?;
                checked = end;
            }
            self.targets[start..end].sort_unstable();
            let first = kept;
            for at in start..end {
                let target = self.targets[at];
                if kept == first || self.targets[kept - 1] != target {
                    self.targets[kept] = target;
                    kept += 1;
                }
            }
            *length = kept - first;
            start = end;
        }
        self.targets.truncate(kept);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::Unmonitored;

    fn empty() -> EmptyFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let writer = Box::new(file.as_file().try_clone().unwrap());
        EmptyFile { writer, reader: file.reopen().unwrap(), keep: Box::new(file) }
    }

    fn of_file(n: usize, edges: &[(u32, u32)], monitor: &dyn Monitor) -> Result<Graph, EdgeFileError> {
        let mut file = EdgeFile::new(empty());
        edges.iter().for_each(|&edge| file.push(edge).unwrap());
        assert_eq!(file.len(), edges.len());
        file.into_graph(n, |v| v, empty(), monitor)
    }

    /// A monitor with so much memory.
    struct Room {
        left: AtomicUsize,
        readings: AtomicUsize,
    }

    impl Monitor for Room {
        fn check(&self) -> Result<(), Stopped> {
            Ok(())
        }

        fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
            let taken = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(bytes));
            taken.map(drop).map_err(|left| Stopped::OutOfMemory(format!("{left} bytes are left")))
        }

        fn release(&self, bytes: usize) {
            self.left.fetch_add(bytes, Ordering::SeqCst);
        }

        fn expect(&self, _: u64) {
            self.readings.fetch_add(1, Ordering::SeqCst);
        }

        fn advance(&self, _: u64) {}
    }

    proptest! {
        #[test]
        fn it_is_the_graph_of_the_edges_in_memory(
            edges in proptest::collection::vec((0u32..40, 0u32..40), 0..300), threads in 1usize..4,
        ) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| of_file(40, &edges, &Unmonitored)).unwrap();
            prop_assert_eq!(found, Graph::from_edges(40, &edges));
        }
    }

    #[test]
    fn lists_are_made_in_parts_where_there_is_no_room_for_all() {
        // 2 * 10^6 arcs are 8 MB of lists; nodes and blocks are 2.1 MB beside them.
        let n = 1000;
        let edges: Vec<(u32, u32)> = (0..1_000_000u32).map(|i| (i % n, (i / n * 7 + i * 13) % n)).collect();
        let whole = Graph::from_edges(n as usize, &edges);
        for (bytes, readings) in [(64 << 20, 2), (5 << 20, 5)] {
            let room = Room { left: AtomicUsize::new(bytes), readings: AtomicUsize::default() };
            assert_eq!(of_file(n as usize, &edges, &room).unwrap(), whole);
            assert_eq!(room.readings.into_inner(), readings);
            assert_eq!(room.left.into_inner(), bytes);
        }
        let none = Room { left: AtomicUsize::new(1 << 20), readings: AtomicUsize::default() };
        assert!(matches!(of_file(n as usize, &edges, &none), Err(EdgeFileError::Stopped(Stopped::OutOfMemory(_)))));
    }

    #[test]
    fn endpoints_are_renumbered_and_no_edges_are_a_graph() {
        let mut file = EdgeFile::new(empty());
        [(10, 20), (20, 30), (30, 30)].into_iter().for_each(|edge| file.push(edge).unwrap());
        let graph = file.into_graph(4, |v| v / 10, empty(), &Unmonitored).unwrap();
        assert_eq!(graph, Graph::from_edges(4, &[(1, 2), (2, 3)]));
        assert_eq!(graph.resident_bytes(), 8 * 5);
        assert_eq!(of_file(3, &[], &Unmonitored).unwrap(), Graph::from_edges(3, &[]));
        assert_eq!(of_file(0, &[], &Unmonitored).unwrap(), Graph::from_edges(0, &[]));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        let full = || EmptyFile { writer: Box::new(Full), ..empty() };
        let mut file = EdgeFile::new(full());
        file.push((0, 1)).unwrap();
        let error = file.into_graph(2, |v| v, empty(), &Unmonitored);
        assert!(matches!(error, Err(EdgeFileError::File(_))));
        let mut file = EdgeFile::new(empty());
        file.push((0, 1)).unwrap();
        let error = file.into_graph(2, |v| v, full(), &Unmonitored);
        assert!(matches!(error, Err(EdgeFileError::File(_))));
    }

    /// A device without room.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
