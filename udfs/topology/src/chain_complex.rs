//! The faces and boundaries of one complex, or of many side by side.

use bonnet_graph::{Monitor, Reservation};
use rayon::prelude::*;

use crate::faces::{Faces, FacesError, check_binomials, rows_with_repeats};
use crate::small_complex::{MAX_VERTICES, SmallFaces};
use crate::{Facets, SparseMatrix};

/// Complexes that one task reads.
const BLOCK: usize = 256;

/// The faces of a simplicial complex by dimension and the boundary maps between them, or the direct sum of those of many
/// complexes: what all operators on simplices are made of.
///
/// The faces of a dimension are numbered complex by complex, and in each complex in lexicographic order of their vertices,
/// as [`Faces`]; the vertices are the faces of dimension 0, in the order of the labels. So an operator of a direct sum is
/// block-diagonal, and [`ChainComplex::faces_of`] gives the rows of a block. 4 (k + 1) bytes for a face of
/// dimension k and as much for its boundary, and 8 bytes for each dimension of each complex.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChainComplex {
    n_complexes: usize,
    levels: Vec<Level>,
}

/// One dimension.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Level {
    /// Where the faces of each complex end.
    ends: Vec<usize>,
    /// The vertices of each face, ascending.
    vertices: Vec<u32>,
    /// The faces of one dimension less in each face's boundary: those without its first vertex, its second, and so on.
    boundary: Vec<u32>,
}

impl Level {
    fn start(&self, complex: usize) -> usize {
        if complex == 0 { 0 } else { self.ends[complex - 1] }
    }
}

impl ChainComplex {
    /// The faces and boundaries of one complex. O(w f log(w f)) for f faces of w vertices.
    ///
    /// # Errors
    /// Those of [`crate::faces_from`].
    pub fn new(facets: &Facets, monitor: &dyn Monitor) -> Result<Self, FacesError> {
        let mut sum = Self::default();
        sum.push(facets, &mut SmallFaces::default(), monitor)?;
        Ok(sum)
    }

    /// The direct sum of `n` complexes: `read` writes the facets of complex `i`. Complexes are read in parallel. The
    /// memory is reserved while at work; who keeps the answer reserves its [`ChainComplex::bytes`].
    ///
    /// # Errors
    /// Those of `read`; as [`crate::faces_from`], and [`FacesError::TooMany`] where all complexes together have too many
    /// faces of one dimension.
    pub fn direct_sum<E: From<FacesError> + Send>(
        n: usize,
        read: impl Fn(usize, &mut Facets) -> Result<(), E> + Sync,
        monitor: &dyn Monitor,
    ) -> Result<Self, E> {
        let stopped = |reason| E::from(FacesError::Stopped(reason));
        let block = |block: usize| {
            let mut sum = Self::default();
            let (mut facets, mut small) = (Facets::default(), SmallFaces::default());
            for i in block * BLOCK..n.min((block + 1) * BLOCK) {
                read(i, &mut facets)?;
                sum.push(&facets, &mut small, monitor)?;
            }
            // Held twice while the blocks are joined.
            let reservation = Reservation::new(monitor, 2 * sum.bytes()).map_err(stopped)?;
            Ok((sum, reservation))
        };
        let blocks: Vec<_> = (0..n.div_ceil(BLOCK)).into_par_iter().map(block).collect::<Result<_, E>>()?;
        let mut sum = Self::default();
        for (block, _reservation) in blocks {
            sum.append(&block)?;
        }
        Ok(sum)
    }

    /// Adds a complex behind the others.
    fn push(&mut self, facets: &Facets, small: &mut SmallFaces, monitor: &dyn Monitor) -> Result<(), FacesError> {
        if facets.is_empty() {
            return self.append(&Self { n_complexes: 1, levels: Vec::new() });
        }
        check_binomials(facets, 0)?;
        let top = facets.dimension();
        self.make_levels(top + 1);
        if facets.n_vertices() <= MAX_VERTICES {
            return self.push_small(facets, small);
        }
        let mut above: Option<Faces> = None;
        for dimension in (0..=top).rev() {
            let (rows, _reservation) = rows_with_repeats(facets, dimension, above.as_ref(), monitor)?;
            let listed = rows.len() / (dimension + 1) - above.as_ref().map_or(0, |above| above.len() * (dimension + 2));
            let (faces, positions) = numbered(&rows, dimension + 1, facets.n_vertices());
            if dimension < top {
                // The boundaries of the faces above, as their vertices were left out one by one.
                let shift = self.levels[dimension].ends.last().copied().unwrap_or(0);
                check_count(shift + faces.len(), dimension)?;
                let level = &mut self.levels[dimension + 1];
                level.boundary.extend(positions[listed..].iter().map(|&position| position + shift as u32));
            }
            let first_vertex = self.levels[0].ends.last().copied().unwrap_or(0);
            check_count(first_vertex + facets.n_vertices(), 0)?;
            let level = &mut self.levels[dimension];
            level.vertices.extend(faces.vertices().iter().map(|&v| v + first_vertex as u32));
            above = Some(faces);
        }
        self.n_complexes += 1;
        self.close();
        Ok(())
    }

    /// [`ChainComplex::push`] of a complex on few vertices.
    fn push_small(&mut self, facets: &Facets, small: &mut SmallFaces) -> Result<(), FacesError> {
        let n_before = |level: &Level| level.ends.last().copied().unwrap_or(0);
        let first_vertex = n_before(&self.levels[0]);
        check_count(first_vertex + facets.n_vertices(), 0)?;
        small.begin(facets.n_vertices());
        for dimension in (0..=facets.dimension()).rev() {
            let (below, above) = self.levels.split_at_mut(dimension + 1);
            let level = &mut below[dimension];
            let shift = n_before(level);
            // There are at most as many faces as sets of so few vertices.
            check_count(shift + (1 << MAX_VERTICES), dimension)?;
            let vertices = &mut level.vertices;
            let mut boundary = above.first_mut().map(|level| &mut level.boundary);
            small.descend(
                facets,
                dimension + 1,
                |v| vertices.push(v + first_vertex as u32),
                |place| boundary.iter_mut().for_each(|boundary| boundary.push(place + shift as u32)),
            );
        }
        self.n_complexes += 1;
        self.close();
        Ok(())
    }

    /// Adds the complexes of another sum behind these.
    fn append(&mut self, other: &Self) -> Result<(), FacesError> {
        self.make_levels(other.levels.len());
        let before: Vec<usize> = (0..self.levels.len()).map(|dimension| self.n_faces(dimension)).collect();
        for (dimension, theirs) in other.levels.iter().enumerate() {
            check_count(before[dimension] + other.n_faces(dimension), dimension)?;
            let level = &mut self.levels[dimension];
            level.ends.extend(theirs.ends.iter().map(|end| end + before[dimension]));
            level.vertices.extend(theirs.vertices.iter().map(|&v| v + before[0] as u32));
            let shift = if dimension == 0 { 0 } else { before[dimension - 1] as u32 };
            level.boundary.extend(theirs.boundary.iter().map(|&face| face + shift));
        }
        self.n_complexes += other.n_complexes;
        self.close();
        Ok(())
    }

    /// The direct sum of some of the complexes, in this order: a batch. O(faces of the answer).
    ///
    /// # Panics
    /// If there is no such complex.
    #[must_use]
    pub fn select(&self, complexes: &[usize]) -> Self {
        let mut sum = Self { n_complexes: complexes.len(), levels: Vec::new() };
        sum.levels.resize_with(self.levels.len(), Level::default);
        for &complex in complexes {
            let before: Vec<usize> = sum.levels.iter().map(|level| level.ends.last().copied().unwrap_or(0)).collect();
            for (dimension, from) in self.levels.iter().enumerate() {
                let (start, end) = (from.start(complex), from.ends[complex]);
                let width = dimension + 1;
                let into = &mut sum.levels[dimension];
                let first = self.levels[0].start(complex) as u32;
                into.vertices
                    .extend(from.vertices[start * width..end * width].iter().map(|&v| v - first + before[0] as u32));
                if dimension > 0 {
                    let first = self.levels[dimension - 1].start(complex) as u32;
                    let shift = before[dimension - 1] as u32;
                    let boundary = &from.boundary[start * width..end * width];
                    into.boundary.extend(boundary.iter().map(|&face| face - first + shift));
                }
                into.ends.push(before[dimension] + end - start);
            }
        }
        while sum.levels.last().is_some_and(|level| level.vertices.is_empty()) {
            sum.levels.pop();
        }
        sum
    }

    /// Dimensions that none of the complexes so far had.
    fn make_levels(&mut self, n: usize) {
        while self.levels.len() < n {
            self.levels.push(Level { ends: vec![0; self.n_complexes], ..Level::default() });
        }
    }

    /// Ends the last complex in dimensions that have no end of it yet.
    fn close(&mut self) {
        for (dimension, level) in self.levels.iter_mut().enumerate() {
            let end = level.vertices.len() / (dimension + 1);
            level.ends.resize(self.n_complexes, end);
        }
    }

    /// The number of complexes.
    pub fn n_complexes(&self) -> usize {
        self.n_complexes
    }

    /// The largest dimension of a face; `None` where there is no face.
    pub fn dimension(&self) -> Option<usize> {
        self.levels.len().checked_sub(1)
    }

    /// The number of faces of a dimension, 0 above the largest.
    pub fn n_faces(&self, dimension: usize) -> usize {
        self.levels.get(dimension).map_or(0, |level| level.vertices.len() / (dimension + 1))
    }

    /// The faces of a dimension that complex `complex` has.
    ///
    /// # Panics
    /// If there is no such complex.
    pub fn faces_of(&self, complex: usize, dimension: usize) -> std::ops::Range<usize> {
        assert!(complex < self.n_complexes, "complex {complex} of {}", self.n_complexes);
        self.levels.get(dimension).map_or(0..0, |level| level.start(complex)..level.ends[complex])
    }

    /// The vertices of the faces of a dimension, ascending, `dimension + 1` a face: faces of dimension 0.
    pub fn vertices(&self, dimension: usize) -> &[u32] {
        self.levels.get(dimension).map_or(&[], |level| &level.vertices)
    }

    /// The boundaries of the faces of a dimension, `dimension + 1` faces of one less for each: that without its first
    /// vertex, whose sign is +, that without its second, whose sign is -, and so on. Empty for dimension 0.
    pub fn boundaries(&self, dimension: usize) -> &[u32] {
        self.levels.get(dimension).map_or(&[], |level| &level.boundary)
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        let bytes = |level: &Level| 4 * (level.vertices.len() + level.boundary.len()) + 8 * level.ends.len();
        self.levels.iter().map(bytes).sum()
    }

    /// The boundary matrix B_k of a dimension k: a row for each face of dimension k - 1, a column for each of dimension
    /// k. No rows for dimension 0, no columns above the largest. O(entries).
    pub fn boundary(&self, dimension: usize) -> SparseMatrix<i8> {
        let n_rows = if dimension == 0 { 0 } else { self.n_faces(dimension - 1) };
        self.transposed_boundary(dimension, n_rows).transpose()
    }

    /// The coboundary matrix of a dimension k, the transpose of the boundary matrix of k + 1: a row for each face of
    /// dimension k + 1. O(entries).
    pub fn coboundary(&self, dimension: usize) -> SparseMatrix<i8> {
        self.transposed_boundary(dimension + 1, self.n_faces(dimension))
    }

    fn transposed_boundary(&self, dimension: usize, n_columns: usize) -> SparseMatrix<i8> {
        let n = self.n_faces(dimension);
        if dimension == 0 {
            return SparseMatrix::new(n_columns, vec![0; n + 1], Vec::new(), Vec::new());
        }
        let width = dimension + 1;
        let mut columns = self.boundaries(dimension).to_vec();
        // Without its first vertex a face comes last in the order, without its last one first.
        columns.chunks_exact_mut(width).for_each(<[u32]>::reverse);
        let sign = |entry: usize| if (width - 1 - entry % width).is_multiple_of(2) { 1 } else { -1 };
        let values = (0..columns.len()).map(sign).collect();
        SparseMatrix::new(n_columns, (0..=n).map(|i| i * width).collect(), columns, values)
    }
}

/// Faces are numbered by `u32`.
fn check_count(count: usize, dimension: usize) -> Result<(), FacesError> {
    match u32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => Err(FacesError::TooMany { dimension }),
    }
}

/// The distinct rows of `width` numbers below `bound` in order, and the position of each row among them.
fn numbered(rows: &[u32], width: usize, bound: usize) -> (Faces, Vec<u32>) {
    let n = rows.len() / width;
    let row = |i: usize| &rows[i * width..(i + 1) * width];
    let bits = (usize::BITS - bound.saturating_sub(1).leading_zeros()).max(1) as usize;
    let order: Vec<u32> = if bits * width <= 96 {
        // A row and its number packed into one number compare in one step.
        let pack = |i: usize| row(i).iter().fold(0u128, |key, &v| key << bits | u128::from(v)) << 32 | i as u128;
        let mut keys: Vec<u128> = (0..n).map(pack).collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| key as u32).collect()
    } else {
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_unstable_by_key(|&i| row(i as usize));
        order
    };
    let mut vertices: Vec<u32> = Vec::with_capacity(rows.len());
    let mut positions = vec![0; n];
    for i in order {
        let row = row(i as usize);
        if vertices.len() < width || vertices[vertices.len() - width..] != *row {
            vertices.extend_from_slice(row);
        }
        positions[i as usize] = (vertices.len() / width - 1) as u32;
    }
    (Faces::new(width, vertices), positions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{boundary_matrix, faces_from};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn complex(simplices: &[Vec<i64>]) -> Facets {
        Facets::new(simplices).unwrap()
    }

    #[test]
    fn a_triangle_with_a_tail() {
        let sum = ChainComplex::new(&complex(&[vec![1, 2, 3], vec![3, 4]]), &Unmonitored).unwrap();
        assert_eq!((sum.n_complexes(), sum.dimension()), (1, Some(2)));
        assert_eq!([0, 1, 2, 3].map(|k| sum.n_faces(k)), [4, 4, 1, 0]);
        assert_eq!(sum.vertices(1), [0, 1, 0, 2, 1, 2, 2, 3]);
        // The boundary of 123 is 23 - 13 + 12.
        assert_eq!(sum.boundaries(2), [2, 1, 0]);
        assert_eq!(sum.boundary(2).entries().collect::<Vec<_>>(), [(0, 0, 1), (1, 0, -1), (2, 0, 1)]);
        assert_eq!(sum.coboundary(1).entries().collect::<Vec<_>>(), [(0, 0, 1), (0, 1, -1), (0, 2, 1)]);
        assert_eq!((sum.boundary(0).n_rows(), sum.boundary(0).n_columns()), (0, 4));
        assert_eq!((sum.boundary(3).n_rows(), sum.boundary(3).n_columns()), (1, 0));
        assert_eq!((sum.coboundary(2).n_rows(), sum.coboundary(2).n_columns()), (0, 1));
    }

    #[test]
    fn too_many_faces_are_refused_and_no_complex_is_a_block_of_nothing() {
        let wide = complex(&[(0..64).collect()]);
        assert!(matches!(ChainComplex::new(&wide, &Unmonitored), Err(FacesError::TooMany { .. })));
        let sum = ChainComplex::direct_sum::<FacesError>(0, |_, _| Ok(()), &Unmonitored).unwrap();
        assert_eq!((sum.n_complexes(), sum.dimension(), sum.bytes()), (0, None, 0));
        let empty = ChainComplex::new(&Facets::default(), &Unmonitored).unwrap();
        assert_eq!((empty.n_complexes(), empty.n_faces(0)), (1, 0));
    }

    #[test]
    fn wide_faces_over_many_vertices_are_numbered_too() {
        // 20 bits a vertex, 8 vertices: more than a packed key holds.
        let mut simplices: Vec<Vec<i64>> = (0..1 << 17).map(|v| vec![v]).collect();
        simplices.push((0..8).map(|i| 5 + 16000 * i).collect());
        let sum = ChainComplex::new(&complex(&simplices), &Unmonitored).unwrap();
        assert_eq!([0, 1, 2, 3, 7].map(|k| sum.n_faces(k)), [1 << 17, 28, 56, 70, 1]);
        assert_eq!(sum.boundaries(7), [7, 6, 5, 4, 3, 2, 1, 0]);
    }

    fn simplices() -> impl Strategy<Value = Vec<Vec<i64>>> {
        let simplex = proptest::collection::btree_set(0i64..9, 1..6);
        proptest::collection::vec(simplex.prop_map(|set| set.into_iter().collect()), 1..9)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn each_block_is_the_complex_alone_as_the_other_functions_have_it(
            all in proptest::collection::vec(simplices(), 1..6),
            chosen in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let facets: Vec<Facets> = all.iter().map(|simplices| complex(simplices)).collect();
            let read = |i: usize, into: &mut Facets| {
                into.clone_from(&facets[i]);
                Ok::<_, FacesError>(())
            };
            let sum = ChainComplex::direct_sum(facets.len(), read, &Unmonitored).unwrap();
            let chosen: Vec<usize> = chosen.iter().map(|index| index.index(facets.len())).collect();
            let batch = sum.select(&chosen);
            let all: Vec<usize> = (0..facets.len()).collect();
            prop_assert_eq!(&sum.select(&all), &sum);
            prop_assert_eq!(batch.dimension(), chosen.iter().map(|&i| facets[i].dimension()).max());
            for (sum, complexes) in [(&sum, &all), (&batch, &chosen)] {
                prop_assert_eq!(sum.n_complexes(), complexes.len());
                for k in 0..6 {
                    let mut faces_before = 0;
                    let boundary = sum.boundary(k);
                    let mut columns = 0;
                    for (block, &i) in complexes.iter().enumerate() {
                        let range = sum.faces_of(block, k);
                        prop_assert_eq!(range.start, faces_before);
                        faces_before = range.end;
                        let levels = faces_from(&facets[i], 0, &Unmonitored).unwrap();
                        let first = sum.faces_of(block, 0).start as u32;
                        let vertices: Vec<u32> =
                            sum.vertices(k)[range.start * (k + 1)..range.end * (k + 1)].iter().map(|v| v - first).collect();
                        let expected = levels.get(k).map_or(Vec::new(), |faces| faces.vertices().to_vec());
                        prop_assert_eq!(vertices, expected);
                        let rows = if k == 0 { 0..0 } else { sum.faces_of(block, k - 1) };
                        let mut expected: Vec<_> = boundary_matrix(&facets[i], k, &Unmonitored)
                            .unwrap()
                            .into_iter()
                            .map(|entry| (rows.start + entry.row, (range.start + entry.column) as u32, entry.value as i8))
                            .collect();
                        expected.sort_unstable();
                        let found: Vec<_> =
                            boundary.entries().filter(|(row, _, _)| rows.contains(row)).collect();
                        prop_assert_eq!(found, expected);
                        columns += range.len();
                    }
                    prop_assert_eq!(sum.n_faces(k), columns);
                    // The boundary of a boundary is nothing.
                    let next = sum.boundary(k + 1);
                    for row in 0..boundary.n_rows() {
                        let mut product = vec![0; next.n_columns()];
                        for (middle, value) in boundary.row(row) {
                            next.row(middle as usize).for_each(|(column, other)| product[column as usize] += value * other);
                        }
                        prop_assert!(product.iter().all(|&entry| entry == 0));
                    }
                }
            }
        }
    }
}
