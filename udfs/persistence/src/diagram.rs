//! Points of persistence diagrams.

/// A class of a filtration: its dimension, the value at which it is born, and the value at which it dies.
///
/// Along a sublevel filtration `birth <= death`, along a superlevel filtration `birth >= death`. A class that never dies
/// has an infinite death, of the sign of the direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// 0 for components, 1 for cycles.
    pub dim: u32,
    /// Where it begins: finite.
    pub birth: f64,
    /// Where it ends: finite, or infinite for a class that never dies.
    pub death: f64,
}

impl Point {
    /// Half the distance of birth and death: the distance to the diagonal in the L-infinity metric.
    pub(crate) fn to_diagonal(self) -> f64 {
        (self.death / 2.0 - self.birth / 2.0).abs()
    }

    pub(crate) fn is_essential(self) -> bool {
        self.death.is_infinite()
    }
}

/// A point that is no point of a diagram.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "point {position} of the diagram is ({birth}, {death}): a birth is finite, and a death is a number or infinite"
)]
pub struct BadPoint {
    /// The point's position, counted from 1.
    pub position: usize,
    /// The point's birth.
    pub birth: f64,
    /// The point's death.
    pub death: f64,
}

/// Refuses a diagram with a birth that is not finite, or a death that is no number. O(n).
pub fn check_diagram(points: &[Point]) -> Result<(), BadPoint> {
    match points.iter().position(|point| !point.birth.is_finite() || point.death.is_nan()) {
        None => Ok(()),
        Some(i) => Err(BadPoint { position: i + 1, birth: points[i].birth, death: points[i].death }),
    }
}

/// Puts the points in the order of dimension, birth, death.
pub(crate) fn sort(points: &mut [Point]) {
    points
        .sort_unstable_by(|a, b| a.dim.cmp(&b.dim).then(a.birth.total_cmp(&b.birth)).then(a.death.total_cmp(&b.death)));
}

/// The dimensions that occur in either diagram, ascending.
pub(crate) fn dimensions(a: &[Point], b: &[Point]) -> Vec<u32> {
    let mut dims: Vec<u32> = a.iter().chain(b).map(|point| point.dim).collect();
    dims.sort_unstable();
    dims.dedup();
    dims
}

/// The finite points of one dimension as (birth, death), without those on the diagonal: they are matched for nothing.
pub(crate) fn finite_points(points: &[Point], dim: u32) -> Vec<(f64, f64)> {
    points
        .iter()
        .filter(|point| point.dim == dim && !point.is_essential() && point.birth != point.death)
        .map(|point| (point.birth, point.death))
        .collect()
}

/// The distances in the best matching of the essential points of one dimension, which is that by the order of their
/// births; `None` if their numbers differ.
pub(crate) fn essential_distances(a: &[Point], b: &[Point], dim: u32) -> Option<Vec<f64>> {
    let mut distances = Vec::new();
    for death in [f64::INFINITY, f64::NEG_INFINITY] {
        let births = |points: &[Point]| {
            let of_dim = points.iter().filter(|point| point.dim == dim && point.death == death);
            let mut births: Vec<f64> = of_dim.map(|point| point.birth).collect();
            births.sort_unstable_by(f64::total_cmp);
            births
        };
        let (a, b) = (births(a), births(b));
        if a.len() != b.len() {
            return None;
        }
        distances.extend(a.iter().zip(&b).map(|(a, b)| (a - b).abs()));
    }
    Some(distances)
}
