//! Midpoint curvature of one component from a sample of its anchors, with standard errors from groups of 16 anchors.
//!
//! The sum of residuals over the anchors of a group is the formula of the exact case with sums over the group, so each
//! node gets as many ratios as there are groups; their spread gives the standard error.

use bonnet_graph::{Graph, Reservation, Stopped};
use rayon::prelude::*;

use super::adjacency::Adjacency;
use super::batch::Searches;
use super::centre::Centre;
use super::lanes::LANES;
use super::spread::{GROUP, Spread};
use super::tally::{GROUPS, GroupSums, Grouped};
use super::{Estimate, Host};

/// Estimates the curvature, before Eq. 3, of the `members` (ascending) of a component from `anchors` among them. Gives
/// the largest distance met.
///
/// O((n + m) L) operations on words of 512 bits for every 512 anchors, for searches of L levels; the threads share
/// each level. 650 bytes a node.
pub(super) fn component(
    graph: &Graph,
    members: &[u32],
    anchors: &[u32],
    centres: &[Centre],
    nodes: &mut [Estimate],
    host: &Host,
) -> Result<u32, Stopped> {
    let n = members.len();
    let _room = Reservation::new(
        host.monitor,
        Searches::bytes(n) + n * (size_of::<GroupSums>() + size_of::<Spread>() + size_of::<usize>()),
    )?;
    let mut place = vec![0u32; graph.n_nodes()];
    members.iter().zip(0..).for_each(|(&v, i)| place[v as usize] = i);
    let adjacency = if n == graph.n_nodes() {
        Adjacency::whole(graph)
    } else {
        Adjacency::part(graph, members, &place, |_| true)
    };
    let centre = |v: usize| &centres[members[v] as usize];
    let weight = |v: usize| if centre(v).has_pairs() { centre(v).harmonic_weight() } else { 0.0 };

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
        let last = searches.run(&adjacency, &batch, &mut Grouped::new(), &mut rows, true, true, host)?;
        farthest = farthest.max(last);

        let sizes: Vec<usize> = batch.chunks(GROUP).map(<[u32]>::len).collect();
        let mut group_of: Vec<(u32, usize)> = batch.iter().enumerate().map(|(lane, &v)| (v, lane / GROUP)).collect();
        group_of.sort_unstable();
        spreads.par_chunks_mut(4096).enumerate().try_for_each(|(chunk, spreads)| {
            host.monitor.check()?;
            for (i, spread) in spreads.iter_mut().enumerate() {
                let v = 4096 * chunk + i;
                if centre(v).has_pairs() {
                    let own = group_of.binary_search_by_key(&(v as u32), |&(v, _)| v).ok().map(|at| group_of[at].1);
                    add_groups(spread, &adjacency, v, centre(v), &rows, &sizes, own);
                }
            }
            Ok(())
        })?;
        host.monitor.advance(batch.len() as u64);
    }

    let share = anchors.len() as f64 / n as f64;
    for (&v, spread) in members.iter().zip(&spreads) {
        if centres[v as usize].has_pairs() {
            let value = spread.mean();
            nodes[v as usize] = Estimate { value, standard_error: value.and(spread.standard_error(share)) };
        }
    }
    Ok(farthest)
}

/// Adds the groups of a batch to the spread of one node: `sizes` anchors in each, one of them the node itself in the
/// group `own`.
fn add_groups(
    spread: &mut Spread,
    graph: &Adjacency,
    v: usize,
    centre: &Centre,
    rows: &[GroupSums],
    sizes: &[usize],
    own: Option<usize>,
) {
    let neighbors = graph.neighbors(v as u32);
    let mut closer = [0i64; GROUPS];
    for &y in neighbors {
        for (closer, (here, there)) in closer.iter_mut().zip(rows[v].farness.iter().zip(&rows[y as usize].farness)) {
            *closer += i64::from(*here) - i64::from(*there);
        }
    }
    if let Some(group) = own {
        closer[group] += neighbors.len() as i64;
    }
    for (group, &size) in sizes.iter().enumerate() {
        let anchors = size - usize::from(own == Some(group));
        spread.add((closer[group] as f64 + rows[v].residual[group]) / centre.degree as f64, anchors as f64);
    }
}
