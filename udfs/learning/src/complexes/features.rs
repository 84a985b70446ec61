//! Features of simplices: the input of the first layer.

use bonnet_topology::ChainComplex;

use crate::data::ComplexSet;
use crate::ground::DataError;
use crate::ground::random::{Stream, key};
use crate::options::FeatureSource;
use crate::options::forms::list;

/// Features of the simplices of one dimension in a batch, row by row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SimplexFeatures {
    /// The number of columns.
    pub width: usize,
    /// As many values for each simplex.
    pub values: Vec<f32>,
}

/// Separates the stream of random features from other uses of the seed.
const RANDOM: u64 = 13;

/// The columns of each dimension up to `dimension`.
///
/// # Errors
/// If the source has no meaning for complexes, or none were given.
pub(crate) fn widths(set: &ComplexSet, source: FeatureSource, dimension: usize) -> Result<Vec<usize>, DataError> {
    let every = |width: usize| Ok(vec![width; dimension + 1]);
    match source {
        FeatureSource::Auto | FeatureSource::Given => match &set.given {
            Some(given) => Ok((0..=dimension).map(|k| given.widths.get(k).copied().unwrap_or(1)).collect()),
            None => Err(DataError::Complex(format!("the complexes have no features; {}", stand_ins()))),
        },
        FeatureSource::Random(k) => every(k),
        FeatureSource::OneHotDegree(most) => every(most + 1),
        FeatureSource::DegreeNumber => every(1),
        FeatureSource::Connectivity => {
            Ok((0..=dimension).map(|k| if k > 0 && k < dimension { 2 } else { 1 }).collect())
        }
        FeatureSource::Identity | FeatureSource::Degree => Err(DataError::Complex(format!(
            "features are `{source}`, whose columns depend on the collection; {}",
            stand_ins()
        ))),
    }
}

/// The remedy where complexes lack the features that a run asks for.
pub(crate) fn stand_ins() -> String {
    let forms = list(FeatureSource::stand_ins().filter(|form| !form.graphs_only));
    format!("choose a stand-in with the option features: {forms}; or give a column features")
}

/// The rows of the simplices of dimension k in a batch of the complexes `numbers`, `width` columns each, where simplices are
/// read up to a dimension. O(simplices).
pub(super) fn rows(
    set: &ComplexSet,
    chain: &ChainComplex,
    numbers: &[u32],
    k: usize,
    width: usize,
    dimension: usize,
    (source, seed): (FeatureSource, u64),
) -> SimplexFeatures {
    let count = chain.n_faces(k);
    let mut values = Vec::with_capacity(count * width);
    match source {
        FeatureSource::Auto | FeatureSource::Given => {
            for &number in numbers {
                let given = set.given.as_ref().and_then(|given| given.rows[number as usize].get(k));
                values.extend_from_slice(given.map_or(&[], Vec::as_slice));
            }
        }
        FeatureSource::Random(_) => {
            // Of a complex, whatever others share its batch.
            for (at, &number) in numbers.iter().enumerate() {
                let mut stream = Stream::new(key(&[seed, RANDOM, u64::from(number), k as u64]));
                values.extend((0..chain.faces_of(at, k).len() * width).map(|_| stream.normal() as f32));
            }
        }
        FeatureSource::OneHotDegree(most) => {
            values.resize(count * width, 0.0);
            for (row, degree) in values.chunks_exact_mut(width).zip(degrees(chain, k, dimension)) {
                row[(degree as usize).min(most)] = 1.0;
            }
        }
        FeatureSource::DegreeNumber => values.extend(degrees(chain, k, dimension).iter().map(|&d| d as f32)),
        FeatureSource::Connectivity => {
            let upper = (k < dimension || k == 0).then(|| upper_neighbors(chain, k));
            let lower = (k > 0).then(|| lower_neighbors(chain, k));
            for at in 0..count {
                values.extend(upper.iter().chain(&lower).map(|numbers| numbers[at] as f32));
            }
        }
        // Refused by `widths`.
        FeatureSource::Identity | FeatureSource::Degree => values.resize(count * width, 0.0),
    }
    SimplexFeatures { width, values }
}

/// The number of upper neighbours, or of lower ones in the highest dimension that is read.
fn degrees(chain: &ChainComplex, k: usize, dimension: usize) -> Vec<u32> {
    if k < dimension || k == 0 { upper_neighbors(chain, k) } else { lower_neighbors(chain, k) }
}

/// For each simplex of dimension k how many others have a coface in common with it: each of its cofaces has k + 1 other faces,
/// and no two simplices have two cofaces in common.
fn upper_neighbors(chain: &ChainComplex, k: usize) -> Vec<u32> {
    let mut numbers = vec![0; chain.n_faces(k)];
    chain.boundaries(k + 1).iter().for_each(|&face| numbers[face as usize] += k as u32 + 1);
    numbers
}

/// For each simplex of dimension k > 0 how many others have a face in common with it, which is one face at most.
fn lower_neighbors(chain: &ChainComplex, k: usize) -> Vec<u32> {
    let mut cofaces = vec![0u32; chain.n_faces(k - 1)];
    chain.boundaries(k).iter().for_each(|&face| cofaces[face as usize] += 1);
    let others = |faces: &[u32]| faces.iter().map(|&face| cofaces[face as usize] - 1).sum();
    chain.boundaries(k).chunks_exact(k + 1).map(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Complexes, Targets};

    fn set(facets: &[Vec<i64>]) -> ComplexSet {
        ComplexSet::new(Complexes::of(&[facets.to_vec()]).unwrap(), Targets::Values(vec![Some(0.0)])).unwrap()
    }

    fn rows(set: &ComplexSet, source: FeatureSource, k: usize) -> Vec<f32> {
        let width = widths(set, source, set.dimension()).unwrap()[k];
        super::rows(set, &set.complexes.chain, &[0], k, width, set.dimension(), (source, 1)).values
    }

    #[test]
    fn connectivity_counts_neighbours_above_and_below() {
        // Two triangles at the edge 1 2 (of the vertices 0..4).
        let set = set(&[vec![0, 1, 2], vec![1, 2, 3]]);
        assert_eq!(rows(&set, FeatureSource::Connectivity, 0), [2.0, 3.0, 3.0, 2.0]);
        // Edges 01, 02, 12, 13, 23: upper, lower.
        let edges = [2.0, 3.0, 2.0, 3.0, 4.0, 4.0, 2.0, 3.0, 2.0, 3.0];
        assert_eq!(rows(&set, FeatureSource::Connectivity, 1), edges);
        assert_eq!(rows(&set, FeatureSource::Connectivity, 2), [1.0, 1.0]);
        assert_eq!(widths(&set, FeatureSource::Connectivity, 2).unwrap(), [1, 2, 1]);
    }

    #[test]
    fn one_hot_degrees_have_a_fixed_maximum() {
        let set = set(&[vec![0, 1, 2], vec![1, 2, 3]]);
        assert_eq!(rows(&set, FeatureSource::DegreeNumber, 0), [2.0, 3.0, 3.0, 2.0]);
        let one_hot = rows(&set, FeatureSource::OneHotDegree(2), 0);
        assert_eq!(one_hot, [0.0, 0.0, 1.0].repeat(4));
        assert!(widths(&set, FeatureSource::Identity, 2).unwrap_err().to_string().contains("connectivity"));
        assert!(widths(&set, FeatureSource::Given, 2).unwrap_err().to_string().contains("no features"));
    }

    #[test]
    fn random_features_are_those_of_the_complex_and_the_seed() {
        let set = set(&[vec![0, 1, 2]]);
        let first = rows(&set, FeatureSource::Random(8), 1);
        assert_eq!((first.len(), &first), (24, &rows(&set, FeatureSource::Random(8), 1)));
        assert_ne!(first, rows(&set, FeatureSource::Random(8), 0));
    }
}
