//! The search behind the enumerations: depth first, in pieces of bounded work, in a fixed order on any number of threads.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

/// A node of a search tree: a partial complex.
pub(crate) trait Node: Copy + Send + Sync {
    /// Whether the complex is closed: a result.
    fn complete(&self) -> bool;

    /// Adds the children to the stack, the first of them last.
    fn expand(&self, max_vertices: usize, stack: &mut Vec<Self>);

    /// Adds the complex to the results.
    fn write(&self, found: &mut Complexes);
}

/// Simplicial complexes whose facets all have the same dimension, one after another in flat storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complexes {
    facet_size: usize,
    n_vertices: Vec<u8>,
    ends: Vec<usize>,
    vertices: Vec<u8>,
}

impl Complexes {
    /// No complexes, of facets with so many vertices.
    pub fn new(facet_size: usize) -> Self {
        Self { facet_size, n_vertices: Vec::new(), ends: Vec::new(), vertices: Vec::new() }
    }

    /// The number of complexes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of vertices of a facet.
    pub fn facet_size(&self) -> usize {
        self.facet_size
    }

    /// The number of vertices of complex `i`.
    pub fn n_vertices(&self, i: usize) -> usize {
        usize::from(self.n_vertices[i])
    }

    /// The facets of complex `i` one after another, `facet_size` ascending vertices each, counted from 0, in
    /// lexicographic order.
    pub fn facets(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.vertices[start..self.ends[i]]
    }

    /// Adds a complex.
    pub fn push(&mut self, n_vertices: usize, facets: impl IntoIterator<Item = u8>) {
        self.vertices.extend(facets);
        self.ends.push(self.vertices.len());
        self.n_vertices.push(n_vertices as u8);
    }

    /// Adds all complexes of another list.
    pub fn append(&mut self, other: &Self) {
        let shift = self.vertices.len();
        self.vertices.extend_from_slice(&other.vertices);
        self.ends.extend(other.ends.iter().map(|end| end + shift));
        self.n_vertices.extend_from_slice(&other.n_vertices);
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        self.vertices.capacity() + 8 * self.ends.capacity() + self.n_vertices.capacity()
    }
}

/// A search that stands between two steps: what is yet to come, the next last.
#[derive(Debug, Clone)]
pub(crate) struct Search<N> {
    max_vertices: usize,
    facet_size: usize,
    pending: Vec<Pending<N>>,
}

/// The rest of a search.
#[derive(Debug, Clone)]
enum Pending<N> {
    /// A subtree that nobody has visited.
    Node(N),
    /// Results that wait for those of the subtrees before them.
    Found(Complexes),
}

/// The nodes that one task visits before it gives back the rest of its subtree: a few milliseconds of work.
const TASK_NODES: usize = 8_192;
/// The tasks of one step.
const STEP_TASKS: usize = 64;

impl<N: Node> Search<N> {
    /// A search from these nodes, in this order.
    pub(crate) fn new(max_vertices: usize, facet_size: usize, roots: Vec<N>) -> Self {
        Self { max_vertices, facet_size, pending: roots.into_iter().rev().map(Pending::Node).collect() }
    }

    /// The results of the next piece of work, `None` once there is none left. Results come in the order of one depth-first
    /// search, whatever the number of threads: those of a subtree wait while there is more to visit before it.
    ///
    /// # Errors
    /// When the host wants no answer or grants no memory.
    pub(crate) fn step(&mut self, monitor: &dyn Monitor) -> Result<Option<Complexes>, Stopped> {
        if self.pending.is_empty() {
            return Ok(None);
        }
        let mut next = Vec::new();
        let mut n_tasks = 0;
        while n_tasks < STEP_TASKS
            && let Some(pending) = self.pending.pop()
        {
            n_tasks += usize::from(matches!(pending, Pending::Node(_)));
            next.push(pending);
        }
        let waiting: usize = self.pending.iter().chain(&next).map(Pending::bytes).sum();
        let _reservation = Reservation::new(monitor, waiting + STEP_TASKS * 256 * size_of::<N>())?;
        let visited: Vec<_> = next
            .into_par_iter()
            .with_max_len(1)
            .map(|pending| self.visit(pending, monitor))
            .collect::<Result<_, _>>()?;
        let mut found = Complexes::new(self.facet_size);
        let mut rest: Vec<Pending<N>> = Vec::new();
        for (part, subtrees) in visited {
            match rest.last_mut() {
                None => found.append(&part),
                Some(Pending::Found(before)) => before.append(&part),
                Some(Pending::Node(_)) if !part.is_empty() => rest.push(Pending::Found(part)),
                Some(Pending::Node(_)) => {}
            }
            rest.extend(subtrees.into_iter().rev().map(Pending::Node));
        }
        self.pending.extend(rest.into_iter().rev());
        Ok(Some(found))
    }

    /// The first results of what is pending, and the nodes yet to be visited, the next one last.
    fn visit(&self, pending: Pending<N>, monitor: &dyn Monitor) -> Result<(Complexes, Vec<N>), Stopped> {
        let root = match pending {
            Pending::Found(found) => return Ok((found, Vec::new())),
            Pending::Node(root) => root,
        };
        monitor.check()?;
        let mut found = Complexes::new(self.facet_size);
        let mut stack = vec![root];
        for _ in 0..TASK_NODES {
            let Some(node) = stack.pop() else { break };
            if node.complete() {
                node.write(&mut found);
            } else {
                node.expand(self.max_vertices, &mut stack);
            }
        }
        Ok((found, stack))
    }
}

impl<N> Pending<N> {
    fn bytes(&self) -> usize {
        match self {
            Self::Node(_) => size_of::<Self>(),
            Self::Found(found) => size_of::<Self>() + found.bytes(),
        }
    }
}

/// The positions of the bits of a mask, ascending.
pub(crate) fn bits(mask: u16) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(mask), |rest| Some(rest & (rest - 1)))
        .take_while(|&rest| rest != 0)
        .map(|rest| rest.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facets, SurfaceEnumeration, ThreeManifoldEnumeration, canonical_form, homology, manifold_check};
    use bonnet_graph::Unmonitored;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn all(mut step: impl FnMut() -> Option<Complexes>) -> Complexes {
        let mut all = step().unwrap();
        while let Some(found) = step() {
            all.append(&found);
        }
        all
    }

    #[test]
    fn the_order_is_the_same_on_any_number_of_threads() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut surfaces = SurfaceEnumeration::new(9);
                let mut manifolds = ThreeManifoldEnumeration::new(8);
                (all(|| surfaces.step(&Unmonitored).unwrap()), all(|| manifolds.step(&Unmonitored).unwrap()))
            })
        };
        let one = on(1);
        assert_eq!(one, on(2));
        assert_eq!(one, on(5));
    }

    #[test]
    fn for_each_number_of_vertices_the_order_does_not_depend_on_the_largest() {
        let with = |complexes: &Complexes, n: usize| -> Vec<Vec<u8>> {
            (0..complexes.len())
                .filter(|&i| complexes.n_vertices(i) == n)
                .map(|i| complexes.facets(i).to_vec())
                .collect()
        };
        let [small, large] = [9, 10].map(|n| {
            let mut surfaces = SurfaceEnumeration::new(n);
            all(|| surfaces.step(&Unmonitored).unwrap())
        });
        (4..=9).for_each(|n| assert_eq!(with(&small, n), with(&large, n)));
        let [small, large] = [8, 9].map(|n| {
            let mut manifolds = ThreeManifoldEnumeration::new(n);
            all(|| manifolds.step(&Unmonitored).unwrap())
        });
        (5..=8).for_each(|n| assert_eq!(with(&small, n), with(&large, n)));
    }

    /// Lets a number of checks pass, and counts the bytes that are held.
    struct Patience(AtomicUsize, AtomicUsize);

    impl Monitor for Patience {
        fn check(&self) -> Result<(), Stopped> {
            let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            left.map(drop).map_err(|_| Stopped::Cancelled)
        }

        fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
            self.1.fetch_max(bytes, Ordering::Relaxed);
            Ok(())
        }

        fn release(&self, _: usize) {}
    }

    #[test]
    fn a_search_without_end_can_be_stopped_and_stays_small() {
        let monitor = Patience(AtomicUsize::new(300), AtomicUsize::new(0));
        let mut surfaces = SurfaceEnumeration::new(12);
        let mut n_found = 0;
        let stopped = loop {
            match surfaces.step(&monitor) {
                Ok(found) => n_found += found.unwrap().len(),
                Err(reason) => break reason,
            }
        };
        assert_eq!(stopped, Stopped::Cancelled);
        assert!(n_found > 100);
        assert!(monitor.1.into_inner() < 64 << 20);
    }

    #[test]
    fn bits_of_masks_come_in_order() {
        assert_eq!(bits(0b1000_0000_0001_0110).collect::<Vec<_>>(), [1, 2, 4, 15]);
        assert_eq!(bits(0).count(), 0);
    }

    fn subsets(n: usize, size: u32) -> Vec<u32> {
        (0..1u32 << n).filter(|subset| subset.count_ones() == size).collect()
    }

    fn form(rows: &[Vec<i64>]) -> Vec<Vec<i64>> {
        canonical_form(&Facets::new(rows).unwrap(), &Unmonitored).unwrap().iter().map(<[i64]>::to_vec).collect()
    }

    /// The canonical forms of all closed connected manifolds on exactly n vertices, found with no search: a closed
    /// manifold is a cycle modulo 2, so a sum of boundaries of simplices at vertex 0, and all sums are looked at.
    fn manifolds_among_cycles(n: usize, facet_size: u32) -> HashSet<Vec<Vec<i64>>> {
        let facets = subsets(n, facet_size);
        let those = |keep: &dyn Fn(u32) -> bool| -> u64 {
            facets.iter().enumerate().filter(|&(_, &facet)| keep(facet)).map(|(i, _)| 1 << i).sum()
        };
        let at_zero = subsets(n, facet_size + 1).into_iter().filter(|simplex| simplex & 1 == 1);
        let boundaries: Vec<u64> = at_zero.map(|simplex| those(&|facet| facet & !simplex == 0)).collect();
        let ridges: Vec<u64> =
            subsets(n, facet_size - 1).into_iter().map(|ridge| those(&|facet| ridge & !facet == 0)).collect();
        let mut found = HashSet::new();
        let mut cycle = 0u64;
        for step in 1u32..1 << boundaries.len() {
            cycle ^= boundaries[step.trailing_zeros() as usize];
            if ridges.iter().any(|ridge| (cycle & ridge).count_ones() > 2) {
                continue;
            }
            let chosen = facets.iter().enumerate().filter(|(i, _)| cycle >> i & 1 == 1).map(|(_, &facet)| facet);
            let rows: Vec<Vec<i64>> =
                chosen.map(|facet| bits(facet as u16).map(|vertex| vertex as i64).collect()).collect();
            let complex = Facets::new(&rows).unwrap();
            if complex.n_vertices() == n
                && manifold_check(&complex, &Unmonitored).unwrap().is_closed()
                && homology(&complex, &Unmonitored).unwrap().betti_numbers()[0] == 1
            {
                found.insert(form(&rows));
            }
        }
        found
    }

    #[test]
    fn every_manifold_on_few_vertices_is_found() {
        let mut surfaces = SurfaceEnumeration::new(7);
        let surfaces = all(|| surfaces.step(&Unmonitored).unwrap());
        let mut manifolds = ThreeManifoldEnumeration::new(7);
        let manifolds = all(|| manifolds.step(&Unmonitored).unwrap());
        for (enumerated, least) in [(&surfaces, 4), (&manifolds, 5)] {
            for n in least..=7 {
                let rows = |i: usize| -> Vec<Vec<i64>> {
                    let facets = enumerated.facets(i).chunks(enumerated.facet_size());
                    facets.map(|facet| facet.iter().map(|&vertex| i64::from(vertex)).collect()).collect()
                };
                let of_n = (0..enumerated.len()).filter(|&i| enumerated.n_vertices(i) == n);
                let forms: HashSet<_> = of_n.map(|i| form(&rows(i))).collect();
                assert_eq!(forms, manifolds_among_cycles(n, enumerated.facet_size() as u32));
            }
        }
    }
}
