//! Distances of landscapes.

use crate::landscape::{Landscape, combine};
use crate::landscape_norm::{Exponent, landscape_norm};

/// The L^p distance of two landscapes: the norm of their difference, whose corners are those of both. O(corners).
pub fn landscape_distance(a: &Landscape, b: &Landscape, p: Exponent) -> f64 {
    landscape_norm(&combine(a, 1.0, b, -1.0), p)
}
