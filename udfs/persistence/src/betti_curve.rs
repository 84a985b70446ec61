//! The number of classes that are alive.

use crate::diagram::Point;

/// The number of classes of a dimension that are alive at a value: born there or before, and not yet dead. Along a superlevel
/// filtration, where deaths lie below births, a class is alive from its birth down to its death. O(n).
pub fn betti_curve(points: &[Point], dim: u32, at: f64) -> usize {
    let alive = |point: &&Point| {
        point.dim == dim
            && match point.birth <= point.death {
                true => point.birth <= at && at < point.death,
                false => point.death < at && at <= point.birth,
            }
    };
    points.iter().filter(alive).count()
}
