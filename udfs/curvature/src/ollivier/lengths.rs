//! Any pairs with any measure where edges have lengths: costs are those of shortest paths.
//!
//! All pairs of one owner are done together. One search from the owner reaches every node that carries mass of its measure or of
//! a partner's; then one from each node of the smaller side finds where the way is shorter than by the owner. Most are settled
//! close by: see [`Search::beside`]. Where they reach most of the graph, all distances are found first.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::costs::Costs;
use super::given::NodeMeasures;
use super::masses::{Masses, common_total};
use super::measure::Measures;
use super::schedule::{Job, by_owner};
use super::search::{Roads, Search};
use super::{Answer, OllivierOptions};

const NONE: u32 = u32::MAX;
/// The most costs of one owner that are held at once, unless one pair has more.
const HELD: usize = 1 << 21;
/// The cost of a task, in pairs of a node of the owner's measure and one of the partner's.
const TASK: u64 = 1 << 14;

/// The answers for `pairs`; NaN for a node with itself and for two that no path joins.
pub(super) fn values(
    roads: Roads<'_>,
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    given: Option<&NodeMeasures>,
    answer: Answer,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, Stopped> {
    let degree = |v| roads.graph.degree(v) as u64;
    let matrix = Matrix::where_cheaper(roads, pairs.len(), monitor)?;
    let matrix = matrix.as_ref();
    by_owner(
        pairs,
        |u, v| if (degree(u), v) < (degree(v), u) { (v, u) } else { (u, v) },
        |owner| u64::MAX - degree(owner),
        |owner, partner| 16 + degree(owner) * (1 + degree(partner)),
        TASK,
        monitor,
        || Lengths::new(roads, matrix, options, given, answer, monitor),
        |lengths, job| lengths.compute(job),
    )
}

/// The distances of all pairs of nodes, row by row.
struct Matrix<'a> {
    n: usize,
    distances: Vec<f64>,
    _reservation: Reservation<'a>,
}

/// The most bytes of a matrix of distances.
const LARGEST_MATRIX: usize = 1 << 30;
/// Neighbourhoods that are looked at to see how far they reach.
const SAMPLE: usize = 64;
/// How many times the arcs within two hops a search looks at, where lengths differ.
const BEYOND: usize = 4;

impl<'a> Matrix<'a> {
    /// Where one search from each node costs less than those around every owner, as far as a sample shows, and there is room.
    fn where_cheaper(roads: Roads<'_>, pairs: usize, monitor: &'a dyn Monitor) -> Result<Option<Self>, Stopped> {
        let graph = roads.graph;
        let n = graph.n_nodes();
        let bytes = 8usize.saturating_mul(n).saturating_mul(n);
        if n == 0 || pairs < n / 2 || bytes > LARGEST_MATRIX {
            return Ok(None);
        }
        let targets = graph.targets();
        let mut seen = vec![u32::MAX; n];
        let (mut arcs, mut sampled) = (0, 0);
        for &start in targets.iter().step_by(targets.len().div_ceil(SAMPLE).max(1)) {
            for &v in graph.neighbors(start) {
                for &u in graph.neighbors(v) {
                    if std::mem::replace(&mut seen[u as usize], sampled) != sampled {
                        arcs += graph.degree(u);
                    }
                }
            }
            sampled += 1;
        }
        if arcs * BEYOND <= n * sampled as usize {
            return Ok(None);
        }
        // Without the memory the searches around owners do.
        let Ok(reservation) = Reservation::new(monitor, bytes) else { return Ok(None) };
        let mut distances = vec![0.0; n * n];
        distances.par_chunks_mut(n).enumerate().try_for_each(|(source, row)| {
            monitor.check()?;
            crate::arc_lengths::distances(graph, roads.lengths, source as u32, row, monitor).map(drop)
        })?;
        Ok(Some(Self { n, distances, _reservation: reservation }))
    }

    fn distance(&self, u: u32, v: u32) -> f64 {
        self.distances[u as usize * self.n + v as usize]
    }
}

/// A thread's working memory.
struct Lengths<'a> {
    roads: Roads<'a>,
    matrix: Option<&'a Matrix<'a>>,
    monitor: &'a dyn Monitor,
    reservation: Reservation<'a>,
    answer: Answer,
    measures: Measures<'a>,
    hub: Search,
    beside: Search,
    own: Masses,
    partners: Vec<Masses>,
    /// Nodes that the owner's search has to reach.
    wanted: Vec<bool>,
    /// The nodes with mass of the owner's measure, and of the partners'; where each stands.
    columns: Vec<u32>,
    column_of: Vec<u32>,
    rows: Vec<u32>,
    row_of: Vec<u32>,
    /// Row by row, the distances of rows and columns.
    table: Vec<f64>,
    costs: Costs,
    /// The rows and columns of one transport.
    kept_rows: Vec<u32>,
    kept_columns: Vec<u32>,
}

impl<'a> Lengths<'a> {
    fn new(
        roads: Roads<'a>,
        matrix: Option<&'a Matrix<'a>>,
        options: &OllivierOptions,
        given: Option<&'a NodeMeasures>,
        answer: Answer,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, Stopped> {
        let n = roads.graph.n_nodes();
        Ok(Self {
            roads,
            matrix,
            monitor,
            reservation: Reservation::new(monitor, 48 * n)?,
            answer,
            measures: Measures::new(n, options, Some(roads), given),
            hub: Search::new(n),
            beside: Search::new(n),
            own: Masses::default(),
            partners: Vec::new(),
            wanted: vec![false; n],
            columns: Vec::new(),
            column_of: vec![NONE; n],
            rows: Vec::new(),
            row_of: vec![NONE; n],
            table: Vec::new(),
            costs: Costs::default(),
            kept_rows: Vec::new(),
            kept_columns: Vec::new(),
        })
    }

    fn compute(&mut self, job: Job<'_>) -> Result<(), Stopped> {
        let (graph, monitor) = (self.roads.graph, self.monitor);
        self.measures.at(graph, job.owner, &mut self.own, monitor)?;
        // As many partners at a time as their costs have room.
        let mut start = 0;
        while start < job.partners.len() {
            let (mut end, mut carried) = (start, 0);
            while end < job.partners.len() {
                if self.partners.len() <= end - start {
                    self.partners.push(Masses::default());
                }
                let masses = &mut self.partners[end - start];
                self.measures.at(graph, job.partners[end], masses, monitor)?;
                carried += masses.nodes.len();
                if end > start && carried * self.own.nodes.len() > HELD {
                    break;
                }
                end += 1;
            }
            self.some(job.owner, &job.partners[start..end], &mut job.values[start..end])?;
            start = end;
        }
        Ok(())
    }

    fn some(&mut self, owner: u32, partners: &[u32], values: &mut [f64]) -> Result<(), Stopped> {
        let roads = self.roads;
        list(std::slice::from_ref(&self.own), &mut self.columns, &mut self.column_of);
        list(&self.partners[..partners.len()], &mut self.rows, &mut self.row_of);
        let found = self.measure_costs(roads, owner, partners);
        if found.is_ok() {
            for (i, (&partner, value)) in partners.iter().zip(values).enumerate() {
                let distance = match self.matrix {
                    Some(matrix) => matrix.distance(owner, partner),
                    None => self.hub.distance(partner),
                };
                if distance > 0.0 && distance.is_finite() {
                    *value = self.transport(i, distance)?;
                }
            }
        }
        self.columns.iter().for_each(|&v| self.column_of[v as usize] = NONE);
        self.rows.iter().for_each(|&v| self.row_of[v as usize] = NONE);
        found
    }

    /// Fills the table of distances.
    fn measure_costs(&mut self, roads: Roads<'_>, owner: u32, partners: &[u32]) -> Result<(), Stopped> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let bytes = 48 * roads.graph.n_nodes() + 8 * rows * columns + Costs::bytes(rows.min(1 << 16), columns);
        if let Some(missing) = bytes.checked_sub(self.reservation.bytes()) {
            self.reservation.grow(missing)?;
        }
        self.table.clear();
        if let Some(matrix) = self.matrix {
            for &row in &self.rows {
                self.table.extend(self.columns.iter().map(|&column| matrix.distance(row, column)));
            }
            return Ok(());
        }
        self.table.resize(rows * columns, 0.0);
        let mut wanted = 0;
        for &v in partners.iter().chain(&self.columns).chain(&self.rows) {
            wanted += usize::from(!std::mem::replace(&mut self.wanted[v as usize], true));
        }
        let is_wanted = &self.wanted;
        let found = self.hub.until(roads, owner, wanted, |v| is_wanted[v as usize], self.monitor);
        for &v in partners.iter().chain(&self.columns).chain(&self.rows) {
            self.wanted[v as usize] = false;
        }
        found?;

        let by_column = columns <= rows;
        let (sources, targets) = if by_column { (&self.columns, &self.rows) } else { (&self.rows, &self.columns) };
        let reached = targets.iter().map(|&v| self.hub.distance(v)).filter(|distance| distance.is_finite());
        let radius = reached.fold(0.0, f64::max);
        for (i, &source) in sources.iter().enumerate() {
            let to_owner = self.hub.distance(source);
            let by_owner = source == owner || !to_owner.is_finite();
            if !by_owner {
                self.beside.beside(roads, source, &self.hub, radius, self.monitor)?;
            }
            for (j, &target) in targets.iter().enumerate() {
                let detour = to_owner + self.hub.distance(target);
                let distance = if by_owner { detour } else { detour.min(self.beside.distance(target)) };
                let at = if by_column { j * columns + i } else { i * columns + j };
                self.table[at] = distance;
            }
        }
        Ok(())
    }

    /// The answer for the owner and its `i`-th partner.
    fn transport(&mut self, i: usize, distance: f64) -> Result<f64, Stopped> {
        let mut own = self.own.clone();
        let theirs = &mut self.partners[i];
        let total = common_total(&mut own, theirs);
        // The owner's masses by column. What both measures have stays where it is: W is a metric.
        let mut demand = vec![0; self.columns.len()];
        for (&node, &mass) in own.nodes.iter().zip(&own.masses).filter(|(_, mass)| **mass > 0) {
            if let Some(demand) = demand.get_mut(self.column_of[node as usize] as usize) {
                *demand = mass;
            }
        }
        let costs = &mut self.costs;
        costs.supply.clear();
        self.kept_rows.clear();
        for (&node, &mass) in theirs.nodes.iter().zip(&theirs.masses).filter(|(_, mass)| **mass > 0) {
            let mut supply = mass;
            if let Some(demand) = demand.get_mut(self.column_of[node as usize] as usize) {
                let stays = supply.min(*demand);
                supply -= stays;
                *demand -= stays;
            }
            if supply > 0 {
                costs.supply.push(supply);
                self.kept_rows.push(self.row_of[node as usize]);
            }
        }
        costs.demand.clear();
        self.kept_columns.clear();
        for (column, &demand) in demand.iter().enumerate().filter(|(_, demand)| **demand > 0) {
            costs.demand.push(demand);
            self.kept_columns.push(column as u32);
        }
        costs.cost.clear();
        for &row in &self.kept_rows {
            let distances = &self.table[row as usize * self.columns.len()..][..self.columns.len()];
            costs.cost.extend(self.kept_columns.iter().map(|&column| distances[column as usize]));
        }
        let cost = costs.least(self.monitor)?;
        Ok(self.answer.of_lengths(cost, distance, total))
    }
}

/// The nodes that carry mass, each once, and where they stand.
fn list(measures: &[Masses], nodes: &mut Vec<u32>, place_of: &mut [u32]) {
    nodes.clear();
    for masses in measures {
        for (&node, &mass) in masses.nodes.iter().zip(&masses.masses) {
            let place = &mut place_of[node as usize];
            if mass > 0 && *place == NONE {
                *place = nodes.len() as u32;
                nodes.push(node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arc_lengths::of_arcs;
    use bonnet_graph::{Graph, Unmonitored};
    use proptest::prelude::*;

    /// The answers with searches around every owner, whatever a matrix would cost.
    fn by_searches(roads: Roads<'_>, pairs: &[(u32, u32)], options: &OllivierOptions) -> Vec<f64> {
        by_owner(
            pairs,
            |u, v| (u.min(v), u.max(v)),
            |_| 0,
            |_, _| 1,
            TASK,
            &Unmonitored,
            || Lengths::new(roads, None, options, None, Answer::Curvature, &Unmonitored),
            |lengths, job| lengths.compute(job),
        )
        .unwrap()
    }

    fn assert_same(graph: &Graph, lengths: &[f64], options: &OllivierOptions, matrix: bool) {
        let lengths = of_arcs(graph, lengths.iter().copied());
        let roads = Roads { graph, lengths: &lengths };
        let n = graph.n_nodes() as u32;
        let edges: Vec<(u32, u32)> = graph.edges().collect();
        let some: Vec<(u32, u32)> = (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).step_by(7).collect();
        for pairs in [edges, some] {
            let found = Matrix::where_cheaper(roads, pairs.len(), &Unmonitored).unwrap();
            assert_eq!(found.is_some(), matrix && pairs.len() >= graph.n_nodes() / 2);
            let all = values(roads, &pairs, options, None, Answer::Curvature, &Unmonitored).unwrap();
            for (a, b) in all.iter().zip(by_searches(roads, &pairs, options)) {
                assert!(a.is_nan() && b.is_nan() || (a - b).abs() < 1e-12, "{a} {b}");
            }
        }
    }

    #[test]
    fn a_long_cycle_is_searched_and_a_dense_graph_has_a_matrix() {
        let n = 200u32;
        let cycle = Graph::from_edges(200, &(0..n).map(|v| (v, (v + 1) % n)).collect::<Vec<_>>());
        let dense = Graph::from_edges(
            60,
            &(0..60u32).flat_map(|v| (1..9).map(move |i| (v, (v + i * i) % 60))).collect::<Vec<_>>(),
        );
        for (graph, matrix) in [(cycle, false), (dense, true)] {
            let lengths: Vec<f64> = graph.edges().map(|(u, v)| 0.1 + f64::from((u * 31 + v * 17) % 97)).collect();
            assert_same(&graph, &lengths, &OllivierOptions { alpha: 0.5, ..OllivierOptions::default() }, matrix);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn searches_around_owners_find_what_a_matrix_has(
            edges in proptest::collection::vec((0u32..16, 0u32..16), 8..40), seed in 0u32..1000, measure in 0..4usize,
        ) {
            let graph = Graph::from_edges(16, &edges);
            let lengths: Vec<f64> =
                graph.edges().map(|(u, v)| 0.01 + f64::from((u * 31 + v * 17 + seed).wrapping_mul(2_654_435_761) >> 20)).collect();
            let options = OllivierOptions { measure: super::super::Measure::ALL[measure], ..OllivierOptions::default() };
            let lengths = of_arcs(&graph, lengths);
            let roads = Roads { graph: &graph, lengths: &lengths };
            let pairs: Vec<(u32, u32)> = (0..16).flat_map(|u| (0..16).map(move |v| (u, v))).collect();
            let all = values(roads, &pairs, &options, None, Answer::Curvature, &Unmonitored).unwrap();
            for (a, b) in all.iter().zip(by_searches(roads, &pairs, &options)) {
                prop_assert!(a.is_nan() && b.is_nan() || (a - b).abs() < 1e-11, "{} {}", a, b);
            }
        }
    }
}
