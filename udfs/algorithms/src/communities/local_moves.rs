//! Moves of single nodes that raise modularity.

use std::collections::VecDeque;

use bonnet_graph::{Monitor, Steps, Stopped};
use rand_chacha::ChaCha8Rng;

use super::aggregate::Grouped;
use super::batched_moves::move_in_batches;
use super::neighbor_weights::NEGLIGIBLE;
use super::random_order;

/// From so many nodes on they move in batches: what threads save is then more than what they wait for one another.
pub(super) const MANY: usize = 1 << 14;

/// Nodes between two looks at the monitor.
const TOGETHER: usize = 1 << 12;

/// A community while its nodes move.
#[derive(Clone, Copy, Default)]
struct Community {
    /// The sum of its nodes' strengths.
    strength: f64,
    /// The weight between it and the node that is looked at.
    weight: f64,
}

/// Moves nodes to the community of a neighbour where that raises modularity most, until no move does: a node is looked at again
/// when a neighbour has moved (Traag, Waltman and van Eck 2019, algorithm MoveNodesFast). One by one, it ends earlier after so many
/// looks for each node; in a large graph nodes move in batches. Gives whether any moved.
pub(super) fn move_nodes(
    graph: &Grouped,
    community: &mut [u32],
    resolution: f64,
    looks: Option<usize>,
    random: &mut ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<bool, Stopped> {
    let n = graph.n_nodes();
    if n >= MANY {
        return move_in_batches(graph, community, resolution, random, monitor);
    }
    if graph.total == 0.0 {
        return Ok(false);
    }
    let mut communities = vec![Community::default(); n];
    community.iter().zip(&graph.strength).for_each(|(&c, own)| communities[c as usize].strength += own);
    let mut queue: VecDeque<u32> = random_order(n, random).into();
    let mut waiting = vec![true; n];
    let mut found: Vec<u32> = Vec::new();
    let (mut moved, mut visits) = (false, 0usize);
    // Each node is looked at once; how many are again is not known.
    let mut steps = Steps::new(monitor, n);
    let most = looks.map_or(usize::MAX, |looks| looks * n);
    while let Some(v) = queue.pop_front() {
        if visits == most {
            break;
        }
        visits += 1;
        if visits.is_multiple_of(TOGETHER) {
            monitor.check()?;
            steps.reach(visits);
        }
        waiting[v as usize] = false;
        let (own, k) = (community[v as usize], graph.strength[v as usize]);
        for (u, weight) in graph.of(v) {
            let c = community[u as usize];
            if weight > 0.0 {
                let to = &mut communities[c as usize].weight;
                if *to == 0.0 {
                    found.push(c);
                }
                *to += weight;
            }
        }
        let scale = resolution * k / graph.total;
        let Community { strength, weight } = communities[own as usize];
        let mut best = own;
        let mut most = weight - scale * (strength - k) + NEGLIGIBLE * k;
        for c in found.drain(..) {
            let Community { strength, weight } = communities[c as usize];
            communities[c as usize].weight = 0.0;
            let gain = weight - scale * strength;
            if c != own && (gain > most || (gain == most && best != own && c < best)) {
                (best, most) = (c, gain);
            }
        }
        if best != own {
            moved = true;
            community[v as usize] = best;
            communities[own as usize].strength -= k;
            communities[best as usize].strength += k;
            for (u, _) in graph.of(v) {
                if community[u as usize] != best && !std::mem::replace(&mut waiting[u as usize], true) {
                    queue.push_back(u);
                }
            }
        }
    }
    Ok(moved)
}
