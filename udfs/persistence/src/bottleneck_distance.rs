//! The bottleneck distance of diagrams.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::diagram::{Point, dimensions, essential_distances, finite_points};

/// The bottleneck distance of two diagrams: the least d for which the points can be matched within d, each with a point of
/// the other diagram or with the diagonal, in the L-infinity metric of the plane. Essential points are matched among
/// themselves by their births; if their numbers differ, the distance is infinite. With `dim` of that dimension, else the
/// sum over all dimensions. (Cohen-Steiner, Edelsbrunner, Harer, Stability of persistence diagrams, 2007.)
///
/// Exact: the answer is one of the distances between points, or of a point to the diagonal. An interval around it is
/// halved; within a distance, each point too far from the diagonal must find a partner, and by Mendelsohn and Dulmage's
/// theorem the two sides can be asked one after the other (Hopcroft and Karp's matching). About 20 matchings, each
/// O(n^1.5) steps along neighbours that lie within the distance by birth; O(n) memory.
///
/// The diagrams must have passed [`check_diagram`](crate::check_diagram).
pub fn bottleneck_distance(a: &[Point], b: &[Point], dim: Option<u32>, monitor: &dyn Monitor) -> Result<f64, Stopped> {
    let dims = dim.map_or_else(|| dimensions(a, b), |dim| vec![dim]);
    let mut sum = 0.0;
    for dim in dims {
        let Some(essential) = essential_distances(a, b, dim) else { return Ok(f64::INFINITY) };
        let least = essential.into_iter().fold(0.0, f64::max);
        sum += of_finite_points(Side::new(finite_points(a, dim)), Side::new(finite_points(b, dim)), least, monitor)?;
    }
    Ok(sum)
}

/// The points of one diagram in the order of their births, and the distance of each to the diagonal.
struct Side {
    points: Vec<(f64, f64)>,
    to_diagonal: Vec<f64>,
}

impl Side {
    fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let to_diagonal = points.iter().map(|&(b, d)| Point { dim: 0, birth: b, death: d }.to_diagonal()).collect();
        Self { points, to_diagonal }
    }

    /// The points of this side whose births are within `radius` of a point's, as positions.
    fn within(&self, (birth, _): (f64, f64), radius: f64) -> std::ops::Range<usize> {
        // Subtraction rounds monotonically: what is within stands together.
        let start = self.points.partition_point(|other| birth - other.0 > radius);
        let end = start + self.points[start..].partition_point(|other| other.0 - birth <= radius);
        start..end
    }

    /// The distance from a point to this side's nearest, or `bound` if that is nearer.
    fn nearest(&self, point: (f64, f64), bound: f64) -> f64 {
        let middle = self.points.partition_point(|other| other.0 < point.0);
        let mut best = bound;
        for &other in &self.points[middle..] {
            if other.0 - point.0 >= best {
                break;
            }
            best = best.min(distance(point, other));
        }
        for &other in self.points[..middle].iter().rev() {
            if point.0 - other.0 >= best {
                break;
            }
            best = best.min(distance(point, other));
        }
        best
    }
}

pub(crate) fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).abs().max((a.1 - b.1).abs())
}

fn of_finite_points(a: Side, b: Side, least: f64, monitor: &dyn Monitor) -> Result<f64, Stopped> {
    let _reservation = Reservation::new(monitor, 48 * (a.points.len() + b.points.len()))?;
    // Every point goes at least to the diagonal or to its nearest; all to the diagonal is a matching.
    let mut low = least;
    let mut high = least;
    for (side, other) in [(&a, &b), (&b, &a)] {
        for (i, (&point, &bound)) in side.points.iter().zip(&side.to_diagonal).enumerate() {
            if i.is_multiple_of(256) {
                monitor.check()?;
            }
            if bound > low {
                low = low.max(other.nearest(point, bound));
            }
            high = high.max(bound);
        }
    }
    let mut at = low;
    while low < high {
        match largest_step(&a, &b, at, monitor)? {
            Some(used) => high = used.max(low),
            None => low = next_distance(&a, &b, at, high),
        }
        // Never `high` itself, which is known to do.
        at = low + (high - low) / 2.0;
        if at >= high {
            at = low;
        }
    }
    Ok(high)
}

/// The largest distance used by some matching within `radius`; `None` if there is none.
fn largest_step(a: &Side, b: &Side, radius: f64, monitor: &dyn Monitor) -> Result<Option<f64>, Stopped> {
    let mut used: f64 = 0.0;
    for (side, other) in [(a, b), (b, a)] {
        match cover(side, other, radius, monitor)? {
            Some(step) => used = used.max(step),
            None => return Ok(None),
        }
        let free = side.to_diagonal.iter().filter(|&&to_diagonal| to_diagonal <= radius);
        used = free.fold(used, |used, &to_diagonal| used.max(to_diagonal));
    }
    Ok(Some(used))
}

/// The smallest distance above `radius`, and `high` at most.
fn next_distance(a: &Side, b: &Side, radius: f64, high: f64) -> f64 {
    let mut next = high;
    for &to_diagonal in a.to_diagonal.iter().chain(&b.to_diagonal) {
        if to_diagonal > radius {
            next = next.min(to_diagonal);
        }
    }
    for &point in &a.points {
        for &other in &b.points[b.within(point, next)] {
            let step = distance(point, other);
            if step > radius {
                next = next.min(step);
            }
        }
    }
    next
}

const NOBODY: u32 = u32::MAX;

/// Matches every point of `side` that is farther than `radius` from the diagonal with a point of `other` within
/// `radius`, no two with one: the largest distance used, or `None` if that cannot be.
fn cover(side: &Side, other: &Side, radius: f64, monitor: &dyn Monitor) -> Result<Option<f64>, Stopped> {
    let far: Vec<u32> = (0..side.points.len() as u32).filter(|&i| side.to_diagonal[i as usize] > radius).collect();
    let range: Vec<_> = far.iter().map(|&i| other.within(side.points[i as usize], radius)).collect();
    let close = |k: usize, j: usize| (side.points[far[k] as usize].1 - other.points[j].1).abs() <= radius;
    let mut partner = vec![NOBODY; far.len()];
    let mut taken = vec![NOBODY; other.points.len()];
    for k in 0..far.len() {
        if let Some(j) = range[k].clone().find(|&j| taken[j] == NOBODY && close(k, j)) {
            (partner[k], taken[j]) = (j as u32, k as u32);
        }
    }
    let mut level = vec![u32::MAX; far.len()];
    let mut next: Vec<usize> = vec![0; far.len()];
    let mut stack = Vec::new();
    loop {
        let free: Vec<u32> = (0..far.len() as u32).filter(|&k| partner[k as usize] == NOBODY).collect();
        if free.is_empty() {
            break;
        }
        // Breadth first from the free points: how many steps each is away.
        level.fill(u32::MAX);
        free.iter().for_each(|&k| level[k as usize] = 0);
        let mut queue = free.clone();
        let mut at = 0;
        let mut reached = false;
        while let Some(&k) = queue.get(at) {
            at += 1;
            if at.is_multiple_of(64) {
                monitor.check()?;
            }
            for j in range[k as usize].clone() {
                if !close(k as usize, j) {
                    continue;
                }
                match taken[j] {
                    NOBODY => reached = true,
                    owner if level[owner as usize] == u32::MAX => {
                        level[owner as usize] = level[k as usize] + 1;
                        queue.push(owner);
                    }
                    _ => {}
                }
            }
        }
        if !reached {
            return Ok(None);
        }
        // Depth first along the levels: disjoint ways from free points to partners not taken.
        next.iter_mut().zip(&range).for_each(|(next, range)| *next = range.start);
        let mut found = false;
        for &start in &free {
            stack.clear();
            stack.push(start);
            while let Some(&k) = stack.last() {
                let k = k as usize;
                if next[k] == range[k].end {
                    stack.pop();
                    // Whoever led here tries another partner.
                    if let Some(&before) = stack.last() {
                        next[before as usize] += 1;
                    }
                    continue;
                }
                let j = next[k];
                match taken[j] {
                    _ if !close(k, j) => next[k] += 1,
                    NOBODY => {
                        found = true;
                        for &k in &stack {
                            let j = next[k as usize];
                            next[k as usize] += 1;
                            (partner[k as usize], taken[j]) = (j as u32, k);
                        }
                        break;
                    }
                    owner if level[owner as usize] == level[k] + 1 => stack.push(owner),
                    _ => next[k] += 1,
                }
            }
        }
        if !found {
            return Ok(None);
        }
    }
    let used = far.iter().zip(&partner).map(|(&i, &j)| distance(side.points[i as usize], other.points[j as usize]));
    Ok(Some(used.fold(0.0, f64::max)))
}
