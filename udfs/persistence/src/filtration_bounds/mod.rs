//! Both sides of what Curvature Filtrations says of the diagrams of two filtered graphs, so that one sees where it holds.

use bonnet_graph::{Monitor, Stopped};

use crate::bottleneck_distance::bottleneck_distance;
use crate::diagram::Point;

/// What is said of the bottleneck distance of two diagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FiltrationStatement {
    /// Theorem 1: it is at most the larger of |max f - min g| and |max g - min f|, over the values f and g of the edges.
    Spread,
    /// Theorem 5: it is at least the distance of the values under the best map of edges, the largest distance of a value of the first to the
    /// nearest one of the second. **False**, as an edge may open or close nothing: a path with the values 0 and 5 and an edge with the value
    /// 0 have the same diagram.
    Nearest,
}

impl FiltrationStatement {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::Nearest => "nearest",
        }
    }
}

/// An inequality lower <= distance <= upper about the diagrams of a first and a second graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FiltrationBound {
    /// The statement.
    pub statement: FiltrationStatement,
    /// Whether it takes the second graph first.
    pub turned: bool,
    /// The least that the distance may be; minus infinity where nothing is said, NaN where what is said means nothing.
    pub lower: f64,
    /// The largest bottleneck distance of a dimension.
    pub distance: f64,
    /// The most that it may be; infinite where nothing is said, NaN where what is said means nothing.
    pub upper: f64,
}

impl FiltrationBound {
    /// Whether it holds, but for rounding, 1e-9; `None` where a side means nothing.
    pub fn holds(&self) -> Option<bool> {
        const ROUNDING: f64 = 1e-9;
        let room = |bound: f64| ROUNDING * (1.0 + bound.abs().min(self.distance.abs()));
        if self.lower.is_nan() || self.upper.is_nan() {
            return None;
        }
        Some(self.distance >= self.lower - room(self.lower) && self.distance <= self.upper + room(self.upper))
    }
}

/// What Theorem 1, and Theorem 5 either way, say of two graphs by the values of their edges, ascending, and their diagrams (Southern et al.,
/// Curvature Filtrations for Graph Generative Model Evaluation, NeurIPS 2023, Sec. 3.2 and App. B.1). Diagrams are those with [`Essential::Max`],
/// where all points are finite: otherwise different numbers of classes that never die are infinitely far apart. Without edges in one graph the
/// statements mean nothing.
///
/// That of a bottleneck distance, and O(n log n).
///
/// [`Essential::Max`]: crate::Essential::Max
///
/// # Errors
/// The monitor stopped the work.
pub fn filtration_bounds(
    values: [&[f64]; 2],
    diagrams: [&[Point]; 2],
    monitor: &dyn Monitor,
) -> Result<[FiltrationBound; 3], Stopped> {
    let mut distance = 0.0f64;
    for dim in 0..=1 {
        distance = distance.max(bottleneck_distance(diagrams[0], diagrams[1], Some(dim), monitor)?);
    }
    let [f, g] = values;
    let spread = |f: &[f64], g: &[f64]| match (f.last(), g.first()) {
        (Some(most), Some(least)) => (most - least).abs(),
        _ => f64::NAN,
    };
    let (one, other) = (spread(f, g), spread(g, f));
    let upper = if one.is_nan() { f64::NAN } else { one.max(other) };
    let nearest = |turned: bool| FiltrationBound {
        statement: FiltrationStatement::Nearest,
        turned,
        lower: if turned { farthest(g, f) } else { farthest(f, g) },
        distance,
        upper: f64::INFINITY,
    };
    let first = FiltrationBound {
        statement: FiltrationStatement::Spread,
        turned: false,
        lower: f64::NEG_INFINITY,
        distance,
        upper,
    };
    Ok([first, nearest(false), nearest(true)])
}

/// The largest distance of a value of `f` to the nearest one of `g`, both ascending; NaN where one is empty.
fn farthest(f: &[f64], g: &[f64]) -> f64 {
    if f.is_empty() || g.is_empty() {
        return f64::NAN;
    }
    let nearest = |x: &f64| {
        let above = g.partition_point(|y| y < x);
        let around = &g[above.saturating_sub(1)..(above + 1).min(g.len())];
        around.iter().map(|y| (x - y).abs()).fold(f64::INFINITY, f64::min)
    };
    f.iter().map(nearest).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
