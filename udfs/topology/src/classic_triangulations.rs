//! Triangulations that every reader of the subject meets, with the homology that is known of their spaces.

/// A known triangulation of a closed connected manifold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classic {
    /// A short name of the triangulation: the space and the number of vertices.
    pub id: &'static str,
    /// The space.
    pub name: &'static str,
    /// The dimension of the triangulation.
    pub dimension: usize,
    /// The facets, each ascending over the vertices 1, ..., n, in lexicographic order.
    pub facets: Vec<Vec<i64>>,
    /// The ranks of its integer homology groups.
    pub betti_numbers: &'static [u64],
    /// The torsion of its integer homology groups as text, `''` where there is none.
    pub torsion_coefficients: &'static [&'static str],
    /// Whether it is orientable.
    pub orientable: bool,
    /// Where the triangulation is described.
    pub source: &'static str,
}

impl Classic {
    /// The number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.facets.iter().flatten().max().map_or(0, |&largest| largest as usize)
    }
}

/// Well-known triangulations: the boundaries of simplices (spheres of dimension 1 to 4), the octahedron, the 7-vertex
/// torus, the 6-vertex projective plane, a Klein bottle with 8 vertices, the bundles of 2-spheres over the circle with 9
/// and 10 vertices, projective 3-space with 11 and the Poincare sphere with 16. Homology as textbooks have it; cost
/// negligible.
pub fn classic_triangulations() -> Vec<Classic> {
    let sphere = |id, name, n: i64, betti_numbers, torsion_coefficients| Classic {
        id,
        name,
        dimension: n as usize - 2,
        facets: sorted((1..=n).map(|omitted| (1..=n).filter(|&v| v != omitted).collect())),
        betti_numbers,
        torsion_coefficients,
        orientable: true,
        source: "the boundary of a simplex",
    };
    vec![
        sphere("circle_3", "S^1", 3, &[1, 1], &["", ""]),
        sphere("sphere_2_4", "S^2", 4, &[1, 0, 1], &["", "", ""]),
        Classic {
            id: "octahedron",
            name: "S^2",
            dimension: 2,
            facets: sorted((0..8).map(|mask: i64| (0..3).map(|i| 2 * i + (mask >> i & 1) + 1).collect())),
            betti_numbers: &[1, 0, 1],
            torsion_coefficients: &["", "", ""],
            orientable: true,
            source: "the boundary of the octahedron",
        },
        Classic {
            id: "torus_7",
            name: "T^2",
            dimension: 2,
            facets: cyclic(7, &[&[0, 1, 3], &[0, 2, 3]]),
            betti_numbers: &[1, 2, 1],
            torsion_coefficients: &["", "", ""],
            orientable: true,
            source: "Moebius, Mittheilungen aus Moebius' Nachlass (1886); Csaszar, A polyhedron without diagonals (1949)",
        },
        Classic {
            id: "projective_plane_6",
            name: "RP^2",
            dimension: 2,
            facets: listed(&PROJECTIVE_PLANE),
            betti_numbers: &[1, 0, 0],
            torsion_coefficients: &["", "Z_2", ""],
            orientable: false,
            source: "the icosahedron with opposite points identified",
        },
        Classic {
            id: "klein_bottle_8",
            name: "Klein bottle",
            dimension: 2,
            facets: listed(&KLEIN_BOTTLE),
            betti_numbers: &[1, 1, 0],
            torsion_coefficients: &["", "Z_2", ""],
            orientable: false,
            source: "the first of six with 8 vertices in enumerate_surfaces; no Klein bottle has fewer (Franklin 1934)",
        },
        sphere("sphere_3_5", "S^3", 5, &[1, 0, 0, 1], &["", "", "", ""]),
        Classic {
            id: "sphere_bundle_9",
            name: "S^2 twist S^1",
            dimension: 3,
            facets: cyclic(9, &STACKED),
            betti_numbers: &[1, 1, 0, 0],
            torsion_coefficients: &["", "", "Z_2", ""],
            orientable: false,
            source: "Walkup, The lower bound conjecture for 3- and 4-manifolds (1970); Kuehnel, Higher dimensional \
                     analogues of Csaszar's torus (1986)",
        },
        Classic {
            id: "sphere_product_10",
            name: "S^2 x S^1",
            dimension: 3,
            facets: cyclic(10, &STACKED),
            betti_numbers: &[1, 1, 1, 1],
            torsion_coefficients: &["", "", "", ""],
            orientable: true,
            source: "Walkup, The lower bound conjecture for 3- and 4-manifolds (1970); Kuehnel and Lassmann, Permuted \
                     difference cycles and triangulated sphere bundles (1996)",
        },
        Classic {
            id: "projective_space_11",
            name: "RP^3",
            dimension: 3,
            facets: listed(&PROJECTIVE_SPACE),
            betti_numbers: &[1, 0, 0, 1],
            torsion_coefficients: &["", "Z_2", "", ""],
            orientable: true,
            source: "the 16-cell, subdivided, with opposite points identified, and bistellar moves; 11 vertices are the \
                     fewest (Walkup 1970)",
        },
        Classic {
            id: "poincare_sphere_16",
            name: "Poincare sphere",
            dimension: 3,
            facets: listed(&POINCARE_SPHERE),
            betti_numbers: &[1, 0, 0, 1],
            torsion_coefficients: &["", "", "", ""],
            orientable: true,
            source: "Bjoerner and Lutz, Simplicial manifolds, bistellar flips and a 16-vertex triangulation of the \
                     Poincare homology 3-sphere (Experimental Mathematics 9, 2000)",
        },
        sphere("sphere_4_6", "S^4", 6, &[1, 0, 0, 0, 1], &["", "", "", "", ""]),
    ]
}

fn sorted(facets: impl Iterator<Item = Vec<i64>>) -> Vec<Vec<i64>> {
    let mut facets: Vec<Vec<i64>> = facets.collect();
    facets.iter_mut().for_each(|facet| facet.sort_unstable());
    facets.sort_unstable();
    facets
}

/// The facets that turning the vertices 1, ..., n makes of some.
fn cyclic(n: i64, orbits: &[&[i64]]) -> Vec<Vec<i64>> {
    sorted((0..n).flat_map(|turn| orbits.iter().map(move |orbit| orbit.iter().map(|v| (v + turn) % n + 1).collect())))
}

fn listed<const W: usize>(facets: &[[u8; W]]) -> Vec<Vec<i64>> {
    facets.iter().map(|facet| facet.iter().map(|&v| i64::from(v)).collect()).collect()
}

/// The boundary of a ring of 4-simplices, each on five vertices in a row.
const STACKED: [&[i64]; 3] = [&[0, 1, 2, 4], &[0, 1, 3, 4], &[0, 2, 3, 4]];

#[rustfmt::skip]
const PROJECTIVE_PLANE: [[u8; 3]; 10] = [
    [1, 2, 3], [1, 2, 4], [1, 3, 5], [1, 4, 6], [1, 5, 6], [2, 3, 6], [2, 4, 5], [2, 5, 6], [3, 4, 5], [3, 4, 6],
];

#[rustfmt::skip]
const KLEIN_BOTTLE: [[u8; 3]; 16] = [
    [1, 2, 3], [1, 2, 5], [1, 3, 4], [1, 4, 5], [2, 3, 6], [2, 4, 6], [2, 4, 7], [2, 5, 7],
    [3, 4, 7], [3, 5, 6], [3, 5, 8], [3, 7, 8], [4, 5, 8], [4, 6, 8], [5, 6, 7], [6, 7, 8],
];

#[rustfmt::skip]
const PROJECTIVE_SPACE: [[u8; 4]; 40] = [
    [1, 2, 3, 4], [1, 2, 3, 8], [1, 2, 4, 7], [1, 2, 7, 8], [1, 3, 4, 6], [1, 3, 6, 8], [1, 4, 6, 7], [1, 6, 7, 8],
    [2, 3, 4, 5], [2, 3, 5, 11], [2, 3, 8, 11], [2, 4, 5, 10], [2, 4, 7, 10], [2, 5, 6, 10], [2, 5, 6, 11],
    [2, 6, 9, 10], [2, 6, 9, 11], [2, 7, 8, 9], [2, 7, 9, 10], [2, 8, 9, 11], [3, 4, 5, 9], [3, 4, 6, 9],
    [3, 5, 7, 9], [3, 5, 7, 11], [3, 6, 8, 10], [3, 6, 9, 10], [3, 7, 9, 10], [3, 7, 10, 11], [3, 8, 10, 11],
    [4, 5, 8, 9], [4, 5, 8, 10], [4, 6, 7, 11], [4, 6, 9, 11], [4, 7, 10, 11], [4, 8, 9, 11], [4, 8, 10, 11],
    [5, 6, 7, 8], [5, 6, 7, 11], [5, 6, 8, 10], [5, 7, 8, 9],
];

#[rustfmt::skip]
const POINCARE_SPHERE: [[u8; 4]; 90] = [
    [1, 2, 4, 9], [1, 2, 4, 15], [1, 2, 6, 14], [1, 2, 6, 15], [1, 2, 9, 14], [1, 3, 4, 12], [1, 3, 4, 15],
    [1, 3, 7, 10], [1, 3, 7, 12], [1, 3, 10, 15], [1, 4, 9, 12], [1, 5, 6, 13], [1, 5, 6, 14], [1, 5, 8, 11],
    [1, 5, 8, 13], [1, 5, 11, 14], [1, 6, 13, 15], [1, 7, 8, 10], [1, 7, 8, 11], [1, 7, 11, 12], [1, 8, 10, 13],
    [1, 9, 11, 12], [1, 9, 11, 14], [1, 10, 13, 15], [2, 3, 5, 10], [2, 3, 5, 11], [2, 3, 7, 10], [2, 3, 7, 13],
    [2, 3, 11, 13], [2, 4, 9, 13], [2, 4, 11, 13], [2, 4, 11, 15], [2, 5, 8, 11], [2, 5, 8, 12], [2, 5, 10, 12],
    [2, 6, 10, 12], [2, 6, 10, 14], [2, 6, 12, 15], [2, 7, 9, 13], [2, 7, 9, 14], [2, 7, 10, 14], [2, 8, 11, 15],
    [2, 8, 12, 15], [3, 4, 5, 14], [3, 4, 5, 15], [3, 4, 12, 14], [3, 5, 10, 15], [3, 5, 11, 14], [3, 7, 12, 13],
    [3, 11, 13, 14], [3, 12, 13, 14], [4, 5, 6, 7], [4, 5, 6, 14], [4, 5, 7, 15], [4, 6, 7, 11], [4, 6, 10, 11],
    [4, 6, 10, 14], [4, 7, 11, 15], [4, 8, 9, 12], [4, 8, 9, 13], [4, 8, 10, 13], [4, 8, 10, 14], [4, 8, 12, 14],
    [4, 10, 11, 13], [5, 6, 7, 13], [5, 7, 9, 13], [5, 7, 9, 15], [5, 8, 9, 12], [5, 8, 9, 13], [5, 9, 10, 12],
    [5, 9, 10, 15], [6, 7, 11, 12], [6, 7, 12, 13], [6, 10, 11, 12], [6, 12, 13, 15], [7, 8, 10, 14],
    [7, 8, 11, 15], [7, 8, 14, 15], [7, 9, 14, 15], [8, 12, 14, 15], [9, 10, 11, 12], [9, 10, 11, 16],
    [9, 10, 15, 16], [9, 11, 14, 16], [9, 14, 15, 16], [10, 11, 13, 16], [10, 13, 15, 16], [11, 13, 14, 16],
    [12, 13, 14, 15], [13, 14, 15, 16],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DEFAULT_MOVES, Facets, ManifoldCheck, Workspace, canonical_form, homeomorphism_type, homology, is_orientable,
        manifold_check,
    };
    use bonnet_graph::Unmonitored;

    fn by_id(id: &str) -> Facets {
        let classic = classic_triangulations().into_iter().find(|classic| classic.id == id).unwrap();
        Facets::new(&classic.facets).unwrap()
    }

    #[test]
    fn each_is_a_closed_manifold_with_the_homology_of_its_space() {
        for classic in classic_triangulations() {
            let facets = Facets::new(&classic.facets).unwrap();
            assert_eq!(facets.labels(), (1..=classic.n_vertices() as i64).collect::<Vec<_>>(), "{}", classic.id);
            assert_eq!(facets.to_string(), facets.maximal().to_string(), "{}", classic.id);
            assert_eq!(facets.dimension(), classic.dimension);
            let check = manifold_check(&facets, &Unmonitored).unwrap();
            if classic.dimension <= 3 {
                assert_eq!(check, ManifoldCheck::ClosedManifold { dimension: classic.dimension }, "{}", classic.id);
            }
            assert!(check.is_closed());
            assert_eq!(is_orientable(&facets, &Unmonitored).unwrap(), Some(classic.orientable), "{}", classic.id);
            let homology = homology(&facets, &Unmonitored).unwrap();
            assert_eq!(homology.betti_numbers(), classic.betti_numbers, "{}", classic.id);
            for (dimension, torsion) in classic.torsion_coefficients.iter().enumerate() {
                let mut text = String::new();
                homology.write_torsion(dimension, &mut text);
                assert_eq!(text, *torsion, "{}", classic.id);
            }
        }
    }

    #[test]
    fn they_have_the_numbers_of_vertices_and_facets_of_the_literature() {
        let size = |id| (by_id(id).n_vertices(), by_id(id).len());
        assert_eq!(size("torus_7"), (7, 14));
        assert_eq!(size("projective_plane_6"), (6, 10));
        assert_eq!(size("klein_bottle_8"), (8, 16));
        assert_eq!(size("sphere_bundle_9"), (9, 27));
        assert_eq!(size("sphere_product_10"), (10, 30));
        assert_eq!(size("projective_space_11"), (11, 40));
        assert_eq!(size("poincare_sphere_16"), (16, 90));
    }

    #[test]
    fn the_projective_plane_is_the_icosahedron_with_opposite_points_identified() {
        // North pole 0, a pentagon 1..=5 below it; the opposite of a vertex bears its number.
        let mut facets = Vec::new();
        for i in 0..5 {
            let (a, b, across) = (i + 1, (i + 1) % 5 + 1, (i + 3) % 5 + 1);
            facets.push([0, a, b]);
            facets.push([a, b, across]);
        }
        let quotient = Facets::new(&facets).unwrap();
        let form = |facets: &Facets| canonical_form(facets, &Unmonitored).unwrap();
        assert_eq!(form(&quotient), form(&by_id("projective_plane_6")));
    }

    /// The barycentric subdivision of the boundary of the 16-cell with each face identified with its opposite.
    fn projective_space() -> Facets {
        let mut facets = std::collections::BTreeSet::new();
        let mut numbers = std::collections::BTreeMap::new();
        for mask in 0..16i64 {
            for order in 0..256usize {
                let axes = [order % 4, order / 4 % 4, order / 16 % 4, order / 64];
                if (0..4).any(|axis| !axes.contains(&axis)) {
                    continue;
                }
                let chain = (1..=4).map(|length| {
                    let face = |flip: i64| {
                        let mut face: Vec<i64> =
                            axes[..length].iter().map(|&axis| 2 * axis as i64 + ((mask >> axis & 1) ^ flip)).collect();
                        face.sort_unstable();
                        face
                    };
                    let next = numbers.len() as i64;
                    *numbers.entry(face(0).min(face(1))).or_insert(next)
                });
                let mut facet: Vec<i64> = chain.collect();
                facet.sort_unstable();
                facets.insert(facet);
            }
        }
        Facets::new(&facets.into_iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn projective_space_is_the_16_cell_with_opposite_points_identified() {
        let quotient = projective_space();
        assert_eq!((quotient.n_vertices(), quotient.len()), (40, 192));
        // The type comes from moves that lead to the triangulation with 11 vertices.
        let found = homeomorphism_type(&quotient, DEFAULT_MOVES, &mut Workspace::default(), &Unmonitored).unwrap();
        assert_eq!(found.as_deref(), Some("RP^3"));
    }
}
