//! All faces of a complex, by dimension.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::Facets;

/// The most faces of one dimension, each counted for every larger one that has it, that are listed.
pub const MAX_FACES: usize = 1 << 24;

/// Why faces are not listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FacesError {
    /// The host ended the computation.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// A simplex of many vertices has too many faces.
    #[error(
        "the complex has more than {MAX_FACES} faces of dimension {dimension}, one that several larger ones have counted for \
         each; that is too many to list"
    )]
    TooMany {
        /// The dimension with too many faces.
        dimension: usize,
    },
}

/// The faces of one dimension in lexicographic order, each once: its vertices, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faces {
    width: usize,
    vertices: Vec<u32>,
}

impl Faces {
    /// Faces in lexicographic order, of `width` vertices each.
    pub(crate) fn new(width: usize, vertices: Vec<u32>) -> Self {
        Self { width, vertices }
    }

    /// All vertices, face after face.
    pub(crate) fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The dimension: vertices of a face less one.
    pub fn dimension(&self) -> usize {
        self.width - 1
    }

    /// The number of faces.
    pub fn len(&self) -> usize {
        self.vertices.len() / self.width
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Face `i`.
    pub fn get(&self, i: usize) -> &[u32] {
        &self.vertices[i * self.width..(i + 1) * self.width]
    }

    /// The faces in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        self.vertices.chunks_exact(self.width)
    }

    /// The position of the face with these vertices, ascending. O(log faces).
    pub fn position(&self, face: &[u32]) -> Option<usize> {
        self.position_without(face, face.len())
    }

    /// The position of the face with these vertices, ascending, without the one at `omitted` (none if past the end).
    /// O(log faces).
    pub(crate) fn position_without(&self, face: &[u32], omitted: usize) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            let wanted = face.iter().enumerate().filter(|(i, _)| *i != omitted).map(|(_, v)| v);
            match self.get(middle).iter().cmp(wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The boundary of face `i`: for each vertex that is left out, the position of the rest among `below`, the faces of
    /// one dimension less, and its sign, + for the first. Empty for a vertex.
    pub fn boundary<'a>(&'a self, below: &'a Self, i: usize) -> impl Iterator<Item = (usize, i64)> + 'a {
        let face = self.get(i);
        let omitted = if self.width > 1 { 0..self.width } else { 0..0 };
        omitted.filter_map(move |omitted| {
            let sign = if omitted % 2 == 0 { 1 } else { -1 };
            below.position_without(face, omitted).map(|position| (position, sign))
        })
    }
}

/// The faces of `facets` of the dimensions from `lowest` up to the complex's own, in that order. Each dimension is the
/// simplices of the list and the boundaries of the one above, sorted: O(w f log(w f)) for f faces with w vertices, and
/// `8 w^2 f` bytes while at work, `4 w f` after.
///
/// # Errors
/// [`FacesError::TooMany`] where a dimension has more than [`MAX_FACES`]; [`FacesError::Stopped`] when the host wants no
/// answer or grants no memory for it.
pub fn faces_from(facets: &Facets, lowest: usize, monitor: &dyn Monitor) -> Result<Vec<Faces>, FacesError> {
    let top = facets.dimension();
    check_binomials(facets, lowest)?;
    let mut levels: Vec<Faces> = Vec::new();
    for dimension in (lowest..=top).rev() {
        let width = dimension + 1;
        let (rows, _reservation) = rows_with_repeats(facets, dimension, levels.last(), monitor)?;
        levels.push(Faces { width, vertices: sorted(&rows, width, facets.n_vertices()) });
    }
    levels.reverse();
    Ok(levels)
}

/// The faces of one dimension, [`faces_from`]'s first. Where the simplices of the list have few enough between them, those are
/// listed without the dimensions above: O(w f log(w f)) for f of them, and `8 w^2 f` bytes while at work.
///
/// # Errors
/// As [`faces_from`].
pub fn faces_at(facets: &Facets, dimension: usize, monitor: &dyn Monitor) -> Result<Faces, FacesError> {
    let width = dimension + 1;
    let of = |simplex: &[u32]| if simplex.len() < width { 0 } else { binomial(simplex.len(), width) };
    let counts = || facets.iter().map(of);
    if counts().any(|count| count > MAX_FACES) {
        return Err(FacesError::TooMany { dimension });
    }
    let count = counts().fold(0, usize::saturating_add);
    if count > MAX_FACES {
        return Ok(faces_from(facets, dimension, monitor)?.swap_remove(0));
    }
    let _reservation = Reservation::new(monitor, count * (4 * width + 16))?;
    let mut rows = Vec::with_capacity(count * width);
    for simplex in facets.iter().filter(|simplex| simplex.len() >= width) {
        monitor.check()?;
        push_subsets(simplex, width, &mut rows);
    }
    Ok(Faces { width, vertices: sorted(&rows, width, facets.n_vertices()) })
}

/// Appends the subsets of `width` vertices of a simplex with at least so many.
fn push_subsets(simplex: &[u32], width: usize, rows: &mut Vec<u32>) {
    let mut chosen: Vec<usize> = (0..width).collect();
    loop {
        rows.extend(chosen.iter().map(|&place| simplex[place]));
        // The last place that can move on; those behind it follow it closely.
        let Some(moved) = (0..width).rev().find(|&i| chosen[i] < simplex.len() - width + i) else { return };
        let next = chosen[moved] + 1;
        chosen[moved..].iter_mut().zip(next..).for_each(|(place, value)| *place = value);
    }
}

/// Whether one simplex alone has too many faces: that is known before anything is listed.
pub(crate) fn check_binomials(facets: &Facets, lowest: usize) -> Result<(), FacesError> {
    let top = facets.dimension();
    match (lowest..top).find(|&dimension| binomial(top + 1, dimension + 1) > MAX_FACES) {
        Some(dimension) => Err(FacesError::TooMany { dimension }),
        None => Ok(()),
    }
}

/// The simplices of a dimension in the list, then the boundaries of the faces one dimension above, in order: with
/// repetition, `dimension + 1` vertices each. The reservation is for them and for sorting a second copy.
pub(crate) fn rows_with_repeats<'a>(
    facets: &Facets,
    dimension: usize,
    above: Option<&Faces>,
    monitor: &'a dyn Monitor,
) -> Result<(Vec<u32>, Reservation<'a>), FacesError> {
    monitor.check()?;
    let width = dimension + 1;
    let listed = facets.iter().filter(|simplex| simplex.len() == width);
    let count = listed.clone().count() + above.map_or(0, |above| above.len() * (width + 1));
    if count > MAX_FACES {
        return Err(FacesError::TooMany { dimension });
    }
    let reservation = Reservation::new(monitor, count * (4 * width + 16))?;
    let mut rows = Vec::with_capacity(count * width);
    listed.for_each(|simplex| rows.extend_from_slice(simplex));
    for face in above.into_iter().flat_map(Faces::iter) {
        for omitted in 0..=width {
            rows.extend_from_slice(&face[..omitted]);
            rows.extend_from_slice(&face[omitted + 1..]);
        }
    }
    Ok((rows, reservation))
}

/// The binomial coefficient of `n` and `k`; no more than `usize::MAX`.
fn binomial(n: usize, k: usize) -> usize {
    let mut choices = 1usize;
    for i in 0..k.min(n - k) {
        match choices.checked_mul(n - i) {
            Some(product) => choices = product / (i + 1),
            None => return usize::MAX,
        }
    }
    choices
}

/// The distinct rows of `width` numbers below `bound`, in order.
fn sorted(rows: &[u32], width: usize, bound: usize) -> Vec<u32> {
    let bits = usize::BITS - bound.saturating_sub(1).leading_zeros();
    let bits = bits.max(1);
    if bits as usize * width <= 128 {
        // A row packed into one number compares in one step.
        let pack = |row: &[u32]| row.iter().fold(0u128, |key, &v| key << bits | u128::from(v));
        let mut keys: Vec<u128> = rows.chunks_exact(width).map(pack).collect();
        keys.sort_unstable();
        keys.dedup();
        let mask = (1u128 << bits) - 1;
        let unpack = |key: &u128| {
            let key = *key;
            (0..width as u32).rev().map(move |i| (key >> (i * bits) & mask) as u32)
        };
        return keys.iter().flat_map(unpack).collect();
    }
    let mut sorted: Vec<&[u32]> = rows.chunks_exact(width).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_simplex_has_all_subsets_of_its_vertices() {
        for n in 1..12i64 {
            let facets = Facets::new(&[(0..n).collect::<Vec<_>>()]).unwrap();
            let levels = faces_from(&facets, 0, &Unmonitored).unwrap();
            let mut binomial = 1;
            for (k, level) in levels.iter().enumerate() {
                binomial = binomial * (n as usize - k) / (k + 1);
                assert_eq!((level.dimension(), level.len()), (k, binomial), "{n}");
            }
        }
    }

    #[test]
    fn a_simplex_with_too_many_faces_is_refused() {
        for vertices in [28, 64, 300] {
            let facets = Facets::new(&[(0..vertices).collect::<Vec<_>>()]).unwrap();
            assert!(matches!(faces_from(&facets, 0, &Unmonitored), Err(FacesError::TooMany { .. })));
            assert_eq!(faces_from(&facets, vertices as usize - 2, &Unmonitored).unwrap()[0].len(), vertices as usize);
        }
    }

    #[test]
    fn the_faces_of_one_dimension_need_not_those_above() {
        // Of dimension 15 there are 2,042,975, which 18,386,775 rows would bound.
        let facets = Facets::new(&[(0..25).collect::<Vec<_>>()]).unwrap();
        let faces = faces_at(&facets, 12, &Unmonitored).unwrap();
        assert_eq!((faces.dimension(), faces.len()), (12, 5_200_300));
        assert!(faces.iter().zip(faces.iter().skip(1)).all(|(one, next)| one < next));
        let facets = Facets::new(&[(0..28).collect::<Vec<_>>()]).unwrap();
        assert!(matches!(faces_at(&facets, 13, &Unmonitored), Err(FacesError::TooMany { dimension: 13 })));
    }

    #[test]
    fn wide_faces_over_many_vertices_are_sorted_too() {
        // 20 bits a vertex, 8 vertices: more than a packed key holds.
        let mut simplices: Vec<Vec<i64>> = (0..1 << 17).map(|v| vec![v]).collect();
        simplices.push((0..8).map(|i| 5 + 16000 * i).collect());
        let levels = faces_from(&Facets::new(&simplices).unwrap(), 0, &Unmonitored).unwrap();
        let sizes: Vec<usize> = levels.iter().map(Faces::len).collect();
        assert_eq!(sizes, [1 << 17, 28, 56, 70, 56, 28, 8, 1]);
    }

    proptest! {
        #[test]
        fn faces_agree_with_the_set_of_all_subsets(
            simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..9, 1..6), 1..9),
        ) {
            let lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
            let facets = Facets::new(&lists).unwrap();
            let mut expected: Vec<BTreeSet<Vec<u32>>> = vec![BTreeSet::new(); facets.dimension() + 1];
            for simplex in facets.iter() {
                for set in 1u32..1 << simplex.len() {
                    let face: Vec<u32> = (0..simplex.len()).filter(|i| set >> i & 1 == 1).map(|i| simplex[i]).collect();
                    expected[face.len() - 1].insert(face);
                }
            }
            let levels = faces_from(&facets, 0, &Unmonitored).unwrap();
            for (level, expected) in levels.iter().zip(&expected) {
                prop_assert!(level.iter().map(<[u32]>::to_vec).eq(expected.iter().cloned()));
                prop_assert_eq!(&faces_at(&facets, level.dimension(), &Unmonitored).unwrap(), level);
                for (i, face) in level.iter().enumerate() {
                    prop_assert_eq!(level.position(face), Some(i));
                }
            }
            // The boundary of a boundary is nothing.
            for k in 2..levels.len() {
                for i in 0..levels[k].len() {
                    let mut sum = vec![0; levels[k - 2].len()];
                    for (ridge, sign) in levels[k].boundary(&levels[k - 1], i) {
                        for (face, other) in levels[k - 1].boundary(&levels[k - 2], ridge) {
                            sum[face] += sign * other;
                        }
                    }
                    prop_assert!(sum.iter().all(|&entry| entry == 0));
                }
            }
        }
    }
}
