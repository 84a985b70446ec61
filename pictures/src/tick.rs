//! Ticks of an axis, and the steps between them.

/// A value that an axis names, and the name.
pub(crate) type Tick = (f64, String);

/// The least of 1, 2, 5 times a power of ten that is no smaller, but for rounding.
pub(crate) fn round_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= raw * 0.999_999).unwrap_or(10.0);
    factor * power
}
