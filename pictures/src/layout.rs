//! Positions of nodes by forces (Fruchterman and Reingold 1991): edges pull, nodes push, and all are drawn a little to the middle,
//! so that components stay together; and discs moved off one another. One thread and one order of sums: the same seed gives the same positions.

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

/// Rounds in which discs are moved apart, at most.
const ROUNDS: usize = 200;

/// Moves discs off one another until there is a gap between any two, and keeps them within a width and a height from (0, 0) on.
/// Where there is no room for that, they stay as near to it as some rounds bring them. O(rounds n^2).
pub(crate) fn apart(places: &mut [(f64, f64)], radii: &[f64], gap: f64, (wide, high): (f64, f64)) {
    let count = places.len();
    let rounds = (WORK / (count * count).max(1)).clamp(4, ROUNDS);
    for _ in 0..rounds {
        let mut touching = false;
        for a in 0..count {
            for b in a + 1..count {
                let least = radii[a] + radii[b] + gap;
                let (x, y) = (places[b].0 - places[a].0, places[b].1 - places[a].1);
                if x.abs() >= least || y.abs() >= least || x.hypot(y) >= least {
                    continue;
                }
                touching = true;
                let distance = x.hypot(y);
                // Those in one place go off at an angle of their own.
                let (x, y) = if distance > 1e-9 {
                    (x / distance, y / distance)
                } else {
                    let (sin, cos) = (2.4 * b as f64).sin_cos();
                    (cos, sin)
                };
                // A little more than half of what is missing, each.
                let step = (least - distance) * 0.5 + 0.01;
                places[a] = (places[a].0 - x * step, places[a].1 - y * step);
                places[b] = (places[b].0 + x * step, places[b].1 + y * step);
            }
        }
        for (place, radius) in places.iter_mut().zip(radii) {
            let within = |value: f64, length: f64| value.min(length - radius).max(*radius);
            let inside = (within(place.0, wide), within(place.1, high));
            touching |= inside != *place;
            *place = inside;
        }
        if !touching {
            break;
        }
    }
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
    fn discs_do_not_touch_where_there_is_room() {
        let gaps = |places: &[(f64, f64)], radii: &[f64]| {
            let pairs = (0..places.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
            let gap = |(a, b): (usize, usize)| {
                (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1) - radii[a] - radii[b]
            };
            pairs.map(gap).fold(f64::INFINITY, f64::min)
        };
        let radii: Vec<f64> = (0..60).map(|i| 3.0 + f64::from(i % 4)).collect();
        // All in one place, on a line, and in a corner.
        let starts = [
            vec![(200.0, 150.0); 60],
            (0..60).map(|i| (f64::from(i) * 2.0, 150.0)).collect(),
            (0..60).map(|i| (f64::from(i % 8), f64::from(i / 8))).collect(),
        ];
        for mut places in starts {
            apart(&mut places, &radii, 2.0, (400.0, 300.0));
            assert!(gaps(&places, &radii) > 1.9, "{}", gaps(&places, &radii));
            let inside = places
                .iter()
                .zip(&radii)
                .all(|((x, y), r)| (*r..=400.0 - r).contains(x) && (*r..=300.0 - r).contains(y));
            assert!(inside);
        }
        let mut far = vec![(10.0, 10.0), (30.0, 10.0)];
        apart(&mut far, &[5.0, 5.0], 2.0, (100.0, 100.0));
        assert_eq!(far, [(10.0, 10.0), (30.0, 10.0)]);
        // No room at all is no endless work.
        apart(&mut [(5.0, 5.0); 50], &[5.0; 50], 2.0, (12.0, 12.0));
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
