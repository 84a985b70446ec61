//! The measures that Ollivier-Ricci curvature transports.

use bonnet_graph::{Graph, Monitor, Stopped};
use rayon::prelude::*;

use super::given::NodeMeasures;
use super::masses::{FINE, Fraction, LARGEST, Masses};
use super::options::{Measure, OllivierOptions};
use crate::search::Roads;

/// Makes the measures of one graph. Holds 4 bytes a node.
#[derive(Debug)]
pub(super) struct Measures<'a> {
    options: OllivierOptions,
    /// The lengths of edges, where they have any, and the measures that are given, where they are.
    roads: Option<Roads<'a>>,
    given: Option<&'a NodeMeasures>,
    /// Those of [`exponential_masses`], where they are made already.
    exponential: Option<&'a [i64]>,
    laziness: Option<Fraction>,
    /// Where a node stands in the measure being made; `u32::MAX` elsewhere.
    position: Vec<u32>,
    now: Vec<i64>,
    next: Masses,
}

impl<'a> Measures<'a> {
    /// For a graph of `n` nodes.
    pub(super) fn new(
        n: usize,
        options: &OllivierOptions,
        roads: Option<Roads<'a>>,
        given: Option<&'a NodeMeasures>,
    ) -> Self {
        Self {
            options: options.clone(),
            roads,
            given,
            exponential: None,
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
        if let Some(given) = self.given {
            given.at(v, into);
            self.stay(into);
            return Ok(());
        }
        if graph.degree(v) == 0 {
            into.masses[0] = 1;
            into.total = 1;
            return Ok(());
        }
        match (self.options.measure, self.roads) {
            (Measure::Exponential, Some(roads)) => self.exponential(roads, v, into),
            (Measure::Uniform | Measure::Exponential, _) => {
                graph.neighbors(v).iter().for_each(|&u| into.push(u, 1));
                into.total = graph.degree(v) as i64;
            }
            (Measure::TwoHop, _) => self.two_hop(graph, v, into),
            (Measure::RandomWalk, _) => self.walk(graph, v, into, true, monitor)?,
            (Measure::TransitionPower, _) => self.walk(graph, v, into, false, monitor)?,
        }
        self.stay(into);
        Ok(())
    }

    /// Takes the masses of [`exponential_masses`] instead of making them anew at each node.
    pub(super) fn with_masses(mut self, masses: Option<&'a [i64]>) -> Self {
        self.exponential = masses;
        self
    }

    fn exponential(&mut self, roads: Roads<'_>, v: u32, into: &mut Masses) {
        let neighbors = roads.graph.neighbors(v);
        let offsets = roads.graph.offsets();
        let own = match self.exponential {
            Some(masses) => &masses[offsets[v as usize]..offsets[v as usize + 1]],
            None => {
                self.now.clear();
                exponential(roads, v, self.options.power, &mut self.now);
                &self.now
            }
        };
        let mut left = FINE;
        for (&u, &mass) in neighbors.iter().zip(own) {
            left -= mass;
            into.push(u, mass);
        }
        into.masses[0] += left;
        into.total = FINE;
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

/// The masses of the measure 'exponential' on the neighbours of a node, in their order, in parts of [`FINE`]: e^(-length^power), normalised; the
/// same on each where all of these vanish. What is lost to rounding is missing.
fn exponential(roads: Roads<'_>, v: u32, power: f64, into: &mut Vec<i64>) {
    // Less the smallest exponent, so that no neighbour's share vanishes for being far on the whole.
    let exponent = |length: f64| if power == 2.0 { length * length } else { length.powf(power) };
    let exponents = || roads.from(v).map(|(_, length)| exponent(length));
    let least = exponents().fold(f64::INFINITY, f64::min);
    let share = |far: f64| match far {
        far if far.is_finite() => (least - far).exp(),
        _ if least.is_finite() => 0.0,
        _ => 1.0,
    };
    let shares: Vec<f64> = exponents().map(share).collect();
    // In the order of their sizes, so that nodes with the same lengths have the same masses.
    let mut sorted = shares.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let sum: f64 = sorted.iter().sum();
    let mut left = FINE;
    for share in shares {
        let mass = ((share / sum * FINE as f64) as i64).min(left);
        left -= mass;
        into.push(mass);
    }
}

/// The masses of the measure 'exponential' at all nodes, in the order of [`Graph::targets`]: 8 bytes an arc.
pub(super) fn exponential_masses(roads: Roads<'_>, power: f64) -> Vec<i64> {
    let n = roads.graph.n_nodes() as u32;
    let of_node = |v| {
        let mut masses = Vec::with_capacity(roads.graph.degree(v));
        exponential(roads, v, power, &mut masses);
        masses
    };
    (0..n).into_par_iter().flat_map_iter(of_node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn measure(graph: &Graph, v: u32, options: OllivierOptions) -> Vec<(u32, f64)> {
        let mut masses = Masses::default();
        Measures::new(graph.n_nodes(), &options, None, None).at(graph, v, &mut masses, &Unmonitored).unwrap();
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
        let at = |measure, alpha, steps| {
            self::measure(&path, 1, OllivierOptions { measure, alpha, steps, ..Default::default() })
        };
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
    fn symmetric_nodes_carry_the_same_masses_to_the_last_part() {
        let cycle = Graph::from_edges(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 0)]);
        let mut masses = Masses::default();
        let options =
            OllivierOptions { measure: Measure::RandomWalk, steps: 6, alpha: 0.1234567, ..Default::default() };
        Measures::new(7, &options, None, None).at(&cycle, 3, &mut masses, &Unmonitored).unwrap();
        let at = |v: u32| masses.masses[masses.nodes.iter().position(|u| *u == v).unwrap()];
        assert_eq!([at(2), at(1), at(0)], [at(4), at(5), at(6)]);
    }
}
