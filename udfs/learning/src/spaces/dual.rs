//! Numbers with their slopes by a few variables.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Radial;

/// A number and its derivatives by `N` variables (forward differentiation); with `N` = 0 the number alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<const N: usize> {
    /// The number.
    pub value: f64,
    /// The derivatives.
    pub slopes: [f64; N],
}

impl<const N: usize> Dual<N> {
    /// The variable with a number; a constant where that is not below `N`.
    pub fn variable(value: f64, number: usize) -> Self {
        let mut slopes = [0.0; N];
        slopes.iter_mut().skip(number).take(1).for_each(|slope| *slope = 1.0);
        Self { value, slopes }
    }

    /// A function of it, by its value and its slope.
    pub fn map(self, value: f64, slope: f64) -> Self {
        Self { value, slopes: self.slopes.map(|s| s * slope) }
    }

    /// A radial function of it.
    pub fn radial(self, f: Radial) -> Self {
        let slope = if N > 0 { f.slope(self.value) } else { 0.0 };
        self.map(f.value(self.value), slope)
    }

    /// The square of the number.
    pub fn square(self) -> Self {
        self * self
    }

    /// The root of the number, which is above 0.
    pub fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.map(root, 0.5 / root)
    }

    /// No less than a bound, constant below it.
    pub fn at_least(self, bound: f64) -> Self {
        if self.value < bound { self.map(bound, 0.0) } else { self }
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.slopes.iter_mut().zip(other.slopes).for_each(|(s, o)| *s += o);
        Self { value: self.value + other.value, ..self }
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;

    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;

    fn sub(mut self, other: Self) -> Self {
        self.slopes.iter_mut().zip(other.slopes).for_each(|(s, o)| *s -= o);
        Self { value: self.value - other.value, ..self }
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;

    #[expect(clippy::suspicious_arithmetic_impl, reason = "the product rule adds")]
    fn mul(mut self, other: Self) -> Self {
        self.slopes.iter_mut().zip(other.slopes).for_each(|(s, o)| *s = *s * other.value + o * self.value);
        Self { value: self.value * other.value, ..self }
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;

    #[expect(clippy::suspicious_arithmetic_impl, reason = "the quotient rule subtracts")]
    fn div(mut self, other: Self) -> Self {
        let value = self.value / other.value;
        self.slopes.iter_mut().zip(other.slopes).for_each(|(s, o)| *s = (*s - o * value) / other.value);
        Self { value, ..self }
    }
}

impl<const N: usize> Add<f64> for Dual<N> {
    type Output = Self;

    fn add(self, other: f64) -> Self {
        Self { value: self.value + other, ..self }
    }
}

impl<const N: usize> Mul<f64> for Dual<N> {
    type Output = Self;

    fn mul(self, other: f64) -> Self {
        self.map(self.value * other, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function<const N: usize>(x: Dual<N>, y: Dual<N>) -> Dual<N> {
        ((x * y + 1.5).sqrt() - x.square() * 0.25) / (y.radial(Radial::Tan) + 2.0) + (-x).at_least(-0.1)
    }

    #[test]
    fn slopes_are_those_of_finite_differences() {
        let value = |x: f64, y: f64| function::<0>(Dual::variable(x, 0), Dual::variable(y, 1)).value;
        let (x, y, h) = (0.7, 0.3, 1e-6);
        let found = function::<2>(Dual::variable(x, 0), Dual::variable(y, 1));
        assert_eq!(found.value, value(x, y));
        let slopes = [value(x + h, y) - value(x - h, y), value(x, y + h) - value(x, y - h)].map(|d| d / (2.0 * h));
        for (found, slope) in found.slopes.iter().zip(slopes) {
            assert!((found - slope).abs() < 1e-9, "{found} {slope}");
        }
    }
}
