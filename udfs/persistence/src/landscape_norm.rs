//! Norms of landscapes.

use crate::landscape::Landscape;

/// The exponent p >= 1 of an L^p norm; infinite for the supremum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponent(f64);

impl Exponent {
    /// The supremum norm.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// The exponent `p`; `None` if it is below 1 or no number.
    pub fn new(p: f64) -> Option<Self> {
        (p >= 1.0).then_some(Self(p))
    }

    pub(crate) fn value(self) -> f64 {
        self.0
    }
}

/// The L^p norm of a landscape: (sum over k of the integral of |lambda_k|^p)^(1/p), or the largest |lambda_k(t)|. Of a sum of
/// landscapes or a difference just as well. Exact integrals of each linear piece; O(corners). (Bubenik, JMLR 2015, Sec. 2.4.)
pub fn landscape_norm(landscape: &Landscape, p: Exponent) -> f64 {
    let largest = landscape.corners().iter().map(|corner| corner.1.abs()).fold(0.0, f64::max);
    if p == Exponent::INFINITE || largest == 0.0 {
        return largest;
    }
    let width = |pair: &[(f64, f64)]| pair[1].0 - pair[0].0;
    let pieces = landscape.functions().flat_map(|corners| corners.windows(2));
    // Relative to the largest value, so that no power leaves the range of numbers.
    let integral: f64 = pieces.map(|pair| piece(width(pair), pair[0].1 / largest, pair[1].1 / largest, p.0)).sum();
    largest * integral.powf(1.0 / p.0)
}

/// The integral of |y|^p over a piece of this width on which y goes linearly from `from` to `to`.
pub(crate) fn piece(width: f64, from: f64, to: f64, p: f64) -> f64 {
    if p == 2.0 {
        return width * (from * from + from * to + to * to) / 3.0;
    }
    if from * to < 0.0 {
        // It crosses 0 on the way: two triangles.
        let share = from / (from - to);
        return width * (share * from.abs().powf(p) + (1.0 - share) * to.abs().powf(p)) / (p + 1.0);
    }
    let (small, large) = (from.abs().min(to.abs()), from.abs().max(to.abs()));
    if large == 0.0 {
        return 0.0;
    }
    if p == 1.0 {
        return width * (small + large) / 2.0;
    }
    // (large^(p+1) - small^(p+1)) / ((p + 1) (large - small)), without cancellation where both are nearly equal.
    let gap = (large - small) / large;
    let mean = match gap {
        0.0 => 1.0,
        1.0 => 1.0 / (p + 1.0),
        gap => -((p + 1.0) * (-gap).ln_1p()).exp_m1() / ((p + 1.0) * gap),
    };
    width * large.powf(p) * mean
}
