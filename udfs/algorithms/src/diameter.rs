//! The diameter.

use bonnet_graph::{Monitor, Reservation, Steps, Stopped};

use crate::Network;
use crate::searches::{LANES, Lanes, Search, Searches};

/// The largest distance between two nodes that a path joins; 0 where no path does.
///
/// Of an undirected graph piece by piece: a node is at most `d(v, w) + ecc(w)` from any other, by each node `w` whose
/// eccentricity is known (Takes and Kosters, Determining the diameter of small world networks, 2011). Four searches find a
/// long path, those from its middle and from the 511 nodes of largest degree bound the rest, and the nodes whose bound is
/// above what was found are searched from, the highest first (as iFUB of Crescenzi et al. 2013 does), all 512 at a time. A few
/// batches where the graph has hubs or is long; O(n m / 512) words for each level at worst, which is what a directed graph
/// always takes. 216 n bytes. Ours: of petgraph there are only all distances (`floyd_warshall`, `johnson`), n^2 of them.
///
/// # Errors
/// If the monitor stops it.
pub fn diameter(network: Network<'_>, monitor: &dyn Monitor) -> Result<u32, Stopped> {
    if network.directed {
        return Ok(crate::eccentricity(network, monitor)?.into_iter().max().unwrap_or(0));
    }
    let n = network.n_nodes();
    let _reservation = Reservation::new(monitor, Searches::bytes(n) + 24 * n)?;
    let mut done = vec![false; n];
    let mut search = Search::new(n);
    let mut bounds = Bounds { of_node: vec![u32::MAX; n], searches: None };
    // A node is done with once it is known to be no further from another than what was found.
    let mut steps = Steps::new(monitor, n);
    let mut largest = 0;
    for start in 0..n as u32 {
        if done[start as usize] || network.out.degree(start) == 0 {
            continue;
        }
        monitor.check()?;
        search.run(network, start);
        let piece = search.order.clone();
        piece.iter().for_each(|&v| done[v as usize] = true);
        let after = steps.done() + piece.len();
        // A piece is at most a path.
        if piece.len() as u32 - 1 > largest {
            largest = of_piece(network, piece, &mut search, &mut bounds, largest, (monitor, &mut steps))?;
        }
        steps.reach(after);
    }
    Ok(largest)
}

/// The diameter of a connected piece, if it is more than `known`; else `known`.
fn of_piece<'a>(
    network: Network<'a>,
    mut piece: Vec<u32>,
    search: &mut Search,
    bounds: &mut Bounds<'a>,
    known: u32,
    (monitor, steps): (&dyn Monitor, &mut Steps<'_>),
) -> Result<u32, Stopped> {
    let after = steps.done() + piece.len();
    piece.sort_by_key(|&v| std::cmp::Reverse(network.out.degree(v)));
    let mut lower = known;
    let mut middle = piece[0];
    // Two double sweeps: the middle of a long path is near the centre.
    for _ in 0..2 {
        monitor.check()?;
        search.run(network, middle);
        // A search finds its start at least, and a shortest path leads back.
        let end = search.order.last().copied().unwrap_or(middle);
        let length = search.run(network, end);
        lower = lower.max(length);
        middle = search.order.last().copied().unwrap_or(end);
        for distance in (length / 2..length).rev() {
            let next = network.out.of(middle).iter().find(|&&v| search.distance[v as usize] == distance);
            middle = next.copied().unwrap_or(middle);
        }
    }
    let height = search.run(network, middle);
    for &v in &search.order {
        bounds.of_node[v as usize] = height + search.distance[v as usize];
    }
    let mut rest: Vec<u32> = piece.iter().copied().filter(|&v| bounds.of_node[v as usize] > lower).collect();
    if rest.len() > LANES {
        lower = lower.max(bounds.search(network, &piece[..LANES], true, monitor)?);
    }
    loop {
        rest.retain(|&v| bounds.of_node[v as usize] > lower);
        steps.reach(after - rest.len());
        if rest.is_empty() {
            return Ok(lower);
        }
        // Those that may be furthest from another, by rising degree: these are far out.
        rest.sort_by_key(|&v| bounds.of_node[v as usize]);
        let sources = rest.split_off(rest.len().saturating_sub(LANES));
        lower = lower.max(bounds.search(network, &sources, false, monitor)?);
    }
}

/// An upper bound of the eccentricity of each node.
struct Bounds<'a> {
    of_node: Vec<u32>,
    searches: Option<Searches<'a>>,
}

impl<'a> Bounds<'a> {
    /// The largest eccentricity among the sources; with `all`, what follows for the bounds of all nodes, by a second search.
    fn search(
        &mut self,
        network: Network<'a>,
        sources: &[u32],
        all: bool,
        monitor: &dyn Monitor,
    ) -> Result<u32, Stopped> {
        let Self { of_node, searches } = self;
        let searches = searches.get_or_insert_with(|| Searches::new(network));
        // Which searches reach a node at each level: the last is the eccentricity of their sources.
        let mut reaching: Vec<Lanes> = Vec::new();
        let last = searches.run(sources, monitor, |level, _, found| {
            reaching.resize(reaching.len().max(level as usize), Lanes::EMPTY);
            reaching[level as usize - 1].add(found);
        })?;
        if all {
            let mut by_eccentricity: Vec<(u32, Lanes)> = Vec::new();
            for (level, lanes) in (1..).zip(&reaching) {
                let further = reaching.get(level as usize).copied().unwrap_or(Lanes::EMPTY);
                by_eccentricity.push((level, lanes.without(&further)));
            }
            by_eccentricity.retain(|(_, lanes)| !lanes.is_empty());
            searches.run(sources, monitor, |level, v, found| {
                let nearest = by_eccentricity.iter().find(|(_, lanes)| found.without(lanes) != *found);
                if let Some((eccentricity, _)) = nearest {
                    let bound = &mut of_node[v as usize];
                    *bound = (*bound).min(level + eccentricity);
                }
            })?;
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::{Graph, Unmonitored};

    #[test]
    fn the_diameter_is_the_largest_distance() {
        testing::each_network(0..400, |seed, network| {
            let expected = testing::distances(network).into_iter().flatten().flatten().max().unwrap_or(0);
            assert_eq!(diameter(network, &Unmonitored).unwrap(), expected, "graph {seed}");
        });
    }

    #[test]
    fn cycles_and_paths() {
        let cycle: Vec<(u32, u32)> = (0..1001).map(|v| (v, (v + 1) % 1001)).collect();
        let of = |edges: &[(u32, u32)]| {
            diameter(Network::undirected(&Graph::from_edges(1001, edges)), &Unmonitored).unwrap()
        };
        assert_eq!(of(&cycle), 500);
        // A wheel of spokes: hubs bound the rest.
        let spokes: Vec<(u32, u32)> = (1..1001).map(|v| (u32::saturating_sub(v, 100), v)).collect();
        assert_eq!(of(&spokes), 20);
        assert_eq!(of(&cycle[..1000]), 1000);
        assert_eq!(of(&[]), 0);
    }
}
