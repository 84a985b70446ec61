//! Midpoint curvature with undirected distances.

use bonnet_graph::{Graph, Reservation, Stopped, connected_components};
use rayon::prelude::*;

use super::adjacency::Adjacency;
use super::centre::{Centre, centres};
use super::core::{self, SMALL};
use super::fixed;
use super::pendant::{Pruned, prune};
use super::sampled;
use super::sampling::SplitMix64;
use super::tally::Sums;
use super::{Estimate, Host, MidpointError, MidpointOptions, Raw};

/// Small components that a thread takes at a time.
const TOGETHER: usize = 64;

pub(super) fn curvature(
    n: usize,
    arcs: &[(u32, u32)],
    options: &MidpointOptions,
    host: &Host,
) -> Result<Raw, MidpointError> {
    let mut room = Reservation::new(host.monitor, Graph::bytes(n, arcs.len()) + 8 * n)?;
    let graph = &Graph::from_edges(n, arcs);
    host.monitor.check()?;
    let mut looped = vec![false; n];
    if options.self_loops {
        arcs.iter().filter(|(from, to)| from == to).for_each(|&(v, _)| looped[v as usize] = true);
    }
    // Centres, components, trees and sums; adjacency lists of what trees leave.
    room.grow(n * (size_of::<Centre>() + size_of::<Sums>() + 80) + 4 * graph.targets().len())?;
    let components = connected_components(graph);
    host.monitor.check()?;

    // Components with no more nodes than the sample takes are exact: the last ones, as sizes fall.
    let is_sampled = |size: &&usize| options.anchors.is_some_and(|anchors| anchors < **size);
    let sampled_components = components.sizes.iter().take_while(is_sampled).count();
    let exact = |v: u32| components.of_node[v as usize] as usize >= sampled_components;
    let (centres, sums) = rayon::join(
        || centres(graph, &looped, host.monitor),
        || match sampled_components < components.sizes.len() {
            true => exact_sums(graph, &looped, &components, exact, host).map(Some),
            false => Ok(None),
        },
    );
    let (centres, sums) = (centres?, sums?);
    let mut nodes = vec![Estimate::exact(0.0); n];
    let mut diameter = 0;
    let members = members(&components.of_node, components.sizes.len(), |_| true);
    let mut random = SplitMix64::new(options.seed);
    if let (Some(count), true) = (options.anchors, sampled_components > 0) {
        let place = members.places(n);
        for component in 0..sampled_components {
            let members = members.of(component);
            let anchors = random.sample(members.to_vec(), count);
            let (estimates, farthest) = sampled::component(graph, members, &place, &anchors, &centres, host)?;
            members.iter().zip(estimates).for_each(|(&v, estimate)| nodes[v as usize] = estimate);
            diameter = diameter.max(farthest);
        }
    }
    drop(members);
    if let Some((pruned, sums)) = sums {
        let is_exact = |v: usize| exact(v as u32) && centres[v].has_pairs();
        nodes.par_iter_mut().enumerate().filter(|(v, _)| is_exact(*v)).for_each(|(v, node)| {
            let size = components.sizes[components.of_node[v] as usize];
            *node = Estimate::exact(node_curvature(graph, v as u32, &centres[v], &pruned, &sums, size));
        });
        let farthest = sums.iter().map(|sum| sum.farthest).max().unwrap_or(0);
        diameter = diameter.max(farthest).max(pruned.diameter);
    }

    if let Some(factor) = options.unreachable {
        // An anchor in another component is equally far from a node and all its neighbours.
        let far = factor * f64::from(diameter);
        nodes.par_iter_mut().enumerate().filter(|(v, _)| centres[*v].has_pairs()).for_each(|(v, node)| {
            let near = (components.sizes[components.of_node[v] as usize] - 1) as f64;
            let away = (n - 1) as f64 - near;
            let average = |value: f64, other: f64| (value * near + other * away) / (n - 1) as f64;
            let residual = centres[v].mean_square() / (8.0 * far);
            node.value = node.value.map(|value| average(value, residual));
            node.standard_error = node.standard_error.map(|error| average(error, 0.0));
        });
    }
    Ok(Raw { nodes, diameter, unreached: components.sizes.len() > 1 })
}

/// The nodes of each component, in ascending order.
struct Members {
    offsets: Vec<usize>,
    nodes: Vec<u32>,
}

impl Members {
    fn of(&self, component: usize) -> &[u32] {
        &self.nodes[self.offsets[component]..self.offsets[component + 1]]
    }

    /// Of each of `n` nodes, its position among the members of its component.
    fn places(&self, n: usize) -> Vec<u32> {
        let mut place = vec![0u32; n];
        for bounds in self.offsets.windows(2) {
            self.nodes[bounds[0]..bounds[1]].iter().zip(0..).for_each(|(&v, i)| place[v as usize] = i);
        }
        place
    }
}

fn members(of_node: &[u32], components: usize, keep: impl Fn(u32) -> bool) -> Members {
    let kept = |v: &u32| keep(*v);
    let mut offsets = vec![0; components + 1];
    for v in (0..of_node.len() as u32).filter(kept) {
        offsets[of_node[v as usize] as usize + 1] += 1;
    }
    for c in 0..components {
        offsets[c + 1] += offsets[c];
    }
    let mut next = offsets.clone();
    let mut nodes = vec![0; offsets[components]];
    for v in (0..of_node.len() as u32).filter(kept) {
        let at = &mut next[of_node[v as usize] as usize];
        nodes[*at] = v;
        *at += 1;
    }
    Members { offsets, nodes }
}

/// What stripping left, and the sums of what is left of the nodes that `exact` names, whole components of them.
fn exact_sums(
    graph: &Graph,
    looped: &[bool],
    components: &bonnet_graph::Components,
    exact: impl Fn(u32) -> bool,
    host: &Host,
) -> Result<(Pruned, Vec<Sums>), Stopped> {
    let n = graph.n_nodes();
    let pruned = prune(graph, looped, host.monitor)?;
    let members = members(&components.of_node, components.sizes.len(), |v| pruned.kept[v as usize] && exact(v));
    let place = members.places(n);
    host.monitor.expect(members.nodes.len() as u64);

    let one = |component: usize| -> Result<Vec<Sums>, Stopped> {
        let nodes = members.of(component);
        let adjacency = Adjacency::part(graph, nodes, &place, |y| pruned.kept[y as usize]);
        core::sums(&adjacency, nodes, &pruned, host)
    };
    let (large, small): (Vec<usize>, Vec<usize>) =
        (0..components.sizes.len()).filter(|&c| !members.of(c).is_empty()).partition(|&c| members.of(c).len() >= SMALL);
    let mut sums = vec![Sums::default(); n];
    let mut place_sums = |component: usize, part: Vec<Sums>| {
        members.of(component).iter().zip(part).for_each(|(&v, sum)| sums[v as usize] = sum);
    };
    for &component in &large {
        place_sums(component, one(component)?);
    }
    let parts: Result<Vec<Vec<Vec<Sums>>>, Stopped> =
        small.par_chunks(TOGETHER).map(|chunk| chunk.iter().map(|&c| one(c)).collect()).collect();
    for (&component, part) in small.iter().zip(parts?.into_iter().flatten()) {
        place_sums(component, part);
    }

    Ok((pruned, sums))
}

/// The curvature of a node with two neighbours or more in a component of `size` nodes, before Eq. 3.
fn node_curvature(graph: &Graph, v: u32, centre: &Centre, pruned: &Pruned, sums: &[Sums], size: usize) -> f64 {
    let degree = centre.degree as f64;
    if !pruned.kept[v as usize] {
        return (2.0 - degree) / degree;
    }
    let own = &sums[v as usize];
    let neighbors = graph.neighbors(v);
    // Sum over anchors of (closer - farther neighbours); at v itself as an anchor all neighbours are farther.
    let mut closer = neighbors.len() as i128;
    for &y in neighbors {
        closer += if pruned.kept[y as usize] {
            i128::from(own.farness) - i128::from(sums[y as usize].farness)
        } else {
            // Everything outside the branch of y is one step closer to v.
            2 * i128::from(pruned.size[y as usize]) - size as i128
        };
    }
    let residual =
        closer as f64 + 0.5 * fixed::to_f64(own.peers) + centre.harmonic_weight() * fixed::to_f64(own.harmonic);
    residual / degree / (size - 1) as f64
}
