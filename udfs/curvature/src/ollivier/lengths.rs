//! Any pairs with any measure where edges have lengths: costs are those of shortest paths.
//!
//! All pairs of one owner are done together. One search from the owner reaches every node that carries mass of its measure or of
//! a partner's; one back from all of them shows by how much each node on the way can shorten a way that leads by the owner; and one from each
//! node of the smaller side, which goes no farther than that shortens some, finds the pairs that are closer than by the owner: they are
//! listed, and all others cost the way by it (`profits`). Where neighbourhoods reach most of the graph, all distances are found first, and
//! where most pairs are closer than by the owner, the transport is solved over all of them (`costs`).

use std::sync::{Mutex, PoisonError};

use bonnet_graph::isa::Isa;
use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::costs::{Costs, LANES, Table};
use super::given::NodeMeasures;
use super::masses::{Masses, common_total};
use super::measure::{Measures, exponential_masses};
use super::options::Measure;
use super::profits::{Pair, Profits};
use super::schedule::{Job, TaskSize, by_owner};
use super::{Answer, OllivierOptions};
use crate::search::{Roads, Search, distances as search_from};

const NONE: u32 = u32::MAX;
/// The most pairs of nodes of one owner and its partners whose costs are held at once, unless one partner has more.
const HELD: usize = 1 << 22;
/// In operations of about a nanosecond.
const TASK: TaskSize = TaskSize { usual: 1 << 15, largest: 1 << 23 };
/// Of how many pairs one is closer than by the owner, at least, where the transport is solved over all of them.
const DENSE: usize = 4;
/// By what part a way has to be shorter than that by the owner so as not to be so by rounding alone.
const SHORTER: f64 = 1.0 / (1u64 << 50) as f64;

/// The answers for `pairs`; NaN for a node with itself and for two that no path joins.
///
/// `duals` are those at the ends of transports between the same pairs over other lengths: they make the start of these better, and are
/// replaced.
pub(super) fn values(
    roads: Roads<'_>,
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    given: Option<&NodeMeasures>,
    answer: Answer,
    duals: Option<&Duals>,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, Stopped> {
    let degree = |v| roads.graph.degree(v) as u64;
    let matrix = Matrix::where_cheaper(roads, pairs.len(), monitor)?;
    let mut space = Space { roads, matrix: matrix.as_ref(), options, given, masses: None, answer, duals, monitor };
    let masses;
    let _reservation;
    if options.measure == Measure::Exponential && given.is_none() && pairs.len() >= roads.graph.n_nodes() / 2 {
        _reservation = Reservation::new(monitor, 8 * roads.lengths.len())?;
        masses = exponential_masses(roads, options.power);
        space.masses = Some(&masses);
    }
    by_owner(
        pairs,
        |u, v| if (degree(u), v) < (degree(v), u) { (v, u) } else { (u, v) },
        |owner| u64::MAX - degree(owner),
        |owner, partner| 16 + degree(owner) + degree(partner) * (1 + degree(owner) / 8),
        TASK,
        monitor,
        || Lengths::new(space),
        |lengths, job| lengths.compute(job),
    )
}

/// The duals of the transports between some pairs, in their order.
#[derive(Debug, Default)]
pub(crate) struct Duals(Vec<Mutex<Vec<f64>>>);

impl Duals {
    /// None yet, for so many pairs.
    pub(crate) fn new(pairs: usize) -> Self {
        Self((0..pairs).map(|_| Mutex::default()).collect())
    }

    /// The bytes of the duals of edges.
    pub(crate) fn bytes(graph: &bonnet_graph::Graph) -> usize {
        let wide = |(u, v)| graph.degree(u).max(graph.degree(v)) + 1 + LANES;
        graph.edges().map(|edge| 48 + 8 * wide(edge)).sum()
    }
}

/// What the values of pairs depend on.
#[derive(Clone, Copy)]
struct Space<'a> {
    roads: Roads<'a>,
    matrix: Option<&'a Matrix<'a>>,
    options: &'a OllivierOptions,
    given: Option<&'a NodeMeasures>,
    masses: Option<&'a [i64]>,
    answer: Answer,
    duals: Option<&'a Duals>,
    monitor: &'a dyn Monitor,
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
            search_from(roads, source as u32, row, monitor).map(drop)
        })?;
        Ok(Some(Self { n, distances, _reservation: reservation }))
    }

    fn row(&self, v: u32) -> &[f64] {
        &self.distances[v as usize * self.n..][..self.n]
    }
}

/// A thread's working memory.
struct Lengths<'a> {
    space: Space<'a>,
    reservation: Reservation<'a>,
    measures: Measures<'a>,
    hub: Search,
    ahead: Search,
    beside: Search,
    own: Masses,
    /// Its masses in the parts of one transport.
    scaled: Masses,
    partners: Vec<Masses>,
    /// Nodes that the owner's search has to reach.
    wanted: Vec<bool>,
    /// The nodes with mass of the owner's measure, and of the partners'; where each stands, and how far from the owner it is.
    columns: Vec<u32>,
    column_of: Vec<u32>,
    column_ways: Vec<f64>,
    rows: Vec<u32>,
    row_of: Vec<u32>,
    row_ways: Vec<f64>,
    /// All costs, row by row, `width` columns each, or none of them where those of pairs that are closer than by the owner are listed.
    table: Vec<f64>,
    width: usize,
    /// Row, column and cost of the pairs that are closer than by the owner, as they are found.
    found: Vec<(u32, u32, f64)>,
    /// Column and cost of these pairs by row, and where each row begins and ends.
    listed: Vec<(u32, f64)>,
    starts: Vec<usize>,
    // One transport: what is demanded by column, what is left by row, the rows with some, and pairs of both.
    demand: Vec<i64>,
    supply: Vec<i64>,
    kept_rows: Vec<u32>,
    pairs: Vec<Pair>,
    costs: Costs,
    profits: Profits,
}

impl<'a> Lengths<'a> {
    fn new(space: Space<'a>) -> Result<Self, Stopped> {
        let n = space.roads.graph.n_nodes();
        let measures = Measures::new(n, space.options, Some(space.roads), space.given).with_masses(space.masses);
        Ok(Self {
            space,
            reservation: Reservation::new(space.monitor, 64 * n)?,
            measures,
            hub: Search::new(n),
            ahead: Search::new(n),
            beside: Search::new(n),
            own: Masses::default(),
            scaled: Masses::default(),
            partners: Vec::new(),
            wanted: vec![false; n],
            columns: Vec::new(),
            column_of: vec![NONE; n],
            column_ways: Vec::new(),
            rows: Vec::new(),
            row_of: vec![NONE; n],
            row_ways: Vec::new(),
            table: Vec::new(),
            width: 0,
            found: Vec::new(),
            listed: Vec::new(),
            starts: Vec::new(),
            demand: Vec::new(),
            supply: Vec::new(),
            kept_rows: Vec::new(),
            pairs: Vec::new(),
            costs: Costs::new(Isa::detect()),
            profits: Profits::default(),
        })
    }

    fn compute(&mut self, job: Job<'_>) -> Result<(), Stopped> {
        let (graph, monitor) = (self.space.roads.graph, self.space.monitor);
        self.measures.at(graph, job.owner, &mut self.own, monitor)?;
        list(&self.own, &mut self.columns, &mut self.column_of);
        // As many partners at a time as their costs have room.
        let mut start = 0;
        while start < job.partners.len() {
            let mut end = start;
            while end < job.partners.len() {
                if self.partners.len() <= end - start {
                    self.partners.push(Masses::default());
                }
                let masses = &mut self.partners[end - start];
                self.measures.at(graph, job.partners[end], masses, monitor)?;
                let before = self.rows.len();
                list(masses, &mut self.rows, &mut self.row_of);
                if end > start && self.rows.len() * self.columns.len() > HELD {
                    self.rows.drain(before..).for_each(|v| self.row_of[v as usize] = NONE);
                    break;
                }
                end += 1;
            }
            let own = start..end;
            self.some(job.owner, &job.partners[own.clone()], &job.places[own.clone()], &mut job.values[own])?;
            self.rows.drain(..).for_each(|v| self.row_of[v as usize] = NONE);
            start = end;
        }
        self.columns.drain(..).for_each(|v| self.column_of[v as usize] = NONE);
        Ok(())
    }

    fn some(&mut self, owner: u32, partners: &[u32], places: &[u32], values: &mut [f64]) -> Result<(), Stopped> {
        self.measure_costs(owner, partners)?;
        for (i, (value, &place)) in values.iter_mut().zip(places).enumerate() {
            let distance = match self.space.matrix {
                Some(matrix) => matrix.row(owner)[partners[i] as usize],
                None => self.hub.distance(partners[i]),
            };
            if distance > 0.0 && distance.is_finite() {
                *value = self.transport(i, place, distance)?;
            }
        }
        Ok(())
    }

    /// Finds the costs, as a table or as lists.
    fn measure_costs(&mut self, owner: u32, partners: &[u32]) -> Result<(), Stopped> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        self.width = columns.next_multiple_of(LANES);
        self.table.clear();
        self.found.clear();
        match self.space.matrix {
            Some(matrix) => {
                self.reserve(8 * rows * self.width)?;
                self.costs_by_matrix(matrix, owner);
            }
            None => self.costs_by_searches(owner, partners)?,
        }
        // The pairs in the order of rows, those of a row as they were found.
        self.starts.clear();
        self.starts.resize(rows + 2, 0);
        self.found.iter().for_each(|pair| self.starts[pair.0 as usize + 2] += 1);
        for row in 2..rows + 2 {
            self.starts[row] += self.starts[row - 1];
        }
        self.listed.clear();
        self.listed.resize(self.found.len(), (0, 0.0));
        for &(row, column, cost) in &self.found {
            let next = &mut self.starts[row as usize + 1];
            self.listed[*next] = (column, cost);
            *next += 1;
        }
        Ok(())
    }

    /// Sees to it that so many bytes are held for one owner, beside what all owners need.
    fn reserve(&mut self, bytes: usize) -> Result<(), Stopped> {
        let partners: usize = self.partners.iter().map(|masses| 16 * masses.nodes.len()).sum();
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let transports = Costs::bytes(rows.min(1 << 16), columns) + Profits::bytes(columns, rows.min(1 << 16), 0);
        let bytes = 64 * self.space.roads.graph.n_nodes() + partners + transports + bytes;
        match bytes.checked_sub(self.reservation.bytes()) {
            Some(missing) => self.reservation.grow(missing),
            None => Ok(()),
        }
    }

    /// All costs as a table; as lists where few are below the way by the owner.
    fn costs_by_matrix(&mut self, matrix: &Matrix<'_>, owner: u32) {
        let by_owner = matrix.row(owner);
        let ways = |nodes: &[u32], into: &mut Vec<f64>| {
            into.clear();
            into.extend(nodes.iter().map(|&v| by_owner[v as usize]));
        };
        ways(&self.columns, &mut self.column_ways);
        ways(&self.rows, &mut self.row_ways);
        let mut closer = 0;
        for (&row, to_row) in self.rows.iter().zip(&self.row_ways) {
            let distances = matrix.row(row);
            let start = self.table.len();
            self.table.extend(self.columns.iter().map(|&column| distances[column as usize]));
            let costs = self.table[start..].iter().zip(&self.column_ways);
            closer += costs.filter(|(cost, way)| is_closer(**cost, *way + to_row)).count();
            self.table.resize(start + self.width, 0.0);
        }
        if closer * DENSE >= self.rows.len() * self.columns.len() {
            return;
        }
        for (row, (costs, to_row)) in (0..).zip(self.table.chunks_exact(self.width).zip(&self.row_ways)) {
            for (column, (&cost, way)) in (0..).zip(costs.iter().zip(&self.column_ways)) {
                if is_closer(cost, way + to_row) {
                    self.found.push((row, column, cost));
                }
            }
        }
        self.table.clear();
    }

    /// The costs below the way by the owner as lists.
    fn costs_by_searches(&mut self, owner: u32, partners: &[u32]) -> Result<(), Stopped> {
        let Space { roads, monitor, .. } = self.space;
        let mut wanted = 0;
        let all = || partners.iter().chain(&self.columns).chain(&self.rows);
        for &v in all() {
            wanted += usize::from(!std::mem::replace(&mut self.wanted[v as usize], true));
        }
        let is_wanted = &self.wanted;
        let found = self.hub.until(roads, owner, wanted, |v| is_wanted[v as usize], monitor);
        all().for_each(|&v| self.wanted[v as usize] = false);
        found?;
        let ways = |nodes: &[u32], into: &mut Vec<f64>| {
            into.clear();
            into.extend(nodes.iter().map(|&v| self.hub.distance(v)));
        };
        ways(&self.columns, &mut self.column_ways);
        ways(&self.rows, &mut self.row_ways);

        let by_column = self.columns.len() <= self.rows.len();
        let (sources, targets, target_of) = match by_column {
            true => (&self.columns, &self.rows, &self.row_of),
            false => (&self.rows, &self.columns, &self.column_of),
        };
        let hub = &self.hub;
        let reached = |v: &u32| hub.distance(*v).is_finite();
        let farthest =
            |nodes: &[u32]| nodes.iter().copied().filter(reached).map(|v| hub.distance(v)).fold(0.0, f64::max);
        let radius = farthest(targets);
        let targets = targets.iter().copied().filter(reached);
        self.ahead.toward(roads, targets, hub, radius, farthest(sources), monitor)?;
        for (source, &node) in (0..).zip(sources) {
            let to_owner = hub.distance(node);
            if node == owner || to_owner.is_infinite() {
                continue;
            }
            self.beside.beside(roads, node, to_owner, &self.ahead, radius, monitor)?;
            for &v in self.beside.reached() {
                let (target, cost) = (target_of[v as usize], self.beside.distance(v));
                if target != NONE && is_closer(cost, to_owner + hub.distance(v)) {
                    let (row, column) = if by_column { (target, source) } else { (source, target) };
                    self.found.push((row, column, cost));
                }
            }
        }
        self.reserve(size_of::<(u32, u32, f64)>() * self.found.len() + 16 * self.found.len())
    }

    /// The answer for the owner and its `i`-th partner.
    fn transport(&mut self, i: usize, place: u32, distance: f64) -> Result<f64, Stopped> {
        self.scaled.copy(&self.own);
        let theirs = &mut self.partners[i];
        let total = common_total(&mut self.scaled, theirs);
        // The owner's masses by column. What both measures have stays where it is: W is a metric.
        let own = &self.scaled;
        self.demand.clear();
        self.demand.resize(self.width, 0);
        for (&node, &mass) in own.nodes.iter().zip(&own.masses).filter(|(_, mass)| **mass > 0) {
            self.demand[self.column_of[node as usize] as usize] = mass;
        }
        self.supply.clear();
        self.kept_rows.clear();
        for (&node, &mass) in theirs.nodes.iter().zip(&theirs.masses).filter(|(_, mass)| **mass > 0) {
            let mut supply = mass;
            if let Some(demand) = self.demand.get_mut(self.column_of[node as usize] as usize) {
                let stays = supply.min(*demand);
                supply -= stays;
                *demand -= stays;
            }
            if supply > 0 {
                self.supply.push(supply);
                self.kept_rows.push(self.row_of[node as usize]);
            }
        }
        let cost = match self.table.is_empty() || self.kept_rows.len() * DENSE < self.columns.len() {
            true => self.by_profits()?,
            false => self.by_costs(place)?,
        };
        Ok(self.space.answer.of_lengths(cost, distance, total))
    }

    fn by_costs(&mut self, place: u32) -> Result<f64, Stopped> {
        std::mem::swap(&mut self.costs.supply, &mut self.supply);
        std::mem::swap(&mut self.costs.demand, &mut self.demand);
        let table = Table { costs: &self.table, width: self.width, rows: &self.kept_rows };
        match self.space.duals.and_then(|duals| duals.0.get(place as usize)) {
            Some(duals) => {
                let mut duals = duals.lock().unwrap_or_else(PoisonError::into_inner);
                self.costs.least(table, Some(&mut *duals), self.space.monitor)
            }
            None => self.costs.least(table, None, self.space.monitor),
        }
    }

    fn by_profits(&mut self) -> Result<f64, Stopped> {
        self.pairs.clear();
        let (demand, ways, pairs) = (&self.demand, &self.column_ways, &mut self.pairs);
        let mut list = |column: u32, place: u32, cost: f64, to_row: f64| {
            let way = ways[column as usize] + to_row;
            if demand[column as usize] > 0 && is_closer(cost, way) {
                pairs.push(Pair { row: column, column: place, profit: way - cost, cost });
            }
        };
        for (place, &row) in (0..).zip(&self.kept_rows) {
            let to_row = self.row_ways[row as usize];
            let row = row as usize;
            match self.table.is_empty() {
                true => {
                    let own = &self.listed[self.starts[row]..self.starts[row + 1]];
                    own.iter().for_each(|&(column, cost)| list(column, place, cost, to_row));
                }
                false => {
                    let own = &self.table[row * self.width..][..self.columns.len()];
                    (0..).zip(own).for_each(|(column, &cost)| list(column, place, cost, to_row));
                }
            }
        }
        // The owner's masses are the finer ones, mostly: they are what is sent.
        self.demand.truncate(self.columns.len());
        std::mem::swap(&mut self.profits.supply, &mut self.demand);
        std::mem::swap(&mut self.profits.demand, &mut self.supply);
        let closer = self.profits.solve(&self.pairs, self.space.monitor)?;
        let left = |masses: &[i64], ways: &mut dyn Iterator<Item = f64>| {
            masses.iter().zip(ways).filter(|(mass, _)| **mass > 0).map(|(mass, way)| *mass as f64 * way).sum::<f64>()
        };
        let own = left(&self.profits.supply, &mut self.column_ways.iter().copied());
        let rows = self.kept_rows.iter().map(|&row| self.row_ways[row as usize]);
        let theirs = left(&self.profits.demand, &mut rows.into_iter());
        Ok(closer + own + theirs)
    }
}

fn is_closer(cost: f64, way: f64) -> bool {
    cost < way * (1.0 - SHORTER)
}

/// Adds the nodes that carry mass, each once, and where they stand.
fn list(masses: &Masses, nodes: &mut Vec<u32>, place_of: &mut [u32]) {
    for (&node, &mass) in masses.nodes.iter().zip(&masses.masses) {
        let place = &mut place_of[node as usize];
        if mass > 0 && *place == NONE {
            *place = nodes.len() as u32;
            nodes.push(node);
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
        let space = Space {
            roads,
            matrix: None,
            options,
            given: None,
            masses: None,
            answer: Answer::Curvature,
            duals: None,
            monitor: &Unmonitored,
        };
        by_owner(
            pairs,
            |u, v| (u.min(v), u.max(v)),
            |_| 0,
            |_, _| 1,
            TASK,
            &Unmonitored,
            || Lengths::new(space),
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
            let all = values(roads, &pairs, options, None, Answer::Curvature, None, &Unmonitored).unwrap();
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
            let all = values(roads, &pairs, &options, None, Answer::Curvature, None, &Unmonitored).unwrap();
            for (a, b) in all.iter().zip(by_searches(roads, &pairs, &options)) {
                prop_assert!(a.is_nan() && b.is_nan() || (a - b).abs() < 1e-11, "{} {}", a, b);
            }
        }
    }
}
