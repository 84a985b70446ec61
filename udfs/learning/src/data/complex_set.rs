//! A collection of complexes with a target each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bonnet_graph::Monitor;
use bonnet_topology::{ChainComplex, SpectrumError, hodge_eigenvectors};

use super::{Split, Targets};
use crate::ground::DataError;
use crate::options::{FeatureSource, SplitError, SplitScheme};

/// Codes of all complexes, by dimension and width.
type Codes = BTreeMap<(usize, usize), Arc<[f32]>>;

/// The complexes of a collection, with what is computed of them once.
#[derive(Debug)]
pub struct Complexes {
    pub(crate) chain: ChainComplex,
    /// By dimension and number of vectors.
    codes: Mutex<Codes>,
}

impl From<ChainComplex> for Complexes {
    fn from(chain: ChainComplex) -> Self {
        Self { chain, codes: Mutex::default() }
    }
}

impl Complexes {
    /// The complexes of some lists of facets.
    ///
    /// # Errors
    /// If a list is no complex: says which, from 0, and why.
    #[cfg(test)]
    pub(crate) fn of(facets: &[Vec<Vec<i64>>]) -> Result<Self, String> {
        let read = |i: usize, into: &mut bonnet_topology::Facets| {
            *into =
                bonnet_topology::Facets::new(&facets[i]).map_err(|error| ReadError(format!("complex {i}: {error}")))?;
            Ok::<(), ReadError>(())
        };
        let chain = ChainComplex::direct_sum(facets.len(), read, &bonnet_graph::Unmonitored);
        chain.map(Self::from).map_err(|error| error.0)
    }

    /// The entries of all simplices of a dimension in the first eigenvectors of their complexes' Hodge Laplacians.
    pub(crate) fn codes(
        &self,
        dimension: usize,
        count: usize,
        monitor: &dyn Monitor,
    ) -> Result<Arc<[f32]>, SpectrumError> {
        let known = || self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(codes) = known().get(&(dimension, count)) {
            return Ok(Arc::clone(codes));
        }
        // No lock is held meanwhile: a thread that waits for its kernels may take up another run.
        let found = hodge_eigenvectors(&self.chain, dimension, count, monitor)?;
        let codes: Arc<[f32]> = found.vectors.iter().map(|&x| x as f32).collect();
        known().insert((dimension, count), Arc::clone(&codes));
        Ok(codes)
    }
}

/// Why facets were not read.
#[cfg(test)]
struct ReadError(String);

#[cfg(test)]
impl From<bonnet_topology::FacesError> for ReadError {
    fn from(error: bonnet_topology::FacesError) -> Self {
        Self(error.to_string())
    }
}

/// Complexes with features of their simplices, if there are some, and what is to be predicted of each.
#[derive(Debug, Clone)]
pub struct ComplexSet {
    pub(crate) complexes: Arc<Complexes>,
    pub(crate) given: Option<Arc<GivenFeatures>>,
    pub(crate) targets: Targets,
}

/// Features of the simplices of every complex.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GivenFeatures {
    /// The columns of each dimension.
    pub widths: Vec<usize>,
    /// For each complex and dimension the rows, one after the other.
    pub rows: Vec<Vec<Vec<f32>>>,
}

impl ComplexSet {
    /// Joins the complexes with their targets.
    ///
    /// # Errors
    /// If lengths disagree or a target cannot be learnt.
    pub fn new(complexes: impl Into<Arc<Complexes>>, targets: Targets) -> Result<Self, DataError> {
        let complexes = complexes.into();
        let graphs = complexes.chain.n_complexes();
        if targets.len() != graphs {
            return Err(DataError::Targets { graphs, found: targets.len() });
        }
        targets.check("complex")?;
        Ok(Self { complexes, given: None, targets })
    }

    /// Adds features of the simplices: `rows[c][k]` holds, row by row, as many columns for each k-simplex of complex c, in
    /// the order of [`ChainComplex`]. The lists of a complex may end early: simplices of the dimensions that are left
    /// out have the mean of their vertices' features.
    ///
    /// # Errors
    /// If rows are missing, have other lengths or hold what is not finite.
    pub fn with_features(mut self, mut rows: Vec<Vec<Vec<f32>>>) -> Result<Self, DataError> {
        let chain = &self.complexes.chain;
        if rows.len() != self.len() {
            let (n, found) = (self.len(), rows.len());
            return Err(DataError::Complex(format!("there are {n} complexes, but features of {found}")));
        }
        let mut widths = vec![None; self.dimension() + 1];
        for (at, rows) in rows.iter_mut().enumerate() {
            let count = |k: usize| chain.faces_of(at, k).len();
            let columns_of = |k: usize, values: &[f32]| {
                let count = count(k);
                if values.is_empty() || !values.len().is_multiple_of(count.max(1)) {
                    return Err(DataError::Complex(format!(
                        "complex {at} has {count} simplices of dimension {k}, but {} numbers as their features",
                        values.len()
                    )));
                }
                Ok(values.len() / count.max(1))
            };
            let top = (0..widths.len()).rev().find(|&k| count(k) > 0).unwrap_or(0);
            let vertices = rows.first().cloned().unwrap_or_default();
            let width = columns_of(0, &vertices)?;
            if rows.len() > top + 1 {
                let found = rows.len() - 1;
                return Err(DataError::Complex(format!(
                    "complex {at} has dimension {top}, but features of dimension {found}"
                )));
            }
            for k in rows.len()..=top {
                rows.push(means(chain, at, k, &vertices, width));
            }
            for (k, values) in rows.iter().enumerate() {
                let columns = columns_of(k, values)?;
                let known = *widths[k].get_or_insert(columns);
                if known != columns {
                    return Err(DataError::Complex(format!(
                        "the simplices of dimension {k} have {columns} features in complex {at}, where {known} come first"
                    )));
                }
                if values.iter().any(|value| !value.is_finite()) {
                    return Err(DataError::Complex(format!("a feature of complex {at} is not finite")));
                }
            }
        }
        let widths = widths.into_iter().map(|width| width.unwrap_or(1)).collect();
        self.given = Some(Arc::new(GivenFeatures { widths, rows }));
        Ok(self)
    }

    /// The source that `auto` stands for here: the given features where there are some, else connectivity. Any other source is
    /// itself.
    pub fn input(&self, source: FeatureSource) -> FeatureSource {
        source.or_stand_in(self.given.is_some(), FeatureSource::Connectivity)
    }

    /// The number of complexes.
    pub fn len(&self) -> usize {
        self.complexes.chain.n_complexes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest dimension of a complex.
    pub fn dimension(&self) -> usize {
        self.complexes.chain.dimension().unwrap_or(0)
    }

    /// The targets.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Draws a split of the complexes whose target is known; vectors have the classes of equal vectors.
    ///
    /// # Errors
    /// For a scheme that needs classes or times which the complexes have not, and for `public`.
    pub fn split(&self, scheme: SplitScheme, seed: u64) -> Result<Split, SplitError> {
        self.targets.split(scheme, None, seed)
    }

    /// A stored split. Complexes without a target are left out.
    ///
    /// # Errors
    /// If a complex does not exist, or stands in a part twice or in two parts.
    pub fn given_split(&self, train: &[u32], val: &[u32], test: &[u32]) -> Result<Split, SplitError> {
        self.targets.given_split("complex", train, val, test)
    }
}

/// The mean of the features of each simplex's vertices.
fn means(chain: &ChainComplex, complex: usize, k: usize, vertices: &[f32], width: usize) -> Vec<f32> {
    let (share, first) = (1.0 / (k + 1) as f32, chain.faces_of(complex, 0).start);
    let range = chain.faces_of(complex, k);
    let mut rows = vec![0.0; range.len() * width];
    let simplices = &chain.vertices(k)[range.start * (k + 1)..range.end * (k + 1)];
    for (row, simplex) in rows.chunks_exact_mut(width).zip(simplices.chunks_exact(k + 1)) {
        for &v in simplex {
            row.iter_mut().zip(&vertices[(v as usize - first) * width..]).for_each(|(sum, x)| *sum += share * x);
        }
    }
    rows
}
