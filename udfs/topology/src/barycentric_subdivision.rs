//! The barycentric subdivision of a complex.

use bonnet_graph::{Monitor, Reservation};

use crate::faces::{FacesError, MAX_FACES, faces_from};
use crate::{Facets, FlatFacets};

/// The barycentric subdivision: a vertex for every face, numbered from 1 by dimension and then lexicographically, and a
/// facet for every chain of faces from a vertex up to a facet. A facet with w vertices gives w! of them. Facets are
/// ascending and in lexicographic order. O(w w! k log(f)) time for k facets and f faces, and 4 w w! k bytes.
///
/// # Errors
/// [`FacesError::TooMany`] for more than [`MAX_FACES`] faces or facets; [`FacesError::Stopped`] when the host wants no
/// answer or grants no memory for it.
///
/// # Source
/// Munkres, Elements of Algebraic Topology (1984), Sec. 15.
pub fn barycentric_subdivision(facets: &Facets, monitor: &dyn Monitor) -> Result<FlatFacets, FacesError> {
    let facets = &facets.maximal();
    let dimension = facets.dimension();
    let too_many = FacesError::TooMany { dimension };
    let factorial = |n: usize| (1..=n).try_fold(1usize, |product, i| product.checked_mul(i));
    let chains = facets.iter().try_fold(0usize, |sum, facet| sum.checked_add(factorial(facet.len())?));
    let chains = chains.filter(|&chains| chains <= MAX_FACES).ok_or(too_many)?;
    let levels = faces_from(facets, 0, monitor)?;
    let _reservation = Reservation::new(monitor, chains * (dimension + 1) * 8)?;
    let mut first = vec![1i64];
    for level in &levels {
        first.push(first[first.len() - 1] + level.len() as i64);
    }
    let mut simplices: Vec<Vec<i64>> = Vec::new();
    let mut flat = FlatFacets::default();
    for (i, facet) in facets.iter().enumerate() {
        if i % 256 == 0 {
            monitor.check()?;
        }
        // The number of each face, by the set of its vertices within the facet.
        let numbers: Vec<i64> = (0..1usize << facet.len())
            .map(|set| {
                let face: Vec<u32> = (0..facet.len()).filter(|j| set >> j & 1 == 1).map(|j| facet[j]).collect();
                let level = face.len().wrapping_sub(1);
                levels.get(level).and_then(|faces| faces.position(&face)).map_or(0, |at| first[level] + at as i64)
            })
            .collect();
        grow(&numbers, facet.len(), 0, &mut Vec::new(), &mut simplices);
    }
    simplices.sort_unstable();
    simplices.iter().for_each(|simplex| flat.push(simplex.iter().copied()));
    Ok(flat)
}

/// All ways to add vertex after vertex to a set until it is the whole facet.
fn grow(numbers: &[i64], width: usize, set: usize, chain: &mut Vec<i64>, chains: &mut Vec<Vec<i64>>) {
    if chain.len() == width {
        chains.push(chain.clone());
        return;
    }
    for vertex in (0..width).filter(|vertex| set >> vertex & 1 == 0) {
        let larger = set | 1 << vertex;
        chain.push(numbers[larger]);
        grow(numbers, width, larger, chain, chains);
        chain.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Workspace, homology, is_orientable, manifold_check};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    #[test]
    fn an_edge_and_a_triangle() {
        let edge = barycentric_subdivision(&Facets::new(&[[7, 9]]).unwrap(), &Unmonitored).unwrap();
        assert_eq!(edge.iter().collect::<Vec<_>>(), [[1, 3], [2, 3]]);
        let triangle = barycentric_subdivision(&Facets::new(&[[1, 2, 3]]).unwrap(), &Unmonitored).unwrap();
        // Vertices 1, 2, 3; edges 12, 13, 23 are 4, 5, 6; the triangle is 7.
        let expected = [[1, 4, 7], [1, 5, 7], [2, 4, 7], [2, 6, 7], [3, 5, 7], [3, 6, 7]];
        assert_eq!(triangle.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_large_simplex_is_refused() {
        let facets = Facets::new(&[(0..20).collect::<Vec<_>>()]).unwrap();
        assert_eq!(barycentric_subdivision(&facets, &Unmonitored), Err(FacesError::TooMany { dimension: 19 }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn invariants_stay(
            simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..7, 1..5), 1..12),
        ) {
            let lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
            let facets = Facets::new(&lists).unwrap();
            let subdivision = barycentric_subdivision(&facets, &Unmonitored).unwrap();
            let finer = Facets::new(&subdivision.iter().collect::<Vec<_>>()).unwrap();
            prop_assert_eq!(homology(&facets, &Unmonitored), homology(&finer, &Unmonitored));
            prop_assert_eq!(is_orientable(&facets, &Unmonitored), is_orientable(&finer, &Unmonitored));
            prop_assert_eq!(
                manifold_check(&facets, &Unmonitored).unwrap().is_closed(),
                manifold_check(&finer, &Unmonitored).unwrap().is_closed()
            );
            let (mut before, mut after) = (Vec::new(), Vec::new());
            let mut workspace = Workspace::default();
            workspace.f_vector(&facets, &mut before, &Unmonitored).unwrap();
            workspace.f_vector(&finer, &mut after, &Unmonitored).unwrap();
            prop_assert_eq!(after[0], before.iter().sum::<u64>());
        }
    }
}
