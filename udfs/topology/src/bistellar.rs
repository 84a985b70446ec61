//! Bistellar moves: local changes of a triangulation that keep its space.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use bonnet_graph::{Monitor, Reservation, Stopped};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Facets, FlatFacets};

/// The largest dimension of a complex that moves are made on.
pub const MAX_MOVE_DIMENSION: usize = 7;
/// A face is a `u128` of 16 bits a vertex, which hold the vertex plus 1.
const MAX_MOVE_VERTICES: usize = (1 << 16) - 2;

/// Why no moves are made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// Facets have different dimensions.
    #[error("facets have different dimensions; moves are made on complexes whose facets all have the same")]
    NotPure,
    /// The dimension is 0 or too large.
    #[error("the complex has dimension {0}; moves are made in dimensions 1 to {MAX_MOVE_DIMENSION}")]
    Dimension(usize),
    /// There are too many vertices.
    #[error("the complex has {0} vertices; moves are made on at most {MAX_MOVE_VERTICES}")]
    TooManyVertices(usize),
    /// The host ended the computation.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// The complex after a random walk of `steps` bistellar moves (Pachner moves), its facets in lexicographic order.
///
/// A move of type k takes a face A with d + 1 - k vertices, d the dimension, whose link is the boundary of a simplex B
/// that is no face itself, and puts the join of B with the boundary of A in the place of the join of A with the boundary
/// of B. Type 0 sets a vertex into a facet, type d takes such a vertex out; the space stays the same up to a
/// piecewise-linear homeomorphism. Each step draws a type uniformly from those of which there is a move, and then a move of
/// it uniformly; so that vertices come about as often as they go. A new vertex takes the label of one that has gone, else
/// one more than the largest label.
///
/// A step costs O(2^d d) operations on hash tables, some microseconds in dimension 2; 100 bytes a face.
///
/// # Errors
/// If facets differ in dimension, or the dimension or the number of vertices is out of range; [`MoveError::Stopped`]
/// when the host wants no answer or grants no memory for it.
///
/// # Source
/// Pachner, P.L. homeomorphic manifolds are equivalent by elementary shellings (European Journal of Combinatorics 12,
/// 1991); Bjoerner and Lutz, Simplicial manifolds, bistellar flips and a 16-vertex triangulation of the Poincare homology
/// 3-sphere (Experimental Mathematics 9, 2000), Sec. 2.
pub fn bistellar_walk(facets: &Facets, steps: u64, seed: u64, monitor: &dyn Monitor) -> Result<FlatFacets, MoveError> {
    let mut moves = Moves::new(facets, monitor)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for step in 0..steps {
        if step % 256 == 0 {
            monitor.check()?;
        }
        let mut types: Vec<usize> = (0..=moves.dimension).collect();
        while !types.is_empty() {
            let k = types.swap_remove(random.random_range(0..types.len()));
            if let Some((a, b)) = moves.draw(k, &mut random) {
                moves.apply(a, b);
                break;
            }
        }
        if step % 4096 == 4095 {
            moves.make_room()?;
        }
    }
    let mut labels = facets.labels().to_vec();
    let largest = labels.last().copied().unwrap_or(0);
    labels.extend((1..).take(moves.n_ids.saturating_sub(labels.len())).map(|i| largest.saturating_add(i)));
    let mut walked = FlatFacets::default();
    let mut rows: Vec<Vec<i64>> =
        moves.facets().map(|facet| vertices(facet).map(|v| labels[v as usize]).collect()).collect();
    rows.sort_unstable();
    rows.into_iter().for_each(|row| walked.push(row));
    Ok(walked)
}

/// A face: its vertices plus 1, ascending from the high bits down, 16 bits each, above zeros.
pub(crate) type Face = u128;

/// The vertices of a face, ascending.
pub(crate) fn vertices(face: Face) -> impl Iterator<Item = u32> {
    (0..8).rev().map(move |i| (face >> (16 * i)) as u32 & 0xffff).take_while(|&v| v != 0).map(|v| v - 1)
}

fn face(vertices: &[u32]) -> Face {
    vertices.iter().enumerate().map(|(i, &v)| Face::from(v + 1) << (16 * (7 - i))).sum()
}

#[derive(Default)]
struct FaceHasher(u64);

impl Hasher for FaceHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u128(byte.into()));
    }

    fn write_u128(&mut self, face: u128) {
        let low = face as u64 ^ self.0;
        let high = (face >> 64) as u64;
        let product = u128::from(low ^ 0x9e37_79b9_7f4a_7c15) * u128::from(high ^ 0xd1b5_4a32_d192_ed03);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

type FaceMap<T> = HashMap<Face, T, BuildHasherDefault<FaceHasher>>;

/// A pure complex that moves are made on.
pub(crate) struct Moves<'a> {
    dimension: usize,
    /// The number of facets that hold each face.
    n_facets: FaceMap<u32>,
    /// The facets at each vertex.
    stars: Vec<Vec<Face>>,
    /// By type k, the faces of d + 1 - k vertices in k + 1 facets, in a fixed order, and the position of each.
    options: Vec<(Vec<Face>, FaceMap<usize>)>,
    /// Vertices that have gone.
    free: BTreeSet<u32>,
    /// The number of vertices there have been.
    n_ids: usize,
    reservation: Reservation<'a>,
    monitor: &'a dyn Monitor,
}

impl<'a> Moves<'a> {
    pub(crate) fn new(facets: &Facets, monitor: &'a dyn Monitor) -> Result<Self, MoveError> {
        let facets = facets.maximal();
        let dimension = facets.dimension();
        if !facets.same_dimension() {
            return Err(MoveError::NotPure);
        }
        if !(1..=MAX_MOVE_DIMENSION).contains(&dimension) {
            return Err(MoveError::Dimension(dimension));
        }
        if facets.n_vertices() > MAX_MOVE_VERTICES {
            return Err(MoveError::TooManyVertices(facets.n_vertices()));
        }
        let reservation = Reservation::new(monitor, facets.len() * (100 << dimension))?;
        let mut moves = Self {
            dimension,
            n_facets: FaceMap::default(),
            stars: vec![Vec::new(); facets.n_vertices()],
            options: (0..=dimension).map(|_| Default::default()).collect(),
            free: BTreeSet::new(),
            n_ids: facets.n_vertices(),
            reservation,
            monitor,
        };
        for (i, facet) in facets.iter().enumerate() {
            if i % 4096 == 0 {
                monitor.check()?;
            }
            moves.insert(face(facet));
        }
        Ok(moves)
    }

    /// Asks for the memory that a growing complex has come to need.
    pub(crate) fn make_room(&mut self) -> Result<(), Stopped> {
        let needed = self.options[0].0.len() * (100 << self.dimension);
        if needed > self.reservation.bytes() {
            self.reservation.grow(needed - self.reservation.bytes())?;
        }
        self.monitor.check()
    }

    pub(crate) fn n_vertices(&self) -> usize {
        self.n_ids - self.free.len()
    }

    /// The facets, in no particular order that matters.
    pub(crate) fn facets(&self) -> impl ExactSizeIterator<Item = Face> {
        self.options[0].0.iter().copied()
    }

    /// A move of type k drawn uniformly: the faces A and B; `None` if there is no such move.
    pub(crate) fn draw(&self, k: usize, random: &mut ChaCha8Rng) -> Option<(Face, Face)> {
        let faces = &self.options[k].0;
        if faces.is_empty() {
            return None;
        }
        // Drawing until one fits is uniform, and cheap where many fit; else those that fit are listed.
        for _ in 0..8 {
            let a = faces[random.random_range(0..faces.len())];
            if let Some(b) = self.opposite(a, k) {
                return Some((a, b));
            }
        }
        let possible: Vec<_> = faces.iter().filter_map(|&a| Some((a, self.opposite(a, k)?))).collect();
        (!possible.is_empty()).then(|| possible[random.random_range(0..possible.len())])
    }

    /// The simplex B whose boundary is the link of A, if there is one and it is no face.
    fn opposite(&self, a: Face, k: usize) -> Option<Face> {
        if k == 0 {
            let new = self.free.first().copied().unwrap_or(self.n_ids as u32);
            return ((new as usize) < MAX_MOVE_VERTICES).then(|| face(&[new]));
        }
        let in_a: Vec<u32> = vertices(a).collect();
        let shortest = in_a.iter().min_by_key(|&&v| self.stars[v as usize].len())?;
        let mut b: Vec<u32> = Vec::with_capacity(2 * k + 2);
        for &facet in &self.stars[*shortest as usize] {
            if in_a.iter().all(|v| vertices(facet).any(|w| w == *v)) {
                b.extend(vertices(facet).filter(|v| !in_a.contains(v)));
            }
        }
        b.sort_unstable();
        b.dedup();
        // k + 1 different facets on A within k + 1 further vertices: each lacks one of them.
        let opposite = (b.len() == k + 1).then(|| face(&b))?;
        (!self.n_facets.contains_key(&opposite)).then_some(opposite)
    }

    /// Makes the move that [`Moves::draw`] has found.
    pub(crate) fn apply(&mut self, a: Face, b: Face) {
        let (in_a, in_b): (Vec<u32>, Vec<u32>) = (vertices(a).collect(), vertices(b).collect());
        let mut all: Vec<u32> = in_a.iter().chain(&in_b).copied().collect();
        all.sort_unstable();
        let without = |omitted: u32| {
            let rest: Vec<u32> = all.iter().copied().filter(|&v| v != omitted).collect();
            face(&rest)
        };
        if let [new] = in_b[..]
            && !self.free.remove(&new)
        {
            self.n_ids += 1;
            self.stars.push(Vec::new());
        }
        in_b.iter().for_each(|&v| self.remove(without(v)));
        in_a.iter().for_each(|&v| self.insert(without(v)));
        if let [gone] = in_a[..] {
            self.free.insert(gone);
        }
    }

    fn insert(&mut self, facet: Face) {
        vertices(facet).for_each(|v| self.stars[v as usize].push(facet));
        self.for_each_face(facet, |count| *count += 1);
    }

    fn remove(&mut self, facet: Face) {
        for v in vertices(facet) {
            let star = &mut self.stars[v as usize];
            if let Some(place) = star.iter().position(|&other| other == facet) {
                star.swap_remove(place);
            }
        }
        self.for_each_face(facet, |count| *count -= 1);
    }

    fn for_each_face(&mut self, facet: Face, change: impl Fn(&mut u32)) {
        let in_facet: Vec<u32> = vertices(facet).collect();
        let mut chosen = [0u32; 8];
        for subset in 1u32..1 << in_facet.len() {
            let mut size = 0;
            for (i, &v) in in_facet.iter().enumerate() {
                chosen[size] = v;
                size += (subset >> i & 1) as usize;
            }
            let face = face(&chosen[..size]);
            let k = self.dimension + 1 - size;
            let count = self.n_facets.entry(face).or_insert(0);
            let before = *count as usize == k + 1;
            change(count);
            let after = *count as usize == k + 1;
            if *count == 0 {
                self.n_facets.remove(&face);
            }
            let (list, places) = &mut self.options[k];
            if after && !before {
                places.insert(face, list.len());
                list.push(face);
            } else if before
                && !after
                && let Some(place) = places.remove(&face)
            {
                list.swap_remove(place);
                if let Some(&moved) = list.get(place) {
                    places.insert(moved, place);
                }
            }
        }
    }
}

/// The way down to few vertices: moves that take out vertices and edges as long as there are any, then some random moves
/// of type 1, which keep the vertices, and down again; more of them the longer the facets do not become fewer.
pub(crate) struct Simplifier {
    random: ChaCha8Rng,
    fewest: usize,
    failures: u32,
    heat: u32,
}

impl Simplifier {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed), fewest: usize::MAX, failures: 0, heat: 0 }
    }

    /// Makes moves on a 3-dimensional complex, out of the valley it stands in and down to the bottom of the next, at most
    /// so many; answers the number made, 0 when there is none to make.
    pub(crate) fn advance(&mut self, moves: &mut Moves, at_most: usize) -> usize {
        for made in 0..at_most {
            let cooling = self.heat == 0;
            let order = if cooling { [3, 2, 1] } else { [3, 1, 2] };
            let draw = |k| Some((k, moves.draw(k, &mut self.random)?));
            let Some((k, (a, b))) = order.into_iter().find_map(draw) else { return made };
            if cooling && k == 1 {
                // Neither vertices nor edges can go.
                let n_facets = moves.facets().len();
                self.failures = if n_facets < self.fewest { 0 } else { self.failures + 1 };
                self.fewest = self.fewest.min(n_facets);
                self.heat = self.random.random_range(1..=4 + (self.failures / 8).min(n_facets as u32 / 2));
                if made > 0 {
                    return made;
                }
            }
            self.heat = self.heat.saturating_sub(1);
            moves.apply(a, b);
        }
        at_most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Homology, homology, is_orientable, manifold_check};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn walk(simplices: &[Vec<i64>], steps: u64, seed: u64) -> Vec<Vec<i64>> {
        let facets = Facets::new(simplices).unwrap();
        bistellar_walk(&facets, steps, seed, &Unmonitored).unwrap().iter().map(<[i64]>::to_vec).collect()
    }

    fn invariants(simplices: &[Vec<i64>]) -> (Homology, Option<bool>, bool) {
        let facets = Facets::new(simplices).unwrap();
        (
            homology(&facets, &Unmonitored).unwrap(),
            is_orientable(&facets, &Unmonitored).unwrap(),
            manifold_check(&facets, &Unmonitored).unwrap().is_closed(),
        )
    }

    fn simplex_boundary(n: i64) -> Vec<Vec<i64>> {
        (1..=n).rev().map(|omitted| (1..=n).filter(|&v| v != omitted).collect()).collect()
    }

    #[test]
    fn the_first_move_on_the_boundary_of_a_simplex_can_only_set_in_a_vertex() {
        for n in 3..=9 {
            let one = walk(&simplex_boundary(n), 1, 5);
            assert_eq!(one.len() as i64, n + n - 2);
            assert_eq!(one.iter().flatten().max(), Some(&(n + 1)));
            // Then the vertex may go again, as may others.
            assert!((0..20).any(|seed| walk(&simplex_boundary(n), 2, seed).len() as i64 == n));
        }
        assert_eq!(walk(&simplex_boundary(4), 0, 0), [[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]]);
    }

    #[test]
    fn flips_of_a_hexagonal_bipyramid_are_those_of_its_definition() {
        // The octahedron: an edge flip joins two opposite vertices, no vertex has degree 3.
        let octahedron: Vec<Vec<i64>> =
            (0..8).map(|mask: i64| (0..3).map(|i| 2 * i + (mask >> i & 1)).collect()).collect();
        let facets = Facets::new(&octahedron).unwrap();
        let moves = Moves::new(&facets, &Unmonitored).unwrap();
        assert_eq!([0, 1, 2].map(|k| moves.options[k].0.len()), [8, 12, 0]);
        let edges: Vec<_> = moves.options[1].0.iter().map(|&edge| (edge, moves.opposite(edge, 1).unwrap())).collect();
        for (edge, opposite) in edges {
            let sum: Vec<u32> = vertices(edge).map(|v| v / 2).collect();
            let pair: Vec<u32> = vertices(opposite).collect();
            assert_eq!(pair[0] / 2, pair[1] / 2);
            assert!(!sum.contains(&(pair[0] / 2)));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_walk_and_others_differ() {
        let start = simplex_boundary(5);
        assert_eq!(walk(&start, 300, 3), walk(&start, 300, 3));
        assert_ne!(walk(&start, 300, 3), walk(&start, 300, 4));
    }

    #[test]
    fn what_no_move_is_made_on_is_refused() {
        let refused =
            |simplices: &[Vec<i64>]| bistellar_walk(&Facets::new(simplices).unwrap(), 1, 0, &Unmonitored).unwrap_err();
        assert_eq!(refused(&[vec![1, 2, 3], vec![3, 4]]), MoveError::NotPure);
        assert_eq!(refused(&[vec![1], vec![2]]), MoveError::Dimension(0));
        assert_eq!(refused(&[(0..9).collect()]), MoveError::Dimension(8));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn moves_keep_homology_orientability_and_links(seed in 0u64..1000, steps in 1u64..400) {
            let n = 7;
            let torus: Vec<Vec<i64>> =
                (0..n).flat_map(|i| [vec![i, (i + 1) % n, (i + 3) % n], vec![i, (i + 2) % n, (i + 3) % n]]).collect();
            let bundle: Vec<Vec<i64>> = (0..9)
                .flat_map(|i| [[0, 1, 3, 4], [0, 1, 2, 4], [0, 2, 3, 4]].map(|s| s.map(|v| (i + v) % 9).to_vec()))
                .collect();
            let projective_plane: Vec<Vec<i64>> = [
                [1, 2, 3], [1, 2, 4], [1, 3, 5], [1, 4, 6], [1, 5, 6], [2, 3, 6], [2, 4, 5], [2, 5, 6], [3, 4, 5], [3, 4, 6],
            ].map(|facet| facet.to_vec()).to_vec();
            for start in [torus, bundle, projective_plane, simplex_boundary(6)] {
                let walked = walk(&start, steps, seed);
                prop_assert_eq!(invariants(&walked), invariants(&start));
            }
        }
    }
}
