//! Positions of nodes by forces (Fruchterman and Reingold 1991): edges pull, nodes push, and all are drawn a little to the middle,
//! so that components stay together. One thread and one order of sums: the same seed gives the same positions.

/// Pairs of nodes times rounds that are worked through; rounds are fewer for more nodes.
const WORK: usize = 150_000_000;

/// The strength of the pull to the middle.
const GRAVITY: f64 = 0.06;

/// The next number of a sequence of random ones (Steele, Lea and Flood 2014, SplitMix64).
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Positions in `D` dimensions of `nodes` nodes with these edges, in units of an edge's length. O(rounds nodes^2).
pub(crate) fn forces<const D: usize>(nodes: usize, edges: &[(usize, usize)], seed: u64) -> Vec<[f64; D]> {
    let mut state = seed;
    let spread = (nodes.max(1) as f64).sqrt();
    let mut places: Vec<[f64; D]> =
        (0..nodes).map(|_| std::array::from_fn(|_| (random(&mut state) - 0.5) * spread)).collect();
    let rounds = (WORK / (nodes * nodes).max(1)).clamp(30, 400);
    let mut moves = vec![[0.0; D]; nodes];
    for round in 0..rounds {
        moves.iter_mut().for_each(|step| *step = [0.0; D]);
        for a in 0..nodes {
            for b in a + 1..nodes {
                let between: [f64; D] = std::array::from_fn(|i| places[a][i] - places[b][i]);
                let squared = between.iter().map(|d| d * d).sum::<f64>().max(1e-6);
                // The push falls off with the distance, and is none that counts far away.
                let push = 1.0 / squared;
                for i in 0..D {
                    moves[a][i] += between[i] * push;
                    moves[b][i] -= between[i] * push;
                }
            }
        }
        for &(a, b) in edges {
            let between: [f64; D] = std::array::from_fn(|i| places[a][i] - places[b][i]);
            let distance = between.iter().map(|d| d * d).sum::<f64>().sqrt();
            for i in 0..D {
                moves[a][i] -= between[i] * distance;
                moves[b][i] += between[i] * distance;
            }
        }
        // Steps become shorter until nothing moves.
        let longest = spread * 0.12 * (1.0 - round as f64 / rounds as f64).powi(2) + 1e-3;
        for (place, step) in places.iter_mut().zip(&mut moves) {
            for i in 0..D {
                step[i] -= place[i] * GRAVITY;
            }
            let length = step.iter().map(|d| d * d).sum::<f64>().sqrt().max(1e-12);
            let scale = length.min(longest) / length;
            for i in 0..D {
                place[i] += step[i] * scale;
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_places() {
        let edges: Vec<(usize, usize)> = (0..20).map(|i| (i, (i + 1) % 20)).collect();
        assert_eq!(forces::<2>(20, &edges, 7), forces::<2>(20, &edges, 7));
        assert_ne!(forces::<2>(20, &edges, 7), forces::<2>(20, &edges, 8));
    }

    #[test]
    fn neighbours_are_nearer_than_others() {
        let edges: Vec<(usize, usize)> = (0..16).map(|i| (i, (i + 1) % 16)).collect();
        let places = forces::<2>(16, &edges, 1);
        let distance = |a: usize, b: usize| (places[a][0] - places[b][0]).hypot(places[a][1] - places[b][1]);
        let mean = |step: usize| (0..16).map(|i| distance(i, (i + step) % 16)).sum::<f64>() / 16.0;
        assert!(mean(1) * 3.0 < mean(8), "{} {}", mean(1), mean(8));
        assert_eq!(forces::<3>(0, &[], 1), [[0.0; 3]; 0]);
        assert_eq!(forces::<2>(1, &[(0, 0)], 1).len(), 1);
    }
}
