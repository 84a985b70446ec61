//! Elimination along a tree of fronts, and the way back from its roots.
//!
//! A group's front holds its own nodes and its border. Going up, a front gathers its edges and what its children left, loses
//! its own nodes, and leaves a block of conductances between its border to its parent. Going down, a front takes the
//! resistances between its border from its parent, restores those of its own nodes, and gives each child its block. Small
//! subtrees are shared out among threads; large products near the roots are cut into stripes. Both are the same for any
//! number of threads, and so is every sum.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::order::Order;
use super::{ResistanceError, dense};

/// Subtrees with less than this part of the work, or less than this much, are done by one thread each.
const SHARES: u64 = 32;
const LEAST_WORK: u64 = 1 << 22;
/// Pairs of nodes for each edge, below which a graph goes in one front.
const DENSE: usize = 16;

/// The effective resistance between the ends of each of `edges`: pairs of nodes below `n`, each once, with conductances.
pub(super) fn resistances(
    n: usize,
    edges: &[(u32, u32, f64)],
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, ResistanceError> {
    if edges.is_empty() {
        return Ok(Vec::new());
    }
    if n * n <= DENSE * edges.len() {
        return Ok(of_one_front(n, edges, monitor)?);
    }
    let _reservation = Reservation::new(monitor, 48 * (n + edges.len()))?;
    let fronts = Fronts::new(Order::new(n, edges)?, edges);
    let parts = fronts.parts();
    let _more_room = Reservation::new(monitor, fronts.bytes(&parts))?;
    let groups = fronts.order.len();
    // There and back: as each front rounds it.
    monitor.expect((0..groups).map(|group| 2 * (fronts.work(group) >> 10)).sum());

    let mut factor = vec![0.0; fronts.factor_starts[groups]];
    let mut blocks: Vec<Vec<f64>> = vec![Vec::new(); groups];
    let mut values = vec![0.0; edges.len()];
    let mut all =
        Part { fronts: &fronts, groups: 0..groups, factor: &mut factor, blocks: &mut blocks, values: &mut values };

    // Up: the subtrees, then what is above them; and down again.
    all.split(&parts.subtrees).into_par_iter().try_for_each(|mut part| {
        let groups = part.groups.clone();
        part.eliminate(groups, monitor)
    })?;
    all.eliminate(parts.above.iter().copied(), monitor)?;
    all.restore(parts.above.iter().rev().copied(), monitor)?;
    all.split(&parts.subtrees).into_par_iter().try_for_each(|mut part| {
        let groups = part.groups.clone();
        part.restore(groups.rev(), monitor)
    })?;

    let mut answer = vec![0.0; edges.len()];
    for (&(_, edge), value) in fronts.entries.iter().zip(values) {
        answer[edge as usize] = value;
    }
    Ok(answer)
}

/// The resistances of a graph so dense that an order of elimination would save nothing: one front of all nodes.
fn of_one_front(n: usize, edges: &[(u32, u32, f64)], monitor: &dyn Monitor) -> Result<Vec<f64>, Stopped> {
    let _reservation = Reservation::new(monitor, 8 * (2 * n + 1) * n)?;
    // The way there and back, a panel at a time.
    monitor.expect(2 * n.div_ceil(dense::PANEL) as u64);
    let monitor = &ByPanel(monitor);
    let place = |u: u32, v: u32| u.min(v) as usize * n + u.max(v) as usize;
    let mut front = vec![0.0; n * n];
    for &(u, v, conductance) in edges {
        front[place(u, v)] += conductance;
    }
    let (mut shares, mut inverses) = (vec![0.0; n * n], vec![0.0; n]);
    dense::eliminate(&mut front, n, n, &mut shares, &mut inverses, monitor)?;
    dense::restore(&mut front, n, n, &shares, &inverses, &mut Vec::new(), monitor)?;
    Ok(edges.iter().map(|&(u, v, _)| front[place(u, v)]).collect())
}

/// The monitor of a single front, whose work asks once for each panel.
struct ByPanel<'a>(&'a dyn Monitor);

impl Monitor for ByPanel<'_> {
    fn check(&self) -> Result<(), Stopped> {
        self.0.check()?;
        self.0.advance(1);
        Ok(())
    }

    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        self.0.reserve(bytes)
    }

    fn release(&self, bytes: usize) {
        self.0.release(bytes);
    }
}

/// The shape of all fronts.
struct Fronts<'a> {
    order: Order,
    edges: &'a [(u32, u32, f64)],
    /// The edges by the position of the endpoint that goes first: the position of the other endpoint, and the edge.
    entry_starts: Vec<usize>,
    entries: Vec<(u32, u32)>,
    /// The children of each group: `children[child_starts[g]..]`.
    child_starts: Vec<usize>,
    children: Vec<u32>,
    /// Where the columns of each group start in the factor: shares, then inverses.
    factor_starts: Vec<usize>,
}

/// Whole subtrees, as ranges of groups, and the groups above them in their order.
struct Parts {
    subtrees: Vec<std::ops::Range<usize>>,
    above: Vec<usize>,
}

impl<'a> Fronts<'a> {
    fn new(order: Order, edges: &'a [(u32, u32, f64)]) -> Self {
        let ends = |&(u, v, _): &(u32, u32, f64)| {
            let (u, v) = (order.place_of[u as usize], order.place_of[v as usize]);
            (u.min(v), u.max(v))
        };
        let entry_starts = counted(order.place_of.len(), edges.iter().map(|edge| ends(edge).0));
        let mut next = entry_starts.clone();
        let mut entries = vec![(0, 0); edges.len()];
        for (edge, (first, other)) in edges.iter().map(ends).enumerate() {
            entries[next[first as usize]] = (other, edge as u32);
            next[first as usize] += 1;
        }
        let child_starts = counted(order.len(), order.parents.iter().flatten().copied());
        let mut next = child_starts.clone();
        let mut children = vec![0; child_starts[order.len()]];
        for (group, parent) in order.parents.iter().enumerate() {
            if let &Some(parent) = parent {
                children[next[parent as usize]] = group as u32;
                next[parent as usize] += 1;
            }
        }
        let mut factor_starts = vec![0];
        for group in 0..order.len() {
            let (own, side) = order.sides(group);
            factor_starts.push(factor_starts[group] + own * (side + 1));
        }
        Self { order, edges, entry_starts, entries, child_starts, children, factor_starts }
    }

    fn children(&self, group: usize) -> &[u32] {
        &self.children[self.child_starts[group]..self.child_starts[group + 1]]
    }

    /// The numbers in a group's front, and in the block between its border.
    fn sizes(&self, group: usize) -> (usize, usize) {
        let (own, side) = self.order.sides(group);
        (side * side, (side - own) * (side - own))
    }

    fn work(&self, group: usize) -> u64 {
        let (own, side) = self.order.sides(group);
        (own * side * side) as u64 + 512
    }

    /// The largest subtrees that are a small share of all work.
    fn parts(&self) -> Parts {
        let groups = self.order.len();
        let mut work: Vec<u64> = (0..groups).map(|group| self.work(group)).collect();
        let mut first: Vec<usize> = (0..groups).collect();
        let mut count = vec![1; groups];
        for group in 0..groups {
            if let Some(parent) = self.order.parents[group] {
                let parent = parent as usize;
                work[parent] += work[group];
                count[parent] += count[group];
                first[parent] = first[parent].min(first[group]);
            }
        }
        let total: u64 = (0..groups).filter(|&group| self.order.parents[group].is_none()).map(|root| work[root]).sum();
        let most = (total / SHARES).max(LEAST_WORK);
        // A subtree must be a range of groups, which a postorder makes it.
        let small = |group: usize| work[group] <= most && group + 1 - first[group] == count[group];
        let mut parts = Parts { subtrees: Vec::new(), above: Vec::new() };
        let mut group = groups;
        while group > 0 {
            group -= 1;
            let under_small = self.order.parents[group].is_some_and(|parent| small(parent as usize));
            if small(group) && !under_small {
                parts.subtrees.push(first[group]..group + 1);
                group = first[group];
            } else {
                parts.above.push(group);
            }
        }
        parts.subtrees.reverse();
        parts.above.reverse();
        parts
    }

    /// The bytes of the factor, and of the fronts and blocks that are held at once.
    fn bytes(&self, parts: &Parts) -> usize {
        let peak = |groups: &mut dyn Iterator<Item = usize>, held: usize| {
            let (mut held, mut peak) = (held, 0);
            for group in groups {
                let (front, block) = self.sizes(group);
                peak = peak.max(held + front + block);
                let children: usize = self.children(group).iter().map(|&child| self.sizes(child as usize).1).sum();
                held = (held + block).saturating_sub(children);
            }
            peak
        };
        let roots: usize = parts.subtrees.iter().map(|groups| self.sizes(groups.end - 1).1).sum();
        let one = parts.subtrees.iter().map(|groups| peak(&mut groups.clone(), 0)).max().unwrap_or(0);
        let threads = rayon::current_num_threads().min(parts.subtrees.len());
        let above = peak(&mut parts.above.iter().copied(), roots);
        8 * (self.factor_starts[self.order.len()] + (roots + one * threads).max(above))
    }
}

/// Where each of `n` lists starts whose members come with their lists' numbers; one more than there are lists.
fn counted(n: usize, lists: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut starts = vec![0; n + 1];
    lists.for_each(|list| starts[list as usize + 1] += 1);
    for list in 0..n {
        starts[list + 1] += starts[list];
    }
    starts
}

/// Some groups and their share of the numbers.
struct Part<'a> {
    fronts: &'a Fronts<'a>,
    groups: std::ops::Range<usize>,
    factor: &'a mut [f64],
    /// The blocks on their way from a child to its parent or back, under the child's number.
    blocks: &'a mut [Vec<f64>],
    /// The resistances of the entries.
    values: &'a mut [f64],
}

impl Part<'_> {
    /// Cuts out ascending ranges of groups.
    fn split(&mut self, ranges: &[std::ops::Range<usize>]) -> Vec<Part<'_>> {
        let fronts = self.fronts;
        let (mut factor, mut blocks, mut values) = (&mut *self.factor, &mut *self.blocks, &mut *self.values);
        let mut at = self.groups.start;
        let mut parts = Vec::with_capacity(ranges.len());
        let entry = |group: usize| fronts.entry_starts[fronts.order.starts[group] as usize];
        for range in ranges {
            for (from, to, wanted) in [(at, range.start, false), (range.start, range.end, true)] {
                let (own_factor, own_blocks, own_values);
                (own_factor, factor) = factor.split_at_mut(fronts.factor_starts[to] - fronts.factor_starts[from]);
                (own_blocks, blocks) = blocks.split_at_mut(to - from);
                (own_values, values) = values.split_at_mut(entry(to) - entry(from));
                if wanted {
                    let (factor, blocks, values) = (own_factor, own_blocks, own_values);
                    parts.push(Part { fronts, groups: from..to, factor, blocks, values });
                }
            }
            at = range.end;
        }
        parts
    }

    /// A group's shares and inverses.
    fn columns(&mut self, group: usize) -> (&mut [f64], &mut [f64]) {
        let starts = &self.fronts.factor_starts;
        let base = starts[self.groups.start];
        let (own, side) = self.fronts.order.sides(group);
        self.factor[starts[group] - base..starts[group + 1] - base].split_at_mut(own * side)
    }

    fn block(&mut self, group: usize) -> &mut Vec<f64> {
        &mut self.blocks[group - self.groups.start]
    }

    /// Eliminates groups, children first.
    fn eliminate(&mut self, groups: impl Iterator<Item = usize>, monitor: &dyn Monitor) -> Result<(), Stopped> {
        let fronts = self.fronts;
        let mut places = Places::new(fronts);
        let mut front = Vec::new();
        for group in groups {
            let (own, side) = fronts.order.sides(group);
            places.enter(group);
            front.clear();
            front.resize(side * side, 0.0);
            for place in fronts.order.own(group) {
                let column = places.of(place) * side;
                for &(row, edge) in
                    &fronts.entries[fronts.entry_starts[place as usize]..fronts.entry_starts[place as usize + 1]]
                {
                    front[column + places.of(row)] += fronts.edges[edge as usize].2;
                }
            }
            for &child in fronts.children(group) {
                let block = std::mem::take(self.block(child as usize));
                let border = fronts.order.border(child as usize);
                for (i, column) in block.chunks_exact(border.len().max(1)).enumerate() {
                    let target = &mut front[places.of(border[i]) * side..][..side];
                    for (row, w) in border[i + 1..].iter().zip(&column[i + 1..]) {
                        target[places.of(*row)] += w;
                    }
                }
            }
            let (shares, inverses) = self.columns(group);
            dense::eliminate(&mut front, side, own, shares, inverses, monitor)?;
            let left = side - own;
            let block = self.block(group);
            block.reserve_exact(left * left);
            for column in front[own * side..].chunks_exact(side) {
                block.extend_from_slice(&column[own..]);
            }
            monitor.advance(fronts.work(group) >> 10);
        }
        Ok(())
    }

    /// Restores groups, parents first.
    fn restore(&mut self, groups: impl Iterator<Item = usize>, monitor: &dyn Monitor) -> Result<(), Stopped> {
        let fronts = self.fronts;
        let mut places = Places::new(fronts);
        let (mut front, mut work) = (Vec::new(), Vec::new());
        let first_entry = fronts.entry_starts[fronts.order.starts[self.groups.start] as usize];
        for group in groups {
            let (own, side) = fronts.order.sides(group);
            places.enter(group);
            front.clear();
            front.resize(side * side, 0.0);
            let block = std::mem::take(self.block(group));
            for (column, values) in block.chunks_exact((side - own).max(1)).enumerate() {
                front[(own + column) * side + own..][..side - own].copy_from_slice(values);
            }
            drop(block);
            let (shares, inverses) = self.columns(group);
            dense::restore(&mut front, side, own, shares, inverses, &mut work, monitor)?;
            for place in fronts.order.own(group) {
                let column = places.of(place) * side;
                for entry in fronts.entry_starts[place as usize]..fronts.entry_starts[place as usize + 1] {
                    self.values[entry - first_entry] = front[column + places.of(fronts.entries[entry].0)];
                }
            }
            for &child in fronts.children(group) {
                let border = fronts.order.border(child as usize);
                let block = &mut self.blocks[child as usize - self.groups.start];
                block.reserve_exact(border.len() * border.len());
                for &place in border {
                    let column = &front[places.of(place) * side..][..side];
                    block.extend(border.iter().map(|&row| column[places.of(row)]));
                }
            }
            monitor.advance(fronts.work(group) >> 10);
        }
        Ok(())
    }
}

/// Where the positions of a group and of its border stand in its front.
struct Places<'a> {
    fronts: &'a Fronts<'a>,
    of: Vec<u32>,
}

impl<'a> Places<'a> {
    fn new(fronts: &'a Fronts<'a>) -> Self {
        Self { fronts, of: vec![0; fronts.order.place_of.len()] }
    }

    fn enter(&mut self, group: usize) {
        let order = &self.fronts.order;
        for (i, place) in order.own(group).chain(order.border(group).iter().copied()).enumerate() {
            self.of[place as usize] = i as u32;
        }
    }

    fn of(&self, place: u32) -> usize {
        self.of[place as usize] as usize
    }
}
