//! The manifold that a complex triangulates, where that can be proven.

use bonnet_graph::{Monitor, Stopped};
use num_bigint::BigUint;

use crate::bistellar::{Moves, Simplifier, vertices};
use crate::{
    Classic, FacesError, Facets, FlatFacets, Homology, ManifoldCheck, MoveError, Workspace, canonical_form,
    classic_triangulations, manifold_check,
};

/// The number of bistellar moves after which the search for a known triangulation ends by default.
pub const DEFAULT_MOVES: u64 = 100_000;
/// The 3-manifold triangulations with at most so many vertices are all known.
const CENSUS_VERTICES: usize = 10;
/// Moves between two looks at the monitor.
const MOVES_AT_ONCE: usize = 64;

/// The homeomorphism type of a closed connected manifold of dimension 1, 2 or 3; `None` for any other complex, and for a
/// 3-manifold of which no type is proven.
///
/// Dimension 1: `S^1`. Dimension 2, by the classification of surfaces: `S^2`, `T^2`, `RP^2`, `Klein bottle`, `#^g T^2` for
/// g > 1, `#^g RP^2` for g > 2. Dimension 3: `S^3`, `S^2 x S^1`, `S^2 twist S^1` (the non-orientable bundle), `RP^3` and
/// `Poincare sphere`, by one of two proofs, never by homology alone:
///
/// - With at most 10 vertices, the enumeration of all triangulations is complete, and each of the 250,359 is one of the
///   first three, whose first homology groups and orientability differ (249,225, 518 and 616 of them). So homology decides
///   there.
/// - With more, bistellar moves, which keep the type, bring the complex down to 10 vertices at most, or to a
///   triangulation isomorphic to that of [`classic_triangulations`]. The moves are the same each time. `None` after
///   `moves` of them: of the Poincare sphere, and any manifold without a triangulation of 10 vertices, none leads to 10.
///
/// A surface costs about as much as its homology; a 3-manifold with more than 10 vertices some 10 us a move, where the
/// homology is that of a name above.
///
/// # Errors
/// [`FacesError`] where homology cannot be had.
///
/// # Source
/// Lutz, Triangulated manifolds with few vertices: combinatorial 3-manifolds (arXiv math/0506372) for the census; Bjoerner
/// and Lutz, Simplicial manifolds, bistellar flips and a 16-vertex triangulation of the Poincare homology 3-sphere
/// (Experimental Mathematics 9, 2000), Sec. 2 for the moves.
pub fn homeomorphism_type(
    facets: &Facets,
    moves: u64,
    workspace: &mut Workspace,
    monitor: &dyn Monitor,
) -> Result<Option<String>, FacesError> {
    let ManifoldCheck::ClosedManifold { dimension } = manifold_check(facets, monitor)? else { return Ok(None) };
    if !(1..=3).contains(&dimension) {
        return Ok(None);
    }
    let homology = workspace.homology(facets, monitor)?;
    if homology.betti_numbers()[0] != 1 {
        return Ok(None);
    }
    match dimension {
        1 => Ok(Some("S^1".to_owned())),
        2 => {
            let betti = homology.betti_numbers();
            let orientable = betti[2] == 1;
            let genus = if orientable { betti[1] / 2 } else { betti[1] + 1 };
            Ok(Some(surface_name(orientable, genus)))
        }
        _ => Ok(type_of_3_manifold(facets, homology, moves, monitor)?.map(str::to_owned)),
    }
}

/// The name of the closed surface of a genus, the number of tori or of projective planes.
pub fn surface_name(orientable: bool, genus: u64) -> String {
    match (orientable, genus) {
        (_, 0) => "S^2".to_owned(),
        (true, 1) => "T^2".to_owned(),
        (false, 1) => "RP^2".to_owned(),
        (false, 2) => "Klein bottle".to_owned(),
        (true, genus) => format!("#^{genus} T^2"),
        (false, genus) => format!("#^{genus} RP^2"),
    }
}

/// The name of the 3-manifold with at most 10 vertices that has this homology; `None` if there is none.
pub fn census_3_manifold(homology: &Homology) -> Option<&'static str> {
    let torsion = homology.torsion_coefficients();
    match (homology.betti_numbers(), torsion[1].is_empty(), torsion[2].len()) {
        ([1, 0, 0, 1], true, 0) => Some("S^3"),
        ([1, 1, 1, 1], true, 0) => Some("S^2 x S^1"),
        ([1, 1, 0, 0], true, 1) if torsion[2][0] == BigUint::from(2u8) => Some("S^2 twist S^1"),
        _ => None,
    }
}

/// The names that have this homology: the one of few vertices, and known triangulations with more.
fn type_of_3_manifold(
    facets: &Facets,
    homology: &Homology,
    budget: u64,
    monitor: &dyn Monitor,
) -> Result<Option<&'static str>, Stopped> {
    let of_census = census_3_manifold(homology);
    if facets.n_vertices() <= CENSUS_VERTICES {
        return Ok(of_census);
    }
    let standards = standards(homology, monitor)?;
    if of_census.is_none() && standards.is_empty() {
        return Ok(None);
    }
    let mut moves = match Moves::new(facets, monitor) {
        Ok(moves) => moves,
        Err(MoveError::Stopped(reason)) => return Err(reason),
        Err(_) => return Ok(None),
    };
    let mut simplifier = Simplifier::new(0);
    let mut left = budget;
    loop {
        if moves.n_vertices() <= CENSUS_VERTICES {
            return Ok(of_census);
        }
        for (classic, form) in &standards {
            if moves.n_vertices() == classic.n_vertices() && moves.facets().len() == classic.facets.len() {
                let reached: Vec<Vec<i64>> =
                    moves.facets().map(|facet| vertices(facet).map(i64::from).collect()).collect();
                let reached = Facets::new(&reached).map(|facets| canonical_form(&facets, monitor));
                if let Ok(reached) = reached
                    && reached? == *form
                {
                    return Ok(Some(classic.name));
                }
            }
        }
        let made = simplifier.advance(&mut moves, MOVES_AT_ONCE.min(left as usize));
        left -= made as u64;
        if made == 0 {
            return Ok(None);
        }
        moves.make_room()?;
    }
}

/// The known 3-manifolds of more than 10 vertices that have this homology, with their canonical forms.
fn standards(homology: &Homology, monitor: &dyn Monitor) -> Result<Vec<(Classic, FlatFacets)>, Stopped> {
    let mut standards = Vec::new();
    for classic in classic_triangulations() {
        let torsion: Vec<String> = (0..homology.betti_numbers().len())
            .map(|dimension| {
                let mut text = String::new();
                homology.write_torsion(dimension, &mut text);
                text
            })
            .collect();
        let alike = classic.betti_numbers == homology.betti_numbers() && classic.torsion_coefficients == torsion;
        if classic.dimension == 3
            && classic.n_vertices() > CENSUS_VERTICES
            && alike
            && let Ok(facets) = Facets::new(&classic.facets)
        {
            standards.push((classic, canonical_form(&facets, monitor)?));
        }
    }
    Ok(standards)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SurfaceEnumeration, barycentric_subdivision, bistellar_walk, connected_sum, genus, is_orientable};
    use bonnet_graph::Unmonitored;
    use std::collections::BTreeMap;

    fn of(facets: &Facets) -> Option<String> {
        homeomorphism_type(facets, DEFAULT_MOVES, &mut Workspace::default(), &Unmonitored).unwrap()
    }

    fn complex(flat: &FlatFacets) -> Facets {
        Facets::new(&flat.iter().map(<[i64]>::to_vec).collect::<Vec<_>>()).unwrap()
    }

    fn classic(name: &str) -> Facets {
        let classic = classic_triangulations().into_iter().find(|classic| classic.name == name).unwrap();
        Facets::new(&classic.facets).unwrap()
    }

    #[test]
    fn surfaces_of_the_enumeration_have_the_published_types() {
        // Lutz, Enumeration and random realization of triangulated surfaces (2008), Table 3: 8 vertices.
        let mut surfaces = SurfaceEnumeration::new(8);
        let mut types: BTreeMap<String, usize> = BTreeMap::new();
        while let Some(found) = surfaces.step(&Unmonitored).unwrap() {
            for i in 0..found.len() {
                let rows: Vec<[i64; 3]> = found.facets(i).as_chunks::<3>().0.iter().map(|f| f.map(i64::from)).collect();
                let facets = Facets::new(&rows).unwrap();
                let (genus, orientable) =
                    (genus(&facets, &Unmonitored).unwrap(), is_orientable(&facets, &Unmonitored).unwrap());
                let name = of(&facets).unwrap();
                assert_eq!(Some(&name), genus.zip(orientable).map(|(g, o)| surface_name(o, g)).as_ref());
                if found.n_vertices(i) == 8 {
                    *types.entry(name).or_default() += 1;
                }
            }
        }
        let expected = [("S^2", 14), ("T^2", 7), ("RP^2", 16), ("Klein bottle", 6)];
        assert_eq!(types, expected.map(|(name, count)| (name.to_owned(), count)).into());
    }

    #[test]
    fn every_classic_has_its_own_name_as_its_type() {
        for classic in classic_triangulations() {
            let facets = Facets::new(&classic.facets).unwrap();
            let expected = (classic.dimension <= 3).then(|| classic.name.to_owned());
            assert_eq!(of(&facets), expected, "{}", classic.name);
        }
    }

    #[test]
    fn the_poincare_sphere_is_no_sphere_although_its_homology_is() {
        let poincare = classic("Poincare sphere");
        let homology = crate::homology(&poincare, &Unmonitored).unwrap();
        assert_eq!(census_3_manifold(&homology), Some("S^3"));
        assert_eq!(of(&poincare).as_deref(), Some("Poincare sphere"));
        // After some moves it has to be found again.
        let walked = complex(&bistellar_walk(&poincare, 3, 1, &Unmonitored).unwrap());
        assert_eq!(of(&walked).as_deref(), Some("Poincare sphere"));
        let sum = complex(&connected_sum(&poincare, &classic("S^3")).unwrap());
        assert_eq!(of(&sum).as_deref(), Some("Poincare sphere"));
        // Its sum with itself has the homology of a sphere, too, and no known triangulation.
        let sum = complex(&connected_sum(&poincare, &poincare).unwrap());
        assert_eq!(homeomorphism_type(&sum, 2_000, &mut Workspace::default(), &Unmonitored).unwrap(), None);
    }

    #[test]
    fn large_triangulations_are_brought_down_to_known_ones() {
        for name in ["S^3", "S^2 x S^1", "S^2 twist S^1", "RP^3"] {
            let finer = complex(&barycentric_subdivision(&classic(name), &Unmonitored).unwrap());
            assert!(finer.n_vertices() > 10);
            assert_eq!(of(&finer).as_deref(), Some(name));
            let walked = complex(&bistellar_walk(&classic(name), 400, 7, &Unmonitored).unwrap());
            assert_eq!(of(&walked).as_deref(), Some(name));
        }
    }

    #[test]
    fn no_move_no_proof_and_no_manifold_no_type() {
        let finer = complex(&barycentric_subdivision(&classic("S^3"), &Unmonitored).unwrap());
        assert_eq!(homeomorphism_type(&finer, 0, &mut Workspace::default(), &Unmonitored).unwrap(), None);
        let none: [&[[i64; 3]]; 3] = [
            &[[1, 2, 3]],
            &[[1, 2, 3], [1, 2, 4], [1, 2, 5]],
            &[[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4], [5, 6, 7], [5, 6, 8], [5, 7, 8], [6, 7, 8]],
        ];
        for simplices in none {
            assert_eq!(of(&Facets::new(simplices).unwrap()), None);
        }
        // Two manifolds that no name here has: their sums.
        let sum = connected_sum(&classic("S^2 x S^1"), &classic("S^2 x S^1")).unwrap();
        assert_eq!(of(&complex(&sum)), None);
        let sum = connected_sum(&classic("RP^3"), &classic("RP^3")).unwrap();
        assert_eq!(of(&complex(&sum)), None);
    }
}
