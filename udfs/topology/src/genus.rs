//! The genus of a surface.

use bonnet_graph::{Monitor, Stopped};

use crate::manifold::Link;
use crate::{Facets, is_orientable, manifold_check};

/// The genus of a connected closed surface: the number of tori it is a sum of or, where it is not orientable, of
/// projective planes; from the Euler characteristic V - F/2 = 2 - 2g or 2 - g. `None` for every other complex.
/// O(k log k) time for k triangles.
///
/// # Errors
/// When the host wants no answer or grants no memory for it.
///
/// # Source
/// Ballester et al., MANTRA: The Manifold Triangulations Assemblage (ICLR 2025), App. A.
pub fn genus(facets: &Facets, monitor: &dyn Monitor) -> Result<Option<u64>, Stopped> {
    if facets.dimension() != 2 {
        return Ok(None);
    }
    let facets = &facets.maximal();
    if !manifold_check(facets, monitor)?.is_closed() {
        return Ok(None);
    }
    let mut link = Link::new(facets.n_vertices());
    if link.measure(facets.iter().map(|facet| facet.iter().copied())).0 != 1 {
        return Ok(None);
    }
    let deficit = 2 + facets.len() as i64 / 2 - facets.n_vertices() as i64;
    let orientable = is_orientable(facets, monitor)?;
    Ok(orientable.map(|orientable| if orientable { deficit as u64 / 2 } else { deficit as u64 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn of(simplices: &[[i64; 3]]) -> Option<u64> {
        genus(&Facets::new(simplices).unwrap(), &Unmonitored).unwrap()
    }

    #[test]
    fn sphere_torus_and_projective_plane() {
        let sphere = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]];
        assert_eq!(of(&sphere), Some(0));
        let torus: Vec<[i64; 3]> =
            (0..7).flat_map(|i| [[i, (i + 1) % 7, (i + 3) % 7], [i, (i + 2) % 7, (i + 3) % 7]]).collect();
        assert_eq!(of(&torus), Some(1));
        let plane = [
            [0, 1, 2],
            [0, 2, 3],
            [0, 3, 4],
            [0, 4, 5],
            [0, 5, 1],
            [1, 2, 4],
            [2, 3, 5],
            [3, 4, 1],
            [4, 5, 2],
            [5, 1, 3],
        ];
        assert_eq!(of(&plane), Some(1));
    }

    #[test]
    fn what_is_no_connected_closed_surface_has_none() {
        assert_eq!(of(&[[0, 1, 2]]), None);
        let two = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]];
        assert_eq!(of(&[two, two.map(|facet| facet.map(|v| v + 4))].concat()), None);
        assert_eq!(genus(&Facets::new(&[[0, 1], [1, 2], [0, 2]]).unwrap(), &Unmonitored), Ok(None));
    }
}
