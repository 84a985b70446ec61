//! The exponential function as a polynomial: vectorises, and is the same on every machine.

use super::simd::Vectors;

/// `e^x`, relative error below 2e-7 for results that are normal numbers; 0 below -87.3, `inf` above 88.7, NaN stays NaN.
#[inline(always)]
pub fn exp<V: Vectors>(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(-87.4, 88.8);
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
    const ROUND: f32 = 12_582_912.0;
    let n = V::fma(clamped, std::f32::consts::LOG2_E, ROUND) - ROUND;
    let r = V::fma(n, -LN2_HIGH, clamped);
    let r = V::fma(n, -LN2_LOW, r);
    // The Taylor series up to r^7; |r| <= ln(2) / 2.
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = V::fma(p, r, c);
    }
    // 2^n in two factors, since n reaches 128.
    let n = n as i32;
    let half = n >> 1;
    let power = |n: i32| f32::from_bits(((n + 127) << 23) as u32);
    let result = p * power(half) * power(n - half);
    if x < -87.3 { 0.0 } else { result }
}

#[cfg(test)]
mod tests {
    use super::super::simd::{Fused, Plain};
    use super::*;

    #[test]
    fn the_polynomial_equals_the_exponential() {
        for i in -87_000..88_000 {
            let x = i as f32 * 1e-3;
            let expected = f64::from(x).exp();
            for got in [exp::<Fused>(x), exp::<Plain>(x)] {
                let error = (f64::from(got) / expected - 1.0).abs();
                assert!(error < 3e-7, "exp({x}) = {got}, relative error {error}");
            }
        }
        assert_eq!((exp::<Fused>(0.0), exp::<Fused>(-100.0), exp::<Fused>(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert!(exp::<Fused>(f32::NAN).is_nan() && exp::<Fused>(89.0).is_infinite());
    }
}
