//! A complex under a numbering of its vertices that depends on its isomorphism class alone.

mod flags;
mod refinement;

use bonnet_graph::{Monitor, Stopped};

use crate::{Facets, FlatFacets};

/// The facets of an isomorphic complex on the vertices 1, ..., n, each ascending, in lexicographic order: the same list
/// exactly for isomorphic complexes. It is not the smallest such list.
///
/// In dimensions 2 and 3, where at most two facets meet at each ridge and a path of adjacent facets joins any two (such
/// as connected surfaces and 3-manifolds, with or without boundary), a numbering grows from any flag, an ordered facet:
/// the smallest sequence of apexes over a rare class of flags decides. About 1 us a flag, and most complexes without
/// symmetry have one or two flags to try; a complex with s symmetries has at least s. All other complexes go through
/// colour refinement and a search tree that is pruned by the automorphisms found on the way (McKay, Practical graph
/// isomorphism, 1981): a few refinements where symmetry is small or plain, exponentially many at worst.
///
/// # Errors
/// When the host wants no answer or grants no memory for it.
pub fn canonical_form(facets: &Facets, monitor: &dyn Monitor) -> Result<FlatFacets, Stopped> {
    let facets = facets.maximal();
    let labels = match flags::labels(&facets, monitor)? {
        Some(labels) => labels,
        None => refinement::labels(&facets, monitor)?,
    };
    let mut form = FlatFacets::default();
    relabelled(&facets, &labels).iter().for_each(|facet| form.push(facet.iter().map(|&v| i64::from(v) + 1)));
    Ok(form)
}

/// The facets with each vertex replaced by its label: each ascending, in lexicographic order.
fn relabelled(facets: &Facets, labels: &[u32]) -> Vec<Vec<u32>> {
    let mut rows: Vec<Vec<u32>> = facets
        .iter()
        .map(|facet| {
            let mut row: Vec<u32> = facet.iter().map(|&v| labels[v as usize]).collect();
            row.sort_unstable();
            row
        })
        .collect();
    rows.sort_unstable();
    rows
}

/// A fixed function that scatters bits (the finaliser of SplitMix64).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Complexes, SurfaceEnumeration, ThreeManifoldEnumeration};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn form(simplices: &[Vec<i64>]) -> Vec<Vec<i64>> {
        let facets = Facets::new(simplices).unwrap();
        canonical_form(&facets, &Unmonitored).unwrap().iter().map(<[i64]>::to_vec).collect()
    }

    /// The smallest list of facets over all numberings: the definition of a canonical form at its most literal.
    fn smallest(simplices: &[Vec<i64>]) -> Vec<Vec<u32>> {
        let facets = Facets::new(simplices).unwrap().maximal();
        let mut labels: Vec<u32> = (0..facets.n_vertices() as u32).collect();
        let mut best = relabelled(&facets, &labels);
        permutations(&mut labels, 0, &mut |labels| best = best.clone().min(relabelled(&facets, labels)));
        best
    }

    fn permutations(items: &mut Vec<u32>, from: usize, visit: &mut impl FnMut(&[u32])) {
        if from == items.len() {
            return visit(items);
        }
        for i in from..items.len() {
            items.swap(from, i);
            permutations(items, from + 1, visit);
            items.swap(from, i);
        }
    }

    fn rows(complexes: &Complexes, i: usize) -> Vec<Vec<i64>> {
        let size = complexes.facet_size();
        complexes.facets(i).chunks(size).map(|facet| facet.iter().map(|&v| i64::from(v)).collect()).collect()
    }

    fn renamed(simplices: &[Vec<i64>], names: &[i64]) -> Vec<Vec<i64>> {
        simplices.iter().rev().map(|simplex| simplex.iter().rev().map(|&v| names[v as usize]).collect()).collect()
    }

    #[test]
    fn a_form_is_its_own_form_and_isomorphic_to_the_complex() {
        let torus: Vec<Vec<i64>> =
            (0..7).flat_map(|i| [vec![i, (i + 1) % 7, (i + 3) % 7], vec![i, (i + 2) % 7, (i + 3) % 7]]).collect();
        let canonical = form(&torus);
        assert_eq!(form(&canonical), canonical);
        assert_eq!(canonical.len(), 14);
        let brute = smallest(&torus);
        assert_eq!(smallest(&canonical), brute);
    }

    #[test]
    fn surfaces_and_3_manifolds_of_an_enumeration_have_forms_of_their_own() {
        let mut surfaces = SurfaceEnumeration::new(9);
        let mut manifolds = ThreeManifoldEnumeration::new(8);
        let mut forms = HashSet::new();
        let mut total = 0;
        let pieces = std::iter::from_fn(|| surfaces.step(&Unmonitored).unwrap())
            .chain(std::iter::from_fn(|| manifolds.step(&Unmonitored).unwrap()));
        for piece in pieces {
            for i in 0..piece.len() {
                total += 1;
                let complex = rows(&piece, i);
                let canonical = form(&complex);
                let n = piece.n_vertices(i) as i64;
                let names: Vec<i64> = (0..n).map(|v| 100 + (v * 7 + 3) % 11 * 2000).collect();
                assert_eq!(form(&renamed(&complex, &names)), canonical);
                forms.insert(canonical);
            }
        }
        assert_eq!(total, 1 + 1 + 3 + 9 + 43 + 655 + 1 + 2 + 5 + 39);
        assert_eq!(forms.len(), total);
    }

    #[test]
    fn much_symmetry_is_no_trouble() {
        let simplex: Vec<Vec<i64>> = vec![(0..300).collect()];
        assert_eq!(form(&simplex), [(1..=300).collect::<Vec<i64>>()]);
        let points: Vec<Vec<i64>> = (0..200).map(|v| vec![v * 5]).collect();
        assert_eq!(form(&points), (1..=200).map(|v| vec![v]).collect::<Vec<_>>());
        let edges =
            |shift: i64| (0..40).map(|i| vec![(i * shift) % 80, (i * shift + 40 * shift) % 80]).collect::<Vec<_>>();
        assert_eq!(form(&edges(1)), form(&edges(7)));
        // The cross-polytope of dimension 6: 2^6 facets on 12 vertices, 46,080 symmetries.
        let cross: Vec<Vec<i64>> = (0..64).map(|mask: i64| (0..6).map(|i| 2 * i + (mask >> i & 1)).collect()).collect();
        let names = [5, 3, 11, 1, 0, 2, 4, 6, 8, 10, 7, 9];
        assert_eq!(form(&cross), form(&renamed(&cross, &names)));
        // Two triangles against one hexagon: the same degrees throughout.
        let cycles = |lengths: &[i64]| {
            let mut edges = Vec::new();
            let mut first = 0;
            for &length in lengths {
                (0..length).for_each(|i| edges.push(vec![first + i, first + (i + 1) % length]));
                first += length;
            }
            edges
        };
        assert_ne!(form(&cycles(&[3, 3])), form(&cycles(&[6])));
        assert_eq!(form(&cycles(&[3, 4, 3])), form(&cycles(&[4, 3, 3])));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn forms_are_equal_exactly_where_all_numberings_give_the_same_lists(
            a in proptest::collection::vec(proptest::collection::btree_set(0i64..6, 1..5), 1..9),
            b in proptest::collection::vec(proptest::collection::btree_set(0i64..5, 1..4), 1..5),
            c in proptest::collection::vec(proptest::collection::btree_set(0i64..5, 1..4), 1..5),
            names in Just(vec![4i64, 17, 2, 90, 11, 5]).prop_shuffle(),
        ) {
            let [a, b, c] = [a, b, c].map(|x| x.into_iter().map(|s| s.into_iter().collect()).collect::<Vec<Vec<i64>>>());
            prop_assert_eq!(form(&a), form(&renamed(&a, &names)));
            prop_assert_eq!(smallest(&form(&a)), smallest(&a));
            prop_assert_eq!(form(&b) == form(&c), smallest(&b) == smallest(&c));
        }

        /// Pure 2-complexes with two triangles at an edge at most: the way through flags, with boundaries and singular points.
        #[test]
        fn flags_give_forms_of_any_pseudomanifold(
            triangles in proptest::collection::vec(proptest::sample::subsequence(vec![0i64, 1, 2, 3, 4, 5], 3), 1..12),
            names in Just(vec![4i64, 17, 2, 90, 11, 5]).prop_shuffle(),
        ) {
            let mut chosen: Vec<Vec<i64>> = Vec::new();
            for triangle in triangles {
                let shared = |other: &Vec<i64>| other.iter().filter(|v| triangle.contains(v)).count();
                let full = (0..3).any(|k| {
                    let edge: Vec<i64> = (0..3).filter(|&i| i != k).map(|i| triangle[i]).collect();
                    chosen.iter().filter(|other| edge.iter().all(|v| other.contains(v))).count() == 2
                });
                if !full && !chosen.contains(&triangle) && (chosen.is_empty() || chosen.iter().any(|o| shared(o) == 2)) {
                    chosen.push(triangle);
                }
            }
            prop_assert_eq!(form(&chosen), form(&renamed(&chosen, &names)));
            prop_assert_eq!(smallest(&form(&chosen)), smallest(&chosen));
        }
    }
}
