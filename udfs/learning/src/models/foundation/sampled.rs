//! The nodes of a step, of every source, with neighbours that are drawn for them: one graph, and paths in it.

use std::collections::{BTreeMap, BTreeSet};

use candle_core::{DType, Device, Result, Tensor};

use super::neighbors::most_similar;
use super::{Domain, Propagation, View};
use crate::ground::random::{Stream, key};

/// A sample of the sources. Places are numbers of rows of its view.
#[derive(Debug)]
pub(crate) struct Sampled {
    /// The features of all its nodes, and the matrix of the drawn edges, both ways, and the loops: each entry 1.
    pub view: View,
    /// The places of the nodes of the step.
    pub centers: Vec<u32>,
    /// The source of each of them.
    pub sources: Vec<usize>,
    /// Paths whose middle is a node of the step and whose ends are two of the neighbours that were drawn for it.
    pub paths: Vec<[u32; 3]>,
}

/// How much is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    /// The nodes of each source; all where it has no more.
    pub nodes: usize,
    /// The neighbours of a node; all where it has no more.
    pub neighbors: usize,
    /// Over how many edges from the nodes of the step.
    pub hops: usize,
    pub key: u64,
}

impl Sampled {
    /// A sample of some sources. O(nodes neighbors^hops) a source, up to a logarithm.
    pub fn new(sources: &[Domain], draw: Draw) -> Result<Self> {
        let (mut rows, mut values) = (Vec::<Vec<u32>>::new(), Vec::new());
        let (mut centers, mut of_source, mut paths) = (Vec::new(), Vec::new(), Vec::new());
        for (number, source) in sources.iter().enumerate() {
            let mut stream = Stream::new(key(&[draw.key, number as u64]));
            let first = rows.len() as u32;
            let mut nodes = distinct(source.graph.n_nodes(), draw.nodes, &mut stream);
            centers.extend((first..).take(nodes.len()));
            of_source.extend(std::iter::repeat_n(number, nodes.len()));
            let mut places: BTreeMap<u32, u32> = nodes.iter().copied().zip(first..).collect();
            let (mut edges, mut done) = (Vec::new(), 0);
            for hop in 0..draw.hops {
                let end = nodes.len();
                for at in done..end {
                    let neighbors = source.graph.neighbors(nodes[at]);
                    let mut drawn = Vec::new();
                    for i in distinct(neighbors.len(), draw.neighbors, &mut stream) {
                        let neighbor = neighbors[i as usize];
                        drawn.push(*places.entry(neighbor).or_insert_with(|| {
                            nodes.push(neighbor);
                            first + nodes.len() as u32 - 1
                        }));
                    }
                    let own = first + at as u32;
                    edges.extend(drawn.iter().map(|&place| (own, place)));
                    if let Some([a, b]) = two(&drawn, &mut stream).filter(|_| hop == 0) {
                        paths.push([a, own, b]);
                    }
                }
                done = end;
            }
            rows.extend((first..).take(nodes.len()).map(|place| vec![place]));
            for (a, b) in edges {
                rows[a as usize].push(b);
                rows[b as usize].push(a);
            }
            values.extend(nodes.iter().flat_map(|&node| source.rows.row(node as usize).iter().copied()));
        }
        // Two nodes may have drawn one another.
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
        }
        let (n, dim) = (rows.len(), sources.first().map_or(0, |source| source.rows.columns));
        let dtype = sources.first().map_or(DType::F32, |source| source.view.features.dtype());
        let ones = rows.into_iter().map(|row| row.into_iter().map(|column| (column, 1.0)).collect());
        let propagation = Propagation::of_rows(ones, n, dtype)?;
        let features = Tensor::from_vec(values, (n, dim), &Device::Cpu)?.to_dtype(dtype)?;
        Ok(Self { view: View { features, propagation, communities: None }, centers, sources: of_source, paths })
    }
}

/// Paths across sources among the rows of `z`, of which each has a source: rows are joined to the `nearest` of the
/// other sources by scalar product, both ways, and each row that is joined to two or more is the middle of a path
/// between two of them, drawn by the key. O(rows^2 width): rows are those of a step.
pub(crate) fn across(z: &Tensor, sources: &[usize], nearest: usize, draw: u64) -> Result<Vec<[u32; 3]>> {
    let z = z.detach();
    let similarity = z.matmul(&z.t()?)?.to_dtype(DType::F64)?.flatten_all()?.to_vec1::<f64>()?;
    let mut joined = vec![Vec::new(); sources.len()];
    for (v, similarity) in similarity.chunks_exact(sources.len()).enumerate() {
        for u in most_similar(similarity, |u| sources[u as usize] != sources[v], nearest) {
            joined[v].push(u);
            joined[u as usize].push(v as u32);
        }
    }
    let path = |(mut ends, v): (Vec<u32>, u32)| {
        ends.sort_unstable();
        ends.dedup();
        two(&ends, &mut Stream::new(key(&[draw, u64::from(v)]))).map(|[a, b]| [a, v, b])
    };
    Ok(joined.into_iter().zip(0..).filter_map(path).collect())
}

/// `k` of the numbers below `n`, or all, ascending (Floyd's algorithm: Bentley and Floyd 1987). O(k log k).
fn distinct(n: usize, k: usize, stream: &mut Stream) -> Vec<u32> {
    if k >= n {
        return (0..n as u32).collect();
    }
    let mut found = BTreeSet::new();
    for most in n - k..n {
        let drawn = stream.below(most + 1) as u32;
        if !found.insert(drawn) {
            found.insert(most as u32);
        }
    }
    found.into_iter().collect()
}

/// Two different entries of a list.
fn two(list: &[u32], stream: &mut Stream) -> Option<[u32; 2]> {
    if list.len() < 2 {
        return None;
    }
    let (a, b) = (stream.below(list.len()), stream.below(list.len() - 1));
    Some([list[a], list[if b < a { b } else { b + 1 }]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_numbers_are_drawn_evenly() {
        let mut counts = [0u32; 7];
        let mut stream = Stream::new(3);
        for _ in 0..7000 {
            let drawn = distinct(7, 3, &mut stream);
            assert!(drawn.len() == 3 && drawn.windows(2).all(|w| w[0] < w[1]), "{drawn:?}");
            drawn.iter().for_each(|&i| counts[i as usize] += 1);
        }
        // 3000 expected, deviation 41.
        assert!(counts.iter().all(|count| count.abs_diff(3000) < 200), "{counts:?}");
        assert_eq!(distinct(3, 3, &mut stream), [0, 1, 2]);
        assert!(distinct(0, 3, &mut stream).is_empty());
    }

    #[test]
    fn both_ends_of_a_path_differ() {
        let mut stream = Stream::new(4);
        assert_eq!(two(&[5], &mut stream), None);
        let mut pairs: Vec<[u32; 2]> = (0..200).filter_map(|_| two(&[5, 6, 7], &mut stream)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs, [[5, 6], [5, 7], [6, 5], [6, 7], [7, 5], [7, 6]]);
    }
}
