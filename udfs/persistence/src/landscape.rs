//! Persistence landscapes, exactly, as piecewise linear functions.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::diagram::Point;

/// A sequence of piecewise linear functions lambda_1 >= lambda_2 >= ..., or a combination of such: for each its corners
/// (x, y) in ascending order of x. A function is 0 outside its corners, and its first and last corner are at 0.
#[derive(Debug, Clone, PartialEq, PartialOrd, Default)]
pub struct Landscape {
    /// lambda_1 first; the last has corners.
    pub functions: Vec<Vec<(f64, f64)>>,
}

/// The landscape of the points of one dimension: lambda_k(t) is the k-th largest of the heights at t of the tents over all
/// points, where the tent of (b, d) rises with slope 1 from b to (d - b) / 2 at the middle and falls to 0 at d. (Bubenik,
/// Statistical topological data analysis using persistence landscapes, JMLR 2015.)
///
/// An infinite death is cut at `cap`; by default at the largest finite value of the whole diagram (for a death of minus
/// infinity: at the smallest). A point that is then empty counts for nothing. With `functions` only so many are made.
///
/// The corners are those of staircases: with births in ascending order, lambda_k has a peak over (b, d) whenever d becomes the
/// k-th largest death so far, and a valley where d was that before. So the time is O(n log n) and linear in the number of
/// corners, as is the memory, reserved as it grows; of corners there are at most O(n^2).
///
/// The diagram must have passed [`check_diagram`](crate::check_diagram).
pub fn persistence_landscape(
    points: &[Point],
    dim: u32,
    cap: Option<f64>,
    functions: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Landscape, Stopped> {
    const STEP: usize = 1 << 14;
    let mut room = Reservation::new(monitor, 0)?;
    let mut made = 0;
    let mut intervals = intervals(points, dim, cap);
    // Of equal births the longest first, so that a later one rises above nothing.
    intervals.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut landscape: Vec<Vec<(f64, f64)>> = Vec::new();
    // deaths[k]: the k-th largest death so far, of those not over.
    let mut deaths: Vec<f64> = Vec::new();
    let most = functions.unwrap_or(usize::MAX);
    for (birth, death) in intervals {
        if made * size_of::<(f64, f64)>() > room.bytes() {
            // Vectors grow to twice what is in them at most.
            room.grow(2 * (made + STEP) * size_of::<(f64, f64)>())?;
        }
        while let Some(&over) = deaths.last().filter(|&&over| over <= birth) {
            deaths.pop();
            landscape[deaths.len()].push((over, 0.0));
        }
        let mut pushed_down = death;
        let mut k = deaths.partition_point(|&other| other >= death);
        while k < deaths.len() {
            let before = std::mem::replace(&mut deaths[k], pushed_down);
            let corners = &mut landscape[k];
            let valley = corner(birth, before);
            // Where the same birth made this function's last peak, the new one stands on the same slope.
            if corners.last() == Some(&valley) {
                corners.pop();
            } else {
                corners.push(valley);
            }
            corners.push(corner(birth, pushed_down));
            pushed_down = before;
            made += 2;
            k += 1 + deaths[k + 1..].partition_point(|&other| other >= before);
        }
        if deaths.len() < most {
            if landscape.len() == deaths.len() {
                landscape.push(Vec::new());
            }
            let corners = &mut landscape[deaths.len()];
            if corners.last() != Some(&(birth, 0.0)) {
                corners.push((birth, 0.0));
            }
            corners.push(corner(birth, pushed_down));
            deaths.push(pushed_down);
            made += 3;
        }
    }
    for (corners, &death) in landscape.iter_mut().zip(&deaths) {
        corners.push((death, 0.0));
    }
    Ok(Landscape { functions: landscape })
}

/// The peak of the tent over (b, d).
fn corner(birth: f64, death: f64) -> (f64, f64) {
    (birth.midpoint(death), death / 2.0 - birth / 2.0)
}

/// The points of one dimension as intervals that are not empty, infinite ones cut.
fn intervals(points: &[Point], dim: u32, cap: Option<f64>) -> Vec<(f64, f64)> {
    let (mut smallest, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in points.iter().flat_map(|point| [point.birth, point.death]).filter(|value| value.is_finite()) {
        (smallest, largest) = (smallest.min(value), largest.max(value));
    }
    let of_dim = points.iter().filter(|point| point.dim == dim);
    of_dim
        .filter_map(|point| {
            let (low, high) = if point.death == f64::INFINITY {
                (point.birth, cap.unwrap_or(largest))
            } else if point.death == f64::NEG_INFINITY {
                (cap.unwrap_or(smallest), point.birth)
            } else {
                (point.birth.min(point.death), point.birth.max(point.death))
            };
            // Adding 0 makes -0 and 0 one value.
            (low < high).then_some((low + 0.0, high + 0.0))
        })
        .collect()
}

/// `weight_a` a + `weight_b` b, exactly: its corners are those of both. O(corners).
pub(crate) fn combine(a: &Landscape, weight_a: f64, b: &Landscape, weight_b: f64) -> Landscape {
    let count = a.functions.len().max(b.functions.len());
    let functions = (0..count).map(|k| {
        let [a, b] = [a, b].map(|it| it.functions.get(k).map_or(&[][..], Vec::as_slice));
        combine_functions(a, weight_a, b, weight_b)
    });
    Landscape { functions: functions.collect() }
}

fn combine_functions(a: &[(f64, f64)], weight_a: f64, b: &[(f64, f64)], weight_b: f64) -> Vec<(f64, f64)> {
    let mut corners = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let x = match (a.get(i), b.get(j)) {
            (Some(p), Some(q)) => p.0.min(q.0),
            (Some(p), None) | (None, Some(p)) => p.0,
            (None, None) => break,
        };
        let y = weight_a * value_at(a, &mut i, x) + weight_b * value_at(b, &mut j, x);
        corners.push((x, y));
    }
    corners
}

/// The value at `x` of a function of which `next` is the first corner not before `x`; moves on past a corner at `x`.
fn value_at(corners: &[(f64, f64)], next: &mut usize, x: f64) -> f64 {
    let Some(&(right, y)) = corners.get(*next) else { return 0.0 };
    if right == x {
        *next += 1;
        return y;
    }
    let Some(&(left, before)) = next.checked_sub(1).and_then(|i| corners.get(i)) else { return 0.0 };
    before + (y - before) * ((x - left) / (right - left))
}
