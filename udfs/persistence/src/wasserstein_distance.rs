//! The Wasserstein distances of diagrams.

use std::cmp::Ordering;

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::bottleneck_distance::distance;
use crate::diagram::{Point, dimensions, essential_distances, finite_points};

/// The p-Wasserstein distance of two diagrams: the least (sum of d^p)^(1/p) over all matchings of the points, each with a
/// point of the other diagram or with the diagonal at the distance d in the L-infinity metric of the plane. Essential points
/// are matched among themselves by their births; if their numbers differ, the distance is infinite. With `dim` of that
/// dimension, else the sum over all dimensions. (Cohen-Steiner, Edelsbrunner, Harer, Mileyko, Lipschitz functions have L_p-stable
/// persistence, 2010.)
///
/// Exact, as an assignment by shortest augmenting paths (Jonker and Volgenant, 1987) over the pairs that are nearer to each
/// other than to the diagonal: O(n e) time for e such pairs at worst, 16 bytes for each.
///
/// `p` is finite and at least 1. The diagrams must have passed [`check_diagram`](crate::check_diagram).
pub fn wasserstein_distance(
    a: &[Point],
    b: &[Point],
    p: f64,
    dim: Option<u32>,
    monitor: &dyn Monitor,
) -> Result<f64, Stopped> {
    let dims = dim.map_or_else(|| dimensions(a, b), |dim| vec![dim]);
    let mut sum = 0.0;
    for dim in dims {
        let Some(mut steps) = essential_distances(a, b, dim) else { return Ok(f64::INFINITY) };
        steps.extend(match_finite(finite_points(a, dim), finite_points(b, dim), p, monitor)?);
        let largest = steps.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            // Relative to the largest, so that no power leaves the range of numbers.
            let powers: f64 = steps.iter().map(|step| (step / largest).powf(p)).sum();
            sum += largest * powers.powf(1.0 / p);
        }
    }
    Ok(sum)
}

const NOBODY: u32 = u32::MAX;

/// The distances of a best matching of the finite points.
fn match_finite(
    mut a: Vec<(f64, f64)>,
    mut b: Vec<(f64, f64)>,
    p: f64,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, Stopped> {
    if p == 1.0 {
        drop_common(&mut a, &mut b);
    }
    // Rows are searched from one after the other: the fewer, the better.
    if a.len() > b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    let order = |points: &mut Vec<(f64, f64)>| {
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    };
    order(&mut a);
    order(&mut b);
    let diagonal = |&(birth, death): &(f64, f64)| Point { dim: 0, birth, death }.to_diagonal();
    let (to_a, to_b): (Vec<f64>, Vec<f64>) = (a.iter().map(diagonal).collect(), b.iter().map(diagonal).collect());
    let scale = to_a.iter().chain(&to_b).copied().fold(0.0, f64::max);
    if scale == 0.0 {
        return Ok(Vec::new());
    }
    let pairs = Pairs::new(&a, &b, &to_a, &to_b, scale, p, monitor)?;
    let partner = assign(&pairs, b.len(), monitor)?;
    let mut free = vec![true; b.len()];
    let mut steps = Vec::with_capacity(a.len() + b.len());
    for (i, &j) in partner.iter().enumerate() {
        steps.push(match j {
            NOBODY => to_a[i],
            j => {
                free[j as usize] = false;
                distance(a[i], b[j as usize])
            }
        });
    }
    steps.extend(to_b.iter().zip(&free).filter(|(_, free)| **free).map(|(step, _)| *step));
    Ok(steps)
}

/// Takes points that both have off both: for p = 1, the triangle inequality lets them be matched with each other.
fn drop_common(a: &mut Vec<(f64, f64)>, b: &mut Vec<(f64, f64)>) {
    let key = |x: &(f64, f64), y: &(f64, f64)| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1));
    a.sort_unstable_by(key);
    b.sort_unstable_by(key);
    let (mut i, mut j) = (0, 0);
    let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
    while i < a.len() && j < b.len() {
        match key(&a[i], &b[j]) {
            Ordering::Less => {
                only_a.push(a[i]);
                i += 1;
            }
            Ordering::Greater => {
                only_b.push(b[j]);
                j += 1;
            }
            Ordering::Equal => (i, j) = (i + 1, j + 1),
        }
    }
    only_a.extend_from_slice(&a[i..]);
    only_b.extend_from_slice(&b[j..]);
    (*a, *b) = (only_a, only_b);
}

/// For each point of a the points of b that it gains by being matched with, rather than both with the diagonal, and the
/// gain with a minus sign.
struct Pairs<'a> {
    offsets: Vec<usize>,
    entries: Vec<(u32, f64)>,
    _reservation: Reservation<'a>,
}

impl<'a> Pairs<'a> {
    fn new(
        a: &[(f64, f64)],
        b: &[(f64, f64)],
        to_a: &[f64],
        to_b: &[f64],
        scale: f64,
        p: f64,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, Stopped> {
        let mut reservation = Reservation::new(monitor, 64 * (a.len() + b.len()))?;
        let mut offsets = vec![0];
        let mut entries: Vec<(u32, f64)> = Vec::new();
        let power = |step: f64| (step / scale).powf(p);
        let cost_b: Vec<f64> = to_b.iter().map(|&step| power(step)).collect();
        let most_b = to_b.iter().copied().fold(0.0, f64::max);
        for (i, &point) in a.iter().enumerate() {
            if i.is_multiple_of(64) {
                monitor.check()?;
            }
            let cost_a = power(to_a[i]);
            // (x^p + y^p)^(1/p) is at most x + y: nothing farther away is any gain.
            let reach = to_a[i] + most_b;
            let start = b.partition_point(|other| point.0 - other.0 > reach);
            for (j, &other) in b.iter().enumerate().skip(start) {
                if other.0 - point.0 > reach {
                    break;
                }
                let step = distance(point, other);
                if step < to_a[i] + to_b[j] {
                    let gain = cost_a + cost_b[j] - power(step);
                    if gain > 0.0 {
                        if entries.len() == entries.capacity() {
                            reservation.grow((entries.len().max(16)) * size_of::<(u32, f64)>())?;
                        }
                        entries.push((j as u32, -gain));
                    }
                }
            }
            offsets.push(entries.len());
        }
        Ok(Self { offsets, entries, _reservation: reservation })
    }

    fn of(&self, i: usize) -> &[(u32, f64)] {
        &self.entries[self.offsets[i]..self.offsets[i + 1]]
    }
}

/// The partner of each row in an assignment of least cost, where a row may stay alone for 0. Rows come in one after the
/// other; each takes the shortest way, in costs reduced by the potentials, to a column or a row that is to stay alone.
fn assign(pairs: &Pairs<'_>, n_columns: usize, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let n_rows = pairs.offsets.len() - 1;
    let mut partner = vec![NOBODY; n_rows];
    let mut taken = vec![NOBODY; n_columns];
    // Reduced cost of (i, j): cost - row[i] - column[j] >= 0, and 0 on the matching. To stay alone: -row[i] >= 0.
    let mut row = vec![0.0f64; n_rows];
    let mut column = vec![0.0f64; n_columns];
    let mut length = vec![f64::INFINITY; n_columns];
    let mut from = vec![NOBODY; n_columns];
    // Columns reached: those whose way may become shorter, and those done.
    let mut open: Vec<u32> = Vec::new();
    let mut done: Vec<u32> = Vec::new();
    let mut steps = 0usize;
    for start in 0..n_rows {
        row[start] = pairs.of(start).iter().map(|&(j, cost)| cost - column[j as usize]).fold(0.0, f64::min);
        open.iter().chain(&done).for_each(|&j| length[j as usize] = f64::INFINITY);
        open.clear();
        done.clear();
        // The shortest way that ends with a row alone, and that row.
        let mut alone = (f64::INFINITY, NOBODY);
        let (mut at, mut so_far) = (start, 0.0);
        let (total, end) = loop {
            if so_far - row[at] < alone.0 {
                alone = (so_far - row[at], at as u32);
            }
            for &(j, cost) in pairs.of(at) {
                let reduced = (cost - row[at] - column[j as usize]).max(0.0);
                let reach = &mut length[j as usize];
                if so_far + reduced < *reach {
                    if reach.is_infinite() {
                        open.push(j);
                    }
                    *reach = so_far + reduced;
                    from[j as usize] = at as u32;
                }
            }
            steps += pairs.of(at).len() + open.len();
            if steps > 1 << 16 {
                steps = 0;
                monitor.check()?;
            }
            // A search through all of them: most rows have many pairs, and a heap would see each of these, too.
            let mut nearest = (alone.0, None);
            for (place, &j) in open.iter().enumerate() {
                if length[j as usize] < nearest.0 {
                    nearest = (length[j as usize], Some(place));
                }
            }
            let Some(place) = nearest.1 else { break (alone.0, None) };
            let j = open.swap_remove(place);
            done.push(j);
            if taken[j as usize] == NOBODY {
                break (nearest.0, Some(j));
            }
            (at, so_far) = (taken[j as usize] as usize, nearest.0);
        };
        for &j in done.iter().filter(|&&j| taken[j as usize] != NOBODY) {
            let gap = total - length[j as usize];
            column[j as usize] -= gap;
            row[taken[j as usize] as usize] += gap;
        }
        row[start] += total;
        // Along the way back everybody moves on to the next column.
        let mut j = match end {
            Some(j) => j,
            None => {
                let left = alone.1 as usize;
                let j = std::mem::replace(&mut partner[left], NOBODY);
                if left == start {
                    continue;
                }
                j
            }
        };
        loop {
            let i = from[j as usize] as usize;
            taken[j as usize] = i as u32;
            std::mem::swap(&mut partner[i], &mut j);
            if i == start {
                break;
            }
        }
    }
    Ok(partner)
}
