//! Homology with other coefficients, from that with integers.

use std::fmt;
use std::str::FromStr;

use num_bigint::BigUint;

use super::{Homology, small};

/// The coefficients of the chains of a complex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficients {
    /// The integers, Z.
    Integers,
    /// The rational numbers, Q: as any field of characteristic 0.
    Rationals,
    /// The integers modulo this number, Z/n: at least 2. A field where it is prime.
    Modulo(u32),
}

/// Why a string names no coefficients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoefficientsError {
    /// It has another form.
    #[error("'{0}' names no coefficients; expected 'Z', 'Q' or 'Z/n' with n from 2 to {max}, as in 'Z/2'", max = u32::MAX)]
    Form(String),
    /// The ring is no field.
    #[error("'Z/{0}' is no field, since {0} is not prime: {0} = {1} * {2}; homology_groups takes any Z/n")]
    NotPrime(u32, u32, u32),
}

impl FromStr for Coefficients {
    type Err = CoefficientsError;

    fn from_str(text: &str) -> Result<Self, CoefficientsError> {
        let form = || CoefficientsError::Form(text.to_owned());
        match text {
            "Z" => Ok(Self::Integers),
            "Q" => Ok(Self::Rationals),
            _ => {
                let n = text.strip_prefix("Z/").filter(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
                let n = n.and_then(|n| n.parse().ok()).filter(|n| *n >= 2);
                n.map(Self::Modulo).ok_or_else(form)
            }
        }
    }
}

impl Coefficients {
    /// The same coefficients, where ranks over them are Betti numbers: Z, or a field. O(sqrt n) for Z/n.
    ///
    /// # Errors
    /// For Z/n with an n that is not prime.
    pub fn with_ranks(self) -> Result<Self, CoefficientsError> {
        match self {
            Self::Modulo(n) => match (2..=n.isqrt()).find(|divisor| n.is_multiple_of(*divisor)) {
                Some(divisor) => Err(CoefficientsError::NotPrime(n, divisor, n / divisor)),
                None => Ok(self),
            },
            _ => Ok(self),
        }
    }
}

/// A finitely generated module over the coefficients: copies of themselves, and cyclic groups by their orders, each a
/// divisor of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    coefficients: Coefficients,
    /// The rank.
    pub rank: u64,
    /// The orders of the other summands.
    pub orders: Vec<BigUint>,
}

/// The summands: `Z^2 + Z_2`, over Z/4 `Z_2 + Z_4^3`; `0` where there is none.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = match self.coefficients {
            Coefficients::Integers => "Z".to_owned(),
            Coefficients::Rationals => "Q".to_owned(),
            Coefficients::Modulo(n) => format!("Z_{n}"),
        };
        let free = match self.rank {
            0 => None,
            1 => Some(free),
            rank => Some(format!("{free}^{rank}")),
        };
        let mut parts: Vec<String> = self.orders.iter().map(|order| format!("Z_{order}")).collect();
        // Orders ascend, and over Z/n the coefficients are the largest group; over Z they come first.
        match self.coefficients {
            Coefficients::Modulo(_) => parts.extend(free),
            _ => parts.splice(0..0, free).for_each(drop),
        }
        if parts.is_empty() { f.write_str("0") } else { f.write_str(&parts.join(" + ")) }
    }
}

impl Homology {
    /// The homology groups with other coefficients, by dimension. Exact.
    ///
    /// # Source
    /// The universal coefficient theorem, H_k(X; R) = H_k(X) (x) R + Tor(H_{k-1}(X), R): Hatcher, Algebraic Topology (2002),
    /// Sec. 3.A.
    pub fn groups(&self, coefficients: Coefficients) -> Vec<Group> {
        (0..self.betti.len()).map(|dimension| self.group(dimension, coefficients)).collect()
    }

    fn group(&self, dimension: usize, coefficients: Coefficients) -> Group {
        let free = self.betti[dimension];
        match coefficients {
            Coefficients::Integers => Group { coefficients, rank: free, orders: self.torsion[dimension].clone() },
            Coefficients::Rationals => Group { coefficients, rank: free, orders: Vec::new() },
            Coefficients::Modulo(n) => {
                let below = dimension.checked_sub(1).map_or(&[][..], |below| &self.torsion[below]);
                let common = |order: &BigUint| gcd(n, (order % n).try_into().unwrap_or(0));
                let mut orders: Vec<u32> = self.torsion[dimension].iter().chain(below).map(common).collect();
                into_invariant_factors(&mut orders);
                orders.retain(|&order| order > 1);
                let copies = orders.iter().filter(|&&order| order == n).count();
                orders.truncate(orders.len() - copies);
                let orders = orders.into_iter().map(BigUint::from).collect();
                Group { coefficients, rank: free + copies as u64, orders }
            }
        }
    }
}

/// Orders of cyclic groups as those of an isomorphic sum in which each divides the next.
fn into_invariant_factors(orders: &mut [u32]) {
    for i in 0..orders.len() {
        for j in i + 1..orders.len() {
            let (a, b) = (orders[i], orders[j]);
            let common = gcd(a, b);
            // Both divide the modulus, and so does their least common multiple.
            (orders[i], orders[j]) = (common, a / common * b);
        }
    }
}

/// The greatest common divisor, which fits as its arguments do.
fn gcd(a: u32, b: u32) -> u32 {
    small::gcd(a.into(), b.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChainComplex, Facets, SparseMatrix, homology};
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn groups(facets: &Facets, coefficients: &str) -> Vec<String> {
        let found = homology(facets, &Unmonitored).unwrap().groups(coefficients.parse().unwrap());
        found.iter().map(ToString::to_string).collect()
    }

    fn projective_plane() -> Facets {
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
        Facets::new(&plane).unwrap()
    }

    #[test]
    fn the_projective_plane_over_rings() {
        // Hatcher, Ex. 3.A.1 and Sec. 2.2.
        let plane = projective_plane();
        assert_eq!(groups(&plane, "Z"), ["Z", "Z_2", "0"]);
        assert_eq!(groups(&plane, "Q"), ["Q", "0", "0"]);
        assert_eq!(groups(&plane, "Z/2"), ["Z_2", "Z_2", "Z_2"]);
        assert_eq!(groups(&plane, "Z/3"), ["Z_3", "0", "0"]);
        assert_eq!(groups(&plane, "Z/4"), ["Z_4", "Z_2", "Z_2"]);
        assert_eq!(groups(&plane, "Z/4294967295"), ["Z_4294967295", "0", "0"]);
        assert_eq!(groups(&Facets::new(&[[1], [2], [3]]).unwrap(), "Z"), ["Z^3"]);
    }

    #[test]
    fn summands_become_invariant_factors() {
        let coefficients = Coefficients::Modulo(12);
        let torsion = vec![vec![4u32.into()], vec![6u32.into()], vec![]];
        let homology = Homology { betti: vec![1, 2, 0], torsion };
        let found: Vec<String> = homology.groups(coefficients).iter().map(ToString::to_string).collect();
        // Z_4, and Z_6 + Z_4 = Z_2 + Z_12.
        assert_eq!(found, ["Z_4 + Z_12", "Z_2 + Z_12^3", "Z_6"]);
    }

    #[test]
    fn texts_that_name_nothing_are_refused() {
        for text in ["", "z", "Z/", "Z/1", "Z/0", "Z/-2", "Z/+2", "Z/4294967296", "R", "F_2", "2", " Z"] {
            assert_eq!(text.parse::<Coefficients>(), Err(CoefficientsError::Form(text.to_owned())), "{text}");
        }
        let no_field = |n| Coefficients::Modulo(n).with_ranks().unwrap_err();
        assert_eq!(no_field(91), CoefficientsError::NotPrime(91, 7, 13));
        assert_eq!(no_field(u32::MAX), CoefficientsError::NotPrime(u32::MAX, 3, 1_431_655_765));
        for prime in [2, 3, 5, 7, 4_294_967_291] {
            assert!(Coefficients::Modulo(prime).with_ranks().is_ok(), "{prime}");
        }
    }

    #[test]
    fn ranks_over_fields_are_those_of_gudhi() {
        let numbers = |text: &str| text.split(',').map(|number| number.parse().unwrap()).collect::<Vec<i64>>();
        for line in include_str!("../../tests/gudhi.txt").lines() {
            let mut parts = line.split(';');
            let facets: Vec<Vec<i64>> = parts.next().unwrap().split(' ').map(numbers).collect();
            let homology = homology(&Facets::new(&facets).unwrap(), &Unmonitored).unwrap();
            for (p, expected) in [2, 3, 5, 11].into_iter().zip(parts) {
                let groups = homology.groups(Coefficients::Modulo(p));
                let found: Vec<i64> = groups.iter().map(|group| group.rank as i64).collect();
                assert_eq!(found, numbers(expected), "Z/{p}: {line}");
            }
        }
    }

    /// The rank of a matrix over Z/p, by elimination of dense rows.
    fn rank(matrix: &SparseMatrix<i8>, p: i64) -> usize {
        let mut rows = vec![vec![0i64; matrix.n_columns()]; matrix.n_rows()];
        matrix.entries().for_each(|(row, column, value)| rows[row][column as usize] = i64::from(value).rem_euclid(p));
        let mut rank = 0;
        for column in 0..matrix.n_columns() {
            let Some(pivot) = (rank..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
            rows.swap(rank, pivot);
            let inverse = (1..p).find(|x| x * rows[rank][column] % p == 1).unwrap();
            let pivot = rows[rank].clone();
            for row in rows.iter_mut().skip(rank + 1) {
                let factor = row[column] * inverse % p;
                row.iter_mut().zip(&pivot).for_each(|(entry, other)| *entry = (*entry - factor * other).rem_euclid(p));
            }
            rank += 1;
        }
        rank
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn ranks_over_fields_are_those_of_the_boundaries(
            simplices in proptest::collection::vec(proptest::collection::btree_set(0i64..8, 1..5), 0..24),
            plane in any::<bool>(),
        ) {
            let mut lists: Vec<Vec<i64>> = simplices.iter().map(|simplex| simplex.iter().copied().collect()).collect();
            lists.push(vec![0]);
            if plane {
                // Torsion, which random complexes of this size hardly have; it may meet the others in a vertex.
                lists.extend(projective_plane().iter().map(|facet| facet.iter().map(|&v| i64::from(v) + 7).collect()));
            }
            let facets = Facets::new(&lists).unwrap();
            let complex = ChainComplex::new(&facets, &Unmonitored).unwrap();
            let homology = homology(&facets, &Unmonitored).unwrap();
            for p in [2, 3, 7] {
                let ranks: Vec<usize> = (0..=facets.dimension() + 1).map(|k| rank(&complex.boundary(k), p)).collect();
                for (k, group) in homology.groups(Coefficients::Modulo(p as u32)).iter().enumerate() {
                    prop_assert_eq!(group.rank as usize, complex.n_faces(k) - ranks[k] - ranks[k + 1]);
                    prop_assert!(group.orders.is_empty());
                }
            }
        }
    }
}
