//! The measures that Ollivier-Ricci curvature transports, as whole masses.

use bonnet_graph::{Graph, Monitor, Stopped};

use super::options::{Measure, OllivierOptions};

/// The total of masses that are not whole multiples of anything: a mass is within a few 2^-60 of its value.
const FINE: i64 = 1 << 60;
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
    fn clear(&mut self, node: u32) {
        self.nodes.clear();
        self.masses.clear();
        self.nodes.push(node);
        self.masses.push(0);
    }

    fn push(&mut self, node: u32, mass: i64) {
        self.nodes.push(node);
        self.masses.push(mass);
    }

    /// Counts in parts of another total. What is lost to rounding goes to the measure's own node, so that a symmetry of
    /// the graph is one of the masses.
    pub(super) fn rescale(&mut self, total: i64) {
        if total == self.total {
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

/// Makes the measures of one graph. Holds 4 bytes a node.
#[derive(Debug)]
pub(super) struct Measures {
    options: OllivierOptions,
    laziness: Option<Fraction>,
    /// Where a node stands in the measure being made; `u32::MAX` elsewhere.
    position: Vec<u32>,
    now: Vec<i64>,
    next: Masses,
}

impl Measures {
    /// For a graph of `n` nodes.
    pub(super) fn new(n: usize, options: &OllivierOptions) -> Self {
        Self {
            options: options.clone(),
            laziness: Fraction::exactly(options.alpha),
            position: vec![u32::MAX; n],
            now: Vec::new(),
            next: Masses::default(),
        }
    }

    /// The measure at `v`. At a node without neighbours the walk stays.
    ///
    /// O(d) for `uniform`, and for the others O(steps x the arcs within their reach).
    pub(super) fn at(
        &mut self,
        graph: &Graph,
        v: u32,
        into: &mut Masses,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        into.clear(v);
        if graph.degree(v) == 0 {
            into.masses[0] = 1;
            into.total = 1;
            return Ok(());
        }
        match self.options.measure {
            Measure::Uniform => {
                graph.neighbors(v).iter().for_each(|&u| into.push(u, 1));
                into.total = graph.degree(v) as i64;
            }
            Measure::TwoHop => self.two_hop(graph, v, into),
            Measure::RandomWalk => self.walk(graph, v, into, true, monitor)?,
            Measure::TransitionPower => self.walk(graph, v, into, false, monitor)?,
        }
        self.stay(into);
        Ok(())
    }

    /// 0.5 : 0.125 : 0.025 is 20 : 5 : 1.
    fn two_hop(&mut self, graph: &Graph, v: u32, into: &mut Masses) {
        into.masses[0] = 20;
        self.position[v as usize] = 0;
        for &u in graph.neighbors(v) {
            self.position[u as usize] = 0;
            into.push(u, 5);
        }
        for i in 1..into.nodes.len() {
            for &w in graph.neighbors(into.nodes[i]) {
                if self.position[w as usize] == u32::MAX {
                    self.position[w as usize] = 0;
                    into.push(w, 1);
                }
            }
        }
        into.nodes.iter().for_each(|&node| self.position[node as usize] = u32::MAX);
        into.total = into.masses.iter().sum();
    }

    /// Spreads a large whole mass step by step in equal whole parts. What does not divide goes back to the start, so that
    /// a symmetry of the graph is one of the masses; it is less than one part for each arc within reach.
    fn walk(
        &mut self,
        graph: &Graph,
        v: u32,
        into: &mut Masses,
        all: bool,
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let steps = self.options.steps;
        let whole = if all { FINE / (steps as i64 + 1) } else { FINE };
        // The mass at each node of `into`, at this step.
        let now = &mut self.now;
        now.clear();
        now.push(whole);
        self.position[v as usize] = 0;
        into.masses[0] = if all { whole } else { 0 };
        let next = &mut self.next.masses;
        for step in 1..=steps {
            if step % 64 == 0 || now.len() > 1 << 12 {
                monitor.check()?;
            }
            next.clear();
            next.resize(now.len(), 0);
            let mut lost = 0;
            for (i, &mass) in now.iter().enumerate() {
                let neighbors = graph.neighbors(into.nodes[i]);
                let part = mass / neighbors.len() as i64;
                lost += mass - part * neighbors.len() as i64;
                if part == 0 {
                    continue;
                }
                for &u in neighbors {
                    let position = &mut self.position[u as usize];
                    if *position == u32::MAX {
                        *position = into.nodes.len() as u32;
                        into.push(u, 0);
                        next.push(0);
                    }
                    next[*position as usize] += part;
                }
            }
            next[0] += lost;
            std::mem::swap(now, next);
            if all || step == steps {
                into.masses.iter_mut().zip(&*now).for_each(|(sum, mass)| *sum += mass);
            }
        }
        into.nodes.iter().for_each(|&node| self.position[node as usize] = u32::MAX);
        into.total = into.masses.iter().sum();
        Ok(())
    }

    /// Keeps the share `alpha` at the node itself.
    fn stay(&self, into: &mut Masses) {
        let alpha = self.options.alpha;
        if alpha == 0.0 {
            return;
        }
        if let Some(Fraction { numerator, denominator }) = self.laziness
            && let Some(total) = into.total.checked_mul(denominator).filter(|total| *total <= LARGEST)
        {
            into.masses.iter_mut().for_each(|mass| *mass *= denominator - numerator);
            into.masses[0] += into.total * numerator;
            into.total = total;
            return;
        }
        let stays = (alpha * FINE as f64) as i64;
        into.rescale(FINE - stays);
        into.masses[0] += stays;
        into.total = FINE;
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
    use bonnet_graph::Unmonitored;

    fn measure(graph: &Graph, v: u32, options: OllivierOptions) -> Vec<(u32, f64)> {
        let mut masses = Masses::default();
        Measures::new(graph.n_nodes(), &options).at(graph, v, &mut masses, &Unmonitored).unwrap();
        assert_eq!(masses.masses.iter().sum::<i64>(), masses.total);
        let mut found: Vec<_> = masses
            .nodes
            .iter()
            .zip(&masses.masses)
            .filter(|(_, mass)| **mass != 0)
            .map(|(node, mass)| (*node, *mass as f64 / masses.total as f64))
            .collect();
        found.sort_by_key(|entry| entry.0);
        found
    }

    fn assert_close(found: &[(u32, f64)], expected: &[(u32, f64)]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 1e-15, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn measures_of_a_path_are_those_worked_out_by_hand() {
        // 0 - 1 - 2 - 3 - 4, at the node 1.
        let path = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        let at = |measure, alpha, steps| self::measure(&path, 1, OllivierOptions { measure, alpha, steps });
        assert_close(&at(Measure::Uniform, 0.0, 2), &[(0, 0.5), (2, 0.5)]);
        assert_close(&at(Measure::Uniform, 0.5, 2), &[(0, 0.25), (1, 0.5), (2, 0.25)]);
        assert_close(&at(Measure::TwoHop, 0.0, 2), &[(0, 5. / 31.), (1, 20. / 31.), (2, 5. / 31.), (3, 1. / 31.)]);
        assert_close(&at(Measure::TransitionPower, 0.0, 1), &[(0, 0.5), (2, 0.5)]);
        // From 0 all back to 1, from 2 half to 1 and half to 3.
        assert_close(&at(Measure::TransitionPower, 0.0, 2), &[(1, 0.75), (3, 0.25)]);
        let mean = [(0, 1. / 6.), (1, 1.75 / 3.), (2, 1. / 6.), (3, 0.25 / 3.)];
        assert_close(&at(Measure::RandomWalk, 0.0, 2), &mean);
        assert_close(
            &at(Measure::RandomWalk, 0.3, 2),
            &mean.map(|(v, m)| (v, 0.7 * m + if v == 1 { 0.3 } else { 0.0 })),
        );
        // A number that is no simple fraction.
        let alpha = std::f64::consts::FRAC_1_PI;
        assert_close(&at(Measure::Uniform, alpha, 2), &[(0, (1. - alpha) / 2.), (1, alpha), (2, (1. - alpha) / 2.)]);
        assert_close(&at(Measure::Uniform, 1.0, 2), &[(1, 1.0)]);
    }

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

    #[test]
    fn symmetric_nodes_carry_the_same_masses_to_the_last_part() {
        let cycle = Graph::from_edges(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 0)]);
        let mut masses = Masses::default();
        let options = OllivierOptions { measure: Measure::RandomWalk, steps: 6, alpha: 0.1234567 };
        Measures::new(7, &options).at(&cycle, 3, &mut masses, &Unmonitored).unwrap();
        let at = |v: u32| masses.masses[masses.nodes.iter().position(|u| *u == v).unwrap()];
        assert_eq!([at(2), at(1), at(0)], [at(4), at(5), at(6)]);
    }
}
