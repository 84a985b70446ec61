//! The communities of a graph, with the pairs of nodes in each of them and the edges between them.

use std::sync::Arc;

use bonnet_encodings::encoding_tree;
use bonnet_graph::{Graph, Monitor, Network, Reservation, Stopped};
use candle_core::{DType, Device, Result, Tensor};
use rayon::prelude::*;

use super::Propagation;
use crate::ground::TrainError;
use crate::ops::Pattern;

/// The probability with which a personalised walk returns, and its steps: those of SA2GFM's program.
const RETURN: f64 = 0.1;
const STEPS: usize = 10;

/// Columns of personalised ranks that are computed at a time.
const BLOCK: usize = 16;

/// The bytes of a pair, here and in what the gradient of a matrix of pairs keeps for each of `heads`.
pub(super) fn bytes_of_pair(heads: usize) -> usize {
    8 + 4 * (4 + 10 + 6 * heads)
}

/// A sparse matrix of a loop for each node, the pairs within communities, and the edges between them; a quantity of its entries
/// is a column.
#[derive(Debug)]
pub(crate) struct Communities {
    /// Where the entries stand.
    pub pattern: Arc<Pattern>,
    /// 1 for a loop, else 0.
    pub loops: Tensor,
    /// 1 for a pair of one community, else 0.
    pub within: Tensor,
    /// 1 for a pair of one community that is an edge, else 0.
    pub edges_within: Tensor,
    /// 1 for an edge between two communities, else 0.
    pub between: Tensor,
    /// The personalised rank of such an edge, else 0.
    pub rank: Tensor,
    /// The number of pairs of one community, both ways.
    pub n_within: usize,
}

impl Communities {
    /// The communities of a graph by its encoding tree of two levels ([`encoding_tree`]). Of one with more than `most` nodes the edges
    /// are its pairs, of others all pairs are. Ranks are those of [`ranks`]. The memory is reserved for good.
    ///
    /// # Errors
    /// If the monitor stops it, or candle refuses a tensor.
    pub fn new(
        graph: &Graph,
        most: usize,
        dtype: DType,
        reservation: &mut Reservation<'_>,
    ) -> std::result::Result<Self, TrainError> {
        let (n, monitor) = (graph.n_nodes(), reservation.monitor());
        let tree = encoding_tree(Network::undirected(graph), monitor)?;
        let community = |v: u32| tree.community[v as usize] as usize;
        let mut members = vec![Vec::new(); tree.community.iter().max().map_or(0, |&last| last as usize + 1)];
        (0..n as u32).for_each(|v| members[community(v)].push(v));
        let is_whole = |v: u32| members[community(v)].len() <= most;
        let entries: usize = (0..n as u32)
            .map(|v| 1 + graph.degree(v) + if is_whole(v) { members[community(v)].len() } else { 0 })
            .sum();
        reservation.grow(entries * bytes_of_pair(0))?;
        let ranks = ranks(graph, |u, v| community(u) != community(v), monitor)?;

        let (mut offsets, mut columns, mut at_edge) = (vec![0], Vec::with_capacity(entries), 0);
        let [mut loops, mut within, mut edges_within, mut between, mut rank] = [(); 5].map(|()| Vec::new());
        for v in 0..n as u32 {
            let neighbors = graph.neighbors(v);
            let mut row: Vec<(u32, Option<usize>)> = neighbors.iter().copied().zip((at_edge..).map(Some)).collect();
            at_edge += neighbors.len();
            if is_whole(v) {
                let others = members[community(v)].iter().filter(|u| neighbors.binary_search(u).is_err());
                row.extend(others.map(|&u| (u, None)));
            } else {
                row.push((v, None));
            }
            row.sort_unstable();
            for (u, edge) in row {
                let (is_loop, is_within) = (u == v, u != v && community(u) == community(v));
                let is_between = u != v && !is_within;
                columns.push(u);
                loops.push(f64::from(is_loop));
                within.push(f64::from(is_within));
                edges_within.push(f64::from(is_within && edge.is_some()));
                between.push(f64::from(is_between));
                rank.push(edge.filter(|_| is_between).map_or(0.0, |edge| ranks[edge]));
            }
            offsets.push(columns.len());
        }
        let column = |values: Vec<f64>| {
            let len = values.len();
            Tensor::from_vec(values, (len, 1), &Device::Cpu)?.to_dtype(dtype)
        };
        Ok(Self {
            pattern: Pattern::new(&offsets, &columns, n, &Device::Cpu)?,
            n_within: within.iter().filter(|&&is| is > 0.0).count(),
            loops: column(loops)?,
            within: column(within)?,
            edges_within: column(edges_within)?,
            between: column(between)?,
            rank: column(rank)?,
        })
    }

    /// `D^-1/2 (W + I) D^-1/2` for the values of pairs and of edges between communities, with the row sums D.
    pub fn normalized(&self, within: &Tensor, between: &Tensor) -> Result<Propagation> {
        let weights = (((within * &self.within)? + (between * &self.between)?)? + &self.loops)?;
        Propagation::by_row_sums(Arc::clone(&self.pattern), &weights)
    }
}

/// For each entry of the graph's lists of neighbours that is wanted, the personalised rank of its ends, 0 for others: the entry of `sum over
/// k < 10 of a (1 - a)^k T^k + (1 - a)^10 T^10` with `T = D^-1/2 (A + I) D^-1/2` and a = 0.1 (Gasteiger et al. 2019, APPNP), which is
/// the same both ways. O(10 n (n + m)) time where every node has such an edge, on all threads.
fn ranks(
    graph: &Graph,
    is_wanted: impl Fn(u32, u32) -> bool + Sync,
    monitor: &dyn Monitor,
) -> std::result::Result<Vec<f64>, Stopped> {
    let (n, offsets) = (graph.n_nodes(), graph.offsets());
    let upper = |u: u32| graph.neighbors(u).iter().enumerate().filter(move |(_, v)| **v > u);
    let starts: Vec<u32> = (0..n as u32).filter(|&u| upper(u).any(|(_, &v)| is_wanted(u, v))).collect();
    let _room = Reservation::new(monitor, 8 * (graph.targets().len() + 2 * BLOCK * n * rayon::current_num_threads()))?;
    let roots: Vec<f64> = (0..n as u32).map(|v| ((graph.degree(v) + 1) as f64).sqrt().recip()).collect();
    let of_block = |block: &[u32]| {
        let mut now = vec![0.0; n * BLOCK];
        block.iter().enumerate().for_each(|(column, &u)| now[u as usize * BLOCK + column] = 1.0);
        let mut next = vec![0.0; n * BLOCK];
        for _ in 0..STEPS {
            monitor.check()?;
            for (v, out) in next.chunks_exact_mut(BLOCK).enumerate() {
                out.fill(0.0);
                for &u in graph.neighbors(v as u32).iter().chain([&(v as u32)]) {
                    let weight = (1.0 - RETURN) * roots[v] * roots[u as usize];
                    let row = &now[u as usize * BLOCK..][..BLOCK];
                    out.iter_mut().zip(row).for_each(|(out, x)| *out += weight * x);
                }
            }
            block.iter().enumerate().for_each(|(column, &u)| next[u as usize * BLOCK + column] += RETURN);
            std::mem::swap(&mut now, &mut next);
        }
        let mut found = Vec::new();
        for (column, &u) in block.iter().enumerate() {
            for (at, &v) in upper(u).filter(|(_, v)| is_wanted(u, **v)) {
                let rank = now[v as usize * BLOCK + column];
                found.push((offsets[u as usize] + at, rank));
                if let Ok(back) = graph.neighbors(v).binary_search(&u) {
                    found.push((offsets[v as usize] + back, rank));
                }
            }
        }
        Ok::<_, Stopped>(found)
    };
    let found: Vec<_> = starts.par_chunks(BLOCK).map(of_block).collect::<std::result::Result<_, Stopped>>()?;
    let mut ranks = vec![0.0; graph.targets().len()];
    found.into_iter().flatten().for_each(|(at, rank)| ranks[at] = rank);
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    /// Two triangles and a square beside each other, with an edge between each two, and a node alone.
    fn graph() -> Graph {
        let edges =
            [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (6, 9), (0, 9)];
        Graph::from_edges(11, &edges)
    }

    /// The polynomial of the normalised adjacency, entry by entry.
    fn literal(graph: &Graph) -> Vec<Vec<f64>> {
        let n = graph.n_nodes();
        let degree = |v: usize| (graph.degree(v as u32) + 1) as f64;
        let joined = |u: usize, v: usize| u == v || graph.has_edge(u as u32, v as u32);
        let entry = |u: usize, v: usize| if joined(u, v) { 1.0 / (degree(u) * degree(v)).sqrt() } else { 0.0 };
        let product = |a: &Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            (0..n).map(|u| (0..n).map(|v| (0..n).map(|w| a[u][w] * entry(w, v)).sum()).collect()).collect()
        };
        let mut power: Vec<Vec<f64>> = (0..n).map(|u| (0..n).map(|v| f64::from(u == v)).collect()).collect();
        let mut sum = vec![vec![0.0; n]; n];
        for k in 0..=10 {
            let factor = if k < 10 { 0.1 } else { 1.0 } * 0.9f64.powi(k);
            sum.iter_mut().flatten().zip(power.iter().flatten()).for_each(|(sum, x)| *sum += factor * x);
            power = product(&power);
        }
        sum
    }

    #[test]
    fn ranks_are_those_of_the_polynomial() {
        let graph = graph();
        let (found, expected) = (ranks(&graph, |_, _| true, &Unmonitored).unwrap(), literal(&graph));
        for v in 0..11u32 {
            for (at, &u) in graph.neighbors(v).iter().enumerate() {
                let (found, expected) = (found[graph.offsets()[v as usize] + at], expected[v as usize][u as usize]);
                assert!((found - expected).abs() < 1e-14, "{v}, {u}: {found}, {expected}");
            }
        }
        let none = ranks(&graph, |_, _| false, &Unmonitored).unwrap();
        assert!(none.iter().all(|&rank| rank == 0.0));
    }

    #[test]
    fn entries_are_the_pairs_of_communities_and_the_edges_between_them() {
        let graph = graph();
        let tree = encoding_tree(Network::undirected(&graph), &Unmonitored).unwrap();
        let largest = (0..11).map(|c| tree.community.iter().filter(|&&of| of == c).count()).max().unwrap();
        assert!(largest > 2, "{:?}", tree.community);
        for most in [0, largest] {
            let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
            let found = Communities::new(&graph, most, DType::F64, &mut reservation).unwrap();
            let dense = |column: &Tensor| {
                let eye = Tensor::eye(11, DType::F64, &Device::Cpu).unwrap();
                found.pattern.sum(column, &eye).unwrap().to_vec2::<f64>().unwrap()
            };
            let columns = [&found.loops, &found.within, &found.edges_within, &found.between, &found.rank].map(dense);
            let ranks = literal(&graph);
            let mut pairs = 0;
            for u in 0..11 {
                for v in 0..11 {
                    let is_edge = graph.has_edge(u as u32, v as u32);
                    let together = u != v && tree.community[u] == tree.community[v];
                    let within = together && (most > 0 || is_edge);
                    let between = is_edge && !together;
                    let flags = [u == v, within, together && is_edge, between];
                    for (column, flag) in columns.iter().zip(flags) {
                        assert_eq!(column[u][v], f64::from(flag), "{u}, {v}, up to {most}");
                    }
                    let rank = if between { ranks[u][v] } else { 0.0 };
                    assert!((columns[4][u][v] - rank).abs() < 1e-14);
                    pairs += usize::from(within);
                }
            }
            assert_eq!(found.n_within, pairs);
        }
    }
}
