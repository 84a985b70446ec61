//! Which triangle ends which cycle of a filtered clique complex.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::filtration::FilteredEdge;

/// For each cycle, begun by the edge of this rank, the rank of the edge with which the triangle enters that ends it;
/// `None` for a cycle that never ends.
///
/// `edges` are those of a simple graph on `n` vertices in the order in which they enter, their position is their rank,
/// and `cycles` are the ranks of those that join no two components, ascending. A triangle enters with its last edge.
///
/// Homology over the field of two elements, by annotations (Busaryev, Cabello, Chen, Dey, Wang, Annotating simplices with
/// a homology basis, 2012): each edge has the set of cycles that it stands for. An edge that closes triangles as it enters
/// stands for what the two others of the first one do, and its cycle is ended at once; only an edge whose endpoints have no
/// common neighbour yet begins a cycle that lasts. Every further triangle says that the sum of its three edges is nothing:
/// the youngest cycle of the sum ends there, and is the sum of the others from then on. That is put into an edge's
/// annotation when the edge is next used. So the many triangles of a dense graph are passed over, not reduced.
///
/// O(m d) time for degrees about d to see the triangles, none of which is stored, and that of the annotations, at worst cubic
/// in the number of edges. 20 m bytes, and the annotations, reserved as they grow.
pub(crate) fn kill_cycles(
    n: usize,
    edges: &[FilteredEdge],
    cycles: &[u32],
    monitor: &dyn Monitor,
) -> Result<Vec<Option<u32>>, Stopped> {
    let _reservation =
        Reservation::new(monitor, 16 * n + (16 + size_of::<Annotation>()) * edges.len() + 16 * cycles.len())?;
    let graph = RankedGraph::new(n, edges);
    match cycles.len() <= FEW {
        true => Ok(kill_few_cycles(&graph, cycles)),
        false => kill_many_cycles(&graph, cycles, monitor),
    }
}

/// [`kill_cycles`] for any number of cycles.
fn kill_many_cycles(graph: &RankedGraph, cycles: &[u32], monitor: &dyn Monitor) -> Result<Vec<Option<u32>>, Stopped> {
    let mut basis = Basis::new(graph.edges.len(), cycles.len(), monitor)?;
    let mut killers = vec![None; cycles.len()];
    // The position in `cycles` of each cycle that lasts.
    let mut positions: Vec<u32> = Vec::new();
    monitor.expect(cycles.len() as u64);
    let mut seen = 0usize;
    for (i, &edge) in cycles.iter().enumerate() {
        let mut is_first = true;
        let alone = basis.alive == 0;
        let mut stopped = Ok(());
        graph.triangles_closed(edge, |f, g| {
            seen += 1;
            if seen.is_multiple_of(4096) {
                stopped = monitor.check();
            }
            if is_first {
                is_first = false;
                killers[i] = Some(edge);
                if !alone {
                    let sum = basis.sum(&[f, g]);
                    basis.annotate(edge, sum);
                }
            } else {
                let sum = basis.sum(&[edge, f, g]);
                if let Some(ended) = basis.end_youngest(sum) {
                    killers[positions[ended as usize] as usize] = Some(edge);
                }
            }
            // Where no cycle is alive all triangles are the same.
            stopped.is_err() || basis.alive == 0
        });
        stopped?;
        if is_first {
            positions.push(i as u32);
            basis.begin(edge);
        }
        basis.reserve()?;
        if i.is_multiple_of(1024) {
            monitor.check()?;
            monitor.advance(1024.min(cycles.len() - i) as u64);
        }
    }
    Ok(killers)
}

/// So many cycles fit into a word.
const FEW: usize = 64;

/// [`kill_cycles`] where the cycles of an edge fit into a word, the bit of a younger cycle above those of older ones. No
/// annotation waits to be refreshed: a cycle that ends is replaced everywhere. O(m) time beyond seeing the triangles.
fn kill_few_cycles(graph: &RankedGraph, cycles: &[u32]) -> Vec<Option<u32>> {
    let mut killers = vec![None; cycles.len()];
    let mut annotations = vec![0u64; graph.edges.len()];
    let mut alive = 0u64;
    for (i, &edge) in cycles.iter().enumerate() {
        let mut is_first = true;
        graph.triangles_closed(edge, |f, g| {
            let others = annotations[f as usize] ^ annotations[g as usize];
            if is_first {
                is_first = false;
                killers[i] = Some(edge);
                annotations[edge as usize] = others;
            } else {
                let sum = annotations[edge as usize] ^ others;
                if sum != 0 {
                    let youngest = sum.ilog2();
                    killers[youngest as usize] = Some(edge);
                    alive ^= 1 << youngest;
                    annotations.iter_mut().filter(|it| **it >> youngest & 1 == 1).for_each(|it| *it ^= sum);
                }
            }
            // Where no cycle is alive all triangles are the same.
            alive == 0
        });
        if is_first {
            alive |= 1 << i;
            annotations[edge as usize] = 1 << i;
        }
    }
    killers
}

/// A graph with the rank of each edge in the adjacency lists.
struct RankedGraph<'a> {
    edges: &'a [FilteredEdge],
    offsets: Vec<usize>,
    /// Neighbour and rank of the edge to it; ascending by neighbour in each list.
    adjacent: Vec<(u32, u32)>,
}

impl<'a> RankedGraph<'a> {
    fn new(n: usize, edges: &'a [FilteredEdge]) -> Self {
        let mut offsets = vec![0usize; n + 1];
        for edge in edges {
            offsets[edge.ends.0 as usize + 1] += 1;
            offsets[edge.ends.1 as usize + 1] += 1;
        }
        for v in 0..n {
            offsets[v + 1] += offsets[v];
        }
        let mut next = offsets.clone();
        let mut adjacent = vec![(0, 0); 2 * edges.len()];
        for (rank, edge) in edges.iter().enumerate() {
            let (u, v) = edge.ends;
            for (from, to) in [(u, v), (v, u)] {
                adjacent[next[from as usize]] = (to, rank as u32);
                next[from as usize] += 1;
            }
        }
        for v in 0..n {
            adjacent[offsets[v]..offsets[v + 1]].sort_unstable();
        }
        Self { edges, offsets, adjacent }
    }

    fn list(&self, v: u32) -> &[(u32, u32)] {
        &self.adjacent[self.offsets[v as usize]..self.offsets[v as usize + 1]]
    }

    /// Calls `visit` with the two other edges of each triangle of which `edge` is the last, in the order of the opposite
    /// vertex, until it says that that was enough.
    fn triangles_closed(&self, edge: u32, mut visit: impl FnMut(u32, u32) -> bool) {
        let (u, v) = self.edges[edge as usize].ends;
        let (mut a, mut b) = (self.list(u), self.list(v));
        while let (Some(&(x, f)), Some(&(y, g))) = (a.first(), b.first()) {
            match x.cmp(&y) {
                std::cmp::Ordering::Less => a = skip_to(a, y),
                std::cmp::Ordering::Greater => b = skip_to(b, x),
                std::cmp::Ordering::Equal => {
                    if f < edge && g < edge && visit(f, g) {
                        return;
                    }
                    (a, b) = (&a[1..], &b[1..]);
                }
            }
        }
    }
}

/// The rest of a list from the first neighbour on that is not before `least`: in doubling steps, for lists of very
/// different lengths.
fn skip_to(list: &[(u32, u32)], least: u32) -> &[(u32, u32)] {
    let mut step = 1;
    while step < list.len() && list[step].0 < least {
        step *= 2;
    }
    let within = &list[step / 2..list.len().min(step + 1)];
    &list[step / 2 + within.partition_point(|&(v, _)| v < least)..]
}

/// Cycles of which an edge is the sum, the youngest first.
#[derive(Debug, Clone, Default)]
struct Annotation {
    cycles: Vec<u32>,
    /// The number of cycles that had ended when none of these had.
    ended: u32,
}

/// The cycles that last, numbered by age, and the annotations of edges.
struct Basis<'a> {
    annotations: Vec<Annotation>,
    /// For a cycle that has ended the older ones of which it is the sum.
    sums: Vec<Option<Box<[u32]>>>,
    alive: usize,
    ended: u32,
    scratch: Scratch,
    /// The numbers held in lists.
    held: usize,
    reservation: Reservation<'a>,
}

impl<'a> Basis<'a> {
    fn new(n_edges: usize, most: usize, monitor: &'a dyn Monitor) -> Result<Self, Stopped> {
        Ok(Self {
            annotations: vec![Annotation::default(); n_edges],
            sums: Vec::new(),
            alive: 0,
            ended: 0,
            scratch: Scratch::new(most),
            held: 0,
            reservation: Reservation::new(monitor, 0)?,
        })
    }

    /// Begins a cycle with an edge.
    fn begin(&mut self, edge: u32) {
        let cycle = self.sums.len() as u32;
        self.sums.push(None);
        self.alive += 1;
        self.annotate(edge, vec![cycle]);
    }

    /// Says what an edge is the sum of.
    fn annotate(&mut self, edge: u32, cycles: Vec<u32>) {
        let annotation = &mut self.annotations[edge as usize];
        self.held = self.held + cycles.len() - annotation.cycles.len();
        *annotation = Annotation { cycles, ended: self.ended };
    }

    /// The sum of several edges, in cycles that are alive.
    fn sum(&mut self, edges: &[u32]) -> Vec<u32> {
        // All before any: the set that refreshes one holds nothing else.
        edges.iter().for_each(|&edge| self.refresh(edge));
        edges.iter().for_each(|&edge| self.scratch.toggle(&self.annotations[edge as usize].cycles));
        self.scratch.take(&self.sums)
    }

    /// Puts the sums of cycles that have ended into an edge's annotation.
    fn refresh(&mut self, edge: u32) {
        let annotation = &mut self.annotations[edge as usize];
        if annotation.ended == self.ended {
            return;
        }
        annotation.ended = self.ended;
        if annotation.cycles.iter().any(|&cycle| self.sums[cycle as usize].is_some()) {
            self.scratch.toggle(&annotation.cycles);
            let cycles = self.scratch.take(&self.sums);
            self.annotate(edge, cycles);
        }
    }

    /// Ends the youngest of some cycles that are alive: it is the sum of the others.
    fn end_youngest(&mut self, cycles: Vec<u32>) -> Option<u32> {
        let (&youngest, others) = cycles.split_first()?;
        self.held += others.len();
        self.sums[youngest as usize] = Some(others.into());
        self.alive -= 1;
        self.ended += 1;
        Some(youngest)
    }

    /// Reserves the memory that the lists have taken.
    fn reserve(&mut self) -> Result<(), Stopped> {
        const STEP: usize = 1 << 20;
        let bytes = 4 * self.held;
        if bytes > self.reservation.bytes() {
            self.reservation.grow((bytes - self.reservation.bytes()).max(STEP))?;
        }
        Ok(())
    }
}

/// A set of cycles to add to: bits, and above them bits that say which words have any.
struct Scratch {
    words: Vec<u64>,
    used: Vec<u64>,
}

impl Scratch {
    fn new(n: usize) -> Self {
        Self { words: vec![0; n / 64 + 1], used: vec![0; n / 4096 + 1] }
    }

    fn toggle(&mut self, cycles: &[u32]) {
        for &cycle in cycles {
            let word = cycle as usize / 64;
            self.words[word] ^= 1 << (cycle % 64);
            self.used[word / 64] |= 1 << (word % 64);
        }
    }

    /// Empties the set: its cycles, those that have ended replaced by their sums, the youngest first.
    fn take(&mut self, sums: &[Option<Box<[u32]>>]) -> Vec<u32> {
        let mut cycles = Vec::new();
        for top in (0..self.used.len()).rev() {
            while self.used[top] != 0 {
                let word = 64 * top + self.used[top].ilog2() as usize;
                if self.words[word] == 0 {
                    self.used[top] ^= 1 << (word % 64);
                    continue;
                }
                let cycle = 64 * word as u32 + self.words[word].ilog2();
                self.words[word] ^= 1 << (cycle % 64);
                // What it is the sum of is older: it stands further down.
                match &sums[cycle as usize] {
                    Some(others) => self.toggle(others),
                    None => cycles.push(cycle),
                }
            }
        }
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn few_cycles_end_as_many_do(pairs in proptest::collection::vec((0u32..14, 0u32..14), 0..80)) {
            let mut seen = std::collections::HashSet::new();
            let pairs = pairs.into_iter().map(|(u, v)| (u.min(v), u.max(v)));
            let edges: Vec<FilteredEdge> = pairs
                .filter(|&(u, v)| u != v && seen.insert((u, v)))
                .zip(0u32..)
                .map(|(ends, rank)| FilteredEdge { ends, value: f64::from(rank) })
                .collect();
            let mut root: Vec<u32> = (0..14).collect();
            let mut cycles = Vec::new();
            for (edge, rank) in edges.iter().zip(0..) {
                let (u, v) = (root[edge.ends.0 as usize], root[edge.ends.1 as usize]);
                match u == v {
                    true => cycles.push(rank),
                    false => root.iter_mut().filter(|root| **root == u).for_each(|root| *root = v),
                }
            }
            prop_assume!(cycles.len() <= FEW);
            let graph = RankedGraph::new(14, &edges);
            prop_assert_eq!(kill_few_cycles(&graph, &cycles), kill_many_cycles(&graph, &cycles, &Unmonitored).unwrap());
        }
    }
}
