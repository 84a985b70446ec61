use bonnet_graph::Unmonitored;
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;

use super::*;
use crate::faces::faces_from;
use crate::homology::smith::Integer;

/// Betti numbers and torsion by both ways, which must agree.
fn of(simplices: &[Vec<i64>]) -> (Vec<u64>, Vec<String>) {
    let facets = Facets::new(simplices).unwrap();
    let mut large = Homology::default();
    sparse::homology(&facets, &mut large, &Unmonitored).unwrap();
    let mut small = Homology::default();
    if small::Small::default().homology(&facets, &mut small) {
        assert_eq!(small, large, "{facets}");
    }
    (large.betti.clone(), torsion(&large))
}

fn torsion(homology: &Homology) -> Vec<String> {
    let text = |dimension| {
        let mut text = String::new();
        homology.write_torsion(dimension, &mut text);
        text
    };
    (0..homology.torsion.len()).map(text).collect()
}

/// The definition: the Smith normal form of every whole boundary matrix, over big integers.
fn by_definition(simplices: &[Vec<i64>]) -> (Vec<u64>, Vec<Vec<BigUint>>) {
    let levels = faces_from(&Facets::new(simplices).unwrap(), 0, &Unmonitored).unwrap();
    let form = |k: usize| {
        if k == 0 || k >= levels.len() {
            return (0, Vec::new());
        }
        let column = |i| {
            let mut column = vec![BigInt::of(0); levels[k - 1].len()];
            levels[k].boundary(&levels[k - 1], i).for_each(|(row, sign)| column[row] = BigInt::of(sign));
            column
        };
        smith::smith((0..levels[k].len()).map(column).collect(), &Unmonitored).unwrap().unwrap()
    };
    let forms: Vec<_> = (0..=levels.len()).map(form).collect();
    (0..levels.len()).map(|k| ((levels[k].len() - forms[k].0 - forms[k + 1].0) as u64, forms[k + 1].1.clone())).unzip()
}

/// The boundary of a simplex: a sphere.
fn sphere(dimension: usize) -> Vec<Vec<i64>> {
    let n = dimension as i64 + 2;
    (0..n).map(|omitted| (0..n).filter(|&v| v != omitted).collect()).collect()
}

/// Moore spaces: a disc glued along a circle that it winds round `n` times.
fn moore(n: i64) -> Vec<Vec<i64>> {
    // Vertices 0, 1, 2 are the circle; a ring of 3 n vertices, then the centre.
    let ring = |i: i64| 3 + i.rem_euclid(3 * n);
    let mut facets = Vec::new();
    for i in 0..3 * n {
        facets.push(vec![i % 3, (i + 1) % 3, ring(i)]);
        facets.push(vec![(i + 1) % 3, ring(i), ring(i + 1)]);
        facets.push(vec![ring(i), ring(i + 1), 3 + 3 * n]);
    }
    facets
}

#[test]
fn spheres_points_and_simplices() {
    for dimension in 1..8 {
        let mut betti = vec![0; dimension + 1];
        betti[0] = 1;
        assert_eq!(of(&[(0..=dimension as i64).collect()]).0, betti);
        betti[dimension] = 1;
        assert_eq!(of(&sphere(dimension)), (betti, vec![String::new(); dimension + 1]));
    }
    assert_eq!(of(&[vec![5]]).0, [1]);
    assert_eq!(of(&[vec![5], vec![9], vec![5]]).0, [2]);
    // Two points, a circle, a triangle with a tail.
    assert_eq!(of(&[vec![1], vec![2], vec![3, 4], vec![4, 5], vec![3, 5], vec![6, 7, 8], vec![8, 9]]).0, [4, 1, 0]);
}

#[test]
fn moore_spaces_have_one_cyclic_group() {
    for n in 1..40 {
        let (betti, torsion) = of(&moore(n));
        assert_eq!(betti, [1, 0, 0], "{n}");
        assert_eq!(torsion[1], if n == 1 { String::new() } else { format!("Z_{n}") });
        assert_eq!((torsion[0].as_str(), torsion[2].as_str()), ("", ""));
    }
}

#[test]
fn torsion_is_given_by_invariant_factors() {
    // A wedge of Moore spaces: Z_4 + Z_6 = Z_2 + Z_12.
    let mut facets = moore(4);
    facets
        .extend(moore(6).into_iter().map(|facet| facet.into_iter().map(|v| if v == 0 { 0 } else { v + 50 }).collect()));
    assert_eq!(of(&facets), (vec![1, 0, 0], vec![String::new(), "Z_2 + Z_12".to_owned(), String::new()]));
}

#[test]
fn the_seven_vertex_torus_and_the_six_vertex_projective_plane() {
    let torus: Vec<Vec<i64>> =
        (0..7).flat_map(|i| [vec![i, (i + 1) % 7, (i + 3) % 7], vec![i, (i + 2) % 7, (i + 3) % 7]]).collect();
    assert_eq!(of(&torus), (vec![1, 2, 1], vec![String::new(); 3]));
    let plane =
        [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 5, 1], [1, 2, 4], [2, 3, 5], [3, 4, 1], [4, 5, 2], [5, 1, 3]];
    let plane: Vec<Vec<i64>> = plane.iter().map(|facet| facet.to_vec()).collect();
    assert_eq!(of(&plane), (vec![1, 0, 0], vec![String::new(), "Z_2".to_owned(), String::new()]));
}

#[test]
fn numbers_beyond_a_word_stay_exact() {
    // Mapping telescope: circle i is wound 16 times round circle i + 1; the last is capped by the first's image. With 40
    // circles the group is cyclic of order 16^40 - 1 when the telescope is closed up.
    let n = 40i64;
    let wind = 16i64;
    let circle = |i: i64, v: i64| (i % n) * 3 + v.rem_euclid(3);
    let mut facets = Vec::new();
    let mut fresh = 3 * n;
    for i in 0..n {
        // A ring of 3 * wind vertices between circle i (wound `wind` times) and circle i + 1 (met once by blocks).
        let ring = |j: i64| fresh + j.rem_euclid(3 * wind);
        for j in 0..3 * wind {
            facets.push(vec![circle(i, j), circle(i, j + 1), ring(j)]);
            facets.push(vec![circle(i, j + 1), ring(j), ring(j + 1)]);
            // The other side: steps 0, 1, 2 of the ring go once round circle i + 1, the rest stays at its start.
            let other = |j: i64| if j < 3 { circle(i + 1, j) } else { circle(i + 1, 0) };
            let (a, b) = (other(j), if j + 1 == 3 * wind { circle(i + 1, 0) } else { other(j + 1) });
            facets.push(if a == b { vec![ring(j), ring(j + 1), a] } else { vec![ring(j), a, b] });
            if a != b {
                facets.push(vec![ring(j), ring(j + 1), b]);
            }
        }
        fresh += 3 * wind;
    }
    let (betti, torsion) = of(&facets);
    // The telescope closes into a ring: one more free cycle runs round it.
    let order = BigUint::from(16u32).pow(40) - BigUint::from(1u32);
    assert_eq!((betti, torsion[1].clone()), (vec![1, 1, 0], format!("Z_{order}")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn homology_agrees_with_the_smith_forms_of_whole_matrices(
        simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..8, 1..5), 1..24),
    ) {
        let lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
        let (betti, _) = of(&lists);
        let found = homology(&Facets::new(&lists).unwrap(), &Unmonitored).unwrap();
        let expected = by_definition(&lists);
        prop_assert_eq!(&betti, &expected.0);
        prop_assert_eq!(found.betti_numbers(), &expected.0[..]);
        prop_assert_eq!(found.torsion_coefficients(), &expected.1[..]);
    }

    #[test]
    fn relabelling_changes_nothing_and_the_euler_characteristic_is_the_alternating_sum(
        simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..9, 1..6), 1..20),
        labels in Just((0..9i64).collect::<Vec<_>>()).prop_shuffle(), spread in 1i64..1000,
    ) {
        let lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
        let renamed: Vec<Vec<i64>> =
            lists.iter().rev().map(|list| list.iter().map(|&v| spread * labels[v as usize]).collect()).collect();
        let facets = Facets::new(&lists).unwrap();
        let found = homology(&facets, &Unmonitored).unwrap();
        prop_assert_eq!(&found, &homology(&Facets::new(&renamed).unwrap(), &Unmonitored).unwrap());
        let mut f_vector = Vec::new();
        Workspace::default().f_vector(&facets, &mut f_vector, &Unmonitored).unwrap();
        prop_assert_eq!(crate::euler_characteristic(&f_vector), crate::euler_characteristic(found.betti_numbers()));
    }

    #[test]
    fn random_two_complexes_with_torsion_agree_too(seed in any::<u64>(), share in 20u64..90) {
        // All edges, and each triangle of 8 vertices with a probability: Linial and Meshulam's model.
        let mut state = seed;
        let mut lists: Vec<Vec<i64>> = Vec::new();
        for a in 0..8 {
            for b in a + 1..8 {
                lists.push(vec![a, b]);
                for c in b + 1..8 {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    if state >> 33 & 127 < share {
                        lists.push(vec![a, b, c]);
                    }
                }
            }
        }
        of(&lists);
        let found = homology(&Facets::new(&lists).unwrap(), &Unmonitored).unwrap();
        let expected = by_definition(&lists);
        prop_assert_eq!(found.betti_numbers(), &expected.0[..]);
        prop_assert_eq!(found.torsion_coefficients(), &expected.1[..]);
    }
}
