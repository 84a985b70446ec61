//! The types of published triangulations of 3-manifolds, which the names of the library's files tell.

use std::fs;
use std::path::Path;

use bonnet_graph::Unmonitored;
use bonnet_topology::{DEFAULT_MOVES, Facets, Workspace, homeomorphism_type};

use crate::data;

/// The lists of whole numbers after `:=`.
fn facets(path: &Path) -> Facets {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = String::from_utf8_lossy(&bytes);
    let lines: String = text.lines().filter(|line| !line.starts_with('#')).collect();
    let (_, lists) = lines.split_once(":=").expect("a list of facets");
    let number = |text: &str| text.trim_matches([' ', '[']).parse::<i64>().ok();
    let facet = |text: &str| -> Vec<i64> { text.split(',').filter_map(number).collect() };
    let rows: Vec<Vec<i64>> = lists.split(']').map(facet).filter(|facet| !facet.is_empty()).collect();
    Facets::new(&rows).expect("a complex")
}

#[test]
fn published_3_manifolds_are_named_where_that_is_proven() {
    let Some(folder) = data("triangulations/lutz-library") else { return };
    let types = [
        ("Barnette_sphere", Some("S^3")),
        ("600_cell", Some("S^3")),
        ("S_3_50_1033", Some("S^3")),
        ("S_3_100_4850", Some("S^3")),
        ("S_3_1000_2990", Some("S^3")),
        // Spheres with knots among their edges.
        ("trefoil", Some("S^3")),
        ("double_trefoil", Some("S^3")),
        ("triple_trefoil", Some("S^3")),
        ("trefoil_bsd", Some("S^3")),
        ("nc_sphere", Some("S^3")),
        ("non_4_2_colorable", Some("S^3")),
        ("poincare", Some("Poincare sphere")),
        // The complex of graph homomorphisms from a pentagon to K4 (Csorba and Lutz 2006).
        ("Hom_C5_K4", Some("RP^3")),
        // First homology Z_5^3, which no known triangulation has.
        ("hyperbolic_dodecahedral_space", None),
        // Balls.
        ("rudin", None),
        ("B_3_9_18", None),
        ("bing", None),
        ("knot", None),
        // Surfaces.
        ("d2n12g6", Some("#^6 T^2")),
        ("regular_2_21_23_1", Some("#^15 T^2")),
        // No manifold.
        ("dunce_hat", None),
    ];
    for (file, expected) in types {
        let facets = facets(&Path::new(&folder).join(file));
        let found = homeomorphism_type(&facets, DEFAULT_MOVES, &mut Workspace::default(), &Unmonitored).unwrap();
        assert_eq!(found.as_deref(), expected, "{file}");
    }
}
