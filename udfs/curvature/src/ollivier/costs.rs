//! Exact transport between few nodes at any costs: shortest augmenting paths with duals.
//!
//! Hungarian method for transports (Ford and Fulkerson 1956; the duals and the start by reduction as Jonker and Volgenant
//! 1987): masses are whole numbers, costs are not. Every row and column has a dual so that no pair costs less than both of
//! its duals, and only pairs that cost just as much carry mass.

use bonnet_graph::{Monitor, Stopped};
use smallvec::SmallVec;

/// The rows that send to a column, and how much.
type Senders = SmallVec<[(u32, i64); 4]>;

/// A transport problem and its working memory.
#[derive(Debug, Default)]
pub(super) struct Costs {
    pub(super) supply: Vec<i64>,
    pub(super) demand: Vec<i64>,
    /// Row by row.
    pub(super) cost: Vec<f64>,
    row_duals: Vec<f64>,
    column_duals: Vec<f64>,
    senders: Vec<Senders>,
    /// Of one search: the distance of each column, whether it is done, and the row before it.
    distance: Vec<f64>,
    done: Vec<bool>,
    before: Vec<u32>,
    /// The rows reached, their distances, and the columns before them.
    rows: Vec<(u32, f64)>,
    column_before: Vec<u32>,
    /// The columns done, in their order.
    columns: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Costs {
    /// The bytes that a problem of this size holds.
    pub(super) fn bytes(rows: usize, columns: usize) -> usize {
        8 * rows * columns + 40 * rows + 120 * columns
    }

    /// The least cost: the sum of mass times cost, in f64. Where costs are small whole numbers, and so is the sum, it is exact.
    /// `supply` and `demand` sum to the same.
    ///
    /// At most one search a row and one more for each column that is filled, each O(rows x columns) and mostly far less.
    pub(super) fn least(&mut self, monitor: &dyn Monitor) -> Result<f64, Stopped> {
        let (rows, columns) = (self.supply.len(), self.demand.len());
        if rows == 0 || columns == 0 {
            return Ok(0.0);
        }
        self.start(rows, columns);
        for row in 0..rows {
            while self.supply[row] > 0 {
                monitor.check()?;
                let Some((column, distance)) = self.search(row, columns) else { break };
                self.move_duals(distance);
                self.augment(row, column);
            }
        }
        let mut total = 0.0;
        for (column, senders) in self.senders[..columns].iter_mut().enumerate() {
            senders.sort_unstable();
            total += senders
                .iter()
                .map(|&(row, mass)| mass as f64 * self.cost[row as usize * columns + column])
                .sum::<f64>();
        }
        Ok(total)
    }

    fn reduced(&self, row: usize, column: usize, columns: usize) -> f64 {
        (self.cost[row * columns + column] - self.row_duals[row]) - self.column_duals[column]
    }

    /// The duals at first: the smallest cost of each row, then what is left of each column; and mass along tight pairs.
    fn start(&mut self, rows: usize, columns: usize) {
        self.row_duals.clear();
        self.column_duals.clear();
        self.column_duals.resize(columns, f64::INFINITY);
        for costs in self.cost.chunks_exact(columns) {
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            self.row_duals.push(least);
            for (dual, cost) in self.column_duals.iter_mut().zip(costs) {
                *dual = dual.min(cost - least);
            }
        }
        if self.senders.len() < columns {
            self.senders.resize_with(columns, Senders::new);
        }
        self.senders[..columns].iter_mut().for_each(Senders::clear);
        for row in 0..rows {
            for column in 0..columns {
                if self.supply[row] == 0 {
                    break;
                }
                if self.demand[column] > 0 && self.reduced(row, column, columns) <= 0.0 {
                    let mass = self.supply[row].min(self.demand[column]);
                    self.supply[row] -= mass;
                    self.demand[column] -= mass;
                    self.senders[column].push((row as u32, mass));
                }
            }
        }
        self.distance.resize(columns, 0.0);
        self.done.resize(columns, false);
        self.before.resize(columns, NONE);
        self.column_before.clear();
        self.column_before.resize(rows, NONE);
        self.rows.clear();
    }

    /// The nearest column that demands something, and its distance from the row over reduced costs.
    fn search(&mut self, start: usize, columns: usize) -> Option<(usize, f64)> {
        for &(row, _) in &self.rows {
            self.column_before[row as usize] = NONE;
        }
        self.rows.clear();
        self.columns.clear();
        self.done[..columns].fill(false);
        self.distance[..columns].fill(f64::INFINITY);
        self.rows.push((start as u32, 0.0));
        self.relax(start, 0.0, columns);
        loop {
            let mut nearest = None;
            let mut least = f64::INFINITY;
            for (column, (&distance, &done)) in self.distance[..columns].iter().zip(&self.done).enumerate() {
                if distance < least && !done {
                    (nearest, least) = (Some(column), distance);
                }
            }
            let column = nearest?;
            if self.demand[column] > 0 {
                return Some((column, least));
            }
            self.done[column] = true;
            self.columns.push(column as u32);
            for at in 0..self.senders[column].len() {
                let row = self.senders[column][at].0;
                if row as usize != start && self.column_before[row as usize] == NONE {
                    self.column_before[row as usize] = column as u32;
                    self.rows.push((row, least));
                    self.relax(row as usize, least, columns);
                }
            }
        }
    }

    /// Goes on from a row at this distance.
    fn relax(&mut self, row: usize, at: f64, columns: usize) {
        let costs = &self.cost[row * columns..][..columns];
        let dual = self.row_duals[row];
        let duals = &self.column_duals[..columns];
        let distances = self.distance[..columns].iter_mut().zip(&mut self.before[..columns]);
        for (((distance, before), &done), (cost, column_dual)) in
            distances.zip(&self.done[..columns]).zip(costs.iter().zip(duals))
        {
            // Rounding alone makes a reduced cost negative.
            let through = at + ((cost - dual) - column_dual).max(0.0);
            if through < *distance && !done {
                *distance = through;
                *before = row as u32;
            }
        }
    }

    /// Moves the duals so that the path to a column at this distance is tight.
    fn move_duals(&mut self, distance: f64) {
        for &column in &self.columns {
            self.column_duals[column as usize] += self.distance[column as usize] - distance;
        }
        for &(row, at) in &self.rows {
            if at < distance {
                self.row_duals[row as usize] += distance - at;
            }
        }
    }

    /// Sends along the path to a column as much as it carries.
    fn augment(&mut self, start: usize, end: usize) {
        let mut mass = self.supply[start].min(self.demand[end]);
        let mut column = end;
        loop {
            let row = self.before[column] as usize;
            if row == start {
                break;
            }
            column = self.column_before[row] as usize;
            mass = mass.min(self.sent(row, column));
        }
        self.supply[start] -= mass;
        self.demand[end] -= mass;
        column = end;
        loop {
            let row = self.before[column];
            self.send(row, column, mass);
            if row as usize == start {
                break;
            }
            column = self.column_before[row as usize] as usize;
            self.send(row, column, -mass);
        }
    }

    fn sent(&self, row: usize, column: usize) -> i64 {
        self.senders[column].iter().find(|sender| sender.0 as usize == row).map_or(0, |sender| sender.1)
    }

    fn send(&mut self, row: u32, column: usize, mass: i64) {
        let senders = &mut self.senders[column];
        match senders.iter().position(|sender| sender.0 == row) {
            Some(at) => {
                senders[at].1 += mass;
                if senders[at].1 == 0 {
                    senders.swap_remove(at);
                }
            }
            None => senders.push((row, mass)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn least(supply: &[i64], demand: &[i64], cost: &[f64]) -> f64 {
        let mut costs = Costs::default();
        // A larger problem before leaves its memory behind.
        (costs.supply, costs.demand, costs.cost) = (vec![1; 9], vec![1; 9], (0..81).map(f64::from).collect());
        assert_eq!(costs.least(&Unmonitored).unwrap(), 360.0);
        (costs.supply, costs.demand, costs.cost) = (supply.to_vec(), demand.to_vec(), cost.to_vec());
        costs.least(&Unmonitored).unwrap()
    }

    /// Masses of one unit: every assignment.
    fn by_all_assignments(supply: &[i64], demand: &[i64], cost: &[f64]) -> f64 {
        let units = |masses: &[i64]| -> Vec<usize> {
            masses.iter().enumerate().flat_map(|(i, &mass)| std::iter::repeat_n(i, mass as usize)).collect()
        };
        fn best(rows: &[usize], columns: &mut Vec<usize>, cost: &dyn Fn(usize, usize) -> f64) -> f64 {
            let Some((&row, rest)) = rows.split_first() else { return 0.0 };
            let mut least = f64::INFINITY;
            for i in 0..columns.len() {
                let column = columns.swap_remove(i);
                least = least.min(cost(row, column) + best(rest, columns, cost));
                columns.push(column);
                let last = columns.len() - 1;
                columns.swap(i, last);
            }
            least
        }
        let n = demand.len();
        best(&units(supply), &mut units(demand), &|row, column| cost[row * n + column])
    }

    #[test]
    fn small_transports_agree_with_all_assignments() {
        let mut state = 7u64;
        let mut draw = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for round in 0..300 {
            let (rows, columns) = (1 + draw(4) as usize, 1 + draw(4) as usize);
            let total = 3 + draw(4) as usize;
            let mut share = |parts: usize| {
                let mut masses = vec![0; parts];
                (0..total).for_each(|_| masses[draw(parts as u64) as usize] += 1);
                masses
            };
            let (supply, demand) = (share(rows), share(columns));
            // Ties in every other round.
            let range = if round % 2 == 0 { 4 } else { 1 << 30 };
            let cost: Vec<f64> = (0..rows * columns).map(|_| draw(range) as f64 / 7.0).collect();
            let (found, expected) = (least(&supply, &demand, &cost), by_all_assignments(&supply, &demand, &cost));
            assert!(
                (found - expected).abs() <= 1e-14 * (1.0 + expected),
                "{supply:?} {demand:?} {cost:?}: {found} {expected}"
            );
        }
    }

    #[test]
    fn nothing_to_send_costs_nothing() {
        assert_eq!(least(&[], &[], &[]), 0.0);
        assert_eq!(least(&[0, 0], &[0], &[1.0, 2.0]), 0.0);
    }
}
