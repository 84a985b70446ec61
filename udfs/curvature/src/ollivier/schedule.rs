//! Sharing out pairs of nodes among threads.

use std::sync::Mutex;

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

/// One node with some partners: their curvatures are computed together.
pub(super) struct Job<'a> {
    pub(super) owner: u32,
    pub(super) partners: &'a [u32],
    /// Where the pairs stand among all.
    pub(super) places: &'a [u32],
    pub(super) values: &'a mut [f64],
}

/// How large tasks are, in units of a cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskSize {
    /// A task ends with the owner that brings it to this size,
    pub(super) usual: u64,
    /// and within one at this size, although what is made ready for the owner is made ready once more then.
    pub(super) largest: u64,
}

/// Runs `compute` on every pair (owner, partner), pairs of one owner together, and answers in the order of `pairs`.
///
/// `orient` says which of a pair is the owner. Owners come in the order of `rank`, and `cost` counts towards the size of a
/// task. A thread takes a workspace made by `make` and hands it on, so that there are as many as threads.
#[expect(clippy::too_many_arguments, reason = "one call for each of two kinds of pairs")]
pub(super) fn by_owner<W: Send>(
    pairs: &[(u32, u32)],
    orient: impl Fn(u32, u32) -> (u32, u32),
    rank: impl Fn(u32) -> u64,
    cost: impl Fn(u32, u32) -> u64,
    size: TaskSize,
    monitor: &dyn Monitor,
    make: impl Fn() -> Result<W, Stopped> + Sync,
    compute: impl Fn(&mut W, Job<'_>) -> Result<(), Stopped> + Sync,
) -> Result<Vec<f64>, Stopped> {
    const BYTES: usize = size_of::<(u64, u32, u32, u32)>() + 2 * size_of::<u32>() + 2 * size_of::<f64>();
    let _reservation = Reservation::new(monitor, pairs.len() * BYTES)?;
    let entry = |(place, &(u, v)): (usize, &(u32, u32))| {
        let (owner, partner) = orient(u, v);
        (rank(owner), owner, partner, place as u32)
    };
    let mut order: Vec<_> = pairs.iter().enumerate().map(entry).collect();
    order.par_sort_unstable();
    let partners: Vec<u32> = order.iter().map(|entry| entry.2).collect();
    let places: Vec<u32> = order.iter().map(|entry| entry.3).collect();
    let mut values = vec![f64::NAN; order.len()];

    let mut tasks = Vec::new();
    {
        let mut rest = values.as_mut_slice();
        let (mut start, mut sum) = (0, 0);
        for (i, &(_, owner, partner, _)) in order.iter().enumerate() {
            sum += cost(owner, partner);
            let ends = order.get(i + 1).is_none_or(|next| next.1 != owner);
            if (sum >= size.usual && ends) || sum >= size.largest || i + 1 == order.len() {
                let own;
                (own, rest) = rest.split_at_mut(i + 1 - start);
                tasks.push((start, own));
                (start, sum) = (i + 1, 0);
            }
        }
    }
    monitor.expect(order.len() as u64);
    let spare: Mutex<Vec<W>> = Mutex::new(Vec::new());
    let lock = || spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    tasks.into_par_iter().with_max_len(1).try_for_each(|(start, mut values)| {
        let taken = lock().pop();
        let mut workspace = match taken {
            Some(workspace) => workspace,
            None => make()?,
        };
        let (mut at, end) = (start, start + values.len());
        while at < end {
            monitor.check()?;
            let owner = order[at].1;
            let count = order[at..end].partition_point(|entry| entry.1 == owner);
            let (of_owner, rest) = values.split_at_mut(count);
            let own = at..at + count;
            let job = Job { owner, partners: &partners[own.clone()], places: &places[own], values: of_owner };
            compute(&mut workspace, job)?;
            monitor.advance(count as u64);
            values = rest;
            at += count;
        }
        lock().push(workspace);
        Ok(())
    })?;

    let mut answer = vec![f64::NAN; order.len()];
    for (entry, value) in order.iter().zip(values) {
        answer[entry.3 as usize] = value;
    }
    Ok(answer)
}
