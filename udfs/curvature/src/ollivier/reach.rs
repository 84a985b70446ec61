//! Any pairs with any measure: costs from a search in sets, and one flow for each step between the smallest and the largest.
//!
//! All pairs of one owner are done together. The nodes that carry its measure are the columns. The set of columns within k
//! hops of a node is the union of those within k - 1 hops of its neighbours: one sweep over the nodes nearby for each k gives
//! the costs of all pairs of nodes at once. A partner's node at distance e from the owner is between e - reach and
//! e + reach hops from every column, so only the sets of those levels are kept.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use super::given::NodeMeasures;
use super::masses::{Masses, common_total};
use super::measure::Measures;
use super::schedule::{Job, TaskSize, by_owner};
use super::transport::Flow;
use super::{Answer, OllivierOptions, bits};

const NONE: u32 = u32::MAX;
/// The most partners whose measures are held at once.
const PARTNERS: usize = 32;

/// The answers for `pairs`; NaN for a node with itself and for two that no path joins.
pub(super) fn values(
    graph: &Graph,
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    given: Option<&NodeMeasures>,
    answer: Answer,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, Stopped> {
    by_owner(
        pairs,
        |u, v| (u.min(v), u.max(v)),
        |_| 0,
        |_, _| 1,
        TaskSize { usual: PARTNERS as u64, largest: 16 * PARTNERS as u64 },
        monitor,
        || Reach::new(graph, options, given, answer, monitor),
        |reach, job| reach.compute(job),
    )
}

/// A thread's working memory, and what it knows of one owner.
struct Reach<'a> {
    graph: &'a Graph,
    answer: Answer,
    monitor: &'a dyn Monitor,
    reservation: Reservation<'a>,
    measures: Measures<'a>,
    search: Search,
    /// The owner's measure, and the column of each node that carries it.
    own: Masses,
    column_of: Vec<u32>,
    partners: Vec<Masses>,
    /// The sets of columns within k - 1 and within k hops, by position in the search.
    before: Vec<u64>,
    now: Vec<u64>,
    /// The nodes that carry partners' measures: where their sets begin in `sets`.
    sets_of: Vec<usize>,
    sets: Vec<u64>,
    flow: Flow,
    rows: Vec<Row>,
    demand: Vec<i64>,
    /// The distance of the farthest column from the owner, and the words of a set of columns.
    reach: u32,
    words: usize,
}

/// A row of a transport: a node's distance to the owner, where its sets begin, and its dual.
struct Row {
    distance: u32,
    sets: usize,
    dual: u32,
}

impl<'a> Reach<'a> {
    fn new(
        graph: &'a Graph,
        options: &OllivierOptions,
        given: Option<&'a NodeMeasures>,
        answer: Answer,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, Stopped> {
        let n = graph.n_nodes();
        Ok(Self {
            graph,
            answer,
            monitor,
            reservation: Reservation::new(monitor, 16 * n)?,
            measures: Measures::new(n, options, None, given),
            search: Search { place_of: vec![NONE; n], ..Search::default() },
            own: Masses::default(),
            column_of: vec![NONE; n],
            partners: Vec::new(),
            before: Vec::new(),
            now: Vec::new(),
            sets_of: Vec::new(),
            sets: Vec::new(),
            flow: Flow::default(),
            rows: Vec::new(),
            demand: Vec::new(),
            reach: 0,
            words: 0,
        })
    }

    fn compute(&mut self, job: Job<'_>) -> Result<(), Stopped> {
        self.search.start(job.owner);
        for (partners, values) in job.partners.chunks(PARTNERS).zip(job.values.chunks_mut(PARTNERS)) {
            self.some(job.owner, partners, values)?;
        }
        self.search.clear();
        Ok(())
    }

    fn some(&mut self, owner: u32, partners: &[u32], values: &mut [f64]) -> Result<(), Stopped> {
        // Who can be reached at all.
        let (graph, monitor) = (self.graph, self.monitor);
        let mut distances = Vec::with_capacity(partners.len());
        for &partner in partners {
            distances.push(self.search.distance(graph, partner, monitor)?.filter(|&distance| distance > 0));
        }
        if distances.iter().all(Option::is_none) {
            return Ok(());
        }
        self.measures.at(graph, owner, &mut self.own, monitor)?;
        self.partners.resize_with(partners.len(), Masses::default);
        for ((&partner, distance), masses) in partners.iter().zip(&distances).zip(&mut self.partners) {
            match distance {
                Some(_) => self.measures.at(graph, partner, masses, monitor)?,
                None => masses.nodes.clear(),
            }
        }
        self.measure_costs()?;
        for (i, (distance, value)) in distances.iter().zip(values).enumerate() {
            if let &Some(distance) = distance {
                *value = self.transport(i, distance)?;
            }
        }
        self.own.nodes.iter().for_each(|&node| self.column_of[node as usize] = NONE);
        Ok(())
    }

    /// Finds the sets of columns within each number of hops of the nodes that carry the partners' measures.
    fn measure_costs(&mut self) -> Result<(), Stopped> {
        let (graph, monitor) = (self.graph, self.monitor);
        let mut reach = 0;
        for (column, &node) in self.own.nodes.iter().enumerate() {
            self.column_of[node as usize] = column as u32;
            reach = reach.max(self.search.distance(graph, node, monitor)?.unwrap_or(0));
        }
        let mut farthest = 0;
        for masses in &self.partners {
            for &node in &masses.nodes {
                farthest = farthest.max(self.search.distance(graph, node, monitor)?.unwrap_or(0));
            }
        }
        // A node on a shortest path of h hops from a partner's node to a column, k hops from the latter, is no farther from
        // the owner than k + reach and farthest + h - k.
        let most = farthest + reach;
        self.search.grow(graph, farthest.max((reach + farthest + most) / 2), monitor)?;

        let words = bits::words(self.own.nodes.len());
        let places = self.search.order.len();
        let kept = 2 * reach as usize * words;
        self.sets_of.clear();
        self.sets_of.resize(places, usize::MAX);
        let mut wanted: Vec<u32> = Vec::new();
        for &node in self.partners.iter().flat_map(|masses| &masses.nodes) {
            let place = self.search.place_of[node as usize];
            if self.sets_of[place as usize] == usize::MAX {
                self.sets_of[place as usize] = wanted.len() * kept;
                wanted.push(place);
            }
        }
        // The sets, those of one transport's rows, and the measures.
        let carried: usize = self.partners.iter().map(|masses| masses.nodes.len()).sum();
        let rows = self.partners.iter().map(|masses| masses.nodes.len()).max().unwrap_or(0);
        let bytes = 8 * (2 * places * words + wanted.len() * kept + places + rows * words) + 12 * carried;
        if let Some(missing) = (bytes + 16 * graph.n_nodes()).checked_sub(self.reservation.bytes()) {
            self.reservation.grow(missing)?;
        }
        self.sets.clear();
        self.sets.resize(wanted.len() * kept, 0);
        for sets in [&mut self.before, &mut self.now] {
            sets.clear();
            sets.resize(places * words, 0);
        }
        for (column, &node) in self.own.nodes.iter().enumerate() {
            let place = self.search.place_of[node as usize] as usize;
            bits::insert(&mut self.now[place * words..], column);
        }
        let mut known = self.search.within(reach);
        for hops in 0..most {
            if hops > 0 {
                std::mem::swap(&mut self.before, &mut self.now);
                let needed = self.search.within((reach + hops).min(farthest + most - 1 - hops));
                for place in 0..needed {
                    if place % 256 == 0 {
                        monitor.check()?;
                    }
                    let set = &mut self.now[place * words..][..words];
                    match place < known {
                        true => set.copy_from_slice(&self.before[place * words..][..words]),
                        false => set.fill(0),
                    }
                    for &next in graph.neighbors(self.search.order[place]) {
                        let next = self.search.place_of[next as usize] as usize;
                        if next < known {
                            bits::union(set, &self.before[next * words..][..words]);
                        }
                    }
                }
                known = needed;
            }
            for &place in &wanted {
                let level = i64::from(hops) + i64::from(reach) - i64::from(self.search.distances[place as usize]);
                if (0..2 * i64::from(reach)).contains(&level) && (place as usize) < known {
                    let start = self.sets_of[place as usize] + level as usize * words;
                    self.sets[start..start + words].copy_from_slice(&self.now[place as usize * words..][..words]);
                }
            }
        }
        self.reach = reach;
        self.words = words;
        Ok(())
    }

    /// The answer for the owner and its `i`-th partner.
    fn transport(&mut self, i: usize, distance: u32) -> Result<f64, Stopped> {
        let mut flow = std::mem::take(&mut self.flow);
        let mut theirs = std::mem::take(&mut self.partners[i]);
        let mut own = self.own.clone();
        let total = common_total(&mut own, &mut theirs);

        // What both measures have stays where it is: W is a metric. The rest is supply of the partner's side or demand.
        let mut demand = std::mem::take(&mut self.demand);
        demand.clone_from(&own.masses);
        for (&node, mass) in theirs.nodes.iter().zip(&mut theirs.masses) {
            let column = self.column_of[node as usize];
            if column != NONE {
                let stays = (*mass).min(demand[column as usize]);
                demand[column as usize] -= stays;
                *mass -= stays;
            }
        }
        flow.start(&demand);
        self.rows.clear();
        for (&node, &supply) in theirs.nodes.iter().zip(&theirs.masses).filter(|(_, supply)| **supply > 0) {
            let place = self.search.place_of[node as usize] as usize;
            self.rows.push(Row { distance: self.search.distances[place], sets: self.sets_of[place], dual: 0 });
            flow.add_empty_row(supply);
        }
        let cost = self.cost(&mut flow);
        self.partners[i] = theirs;
        self.demand = demand;
        self.flow = flow;
        Ok(self.answer.of_hops(cost?, distance, total))
    }

    /// The least cost of the transport set up in `flow`.
    fn cost(&mut self, flow: &mut Flow) -> Result<i128, Stopped> {
        if flow.total() == 0 {
            return Ok(0);
        }
        // The smallest cost and the largest.
        let (mut least, mut most) = (u32::MAX, 0);
        for row in &self.rows {
            let mut hops = row.distance.saturating_sub(self.reach);
            let any = |hops| self.within(row, hops).is_none_or(|set| overlaps(set, flow.columns()));
            while !any(hops) {
                hops += 1;
            }
            least = least.min(hops);
            let all = |hops| self.within(row, hops).is_none_or(|set| covers(set, flow.columns()));
            while !all(hops) {
                hops += 1;
            }
            most = most.max(hops);
        }
        let rounds = most - least;
        let mut cost = i128::from(most) * i128::from(flow.total());
        // The columns of each dual value.
        let words = self.words;
        let mut duals = vec![0u64; words * (rounds as usize + 1)];
        duals[..words].copy_from_slice(flow.columns());
        let mut rows = std::mem::take(&mut self.rows);
        for round in 0..rounds {
            self.monitor.check()?;
            for (i, row) in rows.iter().enumerate() {
                let admitted = flow.admitted(i);
                admitted.fill(0);
                // A pair is tight where the cost above the least one and both duals sum to the round.
                let slack = round.checked_sub(row.dual).map_or(0, |slack| slack + 1);
                for extra in 0..slack {
                    let dual = &duals[(round - row.dual - extra) as usize * words..][..words];
                    let within = self.within(row, least + extra);
                    let closer = (least + extra).checked_sub(1).map(|hops| self.within(row, hops));
                    for (word, admitted) in admitted.iter_mut().enumerate() {
                        let here = within.map_or(u64::MAX, |set| set.get(word).copied().unwrap_or(0));
                        let before = match closer {
                            None => 0,
                            Some(set) => set.map_or(u64::MAX, |set| set.get(word).copied().unwrap_or(0)),
                        };
                        *admitted |= here & !before & dual[word];
                    }
                }
            }
            if round == 0 {
                flow.send_greedily(None);
            }
            flow.maximize(self.monitor)?;
            cost -= i128::from(flow.sent());
            if flow.sent() == flow.total() {
                cost -= i128::from(rounds - 1 - round) * i128::from(flow.total());
                break;
            }
            for (i, row) in rows.iter_mut().enumerate() {
                row.dual += u32::from(!flow.reached_row(i));
            }
            for dual in (0..=round as usize).rev() {
                for word in 0..words {
                    let moved = duals[dual * words + word] & flow.reached_columns()[word];
                    duals[dual * words + word] ^= moved;
                    duals[(dual + 1) * words + word] |= moved;
                }
            }
        }
        rows.clear();
        self.rows = rows;
        Ok(cost)
    }

    /// The columns within `hops` hops of a row's node; `None` for all of them, an empty slice for none.
    fn within(&self, row: &Row, hops: u32) -> Option<&[u64]> {
        if hops >= row.distance + self.reach {
            return None;
        }
        match (hops + self.reach).checked_sub(row.distance) {
            None => Some(&[]),
            Some(level) => Some(&self.sets[row.sets + level as usize * self.words..][..self.words]),
        }
    }
}

fn overlaps(set: &[u64], columns: &[u64]) -> bool {
    set.iter().zip(columns).any(|(a, b)| a & b != 0)
}

fn covers(set: &[u64], columns: &[u64]) -> bool {
    !set.is_empty() && set.iter().zip(columns).all(|(a, b)| b & !a == 0)
}

/// A breadth-first search from one node that goes on where it stopped.
#[derive(Debug, Default)]
struct Search {
    /// The nodes in the order found, and their distances.
    order: Vec<u32>,
    distances: Vec<u32>,
    /// Where a node stands in `order`.
    place_of: Vec<u32>,
    /// The number of nodes within each distance, as far as all of these are known.
    ends: Vec<usize>,
}

impl Search {
    fn start(&mut self, source: u32) {
        self.order.push(source);
        self.distances.push(0);
        self.place_of[source as usize] = 0;
        self.ends.push(1);
    }

    fn clear(&mut self) {
        self.order.iter().for_each(|&node| self.place_of[node as usize] = NONE);
        self.order.clear();
        self.distances.clear();
        self.ends.clear();
    }

    /// Finds the nodes one hop farther; false where there are none.
    fn step(&mut self, graph: &Graph, monitor: &dyn Monitor) -> Result<bool, Stopped> {
        let depth = self.ends.len();
        let start = if depth > 1 { self.ends[depth - 2] } else { 0 };
        let end = self.ends[depth - 1];
        for at in start..end {
            if at % 1024 == 0 {
                monitor.check()?;
            }
            for &next in graph.neighbors(self.order[at]) {
                if self.place_of[next as usize] == NONE {
                    self.place_of[next as usize] = self.order.len() as u32;
                    self.order.push(next);
                    self.distances.push(depth as u32);
                }
            }
        }
        if self.order.len() == end {
            return Ok(false);
        }
        self.ends.push(self.order.len());
        Ok(true)
    }

    /// The distance of a node; `None` where there is no path.
    fn distance(&mut self, graph: &Graph, node: u32, monitor: &dyn Monitor) -> Result<Option<u32>, Stopped> {
        while self.place_of[node as usize] == NONE {
            if !self.step(graph, monitor)? {
                return Ok(None);
            }
        }
        Ok(Some(self.distances[self.place_of[node as usize] as usize]))
    }

    /// Goes on until all nodes within `depth` are known.
    fn grow(&mut self, graph: &Graph, depth: u32, monitor: &dyn Monitor) -> Result<(), Stopped> {
        while self.ends.len() <= depth as usize && self.step(graph, monitor)? {}
        Ok(())
    }

    /// The number of nodes within `distance`.
    fn within(&self, distance: u32) -> usize {
        self.ends[(distance as usize).min(self.ends.len() - 1)]
    }
}
