//! Growth by preferential attachment.

use bonnet_graph::{Monitor, Reservation};

use crate::edge_list::{EdgeList, zeros};
use crate::error::{require, require_nodes};
use crate::random::{Random, Stream};
use crate::{Error, Generated};

/// The scale-free graph of Barabasi and Albert (Emergence of scaling in random networks, Science 286, 1999).
///
/// The start is the star of m + 1 nodes: node 0 joined to 1..=m. Each further node is joined to exactly `m` distinct
/// earlier ones, drawn one after the other with chances in proportion to their degrees among those not yet drawn. So the
/// graph is connected and has m (n - m) edges.
///
/// A node of degree d is an end of d edges: drawing an end of a uniform edge draws by degree, and a node that was drawn
/// before is drawn again. O(n + m n) expected time once n is large against m, 16 bytes an edge while sorting.
///
/// # Errors
/// `n` outside of 2..=4,294,967,295; `m` outside of 1..n; or the monitor stopped the work.
pub fn barabasi_albert(n: usize, m: usize, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require_nodes("barabasi_albert", "n", n, 2)?;
    require((1..n).contains(&m), "barabasi_albert", "m", m, format_args!("from 1 to n - 1 = {}", n - 1))?;
    let mut random = Random::new(seed, Stream::BarabasiAlbert);
    let mut edges = EdgeList::with_room_for(m as u128 * (n - m) as u128, monitor)?;
    let mut reservation = Reservation::new(monitor, 0)?;
    // The newest node that drew each node; 0 draws nobody, so it stands for nobody.
    let mut drawn_by: Vec<u32> = zeros(n, &mut reservation)?;
    monitor.expect(n as u64);
    for leaf in 1..=m as u32 {
        edges.push(0, leaf)?;
    }
    monitor.advance(m as u64 + 1);
    for new in m as u32 + 1..n as u32 {
        let earlier = edges.as_slice().len();
        let mut missing = m;
        let mut draws = 0u64;
        while missing > 0 {
            let end = random.below(2 * earlier as u64) as usize;
            let (u, v) = edges.as_slice()[end / 2];
            let target = [u, v][end % 2];
            if drawn_by[target as usize] != new {
                drawn_by[target as usize] = new;
                edges.push(target, new)?;
                missing -= 1;
            }
            draws += 1;
            if draws.is_multiple_of(1 << 14) {
                monitor.check()?;
            }
        }
        monitor.advance(1);
    }
    Ok(Generated::unlabelled(n, edges.into_sorted(n)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{fingerprint, graph, n_components};
    use bonnet_graph::Unmonitored;

    fn barabasi_albert(n: usize, m: usize, seed: u64) -> Generated {
        super::barabasi_albert(n, m, seed, &Unmonitored).unwrap()
    }

    #[test]
    fn every_new_node_brings_m_edges_to_distinct_earlier_nodes() {
        for (n, m) in [(2, 1), (3, 2), (50, 1), (200, 3), (100, 40), (30, 29)] {
            let generated = barabasi_albert(n, m, 7);
            assert_eq!(generated.edges.len(), m * (n - m));
            assert_eq!(n_components(&generated), 1);
            let graph = graph(&generated);
            for new in m + 1..n {
                assert_eq!(graph.neighbors(new as u32).iter().filter(|&&v| (v as usize) < new).count(), m);
            }
        }
    }

    #[test]
    fn the_start_is_a_star() {
        assert_eq!(barabasi_albert(4, 3, 0).edges, [(0, 1), (0, 2), (0, 3)]);
    }

    #[test]
    fn targets_are_drawn_in_proportion_to_degree() {
        // m = 1, n = 4, by hand. Start 0-1. Node 2 joins 0 or 1 (1/2 each): a path with that centre of degree 2.
        // Node 3 joins the centre with chance 2/4, each endpoint with 1/4.
        let seeds = 8000;
        let mut centre = 0u32;
        for seed in 0..seeds {
            let graph = graph(&barabasi_albert(4, 1, seed));
            centre += u32::from((0..4).any(|v| graph.degree(v) == 3));
        }
        let deviation = (0.25 * seeds as f64).sqrt();
        assert!((f64::from(centre) - 0.5 * seeds as f64).abs() < 4.0 * deviation, "{centre}");

        // m = 2, n = 4: node 3 draws two of the star 1-0-2 with degrees 2, 1, 1. The hub is left out if the first draw is
        // a leaf (1/2) and the second the other leaf (1 of the 3 ends left): 1/6.
        let left_out = (0..seeds).filter(|&seed| !barabasi_albert(4, 2, seed).edges.contains(&(0, 3))).count() as f64;
        let deviation = (1.0 / 6.0 * 5.0 / 6.0 * seeds as f64).sqrt();
        assert!((left_out - seeds as f64 / 6.0).abs() < 4.0 * deviation, "{left_out}");
    }

    #[test]
    fn the_degrees_follow_the_limit_law() {
        // The share of degree k tends to 2 m (m + 1) / (k (k + 1) (k + 2)) (Bollobas et al. 2001).
        let (n, m) = (100_000usize, 2usize);
        let graph = graph(&barabasi_albert(n, m, 1));
        for k in m..8 {
            let share = (0..n as u32).filter(|&v| graph.degree(v) == k).count() as f64 / n as f64;
            let limit = (2 * m * (m + 1)) as f64 / (k * (k + 1) * (k + 2)) as f64;
            assert!((share - limit).abs() < 0.006, "degree {k}: {share}, not {limit}");
        }
    }

    #[test]
    fn a_seed_pins_the_graph() {
        let fingerprints = [0, 1].map(|seed| fingerprint(&barabasi_albert(1000, 3, seed)));
        assert_eq!(fingerprints, [0x3cec_ee65_eaa2_f2ff, 0xb411_1a0d_7208_5bd9]);
    }

    #[test]
    fn errors_name_the_argument_and_its_range() {
        let error = |n, m| super::barabasi_albert(n, m, 0, &Unmonitored).unwrap_err().to_string();
        assert_eq!(error(5, 5), "barabasi_albert: m is 5, but must be from 1 to n - 1 = 4");
        assert_eq!(error(5, 0), "barabasi_albert: m is 0, but must be from 1 to n - 1 = 4");
        assert_eq!(error(1, 1), "barabasi_albert: n is 1, but must be from 2 to 4294967295");
    }
}
