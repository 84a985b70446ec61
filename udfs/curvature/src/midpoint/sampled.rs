//! Midpoint curvature of one component from a sample of its anchors, with standard errors from groups of 16 anchors.
//!
//! The sum of residuals over the anchors of a group is the formula of the exact case with sums over the group, so each
//! node gets as many ratios as there are groups; their spread gives the standard error.

use bonnet_graph::{Graph, Reservation, Stopped, compiled_for_each_isa};
use rayon::prelude::*;

use super::adjacency::Adjacency;
use super::batch::{Manner, Searches};
use super::centre::Centre;
use super::lanes::{LANES, Start};
use super::spread::{GROUP, Spread};
use super::tally::{GROUPS, GroupSums, Grouped};
use super::{Estimate, Host};

/// Nodes that a thread takes at a time.
const TOGETHER: usize = 4096;

/// Estimates the curvature, before Eq. 3, of the `members` of a component, which `place` numbers by their position
/// there, from `anchors` among them; and the largest distance met.
///
/// O((n + m) L) operations on words of 512 bits for every 512 anchors, for searches of L levels; the threads share
/// each level. 600 bytes a node.
pub(super) fn component(
    graph: &Graph,
    members: &[u32],
    place: &[u32],
    anchors: &[u32],
    centres: &[Centre],
    host: &Host,
) -> Result<(Vec<Estimate>, u32), Stopped> {
    let n = members.len();
    let _reservation = Reservation::new(
        host.monitor,
        Searches::bytes(n) + n * (size_of::<GroupSums>() + size_of::<Spread>() + size_of::<usize>()),
    )?;
    let adjacency =
        if n == graph.n_nodes() { Adjacency::whole(graph) } else { Adjacency::part(graph, members, place, |_| true) };
    let centre = |v: usize| &centres[members[v] as usize];
    let weight = |v: usize| if centre(v).has_pairs() { centre(v).harmonic_weight() } else { 0.0 };

    let manner = Manner { peers: true, parallel: true, host: *host };
    let mut searches = Searches::new(&adjacency);
    let mut rows: Vec<GroupSums> = (0..n).map(|v| GroupSums::new(weight(v))).collect();
    let mut spreads = vec![Spread::default(); n];
    let mut farthest = 0;
    host.monitor.expect(anchors.len() as u64);
    for (b, batch) in anchors.chunks(LANES).enumerate() {
        if b > 0 {
            rows.par_iter_mut().for_each(|row| *row = GroupSums::new(row.harmonic_weight));
        }
        let batch: Vec<u32> = batch.iter().map(|&v| place[v as usize]).collect();
        let starts: Vec<Start> = batch.iter().map(|&node| Start { level: 0, node }).collect();
        let last = searches.run(&adjacency, &starts, &mut Grouped::new(), &mut rows, &manner)?;
        farthest = farthest.max(last);

        let sizes: Vec<usize> = batch.chunks(GROUP).map(<[u32]>::len).collect();
        let mut group_of: Vec<(u32, usize)> = batch.iter().enumerate().map(|(lane, &v)| (v, lane / GROUP)).collect();
        group_of.sort_unstable();
        spreads.par_chunks_mut(TOGETHER).enumerate().try_for_each(|(chunk, spreads)| {
            host.monitor.check()?;
            for (v, spread) in (TOGETHER * chunk..).zip(spreads) {
                if centre(v).has_pairs() {
                    let mut closer = [0; GROUPS];
                    sum_closer(host.isa, &adjacency, v as u32, &rows, &mut closer);
                    let own = group_of.binary_search_by_key(&(v as u32), |&(v, _)| v).ok().map(|at| group_of[at].1);
                    // At the node itself as an anchor all neighbours are farther: that is no residual of its own.
                    if let Some(group) = own {
                        closer[group] += adjacency.degree(v as u32) as i32;
                    }
                    for (group, &size) in sizes.iter().enumerate() {
                        let residual = rows[v].residual(group, closer[group]) / centre(v).degree as f64;
                        spread.add(residual, (size - usize::from(own == Some(group))) as f64);
                    }
                }
            }
            Ok(())
        })?;
        host.monitor.advance(batch.len() as u64);
    }

    let share = anchors.len() as f64 / n as f64;
    let estimate = |(v, spread): (usize, &Spread)| {
        if !centre(v).has_pairs() {
            return Estimate::exact(0.0);
        }
        let value = spread.mean();
        Estimate { value, standard_error: value.and(spread.standard_error(share)) }
    };
    Ok((spreads.iter().enumerate().map(estimate).collect(), farthest))
}

compiled_for_each_isa! {
    /// For each group, the sum over its anchors and over the neighbours of `v` of how much closer a neighbour is.
    fn sum_closer(graph: &Adjacency, v: u32, rows: &[GroupSums], closer: &mut [i32; GROUPS]) = closer_neighbors
}

#[inline(always)]
fn closer_neighbors(graph: &Adjacency, v: u32, rows: &[GroupSums], closer: &mut [i32; GROUPS]) {
    let mut sums = [0; GROUPS];
    for &y in graph.neighbors(v) {
        rows[v as usize].add_closer(&rows[y as usize], &mut sums);
    }
    *closer = sums;
}
