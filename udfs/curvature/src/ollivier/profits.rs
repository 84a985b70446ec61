//! Exact transport where most pairs cost the way by one node: what the other pairs save is made as large as it can be.
//!
//! A pair that is not listed costs what its row and its column cost each, so mass that no listed pair carries costs the same however it is
//! paired. That leaves a matching with capacities of the greatest profit, found by shortest augmenting paths with duals: no row and column have
//! duals, none of them negative, that sum to less than the profit of their pair; pairs that carry mass have just that sum, and what is not
//! carried in full has the dual 0.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bonnet_graph::{Monitor, Stopped};
use smallvec::SmallVec;

use super::costs::{largest, small_first};

const NONE: u32 = u32::MAX;

/// A row that sends to a column, along which of its pairs, and how much.
type Sender = (u32, u32, i64);

/// A problem and its working memory.
#[derive(Debug, Default)]
pub(super) struct Profits {
    /// By row.
    pub(super) supply: Vec<i64>,
    /// By column.
    pub(super) demand: Vec<i64>,
    /// Where the pairs of each row begin, and where the last one's end.
    starts: Vec<u32>,
    columns: Vec<u32>,
    profits: Vec<f64>,
    /// The cost of each pair.
    costs: Vec<f64>,
    row_duals: Vec<f64>,
    column_duals: Vec<f64>,
    senders: Vec<SmallVec<[Sender; 4]>>,
    // Of one search: the distance of each column, the row before it and the pair.
    distance: Vec<f64>,
    before: Vec<(u32, u32)>,
    touched: Vec<u32>,
    /// The columns that are done, in their order.
    done: Vec<u32>,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// The rows reached, with their distances; the column before each.
    rows: Vec<(u32, f64)>,
    column_before: Vec<u32>,
}

/// A pair of a row and a column: both, what it saves against the detour, and what it costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) profit: f64,
    pub(super) cost: f64,
}

/// Where a path ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// At a column that demands something.
    Column(u32),
    /// At a row that keeps what it sent.
    Row(u32),
}

impl Profits {
    /// The bytes that a problem of this size holds.
    pub(super) fn bytes(rows: usize, columns: usize, pairs: usize) -> usize {
        40 * pairs + 48 * rows + 160 * columns
    }

    /// Finds the flow of the greatest profit along `pairs`, of which each row and column has at most one, between `supply` and `demand`; answers its
    /// cost, in f64. `supply` and `demand` are what is left.
    ///
    /// At most one search a row and one more for each column that is filled, each O(pairs log pairs) and mostly far less.
    pub(super) fn solve(&mut self, pairs: &[Pair], monitor: &dyn Monitor) -> Result<f64, Stopped> {
        self.start(pairs);
        if self.supply.is_empty() {
            return Ok(0.0);
        }
        for row in small_first(self.supply.len(), largest(&self.supply)) {
            while self.supply[row] > 0 && self.row_duals[row] > 0.0 {
                monitor.check()?;
                let (end, distance) = self.search(row as u32);
                self.move_duals(distance);
                if self.augment(row as u32, end) {
                    break;
                }
            }
        }
        let mut total = 0.0;
        for senders in &mut self.senders[..self.demand.len()] {
            senders.sort_unstable();
            total += senders.iter().map(|&(_, pair, mass)| mass as f64 * self.costs[pair as usize]).sum::<f64>();
        }
        Ok(total)
    }

    /// Sorts the pairs by row, in their order, and gives each row the largest of its profits as its dual.
    fn start(&mut self, pairs: &[Pair]) {
        let (rows, columns) = (self.supply.len(), self.demand.len());
        self.starts.clear();
        self.starts.resize(rows + 2, 0);
        for pair in pairs {
            self.starts[pair.row as usize + 2] += 1;
        }
        for row in 2..rows + 2 {
            self.starts[row] += self.starts[row - 1];
        }
        self.columns.resize(pairs.len(), 0);
        self.profits.resize(pairs.len(), 0.0);
        self.costs.resize(pairs.len(), 0.0);
        self.row_duals.clear();
        self.row_duals.resize(rows, 0.0);
        for pair in pairs {
            let next = &mut self.starts[pair.row as usize + 1];
            let at = *next as usize;
            *next += 1;
            (self.columns[at], self.profits[at], self.costs[at]) = (pair.column, pair.profit, pair.cost);
            let dual = &mut self.row_duals[pair.row as usize];
            *dual = dual.max(pair.profit);
        }
        self.column_duals.clear();
        self.column_duals.resize(columns, 0.0);
        if self.senders.len() < columns {
            self.senders.resize_with(columns, SmallVec::new);
        }
        self.senders[..columns].iter_mut().for_each(SmallVec::clear);
        self.distance.clear();
        self.distance.resize(columns, f64::INFINITY);
        self.before.resize(columns, (NONE, NONE));
        self.column_before.clear();
        self.column_before.resize(rows, NONE);
        self.touched.clear();
        self.rows.clear();
    }

    /// The nearest end of a path from a row over reduced profits, and its distance.
    fn search(&mut self, start: u32) -> (End, f64) {
        self.touched.iter().for_each(|&column| self.distance[column as usize] = f64::INFINITY);
        self.rows.iter().for_each(|&(row, _)| self.column_before[row as usize] = NONE);
        self.touched.clear();
        self.rows.clear();
        self.done.clear();
        self.queue.clear();
        // The nearest end so far.
        let mut nearest = (End::Row(start), self.row_duals[start as usize]);
        self.rows.push((start, 0.0));
        self.relax(start, 0.0, &mut nearest);
        while let Some(Reverse((bits, column))) = self.queue.pop() {
            let at = f64::from_bits(bits);
            if at >= nearest.1 {
                break;
            }
            if at > self.distance[column as usize] {
                continue;
            }
            self.done.push(column);
            for i in 0..self.senders[column as usize].len() {
                let row = self.senders[column as usize][i].0;
                if row == start || self.column_before[row as usize] != NONE {
                    continue;
                }
                self.column_before[row as usize] = column;
                self.rows.push((row, at));
                let keeps = at + self.row_duals[row as usize];
                if keeps < nearest.1 {
                    nearest = (End::Row(row), keeps);
                }
                self.relax(row, at, &mut nearest);
            }
        }
        nearest
    }

    /// Goes on from a row at this distance, to columns nearer than the nearest end.
    fn relax(&mut self, row: u32, at: f64, nearest: &mut (End, f64)) {
        let dual = self.row_duals[row as usize];
        for pair in self.starts[row as usize]..self.starts[row as usize + 1] {
            let column = self.columns[pair as usize];
            let reduced = (dual - self.profits[pair as usize]) + self.column_duals[column as usize];
            // Rounding alone makes it negative.
            let through = at + reduced.max(0.0);
            let distance = &mut self.distance[column as usize];
            if through >= nearest.1 || through >= *distance {
                continue;
            }
            self.before[column as usize] = (row, pair);
            if self.demand[column as usize] > 0 {
                *nearest = (End::Column(column), through);
                continue;
            }
            if distance.is_infinite() {
                self.touched.push(column);
            }
            *distance = through;
            self.queue.push(Reverse((through.to_bits(), column)));
        }
    }

    /// Moves the duals so that the path to an end at this distance is tight.
    fn move_duals(&mut self, distance: f64) {
        for &(row, at) in &self.rows {
            if at < distance {
                let dual = &mut self.row_duals[row as usize];
                *dual = (*dual - (distance - at)).max(0.0);
            }
        }
        for &column in &self.done {
            let at = self.distance[column as usize];
            if at < distance {
                self.column_duals[column as usize] += distance - at;
            }
        }
    }

    /// Sends along the path to an end as much as it carries; whether the row keeps what is left.
    fn augment(&mut self, start: u32, end: End) -> bool {
        let last = match end {
            End::Row(row) if row == start => {
                return true;
            }
            End::Row(row) => self.column_before[row as usize],
            End::Column(column) => column,
        };
        let mut mass = self.supply[start as usize];
        match end {
            End::Row(row) => mass = mass.min(self.sent(row, last)),
            End::Column(column) => mass = mass.min(self.demand[column as usize]),
        }
        let mut column = last;
        while self.before[column as usize].0 != start {
            let row = self.before[column as usize].0;
            column = self.column_before[row as usize];
            mass = mass.min(self.sent(row, column));
        }
        self.supply[start as usize] -= mass;
        match end {
            End::Row(row) => {
                self.row_duals[row as usize] = 0.0;
                self.supply[row as usize] += mass;
                self.send(row, NONE, last, -mass);
            }
            End::Column(column) => self.demand[column as usize] -= mass,
        }
        column = last;
        loop {
            let (row, pair) = self.before[column as usize];
            self.send(row, pair, column, mass);
            if row == start {
                return false;
            }
            column = self.column_before[row as usize];
            self.send(row, NONE, column, -mass);
        }
    }

    fn sent(&self, row: u32, column: u32) -> i64 {
        self.senders[column as usize].iter().find(|sender| sender.0 == row).map_or(0, |sender| sender.2)
    }

    fn send(&mut self, row: u32, pair: u32, column: u32, mass: i64) {
        let senders = &mut self.senders[column as usize];
        match senders.iter().position(|sender| sender.0 == row) {
            Some(at) => {
                senders[at].2 += mass;
                if senders[at].2 == 0 {
                    senders.swap_remove(at);
                }
            }
            None => senders.push((row, pair, mass)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::costs::{Costs, LANES, Table};
    use super::*;
    use bonnet_graph::Unmonitored;
    use bonnet_graph::isa::Isa;

    #[test]
    fn what_is_saved_is_what_the_transport_over_all_pairs_saves() {
        let mut state = 11u64;
        let mut draw = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let (mut profits, mut costs) = (Profits::default(), Costs::new(Isa::detect()));
        for round in 0..400 {
            let (rows, columns) = (1 + draw(12) as usize, 1 + draw(12) as usize);
            let total = 5 + draw(30);
            let mut share = |parts: usize| {
                let mut masses = vec![0i64; parts];
                (0..total).for_each(|_| masses[draw(parts as u64) as usize] += 1);
                masses
            };
            let (supply, demand) = (share(rows), share(columns));
            // Ties in every other round.
            let range = if round % 2 == 0 { 4 } else { 1 << 20 };
            let row_ways: Vec<f64> = (0..rows).map(|_| 1.0 + draw(range) as f64).collect();
            let column_ways: Vec<f64> = (0..columns).map(|_| 1.0 + draw(range) as f64).collect();
            let width = columns.next_multiple_of(LANES);
            let (mut pairs, mut table) = (Vec::new(), vec![0.0; rows * width]);
            for row in 0..rows {
                for column in 0..columns {
                    let way = row_ways[row] + column_ways[column];
                    let cost = if draw(3) == 0 { (draw(range) as f64).min(way) } else { way };
                    table[row * width + column] = cost;
                    if cost < way {
                        pairs.push(Pair { row: row as u32, column: column as u32, profit: way - cost, cost });
                    }
                }
            }
            (profits.supply, profits.demand) = (supply.clone(), demand.clone());
            let along = profits.solve(&pairs, &Unmonitored).unwrap();
            let left =
                |masses: &[i64], ways: &[f64]| masses.iter().zip(ways).map(|(m, way)| *m as f64 * way).sum::<f64>();
            let found = along + left(&profits.supply, &row_ways) + left(&profits.demand, &column_ways);
            // What is sent and what is left are what there was.
            let sent: i64 = profits.senders[..columns].iter().flatten().map(|sender| sender.2).sum();
            assert_eq!(sent + profits.supply.iter().sum::<i64>(), total as i64);
            assert_eq!(sent + profits.demand.iter().sum::<i64>(), total as i64);

            costs.supply = supply;
            costs.demand = demand;
            costs.demand.resize(width, 0);
            let rows: Vec<u32> = (0..rows as u32).collect();
            let expected = costs.least(Table { costs: &table, width, rows: &rows }, None, &Unmonitored).unwrap();
            assert!((found - expected).abs() <= 1e-12 * (1.0 + expected), "{found} {expected}");
        }
    }
}
