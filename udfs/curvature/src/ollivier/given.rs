//! Measures that are given node by node.

use bonnet_graph::{Graph, Monitor, Reservation, connected_components};

use super::masses::{FINE, Fraction, LARGEST, Masses, lcm};
use super::options::{GivenError, OllivierError};

/// How far from 1 masses may sum: they are made to sum to it.
const SUM_TOLERANCE: f64 = 1e-9;
/// The largest denominator of exact masses.
const LARGEST_TOTAL: i64 = 1 << 40;

/// A probability measure for each node of a graph, as whole masses.
#[derive(Debug, Clone)]
pub struct NodeMeasures {
    /// Where the masses of each node begin.
    starts: Vec<usize>,
    nodes: Vec<u32>,
    masses: Vec<i64>,
    totals: Vec<i64>,
}

impl NodeMeasures {
    /// The measures of rows (node, other node, mass); rows of the same two add up. A node without an edge may have none.
    ///
    /// Masses that are simple fractions are exact, others within 2^-60. O(n + m + r log r) for r rows, 40 bytes a row.
    ///
    /// # Errors
    /// [`OllivierError::Node`] with the number of the row; [`OllivierError::Given`] for the first node whose masses are none;
    /// [`OllivierError::Stopped`].
    pub fn new(graph: &Graph, rows: &[(u32, u32, f64)], monitor: &dyn Monitor) -> Result<Self, OllivierError> {
        let n = graph.n_nodes();
        let _reservation = Reservation::new(monitor, 40 * rows.len() + 24 * n)?;
        if let Some(row) = rows.iter().position(|&(v, u, _)| v.max(u) as usize >= n) {
            return Err(OllivierError::Node(row, rows[row].0.max(rows[row].1)));
        }
        monitor.check()?;
        let component = connected_components(graph).of_node;
        let mut sorted = rows.to_vec();
        sorted.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        let mut all = Self { starts: vec![0], nodes: Vec::new(), masses: Vec::new(), totals: Vec::new() };
        let mut at = 0;
        for v in 0..n as u32 {
            if v % 4096 == 0 {
                monitor.check()?;
            }
            let end = at + sorted[at..].partition_point(|row| row.0 == v);
            let own = &sorted[at..end];
            at = end;
            let wrong = |what| Err(OllivierError::Given(v, what));
            if own.is_empty() {
                if graph.degree(v) > 0 {
                    return wrong(GivenError::Missing);
                }
                all.end(1);
                continue;
            }
            if let Some(&(_, u, mass)) = own.iter().find(|row| !(row.2.is_finite() && row.2 >= 0.0)) {
                return wrong(GivenError::Mass(u, mass));
            }
            let sum: f64 = own.iter().map(|row| row.2).sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return wrong(GivenError::Sum(sum));
            }
            let far = |row: &&(u32, u32, f64)| row.2 > 0.0 && component[row.1 as usize] != component[v as usize];
            if let Some(&(_, u, _)) = own.iter().find(far) {
                return wrong(GivenError::NoPath(u));
            }
            all.add(own, sum);
        }
        Ok(all)
    }

    fn end(&mut self, total: i64) {
        self.starts.push(self.nodes.len());
        self.totals.push(total);
    }

    fn add(&mut self, rows: &[(u32, u32, f64)], sum: f64) {
        let whole = Self::exactly(rows);
        let total = whole.as_ref().map_or(FINE, |whole| whole.1);
        for (i, &(_, u, mass)) in rows.iter().enumerate() {
            let mass = match &whole {
                Some((masses, _)) => masses[i],
                None => (mass / sum * FINE as f64) as i64,
            };
            match self.nodes.last() {
                Some(&last) if last == u && self.nodes.len() > self.starts[self.starts.len() - 1] => {
                    let last = self.masses.len() - 1;
                    self.masses[last] += mass;
                }
                _ if mass == 0 => {}
                _ => {
                    self.nodes.push(u);
                    self.masses.push(mass);
                }
            }
        }
        self.end(total);
    }

    /// Masses of simple fractions that sum to 1, as parts of the least common denominator.
    fn exactly(rows: &[(u32, u32, f64)]) -> Option<(Vec<i64>, i64)> {
        let fractions: Vec<Fraction> =
            rows.iter().map(|row| Fraction::exactly(row.2.min(1.0))).collect::<Option<_>>()?;
        let total = fractions.iter().try_fold(1, |total, part| lcm(total, part.denominator, LARGEST_TOTAL))?;
        let masses: Vec<i64> = fractions.iter().map(|part| total / part.denominator * part.numerator).collect();
        (masses.iter().sum::<i64>() == total).then_some((masses, total))
    }

    /// The measure at `v`, onto an empty one there. What rounding leaves goes to the node itself.
    pub(super) fn at(&self, v: u32, into: &mut Masses) {
        let range = self.starts[v as usize]..self.starts[v as usize + 1];
        let total = self.totals[v as usize];
        let mut left = total;
        for (&u, &mass) in self.nodes[range.clone()].iter().zip(&self.masses[range]) {
            let mass = mass.min(left);
            left -= mass;
            match u == v {
                true => into.masses[0] += mass,
                false => into.push(u, mass),
            }
        }
        into.masses[0] += left;
        into.total = total;
    }
}

const _: () = assert!(LARGEST_TOTAL < LARGEST && FINE < LARGEST);

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn path() -> Graph {
        Graph::from_edges(6, &[(0, 1), (1, 2), (3, 4)])
    }

    fn error(rows: &[(u32, u32, f64)]) -> String {
        NodeMeasures::new(&path(), rows, &Unmonitored).unwrap_err().to_string()
    }

    const GOOD: [(u32, u32, f64); 7] =
        [(1, 0, 0.25), (1, 2, 0.5), (0, 0, 1.0), (1, 2, 0.25), (2, 0, 1.0), (3, 3, 1.0), (4, 3, 1.0)];

    #[test]
    fn masses_of_rows_add_up_and_simple_fractions_are_exact() {
        let measures = NodeMeasures::new(&path(), &GOOD, &Unmonitored).unwrap();
        let mut masses = Masses::default();
        masses.clear(1);
        measures.at(1, &mut masses);
        assert_eq!((masses.nodes, masses.masses, masses.total), (vec![1, 0, 2], vec![0, 1, 3], 4));
        let mut rows = GOOD.to_vec();
        rows[0].2 = 0.25 - 1e-12;
        let measures = NodeMeasures::new(&path(), &rows, &Unmonitored).unwrap();
        let mut masses = Masses::default();
        masses.clear(1);
        measures.at(1, &mut masses);
        assert_eq!(masses.masses.iter().sum::<i64>(), masses.total);
        assert!((masses.masses[1] as f64 / masses.total as f64 - 0.25).abs() < 2e-12);
    }

    #[test]
    fn what_is_no_measure_is_named() {
        let with = |at: usize, row| {
            let mut rows = GOOD.to_vec();
            rows[at] = row;
            error(&rows)
        };
        assert_eq!(with(2, (0, 0, 0.5)), "the measure of node 0 has masses that sum to 0.5: they have to sum to 1");
        assert_eq!(with(5, (3, 1, 1.0)), "the measure of node 3 puts mass on node 1, to which no path leads");
        assert!(with(5, (4, 4, 0.0)).starts_with("the measure of node 3 is missing"));
        assert!(with(2, (0, 0, -1.0)).starts_with("the measure of node 0 puts the mass -1 on node 0"));
        assert!(with(2, (0, 0, f64::NAN)).contains("the mass NaN"));
        assert_eq!(with(2, (0, 6, 1.0)), "pair 2 names the node 6, which the graph lacks");
    }
}
