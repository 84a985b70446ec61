//! Whether facets can be oriented so that neighbours agree.

use bonnet_graph::{Monitor, Stopped};

use crate::Facets;
use crate::ridges::{ParitySets, Stars};

/// Whether the facets can be oriented so that the two at each ridge induce opposite orientations on it; `None` where
/// the question has no meaning: facets of different dimensions, or a ridge in three facets or more. The complex may have
/// a boundary and several components. O(d k log k) time for k facets of dimension d.
///
/// # Errors
/// When the host wants no answer or grants no memory for it.
///
/// # Source
/// Munkres, Elements of Algebraic Topology (1984), Sec. 6.
pub fn is_orientable(facets: &Facets, monitor: &dyn Monitor) -> Result<Option<bool>, Stopped> {
    let facets = &facets.maximal();
    if !facets.same_dimension() {
        return Ok(None);
    }
    if facets.dimension() == 0 {
        return Ok(Some(true));
    }
    let ridges = Stars::of(facets, 1, monitor)?;
    let mut flips = ParitySets::new(facets.len());
    let mut orientable = true;
    for (_, records) in ridges.iter() {
        match records {
            [_] => {}
            [a, b] => {
                let ((a, left_out_a), (b, left_out_b)) = (ridges.facet(*a), ridges.facet(*b));
                // Omitting vertex i gives the sign (-1)^i: equal signs ask for one facet to be turned.
                orientable &= flips.join(a as u32, b as u32, (left_out_a[0] + left_out_b[0]) % 2 == 0);
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(orientable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn of(simplices: &[&[i64]]) -> Option<bool> {
        is_orientable(&Facets::new(simplices).unwrap(), &Unmonitored).unwrap()
    }

    #[test]
    fn a_ring_of_triangles_is_orientable_unless_it_is_twisted() {
        let annulus = [[0, 1, 3], [1, 3, 4], [1, 2, 4], [2, 4, 5], [0, 2, 5], [0, 3, 5]];
        assert_eq!(of(&annulus.each_ref().map(|facet| &facet[..])), Some(true));
        let moebius = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1]];
        assert_eq!(of(&moebius.each_ref().map(|facet| &facet[..])), Some(false));
    }

    #[test]
    fn without_pairs_of_facets_there_is_no_question() {
        assert_eq!(of(&[&[1, 2], &[1, 3], &[1, 4]]), None);
        assert_eq!(of(&[&[1, 2, 3], &[3, 4]]), None);
        assert_eq!(of(&[&[1], &[2]]), Some(true));
        assert_eq!(of(&[&[1, 2]]), Some(true));
    }
}
