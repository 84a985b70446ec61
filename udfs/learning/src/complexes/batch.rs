//! Several complexes as one: their simplices by dimension, one complex after the other, and block-diagonal operators.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};
use bonnet_topology::{ChainComplex, Signs, SparseMatrix};

use super::features::{self, SimplexFeatures};
use super::set::{ComplexSet, Complexes};
use crate::error::BuildError;
use crate::network::Operator;
use crate::options::TrainOptions;

/// Which part of a Hodge Laplacian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaplacianPart {
    /// `B_k^T B_k`, by common faces.
    Lower,
    /// `B_{k+1} B_{k+1}^T`, by common cofaces.
    Upper,
    /// Their sum.
    Both,
}

/// Complexes of a collection as one, up to a dimension; see [`ChainComplex`] for the order of simplices and their orientation.
#[derive(Debug, Clone)]
pub struct ComplexBatch {
    chain: ChainComplex,
    dimension: usize,
    /// For each dimension where each complex's simplices start; one more at the end.
    starts: Vec<Arc<[u32]>>,
    features: Vec<SimplexFeatures>,
    /// The collection, and the numbers of these complexes in it.
    of: (Arc<Complexes>, Vec<u32>),
}

impl ComplexBatch {
    /// The complexes of some numbers, with the features that the options name, up to a dimension. O(simplices).
    ///
    /// # Errors
    /// If the host refuses the room.
    pub(crate) fn new(
        set: &ComplexSet,
        numbers: &[u32],
        widths: &[usize],
        options: &TrainOptions,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let dimension = widths.len() - 1;
        let chosen: Vec<usize> = numbers.iter().map(|&number| number as usize).collect();
        let chain = set.complexes.chain.select(&chosen);
        let features = widths.iter().enumerate().map(|(k, width)| 4 * width * chain.n_faces(k)).sum::<usize>();
        reservation.grow(chain.bytes() + features + 4 * (dimension + 1) * (numbers.len() + 1))?;
        let starts = |k: usize| {
            let ends = (0..numbers.len()).map(|complex| chain.faces_of(complex, k).end as u32);
            std::iter::once(0).chain(ends).collect()
        };
        let starts = (0..=dimension).map(starts).collect();
        let features = widths
            .iter()
            .enumerate()
            .map(|(k, &width)| features::rows(set, &chain, numbers, k, width, dimension, options));
        Ok(Self {
            features: features.collect(),
            starts,
            dimension,
            of: (Arc::clone(&set.complexes), numbers.to_vec()),
            chain,
        })
    }

    /// The highest dimension that is read.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number of complexes.
    pub fn n_complexes(&self) -> usize {
        self.chain.n_complexes()
    }

    /// The number of simplices of a dimension.
    pub fn count(&self, dimension: usize) -> usize {
        self.chain.n_faces(dimension)
    }

    /// Where the simplices of each complex start; one more at the end.
    pub fn starts(&self, dimension: usize) -> Arc<[u32]> {
        Arc::clone(&self.starts[dimension])
    }

    /// The vertices of the simplices of a dimension, `dimension + 1` each.
    pub fn simplices(&self, dimension: usize) -> &[u32] {
        self.chain.vertices(dimension)
    }

    /// The faces of the simplices of a dimension, `dimension + 1` each: without its first vertex, its second, and so on.
    pub fn faces(&self, dimension: usize) -> &[u32] {
        self.chain.boundaries(dimension)
    }

    /// The features of the simplices of a dimension.
    pub fn features(&self, dimension: usize) -> &SimplexFeatures {
        &self.features[dimension]
    }

    /// The entries of each simplex in the first eigenvectors of its complex's Hodge Laplacian, `count` a simplex, zeros where
    /// there are fewer; see [`bonnet_topology::hodge_eigenvectors`]. Those of all complexes are computed once.
    ///
    /// # Errors
    /// If the host refuses the room, or the iteration for an eigenvalue does not end.
    pub fn codes(
        &self,
        dimension: usize,
        count: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<f32>, BuildError> {
        reservation.grow(4 * self.count(dimension) * count)?;
        let (complexes, numbers) = &self.of;
        let all = complexes.codes(dimension, count, reservation.monitor())?;
        let mut rows = Vec::with_capacity(self.count(dimension) * count);
        for &number in numbers {
            let range = complexes.chain.faces_of(number as usize, dimension);
            rows.extend_from_slice(&all[range.start * count..range.end * count]);
        }
        Ok(rows)
    }

    /// `B_k^T`, from (k-1)-simplices to k-simplices, k > 0: a row for each k-simplex with the signs of its faces in its
    /// boundary; with `signed` off their absolute values.
    ///
    /// # Errors
    /// If the host refuses the room.
    pub fn coboundary(&self, k: usize, signed: bool, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
        operator(self.chain.coboundary(k - 1), |sign| value(sign, signed), false, reservation)
    }

    /// `B_k`, from k-simplices to (k-1)-simplices, k > 0: a row for each (k-1)-simplex with its cofaces.
    ///
    /// # Errors
    /// If the host refuses the room.
    pub fn boundary(&self, k: usize, signed: bool, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
        operator(self.chain.boundary(k), |sign| value(sign, signed), false, reservation)
    }

    /// The Hodge Laplacian `B_k^T B_k + B_{k+1} B_{k+1}^T` of the k-simplices, or one of its parts, of the complexes up to the
    /// dimension that is read; with `signed` off, the absolute values of the boundary matrices take their place.
    ///
    /// # Errors
    /// If the host refuses the room.
    pub fn laplacian(
        &self,
        k: usize,
        part: LaplacianPart,
        signed: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Operator, Stopped> {
        let signs = if signed { Signs::Signed } else { Signs::Unsigned };
        let (monitor, has_upper) = (reservation.monitor(), k < self.dimension);
        let matrix = match part {
            LaplacianPart::Both if has_upper => self.chain.hodge_laplacian(k, signs, monitor)?,
            LaplacianPart::Upper if has_upper => self.chain.laplacian_up(k, signs, monitor)?,
            LaplacianPart::Lower | LaplacianPart::Both => self.chain.laplacian_down(k, signs, monitor)?,
            LaplacianPart::Upper => {
                return Ok(Operator::from_rows(vec![0; self.count(k) + 1], Vec::new(), Vec::new(), true));
            }
        };
        operator(matrix, |value| value, true, reservation)
    }
}

fn value(sign: i8, signed: bool) -> f32 {
    if signed { f32::from(sign) } else { 1.0 }
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
