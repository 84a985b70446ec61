//! Persistence landscapes, exactly, as piecewise linear functions.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::diagram::Point;

/// A sequence of piecewise linear functions lambda_1 >= lambda_2 >= ..., or a combination of such: for each its corners
/// (x, y) in ascending order of x. A function is 0 outside its corners, and its first and last corner are at 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Landscape {
    /// The corners, those of lambda_1 first.
    corners: Vec<(f64, f64)>,
    /// Where the corners of each function end.
    ends: Vec<usize>,
}

impl Landscape {
    /// An empty landscape with capacity for so many corners.
    pub fn with_capacity(corners: usize) -> Self {
        Self { corners: Vec::with_capacity(corners), ends: Vec::new() }
    }

    /// Adds a corner to the last function, one begun by [`Landscape::begin`].
    pub fn push(&mut self, corner: (f64, f64)) {
        self.corners.push(corner);
        if let Some(end) = self.ends.last_mut() {
            *end = self.corners.len();
        }
    }

    /// Begins one more function.
    pub fn begin(&mut self) {
        self.ends.push(self.corners.len());
    }

    /// The corners of each function, lambda_1 first; the last function has some.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &[(f64, f64)]> + '_ {
        (0..self.ends.len()).map(|k| self.function(k))
    }

    /// The corners of all functions, one after the other.
    pub fn corners(&self) -> &[(f64, f64)] {
        &self.corners
    }

    /// Where the corners of each function end among all.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The corners of lambda_(k + 1): none if it is 0 everywhere.
    pub fn function(&self, k: usize) -> &[(f64, f64)] {
        let Some(&end) = self.ends.get(k) else { return &[] };
        &self.corners[if k == 0 { 0 } else { self.ends[k - 1] }..end]
    }

    /// The bytes that it holds.
    pub fn bytes(&self) -> usize {
        size_of_val(self.corners.as_slice()) + size_of_val(self.ends.as_slice())
    }
}

/// Corners as they are found, of any function.
struct Corners {
    corners: Vec<(u32, (f64, f64))>,
    functions: Vec<FoundFunction>,
}

#[derive(Default)]
struct FoundFunction {
    corners: usize,
    /// The function's last corner among all.
    last: usize,
}

impl Corners {
    fn push(&mut self, k: usize, corner: (f64, f64)) {
        if k == self.functions.len() {
            self.functions.push(FoundFunction::default());
        }
        let function = &mut self.functions[k];
        function.corners += 1;
        function.last = self.corners.len();
        self.corners.push((k as u32, corner));
    }

    fn last(&mut self, k: usize) -> Option<&mut (f64, f64)> {
        self.functions.get(k).map(|function| &mut self.corners[function.last].1)
    }

    /// Function by function.
    fn finish(self) -> Landscape {
        let mut next: Vec<usize> = Vec::with_capacity(self.functions.len());
        let mut total = 0;
        for function in self.functions {
            next.push(total);
            total += function.corners;
        }
        let mut corners = vec![(0.0, 0.0); total];
        for (k, corner) in self.corners {
            corners[next[k as usize]] = corner;
            next[k as usize] += 1;
        }
        // What was the start of a function's corners is their end now.
        Landscape { corners, ends: next }
    }
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
    const STEP: usize = 1 << 12;
    const FEW: usize = 16;
    let mut intervals = intervals(points, dim, cap);
    // Of equal births the longest first, so that a later one rises above nothing.
    intervals.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    // A tent that meets no other has three corners.
    let alone = 3 * intervals.len();
    let mut reservation = Reservation::new(monitor, alone * size_of::<(u32, (f64, f64))>() + 4 * STEP)?;
    let few = intervals.len().min(FEW);
    let mut found = Corners { corners: Vec::with_capacity(alone), functions: Vec::with_capacity(few) };
    // deaths[k]: the k-th largest death so far, of those not over.
    let mut deaths: Vec<f64> = Vec::with_capacity(few);
    let most = functions.unwrap_or(usize::MAX);
    for (birth, death) in intervals {
        let made = found.corners.len() * size_of::<(u32, (f64, f64))>();
        if made + STEP > reservation.bytes() {
            // A vector grows to twice what is in it at most; and once more in the order of the functions.
            reservation.grow(3 * made + 4 * STEP)?;
        }
        while let Some(&over) = deaths.last().filter(|&&over| over <= birth) {
            deaths.pop();
            found.push(deaths.len(), (over, 0.0));
        }
        let mut pushed_down = death;
        let mut k = deaths.partition_point(|&other| other >= death);
        while k < deaths.len() {
            let before = std::mem::replace(&mut deaths[k], pushed_down);
            let (valley, peak) = (corner(birth, before), corner(birth, pushed_down));
            match found.last(k) {
                // Where the same birth made this function's last peak, the new one stands on the same slope.
                Some(last) if *last == valley => *last = peak,
                _ => {
                    found.push(k, valley);
                    found.push(k, peak);
                }
            }
            pushed_down = before;
            k += 1 + deaths[k + 1..].partition_point(|&other| other >= before);
        }
        if deaths.len() < most {
            let k = deaths.len();
            if found.last(k).is_none_or(|last| *last != (birth, 0.0)) {
                found.push(k, (birth, 0.0));
            }
            found.push(k, corner(birth, pushed_down));
            deaths.push(pushed_down);
        }
    }
    for (k, &death) in deaths.iter().enumerate() {
        found.push(k, (death, 0.0));
    }
    Ok(found.finish())
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
    let mut intervals = Vec::with_capacity(points.len());
    for point in points.iter().filter(|point| point.dim == dim) {
        let (low, high) = if point.death == f64::INFINITY {
            (point.birth, cap.unwrap_or(largest))
        } else if point.death == f64::NEG_INFINITY {
            (cap.unwrap_or(smallest), point.birth)
        } else {
            (point.birth.min(point.death), point.birth.max(point.death))
        };
        if low < high {
            // Adding 0 makes -0 and 0 one value.
            intervals.push((low + 0.0, high + 0.0));
        }
    }
    intervals
}

/// `weight_a` a + `weight_b` b, exactly: its corners are those of both. O(corners).
pub(crate) fn combine(a: &Landscape, weight_a: f64, b: &Landscape, weight_b: f64) -> Landscape {
    let mut sum = Landscape::with_capacity(a.corners.len() + b.corners.len());
    for k in 0..a.ends.len().max(b.ends.len()) {
        combine_functions(a.function(k), weight_a, b.function(k), weight_b, &mut sum.corners);
        sum.ends.push(sum.corners.len());
    }
    sum
}

fn combine_functions(a: &[(f64, f64)], weight_a: f64, b: &[(f64, f64)], weight_b: f64, corners: &mut Vec<(f64, f64)>) {
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
