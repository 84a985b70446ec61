//! The stochastic Kronecker graph, block by block.

use crate::Error;
use crate::error::require;
use crate::random::{Random, Stream};

/// The initiator of Graph500: the shares of the quadrants (0, 0), (0, 1) and (1, 0) of the adjacency matrix; (1, 1) has the rest.
pub const GRAPH500: [f64; 3] = [0.57, 0.19, 0.19];

/// Levels of the recursion, so that a node is a positive `i64`.
const MOST_LEVELS: u32 = 48;

/// The edges of a stochastic Kronecker graph on `2^scale` nodes, as Graph500's generator draws them (Leskovec et al., Realistic,
/// mathematically tractable graph generation and evolution, using Kronecker multiplication, 2005; R-MAT of Chakrabarti, Zhan and
/// Faloutsos 2004; Graph500 benchmark specification, Sec. "Kronecker generator").
///
/// Each of the `edge_factor * 2^scale` edges falls by itself into a cell of the adjacency matrix, halved in both directions `scale` times,
/// with the initiator's probabilities for the quadrants; a permutation of the nodes, which the seed decides, hides the order of their
/// degrees. Loops and repeated edges stay, as there. An edge is directed, `src` the row.
///
/// Edges are made in blocks of [`Self::BLOCK`], each from random numbers of its own: any block can be made at any time by any thread.
/// O(scale) time an edge, no memory beside the block.
#[derive(Debug, Clone)]
pub struct KroneckerEdges {
    scale: u32,
    edges: u64,
    seed: u64,
    /// The upper ends of the shares of the first three quadrants in `0..2^32`.
    ends: [u64; 3],
    scramble: Scramble,
}

impl KroneckerEdges {
    /// The edges of a block, but for the last one.
    pub const BLOCK: u64 = 1 << 16;

    /// The edges of these options.
    ///
    /// # Errors
    /// `scale` outside of 1 to 48; `edge_factor` outside of 1 to 65,536; or an initiator with a number outside of [0, 1] or a sum above 1.
    pub fn new(scale: i64, edge_factor: i64, initiator: [f64; 3], seed: u64) -> Result<Self, Error> {
        const NAME: &str = "kronecker_edges";
        require((1..=i64::from(MOST_LEVELS)).contains(&scale), NAME, "scale", scale, "from 1 to 48")?;
        require((1..=1 << 16).contains(&edge_factor), NAME, "edge_factor", edge_factor, "from 1 to 65536")?;
        for (name, p) in ["a", "b", "c"].into_iter().zip(initiator) {
            crate::error::require_probability(NAME, name, p)?;
        }
        let [a, b, c] = initiator;
        // A sum that rounding alone brings above 1 is 1.
        let sum = a + b + c;
        require(sum <= 1.0 + 1e-12, NAME, "a + b + c", sum, "at most 1")?;
        let end = |share: f64| (share.min(1.0) * (1u64 << 32) as f64).round() as u64;
        let scale = scale as u32;
        Ok(Self {
            scale,
            edges: (edge_factor as u64) << scale,
            seed,
            ends: [end(a), end(a + b), end(sum)],
            scramble: Scramble::new(scale, seed),
        })
    }

    /// The number of edges.
    pub fn len(&self) -> u64 {
        self.edges
    }

    /// Whether there are none, which no options ask for.
    pub fn is_empty(&self) -> bool {
        self.edges == 0
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u64 {
        self.edges.div_ceil(Self::BLOCK)
    }

    /// The sources and the targets of the edges of a block.
    pub fn block(&self, block: u64) -> (Vec<i64>, Vec<i64>) {
        let count = self.edges.saturating_sub(block * Self::BLOCK).min(Self::BLOCK);
        let mut random = Random::numbered(self.seed, Stream::KroneckerEdges, block);
        (0..count)
            .map(|_| {
                let (src, dst) = self.cell(&mut random);
                (self.scramble.of(src) as i64, self.scramble.of(dst) as i64)
            })
            .unzip()
    }

    /// A cell of the matrix before its rows are permuted: two levels take one number of 64 bits.
    fn cell(&self, random: &mut Random) -> (u64, u64) {
        let [a, b, c] = self.ends;
        let (mut row, mut column, mut bits) = (0, 0, 0);
        for level in 0..self.scale {
            bits = if level % 2 == 0 { random.bits() } else { bits >> 32 };
            let part = bits & 0xffff_ffff;
            row = row << 1 | u64::from(part >= b);
            column = column << 1 | u64::from((part >= a && part < b) || part >= c);
        }
        (row, column)
    }
}

/// A permutation of the numbers of some bits that a seed decides: rounds of an odd factor, a shift and a sum, each of which can be
/// undone.
#[derive(Debug, Clone)]
struct Scramble {
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); 4],
}

impl Scramble {
    fn new(bits: u32, seed: u64) -> Self {
        let mut random = Random::new(seed, Stream::KroneckerNodes);
        let rounds = [(); 4].map(|()| (random.bits() | 1, random.bits()));
        Self { mask: u64::MAX >> (64 - bits), shift: bits.div_ceil(2), rounds }
    }

    fn of(&self, node: u64) -> u64 {
        self.rounds.iter().fold(node, |node, (factor, sum)| {
            let product = node.wrapping_mul(*factor).wrapping_add(*sum) & self.mask;
            product ^ product >> self.shift
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(scale: i64, edge_factor: i64, initiator: [f64; 3], seed: u64) -> Vec<(i64, i64)> {
        let edges = KroneckerEdges::new(scale, edge_factor, initiator, seed).unwrap();
        let blocks = (0..edges.blocks()).map(|block| edges.block(block));
        blocks.flat_map(|(src, dst)| src.into_iter().zip(dst)).collect()
    }

    #[test]
    fn every_node_has_another_number() {
        for bits in 1..=12 {
            for seed in 0..20 {
                let scramble = Scramble::new(bits, seed);
                let mut seen = vec![false; 1 << bits];
                (0..1 << bits).for_each(|node| seen[scramble.of(node) as usize] = true);
                assert!(seen.iter().all(|seen| *seen), "{bits} bits, seed {seed}");
            }
        }
        // Neighbours do not stay neighbours.
        let scramble = Scramble::new(20, 3);
        let close = (0..10_000u64).filter(|node| scramble.of(*node).abs_diff(scramble.of(node + 1)) < 1 << 14).count();
        assert!(close < 500, "{close} of 10,000 pairs, where 320 are expected");
    }

    #[test]
    fn quadrants_have_the_shares_of_the_initiator() {
        let initiator = [0.5, 0.125, 0.25];
        let graph = KroneckerEdges::new(7, 16, initiator, 1).unwrap();
        let mut random = Random::numbered(1, Stream::KroneckerEdges, 0);
        let draws = 100_000;
        let mut counts = [[0u32; 4]; 7];
        for _ in 0..draws {
            let (row, column) = graph.cell(&mut random);
            for (level, counts) in counts.iter_mut().enumerate() {
                counts[(2 * (row >> (6 - level) & 1) + (column >> (6 - level) & 1)) as usize] += 1;
            }
        }
        for (level, counts) in counts.iter().enumerate() {
            for (count, p) in counts.iter().zip([0.5, 0.125, 0.25, 0.125]) {
                let (mean, deviation) = (f64::from(draws) * p, (f64::from(draws) * p * (1.0 - p)).sqrt());
                assert!((f64::from(*count) - mean).abs() < 4.5 * deviation, "level {level}: {counts:?}");
            }
        }
    }

    #[test]
    fn degrees_have_the_second_moment_of_the_product() {
        // Two edges have one source with probability ((a + b)^2 + (c + d)^2)^scale, whatever the permutation.
        let (scale, seeds) = (8, 40);
        let m = (16u64 << scale) as f64;
        let expected = ((0.76f64).powi(2) + (0.24f64).powi(2)).powi(scale as i32) * m * (m - 1.0) + m;
        let second = |seed| {
            let mut degrees = vec![0u64; 1 << scale];
            edges(scale, 16, GRAPH500, seed).iter().for_each(|(src, _)| degrees[*src as usize] += 1);
            degrees.iter().map(|degree| degree * degree).sum::<u64>() as f64
        };
        let found: Vec<f64> = (0..seeds).map(second).collect();
        let mean = found.iter().sum::<f64>() / seeds as f64;
        let variance = found.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (seeds - 1) as f64;
        assert!((mean - expected).abs() < 4.5 * (variance / seeds as f64).sqrt(), "{mean}, not {expected}");
    }

    #[test]
    fn the_ends_of_the_initiator_are_one_cell_and_all_cells() {
        let one = edges(5, 1, [1.0, 0.0, 0.0], 9);
        assert!(one.len() == 32 && one.iter().all(|edge| *edge == one[0] && edge.0 == edge.1));
        let rest = edges(5, 1, [0.0; 3], 9);
        assert!(rest.iter().all(|edge| *edge == rest[0] && edge.0 == edge.1) && rest[0] != one[0]);
        let (mut seen, nodes) = (std::collections::BTreeSet::new(), 1 << 4);
        seen.extend(edges(4, 1000, [0.25; 3], 2));
        assert_eq!(seen.len(), nodes * nodes, "16,000 edges of 256 equally likely cells");
    }

    #[test]
    fn blocks_are_made_alone() {
        let graph = KroneckerEdges::new(13, 20, GRAPH500, 5).unwrap();
        assert_eq!((graph.len(), graph.blocks(), graph.is_empty()), (163_840, 3, false));
        assert_eq!([0, 1, 2, 3].map(|block| graph.block(block).0.len()), [65_536, 65_536, 32_768, 0]);
        assert_eq!(graph.block(1), graph.clone().block(1));
        assert_ne!(graph.block(0), graph.block(1));
    }

    #[test]
    fn errors_name_the_argument_and_its_range() {
        let error =
            |scale, factor, initiator| KroneckerEdges::new(scale, factor, initiator, 0).unwrap_err().to_string();
        assert_eq!(error(0, 16, GRAPH500), "kronecker_edges: scale is 0, but must be from 1 to 48");
        assert_eq!(error(49, 16, GRAPH500), "kronecker_edges: scale is 49, but must be from 1 to 48");
        assert_eq!(error(-3, 16, GRAPH500), "kronecker_edges: scale is -3, but must be from 1 to 48");
        assert_eq!(error(4, 0, GRAPH500), "kronecker_edges: edge_factor is 0, but must be from 1 to 65536");
        assert_eq!(error(4, 1, [0.5, 0.5, 0.25]), "kronecker_edges: a + b + c is 1.25, but must be at most 1");
        assert_eq!(
            error(4, 1, [-0.5, 0.5, 0.25]),
            "kronecker_edges: a is -0.5, but must be a probability, from 0 to 1"
        );
        assert_eq!(
            error(4, 1, [0.5, f64::NAN, 0.25]),
            "kronecker_edges: b is NaN, but must be a probability, from 0 to 1"
        );
    }
}
