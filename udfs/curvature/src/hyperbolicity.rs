//! Gromov's hyperbolicity of a graph: how far its distances are from those of a tree.
//!
//! Of four nodes, take the three sums of the distances of two opposite pairs, `d(a,b) + d(c,d)` and the like. Half the
//! difference of the two largest sums is the four-point delta of the nodes; the hyperbolicity of the graph is the largest
//! delta. Trees and cliques have 0, a cycle of `4k` nodes `k`, a grid of `k` by `k` nodes `k - 1`.
//!
//! Four facts make it quick:
//! * Nodes of degree 1 change nothing, so they are stripped, again and again (a graph's hyperbolicity is that of its
//!   biconnected components).
//! * The largest delta is found among two pairs that are *far apart*: no neighbour of one endpoint is further from the other.
//! * A sum of two pairs exceeds the others by at most the shorter distance of the two. So of the pairs in descending order
//!   of distance, those that are no longer than twice the best delta need not be looked at.
//! * With a pair `x, y`, a node `v` exceeds the best `h = 2 delta` only if `2 ecc(v) + d(x,y) - d(x,v) - d(y,v) > 2h`: the
//!   excess is at most that over the mean of the other two sums, `d(v,w)` is at most `ecc(v)`, and `d(x,w) + d(w,y)` at
//!   least `d(x,y)`.

use std::collections::VecDeque;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::midpoint::SplitMix64;

/// How many pairs are looked at between two looks at the best delta. A constant, so that the work does not depend on the
/// threads.
const BLOCK: usize = 256;

/// A pair of nodes that is no path away from one another.
const UNREACHED: u32 = u32::MAX;

/// Limits of the work of [`hyperbolicity`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HyperbolicityOptions {
    /// The most nodes of a component (without what hangs on it as a tree) of which all distances are computed. Of a larger
    /// one, nodes are sampled.
    pub nodes: usize,
    /// About how many pairs of pairs are compared in a component before bounds have to do.
    pub quadruples: u64,
    /// The number of nodes that are sampled in a large component.
    pub sample: usize,
    /// Seed of the sample.
    pub seed: u64,
}

impl Default for HyperbolicityOptions {
    fn default() -> Self {
        Self { nodes: 2000, quadruples: 1 << 30, sample: 256, seed: 0 }
    }
}

/// Bounds of a graph's hyperbolicity. Multiples of 1/2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hyperbolicity {
    /// The largest delta that was found.
    pub lower: f64,
    /// The upper bound; equal to `lower` where the hyperbolicity is exact.
    pub upper: f64,
}

/// The hyperbolicity of a graph: the largest of its components'; `None` for a graph without nodes.
///
/// Exact for components of up to `options.nodes` nodes while no more than `options.quadruples` are compared. Beyond, the
/// lower bound is the largest delta of those that were compared, or of all quadruples of a sample; the upper bound is half
/// the distance at which the comparison stopped, or half of an upper bound of the diameter.
///
/// Time O(k (k + m)) for the distances of a component of k nodes and m edges and at most O(k^4) comparisons, usually far
/// fewer; 4 k^2 bytes. A sample of s nodes takes O(s m) time and O(s k) bytes.
///
/// Definition: Gromov, Hyperbolic groups (1987). Algorithm: Cohen, Coudert and Lancin, On computing the Gromov
/// hyperbolicity (2015), Sec. 3 (far-apart pairs, order of the pairs); the bound by eccentricities after Borassi, Coudert,
/// Crescenzi and Marino, On computing the hyperbolicity of real-world graphs (2015), Lemma 6.
///
/// # Errors
/// If the monitor ends the computation.
pub fn hyperbolicity(
    graph: &Graph,
    options: &HyperbolicityOptions,
    monitor: &dyn Monitor,
) -> Result<Option<Hyperbolicity>, Stopped> {
    if graph.n_nodes() == 0 {
        return Ok(None);
    }
    let _reservation =
        Reservation::new(monitor, Graph::bytes(graph.n_nodes(), graph.n_edges()) + 16 * graph.n_nodes())?;
    let (mut lower, mut upper) = (0, 0);
    for component in cores(graph) {
        monitor.check()?;
        let (found, bound) = of_component(&component, options, monitor)?;
        (lower, upper) = (lower.max(found), upper.max(bound));
    }
    let half = |twice: u32| f64::from(twice) / 2.0;
    Ok(Some(Hyperbolicity { lower: half(lower), upper: half(upper) }))
}

/// The connected components of what stays of a graph when nodes of degree 1 or 0 are stripped until there are none. Their
/// distances are those in the graph.
fn cores(graph: &Graph) -> Vec<Graph> {
    let nodes = graph.n_nodes();
    let mut degrees: Vec<usize> = (0..nodes as u32).map(|v| graph.degree(v)).collect();
    let mut leaves: Vec<u32> = (0..nodes as u32).filter(|&v| degrees[v as usize] <= 1).collect();
    let mut stripped = vec![false; nodes];
    while let Some(leaf) = leaves.pop() {
        stripped[leaf as usize] = true;
        for &v in graph.neighbors(leaf) {
            let degree = &mut degrees[v as usize];
            *degree = degree.saturating_sub(1);
            if *degree == 1 && !stripped[v as usize] {
                leaves.push(v);
            }
        }
    }
    let mut numbers = vec![UNREACHED; nodes];
    let mut found = Vec::new();
    for start in 0..nodes as u32 {
        if stripped[start as usize] || numbers[start as usize] != UNREACHED {
            continue;
        }
        let mut members = vec![start];
        numbers[start as usize] = 0;
        let mut next = 0;
        while next < members.len() {
            for &v in graph.neighbors(members[next]) {
                if !stripped[v as usize] && numbers[v as usize] == UNREACHED {
                    numbers[v as usize] = members.len() as u32;
                    members.push(v);
                }
            }
            next += 1;
        }
        let inside = |&&v: &&u32| !stripped[v as usize];
        let edges: Vec<(u32, u32)> = members
            .iter()
            .flat_map(|&u| graph.neighbors(u).iter().filter(inside).map(move |&v| (u, v)))
            .filter(|(u, v)| u < v)
            .map(|(u, v)| (numbers[u as usize], numbers[v as usize]))
            .collect();
        found.push(Graph::from_edges(members.len(), &edges));
    }
    found
}

/// Bounds of twice the hyperbolicity of a connected graph.
fn of_component(graph: &Graph, options: &HyperbolicityOptions, monitor: &dyn Monitor) -> Result<(u32, u32), Stopped> {
    let nodes = graph.n_nodes();
    if nodes < 4 {
        return Ok((0, 0));
    }
    if nodes <= options.nodes {
        let all: Vec<u32> = (0..nodes as u32).collect();
        let (distances, _reservation) = distances(graph, &all, monitor)?;
        let pairs = far_apart(graph, &distances);
        return compare(&distances, pairs, options.quadruples, monitor);
    }
    let sample = SplitMix64::new(options.seed).sample((0..nodes as u32).collect(), options.sample.min(nodes));
    let (to_all, _reservation) = distances_to_all(graph, &sample, monitor)?;
    // No distance exceeds twice the distance of any node to its furthest.
    let radius = to_all.iter().map(|distances| distances.iter().copied().max().unwrap_or(0)).min().unwrap_or(0);
    let among = Distances {
        nodes: sample.len(),
        values: to_all.iter().flat_map(|distances| sample.iter().map(|&v| distances[v as usize])).collect(),
    };
    let pairs = (0..sample.len() as u32).flat_map(|u| (u + 1..sample.len() as u32).map(move |v| (u, v))).collect();
    let (found, _) = compare(&among, pairs, options.quadruples, monitor)?;
    Ok((found, found.max(2 * radius)))
}

/// All distances between some nodes.
struct Distances {
    nodes: usize,
    values: Vec<u32>,
}

impl Distances {
    fn of(&self, u: u32) -> &[u32] {
        &self.values[u as usize * self.nodes..][..self.nodes]
    }
}

fn distances<'a>(
    graph: &Graph,
    sources: &[u32],
    monitor: &'a dyn Monitor,
) -> Result<(Distances, Reservation<'a>), Stopped> {
    let (to_all, mut reservation) = distances_to_all(graph, sources, monitor)?;
    reservation.grow(4 * graph.n_nodes() * sources.len())?;
    Ok((Distances { nodes: graph.n_nodes(), values: to_all.concat() }, reservation))
}

/// The distances of some nodes to all nodes of a connected graph.
fn distances_to_all<'a>(
    graph: &Graph,
    sources: &[u32],
    monitor: &'a dyn Monitor,
) -> Result<(Vec<Vec<u32>>, Reservation<'a>), Stopped> {
    let reservation = Reservation::new(monitor, 4 * graph.n_nodes() * sources.len())?;
    let search = |&source: &u32| {
        monitor.check()?;
        let mut distances = vec![UNREACHED; graph.n_nodes()];
        distances[source as usize] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(u) = queue.pop_front() {
            for &v in graph.neighbors(u) {
                if distances[v as usize] == UNREACHED {
                    distances[v as usize] = distances[u as usize] + 1;
                    queue.push_back(v);
                }
            }
        }
        Ok(distances)
    };
    Ok((sources.par_iter().map(search).collect::<Result<_, Stopped>>()?, reservation))
}

/// The pairs of nodes of which no neighbour of one endpoint is further from the other.
fn far_apart(graph: &Graph, distances: &Distances) -> Vec<(u32, u32)> {
    let nodes = graph.n_nodes() as u32;
    let furthest = |u: u32, v: u32| {
        let from = distances.of(u);
        graph.neighbors(v).iter().all(|&w| from[w as usize] <= from[v as usize])
    };
    let of = |u: u32| (u + 1..nodes).filter(move |&v| furthest(u, v) && furthest(v, u)).map(move |v| (u, v));
    (0..nodes).into_par_iter().flat_map_iter(of).collect()
}

/// The largest excess of the sum of two of these pairs over the two other sums of their endpoints, and what it would be at most
/// if all were compared.
fn compare(
    distances: &Distances,
    mut pairs: Vec<(u32, u32)>,
    quadruples: u64,
    monitor: &dyn Monitor,
) -> Result<(u32, u32), Stopped> {
    let length = |&(u, v): &(u32, u32)| distances.of(u)[v as usize];
    let _reservation = Reservation::new(monitor, 16 * pairs.len())?;
    pairs.sort_unstable_by_key(|pair| (std::cmp::Reverse(length(pair)), *pair));
    // The pairs of each node with later ones, by their rank.
    let mut partners: Vec<Vec<(u32, u32)>> = vec![Vec::new(); distances.nodes];
    for (&(u, v), rank) in pairs.iter().zip(0..) {
        partners[u as usize].push((rank, v));
    }
    let eccentricities: Vec<u32> =
        (0..distances.nodes as u32).map(|v| distances.of(v).iter().copied().max().unwrap_or(0)).collect();

    let (mut best, mut compared) = (0, 0u64);
    for (start, block) in (0..).step_by(BLOCK).zip(pairs.chunks(BLOCK)) {
        let longest = length(&block[0]);
        if longest <= best {
            break;
        }
        if compared >= quadruples {
            return Ok((best, longest));
        }
        let one = |(rank, &(x, y)): (u32, &(u32, u32))| -> Result<(u32, u64), Stopped> {
            monitor.check()?;
            let (from_x, from_y) = (distances.of(x), distances.of(y));
            let between = from_x[y as usize];
            if between <= best {
                return Ok((0, 0));
            }
            let exceeds = |v: usize| 2 * eccentricities[v] + between > 2 * best + from_x[v] + from_y[v];
            let eligible: Vec<bool> = (0..distances.nodes).map(exceeds).collect();
            let (mut found, mut count) = (0, 0);
            for (v, partners) in partners.iter().enumerate().filter(|(v, _)| eligible[*v]) {
                let from_v = distances.of(v as u32);
                let earlier = partners.iter().take_while(|(other, _)| *other < rank).map(|(_, w)| *w as usize);
                for w in earlier.filter(|&w| eligible[w]) {
                    let others = (from_x[v] + from_y[w]).max(from_x[w] + from_y[v]);
                    found = found.max((between + from_v[w]).saturating_sub(others));
                    count += 1;
                }
            }
            Ok((found, count))
        };
        let ranked = block.par_iter().enumerate().map(|(i, pair)| (start as u32 + i as u32, pair));
        let of_block: Vec<(u32, u64)> = ranked.map(one).collect::<Result<_, _>>()?;
        for (found, count) in of_block {
            (best, compared) = (best.max(found), compared + count);
        }
    }
    Ok((best, best))
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    /// The definition, word by word.
    fn literal(graph: &Graph) -> f64 {
        let n = graph.n_nodes();
        let mut d = vec![vec![f64::INFINITY; n]; n];
        (0..n).for_each(|v| d[v][v] = 0.0);
        for (u, v) in graph.edges() {
            d[u as usize][v as usize] = 1.0;
            d[v as usize][u as usize] = 1.0;
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    d[i][j] = d[i][j].min(d[i][k] + d[k][j]);
                }
            }
        }
        let mut delta: f64 = 0.0;
        for a in 0..n {
            for b in 0..a {
                for c in 0..b {
                    for e in 0..c {
                        let mut sums = [d[a][b] + d[c][e], d[a][c] + d[b][e], d[a][e] + d[b][c]];
                        sums.sort_by(f64::total_cmp);
                        if sums[2].is_finite() {
                            delta = delta.max((sums[2] - sums[1]) / 2.0);
                        }
                    }
                }
            }
        }
        delta
    }

    fn exact(graph: &Graph) -> f64 {
        let found = hyperbolicity(graph, &HyperbolicityOptions::default(), &Unmonitored).unwrap().unwrap();
        assert_eq!(found.lower, found.upper);
        found.lower
    }

    fn cycle(n: u32) -> Graph {
        Graph::from_edges(n as usize, &(0..n).map(|v| (v, (v + 1) % n)).collect::<Vec<_>>())
    }

    fn grid(rows: u32, columns: u32) -> Graph {
        let at = |row, column| row * columns + column;
        let mut edges = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                edges.extend((row + 1 < rows).then(|| (at(row, column), at(row + 1, column))));
                edges.extend((column + 1 < columns).then(|| (at(row, column), at(row, column + 1))));
            }
        }
        Graph::from_edges((rows * columns) as usize, &edges)
    }

    fn random(seed: u64, n: u32, edges: usize) -> Graph {
        let mut numbers = SplitMix64::new(seed);
        let node = |numbers: &mut SplitMix64| numbers.sample((0..n).collect(), 1)[0];
        let edges: Vec<_> = (0..edges).map(|_| (node(&mut numbers), node(&mut numbers))).collect();
        Graph::from_edges(n as usize, &edges)
    }

    #[test]
    fn cycles_grids_trees_and_cliques_have_their_closed_forms() {
        for n in 3..40 {
            let expected = f64::from(n / 4) - if n % 4 == 1 { 0.5 } else { 0.0 };
            assert_eq!(exact(&cycle(n)), expected, "a cycle of {n} nodes");
        }
        for (rows, columns) in [(2, 2), (2, 7), (3, 3), (4, 6), (5, 5)] {
            assert_eq!(exact(&grid(rows, columns)), f64::from(rows - 1), "{rows} by {columns}");
        }
        let tree: Vec<(u32, u32)> = (1..60).map(|v| (v, v / 3)).collect();
        assert_eq!(exact(&Graph::from_edges(60, &tree)), 0.0);
        let clique: Vec<(u32, u32)> = (0..9).flat_map(|u| (0..u).map(move |v| (u, v))).collect();
        assert_eq!(exact(&Graph::from_edges(9, &clique)), 0.0);
        // The Petersen graph.
        let outer = (0..5).flat_map(|v| [(v, (v + 1) % 5), (v, v + 5), (v + 5, (v + 2) % 5 + 5)]);
        let petersen = Graph::from_edges(10, &outer.collect::<Vec<_>>());
        assert_eq!(exact(&petersen), literal(&petersen));
    }

    #[test]
    fn random_graphs_have_the_value_of_the_definition() {
        for seed in 0..120 {
            let n = 4 + (seed % 20) as u32;
            let graph = random(seed, n, n as usize + (seed as usize * 7) % 25);
            assert_eq!(exact(&graph), literal(&graph), "seed {seed}");
        }
    }

    #[test]
    fn the_largest_component_decides_and_graphs_without_quadruples_have_none() {
        let value = |n, edges: &[(u32, u32)]| {
            hyperbolicity(&Graph::from_edges(n, edges), &HyperbolicityOptions::default(), &Unmonitored).unwrap()
        };
        assert_eq!(value(0, &[]), None);
        assert_eq!(value(3, &[(0, 1)]), Some(Hyperbolicity { lower: 0.0, upper: 0.0 }));
        // A cycle of 4, one of 8 with a tail, a loop and a repeat.
        let mut edges: Vec<(u32, u32)> = (0..4).map(|v| (v, (v + 1) % 4)).collect();
        edges.extend((0..8).map(|v| (4 + v, 4 + (v + 1) % 8)));
        edges.extend([(12, 4), (13, 12), (13, 13), (4, 12)]);
        assert_eq!(value(14, &edges), Some(Hyperbolicity { lower: 2.0, upper: 2.0 }));
    }

    #[test]
    fn bounds_enclose_the_value_and_a_seed_gives_the_same() {
        for seed in 0..30 {
            let graph = random(seed, 40, 60);
            let value = exact(&graph);
            for options in [
                HyperbolicityOptions { nodes: 4, sample: 8, seed, ..HyperbolicityOptions::default() },
                HyperbolicityOptions { nodes: 4, sample: 100, seed, ..HyperbolicityOptions::default() },
                HyperbolicityOptions { quadruples: 1, ..HyperbolicityOptions::default() },
            ] {
                let bounds = || hyperbolicity(&graph, &options, &Unmonitored).unwrap().unwrap();
                let Hyperbolicity { lower, upper } = bounds();
                assert!(lower <= value && value <= upper, "seed {seed}: {lower} {value} {upper}");
                assert_eq!(bounds(), Hyperbolicity { lower, upper });
                if options.sample == 100 {
                    assert_eq!(lower, value, "all nodes are sampled");
                }
            }
        }
    }

    #[test]
    fn threads_do_not_change_the_bounds() {
        let graph = random(5, 300, 700);
        let options = HyperbolicityOptions { quadruples: 20_000, ..HyperbolicityOptions::default() };
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| hyperbolicity(&graph, &options, &Unmonitored).unwrap())
        };
        assert_eq!(with(1), with(5));
    }
}
