//! The connected sum of two complexes.

use crate::{Facets, FlatFacets};

/// Why there is no connected sum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SumError {
    /// Facets of one complex have different dimensions.
    #[error("the facets of the {0} complex have different dimensions; both must be pure")]
    NotPure(&'static str),
    /// The dimensions differ.
    #[error("the complexes have the dimensions {0} and {1}; both must have the same")]
    Dimensions(usize, usize),
    /// Both complexes are a single facet.
    #[error("both complexes are a single facet, and nothing is left of two; a closed complex has more")]
    SingleFacets,
    /// Points have no connected sum.
    #[error("the complexes have dimension 0; a connected sum has dimension 1 at least")]
    Points,
}

/// The connected sum of two complexes of one dimension: the lexicographically first facet of each is taken out, and their
/// vertices are identified in ascending order. Vertices are 1, ..., n: those of `a` in their order, then those of `b` that
/// are left; a vertex of no other facet than the one taken out may leave a gap. Facets are in lexicographic order.
///
/// Of connected closed manifolds it is the connected sum in the sense of topology. Where both are orientable and have no
/// symmetry that turns the orientation, there are two, and the order of the vertices decides between them (b, oriented by
/// its first facet, comes in turned against a). Work O(k log k) for k facets.
///
/// # Errors
/// If a complex is not pure, the dimensions differ or are 0, or both complexes are a single facet.
///
/// # Source
/// Lutz, Triangulated manifolds with few vertices: combinatorial manifolds (arXiv math/0506372), Sec. 4.
pub fn connected_sum(a: &Facets, b: &Facets) -> Result<FlatFacets, SumError> {
    let (a, b) = (a.maximal(), b.maximal());
    for (complex, which) in [(&a, "first"), (&b, "second")] {
        if !complex.same_dimension() {
            return Err(SumError::NotPure(which));
        }
    }
    let dimension = a.dimension();
    if dimension != b.dimension() {
        return Err(SumError::Dimensions(dimension, b.dimension()));
    }
    if dimension == 0 {
        return Err(SumError::Points);
    }
    if a.len() == 1 && b.len() == 1 {
        return Err(SumError::SingleFacets);
    }
    let mut labels = vec![0; b.n_vertices()];
    b.get(0).iter().zip(a.get(0)).for_each(|(&v, &w)| labels[v as usize] = i64::from(w) + 1);
    let rest = labels.iter_mut().filter(|label| **label == 0);
    rest.zip(a.n_vertices() as i64 + 1..).for_each(|(label, next)| *label = next);
    let left = a.iter().skip(1).map(|facet| facet.iter().map(|&v| i64::from(v) + 1).collect());
    let right = b.iter().skip(1).map(|facet| facet.iter().map(|&v| labels[v as usize]).collect());
    let mut rows: Vec<Vec<i64>> = left.chain(right).collect();
    rows.iter_mut().for_each(|row| row.sort_unstable());
    rows.sort_unstable();
    let mut sum = FlatFacets::default();
    rows.into_iter().for_each(|row| sum.push(row));
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{homology, is_orientable, manifold_check};
    use bonnet_graph::Unmonitored;

    fn torus() -> Facets {
        let facets: Vec<[i64; 3]> =
            (0..7).flat_map(|i| [[i, (i + 1) % 7, (i + 3) % 7], [i, (i + 2) % 7, (i + 3) % 7]]).collect();
        Facets::new(&facets).unwrap()
    }

    fn sum(a: &Facets, b: &Facets) -> Facets {
        let rows: Vec<Vec<i64>> = connected_sum(a, b).unwrap().iter().map(<[i64]>::to_vec).collect();
        Facets::new(&rows).unwrap()
    }

    #[test]
    fn tori_add_up_to_surfaces_of_higher_genus() {
        let mut surface = torus();
        for genus in 2..6 {
            surface = sum(&surface, &torus());
            assert_eq!(surface.n_vertices(), 4 * genus + 3);
            assert_eq!(surface.labels(), (1..=4 * genus as i64 + 3).collect::<Vec<_>>());
            assert!(manifold_check(&surface, &Unmonitored).unwrap().is_closed());
            assert_eq!(is_orientable(&surface, &Unmonitored).unwrap(), Some(true));
            assert_eq!(homology(&surface, &Unmonitored).unwrap().betti_numbers(), [1, 2 * genus as u64, 1]);
        }
    }

    #[test]
    fn a_sphere_changes_nothing_and_cycles_add_their_lengths() {
        let sphere = Facets::new(&[[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 4, 5], [1, 3, 4, 5], [2, 3, 4, 5]]).unwrap();
        let two = sum(&sphere, &sphere);
        assert_eq!((two.n_vertices(), two.len()), (6, 8));
        assert_eq!(homology(&two, &Unmonitored).unwrap().betti_numbers(), [1, 0, 0, 1]);
        let cycle = |n: i64| Facets::new(&(0..n).map(|i| [i, (i + 1) % n]).collect::<Vec<_>>()).unwrap();
        assert_eq!(sum(&cycle(4), &cycle(5)).len(), 7);
    }

    #[test]
    fn what_has_no_sum_is_refused() {
        let mixed = Facets::new(&[vec![1, 2, 3], vec![3, 4]]).unwrap();
        let points = Facets::new(&[[1], [2]]).unwrap();
        let edge = Facets::new(&[[1, 2]]).unwrap();
        assert_eq!(connected_sum(&torus(), &mixed), Err(SumError::NotPure("second")));
        assert_eq!(connected_sum(&torus(), &edge), Err(SumError::Dimensions(2, 1)));
        assert_eq!(connected_sum(&points, &points), Err(SumError::Points));
        assert_eq!(connected_sum(&edge, &edge), Err(SumError::SingleFacets));
    }
}
