//! The numbers of faces of a complex.

use bonnet_graph::Monitor;

use crate::faces::{FacesError, faces_from};
use crate::homology::Workspace;
use crate::{Faces, Facets};

impl Workspace {
    /// Fills in the f-vector: the number of faces of each dimension, from the vertices to the facets. Work and memory are
    /// those of listing the faces, see [`faces_from`]; below 64 vertices and 128 faces a dimension, no memory.
    ///
    /// # Errors
    /// Those of [`faces_from`].
    pub fn f_vector(
        &mut self,
        facets: &Facets,
        counts: &mut Vec<u64>,
        monitor: &dyn Monitor,
    ) -> Result<(), FacesError> {
        if !self.small.f_vector(facets, counts) {
            counts.clear();
            counts.extend(faces_from(facets, 0, monitor)?.iter().map(|level| Faces::len(level) as u64));
        }
        Ok(())
    }
}

/// The Euler characteristic of a complex with this f-vector: the alternating sum f0 - f1 + f2 - ...
pub fn euler_characteristic(f_vector: &[u64]) -> i64 {
    f_vector.iter().rev().fold(0, |sum, &faces| faces as i64 - sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn of(simplices: &[Vec<i64>]) -> Vec<u64> {
        let facets = Facets::new(simplices).unwrap();
        let mut counts = vec![7];
        Workspace::default().f_vector(&facets, &mut counts, &Unmonitored).unwrap();
        let levels = faces_from(&facets, 0, &Unmonitored).unwrap();
        assert!(counts.iter().eq(levels.iter().map(|level| level.len() as u64).collect::<Vec<_>>().iter()));
        counts
    }

    #[test]
    fn cross_polytopes_have_two_to_the_k_plus_one_times_a_binomial() {
        // The boundary of the cross polytope in dimension d has 2^(k+1) binomial(d, k+1) faces of dimension k.
        for d in 1..9u32 {
            let facets: Vec<Vec<i64>> =
                (0..1i64 << d).map(|signs| (0..i64::from(d)).map(|i| 2 * i + (signs >> i & 1)).collect()).collect();
            let counts = of(&facets);
            let mut choose = 1u64;
            for k in 0..u64::from(d) {
                choose = choose * (u64::from(d) - k) / (k + 1);
                assert_eq!(counts[k as usize], choose << (k + 1));
            }
            assert_eq!(euler_characteristic(&counts), if d % 2 == 1 { 2 } else { 0 });
        }
    }

    #[test]
    fn faces_of_simplices_of_several_dimensions_count_once() {
        assert_eq!(of(&[vec![0, 1, 2], vec![2, 1], vec![2, 3], vec![9]]), [5, 4, 1]);
        assert_eq!(euler_characteristic(&[5, 4, 1]), 2);
        assert_eq!(of(&[vec![4]]), [1]);
    }
}
