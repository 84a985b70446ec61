//! The operators on the simplices of many complexes: made once for a collection, of which a batch takes its blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use bonnet_graph::{Monitor, Reservation, Stopped};
use bonnet_topology::{ChainComplex, Signs, SparseMatrix};
use rayon::prelude::*;

use crate::network::Operator;

/// Which part of a Hodge Laplacian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaplacianPart {
    /// `B_k^T B_k`, by common faces.
    Lower,
    /// `B_{k+1} B_{k+1}^T`, by common cofaces.
    Upper,
    /// The sum of both parts.
    Both,
}

/// An operator by what it is, with signs or with the absolute values of the boundary matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// `B_k^T`, k > 0.
    Coboundary { k: usize, signed: bool },
    /// `B_k`, k > 0.
    Boundary { k: usize, signed: bool },
    /// A Hodge Laplacian of the k-simplices.
    Laplacian { k: usize, part: LaplacianPart, signed: bool },
    /// The whole one, `D^-1/2 L_k D^-1/2`.
    Normalized { k: usize, signed: bool },
}

impl Kind {
    /// The dimensions of the simplices that have rows and columns.
    fn dimensions(self) -> [usize; 2] {
        match self {
            Self::Coboundary { k, .. } => [k, k - 1],
            Self::Boundary { k, .. } => [k - 1, k],
            Self::Laplacian { k, .. } | Self::Normalized { k, .. } => [k, k],
        }
    }

    /// The operator on a direct sum of complexes that are read up to a dimension: block-diagonal.
    pub(super) fn of(
        self,
        chain: &ChainComplex,
        dimension: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Operator, Stopped> {
        let value = |signed: bool| move |sign: i8| if signed { f32::from(sign) } else { 1.0 };
        match self {
            Self::Coboundary { k, signed } => operator(chain.coboundary(k - 1), value(signed), false, reservation),
            Self::Boundary { k, signed } => operator(chain.boundary(k), value(signed), false, reservation),
            Self::Laplacian { k, part, signed } => laplacian(chain, dimension, k, part, signed, reservation),
            Self::Normalized { k, signed } => {
                let whole = laplacian(chain, dimension, k, LaplacianPart::Both, signed, reservation)?;
                reservation.grow(8 * whole.n_rows())?;
                Ok(normalized(whole))
            }
        }
    }
}

fn laplacian(
    chain: &ChainComplex,
    dimension: usize,
    k: usize,
    part: LaplacianPart,
    signed: bool,
    reservation: &mut Reservation<'_>,
) -> Result<Operator, Stopped> {
    let signs = if signed { Signs::Signed } else { Signs::Unsigned };
    let (monitor, has_upper) = (reservation.monitor(), k < dimension);
    let matrix = match part {
        LaplacianPart::Both if has_upper => chain.hodge_laplacian(k, signs, monitor)?,
        LaplacianPart::Upper if has_upper => chain.laplacian_up(k, signs, monitor)?,
        LaplacianPart::Lower | LaplacianPart::Both => chain.laplacian_down(k, signs, monitor)?,
        LaplacianPart::Upper => {
            return Ok(Operator::from_rows(vec![0; chain.n_faces(k) + 1], Vec::new(), Vec::new(), true));
        }
    };
    operator(matrix, |value| value, true, reservation)
}

/// A matrix as layers read it.
fn operator<T: Copy>(
    matrix: SparseMatrix<T>,
    value: impl Fn(T) -> f32,
    symmetric: bool,
    reservation: &mut Reservation<'_>,
) -> Result<Operator, Stopped> {
    reservation.grow(Operator::matrix_bytes(matrix.n_rows(), matrix.n_entries()))?;
    let n_columns = matrix.n_columns();
    let (offsets, columns, values) = matrix.map(value).into_parts();
    Ok(match symmetric {
        true => Operator::from_rows(offsets, columns, values, true),
        false => Operator::rectangular(offsets, columns, values, n_columns),
    })
}

/// `D^-1/2 M D^-1/2`, D the sums of the absolute values of the rows; empty rows stay empty.
fn normalized(matrix: Operator) -> Operator {
    let csr = matrix.csr();
    let sums = csr.offsets.windows(2).map(|w| csr.values[w[0]..w[1]].iter().map(|v| f64::from(v.abs())).sum::<f64>());
    let roots: Vec<f64> = sums.map(|sum| if sum > 0.0 { 1.0 / sum.sqrt() } else { 0.0 }).collect();
    matrix.with_values(|row, column, value| (f64::from(value) * roots[row] * roots[column as usize]) as f32)
}

/// The operators of all complexes of a collection, and a note of those that batches had to make for themselves.
#[derive(Debug, Default)]
pub(crate) struct Operators {
    held: BTreeMap<Kind, Operator>,
    asked: Mutex<BTreeSet<Kind>>,
}

impl Operators {
    /// The operators that batches have used so far, of all complexes: in parallel by operator and, for Laplacians, by complex.
    /// The memory is that of the reservations, for as long as they live.
    ///
    /// # Errors
    /// If the host wants no answer, or refuses the memory for them.
    pub fn hold<'m>(
        &self,
        chain: &ChainComplex,
        dimension: usize,
        monitor: &'m dyn Monitor,
    ) -> Result<(Self, Vec<Reservation<'m>>), Stopped> {
        let asked: Vec<Kind> = self.asked().iter().copied().collect();
        let one = |&kind: &Kind| -> Result<_, Stopped> {
            let mut room = Reservation::new(monitor, 0)?;
            let operator = kind.of(chain, dimension, &mut room)?;
            Ok(((kind, operator), room))
        };
        let made = asked.par_iter().map(one).collect::<Result<Vec<_>, Stopped>>()?;
        let (held, rooms): (BTreeMap<Kind, Operator>, Vec<Reservation<'m>>) = made.into_iter().unzip();
        Ok((Self { held, asked: Mutex::default() }, rooms))
    }

    /// The operator of some complexes: their blocks of the one that is held, else none, which is noted.
    pub(super) fn blocks(
        &self,
        kind: Kind,
        chain: &ChainComplex,
        complexes: &[u32],
        reservation: &mut Reservation<'_>,
    ) -> Result<Option<Operator>, Stopped> {
        let Some(all) = self.held.get(&kind) else {
            self.asked().insert(kind);
            return Ok(None);
        };
        let [rows, columns] = kind.dimensions();
        let block =
            |&complex: &u32| (chain.faces_of(complex as usize, rows), chain.faces_of(complex as usize, columns));
        let blocks: Vec<_> = complexes.iter().map(block).collect();
        all.diagonal_blocks(&blocks, reservation).map(Some)
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, BTreeSet<Kind>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;
    use crate::data::Complexes;

    #[test]
    fn blocks_of_what_is_held_are_what_a_batch_makes_for_itself() {
        // A sphere, an edge, a point, a disk with a tail, and a tetrahedron, whose inside is not always read.
        let facets = [
            vec![vec![0, 1, 2], vec![0, 1, 3], vec![0, 2, 3], vec![1, 2, 3]],
            vec![vec![5, 9]],
            vec![vec![4]],
            vec![vec![0, 1, 2], vec![1, 2, 3], vec![3, 7]],
            vec![vec![0, 1, 2, 3]],
        ];
        let complexes = Complexes::of(&facets).unwrap();
        let (chain, mut room) = (&complexes.chain, Reservation::new(&Unmonitored, 0).unwrap());
        for dimension in [2, 3] {
            let mut kinds = Vec::new();
            for (k, signed) in (0..=dimension).flat_map(|k| [(k, true), (k, false)]) {
                let parts = [LaplacianPart::Lower, LaplacianPart::Upper, LaplacianPart::Both];
                kinds.extend(parts.map(|part| Kind::Laplacian { k, part, signed }));
                kinds.push(Kind::Normalized { k, signed });
                if k > 0 {
                    kinds.extend([Kind::Coboundary { k, signed }, Kind::Boundary { k, signed }]);
                }
            }
            let operators = Operators::default();
            for &kind in &kinds {
                assert!(operators.blocks(kind, chain, &[0], &mut room).unwrap().is_none());
            }
            let (held, rooms) = operators.hold(chain, dimension, &Unmonitored).unwrap();
            assert_eq!((held.held.len(), rooms.len()), (kinds.len(), kinds.len()));
            for numbers in [&[0u32, 1, 2, 3, 4][..], &[3, 4, 1], &[2], &[1, 1, 0]] {
                let chosen: Vec<usize> = numbers.iter().map(|&number| number as usize).collect();
                let batch = chain.select(&chosen);
                for &kind in &kinds {
                    let blocks = held.blocks(kind, chain, numbers, &mut room).unwrap().unwrap();
                    assert_eq!(blocks, kind.of(&batch, dimension, &mut room).unwrap(), "{kind:?} of {numbers:?}");
                }
            }
        }
    }
}
