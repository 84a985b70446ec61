//! The binomial random graph.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::error::{require_nodes, require_probability};
use crate::random::{Random, Stream};
use crate::trials::Trials;
use crate::{Error, Generated};

/// Rows of the adjacency matrix between two checks of the monitor.
pub(crate) const ROWS: usize = 1 << 14;

/// The random graph G(n, p): each of the n (n - 1) / 2 edges is there with probability `p`, independently of the others
/// (Gilbert 1959; today's usual reading of Erdos and Renyi's name).
///
/// Walks from edge to edge by geometric gaps (Batagelj and Brandes, Efficient generation of large random networks,
/// 2005): O(n + m) time, 8 m bytes.
///
/// # Errors
/// `n` above 4,294,967,295; `p` outside of [0, 1]; or the monitor stopped the work.
pub fn erdos_renyi(n: usize, p: f64, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("erdos_renyi", "n", n, 0)?;
    require_probability("erdos_renyi", "p", p)?;
    let pairs = n as f64 * (n as f64 - 1.0) / 2.0;
    let mut edges = EdgeList::with_room_for(likely_count(pairs, p), monitor)?;
    let mut trials = Trials::new(p, Random::new(seed, Stream::ErdosRenyi));
    monitor.expect(n as u64);
    for first in (0..n).step_by(ROWS) {
        monitor.check()?;
        let last = n.min(first + ROWS);
        for u in first..last {
            trials.over(u as u64 + 1..n as u64, |v| edges.push(u as u32, v as u32))?;
        }
        monitor.advance((last - first) as u64);
    }
    Ok(Generated::unlabelled(n, edges.into_vec()))
}

/// A number of successes in so many trials that is rarely exceeded: four deviations above the mean.
pub(crate) fn likely_count(trials: f64, p: f64) -> u128 {
    let mean = trials * p;
    (mean + 4.0 * (mean * (1.0 - p)).sqrt()) as u128
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_simple, fingerprint};
    use bonnet_graph::{Stopped, Unmonitored};

    fn erdos_renyi(n: usize, p: f64, seed: u64) -> Generated {
        super::erdos_renyi(n, p, seed, &Unmonitored).unwrap()
    }

    #[test]
    fn the_number_of_edges_is_binomial() {
        for (n, p) in [(40usize, 0.1), (25, 0.5), (60, 0.93), (400, 0.004)] {
            let pairs = (n * (n - 1) / 2) as f64;
            let seeds = 2000;
            let counts: Vec<f64> = (0..seeds).map(|seed| erdos_renyi(n, p, seed).edges.len() as f64).collect();
            let mean = counts.iter().sum::<f64>() / seeds as f64;
            let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (seeds - 1) as f64;
            let expected = pairs * p * (1.0 - p);
            assert!((mean - pairs * p).abs() < 4.0 * (expected / seeds as f64).sqrt(), "n {n}, p {p}: mean {mean}");
            // The deviation of a sample variance is about its value times sqrt(2 / seeds).
            let error = expected * (2.0 / seeds as f64).sqrt();
            assert!((variance - expected).abs() < 4.5 * error, "n {n}, p {p}: variance {variance}");
        }
    }

    #[test]
    fn every_pair_is_equally_likely() {
        let (n, p, seeds) = (9usize, 0.3, 6000);
        let mut counts = vec![0u32; n * n];
        for seed in 0..seeds {
            let generated = erdos_renyi(n, p, seed);
            assert_simple(&generated);
            generated.edges.iter().for_each(|&(u, v)| counts[u as usize * n + v as usize] += 1);
        }
        let (mean, variance) = (p * seeds as f64, p * (1.0 - p) * seeds as f64);
        let cells = (0..n).flat_map(|u| (u + 1..n).map(move |v| u * n + v));
        let chi_square: f64 = cells.map(|cell| (f64::from(counts[cell]) - mean).powi(2) / variance).sum();
        assert!(chi_square < 68.0, "{chi_square}: the 99.9 % point of 36 degrees of freedom is 68.0");
    }

    #[test]
    fn the_ends_of_the_range_are_the_empty_and_the_complete_graph() {
        assert!(erdos_renyi(50, 0.0, 1).edges.is_empty());
        assert_eq!(erdos_renyi(50, 1.0, 1).edges.len(), 50 * 49 / 2);
        assert_eq!(erdos_renyi(0, 0.5, 1), Generated::default());
        assert!(erdos_renyi(1, 1.0, 1).edges.is_empty());
    }

    #[test]
    fn a_seed_pins_the_graph() {
        let fingerprints = [0, 1].map(|seed| fingerprint(&erdos_renyi(1000, 0.01, seed)));
        assert_eq!(fingerprints, [0x2b1c_07a2_c4b1_5e19, 0x0158_b7b1_7952_03f1]);
    }

    #[test]
    fn errors_name_the_argument_and_its_range() {
        let error = |n, p| super::erdos_renyi(n, p, 0, &Unmonitored).unwrap_err().to_string();
        assert_eq!(error(3, 1.5), "erdos_renyi: p is 1.5, but must be a probability, from 0 to 1");
        assert_eq!(error(3, f64::NAN), "erdos_renyi: p is NaN, but must be a probability, from 0 to 1");
        assert_eq!(error(1 << 33, 0.5), "erdos_renyi: n is 8589934592, but must be from 0 to 4294967295");
        assert!(error(4_000_000_000, 0.9).contains("bytes"), "{}", error(4_000_000_000, 0.9));
    }

    #[test]
    fn a_cancelled_query_stops_the_work() {
        struct Cancelled;
        impl Monitor for Cancelled {
            fn check(&self) -> Result<(), Stopped> {
                Err(Stopped::Cancelled)
            }
            fn reserve(&self, _: usize) -> Result<(), Stopped> {
                Ok(())
            }
            fn release(&self, _: usize) {}
        }
        let stopped = super::erdos_renyi(1000, 0.5, 0, &Cancelled);
        assert_eq!(stopped, Err(Error::Stopped(Stopped::Cancelled)));
    }
}
