//! The colours of the pairs of nodes of a graph by the folklore 2-WL test.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::hashing::{mix, mix_all};

/// The prime 2^61 - 1, in whose field sums over nodes are taken.
const PRIME: u64 = (1 << 61) - 1;

/// Products of two numbers of the field that fit 128 bits together.
const TOGETHER: usize = 32;

/// The least work that is worth a second thread: about a millisecond.
const PARALLEL: usize = 1 << 18;

/// What distinguishes the two halves of a colour.
const HALVES: [u64; 2] = [0x5bd1_e995_9d1b_1e4d, 0x2545_f491_4f6c_dd1d];

/// The end of the test on one graph.
pub(super) struct PairColors {
    /// The colour of the pair of each node with itself. Colours of different graphs are comparable.
    pub(super) of_nodes: Vec<u128>,
}

/// The bytes that the colours of all pairs of `n` nodes take: the two halves, before and after a round, and as many factors.
fn bytes(n: usize) -> usize {
    96usize.saturating_mul(n).saturating_mul(n)
}

/// Refines the colours of all ordered pairs of nodes: that of (u, v) by how often each pair of colours comes as those of (u, w) and
/// (w, v), over all nodes w (Cai, Fuerer and Immerman 1992). It begins with whether u is v, whether there is an edge, and `first`
/// of u and v; it ends after `rounds`, or when no colour splits any more. Then the number of rounds and the colours of all pairs are part
/// of each node's, as they are the same in graphs that the test does not tell apart.
///
/// A colour is a 128-bit hash of all that led to it. The pairs of colours around (u, v) are summed up as a product of two
/// matrices over a prime field, twice with other factors: two different multisets agree with a chance of 2^-119 or so. O(n^3) a round
/// and 96 n^2 bytes.
///
/// # Errors
/// The monitor stopped the work, or has no memory for the pairs.
pub(super) fn pair_colors(
    graph: &Graph,
    first: &[u64],
    rounds: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<PairColors, Stopped> {
    let n = graph.n_nodes();
    let _held = Reservation::new(monitor, bytes(n)).map_err(|error| match error {
        Stopped::OutOfMemory(text) => {
            Stopped::OutOfMemory(format!("the colours of all pairs of {n} nodes take {} bytes: {text}", bytes(n)))
        }
        other => other,
    })?;
    let mut colors = [0, 1].map(|half| {
        let mut colors = Vec::with_capacity(n * n);
        for u in 0..n as u32 {
            colors.extend(first.iter().map(|&label| mix_all(&[HALVES[half], 0, first[u as usize], label])));
            let row = &mut colors[u as usize * n..];
            row[u as usize] = mix_all(&[HALVES[half], 1, first[u as usize]]);
            for &v in graph.neighbors(u) {
                row[v as usize] = mix_all(&[HALVES[half], 2, first[u as usize], first[v as usize]]);
            }
        }
        colors
    });
    let mut distinct = count(&colors);
    let mut done = 0;
    while rounds.is_none_or(|rounds| done < rounds) {
        colors = round(&colors, n, monitor)?;
        done += 1;
        if rounds.is_none() {
            let now = count(&colors);
            if now == distinct {
                break;
            }
            distinct = now;
        }
    }
    // One graph by itself is stable when no colour of its own splits. So are two of them together if all their pairs have the same
    // colours then, and if not, no node of one is like any of the other.
    let end = [0, 1].map(|half| match rounds {
        Some(_) => 0,
        None => mix(colors[half].iter().fold(done as u64, |sum, &color| sum.wrapping_add(mix(color)))),
    });
    let of_node = |v: usize| {
        let [a, b] = [0, 1].map(|half| colors[half][v * n + v] ^ end[half]);
        u128::from(a) << 64 | u128::from(b)
    };
    Ok(PairColors { of_nodes: (0..n).map(of_node).collect() })
}

/// The number of different colours.
fn count(colors: &[Vec<u64>; 2]) -> usize {
    let mut all: Vec<u128> =
        colors[0].iter().zip(&colors[1]).map(|(&a, &b)| u128::from(a) << 64 | u128::from(b)).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// The colours after one more round.
fn round(colors: &[Vec<u64>; 2], n: usize, monitor: &dyn Monitor) -> Result<[Vec<u64>; 2], Stopped> {
    let [a, b] = colors;
    // Each half's factors depend on both halves, so that they tell apart what the whole colours do.
    let factors = |salt: u64| -> Vec<u64> {
        a.iter().zip(b).map(|(&a, &b)| mix(mix(a ^ salt).wrapping_add(b)) & PRIME).collect()
    };
    let mut after = [Vec::new(), Vec::new()];
    for (half, after) in after.iter_mut().enumerate() {
        let (left, right) = (factors(HALVES[half]), factors(mix(HALVES[half])));
        let mut next = colors[half].clone();
        let row = |(u, row): (usize, &mut [u64])| {
            monitor.check()?;
            let mut sums = vec![0u128; n];
            for (w, &factor) in left[u * n..(u + 1) * n].iter().enumerate() {
                let factors = &right[w * n..(w + 1) * n];
                sums.iter_mut().zip(factors).for_each(|(sum, &other)| *sum += u128::from(factor) * u128::from(other));
                if (w + 1).is_multiple_of(TOGETHER) {
                    sums.iter_mut().for_each(|sum| *sum = u128::from(reduced(*sum)));
                }
            }
            row.iter_mut().zip(sums).for_each(|(color, sum)| *color = mix(*color ^ mix(reduced(sum))));
            Ok(())
        };
        if n * n * n < PARALLEL {
            next.chunks_exact_mut(n.max(1)).enumerate().try_for_each(row)?;
        } else {
            next.par_chunks_exact_mut(n).enumerate().try_for_each(row)?;
        }
        *after = next;
    }
    Ok(after)
}

/// The remainder of a division by the prime.
fn reduced(number: u128) -> u64 {
    // 2^61 is 1 in the field.
    let low = (number as u64) & PRIME;
    let rest = number >> 61;
    let middle = (rest as u64) & PRIME;
    let high = (rest >> 61) as u64;
    let sum = low + middle + high;
    let sum = (sum & PRIME) + (sum >> 61);
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Monitor;

    #[test]
    fn the_field_is_that_of_the_prime() {
        for number in [0, 1, u128::from(PRIME), u128::from(PRIME) + 5, u128::MAX, 1 << 61, 1 << 122, 12345 << 70] {
            assert_eq!(u128::from(reduced(number)), number % u128::from(PRIME), "{number}");
        }
    }

    /// A host that has a million bytes.
    struct Small;

    impl Monitor for Small {
        fn check(&self) -> Result<(), Stopped> {
            Ok(())
        }

        fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
            if bytes > 1_000_000 { Err(Stopped::OutOfMemory("a million are there".to_owned())) } else { Ok(()) }
        }

        fn release(&self, _: usize) {}
    }

    #[test]
    fn too_many_pairs_are_refused_with_their_bytes() {
        let graph = Graph::from_edges(1_000, &[(0, 1)]);
        let error = pair_colors(&graph, &[0; 1_000], None, &Small).err().unwrap().to_string();
        assert_eq!(error, "the colours of all pairs of 1000 nodes take 96000000 bytes: a million are there");
    }
}
