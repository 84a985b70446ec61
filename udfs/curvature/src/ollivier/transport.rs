//! Optimal transport between integer masses at small integer costs, as a few maximum flows.
//!
//! A bipartite matching of largest weight, with weights 0..=N, is N maximum flows of pairs of weight one (Kao, Lam, Sung
//! and Ting, A decomposition theorem for maximum weight bipartite matchings, 2001), and so is a transport with profits
//! 0..=N: each round admits the pairs that have just become tight, goes on with the flow of the round before, and moves
//! the duals by the smallest cover. Sets of rows and columns are bits, the flow itself is a short list for each column.

use bonnet_graph::{Monitor, Stopped};
use smallvec::SmallVec;

use super::bits;

/// The rows that are sampled to see whether rows are sparse, and the largest part of all columns that a sparse row has.
const SAMPLE: usize = 8;
const SPARSE: usize = 6;

/// Whether rows, of which `size` tells how many columns one has, have few of `columns`, as far as a sample shows.
#[inline(always)]
pub(super) fn are_sparse(rows: usize, columns: usize, size: impl Fn(usize) -> u32) -> bool {
    let sample: u32 = (0..rows).step_by(rows.div_ceil(SAMPLE).max(1)).map(size).sum();
    sample as usize * SPARSE < rows.min(SAMPLE) * columns
}

/// The rows that send to a column, and how much. Most columns have one or two: they stay within the column's cache line.
type Senders = SmallVec<[(u32, i64); 2]>;

/// A flow from rows that supply to columns that demand, over the pairs admitted.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Words of a set of columns, and of a set of rows.
    words: usize,
    row_words: usize,
    /// The mass that each row has left to send, and each column to take.
    supply: Vec<i64>,
    demand: Vec<i64>,
    /// The columns that demanded anything at all, and those that still do.
    columns: Vec<u64>,
    open: Vec<u64>,
    /// The admitted columns of each row.
    admitted: Vec<u64>,
    /// For each column, the rows that send to it, and how much.
    senders: Vec<Senders>,
    total: i64,
    sent: i64,
    order: Vec<(u32, u32)>,
    search: Search,
}

/// The levels of one search for augmenting paths: sets of rows and of columns by turns.
#[derive(Debug, Default)]
struct Search {
    rows: Vec<u64>,
    columns: Vec<u64>,
    levels: usize,
    seen_rows: Vec<u64>,
    seen_columns: Vec<u64>,
    next: Vec<u64>,
    path_rows: Vec<u32>,
    path_columns: Vec<u32>,
}

impl Flow {
    /// Starts a new problem with columns of these demands and no row yet.
    pub(super) fn start(&mut self, demand: &[i64]) {
        self.demand.clear();
        self.demand.extend_from_slice(demand);
        let columns = self.demand.len();
        self.words = bits::words(columns);
        self.columns.clear();
        self.columns.extend(positive(demand));
        self.open.clone_from(&self.columns);
        if self.senders.len() < columns {
            self.senders.resize_with(columns, Senders::new);
        }
        for senders in &mut self.senders[..columns] {
            senders.clear();
        }
        self.supply.clear();
        self.admitted.clear();
        (self.total, self.sent) = (0, 0);
    }

    /// Adds a row that admits these columns, as far as they demand anything.
    pub(super) fn add_row(&mut self, supply: i64, admitted: &[u64]) {
        self.supply.push(supply);
        self.total += supply;
        self.admitted.extend(admitted.iter().zip(&self.columns).map(|(admitted, columns)| admitted & columns));
    }

    /// Adds a row that admits no column yet.
    pub(super) fn add_empty_row(&mut self, supply: i64) {
        self.supply.push(supply);
        self.total += supply;
        self.admitted.resize(self.admitted.len() + self.words, 0);
    }

    /// Lets the last row send to one more column, if that demands anything.
    pub(super) fn admit(&mut self, column: usize) {
        let start = self.admitted.len() - self.words;
        self.admitted[start + column / 64] |= self.columns[column / 64] & 1 << (column % 64);
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.supply.len()
    }

    /// The admitted columns of a row, to be changed between two rounds. Pairs that carry flow must stay.
    pub(super) fn admitted(&mut self, row: usize) -> &mut [u64] {
        &mut self.admitted[row * self.words..][..self.words]
    }

    /// Between two rounds: keeps of a row's columns those outside the smallest cover, which are all that a row in the cover
    /// may use; a row outside it keeps its own and gets `more`, as far as these are outside, too.
    pub(super) fn admit_uncovered(&mut self, row: usize, more: &[u64]) {
        let reached = self.reached_row(row);
        let admitted = &mut self.admitted[row * self.words..][..self.words];
        let covered = self.search.seen_columns.iter().zip(&self.columns);
        for (i, (word, (covered, columns))) in admitted.iter_mut().zip(covered).enumerate() {
            match reached {
                true => *word |= more[i] & !covered & columns,
                false => *word &= !covered,
            }
        }
    }

    /// The columns with a demand.
    pub(super) fn columns(&self) -> &[u64] {
        &self.columns
    }

    /// The sum of all supplies.
    pub(super) fn total(&self) -> i64 {
        self.total
    }

    /// The mass that is sent.
    pub(super) fn sent(&self) -> i64 {
        self.sent
    }

    /// Whether the smallest cover leaves this row out: the rows that unsent supply can reach.
    /// After [`Flow::maximize`] left supply unsent.
    pub(super) fn reached_row(&self, row: usize) -> bool {
        bits::contains(&self.search.seen_rows, row)
    }

    /// The columns of the smallest cover: those that unsent supply can reach.
    /// After [`Flow::maximize`] left supply unsent.
    pub(super) fn reached_columns(&self) -> &[u64] {
        &self.search.seen_columns
    }

    /// Sends what fits without detours. `last` is a column that many rows can use: it is kept for those that find no other.
    pub(super) fn send_greedily(&mut self, last: Option<usize>) {
        // Rows with few columns first: those with many find another. Where all have many, any order will do.
        let rows = self.rows();
        let size = |row: usize| bits::len(&self.admitted[row * self.words..][..self.words]);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        if are_sparse(rows, self.demand.len(), size) {
            order.extend((0..rows).map(|row| (size(row), row as u32)));
            order.sort_unstable();
        } else {
            order.extend((0..rows as u32).map(|row| (0, row)));
        }
        let held = last.filter(|&last| bits::contains(&self.open, last));
        if let Some(last) = held {
            bits::remove(&mut self.open, last);
        }
        order.iter().for_each(|&(_, row)| self.send_from(row));
        if let Some(last) = held {
            bits::insert(&mut self.open, last);
            order.iter().for_each(|&(_, row)| self.send_to(row, last));
        }
        self.order = order;
    }

    /// Sends from a row that has sent nothing yet, to its open columns in their order.
    fn send_from(&mut self, row: u32) {
        let admitted = &self.admitted[row as usize * self.words..][..self.words];
        let supply = &mut self.supply[row as usize];
        for (word, (admitted, open)) in admitted.iter().zip(&mut self.open).enumerate() {
            let mut both = admitted & *open;
            while both != 0 {
                let column = 64 * word + both.trailing_zeros() as usize;
                let amount = (*supply).min(self.demand[column]);
                *supply -= amount;
                self.demand[column] -= amount;
                self.sent += amount;
                self.senders[column].push((row, amount));
                if self.demand[column] == 0 {
                    *open &= !(both & both.wrapping_neg());
                }
                if *supply == 0 {
                    return;
                }
                both &= both - 1;
            }
        }
    }

    /// Sends from a row to a column that it has not sent to.
    fn send_to(&mut self, row: u32, column: usize) {
        let amount = self.supply[row as usize].min(self.demand[column]);
        if amount > 0 && bits::contains(self.admitted(row as usize), column) {
            self.supply[row as usize] -= amount;
            self.demand[column] -= amount;
            self.sent += amount;
            self.senders[column].push((row, amount));
            if self.demand[column] == 0 {
                bits::remove(&mut self.open, column);
            }
        }
    }

    /// Sends as much as the admitted pairs carry (Dinic 1970: shortest augmenting paths, a level graph at a time).
    pub(super) fn maximize(&mut self, monitor: &dyn Monitor) -> Result<(), Stopped> {
        self.row_words = bits::words(self.rows());
        while self.sent < self.total {
            monitor.check()?;
            if !self.find_levels() {
                break;
            }
            self.augment_all();
        }
        Ok(())
    }

    /// Searches level by level from the rows with supply left to the first level that has an open column. Where there
    /// is none, what was seen is the smallest cover.
    fn find_levels(&mut self) -> bool {
        let Search { rows, columns, levels, seen_rows, seen_columns, next, .. } = &mut self.search;
        *levels = 0;
        rows.clear();
        columns.clear();
        seen_columns.clear();
        seen_columns.resize(self.words, 0);
        next.clear();
        next.extend(positive(&self.supply));
        seen_rows.clone_from(next);
        loop {
            *levels += 1;
            rows.extend_from_slice(next);
            let start = columns.len();
            columns.resize(start + self.words, 0);
            let new = &mut columns[start..];
            for row in bits::members(next) {
                bits::union(new, &self.admitted[row * self.words..][..self.words]);
            }
            let (mut any, mut any_open) = (0, 0);
            for ((new, seen), open) in new.iter_mut().zip(&*seen_columns).zip(&self.open) {
                *new &= !seen;
                any |= *new;
                any_open |= *new & open;
            }
            if any_open != 0 {
                for (new, open) in new.iter_mut().zip(&self.open) {
                    *new &= open;
                }
                return true;
            }
            if any == 0 {
                return false;
            }
            bits::union(seen_columns, new);
            next.fill(0);
            for column in bits::members(new) {
                for &(row, _) in &self.senders[column] {
                    bits::insert(next, row as usize);
                }
            }
            let mut any = 0;
            for (next, seen) in next.iter_mut().zip(seen_rows.iter_mut()) {
                *next &= !*seen;
                *seen |= *next;
                any |= *next;
            }
            if any == 0 {
                return false;
            }
        }
    }

    /// Augments along the levels until no path is left in them. What leads nowhere is struck from its level.
    fn augment_all(&mut self) {
        let mut search = std::mem::take(&mut self.search);
        let Search { rows, columns, levels, path_rows, path_columns, .. } = &mut search;
        let (words, row_words, last) = (self.words, self.row_words, *levels - 1);
        // Paths strike rows from their levels, but from the first only the row that they start at.
        let starts = rows[..row_words].to_vec();
        for start in bits::members(&starts) {
            path_columns.clear();
            path_rows.clear();
            path_rows.push(start as u32);
            while let Some(&row) = path_rows.last() {
                let level = path_columns.len();
                let admitted = &self.admitted[row as usize * words..][..words];
                let here = &mut columns[level * words..][..words];
                let Some(column) = bits::first_common(admitted, here) else {
                    bits::remove(&mut rows[level * row_words..][..row_words], row as usize);
                    path_rows.pop();
                    path_columns.pop();
                    continue;
                };
                if level < last {
                    let below = &rows[(level + 1) * row_words..][..row_words];
                    match self.senders[column].iter().find(|(row, _)| bits::contains(below, *row as usize)) {
                        None => bits::remove(here, column),
                        Some(&(row, _)) => {
                            path_columns.push(column as u32);
                            path_rows.push(row);
                        }
                    }
                    continue;
                }
                path_columns.push(column as u32);
                let kept = self.augment(path_rows, path_columns);
                if self.demand[column] == 0 {
                    bits::remove(here, column);
                }
                if self.supply[start] == 0 {
                    break;
                }
                path_rows.truncate(kept + 1);
                path_columns.truncate(kept);
            }
        }
        self.search = search;
    }

    /// Sends along a path as much as it carries; answers how many of its steps can be used again.
    fn augment(&mut self, rows: &[u32], columns: &[u32]) -> usize {
        let (start, end) = (rows[0] as usize, columns[columns.len() - 1] as usize);
        let returned = |senders: &[(u32, i64)], row: u32| {
            senders.iter().find(|sender| sender.0 == row).map_or(0, |sender| sender.1)
        };
        let mut amount = self.supply[start].min(self.demand[end]);
        for (&column, &row) in columns.iter().zip(&rows[1..]) {
            amount = amount.min(returned(&self.senders[column as usize], row));
        }
        let mut kept = columns.len() - 1;
        for (step, &column) in columns.iter().enumerate() {
            let senders = &mut self.senders[column as usize];
            add(senders, rows[step], amount);
            if let Some(&row) = rows.get(step + 1)
                && let Some(at) = senders.iter().position(|sender| sender.0 == row)
            {
                senders[at].1 -= amount;
                if senders[at].1 == 0 {
                    senders.swap_remove(at);
                    kept = kept.min(step);
                }
            }
        }
        self.supply[start] -= amount;
        self.demand[end] -= amount;
        self.sent += amount;
        if self.demand[end] == 0 {
            bits::remove(&mut self.open, end);
        }
        kept
    }
}

/// The positions of positive numbers, as a set.
fn positive(numbers: &[i64]) -> impl Iterator<Item = u64> + '_ {
    numbers.chunks(64).map(|chunk| chunk.iter().rev().fold(0, |word, &number| word << 1 | u64::from(number > 0)))
}

fn add(senders: &mut Senders, row: u32, amount: i64) {
    match senders.iter_mut().find(|sender| sender.0 == row) {
        Some(sender) => sender.1 += amount,
        None => senders.push((row, amount)),
    }
}
