//! Midpoint curvature with undirected distances.

use bonnet_graph::{Graph, Monitor, Reservation};
use rayon::prelude::*;

use super::centre::Centre;
use super::fixed;
use super::members::members;
use super::pendant::Pruned;
use super::plan::MidpointPlan;
use super::sampled;
use super::sampling::SplitMix64;
use super::tally::Sums;
use super::{Estimate, Host, MidpointCurvature, MidpointError, MidpointOptions, Raw};
use bonnet_graph::isa::Isa;

pub(super) fn curvature(
    n: usize,
    arcs: &[(u32, u32)],
    options: &MidpointOptions,
    host: &Host,
) -> Result<Raw, MidpointError> {
    let _reservation = Reservation::new(host.monitor, Graph::bytes(n, arcs.len()))?;
    let graph = &Graph::from_edges(n, arcs);
    host.monitor.check()?;
    of_graph(graph, arcs, options, host)
}

/// The same of a graph that is there; of its arcs the loops are read.
pub(super) fn of_graph(
    graph: &Graph,
    arcs: &[(u32, u32)],
    options: &MidpointOptions,
    host: &Host,
) -> Result<Raw, MidpointError> {
    let n = graph.n_nodes();
    let mut reservation = Reservation::new(host.monitor, 8 * n)?;
    let mut looped = vec![false; n];
    if options.self_loops {
        arcs.iter().filter(|(from, to)| from == to).for_each(|&(v, _)| looped[v as usize] = true);
    }
    reservation.grow(MidpointPlan::bytes(graph) + bytes(graph))?;
    planned(&MidpointPlan::of(graph, &looped, options.anchors, host.monitor)?, graph, options, host)
}

impl MidpointPlan {
    /// The midpoint curvature of the graph that the plan was made of. Of the options `relative` and `unreachable` count: every
    /// node is an anchor, and no loop is a neighbour.
    ///
    /// # Errors
    /// See [`MidpointError`].
    pub fn curvature(
        &self,
        graph: &Graph,
        options: &MidpointOptions,
        monitor: &dyn Monitor,
    ) -> Result<MidpointCurvature, MidpointError> {
        let _reservation = Reservation::new(monitor, bytes(graph))?;
        let options =
            MidpointOptions { relative: options.relative, unreachable: options.unreachable, ..Default::default() };
        let raw = planned(self, graph, &options, &Host { monitor, isa: Isa::detect() })?;
        Ok(raw.finish(&options))
    }
}

/// Nodes that a thread takes at a time, at least.
const NODES: usize = 1024;

/// The bytes of the sums and estimates of all nodes, beside the plan.
pub(super) fn bytes(graph: &Graph) -> usize {
    graph.n_nodes() * (size_of::<Sums>() + size_of::<Estimate>() + 16)
}

/// The curvature of a graph by a plan of it, which was made for the same anchors and loops.
pub(super) fn planned(
    plan: &MidpointPlan,
    graph: &Graph,
    options: &MidpointOptions,
    host: &Host,
) -> Result<Raw, MidpointError> {
    let n = graph.n_nodes();
    let MidpointPlan { components, centres, sampled, exact } = plan;
    let sums = exact.as_ref().map(|exact| exact.sums(graph, host)).transpose()?;
    let mut nodes = vec![Estimate::exact(0.0); n];
    let mut diameter = 0;
    if let (Some(count), true) = (options.anchors, *sampled > 0) {
        let members = members(&components.of_node, components.sizes.len(), |_| true);
        let mut random = SplitMix64::new(options.seed);
        let place = members.places(n);
        for component in 0..*sampled {
            let members = members.of(component);
            let anchors = random.sample(members.to_vec(), count);
            let (estimates, farthest) = sampled::component(graph, members, &place, &anchors, centres, host)?;
            members.iter().zip(estimates).for_each(|(&v, estimate)| nodes[v as usize] = estimate);
            diameter = diameter.max(farthest);
        }
    }
    if let (Some(exact), Some(sums)) = (exact, sums) {
        let pruned = &exact.pruned;
        let is_exact = |v: usize| components.of_node[v] as usize >= *sampled && centres[v].has_pairs();
        nodes.par_iter_mut().enumerate().with_min_len(NODES).filter(|(v, _)| is_exact(*v)).for_each(|(v, node)| {
            let size = components.sizes[components.of_node[v] as usize];
            *node = Estimate::exact(node_curvature(graph, v as u32, &centres[v], pruned, &sums, size));
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
