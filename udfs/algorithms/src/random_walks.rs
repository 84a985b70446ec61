//! Random walks.

use bonnet_graph::random::below;
use bonnet_graph::{Monitor, Reservation};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::{AlgorithmError, Network};

/// Options of [`random_walks`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WalkOptions {
    /// Walks from each source.
    pub walks: usize,
    /// Steps of a walk; it ends sooner at a node without arcs.
    pub length: usize,
    /// Going straight back counts `1 / p` times.
    pub p: f64,
    /// Going to a node that is not adjacent to the last one counts `1 / q` times.
    pub q: f64,
    /// Seed of the walks.
    pub seed: u64,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self { walks: 10, length: 80, p: 1.0, q: 1.0, seed: 0 }
    }
}

impl WalkOptions {
    /// Fails where an option is out of its range.
    ///
    /// # Errors
    /// Says which.
    pub fn validate(&self) -> Result<(), AlgorithmError> {
        for (name, value) in [("p", self.p), ("q", self.q)] {
            if !(value > 0.0 && value.is_finite()) {
                return AlgorithmError::input(format!("{name} => {value:?}: expected a positive number"));
            }
        }
        Ok(())
    }
}

/// Walks from each source, in the order of the sources: the nodes of a walk, its source first. A step follows an arc by chance, in
/// proportion to its weight; with `p` or `q` other than 1 as node2vec does.
///
/// Perozzi, Al-Rfou and Skiena, DeepWalk (2014); Grover and Leskovec, node2vec (2016), Sec. 3.2.2, by rejection: O(log(degree))
/// expected a step, O(degree) with weights. Each walk draws from a stream of its own.
///
/// # Errors
/// For an option out of its range, and if the monitor stops it.
pub fn random_walks(
    network: Network<'_>,
    sources: &[u32],
    options: &WalkOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<u32>>, AlgorithmError> {
    options.validate()?;
    let count = sources.len().saturating_mul(options.walks);
    let bytes = options.length.saturating_add(1).saturating_mul(4).saturating_add(size_of::<Vec<u32>>());
    let _reservation = Reservation::new(monitor, count.saturating_mul(bytes))?;
    monitor.expect(count as u64);
    let largest = options.p.recip().max(options.q.recip()).max(1.0);
    let walk = |i: usize| -> Result<Vec<u32>, AlgorithmError> {
        if i.is_multiple_of(256) {
            monitor.check()?;
            monitor.advance((count - i).min(256) as u64);
        }
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        random.set_stream(i as u64);
        let mut walk = vec![sources[i / options.walks]];
        while walk.len() <= options.length {
            let at = walk[walk.len() - 1];
            let strength = network.out.strength(at);
            if strength == 0.0 {
                break;
            }
            let next = loop {
                let next = draw(network, at, strength, &mut random);
                let bias = match walk.len().checked_sub(2).map(|last| walk[last]) {
                    Some(last) if last == next => options.p.recip(),
                    Some(last) if network.out.of(last).binary_search(&next).is_err() => options.q.recip(),
                    _ => 1.0,
                };
                if walk.len() == 1 || bias == largest || unit(&mut random) * largest < bias {
                    break next;
                }
            };
            walk.push(next);
        }
        Ok(walk)
    };
    (0..count).into_par_iter().with_min_len(64).map(walk).collect()
}

/// Uniform on [0, 1).
fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The endpoint of an arc of `v`, in proportion to its weight. `v` has arcs of this positive weight in sum.
fn draw(network: Network<'_>, v: u32, strength: f64, random: &mut ChaCha8Rng) -> u32 {
    let ends = network.out.of(v);
    if network.out.weights().is_none() {
        return ends[below(ends.len() as u64, || random.next_u64()) as usize];
    }
    let mut left = unit(random) * strength;
    let mut chosen = ends[0];
    for (end, weight) in network.out.weighted(v).filter(|arc| arc.1 > 0.0) {
        chosen = end;
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WeightedArcs;
    use bonnet_graph::{Digraph, Graph, Unmonitored};

    #[test]
    fn walks_follow_arcs_and_end_where_there_are_none() {
        let out = Digraph::from_arcs(4, &[(0, 1), (1, 2), (3, 0)]);
        let into = out.reversed();
        let options = WalkOptions { walks: 2, length: 5, ..WalkOptions::default() };
        let walks = random_walks(Network::directed(&out, &into), &[3, 2], &options, &Unmonitored).unwrap();
        assert_eq!(walks, [vec![3, 0, 1, 2], vec![3, 0, 1, 2], vec![2], vec![2]]);
    }

    #[test]
    fn steps_are_drawn_in_the_shares_of_node2vec() {
        // From 0 by 1, whose neighbours are 0 (back: 1/p), 2 (adjacent to 0: 1) and 3 (not: 1/q).
        let graph = Graph::from_edges(4, &[(0, 1), (0, 2), (1, 2), (1, 3)]);
        let options = WalkOptions { walks: 60_000, length: 2, p: 4.0, q: 0.5, seed: 1 };
        let walks = random_walks(Network::undirected(&graph), &[0], &options, &Unmonitored).unwrap();
        let by_1: Vec<u32> = walks.iter().filter(|walk| walk[1] == 1).map(|walk| walk[2]).collect();
        let share = |v: u32| by_1.iter().filter(|&&end| end == v).count() as f64 / by_1.len() as f64;
        for (v, expected) in [(0, 0.25 / 3.25), (2, 1.0 / 3.25), (3, 2.0 / 3.25)] {
            assert!((share(v) - expected).abs() < 0.01, "{v}: {} is not {expected}", share(v));
        }
    }

    #[test]
    fn weights_are_chances_and_a_seed_is_an_answer() {
        let arcs = [(0, 1, 3.0), (1, 0, 3.0), (0, 2, 1.0), (2, 0, 1.0), (0, 3, 0.0), (3, 0, 0.0)];
        let arcs = WeightedArcs::new(4, arcs.into_iter()).unwrap();
        let network = Network::weighted(&arcs, None);
        let options = WalkOptions { walks: 40_000, length: 1, ..WalkOptions::default() };
        let walks = random_walks(network, &[0], &options, &Unmonitored).unwrap();
        let to_1 = walks.iter().filter(|walk| walk[1] == 1).count() as f64 / 40_000.0;
        assert!((to_1 - 0.75).abs() < 0.01 && walks.iter().all(|walk| walk[1] != 3));
        assert_eq!(random_walks(network, &[3], &options, &Unmonitored).unwrap()[0], [3]);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(|| random_walks(network, &[0], &options, &Unmonitored).unwrap()), walks);
        let error = random_walks(network, &[0], &WalkOptions { p: 0.0, ..options }, &Unmonitored).unwrap_err();
        assert!(error.to_string().contains("p => 0.0"));
    }
}
