//! Communities by the method of Leiden.

use bonnet_graph::{Monitor, Reservation, Steps, Stopped, by_size};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::aggregate::{Grouped, renumber};
use super::local_moves::move_nodes;
use super::{CommunityOptions, random_order};
use crate::{AlgorithmError, Network};

/// How much chance there is in a refinement: a merge is drawn by `exp(gain / RANDOMNESS)`, with the gain in modularity per
/// edge at the node.
const RANDOMNESS: f64 = 0.01;

/// Nodes between two looks at the monitor.
const TOGETHER: usize = 1 << 12;

/// The community of every node of an undirected graph, numbered by falling size: as [`louvain`](super::louvain), but communities
/// are refined before the next graph is made of them. Each is connected, and modularity rises neither where a node moves to the
/// community of a neighbour nor where a community joins another.
///
/// Traag, Waltman and van Eck, From Louvain to Leiden: guaranteeing well-connected communities (2019), algorithm A.2; then moves
/// of nodes, merges and splits into connected pieces until none raises modularity. The cost of Louvain, about twice.
///
/// # Errors
/// For a resolution out of its range, and if the monitor stops it.
pub fn leiden(
    network: Network<'_>,
    options: &CommunityOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, AlgorithmError> {
    options.validate()?;
    let n = network.n_nodes();
    let _reservation = Reservation::new(monitor, 2 * Grouped::bytes(n, network.out.n_arcs()))?;
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let nodes = Grouped::new(network);
    let mut community = refined(&nodes, options.resolution, &mut random, monitor)?;
    // Where graphs of groups ended, nodes had moved together: by itself one may do better elsewhere.
    loop {
        let count = renumber(&mut community);
        merge(&nodes, &mut community, count, options.resolution, &mut random, monitor)?;
        let moved = move_nodes(&nodes, &mut community, options.resolution, None, &mut random, monitor)?;
        let whole = renumber(&mut community);
        community = connected_pieces(&nodes, &community);
        if !moved && renumber(&mut community) == whole {
            return Ok(by_size(&community));
        }
    }
}

/// The communities that moves and refinements come to, graph after graph.
fn refined(
    nodes: &Grouped,
    resolution: f64,
    random: &mut ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, Stopped> {
    let mut coarse: Option<Grouped> = None;
    // The node of `graph` that stands for each node, and the community of each node of `graph`.
    let mut node: Vec<u32> = (0..nodes.n_nodes() as u32).collect();
    let mut community = node.clone();
    loop {
        let graph = coarse.as_ref().unwrap_or(nodes);
        move_nodes(graph, &mut community, resolution, None, random, monitor)?;
        let count = renumber(&mut community);
        if count == graph.n_nodes() {
            return Ok(node.iter().map(|&v| community[v as usize]).collect());
        }
        let mut group = refine(graph, &community, resolution, random, monitor)?;
        let groups = renumber(&mut group);
        if groups == graph.n_nodes() {
            // Nothing merged: what the moves found is as refined as can be.
            return Ok(node.iter().map(|&v| community[v as usize]).collect());
        }
        let mut of_group = vec![0; groups];
        group.iter().zip(&community).for_each(|(&g, &c)| of_group[g as usize] = c);
        node.iter_mut().for_each(|v| *v = group[*v as usize]);
        coarse = Some(graph.aggregate(&group, groups));
        community = of_group;
    }
}

/// Joins communities, of which there are `count`, while that raises modularity.
fn merge(
    nodes: &Grouped,
    community: &mut [u32],
    count: usize,
    resolution: f64,
    random: &mut ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let mut graph = nodes.aggregate(community, count);
    loop {
        let mut group: Vec<u32> = (0..graph.n_nodes() as u32).collect();
        if !move_nodes(&graph, &mut group, resolution, None, random, monitor)? {
            return Ok(());
        }
        let count = renumber(&mut group);
        community.iter_mut().for_each(|c| *c = group[*c as usize]);
        graph = graph.aggregate(&group, count);
    }
}

/// Groups within each community: single nodes that are well connected to their community join groups that are, by chance, where
/// that does not lower modularity.
fn refine(
    graph: &Grouped,
    community: &[u32],
    resolution: f64,
    random: &mut ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, Stopped> {
    let n = graph.n_nodes();
    let scale = resolution / graph.total;
    let mut of_community = vec![0.0; n];
    community.iter().zip(&graph.strength).for_each(|(&c, k)| of_community[c as usize] += k);
    let mut group: Vec<u32> = (0..n as u32).collect();
    let mut strength = graph.strength.clone();
    let mut single = vec![true; n];
    // The weight between a group and the rest of its community.
    let inside =
        |v: u32| graph.of(v).filter(move |&(u, _)| community[u as usize] == community[v as usize]).map(|arc| arc.1);
    let mut cut: Vec<f64> = (0..n as u32).map(|v| inside(v).sum()).collect();
    let mut weight_to = vec![0.0; n];
    let mut found: Vec<u32> = Vec::new();
    let mut choices: Vec<(u32, f64)> = Vec::new();
    let mut steps = Steps::new(monitor, n);
    for (visits, v) in random_order(n, random).into_iter().enumerate() {
        if visits.is_multiple_of(TOGETHER) {
            monitor.check()?;
            steps.reach(visits);
        }
        let (k, whole) = (graph.strength[v as usize], of_community[community[v as usize] as usize]);
        let well_connected = |cut: f64, k: f64| cut >= scale * k * (whole - k);
        if !single[v as usize] || !well_connected(cut[v as usize], k) || k == 0.0 {
            continue;
        }
        for (u, weight) in graph.of(v) {
            if community[u as usize] == community[v as usize] && weight > 0.0 {
                let g = group[u as usize];
                if weight_to[g as usize] == 0.0 {
                    found.push(g);
                }
                weight_to[g as usize] += weight;
            }
        }
        let mut sum = 0.0;
        for &g in &found {
            let gain = weight_to[g as usize] - scale * k * strength[g as usize];
            if gain >= 0.0 && well_connected(cut[g as usize], strength[g as usize]) {
                choices.push((g, gain / k));
            }
        }
        // Relative to the largest gain, which keeps the powers within range.
        let most = choices.iter().map(|choice| choice.1).fold(0.0, f64::max);
        for choice in &mut choices {
            choice.1 = ((choice.1 - most) / RANDOMNESS).exp();
            sum += choice.1;
        }
        let mut left = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * sum;
        let chosen = choices.iter().find(|choice| {
            left -= choice.1;
            left < 0.0
        });
        if let Some(&(g, _)) = chosen.or(choices.last()) {
            let (v, g) = (v as usize, g as usize);
            group[v] = g as u32;
            single[g] = false;
            single[v] = false;
            strength[g] += k;
            cut[g] += cut[v] - 2.0 * weight_to[g];
        }
        found.drain(..).for_each(|g| weight_to[g as usize] = 0.0);
        choices.clear();
    }
    Ok(group)
}

/// The communities, each split into its connected pieces.
fn connected_pieces(graph: &Grouped, community: &[u32]) -> Vec<u32> {
    let mut piece = vec![u32::MAX; community.len()];
    let mut stack = Vec::new();
    for start in 0..community.len() as u32 {
        if piece[start as usize] != u32::MAX {
            continue;
        }
        piece[start as usize] = start;
        stack.push(start);
        while let Some(v) = stack.pop() {
            for (u, weight) in graph.of(v) {
                if weight > 0.0 && community[u as usize] == community[v as usize] && piece[u as usize] == u32::MAX {
                    piece[u as usize] = start;
                    stack.push(u);
                }
            }
        }
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communities::modularity;
    use crate::testing;
    use bonnet_graph::{Graph, Unmonitored};

    #[test]
    fn communities_are_connected_and_no_merge_and_no_move_of_a_node_raises_modularity() {
        for seed in 0..300 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let network = Network::undirected(&graph);
            let found = leiden(network, &CommunityOptions { seed, resolution: 1.0 }, &Unmonitored).unwrap();
            let pieces = connected_pieces(&Grouped::new(network), &found);
            for (v, &c) in found.iter().enumerate() {
                let first = found.iter().position(|&other| other == c).unwrap();
                assert_eq!(pieces[v], pieces[first], "community {c} of graph {seed} falls apart");
            }
            let value = modularity(network, &found, 1.0).unwrap_or(0.0);
            let count = found.iter().max().unwrap() + 1;
            for (a, b) in (0..count).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let merged: Vec<u32> = found.iter().map(|&c| if c == a { b } else { c }).collect();
                assert!(modularity(network, &merged, 1.0).unwrap_or(0.0) <= value + 1e-9, "graph {seed}");
            }
            for (v, &u) in (0..n).flat_map(|v| graph.neighbors(v as u32).iter().map(move |u| (v, u))) {
                let mut moved = found.clone();
                moved[v] = found[u as usize];
                assert!(modularity(network, &moved, 1.0).unwrap_or(0.0) <= value + 1e-9, "node {v} of graph {seed}");
            }
        }
    }
}
