//! The counts of the orbits of small subgraphs at the nodes of a graph.

use std::sync::atomic::{AtomicU64, Ordering};

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::blocks::for_each_block;
use super::ranked::{Ranked, STEPS};

/// The number of orbits of the connected graphs of 2 to 4 nodes.
pub const ORBITS: usize = 15;

/// The mean over the nodes of [`orbit_counts`]; zeros without nodes.
///
/// # Errors
/// The monitor stopped the work.
pub fn mean_orbit_counts(graph: &Graph, monitor: &dyn Monitor) -> Result<[f64; ORBITS], Stopped> {
    let counts = orbit_counts(graph, monitor)?;
    let mut sums = [0u128; ORBITS];
    counts.iter().for_each(|counts| sums.iter_mut().zip(counts).for_each(|(sum, &count)| *sum += u128::from(count)));
    Ok(sums.map(|sum| sum as f64 / counts.len().max(1) as f64))
}

/// For each node, the number of connected induced subgraphs of 2 to 4 nodes in which it plays each part, in the numbering
/// of Przulj (Biological network comparison using graphlet degree distribution, 2007): 0 edge; 1, 2 end and middle of a
/// path of 3; 3 triangle; 4, 5 end and middle of a path of 4; 6, 7 leaf and centre of a star of 4; 8 cycle of 4; 9, 10, 11
/// tail, far corners and joint of a triangle with a tail; 12, 13 nodes of degree 2 and 3 of a cycle with a chord; 14
/// complete graph of 4.
///
/// Counts triangles, 4-cycles and complete graphs of 4, and gets the rest from linear equations between counts of induced
/// and other subgraphs, in the manner of Hocevar and Demsar (A combinatorial approach to graphlet counting, 2014).
/// O(m^1.5) time where few triangles share an edge, in general O(a m) for 4-cycles and O(a^2 m) for complete graphs of 4,
/// a being the arboricity; about 200 n + 24 m bytes.
///
/// # Errors
/// The monitor stopped the work.
pub fn orbit_counts(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<[u64; ORBITS]>, Stopped> {
    let (n, m) = (graph.n_nodes(), graph.n_edges());
    let _held = Reservation::new(monitor, Ranked::bytes(n, m) + 8 * m + 200 * n)?;
    let ranked = Ranked::new(graph);
    let edge_triangles = ranked.edge_triangles(monitor)?;
    let triangles = ranked.node_triangles(&edge_triangles);
    let Fours { opposite, complete } = fours(&ranked, &edge_triangles, monitor)?;
    let cycles = four_cycles(&ranked, monitor)?;

    // The sums over the neighbours y of x, by x.
    let degree = |v: u32| ranked.graph.degree(v) as i128;
    let mut around = vec![Around::default(); n];
    for u in 0..n as u32 {
        for slot in ranked.later(u) {
            let (v, shared) = (ranked.graph.targets()[slot], i128::from(edge_triangles[slot]));
            for (x, y) in [(u, v), (v, u)] {
                let around = &mut around[x as usize];
                around.shared_pairs += choose2(shared);
                around.shared_degrees += shared * (degree(y) - 2);
                around.triangles += i128::from(triangles[y as usize]);
                around.others += degree(y) - 1;
                around.other_pairs += choose2(degree(y) - 1);
            }
        }
    }
    let mut second = vec![0i128; n];
    for x in 0..n as u32 {
        second[x as usize] = ranked.graph.neighbors(x).iter().map(|&y| around[y as usize].others).sum();
    }

    let mut counts = vec![[0u64; ORBITS]; n];
    for x in 0..n {
        let (d, t) = (degree(x as u32), i128::from(triangles[x]));
        let Around { shared_pairs, shared_degrees, triangles: near, others, other_pairs } = around[x];
        let o14 = i128::from(complete[x]);
        let o13 = shared_pairs - 3 * o14;
        let o12 = i128::from(opposite[x]) - 3 * o14;
        let o11 = t * (d - 2) - 2 * o13 - 3 * o14;
        let o10 = shared_degrees - 2 * o13 - 2 * o12 - 6 * o14;
        let o9 = near - 2 * t - 2 * o12 - 3 * o14;
        let o8 = i128::from(cycles[x]) - o12 - o13 - 3 * o14;
        let o7 = d * (d - 1) * (d - 2) / 6 - o11 - o13 - o14;
        let o6 = other_pairs - o9 - o10 - o13 - 2 * o12 - 3 * o14;
        let o5 = (d - 1) * others - 2 * t - 2 * o8 - 2 * o11 - o10 - 4 * o13 - 2 * o12 - 6 * o14;
        let o4 = second[x] - d * (d - 1) - 2 * t - 2 * o8 - 2 * o9 - o10 - 4 * o12 - 2 * o13 - 6 * o14;
        let all = [d, others - 2 * t, choose2(d) - t, t, o4, o5, o6, o7, o8, o9, o10, o11, o12, o13, o14];
        // A count beyond 64 bits needs a node with more than 4 million neighbours.
        counts[ranked.node[x] as usize] = all.map(|count| u64::try_from(count).unwrap_or(u64::MAX));
    }
    Ok(counts)
}

fn choose2(n: i128) -> i128 {
    n * (n - 1) / 2
}

/// Sums over the neighbours y of a node x.
#[derive(Debug, Clone, Copy, Default)]
struct Around {
    /// Pairs of triangles on the edge xy.
    shared_pairs: i128,
    /// Triangles on xy, times the neighbours of y outside of each.
    shared_degrees: i128,
    /// Triangles of y.
    triangles: i128,
    /// Neighbours of y other than x.
    others: i128,
    /// Pairs of them.
    other_pairs: i128,
}

/// What the second look at the triangles gives, by rank.
struct Fours {
    /// Over the triangles of a node, the other triangles on the edge opposite.
    opposite: Vec<u64>,
    /// The complete graphs of 4 nodes.
    complete: Vec<u64>,
}

fn fours(ranked: &Ranked, edge_triangles: &[u32], monitor: &dyn Monitor) -> Result<Fours, Stopped> {
    let n = ranked.graph.n_nodes();
    let targets = ranked.graph.targets();
    let zeros = || (0..n).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
    let (opposite, complete) = (zeros(), zeros());
    let add = |counts: &[AtomicU64], v: u32, more: u64| {
        counts[v as usize].fetch_add(more, Ordering::Relaxed);
    };
    // The nodes w that close triangles with the current edge uv, and marks on them.
    let scratch = || (Vec::<u32>::new(), vec![false; n]);
    let triangle = |(thirds, _): &mut (Vec<u32>, Vec<bool>), u: u32, [uv, uw, vw]: [usize; 3]| {
        for (corner, edge) in [(u, vw), (targets[uv], uw), (targets[uw], uv)] {
            add(&opposite, corner, u64::from(edge_triangles[edge] - 1));
        }
        thirds.push(targets[vw]);
    };
    let pair = |(thirds, marks): &mut (Vec<u32>, Vec<bool>), u: u32, uv: usize| {
        let v = targets[uv];
        if thirds.is_empty() {
            return;
        }
        thirds.iter().for_each(|&w| marks[w as usize] = true);
        let mut found = 0;
        for &w in thirds.iter() {
            let fourths = targets[ranked.later(w)].iter().filter(|x| marks[**x as usize]);
            let count = fourths.map(|&x| add(&complete, x, 1)).count() as u64;
            add(&complete, w, count);
            found += count;
        }
        add(&complete, u, found);
        add(&complete, v, found);
        thirds.iter().for_each(|&w| marks[w as usize] = false);
        thirds.clear();
    };
    ranked.triangles(monitor, scratch, triangle, pair)?;
    let done = |counts: Vec<AtomicU64>| counts.into_iter().map(AtomicU64::into_inner).collect();
    Ok(Fours { opposite: done(opposite), complete: done(complete) })
}

/// The cycles of 4 nodes, induced or not, through each node. Each is found at its node of highest rank, from which two
/// paths of lower ranks meet again (Chiba and Nishizeki 1985). O(sum over edges of the smaller degree).
fn four_cycles(ranked: &Ranked, monitor: &dyn Monitor) -> Result<Vec<u64>, Stopped> {
    let graph = &ranked.graph;
    let n = graph.n_nodes();
    let cycles: Vec<AtomicU64> = (0..n).map(|_| AtomicU64::new(0)).collect();
    let add = |v: u32, more: u64| {
        cycles[v as usize].fetch_add(more, Ordering::Relaxed);
    };
    let lower = |v: u32, top: u32| {
        let neighbours = graph.neighbors(v);
        &neighbours[..neighbours.partition_point(|&u| u < top)]
    };
    let work = graph.edges().map(|(u, _)| graph.degree(u)).sum();
    // The paths to each node from the current one, and the nodes that have any.
    let scratch = || (vec![0u32; n], Vec::<u32>::new());
    for_each_block(n, work, scratch, |(paths, reached), block| {
        let mut steps = 0;
        for top in block {
            let top = top as u32;
            for &u in lower(top, top) {
                for &w in lower(u, top) {
                    if paths[w as usize] == 0 {
                        reached.push(w);
                    }
                    paths[w as usize] += 1;
                }
                steps += 1 + graph.degree(u);
                if steps >= STEPS {
                    steps = 0;
                    monitor.check()?;
                }
            }
            for &u in lower(top, top) {
                add(u, lower(u, top).iter().map(|&w| u64::from(paths[w as usize] - 1)).sum());
            }
            for w in reached.drain(..) {
                let count = u64::from(std::mem::take(&mut paths[w as usize]));
                add(w, count * (count - 1) / 2);
                add(top, count * (count - 1) / 2);
            }
        }
        Ok(())
    })?;
    Ok(cycles.into_iter().map(AtomicU64::into_inner).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptors::testing::{KARATE, random_graph};
    use bonnet_graph::Unmonitored;

    fn counts(graph: &Graph) -> Vec<[u64; ORBITS]> {
        orbit_counts(graph, &Unmonitored).unwrap()
    }

    /// The parts by definition: every set of 2 to 4 nodes, its induced subgraph told by the degrees in it.
    fn literal(graph: &Graph) -> Vec<[u64; ORBITS]> {
        let n = graph.n_nodes() as u32;
        let mut counts = vec![[0; ORBITS]; n as usize];
        let mut count = |nodes: &[u32]| {
            let degrees: Vec<usize> =
                nodes.iter().map(|&u| nodes.iter().filter(|&&v| graph.has_edge(u, v)).count()).collect();
            let mut sorted = degrees.clone();
            sorted.sort_unstable();
            let orbit = |degree: usize| match (sorted.as_slice(), degree) {
                ([1, 1], _) => Some(0),
                ([1, 1, 2], 1) => Some(1),
                ([1, 1, 2], _) => Some(2),
                ([2, 2, 2], _) => Some(3),
                ([1, 1, 2, 2], 1) => Some(4),
                ([1, 1, 2, 2], _) => Some(5),
                ([1, 1, 1, 3], 1) => Some(6),
                ([1, 1, 1, 3], _) => Some(7),
                ([2, 2, 2, 2], _) => Some(8),
                ([1, 2, 2, 3], degree) => Some(8 + degree),
                ([2, 2, 3, 3], degree) => Some(10 + degree),
                ([3, 3, 3, 3], _) => Some(14),
                _ => None,
            };
            for (&node, degree) in nodes.iter().zip(degrees) {
                if let Some(orbit) = orbit(degree) {
                    counts[node as usize][orbit] += 1;
                }
            }
        };
        for a in 0..n {
            for b in a + 1..n {
                count(&[a, b]);
                for c in b + 1..n {
                    count(&[a, b, c]);
                    (c + 1..n).for_each(|d| count(&[a, b, c, d]));
                }
            }
        }
        counts
    }

    #[test]
    fn counts_are_those_of_the_definition() {
        for seed in 0..60 {
            let graph = random_graph(4 + seed as usize % 14, 0.1 + 0.15 * (seed % 6) as f64, seed);
            assert_eq!(counts(&graph), literal(&graph), "seed {seed}");
        }
        assert_eq!(counts(&Graph::from_edges(34, KARATE)), literal(&Graph::from_edges(34, KARATE)));
    }

    #[test]
    fn complete_graphs_cycles_and_stars_have_closed_forms() {
        let complete: Vec<(u32, u32)> = (0..9).flat_map(|u| (u + 1..9).map(move |v| (u, v))).collect();
        let of_complete = counts(&Graph::from_edges(9, &complete));
        assert_eq!(of_complete, vec![[8, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 56]; 9]);
        let cycle: Vec<(u32, u32)> = (0..9).map(|v| (v, (v + 1) % 9)).collect();
        let of_cycle = counts(&Graph::from_edges(9, &cycle));
        assert_eq!(of_cycle, vec![[2, 2, 1, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]; 9]);
        let star: Vec<(u32, u32)> = (1..9).map(|v| (0, v)).collect();
        let of_star = counts(&Graph::from_edges(9, &star));
        assert_eq!(of_star[0], [8, 0, 28, 0, 0, 0, 0, 56, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(of_star[5], [1, 7, 0, 0, 0, 0, 21, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn large_graphs_take_the_parallel_way_to_the_same_counts() {
        // The parts of a graphlet come in fixed proportions: three leaves to the centre of a star.
        let graph = random_graph(1200, 0.05, 3);
        let serial = counts(&graph);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(|| counts(&graph)), serial);
        let sum = |orbit: usize| serial.iter().map(|counts| counts[orbit]).sum::<u64>();
        assert_eq!((sum(1), sum(4), sum(6)), (2 * sum(2), sum(5), 3 * sum(7)));
        assert_eq!((sum(10), sum(9), sum(12)), (2 * sum(11), sum(11), sum(13)));
        assert!(sum(3).is_multiple_of(3) && sum(8).is_multiple_of(4) && sum(14).is_multiple_of(4));
    }

    #[test]
    fn the_mean_of_nothing_is_zero() {
        assert_eq!(mean_orbit_counts(&Graph::from_edges(0, &[]), &Unmonitored).unwrap(), [0.0; ORBITS]);
        let path = mean_orbit_counts(&Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]), &Unmonitored).unwrap();
        assert_eq!(path[..6], [1.5, 1.0, 0.5, 0.0, 0.5, 0.5]);
    }
}
