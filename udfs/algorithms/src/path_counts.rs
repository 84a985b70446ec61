//! Counts of shortest paths beyond a double, and the dependencies of a source by them.

use std::ops::{Add, Mul};

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::Network;

/// Nodes between two questions to the monitor.
const CHECK_EVERY: usize = 1024;

/// Counts up to here are doubles: whatever is computed of them is within the normal ones.
pub(crate) const MOST_PATHS: f64 = f64::from_bits((1023 + 700) << 52);

/// A number of at least 0 with the digits of a double and any exponent: `mantissa * 2^exponent`, the mantissa 0 or from 1 to 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wide {
    mantissa: f64,
    exponent: i64,
}

impl Wide {
    pub(crate) const ZERO: Self = Self { mantissa: 0.0, exponent: 0 };
    pub(crate) const ONE: Self = Self { mantissa: 1.0, exponent: 0 };

    /// A normal double, or 0.
    fn new(value: f64, exponent: i64) -> Self {
        const EXPONENT: u64 = 0x7ff << 52;
        let bits = value.to_bits();
        let of_value = (bits & EXPONENT) >> 52;
        if of_value == 0 {
            return Self::ZERO;
        }
        let mantissa = f64::from_bits(bits & !EXPONENT | 1023 << 52);
        Self { mantissa, exponent: exponent + of_value as i64 - 1023 }
    }

    /// 1 over the number, which is not 0.
    fn reciprocal(self) -> Self {
        Self::new(1.0 / self.mantissa, -self.exponent)
    }

    /// The nearest double; 0 below the normal ones.
    fn to_double(self) -> f64 {
        match self.exponent {
            ..-1022 => 0.0,
            exponent @ -1022..=1023 => self.mantissa * f64::from_bits(((exponent + 1023) as u64) << 52),
            _ => f64::INFINITY,
        }
    }
}

impl Add for Wide {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if self.mantissa == 0.0 || other.mantissa == 0.0 {
            return if self.mantissa == 0.0 { other } else { self };
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        match large.exponent - small.exponent {
            apart @ ..64 => {
                let share = small.mantissa * f64::from_bits(((1023 - apart) as u64) << 52);
                Self::new(large.mantissa + share, large.exponent)
            }
            _ => large,
        }
    }
}

impl Mul for Wide {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }
}

/// The dependencies of a source, for counts that a double cannot hold.
pub(crate) struct WideDependencies<'a> {
    network: Network<'a>,
    /// The number of shortest paths to each node, and (1 + dependency) / paths.
    paths: Vec<Wide>,
    share: Vec<Wide>,
    _reservation: Reservation<'a>,
}

impl<'a> WideDependencies<'a> {
    /// Room for the numbers of all nodes.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn new(network: Network<'a>, monitor: &'a dyn Monitor) -> Result<Self, Stopped> {
        let n = network.n_nodes();
        let reservation = Reservation::new(monitor, 2 * n * size_of::<Wide>())?;
        let numbers = || vec![Wide::ZERO; n];
        Ok(Self { network, paths: numbers(), share: numbers(), _reservation: reservation })
    }

    /// Hands out the dependency of the first node of `order` on every other node, and on every arc by its position. `order` has
    /// the nodes by rising distance, and `leads` says whether a shortest path leads from a node over an arc of its row to
    /// another node.
    ///
    /// # Errors
    /// If the monitor stops it.
    pub(crate) fn run(
        &mut self,
        order: &[u32],
        leads: impl Fn(u32, u32, usize) -> bool,
        mut node: impl FnMut(u32, f64),
        mut arc: impl FnMut(usize, f64),
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let (offsets, targets) = (self.network.out.offsets(), self.network.out.targets());
        let row = |u: u32| (offsets[u as usize]..offsets[u as usize + 1]).map(|at| (at, targets[at]));
        let Some(&source) = order.first() else { return Ok(()) };
        order.iter().for_each(|&v| self.paths[v as usize] = Wide::ZERO);
        self.paths[source as usize] = Wide::ONE;
        for (at, &u) in order.iter().enumerate() {
            if at.is_multiple_of(CHECK_EVERY) {
                monitor.check()?;
            }
            let paths = self.paths[u as usize];
            for (at, v) in row(u) {
                if leads(u, v, at) {
                    self.paths[v as usize] = self.paths[v as usize] + paths;
                }
            }
        }
        for (at, &u) in order.iter().enumerate().rev() {
            if at.is_multiple_of(CHECK_EVERY) {
                monitor.check()?;
            }
            let paths = self.paths[u as usize];
            let mut sum = Wide::ZERO;
            for (at, v) in row(u) {
                if leads(u, v, at) {
                    let from = self.share[v as usize];
                    sum = sum + from;
                    arc(at, (from * paths).to_double());
                }
            }
            if u != source {
                node(u, (sum * paths).to_double());
            }
            self.share[u as usize] = sum + paths.reciprocal();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_of_a_double_at_any_size() {
        let of = |value: f64| Wide::new(value, 0);
        for (a, b) in [(1.0, 3.0), (0.1, 0.2), (1e300, 7e299), (5.0, 0.0), (1e17, 1.0)] {
            assert_eq!((of(a) + of(b)).to_double(), a + b);
            assert_eq!((of(b) + of(a)).to_double(), a + b);
            assert_eq!((of(a) * of(b)).to_double(), of(a * b).to_double());
        }
        let mut power = Wide::ONE;
        (0..5000).for_each(|_| power = power + power);
        assert_eq!(power, Wide { mantissa: 1.0, exponent: 5000 });
        assert_eq!((power * power.reciprocal()).to_double(), 1.0);
        assert_eq!((power.to_double(), power.reciprocal().to_double()), (f64::INFINITY, 0.0));
    }
}
