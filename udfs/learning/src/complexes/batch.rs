//! Several complexes as one: their simplices by dimension, one complex after the other, and block-diagonal operators.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};
use bonnet_topology::ChainComplex;

use super::features::{self, SimplexFeatures};
use super::operators::{Kind, LaplacianPart, Operators};
use crate::data::{ComplexSet, Complexes};
use crate::ground::BuildError;
use crate::network::Operator;
use crate::options::FeatureSource;

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
    operators: Arc<Operators>,
}

impl ComplexBatch {
    /// The complexes of some numbers, with the features of a source, drawn by a seed, up to a dimension. O(simplices).
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub(crate) fn new(
        set: &ComplexSet,
        numbers: &[u32],
        widths: &[usize],
        (source, seed): (FeatureSource, u64),
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
            .map(|(k, &width)| features::rows(set, &chain, numbers, k, width, dimension, (source, seed)));
        Ok(Self {
            features: features.collect(),
            starts,
            dimension,
            of: (Arc::clone(&set.complexes), numbers.to_vec()),
            operators: Arc::default(),
            chain,
        })
    }

    /// The batch with operators out of those of the collection, where they are held.
    pub(crate) fn with_operators(self, operators: &Arc<Operators>) -> Self {
        Self { operators: Arc::clone(operators), ..self }
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
    /// If the host refuses the memory, or the iteration for an eigenvalue does not end.
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
    /// If the host refuses the memory.
    pub fn coboundary(&self, k: usize, signed: bool, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
        self.operator(Kind::Coboundary { k, signed }, reservation)
    }

    /// `B_k`, from k-simplices to (k-1)-simplices, k > 0: a row for each (k-1)-simplex with its cofaces.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn boundary(&self, k: usize, signed: bool, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
        self.operator(Kind::Boundary { k, signed }, reservation)
    }

    /// The Hodge Laplacian `B_k^T B_k + B_{k+1} B_{k+1}^T` of the k-simplices, or one of its parts, of the complexes up to the
    /// dimension that is read; with `signed` off, the absolute values of the boundary matrices take their place.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn laplacian(
        &self,
        k: usize,
        part: LaplacianPart,
        signed: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Operator, Stopped> {
        self.operator(Kind::Laplacian { k, part, signed }, reservation)
    }

    /// `D^-1/2 L_k D^-1/2` of the Hodge Laplacian L_k, D the sums of the absolute values of its rows; empty rows stay empty.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn normalized_laplacian(
        &self,
        k: usize,
        signed: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Operator, Stopped> {
        self.operator(Kind::Normalized { k, signed }, reservation)
    }

    /// Blocks of the collection's operator where that is held, else made of these complexes: the same matrix.
    fn operator(&self, kind: Kind, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
        let (complexes, numbers) = &self.of;
        match self.operators.blocks(kind, &complexes.chain, numbers, reservation)? {
            Some(operator) => Ok(operator),
            None => kind.of(&self.chain, self.dimension, reservation),
        }
    }
}
