//! A growing list of edges that asks for its memory first.

use bonnet_graph::{Monitor, Reservation, Stopped};

/// Edges between two checks of the monitor: well under a millisecond of work.
const BLOCK: usize = 1 << 15;

/// A list of edges under a monitor.
pub(crate) struct EdgeList<'a> {
    edges: Vec<(u32, u32)>,
    reservation: Reservation<'a>,
    monitor: &'a dyn Monitor,
}

impl<'a> EdgeList<'a> {
    /// An empty list with capacity for about `expected` edges.
    pub fn with_room_for(expected: u128, monitor: &'a dyn Monitor) -> Result<Self, Stopped> {
        let mut list = Self { edges: Vec::new(), reservation: Reservation::new(monitor, 0)?, monitor };
        list.grow(usize::try_from(expected).unwrap_or(usize::MAX))?;
        Ok(list)
    }

    fn grow(&mut self, more: usize) -> Result<(), Stopped> {
        allocate(&mut self.edges, more, &mut self.reservation)
    }

    /// Adds the edge between two different nodes.
    pub fn push(&mut self, u: u32, v: u32) -> Result<(), Stopped> {
        if self.edges.len() == self.edges.capacity() {
            self.grow((self.edges.len() / 2).max(16))?;
        }
        self.edges.push((u.min(v), u.max(v)));
        if self.edges.len().is_multiple_of(BLOCK) {
            self.monitor.check()?;
        }
        Ok(())
    }

    /// The edges so far, in the order in which they came.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// The edges, which came in ascending order.
    pub fn into_vec(self) -> Vec<(u32, u32)> {
        debug_assert!(self.edges.is_sorted());
        self.edges
    }

    /// The edges in ascending order: a counting sort by the first node, then each row by itself. O(n + m log d) time for
    /// a largest row d, twice the memory.
    pub fn into_sorted(mut self, n_nodes: usize) -> Result<Vec<(u32, u32)>, Stopped> {
        let mut starts: Vec<usize> = zeros(n_nodes + 1, &mut self.reservation)?;
        let mut sorted: Vec<(u32, u32)> = zeros(self.edges.len(), &mut self.reservation)?;
        for block in self.edges.chunks(BLOCK) {
            self.monitor.check()?;
            block.iter().for_each(|&(u, _)| starts[u as usize + 1] += 1);
        }
        for u in 0..n_nodes {
            starts[u + 1] += starts[u];
        }
        for block in self.edges.chunks(BLOCK) {
            self.monitor.check()?;
            for &(u, v) in block {
                sorted[starts[u as usize]] = (u, v);
                starts[u as usize] += 1;
            }
        }
        // Each start has moved to the end of its row.
        let mut start = 0;
        for (u, &end) in starts[..n_nodes].iter().enumerate() {
            sorted[start..end].sort_unstable();
            start = end;
            if u.is_multiple_of(BLOCK) {
                self.monitor.check()?;
            }
        }
        Ok(sorted)
    }
}

/// Allocates for `more` values, with the memory reserved first; an error where there is none, instead of an abort.
fn allocate<T>(values: &mut Vec<T>, more: usize, reservation: &mut Reservation<'_>) -> Result<(), Stopped> {
    let bytes = more as u128 * size_of::<T>() as u128;
    let refused = || Stopped::OutOfMemory(format!("a graph of this size needs {bytes} bytes, more than there are"));
    reservation.grow(usize::try_from(bytes).map_err(|_| refused())?)?;
    values.try_reserve_exact(more).map_err(|_| refused())
}

/// `n` zeros, reserved first.
pub(crate) fn zeros<T: Clone + Default>(n: usize, reservation: &mut Reservation<'_>) -> Result<Vec<T>, Stopped> {
    let mut values = Vec::new();
    allocate(&mut values, n, reservation)?;
    values.resize(n, T::default());
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn edges_are_turned_and_sorted() {
        let mut list = EdgeList::with_room_for(0, &Unmonitored).unwrap();
        for (u, v) in [(3, 1), (0, 2), (1, 2), (1, 0), (4, 3)] {
            list.push(u, v).unwrap();
        }
        assert_eq!(list.into_sorted(5).unwrap(), [(0, 1), (0, 2), (1, 2), (1, 3), (3, 4)]);
    }

    /// Grants so many bytes and keeps the books.
    struct Limited {
        limit: usize,
        held: AtomicUsize,
    }

    impl Monitor for Limited {
        fn check(&self) -> Result<(), Stopped> {
            Ok(())
        }
        fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
            if self.held.load(Ordering::Relaxed).saturating_add(bytes) > self.limit {
                return Err(Stopped::OutOfMemory("no more".into()));
            }
            self.held.fetch_add(bytes, Ordering::Relaxed);
            Ok(())
        }
        fn release(&self, bytes: usize) {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn memory_is_asked_for_and_given_back() {
        let monitor = Limited { limit: 100_000, held: AtomicUsize::new(0) };
        let mut list = EdgeList::with_room_for(1000, &monitor).unwrap();
        assert_eq!(monitor.held.load(Ordering::Relaxed), 8000);
        let stopped = (1..).find_map(|v| list.push(0, v).err()).unwrap();
        assert_eq!(stopped, Stopped::OutOfMemory("no more".into()));
        assert!(list.as_slice().len() >= 6000, "{}", list.as_slice().len());
        drop(list);
        assert_eq!(monitor.held.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_list_beyond_any_memory_is_an_error() {
        let error = EdgeList::with_room_for(u128::MAX, &Unmonitored).err().unwrap();
        assert!(error.to_string().contains("bytes"), "{error}");
    }
}
