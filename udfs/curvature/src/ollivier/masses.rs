//! Measures as whole masses.

/// The total of masses that are not whole multiples of anything: a mass is within a few 2^-60 of its value.
pub(super) const FINE: i64 = 1 << 60;
/// The largest total of exact masses; sums of two fit 64 bits.
pub(super) const LARGEST: i64 = 1 << 61;
/// The largest denominator of a laziness that counts as a simple fraction.
const LARGEST_DENOMINATOR: i64 = 1 << 16;

/// A part of the whole: `numerator / denominator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fraction {
    pub(super) numerator: i64,
    pub(super) denominator: i64,
}

impl Fraction {
    /// The simplest fraction that is the number `x` of [0, 1] to the last bit; `None` where it has a large denominator.
    pub(super) fn exactly(x: f64) -> Option<Self> {
        // Convergents of the continued fraction; the first that rounds to x is it.
        let (mut before, mut last) = ((0i64, 1i64), (1i64, 0i64));
        let mut rest = x;
        loop {
            let whole = rest.floor();
            if whole > LARGEST_DENOMINATOR as f64 {
                return None;
            }
            let next = (whole as i64 * last.0 + before.0, whole as i64 * last.1 + before.1);
            if next.1 > LARGEST_DENOMINATOR {
                return None;
            }
            if next.0 as f64 / next.1 as f64 == x {
                return Some(Self { numerator: next.0, denominator: next.1 });
            }
            (before, last) = (last, next);
            rest = 1.0 / (rest - whole);
        }
    }
}

pub(super) fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple; `None` where it is above `largest`.
pub(super) fn lcm(a: i64, b: i64, largest: i64) -> Option<i64> {
    (a / gcd(a, b)).checked_mul(b).filter(|lcm| *lcm <= largest)
}

/// A measure: the nodes that carry mass, the measure's own node first, and their masses, whole parts of `total`.
#[derive(Debug, Clone, Default)]
pub(super) struct Masses {
    pub(super) nodes: Vec<u32>,
    pub(super) masses: Vec<i64>,
    pub(super) total: i64,
}

impl Masses {
    pub(super) fn clear(&mut self, node: u32) {
        self.nodes.clear();
        self.masses.clear();
        self.nodes.push(node);
        self.masses.push(0);
    }

    pub(super) fn push(&mut self, node: u32, mass: i64) {
        self.nodes.push(node);
        self.masses.push(mass);
    }

    /// Becomes a copy, in the memory that is there.
    pub(super) fn copy(&mut self, from: &Self) {
        self.nodes.clone_from(&from.nodes);
        self.masses.clone_from(&from.masses);
        self.total = from.total;
    }

    /// Counts in parts of another total. What is lost to rounding goes to the measure's own node, so that a symmetry of
    /// the graph is one of the masses.
    pub(super) fn rescale(&mut self, total: i64) {
        if total == self.total {
            return;
        }
        if total % self.total == 0 {
            let parts = total / self.total;
            self.masses.iter_mut().for_each(|mass| *mass *= parts);
            self.total = total;
            return;
        }
        let mut sum = 0;
        for mass in &mut self.masses {
            *mass = (i128::from(*mass) * i128::from(total) / i128::from(self.total)) as i64;
            sum += *mass;
        }
        self.masses[0] += total - sum;
        self.total = total;
    }
}

/// Brings two measures to one total: exactly where the least common multiple of theirs is small enough.
pub(super) fn common_total(a: &mut Masses, b: &mut Masses) -> i64 {
    let total = lcm(a.total, b.total, LARGEST).unwrap_or(FINE);
    a.rescale(total);
    b.rescale(total);
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_found_and_only_those() {
        let fraction = |numerator, denominator| Some(Fraction { numerator, denominator });
        assert_eq!(Fraction::exactly(0.0), fraction(0, 1));
        assert_eq!(Fraction::exactly(1.0), fraction(1, 1));
        assert_eq!(Fraction::exactly(0.1), fraction(1, 10));
        assert_eq!(Fraction::exactly(2.0 / 3.0), fraction(2, 3));
        assert_eq!(Fraction::exactly(0.123), fraction(123, 1000));
        assert_eq!(Fraction::exactly(std::f64::consts::FRAC_1_PI), None);
        assert_eq!(Fraction::exactly(1.0 / 3.0 + 1e-12), None);
        assert_eq!(Fraction::exactly(5e-324), None);
    }
}
