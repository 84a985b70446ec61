//! Scores of pairs of nodes that may become links.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

/// Nodes, or pairs, that a thread takes at a time.
const BLOCK: usize = 256;

/// Above this ratio of lengths the shorter list is looked up in the longer one instead of being merged with it.
const GALLOP: usize = 16;

/// The score of a pair of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkScore {
    /// The number of common neighbours.
    CommonNeighbors,
    /// The common neighbours over the nodes that are a neighbour of either (Jaccard 1901); 0 where there are none.
    Jaccard,
    /// The sum over common neighbours of 1 / ln(degree) (Adamic and Adar 2003).
    AdamicAdar,
    /// The sum over common neighbours of 1 / degree (Zhou, Lu and Zhang 2009).
    ResourceAllocation,
    /// The product of the degrees (Newman 2001).
    PreferentialAttachment,
}

impl LinkScore {
    /// The term of a common neighbour of this degree, at least 2.
    fn of_common(self, degree: usize) -> f64 {
        match self {
            Self::CommonNeighbors | Self::Jaccard | Self::PreferentialAttachment => 1.0,
            Self::AdamicAdar => (degree as f64).ln().recip(),
            Self::ResourceAllocation => (degree as f64).recip(),
        }
    }

    /// The score of a pair whose common neighbours add up to `sum`.
    fn of_pair(self, graph: &Graph, u: u32, v: u32, sum: f64) -> f64 {
        match self {
            Self::CommonNeighbors | Self::AdamicAdar | Self::ResourceAllocation => sum,
            Self::Jaccard => match graph.degree(u) as f64 + graph.degree(v) as f64 - sum {
                0.0 => 0.0,
                either => sum / either,
            },
            Self::PreferentialAttachment => graph.degree(u) as f64 * graph.degree(v) as f64,
        }
    }
}

/// The score of each of `pairs`; NaN for a node with itself. O(sum of the degrees) time at most.
///
/// # Errors
/// If the monitor stops it.
pub fn link_scores(
    graph: &Graph,
    score: LinkScore,
    pairs: &[(u32, u32)],
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, Stopped> {
    let _reservation = Reservation::new(monitor, 8 * pairs.len())?;
    monitor.expect(pairs.len() as u64);
    let mut scores = vec![0.0; pairs.len()];
    let block = |(scores, pairs): (&mut [f64], &[(u32, u32)])| -> Result<(), Stopped> {
        monitor.check()?;
        for (to, &(u, v)) in scores.iter_mut().zip(pairs) {
            if u == v {
                *to = f64::NAN;
                continue;
            }
            let mut sum = 0.0;
            if score != LinkScore::PreferentialAttachment {
                for_each_common(graph.neighbors(u), graph.neighbors(v), |w| sum += score.of_common(graph.degree(w)));
            }
            *to = score.of_pair(graph, u, v, sum);
        }
        monitor.advance(pairs.len() as u64);
        Ok(())
    };
    scores.par_chunks_mut(BLOCK).zip(pairs.par_chunks(BLOCK)).try_for_each(block)?;
    Ok(scores)
}

/// Visits what two ascending lists share, in ascending order.
fn for_each_common(a: &[u32], b: &[u32], mut visit: impl FnMut(u32)) {
    let (short, mut long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() * GALLOP < long.len() {
        for &x in short {
            long = &long[long.partition_point(|&y| y < x)..];
            if long.first() == Some(&x) {
                visit(x);
            }
        }
        return;
    }
    let (mut i, mut j) = (0, 0);
    while i < short.len() && j < long.len() {
        let (x, y) = (short[i], long[j]);
        if x == y {
            visit(x);
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}

/// Pairs of nodes with their scores.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoredPairs {
    /// The smaller node.
    pub src: Vec<u32>,
    /// The larger node.
    pub dst: Vec<u32>,
    /// The score.
    pub score: Vec<f64>,
}

/// The score of every pair of nodes that are two hops apart: not adjacent, with a common neighbour; by rising nodes.
/// O(sum of the squared degrees) time, 32 bytes a pair.
///
/// # Errors
/// If the monitor stops it.
pub fn two_hop_scores(graph: &Graph, score: LinkScore, monitor: &dyn Monitor) -> Result<ScoredPairs, Stopped> {
    let n = graph.n_nodes();
    let threads = rayon::current_num_threads().min(n.div_ceil(BLOCK)).max(1);
    let _sums = Reservation::new(monitor, threads * 16 * n)?;
    monitor.expect(n.div_ceil(BLOCK) as u64);
    let state = || (vec![0.0; n], vec![false; n], Vec::<u32>::new());
    let block = |(sums, near, found): &mut (Vec<f64>, Vec<bool>, Vec<u32>), block: usize| -> Result<_, Stopped> {
        monitor.check()?;
        let mut pairs = ScoredPairs::default();
        for u in (block * BLOCK) as u32..n.min((block + 1) * BLOCK) as u32 {
            near[u as usize] = true;
            graph.neighbors(u).iter().for_each(|&v| near[v as usize] = true);
            for &w in graph.neighbors(u) {
                let of_w = score.of_common(graph.degree(w));
                let row = graph.neighbors(w);
                for &v in &row[row.partition_point(|&v| v <= u)..] {
                    if near[v as usize] {
                        continue;
                    }
                    // What a common neighbour adds is positive.
                    if sums[v as usize] == 0.0 {
                        found.push(v);
                    }
                    sums[v as usize] += of_w;
                }
            }
            near[u as usize] = false;
            graph.neighbors(u).iter().for_each(|&v| near[v as usize] = false);
            found.sort_unstable();
            for v in found.drain(..) {
                let sum = std::mem::take(&mut sums[v as usize]);
                pairs.src.push(u);
                pairs.dst.push(v);
                pairs.score.push(score.of_pair(graph, u, v, sum));
            }
        }
        let reservation = Reservation::new(monitor, 32 * pairs.src.len())?;
        monitor.advance(1);
        Ok((pairs, reservation))
    };
    let blocks = (0..n.div_ceil(BLOCK)).into_par_iter().map_init(state, block);
    let blocks = blocks.collect::<Result<Vec<_>, Stopped>>()?;
    let mut all = ScoredPairs::default();
    for (pairs, _reservation) in blocks {
        all.src.extend(pairs.src);
        all.dst.extend(pairs.dst);
        all.score.extend(pairs.score);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, assert_close};
    use bonnet_graph::Unmonitored;

    const ALL: [LinkScore; 5] = [
        LinkScore::CommonNeighbors,
        LinkScore::Jaccard,
        LinkScore::AdamicAdar,
        LinkScore::ResourceAllocation,
        LinkScore::PreferentialAttachment,
    ];

    fn by_definition(graph: &Graph, score: LinkScore, u: u32, v: u32) -> f64 {
        let n = graph.n_nodes() as u32;
        let common: Vec<u32> = (0..n).filter(|&w| graph.has_edge(u, w) && graph.has_edge(v, w)).collect();
        let either = (0..n).filter(|&w| graph.has_edge(u, w) || graph.has_edge(v, w)).count();
        let degree = |w: u32| (0..n).filter(|&x| graph.has_edge(w, x)).count() as f64;
        match score {
            LinkScore::CommonNeighbors => common.len() as f64,
            LinkScore::Jaccard if either == 0 => 0.0,
            LinkScore::Jaccard => common.len() as f64 / either as f64,
            LinkScore::AdamicAdar => common.iter().map(|&w| 1.0 / degree(w).ln()).sum(),
            LinkScore::ResourceAllocation => common.iter().map(|&w| 1.0 / degree(w)).sum(),
            LinkScore::PreferentialAttachment => degree(u) * degree(v),
        }
    }

    #[test]
    fn scores_are_those_of_their_definitions() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let pairs: Vec<(u32, u32)> =
                (0..n as u32).flat_map(|u| (0..n as u32).map(move |v| (u, v))).filter(|(u, v)| u != v).collect();
            let far = |&(u, v): &(u32, u32)| {
                u < v && !graph.has_edge(u, v) && (0..n as u32).any(|w| graph.has_edge(u, w) && graph.has_edge(v, w))
            };
            for score in ALL {
                let expected: Vec<f64> = pairs.iter().map(|&(u, v)| by_definition(&graph, score, u, v)).collect();
                let what = format!("{score:?} of graph {seed}");
                assert_close(&link_scores(&graph, score, &pairs, &Unmonitored).unwrap(), &expected, &what);
                let found = two_hop_scores(&graph, score, &Unmonitored).unwrap();
                let (apart, expected): (Vec<(u32, u32)>, Vec<f64>) =
                    pairs.iter().zip(expected).filter(|(pair, _)| far(pair)).unzip();
                assert_eq!(found.src.iter().copied().zip(found.dst).collect::<Vec<_>>(), apart, "{what}");
                assert_close(&found.score, &expected, &what);
            }
        }
    }

    #[test]
    fn a_node_with_itself_has_no_score_and_hubs_are_looked_up() {
        let star: Vec<(u32, u32)> = (1..100).map(|v| (0, v)).chain([(1, 2), (1, 3)]).collect();
        let graph = Graph::from_edges(100, &star);
        let pairs = [(0, 0), (0, 1), (2, 3)];
        let scores = link_scores(&graph, LinkScore::CommonNeighbors, &pairs, &Unmonitored).unwrap();
        assert!(scores[0].is_nan());
        assert_eq!(scores[1..], [2.0, 2.0]);
    }
}
