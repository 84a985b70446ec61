//! Exact transport between few nodes at any costs: shortest augmenting paths with duals.
//!
//! Hungarian method for transports (Ford and Fulkerson 1956; the duals and the start by reduction as Jonker and Volgenant
//! 1987): masses are whole numbers, costs are not. Every row and column has a dual so that no pair costs less than both of
//! its duals, and only pairs that cost just as much carry mass.

use bonnet_graph::isa::Isa;
use bonnet_graph::{Monitor, Stopped, compiled_for_each_isa};
use smallvec::SmallVec;

/// The rows that send to a column, and how much.
type Senders = SmallVec<[(u32, i64); 4]>;

const NONE: u32 = u32::MAX;
/// Over the size of costs, what sums and differences of a few of them are wrong by.
const ROUNDING: f64 = 1.0 / (1u64 << 50) as f64;
/// Columns that are looked at together; tables are as wide as a multiple of it.
pub(super) const LANES: usize = 8;

/// The costs of a transport: some rows of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    /// Row by row; finite.
    pub(super) costs: &'a [f64],
    /// The columns of the table, a multiple of [`LANES`].
    pub(super) width: usize,
    /// The rows that take part.
    pub(super) rows: &'a [u32],
}

impl<'a> Table<'a> {
    fn row(&self, row: usize) -> &'a [f64] {
        &self.costs[self.rows[row] as usize * self.width..][..self.width]
    }
}

/// A transport problem and its working memory.
#[derive(Debug)]
pub(super) struct Costs {
    isa: Isa,
    /// By row that takes part.
    pub(super) supply: Vec<i64>,
    /// By column of the table; a column that demands nothing takes no part.
    pub(super) demand: Vec<i64>,
    /// The row that supplies most. It comes last: the others find columns that are near before it fills them.
    largest: usize,
    /// What distances differ by for rounding.
    rounding: f64,
    row_duals: Vec<f64>,
    /// The column of each row's smallest cost at first.
    cheapest: Vec<u32>,
    /// Minus infinity for columns that take no part.
    column_duals: Vec<f64>,
    senders: Vec<Senders>,
    /// Of one search: the distance of each column, the number of the row before it, and infinity where it is done.
    distance: Vec<f64>,
    before: Vec<f64>,
    done: Vec<f64>,
    /// The rows reached, their distances, and the columns before them.
    rows: Vec<(u32, f64)>,
    column_before: Vec<u32>,
    /// The columns done, in their order.
    columns: Vec<u32>,
}

impl Costs {
    pub(super) fn new(isa: Isa) -> Self {
        Self {
            isa,
            supply: Vec::new(),
            demand: Vec::new(),
            largest: 0,
            rounding: 0.0,
            row_duals: Vec::new(),
            cheapest: Vec::new(),
            column_duals: Vec::new(),
            senders: Vec::new(),
            distance: Vec::new(),
            before: Vec::new(),
            done: Vec::new(),
            rows: Vec::new(),
            column_before: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// The bytes that a problem of this size holds.
    pub(super) fn bytes(rows: usize, columns: usize) -> usize {
        40 * rows + 160 * columns
    }

    /// The least cost: the sum of mass times cost, in f64. Where costs are small whole numbers, and so is the sum, it is exact.
    /// `supply` and `demand` sum to the same.
    ///
    /// At most one search a row and one more for each column that is filled, each O(rows x columns) and mostly far less. `duals` are those of
    /// the columns at the end of a problem like this one, or empty: from good ones few searches are left. They are replaced by the new ones.
    pub(super) fn least(
        &mut self,
        table: Table<'_>,
        duals: Option<&mut Vec<f64>>,
        monitor: &dyn Monitor,
    ) -> Result<f64, Stopped> {
        let rows = self.supply.len();
        if rows == 0 || self.demand.iter().all(|demand| *demand == 0) {
            return Ok(0.0);
        }
        self.start(table, duals.as_deref().map_or(&[], Vec::as_slice));
        for row in small_first(rows, self.largest) {
            while self.supply[row] > 0 {
                monitor.check()?;
                let Some((column, distance)) = self.search(table, row) else { break };
                self.move_duals(distance);
                self.augment(row, column);
            }
        }
        if let Some(duals) = duals {
            duals.resize(table.width, 0.0);
            let ours = self.column_duals.iter().enumerate().filter(|(_, dual)| dual.is_finite());
            ours.for_each(|(column, dual)| duals[column] = *dual);
        }
        let mut total = 0.0;
        for (column, senders) in self.senders[..table.width].iter_mut().enumerate() {
            senders.sort_unstable();
            total += senders.iter().map(|&(row, mass)| mass as f64 * table.row(row as usize)[column]).sum::<f64>();
        }
        Ok(total)
    }

    /// The duals at first: the smallest cost of each row, less the duals of columns from before, then what is left of each column; and mass
    /// along tight pairs.
    fn start(&mut self, table: Table<'_>, duals: &[f64]) {
        let (rows, width) = (self.supply.len(), table.width);
        if self.senders.len() < width {
            self.senders.resize_with(width, Senders::new);
        }
        self.senders[..width].iter_mut().for_each(Senders::clear);
        let takes_part = |column: usize| self.demand[column] > 0;
        self.column_duals.clear();
        self.column_duals.extend((0..width).map(|column| match takes_part(column) {
            true => duals.get(column).copied().unwrap_or(0.0),
            false => f64::NEG_INFINITY,
        }));
        // What is left of each column, and of which row.
        self.distance.clear();
        self.distance.resize(width, f64::INFINITY);
        self.before.clear();
        self.before.resize(width, f64::INFINITY);
        self.row_duals.clear();
        self.cheapest.clear();
        self.largest = largest(&self.supply);
        for row in 0..rows {
            let costs = table.row(row);
            let mut found = (f64::INFINITY, NONE);
            smallest(self.isa, costs, &self.column_duals, &mut found);
            self.row_duals.push(found.0);
            lower(self.isa, costs, &self.column_duals, (found.0, row as f64), &mut self.distance, &mut self.before);
            self.cheapest.push(found.1);
        }
        self.rounding = self.row_duals.iter().fold(0.0, |most: f64, dual| most.max(dual.abs())) * ROUNDING;
        for row in small_first(rows, self.largest) {
            self.send_along(row, self.cheapest[row] as usize);
        }
        for column in 0..width {
            let left = self.distance[column];
            if self.demand[column] > 0 && left.is_finite() {
                self.column_duals[column] += left;
                self.send_along(self.before[column] as usize, column);
            }
        }
        self.done.clear();
        self.done.resize(width, 0.0);
        self.column_before.clear();
        self.column_before.resize(rows, NONE);
        self.rows.clear();
        self.columns.clear();
    }

    /// Sends along a tight pair what both ends allow.
    fn send_along(&mut self, row: usize, column: usize) {
        let (Some(supply), Some(demand)) = (self.supply.get_mut(row), self.demand.get_mut(column)) else { return };
        let mass = (*supply).min(*demand);
        if mass > 0 {
            *supply -= mass;
            *demand -= mass;
            self.send(row as u32, column, mass);
        }
    }

    /// The nearest column that demands something, and its distance from the row over reduced costs.
    fn search(&mut self, table: Table<'_>, start: usize) -> Option<(usize, f64)> {
        for &(row, _) in &self.rows {
            self.column_before[row as usize] = NONE;
        }
        self.columns.iter().for_each(|&column| self.done[column as usize] = 0.0);
        self.rows.clear();
        self.columns.clear();
        self.distance.fill(f64::INFINITY);
        self.rows.push((start as u32, 0.0));
        self.relax(table, start, 0.0);
        loop {
            let mut nearest = (f64::INFINITY, NONE);
            smallest_open(self.isa, &self.distance, &self.done, &mut nearest);
            if nearest.0.is_infinite() {
                return None;
            }
            // All columns that only rounding holds farther are done together.
            let first = self.columns.len();
            for column in 0..self.distance.len() {
                if self.distance[column] + self.done[column] <= nearest.0 + self.rounding {
                    if self.demand[column] > 0 {
                        return Some((column, self.distance[column]));
                    }
                    self.done[column] = f64::INFINITY;
                    self.columns.push(column as u32);
                }
            }
            for place in first..self.columns.len() {
                let column = self.columns[place] as usize;
                let least = self.distance[column];
                for at in 0..self.senders[column].len() {
                    let row = self.senders[column][at].0;
                    if row as usize != start && self.column_before[row as usize] == NONE {
                        self.column_before[row as usize] = column as u32;
                        self.rows.push((row, least));
                        self.relax(table, row as usize, least);
                    }
                }
            }
        }
    }

    /// Goes on from a row at this distance.
    fn relax(&mut self, table: Table<'_>, row: usize, at: f64) {
        let (costs, way) = (table.row(row), (self.row_duals[row], at, row as f64));
        reach(self.isa, costs, &self.column_duals, way, &mut self.distance, &mut self.before);
    }

    /// Moves the duals so that the path to a column at this distance is tight.
    fn move_duals(&mut self, distance: f64) {
        for &column in &self.columns {
            self.column_duals[column as usize] += (self.distance[column as usize] - distance).min(0.0);
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
            let row = self.before[column] as u32;
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

/// The place of the first largest mass.
pub(super) fn largest(masses: &[i64]) -> usize {
    let most = masses.iter().max();
    masses.iter().position(|mass| Some(mass) == most).unwrap_or(0)
}

/// So many rows in their order, but for one of them, which comes last.
pub(super) fn small_first(rows: usize, largest: usize) -> impl Iterator<Item = usize> {
    (0..rows).filter(move |row| *row != largest).chain(std::iter::once(largest))
}

/// Bits that order as the numbers do: a minimum of whole numbers is found many at a time.
#[inline(always)]
fn ordered(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The first smallest of some values, which are made by `value` from two columns, and its place.
#[inline(always)]
fn first_smallest(a: &[f64], b: &[f64], value: impl Fn(f64, f64) -> f64, into: &mut (f64, u32)) {
    let least = a.iter().zip(b).fold(i64::MAX, |least, (&a, &b)| least.min(ordered(value(a, b))));
    if let Some(place) = a.iter().zip(b).position(|(&a, &b)| ordered(value(a, b)) == least) {
        *into = (value(a[place], b[place]), place as u32);
    }
}

/// The smallest cost less its column's dual.
#[inline(always)]
fn smallest_body(costs: &[f64], duals: &[f64], into: &mut (f64, u32)) {
    first_smallest(costs, duals, |cost, dual| cost - dual, into);
}

/// The nearest column that is not done.
#[inline(always)]
fn smallest_open_body(distances: &[f64], done: &[f64], into: &mut (f64, u32)) {
    first_smallest(distances, done, |distance, done| distance + done, into);
}

/// The pair with the smaller first number, the second where they are equal: by bits, as a choice of which memory to write takes far longer.
#[inline(always)]
fn nearer(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let mask = u64::from(a.0 < b.0).wrapping_neg();
    let pick = |a: f64, b: f64| f64::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask));
    (pick(a.0, b.0), pick(a.1, b.1))
}

/// Of each column the smallest reduced cost so far and its row: another row, of this dual and number.
#[inline(always)]
fn lower_body(costs: &[f64], duals: &[f64], row: (f64, f64), least: &mut [f64], of: &mut [f64]) {
    for ((cost, dual), (least, of)) in costs.iter().zip(duals).zip(least.iter_mut().zip(of)) {
        let reduced = (cost - dual) - row.0;
        (*least, *of) = nearer((reduced, row.1), (*least, *of));
    }
}

/// Ways to all columns from a row of this dual, distance and number.
#[inline(always)]
fn reach_body(costs: &[f64], duals: &[f64], row: (f64, f64, f64), distances: &mut [f64], before: &mut [f64]) {
    let columns = costs.iter().zip(duals).zip(distances.iter_mut().zip(before));
    for ((cost, dual), (distance, before)) in columns {
        let reduced = (cost - row.0) - dual;
        // Rounding alone makes it negative.
        let through = row.1 + if reduced > 0.0 { reduced } else { 0.0 };
        (*distance, *before) = nearer((through, row.2), (*distance, *before));
    }
}

compiled_for_each_isa! {
    fn smallest(costs: &[f64], duals: &[f64], into: &mut (f64, u32)) = smallest_body
}
compiled_for_each_isa! {
    fn smallest_open(distances: &[f64], done: &[f64], into: &mut (f64, u32)) = smallest_open_body
}
compiled_for_each_isa! {
    fn lower(costs: &[f64], duals: &[f64], row: (f64, f64), least: &mut [f64], of: &mut [f64]) = lower_body
}
compiled_for_each_isa! {
    fn reach(
        costs: &[f64],
        duals: &[f64],
        row: (f64, f64, f64),
        distances: &mut [f64],
        before: &mut [f64],
    ) = reach_body
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    fn least(supply: &[i64], demand: &[i64], cost: &[f64]) -> f64 {
        let mut found = Isa::available().into_iter().map(|isa| {
            let mut costs = Costs::new(isa);
            // A larger problem before leaves its memory behind.
            let before: Vec<f64> = (0..81).map(f64::from).collect();
            assert_eq!(solve(&mut costs, &[1; 9], &[1; 9], &before, None), 360.0);
            let cold = solve(&mut costs, supply, demand, cost, None);
            // From the duals of the end, and from others, the answer is the same.
            let mut duals = Vec::new();
            assert_eq!(solve(&mut costs, supply, demand, cost, Some(&mut duals)), cold);
            for warm in [duals, (0..16).map(|i| f64::from(i * i % 7)).collect()] {
                let warm = solve(&mut costs, supply, demand, cost, Some(&mut warm.clone()));
                assert!((warm - cold).abs() <= 1e-14 * (1.0 + cold), "{warm} {cold}");
            }
            cold
        });
        let first = found.next().unwrap();
        assert!(found.all(|other| other == first));
        first
    }

    /// Costs row by row, as a table that is wide enough.
    fn solve(costs: &mut Costs, supply: &[i64], demand: &[i64], cost: &[f64], duals: Option<&mut Vec<f64>>) -> f64 {
        let width = demand.len().next_multiple_of(LANES);
        let mut table = Vec::new();
        for row in cost.chunks(demand.len().max(1)) {
            table.extend(row);
            table.resize(table.len().next_multiple_of(LANES), 0.0);
        }
        costs.supply = supply.to_vec();
        costs.demand = demand.to_vec();
        costs.demand.resize(width, 0);
        let rows: Vec<u32> = (0..supply.len() as u32).collect();
        costs.least(Table { costs: &table, width, rows: &rows }, duals, &Unmonitored).unwrap()
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
