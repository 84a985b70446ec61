//! Operators on the faces of a dimension: Laplacians and adjacencies.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::small_operators::{MAX_FACES, Neighbors};
use crate::{ChainComplex, SparseMatrix};

/// Rows that one task makes.
const ROWS: usize = 4096;

/// Complexes with few faces that one task takes.
const COMPLEXES: usize = 128;

/// Whether boundary matrices count with their signs or by absolute values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    /// 1 and -1: the operators of homology.
    Signed,
    /// 1 alone: what does not depend on the order of the vertices.
    Unsigned,
}

/// Operators of a direct sum are block-diagonal. Rows are made in parallel; work and memory are linear in the entries
/// that the parts have, but for sorting a row where a complex has more than 128 faces of the dimension.
impl ChainComplex {
    /// The down part of the Hodge Laplacian of a dimension k, `B_k^T B_k`, without entries of 0. Off the diagonal an
    /// entry is 1 or -1 for two faces that share one of dimension k - 1, so `Unsigned` has the absolute values.
    ///
    /// # Errors
    /// When the host wants no answer or grants no memory for it.
    pub fn laplacian_down(
        &self,
        dimension: usize,
        signs: Signs,
        monitor: &dyn Monitor,
    ) -> Result<SparseMatrix<f32>, Stopped> {
        self.laplacian([true, false], dimension, signs, monitor)
    }

    /// The up part of the Hodge Laplacian of a dimension k, `B_{k+1} B_{k+1}^T`, without entries of 0. Off the diagonal
    /// an entry is 1 or -1 for two faces of one of dimension k + 1, so `Unsigned` has the absolute values.
    ///
    /// # Errors
    /// When the host wants no answer or grants no memory for it.
    pub fn laplacian_up(
        &self,
        dimension: usize,
        signs: Signs,
        monitor: &dyn Monitor,
    ) -> Result<SparseMatrix<f32>, Stopped> {
        self.laplacian([false, true], dimension, signs, monitor)
    }

    /// The Hodge Laplacian of a dimension k, `B_k^T B_k + B_{k+1} B_{k+1}^T`, without entries of 0: for k = 0 that of the
    /// graph, D - A. `Unsigned` is the sum of the unsigned parts, whose entries do not cancel.
    ///
    /// # Errors
    /// When the host wants no answer or grants no memory for it.
    ///
    /// # Source
    /// Lim, Hodge Laplacians on Graphs (SIAM Review 2020), Sec. 4.
    pub fn hodge_laplacian(
        &self,
        dimension: usize,
        signs: Signs,
        monitor: &dyn Monitor,
    ) -> Result<SparseMatrix<f32>, Stopped> {
        self.laplacian([true, true], dimension, signs, monitor)
    }

    fn laplacian(
        &self,
        [down, up]: [bool; 2],
        dimension: usize,
        signs: Signs,
        monitor: &dyn Monitor,
    ) -> Result<SparseMatrix<f32>, Stopped> {
        if self.is_small(dimension) {
            let below = if down && dimension > 0 { dimension as u32 + 1 } else { 0 };
            return self.small_rows(dimension, monitor, |neighbors, complex, columns, values, ends| {
                neighbors.read(self, complex, dimension, [down, up]);
                for face in 0..neighbors.rows.len() {
                    let diagonal = (below + neighbors.rows[face].degree) as f32;
                    neighbors.laplacian(face, diagonal, signs == Signs::Signed, columns, values);
                    ends.push(columns.len());
                }
            });
        }
        let below = down.then(|| self.boundary(dimension));
        let above = up.then(|| self.boundary(dimension + 1));
        let value = |sign: i8| if signs == Signs::Signed { f32::from(sign) } else { 1.0 };
        self.rows(dimension, monitor, |face, row: &mut Vec<(u32, f32)>| {
            let mut diagonal = 0.0;
            if let Some(below) = &below {
                self.each_below(dimension, below, face, |other, sign, _| row.push((other, value(sign))));
                diagonal += self.boundary_of(dimension, face).len() as f32;
            }
            if let Some(above) = &above {
                self.each_above(dimension, above, face, |other, sign, _| row.push((other, value(sign))));
                diagonal += above.row(face).len() as f32;
            }
            row.push((face as u32, diagonal));
            row.sort_unstable_by_key(|entry| entry.0);
            // Two faces may be neighbours both ways.
            row.dedup_by(|next, entry| {
                let same = next.0 == entry.0;
                if same {
                    entry.1 += next.1;
                }
                same
            });
            row.retain(|entry| entry.1 != 0.0);
        })
    }

    /// Which faces of a dimension k share a face of dimension k - 1, and which: its number is the value. Symmetric,
    /// nothing on the diagonal; no entries for dimension 0.
    ///
    /// # Errors
    /// When the host wants no answer or grants no memory for it.
    pub fn lower_adjacency(&self, dimension: usize, monitor: &dyn Monitor) -> Result<SparseMatrix<u32>, Stopped> {
        if self.is_small(dimension) {
            return self.small_rows(dimension, monitor, |neighbors, complex, columns, values, ends| {
                neighbors.read(self, complex, dimension, [true, false]);
                let first_below = if dimension > 0 { self.faces_of(complex, dimension - 1).start } else { 0 };
                for face in 0..neighbors.rows.len() {
                    let boundary = self.boundary_of(dimension, neighbors.first + face);
                    neighbors.lower(face, boundary, first_below, columns, values);
                    ends.push(columns.len());
                }
            });
        }
        let below = self.boundary(dimension);
        self.rows(dimension, monitor, |face, row| {
            self.each_below(dimension, &below, face, |other, _, shared| row.push((other, shared)));
            row.sort_unstable();
        })
    }

    /// Which faces of a dimension k are faces of one of dimension k + 1, and of which: its number is the value. Symmetric,
    /// nothing on the diagonal; for k = 0 the edges of the graph.
    ///
    /// # Errors
    /// When the host wants no answer or grants no memory for it.
    pub fn upper_adjacency(&self, dimension: usize, monitor: &dyn Monitor) -> Result<SparseMatrix<u32>, Stopped> {
        if self.is_small(dimension) {
            return self.small_rows(dimension, monitor, |neighbors, complex, columns, values, ends| {
                neighbors.read(self, complex, dimension, [false, true]);
                neighbors.read_shared_above(self, complex, dimension);
                for face in 0..neighbors.rows.len() {
                    neighbors.upper(face, columns, values);
                    ends.push(columns.len());
                }
            });
        }
        let above = self.boundary(dimension + 1);
        self.rows(dimension, monitor, |face, row| {
            self.each_above(dimension, &above, face, |other, _, shared| row.push((other, shared)));
            row.sort_unstable();
        })
    }

    /// The boundary of a face.
    fn boundary_of(&self, dimension: usize, face: usize) -> &[u32] {
        match dimension {
            0 => &[],
            _ => &self.boundaries(dimension)[face * (dimension + 1)..(face + 1) * (dimension + 1)],
        }
    }

    /// The other faces that share a face of one dimension less: each once, since two of k + 1 vertices that differ have
    /// at most k in common.
    fn each_below(&self, dimension: usize, below: &SparseMatrix<i8>, face: usize, mut each: impl FnMut(u32, i8, u32)) {
        for (omitted, &shared) in self.boundary_of(dimension, face).iter().enumerate() {
            let sign = sign(omitted);
            let others = below.row(shared as usize).filter(|&(other, _)| other != face as u32);
            others.for_each(|(other, value)| each(other, sign * value, shared));
        }
    }

    /// The other faces of those of one dimension more: each once, since two of k + 1 vertices that differ have all of at
    /// most one of k + 2.
    fn each_above(&self, dimension: usize, above: &SparseMatrix<i8>, face: usize, mut each: impl FnMut(u32, i8, u32)) {
        for (shared, value) in above.row(face) {
            let others = self.boundary_of(dimension + 1, shared as usize).iter().enumerate();
            let others = others.filter(|&(_, &other)| other != face as u32);
            others.for_each(|(omitted, &other)| each(other, value * sign(omitted), shared));
        }
    }

    /// Whether the faces of a dimension of every complex are few enough for [`Neighbors`].
    fn is_small(&self, dimension: usize) -> bool {
        (0..self.n_complexes()).all(|complex| self.faces_of(complex, dimension).len() <= MAX_FACES)
    }

    /// A square matrix on the faces of a dimension; `fill` writes a row, ascending, into an empty list.
    fn rows<T: Copy + Default + Send>(
        &self,
        dimension: usize,
        monitor: &dyn Monitor,
        fill: impl Fn(usize, &mut Vec<(u32, T)>) + Sync,
    ) -> Result<SparseMatrix<T>, Stopped> {
        let n = self.n_faces(dimension);
        self.blocks(dimension, n.div_ceil(ROWS), monitor, |block, columns, values, ends| {
            let mut row = Vec::new();
            for face in block * ROWS..n.min((block + 1) * ROWS) {
                row.clear();
                fill(face, &mut row);
                columns.extend(row.iter().map(|entry: &(u32, T)| entry.0));
                values.extend(row.iter().map(|entry| entry.1));
                ends.push(columns.len());
            }
        })
    }

    /// The same where complexes are small; `fill` adds the rows of a complex.
    fn small_rows<T: Copy + Default + Send>(
        &self,
        dimension: usize,
        monitor: &dyn Monitor,
        fill: impl Fn(&mut Neighbors, usize, &mut Vec<u32>, &mut Vec<T>, &mut Vec<usize>) + Sync,
    ) -> Result<SparseMatrix<T>, Stopped> {
        let n = self.n_complexes();
        self.blocks(dimension, n.div_ceil(COMPLEXES), monitor, |block, columns, values, ends| {
            let mut neighbors = Neighbors::default();
            for complex in block * COMPLEXES..n.min((block + 1) * COMPLEXES) {
                fill(&mut neighbors, complex, columns, values, ends);
            }
        })
    }

    /// A square matrix out of blocks of rows; `fill` writes the columns and values of a block's entries, and where each row ends.
    fn blocks<T: Copy + Default + Send>(
        &self,
        dimension: usize,
        n_blocks: usize,
        monitor: &dyn Monitor,
        fill: impl Fn(usize, &mut Vec<u32>, &mut Vec<T>, &mut Vec<usize>) + Sync,
    ) -> Result<SparseMatrix<T>, Stopped> {
        let n = self.n_faces(dimension);
        let block = |block: usize| {
            monitor.check()?;
            let (mut columns, mut values, mut ends) = (Vec::new(), Vec::new(), Vec::new());
            fill(block, &mut columns, &mut values, &mut ends);
            let reservation = Reservation::new(monitor, 2 * columns.len() * size_of::<(u32, T)>())?;
            Ok((columns, values, ends, reservation))
        };
        let mut blocks: Vec<_> = match n_blocks {
            0 => Vec::new(),
            1 => vec![block(0)?],
            _ => (0..n_blocks).into_par_iter().map(block).collect::<Result<_, Stopped>>()?,
        };
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        if blocks.len() == 1 {
            let (columns, values, ends, _reservation) = blocks.remove(0);
            offsets.extend(ends);
            return Ok(SparseMatrix::new(n, offsets, columns, values));
        }
        let total = blocks.iter().map(|(columns, ..)| columns.len()).sum();
        offsets.resize(n + 1, 0);
        let (mut columns, mut values) = (vec![0; total], vec![T::default(); total]);
        // The threads copy: their first touch of the pages takes longer than the copy.
        let (mut ends_left, mut columns_left, mut values_left) = (&mut offsets[1..], &mut columns[..], &mut values[..]);
        let mut start = 0;
        let places: Vec<_> = blocks
            .iter()
            .map(|(block, _, ends, _)| {
                let place = (
                    start,
                    ends_left.split_off_mut(..ends.len()).unwrap_or_default(),
                    columns_left.split_off_mut(..block.len()).unwrap_or_default(),
                    values_left.split_off_mut(..block.len()).unwrap_or_default(),
                );
                start += block.len();
                place
            })
            .collect();
        places.into_par_iter().zip(blocks).for_each(|((start, to_ends, to_columns, to_values), block)| {
            let (block_columns, block_values, ends, _reservation) = block;
            to_ends.iter_mut().zip(ends).for_each(|(to, end)| *to = end + start);
            to_columns.copy_from_slice(&block_columns);
            to_values.copy_from_slice(&block_values);
        });
        Ok(SparseMatrix::new(n, offsets, columns, values))
    }
}

/// The sign of leaving out the vertex at this position.
fn sign(omitted: usize) -> i8 {
    if omitted.is_multiple_of(2) { 1 } else { -1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FacesError, Facets, hodge_laplacian_spectrum};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(simplices: &[Vec<i64>]) -> ChainComplex {
        ChainComplex::new(&Facets::new(simplices).unwrap(), &Unmonitored).unwrap()
    }

    fn dense<T: Copy + Into<f64>>(matrix: &SparseMatrix<T>) -> Vec<Vec<f64>> {
        let mut dense = vec![vec![0.0; matrix.n_columns()]; matrix.n_rows()];
        matrix.entries().for_each(|(row, column, value)| dense[row][column as usize] = value.into());
        dense
    }

    fn product(a: &[Vec<f64>], b: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
        let entry = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, row)| x * row[j]).sum();
        a.iter().map(|row| (0..columns).map(|j| entry(row, j)).collect()).collect()
    }

    #[test]
    fn closed_forms_of_a_triangle_with_a_tail() {
        // Edges 12, 13, 23, 34; the triangle fills the first three.
        let complex = of(&[vec![1, 2, 3], vec![3, 4]]);
        let hodge = complex.hodge_laplacian(1, Signs::Signed, &Unmonitored).unwrap();
        // Of two edges of a triangle, the ways below and above cancel.
        let expected = [[3.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, -1.0], [0.0, 0.0, 3.0, -1.0], [0.0, -1.0, -1.0, 2.0]];
        assert_eq!(dense(&hodge), expected);
        assert_eq!(hodge.n_entries(), 8);
        let unsigned = complex.hodge_laplacian(1, Signs::Unsigned, &Unmonitored).unwrap();
        assert_eq!(dense(&unsigned)[0], [3.0, 2.0, 2.0, 0.0]);
        let graph = complex.hodge_laplacian(0, Signs::Signed, &Unmonitored).unwrap();
        assert_eq!(dense(&graph)[2], [-1.0, -1.0, 3.0, -1.0]);
        // The edge 34 meets 13 and 23 in the vertex 3, and lies in no triangle.
        let lower = complex.lower_adjacency(1, &Unmonitored).unwrap();
        assert_eq!(lower.row(3).collect::<Vec<_>>(), [(1, 2), (2, 2)]);
        let upper = complex.upper_adjacency(1, &Unmonitored).unwrap();
        assert_eq!(upper.row(0).collect::<Vec<_>>(), [(1, 0), (2, 0)]);
        assert_eq!(upper.row(3).len(), 0);
        assert_eq!(complex.lower_adjacency(0, &Unmonitored).unwrap().n_entries(), 0);
        assert_eq!(complex.upper_adjacency(2, &Unmonitored).unwrap().n_entries(), 0);
        assert_eq!(complex.upper_adjacency(5, &Unmonitored).unwrap().n_rows(), 0);
        // A vertex alone has no entry.
        assert_eq!(of(&[vec![8]]).hodge_laplacian(0, Signs::Signed, &Unmonitored).unwrap().n_entries(), 0);
    }

    #[test]
    fn many_blocks_of_rows_make_one_matrix() {
        let cycle = |_: usize, facets: &mut Facets| {
            let edges: Vec<[i64; 2]> = (0..5000).map(|i| [i, (i + 1) % 5000]).collect();
            *facets = Facets::new(&edges).unwrap();
            Ok::<_, FacesError>(())
        };
        let sum = ChainComplex::direct_sum(3, cycle, &Unmonitored).unwrap();
        let laplacian = sum.hodge_laplacian(0, Signs::Signed, &Unmonitored).unwrap();
        assert_eq!((laplacian.n_rows(), laplacian.n_entries()), (15000, 45000));
        assert_eq!(laplacian.row(10000).collect::<Vec<_>>(), [(10000, 2.0), (10001, -1.0), (14999, -1.0)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn laplacians_are_the_products_of_boundaries_and_adjacencies_their_patterns(
            simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..9, 1..5), 1..14),
            large in any::<bool>(),
        ) {
            let mut lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
            if large {
                // So many vertices, edges and triangles apart that rows are sorted.
                lists.extend((0..45).map(|i| (100 + 3 * i..103 + 3 * i).collect()));
            }
            let complex = of(&lists);
            for k in 0..5 {
                let n = complex.n_faces(k);
                for signs in [Signs::Signed, Signs::Unsigned] {
                    let values = |matrix: SparseMatrix<i8>| match signs {
                        Signs::Signed => dense(&matrix),
                        Signs::Unsigned => dense(&matrix.map(i8::abs)),
                    };
                    let down = product(&values(complex.boundary(k).transpose()), &values(complex.boundary(k)), n);
                    let up = product(&values(complex.boundary(k + 1)), &values(complex.coboundary(k)), n);
                    let found = complex.laplacian_down(k, signs, &Unmonitored).unwrap();
                    prop_assert_eq!(&dense(&found), &down);
                    prop_assert!(found.values().iter().all(|&value| value != 0.0));
                    prop_assert_eq!(&dense(&complex.laplacian_up(k, signs, &Unmonitored).unwrap()), &up);
                    let sum: Vec<Vec<f64>> =
                        down.iter().zip(&up).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect();
                    let found = complex.hodge_laplacian(k, signs, &Unmonitored).unwrap();
                    prop_assert_eq!(dense(&found), sum);
                    prop_assert!(found.values().iter().all(|&value| value != 0.0));
                    if signs == Signs::Signed && k <= complex.dimension().unwrap() {
                        let spectrum = hodge_laplacian_spectrum(&Facets::new(&lists).unwrap(), k, &Unmonitored).unwrap();
                        let trace: f32 = (0..n).flat_map(|i| found.row(i).filter(move |entry| entry.0 == i as u32)).map(|entry| entry.1).sum();
                        prop_assert!((f64::from(trace) - spectrum.iter().sum::<f64>()).abs() < 1e-8);
                    }
                }
                // By the definition: what two faces have in common, and what both are in.
                let face = |k: usize, i: usize| complex.vertices(k)[i * (k + 1)..(i + 1) * (k + 1)].to_vec();
                let lower = complex.lower_adjacency(k, &Unmonitored).unwrap();
                let upper = complex.upper_adjacency(k, &Unmonitored).unwrap();
                for i in 0..n {
                    let (mut expected_lower, mut expected_upper) = (Vec::new(), Vec::new());
                    for j in (0..n).filter(|&j| j != i) {
                        let (a, b) = (face(k, i), face(k, j));
                        let common: Vec<u32> = a.iter().copied().filter(|v| b.contains(v)).collect();
                        let mut union: Vec<u32> = a.iter().chain(&b).copied().collect();
                        union.sort_unstable();
                        union.dedup();
                        let find = |k: usize, wanted: &[u32]| (0..complex.n_faces(k)).find(|&s| face(k, s) == wanted);
                        if k > 0 && common.len() == k {
                            expected_lower.push((j as u32, find(k - 1, &common).unwrap() as u32));
                        }
                        if union.len() == k + 2 && let Some(shared) = find(k + 1, &union) {
                            expected_upper.push((j as u32, shared as u32));
                        }
                    }
                    prop_assert_eq!(lower.row(i).collect::<Vec<_>>(), expected_lower);
                    prop_assert_eq!(upper.row(i).collect::<Vec<_>>(), expected_upper);
                }
            }
        }
    }
}
