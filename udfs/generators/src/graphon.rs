//! Random graphs of a graphon.

use std::str::FromStr;

use bonnet_graph::{Monitor, Reservation};

use crate::edge_list::EdgeList;
use crate::error::{require, require_nodes};
use crate::random::{Random, Stream, exp};
use crate::{Error, Generated};

/// The graphons of Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 4.5,
/// after Sabanayagam et al., Graphon based Clustering and Testing of Networks (ICLR 2022).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graphon {
    /// u v
    W1,
    /// exp(-max(u, v)^0.75)
    W2,
    /// exp(-(min(u, v) + sqrt u + sqrt v) / 2)
    W3,
    /// |u - v|
    W4,
}

impl Graphon {
    /// The probability of an edge between nodes at `u` and `v`, both in [0, 1].
    pub fn probability(self, u: f64, v: f64) -> f64 {
        match self {
            Self::W1 => u * v,
            Self::W2 => {
                // x^0.75 out of square roots, which every platform rounds alike.
                let root = u.max(v).sqrt();
                exp(-(root * root.sqrt()))
            }
            Self::W3 => exp(-0.5 * (u.min(v) + u.sqrt() + v.sqrt())),
            Self::W4 => (u - v).abs(),
        }
    }
}

impl FromStr for Graphon {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = [("w1", Self::W1), ("w2", Self::W2), ("w3", Self::W3), ("w4", Self::W4)];
        let found = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        require(found.is_some(), "graphon", "w", format_args!("'{name}'"), "'w1', 'w2', 'w3' or 'w4'")?;
        Ok(found.map_or(Self::W1, |(_, graphon)| *graphon))
    }
}

/// A random graph of `n` nodes: each node has a position u drawn uniformly from (0, 1], and each pair is an edge with
/// probability W(u, v), independently of the others. The feature of a node is its position.
///
/// Tries every pair: O(n^2) time, 12 n + 8 m bytes.
///
/// # Errors
/// `n` above 4,294,967,295, or the monitor stopped the work.
pub fn graphon(w: Graphon, n: usize, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("graphon", "n", n, 0)?;
    let _places = Reservation::new(monitor, n.saturating_mul(12))?;
    let mut random = Random::new(seed, Stream::Graphon);
    let places: Vec<f64> = (0..n).map(|_| random.unit()).collect();
    let mut edges = EdgeList::with_room_for(0, monitor)?;
    monitor.expect(n as u64);
    for u in 0..n {
        monitor.check()?;
        for v in u + 1..n {
            if random.unit() <= w.probability(places[u], places[v]) {
                edges.push(u as u32, v as u32)?;
            }
        }
        monitor.advance(1);
    }
    let features = places.iter().map(|place| *place as f32).collect();
    Ok(Generated { features: Some((1, features)), ..Generated::unlabelled(n, edges.into_vec()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_simple, fingerprint};
    use bonnet_graph::Unmonitored;

    /// The mean of W over the unit square: the expected density. W1: 1/4. W4: 1/3. W2 = int_0^1 2 t exp(-t^0.75) dt and
    /// W3 = 2 int_0^1 exp(-sqrt v / 2) int_0^v exp(-(u + sqrt u) / 2) du dv, by SciPy's quad and dblquad.
    const DENSITIES: [(Graphon, f64); 4] =
        [(Graphon::W1, 0.25), (Graphon::W2, W2_DENSITY), (Graphon::W3, W3_DENSITY), (Graphon::W4, 1.0 / 3.0)];
    const W2_DENSITY: f64 = 0.494_156_541_722_466_4;
    const W3_DENSITY: f64 = 0.451_360_159_187_235_54;

    #[test]
    fn densities_are_the_integrals_of_the_graphons() {
        let (n, seeds) = (40usize, 400u64);
        let pairs = (n * (n - 1) / 2) as f64;
        for (w, expected) in DENSITIES {
            let shares: Vec<f64> = (0..seeds)
                .map(|seed| {
                    let generated = graphon(w, n, seed, &Unmonitored).unwrap();
                    assert_simple(&generated);
                    generated.edges.len() as f64 / pairs
                })
                .collect();
            let mean = shares.iter().sum::<f64>() / seeds as f64;
            let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (seeds - 1) as f64;
            let error = (variance / seeds as f64).sqrt();
            assert!((mean - expected).abs() < 4.0 * error, "{w:?}: {mean}, expected {expected} within {error}");
        }
    }

    #[test]
    fn edges_follow_the_places_of_their_ends() {
        // Pairs in cells of a 4 x 4 grid of positions, against the mean of W over the pairs that are there.
        let generated = graphon(Graphon::W4, 1500, 3, &Unmonitored).unwrap();
        let (_, places) = generated.features.as_ref().unwrap();
        let cell = |v: usize| ((places[v] * 4.0) as usize).min(3);
        let (mut expected, mut variance, mut found) = ([0.0; 16], [0.0; 16], [0.0; 16]);
        for u in 0..1500 {
            for v in u + 1..1500 {
                let p = f64::from((places[u] - places[v]).abs());
                expected[cell(u) * 4 + cell(v)] += p;
                variance[cell(u) * 4 + cell(v)] += p * (1.0 - p);
            }
        }
        generated.edges.iter().for_each(|&(u, v)| found[cell(u as usize) * 4 + cell(v as usize)] += 1.0);
        let chi_square: f64 = (0..16).map(|i| (found[i] - expected[i]).powi(2) / variance[i]).sum();
        assert!(chi_square < 39.3, "{chi_square}: the 99.9 % point of 16 degrees of freedom is 39.3");
    }

    #[test]
    fn probabilities_are_those_of_the_formulas() {
        let close = |w: Graphon, u: f64, v: f64, expected: f64| {
            let p = w.probability(u, v);
            assert!((p - expected).abs() < 1e-15 && p == w.probability(v, u), "{w:?} {u} {v}: {p}");
        };
        for (u, v) in [(0.0, 0.0), (0.25, 0.81), (1.0, 1.0), (0.3, 0.0)] {
            let (u, v): (f64, f64) = (u, v);
            close(Graphon::W1, u, v, u * v);
            close(Graphon::W2, u, v, (-u.max(v).powf(0.75)).exp());
            close(Graphon::W3, u, v, (-0.5 * (u.min(v) + u.powf(0.5) + v.powf(0.5))).exp());
            close(Graphon::W4, u, v, (u - v).abs());
        }
    }

    #[test]
    fn a_seed_pins_the_graph() {
        let prints = [Graphon::W1, Graphon::W3].map(|w| fingerprint(&graphon(w, 60, 1, &Unmonitored).unwrap()));
        assert_eq!(prints, [0x5443_e4c9_7a58_6af5, 0x122c_2d38_0112_263e]);
    }

    #[test]
    fn an_unknown_graphon_is_refused() {
        assert_eq!("W2".parse::<Graphon>().unwrap(), Graphon::W2);
        let error = "w5".parse::<Graphon>().unwrap_err().to_string();
        assert_eq!(error, "graphon: w is 'w5', but must be 'w1', 'w2', 'w3' or 'w4'");
        assert_eq!(graphon(Graphon::W1, 0, 0, &Unmonitored).unwrap().n_nodes, 0);
    }
}
