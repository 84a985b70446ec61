//! Homology of complexes with at most 64 vertices and 128 faces a dimension, by masks.

use std::ops::{BitAnd, BitOr, Not};

use bonnet_graph::Unmonitored;
use num_bigint::BigUint;

use super::Homology;
use super::smith::{Integer, smith};
use crate::Facets;

/// The most faces of one dimension: bits of a column.
const FACES: usize = 128;
/// The most vertices of a simplex: one more has more faces than fit.
const WIDTH: usize = 9;
/// Slots of the table that finds a face.
const SLOTS: usize = 1 << 16;
const EMPTY: u8 = u8::MAX;

/// A column of a boundary matrix: the rows that hold +1 and those that hold -1.
#[derive(Debug, Clone, Copy, Default)]
struct Column<W> {
    plus: W,
    minus: W,
}

/// A set of rows in one machine word or two.
trait Rows: Copy + Default + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    fn of(rows: u128) -> Self;
    fn wide(self) -> u128;
    fn is_empty(self) -> bool;
    fn highest(self) -> usize;
    fn has(self, row: usize) -> bool;
}

macro_rules! rows {
    ($word:ty) => {
        impl Rows for $word {
            fn of(rows: u128) -> Self {
                rows as $word
            }

            fn wide(self) -> u128 {
                self.into()
            }

            fn is_empty(self) -> bool {
                self == 0
            }

            fn highest(self) -> usize {
                (<$word>::BITS - 1 - self.leading_zeros()) as usize
            }

            fn has(self, row: usize) -> bool {
                self >> row & 1 == 1
            }
        }
    };
}

rows!(u64);
rows!(u128);

impl<W: Rows> Column<W> {
    fn rows(self) -> W {
        self.plus | self.minus
    }

    fn negated(self) -> Self {
        Self { plus: self.minus, minus: self.plus }
    }

    /// The sum, or `None` where an entry would be 2 or -2.
    fn plus(self, other: Self) -> Option<Self> {
        let overflow = (self.plus & other.plus) | (self.minus & other.minus);
        overflow.is_empty().then_some(Self {
            plus: (self.plus & !other.minus) | (other.plus & !self.minus),
            minus: (self.minus & !other.plus) | (other.minus & !self.plus),
        })
    }

    fn wide(self) -> Column<u128> {
        Column { plus: self.plus.wide(), minus: self.minus.wide() }
    }
}

/// The faces of one dimension as sets of vertices, and their boundaries.
#[derive(Debug)]
struct Level {
    count: usize,
    faces: [u64; FACES],
    boundaries: [Column<u128>; FACES],
}

impl Level {
    fn faces(&self) -> &[u64] {
        &self.faces[..self.count]
    }
}

/// Memory to be used again.
#[derive(Debug)]
pub(crate) struct Small {
    levels: Vec<Level>,
    /// Where a face's number stands: at its own mask for up to 16 vertices, else where its hash and probing lead.
    table: Box<[u8; SLOTS]>,
    touched: Vec<u16>,
    /// By row: the reduced column whose highest row it is, with +1 there; in one word where rows fit.
    pivots: [Column<u128>; FACES],
    narrow_pivots: [Column<u64>; 64],
    set_aside: Vec<Column<u128>>,
}

impl Default for Small {
    fn default() -> Self {
        Self {
            levels: Vec::new(),
            table: Box::new([EMPTY; SLOTS]),
            touched: Vec::new(),
            pivots: [Column::default(); FACES],
            narrow_pivots: [Column::default(); 64],
            set_aside: Vec::new(),
        }
    }
}

impl Small {
    /// Fills in the number of faces by dimension; `false` if the complex is too large.
    pub(crate) fn f_vector(&mut self, facets: &Facets, counts: &mut Vec<u64>) -> bool {
        let width = facets.dimension() + 1;
        if facets.n_vertices() > 64 || width > WIDTH || !self.list_faces(facets, width) {
            return false;
        }
        counts.clear();
        counts.push(facets.n_vertices() as u64);
        counts.extend(self.levels[1..width].iter().map(|level| level.count as u64));
        true
    }

    /// Fills in the homology; `false` if the complex is too large, or its remainder outgrows machine words.
    pub(super) fn homology(&mut self, facets: &Facets, answer: &mut Homology) -> bool {
        let width = facets.dimension() + 1;
        if facets.n_vertices() > 64 || width > WIDTH || !self.list_faces(facets, width) {
            return false;
        }
        answer.clear(width - 1);
        let n_vertices = facets.n_vertices();
        let (components, tree) = match width {
            1 => (n_vertices, 0),
            _ => self.spanning_forest(n_vertices),
        };
        let mut rank_above = 0;
        // Faces of the present dimension whose boundary is a combination of others': pivots of the dimension above.
        let mut cleared = 0;
        for dimension in (2..width).rev() {
            // In the rows of edges, those of a spanning forest are combinations of the others.
            let rows = if dimension == 2 { !tree } else { u128::MAX };
            let level = &self.levels[dimension];
            let pivots = match self.levels[dimension - 1].count {
                0..=64 => {
                    let pivots = eliminate(level, cleared, rows, &mut self.narrow_pivots, &mut self.set_aside);
                    // The remainder, which is rare, knows the wide ones alone.
                    if !self.set_aside.is_empty() {
                        self.pivots.iter_mut().zip(&self.narrow_pivots).for_each(|(wide, pivot)| *wide = pivot.wide());
                    }
                    pivots
                }
                _ => eliminate(level, cleared, rows, &mut self.pivots, &mut self.set_aside),
            };
            let torsion = &mut answer.torsion[dimension - 1];
            let Some(rest) = self.remainder(pivots, torsion) else { return false };
            let rank = pivots.count_ones() as usize + rest;
            answer.betti[dimension] = (self.levels[dimension].count - rank - rank_above) as u64;
            (rank_above, cleared) = (rank, pivots);
        }
        if width > 1 {
            let rank = n_vertices - components;
            answer.betti[1] = (self.levels[1].count - rank - rank_above) as u64;
        }
        answer.betti[0] = components as u64;
        true
    }

    /// Lists faces and boundaries from the top dimension down to the edges; `false` if one has too many.
    fn list_faces(&mut self, facets: &Facets, width: usize) -> bool {
        let empty = || Level { count: 0, faces: [0; FACES], boundaries: [Column::default(); FACES] };
        if self.levels.len() < width {
            self.levels.resize_with(width, empty);
        }
        let direct = facets.n_vertices() <= 16;
        let pure = facets.same_dimension();
        for level in (1..width).rev() {
            let (below, above) = self.levels.split_at_mut(level + 1);
            let Level { count, faces, .. } = &mut below[level];
            let (table, touched) = (&mut *self.table, &mut self.touched);
            let mut finder = Finder { direct, table, touched, count: 0, faces, fits: true };
            if level + 1 == width || !pure {
                for simplex in facets.iter().filter(|simplex| simplex.len() == level + 1) {
                    finder.number(simplex.iter().fold(0, |mask, &v| mask | 1 << v));
                }
            }
            if let Some(above) = above.first_mut().filter(|_| level + 1 < width) {
                for (&face, boundary) in above.faces[..above.count].iter().zip(&mut above.boundaries) {
                    let mut column = Column::<u128>::default();
                    let mut left = face;
                    while left != 0 {
                        // Signs alternate, + first.
                        column.plus |= finder.bit(face, &mut left);
                        if left != 0 {
                            column.minus |= finder.bit(face, &mut left);
                        }
                    }
                    *boundary = column;
                    if !finder.fits {
                        break;
                    }
                }
            }
            finder.forget();
            let fits = finder.fits;
            *count = finder.count;
            if !fits {
                return false;
            }
        }
        true
    }

    /// The number of components, and the edges of a spanning forest.
    fn spanning_forest(&self, n_vertices: usize) -> (usize, u128) {
        let mut parents: [u8; 64] = std::array::from_fn(|v| v as u8);
        let find = |parents: &mut [u8; 64], mut v: u8| {
            while parents[v as usize] != v {
                parents[v as usize] = parents[parents[v as usize] as usize];
                v = parents[v as usize];
            }
            v
        };
        let (mut components, mut tree) = (n_vertices, 0);
        for (i, edge) in self.levels[1].faces().iter().enumerate() {
            let a = find(&mut parents, edge.trailing_zeros() as u8);
            let b = find(&mut parents, 63 - edge.leading_zeros() as u8);
            if a != b {
                parents[a as usize] = b;
                components -= 1;
                tree |= 1 << i;
            }
        }
        (components, tree)
    }

    /// The rank of what was set aside, beside the pivots, and its torsion; `None` where numbers outgrow a word.
    fn remainder(&self, pivots: u128, torsion: &mut Vec<BigUint>) -> Option<usize> {
        let mut matrix: Vec<Vec<i64>> = Vec::new();
        for &column in &self.set_aside {
            let mut entries = [0i64; FACES];
            for (mut rows, entry) in [(column.plus, 1), (column.minus, -1)] {
                while rows != 0 {
                    entries[rows.highest()] = entry;
                    rows ^= 1 << rows.highest();
                }
            }
            let mut left = pivots;
            while left != 0 {
                let row = left.highest();
                left ^= 1 << row;
                let factor = entries[row];
                if factor == 0 {
                    continue;
                }
                let pivot = self.pivots[row];
                let mut rows = pivot.rows();
                while rows != 0 {
                    let other = rows.highest();
                    let sign = if pivot.plus.has(other) { 1 } else { -1 };
                    entries[other].sub_mul(&factor, &sign)?;
                    rows ^= 1 << other;
                }
            }
            if entries.iter().any(|&entry| entry != 0) {
                matrix.push(entries.to_vec());
            }
        }
        // Most often one column is left: its Smith form is its greatest common divisor.
        if let [column] = &matrix[..] {
            let divisor = column.iter().fold(0u64, |divisor, entry| gcd(divisor, entry.unsigned_abs()));
            if divisor > 1 {
                torsion.push(divisor.into());
            }
            return Some(1);
        }
        let (rank, factors) = smith(matrix, &Unmonitored).ok().flatten()?;
        torsion.extend(factors);
        Some(rank)
    }
}

/// Reduces the boundaries of a dimension, but for the columns that are cleared, in some of the rows: sets `pivots` and
/// answers their rows; sets aside what met an entry of 2.
fn eliminate<W: Rows>(
    level: &Level,
    cleared: u128,
    rows: u128,
    pivots: &mut [Column<W>],
    set_aside: &mut Vec<Column<u128>>,
) -> u128 {
    set_aside.clear();
    let rows = W::of(rows);
    let mut found = W::default();
    for (i, boundary) in level.boundaries[..level.count].iter().enumerate() {
        if cleared.has(i) {
            continue;
        }
        let mut column = Column { plus: W::of(boundary.plus) & rows, minus: W::of(boundary.minus) & rows };
        while !column.rows().is_empty() {
            let row = column.rows().highest();
            let positive = column.plus.has(row);
            let pivot = &mut pivots[row];
            if !found.has(row) {
                *pivot = if positive { column } else { column.negated() };
                found = found | W::of(1 << row);
                break;
            }
            match column.plus(if positive { pivot.negated() } else { *pivot }) {
                Some(sum) => column = sum,
                None => {
                    set_aside.push(column.wide());
                    break;
                }
            }
        }
    }
    found.wide()
}

pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Numbers the faces of one dimension in the order in which they are met.
struct Finder<'a> {
    direct: bool,
    table: &'a mut [u8; SLOTS],
    touched: &'a mut Vec<u16>,
    count: usize,
    faces: &'a mut [u64; FACES],
    /// Whether no face had to be left out.
    fits: bool,
}

impl Finder<'_> {
    /// The bit of the ridge of `face` that lacks the first vertex of `left`, which is taken out of there.
    #[inline(always)]
    fn bit(&mut self, face: u64, left: &mut u64) -> u128 {
        let vertex = *left & left.wrapping_neg();
        *left ^= vertex;
        1 << self.number(face ^ vertex)
    }

    /// The number of a face; any if there are too many.
    #[inline(always)]
    fn number(&mut self, face: u64) -> usize {
        if self.direct {
            let number = self.table[face as usize % SLOTS];
            return if number == EMPTY { self.add(face, face as usize % SLOTS) } else { usize::from(number) };
        }
        self.probe(face)
    }

    fn probe(&mut self, face: u64) -> usize {
        // 2^64 / golden ratio spreads sets of vertices over a thousand slots; probing stays far below SLOTS.
        let mut slot = (face.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        loop {
            match usize::from(self.table[slot % SLOTS]) {
                number if number == usize::from(EMPTY) => break,
                number if self.faces[number % FACES] == face => return number,
                _ => slot += 1,
            }
        }
        self.touched.push(slot as u16);
        self.add(face, slot)
    }

    #[inline(always)]
    fn add(&mut self, face: u64, slot: usize) -> usize {
        let number = self.count;
        if number == FACES {
            self.fits = false;
            return 0;
        }
        self.faces[number] = face;
        self.table[slot % SLOTS] = number as u8;
        self.count += 1;
        number
    }

    fn forget(&mut self) {
        self.touched.drain(..).for_each(|slot| self.table[usize::from(slot)] = EMPTY);
        if self.direct {
            self.faces[..self.count].iter().for_each(|&face| self.table[face as usize % SLOTS] = EMPTY);
        }
    }
}
