//! Moves of single nodes that raise modularity.

use std::collections::VecDeque;

use bonnet_graph::{Monitor, Stopped};
use rand_chacha::ChaCha8Rng;

use super::aggregate::Grouped;
use super::random_order;

/// Nodes between two looks at the monitor.
const TOGETHER: usize = 1 << 12;

/// A gain that is less than this share of a node's strength is a rounding error.
const NEGLIGIBLE: f64 = 1e-11;

/// Moves nodes to the community of a neighbour where that raises modularity most, until no move does: a node is looked at again
/// when a neighbour has moved (Traag, Waltman and van Eck 2019, algorithm MoveNodesFast). Gives whether any moved.
pub(super) fn move_nodes(
    graph: &Grouped,
    community: &mut [u32],
    resolution: f64,
    random: &mut ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<bool, Stopped> {
    let n = graph.n_nodes();
    if graph.total == 0.0 {
        return Ok(false);
    }
    let mut strength = vec![0.0; n];
    community.iter().zip(&graph.strength).for_each(|(&c, own)| strength[c as usize] += own);
    let mut queue: VecDeque<u32> = random_order(n, random).into();
    let mut waiting = vec![true; n];
    let mut weight_to = vec![0.0; n];
    let mut found: Vec<u32> = Vec::new();
    let (mut moved, mut visits) = (false, 0usize);
    while let Some(v) = queue.pop_front() {
        visits += 1;
        if visits.is_multiple_of(TOGETHER) {
            monitor.check()?;
        }
        waiting[v as usize] = false;
        let (own, k) = (community[v as usize], graph.strength[v as usize]);
        for (u, weight) in graph.of(v) {
            let c = community[u as usize];
            if weight > 0.0 {
                if weight_to[c as usize] == 0.0 {
                    found.push(c);
                }
                weight_to[c as usize] += weight;
            }
        }
        let scale = resolution * k / graph.total;
        let mut best = own;
        let mut most = weight_to[own as usize] - scale * (strength[own as usize] - k) + NEGLIGIBLE * k;
        for &c in found.iter().filter(|&&c| c != own) {
            let gain = weight_to[c as usize] - scale * strength[c as usize];
            if gain > most || (gain == most && best != own && c < best) {
                (best, most) = (c, gain);
            }
        }
        found.drain(..).for_each(|c| weight_to[c as usize] = 0.0);
        if best != own {
            moved = true;
            community[v as usize] = best;
            strength[own as usize] -= k;
            strength[best as usize] += k;
            for (u, _) in graph.of(v) {
                if community[u as usize] != best && !std::mem::replace(&mut waiting[u as usize], true) {
                    queue.push_back(u);
                }
            }
        }
    }
    Ok(moved)
}
