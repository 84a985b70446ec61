//! The two flows of an edge whose endpoints have few neighbours: a set of rows or columns is `W` words, which fit registers.
//!
//! What `transport` does for any transport, for masses of 32 bits and sets below 64 `W`. Which rows send to a column is a
//! set, too, and how much each sends stands in a table that counts only where the sets say so.

use super::transport::are_sparse;

/// A set of rows or of columns: `e` is bit `e % 64` of word `e / 64`.
pub(super) type Set<const W: usize> = [u64; W];

/// A flow from rows that supply to columns that demand, over the pairs admitted. Tables over columns are laid out as sets
/// are: by word, then by bit.
#[derive(Debug)]
pub(super) struct Short<const W: usize> {
    /// The mass that each row has left to send, and each column to take.
    supply: Vec<i32>,
    demand: Vec<[i32; 64]>,
    /// The columns that demanded anything at all, and those that still do.
    columns: Set<W>,
    open: Set<W>,
    /// The rows that have something left to send.
    unsent: Set<W>,
    /// The admitted columns of each row.
    admitted: Vec<Set<W>>,
    /// The rows that send to each column, and how much.
    senders: Vec<[Set<W>; 64]>,
    amounts: Vec<[[[i32; 64]; W]; 64]>,
    total: i32,
    left: i32,
    order: Vec<u32>,
    /// One search for augmenting paths: its levels, sets of rows and of columns by turns, and what it has seen.
    row_levels: Vec<Set<W>>,
    column_levels: Vec<Set<W>>,
    seen_rows: Set<W>,
    seen_columns: Set<W>,
    path_rows: Vec<u32>,
    path_columns: Vec<u32>,
}

impl<const W: usize> Short<W> {
    /// The most columns, and the most rows.
    pub(super) const MOST: usize = 64 * W;

    pub(super) fn new() -> Self {
        Self {
            supply: Vec::new(),
            demand: vec![[0; 64]; W],
            columns: [0; W],
            open: [0; W],
            unsent: [0; W],
            admitted: Vec::new(),
            senders: vec![[[0; W]; 64]; W],
            amounts: vec![[[[0; 64]; W]; 64]; W],
            total: 0,
            left: 0,
            order: Vec::new(),
            row_levels: Vec::new(),
            column_levels: Vec::new(),
            seen_rows: [0; W],
            seen_columns: [0; W],
            path_rows: Vec::new(),
            path_columns: Vec::new(),
        }
    }

    /// The bytes that a thread holds.
    pub(super) const fn bytes() -> usize {
        // The amounts, and a dozen sets for each row or column.
        4 * Self::MOST * Self::MOST + 12 * 8 * W * Self::MOST
    }

    /// Starts a new problem with the columns of `these` that are not in `others`, each of which demands `mass`, and no row
    /// yet.
    #[inline(always)]
    pub(super) fn start(&mut self, these: &Set<W>, others: &Set<W>, mass: i32) {
        self.columns = without(these, others);
        self.open = self.columns;
        self.unsent = [0; W];
        for (word, these) in these.iter().enumerate() {
            if *these != 0 {
                self.demand[word] = [mass; 64];
                self.senders[word] = [[0; W]; 64];
            }
        }
        self.supply.clear();
        self.admitted.clear();
        (self.total, self.left) = (0, 0);
    }

    /// Gives one column another demand than the rest.
    #[inline(always)]
    pub(super) fn demand(&mut self, column: usize, mass: i32) {
        let (word, bit) = (column / 64, column % 64);
        self.demand[word][bit] = mass;
        self.senders[word][bit] = [0; W];
        self.columns[word] = self.columns[word] & !(1 << bit) | u64::from(mass > 0) << bit;
        self.open[word] = self.columns[word];
    }

    /// Adds a row with something to send that admits these columns, as far as they demand anything.
    #[inline(always)]
    pub(super) fn add_row(&mut self, supply: i32, admitted: &Set<W>) {
        self.supply.push(supply);
        self.total += supply;
        self.admitted.push(both(admitted, &self.columns));
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.supply.len()
    }

    /// The sum of all supplies.
    pub(super) fn total(&self) -> i32 {
        self.total
    }

    /// The mass that is sent.
    pub(super) fn sent(&self) -> i32 {
        self.total - self.left
    }

    /// Whether the smallest cover leaves this row out: the rows that unsent supply can reach.
    /// After [`Short::maximize`] left supply unsent.
    #[inline(always)]
    pub(super) fn reached_row(&self, row: usize) -> bool {
        self.seen_rows[row / 64] >> (row % 64) & 1 == 1
    }

    /// Between two flows: keeps of a row's columns those outside the smallest cover, which are all that a row in the cover
    /// may use; a row outside it keeps its own and gets `more`, as far as these are outside, too.
    #[inline(always)]
    pub(super) fn admit_uncovered(&mut self, row: usize, more: Option<&Set<W>>) {
        let admitted = &mut self.admitted[row];
        for word in 0..W {
            match more {
                Some(more) => admitted[word] |= more[word] & !self.seen_columns[word] & self.columns[word],
                None => admitted[word] &= !self.seen_columns[word],
            }
        }
    }

    /// Sends what fits without detours. `last` is a column that many rows can use: it is kept for those that find no other.
    #[inline(always)]
    pub(super) fn send_greedily(&mut self, last: usize) {
        self.left = self.total;
        let held = self.open[last / 64] & 1 << (last % 64);
        self.open[last / 64] &= !held;
        // Rows with few columns first: those with many find another. Where all have many, any order will do.
        let rows = self.rows();
        let size = |row: usize| self.admitted[row].iter().map(|word| word.count_ones()).sum::<u32>();
        let columns: u32 = self.columns.iter().map(|word| word.count_ones()).sum();
        if are_sparse(rows, columns as usize, size) {
            let mut order = std::mem::take(&mut self.order);
            order.clear();
            order.extend((0..rows).map(|row| size(row) << 16 | row as u32));
            order.sort_unstable();
            order.iter().for_each(|entry| self.send_from((entry & 0xffff) as usize));
            self.order = order;
        } else {
            (0..rows).for_each(|row| self.send_from(row));
        }
        if held != 0 {
            self.open[last / 64] |= held;
            for row in members(&self.unsent.clone()) {
                if self.admitted[row][last / 64] & held != 0 {
                    self.send_from(row);
                    if self.open[last / 64] & held == 0 {
                        break;
                    }
                }
            }
        }
    }

    /// Sends from a row to its open columns in their order.
    #[inline(always)]
    fn send_from(&mut self, row: usize) {
        let (row_word, row_bit) = (row / 64, row % 64);
        let before = self.supply[row];
        let mut left = before;
        'all: for (word, admitted) in self.admitted[row].into_iter().enumerate() {
            let mut both = admitted & self.open[word];
            while both != 0 {
                let bit = both.trailing_zeros() as usize % 64;
                let demand = &mut self.demand[word][bit];
                let amount = left.min(*demand);
                left -= amount;
                *demand -= amount;
                self.open[word] &= !(u64::from(*demand == 0) << bit);
                self.amounts[word][bit][row_word][row_bit] = amount;
                self.senders[word][bit][row_word] |= 1 << row_bit;
                if left == 0 {
                    break 'all;
                }
                both &= both - 1;
            }
        }
        self.supply[row] = left;
        self.left -= before - left;
        self.unsent[row_word] = self.unsent[row_word] & !(1 << row_bit) | u64::from(left > 0) << row_bit;
    }

    /// Sends as much as the admitted pairs carry (Dinic 1970: shortest augmenting paths, a level graph at a time).
    #[inline(always)]
    pub(super) fn maximize(&mut self) {
        while self.left > 0 && self.find_levels() {
            self.augment_all();
        }
    }

    /// Searches level by level from the rows with supply left to the first level that has an open column. Where there
    /// is none, what was seen is the smallest cover.
    #[inline(always)]
    fn find_levels(&mut self) -> bool {
        self.row_levels.clear();
        self.column_levels.clear();
        self.seen_columns = [0; W];
        self.seen_rows = self.unsent;
        let mut next = self.unsent;
        loop {
            self.row_levels.push(next);
            let unseen = without(&self.columns, &self.seen_columns);
            let mut new = [0; W];
            for row in members(&next) {
                new = either(&new, &both(&self.admitted[row], &unseen));
                if new == unseen {
                    break;
                }
            }
            let open = both(&new, &self.open);
            if open != [0; W] {
                self.column_levels.push(open);
                return true;
            }
            if new == [0; W] {
                return false;
            }
            self.column_levels.push(new);
            self.seen_columns = either(&self.seen_columns, &new);
            next = [0; W];
            for (word, &new) in new.iter().enumerate() {
                for bit in bits(new) {
                    next = either(&next, &self.senders[word][bit]);
                }
            }
            next = without(&next, &self.seen_rows);
            self.seen_rows = either(&self.seen_rows, &next);
            if next == [0; W] {
                return false;
            }
        }
    }

    /// Augments along the levels until no path is left in them. What leads nowhere is struck from its level.
    #[inline(always)]
    fn augment_all(&mut self) {
        let mut path_rows = std::mem::take(&mut self.path_rows);
        let mut path_columns = std::mem::take(&mut self.path_columns);
        let mut rows = std::mem::take(&mut self.row_levels);
        let mut columns = std::mem::take(&mut self.column_levels);
        let last = columns.len() - 1;
        let starts = rows[0];
        for start in members(&starts) {
            path_columns.clear();
            path_rows.clear();
            path_rows.push(start as u32);
            while let Some(&row) = path_rows.last() {
                let row = row as usize;
                let level = path_columns.len();
                let here = &mut columns[level];
                let Some(column) = first(&both(&self.admitted[row], here)) else {
                    rows[level][row / 64] &= !(1 << (row % 64));
                    path_rows.pop();
                    path_columns.pop();
                    continue;
                };
                let (word, bit) = (column / 64, column % 64);
                if level < last {
                    match first(&both(&self.senders[word][bit], &rows[level + 1])) {
                        None => here[word] &= !(1 << bit),
                        Some(row) => {
                            path_columns.push(column as u32);
                            path_rows.push(row as u32);
                        }
                    }
                    continue;
                }
                path_columns.push(column as u32);
                let kept = self.augment(&path_rows, &path_columns);
                if self.demand[word][bit] == 0 {
                    here[word] &= !(1 << bit);
                }
                if self.supply[start] == 0 {
                    self.unsent[start / 64] &= !(1 << (start % 64));
                    break;
                }
                path_rows.truncate(kept + 1);
                path_columns.truncate(kept);
            }
        }
        (self.path_rows, self.path_columns) = (path_rows, path_columns);
        (self.row_levels, self.column_levels) = (rows, columns);
    }

    /// Sends along a path as much as it carries; answers how many of its steps can be used again.
    #[inline(always)]
    fn augment(&mut self, rows: &[u32], columns: &[u32]) -> usize {
        let (start, end) = (rows[0] as usize, columns[columns.len() - 1] as usize);
        let mut amount = self.supply[start].min(self.demand[end / 64][end % 64]);
        for (&column, &row) in columns.iter().zip(&rows[1..]) {
            amount = amount.min(*self.amount(row, column));
        }
        let mut kept = columns.len() - 1;
        for (step, &column) in columns.iter().enumerate() {
            let row = rows[step];
            let set = &mut self.senders[column as usize / 64][column as usize % 64][row as usize / 64];
            let bit = 1 << (row % 64);
            let new = *set & bit == 0;
            *set |= bit;
            let own = self.amount(row, column);
            *own = amount + if new { 0 } else { *own };
            if let Some(&row) = rows.get(step + 1) {
                let returned = self.amount(row, column);
                *returned -= amount;
                if *returned == 0 {
                    let set = &mut self.senders[column as usize / 64][column as usize % 64][row as usize / 64];
                    *set &= !(1 << (row % 64));
                    kept = kept.min(step);
                }
            }
        }
        self.supply[start] -= amount;
        self.left -= amount;
        let demand = &mut self.demand[end / 64][end % 64];
        *demand -= amount;
        self.open[end / 64] &= !(u64::from(*demand == 0) << (end % 64));
        kept
    }

    #[inline(always)]
    fn amount(&mut self, row: u32, column: u32) -> &mut i32 {
        let (row, column) = (row as usize, column as usize);
        &mut self.amounts[column / 64][column % 64][row / 64][row % 64]
    }
}

#[inline(always)]
pub(super) fn both<const W: usize>(a: &Set<W>, b: &Set<W>) -> Set<W> {
    std::array::from_fn(|word| a[word] & b[word])
}

#[inline(always)]
pub(super) fn either<const W: usize>(a: &Set<W>, b: &Set<W>) -> Set<W> {
    std::array::from_fn(|word| a[word] | b[word])
}

#[inline(always)]
pub(super) fn without<const W: usize>(a: &Set<W>, b: &Set<W>) -> Set<W> {
    std::array::from_fn(|word| a[word] & !b[word])
}

/// The smallest element.
#[inline(always)]
fn first<const W: usize>(set: &Set<W>) -> Option<usize> {
    let word = set.iter().position(|word| *word != 0)?;
    Some(64 * word + set[word].trailing_zeros() as usize)
}

/// The positions of a word's bits, ascending.
#[inline(always)]
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize % 64)?;
        word &= word - 1;
        Some(bit)
    })
}

/// The elements, ascending.
#[inline(always)]
fn members<const W: usize>(set: &Set<W>) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(i, &word)| bits(word).map(move |bit| 64 * i + bit))
}
